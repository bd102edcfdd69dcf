//! The command line: every command, its arguments and its help.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::switches::Switches;

const OVERVIEW: &str = "\
Examples:
  labcat demo                              see it work
  labcat init -p x:-5:10 -p y:-5:10 -- python3 simulate.py --x={x} --y={y}
  labcat run study.toml                    start; the same command resumes
  labcat best study.toml                   the best point so far
  labcat report study.toml -o study.html   everything, as one page
  labcat serve study.toml                  the same, live in a browser

  labcat ask study.toml                    without a program: ask for a point,
  labcat tell study.toml 0 3.25            measure it, and tell its value

Exit status: 0 done; 1 the run failed; 2 wrong usage or an invalid study; 130 interrupted, resumable.";

/// Finds the best parameters of anything that is expensive to evaluate: a program, an instrument, an experiment.
#[derive(Debug, Parser)]
#[command(name = "labcat", version, after_help = OVERVIEW, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch labcat find the minimum of a built-in function
    Demo(Demo),
    /// Run a study: evaluate one suggestion after another; the same command resumes
    Run(Run),
    /// Share a study with other workers on this machine, one evaluation at a time
    Worker(Worker),
    /// Run failed evaluations again, once their cause is fixed
    Retry(Retry),
    /// Suggest the next points to measure
    Ask(Ask),
    /// Record the value of a suggested point
    Tell(Tell),
    /// Withdraw a suggested point that will not be measured
    Cancel(Cancel),
    /// Correct the value of an evaluation
    Correct(Correct),
    /// Queue a point of your own, to be evaluated next
    Enqueue(Enqueue),
    /// Attach a note to an evaluation
    Note(Note),
    /// Import earlier measurements
    Import(Import),
    /// Show the progress of a study and its failures, or one evaluation with its output
    Status(Status),
    /// Show the best evaluation
    Best(Best),
    /// Write all evaluations as CSV or JSON
    Export(Export),
    /// Write a report: one self-contained HTML page
    Report(Report),
    /// Show studies live in a browser, while they run
    Serve(Serve),
    /// Back up the journal of a study into one file, even during a run
    Backup(Backup),
    /// Restore the journal of a study from a backup
    Restore(Restore),
    /// Write a commented study for a command
    Init(Box<Init>),
    /// Check a study without running it
    Check(Check),
    /// Minimise a built-in function
    Minimize(Box<Minimize>),
    /// List the built-in functions, or evaluate one
    Functions(Functions),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page
    Man(Man),
    /// Explain a topic or a command; `labcat help` lists the topics
    Help(Help),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat demo
  labcat demo --function branin --seed 3")]
pub(crate) struct Demo {
    /// A function of `labcat functions` with two parameters
    #[arg(long, default_value = "rosenbrock", value_name = "NAME")]
    pub(crate) function: String,
    /// Number of evaluations
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) budget: usize,
    /// Seed: the same seed gives the same run
    #[arg(long, default_value_t = 1, value_name = "S", value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Where to write the report
    #[arg(short, long, default_value = "labcat-demo.html", value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat run study.toml                 start, or resume after an interruption
  labcat run study.toml --workers 4     four evaluations at a time
  labcat run study.toml --budget 300    continue up to 300 evaluations in total
  labcat run study.toml --json          print one JSON object per event

Ctrl-C ends the running evaluations; the study can be resumed at any time.")]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// Evaluations at a time, instead of the study's `workers`
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) workers: Option<usize>,
    /// Total number of evaluations, instead of the study's `budget`
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) budget: Option<usize>,
    /// Print one JSON object per event
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat worker study.toml &            one worker,
  labcat worker study.toml &            and another, at any time
  labcat status study.toml

If a worker dies, another one takes over its evaluation. Ctrl-C ends this worker's evaluation; the others continue.")]
pub(crate) struct Worker {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// Print one JSON object per evaluation of this worker
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat retry study.toml --failed      every failed evaluation
  labcat retry study.toml 12 13         these two

A success replaces the failure in the study. Retries do not count against the budget. If an evaluation fails again, the exit status is 1.")]
pub(crate) struct Retry {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The numbers of evaluations that have failed
    #[arg(value_name = "ID", conflicts_with = "failed", value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) ids: Vec<u64>,
    /// All evaluations that have failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Evaluations at a time, instead of the study's `workers`
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) workers: Option<usize>,
    /// Print one JSON object per event
    #[arg(long)]
    pub(crate) json: bool,
}

