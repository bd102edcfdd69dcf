//! Parameters, between Python and the core.

use labcat::{Condition, Domain, Label, ParameterKind, Scale};
use pyo3::prelude::*;

use crate::errors;

/// A label of a category: plain data.
#[derive(Clone, Debug, PartialEq, FromPyObject, IntoPyObject)]
pub(crate) enum Plain {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

/// A parameter of the core.
#[pyclass(frozen, get_all, eq, module = "labcat._labcat")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    name: String,
    /// "real", "integer", "boolean" or "categorical".
    kind: String,
    low: f64,
    high: f64,
    scale: String,
    /// Between neighbours; 0 for a real that has none.
    step: f64,
    labels: Vec<Option<Plain>>,
    ordered: bool,
    /// Another parameter's name and the values, as in a point, with which this one is used.
    when: Option<(String, Vec<f64>)>,
}

#[pymethods]
impl Parameter {
    #[new]
    #[pyo3(signature = (name, kind, low = 0.0, high = 0.0, *, scale = String::from("linear"), step = 0.0, labels = Vec::new(), ordered = false, when = None))]
    #[allow(clippy::too_many_arguments)] // they are keywords
    fn new(
        name: String,
        kind: String,
        low: f64,
        high: f64,
        scale: String,
        step: f64,
        labels: Vec<Option<Plain>>,
        ordered: bool,
        when: Option<(String, Vec<f64>)>,
    ) -> Self {
        Self { name, kind, low, high, scale, step, labels, ordered, when }
    }

    /// The nearest value that is allowed.
    fn nearest(&self, py: Python<'_>, value: f64) -> PyResult<f64> {
        Ok(parameter(py, self)?.nearest(value))
    }
}

/// Checks parameters given from Python.
pub(crate) fn domain(py: Python<'_>, parameters: &[Py<Parameter>]) -> PyResult<Domain> {
    let parameters = parameters.iter().map(|p| parameter(py, p.get())).collect::<PyResult<Vec<_>>>()?;
    Domain::from_parameters(parameters).map_err(|e| errors::invalid(py, e))
}

fn parameter(py: Python<'_>, given: &Parameter) -> PyResult<labcat::Parameter> {
    let Parameter { name, kind, low, high, .. } = given;
    let scale = match given.scale.as_str() {
        "linear" => Scale::Linear,
        "log" => Scale::Log,
        other => {
            let message = format!("the scale of {name} is {other:?}; allowed: \"linear\", \"log\"");
            return Err(errors::invalid(py, message));
        }
    };
    let mut parameter = match kind.as_str() {
        "real" if given.step == 0.0 => labcat::Parameter::real(name, *low, *high),
        "real" => labcat::Parameter::real(name, *low, *high).with_step(given.step),
        "integer" => labcat::Parameter::integer(name, *low, *high).in_steps(given.step as u64),
        "boolean" => labcat::Parameter::boolean(name),
        "categorical" => {
            let plain = labcat::Parameter::categorical(name, given.labels.iter().map(label).collect::<Vec<_>>());
            if given.ordered { plain.ordered() } else { plain }
        }
        other => return Err(errors::internal(py, &format!("a parameter of type {other:?}"))),
    };
    parameter.scale = scale;
    parameter.when = given.when.clone().map(|(parameter, values)| Condition { parameter, values });
    Ok(parameter)
}

fn label(plain: &Option<Plain>) -> Label {
    match plain {
        None => Label::Empty,
        Some(Plain::Flag(flag)) => Label::Flag(*flag),
        Some(Plain::Whole(whole)) => Label::Whole(*whole),
        Some(Plain::Number(number)) => Label::Number(*number),
        Some(Plain::Text(text)) => Label::Text(text.clone()),
    }
}

fn plain(label: Label) -> Option<Plain> {
    match label {
        Label::Empty => None,
        Label::Flag(flag) => Some(Plain::Flag(flag)),
        Label::Whole(whole) => Some(Plain::Whole(whole)),
        Label::Number(number) => Some(Plain::Number(number)),
        Label::Text(text) => Some(Plain::Text(text)),
    }
}

impl From<labcat::Parameter> for Parameter {
    fn from(p: labcat::Parameter) -> Self {
        let scale = match p.scale {
            Scale::Linear => "linear",
            Scale::Log => "log",
        };
        let kind = p.kind.name().to_owned();
        let (step, labels, ordered) = match p.kind {
            ParameterKind::Integer { step } => (step as f64, Vec::new(), false),
            ParameterKind::Stepped { step } => (step, Vec::new(), false),
            ParameterKind::Categorical { labels, ordered } => (1.0, labels, ordered),
            ParameterKind::Boolean => (1.0, Vec::new(), false),
            ParameterKind::Real => (0.0, Vec::new(), false),
        };
        Self {
            name: p.name,
            kind,
            low: p.low,
            high: p.high,
            scale: scale.to_owned(),
            step,
            labels: labels.into_iter().map(plain).collect(),
            ordered,
            when: p.when.map(|c| (c.parameter, c.values)),
        }
    }
}
