//! `init` writes a study, `check` reads one.

use std::env;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::export::write_file;
use crate::cli;
use crate::failure::{self, Failure};
use crate::format::{complain, count, number};
use crate::journal::Journal;
use crate::paths::Paths;
use crate::run::evaluate::{Evaluator, program};
use crate::study::template::placeholders;
use crate::study::{Objective, Problem, Study};

/// A parameter as the command line gives it.
struct Range {
    name: String,
    low: f64,
    high: f64,
    log: bool,
}

/// Writes a commented study.
pub(crate) fn init(args: &cli::Init) -> Result<(), Failure> {
    let file = &args.file;
    if file.exists() && !args.force {
        return Err(Failure::usage(format!(
            "{0} exists: name another file, or write --force to replace it",
            file.display()
        )));
    }
    let mut ranges = args.parameters.iter().map(|text| range(text)).collect::<Result<Vec<_>, _>>()?;
    let named = ranges.len();
    for name in args.command.iter().flat_map(|word| placeholders(word)) {
        if !ranges.iter().any(|range| range.name == name) {
            ranges.push(Range { name, low: 0.0, high: 1.0, log: false });
        }
    }
    if ranges.is_empty() {
        return Err(Failure::usage(
            "a study needs a parameter: write -p x:-5:10, or {x} in the command, as in: labcat init -- ./simulate --x={x}",
        ));
    }
    let text = study_text(args, &ranges, named);
    Study::parse(&text, file)?;
    write_file(file, &text).map_err(|error| Failure::run(format!("cannot write {}: {error}", file.display())))?;
    let mut out = stdout().lock();
    writeln!(out, "wrote {} with {}", file.display(), count(ranges.len(), "parameter"))?;
    let next = if args.command.is_empty() { "ask" } else { "run" };
    writeln!(out, "next: edit the ranges, then `labcat check {0}` and `labcat {next} {0}`", file.display())?;
    Ok(())
}

/// Reads `NAME:LOW:HIGH` or `NAME:LOW:HIGH:log`.
fn range(text: &str) -> Result<Range, Failure> {
    let (rest, log) = match text.strip_suffix(":log") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let mut parts = rest.rsplitn(3, ':');
    let bound = |part: Option<&str>| part.and_then(|part| part.trim().parse::<f64>().ok());
    match (bound(parts.next()), bound(parts.next()), parts.next()) {
        (Some(high), Some(low), Some(name)) if !name.is_empty() => Ok(Range { name: name.to_owned(), low, high, log }),
        _ => Err(Failure::usage(format!(
            "-p {text} is not NAME:LOW:HIGH: write for example -p x:-5:10 or -p rate:1e-6:1:log"
        ))),
    }
}

fn study_text(args: &cli::Init, ranges: &[Range], named: usize) -> String {
    let stem = args.file.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    let direction = if args.maximize { "maximize" } else { "minimize" };
    let budget = args.budget.unwrap_or_else(|| labcat::default_budget(ranges.len()));
    let mut text = format!(
        "# A study for labcat. Every key is described in docs/cli.md; `labcat check` reads this file without running it.\n\
         [study]\n\
         name = {}\n\
         direction = \"{direction}\"      # or \"{}\"\n\
         budget = {budget}                 # evaluations in all; more can be added later\n\
         seed = 0                     # another seed tries other points\n\
         workers = 1                  # evaluations at a time\n\
         # target = 0.001             # stop at a value at least this good\n\
         # time_limit = \"2h\"          # start no evaluation after this time\n",
        quoted(&stem),
        if args.maximize { "minimize" } else { "maximize" },
    );
    for (index, range) in ranges.iter().enumerate() {
        let edit = if index < named { "" } else { "  # a guess: write the real range" };
        text += &format!(
            "\n[[parameter]]\nname = {}\ntype = \"real\"\nlow = {}{edit}\nhigh = {}{edit}\n",
            quoted(&range.name),
            number(range.low),
            number(range.high),
        );
        text += match (range.log, index) {
            (true, _) => "scale = \"log\"\n",
            (false, 0) => "# scale = \"log\"              # if its magnitude matters, such as a rate from 1e-6 to 1\n",
            (false, _) => "",
        };
    }
    text + &objective_text(&args.command)
}

