//! `labcat._labcat`, the private native module of the Python package: it translates, the core crate does the work.
//! The public, typed classes are in `python/labcat`.

mod core;
mod errors;

use labcat::{Domain, SWITCHES};
use pyo3::prelude::*;

use crate::core::{Core, Named, domain};

/// Checks a list of `(name, low, high, scale)`; an error names what is wrong.
#[pyfunction]
fn check_domain(py: Python<'_>, parameters: Vec<Named>) -> PyResult<()> {
    domain(py, parameters).map(|_: Domain| ())
}

/// Every switch of the core: `(name, what it does, what it may be)`.
#[pyfunction]
fn switches() -> Vec<(&'static str, &'static str, &'static str)> {
    SWITCHES.iter().map(|s| (s.name, s.help, s.allowed)).collect()
}

/// The budget of a run in `d` dimensions that nothing else can end.
#[pyfunction]
fn default_budget(d: usize) -> usize {
    labcat::default_budget(d)
}

/// The native module.
#[pymodule(gil_used = false)]
fn _labcat(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Core>()?;
    module.add_function(wrap_pyfunction!(check_domain, module)?)?;
    module.add_function(wrap_pyfunction!(default_budget, module)?)?;
    module.add_function(wrap_pyfunction!(switches, module)?)
}
