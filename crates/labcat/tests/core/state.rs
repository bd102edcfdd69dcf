//! The state as JSON: continuing from it at any moment is bit for bit the same; damaged, it is an error and never a panic.

use crate::support::{Dice, PRESETS, function, optimizer, seeded};
use labcat::{AskError, Config, Optimizer, Preset, StateError, StepReport, StopReason, Suggestion, TellError, TrialId};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Something that can be done to an optimizer, fixed beforehand: two optimizers in the same state do the same.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Ask,
    /// Tells the k-th pending point.
    Tell(usize),
    TellBadly(usize, f64),
    Fail(usize),
    Cancel(usize),
    /// Revises the k-th evaluation, to its value plus this.
    Revise(usize, f64),
    Enqueue(f64),
    TellPoint(f64),
    Grow(usize),
    /// Another tolerance: a run that has converged may go on, one that goes on may have converged.
    Tolerate(Option<f64>),
    /// Looks: must change nothing.
    Look,
}

impl Operation {
    fn random(dice: &mut Dice) -> Self {
        let k = dice.below(1000);
        match dice.below(22) {
            0..=6 => Self::Ask,
            7..=12 => Self::Tell(k),
            13 => Self::TellBadly(k, *dice.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
            14 => Self::Fail(k),
            15 => Self::Cancel(k),
            16 => Self::Revise(k, *dice.pick(&[-0.5, 0.25, -1e3, 1e3, f64::NAN])),
            17 => Self::Enqueue(dice.unit()),
            18 => Self::TellPoint(dice.unit()),
            19 => Self::Grow(1 + k % 3),
            20 => Self::Tolerate(*dice.pick(&[None, Some(0.0), Some(1e-3), Some(0.05), Some(1e6)])),
            _ => Self::Look,
        }
    }
}

/// Everything an operation shows.
#[derive(Debug, PartialEq)]
enum Shown {
    Asked(Result<(Suggestion, Option<StepReport>), AskError>),
    Told(Result<(), TellError>),
    Named(Result<TrialId, TellError>),
    Seen(Option<labcat::Prediction>, Option<Vec<f64>>, Option<labcat::Region>, Option<StopReason>),
    Nothing,
}

fn bowl(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, v)| (1.0 + i as f64) * (v - 0.3).powi(2)).sum::<f64>() + 0.5 * x[0] * x[x.len() - 1]
}

fn apply(optimizer: &mut Optimizer, operation: Operation) -> Shown {
    let d = optimizer.domain().dim();
    let pending: Vec<(TrialId, Vec<f64>)> = optimizer.pending().map(|(id, x)| (id, x.to_vec())).collect();
    let nth = |k: usize| pending.get(k % pending.len().max(1)).cloned();
    match operation {
        Operation::Ask => Shown::Asked(optimizer.ask().map(|s| (s, optimizer.report().cloned()))),
        Operation::Tell(k) => nth(k).map_or(Shown::Nothing, |(id, x)| Shown::Told(optimizer.tell(id, bowl(&x)))),
        Operation::TellBadly(k, value) => {
            nth(k).map_or(Shown::Nothing, |(id, _)| Shown::Told(optimizer.tell(id, value)))
        }
        Operation::Fail(k) => nth(k).map_or(Shown::Nothing, |(id, _)| Shown::Told(optimizer.fail(id))),
        Operation::Cancel(k) => nth(k).map_or(Shown::Nothing, |(id, _)| Shown::Told(optimizer.cancel(id))),
        Operation::Revise(k, by) => {
            let n = optimizer.n_evaluations();
            let Some(e) = optimizer.evaluations().get(k % n.max(1)).cloned() else { return Shown::Nothing };
            Shown::Told(optimizer.revise(e.id, e.outcome.value().unwrap_or(1.0) + by))
        }
        Operation::Enqueue(t) => {
            optimizer.enqueue(&vec![2.0 * t - 1.0; d]).unwrap();
            Shown::Nothing
        }
        Operation::TellPoint(t) => {
            let x: Vec<f64> = (0..d).map(|i| (2.0 * t - 1.0) * 0.9_f64.powi(i as i32)).collect();
            Shown::Named(optimizer.tell_point(&x, bowl(&x)))
        }
        Operation::Grow(by) => {
            let (budget, tolerance) = (optimizer.config().budget.map(|b| b + by), optimizer.config().tolerance);
            optimizer.set_stopping(budget, None, tolerance).unwrap();
            Shown::Nothing
        }
        Operation::Tolerate(tolerance) => {
            optimizer.set_stopping(optimizer.config().budget, None, tolerance).unwrap();
            Shown::Nothing
        }
        Operation::Look => Shown::Seen(
            optimizer.predict(&vec![0.25; d]).unwrap(),
            optimizer.relevance(),
            optimizer.trust_region(),
            optimizer.stop_reason(),
        ),
    }
}

