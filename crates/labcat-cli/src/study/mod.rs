//! A study: what to optimise, over which parameters, with which command. Read from a TOML file.

pub(crate) mod constraints;
pub(crate) mod duration;
mod objective;
mod parameters;
mod parse;
mod reader;
mod residuals;
pub(crate) mod slurm;
pub(crate) mod template;
pub(crate) mod values;

use std::fs;
use std::path::Path;
use std::time::Duration;

use labcat::{Config, Domain, DomainError, Optimizer, Parameter, ParameterKind, Scale};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::format::count;
pub(crate) use constraints::{Constraints, Measures};
pub(crate) use objective::{Deck, Objective, OnFailure};
pub(crate) use reader::{Problem, nearest};
pub(crate) use residuals::Data;
pub(crate) use slurm::Slurm;

/// A valid study.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) domain: Domain,
    /// The point to try first.
    pub(crate) start: Option<Vec<f64>>,
    /// How far from it the first points lie, by parameter; `None`: the optimizer decides.
    pub(crate) radius: Option<Vec<f64>>,
    pub(crate) config: Config,
    pub(crate) constraints: Constraints,
    /// Their texts, for the journal.
    pub(crate) constraint_texts: Vec<String>,
    /// The options of `[optimizer]` as the file gives them, for the journal.
    pub(crate) switches: Vec<(String, String)>,
    pub(crate) time_limit: Option<Duration>,
    pub(crate) workers: usize,
    pub(crate) objective: Option<Objective>,
    /// The measured data that `residuals` names, in its order.
    pub(crate) data: Vec<Data>,
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
    /// The texts of `constraint`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) constraints: Vec<String>,
    /// The measured data of a least-squares study.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) data: Vec<Data>,
}

/// A parameter as the journal remembers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParameterIdentity {
    #[serde(flatten)]
    pub(crate) parameter: Parameter,
    pub(crate) start: Option<f64>,
    /// How far from the start the first points lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) radius: Option<f64>,
}

impl Study {
    /// Reads and checks a study file.
    pub(crate) fn load(path: &Path) -> Result<Study, Failure> {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read the study {}: {error}", path.display())))?;
        let mut study = Study::parse_unwritten(&text, path).map_err(|problems| Failure::study(path, &problems))?;
        study.read_data().map_err(|problem| Failure::study(path, &[problem]))?;
        Ok(study)
    }

