//! `labcat worker`: one of any number of processes that share a study on one machine.
//!
//! A worker holds the study's lock only for a moment: it stores its result and takes the next suggestion, in one transaction.
//! It claims its evaluation with another lock, which disappears with the process; then another worker takes over the evaluation.
//! It stores a result before it does anything else, and only for the point where it was measured.

use std::io::{Write, stdout};
use std::thread;
use std::time::{Duration, Instant};

use labcat::{AskError, Suggestion, TrialId};
use serde_json::json;

use super::display::{Told, evaluated_json, evaluated_line};
use super::evaluate::{Evaluated, Evaluator};
use super::failures::{Rules, Verdict, to_be_fixed};
use super::keep::keep;
use super::{evaluator, load, without_jobs};
use crate::cli;
use crate::failure::Failure;
use crate::format::{complain, count, json_text, stopped_by};
use crate::journal::{Claim, Head, Left, Lock, Record, claimed, without_run};
use crate::paths::Paths;
use crate::process::{Stop, end_orphans};
use crate::session::Session;
use crate::study::{Objective, OnFailure, Study};

/// How long to wait for the lock before something is said.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the study file may be unreadable, as it is while it is saved.
const HALF_SAVED: Duration = Duration::from_secs(30);
/// How long a run may still be ending when a worker begins.
const RUN_ENDS: Duration = Duration::from_secs(1);
/// How often to look whether another worker has left something to do.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn worker(args: &cli::Worker) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let study = load(&paths)?;
    study.check_workers(2).map_err(Failure::usage)?; // there may be others
    let (evaluator, objective) = evaluator(&study, &paths)?;
    without_slurm(&objective, &paths)?;
    without_run(&paths.lock, RUN_ENDS)?;
    let stop = Stop::on_signals(|| {}).map_err(|error| Failure::run(format!("cannot listen to signals: {error}")))?;
    let deadline = study.time_limit.and_then(|limit| Instant::now().checked_add(limit));
    let by = format!("labcat worker (process {})", std::process::id());
    Worker { paths, json: args.json, evaluator, stop, deadline, by, study: None, unreadable: None, done: 0 }
        .work(&study)
}

/// Refuses a study whose evaluations are jobs.
fn without_slurm(objective: &Objective, paths: &Paths) -> Result<(), Failure> {
    match objective.slurm {
        None => Ok(()),
        Some(_) => Err(Failure::usage(format!(
            "{} says submit = \"slurm\": its workers are Slurm's jobs; write `labcat run {}`",
            paths.study.display(),
            paths.word()
        ))),
    }
}

struct Worker {
    paths: Paths,
    json: bool,
    evaluator: Evaluator,
    stop: Stop,
    deadline: Option<Instant>,
    /// Who has an evaluation in hand, as others read it.
    by: String,
    /// The id of the study, once it is known.
    study: Option<String>,
    /// Since when the study file cannot be read.
    unreadable: Option<Instant>,
    /// Evaluations of this worker.
    done: usize,
}

/// An evaluation in hand.
struct Task {
    suggestion: Suggestion,
    claim: Claim,
}

/// An evaluation that ended, not told yet.
struct Measured {
    task: Task,
    record: Record,
}

/// What to do next.
enum Next {
    Evaluate(Task),
    /// The rest of the budget is in other workers' hands, or the study file is being saved.
    Wait,
    /// There is nothing left to do.
    End(String),
}

impl Worker {
    fn work(mut self, study: &Study) -> Result<(), Failure> {
        let mut measured: Option<Measured> = None;
        loop {
            let lock = self.lock(&mut measured)?;
            let opened = match &self.study {
                Some(id) => Session::reopen(&self.paths, id, lock),
                None => Session::open_locked(&self.paths, study, lock),
            };
            let mut session = opened.map_err(|failure| self.with_kept(failure, measured.as_mut()))?;
            self.study = Some(session.study.clone());
            let next =
                self.turn(&mut session, &mut measured).map_err(|failure| self.with_kept(failure, measured.as_mut()))?;
            drop(session);
            match next {
                Next::Evaluate(task) => {
                    let evaluated = self.evaluator.evaluate(task.suggestion.id.0, &task.suggestion.x, &self.stop);
                    measured = self.result(task, evaluated)?;
                }
                Next::Wait => thread::sleep(LOOK),
                Next::End(why) => return self.end(&why),
            }
        }
    }

