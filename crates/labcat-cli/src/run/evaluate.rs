//! One evaluation: its command with the values filled in, and the result.

use crate::study::values;
use labcat::{Direction, Domain};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Map;

use super::prepare::{self, Sheet};
use crate::failure::Failure;
use crate::format::{host, moment};
use crate::journal::{Execution, Record};
use crate::paths::{Paths, open_regular};
use crate::process::{self, Capture, End, Finished, Stop};
use crate::study::template::Template;
use crate::study::{Constraints, Data, Measures, Objective, Problem, Study, duration};
use crate::value::{Extraction, Reading};

/// What came of an evaluation.
#[derive(Debug)]
pub(crate) enum Evaluated {
    /// It ended, well or not.
    Ended(Box<Record>),
    /// The user interrupted it.
    Interrupted,
    /// The command cannot be started at all; says why.
    Impossible(String),
}

/// Runs a study's command.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    objective: Objective,
    domain: Domain,
    constraints: Constraints,
    /// The results that they need, and their noise.
    needed: Vec<String>,
    /// What was measured, for each of the objective's residuals.
    data: Vec<Data>,
    maximises: bool,
    /// The study's templates, read.
    sheets: Vec<Sheet>,
    /// The study's journal, as programs are told of it.
    journal: String,
}

/// How much of a value file is read; of a larger one the end.
const VALUE_FILE: u64 = 64 * 1024 * 1024;

impl Evaluator {
    /// Reads the templates of a study's objective; `file` is the study's.
    pub(crate) fn new(objective: Objective, study: &Study, file: &Path) -> Result<Evaluator, Failure> {
        let (domain, constraints) = (study.domain.clone(), study.constraints.clone());
        let names: Vec<String> = domain.parameters().iter().map(|p| p.name.clone()).collect();
        let sheets = prepare::read(&objective, &names, file)?;
        let journal = process::of_journal(&Paths::of(file).journal);
        let (data, maximises) = (study.data.clone(), study.config.direction == Direction::Maximize);
        let needed = constraints.fields();
        Ok(Evaluator { objective, domain, needed, constraints, data, maximises, sheets, journal })
    }

    /// Whether another one would run the same commands.
    pub(crate) fn is_same(&self, other: &Evaluator) -> bool {
        // Patterns cannot be compared, their texts can. Their lines do not matter.
        let text = |it: &Evaluator| {
            let mut objective = it.objective.clone();
            objective.line = 0;
            objective.residuals.iter_mut().for_each(|series| series.line = 0);
            format!("{objective:?} {:?}", it.sheets)
        };
        text(self) == text(other)
    }

    /// Parameters that nothing uses: they were probably forgotten.
    pub(crate) fn warning(&self) -> Option<Problem> {
        if self.objective.parameters_file.is_some() {
            return None;
        }
        let texts = self.objective.command.iter().chain([&self.objective.directory]);
        let used: Vec<usize> =
            texts.chain(self.sheets.iter().map(|sheet| &sheet.text)).flat_map(Template::parameters).collect();
        let where_to = if self.sheets.is_empty() { "`command` does" } else { "`command` and `template` do" };
        let forgotten = self.domain.parameters().iter().enumerate().filter(|(index, _)| !used.contains(index));
        let names: Vec<&str> = forgotten.map(|(_, parameter)| parameter.name.as_str()).collect();
        let braced: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
        let variables: Vec<String> = names.iter().map(|name| format!("LABCAT_{name}")).collect();
        let it = if names.len() == 1 { "it" } else { "them" };
        let message = format!(
            "{where_to} not use {}; the command finds {it} in its environment as {}",
            braced.join(", "),
            variables.join(", ")
        );
        (!names.is_empty()).then_some(Problem { line: self.objective.line, message })
    }

