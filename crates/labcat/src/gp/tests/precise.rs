//! Derivatives where runs work: a nugget of 10⁻¹¹ of the signal and smooth outputs. In doubles a difference of likelihoods says nothing
//! there, so the oracle computes in twice the precision: numbers that are unevaluated sums of two doubles (Dekker 1971, Knuth 1969).

use super::*;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, |low| at most half a unit in the last place of high.
#[derive(Clone, Copy)]
struct Twice {
    high: f64,
    low: f64,
}

const ZERO: Twice = of(0.0);
const ONE: Twice = of(1.0);

const fn of(value: f64) -> Twice {
    Twice { high: value, low: 0.0 }
}

/// a + b for |a| ≥ |b|, with its rounding error.
fn renormalised(a: f64, b: f64) -> Twice {
    let high = a + b;
    Twice { high, low: b - (high - a) }
}

impl Add for Twice {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = self.high + other.high;
        let part = sum - self.high;
        let error = (self.high - (sum - part)) + (other.high - part);
        renormalised(sum, error + self.low + other.low)
    }
}

impl Neg for Twice {
    type Output = Self;

    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Sub for Twice {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Twice {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = self.high * other.high;
        let error = self.high.mul_add(other.high, -product);
        renormalised(product, error + (self.high * other.low + self.low * other.high))
    }
}

impl Div for Twice {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let rest = self - other * of(first);
        let second = rest.high / other.high;
        let rest = rest - other * of(second);
        renormalised(first, second) + of(rest.high / other.high)
    }
}

impl Twice {
    fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return ZERO;
        }
        let root = of(self.high.sqrt());
        root + (self - root * root) / (root + root)
    }

    /// exp(x) = exp(x / 1024)^1024, the inner one by its series.
    fn exp(self) -> Self {
        let small = self * of(1.0 / 1024.0);
        let (mut term, mut sum) = (ONE, ONE);
        for k in 1..25 {
            term = term * small / of(f64::from(k));
            sum = sum + term;
        }
        (0..10).fold(sum, |power, _| power * power)
    }

    /// One Newton step from the double.
    fn ln(self) -> Self {
        let guess = of(self.high.ln());
        guess + self * (-guess).exp() - ONE
    }
}

/// log p(Y′ | X′, θ) of the points `x` (which have unit length-scales) at length-scales e^h.
fn log_likelihood(prior: &Prior, x: &Matrix, y: &[f64], h: &[f64]) -> Twice {
    let n = x.rows();
    let shrink: Vec<Twice> = h.iter().map(|h| of(-h).exp()).collect();
    let covariance = |p: usize, q: usize| {
        let mut s = ZERO;
        for (j, shrink) in shrink.iter().enumerate() {
            let t = (of(x[(p, j)]) - of(x[(q, j)])) * *shrink;
            s = s + t * t;
        }
        let correlation = match prior.kernel {
            KernelKind::SquaredExponential => (of(-0.5) * s).exp(),
            KernelKind::Matern52 => {
                let r = (of(5.0) * s).sqrt();
                (ONE + r + of(5.0) * s / of(3.0)) * (-r).exp()
            }
            KernelKind::Matern32 => {
                let r = (of(3.0) * s).sqrt();
                (ONE + r) * (-r).exp()
            }
        };
        of(prior.signal) * correlation + if p == q { of(prior.nugget) } else { ZERO }
    };
    // L with K = L Lᵀ row by row, ln |K| = 2 Σ ln L_pp, and v = L⁻¹ (y − m) beside it.
    let mut factor = vec![vec![ZERO; n]; n];
    let (mut ln_det, mut square) = (ZERO, ZERO);
    let mut v: Vec<Twice> = Vec::new();
    for p in 0..n {
        for q in 0..=p {
            let known = (0..q).fold(ZERO, |sum, k| sum + factor[p][k] * factor[q][k]);
            let rest = covariance(p, q) - known;
            factor[p][q] = if p == q { rest.sqrt() } else { rest / factor[q][q] };
        }
        let known = (0..p).fold(ZERO, |sum, k| sum + factor[p][k] * v[k]);
        v.push((of(y[p]) - of(prior.mean) - known) / factor[p][p]);
        ln_det = ln_det + of(2.0) * factor[p][p].ln();
        square = square + v[p] * v[p];
    }
    of(-0.5) * (square + ln_det) - of(0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln())
}

