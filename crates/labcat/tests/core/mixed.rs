//! Spaces of integers, categories and conditions.

use crate::support::{PRESETS, best_value, seeded};
use labcat::{AskError, Domain, Optimizer, Parameter, Preset, Scale, StopReason};
use std::collections::HashSet;

fn mixed(parameters: Vec<Parameter>, preset: Preset, seed: u64) -> Optimizer {
    Optimizer::new(Domain::from_parameters(parameters).unwrap(), seeded(preset, seed)).unwrap()
}

fn key(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn everything() -> Vec<Parameter> {
    vec![
        Parameter::categorical("kind", ["a", "b", "c"]),
        Parameter::real("x", -1.0, 3.0).when("kind", &[0.0, 1.0]),
        Parameter::integer("n", 1.0, 100.0),
        Parameter::integer("layers", 1.0, 64.0).scaled(Scale::Log),
        Parameter::integer("even", 0.0, 10.0).in_steps(2),
        Parameter::categorical("size", ["s", "m", "l", "xl"]).ordered(),
        Parameter::boolean("flag"),
        Parameter::real("y", 1e-3, 1.0).scaled(Scale::Log),
        Parameter::categorical("fixed", ["always"]),
    ]
}

fn value(x: &[f64]) -> f64 {
    let inner = if x[0] < 2.0 { (x[1] - 0.7).powi(2) } else { 4.0 };
    let steps = ((x[2] - 37.0) / 30.0).powi(2) + (x[3].ln() - 2.0).powi(2) + ((x[4] - 6.0) / 5.0).powi(2);
    inner + [1.0, 0.0, 0.2][x[0] as usize] + steps + (x[5] - 2.0).abs() + x[6] + (x[7].ln() + 3.0).powi(2)
}

#[test]
fn every_suggestion_is_a_valid_point_and_none_comes_twice() {
    for preset in PRESETS {
        for seed in 0..4 {
            let mut optimizer = mixed(everything(), preset, seed);
            let mut seen = HashSet::new();
            for step in 0..150 {
                let suggestion = optimizer.ask().unwrap();
                let x = &suggestion.x;
                optimizer.domain().check(x).unwrap();
                assert_eq!(optimizer.domain().canonical(x), *x, "what means nothing has one value");
                assert!(seen.insert(key(x)), "{preset}: {x:?} comes twice");
                if step % 17 == 3 {
                    optimizer.fail(suggestion.id).unwrap();
                } else {
                    optimizer.tell(suggestion.id, value(x)).unwrap();
                }
            }
            assert!(best_value(&optimizer) < 1.0, "{preset}, seed {seed}: {}", best_value(&optimizer));
        }
    }
}

#[test]
fn integers_and_reals_are_found_together() {
    for seed in 0..8 {
        let parameters = vec![Parameter::integer("n", 1.0, 100.0), Parameter::real("y", -10.0, 10.0)];
        let mut optimizer = mixed(parameters, Preset::Default, seed);
        for _ in 0..40 {
            let s = optimizer.ask().unwrap();
            optimizer.tell(s.id, (s.x[0] - 37.0).powi(2) + (s.x[1] + 1.0).powi(2)).unwrap();
        }
        assert!(best_value(&optimizer) < 1e-5, "seed {seed}: {}", best_value(&optimizer));
    }
}

#[cfg(feature = "serde")]
#[test]
fn reals_in_steps_are_suggested_on_their_steps_and_the_best_step_is_found() {
    for seed in 0..4 {
        let parameters = vec![
            Parameter::real("temperature", 20.0, 90.0).with_step(0.5),
            Parameter::real("acid", 0.0, 1.0).with_step(0.05),
            Parameter::real("y", -10.0, 10.0),
        ];
        let mut optimizer = mixed(parameters, Preset::Default, seed);
        let mut again = None;
        for k in 0..60 {
            let s = optimizer.ask().unwrap();
            optimizer.domain().check(&s.x).unwrap();
            assert_eq!(((s.x[0] - 20.0) / 0.5).fract(), 0.0);
            let decimals = format!("{}", s.x[1]);
            assert!(decimals.len() <= 4, "{decimals} is a multiple of 0.05");
            let value = ((s.x[0] - 61.3) / 10.0).powi(2) + (s.x[1] - 0.37).powi(2) + (s.x[2] + 1.0).powi(2);
            optimizer.tell(s.id, value).unwrap();
            if k == 30 {
                again = Some(Optimizer::from_json(&optimizer.to_json()).unwrap());
            }
            if k > 30
                && let Some(copy) = &mut again
            {
                let same = copy.ask().unwrap();
                assert_eq!(same, s, "a restored optimizer continues on the same steps");
                copy.tell(same.id, value).unwrap();
            }
        }
        let best = optimizer.best().unwrap();
        assert_eq!(best.x[..2], [61.5, 0.35], "seed {seed}: {:?}", best.x);
        assert!((best.x[2] + 1.0).abs() < 1e-3, "seed {seed}: {:?}", best.x);
    }
}

#[test]
fn a_space_of_twelve_points_is_exhausted_each_once() {
    let parameters =
        || vec![Parameter::integer("a", 1.0, 3.0), Parameter::categorical("b", ["u", "v"]), Parameter::boolean("c")];
    for preset in PRESETS {
        for seed in 0..5 {
            let mut optimizer = mixed(parameters(), preset, seed);
            assert_eq!(optimizer.domain().configurations(), Some(12));
            let mut seen = HashSet::new();
            // The last ones are asked together and told late.
            for _ in 0..8 {
                let s = optimizer.ask().unwrap();
                assert!(seen.insert(key(&s.x)));
                optimizer.tell(s.id, s.x[0] - 2.0 * s.x[1]).unwrap();
            }
            let rest = optimizer.ask_many(10).unwrap();
            assert_eq!(rest.len(), 4);
            assert_eq!(optimizer.ask(), Err(AskError::SpaceOutstanding { pending: 4 }));
            assert_eq!(optimizer.stop_reason(), None);
            for s in rest {
                assert!(seen.insert(key(&s.x)));
                optimizer.tell(s.id, s.x[0] - 2.0 * s.x[1]).unwrap();
            }
            assert_eq!(optimizer.stop_reason(), Some(StopReason::Exhausted));
            assert_eq!(optimizer.ask(), Err(AskError::Stopped(StopReason::Exhausted)));
            assert_eq!(best_value(&optimizer), -1.0);
        }
    }
}

#[test]
fn conditions_count_each_configuration_once() {
    let parameters = vec![
        Parameter::categorical("kind", ["a", "b", "c"]),
        Parameter::boolean("flag").when("kind", &[1.0]),
        Parameter::integer("n", 1.0, 4.0).when("flag", &[1.0]),
    ];
    let mut optimizer = mixed(parameters, Preset::Default, 1);
    assert_eq!(optimizer.domain().configurations(), Some(2 + 1 + 4), "a, c, b without and b with a flag");
    let mut seen = HashSet::new();
    while let Ok(s) = optimizer.ask() {
        assert!(seen.insert(key(&s.x)));
        optimizer.tell(s.id, s.x[0]).unwrap();
    }
    assert_eq!((seen.len(), optimizer.stop_reason()), (7, Some(StopReason::Exhausted)));
}

/// A million configurations: the best one is found among a few hundred.
#[test]
fn large_spaces_of_integers_and_categories_are_searched() {
    let mut found = 0;
    for seed in 0..5 {
        let mut parameters: Vec<Parameter> = (0..4).map(|i| Parameter::integer(&format!("n{i}"), 0.0, 15.0)).collect();
        parameters.push(Parameter::categorical("kind", ["a", "b", "c", "d"]));
        parameters.push(Parameter::boolean("flag"));
        let mut optimizer = mixed(parameters, Preset::Default, seed);
        for _ in 0..200 {
            let s = optimizer.ask().unwrap();
            let bowl: f64 = (0..4).map(|i| (s.x[i] - [3.0, 11.0, 7.0, 14.0][i]).powi(2)).sum();
            optimizer.tell(s.id, bowl + [5.0, 2.0, 0.0, 9.0][s.x[4] as usize] + 3.0 * s.x[5]).unwrap();
        }
        found += usize::from(best_value(&optimizer) == 0.0);
    }
    assert!(found >= 4, "{found} of 5");
}

/// Every value is the same: the run goes on, and nothing comes twice.
#[test]
fn plateaus_of_categories_end_runs_and_not_the_search() {
    let parameters = vec![
        Parameter::integer("n", 0.0, 30.0),
        Parameter::categorical("k", ["a", "b", "c", "d", "e"]),
        Parameter::categorical("l", ["a", "b", "c", "d", "e"]),
        Parameter::real("x", 0.0, 1.0),
    ];
    let mut optimizer = mixed(parameters, Preset::Default, 3);
    let mut seen = HashSet::new();
    for _ in 0..200 {
        let s = optimizer.ask().unwrap();
        assert!(seen.insert(key(&s.x)));
        optimizer.tell(s.id, 1.0).unwrap();
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_mixed_state_continues_bit_for_bit() {
    for preset in PRESETS {
        let mut whole = mixed(everything(), preset, 5);
        let mut pieces = whole.clone();
        for step in 0..120 {
            let (a, b) = (whole.ask().unwrap(), pieces.ask().unwrap());
            assert_eq!(key(&a.x), key(&b.x), "{preset}, step {step}");
            whole.tell(a.id, value(&a.x)).unwrap();
            pieces.tell(b.id, value(&b.x)).unwrap();
            if step % 7 == 0 {
                pieces = Optimizer::from_json(&pieces.to_json()).unwrap();
            }
        }
    }
}

#[test]
fn a_parameter_says_what_is_wrong_with_it() {
    let complaint = |parameters: Vec<Parameter>| Domain::from_parameters(parameters).unwrap_err().to_string();
    let has = |text: String, part: &str| assert!(text.contains(part), "{text}");
    has(complaint(vec![Parameter::integer("n", 0.5, 3.0)]), "both bounds must be integers of at most 2^53");
    has(complaint(vec![Parameter::integer("n", 0.0, 9.0).in_steps(2)]), "low plus a multiple of the step");
    has(complaint(vec![Parameter::integer("n", 0.0, 9.0).scaled(Scale::Log)]), "needs low > 0");
    has(complaint(vec![Parameter::categorical("k", ["a", "a"])]), "all different");
    has(complaint(vec![Parameter::categorical("k", Vec::<&str>::new())]), "at least one");
    has(complaint(vec![Parameter::real("x", 0.0, 1.0).when("k", &[0.0])]), "comes before");
    let choice = Parameter::categorical("k", ["a", "b"]);
    has(complaint(vec![choice, Parameter::real("x", 0.0, 1.0).when("k", &[2.0])]), "number of one of [a, b]");
    let domain = Domain::from_parameters(everything()).unwrap();
    let mut x = domain.middle();
    x[2] = 3.5;
    has(domain.check(&x).unwrap_err().to_string(), "n = 3.5 is not allowed: it must be one of 1, 2, … 100");
}

/// A repeatable draw of a standard normal, near enough.
fn gauss(state: &mut u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..12 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sum += (*state >> 11) as f64 / (1u64 << 53) as f64;
    }
    sum - 6.0
}

fn with_noise(parameters: Vec<Parameter>, noise: &str, seed: u64) -> Optimizer {
    let mut config = seeded(Preset::Default, seed);
    config.set("noise", noise).unwrap();
    Optimizer::new(Domain::from_parameters(parameters).unwrap(), config).unwrap()
}

/// Twelve configurations with noise of half the distance between neighbours: they are evaluated again, and the best is recommended.
#[test]
fn a_finite_space_with_noise_is_never_exhausted() {
    let parameters =
        || vec![Parameter::integer("a", 1.0, 3.0), Parameter::categorical("b", ["u", "v"]), Parameter::boolean("c")];
    for noise in ["auto", "0.5"] {
        let mut right = 0;
        for seed in 0..6 {
            let mut optimizer = with_noise(parameters(), noise, seed);
            let mut state = seed + 1;
            let mut seen = HashSet::new();
            for _ in 0..80 {
                let s = optimizer.ask().unwrap();
                seen.insert(key(&s.x));
                let value = (s.x[0] - 2.0).abs() + s.x[1] - s.x[2] + 0.5 * gauss(&mut state);
                optimizer.tell(s.id, value).unwrap();
                assert_eq!(optimizer.stop_reason(), None, "{noise}, seed {seed}");
            }
            assert!(seen.len() <= 12 && optimizer.has_noise());
            right += usize::from(optimizer.recommended().unwrap().x == [2.0, 0.0, 1.0]);
        }
        assert!(right >= 5, "{noise}: {right} of 6");
    }
}

#[cfg(feature = "serde")]
#[test]
fn a_finite_space_with_noise_continues_bit_for_bit_when_all_of_it_was_seen() {
    let spaces = [
        vec![Parameter::categorical("a", ["u", "v"])],
        vec![Parameter::integer("a", -1.0, 6.0), Parameter::boolean("b")],
    ];
    for (noise, space) in spaces.into_iter().flat_map(|space| [("0.1", space.clone()), ("auto", space)]) {
        let mut optimizer = with_noise(space, noise, 3);
        for k in 0..60 {
            let mut twin = Optimizer::from_json(&optimizer.to_json()).unwrap();
            let (s, other) = (optimizer.ask(), twin.ask());
            assert_eq!(s, other, "{noise}, {k}");
            let Ok(s) = s else { break };
            optimizer.tell(s.id, s.x[0] + f64::from(k * 7 % 5)).unwrap();
        }
    }
}

#[test]
fn points_come_again_when_noise_shows_before_there_is_a_model() {
    let mut optimizer = with_noise(vec![Parameter::boolean("a")], "auto", 1);
    for _ in 0..2 {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, s.x[0]).unwrap();
    }
    optimizer.tell_point(&[0.0], -0.5).unwrap(); // the best point once more, and another value
    for _ in 0..20 {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, s.x[0]).unwrap();
    }
    assert_eq!(optimizer.stop_reason(), None);
}

