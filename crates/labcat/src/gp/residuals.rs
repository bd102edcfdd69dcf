//! All residuals of a sum of squares in one model: each a linear trend plus a Gaussian process, with one kernel for all.
//!
//! Such a prediction is a weighted sum of what was observed, with the same weights w(x) for every residual. So Σ r(x)² = |r₀ + Σ w_j d_j|² with
//! d_j = r_j − r₀ needs the residuals only in the inner products of the d_j: ten thousand residuals cost little more than a few.

use super::kernel::KernelKind;
use crate::linalg::{self, Matrix};
use crate::math;
use crate::sqp::{Look, Program};

/// Length-scales tried, in units of the root mean square distance of the observations.
const LENGTHS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0];
/// Relative nuggets: that of exact residuals, which keeps the factor positive, and those tried where they have noise.
const NUGGETS: [f64; 4] = [1e-10, 1e-6, 1e-3, 1e-1];
/// What an observation leaves open grows with the sixth power of its distance, as the square of a remainder of third order, and is the whole
/// signal at a hundred times the trust region.
const FAR: f64 = 1e-12;
const KERNEL: KernelKind = KernelKind::SquaredExponential;
/// Residuals whose products are taken at a time: as many as stay in the cache.
const BLOCK: usize = 512;

/// The model of all residuals: weights w(x) = P k(x) + B f(x) of universal kriging with f = (1, x), and the inner products of what the
/// observations differ from the best by.
pub(crate) struct Residuals {
    points: Vec<Vec<f64>>,
    length: f64,
    p: Matrix,
    b: Matrix,
    /// d_i · d_j, and d_j · r₀; |r₀|².
    gram: Matrix,
    with_best: Vec<f64>,
    square: f64,
}

/// G_ij = d_i · d_j, but with r₀ in the place of d₀ = 0.
fn products(residuals: &[&[f64]]) -> Matrix {
    let (n, m) = (residuals.len(), residuals[0].len());
    let (mut sum, mut part, mut block) = (Matrix::zeros(n, n), Matrix::default(), Matrix::default());
    for from in (0..m).step_by(BLOCK) {
        let count = BLOCK.min(m - from);
        block.reset(n, count);
        for k in 0..count {
            let (best, column) = (residuals[0][from + k], block.col_mut(k));
            column.iter_mut().zip(residuals).for_each(|(d, row)| *d = row[from + k] - best);
            column[0] = best;
        }
        linalg::neg_gram(&block, &mut part);
        (0..n).for_each(|j| linalg::axpy(sum.col_mut(j), -1.0, part.col(j)));
    }
    sum
}

impl Residuals {
    /// The most likely model of residuals observed at points around the first, which is the origin. Those far outside a trust region count less.
    pub(crate) fn fit(points: Vec<Vec<f64>>, residuals: &[&[f64]], radius: f64, noisy: bool) -> Option<Self> {
        let n = points.len();
        let mut gram = products(residuals);
        let (square, mut with_best) = (gram[(0, 0)], gram.col(0).to_vec());
        with_best[0] = 0.0;
        (0..n).for_each(|j| (gram[(0, j)], gram[(j, 0)]) = (0.0, 0.0));
        let spread = (points.iter().map(|x| linalg::dot(x, x)).sum::<f64>() / n as f64).sqrt();
        let beyond = |x: &Vec<f64>| (linalg::dot(x, x).sqrt() / radius - 1.0).max(0.0);
        let open: Vec<f64> = points.iter().map(|x| FAR * beyond(x).powi(6)).collect();
        let mut found: Option<(f64, f64, Matrix, Matrix)> = None;
        for length in LENGTHS.map(|l| l * spread) {
            for nugget in &NUGGETS[..if noisy { NUGGETS.len() } else { 1 }] {
                if let Some((likelihood, p, b)) = weights(&points, length, (*nugget, &open), &gram)
                    && found.as_ref().is_none_or(|(best, ..)| likelihood > *best)
                {
                    found = Some((likelihood, length, p, b));
                }
            }
        }
        let (_, length, p, b) = found?;
        Some(Self { points, length, p, b, gram, with_best, square })
    }

    /// The weights at a point, and their derivatives along each coordinate.
    fn weights(&self, x: &[f64]) -> (Vec<f64>, Matrix) {
        let (n, d) = (self.points.len(), x.len());
        let (mut w, mut slopes) = (vec![0.0; n], Matrix::zeros(n, d));
        w.copy_from_slice(self.b.col(0));
        for j in 0..d {
            linalg::axpy(&mut w, x[j], self.b.col(1 + j));
            slopes.col_mut(j).copy_from_slice(self.b.col(1 + j));
        }
        for (i, point) in self.points.iter().enumerate() {
            let delta: Vec<f64> = x.iter().zip(point).map(|(a, b)| (a - b) / self.length).collect();
            let s = linalg::dot(&delta, &delta);
            let k = KERNEL.at(s);
            linalg::axpy(&mut w, k, self.p.col(i));
            let slope = 2.0 * KERNEL.slopes_at(s, k).0 / self.length;
            (0..d).for_each(|j| linalg::axpy(slopes.col_mut(j), slope * delta[j], self.p.col(i)));
        }
        (w, slopes)
    }
}

