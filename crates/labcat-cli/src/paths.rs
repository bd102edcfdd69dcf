//! The files of a study: `STUDY.toml`, and beside it `STUDY.db` (its journal) and `STUDY.db-lock`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::format::word;

/// Where the files of a study are.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    pub(crate) study: PathBuf,
    pub(crate) journal: PathBuf,
    pub(crate) lock: PathBuf,
    /// The user named the journal, not the study file.
    by_journal: bool,
}

impl Paths {
    /// From what the user named: the study file or the journal beside it.
    pub(crate) fn of(named: &Path) -> Paths {
        let by_journal = named.extension().is_some_and(|extension| extension == "db");
        let (study, journal) = match by_journal {
            true => (named.with_extension("toml"), named.to_owned()),
            false => (named.to_owned(), named.with_extension("db")),
        };
        let lock = journal.with_extension("db-lock");
        Paths { study, journal, lock, by_journal }
    }

    /// The study file, if the journal does not have to do without it.
    pub(crate) fn study_file(&self) -> Result<Option<&Path>, Failure> {
        if self.study.exists() {
            return Ok(Some(&self.study));
        }
        match self.by_journal && self.journal.exists() {
            true => Ok(None),
            false => Err(self.no_such_study()),
        }
    }

    /// The study as the user named it.
    pub(crate) fn named(&self) -> &Path {
        if self.by_journal { &self.journal } else { &self.study }
    }

    /// The study has been named wrongly.
    pub(crate) fn no_such_study(&self) -> Failure {
        Failure::usage(format!(
            "there is no study {}: name an existing STUDY.toml or STUDY.db; `labcat init` writes a new one",
            self.named().display()
        ))
    }

    /// The study exists and has no journal yet.
    pub(crate) fn not_begun(&self) -> Failure {
        if !self.study.exists() {
            return self.no_such_study();
        }
        Failure::run(format!(
            "the study {} has not begun, there is nothing to show: `labcat run {1}` or `labcat ask {1}` begins it",
            self.study.display(),
            word(&self.study)
        ))
    }

    /// The study as a word of commands that people copy.
    pub(crate) fn word(&self) -> String {
        word(self.named())
    }
}

/// Opens a regular file to read it. A pipe or a device in its place is an error, and nobody waits for it.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::CLOEXEC).bits() as i32;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Refuses to write a page or an export over a study, its files or another one's, by whatever name or link they are reached.
pub(crate) fn check_output(paths: &Paths, output: &Path) -> Result<(), Failure> {
    check_own(paths, output)?;
    match is_database(output) {
        false => Ok(()),
        true => Err(Failure::usage(format!(
            "{} is the journal of a study or another database and would be written over: name another file",
            output.display()
        ))),
    }
}

/// Refuses to write over a study or the files of this one.
pub(crate) fn check_own(paths: &Paths, output: &Path) -> Result<(), Failure> {
    let refuse = |what: &str| {
        Err(Failure::usage(format!("{} is {what} and would be written over: name another file", output.display())))
    };
    let Ok(found) = fs::metadata(output) else {
        let named = |path: &Path| output.file_name() == path.file_name() && same_directory(output, path);
        return match [&paths.study, &paths.journal, &paths.lock].into_iter().any(|path| named(path)) {
            true => refuse("a file of the study"),
            false => Ok(()),
        };
    };
    let is = |path: &Path| fs::metadata(path).is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()));
    if is(&paths.study) {
        return refuse("the study itself");
    }
    if is(&paths.journal) {
        return refuse("the study's own journal");
    }
    if is(&paths.lock) {
        return refuse("a file of the study");
    }
    if output.extension().is_some_and(|extension| extension == "toml") {
        return refuse("a study or another TOML file");
    }
    Ok(())
}

/// Whether a file begins as every SQLite database does.
pub(crate) fn is_database(path: &Path) -> bool {
    let mut beginning = [0; 16];
    let read = open_regular(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut beginning));
    read.is_ok() && &beginning == b"SQLite format 3\0"
}

fn same_directory(one: &Path, other: &Path) -> bool {
    let directory = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        parent.canonicalize().ok()
    };
    directory(one).is_some() && directory(one) == directory(other)
}
