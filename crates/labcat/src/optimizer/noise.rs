//! The state of the noise estimates. Exact values have a variance of zero.

use crate::math;

/// Standard deviation of ln σ² between two steps, and the longest step.
const DRIFT: f64 = 0.2;
const LONGEST_STEP: f64 = 1.0;
/// How many repeated evaluations the memory holds.
const MEMORY: f64 = 6.0;
/// A point is evaluated again until repeated evaluations count as this many: the first one may show next to nothing of the noise.
const ENOUGH: f64 = 1.5;

/// Values that are tied at different points repeat by chance: an equal repeat counts as this much of one, and so many show exact values.
const TIED: f64 = 0.3;
const ENOUGH_TIED: f64 = 1.2;

/// What is known of the noise in one output: state.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Level {
    /// Standard deviation, in units of the output; 0 while values are taken as exact.
    pub(super) sigma: f64,
    /// Sum of the squares of what repeated evaluations differed by, and how many there were.
    squares: f64,
    repeats: f64,
}

impl Level {
    /// Takes in the square of what a repeated evaluation differed by, and whether values are `tied` at different points.
    pub(super) fn saw(&mut self, square: f64, tied: bool) {
        const REMEMBERED: f64 = 1.0 - 1.0 / MEMORY;
        if !square.is_finite() {
            return;
        }
        self.squares = (REMEMBERED * self.squares + square).min(f64::MAX);
        self.repeats = REMEMBERED * self.repeats + if tied && square == 0.0 { TIED } else { 1.0 };
        if self.sigma == 0.0 {
            self.sigma = (self.squares / self.repeats).sqrt();
        }
    }

    /// Whether repeated evaluations gave the same value, as exact ones do.
    pub(super) fn is_exact(&self, tied: bool) -> bool {
        self.squares == 0.0 && self.repeats >= if tied { ENOUGH_TIED } else { 1.0 }
    }

    /// Whether it was seen that there is noise, but not yet how much.
    pub(super) fn is_unsure(&self) -> bool {
        self.repeats > 0.0 && self.repeats < ENOUGH && self.sigma > 0.0
    }

    /// One step of ln σ² towards its most likely value, given its last one, what repeated evaluations have shown, and the slope and the information
    /// of a model with variances proportional to σ².
    pub(super) fn estimate(&mut self, (slope, information): (f64, f64)) {
        if self.sigma == 0.0 {
            return; // every evaluation was told with its own
        }
        let shown = 0.5 * self.squares / (self.sigma * self.sigma);
        let slope = slope + shown - 0.5 * self.repeats;
        let information = information + shown + 1.0 / (DRIFT * DRIFT);
        let sigma = self.sigma * math::exp(0.5 * (slope / information).clamp(-LONGEST_STEP, LONGEST_STEP));
        if sigma.is_finite() && sigma > 0.0 {
            self.sigma = sigma;
        }
    }

    #[cfg(feature = "serde")]
    fn is_valid(&self) -> bool {
        [self.sigma, self.squares, self.repeats].into_iter().all(|v| v.is_finite() && v >= 0.0)
    }
}

/// What a run knows of the noise: state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Noisy {
    /// In the objective.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub(super) objective: Level,
    /// In each measured constraint; empty while none was looked at.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) constraints: Vec<Level>,
    /// The best that the run's model knew of, mean plus standard deviation, and the place in the history by then.
    pub(super) best: Option<(f64, usize)>,
}

impl Noisy {
    /// Whether a state that was read can be worked with.
    #[cfg(feature = "serde")]
    pub(super) fn is_valid(&self) -> bool {
        std::iter::once(&self.objective).chain(&self.constraints).all(Level::is_valid)
            && self.best.is_none_or(|(bound, _)| bound.is_finite())
    }

    /// Takes in what the run's model knows of the best point after a step, mean plus standard deviation.
    pub(super) fn find(&mut self, bound: f64, told: usize) {
        if bound.is_finite() && self.best.is_none_or(|(best, _)| bound < best) {
            self.best = Some((bound, told));
        }
    }
}
