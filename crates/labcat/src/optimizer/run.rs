//! One local run: its design, its cache of observations, its frame. The serialisable part of the algorithm's state.

use super::config::Settings;
use crate::design;
use crate::frame::Frame;
use crate::gp::Buffers;
use crate::observations::Observations;
use crate::rng::Rng;

/// State of a local run.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct LocalRun {
    /// 0 for the first.
    pub(super) number: usize,
    /// Points of the initial design not yet suggested, in the box, the next one last.
    pub(super) design: Vec<Vec<f64>>,
    /// Observations in the model, as positions in the history, the oldest first.
    pub(super) members: Vec<usize>,
    /// Evaluations of this run that failed, as positions in the history, the oldest first.
    pub(super) failed: Vec<usize>,
    /// The local frame, as the newest step left it.
    pub(super) frame: Frame,
    /// β: half the side of the trust region, as the newest step left it.
    pub(super) beta: f64,
    /// Observations of this run told since the newest step (or changed since).
    pub(super) fresh: usize,
    /// What the newest step began with: the step can be done again from here, bit for bit.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::config::stated"))]
    pub(super) before: Option<Before>,
}

/// A run as a step found it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Before {
    pub(super) frame: Frame,
    pub(super) beta: f64,
    pub(super) members: Vec<usize>,
    pub(super) fresh: usize,
    pub(super) started: bool,
}

impl LocalRun {
    /// A run whose first suggestions are `first` (in the box, if given) and then a Latin hypercube; with `explore`, one of twice the
    /// size after a restart, when it matters more where to begin than to begin soon.
    pub(super) fn new(number: usize, d: usize, settings: &Settings, first: Option<Vec<f64>>, rng: &mut Rng) -> Self {
        let doubled = settings.explore && number > 0;
        let points = settings.initial_points * (1 + usize::from(doubled));
        let mut design = design::latin_hypercube(rng, points - usize::from(first.is_some()), d);
        design.reverse();
        design.extend(first);
        let (frame, beta) = (Frame::of_box(d), settings.region.beta);
        Self { number, design, members: Vec::new(), failed: Vec::new(), frame, beta, fresh: 0, before: None }
    }

    /// Whether a model-based step was made.
    pub(super) fn started(&self) -> bool {
        self.before.is_some()
    }

    /// Whether the newest model would change with this observation: it is in the cache, or was when the newest step began.
    pub(super) fn rests_on(&self, position: usize) -> bool {
        let before = self.before.as_ref().map_or(&[][..], |b| &b.members);
        self.members.contains(&position) || before.contains(&position)
    }

    /// Takes an evaluation of this run in, or moves it after its outcome was revised.
    pub(super) fn place(&mut self, position: usize, succeeded: bool) {
        self.members.retain(|&p| p != position);
        self.failed.retain(|&p| p != position);
        let into = if succeeded { &mut self.members } else { &mut self.failed };
        into.insert(into.partition_point(|&p| p < position), position);
    }

    /// How many evaluations have failed since the newest success.
    pub(super) fn failures_in_a_row(&self) -> usize {
        self.failed.iter().rev().take_while(|&&p| self.members.last().is_none_or(|&m| p > m)).count()
    }

    /// Marks the model as outdated by one more observation.
    pub(super) fn told_anew(&mut self) {
        self.fresh = self.fresh.saturating_add(1);
    }

    /// X′ = S⁻¹ Rᵀ (U − c) of the members, from their places in the box: the input of the next fit. (eq:input_transform_matrices)
    pub(super) fn fill_inputs(&self, observations: &Observations, buffers: &mut Buffers, scratch: &mut Vec<f64>) {
        let x = buffers.inputs(self.members.len(), self.frame.dim());
        scratch.resize(self.frame.dim(), 0.0);
        for (row, &p) in self.members.iter().enumerate() {
            self.frame.to_local(observations.unit(p), scratch);
            for (j, value) in scratch.iter().enumerate() {
                x[(row, j)] = *value;
            }
        }
    }

    /// Remembers how a step begins.
    pub(super) fn mark(&mut self) {
        let started = self.started();
        let before = self.before.get_or_insert_with(|| Before {
            frame: Frame::of_box(self.frame.dim()),
            beta: self.beta,
            members: Vec::new(),
            fresh: 0,
            started,
        });
        before.frame.copy_from(&self.frame);
        before.beta = self.beta;
        before.members.clone_from(&self.members);
        before.fresh = self.fresh;
        before.started = started;
    }

    /// Goes back to how the newest step began.
    pub(super) fn rewind(&mut self) {
        if let Some(before) = &mut self.before {
            self.frame.copy_from(&before.frame);
            self.beta = before.beta;
            self.members.clone_from(&before.members);
            self.fresh = before.fresh;
            if !before.started {
                self.before = None;
            }
        }
    }
}
