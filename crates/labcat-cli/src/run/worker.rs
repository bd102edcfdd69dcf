//! `labcat worker`: one of any number of processes that share a study on one machine.
//!
//! A worker holds the study's lock only for a moment: it tells what it has measured and takes the next suggestion, in one transaction.
//! What it has in hand it claims with a lock of its own, which is gone with the process; then another worker takes the evaluation over.

use std::io::{Write, stdout};
use std::thread;
use std::time::{Duration, Instant};

use labcat::{AskError, Suggestion};
use serde_json::json;

use super::evaluate::{Evaluated, Evaluator};
use super::{evaluator, load, said};
use crate::cli;
use crate::failure::Failure;
use crate::format::{brief, complain, count, point};
use crate::journal::{Claim, Record, claimed, clear_claims, without_run};
use crate::paths::Paths;
use crate::process::Stop;
use crate::session::Session;
use crate::study::{OnFailure, Study};

/// How long to wait for the other workers' transactions.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a run may still be ending when a worker begins.
const RUN_ENDS: Duration = Duration::from_secs(1);
/// How often to look whether another worker has left something to do.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn worker(args: &cli::Worker) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let study = load(&paths)?;
    study.check_workers(2).map_err(Failure::usage)?; // there may be others
    let (evaluator, _) = evaluator(&study, &paths)?;
    without_run(&paths.lock, RUN_ENDS)?;
    let stop = Stop::on_signals(|| {}).map_err(|error| Failure::run(format!("cannot listen to signals: {error}")))?;
    let deadline = study.time_limit.and_then(|limit| Instant::now().checked_add(limit));
    Worker { paths, json: args.json, evaluator, stop, deadline, done: 0, failures_in_a_row: 0 }.work()
}

struct Worker {
    paths: Paths,
    json: bool,
    evaluator: Evaluator,
    stop: Stop,
    deadline: Option<Instant>,
    /// Evaluations of this worker.
    done: usize,
    failures_in_a_row: usize,
}

/// An evaluation in hand.
struct Task {
    suggestion: Suggestion,
    claim: Claim,
}

/// What to do next.
enum Next {
    Evaluate(Task),
    /// The rest of the budget is in other workers' hands.
    Wait,
    /// There is nothing left to do.
    End(String),
}

impl Worker {
    fn work(mut self) -> Result<(), Failure> {
        let mut measured = None;
        loop {
            match self.turn(measured.take())? {
                Next::Evaluate(task) => {
                    let evaluated = self.evaluator.evaluate(task.suggestion.id.0, &task.suggestion.x, &self.stop);
                    measured = self.result(task, evaluated)?;
                }
                Next::Wait => thread::sleep(LOOK),
                Next::End(why) => return self.end(&why),
            }
        }
    }

    /// The record of an evaluation that ended. What did not is left to the next worker.
    fn result(&self, task: Task, evaluated: Evaluated) -> Result<Option<(Task, Record)>, Failure> {
        let word = self.paths.word();
        match evaluated {
            Evaluated::Ended(record) => Ok(Some((task, *record))),
            Evaluated::Interrupted => Ok(None),
            Evaluated::Impossible(why) => Err(Failure::run(format!(
                "{why}\nthe study is intact: mend the command, then `labcat worker {word}` goes on"
            ))),
        }
    }

    /// Tells what was measured and takes the next suggestion, in one transaction.
    fn turn(&mut self, measured: Option<(Task, Record)>) -> Result<Next, Failure> {
        let study = load(&self.paths)?; // its budget may have been edited
        let mut session = Session::open_with(&self.paths, &study, "worker", PATIENCE)?;
        clear_claims(&self.paths.journal);
        let told = measured.map(|(task, record)| self.tell(&mut session, &study, task, record)).transpose()?;
        let trouble = told.as_ref().and_then(|told| told.trouble.clone());
        let next = match trouble {
            Some(trouble) => Err(Failure::run(trouble)),
            None => self.next(&mut session),
        };
        session.commit()?;
        let shown = told.map(|told| {
            told.claim.release();
            told.shown
        });
        drop(session);
        self.show(&shown.unwrap_or_default())?;
        next
    }

