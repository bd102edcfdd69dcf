//! `export`: every evaluation as CSV or JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};

use crate::cli;
use crate::failure::Failure;
use crate::format::number;
use crate::journal::{Journal, Trial};
use crate::paths::Paths;
use crate::study::Identity;

/// Writes the evaluations in the order told.
pub(crate) fn export(args: &cli::Export) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    let text = match args.json {
        true => as_json(&journal, &identity)?,
        false => as_csv(&identity, &journal.told()?).map_err(|error| Failure::run(error.to_string()))?,
    };
    match &args.output {
        Some(file) => {
            write_file(file, &text).map_err(|error| Failure::run(format!("cannot write {}: {error}", file.display())))
        }
        None => Ok(stdout().write_all(text.as_bytes())?),
    }
}

/// Writes a file and makes it durable.
pub(super) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(text.as_bytes())?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

fn as_csv(identity: &Identity, told: &[Trial]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut headings = vec!["id"];
    headings.extend(identity.names());
    headings.extend(["value", "status", "seconds"]);
    writer.write_record(&headings)?;
    for trial in told {
        let mut row = vec![trial.id.to_string()];
        row.extend(trial.x.iter().map(|x| number(*x)));
        let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
        row.extend([optional(trial.value), trial.status.clone(), optional(trial.seconds)]);
        writer.write_record(&row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_json(journal: &Journal, identity: &Identity) -> Result<String, Failure> {
    let row = |trial: &Trial| -> Value {
        json!({
            "id": trial.id, "x": identity.by_name(&trial.x), "value": trial.value, "status": trial.status,
            "seconds": trial.seconds, "source": trial.source, "message": trial.message, "attempts": trial.attempts,
            "stdout": trial.stdout, "stderr": trial.stderr,
        })
    };
    let evaluations: Vec<Value> = journal.told()?.iter().map(row).collect();
    let pending: Vec<Value> =
        journal.pending()?.iter().map(|trial| json!({"id": trial.id, "x": identity.by_name(&trial.x)})).collect();
    let document = json!({
        "study": journal.name()?, "direction": identity.direction, "seed": identity.seed, "preset": identity.preset,
        "parameters": identity.parameters, "evaluations": evaluations, "pending": pending,
    });
    Ok(document.to_string() + "\n")
}
