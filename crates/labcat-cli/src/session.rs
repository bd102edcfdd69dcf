//! A study that is being changed: its optimizer, its journal, and the lock that keeps others out.

use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;

use labcat::{AskError, Evaluation, Optimizer, PointError, Suggestion, TellError, TrialId};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::format::{complain, count, moment};
use crate::journal::{
    CORRECTED_TO_FAILURE, Change, Head, Job, Journal, Left, Lock, Record, Trial, in_use_by, is_run, left, running,
};
use crate::paths::Paths;
use crate::step::Step;
use crate::study::{Constraints, Identity, Study, constrain};
use crate::value::Reading;

/// How long a short command waits for another one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The only way to change a study. Changes become durable, all together, with [`Session::commit`].
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) identity: Identity,
    pub(crate) constraints: Constraints,
    pub(crate) optimizer: Optimizer,
    /// The study's id, which no other study has.
    pub(crate) study: String,
    /// The study as a word of commands that people copy.
    word: String,
    journal: Journal,
    changes: Vec<Change>,
    _lock: Lock,
}

impl Session {
    /// Opens a study by its file or its journal, and begins it if it has not begun.
    pub(crate) fn open(paths: &Paths, purpose: &str) -> Result<Session, Failure> {
        match paths.study_file()? {
            Some(file) => Session::open_with(paths, &Study::load(file)?, purpose, PATIENCE),
            None => {
                let lock = Lock::take(&paths.lock, purpose, PATIENCE)?;
                refuse_run(paths)?;
                let journal = Journal::open_or_create(&paths.journal)?;
                let identity = journal.identity()?.ok_or_else(|| paths.not_begun())?;
                Session::resume(journal, identity, lock, paths)
            }
        }
    }

    /// Opens the journal of a study, and begins it if it has not begun.
    pub(crate) fn open_with(
        paths: &Paths,
        study: &Study,
        purpose: &str,
        patience: Duration,
    ) -> Result<Session, Failure> {
        Session::open_locked(paths, study, Lock::take(&paths.lock, purpose, patience)?)
    }

    /// As [`Session::open_with`], with the lock in hand.
    pub(crate) fn open_locked(paths: &Paths, study: &Study, lock: Lock) -> Result<Session, Failure> {
        refuse_run(paths)?;
        let journal = Journal::open_or_create(&paths.journal)?;
        match journal.identity()? {
            None => Session::begin(journal, study, lock, paths),
            Some(stored) => {
                let mut session = Session::resume(journal, stored, lock, paths)?;
                session.follow(study, &paths.study)?;
                Ok(session)
            }
        }
    }

    /// Opens the journal of a study that this process has worked on before; nothing is begun, and no other study is taken for it.
    pub(crate) fn reopen(paths: &Paths, study: &str, lock: Lock) -> Result<Session, Failure> {
        refuse_run(paths)?;
        let journal = Journal::open_existing(&paths.journal)?;
        let identity = journal.identity()?.filter(|_| journal.study().is_ok_and(|id| id == study));
        let identity = identity
            .ok_or_else(|| Failure::run(format!("{} now holds another study than before", paths.journal.display())))?;
        Session::resume(journal, identity, lock, paths)
    }

    fn begin(mut journal: Journal, study: &Study, lock: Lock, paths: &Paths) -> Result<Session, Failure> {
        let (optimizer, identity) = (study.optimizer()?, study.identity());
        journal.begin(&study.name, &identity, &optimizer.snapshot())?;
        let (name, word, constraints) = (study.name.clone(), paths.word(), study.constraints.clone());
        let (study, changes) = (journal.study()?, Vec::new());
        Ok(Session { name, identity, constraints, optimizer, study, word, journal, changes, _lock: lock })
    }

    fn resume(journal: Journal, identity: Identity, lock: Lock, paths: &Paths) -> Result<Session, Failure> {
        let (mut optimizer, constraints) = (journal.optimizer()?, identity.constraints()?);
        constrain(&mut optimizer, &constraints)?;
        let (name, word) = (journal.name()?, paths.word());
        let (study, changes) = (journal.study()?, Vec::new());
        Ok(Session { name, identity, constraints, optimizer, study, word, journal, changes, _lock: lock })
    }

