//! Reading TOML tables key by key, collecting every problem with its line and what to write instead.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::duration;

/// Something wrong with a study file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// The file's text and the problems found so far.
pub(crate) struct Reader<'t> {
    text: &'t str,
    problems: Vec<Problem>,
}

/// A table of the file: how it is headed, its entries and where it begins.
#[derive(Clone)]
pub(crate) struct Table<'a, 't> {
    pub(crate) heading: String,
    pub(crate) entries: &'a DeTable<'t>,
    pub(crate) span: Range<usize>,
}

/// A value of a table and where it stands.
pub(super) type Entry<'a, 't> = &'a Spanned<DeValue<'t>>;

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Reader { text, problems: Vec::new() }
    }

    /// How many problems there are.
    pub(crate) fn problems(&self) -> usize {
        self.problems.len()
    }

    /// The problems, from the top of the file to its end.
    pub(crate) fn into_problems(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(|problem| problem.line);
        self.problems
    }

    /// The line (counted from 1) on which a span begins.
    pub(crate) fn line_of(&self, span: &Range<usize>) -> usize {
        1 + self.text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count()
    }

    pub(crate) fn problem(&mut self, span: &Range<usize>, message: String) {
        let line = self.line_of(span);
        self.problems.push(Problem { line, message });
    }

    /// Reports every key that is not among `known`, with the nearest one.
    pub(crate) fn refuse_unknown(&mut self, table: &Table<'_, '_>, known: &[&str]) {
        for key in table.entries.keys() {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let advice = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`? The keys"),
                None => "the keys".to_owned(),
            };
            let (heading, keys) = (&table.heading, known.join(", "));
            self.problem(&key.span(), format!("unknown key `{name}` in {heading}: {advice} of {heading} are {keys}"));
        }
    }

    /// The table of this name, or `None` if it is absent or something else.
    pub(crate) fn table<'a, 'v>(&mut self, parent: &Table<'a, 'v>, key: &str) -> Option<Table<'a, 'v>> {
        let entry = parent.entries.get(key)?;
        match entry.get_ref() {
            DeValue::Table(entries) => Some(Table { heading: format!("[{key}]"), entries, span: entry.span() }),
            _ => {
                self.problem(
                    &entry.span(),
                    format!("`{key}` must be a table: write a line [{key}] and its keys below"),
                );
                None
            }
        }
    }

    /// The tables of an array of tables (`[[parameter]]`).
    pub(crate) fn tables<'a, 'v>(&mut self, parent: &Table<'a, 'v>, key: &str) -> Vec<Table<'a, 'v>> {
        let Some(entry) = parent.entries.get(key) else { return Vec::new() };
        let mut tables = Vec::new();
        for item in one_or_several(entry) {
            match (entry.get_ref(), item.get_ref()) {
                (DeValue::Array(_), DeValue::Table(entries)) => {
                    tables.push(Table { heading: format!("[[{key}]]"), entries, span: item.span() });
                }
                _ => self.problem(
                    &item.span(),
                    format!("`{key}` must be a list of tables: write [[{key}]] with double brackets, once for each"),
                ),
            }
        }
        tables
    }

    /// A table that is written behind its key, `template = { … }`, or a list of such tables.
    pub(crate) fn inline_tables<'a, 'v>(
        &mut self,
        parent: &Table<'a, 'v>,
        key: &str,
        example: &str,
    ) -> Vec<Table<'a, 'v>> {
        let mut tables = Vec::new();
        for item in parent.entries.get(key).into_iter().flat_map(one_or_several) {
            match item.get_ref() {
                DeValue::Table(entries) => {
                    tables.push(Table { heading: format!("`{key}`"), entries, span: item.span() });
                }
                _ => self.problem(&item.span(), format!("`{key}` must be a table: write {key} = {example}")),
            }
        }
        tables
    }

    pub(crate) fn missing(&mut self, table: &Table<'_, '_>, key: &str, write: &str) {
        self.problem(&table.span.clone(), format!("`{key}` is missing in {}: write {write}", table.heading));
    }

    fn wrong_type(&mut self, key: &str, entry: Entry<'_, '_>, expected: &str, write: &str) {
        let found = entry.get_ref().type_str();
        self.problem(&entry.span(), format!("`{key}` must be {expected}, not {found}: write {key} = {write}"));
    }

    pub(crate) fn string(&mut self, table: &Table<'_, '_>, key: &str, example: &str) -> Option<Spanned<String>> {
        let entry = table.entries.get(key)?;
        match entry.get_ref().as_str() {
            Some(text) => Some(Spanned::new(entry.span(), text.to_owned())),
            None => {
                self.wrong_type(key, entry, "text in quotes", &format!("{example:?}"));
                None
            }
        }
    }

    /// One of several words.
    pub(crate) fn word<T: Copy>(&mut self, table: &Table<'_, '_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let allowed: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let entry = table.entries.get(key)?;
        let found = entry.get_ref().as_str().and_then(|text| words.iter().find(|(word, _)| *word == text));
        if found.is_none() {
            let (written, choice) = (self.source(entry), allowed.join(" or "));
            self.problem(&entry.span(), format!("`{key}` cannot be {written}: write {key} = {choice}"));
        }
        found.map(|(_, value)| *value)
    }

    pub(crate) fn boolean(&mut self, table: &Table<'_, '_>, key: &str) -> Option<bool> {
        let entry = table.entries.get(key)?;
        let value = entry.get_ref().as_bool();
        if value.is_none() {
            self.wrong_type(key, entry, "true or false", "true or false, without quotes");
        }
        value
    }

    /// A finite number.
    pub(crate) fn number(&mut self, table: &Table<'_, '_>, key: &str, example: &str) -> Option<Spanned<f64>> {
        let entry = table.entries.get(key)?;
        let value = match entry.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64),
            _ => {
                self.wrong_type(key, entry, "a number", example);
                return None;
            }
        };
        match value {
            Some(value) if value.is_finite() => Some(Spanned::new(entry.span(), value)),
            _ => {
                let written = self.source(entry);
                self.problem(
                    &entry.span(),
                    format!("`{key}` must be a finite number, not {written}: write {key} = {example}"),
                );
                None
            }
        }
    }

    /// An integer that is at least `least`.
    pub(crate) fn count(&mut self, table: &Table<'_, '_>, key: &str, least: u64) -> Option<u64> {
        let entry = table.entries.get(key)?;
        let value = match entry.get_ref() {
            DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
            _ => None,
        };
        if let Some(value) = value.filter(|value| *value >= least) {
            return Some(value);
        }
        let written = self.source(entry);
        let range = match (entry.get_ref(), value) {
            (DeValue::Integer(integer), None) if !integer.as_str().starts_with('-') => {
                format!("from {least} to {}", u64::MAX)
            }
            _ => format!("{least} or more"),
        };
        let problem =
            format!("`{key}` must be an integer, {range}, not {written}: write for example {key} = {}", least.max(1));
        self.problem(&entry.span(), problem);
        None
    }

    pub(crate) fn span_of_time(&mut self, table: &Table<'_, '_>, key: &str) -> Option<Duration> {
        let entry = table.entries.get(key)?;
        let text = match entry.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.as_str().to_owned(),
            DeValue::Float(float) => float.as_str().to_owned(),
            _ => String::new(),
        };
        let value = duration::parse(&text);
        if value.is_none() {
            let written = self.source(entry);
            self.problem(
                &entry.span(),
                format!("`{key}` must be a span of time above 0, not {written}: write {}", duration::EXAMPLES),
            );
        }
        value
    }

    /// A number of bytes, with or without a unit, of at most `most`.
    pub(crate) fn size(&mut self, table: &Table<'_, '_>, key: &str, most: u64) -> Option<u64> {
        let entry = table.entries.get(key)?;
        let text = match entry.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.as_str().to_owned(),
            _ => String::new(),
        };
        let value = bytes(&text).filter(|bytes| *bytes <= most);
        if value.is_none() {
            let (written, most) = (self.source(entry), most / (1024 * 1024));
            self.problem(
                &entry.span(),
                format!("`{key}` must be a number of bytes up to {most} MiB, not {written}: write \"64 KiB\", \"1 MiB\" or 0"),
            );
        }
        value
    }

    /// The text of each item of a list of strings.
    pub(crate) fn strings(&mut self, key: &str, entry: Entry<'_, '_>, example: &str) -> Option<Vec<Spanned<String>>> {
        let Some(items) = entry.get_ref().as_array() else {
            self.wrong_type(key, entry, "a list of texts", example);
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push(Spanned::new(item.span(), text.to_owned())),
                None => {
                    let written = self.source(item);
                    self.problem(
                        &item.span(),
                        format!("`{key}` must hold strings only, not {written}: write \"{written}\" in quotes"),
                    );
                    return None;
                }
            }
        }
        Some(texts)
    }

    /// The value as the file has it.
    pub(crate) fn source(&self, entry: Entry<'_, '_>) -> &'t str {
        self.text.get(entry.span()).unwrap_or_default()
    }
}

/// The items of a list, or the one thing that stands in its place.
fn one_or_several<'a, 't>(entry: Entry<'a, 't>) -> Vec<Entry<'a, 't>> {
    entry.get_ref().as_array().map_or_else(|| vec![entry], |items| items.iter().collect())
}

/// Reads `64 KiB`, `1MB`, `500`.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "KiB" => 1024,
        "MB" => 1_000_000,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// The known name that a misspelt one most likely meant.
pub(crate) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let lower = name.to_lowercase().replace('-', "_");
    let (near, likeness) = known
        .iter()
        .map(|candidate| (*candidate, strsim::jaro_winkler(&lower, candidate)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (likeness > 0.75).then_some(near)
}
