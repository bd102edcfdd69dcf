//! Budget and target may change while an optimizer is in use.
#![allow(clippy::unwrap_used)]

use labcat::{AskError, Config, ConfigError, Direction, Domain, Optimizer, Preset, StopReason};

fn optimizer(direction: Direction, budget: usize) -> Optimizer {
    let mut config = Config::new(Preset::Default);
    config.direction = direction;
    config.budget = Some(budget);
    Optimizer::new(Domain::new(&[(-1.0, 1.0), (-1.0, 1.0)]).unwrap(), config).unwrap()
}

fn evaluate(optimizer: &mut Optimizer, n: usize) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for _ in 0..n {
        let suggestion = optimizer.ask().unwrap();
        optimizer.tell(suggestion.id, -suggestion.x.iter().map(|x| x * x).sum::<f64>()).unwrap();
        points.push(suggestion.x);
    }
    points
}

#[test]
fn a_larger_budget_goes_on_as_if_it_had_been_there_from_the_start() {
    let mut extended = optimizer(Direction::Maximize, 12);
    let mut stream = evaluate(&mut extended, 12);
    assert_eq!(extended.ask(), Err(AskError::Stopped(StopReason::Budget)));
    extended.set_stopping(Some(20), None, None).unwrap();
    stream.extend(evaluate(&mut extended, 8));
    assert_eq!(stream, evaluate(&mut optimizer(Direction::Maximize, 20), 20));
}

#[test]
fn a_target_is_in_the_users_direction() {
    let mut optimizer = optimizer(Direction::Maximize, 20);
    evaluate(&mut optimizer, 5);
    optimizer.set_stopping(Some(20), Some(1.0), None).unwrap();
    assert_eq!(optimizer.stop_reason(), None);
    optimizer.set_stopping(None, Some(-3.0), None).unwrap();
    assert_eq!(optimizer.stop_reason(), Some(StopReason::Target));
}

#[test]
fn limits_that_make_no_sense_are_refused_and_change_nothing() {
    let mut optimizer = optimizer(Direction::Minimize, 20);
    assert!(matches!(
        optimizer.set_stopping(Some(0), None, None),
        Err(ConfigError::OutOfRange { switch: "budget", .. })
    ));
    assert!(optimizer.set_stopping(None, Some(f64::NAN), None).is_err());
    assert_eq!((optimizer.config().budget, optimizer.config().target), (Some(20), None));
}