    /// Evaluates a point, again after a failure as often as the study wants.
    pub(crate) fn evaluate(&self, id: u64, x: &[f64], stop: &Stop) -> Evaluated {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.attempt(id, x, stop) {
                Evaluated::Ended(record) if record.reading.is_none() && attempts <= self.objective.retries => {}
                Evaluated::Ended(record) => return Evaluated::Ended(Box::new(Record { attempts, ..*record })),
                other => return other,
            }
        }
    }

    fn attempt(&self, id: u64, x: &[f64], stop: &Stop) -> Evaluated {
        let plan = match self.make_ready(id, x) {
            Ok(()) => self.plan(id, x),
            Err(why) => return Evaluated::Impossible(why),
        };
        let mut command = Command::new(&plan.words[0]);
        command.args(&plan.words[1..]).current_dir(&plan.directory).envs(plan.environment.iter().cloned());
        let started = moment();
        match process::run(command, self.objective.timeout, self.objective.keep_output, stop) {
            Ok(finished) => {
                let (exit, signal) = (finished.status.code(), finished.status.signal());
                let ran = Execution { host: host(), started, ended: moment(), exit, signal, ..plan.execution() };
                self.judge(finished, x, &plan.files, ran)
            }
            Err(error) => Evaluated::Impossible(cannot_start(&plan.words[0], &plan.directory, &error)),
        }
    }

    /// Makes the directory of an evaluation ready for its command.
    pub(super) fn make_ready(&self, id: u64, x: &[f64]) -> Result<(), String> {
        let values = values::texts(&self.domain, x);
        let directory = self.directory(id, &values);
        prepare::directory(&self.objective, &self.sheets, &directory, id, &values)?;
        self.write_parameters(&directory, id, x, &values)?;
        let files = self.files(&directory, id, &values);
        for file in files.value.iter().chain(files.simulated.iter().flatten()) {
            // What an earlier attempt left must not be taken for this one's value.
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(format!("cannot replace the value file {}: {error}", file.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The command of an evaluation whose directory is ready. Values are arguments or variables, never part of a program that
    /// a shell reads, unless the study asks for a shell; then they are decimal numbers and plain words.
    pub(super) fn plan(&self, id: u64, x: &[f64]) -> Plan {
        let values = values::texts(&self.domain, x);
        let directory = self.directory(id, &values);
        let parameters = self.domain.parameters().iter().zip(&values);
        let variables = parameters.map(|(parameter, value)| (format!("LABCAT_{}", parameter.name), value.clone()));
        let environment = self.objective.environment.iter().cloned().chain(variables);
        let marks = [(process::ID, id.to_string()), (process::JOURNAL, self.journal.clone())];
        Plan {
            words: self.words(id, &values, &directory),
            environment: environment.chain(marks.map(|(name, value)| (name.to_owned(), value))).collect(),
            files: self.files(&directory, id, &values),
            directory,
        }
    }

    fn directory(&self, id: u64, values: &[String]) -> PathBuf {
        self.objective.base.join(self.objective.directory.fill(id, values))
    }

    /// The command of a point, its directory, and the files that are filled for it: what `labcat check` shows.
    pub(crate) fn preview(&self, x: &[f64]) -> Preview {
        let values = values::texts(&self.domain, x);
        let directory = self.directory(0, &values);
        let words = self.objective.command.iter().map(|template| template.fill(0, &values)).collect();
        let sheets = self.sheets.iter().map(|sheet| sheet.filled(&directory, 0, &values)).collect();
        Preview { words, directory, sheets }
    }

    /// The words of the command as they are run, the program first.
    fn words(&self, id: u64, values: &[String], directory: &Path) -> Vec<String> {
        let mut words: Vec<String> = self.objective.command.iter().map(|template| template.fill(id, values)).collect();
        match (self.objective.shell, words.first_mut()) {
            (true, _) => {
                let mut shell = vec!["/bin/sh".to_owned(), "-c".to_owned()];
                shell.append(&mut words);
                shell
            }
            (false, Some(first)) => {
                let path = program(first, directory, &self.objective.base);
                *first = path.to_str().map_or_else(|| first.clone(), str::to_owned);
                words
            }
            (false, None) => vec![String::new()],
        }
    }

    fn write_parameters(&self, directory: &Path, id: u64, x: &[f64], values: &[String]) -> Result<(), String> {
        let Some(template) = &self.objective.parameters_file else { return Ok(()) };
        let file = directory.join(template.fill(id, values));
        let object = values::object(&self.domain, x);
        prepare::write(&file, &(serde_json::Value::Object(object).to_string() + "\n"))
            .map_err(|error| format!("cannot write parameters_file {}: {error}", file.display()))
    }

    /// What came of a command that ended: its value, or why there is none.
    pub(super) fn judge(&self, finished: Finished, x: &[f64], files: &Files, execution: Execution) -> Evaluated {
        let (timeout, measured) = match finished.end {
            End::Interrupted => return Evaluated::Interrupted,
            End::TimedOut => {
                let limit = self.objective.timeout.map(duration::show).unwrap_or_default();
                (true, Err(format!("did not end within its timeout of {limit}")))
            }
            End::Exited(status) if !status.success() => (false, Err(process::describe(status))),
            End::Exited(_) => (false, self.measured(x, &finished.stdout, files)),
        };
        self.recorded(measured, timeout, finished, execution)
    }

    /// What is written down of a command that ended.
    pub(super) fn recorded(
        &self,
        measured: Result<(Reading, Measures), String>,
        timeout: bool,
        finished: Finished,
        execution: Execution,
    ) -> Evaluated {
        let record = Record::of(measured, "command", &self.constraints);
        Evaluated::Ended(Box::new(Record {
            status: if timeout { "timeout" } else { record.status },
            seconds: Some(finished.seconds),
            attempts: 1,
            stdout: finished.stdout.text(),
            stderr: finished.stderr.text(),
            execution: Some(execution),
            ..record
        }))
    }

    /// The files of an evaluation that its value is read from.
    fn files(&self, directory: &Path, id: u64, values: &[String]) -> Files {
        let path = |file: &Template| directory.join(file.fill(id, values));
        Files {
            value: self.objective.value_file.as_ref().map(path),
            simulated: self.objective.residuals.iter().map(|series| series.file.as_ref().map(path)).collect(),
        }
    }

    /// What a successful command gave, and the constraints that it tells of.
    fn measured(&self, x: &[f64], stdout: &Capture, files: &Files) -> Result<(Reading, Measures), String> {
        let measure = |reading: Reading| {
            let measures = self.constraints.measure(x, &reading).map_err(|why| format!("its output {why}"))?;
            Ok((reading, measures))
        };
        let reading = match self.objective.residuals.is_empty() {
            true => self.reading(stdout, files)?,
            false => {
                // Without measured constraints nothing stands beside the residuals.
                let beside =
                    if self.needed.is_empty() { Reading::with(None, Map::new()) } else { self.reading(stdout, files)? };
                match self.residuals(stdout, files) {
                    Ok(residuals) => beside.with_residuals(residuals).map_err(|why| format!("its output {why}"))?,
                    // They may be missing where a constraint is violated.
                    Err(why) => return measure(beside).map_err(|_: String| why),
                }
            }
        };
        if self.maximises && !reading.residuals.is_empty() {
            return Err(
                "its output has residuals, whose squares are minimised: write direction = \"minimize\", or print \
                        {\"value\": …}"
                    .to_owned(),
            );
        }
        measure(reading)
    }

    fn reading(&self, stdout: &Capture, files: &Files) -> Result<Reading, String> {
        match &files.value {
            None => of_output(&self.objective.extraction, stdout, &self.needed),
            Some(file) => of_file(&self.objective.extraction, file, &self.needed),
        }
    }

    /// Simulated minus measured, one column after the other.
    fn residuals(&self, stdout: &Capture, files: &Files) -> Result<Vec<f64>, String> {
        let mut all = Vec::new();
        for ((series, data), file) in self.objective.residuals.iter().zip(&self.data).zip(&files.simulated) {
            let (text, name) = match file {
                Some(file) => {
                    let name = format!("its file {}", file.display());
                    (end_of(file).map_err(|error| format!("{name} cannot be read: {error}"))?, name)
                }
                None => match stdout.searched() {
                    (text, true) => (text, "its output".to_owned()),
                    (_, false) => return Err(too_long("residuals")),
                },
            };
            all.extend(series.residuals(&text, data).map_err(|why| format!("{name} {why}"))?);
        }
        Ok(all)
    }
}

/// How an evaluation is run.
#[derive(Debug)]
pub(super) struct Plan {
    /// The program, and its arguments.
    pub(super) words: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) directory: PathBuf,
    pub(super) files: Files,
}

impl Plan {
    /// Where the command runs, whatever the directory of this process.
    pub(super) fn place(&self) -> PathBuf {
        std::path::absolute(&self.directory).unwrap_or_else(|_| self.directory.clone())
    }

    /// What is written down of how it is run.
    pub(super) fn execution(&self) -> Execution {
        let directory = self.place().to_string_lossy().into_owned();
        Execution { command: self.words.clone(), directory, ..Execution::default() }
    }
}

/// Where the value of an evaluation is written.
#[derive(Debug, Default)]
pub(super) struct Files {
    value: Option<PathBuf>,
    /// One for each of the objective's residuals.
    simulated: Vec<Option<PathBuf>>,
}

/// What a command would be.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) words: Vec<String>,
    pub(crate) directory: PathBuf,
    /// Files and what they would hold.
    pub(crate) sheets: Vec<(PathBuf, String)>,
}

/// A program named by a relative path is found from the directory that the command runs in, or beside the study.
pub(crate) fn program(name: &str, directory: &Path, base: &Path) -> PathBuf {
    if !name.contains('/') || Path::new(name).is_absolute() {
        return PathBuf::from(name);
    }
    let places = [directory.join(name), base.join(name)];
    let place = places.iter().find(|place| place.exists()).unwrap_or(&places[0]);
    std::path::absolute(place).unwrap_or_else(|_| place.clone())
}

fn cannot_start(program: &str, directory: &Path, error: &io::Error) -> String {
    if !directory.is_dir() {
        return format!("the directory {} of the command does not exist", directory.display());
    }
    let there = program.contains('/') && Path::new(program).exists();
    match error.kind() {
        io::ErrorKind::NotFound if there => {
            format!("cannot start `{program}`: the interpreter that its first line names does not exist")
        }
        io::ErrorKind::NotFound => {
            format!("cannot start `{program}`: there is no such program; write its path, or put it on the PATH")
        }
        io::ErrorKind::PermissionDenied => {
            format!("cannot start `{program}`: it is not executable; `chmod +x` it, or name its interpreter first")
        }
        _ => format!("cannot start `{program}`: {error}"),
    }
}

/// The value in what a successful command printed.
fn of_output(extraction: &Extraction, stdout: &Capture, needed: &[String]) -> Result<Reading, String> {
    let (text, whole) = stdout.searched();
    match extraction {
        Extraction::LastLine if !whole && !text.trim_end().contains(['\n', '\r']) => {
            return Err("its last line is too long to hold a value".to_owned());
        }
        Extraction::Json(_) | Extraction::Cell { .. } if !whole => {
            return Err(too_long("value"));
        }
        _ => {}
    }
    extraction.apply(&text, needed).map_err(|why| format!("its output {why}"))
}

/// The value is to be found in more output than is kept; `key` says where it is.
fn too_long(key: &str) -> String {
    let searched = process::SEARCHED / (1024 * 1024);
    format!(
        "its output is longer than the {searched} MiB that are searched: let it write a file, and name that in `{key}`"
    )
}

/// The value in a file that a successful command wrote.
fn of_file(extraction: &Extraction, file: &Path, needed: &[String]) -> Result<Reading, String> {
    let name = file.display();
    let text = end_of(file).map_err(|error| format!("its value file {name} cannot be read: {error}"))?;
    extraction.apply(&text, needed).map_err(|why| format!("its value file {name} {why}"))
}

fn end_of(file: &Path) -> io::Result<String> {
    let mut file = open_regular(file)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(VALUE_FILE)))?;
    let mut bytes = Vec::new();
    file.take(VALUE_FILE).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_programs_are_found_from_the_directory_or_beside_the_study() {
        let (directory, base) = (Path::new("/d"), Path::new("/"));
        assert_eq!(program("python3", directory, base), PathBuf::from("python3"));
        assert_eq!(program("./a", directory, base), PathBuf::from("/d/a"));
        assert_eq!(program("bin/sh", directory, base), PathBuf::from("/bin/sh"));
        assert_eq!(program("/bin/a", directory, base), PathBuf::from("/bin/a"));
    }

    #[test]
    fn a_line_that_is_longer_than_what_is_searched_is_no_value() {
        let mut stdout = Capture::new(0, 16);
        stdout.push(&[b'1'; 20]);
        assert_eq!(
            of_output(&Extraction::LastLine, &stdout, &[]),
            Err("its last line is too long to hold a value".to_owned())
        );
        stdout.push(b"\n2\n");
        assert_eq!(of_output(&Extraction::LastLine, &stdout, &[]).map(|reading| reading.value), Ok(Some(2.0)));
    }
}
