//! The journal: one SQLite file with the whole state of a study.
//!
//! Every change is one transaction in write-ahead-log mode with `synchronous = FULL`: once `commit` returns, it
//! survives a crash of the process and of the machine; before that, none of it is visible. [`Journal::settle`] moves
//! the log into the file, so that the file alone is a complete copy.

mod claim;
mod copy;
mod lock;
mod log;
mod read;
mod record;
mod write;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};

use crate::failure::Failure;
use crate::format::{complain, now, word};
use crate::paths::Paths;
use crate::study::Identity;
pub(crate) use claim::{Claim, Head, Left, claimed, left, running};
pub(crate) use copy::replace;
pub(crate) use lock::{Lock, holder, in_use_by, is_run, without_run};
pub(crate) use record::{CORRECTED_TO_FAILURE, Change, Correction, Execution, InHand, Job, Record, Trial};

/// Marks the file as ours ("lcat").
const APPLICATION_ID: i64 = 0x6c63_6174;
/// What each version of the schema adds to the one before.
const SCHEMA: [&str; 6] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/job.sql"),
    include_str!("schema/mark.sql"),
    include_str!("schema/residuals.sql"),
];
/// The newest version of the schema.
const VERSION: usize = SCHEMA.len();
/// How long another program may hold the journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    db: Connection,
    path: PathBuf,
    /// The file that was opened and its log, by device and number.
    files: [Option<(u64, u64)>; 2],
    /// Something was committed and not yet brought into the file itself.
    unsettled: bool,
    /// The name of the newest transaction that this process knows.
    token: String,
}

