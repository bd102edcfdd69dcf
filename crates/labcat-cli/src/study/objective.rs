//! How a point is evaluated by a command: the table `[objective]`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use labcat::{Domain, Label, ParameterKind};
use toml::Spanned;
use toml::de::DeValue;

use super::reader::{Reader, Table};
use super::residuals::{self, Series};
use super::slurm::Slurm;
use super::template::{Marks, Template};
use crate::value::{Column, Extraction, Row, Separator};

const COMMAND_EXAMPLE: &str = r#"["python3", "simulate.py", "--x={x}"]"#;
const TEMPLATE_EXAMPLE: &str = r#"{ from = "deck.in", to = "deck.in" }"#;
const VALUE_EXAMPLE: &str = r#"{ file = "out.log", regex = 'energy *= *(\S+)' }"#;

/// What is kept of each output of a command, if the study does not say, in bytes.
const KEEP_OUTPUT: u64 = 8 * 1024;
/// The most that can be kept.
const MOST_OUTPUT: u64 = 64 * 1024 * 1024;
/// Failures in a row that end a run, if the study does not say: no fewer than two for each worker.
const FAILURES_IN_A_ROW: usize = 10;

/// How a point is evaluated by a command.
#[derive(Clone, Debug)]
pub(crate) struct Objective {
    pub(crate) command: Vec<Template>,
    /// The command is one text for `sh -c`.
    pub(crate) shell: bool,
    /// Where the study file is; what the study names is found from here.
    pub(crate) base: PathBuf,
    /// Where the command runs, from `base`.
    pub(crate) directory: Template,
    /// Put into `directory` before the command starts.
    pub(crate) copy: Vec<Spanned<PathBuf>>,
    pub(crate) link: Vec<Spanned<PathBuf>>,
    pub(crate) decks: Vec<Deck>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) parameters_file: Option<Template>,
    /// The file that holds the value; standard output if there is none.
    pub(crate) value_file: Option<Template>,
    pub(crate) extraction: Extraction,
    /// What is simulated and measured, if the value is a sum of squares.
    pub(crate) residuals: Vec<Series>,
    pub(crate) timeout: Option<Duration>,
    /// Evaluations are jobs of a scheduler: the study says `submit = "slurm"`.
    pub(super) submits: bool,
    /// How they are submitted.
    pub(crate) slurm: Option<Slurm>,
    pub(crate) retries: u32,
    pub(crate) on_failure: OnFailure,
    /// As the study says; 0 is no limit.
    max_consecutive_failures: Option<usize>,
    /// Bytes of each output that are kept for people.
    pub(crate) keep_output: usize,
    /// The line of `command`, for messages.
    pub(crate) line: usize,
}

/// A file with placeholders that is filled for each evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Deck {
    /// From `base`.
    pub(crate) from: PathBuf,
    /// From `directory`.
    pub(crate) to: Template,
    pub(crate) marks: Marks,
    /// Its line in the study, for messages.
    pub(crate) line: usize,
}

/// What a failed evaluation means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The optimizer learns that the point failed and avoids it.
    Penalize,
    /// The run ends; the evaluation is tried again when the study is resumed.
    Stop,
}

impl Objective {
    /// The program, if no parameter is part of its name.
    pub(crate) fn program(&self) -> Option<String> {
        self.command.first().and_then(Template::fill_constant)
    }

    /// How many failures in a row end a run of so many workers; `None`: any number goes on.
    pub(crate) fn failures_in_a_row(&self, workers: usize) -> Option<usize> {
        match self.max_consecutive_failures {
            Some(0) => None,
            Some(limit) => Some(limit),
            None => Some(FAILURES_IN_A_ROW.max(2 * workers)),
        }
    }

    /// A shell would read the labels that are put into its text: only plain words may stand there. The error says what to write.
    pub(super) fn check_shell(&self, domain: &Domain) -> Result<(), String> {
        let used = self.command.iter().filter(|_| self.shell).flat_map(Template::parameters);
        for parameter in used.filter_map(|index| domain.parameters().get(index)) {
            let ParameterKind::Categorical { labels, .. } = &parameter.kind else { continue };
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-./+:@%,=".contains(c);
            let labels = labels.iter().map(Label::to_string);
            if let Some(label) = labels.into_iter().find(|label| !label.chars().all(plain)) {
                let name = &parameter.name;
                return Err(format!(
                    "with shell = true the shell would read the label `{label}` in the place of {{{name}}}: write \
                     \"$LABCAT_{name}\" there, with the quotes, or a `command` that is a list"
                ));
            }
        }
        Ok(())
    }

