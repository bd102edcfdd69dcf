//! What users see of what is known: one posterior of all observations.

use crate::support::{Dice, PRESETS, evaluate, function, optimizer, seeded};
use labcat::{Domain, Noise, Optimizer, Parameter, Preset};

#[test]
fn exact_values_are_predicted_to_what_is_claimed() {
    // Over many orders of magnitude, after restarts too.
    for preset in PRESETS {
        for (name, d) in [("rosenbrock", 2), ("levy", 3), ("sphere", 3)] {
            let f = function(name);
            let mut optimizer = optimizer(&f.bounds(d), seeded(preset, 2));
            evaluate(&mut optimizer, |x| f.value(x), 60 * d);
            let told: Vec<(Vec<f64>, f64)> =
                optimizer.evaluations().iter().map(|e| (e.x.clone(), e.outcome.value().unwrap())).collect();
            let points: Vec<&[f64]> = told.iter().map(|(x, _)| x.as_slice()).collect();
            let predicted = optimizer.predict_many(&points).unwrap().unwrap();
            let within = predicted.iter().zip(&told).filter(|(p, (_, y))| (p.mean - y).abs() <= 3.0 * p.std).count();
            assert!(10 * within >= 9 * told.len(), "{preset}, {name}: {within} of {} within 3 std", told.len());
            let span = told.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
            assert!(predicted.iter().all(|p| p.mean.abs() <= 10.0 * span), "{preset}, {name}");
        }
    }
}

#[test]
fn away_from_what_was_seen_nothing_is_sure() {
    // All evaluations lie in a corner.
    let mut optimizer = optimizer(&[(-5.0, 5.0); 2], seeded(Preset::Default, 1));
    let bend = |x: f64, y: f64| (3.0 * x).sin() + (2.0 * y).cos();
    for i in 0..36 {
        let (x, y) = (-5.0 + 0.2 * f64::from(i % 6), -5.0 + 0.2 * f64::from(i / 6));
        optimizer.tell_point(&[x, y], bend(x, y)).unwrap();
    }
    let near = optimizer.predict(&[-4.5, -4.5]).unwrap().unwrap();
    let far = optimizer.predict(&[4.0, 4.0]).unwrap().unwrap();
    assert!((near.mean - bend(-4.5, -4.5)).abs() <= 3.0 * near.std + 1e-6, "{near:?}");
    assert!(far.std > 10.0 * near.std && far.std > 0.5, "{near:?} near, {far:?} far");
}

/// Exact values of polynomials of degree four along the way to their minimum: a quadratic that fits them says nothing certain of the rest of the box.
#[test]
fn exact_values_on_one_way_through_the_box_make_nothing_sure_elsewhere() {
    let bent = |x: &[f64]| (3.0 * x[1] - 1.161 * x[0] * x[0] + 4.8 * x[0] - 6.0).powi(2) + 9.6 * (3.0 * x[0]).cos();
    let valley = |x: &[f64]| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
    for f in [&bent as &dyn Fn(&[f64]) -> f64, &valley] {
        let (mut within, mut all) = (0, 0);
        for seed in 0..4 {
            let mut optimizer = optimizer(&[(-1.0, 1.0); 4], seeded(Preset::Default, seed));
            evaluate(&mut optimizer, f, 100);
            let mut dice = Dice(seed);
            let places: Vec<Vec<f64>> = (0..50).map(|_| (0..4).map(|_| 2.0 * dice.unit() - 1.0).collect()).collect();
            let points: Vec<&[f64]> = places.iter().map(Vec::as_slice).collect();
            let predicted = optimizer.predict_many(&points).unwrap().unwrap();
            within += points.iter().zip(&predicted).filter(|(x, p)| (f(x) - p.mean).abs() <= 4.0 * p.std).count();
            all += points.len();
        }
        assert!(10 * within >= 9 * all, "{within} of {all} within 4 standard deviations");
    }
}

/// Slopes at nearly the same places that contradict each other and values of every accuracy have no model: the values alone have one.
#[cfg(feature = "serde")]
#[test]
fn slopes_that_cannot_be_modelled_leave_predictions_finite() {
    let optimizer = Optimizer::from_json(include_str!("../fixtures/slopes-that-overflow.json")).unwrap();
    for evaluation in optimizer.evaluations() {
        let predicted = optimizer.predict(&evaluation.x).unwrap().unwrap();
        assert!(predicted.mean.is_finite() && predicted.std.is_finite(), "{predicted:?}");
    }
}