fn reload(optimizer: &Optimizer) -> Optimizer {
    Optimizer::from_json(&optimizer.to_json()).unwrap()
}

#[test]
fn continuing_at_every_moment_is_bit_for_bit_the_same() {
    for preset in PRESETS {
        for seed in 0..20 {
            let mut dice = Dice(seed);
            let d = 1 + dice.below(4);
            let mut config = seeded(preset, seed);
            config.budget = Some(60);
            config.tolerance = dice.chance(0.4).then_some(0.05);
            config.restarts = !dice.chance(0.2);
            let operations: Vec<Operation> = (0..120).map(|_| Operation::random(&mut dice)).collect();
            let start = optimizer(&vec![(-1.0, 1.0); d], config);

            let mut live = start.clone();
            let mut moments = Vec::new();
            let mut shown = Vec::new();
            for &operation in &operations {
                moments.push(reload(&live));
                shown.push(apply(&mut live, operation));
            }
            let end = live.to_json();
            // From every sixteenth moment (other ones for every seed) the whole rest of the stream.
            for (from, mut continued) in moments.into_iter().enumerate().skip(seed as usize % 16).step_by(16) {
                for (i, &operation) in operations.iter().enumerate().skip(from) {
                    let again = apply(&mut continued, operation);
                    assert_eq!(
                        again, shown[i],
                        "{preset}, seed {seed}: continued at {from}, operation {i}: {operation:?}"
                    );
                }
                assert_eq!(continued.to_json(), end, "{preset}, seed {seed}: continued at {from}");
            }
            // Reloaded before every single operation.
            let mut reborn = start;
            for (i, &operation) in operations.iter().enumerate() {
                reborn = reload(&reborn);
                assert_eq!(apply(&mut reborn, operation), shown[i], "{preset}, seed {seed}: reloaded, operation {i}");
            }
            assert_eq!(reborn.to_json(), end);
        }
    }
}

#[test]
fn an_observation_revised_after_it_was_discarded_changes_nothing_that_a_reload_could_see() {
    let f = function("rosenbrock");
    for (preset, d) in PRESETS.into_iter().flat_map(|preset| [(preset, 2), (preset, 3)]) {
        let mut live = optimizer(&f.bounds(d), seeded(preset, 1));
        for _ in 0..60 {
            let s = live.ask().unwrap();
            // The oldest evaluations were discarded long ago, the newest of them perhaps in this very step.
            for k in 0..live.n_evaluations() {
                let e = live.evaluations()[k].clone();
                let mut revised = live.clone();
                revised.revise(e.id, e.outcome.value().unwrap() + 1.0).unwrap();
                let mut reloaded = reload(&revised);
                assert_eq!(revised.ask(), reloaded.ask(), "{preset}: evaluation {k} of {}", live.n_evaluations());
            }
            live.tell(s.id, f.value(&s.x)).unwrap();
        }
    }
}

