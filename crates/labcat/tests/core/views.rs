//! What users see of the model: the one that suggested, around the best point.

use crate::support::{PRESETS, best_value, evaluate, function, optimizer, seeded};
use labcat::{Domain, Noise, Optimizer, Origin, Parameter, Preset};

#[test]
fn predictions_are_those_of_the_model_that_suggested() {
    for preset in PRESETS {
        for (name, d) in [("rosenbrock", 2), ("levy", 3), ("ackley", 5)] {
            let f = function(name);
            let mut compared = 0;
            let mut optimizer = optimizer(&f.bounds(d), seeded(preset, 2));
            for n in 0..30 * d {
                let suggestion = optimizer.ask().unwrap();
                let report = optimizer.report().unwrap().clone();
                if report.origin == Origin::Model && optimizer.restarts().is_empty() {
                    let mean = optimizer.predict(&suggestion.x).unwrap().unwrap().mean;
                    let off = (mean - report.predicted).abs() / report.output_range;
                    assert!(off < 1e-6, "{preset}, {name}, evaluation {n}: off by {off:e} of the range");
                    compared += 1;
                }
                optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
            }
            assert!(compared >= 15, "{preset}, {name}: {compared} compared");
        }
    }
}

#[test]
fn after_a_restart_the_model_is_still_that_of_the_best_point() {
    let bowl = |x: &[f64]| (x[0] - 1.0).powi(2) + 3.0 * (x[1] + 2.0).powi(2) + 0.1 * (x[0] * x[1] + 2.0).powi(4);
    for preset in PRESETS {
        for seed in 0..5 {
            let mut config = seeded(preset, seed);
            config.tolerance = Some(1e-3);
            let mut optimizer = optimizer(&[(-5.0, 5.0); 2], config);
            while optimizer.restarts().is_empty() {
                evaluate(&mut optimizer, bowl, 1);
            }
            // While the next run fills its design and begins its own model.
            for n in 0..15 {
                let best = optimizer.best().unwrap().clone();
                if best.run > 0 {
                    break;
                }
                let there = optimizer.predict(&best.x).unwrap().expect("a model");
                assert!(
                    (there.mean - best_value(&optimizer)).abs() < 1e-3,
                    "{preset}, seed {seed}, {n} after: {there:?}"
                );
                let at = [best.x[0] + 1e-6, best.x[1] - 1e-6];
                let beside = optimizer.predict(&at).unwrap().unwrap().mean;
                assert!((beside - bowl(&at)).abs() < 1e-3, "{preset}, seed {seed}: {beside} beside the best");
                evaluate(&mut optimizer, bowl, 1);
            }
        }
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
