//! One job: the script that Slurm runs, and the files it leaves in the evaluation's directory.
//!
//! `DIRECTORY/.labcat/NAME/` holds `job.sh`; `claim/`, whose creator may run the command; `stdout` and `stderr` of
//! the command; and `end`, renamed into place when it is complete.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use super::super::evaluate::Plan;
use crate::process::{Capture, End, Finished, SEARCHED};

/// More of an output than this is not read whole: its beginning and its end are.
const READ_WHOLE: u64 = 64 * 1024 * 1024;
/// How `timeout` ends when the time was over: by itself, or because the command had to be killed.
const TIMED_OUT: [i32; 2] = [124, 137];
/// How long a command may take to end itself before it is killed, in seconds.
const GRACE: u32 = 3;

/// What a job leaves, in a directory of its own.
#[derive(Clone, Debug)]
pub(super) struct Place(PathBuf);

/// How the command of a job ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Marker {
    pub(super) exit: i32,
    pub(super) host: String,
    pub(super) started: f64,
    pub(super) ended: f64,
    /// The time limit of the command, if it has one.
    limit: Option<f64>,
}

impl Place {
    pub(super) fn of(plan: &Plan, name: &str) -> Place {
        Place(plan.place().join(".labcat").join(name))
    }

    /// Writes the script that runs the command; gives its path.
    pub(super) fn write_script(&self, plan: &Plan, timeout: Option<Duration>) -> Result<PathBuf, String> {
        let script = self.0.join("job.sh");
        let cannot = |error: io::Error| format!("cannot write {}: {error}", script.display());
        fs::create_dir_all(&self.0).map_err(cannot)?;
        let text = self.script(plan, timeout).ok_or_else(|| {
            format!("the path {} is not UTF-8: a study for Slurm needs one that is", self.0.display())
        })?;
        fs::write(&script, text).map_err(cannot)?;
        Ok(script)
    }

    fn script(&self, plan: &Plan, timeout: Option<Duration>) -> Option<String> {
        let directory = plan.place();
        let limit = timeout.map(|limit| limit.as_secs_f64().to_string());
        let command = plan.environment.iter().map(|(name, value)| format!("{name}={value}"));
        let command: Vec<String> = command.map(|word| quoted(&word)).collect();
        let words: Vec<String> = plan.words.iter().map(|word| quoted(word)).collect();
        Some(format!(
            "#!/bin/sh\n\
             # One evaluation of a labcat study. Whoever makes `claim` runs the command; `end` is there when all the rest is.\n\
             state={}\n\
             cd {} || exit 66\n\
             mkdir \"$state/claim\" 2>/dev/null || {{ touch \"$state/again\"; exit 67; }}\n\
             started=$(date +%s.%N)\n\
             printf 'host %s\\nstarted %s\\n' \"$(hostname)\" \"$started\" >\"$state/claim/job\"\n\
             env {} timeout -k {GRACE} {} {} </dev/null >\"$state/stdout\" 2>\"$state/stderr\"\n\
             exit=$?\n\
             printf 'exit %s\\nstarted %s\\nended %s\\nhost %s\\nlimit %s\\n' \"$exit\" \"$started\" \"$(date +%s.%N)\" \"$(hostname)\" {} \\\n  \
             >\"$state/end.part\" && mv \"$state/end.part\" \"$state/end\"\n\
             exit \"$exit\"\n",
            quoted(self.0.to_str()?),
            quoted(directory.to_str()?),
            command.join(" "),
            limit.as_deref().unwrap_or("0"), // no limit
            words.join(" "),
            quoted(limit.as_deref().unwrap_or("none")),
        ))
    }

    /// Makes sure that a job that has not begun never will; false if it has.
    pub(super) fn prevent(&self) -> bool {
        fs::create_dir(self.0.join("claim")).is_ok() || !self.0.exists()
    }

    /// Whether it was started once more, which the script refuses: Slurm had forgotten that it had begun.
    pub(super) fn was_restarted(&self) -> bool {
        self.0.join("again").exists()
    }

    /// We are about to cancel the job.
    pub(super) fn note_cancellation(&self) {
        // Without it, the next run takes the job for one that somebody else has cancelled.
        let _ = fs::write(self.0.join("cancelled"), "");
    }

