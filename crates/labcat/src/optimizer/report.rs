//! What a step did, for those who watch.

use crate::length_scale::StepKind;
use std::fmt;

/// Why a local run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RestartCause {
    /// The outputs of the kept observations differ by no more than the tolerance.
    Tolerance,
    /// They differ by no more than rounding.
    OutputRange,
    /// The trust region is no wider than rounding.
    TrustRegion,
    /// Every candidate was a point evaluated or pending already.
    NoNewPoint,
    /// The kernel matrix could not be factored, even with a raised nugget.
    Factorisation,
    /// Another run found values far below anything this one still could.
    Hopeless,
}

impl fmt::Display for RestartCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tolerance => "outputs within the tolerance",
            Self::OutputRange => "outputs equal up to rounding",
            Self::TrustRegion => "trust region as small as rounding",
            Self::NoNewPoint => "no new point left in the trust region",
            Self::Factorisation => "kernel matrix not positive definite",
            Self::Hopeless => "far from the best of all runs, with little left to gain",
        })
    }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StopReason {
    /// The budget is used up.
    Budget,
    /// A value at least as good as the target was told.
    Target,
    /// The only local run has converged (restarts are off).
    Tolerance,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Budget => "budget",
            Self::Target => "target",
            Self::Tolerance => "tolerance",
        })
    }
}

/// Where a suggestion came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Origin {
    /// Asked for with [`enqueue`](crate::Optimizer::enqueue).
    Enqueued,
    /// The initial design of a local run, or a space-filling addition to it.
    Design,
    /// The model.
    Model,
    /// A linear or quadratic fit that forecast better than the model.
    Quadratic,
}

/// One `ask`, reported to an [`Observer`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StepReport {
    /// Evaluations told before this step.
    pub evaluations: usize,
    /// The local run, 0 for the first.
    pub run: usize,
    /// Where the suggestion came from; what follows describes the model and is empty or zero for design and enqueued points.
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
    /// Half-widths β S of the trust region along the axes, in units of the box.
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
    /// Candidates clipped to the bounds because rejection did not find enough inside (or clipping is the rule).
    pub clipped: usize,
    /// The restart that this step began with, if any.
    pub restart: Option<RestartCause>,
}

impl StepReport {
    pub(super) fn empty() -> Self {
        Self {
            evaluations: 0,
            run: 0,
            origin: Origin::Design,
            observations: 0,
            discarded: 0,
            step: StepKind::Stay,
            length_scales: Vec::new(),
            centre: Vec::new(),
            rotation: Vec::new(),
            half_widths: Vec::new(),
            output_range: 0.0,
            log_likelihood: 0.0,
            nugget: 0.0,
            acquisition: 0.0,
            predicted: 0.0,
            clipped: 0,
            restart: None,
        }
    }
}

/// Watches an optimizer: called once per suggestion.
pub trait Observer {
    /// A suggestion was made.
    fn on_step(&mut self, report: &StepReport);
}

/// Watches nothing.
impl Observer for () {
    fn on_step(&mut self, _report: &StepReport) {}
}

impl<F: FnMut(&StepReport)> Observer for F {
    fn on_step(&mut self, report: &StepReport) {
        self(report);
    }
}
