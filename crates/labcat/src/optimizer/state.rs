//! Saving and continuing: the state of an optimizer as JSON, exact to the last bit.

use super::config::Config;
use super::run::{Extent, LocalRun};
use super::{Optimizer, State};
use crate::domain::{Domain, Parameter};
use crate::observations::Evaluation;
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::{fmt, iter};

/// Version of the format. A change that an older reader would misread gets a new number. A new option is no such change: a state that
/// does not name it means the behaviour from before it existed.
const VERSION: u64 = 3;

/// Options of states that were written before: their values became constants, but for `explore_beta`, which tells whether runs explore.
const GONE: &str = "beta_decay beta_growth beta_least beta_most catch_up explore_beta explore_nugget explore_optimism nearest \
                    quadratic_margin spread_conditional";

/// Why a saved state could not be continued from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum StateError {
    /// It is not the JSON of an optimizer.
    #[error("this is not the saved state of an optimizer: {0}")]
    Malformed(String),
    /// It was written by another release.
    #[error("the state has format version {found}: this release reads version {VERSION}")]
    Version { found: u64 },
    /// Its parts do not fit together.
    #[error("the saved state contradicts itself: {0}")]
    Inconsistent(String),
}

/// What is written and read: the state itself, or its fields as they were read.
#[derive(Serialize, Deserialize)]
struct Saved<'a, S> {
    version: u64,
    parameters: Cow<'a, [Parameter]>,
    config: Cow<'a, Config>,
    rng: Cow<'a, Rng>,
    /// How many evaluations belong to the state; a snapshot gets them from elsewhere.
    told: usize,
    evaluations: Cow<'a, [Evaluation]>,
    #[serde(flatten)]
    state: S,
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
            parameters: self.domain.parameters().into(),
            config: Cow::Borrowed(self.config()),
            rng: Cow::Borrowed(&self.rng),
            told: self.observations.len(),
            evaluations: evaluations.into(),
            state: &self.state,
        };
        // Every number in the state is finite and every key a string, so nothing can fail here.
        serde_json::to_string(&saved).unwrap_or_default()
    }

    /// Continues from [`Optimizer::to_json`].
    pub fn from_json(text: &str) -> Result<Self, StateError> {
        Saved::parse(text)?.into_optimizer()
    }

    /// Continues from [`Optimizer::snapshot`] and the evaluations that had been told by then, in the order told.
    pub fn restore(snapshot: &str, evaluations: Vec<Evaluation>) -> Result<Self, StateError> {
        Saved { evaluations: evaluations.into(), ..Saved::parse(snapshot)? }.into_optimizer()
    }
}

