//! Results in user units: best point, recommendation, predictions, trust region.

use super::Optimizer;
use super::config::Noise;
use super::dataset::Output;
use super::posterior::Posterior;
use super::problem::{Problem, problem};
use super::residuals::{self, LocalResiduals};
use crate::domain::{Axis, PointError};

/// A prediction at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
}

/// The recommended point, with its expected value.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// The point, in user units.
    pub x: Vec<f64>,
    /// Expected value.
    pub mean: f64,
    /// Standard deviation of the expected value; 0 if values are exact.
    pub std: f64,
}

/// The trust region, for drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its centre: the best point of the run.
    pub centre: Vec<f64>,
    /// Its half-axes: the vectors from the centre to the middles of its faces (to first order on a log scale). Categories have none,
    /// because every label is always within reach.
    pub half_axes: Vec<Vec<f64>>,
}

impl Optimizer {
    /// The residuals and their derivatives at a point, estimated from the evaluations around it; `None` if there are too few, or no residuals.
    pub fn residuals_around(&self, x: &[f64]) -> Result<Option<LocalResiduals>, PointError> {
        self.domain.check(x)?;
        Ok(residuals::around(self.problem(), x))
    }

    /// The prediction of a model of all observations; `None` while there are too few.
    pub fn predict(&self, x: &[f64]) -> Result<Option<Prediction>, PointError> {
        Ok(self.predict_many(&[x])?.and_then(|p| p.first().copied()))
    }

    /// Like [`Optimizer::predict`], for many points with a single fit.
    pub fn predict_many(&self, points: &[&[f64]]) -> Result<Option<Vec<Prediction>>, PointError> {
        for x in points {
            self.domain.check(x)?;
        }
        let Some(posterior) = self.posterior() else { return Ok(None) };
        let prediction = |x: &&[f64]| {
            let (mean, std) = posterior.in_units(&self.domain.place(x));
            Prediction { mean: self.config().direction.orient(mean), std }
        };
        Ok(Some(points.iter().map(prediction).collect()))
    }

    /// The recommended point: with noise the one with the best posterior, which may never have been evaluated, otherwise the best
    /// evaluation. `None` before the first success. If residuals are told, its mean is the sum of the squares of the expected residuals.
    pub fn recommended(&self) -> Option<Recommendation> {
        let of_sum = || self.posterior()?.lowest(self.problem());
        let lowest = || residuals::recommended(self.problem()).or_else(of_sum);
        if let Some((u, mean, std)) = self.has_noise().then(lowest).flatten() {
            return Some(Recommendation { x: self.domain.point(&u), mean: self.config().direction.orient(mean), std });
        }
        let best = self.best()?;
        let sigma = if let Noise::Sigma(sigma) = self.config().noise { sigma } else { 0.0 };
        let std = best.outcome.std().filter(|_| self.config().noise != Noise::None).unwrap_or(sigma);
        Some(Recommendation { x: best.x.clone(), mean: best.outcome.value()?, std })
    }

    /// The models of all observations.
    fn posterior(&self) -> Option<Posterior> {
        Posterior::of(self.problem(), &self.state.run)
    }

    /// The parts that the model of a run is read from.
    fn problem(&self) -> Problem<'_> {
        Problem { ends: false, ..problem!(self) }
    }

    /// Whether the target is met: by a value, or with noise by the recommended point, even one standard deviation above its mean. (The posterior is
    /// computed only if the model of a run meets it.)
    pub(super) fn has_met(&self, target: f64) -> bool {
        let by_value = self.observations.incumbent().is_some_and(|best| best <= target);
        let known = self.state.run.now.noise.best.map(|(bound, _)| bound);
        let by_model = known.into_iter().chain(self.state.bound).any(|bound| bound <= target);
        let by_posterior = || self.recommended().map(|r| self.config().direction.orient(r.mean) + r.std <= target);
        // Whether there is noise takes a look at every evaluation, so that comes last.
        (by_value || by_model) && if self.has_noise() { by_model && by_posterior() == Some(true) } else { by_value }
    }

    /// Whether values are known to have noise.
    pub fn has_noise(&self) -> bool {
        let problem = self.problem();
        let told = |output: Output| (0..self.observations.len()).any(|p| problem.told_std(output, p) > Some(0.0));
        problem.outputs().any(|output| problem.sigma(&self.state.run, output) > 0.0 || told(output))
    }

    /// Standard deviation of the noise, as given or as estimated so far. `None` if values count as exact, or if each was told with its own.
    pub fn noise_sigma(&self) -> Option<f64> {
        Some(self.problem().sigma(&self.state.run, Output::Objective)).filter(|sigma| *sigma > 0.0)
    }

    /// How much each parameter matters: its share of the variation of the objective over the box. `None` with too few observations.
    pub fn relevance(&self) -> Option<Vec<f64>> {
        Some(self.importance()?.into_iter().map(|share| share.mean).collect())
    }

    /// Like [`Optimizer::relevance`], with the standard deviation of each share.
    pub fn importance(&self) -> Option<Vec<Prediction>> {
        let d = self.domain.dim();
        let values = (0..self.observations.len()).filter(|&p| self.observations.value(p).is_some()).count();
        if d == 0 || values < d + 2 {
            return None;
        }
        let shares = self.posterior()?.shares(&self.domain)?;
        Some(shares.into_iter().map(|(mean, std)| Prediction { mean, std }).collect())
    }

    /// The trust region; during the initial design of a restart, that of the run that found the best point. `None` until there is a model.
    pub fn trust_region(&self) -> Option<Region> {
        let run =
            [Some(&self.state.run), self.state.best_run.as_ref()].into_iter().flatten().find(|run| run.started())?;
        let (frame, d) = (&run.now.frame, self.domain.dim());
        let centre = self.domain.point(frame.centre());
        let is_choice = |i: &usize| self.domain.axes()[*i] == Axis::Choice;
        let half_axis = |i: usize| -> Vec<f64> {
            let length = run.now.beta * frame.scale()[i];
            let mut half_axis = vec![0.0; centre.len()];
            for j in (0..d).filter(|j| !is_choice(j)) {
                half_axis[self.domain.parameter_of(j)] =
                    frame.rotation()[(j, i)] * length * self.domain.stretch(j, frame.centre()[j]);
            }
            half_axis
        };
        let half_axes = (0..d).filter(|i| !is_choice(i)).map(half_axis).collect();
        Some(Region { centre, half_axes })
    }

    /// What the newest step of this object did; `None` before the first.
    pub fn report(&self) -> Option<&super::report::StepReport> {
        self.report.as_ref()
    }
}
