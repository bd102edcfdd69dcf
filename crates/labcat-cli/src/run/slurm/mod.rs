//! Evaluations as jobs of Slurm.
//!
//! One thread communicates with Slurm: it submits, watches and cancels. A job is recorded in the run's journal before it is submitted, under
//! a unique name, so that it can always be found again. A job leaves its result in the evaluation's directory
//! ([`job`]); Slurm is asked only for the state of jobs without a result.

mod client;
mod job;
mod journal;

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use labcat::TrialId;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd};

use super::Message;
use super::evaluate::{Evaluated, Evaluator};
use crate::failure::Failure;
use crate::format::{count, moment};
use crate::journal::{Execution, Job};
use crate::process::Stop;
use crate::study::{Objective, Slurm, duration};
use client::{Listed, Trouble};
use job::{Marker, Place};

/// How often the jobs' directories are looked at.
const LOOK: Duration = Duration::from_millis(200);
/// How soon Slurm may be asked again when something depends on its answer.
const SOON: Duration = Duration::from_secs(1);
/// How long what a job wrote may take to be seen here: file systems keep what they know of a directory for a while.
const SEEN_WITHIN: Duration = Duration::from_secs(60);
/// How long cancelled jobs may take to end before the run ends without them.
const CANCELLED_WITHIN: Duration = Duration::from_secs(15);
/// How often an evaluation may lose its job to the cluster.
const LOSSES: u32 = 5;

/// What the run asks for.
pub(super) enum Order {
    /// The job is in the journal and may be submitted.
    Submit(Submission),
    /// An earlier run has noted the job, and may have submitted it.
    Attach(Submission),
}

/// An evaluation, and the job that it is to be.
#[derive(Clone, Debug)]
pub(super) struct Submission {
    id: TrialId,
    x: Vec<f64>,
    job: Job,
    /// How often its command has failed, and how often it was lost.
    failures: u32,
    losses: u32,
}

impl Submission {
    fn new(id: TrialId, x: Vec<f64>, job: Job) -> Submission {
        Submission { id, x, job, failures: 0, losses: 0 }
    }
}

/// What the run learns.
pub(super) enum News {
    Submitted(Job),
    /// Its job is gone: it needs another.
    Again(Submission),
    /// Its job has ended, and nothing was taken from it.
    Closed(TrialId),
    /// Something that people should know.
    Note(String),
}

/// The thread that speaks with Slurm, from the run's side. Jobs go on when it is dropped.
#[derive(Debug)]
pub(super) struct Cluster(Sender<Order>);

impl Cluster {
    /// Starts the thread. `lock` is the file that `sbatch` holds while it submits, `prefix` what the names of the jobs begin with.
    pub(super) fn start(
        (evaluator, objective, slurm): (Evaluator, Objective, Slurm),
        prefix: String,
        lock: &Path,
        sender: Sender<Message>,
        stop: Stop,
    ) -> Result<Cluster, Failure> {
        let cannot = |error: &dyn std::fmt::Display| Failure::run(format!("cannot lock {}: {error}", lock.display()));
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(lock);
        let lock_file = file.map_err(|error| cannot(&error))?;
        // The programs of Slurm inherit it: one that outlives this process keeps the lock.
        fcntl_setfd(&lock_file, FdFlags::empty()).map_err(|error| cannot(&error))?;
        let (orders, receiver) = channel();
        let mut broker = Broker {
            evaluator,
            objective,
            slurm,
            prefix,
            sender,
            stop,
            waiting: Vec::new(),
            jobs: BTreeMap::new(),
            trouble: None,
            next_look: Instant::now(),
            full_until: None,
            _lock: None,
        };
        let work = move || {
            broker.wait_for_others(lock_file);
            broker.work(&receiver);
        };
        thread::Builder::new().spawn(work).map_err(|error| Failure::run(format!("cannot start a thread: {error}")))?;
        Ok(Cluster(orders))
    }
}

