//! One model of all residuals of a sum of squares: each is a linear trend plus a Gaussian process, with one kernel for all.
//!
//! Such a prediction is a weighted sum of the observed residuals. The weights w(x) have the sum 1 and are the same for every residual. So Σ r(x)² =
//! |r₀ + Σ w_j d_j|² with d_j = r_j − r₀, the differences from one evaluation, and the residuals are needed only in inner products: ten thousand residuals cost
//! little more than a few. Measured constraints are predicted with the same weights.

use super::kernel::KernelKind;
use crate::linalg::{self, Bordered, Matrix};
use crate::math;
use crate::sqp::{Look, Program};

/// Length-scales tried, in units of the root mean square distance of the observations.
const LENGTHS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0];
/// Relative nuggets: that of exact residuals, which keeps the factor positive, and those tried where they have noise.
const NUGGETS: [f64; 4] = [1e-10, 1e-6, 1e-3, 1e-1];
/// What an observation leaves open grows with the sixth power of its distance, and is the whole signal at a hundred times the trust region.
const FAR: f64 = 1e-12;
/// In the second metric tried a squared distance is by this part how much the residuals change, and by the rest that in the box.
const STEEP: f64 = 0.9;
const KERNEL: KernelKind = KernelKind::SquaredExponential;

/// The inner products of the newest models: they need not be taken again. They may be dropped at any time.
pub(crate) type Products = linalg::Products<Told>;

/// What was told with an evaluation, by its position: its residuals, or their derivatives by a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Residuals(usize),
    Slopes(usize, usize),
}

/// The model of all residuals: weights w(x) = P k(x) + B f(x) of universal kriging with f = (1, x), and the inner products of what the
/// observations differ from r₀ by.
#[derive(Clone)]
pub(crate) struct Residuals {
    points: Vec<Vec<f64>>,
    /// What each observation leaves open.
    open: Vec<f64>,
    /// L of the metric |Lᵀ x| of the kernel, the points there, and how likely all that is.
    metric: Matrix,
    places: Vec<Vec<f64>>,
    likelihood: f64,
    weights: Weights,
    /// d_i · d_j, and d_j · r₀; |r₀|².
    gram: Matrix,
    with_origin: Vec<f64>,
    square: f64,
    /// The measured constraints.
    limits: Vec<Vec<f64>>,
}

/// What the weights are made of.
#[derive(Clone, Default)]
struct Weights {
    /// P and B, of K with this nugget.
    inverse: Bordered,
    nugget: f64,
    /// The length-scale, and its place among those tried.
    length: f64,
    scale: usize,
}

impl Residuals {
    /// The most likely model of residuals at points around the first, the origin, by their inner products. Those far from it count less.
    pub(crate) fn fit(
        points: Vec<Vec<f64>>,
        products: &Matrix,
        limits: Vec<Vec<f64>>,
        radius: f64,
        noisy: bool,
    ) -> Option<Self> {
        let (n, d) = (points.len(), points[0].len());
        let (square, with_origin, mut gram) = (products[(0, 0)], products.col(0)[1..].to_vec(), Matrix::zeros(n, n));
        (0..n).for_each(|j| gram.col_mut(j).copy_from_slice(&products.col(j + 1)[1..]));
        let beyond = |x: &Vec<f64>| (linalg::dot(x, x).sqrt() / radius - 1.0).max(0.0);
        let open: Vec<f64> = points.iter().map(|x| FAR * beyond(x).powi(6)).collect();
        let (metric, places, likelihood) = (Matrix::identity(d), points.clone(), f64::NEG_INFINITY);
        let weights = Weights { scale: LENGTHS.len() / 2, ..Weights::default() };
        let unfitted = Self { points, open, metric, places, likelihood, weights, gram, with_origin, square, limits };
        let nuggets = &NUGGETS[..if noisy { NUGGETS.len() } else { 1 }];
        let in_box = unfitted.likeliest(nuggets)?;
        let steep = in_box.steepened().and_then(|model| model.likeliest(nuggets));
        Some(steep.filter(|steep| steep.likelihood > in_box.likelihood).unwrap_or(in_box))
    }

