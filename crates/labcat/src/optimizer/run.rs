//! One local run: its design, its cache of observations, its frame. The serialisable part of the algorithm's state.

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
    /// The local frame, as the newest step left it.
    pub(super) frame: Frame,
    /// Observations of this run told since the newest step (or changed since).
    pub(super) fresh: usize,
    /// What the newest step began with: the step can be done again from here, bit for bit.
    pub(super) before: Option<Before>,
}

/// A run as a step found it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Before {
    pub(super) frame: Frame,
    pub(super) members: Vec<usize>,
    pub(super) fresh: usize,
    pub(super) started: bool,
}

impl LocalRun {
    /// A run whose first suggestions are `first` (in the box, if given) and a Latin hypercube, `count` in all.
    pub(super) fn new(number: usize, d: usize, count: usize, first: Option<Vec<f64>>, rng: &mut Rng) -> Self {
        let mut points = design::latin_hypercube(rng, count - usize::from(first.is_some()), d);
        points.reverse();
        points.extend(first);
        Self { number, design: points, members: Vec::new(), frame: Frame::of_box(d), fresh: 0, before: None }
    }

    /// Whether a model-based step was made.
    pub(super) fn started(&self) -> bool {
        self.before.is_some()
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
            members: Vec::new(),
            fresh: 0,
            started,
        });
        before.frame.copy_from(&self.frame);
        before.members.clone_from(&self.members);
        before.fresh = self.fresh;
        before.started = started;
    }

    /// Goes back to how the newest step began.
    pub(super) fn rewind(&mut self) {
        if let Some(before) = &mut self.before {
            self.frame.copy_from(&before.frame);
            self.members.clone_from(&before.members);
            self.fresh = before.fresh;
            if !before.started {
                self.before = None;
            }
        }
    }
}
