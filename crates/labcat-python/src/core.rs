//! The class `Core`: the core's `Optimizer` behind a lock.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use labcat::{Config, Formula, Known, Optimizer, Preset, TrialId};
use pyo3::prelude::*;

use crate::errors;
use crate::outcome::{LocalResiduals, Outcome, Told};
use crate::parameters::{Parameter, domain};
use crate::plain::{Settings, plain, set_all};

/// A suggestion or a pending trial: id, point.
type Suggested = (u64, Vec<f64>);
/// A linear constraint: factors, bound.
type Row = (Vec<f64>, f64);
/// The trust region: centre, half-axes.
type Region = (Vec<f64>, Vec<Vec<f64>>);

/// An exception such as `KeyboardInterrupt` that a constraint function has let pass: it ends what the optimizer does.
type Interrupt = Arc<Mutex<Option<PyErr>>>;

thread_local! {
    /// The optimizer that this thread is in: a constraint function may not use it.
    static INSIDE: Cell<*const Core> = const { Cell::new(std::ptr::null()) };
}

/// Runs `f` of the core while other Python threads run; a panic becomes an exception.
fn detached<T: Send>(py: Python<'_>, f: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(f)).map_err(|panic| text_of(panic.as_ref())))
        .map_err(|message| errors::internal(py, &message))
}

/// The optimizer of the core. Every method lets other Python threads run while it waits for the lock and computes;
/// of Python, only constraint functions are touched while the lock is held.
#[pyclass(frozen, module = "labcat._labcat")]
pub(crate) struct Core {
    optimizer: Mutex<Optimizer>,
    /// Set once there are constraint functions.
    interrupt: OnceLock<Interrupt>,
}

impl From<Optimizer> for Core {
    fn from(optimizer: Optimizer) -> Core {
        Core { optimizer: Mutex::new(optimizer), interrupt: OnceLock::new() }
    }
}

impl Core {
    /// Runs `f` on the optimizer. After a panic its state is unknown, and it refuses all further calls.
    fn with<T: Send>(&self, py: Python<'_>, f: impl FnOnce(&mut Optimizer) -> T + Send) -> PyResult<T> {
        let refused = "an earlier call failed; this optimizer can no longer be used";
        if INSIDE.get() == std::ptr::from_ref(self) {
            return Err(errors::invalid(py, "a constraint function must not use the optimizer that calls it"));
        }
        let found = detached(py, || match self.optimizer.lock() {
            Ok(mut optimizer) => {
                let outside = INSIDE.replace(self);
                let result = catch_unwind(AssertUnwindSafe(|| f(&mut optimizer)));
                INSIDE.set(outside);
                let interrupt =
                    self.interrupt.get().and_then(|i| i.lock().unwrap_or_else(PoisonError::into_inner).take());
                Ok((result.unwrap_or_else(|panic| resume_unwind(panic)), interrupt))
            }
            Err(_) => Err(refused),
        })?;
        match found.map_err(|message| errors::internal(py, message))? {
            (_, Some(interrupt)) => Err(interrupt),
            (result, None) => Ok(result),
        }
    }

    /// `with`, for suggestions: one that a constraint function interrupts leaves the optimizer as it was.
    fn ask_with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Optimizer) -> Result<T, labcat::AskError> + Send,
    ) -> PyResult<T> {
        self.with(py, |o| {
            let before = self.interrupt.get().map(|interrupt| (interrupt, o.clone()));
            let result = f(o);
            if let Some((interrupt, before)) = before
                && interrupt.lock().is_ok_and(|raised| raised.is_some())
            {
                *o = before;
            }
            result
        })?
        .map_err(|e| errors::ask(py, &e))
    }

    /// `with`, for what the core may refuse because of an id or a point.
    fn tell_with<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Optimizer) -> Result<T, labcat::TellError> + Send,
    ) -> PyResult<T> {
        self.with(py, f)?.map_err(|e| errors::tell(py, &e))
    }
}

/// What a panic said.
fn text_of(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "panic".to_owned(),
    }
}

#[pymethods]
impl Core {
    #[new]
    fn new(py: Python<'_>, parameters: Vec<Py<Parameter>>, preset: &str, options: Settings) -> PyResult<Core> {
        let domain = domain(py, &parameters)?;
        let preset: Preset = preset.parse().map_err(|e| errors::invalid(py, e))?;
        let mut config = Config::new(preset);
        set_all(&mut config, &options).map_err(|e| errors::invalid(py, e))?;
        let optimizer = detached(py, || Optimizer::new(domain, config))?.map_err(|e| errors::invalid(py, e))?;
        Ok(Core::from(optimizer))
    }

