//! One local run: its design, its cache of observations, its frame. The serialisable part of the algorithm's state.

use super::config::Settings;
use super::noise::Noisy;
use crate::design;
use crate::domain::{Axis, Domain};
use crate::frame::{Frame, Tail};
use crate::gp::Buffers;
use crate::math;
use crate::observations::{Observations, TrialId};
use crate::rng::Rng;

/// Ratios of actual to predicted reduction below which a forecast's trust region shrinks and above which it grows, and the factors: those of
/// NEWUOA. A ratio as near to 1 as this lets it grow by more.
const POOR: f64 = 0.1;
const GOOD: f64 = 0.7;
const SHRINK: f64 = 0.5;
const GROW: f64 = 2.0;
const EXACT: f64 = 0.1;
const GROW_MORE: f64 = 4.0;
/// The least size of that trust region to begin with.
const LEAST_FIRST_RADIUS: f64 = 1e-6;

/// State of a local run.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LocalRun {
    /// 0 for the first.
    pub(super) number: usize,
    /// Points of the initial design not yet suggested, in the box, the next one last.
    pub(super) design: Vec<Vec<f64>>,
    /// Evaluations of this run that failed, as positions in the history, the oldest first.
    pub(super) failed: Vec<usize>,
    /// The most that were pending besides an evaluation told since the newest step.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub(super) crowd: usize,
    /// Whether something that the newest step knew was changed since.
    pub(super) revised: bool,
    /// The newest forecast that was followed. (May be null, not missing.)
    #[cfg_attr(feature = "serde", serde(rename = "promise", deserialize_with = "serde::Deserialize::deserialize"))]
    pub(super) followed: Option<Followed>,
    /// The trust region of forecasts by residuals or slopes, half its side in units of the box; 0 before it begins.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub(super) radius: f64,
    /// What it searches.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub(super) extent: Extent,
    /// As the newest step left it, and with what was told since.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub(super) now: Progress,
    /// What the newest step began with: the step can be done again from here, bit for bit. (May be null, not missing.)
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    pub(super) before: Option<Before>,
}

/// What a run searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(super) enum Extent {
    /// Its trust region.
    #[default]
    Region,
    /// The reals of its trust region, with everything else as in the best point.
    Reals,
    /// The whole box.
    Box,
}

impl Extent {
    /// Whether axis `i` of the frame turns, and is searched by samples and gradients.
    pub(super) fn moves(self, domain: &Domain, i: usize) -> bool {
        let axis = domain.axes()[i];
        if self == Self::Reals { axis == Axis::Real } else { axis.turns() }
    }

    /// The same of every axis.
    pub(super) fn moving(self, domain: &Domain) -> Vec<bool> {
        (0..domain.dim()).map(|i| self.moves(domain, i)).collect()
    }

    /// The axes that do.
    pub(super) fn axes(self, domain: &Domain) -> Vec<usize> {
        (0..domain.dim()).filter(|&i| self.moves(domain, i)).collect()
    }
}

/// How a run searches: its least β and nugget, how many times as much the standard deviation counts, and whether it follows fits of the nearest.
pub(super) struct Manner {
    pub(super) beta: f64,
    pub(super) nugget: f64,
    pub(super) optimism: f64,
    pub(super) follows: bool,
}

const ORDINARY: Manner = Manner { beta: 0.0, nugget: 0.0, optimism: 1.0, follows: true };
/// It stays wide and sees the shape of what is rugged.
const EXPLORING: Manner = Manner { beta: 0.5, nugget: 0.03, optimism: 2.0, follows: false };

/// What a forecast predicted when it was followed.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Followed {
    /// The evaluation that will show.
    pub(super) id: TrialId,
    /// The best merit then, and the predicted reduction.
    pub(super) from: f64,
    pub(super) gain: f64,
    /// How far it leads from the best point, in units of the box.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub(super) length: f64,
    /// If too little of it comes true: how many observations to wait for.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) wait: usize,
}

