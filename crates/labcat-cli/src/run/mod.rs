//! `labcat run`: it keeps suggestions, workers and the journal in step.
//!
//! One thread owns the optimizer and the journal; workers only run commands. The result of an evaluation and the
//! suggestion that follows it are one transaction, committed before the new command starts. So after any failure
//! the journal has every result and every suggestion that may have been running.

mod display;
pub(crate) mod evaluate;
mod failures;
mod keep;
mod prepare;
mod retry;
mod slurm;
mod worker;

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use labcat::{AskError, Suggestion, TrialId};

use crate::cli;
use crate::failure::{self, Failure};
use crate::format::complain;
use crate::journal::{Claim, Head, Job, Left, Record, claimed};
use crate::paths::Paths;
use crate::process::{Stop, end_orphans};
use crate::session::Session;
use crate::study::{Objective, OnFailure, Study};
use display::{Display, Event, Told};
use evaluate::{Evaluated, Evaluator};
use failures::{Rules, Verdict, to_be_fixed};
use keep::keep;
pub(crate) use retry::retry;
use slurm::{Cluster, News, Submission};
pub(crate) use worker::worker;

/// How long to wait for short commands that hold the lock before the run is refused.
const PATIENCE: Duration = Duration::from_millis(500);
/// How often the clock is looked at while nothing happens.
const TICK: Duration = Duration::from_millis(100);
/// The longest that the journal's file lacks something that was committed.
const SETTLED_WITHIN: Duration = Duration::from_secs(1);
/// How long running commands may take to end after a failure of our own.
const ENDED_WITHIN: Duration = Duration::from_secs(10);

/// A worker's news, or a signal's.
enum Message {
    Ended { id: TrialId, evaluated: Evaluated },
    Job(Box<News>),
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
    run.go()
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
    // Once is enough: when the study begins.
    if let Some(warning) = evaluator.warning().filter(|_| !paths.journal.exists()) {
        complain(&format!("warning: {}", failure::at(&paths.study, &warning)));
    }
    Ok((evaluator, objective))
}

/// Refuses to evaluate on this machine what an earlier run has left with Slurm.
fn without_jobs(session: &Session, paths: &Paths) -> Result<(), Failure> {
    match session.open_jobs()?.first() {
        None => Ok(()),
        Some(Job { trial, .. }) => Err(Failure::run(format!(
            "evaluation {trial} is with Slurm, as an earlier run left it: write submit = \"slurm\" into [objective] again; Ctrl-C \
             during `labcat run {}` then cancels the jobs, and the study can continue without Slurm",
            paths.word()
        ))),
    }
}

