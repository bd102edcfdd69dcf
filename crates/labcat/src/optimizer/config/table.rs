//! The table of options. Each row defines a field, its values in the presets, its range, its parsing and check, its place in a saved state, the
//! option of the command line and the keyword of Python.

use super::value::{ANY, Kind, Noise, POSITIVE, Range, Value, above, below, from};
use super::{ConfigError, Preset, Scope};
use crate::acquisition::AcquisitionKind;
use crate::gp::kernel::KernelKind;
use crate::gp::likelihood::Curvature;
use crate::names::in_words;
use crate::observations::Direction;

/// An option: one row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Name, as in [`Config`], in Python and (with dashes) on the command line.
    pub name: &'static str,
    /// The part of the algorithm that it belongs to.
    pub group: &'static str,
    /// What kind of value it takes.
    pub kind: Kind,
    /// Whether it also takes `none`.
    pub optional: bool,
    /// Range of a number.
    pub range: Range,
    /// What it does.
    pub help: &'static str,
}

impl Switch {
    /// The values it takes, in words.
    pub fn allowed(&self) -> String {
        let mut words = match self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Whole => format!("an integer{}", self.range.words()),
            Kind::Number if self.range == ANY => "a finite number".to_owned(),
            Kind::Number => format!("a number{}", self.range.words()),
            Kind::Choice(names) => in_words(names),
            Kind::NumberOr(names) => format!("{}, or a number{}", names.join(", "), self.range.words()),
        };
        if self.optional {
            words += ", or none";
        }
        words
    }

    /// The option of a name.
    pub(super) fn named(name: &str) -> Result<&'static Self, ConfigError> {
        SWITCHES.iter().find(|s| s.name == name).ok_or_else(|| ConfigError::UnknownSwitch { name: name.into() })
    }
}

/// Rows: `name: type where range, value in paper [=> value in default], help;`
macro_rules! switches {
    (@or $first:expr) => { $first };
    (@or $first:expr, $second:expr) => { $second };
    ($($group:literal {
        $($name:ident: $type:ty $(where $range:expr)?, $paper:expr $(=> $default:expr)?, $help:literal;)+
    })+) => {
        /// Everything that can be chosen about an optimizer. Start from [`Config::new`] and change fields, or name options with
        /// [`Config::set`]; [`SWITCHES`] describes them.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize),
            serde(deny_unknown_fields, default = "Config::before_there_was_a_choice")
        )]
        #[non_exhaustive]
        pub struct Config {
            /// The preset these values started from.
            pub preset: Preset,
            $($(#[doc = concat!($help, ".")] pub $name: $type,)+)+
        }

        impl Config {
            /// The values of a preset.
            pub fn new(preset: Preset) -> Self {
                match preset {
                    Preset::Paper => Self { preset, $($($name: $paper,)+)+ },
                    Preset::Default => Self { preset, $($($name: switches!(@or $paper $(, $default)?),)+)+ },
                }
            }

            /// What a saved state that does not name an option meant: the behaviour from before it existed.
            #[cfg(feature = "serde")]
            fn before_there_was_a_choice() -> Self {
                Self { preset: Preset::Default, ..Self::new(Preset::Paper) }
            }

            /// Sets an option by its name from text: `set("beta", "0.5")`, `set("prior_sigma", "none")`, `set("rotation", "false")`.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
                let switch = Switch::named(name)?;
                let unreadable =
                    || ConfigError::Unreadable { switch: switch.name, value: value.into(), allowed: switch.allowed() };
                match name {
                    $($(stringify!($name) => self.$name = Value::read(value).ok_or_else(unreadable)?,)+)+
                    _ => return Err(ConfigError::UnknownSwitch { name: name.into() }),
                }
                Ok(())
            }

            /// The value of an option, as text that [`Config::set`] takes.
            pub fn get(&self, name: &str) -> Result<String, ConfigError> {
                match name {
                    $($(stringify!($name) => Ok(self.$name.show()),)+)+
                    _ => Err(ConfigError::UnknownSwitch { name: name.into() }),
                }
            }

            /// Holds every number against its range.
            pub(super) fn check_ranges(&self) -> Result<(), ConfigError> {
                $($(self.check_range(stringify!($name), self.$name.number())?;)+)+
                Ok(())
            }
        }

        /// Every option.
        pub const SWITCHES: &[Switch] = &[$($(Switch {
            name: stringify!($name),
            group: $group,
            kind: <$type as Value>::KIND,
            optional: <$type as Value>::OPTIONAL,
            range: switches!(@or ANY $(, $range)?),
            help: $help,
        },)+)+];
    };
}

