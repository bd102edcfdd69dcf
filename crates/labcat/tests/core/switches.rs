//! Every row of the table of options: set, shown, bounded, refused, saved, and used at the ends of its range. A new row is covered
//! by being there.

#[cfg(feature = "serde")]
use crate::support::evaluate;
use crate::support::{PRESETS, all_distinct, function, optimizer};
use labcat::{Config, ConfigError, Domain, Error, Kind, Optimizer, Outcome, Preset, Range, SWITCHES, Switch};

/// The number nearest to an end of a range that is inside it.
fn inside(switch: &Switch, low: bool) -> f64 {
    let Range { low: bottom, low_included, high: top, high_included } = switch.range;
    let whole = switch.kind == Kind::Whole;
    match (low, whole) {
        (true, _) if bottom == f64::NEG_INFINITY => f64::MIN,
        (true, _) if low_included => bottom,
        (true, true) => bottom + 1.0,
        (true, false) => bottom.next_up(),
        (false, true) if top == f64::INFINITY => 1e15,
        (false, false) if top == f64::INFINITY => f64::MAX,
        (false, _) if high_included => top,
        (false, true) => top - 1.0,
        (false, false) => top.next_down(),
    }
}

/// A number as the text of an option.
fn text(switch: &Switch, value: f64) -> String {
    match switch.kind {
        Kind::Whole if value >= u64::MAX as f64 => u64::MAX.to_string(),
        Kind::Whole => (value as u64).to_string(),
        _ => format!("{value:?}"),
    }
}

/// Values that an option takes: every name, both ends, something between, `none`.
fn samples(switch: &Switch) -> Vec<String> {
    let mut all: Vec<String> = match switch.kind {
        Kind::Flag => vec!["true".into(), "false".into()],
        Kind::Choice(names) => names.iter().map(|n| (*n).into()).collect(),
        Kind::NumberOr(names) => {
            let ends = [inside(switch, true), 0.5, inside(switch, false)].map(|v| text(switch, v));
            names.iter().map(|n| (*n).into()).chain(ends).collect()
        }
        Kind::Whole | Kind::Number => {
            let (low, high) = (inside(switch, true), inside(switch, false));
            let between = (0.5 * low + 0.5 * high).clamp(low, high.min(low.max(0.0) + 3.0));
            let between = if switch.kind == Kind::Whole { between.floor() } else { between };
            [low, between, high].into_iter().map(|v| text(switch, v)).collect()
        }
    };
    all.extend(switch.optional.then(|| "none".to_owned()));
    all
}

fn takes_none(switch: &Switch) -> bool {
    switch.optional || matches!(switch.kind, Kind::NumberOr(names) if names.contains(&"none"))
}

/// A number of things so large that a few of them must do.
fn is_vast(value: &str) -> bool {
    value.parse::<usize>().is_ok_and(|v| (100_000..10_000_000).contains(&v))
}

fn with(preset: Preset, name: &str, value: &str) -> Config {
    let mut config = Config::new(preset);
    config.set(name, value).unwrap_or_else(|e| panic!("{name} = {value}: {e}"));
    config
}

fn start(config: Config) -> Result<Optimizer, Error> {
    Optimizer::new(Domain::new(&[(0.0, 1.0), (0.0, 1.0)]).unwrap(), config)
}

#[test]
fn names_differ_and_every_row_explains_itself() {
    let mut names: Vec<&str> = SWITCHES.iter().map(|s| s.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SWITCHES.len());
    for switch in SWITCHES {
        assert!(!switch.help.is_empty() && !switch.group.is_empty() && !switch.allowed().is_empty(), "{}", switch.name);
        assert_eq!(switch.allowed().contains("none"), takes_none(switch), "{}", switch.name);
    }
}

#[test]
fn what_is_set_is_shown_and_nothing_else_changes() {
    for preset in PRESETS {
        let plain = Config::new(preset);
        for switch in SWITCHES {
            let mut values = Vec::new();
            for value in samples(switch) {
                let config = with(preset, switch.name, &value);
                let shown = config.get(switch.name).unwrap();
                assert_eq!(with(preset, switch.name, &shown), config, "{} = {value} is shown as {shown}", switch.name);
                for other in SWITCHES.iter().filter(|o| o.name != switch.name) {
                    assert_eq!(config.get(other.name), plain.get(other.name), "{} changes {}", switch.name, other.name);
                }
                start(config).unwrap_or_else(|e| panic!("{} = {value}: {e}", switch.name));
                values.push(shown);
            }
            values.sort_unstable();
            values.dedup();
            assert_eq!(values.len(), samples(switch).len(), "{}: {values:?} are not all different", switch.name);
            if switch.optional {
                assert_eq!(with(preset, switch.name, "None"), with(preset, switch.name, "none"));
            }
        }
    }
}

#[test]
fn unreadable_values_are_named_with_what_is_allowed() {
    for switch in SWITCHES {
        let mut wrong = vec!["", "many", "1e", "0x10", "--"];
        match switch.kind {
            Kind::Flag | Kind::Choice(_) => wrong.extend(["1", "True ", "0.5"]),
            Kind::Whole => wrong.extend(["-1", "0.5", "NaN", "18446744073709551616"]),
            Kind::Number | Kind::NumberOr(_) => {}
        }
        wrong.extend((!takes_none(switch)).then_some("none"));
        for value in wrong {
            let error = Config::new(Preset::Default).set(switch.name, value).unwrap_err();
            let allowed = switch.allowed();
            let quoted = if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("{value:?}") };
            let message = format!("{} = {quoted} is not allowed: it must be {allowed}", switch.name);
            assert_eq!(error.to_string(), message);
            assert_eq!(error, ConfigError::Unreadable { switch: switch.name, value: value.into(), allowed });
        }
    }
}

