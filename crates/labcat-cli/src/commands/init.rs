//! `init` writes a study, `check` reads one.

use std::env;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use toml::Spanned;

use super::export::write_file;
use crate::cli;
use crate::failure::{self, Failure};
use crate::format::{complain, count, number, people, printable, word};
use crate::journal::Journal;
use crate::paths::Paths;
use crate::run::evaluate::{Evaluator, program};
use crate::study::template::placeholders;
use crate::study::{Objective, Problem, Study, values};

/// A parameter as the command line gives it.
struct Range {
    name: String,
    values: Values,
}

/// Its values.
enum Values {
    Between { low: f64, high: f64, step: Option<f64>, log: bool, whole: bool },
    Choices(Vec<String>),
    Boolean,
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
    let mut ranges: Vec<Range> = args.parameters.iter().map(|text| range(text)).collect::<Result<Vec<_>, _>>()?;
    let named = ranges.len();
    for name in args.command.iter().flat_map(|word| placeholders(word)) {
        if !ranges.iter().any(|range| range.name == name) {
            ranges.push(Range {
                name,
                values: Values::Between { low: 0.0, high: 1.0, step: None, log: false, whole: false },
            });
        }
    }
    if ranges.is_empty() {
        return Err(Failure::usage(
            "a study needs a parameter: write -p x:-5:10, or {x} in the command, as in: labcat init -- ./simulate --x={x}",
        ));
    }
    check_conditions(args, &ranges)?;
    let options = objective_keys(args);
    if let (true, Some(first)) = (args.command.is_empty(), options.lines().next()) {
        return Err(Failure::usage(format!(
            "`{first}` belongs to a command, and there is none: write it behind --, as in: labcat init -- ./simulate --x={{x}}"
        )));
    }
    let residuals = residuals_text(args)?;
    let text = study_text(args, &ranges, named, residuals.as_deref());
    Study::parse_unwritten(&text, file).map_err(|problems| {
        Failure::usage(problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("\nerror: "))
    })?;
    write_file(file, &text).map_err(|error| Failure::unwritten(file, &error))?;
    let mut out = stdout().lock();
    writeln!(out, "wrote {} with {}", file.display(), count(ranges.len(), "parameter"))?;
    let guessed: Vec<&str> = ranges[named..].iter().map(|range| range.name.as_str()).collect();
    if !guessed.is_empty() {
        writeln!(out, "the range 0 to 1 is a guess for {}", guessed.join(", "))?;
    }
    let next = if args.command.is_empty() { "ask" } else { "run" };
    writeln!(out, "next: edit the ranges, then `labcat check {0}` and `labcat {next} {0}`", word(file))?;
    Ok(())
}

/// Reads `NAME:LOW:HIGH`, with `:int` or `:log` behind it or both, `NAME:A|B|C` or `NAME:bool`.
fn range(text: &str) -> Result<Range, Failure> {
    let wrong = || {
        Failure::usage(format!(
            "-p {text} is not NAME:LOW:HIGH: write for example -p x:-5:10, -p rate:1e-6:1:log, -p layers:1:8:int, \
             -p temperature:20:90:step=0.5, -p solver:lu|qr|svd or -p shuffle:bool"
        ))
    };
    if let Some((name, choices)) = text.split_once(':').filter(|(_, rest)| rest.contains('|')) {
        let choices: Vec<String> = choices.split('|').map(|choice| choice.trim().to_owned()).collect();
        let valid = !name.is_empty() && choices.iter().all(|choice| !choice.is_empty());
        return if valid {
            Ok(Range { name: name.to_owned(), values: Values::Choices(choices) })
        } else {
            Err(wrong())
        };
    }
    if let Some(name) = text.strip_suffix(":bool").filter(|name| !name.is_empty()) {
        return Ok(Range { name: name.to_owned(), values: Values::Boolean });
    }
    let (mut rest, mut log, mut whole, mut step) = (text, false, false, None);
    loop {
        if let Some(shorter) = rest.strip_suffix(":log") {
            (rest, log) = (shorter, true);
        } else if let Some(shorter) = rest.strip_suffix(":int") {
            (rest, whole) = (shorter, true);
        } else if let Some((shorter, number)) = rest.rsplit_once(":step=") {
            (rest, step) = (shorter, Some(number.trim().parse::<f64>().map_err(|_| wrong())?));
        } else {
            break;
        }
    }
    let mut parts = rest.rsplitn(3, ':');
    let bound =
        |part: Option<&str>| part.and_then(|part| part.trim().parse::<f64>().ok()).filter(|bound| bound.is_finite());
    match (bound(parts.next()), bound(parts.next()), parts.next()) {
        (Some(high), Some(low), Some(name)) if !name.is_empty() && !name.contains(':') => {
            Ok(Range { name: name.to_owned(), values: Values::Between { low, high, step, log, whole } })
        }
        _ => Err(wrong()),
    }
}

