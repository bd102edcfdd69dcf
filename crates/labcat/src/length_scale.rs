//! The most likely length-scales: a fixed, small number of Newton or gradient steps on the log posterior in ln ℓ.

use crate::gp::likelihood::{Curvature, Derivatives};
use crate::gp::{Buffers, Gp};
use crate::linalg::{self, Matrix};
use crate::math;

/// Above this dimension the d products of n × n matrices in the exact H cost more than the rest of a step together (figures in
/// `docs/divergences.md`), and every step with it is a gradient step. The average information has no such limit.
pub(crate) const HESSIAN_MAX_DIM: usize = 32;

/// What kind of step the length-scales took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum StepKind {
    /// −(H − I/σ²_prior)⁻¹ J: the augmented Hessian, or what stands for it, was negative definite.
    Newton,
    /// Along the gradient.
    Gradient,
    /// No length along the direction was accepted; the length-scales stay.
    #[default]
    Stay,
}

/// How the length-scales are improved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ascent {
    pub(crate) steps: usize,
    pub(crate) curvature: Curvature,
    /// No ln ℓ changes by more than this in a step; infinite for no limit.
    pub(crate) longest: f64,
}

/// Buffers of the length-scale step.
#[derive(Clone, Debug, Default)]
pub(crate) struct LengthScales {
    derivatives: Derivatives,
    curvature: Matrix,
    ln_ell: Vec<f64>,
    trial: Vec<f64>,
    direction: Vec<f64>,
    gradient: Vec<f64>,
    /// ℓ* of the newest step.
    pub(crate) ell: Vec<f64>,
    /// Slope and information of its model in ln σ² of the noise.
    pub(crate) noise: (f64, f64),
}

impl LengthScales {
    /// Improves log p(Y′ | X′, ℓ) + log p(ℓ | σ_prior) by `steps` steps from ℓ = 1 and gives the model at the new
    /// length-scales, which [`LengthScales::ell`] holds: the inputs of that model are already divided by them, so it is the model
    /// of the rescaled frame. (eq:argmax_thetas)
    pub(crate) fn improve(
        &mut self,
        mut gp: Gp,
        y: &[f64],
        prior_sigma: Option<f64>,
        how: Ascent,
        spare: &mut Buffers,
    ) -> (Gp, StepKind) {
        let d = gp.inputs().cols();
        self.ln_ell.clear();
        self.ln_ell.resize(d, 0.0);
        let mut kind = StepKind::Stay;
        for _ in 0..how.steps {
            kind = self.ascent_direction(&gp, prior_sigma, how.curvature);
            self.shorten(how.longest);
            if !self.line_search(&mut gp, y, prior_sigma, spare) {
                kind = StepKind::Stay;
                break;
            }
        }
        self.ell.clear();
        self.ell.extend(self.ln_ell.iter().map(|l| math::exp(*l)));
        (gp, kind)
    }

    /// The direction of the next step and the gradient of the log posterior.
    fn ascent_direction(&mut self, gp: &Gp, prior_sigma: Option<f64>, curvature: Curvature) -> StepKind {
        let d = self.ln_ell.len();
        let affordable = curvature == Curvature::AverageInformation || d <= HESSIAN_MAX_DIM;
        let curvature = affordable.then_some(curvature);
        self.derivatives.compute(gp, curvature);
        self.noise = if gp.noise().is_empty() { (0.0, 0.0) } else { gp.noise_slopes(self.derivatives.inverse()) };
        let precision = prior_sigma.map_or(0.0, |sigma| 1.0 / (sigma * sigma));
        self.gradient.clear();
        // J − ln ℓ / σ²_prior
        self.gradient.extend(self.derivatives.gradient.iter().zip(&self.ln_ell).map(|(j, l)| j - precision * l));
        self.direction.clear();
        self.direction.extend_from_slice(&self.gradient);
        if curvature.is_some() {
            // −(H − I/σ²_prior), positive definite exactly if the factorisation succeeds. (eq:log_lik_Hess_aug)
            self.curvature.copy_from(&self.derivatives.hessian);
            self.curvature.scale(-1.0);
            for i in 0..d {
                self.curvature[(i, i)] += precision;
            }
            if linalg::cholesky(&mut self.curvature).is_ok() {
                linalg::solve(&self.curvature, &mut self.direction);
                return StepKind::Newton;
            }
        }
        // The gradient in the metric of the prior, σ²_prior J: the Newton step of a flat likelihood. Without a prior, and
        // wherever that is longer, a step of length one in ln ℓ.
        let norm = linalg::dot(&self.gradient, &self.gradient).sqrt();
        let length = prior_sigma.map_or(f64::INFINITY, |sigma| sigma * sigma).min(1.0 / norm);
        for p in &mut self.direction {
            *p *= length;
        }
        StepKind::Gradient
    }

    /// Shortens the direction until no component is longer than `longest`: where the likelihood is nearly flat, a full Newton step is far too long.
    fn shorten(&mut self, longest: f64) {
        let length = self.direction.iter().fold(0.0_f64, |a, p| a.max(p.abs()));
        if length > longest {
            for p in &mut self.direction {
                *p *= longest / length;
            }
        }
    }

    /// Backtracking from the full step: halved until the log posterior gains at least 10⁻⁴ of what the slope predicts
    /// (Armijo's rule), at most ten times. On success `gp` becomes the model there. A length at which K cannot be factored is refused as well.
    fn line_search(&mut self, gp: &mut Gp, y: &[f64], prior_sigma: Option<f64>, spare: &mut Buffers) -> bool {
        const ACCEPT: f64 = 1e-4;
        const HALF: f64 = 0.5;
        const TRIALS: usize = 10;
        let slope = linalg::dot(&self.gradient, &self.direction);
        if !(slope.is_finite() && slope > 0.0) {
            return false;
        }
        let start = gp.log_likelihood() + log_prior(&self.ln_ell, prior_sigma);
        let (n, d) = (gp.inputs().rows(), gp.inputs().cols());
        let mut t = 1.0;
        for _ in 0..TRIALS {
            self.trial.clear();
            self.trial.extend(self.ln_ell.iter().zip(&self.direction).map(|(l, p)| l + t * p));
            let x = spare.inputs(n, d);
            for i in 0..d {
                let shrink = math::exp(-t * self.direction[i]);
                for (to, from) in x.col_mut(i).iter_mut().zip(gp.inputs().col(i)) {
                    *to = from * shrink;
                }
            }
            spare.set_noise(gp.noise());
            match Gp::fit(*gp.prior(), y, std::mem::take(spare)) {
                Ok(trial) => {
                    let gain = trial.log_likelihood() + log_prior(&self.trial, prior_sigma) - start;
                    if gain >= ACCEPT * t * slope {
                        self.ln_ell.copy_from_slice(&self.trial);
                        *spare = std::mem::replace(gp, trial).into_buffers();
                        return true;
                    }
                    *spare = trial.into_buffers();
                }
                Err((_, buffers)) => *spare = buffers,
            }
            t *= HALF;
        }
        false
    }
}

/// −Σ (ln ℓ_i)² / (2 σ²_prior), up to a constant. (eq:length_scale_prior)
fn log_prior(ln_ell: &[f64], prior_sigma: Option<f64>) -> f64 {
    prior_sigma.map_or(0.0, |sigma| -0.5 * linalg::dot(ln_ell, ln_ell) / (sigma * sigma))
}

#[cfg(test)]
mod tests;
