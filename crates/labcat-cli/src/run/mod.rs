//! `labcat run`: suggestions, workers and the journal, in step.
//!
//! One thread owns the optimizer and the journal; workers only run commands. What a finished evaluation told and the
//! suggestion that takes its place are one transaction, committed before the new command starts. So whatever happens,
//! the journal knows every evaluation that was told and every suggestion that may have been running.

mod display;
pub(crate) mod evaluate;
mod prepare;
mod retry;
mod worker;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use labcat::{AskError, Suggestion, TrialId};

use crate::cli;
use crate::failure::{self, Failure};
use crate::format::{complain, count, last_lines};
use crate::journal::{Record, claimed, clear_claims};
use crate::paths::Paths;
use crate::process::Stop;
use crate::session::Session;
use crate::study::{Objective, OnFailure, Study};
use display::{Display, Event, Told};
use evaluate::{Evaluated, Evaluator};
pub(crate) use retry::retry;
pub(crate) use worker::worker;

/// How long to wait for short commands that hold the lock before the run is refused.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the clock is looked at while nothing happens.
const TICK: Duration = Duration::from_millis(100);
/// The longest that the journal's file lacks something that was committed.
const SETTLED_WITHIN: Duration = Duration::from_secs(1);

/// A worker's news, or a signal's.
enum Message {
    Ended { id: TrialId, evaluated: Evaluated },
    Signal,
}

pub(crate) fn run(args: &cli::Run) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let mut study = load(&paths)?;
    if let Some(budget) = args.budget {
        study.limit_to(budget);
    }
    let mut run = Run::new(&paths, study, args.workers, args.json, "run")?;
    run.queue = run.session.pending();
    run.go(&paths)
}

/// The study that is to be run: there must be a file of it.
fn load(paths: &Paths) -> Result<Study, Failure> {
    match paths.study_file()? {
        Some(file) => Study::load(file),
        None => Err(paths.no_such_study()),
    }
}

/// What the study's command is run by, with a word about what was probably forgotten.
fn evaluator(study: &Study, paths: &Paths) -> Result<(Evaluator, Objective), Failure> {
    let Some(objective) = study.objective.clone() else {
        return Err(Failure::usage(format!(
            "{} has no command to run: write an [objective] with a command, or use `labcat ask {}` and `labcat tell`",
            paths.study.display(),
            paths.word()
        )));
    };
    let evaluator = Evaluator::new(objective.clone(), study, &paths.study)?;
    for warning in evaluator.warnings() {
        complain(&format!("warning: {}", failure::at(&paths.study, &warning)));
    }
    Ok((evaluator, objective))
}

/// A run on its way.
struct Run {
    session: Session,
    display: Display,
    evaluator: Evaluator,
    task: Task,
    on_failure: OnFailure,
    workers: usize,
    /// Failures in a row that end the run, and how many there are.
    failures_allowed: Option<usize>,
    failures_in_a_row: usize,
    deadline: Option<Instant>,
    /// Suggestions that an earlier run, or `labcat ask`, left pending.
    queue: VecDeque<Suggestion>,
    running: BTreeMap<TrialId, Vec<f64>>,
    /// Told since the last commit.
    told: Vec<Told>,
    sender: Sender<Message>,
    stop: Stop,
    /// Why the run fails once what is running has ended.
    halt: Option<Halt>,
    /// Why there are no more suggestions.
    stopped: Option<String>,
    restarts_shown: usize,
    /// When the journal's file was last whole.
    settled: Instant,
    messages: Option<Receiver<Message>>,
}

/// What is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Task {
    /// One suggestion after another.
    Study,
    /// Evaluations that have failed, again.
    Again,
}

/// Why a run fails.
struct Halt {
    /// The word for it in the events.
    stop: &'static str,
    message: String,
}

impl Halt {
    /// The command cannot be run, or the study wants it so: to be mended.
    fn command(why: &str, again: &str) -> Halt {
        Halt { stop: "error", message: format!("{why}\nthe study is intact: mend the command, then `{again}` goes on") }
    }
}

