//! Acquisition functions, and their maximisation.

pub(crate) mod landscape;
pub(crate) mod maximise;

use crate::math;
use crate::names::{UnknownName, unknown};

/// What a candidate is worth. To add a function, add a variant and its two arms.
#[derive(Clone, Copy, Debug, Default, PartialEq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum AcquisitionKind {
    /// Expected improvement, the paper's.
    #[default]
    ExpectedImprovement,
    /// Its logarithm, which never underflows: the same maximiser, with a usable gradient far from it.
    LogExpectedImprovement,
    /// The lower confidence bound, two standard deviations below the mean.
    LowerConfidenceBound,
}

/// κ of the lower confidence bound.
const KAPPA: f64 = 2.0;

/// Below this z the tail of the normal distribution is expanded in 1/z²: there the first term left out and the cancellation in
/// z Φ(z) + φ(z) are equally small, 10⁻¹¹ of h.
const FAR_TAIL: f64 = -30.0;

impl AcquisitionKind {
    /// The worth of evaluating a point where the model predicts `mean` ± `std`, given the best value so far; larger is better.
    pub(crate) fn value(self, mean: f64, std: f64, best: f64) -> f64 {
        let z = (best - mean) / std;
        match self {
            // σ [z Φ(z) + φ(z)], z = (y_min − μ)/σ. (eq:EI)
            Self::ExpectedImprovement => std * (z * math::normal_cdf(z) + math::normal_pdf(z)),
            Self::LogExpectedImprovement => math::ln(std) + log_improvement(z).0,
            Self::LowerConfidenceBound => KAPPA * std - mean,
        }
    }

    /// Its derivatives in `mean` and `std`.
    pub(crate) fn slopes(self, mean: f64, std: f64, best: f64) -> (f64, f64) {
        let z = (best - mean) / std;
        match self {
            Self::ExpectedImprovement => (-math::normal_cdf(z), math::normal_pdf(z)),
            Self::LogExpectedImprovement => {
                let (_, cdf, pdf) = log_improvement(z);
                (-cdf / std, pdf / std)
            }
            Self::LowerConfidenceBound => (-1.0, KAPPA),
        }
    }
}

/// ln h(z) and (Φ/h, φ/h) for h(z) = z Φ(z) + φ(z).
fn log_improvement(z: f64) -> (f64, f64, f64) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
