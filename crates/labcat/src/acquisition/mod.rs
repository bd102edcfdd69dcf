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

impl AcquisitionKind {
    /// The worth of evaluating a point where the model predicts `mean` ± `std`, given the best value so far; larger is better.
    pub(crate) fn value(self, mean: f64, std: f64, best: f64) -> f64 {
        self.look(mean, std, best).0
    }

    /// The same with its derivatives in `mean` and `std`.
    #[inline(always)]
    pub(crate) fn look(self, mean: f64, std: f64, best: f64) -> (f64, f64, f64) {
        let z = (best - mean) / std;
        match self {
            // σ [z Φ(z) + φ(z)], z = (y_min − μ)/σ. (eq:EI)
            Self::ExpectedImprovement => {
                let (cdf, pdf) = (math::normal_cdf(z), math::normal_pdf(z));
                (std * (z * cdf + pdf), -cdf, pdf)
            }
            Self::LogExpectedImprovement => {
                let (log, cdf, pdf) = math::log_improvement(z);
                (math::ln(std) + log, -cdf / std, pdf / std)
            }
            Self::LowerConfidenceBound => (KAPPA * std - mean, -1.0, KAPPA),
        }
    }
}

#[cfg(test)]
mod tests;
