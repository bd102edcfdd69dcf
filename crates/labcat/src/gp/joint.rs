//! A Gaussian process of values and directional derivatives together: the derivative of a Gaussian process is one too, and its
//! covariances are the derivatives of the kernel.
//!
//! For s = |a − b|², δ = a − b: cov(f(a), v·∇f(b)) = −2 k′ δ·v and cov(u·∇f(a), v·∇f(b)) = −4 k″ (δ·u)(δ·v) − 2 k′ u·v, times σ_f².

use super::{PointPrediction, Prior};
use crate::linalg::{self, Matrix};

/// What was observed: a value, or a derivative along a direction of length one.
#[derive(Clone, Debug)]
struct Row {
    x: Vec<f64>,
    direction: Option<Vec<f64>>,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    prior: Prior,
    rows: Vec<Row>,
    factor: Matrix,
    alpha: Vec<f64>,
}

/// A derivative of the outputs at a point, along `direction`, both in local coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Slope {
    pub(crate) x: Vec<f64>,
    pub(crate) direction: Vec<f64>,
    pub(crate) value: f64,
}

impl Joint {
    /// The model of the values `y` at the rows of `x`, and of slopes; `None` if the kernel matrix cannot be factored.
    pub(crate) fn fit(prior: Prior, x: &Matrix, y: &[f64], slopes: Vec<Slope>) -> Option<Self> {
        let point = |row: usize| (0..x.cols()).map(|j| x[(row, j)]).collect();
        let mut rows: Vec<Row> = (0..y.len()).map(|row| Row { x: point(row), direction: None }).collect();
        let mut residual: Vec<f64> = y.iter().map(|y| y - prior.mean).collect();
        for Slope { x, mut direction, value } in slopes {
            let length = linalg::dot(&direction, &direction).sqrt();
            if length > 0.0 && value.is_finite() {
                direction.iter_mut().for_each(|v| *v /= length);
                rows.push(Row { x, direction: Some(direction) });
                residual.push(value / length);
            }
        }
        let n = rows.len();
        let mut k = Matrix::zeros(n, n);
        for q in 0..n {
            for p in 0..=q {
                let value = covariance(&prior, &rows[p], &rows[q]);
                k[(p, q)] = value;
                k[(q, p)] = value;
            }
        }
        let mut nugget = prior.nugget.max(1e-14 * prior.signal);
        while nugget <= 1e-2 * prior.signal {
            let mut factor = k.clone();
            for i in 0..n {
                factor[(i, i)] += nugget;
            }
            if linalg::cholesky(&mut factor).is_ok() {
                let mut alpha = residual;
                linalg::solve_lower(&factor, &mut alpha);
                linalg::solve_lower_transposed(&factor, &mut alpha);
                return Some(Self { prior: Prior { nugget, ..prior }, rows, factor, alpha });
            }
            nugget *= 10.0;
        }
        None
    }

    /// Adds a value at a point: the mean there, but no less than `floor`. Gives it.
    pub(crate) fn append_fantasy(&mut self, x: &[f64], floor: f64) -> f64 {
        let row = Row { x: x.to_vec(), direction: None };
        let mut k: Vec<f64> = self.rows.iter().map(|other| covariance(&self.prior, other, &row)).collect();
        let mean = self.prior.mean + linalg::dot(&k, &self.alpha);
        linalg::solve_lower(&self.factor, &mut k);
        let rest = self.prior.signal + self.prior.nugget - linalg::dot(&k, &k);
        let pivot = rest.max(self.prior.nugget).sqrt();
        self.factor.append_row(&k, pivot);
        self.rows.push(row);
        let output = mean.max(floor);
        let gain = (output - mean) / (pivot * pivot);
        if gain > 0.0 {
            linalg::solve_lower_transposed(&self.factor, &mut k);
            linalg::axpy(&mut self.alpha, -gain, &k);
        }
        self.alpha.push(gain);
        output
    }

