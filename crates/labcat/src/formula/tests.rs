use super::*;
use crate::domain::{Label, Parameter};

fn domain() -> Domain {
    let parameters = vec![
        Parameter::real("x", -2.0, 2.0),
        Parameter::integer("n", 1.0, 8.0),
        Parameter::categorical("size", [Label::Whole(16), Label::Whole(64)]),
        Parameter::categorical("solver", ["lu", "qr"]),
        Parameter::boolean("flag"),
        Parameter::real("rate", 0.0, 1.0).when("flag", &[1.0]),
    ];
    Domain::from_parameters(parameters).unwrap()
}

#[test]
fn parameters_count_as_the_numbers_they_stand_for() {
    let known = |text: &str| Known::default().formula(&Formula::parse(text).unwrap(), &domain());
    let met = known("x + n + size + flag <= 20.5").unwrap();
    assert!(met.allows(&[0.5, 3.0, 0.0, 0.0, 1.0, 0.0]));
    assert!(!met.allows(&[0.5, 3.0, 1.0, 0.0, 1.0, 0.0]), "a choice is its label, not its place");
    let met = known("rate + x <= 0").unwrap();
    assert!(!met.allows(&[0.5, 3.0, 0.0, 0.0, 1.0, 0.5]));
    assert!(
        met.allows(&[0.5, 3.0, 0.0, 0.0, 0.0, 0.5]),
        "where a parameter does not apply, neither does the constraint"
    );
    let error = known("x + solver <= 1").unwrap_err();
    assert_eq!(error.column, 5);
    assert!(error.message.contains("`solver` has texts as categories"), "{error}");
    let error = known("x + X <= 1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 5: `X` is not a parameter: the parameters are x, n, size, solver, flag, rate"
    );
}

#[test]
fn equations_are_linear_or_refused() {
    let plane = Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)]).unwrap();
    let known = |text: &str| Known::default().formula(&Formula::parse(text).unwrap(), &plane);
    for text in ["x0 + 2*x1 == 1", "2*(x0 + 2*x1 - 1)/sqrt(4) == 0", "1 - x1*2 == x0", "-(x0 - 1) == x1 + x1"] {
        let met = known(text).unwrap();
        assert!(met.allows(&[0.5, 0.25]) && !met.allows(&[0.5, 0.2500001]), "{text}");
    }
    for text in ["x0*x1 == 1", "x0^2 == 1", "abs(x0) == 1", "1/x0 == 1", "x0 - x0 == 1"] {
        assert!(known(text).unwrap_err().message.contains("an equation must be linear"), "{text}");
    }
}

#[test]
fn linear_contradictions_are_found_at_once() {
    let plane = Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)]).unwrap();
    for texts in [&["x0 + x1 <= -5"][..], &["x0 + x1 <= 0", "x0 >= 1 - x1"], &["3 <= x0"]] {
        let add = |known: Known, text: &&str| known.formula(&Formula::parse(text).unwrap(), &plane).unwrap();
        let known = texts.iter().fold(Known::default(), add);
        let found = crate::Optimizer::with_constraints(plane.clone(), crate::Config::default(), known);
        assert_eq!(found.unwrap_err(), crate::Error::Known(crate::KnownError::Empty), "{texts:?}");
    }
}
