//! Every transcendental function of the crate comes from here, and here from `libm`:
//! pure Rust, the same bits on every platform and in every build profile.

pub(crate) use libm::{cos, erfc, exp, expm1, log as ln, log1p, pow, sin};

pub(crate) use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// 1 / √(2π).
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// Density φ(z) of the standard normal distribution.
pub(crate) fn normal_pdf(z: f64) -> f64 {
    FRAC_1_SQRT_2PI * exp(-0.5 * z * z)
}

/// Distribution function Φ(z) of the standard normal distribution.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}