/// P and B for a length-scale and a nugget, with what each observation leaves open, and the restricted log-likelihood of all residuals with one signal, up to a constant.
fn weights(
    points: &[Vec<f64>],
    length: f64,
    (nugget, open): (f64, &[f64]),
    gram: &Matrix,
) -> Option<(f64, Matrix, Matrix)> {
    let (n, q) = (points.len(), points[0].len() + 1);
    let mut k = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..=j {
            let s: f64 = points[i].iter().zip(&points[j]).map(|(a, b)| ((a - b) / length).powi(2)).sum();
            (k[(i, j)], k[(j, i)]) = (KERNEL.at(s), KERNEL.at(s));
        }
        k[(j, j)] += nugget + open[j];
    }
    linalg::cholesky(&mut k).ok()?;
    // K⁻¹ and K⁻¹ F.
    let solved = |mut column: Vec<f64>| {
        linalg::solve_lower(&k, &mut column);
        linalg::solve_lower_transposed(&k, &mut column);
        column
    };
    let trend = |j: usize| -> Vec<f64> { points.iter().map(|x| if j == 0 { 1.0 } else { x[j - 1] }).collect() };
    let images: Vec<Vec<f64>> = (0..q).map(|j| solved(trend(j))).collect();
    let mut inner = Matrix::zeros(q, q);
    for j in 0..q {
        let column = trend(j);
        (0..q).for_each(|i| inner[(i, j)] = linalg::dot(&images[i], &column));
    }
    linalg::cholesky(&mut inner).ok()?;
    let (mut p, mut b) = (Matrix::zeros(n, n), Matrix::zeros(n, q));
    for row in 0..n {
        let mut coefficients: Vec<f64> = images.iter().map(|image| image[row]).collect();
        linalg::solve_lower(&inner, &mut coefficients);
        linalg::solve_lower_transposed(&inner, &mut coefficients);
        (0..q).for_each(|j| b[(row, j)] = coefficients[j]);
    }
    for col in 0..n {
        let mut unit = vec![0.0; n];
        unit[col] = 1.0;
        let mut column = solved(unit);
        (0..q).for_each(|j| linalg::axpy(&mut column, -images[j][col], b.col(j)));
        p.col_mut(col).copy_from_slice(&column);
    }
    let left_over: f64 = (0..n).map(|j| linalg::dot(p.col(j), gram.col(j))).sum();
    let ln_det = |m: &Matrix| 2.0 * (0..m.cols()).map(|i| math::ln(m[(i, i)])).sum::<f64>();
    let freedom = (n - q) as f64;
    let likelihood = -freedom * math::ln(left_over.max(f64::MIN_POSITIVE)) - ln_det(&k) - ln_det(&inner);
    likelihood.is_finite().then_some((likelihood, p, b))
}

impl Program for Residuals {
    fn look(&self, x: &[f64]) -> Look {
        let (w, slopes) = self.weights(x);
        let image: Vec<f64> = (0..w.len()).map(|i| linalg::dot(self.gram.col(i), &w) + self.with_best[i]).collect();
        let value = self.square + linalg::dot(&w, &self.with_best) + linalg::dot(&w, &image);
        let gradient = (0..x.len()).map(|j| 2.0 * linalg::dot(slopes.col(j), &image)).collect();
        Look { value: value.max(0.0), gradient, limits: Vec::new() }
    }

    /// 2 (∂w)ᵀ G ∂w + 2 Σ (G w + g)_i ∂²w_i.
    fn hessian(&self, x: &[f64], _: &[f64]) -> Matrix {
        let (w, slopes) = self.weights(x);
        let (n, d) = (self.points.len(), x.len());
        let mut h = Matrix::zeros(d, d);
        for j in 0..d {
            let image: Vec<f64> = (0..n).map(|i| linalg::dot(self.gram.col(i), slopes.col(j))).collect();
            (0..d).for_each(|i| h[(i, j)] = 2.0 * linalg::dot(slopes.col(i), &image));
        }
        let image: Vec<f64> = (0..n).map(|i| linalg::dot(self.gram.col(i), &w) + self.with_best[i]).collect();
        for (i, point) in self.points.iter().enumerate() {
            let delta: Vec<f64> = x.iter().zip(point).map(|(a, b)| (a - b) / self.length).collect();
            let s = linalg::dot(&delta, &delta);
            let (slope, bend) = KERNEL.slopes_at(s, KERNEL.at(s));
            let scaled = 2.0 * linalg::dot(self.p.col(i), &image) / (self.length * self.length);
            for j in 0..d {
                linalg::axpy(h.col_mut(j), 4.0 * scaled * bend * delta[j], &delta);
                h[(j, j)] += 2.0 * scaled * slope;
            }
        }
        h
    }
}