    /// The most likely of the length-scales and nuggets. With one nugget it is found uphill from the length-scale that was the most likely so far;
    /// with several there may be more than one maximum.
    fn likeliest(mut self, nuggets: &[f64]) -> Option<Self> {
        let (n, mut squares) = (self.places.len(), Matrix::default());
        let places = Matrix::from_rows(&self.places);
        linalg::squared_distances(&places, &places, &mut squares);
        let mut trend = Matrix::zeros(n, 1);
        trend.fill(1.0);
        let points = Matrix::from_rows(&self.points);
        (0..points.cols()).for_each(|j| trend.append_column(points.col(j)));
        let spread = (squares.col(0).iter().sum::<f64>() / n as f64).sqrt();
        self.likelihood = f64::NEG_INFINITY;
        for nugget in nuggets {
            let start = self.weights.scale;
            let mut is_better = |k: usize| {
                let found = self.weigh(&squares, &trend, (k, spread * LENGTHS[k]), *nugget);
                let Some((likelihood, weights)) = found.filter(|(likelihood, _)| *likelihood > self.likelihood) else {
                    return self.likelihood == f64::NEG_INFINITY; // where one is too long to be fitted the next shorter may do
                };
                (self.likelihood, self.weights) = (likelihood, weights);
                true
            };
            if nuggets.len() > 1 {
                (0..LENGTHS.len()).for_each(|k| _ = is_better(k));
                continue;
            }
            is_better(start);
            if (0..start).rev().take_while(|&k| is_better(k)).count() == 0 {
                _ = (start + 1..LENGTHS.len()).take_while(|&k| is_better(k)).count();
            }
        }
        (self.likelihood > f64::NEG_INFINITY).then_some(self)
    }

    /// In a metric that also counts how much the residuals change by their slopes at the best point: where they change much they mostly bend much.
    fn steepened(&self) -> Option<Self> {
        let d = self.points[0].len();
        let (_, slopes) = self.weights(&vec![0.0; d]);
        let mut metric = self.information(&slopes);
        let mean = (0..d).map(|i| metric[(i, i)]).sum::<f64>() / d as f64;
        metric.scale(STEEP / mean);
        (0..d).for_each(|i| metric[(i, i)] += 1.0 - STEEP);
        linalg::cholesky(&mut metric).ok()?;
        (0..d).for_each(|j| metric.col_mut(j)[..j].fill(0.0));
        let places = self.points.iter().map(|x| metric.transposed_times(x)).collect();
        Some(Self { metric, places, ..self.clone() })
    }

    /// P and B for a length-scale, the one at a place among those tried, and a nugget; and the restricted log-likelihood of all residuals with one
    /// signal, up to a constant.
    fn weigh(
        &self,
        squares: &Matrix,
        trend: &Matrix,
        (scale, length): (usize, f64),
        nugget: f64,
    ) -> Option<(f64, Weights)> {
        let (mut k, per_square) = (squares.clone(), 1.0 / (length * length));
        for j in 0..k.cols() {
            let below = &mut k.col_mut(j)[j + 1..]; // the factor needs no more
            below.iter_mut().for_each(|s| *s *= per_square);
            KERNEL.apply(below);
            k[(j, j)] = 1.0 + (nugget + self.open[j]);
        }
        let inverse = Bordered::inverse(k, trend).ok()?;
        let freedom = (trend.rows() - trend.cols()) as f64;
        let left_over = inverse.p.inner(&self.gram).max(f64::MIN_POSITIVE);
        let likelihood = -freedom * math::ln(left_over) - inverse.ln_dets.0 - inverse.ln_dets.1;
        likelihood.is_finite().then_some((likelihood, Weights { inverse, nugget, length, scale }))
    }

    /// The weights at the origin and their slopes; JᵀJ of the slopes of the residuals there; and the covariance of the error of a residual's
    /// slopes, summed over the residuals.
    pub(crate) fn slopes(&self) -> (Vec<f64>, Matrix, Matrix, Matrix) {
        let (n, d) = (self.points.len(), self.points[0].len());
        let zero = vec![0.0; d];
        let (w, slopes) = self.weights(&zero);
        let Weights { inverse: Bordered { p, b, t, .. }, nugget, length, .. } = &self.weights;
        let (k1, _) = KERNEL.slopes_at(0.0, 1.0);
        // Those of the covariances with the observations.
        let mut along = Matrix::zeros(n, d);
        for (i, delta) in self.deltas(&zero) {
            let s = linalg::dot(&delta, &delta);
            let slope = 2.0 * KERNEL.slopes_at(s, KERNEL.at(s)).0 / length;
            (0..d).for_each(|j| along[(i, j)] = slope * self.in_box(&delta, j));
        }
        let signal = p.inner(&self.gram).max(0.0) / (n - d - 1).max(1) as f64;
        let rounding = (n as f64 * f64::EPSILON / nugget).min(1.0);
        let mut covariance = Matrix::zeros(d, d);
        for j in 0..d {
            let seen = p.transposed_times(along.col(j));
            for i in 0..d {
                let metric: f64 = (0..=i.min(j)).map(|q| self.metric[(i, q)] * self.metric[(j, q)]).sum();
                let prior = -2.0 * k1 * metric / (length * length);
                let both = linalg::dot(b.col(1 + i), along.col(j)) + linalg::dot(b.col(1 + j), along.col(i));
                let known = linalg::dot(&seen, along.col(i)) + both - t[(1 + i, 1 + j)];
                let left = if i == j { (prior - known).max(rounding * prior) } else { prior - known };
                covariance[(i, j)] = signal * left;
            }
        }
        let information = self.information(&slopes);
        (w, slopes, information, covariance)
    }

