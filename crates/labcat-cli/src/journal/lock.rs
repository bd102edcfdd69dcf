//! One writer at a time: an advisory lock that the operating system takes back when its holder dies.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::failure::Failure;

/// What the text in a lock file of ours begins with.
const OURS: &str = "labcat ";

/// The lock is held as long as this value lives.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Takes the lock, waiting for other short commands at most `patience`. `purpose` tells others who holds it.
    pub(crate) fn take(path: &Path, purpose: &str, patience: Duration) -> Result<Lock, Failure> {
        Lock::attempt(path, purpose, patience)?.map_err(|holder| in_use_by(&holder))
    }

    /// As [`Lock::take`]; the inner error names who holds it.
    pub(crate) fn attempt(path: &Path, purpose: &str, patience: Duration) -> Result<Result<Lock, String>, Failure> {
        let give_up = Instant::now() + patience;
        loop {
            let mut file = open(path, true).map_err(|error| cannot(path, &error))?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // The file may have been deleted between opening and locking it: then others lock another one.
                Ok(()) if !is_at(&file, path) => continue,
                Ok(()) => {
                    let text = format!("{OURS}{purpose} (process {})\n", std::process::id());
                    // Only for the message of those who are refused: the lock itself does not depend on the text. The file is
                    // never empty on the way: others look whether it is ours.
                    let written = file.rewind().and_then(|()| file.write_all(text.as_bytes()));
                    let _ = written.and_then(|()| file.set_len(text.len() as u64));
                    return Ok(Ok(Lock(file)));
                }
                Err(Errno::WOULDBLOCK) if Instant::now() < give_up => thread::sleep(Duration::from_millis(20)),
                Err(Errno::WOULDBLOCK) => return Ok(Err(holder_of(&mut file))),
                Err(Errno::INTR) => {}
                Err(error) => return Err(cannot(path, &error)),
            }
        }
    }
}

/// Opens a lock file. No link is followed, nothing is waited for, and a file that is not ours is refused.
fn open(path: &Path, write: bool) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let mut options = File::options();
    options.read(true).write(write).create(write).truncate(false).custom_flags(flags);
    let not_ours = || io::Error::other("it is not a lock of labcat; remove it, or rename the study");
    let mut file =
        options.open(path).map_err(|error| match error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            true => not_ours(),
            false => error,
        })?;
    let mut beginning = String::new();
    if !file.metadata()?.is_file() {
        return Err(not_ours());
    }
    (&mut file).take(OURS.len() as u64).read_to_string(&mut beginning).map_err(|_| not_ours())?;
    match OURS.starts_with(&beginning) {
        true => Ok(file),
        false => Err(not_ours()),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let number = |found: &fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata(), fs::symlink_metadata(path)), (Ok(open), Ok(named)) if number(&open) == number(&named))
}

fn cannot(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::run(format!(
        "cannot write {}: {error}; a study is kept beside its file, in a directory that can be written",
        path.display()
    ))
}

/// Who holds the lock, in words; `None` if nobody does.
pub(crate) fn holder(path: &Path) -> Option<String> {
    let mut file = open(path, false).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(holder_of(&mut file)),
        _ => None,
    }
}

/// Refuses as long as a run, which has the study to itself until it ends, holds the lock; one that ends within `patience` is waited for.
pub(crate) fn without_run(path: &Path, patience: Duration) -> Result<(), Failure> {
    let give_up = Instant::now() + patience;
    while let Some(run) = holder(path).filter(|holder| is_run(holder)) {
        if Instant::now() >= give_up {
            return Err(in_use_by(&run));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Whether a holder has the study to itself until it ends.
pub(crate) fn is_run(holder: &str) -> bool {
    ["labcat run ", "labcat retry "].iter().any(|run| holder.starts_with(run))
}

fn holder_of(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.take(200).read_to_string(&mut holder));
    match holder.trim() {
        "" => "another labcat process".to_owned(),
        holder => holder.to_owned(),
    }
}

/// The study cannot be changed now.
pub(crate) fn in_use_by(holder: &str) -> Failure {
    Failure::run(format!(
        "the study is in use by {holder}: wait until it ends, or end it; `labcat status` works meanwhile"
    ))
}
