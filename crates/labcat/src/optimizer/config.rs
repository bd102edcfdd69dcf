//! Presets and switches. Plain data: no counters, no clocks, no generator.

use crate::acquisition::AcquisitionKind;
use crate::acquisition::maximise::{Bounds, Search};
use crate::frame::AxisOrder;
use crate::gp::kernel::KernelKind;
use crate::observations::Direction;
use crate::trust_region::TrustRegion;
use std::fmt;
use std::str::FromStr;

/// A set of values for every switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Preset {
    /// The algorithm as published.
    Paper,
    /// What we recommend: everything that measured better.
    #[default]
    Default,
}

/// Everything that can be chosen about an optimizer. Start from [`Config::new`] and change fields, or name switches with [`Config::set`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct Config {
    /// The preset these values started from.
    pub preset: Preset,
    /// Whether smaller or larger values are better.
    pub direction: Direction,
    /// One seed, one stream of suggestions.
    pub seed: u64,
    /// β, half the side of the trust region in length-scales; `None`: the preset's rule.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub beta: Option<f64>,
    /// ρ: as many observations per dimension are kept.
    pub cache_factor: f64,
    /// σ_prior, standard deviation of the prior on ln ℓ; `None`: a uniform prior.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub prior_sigma: Option<f64>,
    /// Whether the frame is rotated to the weighted principal components.
    pub rotation: bool,
    /// Newton or gradient steps on the length-scales per suggestion.
    pub newton_steps: usize,
    /// Evaluations before the model starts; `None`: the preset's rule.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub initial_points: Option<usize>,
    /// Samples of the acquisition function per suggestion; `None`: 10 d.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub candidates: Option<usize>,
    /// Whether a converged local run is followed by another.
    pub restarts: bool,
    /// Stop after this many evaluations.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub budget: Option<usize>,
    /// Stop once a value at least this good was told.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub target: Option<f64>,
    /// A local run ends when the outputs it keeps differ by no more than this.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stated"))]
    pub tolerance: Option<f64>,
    /// σ_n: its square is the nugget on the diagonal of K, on normalised outputs.
    pub noise: f64,
    /// σ_f in units of std(Y′).
    pub signal: f64,
    /// The kernel.
    pub kernel: KernelKind,
    /// The acquisition function.
    pub acquisition: AcquisitionKind,
    /// σ counts this many times in the acquisition function: above 1 more is explored.
    pub optimism: f64,
    /// Share of the samples drawn near the best point, at every scale, instead of uniformly from the trust region.
    pub near: f64,
    /// Whether candidates outside the bounds are clipped to them instead of rejected.
    pub clip: bool,
    /// Gradient steps on the acquisition function from the best candidate; 0: none.
    pub refine: usize,
    /// Whether the middle of the box is the first point of the first design.
    pub centre_first: bool,
    /// Whether new principal axes take the places of the old ones they resemble, instead of being sorted.
    pub match_axes: bool,
    /// Whether heavy-tailed outputs are warped logarithmically.
    pub warp: bool,
    /// Whether the trust region widens after successes and narrows after failures, between β and 1.
    pub adapt_beta: bool,
    /// Whether a linear or quadratic fit is followed to its minimum once it forecasts far better than the model.
    pub quadratic: bool,
    /// Whether every other local run explores, with a wide trust region and more optimism, and a run that cannot reach the best of
    /// all runs is given up.
    pub explore: bool,
    /// A local run has converged when its outputs differ by no more than this part of the largest of them.
    pub precision: f64,
}

impl Config {
    /// The values of a preset.
    pub fn new(preset: Preset) -> Self {
        let paper = Self {
            preset,
            direction: Direction::Minimize,
            seed: 0,
            beta: None,
            cache_factor: 7.0,
            prior_sigma: Some(0.1),
            rotation: true,
            newton_steps: 1,
            initial_points: None,
            candidates: None,
            restarts: true,
            budget: None,
            target: None,
            tolerance: None,
            noise: 1e-6,
            signal: 1.0,
            kernel: KernelKind::SquaredExponential,
            acquisition: AcquisitionKind::ExpectedImprovement,
            optimism: 1.0,
            near: 0.0,
            clip: false,
            refine: 0,
            centre_first: false,
            match_axes: false,
            warp: false,
            adapt_beta: false,
            quadratic: false,
            explore: false,
            precision: 4.0 * f64::EPSILON,
        };
        match preset {
            Preset::Paper => paper,
            Preset::Default => Self {
                acquisition: AcquisitionKind::LogExpectedImprovement,
                optimism: 1.5,
                near: 0.5,
                clip: true,
                refine: 20,
                centre_first: true,
                match_axes: true,
                warp: true,
                adapt_beta: true,
                quadratic: true,
                explore: true,
                precision: 1e-9,
                ..paper
            },
        }
    }

