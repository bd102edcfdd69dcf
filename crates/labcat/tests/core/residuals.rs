//! Least squares: the residuals of each evaluation are told instead of their sum.

use crate::support::{Dice, optimizer, seeded};
use labcat::{Config, Domain, Noise, Optimizer, Outcome, Preset, TellError};

/// Watson's function of six variables: 31 residuals, the least sum of squares is 2.28767e-3.
fn watson(x: &[f64]) -> Vec<f64> {
    let mut residuals: Vec<f64> = (1..=29)
        .map(|i| {
            let t = f64::from(i) / 29.0;
            let power = |j: usize| t.powi(j as i32);
            let slope: f64 = (1..x.len()).map(|j| j as f64 * power(j - 1) * x[j]).sum();
            let value: f64 = (0..x.len()).map(|j| power(j) * x[j]).sum();
            slope - value * value - 1.0
        })
        .collect();
    residuals.extend([x[0], x[1] - x[0] * x[0] - 1.0]);
    residuals
}

fn rosenbrock(x: &[f64]) -> Vec<f64> {
    vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]
}

/// Evaluations until the sum of squares is at most `goal`, with the residuals told or their sum alone.
fn evaluations_to(goal: f64, x0: &[f64], most: usize, told: bool, f: fn(&[f64]) -> Vec<f64>) -> usize {
    let bounds: Vec<(f64, f64)> = x0.iter().map(|x| (x - 10.0, x + 10.0)).collect();
    let mut optimizer = Optimizer::new(Domain::new(&bounds).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[x0], None).unwrap();
    for n in 1..=most {
        let s = optimizer.ask().unwrap();
        let residuals = f(&s.x);
        let value: f64 = residuals.iter().map(|r| r * r).sum();
        if value <= goal {
            return n;
        }
        let outcome = if told { Outcome::of_residuals(residuals) } else { Outcome::from(value) };
        optimizer.tell(s.id, outcome).unwrap();
    }
    most + 1
}

#[test]
fn residuals_save_evaluations() {
    let start = [0.5; 6];
    let (with, without) =
        (evaluations_to(2.5e-3, &start, 60, true, watson), evaluations_to(2.5e-3, &start, 300, false, watson));
    assert!(with <= 45 && 2 * with <= without, "{with} evaluations with residuals, {without} without");
    assert!(evaluations_to(1e-10, &[-1.2, 1.0], 25, true, rosenbrock) <= 25);
}

/// A step that changes the residuals by far more than they are tells nothing of their slopes: the design comes nearer, and that direction again.
#[test]
fn a_design_that_is_too_wide_comes_nearer() {
    let bounds = [(-10.0, 10.0); 3];
    let mut optimizer = Optimizer::new(Domain::new(&bounds).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[0.0; 3]], Some(&[1.0; 3])).unwrap();
    let distances: Vec<f64> = (0..5)
        .map(|_| {
            let s = optimizer.ask().unwrap();
            let residuals = s.x.iter().map(|x| (100.0 * x).sinh() + 0.1).collect();
            optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
            s.x.iter().fold(0.0_f64, |most, x| most.max(x.abs()))
        })
        .collect();
    assert!((distances[1] - 0.1).abs() < 1e-12, "a tenth of the first step: {distances:?}");
    assert!(distances[2..].iter().all(|d| *d < 0.011), "{distances:?}");
}

/// One evaluation whose residuals overflow nearly is left out of the model of the others.
#[test]
fn one_huge_evaluation_does_not_spoil_the_model() {
    fn steep(x: &[f64]) -> Vec<f64> {
        let wall = if x[0] > 2.0 { 1e40 } else { 0.0 };
        vec![10.0 * (x[1] - x[0] * x[0]) + wall, 1.0 - x[0]]
    }
    assert!(evaluations_to(1e-10, &[1.9, -1.0], 25, true, steep) <= 25);
}

/// Residuals whose squares are finite while those of their differences are not have no model: the search goes on without.
#[test]
fn residuals_that_nearly_overflow_are_survived() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 5.0); 2]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    for _ in 0..30 {
        let s = optimizer.ask().unwrap();
        let residuals = s.x.iter().map(|x| 9e153 * x.signum() + 1e153 * x.sin()).collect();
        optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
    }
    let residuals = optimizer.evaluations().iter().filter(|told| !told.outcome.is_failed()).count();
    assert!(residuals > 5, "{residuals} of 30 have a finite value");
}

