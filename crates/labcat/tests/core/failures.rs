//! Failed evaluations and values that are not finite: they count, they are never poison, they are never suggested again.

use crate::support::{Dice, PRESETS, all_distinct, best_value, function, optimizer, seeded};
use labcat::{Origin, Preset, StopReason, minimize};

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
            assert!(optimizer.evaluations().iter().all(|e| e.outcome.is_failed()));
            assert_eq!(optimizer.predict(&vec![0.0; d]).unwrap(), None);
        }
        let mut config = seeded(preset, 1);
        config.budget = Some(20);
        let domain = labcat::Domain::new(&[(0.0, 1.0)]).unwrap();
        let solution = minimize(|_| f64::NAN, domain, config).unwrap();
        assert_eq!((solution.best, solution.stop, solution.evaluations), (None, StopReason::Budget, 20));
    }
}

/// Best values of ten seeds, ascending.
fn best_values(
    preset: Preset,
    d: usize,
    bounds: (f64, f64),
    n: usize,
    f: impl Fn(&[f64], &mut Dice) -> f64,
) -> Vec<f64> {
    let run = |seed| {
        let mut optimizer = optimizer(&vec![bounds; d], seeded(preset, seed));
        let mut dice = Dice(seed);
        let mut points = Vec::new();
        let mut failed = 0;
        for _ in 0..n {
            let suggestion = optimizer.ask().unwrap();
            let value = f(&suggestion.x, &mut dice);
            failed += usize::from(!value.is_finite());
            optimizer.tell(suggestion.id, value).unwrap();
            points.push(suggestion.x);
            let report = optimizer.report().unwrap();
            assert!(report.centre.iter().chain(&report.length_scales).all(|v| v.is_finite()));
            assert!(report.acquisition.is_finite() && report.predicted.is_finite());
        }
        assert!(all_distinct(&points), "a failed point came again");
        assert_eq!(optimizer.n_evaluations(), n, "failures count");
        assert_eq!(optimizer.evaluations().iter().filter(|e| e.outcome.is_failed()).count(), failed);
        best_value(&optimizer)
    };
    let mut all: Vec<f64> = (0..10).map(run).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn half_of_the_evaluations_may_fail_anywhere() {
    let f = function("booth");
    for preset in PRESETS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let value = |x: &[f64], dice: &mut Dice| if dice.chance(0.5) { bad } else { f.value(x) };
            let all = best_values(preset, 2, (-10.0, 10.0), 200, value);
            assert!(all[5] < 1e-6 && all[9] < 1e-2, "{preset}, {bad}: {all:?}");
        }
    }
}

#[test]
fn a_region_that_always_fails_is_kept_away_from() {
    // More than half of the box fails, and the minimum of what is left lies at the border: 0.17² / 1.09 from (0.1, 0.1).
    let border = 0.17_f64.powi(2) / 1.09;
    for preset in PRESETS {
        let value = |x: &[f64], _: &mut Dice| {
            if x[0] + 0.3 * x[1] < 0.3 { f64::NAN } else { x.iter().map(|x| (x - 0.1).powi(2)).sum() }
        };
        let all = best_values(preset, 2, (-1.0, 1.0), 150, value);
        assert!(all[0] >= border - 1e-12);
        assert!(all[5] - border < 1e-3 && all[9] - border < 1e-2, "{preset}: {all:?}");
    }
}

#[test]
fn failures_all_around_end_in_a_restart() {
    // Everything fails once the model is at work, until it has given up this place.
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], seeded(preset, 1));
        let mut n = 0;
        while optimizer.restarts().is_empty() {
            let suggestion = optimizer.ask().unwrap();
            let modelled = optimizer.report().unwrap().origin == Origin::Model;
            let value = if modelled { f64::NAN } else { suggestion.x[0] + suggestion.x[1].powi(2) };
            optimizer.tell(suggestion.id, value).unwrap();
            n += 1;
            assert!(n < 200, "{preset}: no restart");
        }
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
