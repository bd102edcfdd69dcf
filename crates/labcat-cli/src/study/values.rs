//! Values of parameters as people and programs read and write them: numbers, integers, labels, `true` and `false`.

use labcat::{Domain, Label, Parameter, ParameterKind};
use serde_json::{Map, Value};

use crate::format::{brief, number};

/// A value as text.
fn text(parameter: &Parameter, value: f64) -> String {
    match parameter.label(value) {
        Label::Number(value) => number(value),
        other => other.to_string(),
    }
}

/// The values of a point as text, one for each parameter; empty where a parameter's condition does not hold.
pub(crate) fn texts(domain: &Domain, x: &[f64]) -> Vec<String> {
    let value = |(i, p): (usize, &Parameter)| if domain.is_active(i, x) { text(p, x[i]) } else { String::new() };
    domain.parameters().iter().enumerate().map(value).collect()
}

/// The values that apply, by name.
pub(crate) fn named(domain: &Domain, x: &[f64]) -> Vec<(String, String)> {
    let applies = |(i, _): &(usize, &Parameter)| domain.is_active(*i, x);
    domain.parameters().iter().enumerate().filter(applies).map(|(i, p)| (p.name.clone(), text(p, x[i]))).collect()
}

/// A point in one line, `x = 1.5, solver = lu`, numbers with about as many digits.
pub(crate) fn in_brief(domain: &Domain, x: &[f64], digits: usize) -> String {
    let applies = |(i, _): &(usize, &Parameter)| domain.is_active(*i, x);
    let value = |(i, p): (usize, &Parameter)| match p.kind {
        ParameterKind::Real => format!("{} = {}", p.name, brief(x[i], digits)),
        _ => format!("{} = {}", p.name, text(p, x[i])),
    };
    domain.parameters().iter().enumerate().filter(applies).map(value).collect::<Vec<_>>().join(", ")
}

/// The values that apply as a JSON object, each of its own type.
pub(crate) fn object(domain: &Domain, x: &[f64]) -> Map<String, Value> {
    let applies = |(i, _): &(usize, &Parameter)| domain.is_active(*i, x);
    let value = |(i, p): (usize, &Parameter)| (p.name.clone(), json(&p.label(x[i])));
    domain.parameters().iter().enumerate().filter(applies).map(value).collect()
}

/// A label as JSON.
pub(crate) fn json(label: &Label) -> Value {
    match label {
        Label::Empty => Value::Null,
        Label::Flag(flag) => (*flag).into(),
        Label::Whole(number) => (*number).into(),
        Label::Number(number) => (*number).into(),
        Label::Text(text) => text.clone().into(),
    }
}

/// Reads a value from text; what is wrong with it otherwise.
pub(crate) fn read(parameter: &Parameter, text: &str) -> Result<f64, String> {
    let found = match &parameter.kind {
        ParameterKind::Real | ParameterKind::Stepped { .. } | ParameterKind::Integer { .. } => {
            return text.parse().map_err(|_| format!("which is not a number from {}", allowed(parameter)));
        }
        ParameterKind::Boolean => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(1.0),
            "false" | "no" | "0" => Some(0.0),
            _ => None,
        },
        ParameterKind::Categorical { labels, .. } => {
            labels.iter().position(|label| label.to_string() == text).map(|k| k as f64)
        }
    };
    found.ok_or_else(|| format!("which is none of {}", allowed(parameter)))
}

/// What a parameter takes, in words.
pub(crate) fn allowed(parameter: &Parameter) -> String {
    match &parameter.kind {
        ParameterKind::Boolean => "true, false".to_owned(),
        ParameterKind::Categorical { labels, .. } => labels.iter().map(Label::to_string).collect::<Vec<_>>().join(", "),
        ParameterKind::Real | ParameterKind::Stepped { .. } | ParameterKind::Integer { .. } => {
            format!("{} to {}", number(parameter.low), number(parameter.high))
        }
    }
}

/// A parameter's values in words: `from 1 to 8, integers, linear`.
pub(crate) fn range(p: &Parameter) -> String {
    let scale = super::scale_name(p.scale);
    let mut words = match &p.kind {
        ParameterKind::Real => format!("from {} to {}, {scale}", number(p.low), number(p.high)),
        ParameterKind::Stepped { step } => {
            format!("from {} to {} in steps of {}, {scale}", number(p.low), number(p.high), number(*step))
        }
        ParameterKind::Integer { step } => {
            let steps = if *step == 1 { String::new() } else { format!(" in steps of {step}") };
            format!("from {} to {}, integers{steps}, {scale}", number(p.low), number(p.high))
        }
        ParameterKind::Categorical { labels, .. } if labels.len() == 1 => format!("fixed at {}", allowed(p)),
        ParameterKind::Categorical { ordered, .. } => {
            format!("one of {}{}", allowed(p), if *ordered { ", in this order" } else { "" })
        }
        ParameterKind::Boolean => "true or false".to_owned(),
    };
    if let Some(condition) = &p.when {
        words += &format!(", while {} allows it", condition.parameter);
    }
    words
}
