//! Constraints, measured and known, and gradients.

use labcat::{
    AskError, Config, Domain, Error, Formula, Known, KnownError, Noise, Optimizer, Outcome, Parameter, PointError,
    Preset, StopReason, TellError,
};

fn square() -> Domain {
    Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)]).unwrap()
}

fn config(seed: u64, constraints: usize) -> Config {
    let mut config = Config::new(Preset::Default);
    (config.seed, config.constraints) = (seed, constraints);
    config
}

/// Least at (0.4, 0.6) where x + y ≤ 1: 0.72.
fn bowl(x: &[f64]) -> f64 {
    (x[0] - 1.0).powi(2) + (x[1] - 1.2).powi(2)
}

const LEAST: f64 = 0.72;

#[test]
fn a_measured_line_is_met_to_machine_precision() {
    for seed in 0..20 {
        let mut optimizer = Optimizer::new(square(), config(seed, 1)).unwrap();
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let (value, g) = (bowl(&s.x), s.x[0] + s.x[1] - 1.0);
            optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![g])).unwrap();
        }
        let best = optimizer.best().unwrap();
        assert!(best.outcome.is_feasible());
        assert!(best.outcome.value().unwrap() - LEAST < 1e-6, "seed {seed}: {:?}", best.outcome);
    }
}

#[test]
fn a_known_line_is_never_crossed() {
    for seed in 0..20 {
        let known = Known::default().at_most(vec![1.0, 1.0], 1.0);
        let mut optimizer = Optimizer::with_constraints(square(), config(seed, 0), known).unwrap();
        for _ in 0..40 {
            let s = optimizer.ask().unwrap();
            assert!(s.x[0] + s.x[1] <= 1.0, "seed {seed}: {:?}", s.x);
            optimizer.tell(s.id, bowl(&s.x)).unwrap();
        }
        let gap = optimizer.best().unwrap().outcome.value().unwrap() - LEAST;
        assert!(gap < 1e-6, "seed {seed}: {gap:e}");
    }
}

#[test]
fn known_functions_and_equations_hold_in_batches_and_over_restarts() {
    let disc = || Known::default().met(|x| x[0] * x[0] + x[1] * x[1] - 1.0).equal_to(vec![1.0, -2.0], 0.5);
    let mut optimizer = Optimizer::with_constraints(square(), config(3, 0), disc()).unwrap();
    for _ in 0..40 {
        for s in optimizer.ask_many(3).unwrap() {
            assert!(disc().allows(&s.x), "{:?}", s.x);
            optimizer.tell(s.id, bowl(&s.x)).unwrap();
        }
    }
    // On the line y = x/2 − 1/4 within the disc, the nearest to (1, 1.2).
    let best = optimizer.best().unwrap();
    let least = (0..100_000)
        .map(|k| -1.0 + 2e-5 * k as f64)
        .map(|x| [x, 0.5 * x - 0.25])
        .filter(|x| x[0] * x[0] + x[1] * x[1] <= 1.0)
        .map(|x| bowl(&x))
        .fold(f64::INFINITY, f64::min);
    assert!(best.outcome.value().unwrap() < least + 1e-4, "{best:?}, {least}");
}

#[test]
fn constraints_that_nothing_meets_are_an_error_at_once() {
    let none = Known::default().at_most(vec![1.0, 1.0], -5.0);
    let error = Optimizer::with_constraints(square(), config(1, 0), none).unwrap_err();
    assert_eq!(error, Error::Known(KnownError::Empty));
    let mut optimizer =
        Optimizer::with_constraints(square(), config(1, 0), Known::default().at_most(vec![1.0, 0.0], 0.0)).unwrap();
    assert_eq!(optimizer.enqueue(&[1.0, 0.0]), Err(PointError::Violates));
}