/// The study that a command works on.
#[derive(Debug, Args)]
pub(crate) struct StudyArg {
    /// The study: its .toml file, or the .db beside it
    #[arg(value_name = "STUDY")]
    pub(crate) path: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat ask study.toml          the next point, with its number
  labcat ask study.toml -n 4     four points to measure at the same time
  labcat tell study.toml 0 3.25

Days may pass before a value is known; `labcat status` lists pending points.")]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number of points
    #[arg(short, default_value_t = 1, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) n: usize,
    /// Print one JSON object per point
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat tell study.toml 12 3.25
  labcat tell study.toml 13 failed                no value
  labcat tell study.toml 14 3.25 --at x=72.9      measured at another point
  labcat tell study.toml 12 3.25 mass=4.5         with a result for a constraint
  labcat tell study.toml 12 3.25 --std 0.1 mass=4.5 mass_std=0.2
                                                  with the noise of both
  labcat tell study.toml 12 '{\"residuals\": [0.5, -0.2]}'
                                                  the residuals of a fit to data")]
pub(crate) struct Tell {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number that `labcat ask` gave
    #[arg(value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) id: u64,
    /// The value measured, `failed`, or an object as a command prints it
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: String,
    /// Results that the study's constraints need, and the standard deviation of their noise as NAME_std
    #[arg(value_name = "NAME=NUMBER")]
    pub(crate) results: Vec<String>,
    /// Standard deviation of the noise in the value, if it is known
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) std: Option<String>,
    /// Where it was actually measured; parameters that are not given keep their suggested values
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) at: Vec<String>,
    /// A note to keep
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  labcat enqueue study.toml x=0.5 solver=lu

