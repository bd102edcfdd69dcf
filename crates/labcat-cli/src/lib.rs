//! The `labcat` command line: optimise any program, and never lose an evaluation.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod best;
mod cli;
mod commands;
mod expected;
mod failure;
mod fit;
mod format;
mod functions;
mod journal;
mod paths;
mod process;
mod report;
mod run;
mod serve;
mod session;
mod step;
mod study;
mod switches;
mod value;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use cli::{Cli, Command};
use failure::Failure;

/// Runs a command line, the program's name first, and gives the exit status. What cannot be parsed is said, and exits at once.
pub fn main(args: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = Cli::try_parse_from(args).unwrap_or_else(|error| cli::with_suggestion(error).exit());
    let status = match dispatch(&cli.command) {
        Ok(()) => 0,
        Err(failure) => {
            if !failure.message.is_empty() {
                let heading = if failure.is_error() { "error: " } else { "" };
                format::complain(&format!("{heading}{failure}"));
            }
            failure.status
        }
    };
    drop(std::io::stdout().flush()); // inside another program nobody else does
    status
}

fn dispatch(command: &Command) -> Result<(), Failure> {
    process::ignore_file_size_signal().map_err(|error| Failure::run(format!("cannot set up signals: {error}")))?;
    match command {
        Command::Demo(args) => commands::demo::demo(args),
        Command::Run(args) => run::run(args),
        Command::Worker(args) => run::worker(args),
        Command::Retry(args) => run::retry(args),
        Command::Ask(args) => commands::bench::ask(args),
        Command::Tell(args) => commands::bench::tell(args),
        Command::Cancel(args) => commands::bench::cancel(args),
        Command::Correct(args) => commands::bench::correct(args),
        Command::Enqueue(args) => commands::bench::enqueue(args),
        Command::Note(args) => commands::bench::note(args),
        Command::Help(args) => commands::manual::help(args),
        Command::Import(args) => commands::import::import(args),
        Command::Status(args) => commands::show::status(args),
        Command::Best(args) => commands::show::best(args),
        Command::Export(args) => commands::export::export(args),
        Command::Report(args) => commands::report::report(args),
        Command::Backup(args) => commands::backup::backup(args),
        Command::Restore(args) => commands::backup::restore(args),
        Command::Serve(args) => serve::serve(args),
        Command::Init(args) => commands::init::init(args),
        Command::Check(args) => commands::init::check(args),
        Command::Minimize(args) => commands::minimize::minimize(args),
        Command::Functions(args) => commands::functions::functions(args),
        Command::Completions(args) => commands::manual::completions(args),
        Command::Man(args) => commands::manual::man(args),
    }
}
