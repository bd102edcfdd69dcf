//! The programs of Slurm: `sbatch`, `squeue`, `sacct` and `scancel`.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::process::{self, End, Stop};

/// How long one of them may take before Slurm counts as unreachable.
const PATIENCE: Duration = Duration::from_secs(120);
/// How much of what they print is kept.
const PRINTED: usize = 64 * 1024;

/// Why a program of Slurm failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// Slurm does not answer: what was asked may or may not have been done.
    Silent(String),
    /// It takes no more jobs for now.
    Full(String),
    /// What was asked cannot be done.
    Refused(String),
    /// There is no such program.
    Absent(String),
}

impl Trouble {
    /// Why, in words.
    pub(super) fn why(self) -> String {
        match self {
            Trouble::Silent(why) | Trouble::Full(why) | Trouble::Refused(why) | Trouble::Absent(why) => why,
        }
    }
}

/// A job as Slurm lists it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) number: String,
    pub(super) state: String,
    /// Why it waits, or why it ended so.
    pub(super) reason: String,
}

impl Listed {
    /// Whether it has ended, one way or another.
    pub(super) fn is_over(&self) -> bool {
        const OVER: [&str; 10] = [
            "COMPLETED",
            "FAILED",
            "TIMEOUT",
            "CANCELLED",
            "OUT_OF_MEMORY",
            "NODE_FAIL",
            "PREEMPTED",
            "BOOT_FAIL",
            "DEADLINE",
            "REVOKED",
        ];
        OVER.contains(&self.state.as_str())
    }
}

/// Submits a script; gives the job's number. A controller that is just coming up says strange things: what it refuses is tried twice.
pub(super) fn submit(script: &Path, directory: &Path, name: &str, options: &[String]) -> Result<String, Trouble> {
    match try_submit(script, directory, name, options) {
        Err(Trouble::Refused(_)) => {}
        other => return other,
    }
    thread::sleep(Duration::from_secs(1));
    match list(name)?.remove(name) {
        Some(job) => Ok(job.number),
        None => try_submit(script, directory, name, options),
    }
}

fn try_submit(script: &Path, directory: &Path, name: &str, options: &[String]) -> Result<String, Trouble> {
    let log = script.with_file_name("slurm.log").to_string_lossy().replace('%', "%%");
    let mut command = program("sbatch");
    command.arg("--parsable").args(options).arg("--no-requeue");
    command.arg(format!("--job-name={name}")).arg(format!("--output={log}")).arg(format!("--error={log}"));
    command.arg("--chdir").arg(directory).arg(script);
    let printed = output(command)?;
    let number = printed.lines().last().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_owned();
    match number.parse::<u64>() {
        Ok(_) => Ok(number),
        Err(_) => Err(Trouble::Silent(format!("sbatch printed {printed:?} instead of a job number"))),
    }
}

/// The user's jobs whose names begin with `prefix`, by name: those in the queue, and those that ended a short time ago.
pub(super) fn list(prefix: &str) -> Result<HashMap<String, Listed>, Trouble> {
    let mut command = program("squeue");
    command.args(["--noheader", "--me", "--states=all", "--format=%i|%T|%j|%r"]);
    Ok(listed(&output(command)?, prefix))
}

fn listed(printed: &str, prefix: &str) -> HashMap<String, Listed> {
    let job = |line: &str| {
        let mut parts = line.trim().splitn(4, '|').map(str::to_owned);
        let (number, state, name) = (parts.next()?, parts.next()?, parts.next()?);
        name.starts_with(prefix).then(|| (name, Listed { number, state, reason: parts.next().unwrap_or_default() }))
    };
    printed.lines().filter_map(job).collect()
}

/// What the accounting knows of a job that Slurm lists no more; nothing where there is no accounting.
pub(super) fn accounted(name: &str) -> Option<Listed> {
    let mut command = program("sacct");
    command.args(["--noheader", "--parsable2", "--allocations", "--starttime=now-60days", "--format=JobIDRaw,State"]);
    command.arg(format!("--name={name}"));
    let printed = output(command).ok()?;
    let (number, state) = printed.lines().last()?.split_once('|')?;
    // `CANCELLED by 1000`
    let state = state.split_whitespace().next()?.to_owned();
    Some(Listed { number: number.to_owned(), state, reason: String::new() })
}

