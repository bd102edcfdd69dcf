//! The directory of an evaluation: files copied and linked, templates filled.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::paths::open_regular;
use crate::study::template::Template;
use crate::study::{Deck, Objective, Problem};

/// The largest template, in bytes.
const LARGEST_TEMPLATE: u64 = 64 * 1024 * 1024;

/// A template of the study, read.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// From the evaluation's directory.
    to: Template,
    pub(super) text: Template,
}

impl Sheet {
    /// The file of an evaluation and what it holds.
    pub(super) fn filled(&self, directory: &Path, id: u64, values: &[String]) -> (PathBuf, String) {
        (directory.join(self.to.fill(id, values)), self.text.fill(id, values))
    }
}

/// Reads the templates that a study names.
pub(super) fn read(objective: &Objective, names: &[String], study: &Path) -> Result<Vec<Sheet>, Failure> {
    objective.decks.iter().map(|deck| sheet(deck, &objective.base, names, study)).collect()
}

fn sheet(deck: &Deck, base: &Path, names: &[String], study: &Path) -> Result<Sheet, Failure> {
    let from = base.join(&deck.from);
    let text = whole_text(&from).map_err(|error| {
        let message = format!("the template {} cannot be read: {error}", from.display());
        Failure::study(study, &[Problem { line: deck.line, message }])
    })?;
    let mut whole = Template::default();
    let mut problems = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        match Template::parse_marked(line, names, &deck.marks) {
            Ok(template) => whole.append(template),
            Err(message) => problems.push(Problem { line: index + 1, message }),
        }
    }
    match problems.is_empty() {
        true => Ok(Sheet { to: deck.to.clone(), text: whole }),
        false => Err(Failure::study(&from, &problems)),
    }
}

/// The text of a regular file of a size that can be filled for each evaluation.
fn whole_text(file: &Path) -> io::Result<String> {
    let file = open_regular(file)?;
    if file.metadata()?.len() > LARGEST_TEMPLATE {
        return Err(io::Error::other(format!("it is larger than {} MiB", LARGEST_TEMPLATE / (1024 * 1024))));
    }
    let mut text = String::new();
    file.take(LARGEST_TEMPLATE).read_to_string(&mut text)?;
    Ok(text)
}

/// Makes the directory of an evaluation ready for its command. What the study does not name is left as it is.
pub(super) fn directory(
    objective: &Objective,
    sheets: &[Sheet],
    directory: &Path,
    id: u64,
    values: &[String],
) -> Result<(), String> {
    if !objective.directory.is_constant() {
        fs::create_dir_all(directory)
            .map_err(|error| format!("cannot make the directory {}: {error}", directory.display()))?;
    }
    for (files, bring) in [(&objective.copy, copy as fn(&Path, &Path) -> io::Result<()>), (&objective.link, link)] {
        for file in files {
            let from = objective.base.join(file.get_ref());
            let Some(name) = from.file_name() else { continue };
            let to = directory.join(name);
            bring(&from, &to)
                .map_err(|error| format!("cannot copy or link {} to {}: {error}", from.display(), to.display()))?;
        }
    }
    for sheet in sheets {
        let (file, text) = sheet.filled(directory, id, values);
        write(&file, &text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    Ok(())
}

/// Writes a file, and makes the directory it is in. A link that stands in its place is replaced, not followed.
pub(super) fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = file.parent() {
        fs::create_dir_all(directory)?;
    }
    clear(file)?;
    fs::write(file, text)
}

/// Removes what an earlier attempt left in the place of a file: it may be a link, a pipe, or not to be written to.
fn clear(file: &Path) -> io::Result<()> {
    match file.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        true => fs::remove_file(file),
        false => Ok(()),
    }
}

/// Copies a file, or a directory with everything in it; links inside it stay links.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let within = to.parent().and_then(|parent| parent.canonicalize().ok());
    if within.is_some_and(|within| from.canonicalize().is_ok_and(|from| from.is_dir() && within.starts_with(from))) {
        return Err(io::Error::other("a directory cannot be copied into itself"));
    }
    copy_all(from, to)
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        open_regular(from)?;
        clear(to)?;
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_symlink() {
            true => {
                clear(&to)?;
                symlink(fs::read_link(entry.path())?, to)?;
            }
            false => copy_all(&entry.path(), &to)?,
        }
    }
    Ok(())
}

/// Links to a file or a directory.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    let from = from.canonicalize()?;
    clear(to)?;
    symlink(from, to)
}
