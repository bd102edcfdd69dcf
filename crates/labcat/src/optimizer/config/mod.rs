//! Presets and options. Plain data without counters, clocks or random numbers.

mod table;
mod value;

pub use table::{Config, SWITCHES, Switch};
pub use value::{Kind, Noise, Range};

use crate::acquisition::maximise::Search;
use crate::domain::Domain;
use crate::frame::AxisOrder;
use crate::gp::likelihood::Curvature;
use crate::length_scale::Ascent;
use crate::math;
use crate::names::{UnknownName, unknown};
use crate::trust_region::TrustRegion;
use strum::VariantNames;

/// A set of values for every option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = ConfigError, parse_err_fn = no_preset)]
pub enum Preset {
    /// The algorithm as published.
    Paper,
    /// What we recommend: everything that measured better.
    #[default]
    Default,
}

fn no_preset(text: &str) -> ConfigError {
    ConfigError::Unreadable { switch: "preset", value: text.into(), allowed: Preset::VARIANTS.join(" or ") }
}

/// How widely is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum Scope {
    /// Local runs, one after the other.
    #[default]
    Local,
    /// Local runs and a model of the whole box in turn.
    Global,
}

/// Above this dimension β may shrink to this share of what the configuration says.
const MANY_DIMENSIONS: usize = 20;
const LEAST_SHARE: f64 = 0.03;
/// Observations that the model of a finite space keeps, if there are as many.
const FINITE_KEEP: u64 = 150;

impl Config {
    /// β for `d` dimensions: 1/d kept within [0.1, 1] unless given.
    pub fn beta_for(&self, d: usize) -> f64 {
        self.beta.unwrap_or((1.0 / d as f64).clamp(0.1, 1.0))
    }

    /// Evaluations before the model starts: 2 d + 1 (`paper`) or d + 1, at least four (`default`), unless given.
    pub fn initial_points_for(&self, d: usize) -> usize {
        self.initial_points.unwrap_or(match self.preset {
            Preset::Paper => 2 * d + 1,
            Preset::Default => (d + 1).max(4),
        })
    }

    /// Samples of the acquisition function: 10 d unless given.
    pub fn candidates_for(&self, d: usize) -> usize {
        self.candidates.unwrap_or(10 * d)
    }

    fn check_range(&self, name: &'static str, value: Option<f64>) -> Result<(), ConfigError> {
        let switch = Switch::named(name)?;
        match value {
            Some(value) if !switch.range.contains(value) => {
                Err(ConfigError::OutOfRange { switch: name, value, allowed: switch.allowed() })
            }
            _ => Ok(()),
        }
    }

    /// The settings for a domain: those for as many dimensions as it has parameters to choose, with a model that keeps as many
    /// observations as the box has coordinates to learn.
    pub(crate) fn check_for(&self, domain: &Domain) -> Result<Settings, ConfigError> {
        let mut settings = self.check(domain.free_parameters())?;
        settings.region.keep = (self.cache_factor * domain.dim() as f64).ceil() as usize;
        if let Some(all) = domain.configurations() {
            settings.region.keep = settings.region.keep.max(all.min(FINITE_KEEP) as usize);
        }
        Ok(settings)
    }

    /// The settings for `d` dimensions, if every option has a value that makes sense: only they reach an optimizer.
    pub(crate) fn check(&self, d: usize) -> Result<Settings, ConfigError> {
        self.check_ranges()?;
        let beta = self.beta_for(d);
        let candidates = self.candidates_for(d);
        let order = if self.match_axes { AxisOrder::Matched } else { AxisOrder::Sorted };
        Ok(Settings {
            initial_points: self.initial_points_for(d),
            rotation: self.rotation.then_some(order),
            ascent: Ascent {
                steps: self.newton_steps,
                curvature: self.curvature.unwrap_or(match d {
                    ..=2 => Curvature::Exact,
                    _ => Curvature::AverageInformation,
                }),
                longest: self.length_scale_cap.map_or(f64::INFINITY, math::ln),
            },
            // In few dimensions the length-scales shrink the region; in many they learn too slowly, and β has to.
            beta_least: beta * if d <= MANY_DIMENSIONS { 1.0 } else { LEAST_SHARE },
            region: TrustRegion { beta, keep: (self.cache_factor * d as f64).ceil() as usize },
            search: Search {
                beta,
                candidates,
                near: (self.near * candidates as f64).round() as usize,
                refinements: self.refine,
            },
            budget: self.budget.unwrap_or(usize::MAX),
            target: self.target.map(|t| self.direction.orient(t)),
            switches: self.clone(),
        })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new(Preset::Default)
    }
}

/// A checked configuration, and what follows from it for a number of dimensions.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) switches: Config,
    pub(crate) initial_points: usize,
    /// `None`: the frame is never rotated.
    pub(crate) rotation: Option<AxisOrder>,
    pub(crate) ascent: Ascent,
    /// With `adapt_beta`, the smallest β of a run that does not explore.
    pub(crate) beta_least: f64,
    pub(crate) region: TrustRegion,
    pub(crate) search: Search,
    pub(crate) budget: usize,
    /// Oriented: smaller is better.
    pub(crate) target: Option<f64>,
}

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum ConfigError {
    /// There is no option of this name.
    #[error("there is no option {name:?}{}", hint(.name))]
    UnknownSwitch { name: String },
    /// The text is not a value of the option.
    #[error("{switch} = {} is not allowed: it must be {allowed}", quoted(.value))]
    Unreadable { switch: &'static str, value: String, allowed: String },
    /// The value is outside the option's range.
    #[error("{switch} = {value} is not allowed: it must be {allowed}")]
    OutOfRange { switch: &'static str, value: f64, allowed: String },
}

/// A text in quotes, unless it is a number.
fn quoted(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_owned() } else { format!("{value:?}") }
}

/// The option that was probably meant, or all of them.
fn hint(name: &str) -> String {
    let alike = |switch: &&Switch| strsim::jaro_winkler(name, switch.name);
    let closest = SWITCHES.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    match closest {
        Some(switch) if alike(&switch) > 0.8 => format!(": did you mean {:?}?", switch.name),
        _ => {
            let known: Vec<_> = SWITCHES.iter().map(|s| s.name).collect();
            format!(": the options are {}", known.join(", "))
        }
    }
}
