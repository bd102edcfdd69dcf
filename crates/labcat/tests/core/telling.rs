//! What can be told: any order, points never asked, corrections, withdrawals, late results; and the direction.

use crate::support::{Dice, PRESETS, all_distinct, best_value, bits, evaluate, function, optimizer, seeded, stream};
use labcat::{Direction, Origin, Outcome, Preset, StopReason};

#[test]
fn evaluations_are_kept_in_the_order_told() {
    let mut optimizer = optimizer(&[(0.0, 1.0)], seeded(Preset::Paper, 1));
    let asked = optimizer.ask_many(3).unwrap();
    optimizer.tell(asked[2].id, 3.0).unwrap();
    optimizer.fail(asked[0].id).unwrap();
    let told = optimizer.tell_point(&[0.25], 7.0).unwrap();
    optimizer.tell(asked[1].id, 2.0).unwrap();
    let order: Vec<(u64, Outcome)> = optimizer.evaluations().iter().map(|e| (e.id.0, e.outcome.clone())).collect();
    assert_eq!(order, [(2, 3.0.into()), (0, Outcome::failed("")), (told.0, 7.0.into()), (1, 2.0.into())]);
    assert_eq!(optimizer.n_evaluations(), 4);
    assert_eq!(optimizer.pending().count(), 0);
    assert_eq!(optimizer.best().unwrap().id, asked[1].id);
    assert_eq!(optimizer.evaluations()[2].x, [0.25]);
}

#[test]
fn cancelling_gives_the_budget_back_and_the_point_does_not_return() {
    for preset in PRESETS {
        let mut config = seeded(preset, 1);
        config.budget = Some(12);
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], config);
        let mut withdrawn = Vec::new();
        for round in 0..12 {
            // The minimum is a corner: a clipped optimum would come again and again if it were allowed to.
            let unwanted = optimizer.ask().unwrap();
            optimizer.cancel(unwanted.id).unwrap();
            withdrawn.push(unwanted.x);
            let wanted = optimizer.ask().unwrap();
            assert!(!withdrawn.contains(&wanted.x), "{preset}, round {round}");
            optimizer.tell(wanted.id, wanted.x[0] + wanted.x[1]).unwrap();
        }
        assert_eq!(optimizer.n_evaluations(), 12);
        assert_eq!(optimizer.stop_reason(), Some(StopReason::Budget));
    }
}

#[test]
fn late_results_are_accepted_after_a_stop() {
    let mut config = seeded(Preset::Paper, 1);
    config.budget = Some(10);
    config.target = Some(-1.0);
    let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], config);
    let asked = optimizer.ask_many(5).unwrap();
    optimizer.tell(asked[0].id, -2.0).unwrap();
    assert_eq!(optimizer.stop_reason(), Some(StopReason::Target));
    assert!(optimizer.ask().is_err());
    optimizer.tell(asked[1].id, -3.0).unwrap();
    optimizer.fail(asked[2].id).unwrap();
    optimizer.cancel(asked[3].id).unwrap();
    for i in 0..20 {
        optimizer.tell_point(&[0.5, f64::from(i) / 20.0], 0.0).unwrap();
    }
    assert_eq!(optimizer.n_evaluations(), 23);
    assert_eq!(best_value(&optimizer), -3.0);
    optimizer.tell(asked[4].id, -4.0).unwrap();
    assert_eq!(best_value(&optimizer), -4.0);
}

#[test]
fn revising_changes_the_best_and_what_follows() {
    let f = |x: &[f64]| (x[0] - 0.3).powi(2) + (x[1] - 0.6).powi(2);
    for preset in PRESETS {
        let mut wrong = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(preset, 1));
        evaluate(&mut wrong, f, 12);
        let slip = wrong.ask().unwrap();
        let truth = f(&slip.x);
        wrong.tell(slip.id, truth - 1e3).unwrap(); // a decimal point in the wrong place
        assert_eq!(wrong.best().unwrap().id, slip.id);
        let mut right = wrong.clone();
        right.revise(slip.id, truth).unwrap();
        assert_eq!(right.evaluations()[12].outcome, Outcome::from(truth));
        assert!(best_value(&right) >= 0.0);
        assert_ne!(wrong.ask().unwrap().x, right.ask().unwrap().x);
        right.revise(slip.id, f64::NAN).unwrap();
        assert_eq!(right.evaluations()[12].outcome, Outcome::from(f64::NAN));
        right.revise(slip.id, truth).unwrap();
        evaluate(&mut right, f, 60);
        assert!(best_value(&right) < 1e-8, "{preset}: {:e}", best_value(&right));
    }
}

#[test]
fn a_value_revised_before_the_model_saw_it_leaves_no_trace() {
    let f = function("branin");
    for preset in PRESETS {
        for slips in [&[f64::INFINITY][..], &[-1e3], &[f64::NAN, 7.0], &[50.0, f64::NAN]] {
            let mut plain = optimizer(&f.bounds(2), seeded(preset, 1));
            let mut revised = plain.clone();
            for n in 0..40 {
                let (a, b) = (plain.ask().unwrap(), revised.ask().unwrap());
                assert_eq!(a, b, "{preset}, {slips:?} told first: suggestion {n}");
                plain.tell(a.id, f.value(&a.x)).unwrap();
                revised.tell(b.id, slips[0]).unwrap();
                for &value in slips[1..].iter().chain([&f.value(&b.x)]) {
                    revised.revise(b.id, value).unwrap();
                }
                assert_eq!(plain.evaluations(), revised.evaluations());
            }
        }
    }
}

