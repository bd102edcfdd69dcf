//! Reports of a step, for displays and tests.

use crate::length_scale::StepKind;

/// Why a local run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RestartCause {
    /// The outputs of the kept observations differ by no more than the tolerance.
    #[strum(to_string = "outputs within the tolerance")]
    Tolerance,
    /// They differ by no more than a tiny part of the run's spread, or by rounding.
    #[strum(to_string = "outputs equal up to the precision")]
    OutputRange,
    /// The trust region is no wider than rounding.
    #[strum(to_string = "trust region as small as rounding")]
    TrustRegion,
    /// Every candidate was a point evaluated or pending already.
    #[strum(to_string = "no new point left in the trust region")]
    NoNewPoint,
    /// In a mixed space: the reals have converged, and no step or swap leads to a better point.
    #[strum(to_string = "no better neighbour of the best point")]
    Neighbourhood,
    /// The kernel matrix could not be factored, even with a raised nugget.
    #[strum(to_string = "kernel matrix not positive definite")]
    Factorisation,
    /// Another run found values far below anything this one still could.
    #[strum(to_string = "far from the best of all runs, with little left to gain")]
    Hopeless,
    /// The newest evaluations of a fit gained next to nothing.
    #[strum(to_string = "next to nothing gained of late")]
    Stalled,
    /// What is left to be gained drowns in the noise.
    #[strum(to_string = "nothing more to be learned under the noise")]
    Noise,
    /// The user asked for it, with [`restart`](crate::Optimizer::restart).
    #[strum(to_string = "requested")]
    Requested,
}

/// A restart: when and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Restart {
    /// Evaluations told when it happened.
    pub at_evaluation: usize,
    /// Why the run before it ended.
    pub cause: RestartCause,
}

/// Why an optimizer gives no more suggestions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case")]
pub enum StopReason {
    /// The budget is used up.
    Budget,
    /// A value at least as good as the target was told.
    Target,
    /// The only local run has converged (restarts are off).
    Tolerance,
    /// Every configuration of a finite space that known constraints allow was evaluated.
    Exhausted,
}

/// Where a suggestion came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Origin {
    /// Asked for with [`enqueue`](crate::Optimizer::enqueue).
    Enqueued,
    /// The initial design of a local run, or a space-filling addition to it.
    #[default]
    Design,
    /// The model.
    Model,
    /// A linear or quadratic fit that forecast better than the model.
    Quadratic,
    /// A point evaluated before, to find out about the noise.
    Repeat,
}

/// What one `ask` did.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepReport {
    /// Evaluations told before this step.
    pub evaluations: usize,
    /// The local run, 0 for the first.
    pub run: usize,
    /// Where the suggestion came from; what follows describes the model and is empty or zero for points that no model chose.
    pub origin: Origin,
    /// n: observations in the model, after discarding.
    pub observations: usize,
    /// Observations discarded in this step.
    pub discarded: usize,
    /// What the length-scales did.
    pub step: StepKind,
    /// ℓ*: what each axis of the frame was stretched by in this step.
    pub length_scales: Vec<f64>,
    /// Centre c of the frame, in user units: the best point of the run.
    pub centre: Vec<f64>,
    /// Rotation R, column after column: the axes of the frame, in the box [−1, 1]^d.
    pub rotation: Vec<f64>,
    /// Half-widths β S of the trust region along the axes, in units of the box; categories, which it does not bound, are left out.
    pub half_widths: Vec<f64>,
    /// a: range of the outputs in the model.
    pub output_range: f64,
    /// Log marginal likelihood of the model.
    pub log_likelihood: f64,
    /// σ_n² used, raised above the configured one if K needed it.
    pub nugget: f64,
    /// Acquisition value of the suggestion.
    pub acquisition: f64,
    /// Value the model predicts there, in user units.
    pub predicted: f64,
    /// Candidates clipped to the bounds because rejection did not find enough inside.
    pub clipped: usize,
    /// Whether gradients were told that do not agree with the values: the model then goes without them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub gradients_left_out: bool,
    /// The restart that this step began with, if any.
    pub restart: Option<RestartCause>,
}