/// The evaluation that first satisfies a constraint on the distance from a point, mapped, the median of eleven seeds.
fn first_inside(d: usize, map: impl Fn(f64) -> f64) -> usize {
    let centre = [0.61, -0.38, 0.27, 0.83, -0.55];
    let mut firsts: Vec<usize> = (0..11)
        .map(|seed| {
            let domain = Domain::new(&vec![(-1.0, 1.5); d]).unwrap();
            let mut optimizer = Optimizer::new(domain, config(seed, 1)).unwrap();
            (1..=30 * d)
                .find(|_| {
                    let s = optimizer.ask().unwrap();
                    let square: f64 = s.x.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum();
                    let (value, g) = (s.x.iter().map(|x| (x + 0.5).powi(2)).sum::<f64>(), map(square.sqrt() - 0.3));
                    optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![g])).unwrap();
                    g <= 0.0
                })
                .unwrap_or(usize::MAX)
        })
        .collect();
    firsts.sort_unstable();
    firsts[5]
}

#[test]
fn monotone_transformations_of_a_constraint_are_satisfied_nearly_as_soon() {
    type Map = fn(f64) -> f64;
    let maps: [(&str, Map); 8] = [
        ("g³", |g| g.powi(3)),
        ("g⁵", |g| g.powi(5)),
        ("√g", |g| g.abs().sqrt().copysign(g)),
        ("exp 30 g − 1", |g| (30.0 * g).exp_m1()),
        ("exp 200 g − 1", |g| (200.0 * g).exp_m1().min(1e300)),
        ("sinh 30 g", |g| (30.0 * g).sinh()),
        ("1/3³ − 1/(3 + g)³", |g| 3.0_f64.powi(-3) - (3.0 + g).powi(-3)),
        ("1/(8 − g)³ − 1/8³", |g| (8.0 - g).powi(-3) - 8.0_f64.powi(-3)),
    ];
    for d in [2, 3, 5] {
        let plain = first_inside(d, |g| g);
        for (name, map) in maps {
            let first = first_inside(d, map);
            assert!(first <= 3 * plain, "{name}, d = {d}: {first} evaluations, {plain} for g");
        }
    }
}

#[test]
fn where_a_constraint_only_fails_another_part_of_the_box_is_searched() {
    // Satisfied in a ninth of the box, away from the least value, and never said by how much.
    let feasible = |seed| {
        let mut optimizer = Optimizer::new(square(), config(seed, 1)).unwrap();
        (0..60).any(|_| {
            let s = optimizer.ask().unwrap();
            let g = if s.x.iter().all(|x| *x > 0.66) { -1.0 } else { 1.0 };
            let value = s.x.iter().map(|x| (x + 1.0).powi(2)).sum::<f64>();
            optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![g])).unwrap();
            g < 0.0
        })
    };
    let found = (0..11).filter(|seed| feasible(*seed)).count();
    assert!(found >= 10, "a feasible point in {found} of 11 runs");
}

#[test]
fn without_a_feasible_point_the_least_violated_is_best() {
    let mut optimizer = Optimizer::new(square(), config(1, 2)).unwrap();
    let told = [(1.0, [3.0, -1.0]), (9.0, [0.5, 0.25]), (0.0, [1.0, 1.0])];
    for (value, g) in told {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, Outcome::from(value).with_constraints(g.to_vec())).unwrap();
    }
    assert_eq!(optimizer.best().unwrap().outcome.value(), Some(9.0));
    assert!(!optimizer.best().unwrap().outcome.is_feasible());
    let s = optimizer.ask().unwrap();
    optimizer.tell(s.id, Outcome::from(50.0).with_constraints(vec![0.0, -1.0])).unwrap();
    assert_eq!(optimizer.best().unwrap().outcome.value(), Some(50.0));
}

#[test]
fn a_value_may_be_missing_where_a_constraint_is_violated() {
    for seed in 0..5 {
        let mut optimizer = Optimizer::new(square(), config(seed, 1)).unwrap();
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let g = s.x[0] + s.x[1] - 1.0;
            let outcome = if g > 0.0 { Outcome::failed("no convergence") } else { bowl(&s.x).into() };
            optimizer.tell(s.id, outcome.with_constraints(vec![g])).unwrap();
        }
        let gap = optimizer.best().unwrap().outcome.value().unwrap() - LEAST;
        assert!(gap < 1e-3, "seed {seed}: {gap:e}");
    }
}