/// Runs until the second local run is at work on its model, so that there is an older run to speak of.
fn in_its_second_run(preset: Preset, seed: u64) -> Optimizer {
    let mut config = seeded(preset, seed);
    config.tolerance = Some(1e-2);
    let mut live = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
    while live.restarts().is_empty() || live.trust_region().is_none() {
        let s = live.ask().unwrap();
        live.tell(s.id, bowl(&s.x)).unwrap();
        assert!(live.n_evaluations() < 500);
    }
    live
}

#[test]
fn an_older_runs_evaluation_revised_is_the_same_to_a_reload() {
    for preset in PRESETS {
        for seed in 0..4 {
            let mut live = in_its_second_run(preset, seed);
            live.ask().unwrap(); // there is a model, and it is up to date
            for k in (0..live.n_evaluations()).filter(|k| live.evaluations()[*k].run == 0) {
                for value in [-1e6, 0.0, 1e6, f64::NAN] {
                    let mut revised = live.clone();
                    revised.revise(live.evaluations()[k].id, value).unwrap();
                    let mut reloaded = reload(&revised);
                    for step in 0..4 {
                        let (a, b) = (revised.ask(), reloaded.ask());
                        assert_eq!(a, b, "{preset}, seed {seed}: evaluation {k} revised to {value}, step {step}");
                    }
                    assert_eq!(revised.restarts(), reloaded.restarts());
                }
            }
        }
    }
}

#[test]
fn another_tolerance_at_any_moment_is_the_same_to_a_reload() {
    for preset in PRESETS {
        for restarts in [true, false] {
            let mut config = seeded(preset, 2);
            config.restarts = restarts;
            let mut live = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
            for n in 0..50 {
                // With a model that is up to date, and with one that is not.
                for (asked, tolerance) in [None, Some(0.0), Some(1e-3), Some(1.0), Some(1e9)]
                    .into_iter()
                    .flat_map(|t| [(false, t), (true, t)])
                {
                    let mut changed = live.clone();
                    if asked {
                        let _ = changed.ask();
                    }
                    changed.set_stopping(None, None, tolerance).unwrap();
                    let mut reloaded = reload(&changed);
                    for step in 0..3 {
                        let (a, b) = (changed.ask(), reloaded.ask());
                        assert_eq!(
                            a, b,
                            "{preset}, restarts {restarts}: tolerance {tolerance:?} after {n}, asked {asked}, step {step}"
                        );
                        assert_eq!(changed.stop_reason(), reloaded.stop_reason());
                    }
                }
                let Ok(s) = live.ask() else { break };
                live.tell(s.id, bowl(&s.x)).unwrap();
            }
        }
    }
}

#[test]
fn the_extremes_of_doubles_survive() {
    let mut optimizer = optimizer(&[(-f64::MAX, f64::MAX), (0.0, 5e-300)], seeded(Preset::Paper, u64::MAX));
    for value in [f64::MAX, f64::MIN, 5e-324, -5e-324, -0.0, 0.1 + 0.2, f64::MIN_POSITIVE] {
        let id = optimizer.ask().unwrap().id;
        optimizer.tell(id, value).unwrap();
    }
    let again = reload(&optimizer);
    assert_eq!(again.to_json(), optimizer.to_json());
    for (a, b) in again.evaluations().iter().zip(optimizer.evaluations()) {
        assert_eq!(a.outcome.value().unwrap().to_bits(), b.outcome.value().unwrap().to_bits());
        assert_eq!(a, b);
    }
    assert_eq!(again.config(), optimizer.config());
    assert_eq!(again.domain(), optimizer.domain());
}

#[test]
fn a_stopped_optimizer_stays_stopped() {
    let mut config = seeded(Preset::Paper, 0);
    config.restarts = false;
    let mut live = optimizer(&[(0.0, 1.0), (0.0, 1.0)], config);
    while let Ok(s) = live.ask() {
        live.tell(s.id, 1.0).unwrap();
    }
    let mut again = reload(&live);
    assert_eq!(again.stop_reason(), live.stop_reason());
    assert_eq!(again.ask(), live.ask());
}

