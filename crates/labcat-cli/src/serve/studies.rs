//! The studies behind the pages; each is read again when it has changed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Value, json};

use crate::commands::report;
use crate::failure::Failure;
use crate::format::now;
use crate::journal::{Journal, holder, is_run, running};
use crate::paths::Paths;
use crate::report::ReportData;
use crate::session::Session;
use crate::study::Study;

use super::news::{Known, Snapshot};

/// A study that is served.
pub(super) struct Served {
    paths: Paths,
    /// Its changes as of its files at one moment: files that have not changed need not be opened.
    seen: Mutex<Option<(Stamp, String)>>,
    /// The study as it was last read, for all who ask.
    read: Mutex<Option<Arc<Snapshot>>>,
    /// Held by the request that changes the study.
    changing: Mutex<()>,
    /// Its row in the list, and of which revision that is.
    known: Mutex<Option<(String, Summary)>>,
}

/// A study in the list of all.
#[derive(Clone, Default, Serialize)]
pub(super) struct Summary {
    number: usize,
    pub(super) name: String,
    direction: Option<String>,
    /// Why the study cannot be shown.
    problem: Option<String>,
    activity: Option<String>,
    stop_reason: Option<String>,
    evaluations: usize,
    budget: Option<usize>,
    failures: usize,
    /// The best value, and the evaluation that gave it; under noise the expected value at what is recommended, and no evaluation.
    value: Option<f64>,
    std: Option<f64>,
    at: Option<u64>,
    /// The time of all evaluations together.
    seconds: f64,
    /// After how many evaluations the best value became which.
    best_so_far: Vec<(usize, f64)>,
}

impl Summary {
    /// The study as programs read it.
    pub(super) fn as_json(&self) -> Value {
        json!({
            "number": self.number, "name": self.name, "direction": self.direction, "evaluations": self.evaluations,
            "budget": self.budget, "stop": self.stop_reason, "problem": self.problem,
        })
    }
}

impl Served {
    /// The study must exist; it need not have begun.
    pub(super) fn new(paths: Paths) -> Result<Served, Failure> {
        paths.study_file().map(|_| ())?;
        Ok(Served {
            paths,
            seen: Mutex::default(),
            read: Mutex::default(),
            changing: Mutex::default(),
            known: Mutex::default(),
        })
    }

    /// Begins the study, if it has not begun.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        if self.paths.journal.exists() {
            return Ok(());
        }
        Session::open(&self.paths, "serve").map(|_| ())
    }

    /// The study to change it. Requests wait for each other here, and for other processes at its lock.
    pub(super) fn change<T>(&self, change: impl FnOnce(Result<Session, Failure>) -> T) -> T {
        let _turn = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        change(Session::open(&self.paths, "serve"))
    }

    pub(super) fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Differs after every change of the study, and when somebody begins or ends to work on it.
    pub(super) fn revision(&self) -> Result<String, Failure> {
        let activity = if self.is_running() { "r" } else { "i" };
        let stamp = Stamp::of(&self.paths.journal);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, changes)) = &*seen
            && *known == stamp
            && stamp.is_quiet()
        {
            return Ok(format!("{changes}-{activity}"));
        }
        let changes = match self.paths.journal.exists() {
            true => Journal::open(&self.paths.journal)?.revision()?,
            false => "0".to_owned(),
        };
        *seen = Some((stamp, changes.clone()));
        Ok(format!("{changes}-{activity}"))
    }

    fn is_running(&self) -> bool {
        running(&self.paths.journal).is_some() || holder(&self.paths.lock).is_some_and(|holder| is_run(&holder))
    }

    /// The study as it is now, read once however many ask.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>, Failure> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let revision = self.revision()?;
        match &*read {
            Some(known) if known.revision() == revision => Ok(Arc::clone(known)),
            _ => {
                let fresh = Arc::new(Snapshot::new(self.data(revision)?));
                *read = Some(Arc::clone(&fresh));
                Ok(fresh)
            }
        }
    }

    /// What is new to somebody; `None` if nothing is.
    pub(super) fn news(&self, known: &Known<'_>) -> Result<Option<String>, Failure> {
        match self.revision()? == known.revision {
            true => Ok(None),
            false => self.snapshot().map(|snapshot| Some(snapshot.since(known))),
        }
    }

    /// What its page shows. The revision was taken before: what changes meanwhile is asked for again.
    fn data(&self, revision: String) -> Result<ReportData, Failure> {
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
        let unknown = Summary { number, name: self.paths.study.display().to_string(), ..Summary::default() };
        match self.snapshot() {
            Ok(snapshot) => summary_of(snapshot.data(), number),
            Err(failure) => Summary { problem: Some(failure.to_string()), ..unknown },
        }
    }
}

/// What tells whether the files of a journal have changed: their numbers, sizes and times.
#[derive(PartialEq)]
struct Stamp([Option<(u64, u64, SystemTime)>; 2]);

/// The least age of a file whose time would differ after another change.
const QUIET: Duration = Duration::from_millis(500);

impl Stamp {
    fn of(journal: &Path) -> Stamp {
        let log = journal.with_extension("db-wal");
        let of = |path: &Path| {
            let found = fs::metadata(path).ok()?;
            Some((found.ino(), found.len(), found.modified().ok()?))
        };
        Stamp([of(journal), of(&log)])
    }

    fn is_quiet(&self) -> bool {
        let old = |time: SystemTime| time.elapsed().is_ok_and(|age| age > QUIET);
        self.0.iter().flatten().all(|(_, _, time)| old(*time))
    }
}

fn summary_of(data: &ReportData, number: usize) -> Summary {
    let evaluations = &data.evaluations;
    let best = data.best.and_then(|best| evaluations.get(best)).filter(|best| best.is_feasible());
    let recommended = data.recommended.as_ref().filter(|_| best.is_some());
    let drawn = best.filter(|_| recommended.is_none());
    Summary {
        number,
        name: data.name.clone(),
        problem: None,
        direction: Some(data.direction.clone()),
        activity: data.activity.clone(),
        stop_reason: data.stop_reason.clone(),
        evaluations: evaluations.len(),
        budget: data.budget,
        failures: evaluations.iter().filter(|e| e.value.is_none() && e.constraints.is_empty()).count(),
        value: recommended.map(|found| found.mean).or_else(|| drawn.and_then(|best| best.value)),
        std: recommended.map(|found| found.std),
        at: drawn.map(|best| best.id),
        seconds: evaluations.iter().filter_map(|evaluation| evaluation.seconds).sum(),
        best_so_far: if recommended.is_some() { Vec::new() } else { best_so_far(data) },
    }
}

/// After how many evaluations the best value became which. Under noise there is no such line: its steps are lucky draws.
fn best_so_far(data: &ReportData) -> Vec<(usize, f64)> {
    let maximises = data.direction == "maximize";
    let mut steps: Vec<(usize, f64)> = Vec::new();
    let feasible = data.evaluations.iter().enumerate().filter(|(_, evaluation)| evaluation.is_feasible());
    for (index, value) in feasible.filter_map(|(index, evaluation)| Some((index, evaluation.value?))) {
        let better = |best: f64| if maximises { value > best } else { value < best };
        if steps.last().is_none_or(|(_, best)| better(*best)) {
            steps.push((index + 1, value));
        }
    }
    steps
}
