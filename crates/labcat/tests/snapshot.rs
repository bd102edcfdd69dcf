//! A snapshot and the evaluations kept elsewhere are the whole state.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "serde")]

use labcat::{Config, Domain, Optimizer, Preset, StateError};

fn value(x: &[f64]) -> f64 {
    (x[0] - 0.3).powi(2) + 10.0 * (x[1] + 0.2 * x[0]).powi(2)
}

#[test]
fn restoring_at_any_moment_continues_bit_for_bit_and_a_snapshot_does_not_grow() {
    let domain = Domain::new(&[(-1.0, 1.0), (-1.0, 1.0)]).unwrap();
    let mut uninterrupted = Optimizer::new(domain, Config::new(Preset::Default)).unwrap();
    let mut interrupted = uninterrupted.clone();
    let mut largest = 0;
    for step in 0..300 {
        let expected = uninterrupted.ask().unwrap();
        let suggestion = interrupted.ask().unwrap();
        assert_eq!(suggestion, expected, "step {step}");
        interrupted = Optimizer::restore(&interrupted.snapshot(), interrupted.evaluations().to_vec()).unwrap();
        interrupted.tell(suggestion.id, value(&suggestion.x)).unwrap();
        uninterrupted.tell(expected.id, value(&expected.x)).unwrap();
        interrupted = Optimizer::restore(&interrupted.snapshot(), interrupted.evaluations().to_vec()).unwrap();
        if step < 100 {
            largest = largest.max(interrupted.snapshot().len());
        }
    }
    assert_eq!(interrupted.evaluations(), uninterrupted.evaluations());
    // Numbers may be written with more digits: the history alone would be ten times as long.
    let allowed = largest + largest / 20 + 100 * interrupted.restarts().len();
    assert!(
        interrupted.snapshot().len() <= allowed,
        "{} > {allowed}, of {largest} before",
        interrupted.snapshot().len()
    );
}

#[test]
fn evaluations_that_are_not_those_of_the_snapshot_are_refused() {
    let domain = Domain::new(&[(-1.0, 1.0), (-1.0, 1.0)]).unwrap();
    let mut optimizer = Optimizer::new(domain, Config::new(Preset::Default)).unwrap();
    let suggestion = optimizer.ask().unwrap();
    optimizer.tell(suggestion.id, value(&suggestion.x)).unwrap();
    let snapshot = optimizer.snapshot();
    assert!(matches!(Optimizer::restore(&snapshot, Vec::new()), Err(StateError::Inconsistent(_))));
    assert!(matches!(Optimizer::from_json(&snapshot), Err(StateError::Inconsistent(_))));
    assert!(Optimizer::restore(&snapshot, optimizer.evaluations().to_vec()).is_ok());
}