#[test]
fn wrong_numbers_of_constraints_and_derivatives_are_refused_and_nothing_is_lost() {
    let mut optimizer = Optimizer::new(square(), config(1, 2)).unwrap();
    let s = optimizer.ask().unwrap();
    let error = optimizer.tell(s.id, 1.0).unwrap_err();
    assert_eq!(error, TellError::Constraints { got: 0, expected: 2 });
    let outcome = Outcome::from(1.0).with_constraints(vec![0.0, 0.0]);
    let error = optimizer.tell(s.id, outcome.clone().with_gradient(vec![1.0])).unwrap_err();
    assert_eq!(error, TellError::Gradient { got: 1, expected: 2 });
    assert_eq!(optimizer.pending().count(), 1, "still pending");
    optimizer.tell(s.id, outcome.with_gradient(vec![1.0, f64::NAN])).unwrap();
    let s = optimizer.ask().unwrap();
    optimizer.tell(s.id, Outcome::from(1.0).with_constraints(vec![f64::NAN, 0.0])).unwrap();
    let last = optimizer.evaluations().last().unwrap();
    assert_eq!(last.outcome.reason(), Some("constraint 0 is NaN"));
}

#[cfg(feature = "serde")]
/// Values, constraints and (some) derivatives of a bowl, told for `n` evaluations.
fn go_on(optimizer: &mut Optimizer, n: usize) -> Vec<Vec<f64>> {
    let mut asked = Vec::new();
    for k in 0..n {
        let s = optimizer.ask().unwrap();
        let x = &s.x;
        let gradient = if k % 2 == 0 { vec![2.0 * (x[0] - 1.0), f64::NAN] } else { Vec::new() };
        let outcome = Outcome::from(bowl(x)).with_constraints(vec![x[0] * x[0] + x[1] - 0.5]).with_gradient(gradient);
        asked.push(s.x.clone());
        optimizer.tell(s.id, outcome).unwrap();
    }
    asked
}

#[cfg(feature = "serde")]
#[test]
fn a_state_with_constraints_and_gradients_goes_on_bit_for_bit() {
    let mut optimizer = Optimizer::new(square(), config(2, 1)).unwrap();
    go_on(&mut optimizer, 14);
    for _ in 0..10 {
        let mut copy = Optimizer::from_json(&optimizer.to_json()).unwrap();
        let mut again = optimizer.clone();
        assert_eq!(go_on(&mut copy, 3), go_on(&mut again, 3));
        go_on(&mut optimizer, 1);
    }
}

/// What a failed evaluation measured is in the models of the constraints: corrected, it changes the next suggestion, and a state that is read
/// again suggests the same.
#[cfg(feature = "serde")]
#[test]
fn a_correction_of_what_a_failure_measured_is_not_missed() {
    for preset in [Preset::Paper, Preset::Default] {
        let mut config = Config::new(preset);
        config.constraints = 1;
        let mut optimizer = Optimizer::new(square(), config).unwrap();
        let mut failed = None;
        for n in 0..30 {
            let s = optimizer.ask().unwrap();
            let g = s.x[0] + s.x[1] - 1.0;
            let outcome = if n == 15 { Outcome::default() } else { Outcome::from(bowl(&s.x)) };
            optimizer.tell(s.id, outcome.with_constraints(vec![g])).unwrap();
            failed = if n == 15 { Some(s.id) } else { failed };
        }
        let mut untouched = optimizer.clone();
        let _ = (optimizer.ask().unwrap(), untouched.ask().unwrap());
        optimizer.revise(failed.unwrap(), Outcome::default().with_constraints(vec![5.0])).unwrap();
        let mut copy = Optimizer::from_json(&optimizer.to_json()).unwrap();
        let next = optimizer.ask().unwrap();
        assert_eq!(next, copy.ask().unwrap(), "{preset}");
        assert_ne!(next, untouched.ask().unwrap(), "{preset}: nothing changed");
    }
}

