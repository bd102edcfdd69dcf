//! The log beside a journal (`STUDY.db-wal`), and whether it belongs to that journal.
//!
//! SQLite applies any log that it finds beside a file, even the log of a journal that was replaced by a copy. Therefore
//! each transaction has a name (the table `mark`) and stores the name of the one before it. A log belongs to a journal if it contains the
//! newest name in the journal's file.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{beside, percent_encoded};
use crate::failure::Failure;
use crate::format::complain;

/// Lengths of the parts of a log, in bytes.
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// How often a log is looked at before it is called another's: a run may be writing both files at this moment.
const LOOKS: u32 = 4;
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// Whether the log beside a journal is that of another file. If it cannot be told, it is not.
pub(super) fn is_foreign(path: &Path) -> bool {
    for look in 0..LOOKS {
        if look > 0 {
            thread::sleep(BETWEEN_LOOKS);
        }
        if !looks_foreign(path) {
            return false;
        }
    }
    true
}

fn looks_foreign(path: &Path) -> bool {
    let Ok(log) = fs::read(beside(path, "-wal")) else { return false };
    let valid = valid_part(&log);
    if valid.is_empty() {
        return false;
    }
    let Some(token) = token_in_file(path) else { return false };
    !valid.windows(token.len()).any(|part| part == token.as_bytes())
}

/// The frames that SQLite would take in: those with the salt of the log's header.
fn valid_part(log: &[u8]) -> &[u8] {
    let Some(header) = log.get(..HEADER) else { return &[] };
    let page = u32::from_be_bytes([header[8], header[9], header[10], header[11]]) as usize;
    let salt = &header[16..24];
    let frame = FRAME_HEADER + if page == 1 { 65536 } else { page };
    let frames = log[HEADER..].chunks_exact(frame).take_while(|frame| &frame[8..16] == salt).count();
    &log[HEADER..HEADER + frames * frame]
}

/// The newest name in the file itself, whatever its log says.
fn token_in_file(path: &Path) -> Option<String> {
    let name = format!("file:{}?immutable=1", percent_encoded(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(name, flags).ok()?;
    db.query_row("SELECT token FROM mark", [], |row| row.get(0)).ok()
}

/// Puts the log of another file out of the way. Only for who holds the study's lock.
pub(super) fn set_aside(path: &Path) -> Result<(), Failure> {
    let (log, place) = (beside(path, "-wal"), free_name(|n| beside(path, &format!("-wal.other-{n}"))));
    let cannot =
        |error| Failure::run(format!("{} is the log of another journal; cannot move it: {error}", log.display()));
    fs::rename(&log, &place).map_err(cannot)?;
    let _ = fs::remove_file(beside(path, "-shm"));
    complain(&format!(
        "warning: {} was the log of another journal than the {} that is there now: it is not used, and kept as {}",
        log.display(),
        path.display(),
        place.display()
    ));
    Ok(())
}

/// The first numbered name that does not exist yet.
pub(super) fn free_name(name: impl Fn(usize) -> PathBuf) -> PathBuf {
    let mut number = 1;
    while name(number).symlink_metadata().is_ok() {
        number += 1;
    }
    name(number)
}