fn objective_text(command: &[String]) -> String {
    if command.is_empty() {
        return "\n# No [objective]: points are given out by `labcat ask` and their values told by `labcat tell`.\n"
            .to_owned();
    }
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    format!(
        "\n[objective]\n\
         # The program and its arguments; no shell reads them. {{name}} is a parameter's value, {{id}} the evaluation's number.\n\
         # The values are also in the environment, as LABCAT_name.\n\
         command = [{}]\n\
         # The value is the last line of standard output: a number or {{\"value\": …}}.\n\
         # value_file = \"{{id}}.txt\"    # or the last line of this file\n\
         # parameters_file = \"{{id}}.json\"   # the values as JSON, written before the command starts\n\
         timeout = \"1h\"               # then the whole process group is ended and the evaluation has failed\n\
         retries = 0                  # further attempts after a failure\n\
         on_failure = \"penalize\"      # avoid points that fail; or \"stop\"\n",
        words.join(", ")
    )
}

/// Text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Reads a study as `run` would, without running anything.
pub(crate) fn check(args: &cli::Check) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let file = paths.study_file()?.ok_or_else(|| paths.no_such_study())?;
    let study = Study::load(file)?;
    for warning in &study.warnings {
        complain(&format!("warning: {}", failure::at(file, warning)));
    }
    if let Some(objective) = &study.objective {
        check_program(objective, file)?;
    }
    if paths.journal.exists() {
        let (_, stored) = Journal::of_begun_study(&paths)?;
        if let Some(difference) = study.identity().difference(&stored) {
            return Err(crate::session::changed(file, &difference));
        }
    }
    describe(&study, file)
}

fn check_program(objective: &Objective, file: &Path) -> Result<(), Failure> {
    let complain = |message: String| Err(Failure::study(file, &[Problem { line: objective.line, message }]));
    if !objective.directory.is_dir() {
        return complain(format!(
            "the directory {} of the command does not exist: make it",
            objective.directory.display()
        ));
    }
    let Some(name) = objective.program().filter(|_| !objective.shell) else { return Ok(()) };
    match found(&program(&name, &objective.directory)) {
        true => Ok(()),
        false => complain(format!("`command`: there is no program `{name}`: write its path, or put it on the PATH")),
    }
}

/// Whether a program can be started, by its path or from the search path.
fn found(program: &Path) -> bool {
    let executable = |path: &PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    if program.components().count() > 1 {
        return executable(&program.to_owned());
    }
    env::var_os("PATH").is_some_and(|paths| env::split_paths(&paths).any(|path| executable(&path.join(program))))
}

fn describe(study: &Study, file: &Path) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let config = &study.config;
    writeln!(out, "{} is valid", file.display())?;
    let budget = config.budget.map_or_else(|| "no budget".to_owned(), |budget| format!("budget {budget}"));
    let default = if study.default_budget { " (200 per parameter, as no limit is given)" } else { "" };
    let (workers, seed) = (count(study.workers, "worker"), config.seed);
    writeln!(out, "{}: {}, {budget}{default}, {workers}, seed {seed}", study.name, config.direction)?;
    let mut middle = Vec::new();
    for parameter in study.domain.parameters() {
        let (low, high) = (parameter.low, parameter.high);
        let scale = crate::study::scale_name(parameter.scale);
        writeln!(out, "  {} from {} to {}, {scale}", parameter.name, number(low), number(high))?;
        middle.push(0.5 * low + 0.5 * high);
    }
    match &study.objective {
        Some(objective) => {
            let names = study.domain.parameters().iter().map(|p| p.name.clone()).collect();
            writeln!(out, "a command would be")?;
            for word in Evaluator::new(objective.clone(), names).words(0, &middle) {
                writeln!(out, "  {word}")?;
            }
        }
        None => {
            writeln!(out, "no command: `labcat ask {0}` gives out points, `labcat tell` takes values", file.display())?
        }
    }
    Ok(())
}