fn rosenbrock(x: &[f64]) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = (0.0, vec![0.0; x.len()]);
    for i in 0..x.len() - 1 {
        let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
        value += 100.0 * a * a + b * b;
        gradient[i] += -400.0 * x[i] * a - 2.0 * b;
        gradient[i + 1] += 200.0 * a;
    }
    (value, gradient)
}

/// Evaluations until 1e-8, with a gradient at every `every`-th; 0: never.
fn until_solved(seed: u64, every: usize) -> usize {
    let mut config = config(seed, 0);
    config.quartic = false; // it would solve this function without derivatives, too
    (config.target, config.budget) = (Some(1e-8), Some(500));
    let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 10.0); 4]).unwrap(), config).unwrap();
    while let Ok(s) = optimizer.ask() {
        let (value, gradient) = rosenbrock(&s.x);
        let told = every > 0 && s.id.0 % every as u64 == 0;
        optimizer.tell(s.id, Outcome::from(value).with_gradient(if told { gradient } else { Vec::new() })).unwrap();
    }
    optimizer.n_evaluations()
}

#[test]
fn gradients_save_evaluations_and_half_of_them_some() {
    let median = |every: usize| {
        let mut all: Vec<usize> = (0..5).map(|seed| until_solved(seed, every)).collect();
        all.sort_unstable();
        all[2]
    };
    let (without, half, all) = (median(0), median(2), median(1));
    assert!(2 * all <= without, "{all} evaluations with gradients, {without} without");
    assert!(half < without, "{half} evaluations with some gradients, {without} without");
}

/// Rosenbrock's function, told with what is made of each gradient, from a batch of `together` to the next.
fn tell_valley(optimizer: &mut Optimizer, n: usize, together: usize, told: &impl Fn(Vec<f64>) -> Vec<f64>) {
    for _ in 0..n / together {
        for s in optimizer.ask_many(together).unwrap() {
            let (value, gradient) = rosenbrock(&s.x);
            optimizer.tell(s.id, Outcome::from(value).with_gradient(told(gradient))).unwrap();
        }
    }
}

/// The median over five seeds of the best value after a budget, and in how many runs the gradients are left out.
fn median_best(d: usize, (budget, together): (usize, usize), told: impl Fn(Vec<f64>) -> Vec<f64>) -> (f64, usize) {
    let (mut best, mut left_out) = (Vec::new(), 0);
    for seed in 0..5 {
        let mut optimizer = Optimizer::new(Domain::new(&vec![(-5.0, 10.0); d]).unwrap(), config(seed, 0)).unwrap();
        tell_valley(&mut optimizer, budget, together, &told);
        optimizer.ask().unwrap();
        left_out += usize::from(optimizer.report().unwrap().gradients_left_out);
        best.push(optimizer.best().unwrap().outcome.value().unwrap());
    }
    best.sort_unstable_by(f64::total_cmp);
    (best[2], left_out)
}

#[test]
fn gradients_lead_through_a_valley() {
    let (five, _) = median_best(5, (60, 1), |gradient| gradient);
    assert!(five < 1e-4, "{five}");
    let (ten, _) = median_best(10, (100, 1), |gradient| gradient);
    assert!(ten < 1e-1, "{ten}");
    let (alone, together) = (median_best(5, (60, 3), |_| Vec::new()).0, median_best(5, (60, 3), |gradient| gradient).0);
    assert!(together < alone, "three at a time: {together}, {alone} without gradients");
    let partial = |gradient: Vec<f64>| std::iter::once(f64::NAN).chain(gradient.into_iter().skip(1)).collect();
    let (without, partial) = (median_best(4, (60, 1), |_| Vec::new()).0, median_best(4, (60, 1), partial).0);
    assert!(partial < without, "one derivative unknown: {partial}, {without} without any");
}