fn study_text(args: &cli::Init, ranges: &[Range], named: usize, residuals: Option<&str>) -> String {
    let stem = args.file.file_stem().map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    let direction = if args.maximize { "maximize" } else { "minimize" };
    let budget = args.budget.unwrap_or_else(|| labcat::default_budget(ranges.len()));
    let mut text = format!(
        "# A study for labcat. `labcat help study` explains every key; `labcat check` reads this file without running it.\n\
         [study]\n\
         name = {}\n\
         direction = \"{direction}\"      # or \"{}\"\n\
         budget = {budget:<20}# total number of evaluations; can be raised later\n\
         seed = 0                     # another seed tries other points\n\
         workers = {}                  # evaluations at a time\n\
         # target = 0.001             # stop at a value at least this good\n\
         # time_limit = \"2h\"          # start no evaluation after this time\n",
        quoted(&stem),
        if args.maximize { "minimize" } else { "maximize" },
        args.workers,
    );
    let constraints: Vec<String> = args.constraints.iter().map(|constraint| quoted(constraint)).collect();
    text += &match constraints.as_slice() {
        [] => "# constraint = \"x + 2*y <= 1\"   # no suggestion violates it; on a result, as in mass <= 5, it is measured\n".to_owned(),
        [one] => format!("constraint = {one}\n"),
        several => format!("constraint = [{}]\n", several.join(", ")),
    };
    for (index, Range { name, values }) in ranges.iter().enumerate() {
        let edit = if index < named { "" } else { "  # a guess: write the real range" };
        text += &format!("\n[[parameter]]\nname = {}\n", quoted(name));
        let hint = match values {
            Values::Between { log: true, .. } => "scale = \"log\"\n",
            Values::Between { .. } if index == 0 => {
                "# scale = \"log\"              # if its order of magnitude matters, such as a rate from 1e-6 to 1\n"
            }
            _ => "",
        };
        text += &match values {
            Values::Between { low, high, step, whole, .. } => format!(
                "type = \"{}\"\nlow = {}{edit}\nhigh = {}{edit}\n{}{hint}",
                if *whole { "integer" } else { "real" },
                number(*low),
                number(*high),
                step.map_or_else(String::new, |step| format!("step = {}\n", number(step))),
            ),
            Values::Choices(choices) => {
                let choices: Vec<String> = choices.iter().map(|choice| quoted(choice)).collect();
                format!("type = \"categorical\"\nchoices = [{}]\n", choices.join(", "))
            }
            Values::Boolean => "type = \"boolean\"\n".to_owned(),
        };
        text += &condition_text(args, name);
    }
    text + &objective_text(args, residuals)
}

/// The conditions of a parameter: `NAME:OTHER=VALUE`, several values separated by `|`.
fn condition_text(args: &cli::Init, name: &str) -> String {
    let of_name = |text: &String| {
        let (parameter, condition) = text.split_once(':')?;
        let (other, values) = condition.split_once('=')?;
        (parameter == name).then(|| {
            let values: Vec<String> = values.split('|').map(|value| literal(value.trim())).collect();
            let values = if let [one] = &values[..] { one.clone() } else { format!("[{}]", values.join(", ")) };
            format!("when = {{ {} = {values} }}\n", quoted(other.trim()))
        })
    };
    args.conditions.iter().filter_map(of_name).collect()
}

