//! Finding the value in an output: its last line, a regular expression, a path into JSON, a cell of a table.

use std::fmt;

use csv::{ReaderBuilder, StringRecord, Trim};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::{Reading, finite, found, number, without_nan};
use crate::format::shortened;

/// How the value is found in a text.
#[derive(Clone, Debug)]
pub(crate) enum Extraction {
    /// The last line that is not blank: a number, or an object with one.
    LastLine,
    /// The last match; its first group, if it has one.
    Pattern(Regex),
    /// The only number that a path into a JSON document leads to.
    Json(JsonPath),
    /// A cell of a table.
    Cell { column: Column, row: Row, separator: Separator },
}

/// A column by the name in the heading line, or by its number, counted from 1, in a table without a heading.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Named(String),
    Number(usize),
}

/// A row below the heading, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Row {
    Number(usize),
    Last,
}

/// The separator of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Separator {
    Byte(u8),
    /// Any number of blanks and tabs.
    Blanks,
}

impl Extraction {
    /// A pattern in which `^` and `$` stand for the ends of lines.
    pub(crate) fn pattern(text: &str) -> Result<Extraction, String> {
        let built = RegexBuilder::new(text).multi_line(true).build();
        built.map(Extraction::Pattern).map_err(|error| error.to_string().lines().last().unwrap_or_default().to_owned())
    }

    /// A path into JSON; `$.` in front of it may be left out.
    pub(crate) fn json(text: &str) -> Result<Extraction, String> {
        json_path(text).map(Extraction::Json)
    }

    /// Finds the value and the results that are needed beside it. The error completes "its output …".
    pub(crate) fn apply(&self, text: &str, needed: &[String]) -> Result<Reading, String> {
        match self {
            Extraction::LastLine => {
                let line = last_line(text).ok_or("holds no value; its last line must be a number or {\"value\": …}")?;
                Reading::parse(line, needed)
                    .map_err(|why| format!("ends with the line `{}`, which {why}", shortened(line)))
            }
            Extraction::Pattern(pattern) => {
                let matched =
                    pattern.captures_iter(text).last().ok_or_else(|| format!("has no match for `{pattern}`"))?;
                let group = matched.name("value").or_else(|| matched.get(1)).or_else(|| matched.get(0));
                let value = found(group.map_or("", |group| group.as_str()), needed)
                    .map_err(|what| format!("has at `{pattern}` {what}"))?;
                Ok(Reading::with(value, numbers(needed, |name| Some(matched.name(name)?.as_str()))).needing(needed))
            }
            Extraction::Json(path) => json_value(path, text, needed),
            Extraction::Cell { column, row, separator } => cell(text, column, *row, *separator, needed),
        }
    }

    /// Whether a result of this name can be found beside the value.
    pub(crate) fn can_find(&self, name: &str) -> Result<(), String> {
        match self {
            Extraction::Pattern(pattern) if pattern.capture_names().flatten().all(|group| group != name) => {
                Err(format!("write a group (?<{name}>…) into the `regex`"))
            }
            Extraction::Cell { column: Column::Number(_), .. } => {
                Err("write the name of the `column`: a table without a heading has no other results".to_owned())
            }
            _ => Ok(()),
        }
    }
}

/// A path into JSON; `$.` in front of it may be left out.
pub(super) fn json_path(text: &str) -> Result<JsonPath, String> {
    let path = match (text.starts_with('$'), text.starts_with('[')) {
        (true, _) => text.to_owned(),
        (false, true) => format!("${text}"),
        (false, false) => format!("$.{text}"),
    };
    JsonPath::parse(&path).map_err(|error| error.to_string())
}

/// A JSON document, in which NaN and Infinity are `null`. The error completes "its output …".
pub(super) fn json_document(text: &str) -> Result<Value, String> {
    let document = serde_json::from_str::<Value>(text);
    let document = document.or_else(|error| serde_json::from_str(&without_nan(text)).map_err(|_| error));
    document.map_err(|error| format!("is not JSON: {error}"))
}

/// The last line that is not blank. A progress bar that goes back to the beginning of its line begins another.
pub(super) fn last_line(text: &str) -> Option<&str> {
    text.rsplit(['\n', '\r']).map(str::trim).find(|line| !line.is_empty())
}

/// The texts that are numbers, by name.
fn numbers<'t>(names: &[String], text: impl Fn(&str) -> Option<&'t str>) -> Map<String, Value> {
    names.iter().filter_map(|name| Some((name.clone(), number(text(name)?)?.into()))).collect()
}

