//! Failed evaluations and values that are not finite: they count, they are never poison, they are never suggested again.

use crate::support::{Dice, PRESETS, all_distinct, best_value, function, optimizer, seeded};
use labcat::{Outcome, Preset, StopReason, minimize};

#[test]
fn a_run_in_which_everything_fails_ends_cleanly() {
    for preset in PRESETS {
        for d in [1, 2, 5] {
            let mut config = seeded(preset, 1);
            config.budget = Some(60);
            let mut optimizer = optimizer(&vec![(-1.0, 1.0); d], config);
            let mut points = Vec::new();
            while let Ok(suggestion) = optimizer.ask() {
                match points.len() % 3 {
                    0 => optimizer.fail(suggestion.id).unwrap(),
                    1 => optimizer.tell(suggestion.id, f64::NAN).unwrap(),
                    _ => optimizer.tell(suggestion.id, f64::INFINITY).unwrap(),
                }
                points.push(suggestion.x);
            }
            assert_eq!(points.len(), 60);
            assert!(all_distinct(&points));
            assert_eq!(optimizer.stop_reason(), Some(StopReason::Budget));
            assert!(optimizer.best().is_none());
            assert!(optimizer.evaluations().iter().all(|e| e.outcome == Outcome::Failed));
            assert_eq!(optimizer.predict(&vec![0.0; d]).unwrap(), None);
        }
        let mut config = seeded(preset, 1);
        config.budget = Some(20);
        let domain = labcat::Domain::new(&[(0.0, 1.0)]).unwrap();
        let solution = minimize(|_| f64::NAN, domain, config).unwrap();
        assert_eq!((solution.best, solution.stop, solution.evaluations), (None, StopReason::Budget, 20));
    }
}

#[test]
fn half_of_the_evaluations_may_fail() {
    for preset in PRESETS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let f = function("booth");
            let mut config = seeded(preset, 2);
            config.budget = Some(200);
            let mut optimizer = optimizer(&f.bounds(2), config);
            let mut dice = Dice(3);
            let mut points = Vec::new();
            let mut failed = 0;
            while let Ok(suggestion) = optimizer.ask() {
                let value = if dice.chance(0.5) { bad } else { f.value(&suggestion.x) };
                failed += usize::from(!value.is_finite());
                optimizer.tell(suggestion.id, value).unwrap();
                points.push(suggestion.x);
                if let Some(report) = optimizer.report() {
                    assert!(report.centre.iter().chain(&report.length_scales).all(|v| v.is_finite()));
                    assert!(report.acquisition.is_finite() && report.predicted.is_finite());
                }
            }
            assert_eq!(points.len(), 200, "failures count against the budget");
            assert!(all_distinct(&points), "a failed point came again");
            assert_eq!(optimizer.evaluations().iter().filter(|e| e.outcome == Outcome::Failed).count(), failed);
            assert!(best_value(&optimizer) < 1e-3, "{preset}, {bad}: {:e}", best_value(&optimizer));
        }
    }
}

#[test]
fn a_region_that_always_fails_is_avoided_in_the_end() {
    // Half of the box fails; the minimum lies at its border.
    for preset in PRESETS {
        let value = |x: &[f64]| if x[0] < 0.3 { f64::NAN } else { (x[0] - 0.2).powi(2) + x[1] * x[1] };
        let mut config = seeded(preset, 4);
        config.budget = Some(150);
        let mut optimizer = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
        while let Ok(suggestion) = optimizer.ask() {
            optimizer.tell(suggestion.id, value(&suggestion.x)).unwrap();
        }
        assert!(best_value(&optimizer) < 0.01 + 1e-3, "{preset}: {}", best_value(&optimizer));
    }
}

#[test]
fn a_failure_does_not_move_the_best_nor_the_trust_region() {
    let f = function("booth");
    for preset in PRESETS {
        let mut optimizer = optimizer(&f.bounds(2), seeded(preset, 4));
        crate::support::evaluate(&mut optimizer, |x| f.value(x), 20);
        let best = optimizer.best().cloned();
        let suggestion = optimizer.ask().unwrap();
        optimizer.tell(suggestion.id, f64::NEG_INFINITY).unwrap();
        assert_eq!(optimizer.best().cloned(), best, "−∞ is a failure, not a triumph");
        optimizer.ask().unwrap();
        let centre = optimizer.trust_region().unwrap().centre;
        for (c, x) in centre.iter().zip(&best.unwrap().x) {
            assert!((c - x).abs() < 1e-12);
        }
    }
}

#[test]
fn failures_told_for_points_never_asked_count_too() {
    let mut config = seeded(Preset::Paper, 0);
    config.budget = Some(3);
    let mut optimizer = optimizer(&[(0.0, 1.0)], config);
    optimizer.fail_point(&[0.1]).unwrap();
    optimizer.tell_point(&[0.2], f64::NAN).unwrap();
    assert_eq!(optimizer.stop_reason(), None);
    optimizer.fail_point(&[0.3]).unwrap();
    assert_eq!(optimizer.stop_reason(), Some(StopReason::Budget));
}
