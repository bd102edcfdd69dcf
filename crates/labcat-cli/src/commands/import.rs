//! `import`: earlier measurements from a CSV file.

use crate::study::values;
use labcat::{Domain, Evaluation};
use std::fs;
use std::io::{self, Write, stdout};
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};

use crate::cli;
use crate::failure::Failure;
use crate::format::{count, shortened};
use crate::paths::Paths;
use crate::session::Session;

/// A row of the file.
struct Row {
    line: u64,
    x: Vec<f64>,
    /// `None`: it failed.
    value: Option<f64>,
    /// The standard deviation of its noise.
    std: Option<f64>,
    /// What the study's constraints need.
    results: Vec<(String, f64)>,
}

/// Takes in all rows of a CSV file, or none.
pub(crate) fn import(args: &cli::Import) -> Result<(), Failure> {
    let mut session = Session::open(&Paths::of(&args.study.path), "import")?;
    let domain = session.optimizer.domain().clone();
    let rows = read(&args.data, &domain, &session.constraints.results())?;
    let (mut known, mut taken, mut outside) = (0, 0, 0);
    for row in rows {
        let outside_of = session.outside(&row.x);
        if args.skip_outside && outside_of.is_some() {
            outside += 1;
            continue;
        }
        let refused = |why: &str| Failure::usage(bad(&args.data, row.line, why));
        let record = match outside_of {
            None => session
                .by_hand(&row.x, (row.value, row.std), &row.results, "import")
                .map_err(|why| refused(&format!("it {why}")))?,
            Some(place) => return Err(refused(&format!("{place}; --skip-outside leaves such rows out"))),
        };
        let same = |told: &Evaluation| {
            let outcome = &told.outcome;
            told.x == row.x && outcome.value() == record.value() && outcome.constraints() == record.constraints
        };
        if session.optimizer.evaluations().iter().any(same) {
            known += 1;
            continue;
        }
        session.tell_point(&row.x, record).map_err(|failure| refused(&failure.message))?;
        taken += 1;
    }
    session.commit()?;
    let mut text = format!("{} imported", count(taken, "evaluation"));
    let ranges = match session.constraints.of_parameters().count() {
        0 => "they are outside the study's ranges",
        _ => "they are outside the study's ranges or constraints",
    };
    for (n, why) in [(known, "the study already has them"), (outside, ranges)] {
        if n > 0 {
            text += &format!(", {} skipped: {why}", count(n, "row"));
        }
    }
    writeln!(stdout(), "{text}")?;
    Ok(())
}

fn read(path: &Path, domain: &Domain, results: &[String]) -> Result<Vec<Row>, Failure> {
    let names: Vec<&str> = domain.parameters().iter().map(|p| p.name.as_str()).collect();
    let cannot = |error: &dyn std::fmt::Display| Failure::usage(format!("cannot read {}: {error}", path.display()));
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!(
            "there is no file {}: name a file of comma-separated values, as `labcat export` writes them",
            path.display()
        )),
        _ => cannot(&error),
    })?;
    if let Some(b'{' | b'[') = bytes.trim_ascii_start().first() {
        return Err(Failure::usage(format!(
            "{} is JSON: only comma-separated values can be imported; `labcat export STUDY` writes them",
            path.display()
        )));
    }
    // With the ends of lines of other systems the reader would count lines wrongly.
    let text = String::from_utf8(bytes).map_err(|error| cannot(&error))?.replace("\r\n", "\n").replace('\r', "\n");
    let mut reader =
        ReaderBuilder::new().flexible(true).trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let headings = reader.headers().map_err(|error| cannot(&error))?.clone();
    let columns = Columns::find(&headings, &names, results)
        .map_err(|missing| Failure::usage(bad(path, 1, &format!("{missing}; {}", described(&headings)))))?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| cannot(&shortened(&error.to_string())))?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = if record.len() == headings.len() {
            columns.row(&record, line, domain)
        } else {
            Err(format!("it has {}, the first line has {}", count(record.len(), "cell"), headings.len()))
        };
        rows.push(row.map_err(|complaint| Failure::usage(bad(path, line, &complaint)))?);
    }
    Ok(rows)
}

