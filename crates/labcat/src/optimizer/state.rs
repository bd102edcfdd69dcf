//! Saving and continuing: the state of an optimizer as JSON, exact to the last bit.

use super::config::Config;
use super::propose::Workspace;
use super::report::Restart;
use super::run::LocalRun;
use super::seen::Seen;
use super::{Optimizer, Pending};
use crate::domain::{Domain, Parameter};
use crate::observations::{Evaluation, Observations, Outcome};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;

/// Version of the format. A change that an older reader would misread gets a new number.
const VERSION: u32 = 1;

/// Why a saved state could not be continued from.
#[derive(Clone, Debug, PartialEq)]
pub enum StateError {
    /// It is not the JSON of an optimizer.
    Malformed(String),
    /// It was written by another version of the format.
    Version {
        /// The version found.
        found: u32,
    },
    /// Its parts do not fit together.
    Inconsistent(String),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "this is not the saved state of an optimizer: {why}"),
            Self::Version { found } => {
                write!(f, "the state has format version {found}: this release reads version {VERSION}")
            }
            Self::Inconsistent(why) => write!(f, "the saved state contradicts itself: {why}"),
        }
    }
}

impl std::error::Error for StateError {}

/// The state, borrowed for writing.
#[derive(Serialize)]
struct Saved<'a> {
    version: u32,
    parameters: &'a [Parameter],
    config: &'a Config,
    rng: &'a Rng,
    told: usize,
    evaluations: &'a [Evaluation],
    pending: &'a [Pending],
    cancelled: &'a [Vec<f64>],
    queue: &'a VecDeque<Vec<f64>>,
    next_id: u64,
    run: &'a LocalRun,
    restarts: &'a [Restart],
    converged: bool,
}