/// Points within a trust region's surroundings and a smooth function of them, as late in a run.
fn smooth(rng: &mut Rng, kernel: KernelKind, d: usize) -> (Gp, Vec<f64>) {
    let n = 7 * d;
    let x: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| rng.between(-0.8, 0.8)).collect()).collect();
    let value = |x: &Vec<f64>| {
        let squares = (0..d).map(|j| (1.0 + j as f64) * (x[j] - 0.1).powi(2)).sum::<f64>();
        squares + 0.4 * x[0] * x[d - 1] + 0.2 * x[0].powi(3)
    };
    let mut y: Vec<f64> = x.iter().map(value).collect();
    crate::frame::normalise(&mut y, None, &mut Vec::new());
    // σ_n = 10⁻⁶ on normalised outputs: the presets'.
    let prior = Prior::of(&y, kernel, 1.0, 1e-6);
    (Gp::fit_with_jitter(prior, &y, buffers(&vec![1.0; d], &x)).unwrap(), y)
}

#[test]
fn twice_the_precision_is_twice_the_precision() {
    let third = ONE / of(3.0);
    assert!((third * of(3.0) - ONE).high.abs() < 1e-31);
    let root = of(2.0).sqrt();
    assert!((root * root - of(2.0)).high.abs() < 1e-31);
    for v in [-30.0, -1.5, 1e-9, 0.3, 2.0] {
        let e = of(v).exp();
        assert!((e.high / v.exp() - 1.0).abs() < 1e-14);
        assert!((e * of(-v).exp() - ONE).high.abs() < 1e-27);
        assert!((e.ln() - of(v)).high.abs() < 1e-27 * (1.0 + v.abs()));
    }
}

#[test]
fn derivatives_are_right_with_the_nugget_of_a_run() {
    let mut rng = Rng::new(20);
    for kernel in KERNELS {
        // Seven points on a line are the worst conditioned of them: K is singular but for the nugget, 10¹¹ times rounding.
        for (d, tolerance) in [(1, 1e-3), (2, 1e-7), (3, 1e-9)] {
            for _ in 0..4 {
                let (gp, y) = smooth(&mut rng, kernel, d);
                assert!(gp.prior().nugget <= 1e-10 * gp.prior().signal, "the nugget had to be raised");
                let at = |moves: &[(usize, f64)]| {
                    let mut h = vec![0.0; d];
                    moves.iter().for_each(|(i, by)| h[*i] += by);
                    log_likelihood(gp.prior(), gp.inputs(), &y, &h)
                };
                let likelihood = at(&[]).high;
                close(gp.log_likelihood(), likelihood, tolerance * (1.0 + likelihood.abs()), "log likelihood");

                let mut derivatives = Derivatives::default();
                derivatives.compute(&gp, Some(Curvature::Exact));
                let h = 1e-4;
                let slope = |i: usize| {
                    let near = at(&[(i, h)]) - at(&[(i, -h)]);
                    let far = at(&[(i, 2.0 * h)]) - at(&[(i, -2.0 * h)]);
                    ((of(8.0) * near - far) / of(12.0 * h)).high
                };
                let gradient: Vec<f64> = (0..d).map(slope).collect();
                let size = 1.0 + gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
                for (found, wanted) in derivatives.gradient.iter().zip(&gradient) {
                    close(*found, *wanted, tolerance * size, "gradient");
                }
                let bend = |i: usize, j: usize, h: f64| {
                    let corner = |a: f64, b: f64| at(&[(i, a * h), (j, b * h)]);
                    let sum = corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0);
                    sum / of(4.0 * h * h)
                };
                let hessian = |i: usize, j: usize| ((of(4.0) * bend(i, j, 5e-4) - bend(i, j, 1e-3)) / of(3.0)).high;
                let size = 1.0 + (0..d).fold(0.0, |a: f64, i| a.max(hessian(i, i).abs()));
                for i in 0..d {
                    for j in 0..=i {
                        close(derivatives.hessian[(i, j)], hessian(i, j), tolerance * size, "Hessian");
                    }
                }
            }
        }
    }
}
