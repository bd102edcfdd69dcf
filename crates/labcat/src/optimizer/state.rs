//! Saving and continuing: the state of an optimizer as JSON, exact to the last bit.

use super::Optimizer;
use super::config::{Config, Preset};
use super::model::Workspace;
use super::noise::Found;
use super::portfolio::Portfolio;
use super::problem::{Limited, Pending};
use super::report::Restart;
use super::run::{Extent, LocalRun};
use super::seen::Seen;
use crate::domain::{Domain, Parameter};
use crate::observations::{Evaluation, Observations};
use crate::rng::Rng;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::fmt;

/// Version of the format. A change that an older reader would misread gets a new number, and [`migrate`] a step that reads the old
/// one. A new switch is no such change: a state that does not name it means the behaviour from before it existed.
const VERSION: u64 = 3;

/// Why a saved state could not be continued from.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    /// It is not the JSON of an optimizer.
    #[error("this is not the saved state of an optimizer: {0}")]
    Malformed(String),
    /// It was written by a later release.
    #[error("the state has format version {found}: this release reads versions 1 to {VERSION}")]
    Version {
        /// The version found.
        found: u64,
    },
    /// Its parts do not fit together.
    #[error("the saved state contradicts itself: {0}")]
    Inconsistent(String),
}

/// Brings a state of an earlier version up to date.
fn migrate(state: &mut Value, version: u64) {
    if version < 2 {
        // `noise` became `nugget`, `explore` four switches, `precision` is measured by another yardstick, and nothing is clipped.
        if let Some(config) = state.get_mut("config").and_then(Value::as_object_mut) {
            config.remove("clip");
            if let Some(nugget) = config.remove("noise") {
                config.insert("nugget".into(), nugget);
            }
            let preset = match config.get("preset").and_then(Value::as_str) {
                Some("paper") => Preset::Paper,
                _ => Preset::Default,
            };
            let explored = config.remove("explore") == Some(Value::Bool(true));
            let explore = Config::new(if explored { Preset::Default } else { Preset::Paper });
            config.insert("restart_design".into(), explore.restart_design.into());
            config.insert("explore_beta".into(), explore.explore_beta.into());
            config.insert("explore_optimism".into(), explore.explore_optimism.into());
            config.insert("give_up".into(), explore.give_up.into());
            config.insert("precision".into(), Config::new(preset).precision.into());
        }
        // The spread of a run and the promise of its shortcut were not kept, nor the run that found the best point; what was new was
        // counted, not told by its place.
        let progress = |run: &mut Map<String, Value>| {
            let fresh = run.remove("fresh").and_then(|f| f.as_u64()).unwrap_or(0);
            let members = run.get("members").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let known = members.len().saturating_sub(usize::try_from(fresh).unwrap_or(usize::MAX));
            let told = known.checked_sub(1).and_then(|last| members[last].as_u64()).map_or(0, |p| p.saturating_add(1));
            run.insert("told".into(), told.into());
            run.insert("revised".into(), (fresh > 0).into());
            run.insert("spread".into(), 0.0.into());
        };
        if let Some(run) = state.get_mut("run").and_then(Value::as_object_mut) {
            run.insert("promise".into(), Value::Null);
            progress(run);
            if let Some(before) = run.get_mut("before").and_then(Value::as_object_mut) {
                progress(before);
            }
        }
        if let Some(state) = state.as_object_mut() {
            state.insert("best_run".into(), Value::Null);
        }
    }
    if version < 3 {
        // The runs beside the local one were fields of it, and did not say what they search; a forecast kept the value that it predicted.
        let gain = |run: &mut Map<String, Value>| {
            if let Some(followed) = run.get_mut("promise").and_then(Value::as_object_mut) {
                let to = followed.remove("to").and_then(|to| to.as_f64()).unwrap_or(0.0);
                let from = followed.get("from").and_then(Value::as_f64).unwrap_or(0.0);
                followed.insert("gain".into(), (from - to).into());
            }
        };
        let mut portfolio = Map::new();
        for name in ["best_run", "run"] {
            let Some(run) = state.get_mut(name).and_then(Value::as_object_mut) else { continue };
            gain(run);
            for (old, new, extent) in
                [("slice", "reals", "reals"), ("kept", "kept", "reals"), ("survey", "survey", "box")]
            {
                if let Some(mut entry) = run.remove(old).filter(|entry| name == "run" && entry["run"].is_object()) {
                    entry["run"]["extent"] = extent.into();
                    entry["run"].as_object_mut().into_iter().for_each(gain);
                    portfolio.insert(new.into(), entry);
                }
            }
        }
        if let Some(state) = state.as_object_mut() {
            state.insert("portfolio".into(), portfolio.into());
        }
    }
}

