//! Every reason to stop and every cause of a restart.

use crate::support::{PRESETS, best_value, evaluate, function, optimizer, seeded};
use labcat::{AskError, Direction, Domain, Optimizer, Origin, Preset, Restart, RestartCause, StopReason, minimize};

#[test]
fn budget() {
    for preset in PRESETS {
        let mut config = seeded(preset, 0);
        config.budget = Some(25);
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], config);
        evaluate(&mut optimizer, |x| x[0] * x[1], 25);
        assert_eq!(optimizer.stop_reason(), Some(StopReason::Budget));
        assert_eq!(optimizer.ask(), Err(AskError::Stopped(StopReason::Budget)));
    }
    assert_eq!(StopReason::Budget.to_string(), "budget");
}

#[test]
fn target() {
    for (direction, sign) in [(Direction::Minimize, 1.0), (Direction::Maximize, -1.0)] {
        let mut config = seeded(Preset::Paper, 0);
        config.target = Some(sign * 0.01);
        config.direction = direction;
        let mut optimizer = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
        let mut n = 0;
        while let Ok(suggestion) = optimizer.ask() {
            assert_eq!(optimizer.stop_reason(), None);
            optimizer.tell(suggestion.id, sign * suggestion.x.iter().map(|x| x * x).sum::<f64>()).unwrap();
            n += 1;
        }
        assert!(n < 100);
        assert_eq!(optimizer.stop_reason(), Some(StopReason::Target));
        assert!(sign * best_value(&optimizer) <= 0.01);
    }
    assert_eq!(StopReason::Target.to_string(), "target");
}

#[test]
fn a_target_met_exactly_is_met() {
    let mut config = seeded(Preset::Paper, 0);
    config.target = Some(0.25);
    let mut optimizer = optimizer(&[(-1.0, 1.0)], config);
    let id = optimizer.ask().unwrap().id;
    optimizer.tell(id, 0.25).unwrap();
    assert_eq!(optimizer.stop_reason(), Some(StopReason::Target));
    optimizer.revise(id, 0.5).unwrap();
    assert_eq!(optimizer.stop_reason(), None, "the value was a slip, so it goes on");
}

#[test]
fn tolerance_stops_only_without_restarts() {
    let f = function("sphere");
    for preset in PRESETS {
        let mut config = seeded(preset, 0);
        (config.tolerance, config.restarts) = (Some(1e-6), false);
        let mut without = optimizer(&f.bounds(2), config.clone());
        let mut n = 0;
        let end = loop {
            match without.ask() {
                Ok(s) => without.tell(s.id, f.value(&s.x)).unwrap(),
                Err(end) => break end,
            }
            n += 1;
            assert!(n < 500);
        };
        assert_eq!(end, AskError::Stopped(StopReason::Tolerance));
        assert_eq!(without.stop_reason(), Some(StopReason::Tolerance));
        assert!(best_value(&without) < 1e-6 && without.restarts().is_empty());

        config.restarts = true;
        let mut with = optimizer(&f.bounds(2), config);
        evaluate(&mut with, |x| f.value(x), 2 * n);
        assert_eq!(with.stop_reason(), None);
        assert_eq!(with.restarts()[0], Restart { at_evaluation: n, cause: RestartCause::Tolerance });
        assert!(with.evaluations().iter().any(|e| e.run == 1));
    }
    assert_eq!(StopReason::Tolerance.to_string(), "tolerance");
}

