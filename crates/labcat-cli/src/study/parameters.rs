//! Converts `[[parameter]]` tables into the core's parameters.

use std::ops::Range;

use labcat::{Condition, Domain, Label, Parameter, ParameterKind, Scale};
use toml::Spanned;
use toml::de::DeValue;

use super::parse::RESERVED_NAMES;
use super::reader::{Entry, Reader, Table};
use super::values;
use crate::format::number;

/// A parameter with the places its values stand at.
pub(super) struct Read {
    pub(super) parameter: Parameter,
    start: Option<Spanned<f64>>,
    radius: Option<Spanned<f64>>,
    span: Range<usize>,
}

pub(super) fn read(reader: &mut Reader<'_>, root: &Table<'_, '_>) -> Vec<Read> {
    let tables = reader.tables(root, "parameter");
    if !root.entries.contains_key("parameter") {
        reader.missing(root, "[[parameter]]", r#"[[parameter]] and below it name = "x", low = -5, high = 10"#);
    }
    let mut read: Vec<Read> = Vec::new();
    for table in tables {
        let Some(mut parameter) = parameter(reader, &table) else { continue };
        let name = &parameter.parameter.name;
        if read.iter().any(|other| other.parameter.name == *name) {
            reader.problem(&table.span.clone(), format!("two parameters are named `{name}`: give one another name"));
        }
        parameter.parameter.when = condition(reader, &table, &read);
        read.push(parameter);
    }
    read
}

/// The keys of a parameter of each type.
fn keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "integer" => &["name", "type", "low", "high", "scale", "step", "start", "radius", "when"],
        "categorical" => &["name", "type", "choices", "ordered", "start", "when"],
        "boolean" => &["name", "type", "start", "when"],
        "fixed" => &["name", "type", "value", "when"],
        _ => &["name", "type", "low", "high", "scale", "step", "start", "radius", "when"],
    }
}

