//! From the text of a study file to a [`Study`], or to everything that is wrong with it.

use std::ops::Range;
use std::path::Path;

use labcat::{Config, ConfigError, Direction, Domain, Optimizer, Parameter, Preset, SWITCHES, Scale};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::{Problem, Reader, Table};
use super::template::ID;
use super::{Study, objective};
use crate::commands::minimize::is_limited;
use crate::format::number;

/// Names that the columns of an export and the placeholder `{id}` need.
const RESERVED_NAMES: [&str; 4] = [ID, "value", "status", "seconds"];

/// Switches of the core that `[study]` sets; the others may stand in `[optimizer]`.
const STUDY_SWITCHES: [&str; 6] = ["budget", "target", "tolerance", "time_limit", "seed", "direction"];

/// Reads a study; `stem` is its name when it gives none, `directory` where its command runs when it names no other.
pub(super) fn parse(text: &str, stem: &str, directory: &Path) -> Result<Study, Vec<Problem>> {
    let mut reader = Reader::new(text);
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            reader.problem(&error.span().unwrap_or(0..0), format!("this is not TOML: {}", error.message()));
            return Err(reader.into_problems());
        }
    };
    let root = Table { heading: "the study".into(), entries: document.get_ref(), span: 0..0 };
    reader.refuse_unknown(&root, &["study", "parameter", "objective", "optimizer"]);

    let parameters = parameters(&mut reader, &root);
    let names = names(&root);
    let general = general(&mut reader, &root, stem);
    let objective = match reader.table(&root, "objective") {
        Some(table) => objective::read(&mut reader, &table, &names, directory),
        None => None,
    };
    let start = start(&mut reader, &parameters);
    let domain = domain(&mut reader, parameters);
    let (Some(domain), true) = (domain, reader.problems() == 0) else { return Err(reader.into_problems()) };
    let mut config = general.config;
    let default_budget = !is_limited(&config, general.time_limit);
    if default_budget {
        config.budget = Some(labcat::default_budget(domain.dim()));
    }
    if let Err(error) = Optimizer::new(domain.clone(), config.clone()) {
        let span = switch_span(&root, &error);
        reader.problem(&span, error.to_string());
        return Err(reader.into_problems());
    }

    let study = Study {
        name: general.name,
        domain,
        start,
        config,
        switches: general.switches,
        time_limit: general.time_limit,
        workers: general.workers,
        objective,
        default_budget,
    };
    match study.check_workers(study.workers) {
        Ok(()) => Ok(study),
        Err(message) => {
            let line = study.objective.as_ref().map_or(1, |objective| objective.line);
            Err(vec![Problem { line, message }])
        }
    }
}

/// Where the switch stands that the core refuses.
fn switch_span(root: &Table<'_, '_>, error: &labcat::Error) -> Range<usize> {
    let labcat::Error::Config(ConfigError::OutOfRange { switch, .. }) = error else { return 0..0 };
    let tables = ["optimizer", "study"].into_iter().filter_map(|name| root.entries.get(name)?.get_ref().as_table());
    tables.filter_map(|table| table.get(*switch)).map(Spanned::span).next().unwrap_or(0..0)
}

/// What `[study]` and `[optimizer]` say.
struct General {
    name: String,
    config: Config,
    switches: Vec<(String, String)>,
    time_limit: Option<std::time::Duration>,
    workers: usize,
}

fn general(reader: &mut Reader<'_>, root: &Table<'_, '_>, stem: &str) -> General {
    let empty = DeTable::new();
    let (config, switches) = optimizer(reader, root);
    let mut general = General { name: stem.to_owned(), config, switches, time_limit: None, workers: 1 };
    let table = match reader.table(root, "study") {
        Some(table) => table,
        None => {
            if !root.entries.contains_key("study") {
                reader.missing(root, "[study]", "a line [study] with name, direction, budget and seed below");
            }
            Table { heading: "[study]".into(), entries: &empty, span: 0..0 }
        }
    };
    let keys = ["name", "direction", "budget", "target", "tolerance", "time_limit", "seed", "workers"];
    reader.refuse_unknown(&table, &keys);
    if let Some(name) = reader.string(&table, "name", stem) {
        if name.get_ref().trim().is_empty() || name.get_ref().contains(char::is_control) {
            reader.problem(&name.span(), format!("`name` must be a line of text: write name = {stem:?}"));
        }
        general.name = name.into_inner();
    }
    let directions = [("minimize", Direction::Minimize), ("maximize", Direction::Maximize)];
    if let Some(direction) = reader.word(&table, "direction", &directions) {
        general.config.direction = direction;
    }
    general.config.budget = reader.count(&table, "budget", 1).map(|n| n as usize);
    general.config.target = reader.number(&table, "target", "0.001").map(Spanned::into_inner);
    if let Some(tolerance) = reader.number(&table, "tolerance", "1e-6") {
        set(reader, &mut general.config, "tolerance", tolerance.get_ref().to_string(), &tolerance.span());
    }
    general.config.seed = reader.count(&table, "seed", 0).unwrap_or(0);
    general.time_limit = reader.span_of_time(&table, "time_limit");
    general.workers = reader.count(&table, "workers", 1).map_or(1, |n| n as usize);
    general
}