#[test]
fn any_convergence_is_a_tolerance_stop_without_restarts() {
    for preset in PRESETS {
        let mut config = seeded(preset, 0);
        config.restarts = false;
        let domain = Domain::new(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        config.budget = Some(1000);
        let solution = minimize(|_| 1.0, domain, config).unwrap();
        assert_eq!(solution.stop, StopReason::Tolerance);
        assert!(solution.evaluations < 20);
    }
}

/// Runs until a restart and checks that everything about it is told.
fn first_restart(mut optimizer: Optimizer, f: impl Fn(&[f64]) -> f64, most: usize) -> RestartCause {
    for n in optimizer.n_evaluations()..most {
        let suggestion = optimizer.ask().unwrap();
        let report = optimizer.report().unwrap();
        let run = report.run;
        assert_eq!(report.evaluations, n);
        if let Some(cause) = report.restart {
            assert_eq!(run, optimizer.restarts().len());
            assert_eq!(optimizer.restarts().last(), Some(&Restart { at_evaluation: n, cause }));
            optimizer.tell(suggestion.id, f(&suggestion.x)).unwrap();
            assert_eq!(optimizer.evaluations()[n].run, run, "an evaluation belongs to the run it was asked in");
            assert!(!cause.to_string().is_empty());
            return cause;
        }
        optimizer.tell(suggestion.id, f(&suggestion.x)).unwrap();
    }
    panic!("no restart in {most} evaluations");
}

#[test]
fn restart_for_the_tolerance() {
    for preset in PRESETS {
        let mut config = seeded(preset, 1);
        config.tolerance = Some(1e-3);
        let cause = first_restart(optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config), |x| x[0] * x[0] + x[1] * x[1], 300);
        assert_eq!(cause, RestartCause::Tolerance);
    }
}

#[test]
fn restart_for_equal_outputs() {
    for preset in PRESETS {
        let cause = first_restart(optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], seeded(preset, 1)), |_| 7.0, 100);
        assert_eq!(cause, RestartCause::OutputRange);
    }
}

#[test]
fn restart_for_a_trust_region_as_small_as_rounding() {
    // The minimum is a cusp with a slope of 1e6 on both sides: outputs differ until the inputs no longer can.
    for preset in PRESETS {
        let cusp = |x: &[f64]| 1e6 * x.iter().map(|x| (x - 0.7).abs()).sum::<f64>();
        let mut config = seeded(preset, 1);
        config.precision = 0.0;
        let cause = first_restart(optimizer(&[(0.0, 1.0), (0.0, 1.0)], config), cusp, 3000);
        assert_eq!(cause, RestartCause::TrustRegion, "{preset}");
    }
}

#[test]
fn restart_when_no_new_point_is_left() {
    // A domain of two hundred values: the only candidate of a step is soon one that was evaluated.
    for preset in PRESETS {
        let mut config = seeded(preset, 1);
        (config.candidates, config.refine) = (Some(1), 0);
        let bounds = [(1.0, 1.0 + 200.0 * f64::EPSILON)];
        let away = |x: &[f64]| ((x[0] - 1.0) / f64::EPSILON - 77.0).abs();
        assert_eq!(first_restart(optimizer(&bounds, config), away, 200), RestartCause::NoNewPoint, "{preset}");
    }
}

#[test]
fn a_domain_of_nine_values_is_searched_and_given_up() {
    for preset in PRESETS {
        let bounds = [(1.0, 1.0 + 8.0 * f64::EPSILON)];
        let cause = first_restart(optimizer(&bounds, seeded(preset, 1)), |x| x[0] - 1.0, 100);
        assert!(matches!(cause, RestartCause::NoNewPoint | RestartCause::TrustRegion), "{preset}: {cause}");
    }
}

#[test]
fn restart_when_the_kernel_matrix_cannot_be_factored() {
    // A signal whose square overflows, or underflows without a nugget, leaves nothing to factor.
    for (signal, nugget) in [("1e200", "1e-6"), ("1e-200", "0")] {
        let mut config = seeded(Preset::Paper, 1);
        config.set("signal", signal).unwrap();
        config.set("nugget", nugget).unwrap();
        let cause = first_restart(optimizer(&[(0.0, 1.0), (0.0, 1.0)], config), |x| x[0] + x[1], 100);
        assert_eq!(cause, RestartCause::Factorisation);
    }
}

#[test]
fn restart_when_a_run_cannot_win() {
    // Local minima with depths of their own: once one is found to the bottom, the rims of shallower ones are given up.
    let f = function("rastrigin");
    let mut optimizer = optimizer(&f.bounds(2), seeded(Preset::Default, 1));
    let mut causes = Vec::new();
    for _ in 0..600 {
        let suggestion = optimizer.ask().unwrap();
        causes.extend(optimizer.report().unwrap().restart);
        optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
    }
    assert!(causes.contains(&RestartCause::Hopeless), "{causes:?}");
    assert_eq!(optimizer.restarts().iter().map(|r| r.cause).collect::<Vec<_>>(), causes);
}

