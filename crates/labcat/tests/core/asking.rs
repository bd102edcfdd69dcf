//! What `ask` gives: distinct points that fill the space, reports, predictions, the same stream for the same seed.

use crate::support::{PRESETS, all_distinct, bits, evaluate, function, in_half_widths, optimizer, seeded, stream};
use labcat::{AcquisitionKind, Config, KernelKind, Origin, Preset, StepKind, StepReport, default_budget};

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[test]
fn asking_before_any_tell_fills_the_space() {
    for preset in PRESETS {
        for d in [1, 2, 5] {
            let mut optimizer = optimizer(&vec![(-1.0, 1.0); d], seeded(preset, 4));
            let points: Vec<Vec<f64>> = (0..60).map(|_| optimizer.ask().unwrap().x).collect();
            assert!(all_distinct(&points));
            assert_eq!(optimizer.pending().count(), 60);
            // No two closer than a tenth of the spacing of a regular grid of as many points.
            let spacing = 2.0 / 60_f64.powf(1.0 / d as f64);
            for (i, p) in points.iter().enumerate() {
                for q in &points[..i] {
                    assert!(distance(p, q) > 0.1 * spacing, "{preset}, d = {d}: {} apart", distance(p, q));
                }
            }
            // Every half of every axis is visited about as often as the other.
            for j in 0..d {
                let right = points.iter().filter(|p| p[j] > 0.0).count();
                assert!((15..=45).contains(&right), "{preset}, d = {d}: {right} of 60 on the right");
            }
        }
    }
}

#[test]
fn ids_count_up_and_pending_points_are_in_the_order_asked() {
    let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(Preset::Default, 1));
    let asked = optimizer.ask_many(7).unwrap();
    let ids: Vec<u64> = asked.iter().map(|s| s.id.0).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6]);
    let pending: Vec<(u64, Vec<f64>)> = optimizer.pending().map(|(id, x)| (id.0, x.to_vec())).collect();
    assert_eq!(pending, asked.iter().map(|s| (s.id.0, s.x.clone())).collect::<Vec<_>>());
    assert_eq!(asked[3].id.to_string(), "3");
}

#[test]
fn ask_many_gives_what_the_budget_leaves() {
    let mut config = seeded(Preset::Paper, 1);
    config.budget = Some(10);
    let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], config);
    evaluate(&mut optimizer, |x| x[0], 4);
    assert_eq!(optimizer.ask_many(4).unwrap().len(), 4);
    assert_eq!(optimizer.ask_many(4).unwrap().len(), 2);
    assert!(optimizer.ask_many(4).is_err());
    assert_eq!(optimizer.ask_many(0).unwrap(), []);
}

#[test]
fn many_pending_points_are_distinct_and_stay_apart() {
    for preset in PRESETS {
        for (name, d, told) in [("branin", 2, 8), ("branin", 2, 30), ("levy", 3, 40), ("rosenbrock", 5, 60)] {
            for seed in 0..5 {
                let f = function(name);
                let mut optimizer = optimizer(&f.bounds(d), seeded(preset, seed));
                evaluate(&mut optimizer, |x| f.value(x), told);
                let batch: Vec<Vec<f64>> = optimizer.ask_many(12).unwrap().into_iter().map(|s| s.x).collect();
                let report = optimizer.report().unwrap();
                assert!(matches!(report.origin, Origin::Model | Origin::Quadratic), "{preset}, {name}, seed {seed}");
                // Twelve workers must not evaluate one place twelve times: a thousandth of the trust region is one place.
                for (i, p) in batch.iter().enumerate() {
                    for q in &batch[..i] {
                        let apart =
                            in_half_widths(&f.bounds(d), report, q, p).iter().map(|v| v * v).sum::<f64>().sqrt();
                        assert!(
                            apart > 1e-3,
                            "{preset}, {name}, {told} told, seed {seed}: {apart:e} half-widths apart"
                        );
                    }
                }
                let mut everything: Vec<Vec<f64>> = optimizer.evaluations().iter().map(|e| e.x.clone()).collect();
                everything.extend(batch);
                assert!(all_distinct(&everything));
            }
        }
    }
}

