//! The best evaluation of a study as text: the best feasible one, or else the one with the smallest violation.

use labcat::{Evaluation, Optimizer, Recommendation};
use serde_json::{Map, Value, json};

use crate::study::{Constraints, Identity};

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

    /// Its name in messages.
    pub(crate) fn title(&self) -> &'static str {
        if self.violated.is_some() { "least infeasible" } else { "best" }
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

/// What is recommended under noise.
pub(crate) fn recommended(optimizer: &Optimizer) -> Option<Recommendation> {
    optimizer.has_noise().then(|| optimizer.recommended()).flatten()
}

/// What is recommended of a study whose values have noise: its best draw is mostly a lucky one.
pub(crate) struct Recommended(Recommendation, Option<f64>);

impl Recommended {
    pub(crate) fn of(optimizer: &Optimizer) -> Option<Recommended> {
        Some(Recommended(recommended(optimizer)?, optimizer.noise_sigma()))
    }

    pub(crate) fn x(&self) -> &[f64] {
        &self.0.x
    }

    pub(crate) fn in_words(&self) -> String {
        let Recommendation { mean, std, .. } = self.0;
        let noise = self.1.map_or_else(|| "as told".to_owned(), |sigma| format!("{sigma:.3}"));
        format!("{mean:.6} ± {std:.3} (mean and standard deviation; noise of a value {noise})")
    }

    pub(crate) fn as_json(&self, identity: &Identity) -> Value {
        let Recommendation { mean, std, x, .. } = &self.0;
        json!({ "x": identity.by_name(x), "mean": mean, "std": std, "noise": self.1 })
    }
}

/// What a study has found, as every display shows it: under noise what is recommended, never the luckiest draw; else the best evaluation.
pub(crate) struct Found<'a> {
    pub(crate) best: Best<'a>,
    pub(crate) recommended: Option<Recommended>,
}

impl<'a> Found<'a> {
    /// `None` while every evaluation has failed.
    pub(crate) fn of(optimizer: &'a Optimizer, constraints: &Constraints) -> Option<Found<'a>> {
        let best = Best::of(optimizer, constraints)?;
        let recommended = Recommended::of(optimizer).filter(|_| best.violated.is_none());
        Some(Found { best, recommended })
    }

    /// The point to use.
    pub(crate) fn x(&self) -> &[f64] {
        self.recommended.as_ref().map_or(&self.best.evaluation.x, Recommended::x)
    }

    /// Its name in messages.
    pub(crate) fn title(&self) -> &'static str {
        if self.recommended.is_some() { "recommended" } else { self.best.title() }
    }

    /// Its value, and what it violates.
    pub(crate) fn in_words(&self, show: impl Fn(f64) -> String) -> String {
        match &self.recommended {
            Some(Recommended(Recommendation { mean, std, .. }, _)) => format!("{} ± {std:.3}", show(*mean)),
            None => self.best.in_words(show),
        }
    }

    /// Its value and its point, and under noise the rest that is known of it.
    pub(crate) fn as_json(&self, identity: &Identity, constraints: &Constraints) -> Map<String, Value> {
        let Evaluation { id, x, .. } = self.best.evaluation;
        let mut fields = match &self.recommended {
            None => Map::from_iter([
                ("id".to_owned(), json!(id.0)),
                ("value".to_owned(), json!(self.best.value())),
                ("x".to_owned(), identity.by_name(x).into()),
            ]),
            Some(found) => Map::from_iter([
                ("recommended".to_owned(), found.as_json(identity)),
                ("value".to_owned(), json!(found.0.mean)),
                ("std".to_owned(), json!(found.0.std)),
                ("x".to_owned(), identity.by_name(&found.0.x).into()),
                ("draw".to_owned(), json!({"id": id.0, "value": self.best.value(), "x": identity.by_name(x)})),
            ]),
        };
        fields.extend(self.best.constraints_json(constraints));
        fields
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