fn json_value(path: &JsonPath, text: &str, needed: &[String]) -> Result<Reading, String> {
    let document = json_document(text)?;
    let located = path.query_located(&document).all();
    let nodes: Vec<&Value> = located.iter().map(|found| found.node()).collect();
    // Results stand beside the value, or else at the top of the document.
    let beside = located.first().and_then(|found| {
        let pointer = found.location().to_json_pointer();
        document.pointer(pointer.rsplit_once('/')?.0)
    });
    let result = |name: &String| beside.and_then(|object| object.get(name)).or_else(|| document.get(name)).cloned();
    let fields = needed.iter().filter_map(|name| Some((name.clone(), result(name)?))).collect();
    match nodes.as_slice() {
        [Value::Number(number)] => finite(number.as_f64().unwrap_or(f64::NAN))
            .map(|value| Reading::with(Some(value), fields).needing(needed))
            .map_err(|why| format!("has a value at {path} that {why}")),
        [] | [Value::Null] if !needed.is_empty() => Ok(Reading::with(None, fields).needing(needed)),
        [other] => Err(format!("has `{}` at {path}, which is not a number", shortened(&other.to_string()))),
        [] => Err(format!("has nothing at {path}")),
        several => Err(format!("has {} values at {path}: write a path that leads to one", several.len())),
    }
}

/// The rows of a table, those that begin with `#` left out. The error completes "its output …".
pub(super) fn rows(text: &str, separator: Separator) -> Result<Vec<StringRecord>, String> {
    let tidy = match separator {
        Separator::Blanks => {
            text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
        }
        Separator::Byte(_) => text.to_owned(),
    };
    let delimiter = match separator {
        Separator::Blanks => b' ',
        Separator::Byte(byte) => byte,
    };
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(Trim::All).comment(Some(b'#')).delimiter(delimiter);
    let rows = builder.from_reader(tidy.as_bytes()).into_records().collect::<Result<_, _>>();
    rows.map_err(|error| format!("is not a table: {error}"))
}

/// The place of a column, the rows below the heading, and the heading, if there is one.
pub(super) fn located<'r>(
    rows: &'r [StringRecord],
    column: &Column,
) -> Result<(usize, &'r [StringRecord], Option<&'r StringRecord>), String> {
    match column {
        Column::Number(number) => Ok((number - 1, rows, None)),
        Column::Named(name) => {
            let (heading, rows) = rows.split_first().ok_or("is an empty table")?;
            let index = heading.iter().position(|cell| cell == name).ok_or_else(|| {
                let columns = heading.iter().collect::<Vec<_>>().join(", ");
                format!("has no column `{name}`; its first line is `{}`", shortened(&columns))
            })?;
            Ok((index, rows, Some(heading)))
        }
    }
}

