//! Programs that a killed process has left running. Each carries the study's journal and the number of its evaluation in its environment.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::GRACE;

/// The variables that tell a program for which evaluation of which study it runs.
pub(crate) const JOURNAL: &str = "LABCAT_journal";
pub(crate) const ID: &str = "LABCAT_id";

/// Ends the programs of an evaluation, or of all, that nobody follows any more: politely, then by force. Where the system does not tell
/// the environment of processes (other than Linux), nothing is found.
pub(crate) fn end_orphans(journal: &Path, id: Option<u64>) {
    let mut marks = vec![variable(JOURNAL, &of_journal(journal))];
    marks.extend(id.map(|id| variable(ID, &id.to_string())));
    let began = Instant::now();
    let mut signal = Some(Signal::TERM);
    loop {
        let left = marked(&marks);
        if left.is_empty() || began.elapsed() > 2 * GRACE {
            return;
        }
        if began.elapsed() > GRACE {
            signal = Some(Signal::KILL);
        }
        for process in signal.into_iter().flat_map(|signal| left.iter().map(move |process| (*process, signal))) {
            let _ = kill_process(process.0, process.1);
        }
        signal = None;
        thread::sleep(Duration::from_millis(20));
    }
}

/// A journal as programs are told of it, the same whatever the directory it is named from.
pub(crate) fn of_journal(journal: &Path) -> String {
    let absolute = std::path::absolute(journal).unwrap_or_else(|_| journal.to_owned());
    let directory = absolute.parent().and_then(|parent| parent.canonicalize().ok());
    let place = directory.zip(absolute.file_name()).map(|(directory, name)| directory.join(name));
    place.unwrap_or(absolute).to_string_lossy().into_owned()
}

fn variable(name: &str, value: &str) -> String {
    format!("{name}={value}")
}

/// The variable that names the job of a scheduler. Another job than the one that this process is part of is the scheduler's to end.
const JOB: &str = "SLURM_JOB_ID";

/// The processes whose environment has all of these variables, but for this one and those of other jobs.
fn marked(marks: &[String]) -> Vec<Pid> {
    let own = std::process::id();
    let job = std::env::var(JOB).ok().map(|job| variable(JOB, &job));
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_marks = |process: &u32| {
        let Ok(environment) = fs::read(format!("/proc/{process}/environ")) else { return false };
        let has = |mark: &String| environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes());
        let begins = variable(JOB, "");
        let in_job = environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(begins.as_bytes()));
        marks.iter().all(has) && (!in_job || job.as_ref().is_some_and(has))
    };
    numbers.filter(|process| *process != own).filter(has_marks).filter_map(|n| Pid::from_raw(n as i32)).collect()
}