#[test]
fn gradients_of_zeros_or_of_the_wrong_sign_change_nothing_and_that_is_said() {
    let (without, left_out) = median_best(4, (80, 1), |_| Vec::new());
    assert_eq!(left_out, 0);
    assert_eq!(median_best(4, (80, 1), |gradient| vec![0.0; gradient.len()]), (without, 5));
    assert_eq!(median_best(4, (80, 1), |gradient| gradient.iter().map(|g| -g).collect()), (without, 5));
}

/// A local minimum is known to all digits after a few steps along slopes: what is left of the budget is for the others. Of the four minima of
/// Styblinski and Tang's function the start lies in the highest.
#[test]
fn a_run_along_gradients_ends_in_time_to_look_elsewhere() {
    let mut best: Vec<f64> = (0..5)
        .map(|seed| {
            let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 4.5); 2]).unwrap(), config(seed, 0)).unwrap();
            optimizer.start_at(&[&[3.0, 3.0]], None).unwrap();
            for _ in 0..60 {
                let s = optimizer.ask().unwrap();
                let value: f64 =
                    s.x.iter().map(|x| 0.5 * (x.powi(4) - 16.0 * x * x + 5.0 * x) + 39.16616570377142).sum();
                let gradient = s.x.iter().map(|x| 2.0 * x.powi(3) - 16.0 * x + 2.5).collect();
                optimizer.tell(s.id, Outcome::from(value).with_gradient(gradient)).unwrap();
            }
            optimizer.best().unwrap().outcome.value().unwrap()
        })
        .collect();
    best.sort_unstable_by(f64::total_cmp);
    assert!(best[2] < 1e-6, "{best:?}");
}

/// An ellipsoid of condition 10⁶ is known after a gradient for each dimension.
#[test]
fn a_quadratic_is_solved_by_one_gradient_for_each_dimension() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-4.0, 6.0); 6]).unwrap(), config(1, 0)).unwrap();
    optimizer.start_at(&[&[3.0, -2.0, 0.5, 5.0, -1.0, 2.0]], None).unwrap();
    for _ in 0..12 {
        let s = optimizer.ask().unwrap();
        let weight = |i: usize| 10.0_f64.powf(1.2 * i as f64);
        let value: f64 = s.x.iter().enumerate().map(|(i, x)| weight(i) * (x - 1.0).powi(2)).sum();
        let gradient = s.x.iter().enumerate().map(|(i, x)| 2.0 * weight(i) * (x - 1.0)).collect();
        optimizer.tell(s.id, Outcome::from(value).with_gradient(gradient)).unwrap();
    }
    let best = optimizer.best().unwrap().outcome.value().unwrap();
    assert!(best < 1e-6, "{best}");
}

/// With the least value on a bound and a known constraint: both are kept, and met to rounding.
#[test]
fn steps_along_gradients_keep_bounds_and_known_constraints() {
    let known = Known::default().at_most(vec![1.0, 1.0], 1.0);
    let mut optimizer = Optimizer::with_constraints(square(), config(3, 0), known).unwrap();
    for _ in 0..30 {
        let s = optimizer.ask().unwrap();
        let (a, b) = (s.x[0] - 1.0, s.x[1] - 1.0);
        assert!(s.x[0] + s.x[1] <= 1.0 + 1e-12);
        let outcome = Outcome::from(a * a + 2.0 * b * b).with_gradient(vec![2.0 * a, 4.0 * b]);
        optimizer.tell(s.id, outcome).unwrap();
    }
    let best = optimizer.best().unwrap().outcome.value().unwrap();
    assert!((best - 2.0 / 3.0).abs() < 1e-9, "{best}");
}

