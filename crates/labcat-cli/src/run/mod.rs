//! `labcat run`: suggestions, workers and the journal, in step.
//!
//! One thread owns the optimizer and the journal; workers only run commands. What a finished evaluation told and the
//! suggestion that takes its place are one transaction, committed before the new command starts. So whatever happens,
//! the journal knows every evaluation that was told and every suggestion that may have been running.

mod display;
pub(crate) mod evaluate;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use labcat::{AskError, Suggestion, TrialId};

use crate::cli;
use crate::failure::{self, Failure};
use crate::format::complain;
use crate::paths::Paths;
use crate::process::Stop;
use crate::session::Session;
use crate::study::{OnFailure, Study};
use display::{Display, Event, Told};
use evaluate::{Evaluated, Evaluator};

/// How long to wait for short commands that hold the lock before the run is refused.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the clock is looked at while nothing happens.
const TICK: Duration = Duration::from_millis(100);

/// A worker's news, or a signal's.
enum Message {
    Ended { id: TrialId, evaluated: Evaluated },
    Signal,
}

pub(crate) fn run(args: &cli::Run) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    if paths.study_file()?.is_none() {
        return Err(paths.no_such_study());
    }
    let mut study = Study::load(&paths.study)?;
    if let Some(budget) = args.budget {
        study.limit_to(budget);
    }
    study.workers = args.workers.unwrap_or(study.workers);
    study.check_workers(study.workers).map_err(Failure::usage)?;
    let Some(objective) = study.objective.clone() else {
        return Err(Failure::usage(format!(
            "{0} has no command to run: write an [objective] with a command, or use `labcat ask {0}` and `labcat tell`",
            paths.study.display()
        )));
    };
    for warning in &study.warnings {
        complain(&format!("warning: {}", failure::at(&paths.study, warning)));
    }
    let on_failure = objective.on_failure;
    let names = study.domain.parameters().iter().map(|p| p.name.clone()).collect();
    let session = Session::open_with(&paths, &study, "run", PATIENCE)?;
    let (sender, receiver) = channel();
    let notify = sender.clone();
    let stop = Stop::on_signals(move || drop(notify.send(Message::Signal)))
        .map_err(|error| Failure::run(format!("cannot listen to signals: {error}")))?;
    let queue = session.pending();
    let run = Run {
        display: Display::new(args.json, &study, &session),
        evaluator: Evaluator::new(objective, names),
        on_failure,
        workers: study.workers,
        deadline: study.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        session,
        queue,
        running: BTreeMap::new(),
        told: Vec::new(),
        sender,
        stop,
        halt: None,
        stopped: None,
        restarts_shown: 0,
    };
    run.finish(&receiver, &paths)
}

/// A run on its way.
struct Run {
    session: Session,
    display: Display,
    evaluator: Evaluator,
    on_failure: OnFailure,
    workers: usize,
    deadline: Option<Instant>,
    /// Suggestions that an earlier run, or `labcat ask`, left pending.
    queue: VecDeque<Suggestion>,
    running: BTreeMap<TrialId, Vec<f64>>,
    /// Told since the last commit.
    told: Vec<Told>,
    sender: Sender<Message>,
    stop: Stop,
    /// Why the run fails once what is running has ended.
    halt: Option<String>,
    /// Why there are no more suggestions.
    stopped: Option<String>,
    restarts_shown: usize,
}

impl Run {
    fn finish(mut self, messages: &Receiver<Message>, paths: &Paths) -> Result<(), Failure> {
        self.restarts_shown = self.session.optimizer.restarts().len();
        self.display.show(&Event::Begin { pending: self.queue.len(), workers: self.workers }, &self.session);
        let outcome = self.evaluations(messages);
        if outcome.is_err() {
            self.end_commands(messages);
        }
        self.display.close();
        let broken = match (outcome, &self.halt) {
            (Err(failure), _) => Some(failure),
            (Ok(()), Some(why)) => Some(halted(why, paths)),
            (Ok(()), None) => self.stop.requested().then(|| interrupted(paths)),
        };
        if let Some(failure) = broken {
            self.display.show(&Event::Broken(&failure), &self.session);
            return Err(failure);
        }
        let reason = self.stopped.unwrap_or_else(|| "budget".to_owned());
        self.display.show(&Event::End { reason: &reason, paths }, &self.session);
        match self.session.optimizer.best() {
            Some(_) => Ok(()),
            None => Err(Failure::run(format!(
                "every evaluation failed; `labcat status {}` shows what the command printed",
                paths.study.display()
            ))),
        }
    }