/// A state with something of everything in it.
fn rich_state(preset: Preset) -> String {
    let mut config = seeded(preset, 3);
    config.tolerance = Some(1e-3);
    let mut optimizer = optimizer(&[(-1.0, 1.0), (-1.0, 1.0)], config);
    while optimizer.restarts().is_empty() {
        let s = optimizer.ask().unwrap();
        optimizer.tell(s.id, bowl(&s.x)).unwrap();
    }
    for i in 0..12 {
        let s = optimizer.ask().unwrap();
        if i % 5 == 4 { optimizer.fail(s.id).unwrap() } else { optimizer.tell(s.id, bowl(&s.x)).unwrap() }
    }
    let asked = optimizer.ask_many(3).unwrap();
    optimizer.cancel(asked[1].id).unwrap();
    optimizer.enqueue(&[0.5, 0.5]).unwrap();
    optimizer.to_json()
}

/// Uses an optimizer that came out of a damaged state: whatever it says, it must not panic nor leave its domain.
fn exercise(mut optimizer: Optimizer) {
    let _ = optimizer.relevance();
    let _ = optimizer.trust_region();
    let middle: Vec<f64> = optimizer.domain().parameters().iter().map(|p| 0.5 * p.low + 0.5 * p.high).collect();
    let _ = optimizer.predict(&middle);
    for n in 0..12 {
        match optimizer.ask() {
            Ok(s) => {
                optimizer.domain().check(&s.x).unwrap();
                optimizer.tell(s.id, bowl(&s.x)).unwrap();
            }
            Err(_) if n > 0 => break,
            Err(_) => return,
        }
    }
    let again = Optimizer::from_json(&optimizer.to_json());
    assert!(again.is_ok(), "what was read and used cannot be written and read again: {:?}", again.err());
}

#[test]
fn truncated_states_are_errors() {
    for preset in PRESETS {
        let json = rich_state(preset);
        assert!(json.is_ascii());
        for end in 0..json.len() {
            assert!(matches!(Optimizer::from_json(&json[..end]), Err(StateError::Malformed(_))), "cut at {end}");
        }
        assert!(Optimizer::from_json(&json).is_ok());
        assert!(Optimizer::from_json(&format!("{json} x")).is_err());
    }
}

/// Every place in a JSON document.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| pointers(v, &format!("{at}/{k}"), out)),
        Value::Array(items) => items.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{at}/{i}"), out)),
        _ => {}
    }
}

fn parent(pointer: &str) -> (&str, &str) {
    pointer.rsplit_once('/').unwrap()
}

#[test]
fn states_without_a_field_are_errors() {
    for preset in PRESETS {
        let whole: Value = serde_json::from_str(&rich_state(preset)).unwrap();
        let mut places = Vec::new();
        pointers(&whole, "", &mut places);
        let mut removed = 0;
        for place in places.iter().filter(|p| !p.is_empty()) {
            let (of, name) = parent(place);
            let mut damaged = whole.clone();
            let Some(Value::Object(map)) = damaged.pointer_mut(of) else { continue };
            let old = map.remove(name).unwrap();
            // An option may be left out, for the behaviour from before there was a choice, and an outcome need not have every part
            // (one without a value is a failure), and states from before noise, the number of pending evaluations and the length of a forecast
            // were known of know none; nothing else may.
            let later = ["noise", "others", "crowd", "wait", "length", "radius", "extent"];
            let optional = of == "/config" || of.ends_with("/outcome") || later.contains(&name);
            if !(old.is_null() || optional) {
                assert!(Optimizer::from_json(&damaged.to_string()).is_err(), "{place} is not missed");
                removed += 1;
            }
            let mut unknown = whole.clone();
            if let (Some(Value::Object(map)), true) = (unknown.pointer_mut(of), of.is_empty()) {
                map.insert("surprise".into(), Value::Bool(true));
                assert!(Optimizer::from_json(&unknown.to_string()).is_err(), "a surprise is not noticed");
            }
        }
        assert!(removed > 100);
    }
}

