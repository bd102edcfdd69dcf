//! One evaluation: the command with its values, and the number it gives.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::format::number;
use crate::journal::Record;
use crate::process::{self, Capture, End, Finished, Stop};
use crate::study::Objective;
use crate::study::duration;

/// What came of an evaluation.
#[derive(Debug)]
pub(crate) enum Evaluated {
    /// It ended, well or not.
    Ended(Record),
    /// The user interrupted it.
    Interrupted,
    /// The command cannot be started at all; says why.
    Impossible(String),
}

/// Runs a study's command.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    objective: Objective,
    names: Vec<String>,
}

/// How much of a value file is read, from its end.
const VALUE_TAIL: u64 = 64 * 1024;

impl Evaluator {
    pub(crate) fn new(objective: Objective, names: Vec<String>) -> Evaluator {
        Evaluator { objective, names }
    }

    /// Evaluates a point, again after a failure as often as the study wants.
    pub(crate) fn evaluate(&self, id: u64, x: &[f64], stop: &Stop) -> Evaluated {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(id, x, stop) {
                Evaluated::Ended(record) if record.value.is_none() && attempts <= self.objective.retries => {}
                Evaluated::Ended(record) => return Evaluated::Ended(Record { attempts, ..record }),
                other => return other,
            }
        }
    }

    fn attempt(&self, id: u64, x: &[f64], stop: &Stop) -> Evaluated {
        let values = texts(x);
        let path =
            |template: &crate::study::template::Template| self.objective.directory.join(template.fill(id, &values));
        if let Some(file) = self.objective.parameters_file.as_ref().map(path)
            && let Err(error) = self.write_parameters(&file, x)
        {
            return Evaluated::Impossible(format!("cannot write parameters_file {}: {error}", file.display()));
        }
        let value_file = self.objective.value_file.as_ref().map(path);
        if let Some(file) = &value_file {
            // What an earlier attempt left must not be taken for this one's value.
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Evaluated::Impossible(format!("cannot replace value_file {}: {error}", file.display()));
                }
                _ => {}
            }
        }
        let mut command = self.command(id, &values);
        match process::run(&mut command, self.objective.timeout, stop) {
            Ok(finished) => self.judge(finished, value_file.as_deref()),
            Err(error) => Evaluated::Impossible(self.cannot_start(&command, &error)),
        }
    }

    /// The words of the command for a point.
    pub(crate) fn words(&self, id: u64, x: &[f64]) -> Vec<String> {
        let values = texts(x);
        self.objective.command.iter().map(|template| template.fill(id, &values)).collect()
    }

    /// The command of one evaluation. Values are arguments or variables, never part of a program that a shell reads,
    /// unless the study asks for a shell; then they are decimal numbers.
    fn command(&self, id: u64, values: &[String]) -> Command {
        let mut words = self.objective.command.iter().map(|template| template.fill(id, values));
        let first = words.next().unwrap_or_default();
        let mut command = match self.objective.shell {
            true => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &first]);
                shell
            }
            false => Command::new(program(&first, &self.objective.directory)),
        };
        command.args(words).current_dir(&self.objective.directory);
        for (name, value) in &self.objective.environment {
            command.env(name, value);
        }
        for (name, value) in self.names.iter().zip(values) {
            command.env(format!("LABCAT_{name}"), value);
        }
        command
    }

    fn write_parameters(&self, file: &Path, x: &[f64]) -> io::Result<()> {
        let object: serde_json::Map<String, serde_json::Value> =
            self.names.iter().zip(x).map(|(name, value)| (name.clone(), (*value).into())).collect();
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(file, serde_json::Value::Object(object).to_string() + "\n")
    }

    fn judge(&self, finished: Finished, value_file: Option<&Path>) -> Evaluated {
        let (status, value) = match finished.end {
            End::Interrupted => return Evaluated::Interrupted,
            End::TimedOut => {
                let limit = self.objective.timeout.map(duration::show).unwrap_or_default();
                ("timeout", Err(format!("did not end within its timeout of {limit}")))
            }
            End::Exited(status) if !status.success() => ("failed", Err(process::describe(status))),
            End::Exited(_) => match value(&finished.stdout, value_file) {
                Ok(value) => ("ok", Ok(value)),
                Err(why) => ("failed", Err(why)),
            },
        };
        Evaluated::Ended(Record {
            value: value.as_ref().ok().copied(),
            status,
            source: "command",
            message: value.err(),
            seconds: Some(finished.seconds),
            attempts: 1,
            stdout: finished.stdout.text(),
            stderr: finished.stderr.text(),
        })
    }

    fn cannot_start(&self, command: &Command, error: &io::Error) -> String {
        let program = command.get_program().to_string_lossy();
        let directory = &self.objective.directory;
        if !directory.is_dir() {
            return format!("the directory {} of the command does not exist", directory.display());
        }
        match error.kind() {
            io::ErrorKind::NotFound => {
                format!("cannot start `{program}`: there is no such program; write its path, or put it on the PATH")
            }
            io::ErrorKind::PermissionDenied => {
                format!("cannot start `{program}`: it is not executable; `chmod +x` it, or name its interpreter first")
            }
            _ => format!("cannot start `{program}`: {error}"),
        }
    }
}