/// A number or boolean as it is, anything else as text.
fn literal(text: &str) -> String {
    let plain = text.parse::<f64>().is_ok_and(f64::is_finite) || ["true", "false"].contains(&text);
    if plain { text.to_owned() } else { quoted(text) }
}

/// Refuses a condition that is no condition, or of no parameter.
fn check_conditions(args: &cli::Init, ranges: &[Range]) -> Result<(), Failure> {
    for text in &args.conditions {
        let parameter = text.split_once(':').filter(|(_, condition)| condition.contains('=')).map(|(name, _)| name);
        if parameter.is_none_or(|name| ranges.iter().all(|range| range.name != name)) {
            return Err(Failure::usage(format!(
                "--when {text} is not NAME:OTHER=VALUE with the name of a parameter: write for example --when momentum:solver=sgd"
            )));
        }
    }
    Ok(())
}

/// The lines of `[objective]` that options ask for.
fn objective_keys(args: &cli::Init) -> String {
    let list = |key: &str, files: &[String]| match files.is_empty() {
        true => String::new(),
        false => format!("{key} = [{}]\n", files.iter().map(|file| quoted(file)).collect::<Vec<_>>().join(", ")),
    };
    let own = args.directory.clone().or_else(|| {
        (!args.templates.is_empty() || !args.copies.is_empty() || !args.links.is_empty())
            .then(|| "runs/{id}".to_owned())
    });
    let mut text = own.map_or_else(String::new, |directory| format!("directory = {}\n", quoted(&directory)));
    text += &list("copy", &args.copies);
    text += &list("link", &args.links);
    let decks: Vec<String> = args.templates.iter().map(|file| format!("{{ from = {} }}", quoted(file))).collect();
    text += &match decks.as_slice() {
        [] => String::new(),
        [one] => format!("template = {one}\n"),
        several => format!("template = [{}]\n", several.join(", ")),
    };
    let ways = [
        ("file", &args.value_file),
        ("regex", &args.value_regex),
        ("json", &args.value_json),
        ("column", &args.value_column),
    ];
    let ways: Vec<String> =
        ways.iter().filter_map(|(key, text)| Some(format!("{key} = {}", quoted(text.as_ref()?)))).collect();
    if !ways.is_empty() {
        text += &format!("value = {{ {} }}\n", ways.join(", "));
    }
    text + &args.timeout.as_ref().map_or_else(String::new, |limit| format!("timeout = {}\n", quoted(limit)))
}

/// `--residuals FILE:COLUMN:DATA` as the study writes it.
fn residuals_text(args: &cli::Init) -> Result<Option<String>, Failure> {
    if !args.residuals.is_empty() && args.command.is_empty() {
        return Err(Failure::usage("--residuals compares what a command writes: write the command too, after --"));
    }
    let one = |text: &String| {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let [file, column, data] = parts[..] else { return None };
        let column = column.parse::<usize>().map_or_else(|_| quoted(column), |number| number.to_string());
        let table = format!("{{ file = {}, column = {column}, against = {} }}", quoted(file), quoted(data));
        parts.iter().all(|part| !part.is_empty()).then_some(table)
    };
    let read = |text: &String| {
        one(text).ok_or_else(|| {
            let example = "write for example --residuals out.csv:y:data.csv";
            Failure::usage(format!("--residuals {text} is not FILE:COLUMN:DATA: {example}"))
        })
    };
    let tables = args.residuals.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(match tables.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[\n    {},\n]", several.join(",\n    "))),
    })
}