    /// Several workers must not write over each other's files.
    pub(super) fn check_workers(&self, workers: usize) -> Result<(), String> {
        if workers < 2 || self.directory.has_id() {
            return Ok(());
        }
        let files = [("parameters_file", &self.parameters_file), ("value_file", &self.value_file)];
        let simulated = self.residuals.iter().map(|series| ("file", &series.file));
        for (key, file) in files.into_iter().chain(simulated) {
            if file.as_ref().is_some_and(|template| !template.has_id()) {
                return Err(format!(
                    "with {workers} workers `{key}` must differ between evaluations: write for example {key} = \"{{id}}.txt\", \
                     or directory = \"runs/{{id}}\""
                ));
            }
        }
        Ok(())
    }
}

/// Reads `[objective]`; `base` is the directory of the study file.
pub(super) fn read(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String], base: &Path) -> Option<Objective> {
    let keys = [
        "command",
        "shell",
        "directory",
        "copy",
        "link",
        "template",
        "environment",
        "parameters_file",
        "value",
        "value_file",
        "submit",
        "residuals",
        "timeout",
        "retries",
        "on_failure",
        "max_consecutive_failures",
        "keep_output",
    ];
    reader.refuse_unknown(table, &keys);
    let shell = reader.boolean(table, "shell").unwrap_or(false);
    let command = command(reader, table, names, shell);
    let policies = [("penalize", OnFailure::Penalize), ("stop", OnFailure::Stop)];
    let directory = file(reader, table, "directory", "runs/{id}", names).unwrap_or_default();
    let (value_file, extraction) = value(reader, table, names);
    let objective = Objective {
        shell,
        base: base.to_owned(),
        copy: brought(reader, table, "copy", &directory),
        link: brought(reader, table, "link", &directory),
        decks: decks(reader, table, names, &directory),
        environment: environment(reader, table),
        parameters_file: file(reader, table, "parameters_file", "{id}.json", names),
        value_file,
        extraction,
        residuals: residuals::read(reader, table, names),
        timeout: reader.span_of_time(table, "timeout"),
        submits: submits(reader, table, &directory),
        slurm: None,
        retries: reader.count(table, "retries", 0).map_or(0, |n| n.min(u64::from(u32::MAX)) as u32),
        on_failure: reader.word(table, "on_failure", &policies).unwrap_or(OnFailure::Penalize),
        max_consecutive_failures: reader.count(table, "max_consecutive_failures", 0).map(|n| n as usize),
        keep_output: reader.size(table, "keep_output", MOST_OUTPUT).unwrap_or(KEEP_OUTPUT) as usize,
        directory,
        line: 0,
        command: Vec::new(),
    };
    let (command, line) = command?;
    Some(Objective { command, line, ..objective })
}

/// Whether evaluations are jobs; each then has a directory, in which the job leaves its result.
fn submits(reader: &mut Reader<'_>, table: &Table<'_, '_>, directory: &Template) -> bool {
    let submits = reader.word(table, "submit", &[("slurm", true), ("local", false)]).unwrap_or(false);
    if let (true, false, Some(entry)) = (submits, directory.has_id(), table.entries.get("submit")) {
        reader.problem(
            &entry.span(),
            "`submit` needs a directory for each evaluation, which the cluster's nodes see too: write directory = \"runs/{id}\""
                .to_owned(),
        );
    }
    submits
}

/// Files that are put into the directory of each evaluation.
fn brought(reader: &mut Reader<'_>, table: &Table<'_, '_>, key: &str, directory: &Template) -> Vec<Spanned<PathBuf>> {
    let Some(entry) = table.entries.get(key) else { return Vec::new() };
    if !directory.has_id() {
        reader.problem(
            &entry.span(),
            format!("`{key}` needs a directory for each evaluation: write directory = \"runs/{{id}}\" too"),
        );
    }
    let files = reader.strings(key, entry, r#"["mesh.dat"]"#).unwrap_or_default();
    for file in &files {
        if Path::new(file.get_ref()).file_name().is_none() {
            reader
                .problem(&file.span(), format!("`{key}` names no file with {:?}: write \"mesh.dat\"", file.get_ref()));
        }
    }
    files.into_iter().map(|file| Spanned::new(file.span(), PathBuf::from(file.into_inner()))).collect()
}

/// `template`: one table, or a list of them.
fn decks(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String], directory: &Template) -> Vec<Deck> {
    let tables = reader.inline_tables(table, "template", TEMPLATE_EXAMPLE);
    tables.iter().filter_map(|table| deck(reader, table, names, directory)).collect()
}