/// The switches that may stand in `[optimizer]`.
fn optimizer_keys() -> Vec<&'static str> {
    let mut keys = vec!["preset"];
    keys.extend(SWITCHES.iter().map(|s| s.name).filter(|name| *name != "preset" && !STUDY_SWITCHES.contains(name)));
    keys
}

fn optimizer(reader: &mut Reader<'_>, root: &Table<'_, '_>) -> (Config, Vec<(String, String)>) {
    let mut switches = Vec::new();
    let Some(table) = reader.table(root, "optimizer") else { return (Config::new(Preset::Default), switches) };
    reader.refuse_unknown(&table, &optimizer_keys());
    let presets = [("default", Preset::Default), ("paper", Preset::Paper)];
    let preset = reader.word(&table, "preset", &presets).unwrap_or(Preset::Default);
    let mut config = Config::new(preset);
    for (key, entry) in table.entries {
        let name: &str = key.get_ref();
        if name == "preset" || !optimizer_keys().contains(&name) {
            continue;
        }
        let value = switch_text(entry.get_ref());
        set(reader, &mut config, name, value.clone(), &entry.span());
        switches.push((name.to_owned(), value));
    }
    switches.sort();
    (config, switches)
}

fn set(reader: &mut Reader<'_>, config: &mut Config, switch: &str, value: String, span: &Range<usize>) {
    if let Err(error) = config.set(switch, &value) {
        reader.problem(span, error.to_string());
    }
}

/// A switch's value as the text that [`Config::set`] takes.
fn switch_text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        other => other.type_str().to_owned(),
    }
}

/// A parameter with the places its values stand at.
struct Read {
    parameter: Parameter,
    start: Option<Spanned<f64>>,
    span: Range<usize>,
}