#[test]
fn ten_thousand_residuals_are_modelled_like_few() {
    // The same two residuals, five thousand times each.
    fn many(x: &[f64]) -> Vec<f64> {
        let scale = 5000_f64.sqrt();
        rosenbrock(x).iter().flat_map(|r| std::iter::repeat_n(r / scale, 5000)).collect()
    }
    assert!(evaluations_to(1e-8, &[-1.2, 1.0], 25, true, many) <= 25);
}

#[test]
fn another_number_of_residuals_is_refused_and_nothing_is_lost() {
    let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 1.0)]).unwrap(), Config::default()).unwrap();
    let (first, second) = (optimizer.ask().unwrap(), optimizer.ask().unwrap());
    optimizer.tell(first.id, Outcome::of_residuals(vec![3.0, -4.0])).unwrap();
    assert_eq!(optimizer.best().unwrap().outcome.value(), Some(25.0));
    let error = optimizer.tell(second.id, Outcome::of_residuals(vec![1.0])).unwrap_err();
    assert_eq!(error, TellError::Residuals { got: 1, expected: 2 });
    optimizer.tell(second.id, Outcome::of_residuals(vec![1.0, f64::NAN])).unwrap();
    assert!(optimizer.evaluations()[1].outcome.is_failed(), "a residual that is no number is a failure");
}

#[test]
fn to_be_maximised_they_are_refused() {
    let mut config = Config::default();
    config.direction = labcat::Direction::Maximize;
    let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 1.0)]).unwrap(), config).unwrap();
    let s = optimizer.ask().unwrap();
    assert_eq!(optimizer.tell(s.id, Outcome::of_residuals(vec![1.0])).unwrap_err(), TellError::MaximisedResiduals);
}

/// Resumed at every moment, in batches, with failures and an integer beside.
#[cfg(feature = "serde")]
#[test]
fn a_resumed_calibration_goes_on_bit_for_bit() {
    use labcat::Parameter;
    let parameters =
        vec![Parameter::real("a", -5.0, 5.0), Parameter::real("b", -5.0, 5.0), Parameter::integer("n", 0.0, 3.0)];
    let mut optimizer =
        Optimizer::new(Domain::from_parameters(parameters).unwrap(), seeded(Preset::Default, 3)).unwrap();
    for k in 0..40 {
        let mut again = Optimizer::from_json(&optimizer.to_json()).unwrap();
        let (s, t) = (optimizer.ask_many(1 + k % 2).unwrap(), again.ask_many(1 + k % 2).unwrap());
        assert_eq!(s, t, "after {k} rounds");
        for s in s {
            let mut residuals = rosenbrock(&s.x);
            residuals.push(s.x[2] - 2.0);
            let failed = s.x[0] > 3.0;
            let mut outcome = Outcome::of_residuals(residuals);
            if k % 5 == 3 {
                // Slopes of some, with a gap.
                outcome = outcome.with_jacobian(vec![-20.0 * s.x[0], -1.0, 0.0, 10.0, 0.0, 0.0, 0.0, f64::NAN, 1.0]);
            }
            optimizer.tell(s.id, if failed { Outcome::failed("diverged") } else { outcome }).unwrap();
        }
    }
    assert!(optimizer.best().unwrap().outcome.value().unwrap() < 1e-6);
}

/// The points of the first design begin where those before predict the least sum: a coordinate is not left where it was until all are explored.
#[test]
fn the_first_design_follows_the_model() {
    let centre = [0.04, -0.03, 0.05, -0.06, 0.02];
    let mut optimizer = Optimizer::new(Domain::new(&[(-10.0, 10.0); 5]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[0.0; 5]], Some(&[1.0; 5])).unwrap();
    let mut off = Vec::new();
    for _ in 0..7 {
        let s = optimizer.ask().unwrap();
        let residuals: Vec<f64> = s.x.iter().zip(centre).map(|(x, c)| x - c).collect();
        off.push(residuals.iter().filter(|r| r.abs() > 1e-6).count());
        optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
    }
    assert_eq!(off, [5, 5, 4, 3, 2, 1, 0], "coordinates that are not where they belong");
}

