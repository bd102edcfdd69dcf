//! States written by earlier releases open, lose nothing, and go on. `tests/fixtures/state-<release>-<preset>.json`: 60 evaluations of
//! [`objective`], one point pending, one withdrawn, some failed. `state-<release>-<name>.json`: runs with capabilities. States
//! of the release being prepared are written by
//! `LABCAT_BLESS=1 cargo test -p labcat --test core fixtures`; those of earlier ones stay as they are.

use crate::capabilities::{CAPABILITIES, Plan};
use crate::support::{PRESETS, best_value, seeded};
use labcat::{Config, Domain, Optimizer, Outcome, Preset, SWITCHES, TrialId};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

const BOUNDS: [(f64, f64); 3] = [(-5.0, 10.0), (0.0, 15.0), (-1.0, 1.0)];

fn objective(x: &[f64]) -> f64 {
    (x[0] - 3.0).powi(2) + 10.0 * (x[1] - 2.0).powi(2) + (x[2] + 0.3).powi(4)
}

fn file(release: &str, preset: Preset) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/state-{release}-{preset}.json"))
}

fn read(release: &str, preset: Preset) -> String {
    let file = file(release, preset);
    fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// A state with something of everything in it, as written now.
fn write_one(preset: Preset) -> String {
    let mut config = seeded(preset, 3);
    config.budget = Some(500);
    let mut optimizer = Optimizer::new(Domain::new(&BOUNDS).unwrap(), config).unwrap();
    while optimizer.n_evaluations() < 60 {
        let suggestion = optimizer.ask().unwrap();
        let outcome = match optimizer.n_evaluations() % 19 {
            11 => Outcome::failed("no convergence"),
            _ => objective(&suggestion.x).into(),
        };
        optimizer.tell(suggestion.id, outcome).unwrap();
    }
    let asked = optimizer.ask_many(2).unwrap();
    optimizer.cancel(asked[0].id).unwrap();
    optimizer.to_json()
}

/// The release that is being prepared: its states are written anew until it is out.
const NEXT: &str = "0.2.0";

/// Every release whose states are kept.
const RELEASES: [&str; 1] = [NEXT];

#[test]
fn states_of_every_release_open_and_keep_everything() {
    for release in RELEASES {
        for preset in PRESETS {
            let text = read(release, preset);
            let saved: Value = serde_json::from_str(&text).unwrap();
            let opened = Optimizer::from_json(&text).unwrap_or_else(|e| panic!("{release}, {preset}: {e}"));
            let told = saved["evaluations"].as_array().unwrap();
            assert_eq!((told.len(), opened.n_evaluations()), (60, 60));
            let mut failed = 0;
            for (then, now) in told.iter().zip(opened.evaluations()) {
                assert_eq!(then["id"], now.id.0);
                assert_eq!(then["run"], now.run);
                assert_eq!(serde_json::from_value::<Vec<f64>>(then["x"].clone()).unwrap(), now.x);
                assert_eq!(then["outcome"].get("value").and_then(Value::as_f64), now.outcome.value());
                match now.outcome.value() {
                    Some(value) => {
                        assert!((value / objective(&now.x) - 1.0).abs() < 1e-12, "value and point belong together")
                    }
                    None => failed += 1,
                }
            }
            assert!(failed > 0, "the fixture holds no failure");
            let pending: Vec<(TrialId, Vec<f64>)> = opened.pending().map(|(id, x)| (id, x.to_vec())).collect();
            assert_eq!(pending.len(), 1);
            assert_eq!(saved["pending"][0]["id"], pending[0].0.0);
            assert_eq!(saved["cancelled"].as_array().map(Vec::len), Some(1));
            assert_eq!(opened.config().preset, preset);
            assert_eq!(opened.domain().parameters().len(), 3);
        }
    }
}

#[test]
fn options_of_old_states_keep_their_values_and_later_ones_mean_the_behaviour_before_them() {
    for release in RELEASES {
        for preset in PRESETS {
            let text = read(release, preset);
            let saved: Value = serde_json::from_str(&text).unwrap();
            let config = Optimizer::from_json(&text).unwrap().config().clone();
            let named = saved["config"].as_object().unwrap();
            let mut kept = 0;
            for switch in SWITCHES {
                let now = config.get(switch.name).unwrap();
                let then = match named.get(switch.name) {
                    Some(Value::Null) => "none".to_owned(),
                    Some(Value::String(text)) => text.clone(),
                    Some(Value::Number(n)) if n.is_f64() => n.as_f64().unwrap().to_string(),
                    Some(value) => value.to_string(),
                    // Whether runs explore was told by the least β of those that do.
                    None if switch.name == "explore" => {
                        named.get("explore_beta").is_some_and(|b| !b.is_null()).to_string()
                    }
                    None => Config::new(Preset::Paper).get(switch.name).unwrap(),
                };
                assert_eq!(now, then, "{release}, {preset}: {}", switch.name);
                kept += 1;
            }
            assert_eq!(kept, SWITCHES.len());
        }
    }
}

#[test]
fn states_of_every_release_go_on_to_the_minimum() {
    for release in RELEASES {
        for preset in PRESETS {
            let mut opened = Optimizer::from_json(&read(release, preset)).unwrap();
            let before = best_value(&opened);
            let (id, x) = opened.pending().map(|(id, x)| (id, x.to_vec())).next().unwrap();
            opened.tell(id, objective(&x)).unwrap();
            let mut points: Vec<Vec<f64>> = opened.evaluations().iter().map(|e| e.x.clone()).collect();
            for _ in 0..100 {
                let suggestion = opened.ask().unwrap();
                opened.tell(suggestion.id, objective(&suggestion.x)).unwrap();
                points.push(suggestion.x);
            }
            assert!(crate::support::all_distinct(&points), "{release}, {preset}: something came again");
            let after = best_value(&opened);
            assert!(after <= before && after < 1e-6, "{release}, {preset}: {before:e} -> {after:e}");
            // What was continued is saved and continued in turn.
            let mut again = Optimizer::from_json(&opened.to_json()).unwrap();
            assert_eq!(again.ask(), opened.ask());
            while let Ok(suggestion) = opened.ask() {
                opened.tell(suggestion.id, objective(&suggestion.x)).unwrap();
            }
            assert_eq!(opened.n_evaluations() + opened.pending().count(), 500, "the budget of the state holds");
        }
    }
}

#[test]
fn a_state_written_now_is_read_by_what_wrote_it() {
    for preset in PRESETS {
        let text = write_one(preset);
        if std::env::var_os("LABCAT_BLESS").is_some_and(|v| v == "1") {
            fs::write(file(NEXT, preset), &text).unwrap();
        }
        let opened = Optimizer::from_json(&text).unwrap();
        assert_eq!(opened.to_json(), text);
        let reasons: Vec<&str> = opened.evaluations().iter().filter_map(|e| e.outcome.reason()).collect();
        assert_eq!(reasons, ["no convergence"; 3]);
    }
}

/// Runs with capabilities, by name: states of them are kept as well.
const RICH: [(&str, &[&str]); 5] = [
    ("noisy", &["noise auto", "pending", "corrections"]),
    ("mixed", &["integers", "categories", "conditions", "pending", "failures"]),
    ("constrained", &["known formula", "measured constraints", "cancellations"]),
    ("gradients", &["partial gradients", "failures"]),
    (
        "everything",
        &["noise std", "integers", "categories", "known function", "measured constraints", "gradients", "pending"],
    ),
];

/// Suggestions told, failed or cancelled in such a state.
const SO_FAR: usize = 45;

fn rich_plan(names: &[&str]) -> Plan {
    let chosen: Vec<usize> = (0..CAPABILITIES.len()).filter(|c| names.contains(&CAPABILITIES[*c].name)).collect();
    assert_eq!(chosen.len(), names.len(), "{names:?}");
    Plan::new(Preset::Default, 8, &chosen)
}

fn rich_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/state-{NEXT}-{name}.json"))
}