    /// Takes over what may be edited in a study that has begun; refuses what may not.
    pub(crate) fn follow(&mut self, study: &Study, file: &Path) -> Result<(), Failure> {
        if let Some(difference) = study.identity().difference(&self.identity) {
            return Err(changed(file, &difference));
        }
        self.name.clone_from(&study.name);
        let limits = &study.config;
        let set = self.optimizer.set_stopping(limits.budget, limits.target, limits.tolerance);
        Ok(set.map_err(labcat::Error::from)?)
    }

    /// Tells what processes that are gone have measured and could not tell. The files are to be removed once that is durable.
    pub(crate) fn take_in(&mut self, journal: &Path) -> Result<Vec<Left>, Failure> {
        let mut taken = Vec::new();
        for mut left in left(journal) {
            let Some((head, kept)) = left.result.take() else {
                left.remove();
                continue;
            };
            let again = kept.again;
            let mut record = kept.into_record();
            record.reading = record.reading.map(|reading| reading.needing(&self.constraints.fields()));
            let record = self.fitting(record);
            match self.place_of(&head, again) {
                Ok(Place::Pending) => self.tell(TrialId(head.id), record)?,
                Ok(Place::Failed) => self.retried(TrialId(head.id), record)?,
                Ok(Place::Known) => {
                    left.remove();
                    continue;
                }
                Err(why) => {
                    left.set_aside(&why);
                    continue;
                }
            }
            complain(&format!(
                "the result of evaluation {}, kept in {}, has been stored",
                head.id,
                left.path().display()
            ));
            taken.push(left);
        }
        Ok(taken)
    }

    /// Where a result belongs; the error completes "the result …".
    fn place_of(&self, head: &Head, again: bool) -> Result<Place, String> {
        if head.study != self.study {
            return Err("was measured for another study".to_owned());
        }
        let id = TrialId(head.id);
        let point = self.point_of(id);
        if point.as_ref().is_some_and(|x| *x != head.x) {
            return Err("was measured at another point than the study has".to_owned());
        }
        if point.is_none() {
            return Err("belongs to a point that was cancelled, or that the study does not have".to_owned());
        }
        if self.is_pending(id) {
            return Ok(Place::Pending);
        }
        let told = self.optimizer.evaluations().iter().find(|told| told.id == id);
        match told {
            Some(told) if again && told.outcome.is_failed() => Ok(Place::Failed),
            _ => Ok(Place::Known),
        }
    }

    /// Whether an evaluation was asked for and not told.
    pub(crate) fn is_pending(&self, id: TrialId) -> bool {
        self.optimizer.pending().any(|(pending, _)| pending == id)
    }

    /// How many of the newest evaluations failed one after the other, whoever evaluated them.
    pub(crate) fn failures_in_a_row(&self) -> usize {
        let failed = |told: &&Evaluation| told.outcome.is_failed() && told.outcome.constraints().is_empty();
        self.optimizer.evaluations().iter().rev().take_while(failed).count()
    }

    /// The next suggestion.
    pub(crate) fn ask(&mut self) -> Result<Suggestion, AskError> {
        let suggestion = self.optimizer.ask()?;
        self.changes.push(Change::Asked { id: suggestion.id.0, x: suggestion.x.clone() });
        if let Some(step) = Step::newest(&self.optimizer) {
            self.changes
                .push(Change::Step { at_evaluation: self.optimizer.n_evaluations(), region: json!(step).to_string() });
        }
        Ok(suggestion)
    }

    /// A result that the study can take: one with another number of residuals than those before, or of derivatives than parameters, is
    /// a failure.
    pub(crate) fn fitting(&self, result: Record) -> Record {
        let (parameters, derivatives) = (
            self.optimizer.domain().parameters().len(),
            result.reading.as_ref().map_or(0, |reading| reading.gradient.len()),
        );
        if derivatives != 0 && derivatives != parameters {
            return result.failed(format!(
                "it gave a gradient of {}, the study has {}",
                count(derivatives, "number"),
                count(parameters, "parameter")
            ));
        }
        let told = self.optimizer.evaluations().iter().map(|told| (told.id, told.outcome.residuals().len()));
        let (Some((id, expected)), got) = (told.into_iter().find(|(_, n)| *n > 0), result.residuals().len()) else {
            return result;
        };
        if got == 0 || got == expected {
            return result;
        }
        let (residuals, word) = (count(got, "residual"), &self.word);
        result.failed(format!(
            "it gave {residuals}, evaluation {id} had {expected}; if that one is wrong, `labcat correct {word} {id} failed` \
             removes it"
        ))
    }