const INF: f64 = f64::INFINITY;

switches! {
    "Run" {
        direction: Direction, Direction::Minimize, "which way is better";
        constraints: usize where from(0.0, 1000.0), 0, "how many constraints each evaluation measures, satisfied when g <= 0";
        seed: u64 where from(0.0, u64::MAX as f64), 0, "the same seed gives the same suggestions";
    }
    "Stopping" {
        budget: Option<usize> where from(1.0, INF), None, "stop after this many evaluations";
        target: Option<f64>, None, "stop once a value is at least this good";
        tolerance: Option<f64> where from(0.0, INF), None, "end a local run when its outputs differ by no more than this";
        precision: f64 where below(0.0, 1.0), 0.0 => 1e-10,
            "end a local run when its outputs differ by no more than this fraction of their widest spread (0: rounding)";
    }
    "Search" {
        search: Scope, Scope::Local, "whether local runs are alone (local), or take turns with a model of the whole box (global)";
    }
    "Design" {
        initial_points: Option<usize> where from(2.0, 1e6), None,
            "evaluations before the model starts (none: 2 d + 1 in paper, d + 1, at least 4, in default)";
        centre_first: bool, false => true, "evaluate the middle of the box first";
    }
    "Frame" {
        rotation: bool, true, "rotate the frame to the weighted principal components";
        match_axes: bool, false => true, "keep new principal axes next to the old ones they resemble";
        warp: bool, false => true, "warp heavy-tailed outputs logarithmically";
    }
    "Noise" {
        noise: Noise where from(0.0, INF), Noise::None,
            "noise in the values: auto (detected and estimated), none, or its standard deviation in units of the objective";
    }
    "Model" {
        kernel: KernelKind, KernelKind::SquaredExponential, "covariance function of the model";
        signal: f64 where POSITIVE, 1.0, "signal standard deviation, as a multiple of the standard deviation of the outputs";
        nugget: f64 where from(0.0, 1.0), 1e-6, "standard deviation of the nugget, on normalised outputs";
        prior_sigma: Option<f64> where POSITIVE, Some(0.1), "standard deviation of the prior on ln length-scale (none: uniform)";
        newton_steps: usize where from(0.0, 1000.0), 1, "length-scale steps per suggestion";
        curvature: Option<Curvature>, Some(Curvature::Exact) => None,
            "second derivatives of the likelihood for Newton's step (none: exact for d <= 2, average_information above)";
        length_scale_cap: Option<f64> where above(1.0, 1e6), None => Some(4.0),
            "no length-scale changes by more than this factor in a step (none: no limit)";
    }
    "Trust region" {
        beta: Option<f64> where POSITIVE, None, "half the side of the trust region, in length-scales (none: 1/d within [0.1, 1])";
        cache_factor: f64 where from(1.0, 1000.0), 7.0, "observations per dimension that the model keeps";
        adapt_beta: bool, false => true, "widen the trust region after successes, up to a length-scale, and narrow it after failures";
    }
    "Acquisition" {
        acquisition: AcquisitionKind, AcquisitionKind::ExpectedImprovement => AcquisitionKind::LogExpectedImprovement,
            "the acquisition function, which rates candidates";
        optimism: f64 where above(0.0, 1e6), 1.0 => 1.5,
            "factor on the model's standard deviation in the acquisition function";
        candidates: Option<usize> where from(1.0, 1e6), None, "samples of the acquisition function per suggestion (none: 10 d)";
        near: f64 where from(0.0, 1.0), 0.0 => 0.5, "share of the samples that are drawn near the best point, at all scales";
        refine: usize where from(0.0, 1e4), 0 => 20, "gradient steps on the acquisition function from the best candidate";
    }
    "Polynomial regression" {
        quadratic: bool, false => true,
            "try the minimum of a linear or quadratic regression once it predicts far better than the model";
        nearby: bool, false => true,
            "with quadratic: also try, from time to time, the minimum of a quadratic regression of the nearest observations";
        quartic: bool, false => true,
            "with quadratic: also try the minimum of a polynomial of degree four, if it predicts well";
    }
    "Restarts" {
        restarts: bool, true, "start another local run when one has converged";
        keep_best: bool, false, "the best point so far replaces one point of a restart's design";
        restart_design: f64 where from(1.0, 100.0), 1.0 => 2.0, "size of a restart's design, as a multiple of the first one";
        explore: bool, false => true,
            "every other local run is an exploration run: a wide trust region, a smoother model, more optimism";
        give_up: Option<f64> where POSITIVE, None => Some(3.0),
            "give up a run if its best value is behind the best of all runs by more than this many times its range (none: never)";
    }
}
