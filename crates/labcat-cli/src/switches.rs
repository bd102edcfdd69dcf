//! The core's options on the command line: `--beta 0.5`, `--no-rotation`.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use labcat::{Config, ConfigError, Kind, SWITCHES, Switch};

/// Options that are not offered: a built-in function has its direction, and no constraints.
const NOT_OFFERED: [&str; 2] = ["direction", "constraints"];

/// The options given, by name and text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switches(Vec<(&'static str, String)>);

impl Switches {
    /// Sets all of them.
    pub(crate) fn apply(&self, config: &mut Config) -> Result<(), ConfigError> {
        self.0.iter().try_for_each(|(name, value)| config.set(name, value))
    }

    fn read(matches: &ArgMatches) -> Switches {
        let mut given = Vec::new();
        for switch in offered() {
            if is_flag(switch) {
                if matches.get_flag(switch.name) {
                    given.push((switch.name, "true".to_owned()));
                }
                if matches.get_flag(&negated(switch)) {
                    given.push((switch.name, "false".to_owned()));
                }
            } else if let Some(value) = matches.get_one::<String>(switch.name) {
                given.push((switch.name, value.clone()));
            }
        }
        Switches(given)
    }
}

fn offered() -> impl Iterator<Item = &'static Switch> {
    SWITCHES.iter().filter(|switch| !NOT_OFFERED.contains(&switch.name))
}

fn is_flag(switch: &Switch) -> bool {
    switch.kind == Kind::Flag
}

fn dashed(switch: &Switch) -> String {
    switch.name.replace('_', "-")
}

fn negated(switch: &Switch) -> String {
    format!("no-{}", dashed(switch))
}

impl Args for Switches {
    fn augment_args(mut command: Command) -> Command {
        for switch in offered() {
            command = command.next_help_heading(format!("Options: {}", switch.group.to_lowercase()));
            if is_flag(switch) {
                let flag = Arg::new(switch.name).action(ArgAction::SetTrue).overrides_with(negated(switch));
                let no = Arg::new(negated(switch)).action(ArgAction::SetTrue).overrides_with(switch.name);
                command = command
                    .arg(flag.long(dashed(switch)).help(sentence(switch.help)))
                    .arg(no.long(negated(switch)).help(format!("Turn off: {}", switch.help)));
            } else {
                let help = format!("{}: {}", sentence(switch.help), switch.allowed());
                command = command.arg(
                    Arg::new(switch.name).long(dashed(switch)).value_name("V").allow_hyphen_values(true).help(help),
                );
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Switches {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Switches::read(matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Switches::read(matches);
        Ok(())
    }
}

/// The text with its first letter large.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
