//! Kernels as functions of the squared scaled distance s = Σ_i (x_p,i − x_q,i)² / ℓ_i².

use crate::linalg::Matrix;
use crate::math;
use crate::names::{UnknownName, unknown};

/// A stationary kernel k(s), k(0) = 1. Its two derivatives make those in the length-scales:
///
/// ∂k/∂ln ℓ_i = −2 k′(s) D_i and ∂²k/∂ln ℓ_i ∂ln ℓ_j = 4 k″(s) D_i D_j + 4 δ_ij k′(s) D_i, where D_i = (x_p,i − x_q,i)²/ℓ_i².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum KernelKind {
    /// exp(−s/2), the paper's. (eq:sqexp_vector_form)
    #[default]
    SquaredExponential,
    /// Matérn with ν = 5/2, rougher: (1 + r + r²/3) e^(−r), r = √(5 s).
    Matern52,
    /// Matérn with ν = 3/2, rougher still: (1 + r) e^(−r), r = √(3 s).
    Matern32,
}

impl KernelKind {
    /// k(s) for s ≥ 0.
    #[inline(always)]
    pub(crate) fn at(self, s: f64) -> f64 {
        match self {
            Self::SquaredExponential => math::exp(-0.5 * s),
            Self::Matern52 => {
                let r = (5.0 * s).sqrt();
                (1.0 + r + r * r / 3.0) * math::exp(-r)
            }
            Self::Matern32 => {
                let r = (3.0 * s).sqrt();
                (1.0 + r) * math::exp(-r)
            }
        }
    }

    /// (k′, k″) from s and k(s); the squared exponential needs no s.
    #[inline(always)]
    pub(crate) fn slopes_at(self, s: f64, k: f64) -> (f64, f64) {
        match self {
            Self::SquaredExponential => (-0.5 * k, 0.25 * k),
            Self::Matern52 => {
                let r = (5.0 * s).sqrt();
                let e = math::exp(-r);
                (-5.0 / 6.0 * (1.0 + r) * e, 25.0 / 12.0 * e)
            }
            Self::Matern32 => {
                // k″ has no limit at 0, where it only ever multiplies squares of differences.
                let r = (3.0 * s).sqrt();
                let e = math::exp(-r);
                (-1.5 * e, 2.25 * e / r.max(1e-6))
            }
        }
    }

    /// Replaces each s by k(s). Which kernel it is, is asked once and not for each s.
    #[inline(always)]
    pub(crate) fn apply(self, s: &mut [f64]) {
        match self {
            Self::SquaredExponential => s.iter_mut().for_each(|s| *s = Self::SquaredExponential.at(*s)),
            Self::Matern52 => s.iter_mut().for_each(|s| *s = Self::Matern52.at(*s)),
            Self::Matern32 => s.iter_mut().for_each(|s| *s = Self::Matern32.at(*s)),
        }
    }

    /// k′ and k″ of the pairs of row q of `x` and the rows above it, whose k is known.
    #[inline(always)]
    pub(crate) fn slopes(self, x: &Matrix, q: usize, k: &[f64], k1: &mut [f64], k2: &mut [f64]) {
        if self != Self::SquaredExponential {
            x.squared_distances_to(|i| x[(q, i)], k2); // s goes where k″ comes to
        }
        let pairs = k.iter().zip(k1).zip(k2);
        match self {
            Self::SquaredExponential => {
                pairs.for_each(|((k, k1), k2)| (*k1, *k2) = Self::SquaredExponential.slopes_at(*k2, *k));
            }
            Self::Matern52 => pairs.for_each(|((k, k1), k2)| (*k1, *k2) = Self::Matern52.slopes_at(*k2, *k)),
            Self::Matern32 => pairs.for_each(|((k, k1), k2)| (*k1, *k2) = Self::Matern32.slopes_at(*k2, *k)),
        }
    }
}