impl Journal {
    /// Opens the journal for writing, making it if it is not there. One of an older version becomes one of this.
    pub(crate) fn open_or_create(path: &Path) -> Result<Journal, Failure> {
        Journal::open_to_write(path, OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens a journal for writing that must be there.
    pub(crate) fn open_existing(path: &Path) -> Result<Journal, Failure> {
        match path.exists() {
            true => Journal::open_to_write(path, OpenFlags::empty()),
            false => Err(Failure::run(format!("the journal {} is gone", path.display()))),
        }
    }

    fn open_to_write(path: &Path, create: OpenFlags) -> Result<Journal, Failure> {
        if log::is_foreign(path) {
            log::set_aside(path)?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | create;
        let db = Connection::open_with_flags(path, flags).map_err(|error| trouble(path, &error))?;
        let mut journal = Journal::of(db, path);
        journal.unsettled = true;
        journal.prepare().map_err(|error| trouble(path, &error))?;
        match journal.version()? {
            None if journal.is_empty()? => journal.upgrade(0)?,
            None => return Err(journal.foreign()),
            Some(VERSION) => {}
            Some(older) => journal.upgrade(older)?,
        }
        journal.token = journal.newest_token().map_err(|error| journal.trouble(&error))?;
        journal.settle()?;
        journal.files = journal.numbers();
        Ok(journal)
    }

    fn of(db: Connection, path: &Path) -> Journal {
        Journal { db, path: path.to_owned(), files: [None; 2], unsettled: false, token: String::new() }
    }

    fn newest_token(&self) -> rusqlite::Result<String> {
        self.db.query_row("SELECT token FROM mark", [], |row| row.get(0))
    }

    /// Opens an existing journal to look at it, also where nothing can be written, also while a run goes on. One of an
    /// older version is read as it is, through a copy in memory that has this version.
    pub(crate) fn open(path: &Path) -> Result<Journal, Failure> {
        let mut journal = Journal::open_as_it_is(path)?;
        match journal.version()? {
            Some(VERSION) => Ok(journal),
            Some(older) => {
                let copied = journal.copied_to_memory().map_err(|error| journal.trouble(&error))?;
                journal.db = copied;
                journal.upgrade(older)?;
                Ok(journal)
            }
            None if journal.is_empty()? => Err(Failure::run(format!(
                "{} is empty: no study was started in it, or it was copied while its {}-wal was left behind; \
                 copy both, or name another",
                path.display(),
                path.display()
            ))),
            None => Err(journal.foreign()),
        }
    }

    fn open_as_it_is(path: &Path) -> Result<Journal, Failure> {
        let immutable = format!("file:{}?immutable=1", percent_encoded(path));
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let attempt = |number: usize| match number {
            // Opening for writing first lets SQLite clear up what a killed run has left.
            0 => Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX),
            1 => Connection::open_with_flags(path, read_only),
            _ => Connection::open_with_flags(&immutable, read_only | OpenFlags::SQLITE_OPEN_URI),
        };
        let foreign = log::is_foreign(path);
        let mut failure = None;
        for number in if foreign { 2..3 } else { 0..3 } {
            let opened = attempt(number).and_then(|db| {
                db.busy_timeout(PATIENCE)?;
                db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
                Ok(db)
            });
            match opened {
                Ok(db) => {
                    let log = path.display();
                    if foreign {
                        complain(&format!("warning: {log}-wal is the log of another journal, it is not read"));
                    } else if number == 2 && fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0) {
                        complain(&format!(
                            "warning: {log}-wal cannot be read in this place; what was written last may be missing"
                        ));
                    }
                    return Ok(Journal::of(db, path));
                }
                Err(error) => failure = failure.or(Some(trouble(path, &error))),
            }
        }
        Err(failure.unwrap_or_else(|| Failure::run(format!("cannot open {}", path.display()))))
    }

    fn copied_to_memory(&self) -> rusqlite::Result<Connection> {
        let mut memory = Connection::open_in_memory()?;
        Backup::new(&self.db, &mut memory)?.run_to_completion(1000, Duration::ZERO, None)?;
        Ok(memory)
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
        self.db.busy_timeout(PATIENCE)?;
        self.db.pragma_update(None, "journal_mode", "WAL")?;
        self.db.pragma_update(None, "synchronous", "FULL")?;
        self.db.pragma_update(None, "foreign_keys", true)
    }

    /// Brings the schema from an older version (0: an empty file) to this one, in one transaction, which has a name as every other.
    fn upgrade(&self, from: usize) -> Result<(), Failure> {
        let text = format!(
            "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION}; {} \
             UPDATE mark SET previous = token, token = lower(hex(randomblob(16))); COMMIT;",
            SCHEMA[from..].concat()
        );
        self.db.execute_batch(&text).map_err(|error| self.trouble(&error))
    }

    /// The version of the schema; `None` if the file is not ours.
    fn version(&self) -> Result<Option<usize>, Failure> {
        let pragma = |name: &str| {
            self.db.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(|error| self.trouble(&error))
        };
        if pragma("application_id")? != APPLICATION_ID {
            return Ok(None);
        }
        match usize::try_from(pragma("user_version")?) {
            Ok(version @ 1..=VERSION) => Ok(Some(version)),
            other => Err(Failure::run(format!(
                "{} was written by another version of labcat (format {}, this one reads 1 to {VERSION}): use that version",
                self.path.display(),
                other.unwrap_or(0)
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
            "{} is a database of another program: rename the study, because its journal has the same name with the ending .db",
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
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (key, value) in [("name", name), ("identity", &identity), ("created", &now().to_string())] {
                transaction.execute("INSERT INTO meta (key, value) VALUES (?1, ?2)", params![key, value])?;
            }
            transaction.execute("INSERT INTO state (one, json) VALUES (1, ?1)", [state])?;
            transaction.commit()
        };
        write().map_err(|error| trouble(&self.path, &error))?;
        self.unsettled = true;
        self.settle()
    }

    /// Makes the changes and the optimizer's state durable, all or nothing.
    pub(crate) fn commit(&mut self, changes: &[Change], state: &str) -> Result<(), Failure> {
        let known = self.token.clone();
        let mut write = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let Some(token) = write::mark(&transaction, &known)? else { return Ok(None) };
            changes.iter().try_for_each(|change| write::apply(&transaction, change))?;
            transaction.prepare_cached("UPDATE state SET json = ?1")?.execute([state])?;
            transaction.commit()?;
            Ok(Some(token))
        };
        match write().map_err(|error| trouble(&self.path, &error))? {
            Some(token) => self.token = token,
            None => return Err(self.changed_by_others()),
        }
        self.unsettled = true;
        self.check_present()
    }

    fn changed_by_others(&self) -> Failure {
        Failure::run(format!(
            "another process has changed {}, although this one had its lock: do not delete {}-lock while something runs, \
             and keep the study on a disk of this machine; nothing was written over, run the same command again",
            self.path.display(),
            self.path.display()
        ))
    }

    /// Brings what was committed into the file itself and empties the log, as far as nobody is reading what was before.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.unsettled) {
            self.unsettled = !self.emptied().map_err(|error| self.trouble(&error))?;
        }
        Ok(())
    }

    /// Whether the log could be emptied. Nobody is waited for.
    fn emptied(&self) -> rusqlite::Result<bool> {
        self.db.busy_timeout(Duration::ZERO)?;
        let done = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        self.db.busy_timeout(PATIENCE)?;
        Ok(done? == 0)
    }

    fn numbers(&self) -> [Option<(u64, u64)>; 2] {
        [number_of(&self.path), number_of(&beside(&self.path, "-wal"))]
    }

    /// Whether the file that is written is still the one that others find. If not, what it holds is saved.
    pub(crate) fn check_present(&self) -> Result<(), Failure> {
        if self.files == self.numbers() {
            return Ok(());
        }
        let path = self.path.display();
        let rescued = log::free_name(|n| self.path.with_extension(format!("rescued-{n}.db")));
        let advice = match self.copy_to(&rescued) {
            Ok(()) => {
                self.remove_own_log();
                let (study, rescued) = (word(&self.path.with_extension("toml")), rescued.display());
                format!("what it held is in {rescued}: `labcat restore {study} {rescued}` puts that back")
            }
            Err(failure) => format!("what it held could not be saved: {failure}"),
        };
        Err(Failure::run(format!(
            "the journal {path} or its log {path}-wal was deleted or replaced while the study ran; {advice}"
        )))
    }

    /// Removes the log of a file that is no longer there, so that nothing takes it for its own.
    fn remove_own_log(&self) {
        let log = beside(&self.path, "-wal");
        if number_of(&self.path) != self.files[0] && number_of(&log) == self.files[1] {
            let _ = fs::remove_file(log);
            let _ = fs::remove_file(beside(&self.path, "-shm"));
        }
    }
}

/// Device and number of a file, by which it is known whatever its name.
fn number_of(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// The path with something added to its end.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
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
            "it is not a journal of labcat, or it is damaged: restore it from a copy, or rename it to start again"
        }
        _ => "the journal cannot be used",
    };
    Failure::run(format!("journal {path}: {error}: {advice}"))
}
