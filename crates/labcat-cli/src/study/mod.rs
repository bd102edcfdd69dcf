//! A study: what to optimise, over which parameters, with which command. Read from a TOML file.

pub(crate) mod duration;
mod objective;
mod parse;
mod reader;
pub(crate) mod template;

use std::fs;
use std::path::Path;
use std::time::Duration;

use labcat::{Config, Domain, Scale};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::Failure;
pub(crate) use objective::{Deck, Objective, OnFailure};
pub(crate) use reader::{Problem, nearest};

/// A valid study.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) domain: Domain,
    /// The point to try first.
    pub(crate) start: Option<Vec<f64>>,
    pub(crate) config: Config,
    /// The switches of `[optimizer]` as the file gives them, for the journal.
    pub(crate) switches: Vec<(String, String)>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) workers: usize,
    pub(crate) objective: Option<Objective>,
    /// The budget is the default, as the file names no limit.
    pub(crate) default_budget: bool,
}

/// What may not change once a study has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) parameters: Vec<ParameterIdentity>,
    pub(crate) direction: String,
    pub(crate) seed: u64,
    pub(crate) preset: String,
    pub(crate) switches: Vec<(String, String)>,
}

/// A parameter as the journal remembers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterIdentity {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) scale: String,
    pub(crate) start: Option<f64>,
}

impl Study {
    /// Reads and checks a study file.
    pub(crate) fn load(path: &Path) -> Result<Study, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read the study {}: {error}", path.display())))?;
        Study::parse(&text, path)
    }

    /// Reads and checks the text of a study file.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Study, Failure> {
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let stem = path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
        parse::parse(text, &stem, directory).map_err(|problems| Failure::study(path, &problems))
    }

    /// What may not change once the study has begun.
    pub(crate) fn identity(&self) -> Identity {
        let parameters = self
            .domain
            .parameters()
            .iter()
            .enumerate()
            .map(|(i, p)| ParameterIdentity {
                name: p.name.clone(),
                low: p.low,
                high: p.high,
                scale: scale_name(p.scale).to_owned(),
                start: self.start.as_ref().map(|x| x[i]),
            })
            .collect();
        Identity {
            parameters,
            direction: self.config.direction.to_string(),
            seed: self.config.seed,
            preset: self.config.preset.to_string(),
            switches: self.switches.clone(),
        }
    }

    /// The middle of all ranges, each on its own scale.
    pub(crate) fn middle(&self) -> Vec<f64> {
        let middle = |p: &labcat::Parameter| match p.scale {
            Scale::Linear => 0.5 * p.low + 0.5 * p.high,
            Scale::Log => (p.low.sqrt() * p.high.sqrt()).clamp(p.low, p.high),
        };
        self.domain.parameters().iter().map(middle).collect()
    }

    /// Replaces the budget.
    pub(crate) fn limit_to(&mut self, budget: usize) {
        self.config.budget = Some(budget);
        self.default_budget = false;
    }

    /// Several workers must not write over each other's files.
    pub(crate) fn check_workers(&self, workers: usize) -> Result<(), String> {
        self.objective.as_ref().map_or(Ok(()), |objective| objective.check_workers(workers))
    }
}

impl Identity {
    /// The names of the parameters, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.parameters.iter().map(|p| p.name.as_str()).collect()
    }

    /// A point as a JSON object.
    pub(crate) fn by_name(&self, x: &[f64]) -> Map<String, Value> {
        self.parameters.iter().zip(x).map(|(p, value)| (p.name.clone(), (*value).into())).collect()
    }

    /// Whether a point is in the ranges of all parameters.
    pub(crate) fn contains(&self, x: &[f64]) -> bool {
        self.outside(x).is_none()
    }

    /// The first parameter whose range a point leaves, in words.
    pub(crate) fn outside(&self, x: &[f64]) -> Option<String> {
        let (p, value) = self.parameters.iter().zip(x).find(|(p, value)| !(p.low..=p.high).contains(value))?;
        Some(format!("{} = {value} is outside its range, {} to {}", p.name, p.low, p.high))
    }

    /// The first difference to what the journal holds, in words.
    pub(crate) fn difference(&self, stored: &Identity) -> Option<String> {
        if self.parameters != stored.parameters {
            return Some(parameters_difference(&self.parameters, &stored.parameters));
        }
        let changed = |what: &str, was: &dyn std::fmt::Display, is: &dyn std::fmt::Display| {
            Some(format!("{what} was {was} and is now {is}"))
        };
        if self.direction != stored.direction {
            return changed("`direction`", &stored.direction, &self.direction);
        }
        if self.seed != stored.seed {
            return changed("`seed`", &stored.seed, &self.seed);
        }
        if self.preset != stored.preset {
            return changed("`preset`", &stored.preset, &self.preset);
        }
        if self.switches != stored.switches {
            return changed("[optimizer]", &show_switches(&stored.switches), &show_switches(&self.switches));
        }
        None
    }
}

/// `linear` or `log`.
pub(crate) fn scale_name(scale: Scale) -> &'static str {
    match scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    }
}

fn parameters_difference(now: &[ParameterIdentity], was: &[ParameterIdentity]) -> String {
    let names = |parameters: &[ParameterIdentity]| {
        parameters.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(", ")
    };
    if let Some((now, was)) = now.iter().zip(was).find(|(now, was)| now.name == was.name && now != was) {
        return format!("parameter `{}` was {was} and is now {now}", now.name);
    }
    format!("the parameters were {} and are now {}", names(was), names(now))
}

impl std::fmt::Display for ParameterIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{} ({}", self.low, self.high, self.scale)?;
        match self.start {
            Some(start) => write!(f, ", start {start})"),
            None => write!(f, ")"),
        }
    }
}

fn show_switches(switches: &[(String, String)]) -> String {
    if switches.is_empty() {
        return "empty".to_owned();
    }
    switches.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