    /// β for `d` dimensions: 1/d kept within [0.1, 1] unless given.
    pub fn beta_for(&self, d: usize) -> f64 {
        self.beta.unwrap_or((1.0 / d as f64).clamp(0.1, 1.0))
    }

    /// Evaluations before the model starts: 2 d + 1 (`paper`) or d + 1 (`default`) unless given.
    pub fn initial_points_for(&self, d: usize) -> usize {
        self.initial_points.unwrap_or(match self.preset {
            Preset::Paper => 2 * d + 1,
            Preset::Default => d + 1,
        })
    }

    /// Samples of the acquisition function: 10 d unless given.
    pub fn candidates_for(&self, d: usize) -> usize {
        self.candidates.unwrap_or(10 * d)
    }

    /// Sets a switch by its name from text: `set("beta", "0.5")`, `set("prior_sigma", "none")`, `set("rotation", "false")`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        let switch =
            SWITCHES.iter().find(|s| s.name == name).ok_or_else(|| ConfigError::UnknownSwitch { name: name.into() })?;
        let error = || ConfigError::Unreadable { switch: switch.name, value: value.into(), allowed: switch.allowed };
        match name {
            "direction" => self.direction = value.parse().map_err(|_| error())?,
            "seed" => self.seed = value.parse().map_err(|_| error())?,
            "beta" => self.beta = optional(value).map_err(|()| error())?,
            "cache_factor" => self.cache_factor = value.parse().map_err(|_| error())?,
            "prior_sigma" => self.prior_sigma = optional(value).map_err(|()| error())?,
            "rotation" => self.rotation = value.parse().map_err(|_| error())?,
            "newton_steps" => self.newton_steps = value.parse().map_err(|_| error())?,
            "initial_points" => self.initial_points = optional(value).map_err(|()| error())?,
            "candidates" => self.candidates = optional(value).map_err(|()| error())?,
            "restarts" => self.restarts = value.parse().map_err(|_| error())?,
            "budget" => self.budget = optional(value).map_err(|()| error())?,
            "target" => self.target = optional(value).map_err(|()| error())?,
            "tolerance" => self.tolerance = optional(value).map_err(|()| error())?,
            "noise" => self.noise = value.parse().map_err(|_| error())?,
            "signal" => self.signal = value.parse().map_err(|_| error())?,
            "kernel" => self.kernel = value.parse().map_err(|()| error())?,
            "acquisition" => self.acquisition = value.parse().map_err(|()| error())?,
            "optimism" => self.optimism = value.parse().map_err(|_| error())?,
            "near" => self.near = value.parse().map_err(|_| error())?,
            "clip" => self.clip = value.parse().map_err(|_| error())?,
            "refine" => self.refine = value.parse().map_err(|_| error())?,
            "centre_first" => self.centre_first = value.parse().map_err(|_| error())?,
            "match_axes" => self.match_axes = value.parse().map_err(|_| error())?,
            "warp" => self.warp = value.parse().map_err(|_| error())?,
            "adapt_beta" => self.adapt_beta = value.parse().map_err(|_| error())?,
            "quadratic" => self.quadratic = value.parse().map_err(|_| error())?,
            "explore" => self.explore = value.parse().map_err(|_| error())?,
            "precision" => self.precision = value.parse().map_err(|_| error())?,
            _ => return Err(ConfigError::UnknownSwitch { name: name.into() }),
        }
        Ok(())
    }

    /// The settings for `d` dimensions, if every switch has a value that makes sense: only they reach an optimizer.
    pub(crate) fn check(&self, d: usize) -> Result<Settings, ConfigError> {
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let rules = [
            ("beta", self.beta_for(d), positive(self.beta_for(d))),
            ("cache_factor", self.cache_factor, self.cache_factor >= 1.0 && self.cache_factor <= 1000.0),
            ("prior_sigma", self.prior_sigma.unwrap_or(1.0), positive(self.prior_sigma.unwrap_or(1.0))),
            ("newton_steps", self.newton_steps as f64, self.newton_steps <= 1000),
            (
                "initial_points",
                self.initial_points_for(d) as f64,
                (2..=1_000_000).contains(&self.initial_points_for(d)),
            ),
            ("candidates", self.candidates_for(d) as f64, (1..=1_000_000).contains(&self.candidates_for(d))),
            ("budget", self.budget.unwrap_or(1) as f64, self.budget != Some(0)),
            ("target", self.target.unwrap_or(0.0), self.target.is_none_or(f64::is_finite)),
            ("tolerance", self.tolerance.unwrap_or(0.0), self.tolerance.is_none_or(|t| t >= 0.0 && t.is_finite())),
            ("noise", self.noise, self.noise >= 0.0 && self.noise <= 1.0),
            ("signal", self.signal, positive(self.signal)),
            ("optimism", self.optimism, self.optimism > 0.0 && self.optimism <= 1e6),
            ("near", self.near, (0.0..=1.0).contains(&self.near)),
            ("precision", self.precision, self.precision >= 0.0 && self.precision < 1.0),
            ("refine", self.refine as f64, self.refine <= 10_000),
        ];
        for (name, value, ok) in rules {
            if !ok {
                let allowed = SWITCHES.iter().find(|s| s.name == name).map_or("", |s| s.allowed);
                return Err(ConfigError::OutOfRange { switch: name, value, allowed });
            }
        }
        let beta = self.beta_for(d);
        let order = if self.match_axes { AxisOrder::Matched } else { AxisOrder::Sorted };
        Ok(Settings {
            direction: self.direction,
            initial_points: self.initial_points_for(d),
            centre_first: self.centre_first,
            warp: self.warp,
            adapt_beta: self.adapt_beta,
            quadratic: self.quadratic,
            explore: self.explore && self.restarts,
            precision: self.precision,
            rotation: self.rotation.then_some(order),
            kernel: self.kernel,
            signal: self.signal,
            noise: self.noise,
            prior_sigma: self.prior_sigma,
            newton_steps: self.newton_steps,
            region: TrustRegion { beta, keep: (self.cache_factor * d as f64).ceil() as usize },
            acquisition: self.acquisition,
            search: Search {
                beta,
                candidates: self.candidates_for(d),
                near: (self.near * self.candidates_for(d) as f64).round() as usize,
                optimism: self.optimism,
                bounds: if self.clip { Bounds::Clip } else { Bounds::Reject },
                refinements: self.refine,
            },
            restarts: self.restarts,
            budget: self.budget.unwrap_or(usize::MAX),
            target: self.target.map(|t| self.direction.orient(t)),
            tolerance: self.tolerance,
        })
    }
}