    /// The result of a suggestion.
    pub(crate) fn tell(&mut self, id: TrialId, result: Record) -> Result<(), Failure> {
        self.optimizer.tell(id, result.outcome()).map_err(|error| self.refused(&error))?;
        self.record(result);
        Ok(())
    }

    /// A point that was never asked for, with its result.
    pub(crate) fn tell_point(&mut self, x: &[f64], result: Record) -> Result<TrialId, Failure> {
        let id = self.optimizer.tell_point(x, result.outcome()).map_err(|error| self.refused(&error))?;
        self.record(result);
        Ok(id)
    }

    /// The result of a suggestion that was measured at another point: that point takes its place, under a number of its own.
    pub(crate) fn tell_at(&mut self, id: TrialId, x: &[f64], result: Record) -> Result<TrialId, Failure> {
        self.optimizer.cancel(id).map_err(|error| self.refused(&error))?;
        self.changes.push(Change::Cancelled { id: id.0 });
        self.tell_point(x, result)
    }

    /// Has a point suggested next.
    pub(crate) fn enqueue(&mut self, x: &[f64]) -> Result<(), Failure> {
        self.optimizer.enqueue(x).map_err(|error| Failure::usage(error.to_string()))?;
        self.changes.push(Change::Enqueued);
        Ok(())
    }

    /// Attaches a note to an evaluation.
    pub(crate) fn note(&mut self, id: TrialId, text: &str) {
        self.changes.push(Change::Noted { id: id.0, text: text.to_owned() });
    }

    /// An evaluation as the journal has it, told or not.
    pub(crate) fn trial(&self, id: TrialId) -> Result<Option<Trial>, Failure> {
        self.journal.trial(id.0)
    }

    /// Why there is no evaluation with this number.
    pub(crate) fn absent(&self, id: TrialId) -> Failure {
        self.journal.absent(id.0)
    }

    /// Writes down the evaluation that was just told.
    fn record(&mut self, result: Record) {
        if let Some(Evaluation { id, x, run, .. }) = self.optimizer.evaluations().last() {
            self.changes.push(Change::Told { id: id.0, x: x.clone(), run: *run, result: Box::new(result) });
        }
    }

    /// Nothing that an earlier run had in hand is running.
    pub(crate) fn nothing_runs(&mut self) {
        self.changes.push(Change::NothingRuns);
    }

    /// The command of an evaluation is about to start.
    pub(crate) fn started(&mut self, id: TrialId) {
        self.changes.push(Change::Started { id: id.0 });
    }

    /// A job of an evaluation is about to be submitted. Its name is the same for ever, and no other job has it: the time tells it from
    /// one of the same study before a copy was put back.
    pub(crate) fn submitting(&mut self, id: TrialId) -> Result<Job, Failure> {
        let noted = |change: &Change| matches!(change, Change::Submitting { id: other, .. } if *other == id.0);
        let attempt =
            self.journal.submissions(id.0)? + 1 + self.changes.iter().filter(|change| noted(change)).count() as u32;
        let name = format!("{}{id}-{attempt}-{:x}", self.job_prefix(), (moment() * 1000.0) as u64);
        self.changes.push(Change::Submitting { id: id.0, attempt, name: name.clone() });
        Ok(Job { trial: id.0, attempt, name, number: None })
    }

    /// What the names of this study's jobs begin with: they have the beginning of its id, which is enough to tell them from others.
    pub(crate) fn job_prefix(&self) -> String {
        format!("labcat-{:.12}-", self.study)
    }

    /// A job was submitted.
    pub(crate) fn submitted(&mut self, job: &Job) {
        if let Some(number) = &job.number {
            self.changes.push(Change::Submitted { id: job.trial, attempt: job.attempt, number: number.clone() });
        }
    }

    /// Nothing is expected of the jobs of an evaluation.
    pub(crate) fn jobs_closed(&mut self, id: TrialId) {
        self.changes.push(Change::JobsClosed { id: id.0 });
    }

    /// The jobs of which an end is expected.
    pub(crate) fn open_jobs(&self) -> Result<Vec<Job>, Failure> {
        self.journal.open_jobs()
    }

    /// A failed attempt at a suggestion that stays pending.
    pub(crate) fn attempted(&mut self, id: TrialId, result: Record) {
        self.changes.push(Change::Attempted { id: id.0, result: Box::new(result) });
    }

    /// The result of an evaluation that had failed and was run again.
    pub(crate) fn retried(&mut self, id: TrialId, result: Record) -> Result<(), Failure> {
        self.optimizer.revise(id, result.outcome()).map_err(|error| self.refused(&error))?;
        self.changes.push(Change::Retried { id: id.0, result: Box::new(result) });
        Ok(())
    }

