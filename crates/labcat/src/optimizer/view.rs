//! Results in user units: best point, recommendation, predictions, trust region.

use super::Optimizer;
use super::config::Noise;
use super::dataset::Output;
use super::posterior::Posterior;
use super::problem::{Problem, problem};
use super::residuals::{self, LocalResiduals};
use crate::domain::{Axis, PointError};

/// What is expected at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
}

/// The point to use, and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Where, in user units.
    pub x: Vec<f64>,
    /// Expected value.
    pub mean: f64,
    /// Standard deviation of that; 0 if values are exact.
    pub std: f64,
}

/// The trust region, for drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its centre: the best point of the run.
    pub centre: Vec<f64>,
    /// Its half-axes: the vectors from the centre to the middles of its faces (to first order on a log scale). Choices have none:
    /// all of them are always in reach.
    pub half_axes: Vec<Vec<f64>>,
}

impl Optimizer {
    /// What the evaluations around a point say of the residuals there and of their derivatives; `None` if they are too few, or none were told.
    pub fn residuals_around(&self, x: &[f64]) -> Result<Option<LocalResiduals>, PointError> {
        self.domain.check(x)?;
        Ok(residuals::around(&self.domain, &self.observations, x))
    }

    /// What all observations say of a point; `None` while there is next to nothing to go by.
    pub fn predict(&self, x: &[f64]) -> Result<Option<Prediction>, PointError> {
        Ok(self.predict_many(&[x])?.and_then(|p| p.first().copied()))
    }

    /// As [`Optimizer::predict`], for many points at the price of one fit.
    pub fn predict_many(&self, points: &[&[f64]]) -> Result<Option<Vec<Prediction>>, PointError> {
        for x in points {
            self.domain.check(x)?;
        }
        let Some(posterior) = self.posterior() else { return Ok(None) };
        let places: Vec<Vec<f64>> = points.iter().map(|x| self.domain.place(x)).collect();
        let orient = |(mean, std)| Prediction { mean: self.config().direction.orient(mean), std };
        Ok(Some(posterior.at(places.iter().map(Vec::as_slice)).into_iter().map(orient).collect()))
    }

    /// The point to use: under noise the one with the best posterior, which need not be one that was evaluated, else the best
    /// evaluation; `None` before the first success. Where residuals are told, its mean is the sum of the squares of expected ones.
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
        Posterior::of(self.problem(), &self.run)
    }

    /// What a look at the model of a run reads.
    fn problem(&self) -> Problem<'_> {
        Problem { ends: false, ..problem!(self) }
    }

    /// Whether a target is met: by a value, or under noise by what is recommended, even if its mean is wrong by its standard deviation. All
    /// observations are asked only once the model of a run says so.
    pub(super) fn has_met(&self, target: f64) -> bool {
        if !self.has_noise() {
            return self.observations.incumbent().is_some_and(|best| best <= target);
        }
        let known = self.run.now.noise.best.map(|(bound, _)| bound);
        known.into_iter().chain(self.bound).any(|bound| bound <= target)
            && self.recommended().is_some_and(|r| self.config().direction.orient(r.mean) + r.std <= target)
    }

    /// Whether values are known to have noise.
    pub fn has_noise(&self) -> bool {
        let problem = self.problem();
        let told = |output: Output| (0..self.observations.len()).any(|p| problem.told_std(output, p) > Some(0.0));
        problem.outputs().any(|output| problem.sigma(&self.run, output) > 0.0 || told(output))
    }

    /// Standard deviation of the noise, in units of the objective: as given or as estimated so far; `None` if values are taken as
    /// exact or each was told with its own.
    pub fn noise_sigma(&self) -> Option<f64> {
        Some(self.problem().sigma(&self.run, Output::Objective)).filter(|sigma| *sigma > 0.0)
    }

    /// How much each parameter matters: its share in how the objective varies over the box, by all observations; `None` while there is too
    /// little to go by, and where no parameter is free.
    pub fn relevance(&self) -> Option<Vec<f64>> {
        Some(self.importance()?.into_iter().map(|share| share.mean).collect())
    }

    /// As [`Optimizer::relevance`], with the standard deviation of each share.
    pub fn importance(&self) -> Option<Vec<Prediction>> {
        let d = self.domain.dim();
        let values = (0..self.observations.len()).filter(|&p| self.observations.value(p).is_some()).count();
        if d == 0 || values < d + 2 {
            return None;
        }
        let shares = self.posterior()?.shares(&self.domain)?;
        Some(shares.into_iter().map(|(mean, std)| Prediction { mean, std }).collect())
    }

    /// The trust region, while a restart fills its design that of the run that found the best point; `None` until there is a model.
    pub fn trust_region(&self) -> Option<Region> {
        let run = [Some(&self.run), self.best_run.as_ref()].into_iter().flatten().find(|run| run.started())?;
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