/// Goes on for `n` suggestions, each of them allowed, and gives their bits.
fn go_on(plan: &Plan, optimizer: &mut Optimizer, n: usize) -> Vec<Vec<f64>> {
    let (known, domain, mut points) = (plan.known(), plan.domain(), Vec::new());
    plan.run(optimizer, n, |_, x| {
        domain.check(x).unwrap();
        assert!(known.allows(x), "{x:?}");
        points.push(x.to_vec());
    });
    points
}

#[test]
fn states_with_capabilities_open_keep_everything_and_go_on() {
    for (name, names) in RICH {
        let (plan, file) = (rich_plan(names), rich_file(name));
        if std::env::var_os("LABCAT_BLESS").is_some_and(|v| v == "1") {
            let mut optimizer = plan.optimizer();
            plan.run(&mut optimizer, SO_FAR, |_, _| {});
            fs::write(&file, optimizer.to_json()).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let saved: Value = serde_json::from_str(&text).unwrap();
        let mut opened = plan.constrained(Optimizer::from_json(&text).unwrap_or_else(|e| panic!("{name}: {e}")));
        assert_eq!((opened.domain(), opened.config().constraints), (&plan.domain(), plan.config.constraints), "{name}");
        let told = saved["evaluations"].as_array().unwrap();
        assert_eq!(told.len(), opened.n_evaluations());
        for (then, now) in told.iter().zip(opened.evaluations()) {
            assert_eq!((&then["id"], &then["x"]), (&now.id.0.into(), &serde_json::to_value(&now.x).unwrap()));
            assert_eq!(then["outcome"], serde_json::to_value(&now.outcome).unwrap(), "{name}: nothing told is lost");
            let off = now.outcome.value().map_or(0.0, |value| (value - plan.value(&now.x).0).abs());
            assert!(off <= 2.0 * plan.noise + 1e-12, "{name}: value and point belong together");
        }
        assert_eq!(saved["pending"].as_array().unwrap().len(), opened.pending().count());
        assert_eq!(opened.pending().count(), plan.workers - 1, "{name}");
        // It goes on, and from what is written then as well, bit for bit.
        let before = opened.recommended().unwrap();
        go_on(&plan, &mut opened, 20);
        let mut again = plan.reloaded(&opened);
        assert_eq!(go_on(&plan, &mut again, 10), go_on(&plan, &mut opened, 10), "{name}");
        let after = opened.recommended().unwrap();
        let (then, now) = (plan.value(&before.x).0, plan.value(&after.x).0);
        assert!(now <= then + 2.0 * plan.noise, "{name}: {then} recommended, {now} after thirty more");
    }
}
