//! Every error variant, with its message: it names the value and what is allowed.

use crate::support::{optimizer, seeded};
use labcat::{
    AcquisitionKind, AskError, Config, ConfigError, Direction, Domain, DomainError, Error, KernelKind, Parameter,
    PointError, Preset, SWITCHES, Scale, StopReason, TellError, TrialId, minimize,
};

/// Asserts that a message contains each of these.
fn says(error: &impl std::fmt::Display, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

fn parameter(name: &str, low: f64, high: f64, scale: Scale) -> Parameter {
    Parameter::real(name, low, high).scaled(scale)
}

#[test]
fn a_domain_needs_a_parameter() {
    let error = Domain::new(&[]).unwrap_err();
    assert_eq!(error, DomainError::Empty);
    says(&error, &["no parameters", "at least one"]);
}

#[test]
fn bounds_must_be_finite() {
    for (low, high, shown) in
        [(f64::NAN, 1.0, "NaN"), (0.0, f64::NAN, "NaN"), (f64::NEG_INFINITY, 1.0, "-inf"), (0.0, f64::INFINITY, "inf")]
    {
        let error = Domain::new(&[(0.0, 1.0), (low, high)]).unwrap_err();
        assert!(matches!(error, DomainError::Bounds { .. }));
        says(&error, &["x1", shown, "finite"]);
    }
}

#[test]
fn bounds_must_not_be_inverted_or_too_narrow() {
    for (low, high) in [(1.0, 0.0), (1.0, 1.0 + f64::EPSILON)] {
        let error = Domain::new(&[(low, high)]).unwrap_err();
        assert!(matches!(error, DomainError::Bounds { .. }));
        says(&error, &["x0", &format!("({low}, {high})"), "low must be below high"]);
    }
}

#[test]
fn a_log_scale_needs_positive_bounds() {
    for low in [0.0, -1.0, -0.0] {
        let error = Domain::from_parameters(vec![parameter("rate", low, 1.0, Scale::Log)]).unwrap_err();
        assert!(matches!(error, DomainError::Bounds { .. }));
        says(&error, &["rate", &low.to_string(), "low > 0"]);
    }
}

#[test]
fn names_must_differ() {
    let twice = vec![parameter("a", 0.0, 1.0, Scale::Linear), parameter("a", 0.0, 2.0, Scale::Linear)];
    let error = Domain::from_parameters(twice).unwrap_err();
    assert_eq!(error, DomainError::DuplicateName { name: "a".into() });
    says(&error, &["named a", "must differ"]);
}

#[test]
fn a_point_must_have_the_right_length() {
    let mut optimizer = optimizer(&[(0.0, 1.0), (0.0, 1.0)], seeded(Preset::Paper, 0));
    let wrong = PointError::WrongLength { got: 3, expected: 2 };
    says(&wrong, &["length 3", "must be 2"]);
    let x = [0.1, 0.2, 0.3];
    assert_eq!(optimizer.domain().check(&x), Err(wrong.clone()));
    assert_eq!(optimizer.enqueue(&x), Err(wrong.clone()));
    assert_eq!(optimizer.predict(&x), Err(wrong.clone()));
    assert_eq!(optimizer.tell_point(&x, 0.0), Err(TellError::Point(wrong.clone())));
    assert_eq!(optimizer.fail_point(&x), Err(TellError::Point(wrong)));
    assert_eq!(optimizer.n_evaluations(), 0);
}

#[test]
fn a_point_must_lie_inside_the_bounds() {
    let mut optimizer = optimizer(&[(0.0, 1.0), (-2.0, 3.0)], seeded(Preset::Paper, 0));
    for value in [3.5, -2.000_000_1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = optimizer.domain().check(&[0.5, value]).unwrap_err();
        assert!(matches!(error, PointError::Outside { .. }));
        says(&error, &["x1", &value.to_string(), "[-2, 3]"]);
        assert!(optimizer.tell_point(&[0.5, value], 0.0).is_err());
        assert!(optimizer.enqueue(&[0.5, value]).is_err());
    }
    assert!(optimizer.domain().check(&[0.0, 3.0]).is_ok(), "the ends belong to the domain");
    assert_eq!(optimizer.n_evaluations(), 0);
    assert_eq!(optimizer.pending().count(), 0);
}

#[test]
fn an_unknown_option_is_named_beside_the_known_ones() {
    let error = Config::new(Preset::Paper).set("bata", "1").unwrap_err();
    assert_eq!(error, ConfigError::UnknownSwitch { name: "bata".into() });
    says(&error, &["bata", "did you mean \"beta\"?"]);
    let far_off = Config::new(Preset::Paper).set("wombat", "1").unwrap_err();
    let known: Vec<&str> = SWITCHES.iter().map(|s| s.name).collect();
    says(&far_off, &known);
}

#[test]
fn names_that_are_not_known_are_answered_with_those_that_are() {
    says(&"papers".parse::<Preset>().unwrap_err(), &["preset", "papers", "paper or default"]);
    says(&"both".parse::<Direction>().unwrap_err(), &["both", "minimize or maximize"]);
    says(&"cubic".parse::<KernelKind>().unwrap_err(), &["cubic", "squared_exponential, matern52 or matern32"]);
    says(&"luck".parse::<AcquisitionKind>().unwrap_err(), &["luck", "expected_improvement", "lower_confidence_bound"]);
}

#[test]
fn no_suggestion_after_a_stop() {
    let mut config = seeded(Preset::Paper, 0);
    config.budget = Some(1);
    let mut optimizer = optimizer(&[(0.0, 1.0)], config);
    let first = optimizer.ask().unwrap();
    let pending = optimizer.ask().unwrap_err();
    assert_eq!(pending, AskError::BudgetOutstanding { pending: 1 });
    says(&pending, &["1 evaluation", "tell or cancel"]);
    optimizer.tell(first.id, 1.0).unwrap();
    let stopped = optimizer.ask().unwrap_err();
    assert_eq!(stopped, AskError::Stopped(StopReason::Budget));
    says(&stopped, &["stopped", "budget", "no more suggestions"]);
    assert_eq!(optimizer.ask_many(3), Err(stopped));
}

#[test]
fn ids_must_be_known_pending_and_told_once() {
    let mut optimizer = optimizer(&[(0.0, 1.0)], seeded(Preset::Paper, 0));
    let unknown = TellError::UnknownId(TrialId(7));
    says(&unknown, &["id 7", "an id that ask gave"]);
    assert_eq!(optimizer.tell(TrialId(7), 0.0), Err(unknown.clone()));
    assert_eq!(optimizer.fail(TrialId(7)), Err(unknown.clone()));
    assert_eq!(optimizer.cancel(TrialId(7)), Err(unknown.clone()));
    assert_eq!(optimizer.revise(TrialId(7), 0.0), Err(unknown));

    let id = optimizer.ask().unwrap().id;
    let pending = TellError::StillPending(id);
    assert_eq!(optimizer.revise(id, 1.0), Err(pending.clone()));
    says(&pending, &["evaluation 0", "still pending", "use tell"]);

    optimizer.tell(id, 1.0).unwrap();
    let told = TellError::AlreadyTold(id);
    assert_eq!(optimizer.tell(id, 2.0), Err(told.clone()));
    assert_eq!(optimizer.fail(id), Err(told.clone()));
    assert_eq!(optimizer.cancel(id), Err(told.clone()));
    says(&told, &["evaluation 0", "already told", "revise"]);
    assert_eq!(optimizer.evaluations()[0].outcome.value(), Some(1.0), "the first value stays");

    let cancelled = optimizer.ask().unwrap().id;
    optimizer.cancel(cancelled).unwrap();
    assert_eq!(optimizer.tell(cancelled, 0.0), Err(TellError::UnknownId(cancelled)));
    assert_eq!(optimizer.cancel(cancelled), Err(TellError::UnknownId(cancelled)));
    assert_eq!(optimizer.revise(cancelled, 0.0), Err(TellError::UnknownId(cancelled)));
}

#[test]
fn a_point_error_speaks_for_itself_through_tell() {
    let mut optimizer = optimizer(&[(0.0, 1.0)], seeded(Preset::Paper, 0));
    let error = optimizer.tell_point(&[2.0], 0.0).unwrap_err();
    says(&error, &["x0 = 2", "[0, 1]"]);
}

#[test]
fn the_umbrella_passes_every_message_on() {
    let domain = DomainError::Empty;
    let config = ConfigError::UnknownSwitch { name: "q".into() };
    let point = PointError::WrongLength { got: 1, expected: 2 };
    let ask = AskError::Stopped(StopReason::Target);
    let tell = TellError::UnknownId(TrialId(3));
    let pairs = [
        (Error::from(domain.clone()), domain.to_string()),
        (Error::from(config.clone()), config.to_string()),
        (Error::from(point.clone()), point.to_string()),
        (Error::from(ask), ask.to_string()),
        (Error::from(tell.clone()), tell.to_string()),
    ];
    for (umbrella, message) in pairs {
        assert_eq!(umbrella.to_string(), message);
        assert!(!format!("{umbrella:?}").is_empty());
        let as_std: &dyn std::error::Error = &umbrella;
        assert_eq!(as_std.to_string(), message);
    }
    let mut nonsense = Config::new(Preset::Paper);
    nonsense.beta = Some(-1.0);
    let error = minimize(|_| 0.0, Domain::new(&[(0.0, 1.0)]).unwrap(), nonsense).unwrap_err();
    says(&error, &["beta = -1", "above 0"]);
}

#[cfg(feature = "serde")]
#[test]
fn a_state_that_cannot_be_read_says_why() {
    use labcat::{Optimizer, StateError};
    let malformed = Optimizer::from_json("{").unwrap_err();
    assert!(matches!(malformed, StateError::Malformed(_)));
    says(&malformed, &["not the saved state", "line 1"]);
    assert!(matches!(Optimizer::from_json("[1, 2]"), Err(StateError::Malformed(_))));

    let json = optimizer(&[(0.0, 1.0)], seeded(Preset::Paper, 0)).to_json();
    let version = Optimizer::from_json(&json.replacen("\"version\":3", "\"version\":99", 1)).unwrap_err();
    assert_eq!(version, StateError::Version { found: 99 });
    says(&version, &["version 99", "reads version 3"]);

    let inconsistent = Optimizer::from_json(&json.replacen("\"low\":0.0", "\"low\":5.0", 1)).unwrap_err();
    assert!(matches!(inconsistent, StateError::Inconsistent(_)));
    says(&inconsistent, &["contradicts itself", "(5, 1)"]);
    assert_eq!(Error::from(inconsistent.clone()).to_string(), inconsistent.to_string());
}