    /// Waits for the other workers' transactions. What was measured is safe meanwhile, however long that takes.
    fn lock(&self, measured: &mut Option<Measured>) -> Result<Lock, Failure> {
        let mut said = false;
        loop {
            let holder = match Lock::attempt(&self.paths.lock, "worker", PATIENCE) {
                Ok(Ok(lock)) => return Ok(lock),
                Ok(Err(holder)) => holder,
                Err(failure) => return Err(self.with_kept(failure, measured.as_mut())),
            };
            if !said {
                complain(&format!("waiting for {holder}, which is using the study"));
                if let Some(kept) = self.kept(measured.as_mut()) {
                    complain(&kept);
                }
                said = true;
            }
            if self.stop.requested() {
                return Err(self.interrupted());
            }
        }
    }

    /// Keeps what was measured in its file; says where.
    fn kept(&self, measured: Option<&mut Measured>) -> Option<String> {
        let Measured { task, record } = measured?;
        Some(keep(&mut task.claim, task.suggestion.id.0, record, false, &self.paths.word()))
    }

    /// A failure, and what became of what was measured.
    fn with_kept(&self, failure: Failure, measured: Option<&mut Measured>) -> Failure {
        match self.kept(measured) {
            Some(kept) => Failure { message: format!("{}\n{kept}", failure.message), ..failure },
            None => failure,
        }
    }

    /// The record of an evaluation that ended. What did not is left to the next worker.
    fn result(&self, task: Task, evaluated: Evaluated) -> Result<Option<Measured>, Failure> {
        match evaluated {
            Evaluated::Ended(record) => Ok(Some(Measured { task, record: *record })),
            Evaluated::Interrupted => Ok(None),
            Evaluated::Impossible(why) => Err(Failure::run(to_be_fixed(&why, &self.again()))),
        }
    }

    /// The command that goes on.
    fn again(&self) -> String {
        format!("labcat worker {}", self.paths.word())
    }

    fn interrupted(&self) -> Failure {
        Failure::interrupted(format!("interrupted; `{}` continues the study", self.again()))
    }

    /// Tells what was measured and takes the next suggestion, in one transaction. `measured` is empty once that is durable.
    fn turn(&mut self, session: &mut Session, measured: &mut Option<Measured>) -> Result<Next, Failure> {
        let taken = session.take_in(&self.paths.journal)?;
        let told = measured.as_ref().map(|measured| self.tell(session, measured)).transpose()?;
        let next = match told.as_ref().and_then(|told| told.trouble.clone()) {
            Some(trouble) => Err(Failure::run(trouble)),
            None => self.next(session),
        };
        session.commit()?;
        taken.into_iter().for_each(Left::remove);
        if let Some(measured) = measured.take() {
            measured.task.claim.release();
            self.done += 1;
        }
        self.show(&told.map(|told| told.shown).unwrap_or_default())?;
        next
    }

    fn tell(&self, session: &mut Session, measured: &Measured) -> Result<Outcome, Failure> {
        let Suggestion { id, x } = &measured.task.suggestion;
        let record = &session.fitting(measured.record.clone());
        match session.point_of(*id).filter(|_| session.is_pending(*id)) {
            None => {
                let shown = format!("{id}: it was told or cancelled in the meantime, so this value is not used");
                return Ok(Outcome { shown, trouble: None });
            }
            Some(point) if point != *x => {
                return Err(Failure::run(format!("evaluation {id} of the study has another point than before")));
            }
            Some(_) => {}
        }
        let trouble = match self.judge(session, *id, record) {
            Verdict::LeaveAndEnd(why) => {
                session.attempted(*id, record.clone());
                return Ok(Outcome { shown: String::new(), trouble: Some(why) });
            }
            Verdict::TellAndEnd(why) => Some(why),
            Verdict::Tell => None,
        };
        let before = session.optimizer.best().map(|best| best.id);
        session.tell(*id, record.clone())?;
        let improved = session.optimizer.best().map(|best| best.id) != before;
        let told = Told { id: *id, x: x.clone(), record: Box::new(record.clone()), improved };
        let shown = match self.json {
            true => json_text(&evaluated_json(&told, session)),
            false => evaluated_line(&told, session),
        };
        Ok(Outcome { shown, trouble })
    }

    fn judge(&self, session: &Session, id: TrialId, record: &Record) -> Verdict {
        // What the study says now; of one that cannot be read at this moment, that failures are told.
        let objective = load(&self.paths).ok().and_then(|study| study.objective);
        let workers = claimed(&self.paths.journal).len().max(1);
        Rules {
            on_failure: objective.as_ref().map_or(OnFailure::Penalize, |objective| objective.on_failure),
            limit: objective.and_then(|objective| objective.failures_in_a_row(workers)),
            again: &self.again(),
            word: &self.paths.word(),
        }
        .judge(id, record, session.failures_in_a_row())
    }

