//! Changes of the journal.

use rusqlite::{Connection, OptionalExtension, params};

use super::record::{Change, Execution, Record};
use crate::format::{host, moment, now};

/// Gives the transaction a name, which is returned; `None` if the newest one is not the one that is known.
pub(super) fn mark(db: &Connection, known: &str) -> rusqlite::Result<Option<String>> {
    db.prepare_cached(
        "UPDATE mark SET previous = token, token = lower(hex(randomblob(16))) WHERE token = ?1 RETURNING token",
    )?
    .query_row([known], |row| row.get(0))
    .optional()
}

/// Stores one change.
pub(super) fn apply(db: &Connection, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Asked { id, x } => {
            db.prepare_cached("INSERT INTO trial (id, x, status, asked_at) VALUES (?1, ?2, 'pending', ?3)")?
                .execute(params![*id as i64, point(x), now() as i64])?;
        }
        Change::Enqueued => {}
        Change::Noted { id, text } => {
            let text = Some(text).filter(|text| !text.is_empty());
            db.execute("UPDATE trial SET note = ?2 WHERE id = ?1", params![*id as i64, text])?;
        }
        Change::NothingRuns => {
            db.execute("DELETE FROM running", [])?;
        }
        Change::Started { id } => {
            db.prepare_cached("INSERT OR REPLACE INTO running (id, started_at, host) VALUES (?1, ?2, ?3)")?
                .execute(params![*id as i64, moment(), host()])?;
        }
        Change::Submitting { id, attempt, name } => {
            close_jobs(db, *id)?;
            db.prepare_cached("INSERT INTO job (trial, attempt, name, noted_at) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![*id as i64, attempt, name, moment()])?;
        }
        Change::Submitted { id, attempt, number } => {
            db.prepare_cached("UPDATE job SET number = ?3 WHERE trial = ?1 AND attempt = ?2")?
                .execute(params![*id as i64, attempt, number])?;
        }
        Change::JobsClosed { id } => close_jobs(db, *id)?,
        Change::Told { id, x, run, result } => told(db, *id, x, *run, result)?,
        Change::Attempted { id, result } => {
            db.prepare_cached("UPDATE trial SET message = ?2, attempts = attempts + ?3, seconds = ?4 WHERE id = ?1")?
                .execute(params![*id as i64, result.message, result.attempts, result.seconds])?;
            keep_details(db, *id, result)?;
        }
        Change::Retried { id, result } => retried(db, *id, result)?,
        Change::Cancelled { id } => {
            db.execute("UPDATE trial SET status = 'cancelled' WHERE id = ?1", [*id as i64])?;
        }
        Change::Corrected { id, was, result } => corrected(db, *id, *was, result)?,
        Change::Step { at_evaluation, region } => {
            db.prepare_cached("INSERT INTO step (at_evaluation, region) VALUES (?1, ?2)")?
                .execute(params![*at_evaluation as i64, region])?;
        }
    }
    Ok(())
}

fn close_jobs(db: &Connection, id: u64) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE job SET open = 0 WHERE trial = ?1 AND open")?.execute([id as i64]).map(|_| ())
}

fn told(db: &Connection, id: u64, x: &[f64], run: usize, result: &Record) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO trial (id, x, status, value, seconds, source, message, attempts, told_at, run, told)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, (SELECT coalesce(max(told) + 1, 0) FROM trial))
         ON CONFLICT (id) DO UPDATE SET status = excluded.status, value = excluded.value,
             seconds = excluded.seconds, source = excluded.source, message = excluded.message,
             attempts = excluded.attempts, told_at = excluded.told_at, run = excluded.run, told = excluded.told",
    )?
    .execute(params![
        id as i64,
        point(x),
        result.status,
        result.value(),
        result.seconds,
        result.source,
        result.message,
        result.attempts,
        now() as i64,
        run as i64
    ])?;
    keep_details(db, id, result)
}

fn retried(db: &Connection, id: u64, result: &Record) -> rusqlite::Result<()> {
    if let Some(became) = result.value() {
        note_correction(db, id, None, Some(became), "retry")?;
    }
    db.execute(
        "UPDATE trial SET status = ?2, value = ?3, seconds = ?4, source = ?5, message = ?6, attempts = attempts + ?7 WHERE id = ?1",
        params![
            id as i64,
            result.status,
            result.value(),
            result.seconds,
            result.source,
            result.message,
            result.attempts
        ],
    )?;
    keep_details(db, id, result)
}

fn corrected(db: &Connection, id: u64, was: Option<f64>, result: &Record) -> rusqlite::Result<()> {
    note_correction(db, id, was, result.value(), "hand")?;
    let reading = result.reading.as_ref().map(|reading| reading.stored());
    db.execute(
        "UPDATE trial SET value = ?2, status = ?3, message = ?4, result = ?5, constraints = ?6, constraint_std = ?7,
             residuals = ?8 WHERE id = ?1",
        params![
            id as i64,
            result.value(),
            result.status,
            result.message,
            reading,
            list(&result.constraints),
            list(&result.constraint_std),
            bytes(result.residuals())
        ],
    )?;
    Ok(())
}

fn note_correction(
    db: &Connection,
    id: u64,
    was: Option<f64>,
    became: Option<f64>,
    cause: &str,
) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO correction (id, was, became, at, cause) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![id as i64, was, became, now() as i64, cause],
    )?;
    Ok(())
}

/// What the command gave and printed, and how it was run. Nothing runs any more.
fn keep_details(db: &Connection, id: u64, result: &Record) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM running WHERE id = ?1")?.execute([id as i64])?;
    if result.source == "command" {
        // A job that goes on although its value was told by hand is the next run's to cancel.
        close_jobs(db, id)?;
    }
    let reading = result.reading.as_ref().map(|reading| reading.stored());
    let run = result.execution.as_ref();
    db.prepare_cached(
        "UPDATE trial SET result = ?2, command = ?3, directory = ?4, host = ?5, exit = ?6, signal = ?7, started_at = ?8,
             ended_at = ?9, constraints = ?10, constraint_std = ?11, residuals = ?12 WHERE id = ?1",
    )?
    .execute(params![
        id as i64,
        reading,
        run.map(|run| serde_json::json!(run.command).to_string()),
        run.map(|run| &run.directory),
        run.map(|run| &run.host),
        run.and_then(|run| run.exit),
        run.and_then(|run| run.signal),
        run.map(|Execution { started, .. }| started),
        run.map(|Execution { ended, .. }| ended),
        list(&result.constraints),
        list(&result.constraint_std),
        bytes(result.residuals()),
    ])?;
    if result.stdout.is_empty() && result.stderr.is_empty() {
        db.prepare_cached("DELETE FROM output WHERE id = ?1")?.execute([id as i64])?;
        return Ok(());
    }
    db.prepare_cached("INSERT OR REPLACE INTO output (id, stdout, stderr) VALUES (?1, ?2, ?3)")?.execute(params![
        id as i64,
        result.stdout,
        result.stderr
    ])?;
    Ok(())
}

/// Residuals as they are in memory, eight bytes each, if there are any: there may be thousands.
fn bytes(residuals: &[f64]) -> Option<Vec<u8>> {
    (!residuals.is_empty()).then(|| residuals.iter().flat_map(|r| r.to_le_bytes()).collect())
}

/// Numbers as JSON, NaN as `null`, if there are any.
fn list(constraints: &[f64]) -> Option<String> {
    (!constraints.is_empty()).then(|| point(constraints))
}

/// A point as JSON that reads back exactly.
fn point(x: &[f64]) -> String {
    serde_json::json!(x).to_string()
}