#[test]
fn every_evaluation_can_be_revised_to_a_failure_and_the_run_goes_on() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(preset, 1));
        evaluate(&mut optimizer, |x| x[0] * x[1], 25);
        let ids: Vec<_> = optimizer.evaluations().iter().map(|e| e.id).collect();
        for id in ids {
            optimizer.revise(id, f64::NAN).unwrap();
            optimizer.ask().unwrap();
        }
        assert!(optimizer.best().is_none());
        assert!(optimizer.predict(&[0.5, 0.5]).is_ok());
        evaluate(&mut optimizer, |x| x[0] * x[1], 20);
        assert!(optimizer.best().is_some());
    }
}

#[test]
fn enqueued_points_come_first_in_their_order() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(preset, 1));
        let mine = [[0.1, 0.2], [0.9, 0.9], [0.5, 0.0]];
        for x in mine {
            optimizer.enqueue(&x).unwrap();
        }
        let (mut asked, mut origins) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            asked.push(optimizer.ask().unwrap().x);
            origins.push(optimizer.report().unwrap().origin);
        }
        assert_eq!(asked[..3], mine.map(|x| x.to_vec()));
        assert_eq!(origins, [Origin::Enqueued, Origin::Enqueued, Origin::Enqueued, Origin::Design, Origin::Design]);
        assert!(all_distinct(&asked));
    }
}

#[test]
fn an_enqueued_point_in_the_middle_of_a_run_is_next() {
    let f = function("booth");
    for preset in PRESETS {
        let mut optimizer = optimizer(&f.bounds(2), seeded(preset, 1));
        evaluate(&mut optimizer, |x| f.value(x), 20);
        optimizer.enqueue(&[1.0, 3.0]).unwrap();
        let next = optimizer.ask().unwrap();
        assert_eq!(next.x, [1.0, 3.0]);
        optimizer.tell(next.id, f.value(&next.x)).unwrap();
        assert_eq!(best_value(&optimizer), 0.0);
        evaluate(&mut optimizer, |x| f.value(x), 10);
    }
}

#[test]
fn a_warm_start_of_a_thousand_points_in_bulk() {
    for preset in PRESETS {
        for d in [2, 5] {
            let f = |x: &[f64]| x.iter().enumerate().map(|(i, v)| (i + 1) as f64 * (v - 0.37).powi(2)).sum::<f64>();
            let mut optimizer = optimizer(&vec![(0.0, 1.0); d], seeded(preset, 1));
            let mut dice = Dice(5);
            let mut known = Vec::new();
            for i in 0..1000 {
                let x: Vec<f64> = (0..d).map(|_| dice.unit()).collect();
                let value = if i % 50 == 7 { f64::NAN } else { f(&x) };
                optimizer.tell_point(&x, value).unwrap();
                known.push(x);
            }
            assert_eq!(optimizer.n_evaluations(), 1000);
            let before = best_value(&optimizer);
            // The design comes first; then the model starts from what is known.
            let more = evaluate(&mut optimizer, f, 100);
            known.extend(more);
            assert!(all_distinct(&known));
            let after = best_value(&optimizer);
            assert!(after < 1e-3 * before, "{preset}, d = {d}: {before:e} -> {after:e}");
            assert!(optimizer.report().unwrap().observations <= 7 * d);
        }
    }
}

#[test]
fn warm_start_points_are_never_suggested() {
    // Three of the few values that a narrow domain has.
    let low = 1.0;
    let step = f64::EPSILON;
    let high = low + 8.0 * step;
    let mut optimizer = optimizer(&[(low, high)], seeded(Preset::Default, 1));
    for i in [2, 4, 5] {
        optimizer.tell_point(&[low + f64::from(i) * step], f64::from(i)).unwrap();
    }
    let mut points: Vec<Vec<f64>> = optimizer.evaluations().iter().map(|e| e.x.clone()).collect();
    for _ in 0..4 {
        let suggestion = optimizer.ask().unwrap();
        optimizer.tell(suggestion.id, suggestion.x[0]).unwrap();
        points.push(suggestion.x);
    }
    assert!(all_distinct(&points), "{points:?}");
}

#[test]
fn duplicated_observations_with_different_values_are_lived_with() {
    for preset in PRESETS {
        let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(preset, 1));
        let mut dice = Dice(1);
        for _ in 0..30 {
            optimizer.tell_point(&[0.5, 0.5], dice.unit()).unwrap();
        }
        let points = evaluate(&mut optimizer, |x| x[0] + x[1], 40);
        assert!(all_distinct(&points));
        assert!(best_value(&optimizer) < 0.1);
    }
}

#[test]
fn maximising_mirrors_minimising_to_the_bit() {
    for preset in PRESETS {
        for name in ["branin", "levy", "rosenbrock"] {
            let f = function(name);
            let mut config = seeded(preset, 6);
            config.tolerance = Some(1e-9);
            let down = stream(&f.bounds(2), config.clone(), |x| f.value(x), 150);
            config.direction = Direction::Maximize;
            let mut up = optimizer(&f.bounds(2), config);
            assert_eq!(bits(&down), bits(&evaluate(&mut up, |x| -f.value(x), 150)));
            let best = up.evaluations().iter().filter_map(|e| e.outcome.value()).fold(f64::MIN, f64::max);
            assert_eq!(best_value(&up), best);
        }
    }
}

#[test]
fn the_earlier_of_equal_values_is_the_best() {
    let mut optimizer = optimizer(&[(0.0, 1.0)], seeded(Preset::Paper, 0));
    for value in [3.0, 1.0, 2.0, 1.0] {
        let id = optimizer.ask().unwrap().id;
        optimizer.tell(id, value).unwrap();
    }
    assert_eq!(optimizer.best().unwrap().id.0, 1);
}
