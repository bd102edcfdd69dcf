//! Constraints, measured and known, and gradients.

use labcat::{Config, Domain, Error, Known, KnownError, Optimizer, Outcome, PointError, Preset, TellError};

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
    assert!(all * 2 <= without, "{all} evaluations with gradients, {without} without");
    assert!(half < without, "{half} evaluations with some gradients, {without} without");
}