    /// μ, σ and their gradients at one point.
    pub(crate) fn predict_with_gradient(&self, x: &[f64], g: &mut PointPrediction) {
        let at = Row { x: x.to_vec(), direction: None };
        g.k.clear();
        g.k.extend(self.rows.iter().map(|row| covariance(&self.prior, row, &at)));
        g.v.clone_from(&g.k);
        g.mean = self.prior.mean + linalg::dot(&g.k, &self.alpha);
        linalg::solve_lower(&self.factor, &mut g.v);
        let variance = self.prior.signal + self.prior.nugget - linalg::dot(&g.v, &g.v);
        g.std = variance.max(self.prior.nugget).sqrt();
        linalg::solve_lower_transposed(&self.factor, &mut g.v);
        for gradient in [&mut g.mean_gradient, &mut g.std_gradient] {
            gradient.clear();
            gradient.resize(x.len(), 0.0);
        }
        for ((row, alpha), v) in self.rows.iter().zip(&self.alpha).zip(&g.v) {
            let (along, own) = self.slope_weights(row, x);
            for (j, (x, x_row)) in x.iter().zip(&row.x).enumerate() {
                let dk = along * (x - x_row) + row.direction.as_ref().map_or(0.0, |v| own * v[j]);
                g.mean_gradient[j] += alpha * dk;
                g.std_gradient[j] -= v * dk / g.std;
            }
        }
    }

    /// ∂/∂x of the covariance with a row, as multiples of x − x_row and of the row's direction.
    fn slope_weights(&self, row: &Row, x: &[f64]) -> (f64, f64) {
        let (s, along) = apart(x, &row.x, row.direction.as_deref());
        let k = self.prior.kernel.at(s);
        let (first, second) = self.prior.kernel.slopes_at(s, k);
        let signal = self.prior.signal;
        match &row.direction {
            None => (2.0 * signal * first, 0.0),
            Some(_) => (-4.0 * signal * second * along, -2.0 * signal * first),
        }
    }

    /// The mean's gradient alone.
    fn mean_gradient(&self, x: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; x.len()];
        for (row, alpha) in self.rows.iter().zip(&self.alpha) {
            let (along, own) = self.slope_weights(row, x);
            for (j, (x, x_row)) in x.iter().zip(&row.x).enumerate() {
                gradient[j] += alpha * (along * (x - x_row) + row.direction.as_ref().map_or(0.0, |v| own * v[j]));
            }
        }
        gradient
    }

    /// Adds the second derivatives of the mean, from differences of its gradient.
    pub(crate) fn add_hessian(&self, x: &[f64], out: &mut Matrix) {
        const STEP: f64 = 1e-4;
        let d = x.len();
        let mut h = Matrix::zeros(d, d);
        for j in 0..d {
            let moved = |by: f64| {
                let mut at = x.to_vec();
                at[j] += by;
                self.mean_gradient(&at)
            };
            for (i, (up, down)) in moved(STEP).iter().zip(moved(-STEP)).enumerate() {
                h[(i, j)] = (up - down) / (2.0 * STEP);
            }
        }
        for j in 0..d {
            for i in 0..d {
                out[(i, j)] += 0.5 * (h[(i, j)] + h[(j, i)]);
            }
        }
    }
}

/// |a − b|² and (a − b)·v.
fn apart(a: &[f64], b: &[f64], v: Option<&[f64]>) -> (f64, f64) {
    let (mut s, mut along) = (0.0, 0.0);
    for (j, (a, b)) in a.iter().zip(b).enumerate() {
        let delta = a - b;
        s += delta * delta;
        along += v.map_or(0.0, |v| delta * v[j]);
    }
    (s, along)
}

fn covariance(prior: &Prior, a: &Row, b: &Row) -> f64 {
    let (s, along) = apart(&a.x, &b.x, b.direction.as_deref());
    let k = prior.kernel.at(s);
    let (first, second) = prior.kernel.slopes_at(s, k);
    prior.signal
        * match (&a.direction, &b.direction) {
            (None, None) => k,
            (None, Some(_)) => -2.0 * first * along,
            (Some(u), None) => 2.0 * first * apart(&a.x, &b.x, Some(u)).1,
            (Some(u), Some(v)) => {
                -4.0 * second * apart(&a.x, &b.x, Some(u)).1 * along - 2.0 * first * linalg::dot(u, v)
            }
        }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