/// What a revised evaluation was told before is not kept anywhere.
#[cfg(feature = "serde")]
#[test]
fn a_revised_evaluation_is_forgotten() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 5.0); 2]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[-1.2, 1.0]], None).unwrap();
    for _ in 0..9 {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, Outcome::of_residuals(rosenbrock(&s.x))).unwrap();
    }
    let told = optimizer.evaluations()[7].clone();
    let turned = told.outcome.residuals().iter().map(|r| -r).collect(); // the same sum of squares
    optimizer.revise(told.id, Outcome::of_residuals(turned)).unwrap();
    let mut again = Optimizer::from_json(&optimizer.to_json()).unwrap();
    assert_eq!(optimizer.ask().unwrap(), again.ask().unwrap());
}

/// Evaluations until the sum of squares is at most `goal` where a measured constraint is satisfied.
fn evaluations_under(goal: f64, most: usize, told: bool) -> usize {
    let mut config = seeded(Preset::Default, 1);
    config.constraints = 1;
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 5.0); 2]).unwrap(), config).unwrap();
    optimizer.start_at(&[&[-1.2, 1.0]], None).unwrap();
    for n in 1..=most {
        let s = optimizer.ask().unwrap();
        let (residuals, limit) = (rosenbrock(&s.x), s.x[0] * s.x[0] + s.x[1] * s.x[1] - 1.0);
        let value: f64 = residuals.iter().map(|r| r * r).sum();
        if value <= goal && limit <= 0.0 {
            return n;
        }
        let outcome = if told { Outcome::of_residuals(residuals) } else { Outcome::from(value) };
        optimizer.tell(s.id, outcome.with_constraints(vec![limit])).unwrap();
    }
    most + 1
}

/// On the unit disk Rosenbrock's function is at least 0.045674808: the constraint is modelled with the weights of the residuals.
#[test]
fn residuals_save_evaluations_under_measured_constraints() {
    let (with, without) = (evaluations_under(0.04568, 100, true), evaluations_under(0.04568, 300, false));
    assert!(with <= 40 && 2 * with <= without, "{with} evaluations with residuals, {without} without");
}

/// Evaluations until the sum of squares of reals beside an integer is small.
fn evaluations_on_a_lattice(most: usize, told: bool) -> usize {
    use labcat::Parameter;
    let mut parameters: Vec<Parameter> = ["a", "b", "c", "d"].map(|name| Parameter::real(name, -5.0, 5.0)).to_vec();
    parameters.push(Parameter::integer("n", 0.0, 9.0));
    let domain = Domain::from_parameters(parameters).unwrap();
    let mut optimizer = Optimizer::new(domain, seeded(Preset::Default, 1)).unwrap();
    for n in 1..=most {
        let s = optimizer.ask().unwrap();
        let pairs = [rosenbrock(&s.x[..2]), rosenbrock(&s.x[2..4])].concat();
        let residuals: Vec<f64> = pairs.into_iter().chain([s.x[4] - 6.0]).collect();
        let value: f64 = residuals.iter().map(|r| r * r).sum();
        if value <= 1e-6 {
            return n;
        }
        optimizer.tell(s.id, if told { Outcome::of_residuals(residuals) } else { Outcome::from(value) }).unwrap();
    }
    most + 1
}

/// The reals beside an integer follow the model of the residuals.
#[test]
fn residuals_save_evaluations_beside_an_integer() {
    let (with, without) = (evaluations_on_a_lattice(300, true), evaluations_on_a_lattice(300, false));
    assert!(2 * with <= without, "{with} evaluations with residuals, {without} without");
}

/// The derivatives of residuals by central differences, those by the first parameter first.
fn jacobian(f: fn(&[f64]) -> Vec<f64>, x: &[f64]) -> Vec<f64> {
    let column = |i: usize| {
        let beside = |h: f64| f(&(0..x.len()).map(|j| if j == i { x[j] + h } else { x[j] }).collect::<Vec<f64>>());
        let (up, down) = (beside(1e-5), beside(-1e-5));
        up.into_iter().zip(down).map(|(a, b)| (a - b) / 2e-5).collect::<Vec<f64>>()
    };
    (0..x.len()).flat_map(column).collect()
}