#[test]
fn batches_told_in_any_order_still_find_the_minimum() {
    let f = function("branin");
    for preset in PRESETS {
        let mut optimizer = optimizer(&f.bounds(2), seeded(preset, 3));
        for round in 0..25 {
            let mut batch = optimizer.ask_many(6).unwrap();
            let turn = round % batch.len();
            batch.rotate_left(turn);
            batch.reverse();
            for suggestion in batch {
                optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
            }
        }
        let regret = crate::support::best_value(&optimizer) - f.minimum(2);
        assert!(regret < 1e-4, "{preset}: {regret:e}");
    }
}

#[test]
fn one_seed_gives_one_stream_and_another_seed_another() {
    let f = function("rosenbrock");
    for preset in PRESETS {
        let run = |seed| bits(&stream(&f.bounds(3), seeded(preset, seed), |x| f.value(x), 60));
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
        assert_ne!(run(0), run(u64::MAX));
    }
}

#[test]
fn an_optimizer_and_its_clone_go_the_same_way() {
    let f = function("rosenbrock");
    let mut one = optimizer(&f.bounds(2), seeded(Preset::Default, 1));
    evaluate(&mut one, |x| f.value(x), 17);
    one.ask().unwrap();
    let mut other = one.clone();
    assert_eq!(bits(&evaluate(&mut one, |x| f.value(x), 20)), bits(&evaluate(&mut other, |x| f.value(x), 20)));
}

#[test]
fn every_suggestion_has_a_report() {
    let f = function("rosenbrock");
    for preset in PRESETS {
        let d = 3;
        let mut optimizer = optimizer(&f.bounds(d), seeded(preset, 5));
        let mut reports: Vec<StepReport> = Vec::new();
        assert!(optimizer.report().is_none());
        for n in 0..50 {
            let suggestion = optimizer.ask().unwrap();
            reports.extend(optimizer.report().cloned());
            assert_eq!(reports[n].evaluations, n);
            optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
        }
        let design = optimizer.config().initial_points_for(d);
        for (n, report) in reports.iter().enumerate() {
            assert_eq!(report.run, 0);
            assert_eq!(report.restart, None);
            if n < design {
                assert_eq!((report.origin, report.observations), (Origin::Design, 0), "{preset}, step {n}");
                continue;
            }
            let fitted = preset == Preset::Default && report.origin == Origin::Quadratic;
            assert!(fitted || report.origin == Origin::Model, "{preset}, step {n}");
            assert!(report.observations >= 2 && report.observations <= 7 * d);
            assert_eq!(report.length_scales.len(), d);
            assert_eq!(report.half_widths.len(), d);
            assert_eq!(report.centre.len(), d);
            assert_eq!(report.rotation.len(), d * d);
            assert!(report.length_scales.iter().chain(&report.half_widths).all(|v| *v > 0.0 && v.is_finite()));
            assert!(report.output_range > 0.0 && report.log_likelihood.is_finite() && report.nugget > 0.0);
            assert!((fitted || report.acquisition.is_finite()) && report.predicted.is_finite());
            let best = optimizer.evaluations()[..n]
                .iter()
                .min_by(|a, b| a.outcome.value().unwrap().total_cmp(&b.outcome.value().unwrap()));
            for (c, x) in report.centre.iter().zip(&best.unwrap().x) {
                assert!((c - x).abs() < 1e-12, "the frame is centred on the best point");
            }
        }
        assert!(reports.iter().any(|r| r.discarded > 0));
        assert!(reports.iter().any(|r| r.step == StepKind::Newton));
    }
}

