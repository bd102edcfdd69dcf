//! Parses a study file into a [`Study`], or lists everything that is wrong with it.

use std::ops::Range;
use std::path::Path;

use labcat::{Config, ConfigError, Direction, Domain, KnownError, Optimizer, PointError, Preset, SWITCHES};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::reader::{Problem, Reader, Table};
use super::template::ID;
use super::{Constraints, Objective, Study, constraints, objective, parameters, slurm};
use crate::commands::minimize::is_limited;

/// Names that the columns of an export and the placeholder `{id}` need.
pub(super) const RESERVED_NAMES: [&str; 4] = [ID, "value", "status", "seconds"];

/// Options of the core that `[study]` sets; the others may stand in `[optimizer]`.
const STUDY_SWITCHES: [&str; 7] = ["budget", "target", "tolerance", "time_limit", "seed", "direction", "constraints"];

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
    reader.refuse_unknown(&root, &["study", "parameter", "objective", "optimizer", "slurm"]);
    let unknown = reader.problems();

    let parameters = parameters::read(&mut reader, &root);
    let sound = reader.problems() == unknown;
    let names = names(&root);
    let general = general(&mut reader, &root, stem);
    let mut objective = match reader.table(&root, "objective") {
        Some(table) => objective::read(&mut reader, &table, &names, directory),
        None => None,
    };
    let slurm = slurm::read(&mut reader, &root, objective.as_ref());
    if let Some(objective) = &mut objective {
        objective.slurm = slurm;
    }
    let start = parameters::start(&mut reader, &parameters);
    let radius = parameters::radius(&mut reader, &parameters);
    // A domain of half of the parameters would give rise to complaints that mean nothing.
    let domain = if sound { parameters::domain(&mut reader, parameters) } else { None };
    if let (Some(domain), Some(start)) = (&domain, &start)
        && start.len() == domain.parameters().len()
        && let Err(error) = domain.check(start)
    {
        reader.problem(&(0..0), format!("the point of all `start`: {error}"));
    }
    let before = reader.problems();
    let constraints =
        domain.as_ref().map(|domain| constraints_of(&mut reader, &general.constraints, domain, objective.as_ref()));
    let constraints_hold = reader.problems() == before;
    check_residuals(&mut reader, &root, objective.as_ref(), general.config.direction, constraints.as_ref());
    let (Some(domain), Some(constraints)) = (domain, constraints) else { return Err(reader.into_problems()) };
    let mut config = general.config;
    config.constraints = constraints.measured().len();
    let default_budget = !is_limited(&config, general.time_limit);
    if default_budget {
        config.budget = Some(labcat::default_budget(domain.free_parameters()));
    }
    let study = Study {
        name: general.name,
        start: start.filter(|start| domain.check(start).is_ok()),
        domain,
        radius,
        config,
        constraints,
        constraint_texts: general.constraints.iter().map(|text| text.get_ref().clone()).collect(),
        switches: general.switches,
        time_limit: general.time_limit,
        workers: general.workers,
        objective,
        data: Vec::new(),
        default_budget,
    };
    let optimizer = match constraints_hold {
        true => study.optimizer(),
        false => Optimizer::new(study.domain.clone(), study.config.clone()),
    };
    if let Err(error) = optimizer {
        let (span, message) = refused(&root, &error, &study);
        reader.problem(&span, message);
    }
    let mut problems = reader.into_problems();
    let shell = study.objective.as_ref().map_or(Ok(()), |objective| objective.check_shell(&study.domain));
    for message in [shell, study.check_workers(study.workers)].into_iter().filter_map(Result::err) {
        let line = study.objective.as_ref().map_or(1, |objective| objective.line);
        problems.push(Problem { line, message });
    }
    problems.sort_by_key(|problem| problem.line);
    if problems.is_empty() { Ok(study) } else { Err(problems) }
}

/// Reads the constraints; what they need must be where the value is looked for.
fn constraints_of(
    reader: &mut Reader<'_>,
    texts: &[Spanned<String>],
    domain: &Domain,
    objective: Option<&Objective>,
) -> Constraints {
    let plain: Vec<&String> = texts.iter().map(Spanned::get_ref).collect();
    let (constraints, wrong) = Constraints::of(&plain, domain);
    for (place, error) in wrong {
        reader.problem(&texts[place].span(), format!("`constraint` cannot be {:?}: {error}", plain[place]));
    }
    for name in constraints.results() {
        if let Some(Err(advice)) = objective.map(|objective| objective.extraction.can_find(&name)) {
            let span = texts.first().map_or(0..0, Spanned::span);
            reader.problem(
                &span,
                format!("`constraint` needs the result `{name}`, which `value` does not find: {advice}"),
            );
        }
    }
    constraints
}