/// Rounds of `q` evaluations until the sum of squares is at most `goal`. Of each Jacobian the columns from `gaps` on are told.
fn rounds_to(goal: f64, x0: &[f64], (q, seed): (usize, u64), gaps: usize, f: fn(&[f64]) -> Vec<f64>) -> usize {
    let bounds: Vec<(f64, f64)> = x0.iter().map(|x| (x - 10.0, x + 10.0)).collect();
    let mut optimizer = Optimizer::new(Domain::new(&bounds).unwrap(), seeded(Preset::Default, seed)).unwrap();
    optimizer.start_at(&[x0], None).unwrap();
    for round in 1..=200 {
        for s in optimizer.ask_many(q).unwrap() {
            let residuals = f(&s.x);
            if residuals.iter().map(|r| r * r).sum::<f64>() <= goal {
                return round;
            }
            let mut slopes = jacobian(f, &s.x);
            slopes[..gaps * residuals.len()].fill(f64::NAN);
            optimizer.tell(s.id, Outcome::of_residuals(residuals).with_jacobian(slopes)).unwrap();
        }
    }
    200
}

/// With the slopes of all residuals at the start the first step is that of Gauss and Newton.
#[test]
fn a_told_jacobian_is_followed_at_once() {
    fn linear(x: &[f64]) -> Vec<f64> {
        vec![x[0] + 2.0 * x[1] - 0.3, 3.0 * x[1] - x[2] - 0.1, x[0] - x[2], x[0] + x[1] + x[2] - 0.2]
    }
    let mut optimizer = Optimizer::new(Domain::new(&[(-10.0, 10.0); 3]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[0.0; 3]], Some(&[1.0; 3])).unwrap();
    let s = optimizer.ask().unwrap();
    optimizer.tell(s.id, Outcome::of_residuals(linear(&s.x)).with_jacobian(jacobian(linear, &s.x))).unwrap();
    let x = optimizer.ask().unwrap().x;
    let (r, j) = (linear(&x), jacobian(linear, &x));
    for column in j.chunks(4) {
        let slope: f64 = column.iter().zip(&r).map(|(j, r)| j * r).sum();
        assert!(slope.abs() < 1e-6, "{slope} at {x:?}");
    }
}

#[test]
fn told_jacobians_save_evaluations() {
    let start = [0.5; 6];
    let told = |gaps: usize| rounds_to(2.5e-3, &start, (1, 1), gaps, watson);
    let (whole, gaps, none) = (told(0), told(2), told(6));
    assert!(whole <= 12 && whole <= gaps && gaps < none, "{whole} with them, {gaps} with gaps, {none} without");
    assert!(rounds_to(1e-10, &[-1.2, 1.0], (1, 1), 0, rosenbrock) <= 12);
}

#[test]
fn a_jacobian_of_other_size_is_refused() {
    let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 1.0); 2]).unwrap(), Config::default()).unwrap();
    let s = optimizer.ask().unwrap();
    for wrong in [2, 3, 5, 6] {
        let outcome = Outcome::of_residuals(vec![3.0, -4.0]).with_jacobian(vec![1.0; wrong]);
        assert!(matches!(optimizer.tell(s.id, outcome), Err(TellError::Gradient { expected: 2, .. })), "{wrong}");
    }
    optimizer.tell(s.id, Outcome::of_residuals(vec![3.0, -4.0]).with_jacobian(vec![1.0; 4])).unwrap();
}

/// Two workers and more end sooner than one: beside a step that is pending shorter ones and its surroundings are tried.
#[test]
fn batches_save_rounds() {
    for (start, goal, f) in
        [(vec![0.5; 6], 2.5e-3, watson as fn(&[f64]) -> Vec<f64>), (vec![-1.2, 1.0], 1e-8, rosenbrock)]
    {
        let rounds = |q: usize| (1..=5).map(|seed| rounds_to(goal, &start, (q, seed), start.len(), f)).sum::<usize>();
        let (one, four, eight) = (rounds(1), rounds(4), rounds(8));
        assert!(4 * four <= 3 * one && 4 * eight <= 3 * one, "{one} rounds of 1, {four} of 4, {eight} of 8");
    }
}