#[test]
fn without_noise_a_finite_space_is_exhausted_after_one_repeat() {
    for seed in 0..4 {
        let parameters = vec![Parameter::integer("a", 1.0, 3.0), Parameter::boolean("b")];
        let mut optimizer = with_noise(parameters, "auto", seed);
        let mut points = Vec::new();
        while let Ok(s) = optimizer.ask() {
            points.push(key(&s.x));
            optimizer.tell(s.id, s.x[0] + s.x[1]).unwrap();
        }
        assert_eq!(optimizer.stop_reason(), Some(StopReason::Exhausted));
        assert_eq!((points.len(), points.iter().collect::<HashSet<_>>().len()), (7, 6), "seed {seed}");
    }
}

/// Integers, a category and a real with noise: the right ones are recommended.
#[test]
fn noise_in_a_mixed_space_is_found_and_averaged_out() {
    let mut right = 0;
    for seed in 0..5 {
        let parameters = vec![
            Parameter::integer("n", 0.0, 9.0),
            Parameter::categorical("kind", ["a", "b", "c"]),
            Parameter::real("x", -1.0, 1.0),
        ];
        let mut optimizer = with_noise(parameters, "auto", seed);
        let mut state = 7 * seed + 3;
        for _ in 0..150 {
            let s = optimizer.ask().unwrap();
            optimizer.domain().check(&s.x).unwrap();
            let value = 0.3 * (s.x[0] - 6.0).powi(2) + [1.0, 0.0, 2.0][s.x[1] as usize] + 4.0 * (s.x[2] - 0.3).powi(2);
            optimizer.tell(s.id, value + 0.2 * gauss(&mut state)).unwrap();
        }
        let found = optimizer.recommended().unwrap().x;
        right += usize::from(found[0] == 6.0 && found[1] == 1.0 && (found[2] - 0.3).abs() < 0.3);
    }
    assert!(right >= 4, "{right} of 5");
}