fn cell(text: &str, column: &Column, row: Row, separator: Separator, needed: &[String]) -> Result<Reading, String> {
    let rows = rows(text, separator)?;
    let (index, rows, heading) = located(&rows, column)?;
    let chosen = match row {
        Row::Number(number) => rows.get(number - 1),
        Row::Last => rows.last(),
    };
    let chosen = chosen.ok_or_else(|| format!("has no row {row}, only {}", rows.len()))?;
    let cell = chosen.get(index).ok_or_else(|| format!("has no column {} in row {row}", index + 1))?;
    let value = found(cell, needed).map_err(|what| format!("has, in row {row} of column {column}, {what}"))?;
    let beside = |name: &str| chosen.get(heading?.iter().position(|cell| cell == name)?);
    Ok(Reading::with(value, numbers(needed, beside)).needing(needed))
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Row::Number(number) => number.fmt(f),
            Row::Last => f.write_str("\"last\""),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Column::Number(number) => number.fmt(f),
            Column::Named(name) => write!(f, "`{name}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(extraction: &Extraction, text: &str) -> Result<f64, String> {
        extraction.apply(text, &[]).map(|reading| reading.value.unwrap_or(f64::NAN))
    }

    #[test]
    fn results_stand_beside_the_value() {
        let needed = ["mass".to_owned()];
        let comma = Separator::Byte(b',');
        for (extraction, text, value) in [
            (Extraction::LastLine, r#"{"value": 2, "mass": 7}"#, Some(2.0)),
            (
                Extraction::pattern(r"mass (?<mass>\S+) energy (?<value>\S+)").unwrap(),
                "mass 0.7D+01 energy 2",
                Some(2.0),
            ),
            (Extraction::pattern(r"energy (\S+) mass (?<mass>\S+)").unwrap(), "energy NaN mass 7", None),
            (Extraction::json("a.energy").unwrap(), r#"{"a": {"energy": 2, "mass": 7}, "mass": 9}"#, Some(2.0)),
            (Extraction::json("a.energy").unwrap(), r#"{"a": {"energy": 2}, "mass": 7}"#, Some(2.0)),
            (Extraction::json("a.energy").unwrap(), r#"{"a": {"energy": NaN, "mass": 7}}"#, None),
            (Extraction::json("a.energy").unwrap(), r#"{"a": {}, "mass": 7}"#, None),
            (
                Extraction::Cell { column: Column::Named("energy".into()), row: Row::Last, separator: comma },
                "mass,energy\n1,1\n7,2\n",
                Some(2.0),
            ),
            (
                Extraction::Cell { column: Column::Named("energy".into()), row: Row::Number(1), separator: comma },
                "mass,energy\n7,nan\n1,1\n",
                None,
            ),
        ] {
            let reading = extraction.apply(text, &needed).unwrap();
            assert_eq!((reading.value, reading.result("mass")), (value, Some(7.0)), "{text}");
            assert!(extraction.can_find("mass").is_ok());
        }
        assert!(Extraction::pattern("a").unwrap().can_find("mass").unwrap_err().contains("(?<mass>…)"));
        let bare = Extraction::Cell { column: Column::Number(1), row: Row::Last, separator: comma };
        assert!(bare.can_find("mass").is_err());
        assert!(Extraction::json("a").unwrap().apply("{}", &[]).is_err());
    }

    #[test]
    fn the_last_line_that_is_not_blank() {
        assert_eq!(value(&Extraction::LastLine, "1\n2\r\n \n"), Ok(2.0));
        assert_eq!(value(&Extraction::LastLine, "50%\r100%\r2.5"), Ok(2.5));
        assert!(value(&Extraction::LastLine, " \n").unwrap_err().contains("holds no value"));
        assert!(value(&Extraction::LastLine, "3\nabc").unwrap_err().contains("`abc`, which is neither"));
    }

    #[test]
    fn the_last_match_of_a_pattern() {
        let energy = Extraction::pattern(r"^ *energy *= *(\S+)").unwrap();
        assert_eq!(value(&energy, "energy = 3\n no energy = 9\n  energy =  1.5D+02 J\n"), Ok(150.0));
        assert_eq!(value(&Extraction::pattern(r"-?\d+\.\d+").unwrap(), "a 1.5 b -2.5 c"), Ok(-2.5), "without a group");
        assert!(value(&energy, "").unwrap_err().contains("has no match for"));
        assert!(value(&energy, "energy = ******").unwrap_err().contains("`******`, which is not a number"));
        assert!(Extraction::pattern("(").unwrap_err().contains("unclosed group"));
    }

    #[test]
    fn a_path_into_json() {
        let document = r#"{"runs": [{"loss": 4, "name": "a"}, {"loss": 2.5}], "total": {"cpu time": 7}}"#;
        for (path, expected) in [("runs[1].loss", 2.5), ("$.runs[-2].loss", 4.0), ("$.total['cpu time']", 7.0)] {
            assert_eq!(value(&Extraction::json(path).unwrap(), document), Ok(expected), "{path}");
        }
        assert_eq!(value(&Extraction::json("[1]").unwrap(), "[1, 2]"), Ok(2.0));
        for (path, part) in [
            ("runs[0].name", "has `\"a\"` at $.runs[0].name, which is not a number"),
            ("runs[*].loss", "has 2 values at"),
            ("nothing", "has nothing at $.nothing"),
        ] {
            assert!(value(&Extraction::json(path).unwrap(), document).unwrap_err().contains(part), "{path}");
        }
        assert!(value(&Extraction::json("a").unwrap(), "{").unwrap_err().contains("is not JSON"));
        assert!(Extraction::json("a b c").is_err());
    }

    #[test]
    fn a_cell_of_a_table() {
        let cell = |column, row, separator| Extraction::Cell { column, row, separator };
        let comma = Separator::Byte(b',');
        let table = "# a run\ntime, stress ,note\n1,2.5,\"a, b\"\n2,1.5D+02,c\n";
        let stress = || Column::Named("stress".into());
        assert_eq!(value(&cell(stress(), Row::Last, comma), table), Ok(150.0));
        assert_eq!(value(&cell(stress(), Row::Number(1), comma), table), Ok(2.5));
        let bare = "  1.0   2.0\n\n  3.0\t 4.0  \n";
        assert_eq!(value(&cell(Column::Number(2), Row::Number(1), Separator::Blanks), bare), Ok(2.0));
        assert_eq!(value(&cell(Column::Number(2), Row::Last, Separator::Blanks), bare), Ok(4.0));
        for (column, row, part) in [
            (
                Column::Named("strain".into()),
                Row::Last,
                "has no column `strain`; its first line is `time, stress, note`",
            ),
            (stress(), Row::Number(3), "has no row 3, only 2"),
            (Column::Number(9), Row::Last, "has no column 9"),
            (
                Column::Named("note".into()),
                Row::Last,
                "has, in row \"last\" of column `note`, `c`, which is not a number",
            ),
        ] {
            assert!(value(&cell(column, row, comma), table).unwrap_err().contains(part), "{part}");
        }
    }
}