/// Why what a forecast has shown may say nothing of the size of its trust region.
#[derive(Clone, Copy, Default)]
pub(super) struct Doubt {
    /// A direction is open: where it failed the model may be at fault, and has learned from it.
    pub(super) open: bool,
    /// A smaller reduction than the noise shows nothing.
    pub(super) noise: f64,
}

/// What a step changes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Progress {
    /// Observations in the model, as positions in the history, the oldest first.
    pub(super) members: Vec<usize>,
    /// The local frame.
    pub(super) frame: Frame,
    /// β: half the side of the trust region.
    pub(super) beta: f64,
    /// What stands in the history from this position on came after the newest step.
    pub(super) told: usize,
    /// The widest spread of the members' outputs so far: what their range is held against to tell whether the run has converged.
    pub(super) spread: f64,
    /// How many other evaluations were pending when the newest step began.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub(super) others: usize,
    /// The penalty parameter of each measured constraint, in units of the objective: its multipliers in the models so far.
    #[cfg_attr(feature = "serde", serde(rename = "prices", default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) penalties: Vec<f64>,
    /// How each measured constraint is bent.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) tails: Vec<Tail>,
    /// What is known of the noise.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(super) noise: Noisy,
}

/// Whether a saved state goes without it.
#[cfg(feature = "serde")]
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Progress {
    /// Takes the values of another, keeping the allocations.
    fn copy_from(&mut self, other: &Self) {
        self.members.clone_from(&other.members);
        self.frame.copy_from(&other.frame);
        (self.beta, self.told, self.spread, self.others) = (other.beta, other.told, other.spread, other.others);
        self.penalties.clone_from(&other.penalties);
        self.tails.clone_from(&other.tails);
        self.noise.clone_from(&other.noise);
    }
}

/// A run as a step found it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Before {
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub(super) then: Progress,
    pub(super) revised: bool,
    pub(super) started: bool,
}

impl LocalRun {
    /// A run that begins with a Latin hypercube: the first run with the middle of the box before it, if so chosen; after a restart it may be larger,
    /// when it matters more where to begin than to begin soon.
    pub(super) fn new(number: usize, domain: &Domain, settings: &Settings, rng: &mut Rng) -> Self {
        let n = domain.parameters().len();
        let factor = if number > 0 { settings.switches.restart_design } else { 1.0 };
        let first = (number == 0 && settings.switches.centre_first).then(|| vec![0.0; n]);
        let points = (settings.initial_points as f64 * factor).ceil() as usize;
        let mut design = design::latin_hypercube(rng, points - usize::from(first.is_some()), n);
        design.reverse();
        design.extend(first);
        let design = design.iter().map(|cube| domain.embed(cube)).collect();
        let (frame, beta) = (Frame::of_box(domain.dim()), settings.region.beta);
        Self { design, ..Self::with(number, Vec::new(), frame, beta, Noisy::default()) }
    }

    /// A run that begins with observations there are, in a frame.
    pub(super) fn with(number: usize, members: Vec<usize>, frame: Frame, beta: f64, noise: Noisy) -> Self {
        let now = Progress { members, frame, beta, noise, ..Progress::default() };
        Self { number, now, ..Self::default() }
    }