#[cfg(feature = "serde")]
#[test]
fn a_state_amid_steps_along_gradients_goes_on_bit_for_bit() {
    for together in [1, 3] {
        let mut optimizer = Optimizer::new(Domain::new(&[(-5.0, 10.0); 3]).unwrap(), config(2, 0)).unwrap();
        tell_valley(&mut optimizer, 6, together, &|gradient| gradient);
        for _ in 0..12 {
            let mut copy = Optimizer::from_json(&optimizer.to_json()).unwrap();
            tell_valley(&mut copy, together, together, &|gradient| gradient);
            tell_valley(&mut optimizer, together, together, &|gradient| gradient);
            assert_eq!(optimizer.to_json(), copy.to_json());
        }
    }
}

/// An integer, a category, a boolean and a real.
fn mixed_space() -> Domain {
    let parameters = vec![
        Parameter::integer("n", 0.0, 20.0),
        Parameter::categorical("kind", ["a", "b", "c"]),
        Parameter::boolean("on"),
        Parameter::real("x", 0.0, 2.0),
    ];
    Domain::from_parameters(parameters).unwrap()
}

fn mixed_value(x: &[f64]) -> f64 {
    0.25 * (x[0] - 4.0).powi(2) + [1.0, 0.0, 0.5][x[1] as usize] + x[2] + 13.0 * (x[3] - 1.0).powi(2)
}

const MIXED_ROOM: f64 = 6.0;

/// The least over integers, by hand: for each n the real at its bound.
fn mixed_least() -> f64 {
    let at = |n: f64| mixed_value(&[n, 1.0, 0.0, ((MIXED_ROOM - n) / 4.0).min(1.0)]);
    (0..=6).map(|n| at(f64::from(n))).fold(f64::INFINITY, f64::min)
}

fn factors() -> Vec<f64> {
    vec![1.0, 0.0, 0.0, 4.0]
}

#[test]
fn known_constraints_hold_with_integers_and_categories() {
    let mut gaps = Vec::new();
    for seed in 0..10 {
        // And a function of a category: with c the boolean must be true.
        let known =
            Known::default().at_most(factors(), MIXED_ROOM).met(|x| if x[1] == 2.0 { 0.5 - x[2] } else { -1.0 });
        let mut optimizer = Optimizer::with_constraints(mixed_space(), config(seed, 0), known.clone()).unwrap();
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            assert!(known.allows(&s.x), "seed {seed}: {:?}", s.x);
            optimizer.domain().check(&s.x).unwrap();
            optimizer.tell(s.id, mixed_value(&s.x)).unwrap();
        }
        gaps.push(optimizer.best().unwrap().outcome.value().unwrap() - mixed_least());
    }
    // The next integer has a minimum of its own, 1/16 higher, in which a short run may end.
    assert!(gaps.iter().all(|gap| *gap < 0.0626), "{gaps:?}");
    assert!(gaps.iter().filter(|gap| **gap < 1e-3).count() >= 8, "{gaps:?}");
}

#[test]
fn measured_constraints_are_satisfied_with_integers_and_categories() {
    let mut gaps = Vec::new();
    for seed in 0..10 {
        let mut optimizer = Optimizer::new(mixed_space(), config(seed, 1)).unwrap();
        for _ in 0..80 {
            let s = optimizer.ask().unwrap();
            let g = s.x[0] + 4.0 * s.x[3] - MIXED_ROOM;
            optimizer.tell(s.id, Outcome::from(mixed_value(&s.x)).with_constraints(vec![g])).unwrap();
        }
        let best = optimizer.best().unwrap();
        assert!(best.outcome.is_feasible());
        gaps.push(best.outcome.value().unwrap() - mixed_least());
    }
    assert!(gaps.iter().filter(|gap| **gap < 1e-6).count() >= 9, "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap < 0.05), "{gaps:?}");
}

/// What was told of a point that known constraints forbid teaches the model, but it is no answer.
#[test]
fn a_point_told_outside_known_constraints_is_never_the_best() {
    let known = || Known::default().at_most(vec![1.0, 1.0], 1.0);
    let mut config = config(1, 0);
    config.target = Some(0.2);
    let domain = || Domain::new(&[(0.0, 2.0); 2]).unwrap();
    let mut optimizer = Optimizer::with_constraints(domain(), config.clone(), known()).unwrap();
    optimizer.tell_point(&[1.5, 1.5], 0.0).unwrap();
    assert_eq!((optimizer.best(), optimizer.stop_reason()), (None, None));
    for _ in 0..10 {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, 1.0 + s.x[0]).unwrap();
        let best = optimizer.best().unwrap();
        assert!(best.x[0] + best.x[1] <= 1.0, "{best:?}");
    }
    // The same where the constraints come later, as they do to a state that was saved.
    let mut late = Optimizer::new(domain(), config).unwrap();
    for evaluation in optimizer.evaluations() {
        late.tell_point(&evaluation.x, evaluation.outcome.clone()).unwrap();
    }
    assert_eq!(late.best().unwrap().outcome.value(), Some(0.0));
    late.constrain(known()).unwrap();
    assert_eq!(late.best().map(|e| &e.x), optimizer.best().map(|e| &e.x));
}

