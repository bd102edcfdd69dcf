//! The result of an evaluation, between Python and the core.

use labcat::TrialId;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// What came of an evaluation; each part may be missing. With a new measured quantity it gets a field here and in [`Outcome::to_core`].
#[pyclass(frozen, eq, module = "labcat._labcat")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// `None`: the evaluation failed, or only constraints were measured.
    #[pyo3(get)]
    pub(crate) value: Option<f64>,
    #[pyo3(get)]
    pub(crate) std: Option<f64>,
    #[pyo3(get)]
    pub(crate) constraints: Vec<f64>,
    #[pyo3(get)]
    pub(crate) constraint_std: Vec<f64>,
    #[pyo3(get)]
    pub(crate) gradient: Vec<f64>,
    /// Of least squares; the value is the sum of their squares. They cross as bytes: a float object for each of thousands takes longer than a step.
    pub(crate) residuals: Vec<f64>,
    /// Their derivatives by the first parameter, then by the next; as bytes, too. Only told: what the core makes of them it has itself.
    pub(crate) jacobian: Vec<f64>,
    /// Why there is no value.
    #[pyo3(get)]
    pub(crate) reason: Option<String>,
}

#[pymethods]
impl Outcome {
    #[new]
    #[pyo3(signature = (
        value = None, *, std = None, constraints = Vec::new(), constraint_std = Vec::new(), gradient = Vec::new(),
        residuals = None, jacobian = None, reason = None
    ))]
    #[allow(clippy::too_many_arguments)] // each a keyword
    fn new(
        value: Option<f64>,
        std: Option<f64>,
        constraints: Vec<f64>,
        constraint_std: Vec<f64>,
        gradient: Vec<f64>,
        residuals: Option<&[u8]>,
        jacobian: Option<&[u8]>,
        reason: Option<String>,
    ) -> Self {
        let (residuals, jacobian) = (numbers(residuals), numbers(jacobian));
        Self { value, std, constraints, constraint_std, gradient, residuals, jacobian, reason }
    }

    #[getter]
    fn residuals<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = vec![0; 8 * self.residuals.len()];
        bytes.as_chunks_mut().0.iter_mut().zip(&self.residuals).for_each(|(bytes, r)| *bytes = r.to_ne_bytes());
        PyBytes::new(py, &bytes)
    }
}

/// The numbers that crossed as bytes.
fn numbers(bytes: Option<&[u8]>) -> Vec<f64> {
    let (numbers, _) = bytes.unwrap_or_default().as_chunks();
    numbers.iter().map(|r| f64::from_ne_bytes(*r)).collect()
}

impl Outcome {
    /// As the core takes it.
    pub(crate) fn to_core(&self, py: Python<'_>) -> PyResult<labcat::Outcome> {
        let failed = || labcat::Outcome::failed(self.reason.as_deref().unwrap_or_default());
        let mut outcome = if self.residuals.is_empty() {
            self.value.map_or_else(failed, labcat::Outcome::from)
        } else {
            labcat::Outcome::of_residuals(self.residuals.clone()).with_jacobian(self.jacobian.clone())
        };
        if let Some(std) = self.std {
            outcome = outcome.with_std(std).map_err(|e| errors::invalid(py, e))?;
        }
        if !self.gradient.is_empty() {
            outcome = outcome.with_gradient(self.gradient.clone());
        }
        let outcome = outcome.with_constraints(self.constraints.clone());
        outcome.with_constraint_std(self.constraint_std.clone()).map_err(|e| errors::invalid(py, e))
    }
}

impl From<&labcat::Outcome> for Outcome {
    fn from(outcome: &labcat::Outcome) -> Self {
        Self {
            value: outcome.value(),
            std: outcome.std(),
            constraints: outcome.constraints().to_vec(),
            constraint_std: outcome.constraint_std().to_vec(),
            gradient: outcome.gradient().to_vec(),
            residuals: outcome.residuals().to_vec(),
            jacobian: Vec::new(),
            reason: outcome.reason().map(str::to_owned),
        }
    }
}

/// A point and what came of it.
#[pyclass(frozen, get_all, module = "labcat._labcat")]
#[derive(Clone, Debug)]
pub(crate) struct Told {
    id: u64,
    x: Vec<f64>,
    /// Number of the local run.
    run: usize,
    outcome: Outcome,
}

impl From<&labcat::Evaluation> for Told {
    fn from(evaluation: &labcat::Evaluation) -> Self {
        let TrialId(id) = evaluation.id;
        Self { id, x: evaluation.x.clone(), run: evaluation.run, outcome: (&evaluation.outcome).into() }
    }
}

/// What the evaluations around a point say of its residuals, as weighted sums of theirs.
#[pyclass(frozen, get_all, module = "labcat._labcat")]
#[derive(Clone, Debug)]
pub(crate) struct LocalResiduals {
    evaluations: Vec<u64>,
    weights: Vec<f64>,
    parameters: Vec<usize>,
    slopes: Vec<Vec<f64>>,
    error: f64,
    weakest: f64,
}

impl From<labcat::LocalResiduals> for LocalResiduals {
    fn from(found: labcat::LocalResiduals) -> Self {
        let labcat::LocalResiduals { evaluations, weights, parameters, slopes, error, weakest } = found;
        let evaluations = evaluations.into_iter().map(|TrialId(id)| id).collect();
        Self { evaluations, weights, parameters, slopes, error, weakest }
    }
}