#[test]
fn clipping_in_a_corner_is_reported() {
    // The minimum is a corner, and the function is not aligned with the axes, so the frame is turned there.
    let d = 8;
    let value = |x: &[f64]| {
        let sum: f64 = x.iter().sum();
        sum + 3.0 * (x[0] - 2.0 * x[1] + x[2]).powi(2) + (x[3] * x[4] - x[5] + 0.3 * x[6]).powi(2)
    };
    let mut optimizer = optimizer(&vec![(0.0, 1.0); d], seeded(Preset::Paper, 2));
    let mut clipped = 0;
    for _ in 0..250 {
        let suggestion = optimizer.ask().unwrap();
        clipped += optimizer.report().unwrap().clipped;
        optimizer.domain().check(&suggestion.x).unwrap();
        optimizer.tell(suggestion.id, value(&suggestion.x)).unwrap();
    }
    assert!(clipped > 0, "rejection in a corner of {d} dimensions never ran out of rounds");
}

#[test]
fn predictions_follow_the_function_near_the_best_point() {
    let value = |x: &[f64]| (x[0] - 1.0).powi(2) + 2.0 * (x[1] + 0.5).powi(2) + 3.0;
    for preset in PRESETS {
        for sign in [1.0, -1.0] {
            let mut config = seeded(preset, 1);
            config.set("direction", if sign > 0.0 { "minimize" } else { "maximize" }).unwrap();
            let mut optimizer = optimizer(&[(-5.0, 5.0), (-5.0, 5.0)], config);
            assert_eq!(optimizer.predict(&[0.0, 0.0]).unwrap(), None);
            assert_eq!(optimizer.relevance(), None);
            assert_eq!(optimizer.trust_region(), None);
            evaluate(&mut optimizer, |x| sign * value(x), 25);
            let region = optimizer.trust_region().unwrap();
            assert_eq!(region.half_axes.len(), 2);
            let at = region.centre.clone();
            let near = optimizer.predict(&at).unwrap().unwrap();
            let spread: f64 = optimizer.report().unwrap().output_range;
            assert!((near.mean - sign * value(&at)).abs() < 1e-2 * spread, "{preset}: {near:?} against {}", value(&at));
            assert!(near.std >= 0.0 && near.std < spread);
            let far = optimizer.predict(&[5.0, 5.0]).unwrap().unwrap();
            assert!(far.std > near.std, "{preset}: far away the model knows less: {near:?}, {far:?}");
            let both = optimizer.predict_many(&[&at, &[5.0, 5.0]]).unwrap().unwrap();
            assert_eq!(both, [near, far]);
            let relevance = optimizer.relevance().unwrap();
            assert!((relevance.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn an_irrelevant_parameter_is_found_out() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(-1.0, 1.0); 3], seeded(preset, 1));
        evaluate(&mut optimizer, |x| (3.0 * x[0]).sin() + x[2] * x[2], 60);
        let relevance = optimizer.relevance().unwrap();
        assert!(relevance[1] < relevance[0] && relevance[1] < relevance[2], "{preset}: {relevance:?}");
    }
}

#[test]
fn the_second_kernel_and_every_acquisition_optimise() {
    let f = function("booth");
    for kernel in [KernelKind::SquaredExponential, KernelKind::Matern52] {
        for acquisition in [
            AcquisitionKind::ExpectedImprovement,
            AcquisitionKind::LogExpectedImprovement,
            AcquisitionKind::LowerConfidenceBound,
        ] {
            for preset in PRESETS {
                let mut config = seeded(preset, 1);
                (config.kernel, config.acquisition) = (kernel, acquisition);
                let mut optimizer = optimizer(&f.bounds(2), config);
                evaluate(&mut optimizer, |x| f.value(x), 120);
                let value = crate::support::best_value(&optimizer);
                assert!(value < 1e-2, "{preset}, {kernel}, {acquisition}: {value:e}");
            }
        }
    }
}

#[test]
fn the_ablations_of_the_paper_run_and_differ() {
    let f = function("rosenbrock");
    let ablations: [&[(&str, &str)]; 5] = [
        &[],
        &[("rotation", "false")],
        &[("cache_factor", "20")],
        &[("prior_sigma", "none")],
        &[("newton_steps", "10")],
    ];
    let mut streams = Vec::new();
    for switches in ablations {
        let mut config = seeded(Preset::Paper, 1);
        for (name, value) in switches {
            config.set(name, value).unwrap();
        }
        streams.push(bits(&stream(&f.bounds(2), config, |x| f.value(x), 60)));
    }
    for (i, a) in streams.iter().enumerate() {
        assert!(streams[..i].iter().all(|b| a != b), "ablation {i} changes nothing");
    }
}

#[test]
fn without_rotation_the_frame_keeps_its_axes() {
    let f = function("rosenbrock");
    let mut config = seeded(Preset::Paper, 1);
    config.rotation = false;
    let mut optimizer = optimizer(&f.bounds(2), config);
    evaluate(&mut optimizer, |x| f.value(x), 40);
    assert_eq!(optimizer.report().unwrap().rotation, [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn the_presets_are_what_the_contract_says() {
    let paper = Config::new(Preset::Paper);
    for (d, beta) in [(1, 1.0), (2, 0.5), (4, 0.25), (10, 0.1), (40, 0.1)] {
        assert_eq!(paper.beta_for(d), beta);
        assert_eq!(paper.initial_points_for(d), 2 * d + 1);
        assert_eq!(paper.candidates_for(d), 10 * d);
    }
    assert_eq!((paper.cache_factor, paper.prior_sigma, paper.newton_steps), (7.0, Some(0.1), 1));
    assert!(paper.rotation && paper.restarts);
    assert_eq!(paper.kernel, KernelKind::SquaredExponential);
    assert_eq!(paper.acquisition, AcquisitionKind::ExpectedImprovement);
    let improvements = (paper.refine, paper.centre_first, paper.match_axes, paper.warp);
    assert_eq!(improvements, (0, false, false, false));
    assert_eq!(Config::default(), Config::new(Preset::Default));
    assert_eq!(default_budget(3), 600);
    for preset in PRESETS {
        assert_eq!(preset.to_string().parse::<Preset>().unwrap(), preset);
    }
}

#[test]
fn an_adopted_point_is_pending_and_takes_the_place_of_a_design_point() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(preset, 1));
        let design = optimizer.config().initial_points_for(2);
        let ids: Vec<_> = (0..design).map(|i| optimizer.adopt(&[0.1 * i as f64, 0.3]).unwrap()).collect();
        assert_eq!(optimizer.pending().count(), design);
        for (i, id) in ids.into_iter().enumerate() {
            optimizer.tell(id, (0.1 * i as f64 - 0.2).powi(2)).unwrap();
        }
        let next = optimizer.ask().unwrap();
        assert!(!matches!(optimizer.report().unwrap().origin, Origin::Design), "{preset}: {next:?}");
        assert!(optimizer.adopt(&[2.0, 0.0]).is_err());
    }
}

#[test]
fn a_requested_restart_begins_a_new_run_with_a_design() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(-5.0, 10.0), (-5.0, 10.0)], seeded(preset, 1));
        evaluate(&mut optimizer, |x| x[0] * x[0] + x[1] * x[1], 15);
        let best = optimizer.best().unwrap().clone();
        optimizer.restart();
        assert_eq!(optimizer.restarts().len(), 1);
        assert_eq!(optimizer.restarts()[0].cause.to_string(), "requested");
        let before = optimizer.restarts().len();
        let asked = optimizer.ask().unwrap();
        assert_eq!((optimizer.restarts().len(), optimizer.report().unwrap().origin), (before, Origin::Design));
        assert_eq!(optimizer.report().unwrap().run, 1);
        optimizer.tell(asked.id, 7.0).unwrap();
        assert_eq!(optimizer.best().unwrap(), &best);
    }
}

#[test]
fn queued_points_are_listed_until_they_are_suggested() {
    let mut optimizer = optimizer(&[(0.0, 1.0)], seeded(Preset::Default, 1));
    optimizer.enqueue(&[0.25]).unwrap();
    optimizer.enqueue(&[0.5]).unwrap();
    assert_eq!(optimizer.queued().collect::<Vec<_>>(), [[0.25], [0.5]]);
    optimizer.ask().unwrap();
    assert_eq!(optimizer.queued().collect::<Vec<_>>(), [[0.5]]);
}
