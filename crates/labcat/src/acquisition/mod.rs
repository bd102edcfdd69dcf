//! What a candidate is worth, and where that is largest.

pub(crate) mod maximise;

use crate::math;

/// The worth of evaluating a point where the model predicts `mean` ± `std`, given the best value so far; larger is better.
pub trait Acquisition {
    /// The worth.
    fn value(&self, mean: f64, std: f64, best: f64) -> f64;
    /// Its derivatives in `mean` and `std`.
    fn slopes(&self, mean: f64, std: f64, best: f64) -> (f64, f64);
}

/// Expected improvement: σ [z Φ(z) + φ(z)], z = (y_min − μ)/σ. (eq:EI)
#[derive(Clone, Copy, Debug)]
pub struct ExpectedImprovement;

impl Acquisition for ExpectedImprovement {
    fn value(&self, mean: f64, std: f64, best: f64) -> f64 {
        let z = (best - mean) / std;
        std * (z * math::normal_cdf(z) + math::normal_pdf(z))
    }

    fn slopes(&self, mean: f64, std: f64, best: f64) -> (f64, f64) {
        let z = (best - mean) / std;
        (-math::normal_cdf(z), math::normal_pdf(z))
    }
}

/// The logarithm of [`ExpectedImprovement`], which never underflows: the same maximiser, with a usable gradient far from it.
#[derive(Clone, Copy, Debug)]
pub struct LogExpectedImprovement;

/// Below this z the tail of the normal distribution is expanded in 1/z²: there the first term left out and the cancellation in
/// z Φ(z) + φ(z) are equally small, 10⁻¹¹ of h.
const FAR_TAIL: f64 = -30.0;

impl LogExpectedImprovement {
    /// ln h(z) and (Φ/h, φ/h) for h(z) = z Φ(z) + φ(z).
    fn parts(z: f64) -> (f64, f64, f64) {
        if z > FAR_TAIL {
            let (cdf, pdf) = (math::normal_cdf(z), math::normal_pdf(z));
            let h = z * cdf + pdf;
            return (math::ln(h), cdf / h, pdf / h);
        }
        // With t = 1/z²: Φ = φ/|z| (1 − t + 3t² − 15t³ + …) and h = φ t (1 − 3t + 15t² − 105t³ + …).
        let t = 1.0 / (z * z);
        let tail = 1.0 - t * (1.0 - t * (3.0 - t * (15.0 - 105.0 * t)));
        let h = 1.0 - t * (3.0 - t * (15.0 - t * (105.0 - 945.0 * t)));
        let ln_pdf = -0.5 * z * z - 0.5 * math::ln(2.0 * math::PI);
        (ln_pdf + math::ln(t * h), -z * tail / h, z * z / h)
    }
}

impl Acquisition for LogExpectedImprovement {
    fn value(&self, mean: f64, std: f64, best: f64) -> f64 {
        math::ln(std) + Self::parts((best - mean) / std).0
    }

    fn slopes(&self, mean: f64, std: f64, best: f64) -> (f64, f64) {
        let (_, cdf, pdf) = Self::parts((best - mean) / std);
        (-cdf / std, pdf / std)
    }
}

/// The lower confidence bound, negated: κ σ − μ.
#[derive(Clone, Copy, Debug)]
pub struct LowerConfidenceBound {
    /// κ ≥ 0: how many standard deviations of optimism.
    pub kappa: f64,
}

impl Acquisition for LowerConfidenceBound {
    fn value(&self, mean: f64, std: f64, _best: f64) -> f64 {
        self.kappa * std - mean
    }

    fn slopes(&self, _mean: f64, _std: f64, _best: f64) -> (f64, f64) {
        (-1.0, self.kappa)
    }
}

/// The acquisition function of an optimizer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum AcquisitionKind {
    /// [`ExpectedImprovement`], the paper's.
    #[default]
    ExpectedImprovement,
    /// [`LogExpectedImprovement`].
    LogExpectedImprovement,
    /// [`LowerConfidenceBound`] with κ = 2.
    LowerConfidenceBound,
}

impl AcquisitionKind {
    /// The function itself.
    pub fn function(self) -> &'static dyn Acquisition {
        match self {
            Self::ExpectedImprovement => &ExpectedImprovement,
            Self::LogExpectedImprovement => &LogExpectedImprovement,
            Self::LowerConfidenceBound => &LowerConfidenceBound { kappa: 2.0 },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
