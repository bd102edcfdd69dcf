//! Running evaluations: each has a file beside the journal (`STUDY.db-evaluation-ID`) that its process keeps locked. The operating
//! system releases the lock when the process dies, for whatever reason.
//!
//! The file says which point of which study is evaluated. A result that cannot be stored in the journal is written into it, in space that was
//! reserved when the evaluation began; the next run or worker reads it. Only a process that holds the study's own lock takes or
//! releases claims.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::log::free_name;
use super::record::{Kept, Record};
use crate::failure::Failure;
use crate::format::complain;
use crate::paths::open_regular;

/// What stands between the journal's name and the number of the evaluation.
const ENDING: &str = "db-evaluation-";
/// Room that an evaluation reserves for its result, in bytes: a full disk shall not cost what was measured.
const RESERVED: usize = 16 * 1024;

/// Which point of which study is in hand, and whose.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) study: String,
    pub(crate) id: u64,
    pub(crate) x: Vec<f64>,
    /// `labcat run (process 12)`.
    pub(crate) by: String,
}

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    #[serde(flatten)]
    head: Head,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Kept>,
}

/// An evaluation in this process's hands, as long as it lives.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    file: File,
    head: Head,
}

impl Claim {
    /// Takes an evaluation that nobody has; waits for those that only look.
    pub(crate) fn take(journal: &Path, head: Head) -> Result<Claim, Failure> {
        let path = file(journal, head.id);
        let take = || -> io::Result<Claim> {
            let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).custom_flags(flags).open(&path)?;
            flock(&file, FlockOperation::LockExclusive)?;
            let mut claim = Claim { path: path.clone(), file, head };
            claim.write(None)?;
            Ok(claim)
        };
        take().map_err(|error| {
            let _ = fs::remove_file(&path);
            Failure::run(format!("cannot write {}: {error}; what was told before is safe", path.display()))
        })
    }

    /// Writes a result into the file, which stays; `again` if the evaluation had failed before.
    pub(crate) fn keep(&mut self, record: &Record, again: bool) -> io::Result<&Path> {
        self.write(Some(Kept::of(record, again)))?;
        self.file.sync_all()?;
        Ok(&self.path)
    }

    /// Writes the whole file, filled with blanks: a result that comes later takes the place of blanks and needs no new room.
    fn write(&mut self, result: Option<Kept>) -> io::Result<()> {
        let text = serde_json::to_string(&Content { head: self.head.clone(), result })?;
        self.file.rewind()?;
        self.file.write_all(format!("{text:<RESERVED$}\n").as_bytes())
    }

    /// It was told, or is nobody's any more.
    pub(crate) fn release(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// What a process has left that is gone: a result that was not told, or nothing.
#[derive(Debug)]
pub(crate) struct Left {
    path: PathBuf,
    pub(crate) id: u64,
    pub(crate) result: Option<(Head, Kept)>,
}

impl Left {
    /// It was told, or is not needed.
    pub(crate) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// It cannot be told: it gets a name under which nobody looks for it.
    pub(crate) fn set_aside(self, why: &str) {
        let place = free_name(|n| self.path.with_extension(format!("{ENDING}{}.other-{n}", self.id)));
        let kept = match fs::rename(&self.path, &place) {
            Ok(()) => place,
            Err(_) => self.path,
        };
        complain(&format!(
            "warning: the result of evaluation {} {why}: it is not used, and kept in {}",
            self.id,
            kept.display()
        ));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The evaluations that living processes have in hand.
pub(crate) fn claimed(journal: &Path) -> Vec<u64> {
    let mut living: Vec<u64> = files(journal).into_iter().filter(|id| is_held(journal, *id)).collect();
    living.sort_unstable();
    living
}

/// A living process that has an evaluation in hand: `labcat run (process 12)`.
pub(crate) fn running(journal: &Path) -> Option<String> {
    let id = claimed(journal).into_iter().next()?;
    Some(content(&file(journal, id)).map_or_else(|| "another labcat process".to_owned(), |content| content.head.by))
}

/// What processes have left that are gone.
pub(crate) fn left(journal: &Path) -> Vec<Left> {
    let dead = files(journal).into_iter().filter(|id| !is_held(journal, *id));
    let of = |id| {
        let path = file(journal, id);
        let result = content(&path).and_then(|content| Some((content.head, content.result?)));
        Left { path, id, result }
    };
    dead.map(of).collect()
}

fn content(path: &Path) -> Option<Content> {
    serde_json::from_reader(io::BufReader::new(open_regular(path).ok()?)).ok()
}

fn is_held(journal: &Path, id: u64) -> bool {
    let shared = open_regular(&file(journal, id)).map(|claim| flock(&claim, FlockOperation::NonBlockingLockShared));
    matches!(shared, Ok(Err(Errno::WOULDBLOCK)))
}

fn file(journal: &Path, id: u64) -> PathBuf {
    journal.with_extension(format!("{ENDING}{id}"))
}

/// The numbers for which there is such a file.
fn files(journal: &Path) -> Vec<u64> {
    let directory = journal.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: PathBuf| path.extension()?.to_str()?.strip_prefix(ENDING)?.parse::<u64>().ok();
    names.filter(|path| path.file_stem() == journal.file_stem()).filter_map(number).collect()
}