/// What the evaluations say of the derivatives at the best point are those of the function.
#[test]
fn derivatives_around_the_best_point() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 5.0); 2]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[-1.2, 1.0]], None).unwrap();
    assert_eq!(optimizer.residuals_around(&[-1.2, 1.0]).unwrap(), None);
    for _ in 0..20 {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, Outcome::of_residuals(rosenbrock(&s.x))).unwrap();
    }
    let best = optimizer.best().unwrap().x.clone();
    let found = optimizer.residuals_around(&best).unwrap().unwrap();
    assert_eq!(found.parameters, [0, 1]);
    assert!(found.error < 0.05 && found.weakest < 0.05, "{found:?}");
    let expected = jacobian(rosenbrock, &best);
    let sum = |weights: &[f64], k: usize| -> f64 {
        let told = found.evaluations.iter().map(|id| optimizer.evaluations()[id.0 as usize].outcome.residuals()[k]);
        told.zip(weights).map(|(r, w)| r * w).sum()
    };
    for k in 0..2 {
        assert!((sum(&found.weights, k) - rosenbrock(&best)[k]).abs() < 1e-3);
        for (i, slopes) in found.slopes.iter().enumerate() {
            let (slope, expected) = (sum(slopes, k), expected[2 * i + k]);
            assert!((slope - expected).abs() < 0.05 * (1.0 + expected.abs()), "{slope} for {expected}");
        }
    }
    assert!(optimizer.residuals_around(&[1.0]).is_err());
}

/// A solver that diverges in half of the box.
#[test]
fn failures_in_half_of_the_box_are_gone_around() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 5.0); 2]).unwrap(), seeded(Preset::Default, 1)).unwrap();
    optimizer.start_at(&[&[-1.2, 1.0]], None).unwrap();
    for _ in 0..60 {
        let s = optimizer.ask().unwrap();
        let diverged = s.x[0] + s.x[1] > 2.5;
        let outcome = if diverged { Outcome::failed("diverged") } else { Outcome::of_residuals(rosenbrock(&s.x)) };
        optimizer.tell(s.id, outcome).unwrap();
    }
    let value = optimizer.best().unwrap().outcome.value().unwrap();
    assert!(value < 1e-8, "{value}");
}

/// Van der Pol's oscillator: its speed as told by x and the two values that it begins with, by the method of Runge and Kutta.
fn oscillator(p: &[f64]) -> Vec<f64> {
    let slope = |y: [f64; 2]| [y[1], p[0] * (1.0 - y[0] * y[0]) * y[1] - p[1] * y[0]];
    let along = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
    let (h, mut y) = (0.01, [p[2], p[3]]);
    let mut seen = Vec::new();
    for step in 1..=1200 {
        let a = slope(y);
        let b = slope(along(y, a, h / 2.0));
        let c = slope(along(y, b, h / 2.0));
        let d = slope(along(y, c, h));
        y = along(y, [0, 1].map(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0), h);
        if step % 40 == 0 {
            seen.push(y[0]);
        }
    }
    seen
}

/// A fit that creeps along a valley of another basin ends, and a restart finds the data's own. It crept on for hundreds of evaluations.
#[test]
fn a_fit_that_creeps_in_another_basin_begins_again() {
    let truth = oscillator(&[1.3, 1.2, 1.5, 0.5]);
    let bounds = [(0.1, 4.0), (0.2, 4.0), (-3.0, 3.0), (-3.0, 3.0)];
    let mut dice = Dice(7);
    let solved = (0..12).filter(|&seed| {
        let start: Vec<f64> = bounds.iter().map(|(low, high)| low + (high - low) * dice.unit()).collect();
        let mut optimizer = optimizer(&bounds, seeded(Preset::Default, seed));
        optimizer.start_at(&[&start], None).unwrap();
        (0..200).any(|_| {
            let s = optimizer.ask().unwrap();
            let residuals: Vec<f64> = oscillator(&s.x).iter().zip(&truth).map(|(a, b)| a - b + 0.01).collect();
            let sum: f64 = residuals.iter().map(|r| r * r).sum();
            optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
            sum < 3.1e-3
        })
    });
    assert!(solved.count() >= 11);
}

