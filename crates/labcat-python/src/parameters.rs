//! Parameters as Python passes them.

use labcat::{Condition, Domain, Label, Parameter, ParameterKind, Scale};
use pyo3::prelude::*;

use crate::errors;

/// Name, low, high, scale, type, step, labels (each as JSON), whether they are ordered, and the condition: another parameter's name
/// and its values.
pub(crate) type Described = (String, f64, f64, String, String, u64, Vec<String>, bool, Option<(String, Vec<f64>)>);

/// Checks parameters given from Python.
pub(crate) fn domain(py: Python<'_>, parameters: Vec<Described>) -> PyResult<Domain> {
    let parameters = parameters.into_iter().map(|p| parameter(py, p)).collect::<PyResult<Vec<_>>>()?;
    Domain::from_parameters(parameters).map_err(|e| errors::invalid(py, e))
}

fn parameter(py: Python<'_>, described: Described) -> PyResult<Parameter> {
    let (name, low, high, scale, kind, step, labels, ordered, when) = described;
    let scale = match scale.as_str() {
        "linear" => Scale::Linear,
        "log" => Scale::Log,
        other => {
            let message = format!("the scale of {name} is {other:?}; allowed: \"linear\", \"log\"");
            return Err(errors::invalid(py, message));
        }
    };
    let label = |text: &String| serde_json::from_str(text).map_err(|e| errors::internal(py, &e.to_string()));
    let mut parameter = match kind.as_str() {
        "real" => Parameter::real(&name, low, high),
        "integer" => Parameter::integer(&name, low, high).in_steps(step),
        "boolean" => Parameter::boolean(&name),
        "categorical" => {
            let labels = labels.iter().map(label).collect::<PyResult<Vec<Label>>>()?;
            let plain = Parameter::categorical(&name, labels);
            if ordered { plain.ordered() } else { plain }
        }
        other => return Err(errors::internal(py, &format!("a parameter of type {other:?}"))),
    };
    parameter.scale = scale;
    parameter.when = when.map(|(parameter, values)| Condition { parameter, values });
    Ok(parameter)
}

/// A parameter of the core as Python reads it.
pub(crate) fn described(py: Python<'_>, p: Parameter) -> PyResult<Described> {
    let scale = match p.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    };
    let kind = p.kind.name().to_owned();
    let (step, labels, ordered) = match p.kind {
        ParameterKind::Integer { step } => (step, Vec::new(), false),
        ParameterKind::Categorical { labels, ordered } => (1, labels, ordered),
        ParameterKind::Real | ParameterKind::Stepped { .. } | ParameterKind::Boolean => (1, Vec::new(), false),
    };
    let label = |label: &Label| serde_json::to_string(label).map_err(|e| errors::internal(py, &e.to_string()));
    let labels = labels.iter().map(label).collect::<PyResult<Vec<String>>>()?;
    let when = p.when.map(|c| (c.parameter, c.values));
    Ok((p.name, p.low, p.high, scale.to_owned(), kind, step, labels, ordered, when))
}