impl Run {
    /// Opens the study.
    fn new(paths: &Paths, mut study: Study, workers: Option<usize>, json: bool, purpose: &str) -> Result<Run, Failure> {
        study.workers = workers.unwrap_or(study.workers);
        study.check_workers(study.workers).map_err(Failure::usage)?;
        let (evaluator, objective) = evaluator(&study, paths)?;
        let mut session = Session::open_with(paths, &study, purpose, PATIENCE)?;
        session.optimizer.expect_outstanding(study.workers);
        if let [first, ..] = claimed(&paths.journal)[..] {
            return Err(Failure::run(format!(
                "the study is in use by a `labcat worker`, which has evaluation {first} in hand: another `labcat worker {}` \
                 helps it; to run the study alone, end the workers first",
                paths.word()
            )));
        }
        clear_claims(&paths.journal);
        let (sender, receiver) = channel();
        let notify = sender.clone();
        let stop = Stop::on_signals(move || drop(notify.send(Message::Signal)))
            .map_err(|error| Failure::run(format!("cannot listen to signals: {error}")))?;
        Ok(Run {
            display: Display::new(json, &study, &session),
            evaluator,
            task: Task::Study,
            on_failure: objective.on_failure,
            workers: study.workers,
            failures_allowed: objective.failures_in_a_row(study.workers),
            failures_in_a_row: 0,
            deadline: study.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            session,
            queue: VecDeque::new(),
            running: BTreeMap::new(),
            told: Vec::new(),
            sender,
            stop,
            halt: None,
            stopped: None,
            restarts_shown: 0,
            settled: Instant::now(),
            messages: Some(receiver),
        })
    }

    /// Runs to the end.
    fn go(mut self, paths: &Paths) -> Result<(), Failure> {
        let Some(messages) = self.messages.take() else { return Ok(()) };
        let outcome = self.finish(&messages, paths);
        match (outcome, self.display.trouble()) {
            (Ok(()), Some(error)) => Err(Failure::run(format!(
                "cannot write to standard output: {error}; the study itself is whole, see `labcat status {}`",
                paths.word()
            ))),
            (outcome, _) => outcome,
        }
    }

    fn finish(&mut self, messages: &Receiver<Message>, paths: &Paths) -> Result<(), Failure> {
        self.session.nothing_runs();
        self.restarts_shown = self.session.optimizer.restarts().len();
        let what = if self.task == Task::Study { "pending suggestion" } else { "failed evaluation" };
        let begin = Event::Begin { pending: self.queue.len(), what, workers: self.workers };
        self.display.show(&begin, &self.session);
        let outcome = self.evaluations(messages, paths);
        if outcome.is_err() {
            self.end_commands(messages);
        }
        self.display.close();
        let broken = match (outcome, self.halt.take()) {
            (Err(failure), _) => Some((failure, "error")),
            (Ok(()), Some(halt)) => Some((Failure::run(halt.message), halt.stop)),
            (Ok(()), None) => self.stop.requested().then(|| (self.interrupted(paths), "interrupted")),
        };
        if let Some((failure, stop)) = broken {
            self.display.show(&Event::Broken { failure: &failure, stop }, &self.session);
            return Err(failure);
        }
        if self.task == Task::Again {
            return self.display.after_retry(paths, &self.session);
        }
        let reason = self.stopped.take().unwrap_or_else(|| "budget".to_owned());
        self.display.show(&Event::End { reason: &reason, paths }, &self.session);
        match self.session.optimizer.best() {
            Some(_) => Ok(()),
            None => Err(Failure::run(format!(
                "every evaluation failed; `labcat status {}` shows what the command printed",
                paths.word()
            ))),
        }
    }

    /// The command that goes on with what is left to do.
    fn again(&self, paths: &Paths) -> String {
        match self.task {
            Task::Study => format!("labcat run {}", paths.word()),
            Task::Again => format!("labcat retry {} --failed", paths.word()),
        }
    }

