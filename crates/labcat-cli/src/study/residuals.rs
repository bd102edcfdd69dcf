//! `residuals`: simulated columns compared with measured ones.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::de::DeValue;

use super::objective::{column, compiled, file, separator};
use super::reader::{Problem, Reader, Table};
use super::template::Template;
use crate::format::{count, number};
use crate::value::{Column, Numbers, Separator};

const EXAMPLE: &str = r#"{ file = "out.csv", column = "y", against = "data.csv" }"#;
const KEYS: [&str; 11] = [
    "file",
    "column",
    "json",
    "at",
    "separator",
    "against",
    "against_column",
    "against_json",
    "against_at",
    "against_separator",
    "error",
];

/// One column of a simulation and what it is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// The file that the command writes; standard output if there is none.
    pub(crate) file: Option<Template>,
    simulated: Numbers,
    at: Option<Numbers>,
    /// The file of the data, beside the study.
    pub(crate) against: PathBuf,
    measured: Numbers,
    measured_at: Option<Numbers>,
    error: Option<Error>,
    pub(crate) line: usize,
}

/// The standard deviation of the data.
#[derive(Clone, Debug)]
enum Error {
    OfEach(Numbers),
    OfAll(f64),
}

/// Measured data: part of what the study is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Data {
    /// What is compared.
    pub(crate) name: String,
    /// How many rows the data have.
    rows: usize,
    /// Those in which something was measured, counted from 0. What follows belongs to them.
    row: Vec<usize>,
    /// What was measured.
    pub(crate) values: Vec<f64>,
    /// Where, such as at which time; empty if rows are compared with rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) at: Vec<f64>,
    /// What `at` is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) at_name: String,
    /// The standard deviation of each; empty if none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) error: Vec<f64>,
}

/// Reads `residuals`: one table, or a list of them.
pub(super) fn read(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String]) -> Vec<Series> {
    let tables = reader.inline_tables(table, "residuals", EXAMPLE);
    tables.iter().filter_map(|table| series(reader, table, names)).collect()
}

fn series(reader: &mut Reader<'_>, table: &Table<'_, '_>, names: &[String]) -> Option<Series> {
    let before = reader.problems();
    reader.refuse_unknown(table, &KEYS);
    let comma = Separator::Byte(b',');
    let own = separator(reader, table, "separator").unwrap_or(comma);
    let of_data = separator(reader, table, "against_separator").unwrap_or(own);
    let simulated = numbers(reader, table, "column", "json", own);
    if simulated.is_none() && reader.problems() == before {
        reader.missing(table, "column", "column = \"y\", or json = \"$.y\" for a list in a JSON document");
    }
    let own_data = ["against_column", "against_json"].into_iter().any(|key| table.entries.contains_key(key));
    let measured = match (own_data, &simulated) {
        (true, _) => numbers(reader, table, "against_column", "against_json", of_data),
        (false, Some(Numbers::Column { column, .. })) => {
            Some(Numbers::Column { column: column.clone(), separator: of_data })
        }
        (false, Some(Numbers::Json(_))) => {
            reader.missing(table, "against_column", "against_column = \"y\", or against_json = \"$.y\"");
            None
        }
        (false, None) => None,
    };
    let against = reader.string(table, "against", "data.csv");
    if !table.entries.contains_key("against") {
        reader.missing(table, "against", "against = \"data.csv\", the file of what was measured");
    }
    let file = file(reader, table, "file", "out.csv", names);
    let (simulated, measured) = (simulated?, measured?);
    let at = alike(reader, table, "at", &simulated);
    let key = if table.entries.contains_key("against_at") { "against_at" } else { "at" };
    let measured_at = alike(reader, table, key, &measured);
    if at.is_none() && measured_at.is_some() {
        reader.missing(table, "at", "at = \"t\", the column of the simulation beside `against_at`");
    }
    let error = error(reader, table, &measured);
    let (line, against) = (reader.line_of(&table.span), against?.into_inner().into());
    (reader.problems() == before).then_some(Series { file, simulated, at, against, measured, measured_at, error, line })
}