fn parameter(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Option<Read> {
    const KINDS: [&str; 5] = ["real", "integer", "categorical", "boolean", "fixed"];
    let kind = match table.entries.contains_key("type") {
        true => reader.word(table, "type", &KINDS.map(|kind| (kind, kind))),
        false => Some("real"),
    };
    reader.refuse_unknown(table, keys(kind.unwrap_or("real")));
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
    let parameter = match kind? {
        "categorical" => categorical(reader, table, &name)?,
        "boolean" => Parameter::boolean(&name),
        "fixed" => fixed(reader, table, &name)?,
        kind => ranged(reader, table, &name, kind == "integer")?,
    };
    let start = start_of(reader, table, &parameter);
    let radius = radius_of(reader, table, start.is_some());
    Some(Read { parameter, start, radius, span: table.span.clone() })
}

fn ranged(reader: &mut Reader<'_>, table: &Table<'_, '_>, name: &str, whole: bool) -> Option<Parameter> {
    let scale = reader.word(table, "scale", &[("linear", Scale::Linear), ("log", Scale::Log)]).unwrap_or(Scale::Linear);
    let mut bound = |key: &str, example: &str| {
        if !table.entries.contains_key(key) {
            reader.missing(table, key, &format!("{key} = {example}, the bound of `{name}`"));
        }
        reader.number(table, key, example)
    };
    let (low, high) =
        if whole { (bound("low", "1"), bound("high", "8")) } else { (bound("low", "-5"), bound("high", "10")) };
    let (low, high) = (low?, high?);
    let before = reader.problems();
    check_range(reader, name, &low, &high, scale);
    let parameter = if whole {
        for (key, bound) in [("low", &low), ("high", &high)] {
            if bound.get_ref().fract() != 0.0 {
                let (value, near) = (bound.get_ref(), bound.get_ref().round());
                let message = format!("parameter `{name}` is integer and has {key} = {value}: write {key} = {near}");
                reader.problem(&bound.span(), message);
            }
        }
        let step = reader.count(table, "step", 1).unwrap_or(1);
        let over = (high.get_ref() - low.get_ref()) % step as f64;
        if over != 0.0 && reader.problems() == before {
            let fits = high.get_ref() - over;
            let message =
                format!("parameter `{name}` has no step of {step} at high = {}: write high = {fits}", high.get_ref());
            reader.problem(&high.span(), message);
        }
        Parameter::integer(name, *low.get_ref(), *high.get_ref()).in_steps(step)
    } else {
        Parameter::real(name, *low.get_ref(), *high.get_ref())
    };
    let parameter = parameter.scaled(scale);
    let sound = reader.problems() == before;
    match if whole { None } else { reader.number(table, "step", "0.5") } {
        Some(step) => stepped(reader, parameter, &step, sound),
        None => Some(parameter),
    }
}

/// A real in steps, which must fill its range.
fn stepped(reader: &mut Reader<'_>, parameter: Parameter, step: &Spanned<f64>, sound: bool) -> Option<Parameter> {
    let parameter = parameter.with_step(*step.get_ref());
    match Domain::from_parameters(vec![parameter.clone()]) {
        Err(error) if sound => {
            reader.problem(&step.span(), format!("`step` does not fit: {error}"));
            None
        }
        _ => Some(parameter),
    }
}

fn categorical(reader: &mut Reader<'_>, table: &Table<'_, '_>, name: &str) -> Option<Parameter> {
    let example = r#"["lu", "qr"]"#;
    let Some(entry) = table.entries.get("choices") else {
        reader.missing(table, "choices", &format!("choices = {example}, the labels of `{name}`"));
        return None;
    };
    let Some(items) = entry.get_ref().as_array() else {
        reader.problem(&entry.span(), format!("`choices` must be a list: write choices = {example}"));
        return None;
    };
    let labels = items.iter().map(|item| label(reader, "choices", item)).collect::<Option<Vec<_>>>()?;
    let twice =
        (0..labels.len()).find(|k| labels[..*k].iter().any(|label| label.to_string() == labels[*k].to_string()));
    if let Some(k) = twice {
        let label = reader.source(&items[k]);
        reader.problem(&items[k].span(), format!("`choices` of `{name}` has {label} twice: write each label once"));
    }
    if labels.is_empty() {
        reader.problem(&entry.span(), format!("`choices` is empty: write choices = {example}"));
    }
    let plain = Parameter::categorical(name, labels);
    Some(if reader.boolean(table, "ordered") == Some(true) { plain.ordered() } else { plain })
}

fn fixed(reader: &mut Reader<'_>, table: &Table<'_, '_>, name: &str) -> Option<Parameter> {
    let Some(entry) = table.entries.get("value") else {
        reader.missing(table, "value", &format!("value = 1, that of `{name}` in every evaluation"));
        return None;
    };
    label(reader, "value", entry).map(|label| Parameter::categorical(name, [label]))
}

/// A text, number or boolean.
fn label(reader: &mut Reader<'_>, key: &str, item: Entry<'_, '_>) -> Option<Label> {
    let label = match item.get_ref() {
        DeValue::String(text) => Some(Label::Text(text.to_string())),
        DeValue::Boolean(flag) => Some(Label::Flag(*flag)),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Label::Whole),
        DeValue::Float(float) => float.as_str().parse().ok().filter(|v: &f64| v.is_finite()).map(Label::Number),
        _ => None,
    };
    if label.is_none() {
        let written = reader.source(item);
        let message = format!("`{key}` cannot hold {written}: write a text in quotes, a finite number, true or false");
        reader.problem(&item.span(), message);
    }
    label
}

/// The number that stands for a value of a parameter in a point.
fn number_of(reader: &mut Reader<'_>, key: &str, item: Entry<'_, '_>, parameter: &Parameter) -> Option<f64> {
    let label = label(reader, key, item)?;
    let text = match &label {
        Label::Number(value) => number(*value),
        other => other.to_string(),
    };
    match values::read(parameter, &text) {
        Ok(value) => Some(value),
        Err(why) => {
            reader.problem(&item.span(), format!("`{key}` of `{}` is {label}, {why}", parameter.name));
            None
        }
    }
}

fn start_of(reader: &mut Reader<'_>, table: &Table<'_, '_>, parameter: &Parameter) -> Option<Spanned<f64>> {
    if matches!(parameter.kind, ParameterKind::Real | ParameterKind::Stepped { .. } | ParameterKind::Integer { .. }) {
        return reader.number(table, "start", "0");
    }
    let entry = table.entries.get("start")?;
    number_of(reader, "start", entry, parameter).map(|value| Spanned::new(entry.span(), value))
}

/// How far from `start` the first points lie, in the parameter's own units.
fn radius_of(reader: &mut Reader<'_>, table: &Table<'_, '_>, has_start: bool) -> Option<Spanned<f64>> {
    let radius = table.entries.get("radius").and_then(|_| reader.number(table, "radius", "0.5"))?;
    if *radius.get_ref() <= 0.0 {
        let message = format!("`radius` must be above 0, not {}: write radius = 0.5", radius.get_ref());
        reader.problem(&radius.span(), message);
    } else if !has_start {
        reader.problem(&radius.span(), "`radius` belongs to `start`: write start = 0 too".to_owned());
    }
    Some(radius)
}

