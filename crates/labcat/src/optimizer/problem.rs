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

/// Known constraints, and a place in the box that satisfies them.
#[derive(Clone, Debug, Default)]
pub(super) struct Limited {
    pub(super) known: Known,
    pub(super) inside: Vec<f64>,
    /// Of a small finite space, every configuration that satisfies them.
    pub(super) listed: Option<Vec<Vec<f64>>>,
}

impl Limited {
    /// Whether a point in user units is allowed, once the parameters that equations determine are put where they belong.
    pub(super) fn admits(&self, domain: &Domain, x: &mut [f64]) -> bool {
        self.known.is_empty() || self.known.admits(domain, x)
    }

    /// The allowed point nearest to a place in the box, in user units: the place itself; one with its integers and categories, if the reals
    /// alone can satisfy the constraints; else one on the way to `centre` or to the place known to be allowed.
    pub(super) fn nearest(&self, domain: &Domain, u: &[f64], centre: &[f64]) -> Option<Vec<f64>> {
        const PROJECTIONS: usize = 5;
        let mut x = domain.point(u);
        if self.admits(domain, &mut x) {
            return Some(x);
        }
        let mut place = u.to_vec();
        for _ in 0..if domain.is_mixed() { PROJECTIONS } else { 0 } {
            let Some(next) = self.known.project(domain, &place) else { break };
            place = next;
            domain.to_user(&place, &mut x);
            if self.known.admits(domain, &mut x) {
                return Some(x);
            }
        }
        self.known.pull(domain, u, centre).or_else(|| self.known.pull(domain, u, &self.inside))
    }
}

/// What a step reads and never changes.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) domain: &'a Domain,
    pub(super) settings: &'a Settings,
    pub(super) known: &'a Limited,
    pub(super) observations: &'a Observations,
    pub(super) pending: &'a [Pending],
    pub(super) seen: &'a Seen,
    /// How many evaluations the user will have pending at a time, 0 if he has not said.
    pub(super) expected: usize,
    /// Under noise, the lowest mean plus standard deviation that the runs that are over knew of.
    pub(super) bound: Option<f64>,
    /// Whether a run that has converged is over: not for a look at its model.
    pub(super) ends: bool,
    /// Whether the search of the reals around the best integers and categories has converged.
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
            reals_over: $optimizer.state.portfolio.reals_over(&$optimizer.domain),
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