    /// Withdraws a pending suggestion.
    pub(crate) fn cancel(&mut self, id: TrialId) -> Result<(), Failure> {
        self.optimizer.cancel(id).map_err(|error| match error {
            TellError::AlreadyTold(_) => Failure::usage(format!(
                "evaluation {id} already has a result; only a pending evaluation can be cancelled ({}); \
                 `labcat correct {} {id} failed` removes its value",
                self.pending_list(),
                self.word
            )),
            other => self.refused(&other),
        })?;
        self.changes.push(Change::Cancelled { id: id.0 });
        Ok(())
    }

    /// Replaces what was told, no value being a failure; gives what it was.
    pub(crate) fn correct(&mut self, id: TrialId, mut result: Record) -> Result<Option<f64>, Failure> {
        if result.reading.is_none() {
            result.message = Some(CORRECTED_TO_FAILURE.to_owned());
        }
        let told = self.optimizer.evaluations().iter().find(|evaluation| evaluation.id == id);
        let was = told.and_then(|evaluation| evaluation.outcome.value());
        self.optimizer.revise(id, result.outcome()).map_err(|error| match error {
            TellError::UnknownId(_) => self.absent(id),
            other => self.refused(&other),
        })?;
        self.changes.push(Change::Corrected { id: id.0, was, result: Box::new(result) });
        Ok(was)
    }

    /// What a person or a file says of an evaluation: its value, `None` if there is none, with its noise, and its results by name. The
    /// error says what is missing.
    pub(crate) fn by_hand(
        &self,
        x: &[f64],
        (value, std): (Option<f64>, Option<f64>),
        results: &[(String, f64)],
        source: &'static str,
    ) -> Result<Record, String> {
        let fields = self.constraints.fields();
        if let Some((name, _)) = results.iter().find(|(name, _)| !fields.contains(name)) {
            let needed = self.constraints.results();
            let measured = if needed.is_empty() { "there is none".to_owned() } else { needed.join(", ") };
            return Err(format!(
                "has `{name}`, which is not a result that a constraint of this study needs ({measured})"
            ));
        }
        if value.is_none() && results.is_empty() {
            return Ok(Record::of(Err(String::new()), source, &self.constraints));
        }
        let numbers = results.iter().map(|(name, number)| (name.clone(), (*number).into())).collect();
        let reading = Reading::with(value, numbers).needing(&fields);
        let reading = match std.filter(|_| value.is_some()) {
            None => reading,
            Some(std) => reading.with_std(std)?,
        };
        self.by_reading(x, reading, source)
    }

    /// What a person or a file says of an evaluation, in one piece. The error says what is missing.
    pub(crate) fn by_reading(&self, x: &[f64], reading: Reading, source: &'static str) -> Result<Record, String> {
        match self.constraints.measure(x, &reading) {
            Err(_) if reading.value.is_none() => Ok(Record::of(Err(String::new()), source, &self.constraints)),
            Err(why) => Err(why),
            Ok(measures) => Ok(Record::of(Ok((reading, measures)), source, &self.constraints)),
        }
    }

    /// The point of an evaluation that was asked for or told.
    pub(crate) fn point_of(&self, id: TrialId) -> Option<Vec<f64>> {
        let pending = self.optimizer.pending().find(|(other, _)| *other == id).map(|(_, x)| x.to_vec());
        pending.or_else(|| self.optimizer.evaluations().iter().find(|told| told.id == id).map(|told| told.x.clone()))
    }

    /// The results of an evaluation that the constraints need, as the journal has them.
    pub(crate) fn results_of(&self, id: TrialId) -> Result<Vec<(String, f64)>, Failure> {
        let stored = self.journal.trial(id.0)?.and_then(|trial| trial.result);
        let number = |name: &String| stored.as_ref()?.get(name)?.as_f64();
        Ok(self.constraints.fields().into_iter().filter_map(|name| Some((name.clone(), number(&name)?))).collect())
    }

    /// The residuals of an evaluation that was told with this value.
    pub(crate) fn residuals_of(&self, id: TrialId, value: Option<f64>) -> Vec<f64> {
        let told = self.optimizer.evaluations().iter().find(|told| told.id == id && told.outcome.value() == value);
        told.map_or_else(Vec::new, |told| told.outcome.residuals().to_vec())
    }