/// A column or a path, by one of two keys.
fn numbers(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    of_column: &str,
    of_json: &str,
    separator: Separator,
) -> Option<Numbers> {
    let has = |key: &str| table.entries.get(key);
    if let (Some(_), Some(path)) = (has(of_column), has(of_json)) {
        reader.problem(&path.span(), format!("`residuals` has {of_column} and {of_json}: write one of them"));
    }
    match has(of_json) {
        Some(_) => compiled(reader, table, of_json, "$.y", Numbers::json),
        None => has(of_column)
            .and_then(|_| column(reader, table, of_column))
            .map(|column| Numbers::Column { column, separator }),
    }
}

/// A column where the others are columns, a path where they are paths.
fn alike(reader: &mut Reader<'_>, table: &Table<'_, '_>, key: &str, other: &Numbers) -> Option<Numbers> {
    table.entries.get(key)?;
    match other {
        Numbers::Json(_) => compiled(reader, table, key, "$.t", Numbers::json),
        Numbers::Column { separator, .. } => {
            column(reader, table, key).map(|column| Numbers::Column { column, separator: *separator })
        }
    }
}

/// `error = "sigma"`, a column of the data, or a number, the same for all; among numbered columns an integer is a column.
fn error(reader: &mut Reader<'_>, table: &Table<'_, '_>, measured: &Numbers) -> Option<Error> {
    let entry = table.entries.get("error")?;
    let numbered = matches!(measured, Numbers::Column { column: Column::Number(_), .. });
    match entry.get_ref() {
        DeValue::Integer(_) if numbered => alike(reader, table, "error", measured).map(Error::OfEach),
        DeValue::Integer(_) | DeValue::Float(_) => {
            let error = reader.number(table, "error", "0.1")?;
            if *error.get_ref() <= 0.0 {
                let message = format!("`error` must be above 0, not {}: write error = 0.1", error.get_ref());
                reader.problem(&error.span(), message);
            }
            Some(Error::OfAll(error.into_inner()))
        }
        _ => alike(reader, table, "error", measured).map(Error::OfEach),
    }
}

impl Series {
    /// Reads the data; `base` is the directory of the study file.
    pub(super) fn data(&self, base: &Path) -> Result<Data, Problem> {
        let path = base.join(&self.against);
        let wrong = |message: String| Problem { line: self.line, message };
        let text = fs::read_to_string(&path)
            .map_err(|error| wrong(format!("`against`: the data {} cannot be read: {error}", path.display())))?;
        self.data_in(&text).map_err(|why| wrong(format!("`against`: {} {why}", path.display())))
    }

    /// The error completes "data.csv …".
    fn data_in(&self, text: &str) -> Result<Data, String> {
        let found = self.measured.read(text)?;
        let (row, values): (Vec<usize>, Vec<f64>) =
            found.iter().enumerate().filter_map(|(row, value)| Some((row, (*value)?))).unzip();
        if row.is_empty() {
            return Err(format!("has no number in {}", self.measured.name()));
        }
        // What stands beside a measured value; where nothing was measured it may be missing.
        let beside = |numbers: &Numbers, allowed: fn(f64) -> bool, what: &str| -> Result<Vec<f64>, String> {
            let column = numbers.read(text)?;
            let of_row = |row: &usize| {
                let found = column.get(*row).copied().flatten();
                found.filter(|value| allowed(*value)).ok_or_else(|| {
                    let found = found.map_or_else(|| "no number".to_owned(), number);
                    format!("has {found} in row {} of {}: {what}", row + 1, numbers.name())
                })
            };
            row.iter().map(of_row).collect()
        };
        let at = match &self.measured_at {
            Some(at) => beside(at, |_| true, "each value needs one")?,
            None => Vec::new(),
        };
        let error = match &self.error {
            None => Vec::new(),
            Some(Error::OfAll(error)) => vec![*error; values.len()],
            Some(Error::OfEach(numbers)) => beside(numbers, |error| error > 0.0, "an error is a number above 0")?,
        };
        let at_name = self.measured_at.as_ref().map(Numbers::name).unwrap_or_default();
        Ok(Data { name: self.measured.name(), rows: found.len(), row, values, at, at_name, error })
    }