/// A checked configuration, resolved for a number of dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) direction: Direction,
    pub(crate) initial_points: usize,
    pub(crate) centre_first: bool,
    pub(crate) warp: bool,
    pub(crate) adapt_beta: bool,
    pub(crate) quadratic: bool,
    pub(crate) explore: bool,
    pub(crate) precision: f64,
    /// `None`: the frame is never rotated.
    pub(crate) rotation: Option<AxisOrder>,
    pub(crate) kernel: KernelKind,
    pub(crate) signal: f64,
    pub(crate) noise: f64,
    pub(crate) prior_sigma: Option<f64>,
    pub(crate) newton_steps: usize,
    pub(crate) region: TrustRegion,
    pub(crate) acquisition: AcquisitionKind,
    pub(crate) search: Search,
    pub(crate) restarts: bool,
    pub(crate) budget: usize,
    /// Oriented: smaller is better.
    pub(crate) target: Option<f64>,
    pub(crate) tolerance: Option<f64>,
}

impl Default for Config {
    fn default() -> Self {
        Self::new(Preset::Default)
    }
}

/// A switch that may be `none` must say so: left out, it would silently become it.
#[cfg(feature = "serde")]
pub(super) fn stated<'de, T: serde::Deserialize<'de>, D: serde::Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    serde::Deserialize::deserialize(from)
}

/// `none` or a value.
fn optional<T: FromStr>(text: &str) -> Result<Option<T>, ()> {
    if text.eq_ignore_ascii_case("none") { Ok(None) } else { text.parse().map(Some).map_err(|_| ()) }
}

/// A switch: its name, what it does, and what it takes.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Name, as in [`Config`], in Python and (with dashes) on the command line.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// The values it takes.
    pub allowed: &'static str,
}

const fn switch(name: &'static str, help: &'static str, allowed: &'static str) -> Switch {
    Switch { name, help, allowed }
}

