//! What the local model knows, in user units.

use super::Optimizer;
use super::config::Noise;
use super::dataset::Output;
use super::model::{Model, Workspace};
use super::noise::Found;
use super::overall;
use super::problem::{Problem, problem};
use super::propose::update_model;
use super::run::LocalRun;
use crate::domain::{Axis, PointError};
use crate::frame::normalise;
use crate::gp::likelihood::Curvature;
use crate::gp::{Buffers, Gp, Prior};
use crate::length_scale::{Ascent, LengthScales};
use crate::linalg::Matrix;
use std::cmp::Ordering;

/// The model behind [`Optimizer::relevance`]: observations per dimension and in all, its nugget, the prior on ln ℓ, Newton steps.
const RELEVANCE_POINTS: usize = 20;
const MOST_RELEVANCE_POINTS: usize = 400;
const RELEVANCE_NUGGET: f64 = 1e-4;
const RELEVANCE_SIGMA: f64 = 3.0;
const RELEVANCE_STEPS: usize = 30;

/// What the local model expects at a point.
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
    /// What the local model around the best point expects at a point; `None` until there is a model. It is the model of the newest
    /// step or, if something was told since, of the next one; after a restart, of the run that found the best point or, under noise,
    /// what is recommended.
    pub fn predict(&self, x: &[f64]) -> Result<Option<Prediction>, PointError> {
        Ok(self.predict_many(&[x])?.and_then(|p| p.first().copied()))
    }

    /// As [`Optimizer::predict`], for many points at the price of one fit.
    pub fn predict_many(&self, points: &[&[f64]]) -> Result<Option<Vec<Prediction>>, PointError> {
        for x in points {
            self.domain.check(x)?;
        }
        let Some((run, model)) = self.model_around_best() else { return Ok(None) };
        let d = self.domain.dim();
        let mut local = Matrix::zeros(points.len(), d);
        let mut x_local = vec![0.0; d];
        for (row, x) in points.iter().enumerate() {
            run.now.frame.to_local(&self.place(x), &mut x_local);
            for (j, v) in x_local.iter().enumerate() {
                local[(row, j)] = *v;
            }
        }
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        model.surrogate.gp.predict(&local, &mut k_star, &mut mean, &mut std);
        let in_user_units = |(&m, &s): (&f64, &f64)| Prediction {
            mean: self.config().direction.orient(model.outputs.to_user(m)),
            std: (s * model.outputs.slope(m)).min(f64::MAX),
        };
        Ok(Some(mean.iter().zip(&std).map(in_user_units).collect()))
    }

    /// The point to use: under noise the one with the best posterior, which need not be one that was evaluated, else the best
    /// evaluation; `None` before the first success.
    pub fn recommended(&self) -> Option<Recommendation> {
        if let Some((found, _)) = self.found_of_all() {
            let mut x = vec![0.0; self.domain.parameters().len()];
            self.domain.to_user(&found.u, &mut x);
            return Some(Recommendation { x, mean: self.config().direction.orient(found.mean), std: found.std });
        }
        let best = self.best()?;
        let sigma = if let Noise::Sigma(sigma) = self.config().noise { sigma } else { 0.0 };
        let std = best.outcome.std().filter(|_| self.config().noise != Noise::None).unwrap_or(sigma);
        Some(Recommendation { x: best.x.clone(), mean: best.outcome.value()?, std })
    }

    /// What is recommended under noise, and whether the newest run knows it best.
    fn found_of_all(&self) -> Option<(Found, bool)> {
        self.found_now().map_or_else(|| Some((self.weighed(self.found.clone()?), false)), |now| Some(self.choose(now)))
    }

    /// What is recommended, given what the newest run would, and whether that run knows it best.
    fn choose(&self, now: Found) -> (Found, bool) {
        let Some(earlier) = &self.found else {
            return (self.weighed(now), true);
        };
        if !now.beats(earlier) {
            return (self.weighed(earlier.clone()), false);
        }
        let (place, compared) = (now.u.clone(), now.supersedes);
        let found = self.weighed(now);
        let distance = |u: &[f64]| u.iter().zip(&found.u).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let newest = !compared && distance(&place) <= distance(&earlier.u);
        (found, newest)
    }

    /// What is recommended instead by a model of all observations, if that is surely better.
    fn weighed(&self, found: Found) -> Found {
        let problem = self.problem();
        overall::recommend(problem, problem.sigma(&self.run, Output::Objective), &found).unwrap_or(found)
    }

    /// What the newest run would recommend under noise, with all that was told.
    fn found_now(&self) -> Option<Found> {
        let ready = self.run.started() || self.run.now.members.len() > self.domain.dim() + 1;
        if !(ready && self.is_noisy()) {
            return None;
        }
        if self.run.fresh() == 0 {
            return self.run.now.noise.found.clone();
        }
        let mut run = self.run.clone();
        let problem = self.problem();
        update_model(problem, &mut run, &mut Workspace::default()).ok()?;
        run.now.noise.found
    }

    /// What a look at the model of a run reads.
    fn problem(&self) -> Problem<'_> {
        Problem { ends: false, ..problem!(self) }
    }

    /// Whether a target is met: by a value, or under noise by what is recommended, even if its mean is wrong by its standard deviation.
    pub(super) fn has_met(&self, target: f64) -> bool {
        if self.has_noise() {
            let found = self.found_now().into_iter().chain(self.found.clone());
            return found.into_iter().any(|found| found.bound() <= target);
        }
        self.observations.incumbent().is_some_and(|best| best <= target)
    }

    /// Whether values are known to have noise.
    pub fn has_noise(&self) -> bool {
        self.found.is_some() || self.is_noisy()
    }

    /// Whether an output of the newest run has noise.
    fn is_noisy(&self) -> bool {
        let problem = self.problem();
        problem.outputs().any(|output| problem.is_noisy(&self.run, output))
    }

    /// Standard deviation of the noise, in units of the objective: as given or as estimated so far; `None` if values are taken as
    /// exact or each was told with its own.
    pub fn noise_sigma(&self) -> Option<f64> {
        Some(self.problem().sigma(&self.run, Output::Objective)).filter(|sigma| *sigma > 0.0)
    }

    /// Keeps what the newest run, which is over, would recommend if it is the best so far, and says whether that run knows it best; `None`
    /// without noise.
    pub(super) fn keep_found(&mut self) -> Option<bool> {
        let new = self.run.now.noise.found.take()?;
        let (found, newest) = self.choose(new);
        self.found = Some(found);
        Some(newest)
    }

    /// How much each parameter matters: its share of the squared inverse length-scales, in units of its range, of a model along the
    /// parameters' own axes over all evaluations; `None` until there are enough of them, and where no parameter is free.
    pub fn relevance(&self) -> Option<Vec<f64>> {
        let (d, observations) = (self.domain.dim(), &self.observations);
        let mut positions: Vec<usize> = (0..observations.len()).filter(|&p| observations.value(p).is_some()).collect();
        if d == 0 || positions.len() < d + 2 {
            return None;
        }
        // Most lie where a run converged and say little of what it crossed: every k-th in the order of values stays.
        positions
            .sort_by(|a, b| observations.value(*a).partial_cmp(&observations.value(*b)).unwrap_or(Ordering::Equal));
        let every = positions.len().div_ceil((RELEVANCE_POINTS * d).min(MOST_RELEVANCE_POINTS));
        let positions: Vec<usize> = positions.into_iter().step_by(every).collect();
        let mut y: Vec<f64> = positions.iter().filter_map(|&p| observations.value(p)).collect();
        normalise(&mut y, true, &mut Vec::new());

        // Each axis in units of its own spread.
        let n = positions.len() as f64;
        let moment = |j: usize, about: f64| {
            positions.iter().map(|&p| (observations.unit(p)[j] - about).powi(2)).sum::<f64>() / n
        };
        let mean = |j: usize| positions.iter().map(|&p| observations.unit(p)[j]).sum::<f64>() / n;
        let spread: Vec<f64> = (0..d).map(|j| moment(j, mean(j)).sqrt()).collect();
        let mut buffers = Buffers::default();
        let x = buffers.inputs(positions.len(), d);
        for (row, &p) in positions.iter().enumerate() {
            for (j, u) in observations.unit(p).iter().enumerate() {
                x[(row, j)] = if spread[j] > 0.0 { u / spread[j] } else { 0.0 }; // never moved: no say
            }
        }
        let prior = Prior::of(&y, self.config().kernel, 1.0, RELEVANCE_NUGGET);
        let gp = Gp::fit_with_jitter(prior, &y, buffers).ok()?;
        let mut scales = LengthScales::default();
        let how = Ascent { steps: RELEVANCE_STEPS, curvature: Curvature::AverageInformation, longest: 1.0 };
        scales.improve(gp, &y, Some(RELEVANCE_SIGMA), how, &mut Buffers::default());
        let mut weights = vec![0.0; self.domain.parameters().len()];
        for (j, (l, s)) in scales.ell.iter().zip(&spread).enumerate().filter(|(_, (_, s))| **s > 0.0) {
            weights[self.domain.parameter_of(j)] += (l * s).powi(-2);
        }
        let total: f64 = weights.iter().sum();
        let equal = 1.0 / self.domain.parameters().len() as f64;
        Some(weights.into_iter().map(|w| if total > 0.0 && total.is_finite() { w / total } else { equal }).collect())
    }

    /// The run that found the best point, under noise what is recommended (or, before it has a model, the newest one), and its model.
    fn model_around_best(&self) -> Option<(LocalRun, Model)> {
        let recommended = self.found_of_all().map(|(_, newest)| newest);
        let of_best = match (recommended, &self.best_run) {
            (Some(true), _) => Some(self.run.number),
            (Some(false), Some(over)) => Some(over.number),
            _ => self.observations.best().map(|p| self.observations.all()[p].run),
        };
        let ready = |run: &&LocalRun| run.started() || (recommended == Some(true) && run.number == self.run.number);
        let runs = [Some(&self.run), self.best_run.as_ref()].into_iter().flatten().filter(ready);
        let mut run = runs.max_by_key(|run| Some(run.number) == of_best)?.clone();
        let problem = self.problem();
        let model = update_model(problem, &mut run, &mut Workspace::default()).ok()?;
        Some((run, model))
    }

    /// The trust region, while a restart fills its design that of the run that found the best point; `None` until there is a model.
    pub fn trust_region(&self) -> Option<Region> {
        let run = [Some(&self.run), self.best_run.as_ref()].into_iter().flatten().find(|run| run.started())?;
        let (frame, d) = (&run.now.frame, self.domain.dim());
        let mut centre = vec![0.0; self.domain.parameters().len()];
        self.domain.to_user(frame.centre(), &mut centre);
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
