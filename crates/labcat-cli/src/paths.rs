//! The files of a study: `STUDY.toml`, and beside it `STUDY.db` (its journal) and `STUDY.db-lock`.

use std::path::{Path, PathBuf};

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

    /// The study has been named wrongly.
    pub(crate) fn no_such_study(&self) -> Failure {
        let named = if self.by_journal { &self.journal } else { &self.study };
        Failure::usage(format!(
            "there is no study {}: name an existing STUDY.toml or STUDY.db; `labcat init` writes a new one",
            named.display()
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
        word(if self.by_journal { &self.journal } else { &self.study })
    }
}