    /// The study as its file is now: limits and commands may have been edited. `None` while it cannot be read.
    fn study(&mut self, session: &mut Session) -> Result<Option<()>, Failure> {
        let read = load(&self.paths).and_then(|study| {
            session.follow(&study, &self.paths.study)?;
            study.check_workers(2).map_err(Failure::usage)?;
            let objective = study.objective.clone().ok_or_else(|| Failure::usage("[objective] is gone"))?;
            without_slurm(&objective, &self.paths)?;
            Evaluator::new(objective, &study, &self.paths.study)
        });
        match read {
            Ok(evaluator) => {
                self.unreadable = None;
                if !evaluator.is_same(&self.evaluator) {
                    let next = session.optimizer.n_evaluations() + session.optimizer.pending().count();
                    complain(&format!(
                        "{} has changed: its [objective] is used from evaluation {next} on",
                        self.paths.study.display()
                    ));
                    self.evaluator = evaluator;
                }
                Ok(Some(()))
            }
            Err(failure) if self.unreadable.is_some_and(|since| since.elapsed() > HALF_SAVED) => Err(failure),
            Err(failure) => {
                if self.unreadable.is_none() {
                    complain(&format!("waiting for a study that can be read: {failure}"));
                    self.unreadable = Some(Instant::now());
                }
                Ok(None)
            }
        }
    }

    /// Something that a dead worker has left, or the next suggestion.
    fn next(&mut self, session: &mut Session) -> Result<Next, Failure> {
        if self.stop.requested() {
            return Err(self.interrupted());
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Next::End("time_limit".to_owned()));
        }
        if self.study(session)?.is_none() {
            return Ok(Next::Wait);
        }
        if let Some(reason) = session.optimizer.stop_reason() {
            return Ok(Next::End(reason.to_string()));
        }
        without_jobs(session, &self.paths)?;
        let living = claimed(&self.paths.journal);
        let begun = session.in_hand()?;
        let left = session
            .pending()
            .into_iter()
            .find(|pending| begun.contains(&pending.id.0) && !living.contains(&pending.id.0));
        let repeated = left.is_some();
        let suggestion = match left.map_or_else(|| session.ask(), Ok) {
            Ok(suggestion) => suggestion,
            Err(AskError::Stopped(reason)) => return Ok(Next::End(reason.to_string())),
            Err(_) if !living.is_empty() => return Ok(Next::Wait),
            Err(_) => return Err(self.all_asked_for(session)),
        };
        if repeated {
            end_orphans(&self.paths.journal, Some(suggestion.id.0));
        }
        session.started(suggestion.id);
        let (study, by) = (session.study.clone(), self.by.clone());
        let head = Head { study, id: suggestion.id.0, x: suggestion.x.clone(), by };
        let claim = Claim::take(&self.paths.journal, head)?;
        Ok(Next::Evaluate(Task { suggestion, claim }))
    }

    /// What is left of the budget was given out by `labcat ask`, or by a version of labcat that did not note who evaluates what.
    fn all_asked_for(&self, session: &Session) -> Failure {
        let (word, pending) = (self.paths.word(), session.pending());
        let first = pending.front().map_or(0, |first| first.id.0);
        let numbers: Vec<String> = pending.iter().map(|suggestion| suggestion.id.to_string()).collect();
        let noun = if numbers.len() == 1 { "evaluation" } else { "evaluations" };
        Failure::run(format!(
            "the rest of the budget is pending, and no worker runs it: {noun} {}. `labcat run {word}` evaluates what was asked for; \
             `labcat tell {word} {first} VALUE` records a value; `labcat cancel {word} {first}` withdraws the point",
            numbers.join(", ")
        ))
    }

    /// A line about an evaluation: for people on standard error, for machines on standard output.
    fn show(&self, line: &str) -> Result<(), Failure> {
        match (self.json, line.is_empty()) {
            (_, true) => {}
            (true, _) => writeln!(stdout(), "{line}")?,
            (false, _) => complain(line),
        }
        Ok(())
    }

    fn end(&self, why: &str) -> Result<(), Failure> {
        let line = match self.json {
            true => json!({"event": "end", "stop": why, "evaluations": self.done}).to_string(),
            false => format!("stopped by {} after {} of this worker", stopped_by(why), count(self.done, "evaluation")),
        };
        writeln!(stdout(), "{line}")?;
        Ok(())
    }
}

/// What has become of an evaluation.
struct Outcome {
    /// The line about it.
    shown: String,
    /// Why the worker does not go on.
    trouble: Option<String>,
}
