//! The best evaluation of a study as people read it: the best that meets the constraints, or else the least violated.

use labcat::{Evaluation, Optimizer};
use serde_json::{Map, Value, json};

use crate::study::Constraints;

/// The best evaluation.
pub(crate) struct Best<'a> {
    pub(crate) evaluation: &'a Evaluation,
    /// What it violates and by how much; then no other violates less.
    pub(crate) violated: Option<String>,
}

impl<'a> Best<'a> {
    /// `None` while every evaluation has failed.
    pub(crate) fn of(optimizer: &'a Optimizer, constraints: &Constraints) -> Option<Best<'a>> {
        let evaluation = optimizer.best()?;
        Some(Best { evaluation, violated: constraints.violation(evaluation.outcome.constraints()) })
    }

    pub(crate) fn value(&self) -> Option<f64> {
        self.evaluation.outcome.value()
    }

    /// What to call it.
    pub(crate) fn title(&self) -> &'static str {
        if self.violated.is_some() { "least violated" } else { "best" }
    }

    /// Its value, and what it violates.
    pub(crate) fn in_words(&self, show: impl Fn(f64) -> String) -> String {
        let value = self.value().map_or_else(|| "no value".to_owned(), show);
        match &self.violated {
            Some(violated) => format!("{value}, violates {violated}"),
            None => value,
        }
    }

    /// What is known of its constraints, if the study measures any.
    pub(crate) fn constraints_json(&self, constraints: &Constraints) -> Map<String, Value> {
        measured_json(constraints, self.value(), self.evaluation.outcome.constraints())
    }
}

/// Whether an evaluation met the constraints, and by how much it violates each, if the study measures any.
pub(crate) fn measured_json(constraints: &Constraints, value: Option<f64>, excesses: &[f64]) -> Map<String, Value> {
    if !constraints.is_measured() {
        return Map::new();
    }
    let feasible = Constraints::is_met(value, excesses);
    Map::from_iter([
        ("feasible".to_owned(), json!(feasible)),
        ("constraints".to_owned(), constraints.as_json(excesses).into()),
    ])
}

/// An object with further fields.
pub(crate) fn with(mut object: Value, fields: Map<String, Value>) -> Value {
    if let Some(known) = object.as_object_mut() {
        known.extend(fields);
    }
    object
}