    /// What noise leaves in the prediction at a point: its variance, summed over the residuals.
    pub(crate) fn noise_at(&self, x: &[f64]) -> f64 {
        let (w, signal) = (self.weights(x).0, self.weights.inverse.p.inner(&self.gram).max(0.0)); // but for rounding
        signal / (w.len() - x.len() - 1).max(1) as f64 * self.weights.nugget * linalg::dot(&w, &w)
    }

    /// From each observation to a point in the kernel's metric, in length-scales. Coordinates that are not given are 0.
    fn deltas(&self, x: &[f64]) -> impl Iterator<Item = (usize, Vec<f64>)> {
        let mut whole = x.to_vec();
        whole.resize(self.metric.cols(), 0.0);
        let z = self.metric.transposed_times(&whole);
        let delta = move |place: &Vec<f64>| z.iter().zip(place).map(|(a, b)| (a - b) / self.weights.length).collect();
        self.places.iter().map(delta).enumerate()
    }

    /// (L δ)_j: what a displacement in the metric is along a coordinate of the box.
    fn in_box(&self, delta: &[f64], j: usize) -> f64 {
        (0..=j).map(|q| self.metric[(j, q)] * delta[q]).sum()
    }

    /// JᵀJ of the slopes of the residuals, from those of the weights.
    fn information(&self, slopes: &Matrix) -> Matrix {
        let mut information = Matrix::zeros(slopes.cols(), slopes.cols());
        for j in 0..slopes.cols() {
            let image = self.gram.transposed_times(slopes.col(j));
            information.col_mut(j).copy_from_slice(&slopes.transposed_times(&image));
        }
        information
    }

    /// The weights at a point, and their derivatives along each coordinate.
    fn weights(&self, x: &[f64]) -> (Vec<f64>, Matrix) {
        let (n, d) = (self.points.len(), x.len());
        let Bordered { p, b, .. } = &self.weights.inverse;
        let (mut w, mut slopes) = (b.col(0).to_vec(), Matrix::zeros(n, d));
        for j in 0..d {
            linalg::axpy(&mut w, x[j], b.col(1 + j));
            slopes.col_mut(j).copy_from_slice(b.col(1 + j));
        }
        for (i, delta) in self.deltas(x) {
            let s = linalg::dot(&delta, &delta);
            let k = KERNEL.at(s);
            linalg::axpy(&mut w, k, p.col(i));
            let slope = 2.0 * KERNEL.slopes_at(s, k).0 / self.weights.length;
            for j in 0..d {
                linalg::axpy(slopes.col_mut(j), slope * self.in_box(&delta, j), p.col(i));
            }
        }
        (w, slopes)
    }

    /// Half the derivatives of the sum of squares by the weights.
    fn image(&self, w: &[f64]) -> Vec<f64> {
        self.gram.transposed_times(w).iter().zip(&self.with_origin).map(|(image, origin)| image + origin).collect()
    }
}

impl Program for Residuals {
    fn look(&self, x: &[f64]) -> Look {
        let (w, slopes) = self.weights(x);
        let image = self.image(&w);
        let value = self.square + linalg::dot(&w, &self.with_origin) + linalg::dot(&w, &image);
        let gradient = slopes.transposed_times(&image).into_iter().map(|g| 2.0 * g).collect();
        let limits = self.limits.iter().map(|g| (linalg::dot(&w, g), slopes.transposed_times(g))).collect();
        Look { value: value.max(0.0), gradient, limits }
    }

    /// 2 (∂w)ᵀ G ∂w + Σ (2 (G w + g)_i + those of the constraints) ∂²w_i.
    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix {
        let (w, slopes) = self.weights(x);
        let d = x.len();
        let (mut h, mut bends) = (self.information(&slopes), Matrix::zeros(d, d));
        h.scale(2.0);
        let mut image: Vec<f64> = self.image(&w).into_iter().map(|v| 2.0 * v).collect();
        self.limits.iter().zip(multipliers).for_each(|(g, m)| linalg::axpy(&mut image, *m, g));
        for (i, delta) in self.deltas(x) {
            let s = linalg::dot(&delta, &delta);
            let (slope, bend) = KERNEL.slopes_at(s, KERNEL.at(s));
            let scaled = linalg::dot(self.weights.inverse.p.col(i), &image) / self.weights.length.powi(2);
            for j in 0..d {
                linalg::axpy(bends.col_mut(j), 4.0 * scaled * bend * delta[j], &delta[..d]);
                bends[(j, j)] += 2.0 * scaled * slope;
            }
        }
        // L (…) Lᵀ.
        let turned = |i: usize, j: usize| -> f64 {
            (0..=j)
                .map(|q| self.metric[(j, q)] * (0..=i).map(|p| self.metric[(i, p)] * bends[(p, q)]).sum::<f64>())
                .sum()
        };
        for j in 0..d {
            (0..d).for_each(|i| h[(i, j)] += turned(i, j));
        }
        h
    }
}