/// Every switch: the one list behind [`Config::set`], error messages, help texts and documentation.
pub const SWITCHES: &[Switch] = &[
    switch("direction", "which way is better", "minimize or maximize"),
    switch("seed", "one seed, one stream of suggestions", "a whole number from 0 to 18446744073709551615"),
    switch(
        "beta",
        "half the side of the trust region, in length-scales",
        "a positive number, or none for the preset's rule",
    ),
    switch("cache_factor", "observations per dimension that the model keeps", "a number from 1 to 1000"),
    switch(
        "prior_sigma",
        "standard deviation of the prior on ln length-scale",
        "a positive number, or none for a uniform prior",
    ),
    switch("rotation", "rotate the frame to the weighted principal components", "true or false"),
    switch("newton_steps", "length-scale steps per suggestion", "a whole number from 0 to 1000"),
    switch(
        "initial_points",
        "evaluations before the model starts",
        "a whole number from 2 to 1000000, or none for the preset's rule",
    ),
    switch(
        "candidates",
        "samples of the acquisition function per suggestion",
        "a whole number from 1 to 1000000, or none for 10 d",
    ),
    switch("restarts", "start another local run when one has converged", "true or false"),
    switch("budget", "stop after this many evaluations", "a whole number of at least 1, or none"),
    switch("target", "stop once a value at least this good was told", "a finite number, or none"),
    switch(
        "tolerance",
        "end a local run when its outputs differ by no more than this",
        "a number of at least 0, or none",
    ),
    switch("noise", "standard deviation of the nugget, on normalised outputs", "a number from 0 to 1"),
    switch("signal", "signal standard deviation, in units of the outputs' own", "a positive number"),
    switch("kernel", "covariance of the model", "squared_exponential or matern52"),
    switch(
        "acquisition",
        "what a candidate is worth",
        "expected_improvement, log_expected_improvement or lower_confidence_bound",
    ),
    switch(
        "optimism",
        "how many times the model's standard deviation counts in the acquisition",
        "a number above 0, to 1000000",
    ),
    switch("near", "share of the samples drawn near the best point, at every scale", "a number from 0 to 1"),
    switch("clip", "clip candidates to the bounds instead of rejecting them", "true or false"),
    switch(
        "refine",
        "gradient steps on the acquisition function from the best candidate",
        "a whole number from 0 to 10000",
    ),
    switch("centre_first", "evaluate the middle of the box first", "true or false"),
    switch("match_axes", "keep new principal axes next to the old ones they resemble", "true or false"),
    switch("warp", "warp heavy-tailed outputs logarithmically", "true or false"),
    switch("adapt_beta", "widen the trust region after successes, narrow it after failures", "true or false"),
    switch(
        "quadratic",
        "follow a linear or quadratic fit to its minimum once it forecasts far better than the model",
        "true or false",
    ),
    switch("explore", "let every other local run explore, and give up runs that cannot win", "true or false"),
    switch("precision", "relative range of outputs at which a local run has converged", "a number from 0 to below 1"),
];

/// What is wrong with a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    /// There is no switch of this name.
    UnknownSwitch {
        /// The name.
        name: String,
    },
    /// The text is not a value of the switch.
    Unreadable {
        /// The switch.
        switch: &'static str,
        /// The text.
        value: String,
        /// What it takes.
        allowed: &'static str,
    },
    /// The value is outside the switch's range.
    OutOfRange {
        /// The switch.
        switch: &'static str,
        /// The value.
        value: f64,
        /// What it takes.
        allowed: &'static str,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownSwitch { name } => {
                let known: Vec<_> = SWITCHES.iter().map(|s| s.name).collect();
                write!(f, "there is no switch {name:?}: the switches are {}", known.join(", "))
            }
            Self::Unreadable { switch, value, allowed } => {
                write!(f, "{switch} = {value:?} is not allowed: it takes {allowed}")
            }
            Self::OutOfRange { switch, value, allowed } => {
                write!(f, "{switch} = {value} is not allowed: it takes {allowed}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Implements `Display` and `FromStr` for an enum with one name per variant.
macro_rules! named {
    ($type:ty { $($variant:path => $name:literal),+ $(,)? } $error:ty, $make:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($variant => $name),+ })
            }
        }
        impl FromStr for $type {
            type Err = $error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text { $($name => Ok($variant),)+ _ => Err($make(text)) }
            }
        }
    };
}

fn unreadable(switch: &'static str, allowed: &'static str) -> impl Fn(&str) -> ConfigError {
    move |text| ConfigError::Unreadable { switch, value: text.into(), allowed }
}

named!(Preset { Self::Paper => "paper", Self::Default => "default" } ConfigError, unreadable("preset", "paper or default"));
named!(Direction { Self::Minimize => "minimize", Self::Maximize => "maximize" } ConfigError, unreadable("direction", "minimize or maximize"));
named!(KernelKind { Self::SquaredExponential => "squared_exponential", Self::Matern52 => "matern52" } (), |_| ());
named!(AcquisitionKind {
    Self::ExpectedImprovement => "expected_improvement",
    Self::LogExpectedImprovement => "log_expected_improvement",
    Self::LowerConfidenceBound => "lower_confidence_bound",
} (), |_| ());
