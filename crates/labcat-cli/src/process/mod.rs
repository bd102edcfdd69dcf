//! Running a program to its end: its own session without a terminal, bounded output, a deadline, and interruption.

mod capture;
mod orphans;
mod stop;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use process_wrap::std::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

pub(crate) use capture::{Capture, SEARCHED};
pub(crate) use orphans::{ID, JOURNAL, end_orphans, of_journal};
pub(crate) use stop::{Stop, ignore_file_size_signal};

/// How often a running program is looked at for deadlines, interruption and output that others hold open.
const TICK: Duration = Duration::from_millis(50);
/// How long a process group may take to end itself before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) end: End,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) seconds: f64,
}

/// Runs the program to its end, its deadline or an interruption; then nothing of its process group is left.
/// `shown` bytes of each output are kept for people.
pub(crate) fn run(mut command: Command, timeout: Option<Duration>, shown: usize, stop: &Stop) -> io::Result<Finished> {
    let started = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(command)?;
    let group = Pid::from_raw(child.id() as i32).ok_or_else(|| io::Error::other("a program without a number"))?;
    let mut running = Running {
        group,
        streams: [
            Stream::new(child.stdout().take().map(Into::into), Capture::new(shown, SEARCHED)),
            Stream::new(child.stderr().take().map(Into::into), Capture::new(shown, 0)),
        ],
        deadline: timeout.and_then(|timeout| started.checked_add(timeout)),
        ending: None,
    };
    let followed = running.follow(stop);
    // The leader is not reaped yet, so its group's number cannot belong to anyone else.
    let _ = kill_process_group(group, Signal::KILL);
    running.streams.iter_mut().for_each(Stream::drain);
    let status = child.wait()?;
    followed?;
    let [stdout, stderr] = running.streams.map(|stream| stream.kept);
    let end = running.ending.map_or(End::Exited(status), |ending| ending.reason);
    Ok(Finished { end, status, stdout, stderr, seconds: started.elapsed().as_secs_f64() })
}

/// Starts a program in a process group of its own, without a terminal that it could wait for: in a session of its own where there is one.
fn spawn(mut command: Command) -> io::Result<Box<dyn ChildWrapper>> {
    if has_terminal() {
        return Ok(CommandWrap::from(command).wrap(ProcessSession).spawn()?.into_inner());
    }
    Ok(Box::new(command.process_group(0).spawn()?))
}

/// Whether this process has a terminal that controls it.
fn has_terminal() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| File::open("/dev/tty").is_ok())
}

/// The words for an exit status that is not success.
pub(crate) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// A program that runs.
struct Running {
    group: Pid,
    streams: [Stream; 2],
    deadline: Option<Instant>,
    ending: Option<Ending>,
}

/// The group has been asked to end.
struct Ending {
    reason: End,
    kill_at: Instant,
}

impl Running {
    /// Reads output until the program has exited (and is not yet reaped).
    fn follow(&mut self, stop: &Stop) -> io::Result<()> {
        let mut nap = Duration::from_micros(50);
        loop {
            if self.streams.iter().all(|stream| stream.pipe.is_none()) {
                thread::sleep(nap);
                nap = (nap * 2).min(TICK);
            } else {
                self.read(TICK)?;
            }
            if exited(self.group)? {
                return Ok(());
            }
            self.keep_deadlines(stop);
        }
    }

    /// Waits for output at most `limit` and takes it in.
    fn read(&mut self, limit: Duration) -> io::Result<()> {
        let left =
            self.deadline.map_or(limit, |deadline| deadline.saturating_duration_since(Instant::now()).min(limit));
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut fds: Vec<PollFd<'_>> =
            self.streams.iter().filter_map(|s| s.pipe.as_ref()).map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => Ok(()),
            Ok(_) => {
                self.streams.iter_mut().for_each(|stream| {
                    stream.take_in();
                });
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Asks the group to end when its time is over or the user interrupts, and kills it when it does not listen.
    fn keep_deadlines(&mut self, stop: &Stop) {
        let now = Instant::now();
        if let Some(ending) = &self.ending {
            if now >= ending.kill_at || stop.at_once() {
                let _ = kill_process_group(self.group, Signal::KILL);
            }
            return;
        }
        let reason = if stop.requested() {
            End::Interrupted
        } else if self.deadline.is_some_and(|deadline| now >= deadline) {
            End::TimedOut
        } else {
            return;
        };
        let _ = kill_process_group(self.group, Signal::TERM);
        self.deadline = None;
        self.ending = Some(Ending { reason, kill_at: now + GRACE });
    }
}

/// Whether the leader of the group has ended; it stays a zombie.
fn exited(leader: Pid) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::Pid(leader), options) {
        Ok(status) => Ok(status.is_some()),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// One output of the program; the pipe is `None` once it is closed.
struct Stream {
    pipe: Option<std::fs::File>,
    kept: Capture,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>, kept: Capture) -> Stream {
        if let Some(pipe) = &pipe {
            set_nonblocking(pipe);
        }
        Stream { pipe: pipe.map(Into::into), kept }
    }

    /// Takes in one buffer of what is there; false when there is nothing more for now.
    fn take_in(&mut self) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        let mut buffer = [0_u8; 64 * 1024];
        match pipe.read(&mut buffer) {
            Ok(0) => self.pipe = None,
            Ok(n) => {
                self.kept.push(&buffer[..n]);
                return true;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.pipe = None,
        }
        false
    }

    /// Takes in what is left in the pipe of a program that has ended.
    fn drain(&mut self) {
        // A pipe holds at most a few buffers; a process that escaped the group must not keep us here for ever.
        for _ in 0..64 {
            if !self.take_in() {
                break;
            }
        }
    }
}

fn set_nonblocking(fd: impl AsFd) {
    if let Ok(flags) = fcntl_getfl(&fd) {
        let _ = fcntl_setfl(&fd, flags | OFlags::NONBLOCK);
    }
}