#[test]
fn a_finite_space_ends_when_all_that_is_allowed_was_tried() {
    let numbers =
        || Domain::from_parameters(vec![Parameter::integer("a", 0.0, 9.0), Parameter::integer("b", 0.0, 9.0)]);
    // a + b = 7 has eight solutions; 2 a + 2 b = 7 has none.
    let known = Known::default().equal_to(vec![1.0, 1.0], 7.0);
    let mut optimizer = Optimizer::with_constraints(numbers().unwrap(), config(1, 0), known).unwrap();
    let mut count = 0;
    while let Ok(s) = optimizer.ask() {
        assert_eq!(s.x[0] + s.x[1], 7.0);
        optimizer.tell(s.id, s.x[0] * s.x[1]).unwrap();
        count += 1;
    }
    assert_eq!((count, optimizer.stop_reason()), (8, Some(StopReason::Exhausted)));
    let none = Known::default().equal_to(vec![2.0, 2.0], 7.0);
    let error = Optimizer::with_constraints(numbers().unwrap(), config(1, 0), none).unwrap_err();
    assert_eq!(error, Error::Known(KnownError::NotFound { tried: 100 }));
}

#[test]
fn a_vast_space_with_hardly_anything_allowed_ends_soon_and_repeats_nothing() {
    for most in [1e2, 1e3, 1e7] {
        let numbers = vec![Parameter::integer("a", 0.0, most), Parameter::integer("b", 0.0, most)];
        // Three points: (0, 0), (0, 1) and (1, 0).
        let known = Known::default().at_most(vec![1.0, 1.0], 1.0);
        let domain = Domain::from_parameters(numbers).unwrap();
        let mut optimizer = Optimizer::with_constraints(domain, config(1, 0), known).unwrap();
        for _ in 0..3 {
            let s = optimizer.ask().unwrap();
            assert!(optimizer.evaluations().iter().all(|e| e.x != s.x), "{:?} again, up to {most}", s.x);
            optimizer.tell(s.id, s.x[0] - s.x[1]).unwrap();
        }
        assert_eq!(optimizer.ask().unwrap_err(), AskError::Stopped(StopReason::Exhausted), "up to {most}");
        assert_eq!(optimizer.stop_reason(), Some(StopReason::Exhausted));
        optimizer.enqueue(&[1.0, 0.0]).unwrap();
        assert_eq!(optimizer.ask().unwrap().x, [1.0, 0.0], "what the user wants is evaluated again");
        assert_eq!(optimizer.ask().unwrap_err(), AskError::SpaceOutstanding { pending: 1 });
    }
}