#[test]
fn garbage_in_any_place_never_panics() {
    let garbage: Vec<Value> = [
        "null",
        "true",
        "-1",
        "0",
        "1",
        "2",
        "0.5",
        "-0.5",
        "3e300",
        "-1e-300",
        "1e308",
        "18446744073709551615",
        "9223372036854775807",
        "4294967296",
        "1000000",
        "\"\"",
        "\"value\"",
        "\"failed\"",
        "[]",
        "{}",
        "[0.0]",
        "[null]",
    ]
    .iter()
    .map(|text| serde_json::from_str(text).unwrap())
    .collect();
    let mut refused = 0;
    let mut read = 0;
    let mut panics = Vec::new();
    for (turn, preset) in PRESETS.into_iter().enumerate() {
        let whole: Value = serde_json::from_str(&rich_state(preset)).unwrap();
        let mut places = Vec::new();
        pointers(&whole, "", &mut places);
        // The first two entries of a list stand for the others, and each place gets half of the garbage with either preset.
        let far_down = |place: &String| place.split('/').any(|part| part.parse::<usize>().is_ok_and(|i| i > 1));
        for (k, place) in places.iter().filter(|p| !far_down(p)).enumerate() {
            for value in garbage.iter().skip((k + turn) % 2).step_by(2) {
                // Sizes that a machine can be asked for but does not have are the user's own.
                let wish = ["/config/candidates", "/config/initial_points", "/config/cache_factor"];
                if wish.contains(&place.as_str()) && value.as_f64().is_some_and(|v| v > 1e5) {
                    continue;
                }
                let mut damaged = whole.clone();
                let spot = damaged.pointer_mut(place).unwrap();
                if spot == value {
                    continue;
                }
                *spot = value.clone();
                let text = damaged.to_string();
                let outcome = catch_unwind(AssertUnwindSafe(|| Optimizer::from_json(&text).map(exercise)));
                match outcome {
                    Ok(Ok(())) => read += 1,
                    Ok(Err(error)) => {
                        assert!(!error.to_string().is_empty());
                        refused += 1;
                    }
                    Err(_) => panics.push(format!("{place} = {value}")),
                }
            }
        }
    }
    assert!(panics.is_empty(), "{} panics, with {:#?}", panics.len(), &panics[..panics.len().min(40)]);
    assert!(refused > 1000 && read > 0, "{refused} refused, {read} read");
}

#[test]
fn random_bytes_in_random_places_never_panic() {
    let mut dice = Dice(99);
    for preset in PRESETS {
        let json = rich_state(preset).into_bytes();
        for _ in 0..2000 {
            let mut damaged = json.clone();
            for _ in 0..=dice.below(3) {
                let at = dice.below(damaged.len());
                damaged[at] = *dice.pick(b"0123456789.-+eE,:[]{}\"ntx ");
            }
            let text = String::from_utf8(damaged).unwrap();
            if text.contains("\"cache_factor\":7.0")
                && text.contains("\"candidates\":null")
                && text.contains("\"initial_points\":null")
            {
                let outcome = catch_unwind(AssertUnwindSafe(|| Optimizer::from_json(&text).map(exercise)));
                assert!(outcome.is_ok(), "{text}");
            }
        }
    }
}

#[test]
fn configurations_and_results_are_data() {
    let config = Config::new(Preset::Default);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    assert!(serde_json::from_str::<Config>(&text.replacen("seed", "sead", 1)).is_err());
    let mut optimizer = optimizer(&[(0.0, 1.0)], config);
    let s = optimizer.ask().unwrap();
    optimizer.tell(s.id, 1.5).unwrap();
    let evaluation = serde_json::to_string(&optimizer.evaluations()[0]).unwrap();
    assert_eq!(serde_json::from_str::<labcat::Evaluation>(&evaluation).unwrap(), optimizer.evaluations()[0]);
}