fn deck(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String], directory: &Template) -> Option<Deck> {
    reader.refuse_unknown(table, &["from", "to", "marks"]);
    let Some(from) = reader.string(table, "from", "deck.in") else {
        if !table.entries.contains_key("from") {
            reader.missing(table, "from", "from = \"deck.in\"");
        }
        return None;
    };
    let marks = marks(reader, table);
    let name = Path::new(from.get_ref()).file_name().map(|name| name.to_string_lossy().into_owned());
    let Some(name) = name else {
        reader.problem(&from.span(), format!("`from` names no file with {:?}: write \"deck.in\"", from.get_ref()));
        return None;
    };
    let to = match table.entries.contains_key("to") {
        true => file(reader, table, "to", "deck.in", names)?,
        false => Template::parse(&name.replace('{', "{{").replace('}', "}}"), names).ok()?,
    };
    if !directory.has_id() && !to.has_id() {
        reader.problem(
            &table.span.clone(),
            "`template` needs a file for each evaluation: write directory = \"runs/{id}\" in [objective], or {id} in `to`"
                .to_owned(),
        );
    }
    Some(Deck { line: reader.line_of(&table.span), from: from.into_inner().into(), to, marks })
}

fn marks(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Marks {
    let Some(entry) = table.entries.get("marks") else { return Marks::default() };
    let Some(texts) = reader.strings("marks", entry, r#"["<<", ">>"]"#) else { return Marks::default() };
    match texts.as_slice() {
        [open, close]
            if !open.get_ref().is_empty() && !close.get_ref().is_empty() && open.get_ref() != close.get_ref() =>
        {
            Marks { open: open.get_ref().clone(), close: close.get_ref().clone() }
        }
        _ => {
            reader.problem(
                &entry.span(),
                "`marks` must be two different strings: write marks = [\"<<\", \">>\"]".to_owned(),
            );
            Marks::default()
        }
    }
}

/// Where the value is: `value_file`, or the table `value`.
fn value(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String]) -> (Option<Template>, Extraction) {
    let value_file = file(reader, table, "value_file", "{id}.txt", names);
    let Some(entry) = table.entries.get("value") else { return (value_file, Extraction::LastLine) };
    if value_file.is_some() {
        reader
            .problem(&entry.span(), "`value` and `value_file` are both there: write the file into `value`".to_owned());
    }
    let tables = reader.inline_tables(table, "value", VALUE_EXAMPLE);
    let [value] = tables.as_slice() else {
        if tables.len() > 1 {
            reader.problem(&entry.span(), format!("`value` must be one table: write value = {VALUE_EXAMPLE}"));
        }
        return (None, Extraction::LastLine);
    };
    reader.refuse_unknown(value, &["file", "regex", "json", "column", "row", "separator"]);
    let ways: Vec<&str> =
        ["regex", "json", "column"].into_iter().filter(|key| value.entries.contains_key(*key)).collect();
    if ways.len() > 1 {
        reader.problem(&value.span.clone(), format!("`value` has {}: write one of them", ways.join(" and ")));
    }
    for key in ["row", "separator"] {
        if let Some(entry) = value.entries.get(key)
            && !ways.contains(&"column")
        {
            reader.problem(&entry.span(), format!("`{key}` belongs to `column`: write column = \"stress\" too"));
        }
    }
    let extraction = match ways.first() {
        Some(&"regex") => compiled(reader, value, "regex", r"energy *= *(\S+)", Extraction::pattern),
        Some(&"json") => compiled(reader, value, "json", "$.results[0].energy", Extraction::json),
        Some(_) => cell(reader, value),
        None => None,
    };
    (file(reader, value, "file", "out.log", names), extraction.unwrap_or(Extraction::LastLine))
}

pub(super) fn compiled<T>(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    key: &str,
    example: &str,
    compile: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let text = reader.string(table, key, example)?;
    compile(text.get_ref())
        .map_err(|why| {
            reader.problem(
                &text.span(),
                format!("`{key}` cannot be {:?}: {why}: write for example {key} = '{example}'", text.get_ref()),
            )
        })
        .ok()
}

fn is_integer(table: &Table<'_, '_>, key: &str) -> bool {
    table.entries.get(key).is_some_and(|entry| matches!(entry.get_ref(), DeValue::Integer(_)))
}

/// A column by its name or its number.
pub(super) fn column(reader: &mut Reader<'_>, table: &Table<'_, '_>, key: &str) -> Option<Column> {
    Some(match is_integer(table, key) {
        true => Column::Number(reader.count(table, key, 1)? as usize),
        false => Column::Named(reader.string(table, key, "stress")?.into_inner()),
    })
}

fn cell(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Option<Extraction> {
    let column = column(reader, table, "column")?;
    let row = match is_integer(table, "row") {
        true => Row::Number(reader.count(table, "row", 1)? as usize),
        false => reader.word(table, "row", &[("last", Row::Last), ("first", Row::Number(1))]).unwrap_or(Row::Last),
    };
    let separator = separator(reader, table, "separator").unwrap_or(Separator::Byte(b','));
    Some(Extraction::Cell { column, row, separator })
}

/// What stands between the cells of a table, if the study says.
pub(super) fn separator(reader: &mut Reader<'_>, table: &Table<'_, '_>, key: &str) -> Option<Separator> {
    let text = reader.string(table, key, ";")?;
    match text.get_ref().as_bytes() {
        b" " => Some(Separator::Blanks),
        [byte] if byte.is_ascii() => Some(Separator::Byte(*byte)),
        _ => {
            let message = format!(
                "`{key}` must be one character, not {:?}: write \",\", \";\", \"\\t\", or \" \" for any number of blanks",
                text.get_ref()
            );
            reader.problem(&text.span(), message);
            None
        }
    }
}

fn command(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    names: &[String],
    shell: bool,
) -> Option<(Vec<Template>, usize)> {
    let Some(entry) = table.entries.get("command") else {
        reader.missing(table, "command", &format!("command = {COMMAND_EXAMPLE}"));
        return None;
    };
    let parts = match (entry.get_ref().as_str(), shell) {
        (Some(text), true) => vec![Spanned::new(entry.span(), text.to_owned())],
        (Some(text), false) => {
            let words: Vec<String> = text.split_whitespace().map(|word| format!("{word:?}")).collect();
            reader.problem(
                &entry.span(),
                format!(
                    "`command` must be a list, the program first: write command = [{}], or add shell = true",
                    words.join(", ")
                ),
            );
            return None;
        }
        (None, true) => {
            reader.problem(
                &entry.span(),
                "with shell = true `command` must be one string: write command = \"simulate --x={x} | tail -1\""
                    .to_owned(),
            );
            return None;
        }
        (None, false) => reader.strings("command", entry, COMMAND_EXAMPLE)?,
    };
    if parts.first().is_none_or(|program| program.get_ref().trim().is_empty()) {
        reader.problem(&entry.span(), format!("`command` names no program: write command = {COMMAND_EXAMPLE}"));
        return None;
    }
    let before = reader.problems();
    let templates: Vec<Template> = parts.iter().filter_map(|part| template(reader, part, names)).collect();
    let line = reader.line_of(&entry.span());
    (reader.problems() == before).then_some((templates, line))
}

fn template(reader: &mut Reader<'_>, text: &Spanned<String>, names: &[String]) -> Option<Template> {
    if text.get_ref().contains('\0') {
        reader.problem(&text.span(), "a command cannot hold the character U+0000: leave it out".to_owned());
        return None;
    }
    Template::parse(text.get_ref(), names).map_err(|message| reader.problem(&text.span(), message)).ok()
}

pub(super) fn file(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    key: &str,
    example: &str,
    names: &[String],
) -> Option<Template> {
    let path = reader.string(table, key, example)?;
    if path.get_ref().is_empty() {
        reader.problem(&path.span(), format!("`{key}` is empty: write {key} = {example:?}"));
        return None;
    }
    template(reader, &path, names)
}

fn environment(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Vec<(String, String)> {
    let Some(entry) = table.entries.get("environment") else { return Vec::new() };
    let Some(entries) = entry.get_ref().as_table() else {
        reader.problem(
            &entry.span(),
            "`environment` must be a table: write environment = { OMP_NUM_THREADS = \"1\" }".to_owned(),
        );
        return Vec::new();
    };
    let mut variables = Vec::new();
    for (key, value) in entries {
        let name: &str = key.get_ref();
        let text = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => reader.source(value).to_owned(),
            _ => {
                reader.problem(&value.span(), format!("`{name}` must be text: write {name} = \"…\""));
                continue;
            }
        };
        if name.is_empty() || name.contains(['=', '\0']) || text.contains('\0') {
            reader.problem(&key.span(), format!("{name:?} cannot name a variable of the environment: leave out `=`"));
        }
        variables.push((name.to_owned(), text));
    }
    variables
}
