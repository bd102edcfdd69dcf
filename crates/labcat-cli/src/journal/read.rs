//! Reading the journal.

use labcat::{Evaluation, Optimizer, TrialId};
use rusqlite::{OptionalExtension, Row};

use super::Journal;
use super::record::{Correction, Execution, InHand, Job, Told, Trial};
use crate::failure::Failure;
use crate::study::Identity;
use crate::value::Reading;

const TRIAL: &str =
    "SELECT trial.id, x, status, value, constraints, residuals, result, seconds, source, message, attempts, note, command, directory,
    host, exit, signal, started_at, ended_at, coalesce(stdout, '') AS stdout, coalesce(stderr, '') AS stderr
    FROM trial LEFT JOIN output ON output.id = trial.id";

impl Journal {
    fn meta(&self, key: &str) -> Result<Option<String>, Failure> {
        self.db
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| self.trouble(&error))
    }

    /// The parts of the study that must not change; `None` before the study has begun.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, Failure> {
        let Some(text) = self.meta("identity")? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| self.damaged("identity", &error))
    }

    /// The study's id, by which its workers know it.
    pub(crate) fn study(&self) -> Result<String, Failure> {
        Ok(self.meta("id")?.unwrap_or_default())
    }

    /// The name the study began with.
    pub(crate) fn name(&self) -> Result<String, Failure> {
        Ok(self.meta("name")?.unwrap_or_default())
    }

    /// When the study began, in seconds since 1970.
    pub(crate) fn created(&self) -> Result<u64, Failure> {
        Ok(self.meta("created")?.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// The optimizer as of the newest transaction.
    pub(crate) fn optimizer(&self) -> Result<Optimizer, Failure> {
        let state: String =
            self.db.query_row("SELECT json FROM state", [], |row| row.get(0)).map_err(|error| self.trouble(&error))?;
        Optimizer::restore(&state, self.evaluations()?).map_err(|error| self.damaged("state", &error))
    }

    /// The evaluations as the optimizer knows them.
    fn evaluations(&self) -> Result<Vec<Evaluation>, Failure> {
        let read = || -> rusqlite::Result<Vec<Evaluation>> {
            let mut statement = self
                .db
                .prepare("SELECT id, x, value, constraints, constraint_std, residuals, result, message, run FROM trial WHERE told IS NOT NULL ORDER BY told")?;
            let evaluation = |row: &Row<'_>| {
                let constraint_std: Vec<Option<f64>> = json(row, "constraint_std")?.unwrap_or_default();
                let result = json(row, "result")?;
                let told = Told {
                    value: row.get("value")?,
                    std: result.as_ref().and_then(Reading::stored_std),
                    residuals: residuals(row)?,
                    gradient: result.as_ref().map(Reading::stored_gradient).unwrap_or_default(),
                    constraints: json(row, "constraints")?.unwrap_or_default(),
                    constraint_std: constraint_std.into_iter().map(|std| std.unwrap_or(f64::NAN)).collect(),
                    message: row.get("message")?,
                };
                Ok(Evaluation {
                    id: TrialId(row.get::<_, i64>("id")? as u64),
                    x: point(row)?,
                    outcome: told.outcome(),
                    run: row.get::<_, i64>("run")? as usize,
                })
            };
            statement.query_map([], evaluation)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// The evaluations in the order told.
    pub(crate) fn told(&self) -> Result<Vec<Trial>, Failure> {
        self.trials(&format!("{TRIAL} WHERE told IS NOT NULL ORDER BY told"))
    }

    /// The suggestions that were given out and not told.
    pub(crate) fn pending(&self) -> Result<Vec<Trial>, Failure> {
        self.trials(&format!("{TRIAL} WHERE status = 'pending' ORDER BY trial.id"))
    }

    /// One trial.
    pub(crate) fn trial(&self, id: u64) -> Result<Option<Trial>, Failure> {
        Ok(self.trials(&format!("{TRIAL} WHERE trial.id = {id}"))?.pop())
    }

    /// Why there is no trial with this number.
    pub(crate) fn absent(&self, id: u64) -> Failure {
        let last = self.db.query_row("SELECT max(id) FROM trial", [], |row| row.get::<_, Option<i64>>(0));
        match last {
            Ok(Some(last)) => {
                Failure::usage(format!("there is no evaluation {id}: they are numbered from 0 to {last}"))
            }
            Ok(None) => Failure::usage(format!("there is no evaluation {id}: the study has none yet")),
            Err(error) => self.trouble(&error),
        }
    }

    fn trials(&self, query: &str) -> Result<Vec<Trial>, Failure> {
        let read = || -> rusqlite::Result<Vec<Trial>> {
            let mut statement = self.db.prepare(query)?;
            statement.query_map([], trial)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// The corrections of an evaluation, oldest first.
    pub(crate) fn corrections(&self, id: u64) -> Result<Vec<Correction>, Failure> {
        let read = || -> rusqlite::Result<Vec<Correction>> {
            let mut statement =
                self.db.prepare("SELECT was, became, at, cause FROM correction WHERE id = ?1 ORDER BY number")?;
            let correction = |row: &Row<'_>| {
                let at = row.get::<_, i64>("at")? as u64;
                Ok(Correction { was: row.get("was")?, became: row.get("became")?, at, cause: row.get("cause")? })
            };
            statement.query_map([id as i64], correction)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// The evaluations that the newest run is, or was, working on.
    pub(crate) fn in_hand(&self) -> Result<Vec<InHand>, Failure> {
        let read = || -> rusqlite::Result<Vec<InHand>> {
            let mut statement = self.db.prepare("SELECT id, started_at, host FROM running ORDER BY id")?;
            let in_hand = |row: &Row<'_>| {
                Ok(InHand { id: row.get::<_, i64>(0)? as u64, started: row.get(1)?, host: row.get(2)? })
            };
            statement.query_map([], in_hand)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// The jobs of which an end is expected, by evaluation.
    pub(crate) fn open_jobs(&self) -> Result<Vec<Job>, Failure> {
        let read = || -> rusqlite::Result<Vec<Job>> {
            let mut statement =
                self.db.prepare("SELECT trial, attempt, name, number FROM job WHERE open ORDER BY trial")?;
            let job = |row: &Row<'_>| {
                let trial = row.get::<_, i64>(0)? as u64;
                Ok(Job { trial, attempt: row.get(1)?, name: row.get(2)?, number: row.get(3)? })
            };
            statement.query_map([], job)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// How often an evaluation was submitted to a scheduler.
    pub(crate) fn submissions(&self, id: u64) -> Result<u32, Failure> {
        let query = "SELECT coalesce(max(attempt), 0) FROM job WHERE trial = ?1";
        self.db.query_row(query, [id as i64], |row| row.get(0)).map_err(|error| self.trouble(&error))
    }

    /// A number that differs after every change of the journal.
    pub(crate) fn revision(&self) -> Result<String, Failure> {
        let query = "SELECT (SELECT count(*) FROM trial) || '-' || (SELECT coalesce(max(told), -1) FROM trial) || '-' ||
            (SELECT count(*) FROM correction) || '-' || (SELECT count(*) FROM trial WHERE status = 'cancelled') || '-' ||
            (SELECT coalesce(sum(attempts), 0) FROM trial) || '-' || (SELECT coalesce(group_concat(id, '.'), '') FROM running)";
        self.db.query_row(query, [], |row| row.get(0)).map_err(|error| self.trouble(&error))
    }

    /// The recorded trust regions: the number of evaluations before each, and the region as JSON.
    pub(crate) fn steps(&self) -> Result<Vec<(usize, String)>, Failure> {
        let read = || -> rusqlite::Result<Vec<(usize, String)>> {
            let mut statement = self.db.prepare("SELECT at_evaluation, region FROM step ORDER BY number")?;
            statement.query_map([], |row| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?)))?.collect()
        };
        read().map_err(|error| self.trouble(&error))
    }

    /// Something in the journal cannot be read back.
    pub(crate) fn damaged(&self, what: &str, error: &dyn std::fmt::Display) -> Failure {
        Failure::run(format!("journal {}: its {what} cannot be read: {error}", self.path.display()))
    }
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    Ok(Trial {
        id: row.get::<_, i64>("id")? as u64,
        x: point(row)?,
        status: row.get("status")?,
        value: row.get("value")?,
        constraints: json(row, "constraints")?.unwrap_or_default(),
        residuals: residuals(row)?,
        seconds: row.get("seconds")?,
        source: row.get("source")?,
        message: row.get("message")?,
        attempts: row.get("attempts")?,
        stdout: row.get("stdout")?,
        stderr: row.get("stderr")?,
        result: json(row, "result")?,
        note: row.get("note")?,
        execution: match json(row, "command")? {
            None => None,
            Some(command) => Some(Execution {
                command,
                directory: row.get("directory")?,
                host: row.get("host")?,
                started: row.get("started_at")?,
                ended: row.get("ended_at")?,
                exit: row.get("exit")?,
                signal: row.get("signal")?,
            }),
        },
    })
}

/// A column of JSON text.
fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<T>> {
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(not_json)
}

/// Eight bytes for each residual.
fn residuals(row: &Row<'_>) -> rusqlite::Result<Vec<f64>> {
    let bytes: Vec<u8> = row.get::<_, Option<Vec<u8>>>("residuals")?.unwrap_or_default();
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        let damaged = format!("{} bytes are not a list of residuals", bytes.len());
        return Err(rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, damaged.into()));
    }
    Ok(numbers.iter().map(|number| f64::from_le_bytes(*number)).collect())
}

fn not_json(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error))
}

fn point(row: &Row<'_>) -> rusqlite::Result<Vec<f64>> {
    let x: String = row.get("x")?;
    serde_json::from_str(&x).map_err(not_json)
}
