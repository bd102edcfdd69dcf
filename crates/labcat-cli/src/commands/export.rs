//! `export`: every evaluation as CSV or JSON.

use crate::study::values;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};

use crate::best::{measured_json, with};
use crate::cli;
use crate::failure::Failure;
use crate::format::{json_text, number, part_of, people, timestamp};
use crate::journal::{Execution, Journal, Trial};
use crate::paths::{Paths, check_output};
use crate::study::{Constraints, Identity};
use crate::value::Reading;

/// Writes the evaluations in the order told.
pub(crate) fn export(args: &cli::Export) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    if let Some(file) = &args.output {
        check_output(&paths, file)?;
    }
    let text = match args.json {
        true => as_json(&journal, &identity)?,
        false => as_csv(&identity, &identity.constraints()?, &journal.told()?, args.all)
            .map_err(|error| Failure::run(error.to_string()))?,
    };
    match &args.output {
        Some(file) => write_file(file, &text).map_err(|error| Failure::unwritten(file, &error)),
        // On a terminal people read it; elsewhere it is data and stays as it is.
        None if stdout().is_terminal() => Ok(people().write_all(text.as_bytes())?),
        None => Ok(stdout().write_all(text.as_bytes())?),
    }
}

/// Writes a file and makes it durable, all or nothing: it is written under another name, which it loses at the end.
pub(super) fn write_file(path: &Path, text: &str) -> io::Result<()> {
    let write = |path: &Path| {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all())
    };
    // What a link leads to is replaced, not the link; a device or a pipe is written to.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if path.exists() && !path.is_file() {
        return File::create(path)?.write_all(text.as_bytes());
    }
    let part = part_of(&path);
    write(&part).and_then(|()| fs::rename(&part, &path)).inspect_err(|_| drop(fs::remove_file(&part)))
}

fn as_csv(identity: &Identity, constraints: &Constraints, told: &[Trial], all: bool) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut headings = vec!["id"];
    headings.extend(identity.names());
    headings.extend(["value", "status", "seconds"]);
    let std = |trial: &Trial| trial.result.as_ref().and_then(Reading::stored_std);
    let noisy = told.iter().any(|trial| std(trial).is_some()) && !identity.names().contains(&"std");
    if noisy {
        headings.push("std");
    }
    let results = constraints.results();
    if constraints.is_measured() {
        headings.push("feasible");
        headings.extend(results.iter().map(String::as_str));
        headings.extend(constraints.measured());
    }
    if all {
        headings.extend([
            "source",
            "attempts",
            "message",
            "started",
            "ended",
            "host",
            "exit",
            "signal",
            "directory",
            "command",
            "note",
        ]);
    }
    writer.write_record(&headings)?;
    let domain = identity.domain();
    for trial in told {
        let mut row = vec![trial.id.to_string()];
        row.extend(domain.iter().flat_map(|domain| values::texts(domain, &trial.x)));
        let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
        row.extend([optional(trial.value), trial.status.clone(), optional(trial.seconds)]);
        if noisy {
            row.push(optional(std(trial)));
        }
        if constraints.is_measured() {
            let feasible = Constraints::is_met(trial.value, &trial.constraints);
            row.push(feasible.map(|met| met.to_string()).unwrap_or_default());
            row.extend(
                results.iter().map(|name| optional(trial.result.as_ref().and_then(|all| all.get(name)?.as_f64()))),
            );
            row.extend((0..constraints.measured().len()).map(|k| optional(trial.constraints.get(k).copied())));
        }
        if all {
            let run = trial.execution.as_ref();
            let text = |part: &dyn Fn(&Execution) -> Option<String>| run.and_then(part).unwrap_or_default();
            row.extend([
                trial.source.clone().unwrap_or_default(),
                trial.attempts.to_string(),
                trial.message.clone().unwrap_or_default(),
                text(&|run| Some(timestamp(run.started))),
                text(&|run| Some(timestamp(run.ended))),
                text(&|run| Some(run.host.clone())),
                text(&|run| run.exit.map(|exit| exit.to_string())),
                text(&|run| run.signal.map(|signal| signal.to_string())),
                text(&|run| Some(run.directory.clone())),
                text(&|run| Some(json!(run.command).to_string())),
                trial.note.clone().unwrap_or_default(),
            ]);
        }
        writer.write_record(&row)?;
    }
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Everything that is known of an evaluation.
pub(super) fn trial_json(trial: &Trial, identity: &Identity, constraints: &Constraints) -> Value {
    let run = trial.execution.as_ref();
    let object = json!({
        "id": trial.id, "x": identity.by_name(&trial.x), "value": trial.value,
        "std": trial.result.as_ref().and_then(Reading::stored_std), "status": trial.status,
        "result": trial.result, "seconds": trial.seconds, "source": trial.source, "message": trial.message,
        "attempts": trial.attempts, "note": trial.note, "stdout": trial.stdout, "stderr": trial.stderr,
        "command": run.map(|run| &run.command), "directory": run.map(|run| &run.directory),
        "host": run.map(|run| &run.host), "exit": run.and_then(|run| run.exit), "signal": run.and_then(|run| run.signal),
        "started": run.map(|run| timestamp(run.started)), "ended": run.map(|run| timestamp(run.ended)),
    });
    let mut object = with(object, measured_json(constraints, trial.value, &trial.constraints));
    if !trial.residuals.is_empty() {
        object["residuals"] = json!(trial.residuals);
    }
    object
}

fn as_json(journal: &Journal, identity: &Identity) -> Result<String, Failure> {
    let constraints = identity.constraints()?;
    let evaluations: Vec<Value> =
        journal.told()?.iter().map(|trial| trial_json(trial, identity, &constraints)).collect();
    let pending: Vec<Value> =
        journal.pending()?.iter().map(|trial| json!({"id": trial.id, "x": identity.by_name(&trial.x)})).collect();
    let mut document = json!({
        "study": journal.name()?, "direction": identity.direction, "seed": identity.seed, "preset": identity.preset,
        "parameters": identity.parameters, "constraints": identity.constraints, "evaluations": evaluations, "pending": pending,
    });
    if !identity.data.is_empty() {
        document["data"] = json!(identity.data);
    }
    Ok(json_text(&document) + "\n")
}