/// What does not go with `residuals`.
fn check_residuals(
    reader: &mut Reader<'_>,
    root: &Table<'_, '_>,
    objective: Option<&Objective>,
    direction: Direction,
    constraints: Option<&Constraints>,
) {
    if objective.is_none_or(|objective| objective.residuals.is_empty()) {
        return;
    }
    let span = |table: &str, key: &str| {
        let entry = root.entries.get(table).and_then(|table| table.get_ref().as_table()?.get(key));
        entry.map(Spanned::span)
    };
    if direction == Direction::Maximize {
        let span = span("study", "direction").unwrap_or(0..0);
        reader.problem(&span, "the squares of `residuals` are minimised: write direction = \"minimize\"".to_owned());
    }
    let measured = constraints.is_none_or(Constraints::is_measured);
    for key in ["value", "value_file"] {
        if let Some(span) = span("objective", key).filter(|_| !measured) {
            let message = format!("`{key}` is not used: `residuals` say what the value is; leave one of them out");
            reader.problem(&span, message);
        }
    }
}

/// What the core refuses, in the words of a study, and where it stands.
fn refused(root: &Table<'_, '_>, error: &labcat::Error, study: &Study) -> (Range<usize>, String) {
    let constraint = || {
        let entry = root.entries.get("study").and_then(|study| study.get_ref().as_table()?.get("constraint"));
        entry.map_or(0..0, Spanned::span)
    };
    let texts = || study.constraints.of_parameters().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" and ");
    match error {
        labcat::Error::Known(KnownError::Empty) => {
            (constraint(), format!("no point within the ranges satisfies {}: write wider ranges or limits", texts()))
        }
        labcat::Error::Known(KnownError::NotFound { tried }) => (
            constraint(),
            format!("none of {tried} points within the ranges satisfies {}: write wider ranges or limits", texts()),
        ),
        labcat::Error::Known(_) | labcat::Error::Formula(_) => (constraint(), error.to_string()),
        labcat::Error::Point(PointError::Violates) => {
            let violated = study.start.as_ref().and_then(|start| study.constraints.violated_by(start));
            let violated = violated.map_or_else(texts, |text| format!("`{text}`"));
            (constraint(), format!("the point of all `start` violates {violated}: write one that meets it"))
        }
        _ => (switch_span(root, error), error.to_string()),
    }
}

/// Where the option stands that the core refuses.
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
    constraints: Vec<Spanned<String>>,
    time_limit: Option<std::time::Duration>,
    workers: usize,
}

fn general(reader: &mut Reader<'_>, root: &Table<'_, '_>, stem: &str) -> General {
    let empty = DeTable::new();
    let (config, switches) = optimizer(reader, root);
    let mut general =
        General { name: stem.to_owned(), config, switches, constraints: Vec::new(), time_limit: None, workers: 1 };
    let table = match reader.table(root, "study") {
        Some(table) => table,
        None => {
            if !root.entries.contains_key("study") {
                reader.missing(root, "[study]", "a line [study] with name, direction, budget and seed below");
            }
            Table { heading: "[study]".into(), entries: &empty, span: 0..0 }
        }
    };
    let keys = ["name", "direction", "budget", "target", "tolerance", "time_limit", "seed", "workers", "constraint"];
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
    general.constraints = constraints::texts(reader, &table);
    general.time_limit = reader.span_of_time(&table, "time_limit");
    general.workers = reader.count(&table, "workers", 1).map_or(1, |n| n as usize);
    general
}

/// The options that may stand in `[optimizer]`.
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

/// An option's value as the text that [`Config::set`] takes.
fn switch_text(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => integer.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(flag) => flag.to_string(),
        other => other.type_str().to_owned(),
    }
}

/// The names of all parameters, also of those that are wrong otherwise: what a placeholder may say.
fn names(root: &Table<'_, '_>) -> Vec<String> {
    let tables = root.entries.get("parameter").and_then(|entry| entry.get_ref().as_array());
    let named =
        tables.into_iter().flatten().filter_map(|item| item.get_ref().as_table()?.get("name")?.get_ref().as_str());
    named.map(str::to_owned).collect()
}
