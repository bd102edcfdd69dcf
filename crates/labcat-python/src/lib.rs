//! `labcat._labcat`, the private native module of the Python package. It only translates; the core crate does the work.
//! The public, typed classes are in `python/labcat`.

mod core;
mod errors;
mod outcome;
mod parameters;
mod plain;

use labcat::{Config, Kind, Preset, SWITCHES, Switch};
use pyo3::prelude::*;

use crate::core::Core;
use crate::outcome::{LocalResiduals, Outcome, Told};
use crate::parameters::{Parameter, domain};

/// Checks a list of parameters, and counts those that are not fixed (1 if all are); an error names what is wrong.
#[pyfunction]
fn check_domain(py: Python<'_>, parameters: Vec<Py<Parameter>>) -> PyResult<usize> {
    domain(py, &parameters).map(|domain| domain.free_parameters())
}

/// An option of the core, in words.
#[pyclass(frozen, get_all, module = "labcat._labcat")]
#[derive(Clone)]
struct Described {
    name: &'static str,
    /// The part of the algorithm.
    group: &'static str,
    help: &'static str,
    allowed: String,
    /// As Python writes it.
    annotation: String,
    /// Its value in each preset.
    paper: String,
    default: String,
}

/// Every option of the core.
#[pyfunction]
fn switches() -> Vec<Described> {
    let (paper, default) = (Config::new(Preset::Paper), Config::new(Preset::Default));
    let value = |config: &Config, name| config.get(name).unwrap_or_default();
    let describe = |s: &Switch| Described {
        name: s.name,
        group: s.group,
        help: s.help,
        allowed: s.allowed(),
        annotation: annotation(s),
        paper: value(&paper, s.name),
        default: value(&default, s.name),
    };
    SWITCHES.iter().map(describe).collect()
}

/// The type of an option as Python writes it.
fn annotation(switch: &Switch) -> String {
    let plain = match switch.kind {
        Kind::Flag => "bool".to_owned(),
        Kind::Whole => "int".to_owned(),
        Kind::Number => "float".to_owned(),
        Kind::Choice(names) => {
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("Literal[{}]", quoted.join(", "))
        }
        Kind::NumberOr(names) => {
            let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("Literal[{}] | float", quoted.join(", "))
        }
    };
    if switch.optional { format!("{plain} | None") } else { plain }
}

/// The budget of a run in `d` dimensions that nothing else can end.
#[pyfunction]
fn default_budget(d: usize) -> usize {
    labcat::default_budget(d)
}

/// Runs the command line with some arguments, the program's name first, and gives its exit status.
#[cfg(unix)]
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| labcat_cli::main(arguments))
}

/// The command line is not made for this system.
#[cfg(not(unix))]
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> PyResult<u8> {
    drop(arguments);
    Err(errors::invalid(py, "the command line runs on Linux and macOS; on Windows use WSL"))
}

/// The native module.
#[pymodule(gil_used = false)]
fn _labcat(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Core>()?;
    module.add_class::<Described>()?;
    module.add_class::<LocalResiduals>()?;
    module.add_class::<Outcome>()?;
    module.add_class::<Parameter>()?;
    module.add_class::<Told>()?;
    module.add_function(wrap_pyfunction!(check_domain, module)?)?;
    module.add_function(wrap_pyfunction!(default_budget, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(switches, module)?)
}