fn parameters(reader: &mut Reader<'_>, root: &Table<'_, '_>) -> Vec<Read> {
    let tables = reader.tables(root, "parameter");
    if !root.entries.contains_key("parameter") {
        reader.missing(root, "[[parameter]]", r#"[[parameter]] and below it name = "x", low = -5, high = 10"#);
    }
    let mut read: Vec<Read> = Vec::new();
    for table in tables {
        let Some(parameter) = parameter(reader, &table) else { continue };
        let name = &parameter.parameter.name;
        if read.iter().any(|other| other.parameter.name == *name) {
            reader.problem(&table.span.clone(), format!("two parameters are named `{name}`: give one another name"));
        }
        read.push(parameter);
    }
    read
}

/// The names of all parameters, also of those that are wrong otherwise: what a placeholder may say.
fn names(root: &Table<'_, '_>) -> Vec<String> {
    let tables = root.entries.get("parameter").and_then(|entry| entry.get_ref().as_array());
    let named =
        tables.into_iter().flatten().filter_map(|item| item.get_ref().as_table()?.get("name")?.get_ref().as_str());
    named.map(str::to_owned).collect()
}

fn parameter(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Option<Read> {
    reader.refuse_unknown(table, &["name", "type", "low", "high", "scale", "start"]);
    let name = match reader.string(table, "name", "x") {
        Some(name) => name,
        None => {
            if !table.entries.contains_key("name") {
                reader.missing(table, "name", r#"name = "x""#);
            }
            return None;
        }
    };
    if let Some(complaint) = bad_name(name.get_ref()) {
        reader.problem(&name.span(), complaint);
    }
    let name = name.into_inner();
    let real = real_type(reader, table, &name);
    let scale = reader.word(table, "scale", &[("linear", Scale::Linear), ("log", Scale::Log)]).unwrap_or(Scale::Linear);
    let mut bound = |key: &str, example: &str| {
        if real && !table.entries.contains_key(key) {
            reader.missing(table, key, &format!("{key} = {example}, the bound of `{name}`"));
        }
        reader.number(table, key, example)
    };
    let (low, high) = (bound("low", "-5"), bound("high", "10"));
    let (low, high) = real.then_some((low?, high?))?;
    check_range(reader, &name, &low, &high, scale);
    let start = reader.number(table, "start", "0");
    let parameter = Parameter { name, low: low.into_inner(), high: high.into_inner(), scale };
    Some(Read { parameter, start, span: table.span.clone() })
}

/// Whether the parameter is real; anything else is a problem.
fn real_type(reader: &mut Reader<'_>, table: &Table<'_, '_>, name: &str) -> bool {
    let Some(kind) = reader.string(table, "type", "real") else { return !table.entries.contains_key("type") };
    match kind.get_ref().as_str() {
        "real" => return true,
        "integer" | "categorical" => reader.problem(
            &kind.span(),
            format!(
                "parameter `{name}` is {}, which labcat cannot optimise yet: write type = \"real\" (and round in the command)",
                kind.get_ref()
            ),
        ),
        other => reader.problem(&kind.span(), format!("`type` cannot be {other:?}: write type = \"real\"")),
    }
    false
}

fn check_range(reader: &mut Reader<'_>, name: &str, low: &Spanned<f64>, high: &Spanned<f64>, scale: Scale) {
    let (l, h) = (*low.get_ref(), *high.get_ref());
    if l == h {
        reader.problem(
            &high.span(),
            format!("parameter `{name}` has an empty range, low = high = {l}: write a high above {l}, or put the constant into the command"),
        );
    } else if l > h {
        reader.problem(
            &high.span(),
            format!("parameter `{name}` has low = {l} above high = {h}: write low = {h} and high = {l}"),
        );
    } else if scale == Scale::Log && l <= 0.0 {
        reader.problem(
            &low.span(),
            format!("parameter `{name}` has scale = \"log\" and low = {l}: write a low above 0, such as 1e-6, or scale = \"linear\""),
        );
    }
}

fn bad_name(name: &str) -> Option<String> {
    if name.is_empty() || name.contains(|c: char| c.is_control() || "{}=".contains(c)) {
        return Some(format!("{name:?} cannot name a parameter: write a name without braces, `=` and line breaks"));
    }
    RESERVED_NAMES.contains(&name).then(|| {
        format!(
            "`{name}` cannot name a parameter, the exports have a column of that name: write another, not one of {}",
            RESERVED_NAMES.join(", ")
        )
    })
}

/// The point to try first: every parameter has a start inside its range, or none has.
fn start(reader: &mut Reader<'_>, parameters: &[Read]) -> Option<Vec<f64>> {
    if parameters.iter().all(|p| p.start.is_none()) {
        return None;
    }
    let mut point = Vec::new();
    for Read { parameter: p, start, span } in parameters {
        match start {
            None => reader.problem(
                span,
                format!(
                    "parameter `{}` has no `start` but others have: write start = {} here too",
                    p.name,
                    number(p.low)
                ),
            ),
            Some(start) if !(p.low..=p.high).contains(start.get_ref()) => reader.problem(
                &start.span(),
                format!(
                    "start = {} is outside `{}`: write a number from {} to {}",
                    start.get_ref(),
                    p.name,
                    p.low,
                    p.high
                ),
            ),
            Some(start) => point.push(*start.get_ref()),
        }
    }
    Some(point)
}

fn domain(reader: &mut Reader<'_>, parameters: Vec<Read>) -> Option<Domain> {
    let span = parameters.first().map_or(0..0, |p| p.span.clone());
    if parameters.is_empty() || reader.problems() > 0 {
        if reader.problems() == 0 {
            reader.problem(&span, "a study needs at least one [[parameter]]".to_owned());
        }
        return None;
    }
    Domain::from_parameters(parameters.into_iter().map(|p| p.parameter).collect())
        .map_err(|error| reader.problem(&span, error.to_string()))
        .ok()
}
