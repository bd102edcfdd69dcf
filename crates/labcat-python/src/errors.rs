//! Converts the core's errors into the exception classes of `labcat._errors`.

use labcat::{AskError, TellError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception `labcat._errors.<class>(message, *details)`, or the error met on the way to it.
fn exception<D>(py: Python<'_>, class: &str, message: String, detail: Option<D>) -> PyErr
where
    D: for<'py> IntoPyObject<'py>,
{
    let build = || -> PyResult<PyErr> {
        let class = py.import("labcat._errors")?.getattr(class)?.cast_into::<PyType>()?;
        let value = match detail {
            Some(detail) => class.call1((message, detail.into_bound_py_any(py)?))?,
            None => class.call1((message,))?,
        };
        Ok(PyErr::from_value(value))
    };
    build().unwrap_or_else(|error| error)
}

/// A wrong argument: `labcat.InvalidError`, which is a `ValueError`.
pub(crate) fn invalid(py: Python<'_>, message: impl ToString) -> PyErr {
    exception(py, "InvalidError", message.to_string(), None::<u64>)
}

/// A fault of labcat itself.
pub(crate) fn internal(py: Python<'_>, message: &str) -> PyErr {
    let message = format!("internal error of labcat, please report it: {message}");
    exception(py, "LabcatError", message, None::<u64>)
}

pub(crate) fn ask(py: Python<'_>, error: &AskError) -> PyErr {
    let message = error.to_string();
    match error {
        AskError::Stopped(reason) => exception(py, "Stopped", message, Some(reason.to_string())),
        AskError::BudgetOutstanding { pending } | AskError::SpaceOutstanding { pending } => {
            exception(py, "BudgetOutstanding", message, Some(*pending))
        }
    }
}

pub(crate) fn tell(py: Python<'_>, error: &TellError) -> PyErr {
    match error {
        TellError::UnknownId(id) => exception(py, "UnknownTrialError", error.to_string(), Some(id.0)),
        _ => invalid(py, error),
    }
}