    /// Sets the known constraints: rows (factors, bound) of a·x ≤ b, rows of a·x = b, functions of the point that are at most 0 where
    /// they are met (NaN: not met), and formulas of the parameters' names.
    #[pyo3(signature = (linear, equal, functions, formulas))]
    fn constrain(
        &self,
        py: Python<'_>,
        linear: Vec<Row>,
        equal: Vec<Row>,
        functions: Vec<Py<PyAny>>,
        formulas: Vec<String>,
    ) -> PyResult<()> {
        let domain = self.with(py, |o| o.domain().clone())?;
        let mut known = Known::default();
        for text in formulas {
            let added = Formula::parse(&text).and_then(|formula| std::mem::take(&mut known).formula(&formula, &domain));
            known = added.map_err(|e| errors::invalid(py, format!("the constraint {text:?} cannot be read: {e}")))?;
        }
        for (factors, bound) in linear {
            known = known.at_most(factors, bound);
        }
        for (factors, value) in equal {
            known = known.equal_to(factors, value);
        }
        for function in functions {
            let interrupt = self.interrupt.get_or_init(Interrupt::default).clone();
            known = known.met(move |x: &[f64]| {
                let mut raised = interrupt.lock().unwrap_or_else(PoisonError::into_inner);
                if raised.is_some() {
                    return f64::NAN; // nothing that is computed now counts
                }
                Python::attach(|py| {
                    let value = function.call1(py, (x.to_vec(),)).and_then(|value| value.extract::<f64>(py));
                    value.unwrap_or_else(|exception| {
                        *raised = Some(exception);
                        f64::NAN
                    })
                })
            });
        }
        self.with(py, |o| o.constrain(known))?.map_err(|e| errors::invalid(py, e))
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Core> {
        let optimizer = detached(py, || Optimizer::from_json(text))?.map_err(|e| errors::invalid(py, e))?;
        Ok(Core::from(optimizer))
    }

    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |o| o.to_json())
    }

    fn ask(&self, py: Python<'_>) -> PyResult<Suggested> {
        let suggestion = self.ask_with(py, Optimizer::ask)?;
        Ok((suggestion.id.0, suggestion.x))
    }

    fn expect_outstanding(&self, py: Python<'_>, n: usize) -> PyResult<()> {
        self.with(py, |o| o.expect_outstanding(n))
    }

    fn ask_many(&self, py: Python<'_>, n: usize) -> PyResult<Vec<Suggested>> {
        let suggestions = self.ask_with(py, |o| o.ask_many(n))?;
        Ok(suggestions.into_iter().map(|s| (s.id.0, s.x)).collect())
    }

    fn tell(&self, py: Python<'_>, id: u64, outcome: &Outcome) -> PyResult<()> {
        let outcome = outcome.to_core(py)?;
        self.tell_with(py, |o| o.tell(TrialId(id), outcome))
    }

    fn tell_point(&self, py: Python<'_>, x: Vec<f64>, outcome: &Outcome) -> PyResult<u64> {
        let outcome = outcome.to_core(py)?;
        self.tell_with(py, |o| o.tell_point(&x, outcome)).map(|id| id.0)
    }

    fn revise(&self, py: Python<'_>, id: u64, outcome: &Outcome) -> PyResult<()> {
        let outcome = outcome.to_core(py)?;
        self.tell_with(py, |o| o.revise(TrialId(id), outcome))
    }

    fn cancel(&self, py: Python<'_>, id: u64) -> PyResult<()> {
        self.tell_with(py, |o| o.cancel(TrialId(id)))
    }

    /// Makes a point pending that was chosen elsewhere; its id.
    fn adopt(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<u64> {
        self.with(py, |o| o.adopt(&x))?.map(|id| id.0).map_err(|e| errors::invalid(py, e))
    }

    /// Ends the local run.
    fn restart(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Optimizer::restart)
    }

    fn enqueue(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<()> {
        self.with(py, |o| o.enqueue(&x))?.map_err(|e| errors::invalid(py, e))
    }

    /// Has the search begin at these points; one of them has the first design around it, within the radius.
    #[pyo3(signature = (points, radius = None))]
    fn start_at(&self, py: Python<'_>, points: Vec<Vec<f64>>, radius: Option<Vec<f64>>) -> PyResult<()> {
        self.with(py, |o| {
            let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
            o.start_at(&points, radius.as_deref())
        })?
        .map_err(|e| errors::invalid(py, e))
    }

    /// The points that were enqueued and not yet suggested.
    fn queued(&self, py: Python<'_>) -> PyResult<Vec<Vec<f64>>> {
        self.with(py, |o| o.queued().map(<[f64]>::to_vec).collect())
    }

    /// The point to use: where, expected value and its standard deviation.
    fn recommended(&self, py: Python<'_>) -> PyResult<Option<(Vec<f64>, f64, f64)>> {
        self.with(py, |o| o.recommended().map(|r| (r.x, r.mean, r.std)))
    }

    fn best(&self, py: Python<'_>) -> PyResult<Option<Told>> {
        self.with(py, |o| o.best().map(Told::from))
    }

    /// The evaluation told last.
    fn newest(&self, py: Python<'_>) -> PyResult<Option<Told>> {
        self.with(py, |o| o.evaluations().last().map(Told::from))
    }

    fn evaluations(&self, py: Python<'_>) -> PyResult<Vec<Told>> {
        self.with(py, |o| o.evaluations().iter().map(Told::from).collect())
    }

    /// Whether values are known to have noise, and its standard deviation as given or estimated (0 if there is none or each was told).
    fn noise(&self, py: Python<'_>) -> PyResult<(bool, f64)> {
        self.with(py, |o| (o.has_noise(), o.noise_sigma().unwrap_or(0.0)))
    }

    fn pending(&self, py: Python<'_>) -> PyResult<Vec<Suggested>> {
        self.with(py, |o| o.pending().map(|(id, x)| (id.0, x.to_vec())).collect())
    }

    fn n_evaluations(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |o| o.n_evaluations())
    }

    fn restarts(&self, py: Python<'_>) -> PyResult<Vec<(usize, String)>> {
        self.with(py, |o| o.restarts().iter().map(|r| (r.at_evaluation, r.cause.to_string())).collect())
    }

    fn stop_reason(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |o| o.stop_reason().map(|r| r.to_string()))
    }

    /// Mean and standard deviation at each point; `None` while there is no model.
    fn predict(&self, py: Python<'_>, points: Vec<Vec<f64>>) -> PyResult<Option<Vec<(f64, f64)>>> {
        let predictions = self
            .with(py, |o| {
                let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
                o.predict_many(&points)
            })?
            .map_err(|e| errors::invalid(py, e))?;
        Ok(predictions.map(|all| all.iter().map(|p| (p.mean, p.std)).collect()))
    }

    /// What the evaluations around a point say of its residuals; `None` if they are too few.
    fn residuals_around(&self, py: Python<'_>, x: Vec<f64>) -> PyResult<Option<LocalResiduals>> {
        let found = self.with(py, |o| o.residuals_around(&x))?.map_err(|e| errors::invalid(py, e))?;
        Ok(found.map(LocalResiduals::from))
    }

    /// The share of each parameter and its standard deviation.
    fn importance(&self, py: Python<'_>) -> PyResult<Option<Vec<(f64, f64)>>> {
        self.with(py, |o| Some(o.importance()?.iter().map(|share| (share.mean, share.std)).collect()))
    }

    fn trust_region(&self, py: Python<'_>) -> PyResult<Option<Region>> {
        self.with(py, |o| o.trust_region().map(|r| (r.centre, r.half_axes)))
    }

    /// What the newest `ask` did.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let report = self.with(py, |o| o.report().cloned())?;
        plain(py, &report)
    }

    /// Changes some of the stopping options.
    fn set_stopping(&self, py: Python<'_>, options: Settings) -> PyResult<()> {
        self.with(py, |o| {
            let mut config = o.config().clone();
            set_all(&mut config, &options)?;
            o.set_stopping(config.budget, config.target, config.tolerance)
        })?
        .map_err(|e: labcat::ConfigError| errors::invalid(py, e))
    }

    /// Every option by its name.
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let config = self.with(py, |o| o.config().clone())?;
        plain(py, &config)
    }

    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<Parameter>> {
        self.with(py, |o| o.domain().parameters().iter().cloned().map(Parameter::from).collect())
    }
}
