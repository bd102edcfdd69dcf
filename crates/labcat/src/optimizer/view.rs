//! What the local model knows, in user units.

use super::Optimizer;
use crate::domain::PointError;
use crate::frame::normalise;
use crate::gp::{Buffers, Gp, Prior};
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
    /// What the local model expects at a point; `None` until there is a model.
    pub fn predict(&self, x: &[f64]) -> Result<Option<Prediction>, PointError> {
        Ok(self.predict_many(&[x])?.and_then(|p| p.first().copied()))
    }

    /// As [`Optimizer::predict`], for many points at the price of one fit.
    pub fn predict_many(&self, points: &[&[f64]]) -> Result<Option<Vec<Prediction>>, PointError> {
        for x in points {
            self.domain.check(x)?;
        }
        let (run, d) = (&self.run, self.domain.dim());
        let mut y: Vec<f64> = run.now.members.iter().filter_map(|&p| self.observations.value(p)).collect();
        if !run.started() || y.is_empty() {
            return Ok(None);
        }
        let outputs = normalise(&mut y, self.settings.switches.warp, &mut Vec::new());
        let mut buffers = Buffers::default();
        run.fill_inputs(&self.observations, &mut buffers, &mut Vec::new());
        let prior =
            Prior::of(&y, self.settings.switches.kernel, self.settings.switches.signal, self.settings.switches.nugget);
        let Ok(gp) = Gp::fit_with_jitter(prior, &y, buffers) else { return Ok(None) };

        let mut local = Matrix::zeros(points.len(), d);
        let mut x_local = vec![0.0; d];
        for (row, x) in points.iter().enumerate() {
            run.now.frame.to_local(&self.place(x), &mut x_local);
            for (j, v) in x_local.iter().enumerate() {
                local[(row, j)] = *v;
            }
        }
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        gp.predict(&local, &mut k_star, &mut mean, &mut std);
        let in_user_units = |(&m, &s): (&f64, &f64)| Prediction {
            mean: self.settings.switches.direction.orient(outputs.to_user(m)),
            std: s * outputs.slope(m),
        };
        Ok(Some(mean.iter().zip(&std).map(in_user_units).collect()))
    }

    /// How much each parameter matters near the best point: its share of the squared inverse length-scales; `None` until
    /// there is a model.
    pub fn relevance(&self) -> Option<Vec<f64>> {
        self.run.started().then(|| self.run.now.frame.relevance())
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