    /// Simulated minus measured, over the error, in what a command wrote. The error completes "its output …".
    pub(crate) fn residuals(&self, text: &str, data: &Data) -> Result<Vec<f64>, String> {
        let simulated = complete(&self.simulated, text)?;
        let simulated: Vec<f64> = match &self.at {
            Some(at) => {
                let at = complete(at, text)?;
                let curve = self.curve(&at, &simulated)?;
                data.at.iter().map(|place| curve.at(*place)).collect::<Result<_, _>>()?
            }
            None if simulated.len() == data.rows => data.row.iter().map(|row| simulated[*row]).collect(),
            None => {
                let (has, name, rows) = (count(simulated.len(), "row"), self.simulated.name(), data.rows);
                return Err(format!(
                    "has {has} of {name}, and the data have {rows}: with `at`, such as at = \"t\", the simulation is interpolated"
                ));
            }
        };
        let residual = |(k, (simulated, measured)): (usize, (&f64, &f64))| {
            (simulated - measured) / data.error.get(k).copied().unwrap_or(1.0)
        };
        Ok(simulated.iter().zip(&data.values).enumerate().map(residual).collect())
    }

    fn curve<'a>(&self, at: &'a [f64], values: &'a [f64]) -> Result<Curve<'a>, String> {
        let name = self.at.as_ref().map(Numbers::name).unwrap_or_default();
        if at.len() != values.len() {
            let (places, rows) = (at.len(), values.len());
            return Err(format!("has {places} numbers of {name} and {rows} of {}", self.simulated.name()));
        }
        if let Some(row) = at.windows(2).position(|pair| pair[0] > pair[1]) {
            let (before, after) = (number(at[row]), number(at[row + 1]));
            return Err(format!(
                "has {after} after {before} in {name}: it must not decrease, because the simulation is interpolated"
            ));
        }
        Ok(Curve { at, values, name })
    }

    /// What is compared with what, in words.
    pub(crate) fn in_words(&self, data: &Data) -> String {
        let measured = data.values.len();
        let at = self.at.as_ref().map_or_else(String::new, |at| format!(", interpolated at {}", at.name()));
        let error = match &self.error {
            None => String::new(),
            Some(Error::OfAll(error)) => format!(", over an error of {error}"),
            Some(Error::OfEach(numbers)) => format!(", over the error {}", numbers.name()),
        };
        let (name, file) = (self.simulated.name(), self.against.display());
        format!("{}: {name} against {} of {file}{at}{error}", count(measured, "residual"), self.measured.name())
    }
}

/// A simulation without gaps. The error completes "its output …".
fn complete(numbers: &Numbers, text: &str) -> Result<Vec<f64>, String> {
    let found = numbers.read(text)?;
    let gap = |row: usize| format!("has no finite number in row {} of {}", row + 1, numbers.name());
    found.into_iter().enumerate().map(|(row, value)| value.ok_or_else(|| gap(row))).collect()
}

/// A simulated curve: straight lines between its points.
struct Curve<'a> {
    at: &'a [f64],
    values: &'a [f64],
    name: String,
}

impl Curve<'_> {
    fn at(&self, place: f64) -> Result<f64, String> {
        let (Some(first), Some(last)) = (self.at.first(), self.at.last()) else {
            return Err(format!("has no row of {}", self.name));
        };
        if place < *first || place > *last {
            let (first, last, place) = (number(*first), number(*last), number(place));
            return Err(format!("goes from {first} to {last} in {}, but the data need {place}", self.name));
        }
        let above = self.at.partition_point(|at| *at < place);
        if self.at[above] == place {
            return Ok(self.values[above]);
        }
        let share = (place - self.at[above - 1]) / (self.at[above] - self.at[above - 1]);
        Ok(self.values[above - 1] + share * (self.values[above] - self.values[above - 1]))
    }
}