/// Noise of ±0.1 in each residual of y = a + b t, which a first step of a thousandth of the box hides.
fn noisy_line(x: &[f64], dice: &mut Dice) -> Vec<f64> {
    let residual = |k: i32| x[0] - 1.0 + (x[1] + 2.0) * 0.1 * f64::from(k) + 0.2 * dice.unit() - 0.1;
    (0..20).map(residual).collect()
}

#[test]
fn a_design_that_noise_hides_goes_farther() {
    for seed in 1..4 {
        let mut config = seeded(Preset::Default, seed);
        config.noise = Noise::Auto;
        let (mut optimizer, mut dice) = (optimizer(&[(-10.0, 10.0); 2], config), Dice(seed));
        optimizer.start_at(&[&[1.2, -2.2]], Some(&[0.01; 2])).unwrap();
        let mut points = Vec::new();
        for _ in 0..40 {
            let s = optimizer.ask().unwrap();
            optimizer.tell(s.id, Outcome::of_residuals(noisy_line(&s.x, &mut dice))).unwrap();
            points.push(s.x);
        }
        assert_eq!(points[0], points[1], "the start again shows the noise");
        let farthest = points[..10].iter().map(|x| (x[0] - 1.2).abs().max((x[1] + 2.2).abs())).fold(0.0, f64::max);
        assert!(farthest > 0.2, "{points:?}");
        let found = optimizer.recommended().unwrap();
        assert!((found.x[0] - 1.0).abs() < 0.1 && (found.x[1] + 2.0).abs() < 0.1, "{found:?}");
        assert!(found.mean < 0.05 && found.std > 0.0, "a sum without noise: {found:?}");
    }
}

/// A Hill curve beside measurements with fixed disturbances: height and half-saturation are real, the exponent is an integer.
fn hill(p: &[f64]) -> Vec<f64> {
    let power = |t: f64| t.powi(p[2] as i32) / (p[1].powi(p[2] as i32) + t.powi(p[2] as i32));
    let measured = |k: u32, t: f64| 3.0 * t.powi(3) / (64.0 + t.powi(3)) + 0.03 * (7.3 * f64::from(k * k)).sin();
    (1..=30).map(|k| p[0] * power(f64::from(k) / 3.0) - measured(k, f64::from(k) / 3.0)).collect()
}

/// Another exponent is better only with other reals: each has a fit of its own.
#[test]
fn other_integers_have_a_fit_of_their_own() {
    use labcat::Parameter;
    let parameters =
        || vec![Parameter::real("v", 0.1, 10.0), Parameter::real("k", 0.1, 10.0), Parameter::integer("n", 1.0, 8.0)];
    let found = |seed: u64| {
        let domain = Domain::from_parameters(parameters()).unwrap();
        let mut optimizer = Optimizer::new(domain, seeded(Preset::Default, seed)).unwrap();
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            optimizer.tell(s.id, Outcome::of_residuals(hill(&s.x))).unwrap();
        }
        optimizer.best().unwrap().x.clone()
    };
    let exponents: Vec<f64> = (0..8).map(|seed| found(seed)[2]).collect();
    assert!(exponents.iter().filter(|n| **n == 3.0).count() >= 6, "{exponents:?}");
}

/// Exact residuals of which the noise of their sum is told all the same: rounding must not make its variance negative.
#[test]
fn noise_that_is_told_of_exact_residuals_leaves_a_finite_recommendation() {
    for seed in 0..20 {
        let mut config = seeded(Preset::Paper, seed);
        config.noise = Noise::Auto;
        let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 1.0)]).unwrap(), config).unwrap();
        for _ in 0..12 {
            let s = optimizer.ask().unwrap();
            let outcome = Outcome::of_residuals(vec![0.65 * s.x[0] + 0.11, 0.3, 0.0]);
            optimizer.tell(s.id, outcome.with_std(0.1).unwrap()).unwrap();
            let recommended = optimizer.recommended().unwrap();
            assert!(recommended.mean.is_finite() && recommended.std.is_finite(), "{seed}: {recommended:?}");
        }
    }
}