    /// Whether we have cancelled it.
    pub(super) fn was_cancelled(&self) -> bool {
        self.0.join("cancelled").exists()
    }

    /// How the command ended; `None` as long as it has not.
    pub(super) fn marker(&self) -> Option<Marker> {
        Marker::parse(&fs::read_to_string(self.0.join("end")).ok()?)
    }

    /// Why the command could not be started at all on its node.
    pub(super) fn cannot_start(&self, marker: &Marker, finished: &Finished) -> Option<String> {
        let said = finished.stderr.text();
        let line = said.lines().find(|line| line.starts_with("timeout: failed to run command"))?;
        let why = line.trim_start_matches("timeout: failed to run command ");
        [126, 127].contains(&marker.exit).then(|| format!("cannot start {why} on the node {}", marker.host))
    }

    /// Where and when the command began, if its end was never told.
    pub(super) fn beginning(&self) -> Option<(String, f64)> {
        let text = fs::read_to_string(self.0.join("claim/job")).ok()?;
        Some((field(&text, "host")?.to_owned(), instant(&text, "started")?))
    }

    /// The command of the job as one that has ended, with `shown` bytes of each output for people.
    pub(super) fn finished(&self, marker: Option<&Marker>, shown: usize) -> Finished {
        let mut stderr = Capture::new(shown, 0);
        for file in ["stderr", "slurm.log"] {
            take_in(&self.0.join(file), &mut stderr);
        }
        let mut stdout = Capture::new(shown, SEARCHED);
        take_in(&self.0.join("stdout"), &mut stdout);
        let status = ExitStatus::from_raw(marker.map_or(0, Marker::raw_status));
        let end = if marker.is_some_and(Marker::is_timeout) { End::TimedOut } else { End::Exited(status) };
        let seconds = marker.map_or(0.0, |marker| (marker.ended - marker.started).max(0.0));
        Finished { end, status, stdout, stderr, seconds }
    }
}

impl Marker {
    fn parse(text: &str) -> Option<Marker> {
        Some(Marker {
            exit: field(text, "exit")?.parse().ok()?,
            host: field(text, "host")?.to_owned(),
            started: instant(text, "started")?,
            ended: instant(text, "ended")?,
            limit: field(text, "limit")?.parse().ok(),
        })
    }

    /// Whether the time limit of the study ended it.
    pub(super) fn is_timeout(&self) -> bool {
        let over = |limit: f64| self.ended - self.started >= limit - 0.01;
        TIMED_OUT.contains(&self.exit) && self.limit.is_some_and(over)
    }

    /// As the operating system writes it. A shell tells of signals by numbers above 128.
    fn raw_status(&self) -> i32 {
        match self.exit {
            signal @ 129..=192 => signal - 128,
            exit => exit << 8,
        }
    }
}

/// What stands behind a word at the beginning of a line.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
}

/// The same as a time. A `date` without fractions leaves letters behind the point.
fn instant(text: &str, name: &str) -> Option<f64> {
    field(text, name)?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}

