//! Complete copies of a journal, and replacing a journal by a copy.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;

use super::{Journal, beside, log, trouble};
use crate::failure::Failure;
use crate::format::part_of;

impl Journal {
    /// Writes a copy of the journal as it is at this moment, all or nothing, also while a run goes on. The copy is one file and has a
    /// name of its own in `mark`, so that no log is taken for its.
    pub(crate) fn copy_to(&self, file: &Path) -> Result<(), Failure> {
        let part = part_of(file);
        let cannot = |error: io::Error| Failure::unwritten(file, &error);
        File::create(&part).map_err(cannot)?;
        let written = self.write_copy(&part).map_err(|error| trouble(&part, &error));
        let named = written.and_then(|()| {
            File::open(&part).and_then(|copy| copy.sync_all()).and_then(|()| fs::rename(&part, file)).map_err(cannot)
        });
        named.inspect_err(|_| drop(fs::remove_file(&part)))
    }

    fn write_copy(&self, file: &Path) -> rusqlite::Result<()> {
        let mut copy = Connection::open(file)?;
        Backup::new(&self.db, &mut copy)?.run_to_completion(i32::MAX, Duration::from_millis(50), None)?;
        copy.pragma_update(None, "journal_mode", "DELETE")?;
        copy.execute("UPDATE mark SET previous = '', token = lower(hex(randomblob(16)))", [])?;
        copy.close().map_err(|(_, error)| error)
    }

    /// Refuses a file that is damaged.
    pub(crate) fn check_whole(&self) -> Result<(), Failure> {
        let said: String =
            self.db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).map_err(|error| self.trouble(&error))?;
        match said.as_str() {
            "ok" => Ok(()),
            _ => Err(Failure::run(format!("{} is damaged ({said}): name another copy", self.path.display()))),
        }
    }
}

/// Puts a copy of `source` in the place of the journal at `path`; what was there is kept under the name that is returned. Only for who
/// holds the study's lock.
pub(crate) fn replace(path: &Path, source: &Journal) -> Result<Option<PathBuf>, Failure> {
    let fresh = beside(path, ".restored");
    source.copy_to(&fresh)?;
    let placed = put_in_place(path, &fresh);
    placed.map_err(|error| {
        let _ = fs::remove_file(&fresh);
        Failure::run(format!("cannot replace {}: {error}", path.display()))
    })
}

/// At each moment the old journal is whole under one of its names, and the new one never has the log of the old one beside it.
fn put_in_place(path: &Path, fresh: &Path) -> io::Result<Option<PathBuf>> {
    let mut kept = None;
    if path.exists() {
        let place = log::free_name(|n| path.with_extension(format!("replaced-{n}.db")));
        fs::hard_link(path, &place).or_else(|_| fs::copy(path, &place).map(drop))?;
        kept = Some(place);
    }
    let old_log = beside(path, "-wal");
    match &kept {
        Some(place) if old_log.exists() => fs::rename(&old_log, beside(place, "-wal"))?,
        _ => drop(fs::remove_file(&old_log)),
    }
    let _ = fs::remove_file(beside(path, "-shm"));
    fs::rename(fresh, path)?;
    File::open(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(kept)
}
