//! Every transcendental function of the crate comes from here, and but for the exponential here from `libm`:
//! pure Rust, the same bits on every platform and in every build profile.

pub(crate) use libm::{cos, erfc, expm1, log as ln, log1p, pow, sin};

pub(crate) use std::f64::consts::{FRAC_1_SQRT_2, PI};

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
/// [`crate::wide`] it takes a register at a time.
///
/// x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^r = 1 + r + r c / (2 − c), where c = r − (r coth(r/2) − 2).
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
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

/// Density φ(z) of the standard normal distribution.
pub(crate) fn normal_pdf(z: f64) -> f64 {
    FRAC_1_SQRT_2PI * exp(-0.5 * z * z)
}

/// ln Φ(z), for any z.
pub(crate) fn ln_normal_cdf(z: f64) -> f64 {
    if z > -30.0 { ln(normal_cdf(z)) } else { -0.5 * z * z - ln(-z) - 0.5 * ln(2.0 * PI) }
}

/// Distribution function Φ(z) of the standard normal distribution.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::wide::{at_each_level, wide};

    wide! {
        fn exp_of_all(x: &[f64], out: &mut [f64]) {
            for (x, out) in x.iter().zip(out) {
                *out = exp(*x);
            }
        }
    }

    /// Numbers of every size and sign, the edges of every case with their neighbours, and what the kernels use most.
    fn arguments() -> Vec<f64> {
        let edges = [
            0.0,
            f64::MIN_POSITIVE,
            1e-300,
            3.7e-9,
            3.725_290_298_461_914e-9,
            0.346_573_590_279_972_65,
            0.346_573_6,
            std::f64::consts::LN_2,
            1.039_720_770_839_918,
            1.0,
            2.0,
            10.0,
            708.0,
            708.396_418_532_264_1,
            709.0,
            709.782_712_893_384,
            710.0,
            744.0,
            745.0,
            745.133_219_101_941_1,
            745.2,
            746.0,
            1e3,
            1e10,
            1e300,
            f64::MAX,
            f64::INFINITY,
        ];
        let mut all = vec![f64::NAN];
        for edge in edges {
            for x in [edge, edge.next_up(), edge.next_down()] {
                all.extend([x, -x]);
            }
        }
        for k in -1076..=1026 {
            let multiple = f64::from(k) * std::f64::consts::LN_2;
            let half = (f64::from(k) + 0.5) * std::f64::consts::LN_2;
            all.extend([multiple, multiple.next_up(), multiple.next_down(), half, half.next_up(), half.next_down()]);
        }
        let mut rng = Rng::new(1);
        all.extend((0..200_000).map(|_| rng.between(-750.0, 715.0)));
        all.extend((0..200_000).map(|_| -0.5 * rng.between(0.0, 60.0)));
        all.extend((0..100_000).map(|_| rng.between(-0.4, 0.4) * libm::exp2(-rng.between(0.0, 60.0))));
        all
    }

    #[test]
    fn the_exponential_is_that_of_libm_at_every_width() {
        let x = arguments();
        for (level, out) in at_each_level(|| {
            let mut out = vec![0.0; x.len()];
            exp_of_all(&x, &mut out);
            out
        }) {
            for (x, e) in x.iter().zip(&out) {
                let expected = libm::exp(*x);
                assert!(e.to_bits() == expected.to_bits(), "{level:?}: exp({x:e}) = {e:e}, not {expected:e}");
            }
        }
    }

    /// An unevaluated sum of two numbers.
    type Double = (f64, f64);

    fn two_sum(a: f64, b: f64) -> Double {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    }

    fn product((a, b): Double, (c, d): Double) -> Double {
        let p = a * c;
        two_sum(p, a.mul_add(c, -p) + (a * d + b * c))
    }

    /// e^x to about 25 digits: the Taylor series of x / 2²⁰, squared twenty times; for x < 0 the inverse of e^(−x).
    fn precise(x: f64) -> Double {
        const HALVINGS: i32 = 20;
        let small = (x.abs() * 0.5_f64.powi(HALVINGS), 0.0);
        // e^small − 1, so that squaring loses nothing: (1 + s)² − 1 = 2 s + s².
        let mut sum = (0.0, 0.0);
        for k in (1..=8).rev() {
            let inner = two_sum(1.0, sum.0);
            let term = product(small, (inner.0, inner.1 + sum.1));
            let (q, k) = (term.0 / f64::from(k), f64::from(k));
            sum = two_sum(q, (q.mul_add(-k, term.0) + term.1) / k);
        }
        for _ in 0..HALVINGS {
            let square = product(sum, sum);
            let (s, e) = two_sum(2.0 * sum.0, square.0);
            sum = two_sum(s, e + (2.0 * sum.1 + square.1));
        }
        let (s, e) = two_sum(1.0, sum.0);
        let (high, low) = two_sum(s, e + sum.1);
        if x >= 0.0 {
            return (high, low);
        }
        let q = 1.0 / high;
        two_sum(q, q * ((-q).mul_add(high, 1.0) - q * low))
    }

    #[test]
    fn the_exponential_errs_by_less_than_a_unit_in_the_last_place() {
        let mut rng = Rng::new(2);
        for (low, high) in [(-40.0, 0.0), (-1.0, 1.0), (-650.0, 0.0), (0.0, 700.0)] {
            let mut worst = 0.0_f64;
            for _ in 0..50_000 {
                let x = rng.between(low, high);
                let exact = precise(x);
                let unit = exact.0.next_up() - exact.0;
                worst = worst.max(((exp(x) - exact.0) - exact.1).abs() / unit);
            }
            assert!(worst > 0.49 && worst < 1.0, "{low} … {high}: {worst} units in the last place");
        }
        // Below 2⁻¹⁰²² results lie 2⁻¹⁰⁷⁴ apart; both sides are multiplied by 2¹⁰⁰⁰ to be compared.
        for _ in 0..10_000 {
            let x = rng.between(-745.1, -709.0);
            let half = precise(0.5 * x);
            let scale = libm::exp2(500.0);
            let (high, low) = product((half.0 * scale, half.1 * scale), (half.0 * scale, half.1 * scale));
            let error = ((exp(x) * scale * scale - high) - low).abs() / libm::exp2(-74.0);
            assert!(error < 1.0, "exp({x}): {error} of the smallest number");
        }
    }
}