    /// Keeps the workers busy until there is nothing left to do.
    fn evaluations(&mut self, messages: &Receiver<Message>) -> Result<(), Failure> {
        loop {
            let next = self.next_suggestions();
            self.session.commit()?;
            self.announce();
            for suggestion in next {
                self.start(suggestion);
            }
            if self.running.is_empty() {
                return Ok(());
            }
            self.display.tick(&self.session, self.running.len());
            match messages.recv_timeout(TICK) {
                Ok(Message::Ended { id, evaluated }) => self.take(id, evaluated)?,
                Ok(Message::Signal) if !self.stop.at_once() => self.display.note("ending the running evaluations …"),
                Ok(Message::Signal) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// A suggestion for each idle worker, pending ones first.
    fn next_suggestions(&mut self) -> Vec<Suggestion> {
        let mut next = Vec::new();
        while self.running.len() + next.len() < self.workers {
            if self.stop.requested() || self.halt.is_some() {
                break;
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.stopped = Some("time_limit".to_owned());
                break;
            }
            if let Some(pending) = self.queue.pop_front() {
                next.push(pending);
                continue;
            }
            match self.session.ask() {
                Ok(suggestion) => next.push(suggestion),
                Err(AskError::Stopped(reason)) => {
                    self.stopped = Some(reason.to_string());
                    break;
                }
                // The rest of the budget is running.
                Err(_) => break,
            }
        }
        next
    }

    fn start(&mut self, suggestion: Suggestion) {
        let Suggestion { id, x } = suggestion;
        self.display.show(&Event::Suggested { id, x: &x }, &self.session);
        self.running.insert(id, x.clone());
        let (evaluator, stop, sender) = (self.evaluator.clone(), self.stop.clone(), self.sender.clone());
        let spawned = thread::Builder::new().spawn(move || {
            let evaluated = evaluator.evaluate(id.0, &x, &stop);
            // Nobody listens any more when the run has failed meanwhile.
            let _ = sender.send(Message::Ended { id, evaluated });
        });
        if let Err(error) = spawned {
            self.running.remove(&id);
            self.halt = Some(format!("cannot start another worker: {error}"));
        }
    }

    /// Takes in the end of an evaluation.
    fn take(&mut self, id: TrialId, evaluated: Evaluated) -> Result<(), Failure> {
        let Some(x) = self.running.remove(&id) else { return Ok(()) };
        match evaluated {
            Evaluated::Interrupted => {}
            Evaluated::Impossible(why) => self.halt = Some(why),
            Evaluated::Ended(record) if record.value.is_none() && self.on_failure == OnFailure::Stop => {
                let why = record.message.clone().unwrap_or_default();
                self.halt = Some(format!("evaluation {id} failed and the study says on_failure = \"stop\": {why}"));
                self.session.attempted(id, record);
            }
            Evaluated::Ended(record) => {
                let before = self.session.optimizer.best().map(|best| best.id);
                self.session.tell(id, record.clone())?;
                let improved = self.session.optimizer.best().map(|best| best.id) != before;
                self.told.push(Told { id, x, record, improved });
            }
        }
        Ok(())
    }

    /// Shows what has become durable.
    fn announce(&mut self) {
        for told in std::mem::take(&mut self.told) {
            self.display.show(&Event::Evaluated(&told), &self.session);
        }
        let restarts = self.session.optimizer.restarts().to_vec();
        for restart in &restarts[self.restarts_shown.min(restarts.len())..] {
            self.display.show(&Event::Restarted(restart), &self.session);
        }
        self.restarts_shown = restarts.len();
    }

    /// After a failure of our own nothing is left running.
    fn end_commands(&mut self, messages: &Receiver<Message>) {
        self.stop.request();
        self.stop.request();
        while !self.running.is_empty() {
            match messages.recv() {
                Ok(Message::Ended { id, .. }) => drop(self.running.remove(&id)),
                Ok(Message::Signal) => {}
                Err(_) => return,
            }
        }
    }
}

fn halted(why: &str, paths: &Paths) -> Failure {
    Failure::run(format!(
        "{why}\nthe study is intact: mend the command, then `labcat run {}` resumes it",
        paths.study.display()
    ))
}

fn interrupted(paths: &Paths) -> Failure {
    Failure::interrupted(format!("interrupted; `labcat run {}` resumes the study", paths.study.display()))
}
