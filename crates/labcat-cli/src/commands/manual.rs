//! `completions` and `man`, made from the definition of the command line.

use std::io::{Write, stdout};

use clap::CommandFactory;

use crate::cli::{self, Cli};
use crate::failure::Failure;

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
