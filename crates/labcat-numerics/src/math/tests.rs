use super::*;
use crate::rng::Rng;
use crate::wide;
use crate::width::at_each_level;

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
