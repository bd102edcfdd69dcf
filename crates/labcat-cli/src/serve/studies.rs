//! Studies as the pages show them, read anew for each request.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::commands::report;
use crate::failure::Failure;
use crate::format::now;
use crate::journal::{Journal, holder};
use crate::paths::Paths;
use crate::report::ReportData;
use crate::study::Study;

/// A study that is served.
pub(super) struct Served {
    paths: Paths,
    /// Its row in the list, and of which revision that is.
    known: Mutex<Option<(String, Summary)>>,
}

/// A study in the list of all.
#[derive(Clone, Serialize)]
pub(super) struct Summary {
    number: usize,
    name: String,
    direction: Option<String>,
    /// Why nothing is known of it.
    problem: Option<String>,
    activity: Option<String>,
    stop_reason: Option<String>,
    evaluations: usize,
    budget: Option<usize>,
    failures: usize,
    /// The best value, and the evaluation that gave it.
    value: Option<f64>,
    at: Option<u64>,
    /// The time of all evaluations together.
    seconds: f64,
    /// After how many evaluations the best value became which.
    best_so_far: Vec<(usize, f64)>,
}

impl Served {
    /// The study must exist; it need not have begun.
    pub(super) fn new(paths: Paths) -> Result<Served, Failure> {
        paths.study_file().map(|_| ())?;
        Ok(Served { paths, known: Mutex::new(None) })
    }

    /// Differs after every change of the study, and when somebody begins or ends to work on it.
    pub(super) fn revision(&self) -> Result<String, Failure> {
        let changes = match self.paths.journal.exists() {
            true => Journal::open(&self.paths.journal)?.revision()?,
            false => "0".to_owned(),
        };
        let activity = if self.is_running() { "r" } else { "i" };
        Ok(format!("{changes}-{activity}"))
    }

    fn is_running(&self) -> bool {
        holder(&self.paths.lock).is_some_and(|holder| {
            ["labcat run", "labcat retry", "labcat worker"].iter().any(|who| holder.starts_with(who))
        })
    }

    /// What its page shows.
    pub(super) fn data(&self) -> Result<ReportData, Failure> {
        // Taken before the data: what changes meanwhile is asked for again.
        let revision = self.revision()?;
        let data = match self.paths.journal.exists() {
            true => report::of_journal(&Journal::of_begun_study(&self.paths)?.0)?,
            false => {
                let study = Study::load(&self.paths.study)?;
                let data = report::data(&study.name, now(), &study.optimizer()?, Vec::new(), Vec::new());
                ReportData { created: String::new(), ..data.with_constraints(&study.constraints) }
            }
        };
        let activity = self.is_running().then(|| "running".to_owned());
        Ok(ReportData { activity, revision, ..data })
    }

    /// Its row in the list, made anew only if the study has changed.
    pub(super) fn summary(&self, number: usize) -> Summary {
        let revision = self.revision().ok();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match (&*known, &revision) {
            (Some((of, summary)), Some(now)) if of == now => summary.clone(),
            _ => {
                let summary = self.summarise(number);
                *known = revision.map(|revision| (revision, summary.clone()));
                summary
            }
        }
    }

    fn summarise(&self, number: usize) -> Summary {
        let data = self.data();
        let name = data.as_ref().map_or_else(|_| self.paths.study.display().to_string(), |data| data.name.clone());
        let problem = data.as_ref().err().map(ToString::to_string);
        let data = data.ok();
        let best = data.as_ref().and_then(|data| data.evaluations.get(data.best?)).filter(|best| best.is_feasible());
        let evaluations = data.as_ref().map_or(&[][..], |data| &data.evaluations);
        let maximises = data.as_ref().is_some_and(|data| data.direction == "maximize");
        let mut best_so_far: Vec<(usize, f64)> = Vec::new();
        let feasible = evaluations.iter().enumerate().filter(|(_, evaluation)| evaluation.is_feasible());
        for (index, value) in feasible.filter_map(|(index, evaluation)| Some((index, evaluation.value?))) {
            let better = |best: f64| if maximises { value > best } else { value < best };
            if best_so_far.last().is_none_or(|(_, best)| better(*best)) {
                best_so_far.push((index + 1, value));
            }
        }
        Summary {
            number,
            name,
            problem,
            direction: data.as_ref().map(|data| data.direction.clone()),
            activity: data.as_ref().and_then(|data| data.activity.clone()),
            stop_reason: data.as_ref().and_then(|data| data.stop_reason.clone()),
            evaluations: evaluations.len(),
            budget: data.as_ref().and_then(|data| data.budget),
            failures: evaluations.iter().filter(|e| e.value.is_none() && e.constraints.is_empty()).count(),
            value: best.and_then(|best| best.value),
            at: best.map(|best| best.id),
            seconds: evaluations.iter().filter_map(|evaluation| evaluation.seconds).sum(),
            best_so_far,
        }
    }
}
