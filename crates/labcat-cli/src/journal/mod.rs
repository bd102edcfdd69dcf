//! The journal: one SQLite file that is the study's whole memory.
//!
//! Every change is one transaction in write-ahead-log mode with `synchronous = FULL`: once `commit` returns, it
//! survives a crash of the process and of the machine; before that, nothing of it is there.

mod lock;
mod read;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use crate::failure::Failure;
use crate::format::now;
use crate::paths::Paths;
use crate::study::Identity;
pub(crate) use lock::Lock;
pub(crate) use read::Trial;

/// Marks the file as ours ("lcat").
const APPLICATION_ID: i64 = 0x6c63_6174;
/// The version of the schema.
const VERSION: i64 = 1;

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    db: Connection,
    path: PathBuf,
}

/// One change of the study; several make up a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A suggestion was given out.
    Asked { id: u64, x: Vec<f64> },
    /// An evaluation ended.
    Told { id: u64, x: Vec<f64>, run: usize, result: Record },
    /// An evaluation failed and is to be tried again: it stays pending.
    Attempted { id: u64, result: Record },
    /// A pending suggestion will never be told.
    Cancelled { id: u64 },
    /// A value was corrected.
    Corrected { id: u64, was: Option<f64>, became: f64 },
    /// The trust region of a suggestion, as JSON.
    Step { at_evaluation: usize, region: String },
}

/// What is known of an evaluation besides its point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// `None`: it failed.
    pub(crate) value: Option<f64>,
    pub(crate) status: &'static str,
    pub(crate) source: &'static str,
    /// Why it failed.
    pub(crate) message: Option<String>,
    pub(crate) seconds: Option<f64>,
    pub(crate) attempts: u32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Journal {
    /// Opens the journal for writing, making it if it is not there.
    pub(crate) fn open_or_create(path: &Path) -> Result<Journal, Failure> {
        let fresh = !path.exists();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(|error| trouble(path, &error))?;
        let journal = Journal { db, path: path.to_owned() };
        journal.prepare().map_err(|error| trouble(path, &error))?;
        match journal.version()? {
            None if fresh || journal.is_empty()? => journal.create()?,
            None => return Err(journal.foreign()),
            Some(_) => {}
        }
        Ok(journal)
    }

    /// Opens an existing journal to look at it, also where nothing can be written, also while a run goes on.
    pub(crate) fn open(path: &Path) -> Result<Journal, Failure> {
        let immutable = format!("file:{}?immutable=1", percent_encoded(path));
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // Opening for writing first lets SQLite clear up what a killed run has left.
        let attempts = [
            Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX),
            Connection::open_with_flags(path, read_only),
            Connection::open_with_flags(immutable, read_only | OpenFlags::SQLITE_OPEN_URI),
        ];
        let mut failure = None;
        for attempt in attempts {
            let opened = attempt.and_then(|db| {
                db.busy_timeout(Duration::from_secs(10))?;
                db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
                Ok(db)
            });
            match opened {
                Ok(db) => {
                    let journal = Journal { db, path: path.to_owned() };
                    return match journal.version()? {
                        Some(_) => Ok(journal),
                        None => Err(journal.foreign()),
                    };
                }
                Err(error) => failure = failure.or(Some(trouble(path, &error))),
            }
        }
        Err(failure.unwrap_or_else(|| Failure::run(format!("cannot open {}", path.display()))))
    }

    /// The journal of a study to look at, and what the study is.
    pub(crate) fn of_begun_study(paths: &Paths) -> Result<(Journal, Identity), Failure> {
        if !paths.journal.exists() {
            return Err(paths.not_begun());
        }
        let journal = Journal::open(&paths.journal)?;
        let identity = journal.identity()?.ok_or_else(|| paths.not_begun())?;
        Ok((journal, identity))
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.db.busy_timeout(Duration::from_secs(10))?;
        self.db.pragma_update(None, "journal_mode", "WAL")?;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        self.db.pragma_update(None, "foreign_keys", true)
    }

    fn create(&self) -> Result<(), Failure> {
        let text = format!(
            "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {} COMMIT;",
            include_str!("schema.sql")
        );
        self.db.execute_batch(&text).map_err(|error| self.trouble(&error))
    }

    /// The version of the schema; `None` if the file is not ours.
    fn version(&self) -> Result<Option<i64>, Failure> {
        let pragma = |name: &str| {
            self.db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(|error| self.trouble(&error))
        };
        if pragma("application_id")? != APPLICATION_ID {
            return Ok(None);
        }
        match pragma("user_version")? {
            VERSION => Ok(Some(VERSION)),
            other => Err(Failure::run(format!(
                "{} was written by another version of labcat (format {other}, this one reads {VERSION}): use that version",
                self.path.display()
            ))),
        }
    }

    fn is_empty(&self) -> Result<bool, Failure> {
        let tables: i64 = self
            .db
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(|error| self.trouble(&error))?;
        Ok(tables == 0)
    }

    fn foreign(&self) -> Failure {
        Failure::usage(format!(
            "{} is a database of something else: rename the study, its journal has the same name and the ending .db",
            self.path.display()
        ))
    }

    fn trouble(&self, error: &rusqlite::Error) -> Failure {
        trouble(&self.path, error)
    }

    /// Writes what a new study begins with.
    pub(crate) fn begin(&mut self, name: &str, identity: &Identity, state: &str) -> Result<(), Failure> {
        let identity = serde_json::to_string(identity).map_err(|error| Failure::run(error.to_string()))?;
        let mut write = || {
            let transaction = self.db.transaction()?;
            for (key, value) in [("name", name), ("identity", &identity), ("created", &now().to_string())] {
                transaction.execute("INSERT INTO meta (key, value) VALUES (?1, ?2)", params![key, value])?;
            }
            transaction.execute("INSERT INTO state (one, json) VALUES (1, ?1)", [state])?;
            transaction.commit()
        };
        write().map_err(|error| trouble(&self.path, &error))
    }

    /// Makes the changes and the optimizer's state durable, all or nothing.
    pub(crate) fn commit(&mut self, changes: &[Change], state: &str) -> Result<(), Failure> {
        let mut write = || {
            let transaction = self.db.transaction()?;
            changes.iter().try_for_each(|change| apply(&transaction, change))?;
            transaction.prepare_cached("UPDATE state SET json = ?1")?.execute([state])?;
            transaction.commit()
        };
        write().map_err(|error| trouble(&self.path, &error))
    }
}

