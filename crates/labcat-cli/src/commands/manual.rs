//! `completions`, `man` and `help`, made from the definition of the command line and from the manual.

use std::io::{Write, stdout};

use clap::CommandFactory;

use super::markdown::plain;
use crate::cli::{self, Cli};
use crate::failure::Failure;
use crate::study::nearest;

/// The manual, docs/cli.md; the link to it makes it part of the package.
const MANUAL: &str = include_str!("../../manual.md");

/// The topics, each with the heading of its chapter.
const TOPICS: [(&str, &str); 17] = [
    ("start", "A first study"),
    ("study", "The study file"),
    ("placeholders", "Placeholders"),
    ("value", "The value"),
    ("constraints", "Constraints"),
    ("noise", "Noise"),
    ("fits", "Fits to data"),
    ("simulators", "Simulators as they are"),
    ("failures", "Failures"),
    ("running", "Running and resuming"),
    ("workers", "Several processes"),
    ("slurm", "On a cluster"),
    ("editing", "Editing a study"),
    ("bench", "At the lab bench"),
    ("looking", "Looking at a study"),
    ("http", "Programs in other languages"),
    ("journal", "The journal"),
];

/// Explains a topic or a command.
pub(crate) fn help(args: &cli::Help) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let Some(topic) = &args.topic else {
        writeln!(out, "labcat help TOPIC explains one of these topics:")?;
        for (topic, heading) in TOPICS {
            writeln!(out, "  {topic:<14} {heading}")?;
        }
        writeln!(
            out,
            "labcat help COMMAND, or labcat COMMAND --help, explains a command; labcat --help lists the commands"
        )?;
        return Ok(());
    };
    if let Some((_, heading)) = TOPICS.iter().find(|(name, _)| name == topic) {
        write!(out, "{}", plain(chapter(heading), width()))?;
        return Ok(());
    }
    let mut command = Cli::command();
    command.build();
    if let Some(command) = command.find_subcommand_mut(topic) {
        write!(out, "{}", command.render_long_help())?;
        return Ok(());
    }
    let topics: Vec<&str> = TOPICS.iter().map(|(topic, _)| *topic).collect();
    let commands: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let guess = nearest(topic, &[&topics[..], &commands[..]].concat());
    let guess = guess.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
    Err(Failure::usage(format!(
        "there is no topic or command {topic:?}{guess}: the topics are {}; `labcat --help` lists the commands",
        topics.join(", ")
    )))
}

/// The chapter of the manual with a heading.
fn chapter(heading: &str) -> &'static str {
    let Some(at) = MANUAL.find(&format!("\n## {heading}\n")) else { return "" };
    let text = &MANUAL[at + 1..];
    text[1..].find("\n## ").map_or(text, |end| &text[..end + 1])
}

/// How wide text may be: as wide as the terminal, but no wider than can be read.
fn width() -> usize {
    const MOST: usize = 100;
    rustix::termios::tcgetwinsize(stdout()).map_or(MOST, |size| usize::from(size.ws_col).clamp(30, MOST))
}

/// Prints the completions of a shell.
pub(crate) fn completions(args: &cli::Completions) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "labcat", &mut text);
    stdout().write_all(&text)?;
    Ok(())
}

/// Prints the manual page, or writes those of all commands.
pub(crate) fn man(args: &cli::Man) -> Result<(), Failure> {
    match &args.directory {
        Some(directory) => {
            let cannot = |error| Failure::run(format!("cannot write manual pages to {}: {error}", directory.display()));
            std::fs::create_dir_all(directory).map_err(cannot)?;
            clap_mangen::generate_to(Cli::command(), directory).map_err(cannot)
        }
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text)?;
            stdout().write_all(&text)?;
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_its_chapter() {
        for (topic, heading) in TOPICS {
            let text = chapter(heading);
            assert!(text.starts_with(&format!("## {heading}\n")) && text.len() > 100, "{topic}");
            assert!(!text[1..].contains("\n## "), "{topic}: one chapter only");
        }
    }

    #[test]
    fn every_chapter_has_a_topic() {
        let told_by_a_command = ["Built-in functions", "Exit status"];
        for heading in MANUAL.lines().filter_map(|line| line.strip_prefix("## ")) {
            let is_topic = TOPICS.iter().any(|(_, chapter)| *chapter == heading);
            assert!(is_topic || told_by_a_command.contains(&heading), "{heading} has no topic");
        }
    }
}
