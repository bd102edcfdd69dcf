//! A report says what its own step did: nothing of the step before it, nothing made up.

use crate::support::{PRESETS, evaluate, function, in_half_widths, optimizer, seeded};
use labcat::{Optimizer, Origin, Preset, StepKind, StepReport};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// What of a report belongs to the model, apart from the choice made with it.
fn model_of(report: &StepReport) -> StepReport {
    StepReport { acquisition: 0.0, predicted: 0.0, clipped: 0, restart: None, ..report.clone() }
}

/// A report of a step that no model took part in.
fn says_nothing_of_a_model(report: &StepReport) {
    let vectors = [&report.length_scales, &report.centre, &report.rotation, &report.half_widths];
    assert!(vectors.iter().all(|v| v.is_empty()), "{report:?}");
    assert_eq!((report.observations, report.discarded, report.step, report.clipped), (0, 0, StepKind::Stay, 0));
    let numbers = [report.output_range, report.log_likelihood, report.nugget, report.acquisition, report.predicted];
    assert_eq!(numbers, [0.0; 5], "{report:?}");
}

fn mid_run(preset: Preset, seed: u64, n: usize) -> Optimizer {
    let f = function("rosenbrock");
    let mut live = optimizer(&f.bounds(2), seeded(preset, seed));
    evaluate(&mut live, |x| f.value(x), n);
    live
}

#[test]
fn a_model_step_after_an_enqueued_point_reports_its_model() {
    for preset in PRESETS {
        for seed in 0..5 {
            let live = mid_run(preset, seed, 30);
            let mut plain = live.clone();
            plain.ask().unwrap();
            assert_eq!(plain.report().unwrap().origin, Origin::Model);
            // A model that is made while a point is pending keeps one observation more, whatever that point is.
            let mut crowded = live.clone();
            crowded.enqueue(&[-1.0, 0.5]).unwrap();
            crowded.ask().unwrap();
            crowded.ask().unwrap();
            // The model is made before the enqueued point is asked for, or after it.
            for (asked_before, like) in [(false, &crowded), (true, &plain)] {
                let expected = like.report().unwrap();
                let mut optimizer = live.clone();
                if asked_before {
                    optimizer.ask().unwrap();
                }
                optimizer.enqueue(&[1.0, 1.5]).unwrap();
                assert_eq!(optimizer.ask().unwrap().x, [1.0, 1.5]);
                let enqueued = optimizer.report().unwrap();
                assert_eq!((enqueued.origin, enqueued.evaluations, enqueued.run), (Origin::Enqueued, 30, 0));
                says_nothing_of_a_model(enqueued);
                optimizer.ask().unwrap();
                let report = optimizer.report().unwrap();
                assert_ne!(report.step, StepKind::Stay, "{preset}, seed {seed}");
                assert_eq!(model_of(report), model_of(expected), "{preset}, seed {seed}, asked before: {asked_before}");
            }
        }
    }
}

#[test]
fn asking_again_without_telling_reports_the_same_model() {
    for preset in PRESETS {
        let mut optimizer = mid_run(preset, 1, 30);
        optimizer.ask().unwrap();
        let first = optimizer.report().unwrap().clone();
        for _ in 0..4 {
            optimizer.ask().unwrap();
            assert_eq!(model_of(optimizer.report().unwrap()), model_of(&first), "{preset}");
        }
        let withdrawn = optimizer.ask().unwrap();
        optimizer.cancel(withdrawn.id).unwrap();
        optimizer.ask().unwrap();
        assert_eq!(model_of(optimizer.report().unwrap()), model_of(&first), "{preset}: after a withdrawal");
    }
}

#[cfg(feature = "serde")]
#[test]
fn there_is_no_report_after_reading_a_state_and_then_the_same_ones() {
    for preset in PRESETS {
        for n in [0, 2, 8, 30, 47] {
            let mut live = mid_run(preset, 3, n);
            for pending in 0..3 {
                let mut read = Optimizer::from_json(&live.to_json()).unwrap();
                assert_eq!(read.report(), None, "nothing was done yet");
                let mut twin = live.clone();
                assert_eq!(read.ask(), twin.ask());
                assert_eq!(read.report(), twin.report(), "{preset}, {n} told, {pending} pending");
                live.ask().unwrap();
            }
        }
    }
}