/// Cancels jobs.
pub(super) fn cancel<'a>(numbers: impl Iterator<Item = &'a str>) -> Result<(), Trouble> {
    let numbers: Vec<&str> = numbers.collect();
    match numbers.is_empty() {
        true => Ok(()),
        false => {
            let mut command = program("scancel");
            command.arg("--quiet").args(numbers);
            output(command).map(drop)
        }
    }
}

/// A program of Slurm. If this process is itself part of a job, its settings are not those of the jobs it submits.
fn program(name: &str) -> Command {
    const KEPT: [&str; 4] = ["SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_CONF_SERVER"];
    let mut command = Command::new(name);
    for (variable, _) in env::vars_os() {
        let of_a_job = |text: &str| text.starts_with("SLURM") && !KEPT.contains(&text);
        if variable.to_str().is_some_and(of_a_job) {
            command.env_remove(variable);
        }
    }
    command
}

/// Runs a program to its end and gives what it printed.
fn output(command: Command) -> Result<String, Trouble> {
    let name = command.get_program().to_string_lossy().into_owned();
    let finished = process::run(command, Some(PATIENCE), PRINTED, &Stop::default()).map_err(|error| {
        Trouble::Absent(format!("cannot start `{name}`: {error}; is Slurm installed on this machine?"))
    })?;
    let said = finished.stderr.text();
    match finished.end {
        End::Exited(status) if status.success() => Ok(finished.stdout.searched().0),
        End::Exited(_) if name == "sbatch" => Err(trouble(&said)),
        End::Exited(_) => Err(Trouble::Silent(in_one_line(&said))),
        End::TimedOut | End::Interrupted => Err(Trouble::Silent(format!("{name} did not end"))),
    }
}

/// What `sbatch` says: the controller cannot be reached, too many jobs are there at the moment, or it cannot be done.
fn trouble(said: &str) -> Trouble {
    const SILENT: [&str; 8] = [
        "contact slurm controller",
        "onnection",
        "timed out",
        "Zero Bytes",
        "not responding",
        "ommunication",
        "emporarily",
        " socket",
    ];
    const FULL: [&str; 4] = ["SubmitLimit", "MaxSubmitJob", "job submit limit", "maximum job limit"];
    let (is, why) = (|signs: &[&str]| signs.iter().any(|sign| said.contains(sign)), in_one_line(said));
    match (is(&SILENT), is(&FULL)) {
        (true, _) => Trouble::Silent(why),
        (false, true) => Trouble::Full(why),
        (false, false) => Trouble::Refused(why),
    }
}

/// What was said, without the parts that are of no use to people.
fn in_one_line(said: &str) -> String {
    let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.map(|line| line.split_once("error: ").map_or(line, |(_, rest)| rest)).collect();
    if lines.is_empty() { "it gives no reason".to_owned() } else { lines.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_other_studies_are_not_seen() {
        let printed = "12|RUNNING|labcat-ab-3-1|None\n13|PENDING|labcat-cd-3-1|Priority\n14|CANCELLED|labcat-ab-4-2|a | b\nnoise\n";
        let jobs = listed(printed, "labcat-ab-");
        assert_eq!(jobs.len(), 2);
        let job = |number: &str, state: &str, reason: &str| Listed {
            number: number.to_owned(),
            state: state.to_owned(),
            reason: reason.to_owned(),
        };
        assert_eq!(jobs["labcat-ab-3-1"], job("12", "RUNNING", "None"));
        assert_eq!(jobs["labcat-ab-4-2"], job("14", "CANCELLED", "a | b"));
        assert!(jobs["labcat-ab-4-2"].is_over() && !jobs["labcat-ab-3-1"].is_over());
    }

    #[test]
    fn what_may_pass_is_told_from_what_cannot_be() {
        for said in [
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
            "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
            "slurm_load_jobs error: Connection reset by peer",
        ] {
            assert!(matches!(trouble(said), Trouble::Silent(_)), "{said}");
        }
        let full = "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates \
                    accounting/QOS policy (job submit limit, user's size and/or time limits)";
        assert!(matches!(trouble(full), Trouble::Full(_)));
        for said in [
            "sbatch: error: invalid partition specified: nowhere",
            "sbatch: error: Batch job submission failed: Requested node configuration is not available",
            "sbatch: unrecognized option '--tim=3'",
        ] {
            assert!(matches!(trouble(said), Trouble::Refused(_)), "{said}");
        }
        assert_eq!(in_one_line("sbatch: error: a\n\nsbatch: error: b c\n"), "a; b c");
    }
}