#[test]
fn known_constraints_may_be_flat_or_undefined_in_parts_of_the_box() {
    for text in
        ["max(x0 + x1, 0) <= 1", "sqrt(x0 - 0.5) <= 0.9", "log(x0) <= -0.5", "0.5 <= log(x0 + 1) + abs(x1) <= 1"]
    {
        let formula = Formula::parse(text).unwrap();
        for (seed, measured) in (0..6).flat_map(|seed| [(seed, 0), (seed, 1)]) {
            let known = Known::default().formula(&formula, &square()).unwrap();
            let mut optimizer = Optimizer::with_constraints(square(), config(seed, measured), known.clone()).unwrap();
            for _ in 0..30 {
                let s = optimizer.ask().unwrap();
                assert!(known.allows(&s.x), "{text}, seed {seed}: {:?}", s.x);
                optimizer
                    .tell(s.id, Outcome::from(bowl(&s.x)).with_constraints(vec![-s.x[0] - 1.0; measured]))
                    .unwrap();
            }
        }
    }
}

#[test]
fn a_survey_forgets_points_on_their_way_that_were_told_next_to_others() {
    // All reals that are allowed lie so near each other that of each label the survey keeps one.
    let parameters = || vec![Parameter::categorical("a", ["u", "v", "w"]), Parameter::real("x", 0.0, 1.0)];
    for seed in 0..10 {
        let known = Known::default().at_most(vec![0.0, 1.0], 0.005);
        let domain = Domain::from_parameters(parameters()).unwrap();
        let mut optimizer = Optimizer::with_constraints(domain, config(seed, 0), known).unwrap();
        let mut asked = Vec::new();
        for k in 0..30 {
            while asked.len() < 5 {
                asked.push(optimizer.ask().unwrap());
            }
            for _ in 0..1 + k % 4 {
                let s = asked.remove(k * 7 % asked.len());
                optimizer.tell(s.id, s.x[0]).unwrap();
            }
        }
    }
}

#[test]
fn a_restart_does_not_keep_a_best_point_that_has_no_value() {
    let mut config = config(1, 1);
    config.keep_best = true;
    // One point is allowed, so that runs end for want of another.
    let known = Known::default().equal_to(vec![2.0], 1.0);
    let mut optimizer = Optimizer::with_constraints(Domain::new(&[(0.0, 1.0)]).unwrap(), config, known).unwrap();
    for k in 0..30 {
        let s = optimizer.ask().unwrap();
        let (outcome, violation) = if k == 2 { (Outcome::default(), 0.1) } else { (Outcome::from(f64::from(k)), 1.0) };
        optimizer.tell(s.id, outcome.with_constraints(vec![violation])).unwrap();
    }
    assert!(optimizer.best().is_some_and(|best| best.outcome.value().is_none()), "the least violated");
    assert!(!optimizer.restarts().is_empty(), "something was to be kept");
}

#[test]
fn a_linear_constraint_on_a_choice_is_refused_by_name() {
    let known = Known::default().at_most(vec![0.0, 1.0, 0.0, 0.0], 1.0);
    let error = Optimizer::with_constraints(mixed_space(), config(1, 0), known).unwrap_err();
    assert_eq!(error, Error::Known(KnownError::Choice { name: "kind".into() }));
}

/// Noise that is the same on every machine.
fn jitter(k: u64) -> f64 {
    let bits = (k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((bits ^ (bits >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

#[test]
fn under_noise_the_recommended_point_meets_the_constraints() {
    for seed in 0..8 {
        let mut config = config(seed, 1);
        config.noise = Noise::Sigma(0.05);
        let mut optimizer = Optimizer::new(square(), config).unwrap();
        for k in 0..80 {
            let s = optimizer.ask().unwrap();
            let value = bowl(&s.x) + 0.087 * jitter(1000 * seed + k);
            optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![s.x[0] + s.x[1] - 1.0])).unwrap();
        }
        // The least measured value is below what is possible; the recommended one is not, nor is its point.
        let recommended = optimizer.recommended().unwrap();
        let x = &recommended.x;
        assert!(x[0] + x[1] <= 1.0 + 1e-3, "seed {seed}: {x:?}");
        assert!(bowl(x) - LEAST < 0.06, "seed {seed}: {} at {x:?}", bowl(x));
        assert!((recommended.mean - bowl(x)).abs() < 0.1, "seed {seed}: {recommended:?}");
    }
}