#[test]
fn design_steps_and_shortcuts_report_themselves() {
    // Exactly quadratic and in a corner, so that candidates are clipped and fits are followed.
    let bowl =
        |x: &[f64]| (x[0] - 5.0).powi(2) + 30.0 * (x[1] - 5.0 + 0.3 * (x[0] - 5.0)).powi(2) + (x[2] - 1.0).powi(2);
    let (mut shortcuts, mut clipped) = (0, 0);
    for seed in 0..10 {
        let bounds = [(-5.0, 5.0); 3];
        let mut optimizer = optimizer(&bounds, seeded(Preset::Default, seed));
        for n in 0..60 {
            let suggestion = optimizer.ask().unwrap();
            let report = optimizer.report().unwrap().clone();
            assert_eq!(report.evaluations, n);
            assert_eq!(report.run, optimizer.restarts().len());
            let best = optimizer.best().and_then(|e| e.outcome.value()).unwrap_or(f64::INFINITY);
            match report.origin {
                Origin::Design => says_nothing_of_a_model(&report),
                Origin::Quadratic => {
                    assert_eq!((report.clipped, report.acquisition), (0, 0.0), "seed {seed}, step {n}");
                    assert!(report.predicted.is_finite() && report.observations > 0);
                    assert!(report.predicted < best, "a shortcut predicts something better: {report:?}");
                    shortcuts += 1;
                }
                _ => {
                    assert!(report.observations > 0 && report.acquisition.is_finite() && report.predicted.is_finite());
                    clipped += report.clipped;
                }
            }
            optimizer.tell(suggestion.id, bowl(&suggestion.x)).unwrap();
        }
    }
    assert!(shortcuts >= 10 && clipped > 0, "{shortcuts} shortcuts, {clipped} clipped");
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 60, rng_seed: RngSeed::Fixed(8), failure_persistence: None, ..Default::default() })]

    /// Wherever the optimum lies (inside, on faces, in a corner, beyond the bounds), whatever fails and whatever is pending.
    #[test]
    fn suggestions_of_the_model_lie_in_the_trust_region_and_in_the_bounds(
        seed in 0..1000_u64,
        d in 1..7_usize,
        paper: bool,
        place in 0..5_usize,
        batch in 1..4_usize,
        failing in 0..4_usize,
        narrow in -3.0..3.0_f64,
    ) {
        let preset = if paper { Preset::Paper } else { Preset::Default };
        // A box that is no cube, and a bowl that is turned against it.
        let bounds: Vec<(f64, f64)> = (0..d).map(|j| (-1.0, 1.0 + 10_f64.powf(narrow) * j as f64)).collect();
        let unit = |x: &[f64], j: usize| 2.0 * (x[j] - bounds[j].0) / (bounds[j].1 - bounds[j].0) - 1.0;
        let optimum = |j: usize| match place {
            0 => 0.3,
            1 if j > 0 => -0.2,
            1 | 2 => 1.0,
            3 => -1.0 + 2.0 * ((seed as usize >> j) % 2) as f64,
            _ => 1.4,
        };
        let value = |x: &[f64]| {
            let z: Vec<f64> = (0..d).map(|j| unit(x, j) - optimum(j)).collect();
            (0..d).map(|i| 10_f64.powi(i as i32) * (z[i] + 0.5 * z[(i + 1) % d]).powi(2)).sum::<f64>()
        };
        let mut optimizer = optimizer(&bounds, seeded(preset, seed));
        let (mut by_model, mut n) = (0, 0);
        while n < 30 + 10 * d {
            for suggestion in (0..batch).map(|_| (optimizer.ask().unwrap(), optimizer.report().unwrap().clone())).collect::<Vec<_>>() {
                let (suggestion, report) = suggestion;
                prop_assert!(optimizer.domain().check(&suggestion.x).is_ok());
                if report.origin == Origin::Model {
                    by_model += 1;
                    for (t, width) in in_half_widths(&bounds, &report, &report.centre, &suggestion.x).iter().zip(&report.half_widths) {
                        let rounding = 1e-12 + 8.0 * f64::EPSILON * d as f64 / width;
                        prop_assert!(t.abs() <= 1.0 + rounding, "{} half-widths from the centre, evaluation {}", t.abs(), n);
                    }
                }
                let fails = failing == 3 && n % 5 == 4;
                optimizer.tell(suggestion.id, if fails { f64::NAN } else { value(&suggestion.x) }).unwrap();
                n += 1;
            }
        }
        prop_assert!(by_model >= 10, "only {} of {} suggestions came from the model", by_model, n);
    }
}