/// The state as read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Loaded {
    #[allow(dead_code)] // checked before the rest is read
    version: u32,
    parameters: Vec<Parameter>,
    config: Config,
    rng: Rng,
    /// How many evaluations belong to the state; a snapshot gets them from elsewhere.
    told: usize,
    evaluations: Vec<Evaluation>,
    pending: Vec<Pending>,
    cancelled: Vec<Vec<f64>>,
    queue: VecDeque<Vec<f64>>,
    next_id: u64,
    run: LocalRun,
    restarts: Vec<Restart>,
    converged: bool,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Optimizer {
    /// The whole state as JSON. [`Optimizer::from_json`] continues from it with the same suggestions, bit for bit.
    pub fn to_json(&self) -> String {
        self.saved(self.observations.all())
    }

    /// The state without the evaluations: as small after a million of them as after ten. For those who keep the
    /// evaluations themselves; [`Optimizer::restore`] puts both together.
    pub fn snapshot(&self) -> String {
        self.saved(&[])
    }

    fn saved(&self, evaluations: &[Evaluation]) -> String {
        let saved = Saved {
            version: VERSION,
            parameters: self.domain.parameters(),
            config: &self.config,
            rng: &self.rng,
            told: self.observations.len(),
            evaluations,
            pending: &self.pending,
            cancelled: &self.cancelled,
            queue: &self.queue,
            next_id: self.next_id,
            run: &self.run,
            restarts: &self.restarts,
            converged: self.converged,
        };
        // Every number in the state is finite and every key a string, so nothing can fail here.
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Continues from [`Optimizer::to_json`].
    pub fn from_json(text: &str) -> Result<Self, StateError> {
        Loaded::parse(text)?.into_optimizer()
    }

    /// Continues from [`Optimizer::snapshot`] and the evaluations that had been told by then, in the order told.
    pub fn restore(snapshot: &str, evaluations: Vec<Evaluation>) -> Result<Self, StateError> {
        Loaded { evaluations, ..Loaded::parse(snapshot)? }.into_optimizer()
    }
}

impl Loaded {
    fn parse(text: &str) -> Result<Loaded, StateError> {
        let malformed = |e: serde_json::Error| StateError::Malformed(e.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(malformed)?;
        if version != VERSION {
            return Err(StateError::Version { found: version });
        }
        serde_json::from_str(text).map_err(malformed)
    }

    fn into_optimizer(self) -> Result<Optimizer, StateError> {
        let wrong = |why: &dyn fmt::Display| StateError::Inconsistent(why.to_string());
        let domain = Domain::from_parameters(self.parameters).map_err(|e| wrong(&e))?;
        let d = domain.dim();
        let settings = self.config.check(d).map_err(|e| wrong(&e))?;
        let suggested =
            || self.evaluations.iter().map(|e| &e.x).chain(self.pending.iter().map(|p| &p.x)).chain(&self.cancelled);
        if self.evaluations.len() != self.told {
            return Err(wrong(&format!("it belongs to {} evaluations, not to {}", self.told, self.evaluations.len())));
        }
        let mut seen = Seen::with_capacity(self.evaluations.len());
        for x in suggested().chain(&self.queue) {
            domain.check(x).map_err(|e| wrong(&e))?;
        }
        for x in suggested() {
            seen.insert(x);
        }
        let mut ids: Vec<_> = self.evaluations.iter().map(|e| e.id).chain(self.pending.iter().map(|p| p.id)).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) || ids.last().is_some_and(|id| id.0 >= self.next_id) {
            return Err(wrong(&"an evaluation's id occurs twice or was never given out"));
        }
        if self.next_id != (ids.len() + self.cancelled.len()) as u64 {
            return Err(wrong(&"the next id does not follow from those given out"));
        }
        let runs = self.evaluations.iter().map(|e| e.run).chain(self.pending.iter().map(|p| p.run));
        if self.run.number != self.restarts.len() || runs.into_iter().any(|run| run > self.run.number) {
            return Err(wrong(&"the number of local runs does not follow from the restarts"));
        }
        if self.evaluations.iter().any(|e| matches!(e.outcome, Outcome::Value(v) if !v.is_finite())) {
            return Err(wrong(&"a value is not finite"));
        }
        self.run.check(d, &self.evaluations).map_err(|why| wrong(&why))?;
        Ok(Optimizer {
            work: Workspace::new(settings.region.keep, settings.search.candidates, d),
            observations: Observations::restore(settings.direction, &domain, self.evaluations),
            seen,
            domain,
            config: self.config,
            settings,
            rng: self.rng,
            pending: self.pending,
            cancelled: self.cancelled,
            queue: self.queue,
            next_id: self.next_id,
            run: self.run,
            restarts: self.restarts,
            converged: self.converged,
        })
    }
}

impl LocalRun {
    /// Whether a state that was read can be worked with.
    fn check(&self, d: usize, evaluations: &[Evaluation]) -> Result<(), &'static str> {
        let before = self.before.as_ref();
        let outcomes = |positions: &[usize], succeeded: bool| {
            let as_said = |p: &usize| evaluations.get(*p).is_some_and(|e| e.outcome.value().is_some() == succeeded);
            positions.iter().all(as_said) && positions.windows(2).all(|w| w[0] < w[1])
        };
        // The step that `before` belongs to is done again only if nothing was told since.
        let outdated = self.fresh > 0;
        if !outcomes(&self.members, true) || !(outdated || before.is_none_or(|b| outcomes(&b.members, true))) {
            return Err("the cache names observations that are not there");
        }
        if !outcomes(&self.failed, false) {
            return Err("the failures name evaluations that did not fail");
        }
        let beta_ok = |beta: f64| beta.is_finite() && beta > 0.0;
        if !beta_ok(self.beta) || before.is_some_and(|b| !beta_ok(b.beta)) {
            return Err("a trust region has no width");
        }
        if !self.frame.is_valid(d) || before.is_some_and(|b| !b.frame.is_valid(d)) {
            return Err("a frame is not a frame of this domain");
        }
        if self.design.iter().any(|u| u.len() != d || u.iter().any(|v| v.is_nan() || v.abs() > 1.0)) {
            return Err("a design point lies outside the box");
        }
        Ok(())
    }
}