/// `when = { solver = "lu" }` or `when = { solver = ["lu", "qr"] }`.
fn condition(reader: &mut Reader<'_>, table: &Table<'_, '_>, before: &[Read]) -> Option<Condition> {
    let entry = table.entries.get("when")?;
    let example = r#"when = { solver = "lu" } or when = { solver = ["lu", "qr"] }"#;
    let Some((key, value)) = entry.get_ref().as_table().filter(|t| t.len() == 1).and_then(|t| t.iter().next()) else {
        reader.problem(&entry.span(), format!("`when` names one other parameter and its values: write {example}"));
        return None;
    };
    let name: &str = key.get_ref();
    let Some(other) =
        before.iter().map(|read| &read.parameter).find(|p| p.name == name && p.kind != ParameterKind::Real)
    else {
        let known: Vec<_> =
            before.iter().map(|read| &read.parameter).filter(|p| p.kind != ParameterKind::Real).collect();
        let known: Vec<&str> = known.iter().map(|p| p.name.as_str()).collect();
        let known =
            if known.is_empty() { "there is none".to_owned() } else { format!("there is {}", known.join(", ")) };
        let message = format!(
            "`when` names `{name}`, which is not a parameter of integers or categories above this one: {known}"
        );
        reader.problem(&key.span(), message);
        return None;
    };
    let items: Vec<Entry<'_, '_>> =
        value.get_ref().as_array().map_or_else(|| vec![value], |items| items.iter().collect());
    if items.is_empty() {
        reader.problem(&value.span(), format!("`when` names no value of `{name}`: write {example}"));
        return None;
    }
    let values = items.into_iter().map(|item| number_of(reader, "when", item, other)).collect::<Option<Vec<_>>>()?;
    Some(Condition { parameter: name.to_owned(), values })
}

fn check_range(reader: &mut Reader<'_>, name: &str, low: &Spanned<f64>, high: &Spanned<f64>, scale: Scale) {
    let (l, h) = (*low.get_ref(), *high.get_ref());
    if l == h {
        reader.problem(
            &high.span(),
            format!("parameter `{name}` has an empty range, low = high = {l}: write a high above {l}, or type = \"fixed\" and value = {l}"),
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

/// A value of a parameter as a study writes it.
fn example(p: &Parameter) -> String {
    match p.label(p.low) {
        Label::Number(value) => number(value),
        Label::Text(text) => toml::Value::String(text).to_string(),
        other => other.to_string(),
    }
}

/// The point to try first: every parameter has a start inside its range, or none has. A fixed value needs none.
pub(super) fn start(reader: &mut Reader<'_>, parameters: &[Read]) -> Option<Vec<f64>> {
    if parameters.iter().all(|p| p.start.is_none()) {
        return None;
    }
    let mut point = Vec::new();
    for Read { parameter: p, start, span, .. } in parameters {
        match start {
            None if p.levels() == Some(1) => point.push(p.low),
            None => reader.problem(
                span,
                format!("parameter `{}` has no `start` but others have: write start = {} here too", p.name, example(p)),
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

/// How far from the start the first points lie: every parameter of numbers has a radius, or none has. For labels it means nothing.
pub(super) fn radius(reader: &mut Reader<'_>, parameters: &[Read]) -> Option<Vec<f64>> {
    if parameters.iter().all(|p| p.radius.is_none()) {
        return None;
    }
    let mut all = Vec::new();
    for Read { parameter: p, radius, span, .. } in parameters {
        let of_numbers = !matches!(p.kind, ParameterKind::Categorical { .. } | ParameterKind::Boolean);
        if radius.is_none() && of_numbers && p.levels() != Some(1) {
            let message = format!(
                "parameter `{}` has no `radius` but others have: write radius = {} here too",
                p.name,
                number((p.high - p.low) / 20.0)
            );
            reader.problem(span, message);
        }
        all.push(radius.as_ref().map_or(1.0, |radius| *radius.get_ref()));
    }
    Some(all)
}

pub(super) fn domain(reader: &mut Reader<'_>, parameters: Vec<Read>) -> Option<Domain> {
    let span = parameters.first().map_or(0..0, |p| p.span.clone());
    if parameters.is_empty() {
        reader.problem(&span, "a study needs at least one [[parameter]]".to_owned());
        return None;
    }
    Domain::from_parameters(parameters.into_iter().map(|p| p.parameter).collect())
        .map_err(|error| reader.problem(&span, error.to_string()))
        .ok()
}