    /// Reads the data that the study names.
    fn read_data(&mut self) -> Result<(), Problem> {
        let Some(objective) = &self.objective else { return Ok(()) };
        self.data = objective.residuals.iter().map(|series| series.data(&objective.base)).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Reads and checks the text of a study file that is not written yet, so that lines mean nothing to anybody.
    pub(crate) fn parse_unwritten(text: &str, path: &Path) -> Result<Study, Vec<Problem>> {
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let stem = path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
        parse::parse(text, &stem, directory)
    }

    /// What may not change once the study has begun.
    pub(crate) fn identity(&self) -> Identity {
        let parameters = self
            .domain
            .parameters()
            .iter()
            .enumerate()
            .map(|(i, p)| ParameterIdentity {
                parameter: p.clone(),
                start: self.start.as_ref().map(|x| x[i]),
                radius: self.radius.as_ref().map(|radius| radius[i]),
            })
            .collect();
        Identity {
            parameters,
            direction: self.config.direction.to_string(),
            seed: self.config.seed,
            preset: self.config.preset.to_string(),
            switches: self.switches.clone(),
            constraints: self.constraint_texts.clone(),
            data: self.data.clone(),
        }
    }

    /// The middle of all ranges, each on its own scale.
    pub(crate) fn middle(&self) -> Vec<f64> {
        self.domain.middle()
    }

    /// An optimizer of it, at the beginning.
    pub(crate) fn optimizer(&self) -> Result<Optimizer, labcat::Error> {
        let mut optimizer = Optimizer::new(self.domain.clone(), self.config.clone())?;
        constrain(&mut optimizer, &self.constraints)?;
        if let Some(start) = &self.start {
            optimizer.start_at(&[start], self.radius.as_deref())?;
        }
        Ok(optimizer)
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

/// Has an optimizer keep the known constraints.
pub(crate) fn constrain(optimizer: &mut Optimizer, constraints: &Constraints) -> Result<(), labcat::Error> {
    let known = constraints.known()?;
    if !known.is_empty() {
        optimizer.constrain(known)?;
    }
    Ok(())
}

impl Identity {
    /// The names of the parameters, in order.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.parameters.iter().map(|p| p.parameter.name.as_str()).collect()
    }

    /// The set of points. What the journal holds was checked when the study began; were it empty, no value would be shown.
    pub(crate) fn domain(&self) -> Result<Domain, DomainError> {
        Domain::from_parameters(self.parameters.iter().map(|p| p.parameter.clone()).collect())
    }

    /// The constraints. What the journal holds was checked when the study began.
    pub(crate) fn constraints(&self) -> Result<Constraints, Failure> {
        let domain = self.domain().map_err(labcat::Error::from)?;
        let (constraints, wrong) = Constraints::of(&self.constraints, &domain);
        wrong.into_iter().next().map_or(Ok(constraints), |(_, error)| Err(labcat::Error::from(error).into()))
    }

    /// A point as a JSON object.
    pub(crate) fn by_name(&self, x: &[f64]) -> Map<String, Value> {
        self.domain().map(|domain| values::object(&domain, x)).unwrap_or_default()
    }

    /// The values of a point that apply, as text.
    pub(crate) fn named(&self, x: &[f64]) -> Vec<(String, String)> {
        self.domain().map(|domain| values::named(&domain, x)).unwrap_or_default()
    }

    /// A point in one line.
    pub(crate) fn in_brief(&self, x: &[f64], digits: usize) -> String {
        self.domain().map(|domain| values::in_brief(&domain, x, digits)).unwrap_or_default()
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
        if self.constraints != stored.constraints {
            return changed("`constraint`", &show_texts(&stored.constraints), &show_texts(&self.constraints));
        }
        if self.data != stored.data {
            return Some(data_difference(&self.data, &stored.data));
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
        parameters.iter().map(|p| format!("`{}`", p.parameter.name)).collect::<Vec<_>>().join(", ")
    };
    if let Some((now, was)) =
        now.iter().zip(was).find(|(now, was)| now.parameter.name == was.parameter.name && now != was)
    {
        return format!("parameter `{}` was {was} and is now {now}", now.parameter.name);
    }
    format!("the parameters were {} and are now {}", names(was), names(now))
}

impl std::fmt::Display for ParameterIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let p = &self.parameter;
        match &p.kind {
            ParameterKind::Real => write!(f, "{}..{} ({}", p.low, p.high, scale_name(p.scale))?,
            ParameterKind::Stepped { step } => {
                write!(f, "{}..{} (in steps of {step}, {}", p.low, p.high, scale_name(p.scale))?;
            }
            _ => write!(f, "({} {}", p.kind.name(), values::range(p))?,
        }
        if let Some(start) = self.start {
            write!(f, ", start {start}")?;
        }
        if let Some(radius) = self.radius {
            write!(f, ", radius {radius}")?;
        }
        write!(f, ")")
    }
}

/// How the data of `residuals` differ.
fn data_difference(now: &[Data], was: &[Data]) -> String {
    if now.len() != was.len() {
        return format!("`residuals` had {} and now has {}", count(was.len(), "column"), now.len());
    }
    let changed = now.iter().zip(was).find(|(now, was)| now != was).map_or("", |(now, _)| &now.name);
    format!("the data `{changed}` of `residuals` have other values, times or errors")
}

fn show_texts(texts: &[String]) -> String {
    if texts.is_empty() {
        return "none".to_owned();
    }
    texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
}

fn show_switches(switches: &[(String, String)]) -> String {
    if switches.is_empty() {
        return "empty".to_owned();
    }
    switches.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