/// The state, borrowed for writing.
#[derive(Serialize)]
struct Saved<'a> {
    version: u64,
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
    portfolio: &'a Portfolio,
    best_run: &'a Option<LocalRun>,
    found: &'a Option<Found>,
    restarts: &'a [Restart],
    converged: bool,
}

/// The state as read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Loaded {
    #[allow(dead_code)] // checked before the rest is read
    version: u64,
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
    portfolio: Portfolio,
    #[serde(deserialize_with = "serde::Deserialize::deserialize")] // null, not missing
    best_run: Option<LocalRun>,
    #[serde(default)]
    found: Option<Found>,
    restarts: Vec<Restart>,
    converged: bool,
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
            config: self.config(),
            rng: &self.rng,
            told: self.observations.len(),
            evaluations,
            pending: &self.pending,
            cancelled: &self.cancelled,
            queue: &self.queue,
            next_id: self.next_id,
            run: &self.run,
            portfolio: &self.portfolio,
            best_run: &self.best_run,
            found: &self.found,
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
        let mut state: Value = serde_json::from_str(text).map_err(malformed)?;
        let version = state.get("version").and_then(Value::as_u64);
        let version = version.ok_or_else(|| StateError::Malformed("it has no version".into()))?;
        if !(1..=VERSION).contains(&version) {
            return Err(StateError::Version { found: version });
        }
        migrate(&mut state, version);
        serde_json::from_value(state).map_err(malformed)
    }

    fn into_optimizer(self) -> Result<Optimizer, StateError> {
        let wrong = |why: &dyn fmt::Display| StateError::Inconsistent(why.to_string());
        let domain = Domain::from_parameters(self.parameters).map_err(|e| wrong(&e))?;
        let d = domain.dim();
        let settings = self.config.check_for(&domain).map_err(|e| wrong(&e))?;
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
        for evaluation in &self.evaluations {
            evaluation
                .outcome
                .fits(settings.switches.constraints, domain.parameters().len())
                .map_err(|why| wrong(&why))?;
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
        if self.found.as_ref().is_some_and(|found| !found.is_valid(d)) {
            return Err(wrong(&"what is recommended is not a point of this domain"));
        }
        let entries = self.portfolio.entries().map(|entry| &entry.run);
        for run in [Some(&self.run), self.best_run.as_ref()].into_iter().flatten().chain(entries) {
            run.check(d, &self.evaluations).map_err(|why| wrong(&why))?;
        }
        Ok(Optimizer {
            work: Workspace::new(&settings, d),
            observations: Observations::restore(settings.switches.direction, &domain, self.evaluations),
            seen,
            domain,
            settings,
            known: Limited::default(),
            rng: self.rng,
            pending: self.pending,
            cancelled: self.cancelled,
            queue: self.queue,
            next_id: self.next_id,
            expected: 0,
            run: self.run,
            portfolio: self.portfolio,
            best_run: self.best_run,
            found: self.found,
            restarts: self.restarts,
            converged: self.converged,
            spent: false,
            model: None,
            report: None,
        })
    }
}

impl LocalRun {
    /// Whether a state that was read can be worked with.
    fn check(&self, d: usize, evaluations: &[Evaluation]) -> Result<(), &'static str> {
        if self.extent != Extent::Region && self.now.members.is_empty() {
            return Err("the search of the reals has no point to start from");
        }
        let before = self.before.as_ref();
        let outcomes = |positions: &[usize], succeeded: bool| {
            let as_said = |p: &usize| evaluations.get(*p).is_some_and(|e| e.outcome.is_failed() != succeeded);
            positions.iter().all(as_said) && positions.windows(2).all(|w| w[0] < w[1])
        };
        // The step that `before` belongs to is done again only if nothing was told since.
        let outdated = self.fresh() > 0;
        let then = before.map(|b| &b.then);
        if !outcomes(&self.now.members, true) || !(outdated || then.is_none_or(|t| outcomes(&t.members, true))) {
            return Err("the cache names observations that are not there");
        }
        if !outcomes(&self.failed, false) {
            return Err("the failures name evaluations that did not fail");
        }
        for progress in [Some(&self.now), then].into_iter().flatten() {
            if !(progress.beta.is_finite() && progress.beta > 0.0) {
                return Err("a trust region has no width");
            }
            if !progress.noise.is_valid(d) {
                return Err("what is known of the noise is not a number");
            }
            if !progress.frame.is_valid(d) {
                return Err("a frame is not a frame of this domain");
            }
        }
        if self.design.iter().any(|u| u.len() != d || u.iter().any(|v| v.is_nan() || v.abs() > 1.0)) {
            return Err("a design point lies outside the box");
        }
        Ok(())
    }
}
