//! One writer at a time: an advisory lock that the operating system takes back when its holder dies.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::failure::Failure;

/// Held as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Takes the lock, waiting for other short commands at most `patience`. `purpose` tells others who holds it.
    pub(crate) fn take(path: &Path, purpose: &str, patience: Duration) -> Result<Lock, Failure> {
        let cannot = |error: &dyn std::fmt::Display| {
            Failure::run(format!(
                "cannot write {}: {error}; a study is kept beside its file, in a directory that can be written",
                path.display()
            ))
        };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(|error| cannot(&error))?;
        let give_up = Instant::now() + patience;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK) if Instant::now() < give_up => thread::sleep(Duration::from_millis(20)),
                Err(Errno::WOULDBLOCK) => return Err(in_use_by(&holder_of(&mut file))),
                Err(Errno::INTR) => {}
                Err(error) => return Err(cannot(&error)),
            }
        }
        // Only for the message of those who are refused: the lock itself does not depend on the text.
        let _ = file.set_len(0).and_then(|()| writeln!(file, "labcat {purpose} (process {})", std::process::id()));
        Ok(Lock(file))
    }
}

/// Who holds the lock, in words; `None` if nobody does.
pub(crate) fn holder(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => Some(holder_of(&mut file)),
        _ => None,
    }
}

/// Refuses as long as a run, which has the study to itself until it ends, holds the lock; one that ends within `patience` is waited for.
pub(crate) fn without_run(path: &Path, patience: Duration) -> Result<(), Failure> {
    let give_up = Instant::now() + patience;
    while let Some(run) =
        holder(path).filter(|holder| ["labcat run ", "labcat retry "].iter().any(|run| holder.starts_with(run)))
    {
        if Instant::now() >= give_up {
            return Err(in_use_by(&run));
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn holder_of(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.rewind().and_then(|()| file.take(200).read_to_string(&mut holder));
    match holder.trim() {
        "" => "another labcat process".to_owned(),
        holder => holder.to_owned(),
    }
}

fn in_use_by(holder: &str) -> Failure {
    Failure::run(format!(
        "the study is in use by {holder}: wait until it ends, or end it; `labcat status` works meanwhile"
    ))
}
