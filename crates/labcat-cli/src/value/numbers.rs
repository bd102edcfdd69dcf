//! A column of numbers in the output of a command, or in measured data.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::extract::{self, json_document, json_path};
use super::{Column, Separator, number};
use crate::format::shortened;

/// Where to find a list of numbers in a text.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    /// In a column of a table.
    Column { column: Column, separator: Separator },
    /// At a path into a JSON document: a list, or all that the path leads to.
    Json(JsonPath),
}

impl Numbers {
    /// A path into JSON; `$.` in front of it may be left out.
    pub(crate) fn json(text: &str) -> Result<Numbers, String> {
        json_path(text).map(Numbers::Json)
    }

    /// The name of the column, or the path.
    pub(crate) fn name(&self) -> String {
        match self {
            Numbers::Column { column: Column::Named(name), .. } => name.clone(),
            Numbers::Column { column: Column::Number(number), .. } => format!("column {number}"),
            Numbers::Json(path) => path.to_string(),
        }
    }

    /// All of them; `None` for an empty cell, `null`, NaN and infinity. The error completes "its output …".
    pub(crate) fn read(&self, text: &str) -> Result<Vec<Option<f64>>, String> {
        let finite = |value: f64| value.is_finite().then_some(value + 0.0);
        match self {
            Numbers::Column { column, separator } => {
                let rows = extract::rows(text, *separator)?;
                let (index, rows, _) = extract::located(&rows, column)?;
                let cell = |(row, cells): (usize, &csv::StringRecord)| {
                    let row = row + 1;
                    let cell = cells.get(index).ok_or_else(|| format!("has no column {} in row {row}", index + 1))?;
                    let wrong =
                        || format!("has `{}` in row {row} of column {column}, which is not a number", shortened(cell));
                    if cell.is_empty() { Ok(None) } else { number(cell).map(finite).ok_or_else(wrong) }
                };
                rows.iter().enumerate().map(cell).collect()
            }
            Numbers::Json(path) => {
                let document = json_document(text)?;
                let nodes = path.query(&document).all();
                let nodes = match nodes.as_slice() {
                    [] => return Err(format!("has nothing at {path}")),
                    [Value::Array(items)] => items.iter().collect(),
                    _ => nodes,
                };
                let item = |(place, node): (usize, &Value)| match node {
                    Value::Null => Ok(None),
                    Value::Number(number) => Ok(number.as_f64().and_then(finite)),
                    other => {
                        let other = shortened(&other.to_string());
                        Err(format!("has `{other}` at {path}, place {}, which is not a number", place + 1))
                    }
                };
                nodes.into_iter().enumerate().map(item).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_a_table_or_a_list_in_json() {
        let comma = Separator::Byte(b',');
        let named = |name: &str| Numbers::Column { column: Column::Named(name.into()), separator: comma };
        let table = "# run 7\nt,y\n0,1.5\n1,\n2,nan\n3,-0.25D+01\n";
        assert_eq!(named("y").read(table), Ok(vec![Some(1.5), None, None, Some(-2.5)]));
        let bare = Numbers::Column { column: Column::Number(2), separator: Separator::Blanks };
        assert_eq!(bare.read(" 1  2\n3 4\n"), Ok(vec![Some(2.0), Some(4.0)]));
        let document = r#"{"a": {"y": [1, null, 2.5]}, "runs": [{"z": 1}, {"z": NaN}]}"#;
        assert_eq!(Numbers::json("a.y").unwrap().read(document), Ok(vec![Some(1.0), None, Some(2.5)]));
        assert_eq!(Numbers::json("runs[*].z").unwrap().read(document), Ok(vec![Some(1.0), None]));
        for (numbers, text, part) in [
            (named("z"), table, "has no column `z`; its first line is `t, y`"),
            (named("y"), "t,y\n1\n", "has no column 2 in row 1"),
            (named("y"), "t,y\n1,abc\n", "has `abc` in row 1 of column `y`, which is not a number"),
            (Numbers::json("b").unwrap(), "{}", "has nothing at $.b"),
            (Numbers::json("b").unwrap(), r#"{"b": ["x"]}"#, "place 1, which is not a number"),
            (Numbers::json("b").unwrap(), "t,y", "is not JSON"),
        ] {
            assert!(numbers.read(text).unwrap_err().contains(part), "{part}");
        }
    }
}