/// Values as the command gets them.
fn texts(x: &[f64]) -> Vec<String> {
    x.iter().map(|value| number(*value)).collect()
}

/// A program named by a relative path is found from the directory that the command runs in.
pub(crate) fn program(name: &str, directory: &Path) -> PathBuf {
    let relative = name.contains('/') && Path::new(name).is_relative();
    match relative.then(|| std::path::absolute(directory.join(name))) {
        Some(Ok(path)) => path,
        _ => PathBuf::from(name),
    }
}

/// The value a successful command gave.
fn value(stdout: &Capture, value_file: Option<&Path>) -> Result<f64, String> {
    match value_file {
        None => {
            let line =
                stdout.last_line().ok_or("printed no value; its last line must be a number or {\"value\": …}")?;
            number_in(&line).map_err(|why| format!("the last line of its output, `{}`, {why}", shortened(&line)))
        }
        Some(file) => {
            let name = file.display();
            let line = last_line_of(file).map_err(|error| format!("its value_file {name} cannot be read: {error}"))?;
            let line = line.ok_or_else(|| format!("its value_file {name} holds no value"))?;
            number_in(&line).map_err(|why| format!("the last line of {name}, `{}`, {why}", shortened(&line)))
        }
    }
}

fn last_line_of(file: &Path) -> io::Result<Option<String>> {
    let mut file = fs::File::open(file)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(VALUE_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(VALUE_TAIL).read_to_end(&mut bytes)?;
    let mut capture = Capture::default();
    capture.push(&bytes);
    Ok(capture.last_line())
}

/// A finite number, or the one in `{"value": …}`; the error completes "the line …".
fn number_in(line: &str) -> Result<f64, String> {
    let value = match line.parse::<f64>() {
        Ok(value) => value,
        Err(_) => match serde_json::from_str::<serde_json::Value>(line) {
            Ok(serde_json::Value::Object(object)) => {
                let value = object.get("value").ok_or("has no \"value\"")?;
                value.as_f64().ok_or("has a \"value\" that is not a number")?
            }
            _ => return Err("is neither a number nor {\"value\": …}".to_owned()),
        },
    };
    match value.is_finite() {
        true => Ok(value),
        false => Err("is not a finite number".to_owned()),
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_number_or_an_object_with_one() {
        for (line, value) in [("1.5", 1.5), ("-3e-7", -3e-7), ("+2", 2.0), (r#"{"value": 4, "note": "x"}"#, 4.0)] {
            assert_eq!(number_in(line), Ok(value), "{line}");
        }
        for line in
            ["", "1,5", "value 3", "nan", "inf", "1e999", "{}", r#"{"value": "3"}"#, r#"{"value": null}"#, "[1]"]
        {
            assert!(number_in(line).is_err(), "{line}");
        }
    }

    #[test]
    fn relative_programs_are_found_from_the_directory() {
        assert_eq!(program("python3", Path::new("/d")), PathBuf::from("python3"));
        assert_eq!(program("./a", Path::new("/d")), PathBuf::from("/d/a"));
        assert_eq!(program("/bin/a", Path::new("/d")), PathBuf::from("/bin/a"));
    }
}