    fn interrupted(&self, paths: &Paths) -> Failure {
        let what = if self.task == Task::Study { "resumes the study" } else { "runs what is left" };
        Failure::interrupted(format!("interrupted; `{}` {what}", self.again(paths)))
    }

    /// Keeps the workers busy until there is nothing left to do.
    fn evaluations(&mut self, messages: &Receiver<Message>, paths: &Paths) -> Result<(), Failure> {
        loop {
            let next = self.next_suggestions();
            next.iter().for_each(|suggestion| self.session.started(suggestion.id));
            self.session.commit()?;
            self.announce();
            for suggestion in next {
                self.start(suggestion);
            }
            if self.running.is_empty() {
                return Ok(());
            }
            self.display.tick(&self.session, self.running.len());
            let message = messages.recv_timeout(TICK);
            if message.is_err() || self.settled.elapsed() > SETTLED_WITHIN {
                self.session.settle()?;
                self.settled = Instant::now();
            }
            match message {
                Ok(Message::Ended { id, evaluated }) => self.take(id, evaluated, paths)?,
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
            if self.task == Task::Again {
                break;
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
            self.halt = Some(Halt { stop: "error", message: format!("cannot start another worker: {error}") });
        }
    }

    /// Takes in the end of an evaluation.
    fn take(&mut self, id: TrialId, evaluated: Evaluated, paths: &Paths) -> Result<(), Failure> {
        let Some(x) = self.running.remove(&id) else { return Ok(()) };
        let evaluated = match evaluated {
            Evaluated::Ended(record) => Evaluated::Ended(Box::new(self.session.fitting(*record))),
            other => other,
        };
        match evaluated {
            Evaluated::Interrupted => {}
            Evaluated::Impossible(why) => self.halt = Some(Halt::command(&why, &self.again(paths))),
            Evaluated::Ended(record)
                if record.reading.is_none() && self.task == Task::Study && self.on_failure == OnFailure::Stop =>
            {
                let why = format!("evaluation {id} failed and the study says on_failure = \"stop\": {}", said(&record));
                self.halt = Some(Halt::command(&why, &self.again(paths)));
                self.session.attempted(id, *record);
            }
            Evaluated::Ended(record) => {
                let before = self.session.optimizer.best().map(|best| best.id);
                match self.task {
                    Task::Study => self.session.tell(id, (*record).clone())?,
                    Task::Again => self.session.retried(id, (*record).clone())?,
                }
                self.count_failures(id, &record, paths);
                let improved = self.session.optimizer.best().map(|best| best.id) != before;
                self.told.push(Told { id, x, record, improved });
            }
        }
        Ok(())
    }

    /// Ends the run when one failure follows another: something is wrong that is no fault of the points.
    fn count_failures(&mut self, id: TrialId, record: &Record, paths: &Paths) {
        if record.reading.is_some() {
            self.failures_in_a_row = 0;
            return;
        }
        self.failures_in_a_row += 1;
        if self.halt.is_none() && self.failures_allowed.is_some_and(|limit| self.failures_in_a_row >= limit) {
            let message = format!(
                "{} in a row failed, the last one ({id}) with: {}\n\
                 mend the command; then `labcat retry {word} --failed` runs what has failed again, without new cost to the \
                 budget, and `labcat run {word}` goes on. If such points are to be expected, write \
                 max_consecutive_failures = 0 into [objective]",
                count(self.failures_in_a_row, "evaluation"),
                said(record),
                word = paths.word(),
            );
            self.halt = Some(Halt { stop: "failures", message });
        }
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

/// Why an evaluation failed, and the end of what its command said.
fn said(record: &Record) -> String {
    let why = record.message.clone().unwrap_or_else(|| "no value".to_owned());
    let lines = last_lines(&record.stdout, &record.stderr);
    lines.iter().fold(why, |text, line| text + "\n  | " + line)
}
