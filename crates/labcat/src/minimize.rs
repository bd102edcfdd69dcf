//! The complete loop, for an objective that is a closure.

use crate::domain::Domain;
use crate::observations::Evaluation;
use crate::optimizer::Error;
use crate::optimizer::Optimizer;
use crate::optimizer::config::Config;
use crate::optimizer::report::{Restart, StopReason};

/// The result of an optimization.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The best evaluation; `None` if every evaluation failed.
    pub best: Option<Evaluation>,
    /// Why it ended.
    pub stop: StopReason,
    /// Evaluations made.
    pub evaluations: usize,
    /// Restarts, with their causes.
    pub restarts: Vec<Restart>,
}

/// The budget used when nothing else ends a run: 200 evaluations for each of `d` parameters.
pub fn default_budget(d: usize) -> usize {
    200 * d
}

/// Optimises a closure, in the direction of the configuration (by default it minimises). A value that is not finite is a failed evaluation.
///
/// If nothing else ends the run, the budget is [`default_budget`]: a `budget`, a `target`, or a `tolerance` without `restarts`.
///
/// ```
/// use labcat::{Config, Domain, Preset, minimize};
///
/// let domain = Domain::new(&[(-5.0, 10.0), (0.0, 15.0)])?;
/// let mut config = Config::new(Preset::Default);
/// config.budget = Some(80);
/// let solution = minimize(|x| (x[0] - 3.0).powi(2) + (x[1] - 2.0).powi(4), domain, config)?;
/// assert_eq!(solution.evaluations, 80);
/// # Ok::<(), labcat::Error>(())
/// ```
pub fn minimize(mut f: impl FnMut(&[f64]) -> f64, domain: Domain, mut config: Config) -> Result<Solution, Error> {
    let bounded =
        config.budget.is_some() || config.target.is_some() || (config.tolerance.is_some() && !config.restarts);
    if !bounded {
        config.budget = Some(default_budget(domain.free_parameters()));
    }
    let mut optimizer = Optimizer::new(domain, config)?;
    loop {
        match optimizer.ask() {
            Ok(suggestion) => optimizer.tell(suggestion.id, f(&suggestion.x))?,
            Err(crate::AskError::Stopped(stop)) => {
                let (best, restarts) = (optimizer.best().cloned(), optimizer.restarts().to_vec());
                return Ok(Solution { best, stop, evaluations: optimizer.n_evaluations(), restarts });
            }
            Err(error) => return Err(error.into()),
        }
    }
}