The next `labcat ask` or `labcat run` takes this point. Once it is evaluated, a queued point counts like any other.")]
pub(crate) struct Enqueue {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// A value for each parameter
    #[arg(value_name = "NAME=VALUE", required = true)]
    pub(crate) point: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat note study.toml 12 \"new batch of acid\"
  labcat note study.toml 12 \"\"                   deletes the note

`labcat status STUDY ID`, `export --all` and `export --json` show it.")]
pub(crate) struct Note {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number of the evaluation
    #[arg(value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) id: u64,
    /// The note; it replaces an earlier one
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat help               the topics
  labcat help study         every key of a study file
  labcat help run           the options of a command")]
pub(crate) struct Help {
    /// A topic, or a command
    pub(crate) topic: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  labcat cancel study.toml 14")]
pub(crate) struct Cancel {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number that `labcat ask` gave
    #[arg(value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) id: u64,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat correct study.toml 12 0.325     the value of evaluation 12 was wrong
  labcat correct study.toml 13 failed    evaluation 13 should have no value")]
pub(crate) struct Correct {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number of the evaluation
    #[arg(value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) id: u64,
    /// The right value, or `failed`
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: String,
    /// Results that the study's constraints need; those not given stay as they were
    #[arg(value_name = "NAME=NUMBER")]
    pub(crate) results: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat import study.toml known.csv
  labcat import study.toml known.csv --skip-outside    a range was narrowed

The first line names the columns: each parameter, `value`, and the results that the study's constraints need. \
The columns `status` (`failed` marks a failure) and `std` are optional; other columns are ignored. \
Files of `labcat export` can be imported.

Rows that the study already has are skipped. If a row is wrong, the message names it, and nothing is imported.")]
pub(crate) struct Import {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The measurements
    #[arg(value_name = "DATA.csv")]
    pub(crate) data: PathBuf,
    /// Skip rows outside the study's ranges instead of refusing the file
    #[arg(long)]
    pub(crate) skip_outside: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat status study.toml        progress, best, pending points, failures
  labcat status study.toml 17     evaluation 17 with its output")]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The number of an evaluation
    #[arg(value_parser = evaluation, allow_negative_numbers = true)]
    pub(crate) id: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat best study.toml
  labcat best study.toml --json | jq .x")]
pub(crate) struct Best {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat export study.toml > evaluations.csv
  labcat export study.toml --json -o evaluations.json

CSV has one row per evaluation, in the order of the results. Its columns are
  id, each parameter, value, status, seconds
  std: with noise that evaluations gave
  feasible, each result, each constraint's violation: with measured constraints
  source, attempts, message, started, ended, host, exit, signal, directory,
  command, note: with --all")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// Comma-separated values (the default)
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// JSON, with all details of each evaluation
    #[arg(long)]
    pub(crate) json: bool,
    /// All columns: also when, where and how each command was run
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  labcat report study.toml -o study.html")]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The page to write; by default the study's name with the ending .html
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat serve study.toml                     http://127.0.0.1:8765/
  labcat serve runs/*.toml --port 9000        several studies, compared
  labcat serve study.toml --address 0.0.0.0   for everybody on the network
  labcat serve study.toml --api               programs ask and tell over HTTP

Nothing can be changed through the pages. `labcat help http` explains the calls of --api. Ctrl-C ends the server.")]
pub(crate) struct Serve {
    /// The studies: their .toml files, or the .db beside them
    #[arg(value_name = "STUDY", required = true)]
    pub(crate) studies: Vec<PathBuf>,
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_parser = address)]
    pub(crate) address: std::net::IpAddr,
    /// The port to listen on; 0 takes any free one
    #[arg(long, default_value_t = 8765, value_parser = port, allow_negative_numbers = true)]
    pub(crate) port: u16,
    /// Let programs ask for points and tell results, under /api
    #[arg(long)]
    pub(crate) api: bool,
    /// The token that programs must send to change a study, at least 16 characters [default: the environment variable LABCAT_TOKEN, or
    /// else a new token, which is printed]
    #[arg(long, value_name = "TOKEN", requires = "api")]
    pub(crate) token: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  labcat backup study.toml saved.db     at any time, even during a run

An older backup of the same name is replaced. `labcat restore study.toml saved.db` puts it back.")]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The file to write
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat restore study.toml saved.db
  labcat restore study.toml study.rescued-1.db

The replaced journal is kept as study.replaced-1.db. This is refused while a run or a worker is at work.")]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) study: StudyArg,
    /// The copy, made by `labcat backup` or saved by a run whose journal was deleted
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat init -p x:-5:10 -p rate:1e-6:1:log -- python3 train.py {x} {rate}
  labcat init bench.toml -p temperature:20:90 -p acid:0:1    for ask and tell
  labcat init -p k:0:1 --residuals out.csv:y:data.csv -- ./simulate {k}
  labcat init -p x:0:1 -p y:0:1 --constraint \"x + 2*y <= 1\" -- ./sim {x} {y}
  labcat init -p 'solver:sgd|adam' -p momentum:0:1 \\
    --when momentum:solver=sgd --workers 4 -- ./train {solver} {momentum}
  labcat init -p x:0:1 --template deck.in --link solver \\
    --value-file out.log --value-regex 'energy = (\\S+)' -- ./solver deck.in

A placeholder without -p gets the range 0 to 1, which you should edit. Then run labcat check study.toml")]
pub(crate) struct Init {
    /// The file to write
    #[arg(default_value = "study.toml", value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// A parameter and what it takes: `x:-5:10`; `rate:1e-6:1:log` if its order of magnitude matters; `volts:0:9:step=0.5` for the
    /// resolution of an instrument; `layers:1:8:int`; `solver:lu|qr|svd`; `shuffle:bool`
    #[arg(short, long = "parameter", value_name = "NAME:RANGE", allow_hyphen_values = true)]
    pub(crate) parameters: Vec<String>,
    /// A constraint on parameters, or on a measured result: `x + 2*y <= 1`, `mass <= 5`
    #[arg(long = "constraint", value_name = "FORMULA", allow_hyphen_values = true)]
    pub(crate) constraints: Vec<String>,
    /// A parameter that applies only if another has a certain value: `momentum:solver=sgd`; `|` separates several values
    #[arg(long = "when", value_name = "NAME:OTHER=VALUE")]
    pub(crate) conditions: Vec<String>,
    /// Fit a model to data: the file and column that the command writes, and the data file
    #[arg(long = "residuals", value_name = "FILE:COLUMN:DATA")]
    pub(crate) residuals: Vec<String>,
    /// Maximise the value instead of minimising it
    #[arg(long)]
    pub(crate) maximize: bool,
    /// Evaluations at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = positive, allow_negative_numbers = true)]
    pub(crate) workers: usize,
    /// Where the command runs; with {id} each evaluation has its own directory
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<String>,
    /// A file whose placeholders are filled for each evaluation, in a directory of its own
    #[arg(long = "template", value_name = "FILE")]
    pub(crate) templates: Vec<String>,
    /// A file that is copied into the directory of each evaluation
    #[arg(long = "copy", value_name = "FILE")]
    pub(crate) copies: Vec<String>,
    /// A file that is linked into the directory of each evaluation
    #[arg(long = "link", value_name = "FILE")]
    pub(crate) links: Vec<String>,
    /// The file that holds the value, instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) value_file: Option<String>,
    /// The value is the last match of this regular expression, or its first group
    #[arg(long, value_name = "REGEX", conflicts_with_all = ["value_json", "value_column"])]
    pub(crate) value_regex: Option<String>,
    /// The value is at this path of a JSON document
    #[arg(long, value_name = "PATH", conflicts_with = "value_column")]
    pub(crate) value_json: Option<String>,
    /// The value is in this column of a table, in its last row
    #[arg(long, value_name = "NAME")]
    pub(crate) value_column: Option<String>,
    /// Time limit of one evaluation: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME")]
    pub(crate) timeout: Option<String>,
    /// Number of evaluations [default: 200 per parameter]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) budget: Option<usize>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
    /// The command, with {name} where a parameter's value goes
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  labcat check study.toml && labcat run study.toml")]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) study: StudyArg,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat minimize --function rosenbrock --dim 5
  labcat minimize --function branin --preset paper --beta 0.5 --seed 7 --json
  labcat minimize --function levy --no-rotation --target 1e-8")]
pub(crate) struct Minimize {
    /// A function of `labcat functions`
    #[arg(long, value_name = "NAME")]
    pub(crate) function: String,
    /// Number of parameters [default: as many as the function is defined for, or 2]
    #[arg(long, value_name = "D", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) dim: Option<usize>,
    /// The preset that the options modify
    #[arg(long, default_value = "default", value_parser = ["default", "paper"])]
    pub(crate) preset: String,
    /// Stop after this time: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) switches: Switches,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat functions                   all of them
  labcat functions branin            one of them
  labcat functions branin -3.1 12.3  its value at a point")]
pub(crate) struct Functions {
    /// The name of one function
    pub(crate) name: Option<String>,
    /// A point to evaluate it at
    #[arg(allow_hyphen_values = true, value_parser = coordinate)]
    pub(crate) x: Vec<f64>,
    /// Print one JSON object per function
    #[arg(long, conflicts_with = "x")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat completions bash > ~/.local/share/bash-completion/completions/labcat
  labcat completions zsh > ~/.zfunc/_labcat
  labcat completions fish > ~/.config/fish/completions/labcat.fish")]
pub(crate) struct Completions {
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  labcat man | man -l -
  labcat man --directory ~/.local/share/man/man1     a page for every command")]
pub(crate) struct Man {
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// An integer of at least 1.
fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("it must be an integer of at least 1".to_owned()),
    }
}

/// A seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it must be an integer from 0 to {}", u64::MAX))
}

/// The number of an evaluation.
fn evaluation(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        "it must be the number of an evaluation, such as 12; `labcat status STUDY` lists pending ones".to_owned()
    })
}

/// An address of this machine.
fn address(text: &str) -> Result<std::net::IpAddr, String> {
    text.parse().map_err(|_| "it must be the number of an address, such as 127.0.0.1, 0.0.0.0 or ::1".to_owned())
}

/// A port.
fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("it must be an integer from 0 to {}", u16::MAX))
}

/// A coordinate of a point.
fn coordinate(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as -3.1 or 1e-5".to_owned())
}

/// The same error with what was probably meant or is allowed: clap itself does not see that `rnu` is `run`, and does not list options.
pub(crate) fn with_suggestion(error: clap::Error) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => with_options(error),
        _ => with_command(error),
    }
}

/// The most options that a message lists.
const FEW: usize = 8;

/// An unknown option, with those that there are instead of the advice to take it for a value.
fn with_options(mut error: clap::Error) -> clap::Error {
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let name = usage.split_whitespace().nth(2).unwrap_or_default();
    let mut command = Cli::command();
    command.build();
    let Some(command) = command.find_subcommand(name) else { return error };
    error.remove(ContextKind::Suggested);
    if command.get_positionals().any(clap::Arg::is_last_set) {
        let said = format!("a command and its arguments stand behind --, as in: labcat {name} -- ./simulate --x={{x}}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![said.into()]));
        return error;
    }
    let names = command.get_arguments().filter_map(clap::Arg::get_long).filter(|name| *name != "help");
    let options: Vec<String> = names.map(|name| format!("--{name}")).collect();
    let is_option =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(given)) if given.starts_with('-'));
    if is_option && error.get(ContextKind::SuggestedArg).is_none() && options.len() <= FEW {
        let said = match &options[..] {
            [] => format!("`labcat {name}` has no options"),
            _ => format!("the options of `labcat {name}` are {}", options.join(", ")),
        };
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![said.into()]));
    }
    error
}

fn with_command(mut error: clap::Error) -> clap::Error {
    let given = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(given)) if error.get(ContextKind::SuggestedSubcommand).is_none() => given.clone(),
        _ => return error,
    };
    let command = Cli::command();
    let distance = |name: &str| strsim::osa_distance(&given, name);
    let nearest = command.get_subcommands().map(clap::Command::get_name).min_by_key(|name| distance(name));
    if let Some(name) = nearest.filter(|name| distance(name) <= 2 && distance(name) < given.chars().count()) {
        let suggestion = ContextValue::Strings(vec![name.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, suggestion);
    }
    error
}