    fn tell(&mut self, session: &mut Session, study: &Study, task: Task, record: Record) -> Result<Told, Failure> {
        let Task { suggestion: Suggestion { id, x }, claim } = task;
        let record = session.fitting(record);
        self.done += 1;
        self.failures_in_a_row = if record.reading.is_some() { 0 } else { self.failures_in_a_row + 1 };
        if session.optimizer.pending().all(|(pending, _)| pending != id) {
            let shown = format!("{id}: was told or cancelled meanwhile, its value is not used");
            return Ok(Told { claim, shown, trouble: None });
        }
        let objective = study.objective.as_ref();
        let (word, failed) = (self.paths.word(), record.reading.is_none());
        if failed && objective.is_some_and(|objective| objective.on_failure == OnFailure::Stop) {
            let why = format!(
                "evaluation {id} failed and the study says on_failure = \"stop\": {}\nthe study is intact: mend the command, then \
                 `labcat worker {word}` goes on",
                said(&record)
            );
            session.attempted(id, record);
            return Ok(Told { claim, shown: String::new(), trouble: Some(why) });
        }
        let limit = objective.and_then(|objective| objective.failures_in_a_row(1));
        let trouble = limit.filter(|limit| self.failures_in_a_row >= *limit).map(|_| {
            format!(
                "{} in a row failed, the last one ({id}) with: {}\nmend the command; then `labcat retry {word} --failed` runs what has \
                 failed again and `labcat worker {word}` goes on. If such points are to be expected, write \
                 max_consecutive_failures = 0 into [objective]",
                count(self.failures_in_a_row, "evaluation"),
                said(&record)
            )
        });
        let before = session.optimizer.best().map(|best| best.id);
        session.tell(id, record.clone())?;
        let best = session.optimizer.best().map(|best| best.id) != before;
        let shown = match (self.json, record.value()) {
            (true, value) => json!({
                "event": "evaluation", "id": id.0, "x": session.by_name(&x), "value": value, "status": record.status,
                "message": record.message, "seconds": record.seconds, "best": best,
            })
            .to_string(),
            (false, Some(value)) => {
                let mark = if best { "  best so far" } else { "" };
                format!("{id}: {} at {}{mark}", brief(value, 6), point(&session.identity.names(), &x, 5))
            }
            (false, None) => {
                let why = record.message.as_deref().unwrap_or("no value");
                format!("{id}: failed at {}: {why}", point(&session.identity.names(), &x, 5))
            }
        };
        Ok(Told { claim, shown, trouble })
    }

    /// Something that a dead worker has left, or the next suggestion.
    fn next(&self, session: &mut Session) -> Result<Next, Failure> {
        if self.stop.requested() {
            let word = self.paths.word();
            return Err(Failure::interrupted(format!("interrupted; `labcat worker {word}` goes on with the study")));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(Next::End("time_limit".to_owned()));
        }
        if let Some(reason) = session.optimizer.stop_reason() {
            return Ok(Next::End(reason.to_string()));
        }
        let living = claimed(&self.paths.journal);
        let begun = session.in_hand()?;
        let left = session
            .pending()
            .into_iter()
            .find(|pending| begun.contains(&pending.id.0) && !living.contains(&pending.id.0));
        let suggestion = match left.map_or_else(|| session.ask(), Ok) {
            Ok(suggestion) => suggestion,
            Err(AskError::Stopped(reason)) => return Ok(Next::End(reason.to_string())),
            Err(_) if !living.is_empty() => return Ok(Next::Wait),
            Err(asked_by_hand) => return Err(Failure::run(asked_by_hand.to_string())),
        };
        session.started(suggestion.id);
        let claim = Claim::take(&self.paths.journal, suggestion.id.0)?;
        Ok(Next::Evaluate(Task { suggestion, claim }))
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
            false => format!("stopped by {why} after {} of this worker", count(self.done, "evaluation")),
        };
        writeln!(stdout(), "{line}")?;
        Ok(())
    }
}

/// What has become of an evaluation.
struct Told {
    claim: Claim,
    /// The line about it.
    shown: String,
    /// Why the worker does not go on.
    trouble: Option<String>,
}
