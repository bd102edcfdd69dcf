//! The constant input of a step, and its result, a choice.

use super::config::Settings;
use super::report::Origin;
use super::seen::Seen;
use crate::domain::Domain;
use crate::known::Known;
use crate::observations::{Observations, TrialId};

/// A point asked and not yet told.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Pending {
    pub(super) id: TrialId,
    pub(super) x: Vec<f64>,
    pub(super) run: usize,
}

/// What a step reads and never changes.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) domain: &'a Domain,
    pub(super) settings: &'a Settings,
    pub(super) known: &'a Known,
    pub(super) observations: &'a Observations,
    pub(super) pending: &'a [Pending],
    pub(super) seen: &'a Seen,
    /// How many evaluations the user will have pending at a time, 0 if he has not said.
    pub(super) expected: usize,
    /// Under noise, the lowest mean plus standard deviation that the runs that are over knew of.
    pub(super) bound: Option<f64>,
    /// Whether a run that has converged is over: not for a look at its model.
    pub(super) ends: bool,
    /// For a local run: whether the search of the reals around its best integers and categories has converged.
    pub(super) reals_over: bool,
}

/// What a step of an optimizer reads; a macro, because the step changes the other fields meanwhile.
macro_rules! problem {
    ($optimizer:expr) => {
        Problem {
            domain: &$optimizer.domain,
            settings: &$optimizer.settings,
            known: &$optimizer.known,
            observations: &$optimizer.observations,
            pending: &$optimizer.state.pending,
            seen: &$optimizer.seen,
            expected: $optimizer.expected,
            bound: $optimizer.state.bound,
            ends: true,
            reals_over: false,
        }
    };
}
pub(super) use problem;

impl Problem<'_> {
    /// The measured constraints.
    pub(super) fn constraints(&self) -> usize {
        self.settings.switches.constraints
    }
}

/// The next point, and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// In user units.
    pub(super) x: Vec<f64>,
    pub(super) origin: Origin,
    /// Acquisition value.
    pub(super) acquisition: f64,
    /// What the model predicts there, in user units.
    pub(super) predicted: f64,
    /// Samples that had to be clipped to the bounds.
    pub(super) clipped: usize,
}

impl Choice {
    /// A point that no model chose.
    pub(super) fn given(x: Vec<f64>, origin: Origin) -> Self {
        Self { x, origin, acquisition: 0.0, predicted: 0.0, clipped: 0 }
    }
}
