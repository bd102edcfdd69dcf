//! Kernels as functions of the squared scaled distance s = Σ_i (x_p,i − x_q,i)² / ℓ_i².

use crate::linalg::Matrix;
use crate::math;
use crate::names::{UnknownName, unknown};

/// A stationary kernel k(s), k(0) = 1, with the two derivatives that its length-scale derivatives are made of:
///
/// ∂k/∂ln ℓ_i = −2 k′(s) D_i and ∂²k/∂ln ℓ_i ∂ln ℓ_j = 4 k″(s) D_i D_j + 4 δ_ij k′(s) D_i, where D_i = (x_p,i − x_q,i)²/ℓ_i².
pub(crate) trait Kernel {
    /// Whether [`Kernel::slopes`] uses s; a kernel whose k says it all spares its computation.
    const NEEDS_DISTANCE: bool = true;
    /// k(s) for s ≥ 0.
    fn value(s: f64) -> f64;
    /// (k′, k″) from s and k(s).
    fn slopes(s: f64, k: f64) -> (f64, f64);
}

/// exp(−s/2). (eq:sqexp_vector_form)
#[derive(Clone, Copy, Debug)]
pub(crate) struct SquaredExponential;

impl Kernel for SquaredExponential {
    const NEEDS_DISTANCE: bool = false;

    #[inline(always)]
    fn value(s: f64) -> f64 {
        math::exp(-0.5 * s)
    }

    #[inline(always)]
    fn slopes(_s: f64, k: f64) -> (f64, f64) {
        (-0.5 * k, 0.25 * k)
    }
}

/// Matérn with ν = 5/2: (1 + r + r²/3) e^(−r), r = √(5 s). Rougher than the squared exponential.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matern52;

impl Kernel for Matern52 {
    #[inline(always)]
    fn value(s: f64) -> f64 {
        let r = (5.0 * s).sqrt();
        (1.0 + r + r * r / 3.0) * math::exp(-r)
    }

    #[inline(always)]
    fn slopes(s: f64, _k: f64) -> (f64, f64) {
        let r = (5.0 * s).sqrt();
        let e = math::exp(-r);
        (-5.0 / 6.0 * (1.0 + r) * e, 25.0 / 12.0 * e)
    }
}

/// The kernel of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum KernelKind {
    /// exp(−s/2), the paper's.
    #[default]
    SquaredExponential,
    /// Matérn with ν = 5/2, rougher.
    Matern52,
}

impl KernelKind {
    /// Replaces each s by k(s).
    #[inline(always)]
    pub(crate) fn apply(self, s: &mut [f64]) {
        match self {
            Self::SquaredExponential => apply_to_all::<SquaredExponential>(s),
            Self::Matern52 => apply_to_all::<Matern52>(s),
        }
    }

    /// k(s).
    pub(crate) fn at(self, s: f64) -> f64 {
        match self {
            Self::SquaredExponential => SquaredExponential::value(s),
            Self::Matern52 => Matern52::value(s),
        }
    }

    /// (k′, k″) from s and k(s).
    #[inline(always)]
    pub(crate) fn slopes_at(self, s: f64, k: f64) -> (f64, f64) {
        match self {
            Self::SquaredExponential => SquaredExponential::slopes(s, k),
            Self::Matern52 => Matern52::slopes(s, k),
        }
    }

    /// k′ and k″ of the pairs of row q of `x` and the rows above it, whose k is known.
    #[inline(always)]
    pub(crate) fn slopes(self, x: &Matrix, q: usize, k: &[f64], k1: &mut [f64], k2: &mut [f64]) {
        match self {
            Self::SquaredExponential => slopes_of_all::<SquaredExponential>(x, q, k, k1, k2),
            Self::Matern52 => slopes_of_all::<Matern52>(x, q, k, k1, k2),
        }
    }
}

#[inline(always)]
fn apply_to_all<K: Kernel>(s: &mut [f64]) {
    for v in s {
        *v = K::value(*v);
    }
}

#[inline(always)]
fn slopes_of_all<K: Kernel>(x: &Matrix, q: usize, k: &[f64], k1: &mut [f64], k2: &mut [f64]) {
    // s goes where k″ comes to.
    if K::NEEDS_DISTANCE {
        x.squared_distances_to(|i| x[(q, i)], k2);
    }
    for ((k, k1), k2) in k.iter().zip(k1).zip(k2) {
        (*k1, *k2) = K::slopes(*k2, *k);
    }
}