/// func3C of the CoCaBO paper in small: the basin of the wrong choices is left for the right ones, and their reals are polished.
#[test]
fn categories_that_only_help_together_are_found_and_their_reals_converge() {
    let bowl = |x: f64, y: f64, a: f64, b: f64| (x - a).powi(2) + (y - b).powi(2);
    for seed in 0..8 {
        let labels = || ["a", "b", "c", "d"];
        let parameters = vec![
            Parameter::categorical("k", labels()),
            Parameter::categorical("l", labels()),
            Parameter::real("x", -1.0, 1.0),
            Parameter::real("y", -1.0, 1.0),
        ];
        let mut optimizer = mixed(parameters, Preset::Default, seed);
        for _ in 0..220 {
            let s = optimizer.ask().unwrap();
            let (k, l, x, y) = (s.x[0], s.x[1], s.x[2], s.x[3]);
            // Two basins: (d, d) far from the middle is the better one, and one swap alone makes things worse.
            let value = match (k == 3.0, l == 3.0) {
                (true, true) => 6.0 * bowl(x, y, -0.7, 0.6),
                (false, false) => 0.5 + bowl(x, y, 0.4, -0.3) + 0.2 * (k - 1.0).abs() + 0.2 * (l - 1.0).abs(),
                _ => 2.0 + bowl(x, y, 0.4, -0.3),
            };
            optimizer.tell(s.id, value).unwrap();
        }
        assert!(!optimizer.restarts().is_empty());
        assert!(best_value(&optimizer) < 1e-6, "seed {seed}: {}", best_value(&optimizer));
    }
}