    /// Why a point is none of the study's, in words.
    pub(crate) fn outside(&self, x: &[f64]) -> Option<String> {
        match self.optimizer.domain().check(x) {
            Ok(()) => self.constraints.violated_by(x).map(|text| format!("the point violates the constraint `{text}`")),
            Err(PointError::Outside { name, value, low, high }) => {
                Some(format!("{name} = {value} is outside its range, {low} to {high}"))
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// Makes all changes durable in one transaction.
    pub(crate) fn commit(&mut self) -> Result<(), Failure> {
        if self.changes.is_empty() {
            return Ok(());
        }
        self.journal.commit(&self.changes, &self.optimizer.snapshot())?;
        self.changes.clear();
        Ok(())
    }

    /// Brings what was committed into the journal's file itself, and sees whether that is still there.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        self.journal.check_present()?;
        self.journal.settle()
    }

    /// The evaluations that a run or a worker has begun and not ended, whether or not it still lives.
    pub(crate) fn in_hand(&self) -> Result<Vec<u64>, Failure> {
        Ok(self.journal.in_hand()?.iter().map(|begun| begun.id).collect())
    }

    /// The suggestions that are pending, oldest first.
    pub(crate) fn pending(&self) -> VecDeque<Suggestion> {
        let mut pending: Vec<Suggestion> =
            self.optimizer.pending().map(|(id, x)| Suggestion { id, x: x.to_vec() }).collect();
        pending.sort_by_key(|suggestion| suggestion.id);
        pending.into()
    }

    /// How many evaluations failed.
    pub(crate) fn failures(&self) -> usize {
        let failed = |told: &&Evaluation| told.outcome.is_failed() && told.outcome.constraints().is_empty();
        self.optimizer.evaluations().iter().filter(failed).count()
    }

    /// A point as a JSON object.
    pub(crate) fn by_name(&self, x: &[f64]) -> Map<String, Value> {
        self.identity.by_name(x)
    }

    /// What the optimizer refuses, in the words of the command line.
    fn refused(&self, error: &TellError) -> Failure {
        let (study, pending) = (&self.word, self.pending_list());
        Failure::usage(match error {
            TellError::UnknownId(id) => {
                format!("evaluation {id} is not pending: it was never suggested, or it was cancelled ({pending})")
            }
            TellError::AlreadyTold(id) => format!(
                "evaluation {id} already has a result ({pending}); `labcat correct {study} {id} VALUE` replaces its value"
            ),
            TellError::StillPending(id) => format!(
                "evaluation {id} has no result yet ({pending}); `labcat tell {study} {id} VALUE` records its value"
            ),
            TellError::Residuals { got, expected } => format!(
                "{} were told, but the earlier evaluations had {expected}: write {expected}, or `failed`",
                count(*got, "residual")
            ),
            TellError::MaximisedResiduals => {
                "the squares of residuals are minimised, and this study maximises: tell a value".to_owned()
            }
            other => other.to_string(),
        })
    }

    fn pending_list(&self) -> String {
        let pending: Vec<String> = self.optimizer.pending().map(|(id, _)| id.to_string()).collect();
        match pending.is_empty() {
            true => "nothing is pending".to_owned(),
            false => format!("pending: {}", pending.join(", ")),
        }
    }
}

/// Where a result belongs that was kept in a file.
enum Place {
    Pending,
    /// It was told that it failed, and is evaluated again.
    Failed,
    /// It was told before.
    Known,
}

/// A run has the study to itself as long as it has evaluations in hand, even if its lock file was deleted.
fn refuse_run(paths: &Paths) -> Result<(), Failure> {
    match running(&paths.journal).filter(|holder| is_run(holder)) {
        Some(holder) => Err(in_use_by(&holder)),
        None => Ok(()),
    }
}

/// A short command leaves a journal whose file is whole; if it cannot, the next one does.
impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.journal.settle();
    }
}

/// An edited study that is another one.
pub(crate) fn changed(study: &Path, difference: &str) -> Failure {
    let (study, journal) = (study.display(), study.with_extension("db"));
    Failure::usage(format!(
        "{study} no longer describes the study that was begun: {difference}. Undo this edit. Or save the edited file under a new \
         name, as a new study, and copy the evaluations with `labcat export` and `labcat import` (`--skip-outside` if a range is \
         narrower). Or delete {}, if its evaluations are not needed. Budget, target, workers, timeout and command may be \
         edited at any time",
        journal.display()
    ))
}