#[test]
fn restarts_go_on_with_the_remaining_budget_and_keep_the_best() {
    let f = function("levy");
    for preset in PRESETS {
        let mut config = seeded(preset, 3);
        (config.budget, config.tolerance) = (Some(400), Some(1e-10));
        let solution = minimize(|x| f.value(x), Domain::new(&f.bounds(2)).unwrap(), config).unwrap();
        assert_eq!((solution.evaluations, solution.stop), (400, StopReason::Budget));
        assert!(!solution.restarts.is_empty(), "{preset}");
        assert!(solution.restarts.windows(2).all(|w| w[0].at_evaluation < w[1].at_evaluation));
        let best = solution.best.unwrap();
        assert!(best.outcome.value().unwrap() < 1e-6, "{preset}");
    }
}

#[test]
fn a_restart_may_begin_with_the_best_point() {
    let f = function("levy");
    for (keep, design) in [("false", 5), ("true", 4)] {
        let mut config = seeded(Preset::Paper, 3);
        config.tolerance = Some(1e-10);
        config.set("keep_best", keep).unwrap();
        let mut optimizer = optimizer(&f.bounds(2), config);
        while optimizer.restarts().is_empty() {
            evaluate(&mut optimizer, |x| f.value(x), 1);
        }
        let best = optimizer.best().unwrap().clone();
        evaluate(&mut optimizer, |x| f.value(x), design - 1);
        let first = optimizer.ask().unwrap(); // the first model of the new run
        let (report, better) = (optimizer.report().unwrap(), optimizer.best().unwrap());
        assert_eq!((report.run, report.origin, report.observations), (1, Origin::Model, 5));
        assert_eq!(better.id, best.id, "the design found nothing better here");
        assert_eq!(report.centre == best.x, keep == "true");
        optimizer.tell(first.id, f.value(&first.x)).unwrap();
        // It may turn out to have failed, and the run goes on without it.
        optimizer.revise(best.id, f64::NAN).unwrap();
        evaluate(&mut optimizer, |x| f.value(x), 20);
        assert_ne!(optimizer.best().unwrap().id, best.id);
        optimizer.revise(best.id, f.value(&best.x)).unwrap();
        evaluate(&mut optimizer, |x| f.value(x), 5);
        assert_eq!(optimizer.best().unwrap().id, best.id);
    }
}

#[test]
fn results_of_an_earlier_run_told_late_are_kept_there() {
    let mut config = seeded(Preset::Paper, 1);
    config.tolerance = Some(1e-3);
    let mut optimizer = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
    let late = optimizer.ask().unwrap();
    while optimizer.restarts().is_empty() {
        evaluate(&mut optimizer, |x| x[0] * x[0] + x[1] * x[1], 1);
    }
    evaluate(&mut optimizer, |x| x[0] * x[0] + x[1] * x[1], 12);
    optimizer.tell(late.id, -5.0).unwrap();
    let told = optimizer.evaluations().last().unwrap();
    assert_eq!((told.id, told.run), (late.id, 0));
    assert_eq!(best_value(&optimizer), -5.0);
    evaluate(&mut optimizer, |x| x[0] * x[0] + x[1] * x[1], 12);
}

#[test]
fn minimize_uses_200_d_when_nothing_bounds_it() {
    let mut count = 0;
    let solution = minimize(
        |x| {
            count += 1;
            x.iter().map(|x| x * x).sum()
        },
        Domain::new(&[(-1.0, 1.0); 2]).unwrap(),
        seeded(Preset::Paper, 0),
    )
    .unwrap();
    assert_eq!((solution.evaluations, count, solution.stop), (400, 400, StopReason::Budget));
    // A tolerance bounds nothing while there are restarts.
    let mut config = seeded(Preset::Paper, 0);
    config.tolerance = Some(1e-2);
    let domain = Domain::new(&[(-1.0, 1.0)]).unwrap();
    let solution = minimize(|x| x[0] * x[0], domain.clone(), config.clone()).unwrap();
    assert_eq!((solution.evaluations, solution.stop), (200, StopReason::Budget));
    config.restarts = false;
    assert_eq!(minimize(|x| x[0] * x[0], domain.clone(), config).unwrap().stop, StopReason::Tolerance);
    let mut config = seeded(Preset::Paper, 0);
    config.target = Some(0.5);
    assert_eq!(minimize(|x| x[0] * x[0], domain, config).unwrap().stop, StopReason::Target);
}