fn apply(db: &Connection, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Asked { id, x } => {
            db.prepare_cached("INSERT INTO trial (id, x, status, asked_at) VALUES (?1, ?2, 'pending', ?3)")?
                .execute(params![*id as i64, point(x), now() as i64])?;
        }
        Change::Told { id, x, run, result } => {
            db.prepare_cached(
                "INSERT INTO trial (id, x, status, value, seconds, source, message, attempts, told_at, run, told)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, (SELECT coalesce(max(told) + 1, 0) FROM trial))
                 ON CONFLICT (id) DO UPDATE SET status = excluded.status, value = excluded.value,
                     seconds = excluded.seconds, source = excluded.source, message = excluded.message,
                     attempts = excluded.attempts, told_at = excluded.told_at, run = excluded.run, told = excluded.told",
            )?
            .execute(params![
                *id as i64,
                point(x),
                result.status,
                result.value,
                result.seconds,
                result.source,
                result.message,
                result.attempts,
                now() as i64,
                *run as i64
            ])?;
            keep_output(db, *id, result)?;
        }
        Change::Attempted { id, result } => {
            db.prepare_cached("UPDATE trial SET message = ?2, attempts = attempts + ?3, seconds = ?4 WHERE id = ?1")?
                .execute(params![*id as i64, result.message, result.attempts, result.seconds])?;
            keep_output(db, *id, result)?;
        }
        Change::Cancelled { id } => {
            db.execute("UPDATE trial SET status = 'cancelled' WHERE id = ?1", [*id as i64])?;
        }
        Change::Corrected { id, was, became } => {
            db.execute(
                "INSERT INTO correction (id, was, became, at) VALUES (?1, ?2, ?3, ?4)",
                params![*id as i64, was, became, now() as i64],
            )?;
            db.execute(
                "UPDATE trial SET value = ?2, status = 'ok', message = NULL WHERE id = ?1",
                params![*id as i64, became],
            )?;
        }
        Change::Step { at_evaluation, region } => {
            db.prepare_cached("INSERT INTO step (at_evaluation, region) VALUES (?1, ?2)")?
                .execute(params![*at_evaluation as i64, region])?;
        }
    }
    Ok(())
}

fn keep_output(db: &Connection, id: u64, result: &Record) -> rusqlite::Result<()> {
    if result.stdout.is_empty() && result.stderr.is_empty() {
        return Ok(());
    }
    db.prepare_cached("INSERT OR REPLACE INTO output (id, stdout, stderr) VALUES (?1, ?2, ?3)")?.execute(params![
        id as i64,
        result.stdout,
        result.stderr
    ])?;
    Ok(())
}

/// A point as JSON that reads back exactly.
fn point(x: &[f64]) -> String {
    serde_json::json!(x).to_string()
}

/// A path as part of a URI.
fn percent_encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// What SQLite says, in words that tell the user what to do.
fn trouble(path: &Path, error: &rusqlite::Error) -> Failure {
    let path = path.display();
    let advice = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            "the disk is full or a file-size limit is reached; what was committed before is safe: make room and run the same command again"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "the directory or the file cannot be written; a study is kept beside its file, in a directory that can be written"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program holds it; end that program and try again"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "it is not a journal of labcat, or it is damaged: restore it from a copy, or rename it to begin anew"
        }
        _ => "the journal cannot be used",
    };
    Failure::run(format!("journal {path}: {error}: {advice}"))
}