/// A parameter that hardly matters is not the one that matters.
#[test]
fn relevance_is_the_right_way_round() {
    for preset in PRESETS {
        for seed in 0..20 {
            let mut optimizer = optimizer(&[(-5.0, 5.0); 2], seeded(preset, seed));
            for n in [20, 20, 40] {
                evaluate(&mut optimizer, |x| (x[0] - 1.0).powi(2) + 0.01 * x[1].powi(2), n);
                let shares = optimizer.relevance().unwrap();
                let told = optimizer.n_evaluations();
                assert!(shares[0] > shares[1], "{preset}, seed {seed}, {told} evaluations: {shares:?}");
            }
        }
    }
}

#[test]
fn no_parameter_is_relevant_where_none_is_free() {
    let domain = Domain::from_parameters(vec![Parameter::categorical("only", ["this"])]).unwrap();
    let mut config = seeded(Preset::Default, 0);
    config.noise = Noise::Sigma(1.0);
    let mut optimizer = Optimizer::new(domain, config).unwrap();
    evaluate(&mut optimizer, |_| 1.0, 8);
    assert_eq!(optimizer.relevance(), None);
}

/// Shares whatever was told: all of it on a line, in one point, of one value.
#[test]
fn relevance_is_always_shares() {
    let tell = |optimizer: &mut Optimizer, point: &dyn Fn(f64) -> [f64; 3], value: &dyn Fn(f64) -> f64| {
        for i in 0..40 {
            let t = f64::from(i) / 40.0;
            optimizer.tell_point(&point(t), value(t)).unwrap();
        }
    };
    let points: [&dyn Fn(f64) -> [f64; 3]; 4] =
        [&|t| [t, 0.5, 0.25], &|_| [0.5; 3], &|t| [t, t, t], &|t| [0.5 + 1e-16 * t, t * t, 1.0 - t]];
    let values: [&dyn Fn(f64) -> f64; 4] = [&|t| t, &|_| 1.0, &|t| 1e308 * (t - 0.5), &|t| 1e-300 * t];
    for preset in PRESETS {
        for (p, point) in points.iter().enumerate() {
            for (v, value) in values.iter().enumerate() {
                let mut optimizer = optimizer(&[(0.0, 1.0); 3], seeded(preset, 1));
                tell(&mut optimizer, point, value);
                if let Some(shares) = optimizer.relevance() {
                    assert!(
                        shares.iter().all(|s| (0.0..=1.0).contains(s)),
                        "{preset}, points {p}, values {v}: {shares:?}"
                    );
                    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
                }
                assert!(optimizer.predict(&[0.5; 3]).is_ok());
                evaluate(&mut optimizer, |x| x.iter().sum(), 10);
            }
        }
    }
}

#[test]
fn looking_changes_nothing() {
    let f = function("levy");
    for preset in [Preset::Paper, Preset::Default] {
        let mut blind = optimizer(&f.bounds(3), seeded(preset, 4));
        let mut looking = blind.clone();
        for _ in 0..60 {
            let (a, b) = (blind.ask().unwrap(), looking.ask().unwrap());
            assert_eq!(a, b);
            looking.predict(&b.x).unwrap();
            let _ = (looking.relevance(), looking.trust_region());
            blind.tell(a.id, f.value(&a.x)).unwrap();
            looking.tell(b.id, f.value(&b.x)).unwrap();
            looking.predict(&b.x).unwrap();
            let _ = (looking.relevance(), looking.trust_region());
        }
    }
}

/// Of a sum of functions of one parameter each the total effects are the variances.
#[test]
fn shares_are_those_of_the_truth_under_noise() {
    let domain = Domain::from_parameters(vec![
        Parameter::real("x", 0.0, 1.0),
        Parameter::integer("k", 0.0, 4.0),
        Parameter::categorical("label", ["a", "b", "c"]),
    ])
    .unwrap();
    let f = |x: &[f64]| 4.0 * x[0] + 0.35 * x[1] + [0.0, 1.5, 2.0][x[2] as usize];
    // Variances: 16/12, 0.35² · 2, and that of the three labels.
    let variances = [16.0 / 12.0, 0.1225 * 2.0, (0.0 + 2.25 + 4.0) / 3.0 - (3.5_f64 / 3.0).powi(2)];
    let total: f64 = variances.iter().sum();
    let mut config = seeded(Preset::Default, 3);
    config.noise = Noise::Sigma(0.3);
    let mut optimizer = Optimizer::new(domain, config).unwrap();
    let mut dice = crate::support::Dice(4);
    for i in 0..120 {
        let x = [dice.unit(), f64::from(i % 5), f64::from(i % 3)];
        let noise = 0.3 * (12.0_f64).sqrt() * (dice.unit() - 0.5);
        optimizer.tell_point(&x, f(&x) + noise).unwrap();
    }
    let shares = optimizer.importance().unwrap();
    for (share, variance) in shares.iter().zip(variances) {
        let truth = variance / total;
        assert!((share.mean - truth).abs() < 3.0 * share.std + 0.02 && share.std < 0.2, "{shares:?}, truth {truth}");
    }
}