/// A word of a shell, whatever it holds.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Takes in a file; of a very long one the beginning and the end. One that is not there is empty.
fn take_in(path: &Path, capture: &mut Capture) {
    let Ok(mut file) = File::open(path) else { return };
    let length = file.metadata().map_or(0, |data| data.len());
    let part = |file: &mut File, most: u64, capture: &mut Capture| {
        let mut bytes = Vec::new();
        if file.take(most).read_to_end(&mut bytes).is_ok() {
            capture.push(&bytes);
        }
    };
    if length <= READ_WHOLE {
        return part(&mut file, READ_WHOLE, capture);
    }
    part(&mut file, READ_WHOLE / 2, capture);
    capture.skip(length - READ_WHOLE);
    if file.seek(SeekFrom::Start(length - READ_WHOLE / 2)).is_ok() {
        part(&mut file, READ_WHOLE / 2, capture);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn plan(directory: &Path, words: &[&str]) -> Plan {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let environment = vec![("LABCAT_film thickness".to_owned(), "it's $(touch pwned) 3".to_owned())];
        Plan { words, environment, directory: directory.to_owned(), files: crate::run::evaluate::Files::default() }
    }

    fn run(script: &Path, job: &str) -> i32 {
        Command::new("sh").arg(script).env("SLURM_JOB_ID", job).status().unwrap().code().unwrap()
    }

    fn fresh(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("labcat-job-{name}-{}=a b", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn the_script_runs_its_command_once_and_says_how_it_ended() {
        let directory = fresh("once");
        let tell = "echo x >> ran; echo oops >&2; exit 3";
        let plan = plan(&directory, &["sh", "-c", tell]);
        let place = Place::of(&plan, "1");
        let script = place.write_script(&plan, None).unwrap();
        assert!(place.marker().is_none());
        assert_eq!(run(&script, "7"), 3);
        assert!(!place.was_restarted());
        assert_eq!(run(&script, "7"), 67, "whoever starts it again, it runs once");
        assert!(place.was_restarted());
        assert_eq!(fs::read_to_string(directory.join("ran")).unwrap(), "x\n");
        let marker = place.marker().unwrap();
        assert_eq!((marker.exit, marker.is_timeout()), (3, false));
        let finished = place.finished(Some(&marker), 1000);
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stderr.text(), "oops\n");
        assert!(!place.prevent());
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn names_and_values_reach_the_command_as_they_are() {
        let directory = fresh("values");
        let plan = plan(&directory, &["printenv", "LABCAT_film thickness"]);
        let place = Place::of(&plan, "1");
        assert_eq!(run(&place.write_script(&plan, None).unwrap(), "7"), 0);
        assert_eq!(place.finished(place.marker().as_ref(), 1000).stdout.text(), "it's $(touch pwned) 3\n");
        assert!(!directory.join("pwned").exists());
        let missing = Plan { words: vec![directory.join("a=b").to_string_lossy().into_owned()], ..plan };
        let place = Place::of(&missing, "2");
        run(&place.write_script(&missing, None).unwrap(), "7");
        let marker = place.marker().unwrap();
        let finished = place.finished(Some(&marker), 1000);
        assert!(place.cannot_start(&marker, &finished).unwrap().contains("a=b"), "{}", finished.stderr.text());
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_job_that_was_prevented_never_runs_its_command() {
        let directory = fresh("prevented");
        let plan = plan(&directory, &["touch", "ran"]);
        let place = Place::of(&plan, "2");
        let script = place.write_script(&plan, None).unwrap();
        assert!(place.prevent());
        assert_eq!(run(&script, "7"), 67);
        assert!(!directory.join("ran").exists());
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_timeout_is_told_from_an_exit_status() {
        let directory = fresh("timeout");
        for (words, limit, is_timeout, signal) in [
            (["sleep", "9"], 0.2, true, None),
            (["sh", "-c"], 9.0, false, None),
            (["./killed", "x"], 9.0, false, Some(9)),
        ] {
            let plan = plan(&directory, &[words[0], words[1], "exit 124"]);
            let plan = match signal {
                None if is_timeout => Plan { words: plan.words[..2].to_vec(), ..plan },
                None => plan,
                Some(_) => Plan { words: ["sh", "-c", "kill -9 $$"].map(str::to_owned).to_vec(), ..plan },
            };
            let place = Place::of(&plan, &format!("{limit}-{signal:?}"));
            let script = place.write_script(&plan, Some(Duration::from_secs_f64(limit))).unwrap();
            run(&script, "7");
            let marker = place.marker().unwrap();
            assert_eq!(marker.is_timeout(), is_timeout, "{marker:?}");
            let finished = place.finished(Some(&marker), 100);
            assert_eq!(finished.end == End::TimedOut, is_timeout);
            assert_eq!(finished.status.signal(), signal);
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let directory = fresh("long");
        let file = directory.join("stdout");
        let mut text = vec![b'.'; READ_WHOLE as usize + 1000];
        text[..5].copy_from_slice(b"first");
        text.extend_from_slice(b"\n1.5\n");
        fs::write(&file, &text).unwrap();
        let mut capture = Capture::new(10, 100);
        take_in(&file, &mut capture);
        let shown = capture.text();
        let left_out = text.len() - 10;
        assert_eq!(shown, format!("first\n[… {left_out} bytes left out …]\n\n1.5\n"));
        assert!(!capture.searched().1);
        fs::remove_dir_all(&directory).unwrap();
    }
}
