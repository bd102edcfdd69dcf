//! Every transcendental function of the crate comes from here, and but for the exponential here from `libm`:
//! pure Rust, the same bits on every platform and in every build profile.

pub use libm::{cos, erfc, expm1, log as ln, log1p, pow, sin};

pub use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// 1 / √(2π).
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;

/// ln 2 in two parts: a multiple of it by an integer below 2¹¹ is exact in the first.
const LN_2: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];

/// r coth(r/2) − 2 = r²/6 − r⁴/360 + …: coefficients of r², r⁴, …, fitted on |r| ≤ ln 2 / 2: those that `libm` uses.
const COTH: [f64; 5] = [
    f64::from_bits(0x3fc5_5555_5555_553e),
    f64::from_bits(0xbf66_c16c_16be_bd93),
    f64::from_bits(0x3f11_566a_af25_de2c),
    f64::from_bits(0xbebb_bd41_c5d2_6bf1),
    f64::from_bits(0x3e66_3769_72be_a4d0),
];

/// Added to a number below 2⁵¹, it leaves the nearest integer in the last bits.
const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// e^x within one unit in the last place, with the bits of `libm::exp` for every x and without a branch: in a loop of
/// [`crate::wide!`] it takes a register at a time.
///
/// x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^r = 1 + r + r c / (2 − c), where c = r − (r coth(r/2) − 2).
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    const OVERFLOW: f64 = 709.782_712_893_384;
    const UNDERFLOW: f64 = -745.133_219_101_941_1;
    /// Up to here k = 0.
    const UNREDUCED: f64 = f64::from_bits(0x3fd6_2e43_0000_0000);
    /// Below it e^x rounds as 1 + x does.
    const TINY: f64 = f64::from_bits(0x3e30_0001_0000_0000);
    // k: x / ln 2 to the nearest, as ± ½ and the whole part towards zero.
    let within = if (UNDERFLOW..=OVERFLOW).contains(&x) { x } else { 0.0 };
    let t = std::f64::consts::LOG2_E * within + 0.5_f64.copysign(within);
    let nearest = (t + SHIFT) - SHIFT;
    let whole = if nearest.abs() > t.abs() { nearest - 1.0_f64.copysign(t) } else { nearest };
    let k = if within.abs() < UNREDUCED { 0.0 } else { whole };

    let (high, low) = (within - k * LN_2[0], k * LN_2[1]);
    let r = high - low;
    let rr = r * r;
    let c = r - rr * (COTH[0] + rr * (COTH[1] + rr * (COTH[2] + rr * (COTH[3] + rr * COTH[4]))));
    let reduced = 1.0 + (r * c / (2.0 - c) - low + high);

    // 2^k in two factors, so that only the second multiplication can round.
    let k = (k + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits()).wrapping_add(2 * 1023);
    let power = |biased: u64| f64::from_bits(biased << 52);
    let scaled = reduced * power(k >> 1) * power(k - (k >> 1));

    let value = if within.abs() < TINY { 1.0 + within } else { scaled };
    let value = if x > OVERFLOW { f64::INFINITY } else { value };
    let value = if x < UNDERFLOW { 0.0 } else { value };
    if x.is_nan() { x } else { value }
}

/// Sorts numbers and gives the middle one, the upper of two.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The median length of some steps, by their largest components.
pub fn median_length<'a>(steps: impl Iterator<Item = &'a Vec<f64>>) -> f64 {
    let mut lengths: Vec<f64> = steps.map(|step| step.iter().fold(0.0_f64, |most, s| most.max(s.abs()))).collect();
    median(&mut lengths).unwrap_or(0.0)
}

/// Density φ(z) of the standard normal distribution.
pub fn normal_pdf(z: f64) -> f64 {
    FRAC_1_SQRT_2PI * exp(-0.5 * z * z)
}

/// ln Φ(z), for any z.
pub fn ln_normal_cdf(z: f64) -> f64 {
    if z > -30.0 { ln(normal_cdf(z)) } else { -0.5 * z * z - ln(-z) - 0.5 * ln(2.0 * PI) }
}

/// Distribution function Φ(z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}

/// Below this z the tail of the normal distribution is expanded in 1/z²: there the first term left out and the cancellation in
/// z Φ(z) + φ(z) are equally small, 10⁻¹¹ of h.
const FAR_TAIL: f64 = -30.0;

/// ln h(z) and (Φ/h, φ/h) for h(z) = z Φ(z) + φ(z), the mean of max(0, z + a normal number), for any z.
pub fn log_improvement(z: f64) -> (f64, f64, f64) {
    if z > FAR_TAIL {
        let (cdf, pdf) = (normal_cdf(z), normal_pdf(z));
        let h = z * cdf + pdf;
        return (ln(h), cdf / h, pdf / h);
    }
    // With t = 1/z²: Φ = φ/|z| (1 − t + 3t² − 15t³ + …) and h = φ t (1 − 3t + 15t² − 105t³ + …).
    let t = 1.0 / (z * z);
    let tail = 1.0 - t * (1.0 - t * (3.0 - t * (15.0 - 105.0 * t)));
    let h = 1.0 - t * (3.0 - t * (15.0 - t * (105.0 - 945.0 * t)));
    let ln_pdf = -0.5 * z * z - 0.5 * ln(2.0 * PI);
    (ln_pdf + ln(t * h), -z * tail / h, z * z / h)
}

#[cfg(test)]
mod tests;