/// A job that was submitted, or may have been.
struct Watched {
    task: Submission,
    place: Place,
    listed: Option<Listed>,
    /// Since when it should have left something, or be listed, and does not.
    missing: Option<Instant>,
    /// The reason to wait that people were told.
    told: String,
}

/// What is known of a job that Slurm was asked for.
enum Fate {
    Running,
    /// It ended in this state.
    Over(Listed),
    /// It never began, and never will.
    Prevented,
    /// It began, and Slurm knows nothing of it.
    Unknown,
}

struct Broker {
    evaluator: Evaluator,
    objective: Objective,
    slurm: Slurm,
    prefix: String,
    sender: Sender<Message>,
    stop: Stop,
    /// To be submitted, in this order.
    waiting: Vec<Submission>,
    jobs: BTreeMap<TrialId, Watched>,
    /// Since when Slurm does not answer.
    trouble: Option<Instant>,
    next_look: Instant,
    /// Slurm takes no more jobs for now: when to try again.
    full_until: Option<Instant>,
    _lock: Option<File>,
}

impl Broker {
    /// An `sbatch` of a run that was killed may still be at work: what it submits must be seen.
    fn wait_for_others(&mut self, lock: File) {
        let mut told = false;
        let held = || flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
        while held() && !self.stop.requested() {
            if !std::mem::replace(&mut told, true) {
                self.note("waiting for an sbatch of an earlier run to end …".to_owned());
            }
            thread::sleep(LOOK);
        }
        self._lock = Some(lock);
    }