fn objective_text(args: &cli::Init, residuals: Option<&str>) -> String {
    let command = &args.command;
    if command.is_empty() {
        return "\n# No [objective]: `labcat ask` suggests points and `labcat tell` records their values.\n".to_owned();
    }
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let value = match residuals {
        Some(residuals) => format!(
            "# The value is the sum of squares of simulated minus measured. at = \"t\" interpolates the simulation at the data's times,\n\
             # error = \"sigma\" names the column with the standard deviations of the data.\n\
             residuals = {residuals}\n"
        ),
        None => "# The value is the last line of standard output: a number, {\"value\": …} or, for a fit to data, {\"residuals\": […]}.\n\
                 # value_file = \"{id}.txt\"    # or the last line of this file\n\
                 # residuals = { file = \"out.csv\", column = \"y\", against = \"data.csv\" }   # or, for a fit, a column minus the data\n"
            .to_owned(),
    };
    format!(
        "\n[objective]\n\
         # The program and its arguments; no shell reads them. {{name}} is a parameter's value, {{id}} the evaluation's number.\n\
         # The values are also in the environment, as LABCAT_name.\n\
         command = [{}]\n{}\
         {value}\
         # parameters_file = \"{{id}}.json\"   # the values as JSON, written before the command starts\n\
         # timeout = \"12h\"            # time limit of an evaluation; after it the evaluation fails\n\
         retries = 0                  # further attempts after a failure\n\
         on_failure = \"penalize\"      # avoid points that fail; or \"stop\"\n\
         # max_consecutive_failures = 10   # this many failures in a row end the run; 0: no limit\n\
         # A program that reads an input file: directory = \"runs/{{id}}\", template = {{ from = \"deck.in\" }}\n\
         \n# [optimizer]\n\
         # noise = \"auto\"             # if the same point can give different values\n",
        words.join(", "),
        objective_keys(args),
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
    let evaluator = match &study.objective {
        None => None,
        Some(objective) => {
            let (evaluator, command) =
                (Evaluator::new(objective.clone(), &study, file), check_command(objective, file));
            let evaluator = match (evaluator, command) {
                (Ok(evaluator), Ok(())) => evaluator,
                (Err(decks), Err(command)) => {
                    return Err(Failure::usage(format!("{}\nerror: {}", decks.message, command.message)));
                }
                (Err(failure), _) | (_, Err(failure)) => return Err(failure),
            };
            if let Some(warning) = evaluator.warning() {
                complain(&format!("warning: {}", failure::at(file, &warning)));
            }
            Some(evaluator)
        }
    };
    if paths.journal.exists() {
        let (_, stored) = Journal::of_begun_study(&paths)?;
        if let Some(difference) = study.identity().difference(&stored) {
            return Err(crate::session::changed(file, &difference));
        }
    }
    describe(&study, evaluator.as_ref(), file)
}

/// Whether what the command needs is there.
fn check_command(objective: &Objective, file: &Path) -> Result<(), Failure> {
    let mut problems = Vec::new();
    let mut complain = |message: String| problems.push(Problem { line: objective.line, message });
    let own_directory = !objective.directory.is_constant();
    let directory = objective.base.join(objective.directory.fill_constant().unwrap_or_default());
    if !own_directory && !directory.is_dir() {
        complain(format!("the directory {} of the command does not exist: make it", directory.display()));
    }
    for (key, files) in [("copy", &objective.copy), ("link", &objective.link)] {
        for path in files.iter().map(|file| objective.base.join(file.get_ref())).filter(|path| !path.exists()) {
            complain(format!("`{key}`: there is no file {}", path.display()));
        }
    }
    if let Some(name) = objective.program().filter(|_| !objective.shell) {
        let brought = |file: &Spanned<PathBuf>| file.get_ref().file_name() == Path::new(&name).file_name();
        let comes = own_directory && name.contains('/') && objective.copy.iter().chain(&objective.link).any(brought);
        match startable(&program(&name, &directory, &objective.base)) {
            _ if comes => {}
            Startable::Yes => {}
            Startable::NotExecutable(path) => complain(format!(
                "`command`: {} is not executable: `chmod +x {}`, or name its interpreter first",
                path.display(),
                word(&path)
            )),
            Startable::Absent => {
                complain(format!("`command`: there is no program `{name}`: write its path, or put it on the PATH"));
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Failure::study(file, &problems)),
    }
}

/// Whether a program can be started.
enum Startable {
    Yes,
    NotExecutable(PathBuf),
    Absent,
}

/// Looks for a program by its path or on the search path.
fn startable(program: &Path) -> Startable {
    let places: Vec<PathBuf> = match program.components().count() > 1 {
        true => vec![program.to_owned()],
        false => {
            let paths = env::var_os("PATH").unwrap_or_default();
            env::split_paths(&paths).map(|path| path.join(program)).collect()
        }
    };
    let mut files = places.into_iter().filter(|path| path.is_file()).peekable();
    let Some(first) = files.peek().cloned() else { return Startable::Absent };
    match files.any(|path| access(&path, Access::EXEC_OK).is_ok()) {
        true => Startable::Yes,
        false => Startable::NotExecutable(first),
    }
}

fn describe(study: &Study, evaluator: Option<&Evaluator>, file: &Path) -> Result<(), Failure> {
    let mut out = people();
    let config = &study.config;
    writeln!(out, "{} is valid", file.display())?;
    let budget = config.budget.map_or_else(|| "no budget".to_owned(), |budget| format!("budget {budget}"));
    let default = if study.default_budget { " (200 per parameter, as no limit is given)" } else { "" };
    let (workers, seed) = (count(study.workers, "worker"), config.seed);
    writeln!(out, "{}: {}, {budget}{default}, {workers}, seed {seed}", study.name, config.direction)?;
    for parameter in study.domain.parameters() {
        writeln!(out, "  {} {}", parameter.name, values::range(parameter))?;
    }
    for formula in study.constraints.of_parameters() {
        writeln!(out, "  {formula}: no suggestion violates it")?;
    }
    let needed = study.constraints.results();
    for formula in study.constraints.of_results() {
        let names: Vec<&str> = formula.names().filter(|name| needed.iter().any(|needed| needed == name)).collect();
        let results = if names.is_empty() { "the value".to_owned() } else { names.join(", ") };
        let meant = names.iter().find_map(|name| slip(name, study));
        let question = meant.map_or_else(String::new, |name| format!(" (or is the parameter `{name}` meant?)"));
        writeln!(out, "  {formula}: measured, every evaluation must give {results}{question}")?;
    }
    for (series, data) in study.objective.iter().flat_map(|objective| &objective.residuals).zip(&study.data) {
        writeln!(out, "  {}", series.in_words(data))?;
    }
    if let Some(all) = study.domain.configurations() {
        writeln!(out, "{all} configurations in all: the run ends when each has been evaluated")?;
    }
    let Some(evaluator) = evaluator else {
        writeln!(out, "no command: `labcat ask {}` suggests points, `labcat tell` records values", word(file))?;
        return Ok(());
    };
    let preview = evaluator.preview(&study.start.clone().unwrap_or_else(|| study.middle()));
    writeln!(out, "the command of an evaluation, for example")?;
    for word in preview.words {
        writeln!(out, "  {word}")?;
    }
    if study.objective.as_ref().is_some_and(|objective| !objective.directory.is_constant()) {
        writeln!(out, "in {}", preview.directory.display())?;
    }
    for (path, text) in preview.sheets {
        writeln!(out, "with {}\n{}", path.display(), indented(&text))?;
    }
    Ok(())
}

/// The parameter whose name a result has but for one letter, or two that are swapped.
fn slip<'s>(result: &str, study: &'s Study) -> Option<&'s str> {
    let mut names = study.domain.parameters().iter().map(|parameter| parameter.name.as_str());
    names.find(|name| name.len() > 2 && strsim::osa_distance(name, result) == 1)
}

/// The lines of a file that hold the newcomer's attention: the first few.
fn indented(text: &str) -> String {
    const SHOWN: usize = 20;
    let mut lines: Vec<String> = text.lines().take(SHOWN).map(|line| format!("  {}", printable(line))).collect();
    let left_out = text.lines().count().saturating_sub(SHOWN);
    if left_out > 0 {
        lines.push(format!("  … and {}", count(left_out, "more line")));
    }
    lines.join("\n")
}