/// A run in progress.
struct Run {
    session: Session,
    display: Display,
    evaluator: Evaluator,
    task: Task,
    on_failure: OnFailure,
    workers: usize,
    /// Failures in a row that end the run, and how many there are among evaluations that are run again.
    failures_allowed: Option<usize>,
    failed_again: usize,
    deadline: Option<Instant>,
    /// Suggestions that an earlier run, or `labcat ask`, left pending.
    queue: VecDeque<Suggestion>,
    running: BTreeMap<TrialId, (Vec<f64>, Claim)>,
    /// Told since the last commit.
    told: Vec<(Told, Claim)>,
    /// Who has the evaluations in hand, as others read it.
    by: String,
    paths: Paths,
    sender: Sender<Message>,
    /// Evaluations are jobs of Slurm.
    cluster: Option<Cluster>,
    /// Jobs of an earlier run, of which an end is expected.
    open_jobs: BTreeMap<u64, Job>,
    /// Evaluations whose jobs are gone: they need others.
    lost: Vec<Submission>,
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
                "the study is in use by a `labcat worker`, which runs evaluation {first}: another `labcat worker {}` \
                 helps it; to run the study alone, end the workers first",
                paths.word()
            )));
        }
        if !session.in_hand()?.is_empty() {
            end_orphans(&paths.journal, None);
        }
        let taken = session.take_in(&paths.journal)?;
        session.commit()?;
        taken.into_iter().for_each(Left::remove);
        let (sender, receiver) = channel();
        let notify = sender.clone();
        let stop = Stop::on_signals(move || drop(notify.send(Message::Signal)))
            .map_err(|error| Failure::run(format!("cannot listen to signals: {error}")))?;
        let open_jobs: BTreeMap<u64, Job> = session.open_jobs()?.into_iter().map(|job| (job.trial, job)).collect();
        let cluster = match objective.slurm.clone() {
            Some(slurm) => {
                let parts = (evaluator.clone(), objective.clone(), slurm);
                let lock = paths.journal.with_extension("db-submit");
                Some(Cluster::start(parts, session.job_prefix(), &lock, sender.clone(), stop.clone())?)
            }
            None => {
                without_jobs(&session, paths)?;
                None
            }
        };
        Ok(Run {
            display: Display::new(json, &study, &session),
            evaluator,
            cluster,
            open_jobs,
            lost: Vec::new(),
            task: Task::Study,
            on_failure: objective.on_failure,
            workers: study.workers,
            failures_allowed: objective.failures_in_a_row(study.workers),
            failed_again: 0,
            deadline: study.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            session,
            queue: VecDeque::new(),
            running: BTreeMap::new(),
            told: Vec::new(),
            by: format!("labcat {purpose} (process {})", std::process::id()),
            paths: paths.clone(),
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
    fn go(mut self) -> Result<(), Failure> {
        let Some(messages) = self.messages.take() else { return Ok(()) };
        let outcome = self.finish(&messages);
        match (outcome, self.display.trouble()) {
            (Ok(()), Some(error)) => Err(Failure::run(format!(
                "cannot write to standard output: {error}; the study itself is intact, see `labcat status {}`",
                self.paths.word()
            ))),
            (outcome, _) => outcome,
        }
    }

    fn finish(&mut self, messages: &Receiver<Message>) -> Result<(), Failure> {
        self.session.nothing_runs();
        self.restarts_shown = self.session.optimizer.restarts().len();
        let what = if self.task == Task::Study { "pending suggestion" } else { "failed evaluation" };
        let begin = Event::Begin { pending: self.queue.len(), what, workers: self.workers };
        self.display.show(&begin, &self.session);
        let outcome = self.evaluations(messages);
        if outcome.is_err() {
            self.end_commands(messages);
        }
        self.display.close();
        let broken = match (outcome, self.halt.take()) {
            (Err(failure), _) => Some((failure, "error")),
            (Ok(()), Some(halt)) => Some((Failure::run(halt.message), halt.stop)),
            (Ok(()), None) => self.stop.requested().then(|| (self.interrupted(), "interrupted")),
        };
        if let Some((failure, stop)) = broken {
            self.display.show(&Event::Broken { failure: &failure, stop }, &self.session);
            return Err(failure);
        }
        if self.task == Task::Again {
            return self.display.after_retry(&self.paths, &self.session);
        }
        let reason = self.stopped.take().unwrap_or_else(|| "budget".to_owned());
        self.display.show(&Event::End { reason: &reason, paths: &self.paths }, &self.session);
        match self.session.optimizer.best() {
            Some(_) => Ok(()),
            None => Err(Failure::run(format!(
                "every evaluation failed; `labcat status {}` shows what the command printed",
                self.paths.word()
            ))),
        }
    }

    /// The command that goes on with what is left to do.
    fn again(&self) -> String {
        match self.task {
            Task::Study => format!("labcat run {}", self.paths.word()),
            Task::Again => format!("labcat retry {} --failed", self.paths.word()),
        }
    }

    fn interrupted(&self) -> Failure {
        let what = if self.task == Task::Study { "resumes the study" } else { "runs what is left" };
        Failure::interrupted(format!("interrupted; `{}` {what}", self.again()))
    }

    /// Keeps the workers busy until there is nothing left to do. What a worker has sent is taken in before anything can fail.
    fn evaluations(&mut self, messages: &Receiver<Message>) -> Result<(), Failure> {
        // The first transaction is brought into the file at once: a copy that was made before is then known from it.
        let mut idle = true;
        loop {
            let next = self.next_suggestions();
            next.iter().for_each(|suggestion| self.session.started(suggestion.id));
            let submissions = self.submissions(&next)?;
            self.session.commit()?;
            self.announce();
            if idle || self.settled.elapsed() > SETTLED_WITHIN {
                self.session.settle()?;
                self.settled = Instant::now();
            }
            for suggestion in next {
                self.start(suggestion)?;
            }
            self.submit(submissions);
            if self.running.is_empty() {
                return Ok(());
            }
            self.display.tick(&self.session, self.running.len());
            let message = messages.recv_timeout(TICK);
            idle = message.is_err();
            match message {
                Ok(Message::Ended { id, evaluated }) => self.take(id, evaluated)?,
                Ok(Message::Job(news)) => self.learn(*news),
                Ok(Message::Signal) if !self.stop.at_once() => self.display.note("ending the running evaluations …"),
                Ok(Message::Signal) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    /// A suggestion for each idle worker, pending ones first.
    fn next_suggestions(&mut self) -> Vec<Suggestion> {
        let mut next = self.with_open_jobs();
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

    fn start(&mut self, suggestion: Suggestion) -> Result<(), Failure> {
        let Suggestion { id, x } = suggestion;
        let head = Head { study: self.session.study.clone(), id: id.0, x: x.clone(), by: self.by.clone() };
        let claim = Claim::take(&self.paths.journal, head)?;
        self.display.show(&Event::Suggested { id, x: &x }, &self.session);
        self.running.insert(id, (x.clone(), claim));
        if self.cluster.is_some() {
            return Ok(());
        }
        let (evaluator, stop, sender) = (self.evaluator.clone(), self.stop.clone(), self.sender.clone());
        let spawned = thread::Builder::new().spawn(move || {
            let evaluated = evaluator.evaluate(id.0, &x, &stop);
            // Nobody listens any more when the run has failed meanwhile.
            let _ = sender.send(Message::Ended { id, evaluated });
        });
        if let Err(error) = spawned {
            self.release(id);
            self.halt = Some(Halt { stop: "error", message: format!("cannot start another worker: {error}") });
        }
        Ok(())
    }

    /// An evaluation is no longer in hand, and there is no result of it.
    fn release(&mut self, id: TrialId) {
        if let Some((_, claim)) = self.running.remove(&id) {
            claim.release();
        }
    }

    /// Takes in the end of an evaluation.
    fn take(&mut self, id: TrialId, evaluated: Evaluated) -> Result<(), Failure> {
        let record = match evaluated {
            Evaluated::Ended(record) => Box::new(self.session.fitting(*record)),
            Evaluated::Interrupted => {
                self.release(id);
                return Ok(());
            }
            Evaluated::Impossible(why) => {
                self.release(id);
                self.halt = Some(Halt { stop: "error", message: to_be_fixed(&why, &self.again()) });
                return Ok(());
            }
        };
        let Some((x, claim)) = self.running.remove(&id) else { return Ok(()) };
        let before = match self.task {
            Task::Study => self.session.failures_in_a_row(),
            Task::Again => self.failed_again,
        };
        match self.judge(id, &record, before) {
            Verdict::LeaveAndEnd(message) => {
                self.halt = Some(Halt { stop: "error", message });
                self.session.attempted(id, *record);
                claim.release();
                return Ok(());
            }
            Verdict::TellAndEnd(message) if self.halt.is_none() => self.halt = Some(Halt { stop: "failures", message }),
            Verdict::TellAndEnd(_) | Verdict::Tell => {}
        }
        self.failed_again = if record.reading.is_some() { 0 } else { before + 1 };
        let best = |session: &Session| session.optimizer.best().map(|best| best.id);
        let before = best(&self.session);
        // Kept at hand until it is durable.
        self.told.push((Told { id, x, record: record.clone(), improved: false }, claim));
        match self.task {
            Task::Study => self.session.tell(id, *record)?,
            Task::Again => self.session.retried(id, *record)?,
        }
        let improved = best(&self.session) != before;
        if let Some((told, _)) = self.told.last_mut() {
            told.improved = improved;
        }
        Ok(())
    }

    fn judge(&self, id: TrialId, record: &Record, before: usize) -> Verdict {
        let on_failure = if self.task == Task::Study { self.on_failure } else { OnFailure::Penalize };
        let (again, word) = (format!("labcat run {}", self.paths.word()), self.paths.word());
        Rules { on_failure, limit: self.failures_allowed, again: &again, word: &word }.judge(id, record, before)
    }

    /// Shows what has become durable.
    fn announce(&mut self) {
        for (told, claim) in std::mem::take(&mut self.told) {
            claim.release();
            self.display.show(&Event::Evaluated(&told), &self.session);
        }
        let restarts = self.session.optimizer.restarts().to_vec();
        for restart in &restarts[self.restarts_shown.min(restarts.len())..] {
            self.display.show(&Event::Restarted(restart), &self.session);
        }
        self.restarts_shown = restarts.len();
    }

    /// After a failure of our own nothing is left running, and what was measured is kept.
    fn end_commands(&mut self, messages: &Receiver<Message>) {
        let (word, again) = (self.paths.word(), self.task == Task::Again);
        for (told, mut claim) in std::mem::take(&mut self.told) {
            self.display.note(&keep(&mut claim, told.id.0, &told.record, again, &word));
        }
        if self.cluster.take().is_some() {
            // Jobs go on: the next run finds them.
            std::mem::take(&mut self.running).into_values().for_each(|(_, claim)| claim.release());
            return;
        }
        self.stop.request();
        self.stop.request();
        let give_up = Instant::now() + ENDED_WITHIN;
        while !self.running.is_empty() {
            match messages.recv_timeout(give_up.saturating_duration_since(Instant::now())) {
                Ok(Message::Ended { id, evaluated: Evaluated::Ended(record) }) => {
                    if let Some((_, mut claim)) = self.running.remove(&id) {
                        self.display.note(&keep(&mut claim, id.0, &record, again, &word));
                    }
                }
                Ok(Message::Ended { id, .. }) => self.release(id),
                Ok(Message::Signal | Message::Job(_)) => {}
                Err(_) => return,
            }
        }
    }
}
