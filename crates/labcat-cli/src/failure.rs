//! The failure of a command: a message and an exit status.

use std::fmt;
use std::io;
use std::path::Path;

use crate::study::Problem;

/// The command or the run failed.
const RUN: u8 = 1;
/// Wrong usage, or an invalid study.
const USAGE: u8 = 2;
/// Interrupted; the study can be resumed.
const INTERRUPTED: u8 = 130;

/// A message for standard error and the exit status of the process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: u8,
    /// Empty: there is nothing to say.
    pub(crate) message: String,
}

impl Failure {
    /// The run failed (status 1).
    pub(crate) fn run(message: impl Into<String>) -> Failure {
        Failure { status: RUN, message: message.into() }
    }

    /// A file could not be written (status 1).
    pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Failure {
        let parent = path.parent().unwrap_or(Path::new(""));
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("there is no directory {}", parent.display()),
            _ => error.to_string(),
        };
        Failure::run(format!("cannot write {}: {why}", path.display()))
    }

    /// The user must write something else (status 2).
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { status: USAGE, message: message.into() }
    }

    /// The problems of a study file, a line each (status 2).
    pub(crate) fn study(path: &Path, problems: &[Problem]) -> Failure {
        let lines: Vec<String> = problems.iter().map(|problem| at(path, problem)).collect();
        Failure::usage(lines.join("\nerror: "))
    }

    /// Whether it failed although nothing was written wrongly.
    pub(crate) fn is_run(&self) -> bool {
        self.status == RUN
    }

    /// Whether something went wrong, other than that the user wished to stop.
    pub(crate) fn is_error(&self) -> bool {
        self.status == RUN || self.status == USAGE
    }

    /// Ended by a signal (status 130).
    pub(crate) fn interrupted(message: impl Into<String>) -> Failure {
        Failure { status: INTERRUPTED, message: message.into() }
    }
}

/// `study.toml:12: what is wrong`.
pub(crate) fn at(path: &Path, problem: &Problem) -> String {
    format!("{}:{}: {}", path.display(), problem.line, problem.message)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Writing to standard output failed. A reader that has seen enough (`labcat export | head`) is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { status: 0, message: String::new() };
        }
        Failure::run(format!("cannot write to standard output: {error}"))
    }
}

impl From<labcat::Error> for Failure {
    fn from(error: labcat::Error) -> Failure {
        Failure::usage(error.to_string())
    }
}