    fn work(&mut self, orders: &Receiver<Order>) {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(order) => self.obey(order),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            orders.try_iter().collect::<Vec<_>>().into_iter().for_each(|order| self.obey(order));
            if self.stop.requested() {
                self.cancel_all();
                continue;
            }
            self.collect();
            if Instant::now() >= self.next_look && (!self.jobs.is_empty() || self.trouble.is_some()) {
                self.look();
            }
            self.submit_waiting();
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Submit(task) => self.waiting.push(task),
            Order::Attach(task) => {
                self.watch(task);
                self.next_look = Instant::now();
            }
        }
    }

    fn watch(&mut self, task: Submission) {
        let place = Place::of(&self.evaluator.plan(task.id.0, &task.x), &task.job.name);
        self.jobs.insert(task.id, Watched { place, task, listed: None, missing: None, told: String::new() });
    }

    fn submit_waiting(&mut self) {
        if self.full_until.is_some_and(|until| Instant::now() < until) {
            return;
        }
        while self.trouble.is_none() && !self.stop.requested() && !self.waiting.is_empty() {
            let task = self.waiting.remove(0);
            match self.submit(&task) {
                Ok(number) => {
                    self.full_until = None;
                    let job = Job { number: Some(number), ..task.job.clone() };
                    self.tell(News::Submitted(job.clone()));
                    self.watch(Submission { job, ..task });
                }
                Err(Trouble::Refused(why) | Trouble::Absent(why)) => {
                    self.tell(News::Closed(task.id));
                    self.end(task.id, Evaluated::Impossible(why));
                }
                Err(Trouble::Full(why)) => {
                    self.waiting.insert(0, task);
                    self.full(&why);
                    return;
                }
                Err(Trouble::Silent(why)) => {
                    // It may have been submitted all the same.
                    self.watch(task);
                    self.unreachable(&why);
                }
            }
            self.next_look = self.next_look.min(Instant::now() + self.slurm.poll);
        }
    }

    fn submit(&self, task: &Submission) -> Result<String, Trouble> {
        self.evaluator.make_ready(task.id.0, &task.x).map_err(Trouble::Refused)?;
        let plan = self.evaluator.plan(task.id.0, &task.x);
        let place = Place::of(&plan, &task.job.name);
        let script = place.write_script(&plan, self.objective.timeout).map_err(Trouble::Refused)?;
        client::submit(&script, &plan.place(), &task.job.name, &self.slurm.options).map_err(|trouble| match trouble {
            Trouble::Refused(why) => Trouble::Refused(format!("Slurm does not take evaluation {}: {why}", task.id)),
            other => other,
        })
    }

    /// Takes in what jobs have left. Why a command failed, Slurm may know better than its exit status.
    fn collect(&mut self) {
        let mut ended = Vec::new();
        for (id, job) in &self.jobs {
            if let Some(marker) = job.place.marker() {
                let is_over = job.listed.as_ref().is_some_and(Listed::is_over);
                match marker.exit == 0 || marker.is_timeout() || is_over {
                    true => ended.push((*id, marker)),
                    false => self.next_look = self.next_look.min(Instant::now() + SOON),
                }
            }
        }
        for (id, marker) in ended {
            let Some(job) = self.jobs.remove(&id) else { continue };
            let failed = marker.exit != 0 && !marker.is_timeout();
            match job.listed.clone().filter(|_| failed) {
                Some(listed) => self.conclude(job, &listed, Some(&marker)),
                None => self.judge(job, &marker),
            }
        }
    }

    /// Asks Slurm how the jobs are.
    fn look(&mut self) {
        self.next_look = Instant::now() + self.slurm.poll;
        let listed = match client::list(&self.prefix) {
            Ok(listed) => listed,
            Err(trouble) => return self.unreachable(&trouble.why()),
        };
        if let Some(since) = self.trouble.take() {
            self.note(format!("Slurm answers again, after {}", duration::show(since.elapsed())));
        }
        let ids: Vec<TrialId> = self.jobs.keys().copied().collect();
        for id in ids {
            if let Some(job) = self.jobs.remove(&id) {
                self.decide(job, &listed);
            }
        }
    }

    /// Goes on with a job after Slurm was asked.
    fn decide(&mut self, mut job: Watched, listed: &HashMap<String, Listed>) {
        match self.fate(&mut job, listed) {
            Fate::Running => job.missing = None,
            // What it left is taken in first, if it can be seen.
            Fate::Over(over) => {
                job.listed = Some(over.clone());
                if job.place.marker().is_none() {
                    return self.conclude(job, &over, None);
                }
            }
            Fate::Prevented => {
                return match job.task.job.number {
                    Some(_) => self.lost(job, "Slurm does not know its job, which never began", 1),
                    None => self.lost(job, "its job was recorded but never submitted", 0),
                };
            }
            Fate::Unknown if job.place.marker().is_some_and(|marker| marker.exit != 0) => {
                let over = Listed { number: String::new(), state: "FAILED".to_owned(), reason: String::new() };
                job.listed = Some(over);
            }
            Fate::Unknown => {
                if self.is_overdue(&mut job) {
                    return self.lost(job, "its job is gone and has left no result", 1);
                }
            }
        }
        self.jobs.insert(job.task.id, job);
    }

    fn fate(&self, job: &mut Watched, listed: &HashMap<String, Listed>) -> Fate {
        let Some(found) = listed.get(&job.task.job.name) else {
            return match client::accounted(&job.task.job.name).filter(Listed::is_over) {
                Some(over) => Fate::Over(over),
                None if job.place.prevent() => Fate::Prevented,
                None => Fate::Unknown,
            };
        };
        if job.task.job.number.as_ref() != Some(&found.number) {
            job.task.job.number = Some(found.number.clone());
            self.tell(News::Submitted(job.task.job.clone()));
        }
        if found.is_over() {
            return Fate::Over(found.clone());
        }
        let ordinary = ["None", "Resources", "Priority", "", "BeginTime"];
        if found.state == "PENDING" && !ordinary.contains(&found.reason.as_str()) && job.told != found.reason {
            job.told.clone_from(&found.reason);
            self.note(format!("job {} of evaluation {} waits: {}", found.number, job.task.id, found.reason));
        }
        job.listed = Some(found.clone());
        Fate::Running
    }

    /// A job has ended in a state that says more than its exit status, or left nothing.
    fn conclude(&mut self, mut job: Watched, listed: &Listed, marker: Option<&Marker>) {
        let Listed { number, state, .. } = listed;
        let what = format!("Slurm job {number} ended as {state}");
        match state.as_str() {
            "NODE_FAIL" | "PREEMPTED" | "BOOT_FAIL" | "REVOKED" => self.lost(job, &what, 1),
            "CANCELLED" if job.place.was_cancelled() => self.lost(job, "its job was cancelled by an earlier run", 0),
            // Without a try there is nothing to be learnt of the point.
            "CANCELLED" if marker.is_none() && job.place.prevent() => {
                self.lost(job, &format!("{what} before it began"), 1);
            }
            "CANCELLED" => self.failed(job, format!("{what}: somebody cancelled it"), false, marker),
            "TIMEOUT" | "DEADLINE" => {
                self.failed(job, format!("{what}: its time limit in Slurm was over"), true, marker)
            }
            "OUT_OF_MEMORY" => self.failed(job, format!("{what}: it needs more than the memory it has"), false, marker),
            _ => match marker {
                Some(marker) => self.judge(job, marker),
                None if job.place.prevent() => self.not_shared(&job, &what),
                None if self.is_overdue(&mut job) && job.place.was_restarted() => self.lost(job, &what, 1),
                None if self.is_overdue(&mut job) => {
                    self.failed(job, format!("{what} before its command did"), false, None);
                }
                None => {
                    self.jobs.insert(job.task.id, job);
                    self.next_look = self.next_look.min(Instant::now() + SOON);
                }
            },
        }
    }

    /// A job has ended and its script never began: its node did not find the directory.
    fn not_shared(&self, job: &Watched, what: &str) {
        let (id, place) = (job.task.id, self.evaluator.plan(job.task.id.0, &job.task.x).place());
        self.tell(News::Closed(id));
        self.end(
            id,
            Evaluated::Impossible(format!(
                "{what} and left nothing in {}: the directories of evaluations must be on a file system that the nodes of the \
                 cluster share with this machine",
                place.display()
            )),
        );
    }

    /// Whether something that should be seen was not for a long time.
    fn is_overdue(&self, job: &mut Watched) -> bool {
        job.missing.get_or_insert_with(Instant::now).elapsed() > SEEN_WITHIN
    }

    /// The command ended, by itself or at the study's time limit.
    fn judge(&mut self, job: Watched, marker: &Marker) {
        let finished = job.place.finished(Some(marker), self.objective.keep_output);
        if let Some(why) = job.place.cannot_start(marker, &finished) {
            self.tell(News::Closed(job.task.id));
            return self.end(job.task.id, Evaluated::Impossible(why));
        }
        let plan = self.evaluator.plan(job.task.id.0, &job.task.x);
        let ran = execution(&plan.execution(), Some(marker), &finished.status);
        let evaluated = self.evaluator.judge(finished, &job.task.x, &plan.files, ran);
        self.ended(job.task, evaluated);
    }

    /// The job failed, for a reason that Slurm gives.
    fn failed(&mut self, job: Watched, why: String, timeout: bool, marker: Option<&Marker>) {
        let mut finished = job.place.finished(marker, self.objective.keep_output);
        let plan = self.evaluator.plan(job.task.id.0, &job.task.x);
        let mut ran = execution(&plan.execution(), marker, &finished.status);
        if marker.is_none() {
            let (host, started) = job.place.beginning().unwrap_or_else(|| (String::new(), moment()));
            finished.seconds = (moment() - started).max(0.0);
            ran = Execution { host, started, ended: moment(), ..ran };
        }
        let evaluated = self.evaluator.recorded(Err(why), timeout, finished, ran);
        self.ended(job.task, evaluated);
    }

    /// Tells the run, or has the command run again after a failure as often as the study wants.
    fn ended(&mut self, task: Submission, evaluated: Evaluated) {
        let evaluated = match evaluated {
            Evaluated::Ended(mut record) => {
                let failures = task.failures + u32::from(record.reading.is_none());
                if record.reading.is_none() && failures <= self.objective.retries {
                    return self.tell(News::Again(Submission { failures, ..task }));
                }
                record.attempts = task.failures + 1;
                Evaluated::Ended(record)
            }
            other => other,
        };
        self.end(task.id, evaluated);
    }

    /// The cluster lost the job, which is no fault of the point: it is submitted again.
    fn lost(&mut self, job: Watched, why: &str, losses: u32) {
        let task = Submission { losses: job.task.losses + losses, ..job.task };
        if task.losses > LOSSES {
            self.tell(News::Closed(task.id));
            let why = format!("evaluation {} was lost {} times, the last time because {why}", task.id, task.losses);
            return self.end(task.id, Evaluated::Impossible(why));
        }
        self.note(format!("evaluation {} needs another job: {why}", task.id));
        self.tell(News::Again(task));
    }

    /// Cancels everything: the user has interrupted the run.
    fn cancel_all(&mut self) {
        for task in std::mem::take(&mut self.waiting) {
            self.tell(News::Closed(task.id));
            self.end(task.id, Evaluated::Interrupted);
        }
        self.collect();
        self.jobs.values().for_each(|job| job.place.note_cancellation());
        let give_up = Instant::now() + CANCELLED_WITHIN;
        while !self.jobs.is_empty() && !self.stop.at_once() && Instant::now() < give_up {
            let listed = match client::list(&self.prefix) {
                Ok(listed) => listed,
                Err(trouble) => {
                    self.note(format!("Slurm does not answer ({})", trouble.why()));
                    break;
                }
            };
            let running =
                self.jobs.values().filter_map(|job| listed.get(&job.task.job.name)).filter(|job| !job.is_over());
            let _ = client::cancel(running.map(|job| job.number.as_str()));
            let is_over = |job: &Watched| match listed.get(&job.task.job.name) {
                Some(listed) => listed.is_over(),
                None => job.place.prevent(),
            };
            let over: Vec<TrialId> = self.jobs.iter().filter(|(_, job)| is_over(job)).map(|(id, _)| *id).collect();
            for id in over {
                self.close(id);
            }
            thread::sleep(LOOK);
        }
        if !self.jobs.is_empty() {
            let left = count(self.jobs.len(), "job");
            self.note(format!("{left} may still be in Slurm's queue; the next `labcat run` finds them again"));
        }
        for id in std::mem::take(&mut self.jobs).into_keys() {
            self.end(id, Evaluated::Interrupted);
        }
    }

    /// A cancelled job has ended; it may have been done before.
    fn close(&mut self, id: TrialId) {
        let Some(job) = self.jobs.remove(&id) else { return };
        match job.place.marker().filter(|marker| marker.exit == 0) {
            Some(marker) => self.judge(job, &marker),
            None => {
                self.tell(News::Closed(id));
                self.end(id, Evaluated::Interrupted);
            }
        }
    }

    fn full(&mut self, why: &str) {
        if self.full_until.replace(Instant::now() + self.slurm.poll).is_none() {
            self.note(format!("Slurm accepts no more jobs for now ({why}): waiting; running jobs continue"));
        }
    }

    fn unreachable(&mut self, why: &str) {
        self.next_look = Instant::now() + self.slurm.poll.min(Duration::from_secs(5));
        if self.trouble.is_none() {
            self.trouble = Some(Instant::now());
            self.note(format!("Slurm does not answer ({why}): waiting; running jobs continue"));
        }
    }

    fn note(&self, text: String) {
        self.tell(News::Note(text));
    }

    fn end(&self, id: TrialId, evaluated: Evaluated) {
        // Nobody listens any more when the run has failed meanwhile.
        let _ = self.sender.send(Message::Ended { id, evaluated });
    }

    fn tell(&self, news: News) {
        let _ = self.sender.send(Message::Job(Box::new(news)));
    }
}

/// How a command was run, as its job tells.
fn execution(planned: &Execution, marker: Option<&Marker>, status: &std::process::ExitStatus) -> Execution {
    use std::os::unix::process::ExitStatusExt;
    let Some(marker) = marker else { return planned.clone() };
    Execution {
        host: marker.host.clone(),
        started: marker.started,
        ended: marker.ended,
        exit: status.code(),
        signal: status.signal(),
        ..planned.clone()
    }
}