impl Saved<'_, State> {
    fn parse(text: &str) -> Result<Self, StateError> {
        let malformed = |e: serde_json::Error| StateError::Malformed(e.to_string());
        let mut state: Value = serde_json::from_str(text).map_err(malformed)?;
        if let Some(config) = state.get_mut("config").and_then(Value::as_object_mut) {
            if let Some(explores) = config.get("explore_beta").map(|beta| !beta.is_null()) {
                config.insert("explore".into(), explores.into());
            }
            GONE.split(' ').for_each(|name| drop(config.remove(name)));
        }
        match state.get("version").and_then(Value::as_u64) {
            None => Err(StateError::Malformed("it has no version".into())),
            Some(VERSION) => {
                let read: Saved<'_, Map<String, Value>> = serde_json::from_value(state).map_err(malformed)?;
                let Saved { version, parameters, config, rng, told, evaluations, state } = read;
                let state = serde_json::from_value(state.into()).map_err(malformed)?; // knows every field, or it is an error
                Ok(Self { version, parameters, config, rng, told, evaluations, state })
            }
            Some(found) => Err(StateError::Version { found }),
        }
    }

    fn into_optimizer(self) -> Result<Optimizer, StateError> {
        let wrong = |why: &dyn fmt::Display| StateError::Inconsistent(why.to_string());
        let domain = Domain::from_parameters(self.parameters.into_owned()).map_err(|e| wrong(&e))?;
        let mut fresh = Optimizer::new(domain, self.config.into_owned()).map_err(|e| wrong(&e))?;
        let domain = &fresh.domain;
        let suggested = || {
            self.evaluations
                .iter()
                .map(|e| &e.x)
                .chain(self.state.pending.iter().map(|p| &p.x))
                .chain(self.state.cancelled.iter())
        };
        if self.evaluations.len() != self.told {
            return Err(wrong(&format!("it belongs to {} evaluations, not to {}", self.told, self.evaluations.len())));
        }
        for x in suggested().chain(self.state.queue.iter()) {
            domain.check(x).map_err(|e| wrong(&e))?;
        }
        suggested().for_each(|x| _ = fresh.seen.insert(x));
        let (constraints, n) = (fresh.config().constraints, domain.parameters().len());
        for evaluation in self.evaluations.iter() {
            evaluation.outcome.fits(constraints, n).map_err(|why| wrong(&why))?;
            if evaluation.outcome.std().is_some_and(|std| std < 0.0) {
                return Err(wrong(&"a standard deviation is negative"));
            }
        }
        let mut ids: Vec<_> =
            self.evaluations.iter().map(|e| e.id).chain(self.state.pending.iter().map(|p| p.id)).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) || ids.last().is_some_and(|id| id.0 >= self.state.next_id) {
            return Err(wrong(&"an evaluation's id occurs twice or was never given out"));
        }
        if self.state.next_id != (ids.len() + self.state.cancelled.len()) as u64 {
            return Err(wrong(&"the next id does not follow from those given out"));
        }
        let runs = self.evaluations.iter().map(|e| e.run).chain(self.state.pending.iter().map(|p| p.run));
        if self.state.run.number != self.state.restarts.len() || runs.into_iter().any(|run| run > self.state.run.number)
        {
            return Err(wrong(&"the number of local runs does not follow from the restarts"));
        }
        let entries = self.state.portfolio.entries().map(|entry| &entry.run);
        for run in iter::once(&self.state.run).chain(self.state.best_run.iter()).chain(entries) {
            run.check(domain.dim(), &self.evaluations).map_err(|why| wrong(&why))?;
        }
        for evaluation in self.evaluations.into_owned() {
            fresh.observations.push(&fresh.domain, evaluation);
        }
        Ok(Optimizer { rng: self.rng.into_owned(), state: self.state, ..fresh })
    }
}

impl LocalRun {
    /// Whether a state that was read can be worked with.
    fn check(&self, d: usize, evaluations: &[Evaluation]) -> Result<(), &'static str> {
        let started = self.extent == Extent::Region || !self.now.members.is_empty();
        let outcomes = |positions: &[usize], succeeded: bool| {
            let as_said = |p: &usize| evaluations.get(*p).is_some_and(|e| e.outcome.is_failed() != succeeded);
            positions.iter().all(as_said) && positions.windows(2).all(|w| w[0] < w[1])
        };
        // The step that `before` belongs to is done again only if nothing was told since.
        let outdated = self.fresh() > 0;
        let then = self.before.as_ref().map(|before| &before.then);
        let cached = outcomes(&self.now.members, true) && (outdated || then.is_none_or(|t| outcomes(&t.members, true)));
        let steps = || std::iter::once(&self.now).chain(then);
        let inside = |u: &Vec<f64>| u.len() == d && u.iter().all(|v| v.abs() <= 1.0);
        let rules = [
            (started, "the search of the reals has no point to start from"),
            (cached, "the cache names observations that are not there"),
            (outcomes(&self.failed, false), "the failures name evaluations that did not fail"),
            (steps().all(|step| step.beta.is_finite() && step.beta > 0.0), "a trust region has no width"),
            (steps().all(|step| step.noise.is_valid()), "what is known of the noise is not a number"),
            (steps().all(|step| step.frame.is_valid(d)), "a frame is not a frame of this domain"),
            (self.design.iter().all(inside), "a design point lies outside the box"),
        ];
        rules.into_iter().find(|(kept, _)| !kept).map_or(Ok(()), |(_, why)| Err(why))
    }
}
