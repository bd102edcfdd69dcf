//! Plain data: Python values for the core's options, and the core's reports for Python.

use labcat::{Config, ConfigError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use serde_json::Value;

use crate::errors;

/// The value of an option: as Python's own types have it.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum Setting {
    Flag(bool),
    Whole(i128),
    Number(f64),
    Word(String),
}

/// Options by name; `None` is the absence of one that may be absent.
pub(crate) type Settings = Vec<(String, Option<Setting>)>;

/// Sets options of a configuration, whose one reader of values is that of text.
pub(crate) fn set_all(config: &mut Config, settings: &Settings) -> Result<(), ConfigError> {
    for (name, setting) in settings {
        let text = match setting {
            None => "none".to_owned(),
            Some(Setting::Flag(flag)) => flag.to_string(),
            Some(Setting::Whole(whole)) => whole.to_string(),
            Some(Setting::Number(number)) => format!("{number:?}"),
            Some(Setting::Word(word)) => word.clone(),
        };
        config.set(name, &text)?;
    }
    Ok(())
}

/// Data of the core as dictionaries, lists, numbers and text of Python.
pub(crate) fn plain<'py, T: Serialize>(py: Python<'py>, data: &T) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(data).map_err(|e| errors::internal(py, &e.to_string()))?;
    object(py, &value)
}

fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::String(text) => text.into_bound_py_any(py),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(whole), _, _) => whole.into_bound_py_any(py),
            (_, Some(whole), _) => whole.into_bound_py_any(py),
            (_, _, number) => number.into_bound_py_any(py),
        },
        Value::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Value::Object(entries) => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                dict.set_item(key, object(py, item)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
