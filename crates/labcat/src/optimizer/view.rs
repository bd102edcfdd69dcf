//! What the local model knows, in user units.

use super::Optimizer;
use super::model::{Fit, Model, Workspace};
use super::propose::{Problem, update_model};
use super::run::LocalRun;
use crate::domain::PointError;
use crate::gp::PointPrediction;
use crate::linalg::Matrix;

/// What the local model expects at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Expected value.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
}

/// The trust region, for drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Its centre: the best point of the run.
    pub centre: Vec<f64>,
    /// Its half-axes: the vectors from the centre to the middles of its faces (to first order on a log scale).
    pub half_axes: Vec<Vec<f64>>,
}

impl Optimizer {
    /// What the local model around the best point expects at a point; `None` until there is a model. It is the model of the newest
    /// step or, if something was told since, of the next one; after a restart, of the run that found the best point.
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
        model.fit.gp.predict(&local, &mut k_star, &mut mean, &mut std);
        let in_user_units = |(&m, &s): (&f64, &f64)| Prediction {
            mean: self.config().direction.orient(model.outputs.to_user(m)),
            std: s * model.outputs.slope(m),
        };
        Ok(Some(mean.iter().zip(&std).map(in_user_units).collect()))
    }

    /// How much each parameter matters near the best point: its share of the squared slopes of the model around it, per width of its
    /// range, over the observations in the model, the better the weightier; `None` until there is a model.
    pub fn relevance(&self) -> Option<Vec<f64>> {
        let (run, Model { fit: Fit { gp, .. }, outputs, .. }) = self.model_around_best()?;
        let d = self.domain.dim();
        let (mut x, mut slopes, mut at) = (vec![0.0; d], vec![0.0; d], PointPrediction::default());
        let mut shares = vec![0.0; d];
        for row in 0..gp.len() {
            for (j, x) in x.iter_mut().enumerate() {
                *x = gp.inputs()[(row, j)];
            }
            gp.predict_with_gradient(&x, &mut at);
            run.now.frame.gradient_in_box(&at.mean_gradient, &mut slopes);
            // In units of the range of the outputs: only the shares matter.
            let weight =
                (1.0 - at.mean).clamp(0.0, 1.0) * (outputs.slope(at.mean) / outputs.range().max(f64::MIN_POSITIVE));
            for (share, slope) in shares.iter_mut().zip(&slopes) {
                *share += (weight * slope) * (weight * slope);
            }
        }
        let total: f64 = shares.iter().sum();
        let equal = 1.0 / d as f64;
        Some(shares.into_iter().map(|s| if total > 0.0 && total.is_finite() { s / total } else { equal }).collect())
    }

    /// The run that found the best point (or, before it has a model, the newest one), and its model.
    fn model_around_best(&self) -> Option<(LocalRun, Model)> {
        let of_best = self.observations.best().map(|p| self.observations.all()[p].run);
        let runs = [Some(&self.run), self.best_run.as_ref()].into_iter().flatten().filter(|run| run.started());
        let mut run = runs.max_by_key(|run| Some(run.number) == of_best)?.clone();
        let Self { domain, settings, observations, pending, seen, .. } = self;
        let problem = Problem { domain, settings, observations, pending, seen, ends: false };
        let model = update_model(problem, &mut run, &mut Workspace::default()).ok()?;
        Some((run, model))
    }

    /// The trust region; `None` until there is a model.
    pub fn trust_region(&self) -> Option<Region> {
        if !self.run.started() {
            return None;
        }
        let (frame, d) = (&self.run.now.frame, self.domain.dim());
        let mut centre = vec![0.0; d];
        self.domain.to_user(frame.centre(), &mut centre);
        let half_axis = |i: usize| -> Vec<f64> {
            let length = self.run.now.beta * frame.scale()[i];
            (0..d).map(|j| frame.rotation()[(j, i)] * length * self.domain.stretch(j, frame.centre()[j])).collect()
        };
        Some(Region { centre, half_axes: (0..d).map(half_axis).collect() })
    }

    /// What the newest step of this object did; `None` before the first.
    pub fn report(&self) -> Option<&super::report::StepReport> {
        self.report.as_ref()
    }
}