    /// Its best evaluation.
    pub(super) fn best(&self, observations: &Observations) -> Option<usize> {
        let value = |p: &usize| observations.value(*p).unwrap_or(f64::INFINITY);
        self.now.members.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)))
    }

    /// How it searches: every other run looks for another basin, if any.
    pub(super) fn manner(&self, settings: &Settings) -> &'static Manner {
        if settings.switches.explore && self.number % 2 == 1 { &EXPLORING } else { &ORDINARY }
    }

    /// Whether it moves integers or categories.
    pub(super) fn is_on_lattice(&self, domain: &Domain) -> bool {
        domain.is_mixed() && self.extent != Extent::Reals
    }

    /// Whether a model-based step was made.
    pub(super) fn started(&self) -> bool {
        self.before.is_some()
    }

    /// Whether it is in its first design, around a starting point of reals.
    pub(super) fn is_around_start(&self, domain: &Domain) -> bool {
        self.radius > 0.0 && !self.started() && !domain.is_mixed()
    }

    /// Whether the newest model would change with this observation: it is in the cache, or was when the newest step began.
    pub(super) fn rests_on(&self, position: usize) -> bool {
        let before = self.before.as_ref().map_or(&[][..], |b| &b.then.members);
        self.now.members.contains(&position) || before.contains(&position)
    }

    /// Whether this evaluation of run `number` is its own, or one that it took over.
    pub(super) fn holds(&self, position: usize, number: usize) -> bool {
        self.number == number || self.now.members.contains(&position) || self.failed.contains(&position)
    }

    /// Takes an evaluation of this run in, or moves it after its outcome was revised.
    pub(super) fn place(&mut self, position: usize, succeeded: bool) {
        self.now.members.retain(|&p| p != position);
        self.failed.retain(|&p| p != position);
        let into = if succeeded { &mut self.now.members } else { &mut self.failed };
        into.insert(into.partition_point(|&p| p < position), position);
    }

    /// Observations that the newest step did not know as they are now.
    pub(super) fn fresh(&self) -> usize {
        let news = self.now.members.iter().rev().take_while(|&&p| p >= self.now.told).count();
        news.max(usize::from(self.revised))
    }

    /// How many evaluations have failed since the newest success.
    pub(super) fn failures_in_a_row(&self) -> usize {
        self.failed.iter().rev().take_while(|&&p| self.now.members.last().is_none_or(|&m| p > m)).count()
    }

    /// X′ = S⁻¹ Rᵀ (U − c) of the members, from their places in the box: the input of the next fit. (eq:input_transform_matrices)
    pub(super) fn fill_inputs(&self, observations: &Observations, buffers: &mut Buffers, scratch: &mut Vec<f64>) {
        let Progress { members, frame, .. } = &self.now;
        let places = members.iter().map(|&p| observations.unit(p));
        frame.to_local_rows(places, buffers.inputs(members.len(), frame.dim()), scratch);
    }

    /// Begins the trust region of forecasts, if there is none, with the median length of some steps.
    pub(super) fn begin_radius<'a>(&mut self, steps: impl Iterator<Item = &'a Vec<f64>>) {
        if self.radius == 0.0 {
            self.radius = math::median_length(steps).clamp(LEAST_FIRST_RADIUS, 1.0);
        }
    }

    /// Adapts the trust region of forecasts to what the newest one has shown, if that is beyond doubt.
    pub(super) fn adapt_radius(
        &mut self,
        observations: &Observations,
        merit: impl Fn(usize) -> Option<f64>,
        doubt: Doubt,
    ) {
        let Some(shown) = self.followed.and_then(|followed| observations.position(followed.id)) else { return };
        let Some(followed) = self.followed.take().filter(|f| f.gain > 0.0 && f.gain >= doubt.noise) else { return };
        let gained = merit(shown).map_or(f64::NEG_INFINITY, |merit| followed.from - merit);
        let ratio = gained / followed.gain;
        if ratio < POOR {
            self.radius *= if doubt.open { 1.0 } else { SHRINK };
        } else if ratio > GOOD {
            let factor = if (ratio - 1.0).abs() < EXACT { GROW_MORE } else { GROW };
            self.radius = self.radius.max(factor * followed.length).min(1.0);
        } else {
            self.radius = (SHRINK * self.radius).max(followed.length);
        }
    }

    /// Remembers how a step begins.
    pub(super) fn mark(&mut self) {
        let (started, revised) = (self.started(), self.revised);
        let before = self.before.get_or_insert_with(|| Before { then: self.now.clone(), revised, started });
        before.then.copy_from(&self.now);
        (before.revised, before.started) = (revised, started);
    }

    /// Takes note that the step at hand knows all that was told.
    pub(super) fn know(&mut self) {
        self.revised = false;
        self.now.told = self.now.members.last().map_or(0, |p| p + 1);
    }

    /// Goes back to how the newest step began.
    pub(super) fn rewind(&mut self) {
        if let Some(before) = &mut self.before {
            self.now.copy_from(&before.then);
            self.revised = before.revised;
            if !before.started {
                self.before = None;
            }
        }
    }
}
