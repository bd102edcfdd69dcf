//! `backup` and `restore`: whole copies of a study's journal.

use std::io::Write;
use std::time::Duration;

use crate::cli;
use crate::failure::Failure;
use crate::format::{count, people};
use crate::journal::{Journal, Lock, in_use_by, replace, running};
use crate::paths::{Paths, check_own, is_database};
use crate::process::end_orphans;
use crate::session::changed;
use crate::study::Study;

/// How long a restore waits for short commands that have the study.
const PATIENCE: Duration = Duration::from_secs(2);

/// Copies the journal into one file, also while a run goes on.
pub(crate) fn backup(args: &cli::Backup) -> Result<(), Failure> {
    let (paths, file) = (Paths::of(&args.study.path), &args.file);
    check_own(&paths, file)?;
    if file.exists() && !is_database(file) {
        return Err(Failure::usage(format!("{} exists and is not a journal: choose another file", file.display())));
    }
    let (journal, _) = Journal::of_begun_study(&paths)?;
    journal.copy_to(file)?;
    let told = Journal::open(file)?.told()?.len();
    writeln!(people(), "{}: {}", file.display(), count(told, "evaluation"))?;
    Ok(())
}

/// Puts a copy in the place of the journal; what was there is kept.
pub(crate) fn restore(args: &cli::Restore) -> Result<(), Failure> {
    let (paths, file) = (Paths::of(&args.study.path), &args.file);
    // After the loss of all files of a study its journal can be restored by its own name.
    if paths.named() == paths.study && !paths.study.exists() {
        return Err(paths.no_such_study());
    }
    if !file.exists() {
        return Err(Failure::usage(format!(
            "there is no file {}: name a copy made by `labcat backup`",
            file.display()
        )));
    }
    check_own(&paths, file)?;
    if !is_database(file) {
        return Err(Failure::usage(format!(
            "{} is not a journal of labcat: name a copy made by `labcat backup`",
            file.display()
        )));
    }
    let source = Journal::open(file)?;
    source.check_whole()?;
    let identity = source.identity()?.ok_or_else(|| {
        Failure::usage(format!("{} holds no study that was begun: name another copy", file.display()))
    })?;
    if paths.study.exists()
        && let Some(difference) = Study::load(&paths.study)?.identity().difference(&identity)
    {
        return Err(changed(&paths.study, &difference));
    }
    let _lock = Lock::take(&paths.lock, "restore", PATIENCE)?;
    if let Some(holder) = running(&paths.journal) {
        return Err(in_use_by(&holder));
    }
    // What a killed process has left running belongs to evaluations that the copy may not know.
    end_orphans(&paths.journal, None);
    let kept = replace(&paths.journal, &source)?;
    let mut out = people();
    let told = count(source.told()?.len(), "evaluation");
    writeln!(out, "{} is {} again: {told}", paths.journal.display(), file.display())?;
    if let Some(kept) = kept {
        writeln!(out, "what was there before is kept as {}", kept.display())?;
    }
    Ok(())
}