#[test]
fn values_beyond_either_end_are_named_with_what_is_allowed() {
    let mut refused = 0;
    for switch in SWITCHES {
        let Range { low, low_included, high, high_included } = switch.range;
        let mut beyond = Vec::new();
        match switch.kind {
            Kind::Flag | Kind::Choice(_) => continue,
            Kind::Whole => {
                beyond.extend((low >= 1.0).then_some(low - 1.0));
                beyond.extend((high < 1e15).then_some(high + 1.0));
            }
            Kind::Number | Kind::NumberOr(_) => {
                beyond.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
                if low.is_finite() {
                    beyond.extend([if low_included { low.next_down() } else { low }, low - 1.0]);
                }
                if high.is_finite() {
                    beyond.extend([if high_included { high.next_up() } else { high }, high + 1.0]);
                }
            }
        }
        for value in beyond {
            let error = start(with(Preset::Default, switch.name, &text(switch, value))).unwrap_err();
            let message = format!("{} = {value} is not allowed: it must be {}", switch.name, switch.allowed());
            assert_eq!(error.to_string(), message);
            assert!(matches!(error, Error::Config(ConfigError::OutOfRange { switch: s, .. }) if s == switch.name));
            refused += 1;
        }
    }
    assert!(refused >= 90, "only {refused} values were refused");
}

#[test]
fn every_option_works_at_its_ends() {
    let f = function("branin");
    for preset in PRESETS {
        for switch in SWITCHES {
            for value in samples(switch) {
                let config = with(preset, switch.name, &value);
                // Samples and designs of a million cost what they cost: a few steps of each are enough.
                let n = if is_vast(&value) { 8 } else { 35 };
                let mut optimizer = optimizer(&f.bounds(2), config);
                let mut points = Vec::new();
                while points.len() < n && optimizer.stop_reason().is_none() {
                    match optimizer.ask() {
                        Ok(suggestion) => {
                            optimizer.domain().check(&suggestion.x).unwrap();
                            let limits = (0..optimizer.config().constraints).map(|k| suggestion.x[0] - k as f64);
                            let outcome = Outcome::from(f.value(&suggestion.x)).with_constraints(limits.collect());
                            optimizer.tell(suggestion.id, outcome).unwrap();
                            points.push(suggestion.x);
                        }
                        Err(end) => assert_eq!(Some(end), optimizer.stop_reason().map(labcat::AskError::Stopped)),
                    }
                }
                let may_repeat = switch.name == "noise" && value != "none"; // where it pays
                assert!(may_repeat || all_distinct(&points), "{preset}, {} = {value}", switch.name);
                assert!(points.len() == n || optimizer.stop_reason().is_some(), "{preset}, {} = {value}", switch.name);
                if let Some(prediction) = optimizer.predict(&points[0]).unwrap() {
                    assert!(
                        !prediction.mean.is_nan() && prediction.std >= 0.0,
                        "{} = {value}: {prediction:?}",
                        switch.name
                    );
                }
            }
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn every_option_is_saved() {
    for preset in PRESETS {
        for switch in SWITCHES {
            for value in samples(switch) {
                let config = with(preset, switch.name, &value);
                let text = serde_json::to_string(&config).unwrap();
                assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config, "{} = {value}", switch.name);
                if is_vast(&value) {
                    continue; // a design of a million points is a large state, and says no more about the switch
                }
                let optimizer = start(config).unwrap();
                let again = Optimizer::from_json(&optimizer.to_json()).unwrap();
                assert_eq!(again.config(), optimizer.config(), "{} = {value}", switch.name);
            }
        }
    }
}

/// Switches that, where a state does not name them, have another value than in `paper`: the behaviour from before they existed.
#[cfg(feature = "serde")]
const ANOTHER_PAST: &[(&str, &str)] = &[];

#[cfg(feature = "serde")]
#[test]
fn a_state_that_does_not_name_an_option_means_the_behaviour_from_before_it_existed() {
    for preset in PRESETS {
        let mut live = start(Config::new(preset)).unwrap();
        evaluate(&mut live, |x| x[0] * x[0] + x[1], 12);
        let whole: serde_json::Value = serde_json::from_str(&live.to_json()).unwrap();
        for switch in SWITCHES {
            let mut old = whole.clone();
            old["config"].as_object_mut().unwrap().remove(switch.name).expect("every option is written");
            let mut opened = Optimizer::from_json(&old.to_string()).unwrap_or_else(|e| panic!("{}: {e}", switch.name));
            let before =
                ANOTHER_PAST.iter().find(|(name, _)| *name == switch.name).map(|(_, value)| (*value).to_owned());
            let before = before.unwrap_or_else(|| Config::new(Preset::Paper).get(switch.name).unwrap());
            assert_eq!(opened.config().get(switch.name).unwrap(), before, "{}", switch.name);
            for other in SWITCHES.iter().filter(|o| o.name != switch.name) {
                assert_eq!(opened.config().get(other.name), live.config().get(other.name));
            }
            evaluate(&mut opened, |x| x[0] * x[0] + x[1], 12);
        }
    }
}
