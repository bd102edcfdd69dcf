//! Questions to the journal.

use labcat::{Evaluation, Optimizer, Outcome, TrialId};
use rusqlite::{OptionalExtension, Row};

use super::Journal;
use crate::failure::Failure;
use crate::study::Identity;

/// One trial as the journal has it.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) id: u64,
    pub(crate) x: Vec<f64>,
    /// `pending`, `ok`, `failed`, `timeout` or `cancelled`.
    pub(crate) status: String,
    pub(crate) value: Option<f64>,
    pub(crate) seconds: Option<f64>,
    pub(crate) source: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

const TRIAL: &str = "SELECT trial.id, x, status, value, seconds, source, message, attempts,
    coalesce(stdout, '') AS stdout, coalesce(stderr, '') AS stderr
    FROM trial LEFT JOIN output ON output.id = trial.id";

impl Journal {
    fn meta(&self, key: &str) -> Result<Option<String>, Failure> {
        self.db
            .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
            .optional()
            .map_err(|error| self.trouble(&error))
    }

    /// What may not change; `None` before the study has begun.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, Failure> {
        let Some(text) = self.meta("identity")? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| self.damaged("identity", &error))
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
            let mut statement =
                self.db.prepare("SELECT id, x, value, run FROM trial WHERE told IS NOT NULL ORDER BY told")?;
            let evaluation = |row: &Row<'_>| {
                Ok(Evaluation {
                    id: TrialId(row.get::<_, i64>("id")? as u64),
                    x: point(row)?,
                    outcome: row.get::<_, Option<f64>>("value")?.map_or_else(Outcome::default, Outcome::from),
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

    fn trials(&self, query: &str) -> Result<Vec<Trial>, Failure> {
        let read = || -> rusqlite::Result<Vec<Trial>> {
            let mut statement = self.db.prepare(query)?;
            statement.query_map([], trial)?.collect()
        };
        read().map_err(|error| self.trouble(&error))
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
        seconds: row.get("seconds")?,
        source: row.get("source")?,
        message: row.get("message")?,
        attempts: row.get("attempts")?,
        stdout: row.get("stdout")?,
        stderr: row.get("stderr")?,
    })
}

fn point(row: &Row<'_>) -> rusqlite::Result<Vec<f64>> {
    let x: String = row.get("x")?;
    serde_json::from_str(&x)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error)))
}
