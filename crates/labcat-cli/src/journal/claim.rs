//! What worker processes have in hand: for each evaluation a file that its worker keeps locked. The operating system lets the lock go
//! when the worker dies, however it dies. Claims are taken and given back only by who holds the study's own lock.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::failure::Failure;

/// An evaluation in this process's hands, as long as it lives.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    _file: File,
}

impl Claim {
    /// Takes an evaluation that nobody has; waits for those that only look.
    pub(crate) fn take(journal: &Path, id: u64) -> Result<Claim, Failure> {
        let path = file(journal, id);
        let cannot = |error: &dyn std::fmt::Display| Failure::run(format!("cannot lock {}: {error}", path.display()));
        let opened = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let opened = opened.map_err(|error| cannot(&error))?;
        flock(&opened, FlockOperation::LockExclusive).map_err(|error| cannot(&error))?;
        Ok(Claim { path, _file: opened })
    }

    /// It was told, or is nobody's any more.
    pub(crate) fn release(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The evaluations that living workers have in hand.
pub(crate) fn claimed(journal: &Path) -> Vec<u64> {
    let mut living: Vec<u64> = files(journal).into_iter().filter(|id| is_held(journal, *id)).collect();
    living.sort_unstable();
    living
}

/// Removes what workers that died have left: of an evaluation in hand, or of one that was just told.
pub(crate) fn clear_claims(journal: &Path) {
    let left = files(journal).into_iter().filter(|id| !is_held(journal, *id));
    left.for_each(|id| drop(fs::remove_file(file(journal, id))));
}

fn is_held(journal: &Path, id: u64) -> bool {
    let shared = File::open(file(journal, id)).map(|claim| flock(&claim, FlockOperation::NonBlockingLockShared));
    matches!(shared, Ok(Err(Errno::WOULDBLOCK)))
}

fn file(journal: &Path, id: u64) -> PathBuf {
    journal.with_extension(format!("db-worker-{id}"))
}

/// The numbers for which there is such a file.
fn files(journal: &Path) -> Vec<u64> {
    let directory = journal.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: PathBuf| path.extension()?.to_str()?.strip_prefix("db-worker-")?.parse::<u64>().ok();
    names.filter(|path| path.file_stem() == journal.file_stem()).filter_map(number).collect()
}