/// Where in a row everything stands.
struct Columns {
    parameters: Vec<usize>,
    value: usize,
    status: Option<usize>,
    std: Option<usize>,
    results: Vec<(String, usize)>,
}

impl Columns {
    fn find(headings: &StringRecord, names: &[&str], results: &[String]) -> Result<Columns, String> {
        let and = if results.is_empty() { "" } else { ", and the results that constraints need" };
        let column = |name: &str| {
            let found = headings.iter().position(|heading| heading == name);
            found.ok_or_else(|| {
                format!("there is no column `{name}`: the first line must name each parameter and value{and}")
            })
        };
        Ok(Columns {
            parameters: names.iter().map(|name| column(name)).collect::<Result<_, _>>()?,
            value: column("value")?,
            status: column("status").ok(),
            std: column("std").ok().filter(|_| !names.contains(&"std") && results.iter().all(|name| name != "std")),
            results: results.iter().map(|name| Ok((name.clone(), column(name)?))).collect::<Result<_, String>>()?,
        })
    }

    fn row(&self, record: &StringRecord, line: u64, domain: &Domain) -> Result<Row, String> {
        let number = |column: usize, name: &str| {
            let text = record.get(column).unwrap_or_default();
            text.parse::<f64>().map_err(|_| format!("{name} is {:?}, which is not a number", shortened(text)))
        };
        let mut x = Vec::with_capacity(self.parameters.len());
        for (parameter, column) in domain.parameters().iter().zip(&self.parameters) {
            let text = record.get(*column).unwrap_or_default();
            // An empty cell belongs to a parameter that does not apply; whether that is so, the point as a whole says.
            x.push(if text.is_empty() && parameter.when.is_some() {
                f64::NAN
            } else {
                let complaint = |why| format!("{} is {:?}, {why}", parameter.name, shortened(text));
                values::read(parameter, text).map_err(complaint)?
            });
        }
        let x = if domain.check(&x).is_ok() { domain.canonical(&x) } else { x };
        let status = self.status.and_then(|column| record.get(column)).unwrap_or("ok");
        let value = match status {
            "ok" | "" if record.get(self.value) == Some("") => {
                return Err("value is empty: write a number, or `failed` in a column named status".to_owned());
            }
            "ok" | "" => Some(number(self.value, "value")?).filter(|value| value.is_finite()),
            "failed" | "timeout" => None,
            other => return Err(format!("status is {:?}: write ok, failed or timeout", shortened(other))),
        };
        let mut results = Vec::new();
        for (name, column) in &self.results {
            match record.get(*column).unwrap_or_default() {
                "" if value.is_none() => {}
                _ => results.push((name.clone(), number(*column, name)?)),
            }
        }
        let std = match self.std.and_then(|column| record.get(column)).unwrap_or_default() {
            "" => None,
            _ => self.std.filter(|_| value.is_some()).map(|column| number(column, "std")).transpose()?,
        };
        Ok(Row { line, x, value, std, results })
    }
}

fn bad(path: &Path, line: u64, complaint: &str) -> String {
    format!("{}:{line}: {complaint}; nothing was imported", path.display())
}

/// The columns of a file, for the error about one that is missing.
fn described(headings: &StringRecord) -> String {
    if headings.is_empty() {
        return "the file has no lines".to_owned();
    }
    let other = headings.iter().find_map(|heading| heading.chars().find(|c| [';', '\t'].contains(c)));
    match other.filter(|_| headings.len() == 1) {
        Some(other) => format!("its cells seem to be separated by {other:?}: write commas"),
        None => format!("the columns are {}", list(headings)),
    }
}

fn list(headings: &StringRecord) -> String {
    const SHOWN: usize = 12;
    let names: Vec<String> = headings.iter().take(SHOWN).map(|heading| format!("`{}`", shortened(heading))).collect();
    let more = if headings.len() > SHOWN { format!(" and {} more", headings.len() - SHOWN) } else { String::new() };
    names.join(", ") + &more
}
