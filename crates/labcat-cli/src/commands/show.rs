//! `status` and `best`.

use std::io::{Write, stdout};

use labcat::Optimizer;
use serde_json::json;

use crate::cli;
use crate::failure::Failure;
use crate::format::{count, date, number, point};
use crate::journal::{Journal, Trial};
use crate::paths::Paths;
use crate::study::Identity;

/// How many of the newest failures are shown.
const FAILURES_SHOWN: usize = 5;
/// How many lines of a failure's output are shown.
const LINES_SHOWN: usize = 4;

/// Shows the best evaluation.
pub(crate) fn best(args: &cli::Best) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    let optimizer = journal.optimizer()?;
    let Some((best, value)) = optimizer.best().and_then(|best| Some((best, best.outcome.value()?))) else {
        return Err(Failure::run(format!(
            "no evaluation of {} has succeeded yet, so there is no best one",
            args.study.path.display()
        )));
    };
    let mut out = stdout().lock();
    if args.json {
        let line = json!({
            "id": best.id.0, "value": value, "x": identity.by_name(&best.x),
            "evaluations": optimizer.n_evaluations(), "stop": optimizer.stop_reason().map(|reason| reason.to_string()),
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    writeln!(out, "value {} (evaluation {} of {})", number(value), best.id, optimizer.n_evaluations())?;
    for (name, x) in identity.names().iter().zip(&best.x) {
        writeln!(out, "{name} = {}", number(*x))?;
    }
    Ok(())
}

/// Shows how far the study is, or everything about one evaluation.
pub(crate) fn status(args: &cli::Status) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    if let Some(id) = args.id {
        let trial = journal.trial(id)?.ok_or_else(|| Failure::usage(format!("there is no evaluation {id}")))?;
        return one(&trial, &identity, args.json);
    }
    let optimizer = journal.optimizer()?;
    let told = journal.told()?;
    let pending = journal.pending()?;
    match args.json {
        true => as_json(&journal, &identity, &optimizer, &told, &pending),
        false => in_words(&journal, &identity, &optimizer, &told, &pending),
    }
}

fn failures(told: &[Trial]) -> Vec<&Trial> {
    told.iter().filter(|trial| trial.value.is_none()).collect()
}

fn as_json(
    journal: &Journal,
    identity: &Identity,
    optimizer: &Optimizer,
    told: &[Trial],
    pending: &[Trial],
) -> Result<(), Failure> {
    let line = json!({
        "study": journal.name()?, "direction": identity.direction, "created": journal.created()?,
        "evaluations": told.len(), "budget": optimizer.config().budget, "failures": failures(told).len(),
        "restarts": optimizer.restarts(), "stop": optimizer.stop_reason().map(|reason| reason.to_string()),
        "value": optimizer.best().and_then(|best| best.outcome.value()),
        "x": optimizer.best().map(|best| identity.by_name(&best.x)),
        "pending": pending.iter().map(|trial| json!({"id": trial.id, "x": identity.by_name(&trial.x)})).collect::<Vec<_>>(),
    });
    writeln!(stdout(), "{line}")?;
    Ok(())
}

fn in_words(
    journal: &Journal,
    identity: &Identity,
    optimizer: &Optimizer,
    told: &[Trial],
    pending: &[Trial],
) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let names = identity.names();
    writeln!(out, "{}: {}, begun {}", journal.name()?, identity.direction, date(journal.created()?))?;
    let budget = optimizer.config().budget.map_or_else(String::new, |budget| format!(" of {budget}"));
    let failed = failures(told);
    writeln!(out, "evaluations  {}{budget}, {} failed, {} outstanding", told.len(), failed.len(), pending.len())?;
    if let Some((best, value)) = optimizer.best().and_then(|best| Some((best, best.outcome.value()?))) {
        writeln!(out, "best         {} at {} (evaluation {})", number(value), point(&names, &best.x, 6), best.id)?;
    }
    if let Some(newest) = optimizer.restarts().last() {
        let restarts = count(optimizer.restarts().len(), "restart");
        writeln!(
            out,
            "restarts     {restarts}, the newest after evaluation {}: {}",
            newest.at_evaluation, newest.cause
        )?;
    }
    if let Some(reason) = optimizer.stop_reason() {
        writeln!(out, "stopped      {reason}")?;
    }
    if !pending.is_empty() {
        writeln!(out, "\noutstanding")?;
        for trial in pending {
            let values: Vec<String> =
                names.iter().zip(&trial.x).map(|(name, x)| format!("{name} = {}", number(*x))).collect();
            let note = trial.message.as_ref().map_or_else(String::new, |why| format!("  (last attempt: {why})"));
            writeln!(out, "  {}: {}{note}", trial.id, values.join("  "))?;
        }
    }
    if !failed.is_empty() {
        writeln!(out, "\nnewest failures (labcat status STUDY ID shows all of the output)")?;
        for trial in failed.iter().rev().take(FAILURES_SHOWN) {
            let why = trial.message.as_deref().unwrap_or("no value");
            writeln!(out, "  {}: {why}  at {}", trial.id, point(&names, &trial.x, 5))?;
            for line in last_lines(trial) {
                writeln!(out, "     | {line}")?;
            }
        }
    }
    Ok(())
}

/// The end of what a failed program said, standard error first choice.
fn last_lines(trial: &Trial) -> Vec<&str> {
    let text = if trial.stderr.trim().is_empty() { &trial.stdout } else { &trial.stderr };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES_SHOWN)..].to_vec()
}

fn one(trial: &Trial, identity: &Identity, as_json: bool) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if as_json {
        let line = json!({
            "id": trial.id, "x": identity.by_name(&trial.x), "status": trial.status, "value": trial.value,
            "seconds": trial.seconds, "source": trial.source, "message": trial.message, "attempts": trial.attempts,
            "stdout": trial.stdout, "stderr": trial.stderr,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    writeln!(out, "evaluation {}: {}", trial.id, trial.status)?;
    for (name, x) in identity.names().iter().zip(&trial.x) {
        writeln!(out, "{name} = {}", number(*x))?;
    }
    let facts = [
        ("value", trial.value.map(number)),
        ("why", trial.message.clone()),
        ("seconds", trial.seconds.map(number)),
        ("attempts", (trial.attempts > 1).then(|| trial.attempts.to_string())),
        ("told by", trial.source.clone()),
    ];
    for (what, fact) in facts {
        if let Some(fact) = fact {
            writeln!(out, "{what}: {fact}")?;
        }
    }
    for (what, text) in [("standard output", &trial.stdout), ("standard error", &trial.stderr)] {
        if !text.is_empty() {
            writeln!(out, "--- {what}\n{}", text.trim_end_matches('\n'))?;
        }
    }
    Ok(())
}
