//! A linear or quadratic fit of the observations: for a function that simple it says where the minimum is long before the
//! Gaussian process can.

use crate::frame::Frame;
use crate::linalg::{self, Matrix};

/// Which terms a fit has besides the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// x_i.
    Linear,
    /// x_i and x_i²: enough for a sphere in any frame, and for an ellipsoid in its own.
    Squares,
    /// x_i and x_i x_j.
    All,
}

impl Terms {
    pub(crate) const EACH: [Self; 3] = [Self::Linear, Self::Squares, Self::All];

    /// The number of coefficients in `d` dimensions.
    pub(crate) fn count(self, d: usize) -> usize {
        1 + d + self.products(d).count()
    }

    /// The products x_i x_j among them, as (i, j).
    fn products(self, d: usize) -> impl Iterator<Item = (usize, usize)> {
        let rows = if self == Self::Linear { 0..0 } else { 0..d };
        rows.flat_map(move |i| (if self == Self::All { 0 } else { i }..=i).map(move |j| (i, j)))
    }
}

/// q(x) = c + gᵀx + ½ xᵀHx, fitted by least squares, and the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quadratic {
    /// Rows w (1, x, products) and, in the last column, w y.
    system: Matrix,
    /// c, g and the factors of the products.
    coefficients: Vec<f64>,
    hessian: Matrix,
    /// The point of the newest minimisation, in the box.
    pub(crate) minimiser: Vec<f64>,
    local: Vec<f64>,
    gradient: Vec<f64>,
    along: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Quadratic {
    /// Makes room for `n` observations in `d` dimensions.
    pub(crate) fn reserve(&mut self, n: usize, d: usize) {
        let count = Terms::EACH.map(|terms| terms.count(d)).into_iter().filter(|c| *c <= n).max().unwrap_or(0);
        self.system.reserve(n, count + 1);
        self.coefficients.reserve(count);
        self.hessian.reserve(d, d);
        let vectors =
            [&mut self.minimiser, &mut self.local, &mut self.gradient, &mut self.along, &mut self.low, &mut self.high];
        for v in vectors {
            v.reserve(d);
        }
    }

    /// Fits to the first `n` rows of `x` and outputs `y` ≥ 0, the best of them 0. A fit has to be right where outputs are good, so
    /// that each row weighs as much as y is small against `typical`. False if they do not determine it.
    pub(crate) fn fit(&mut self, terms: Terms, x: &Matrix, y: &[f64], n: usize, typical: f64) -> bool {
        let (d, count) = (x.cols(), terms.count(x.cols()));
        if n < count {
            return false;
        }
        self.system.reshape(n, count + 1);
        for row in 0..n {
            let weight = typical / (typical + y[row]);
            self.system[(row, 0)] = weight;
            for i in 0..d {
                self.system[(row, 1 + i)] = weight * x[(row, i)];
            }
            for (k, (i, j)) in terms.products(d).enumerate() {
                self.system[(row, 1 + d + k)] = weight * x[(row, i)] * x[(row, j)];
            }
            self.system[(row, count)] = weight * y[row];
        }
        let determined = linalg::least_squares(&mut self.system, &mut self.coefficients);
        self.hessian.reshape(d, d);
        self.hessian.fill(0.0);
        for (factor, (i, j)) in self.coefficients[1 + d..].iter().zip(terms.products(d)) {
            self.hessian[(i, j)] += factor;
            self.hessian[(j, i)] += factor;
        }
        determined
    }

    /// q at row `row` of `x`.
    pub(crate) fn at_row(&mut self, x: &Matrix, row: usize) -> f64 {
        self.local.clear();
        self.local.extend((0..x.cols()).map(|i| x[(row, i)]));
        self.value()
    }

    /// q at `local`.
    fn value(&self) -> f64 {
        let terms = self.local.iter().enumerate().map(|(i, x)| {
            let slope = self.coefficients[1 + i] + 0.5 * linalg::dot(self.hessian.col(i), &self.local);
            x * slope
        });
        self.coefficients[0] + terms.sum::<f64>()
    }

    /// Minimises q over the smallest box around `points` by descent along one coordinate of the box after another, from the
    /// centre of the frame. Leaves the point in [`Quadratic::minimiser`] and gives q there.
    pub(crate) fn minimise<'a>(&mut self, frame: &Frame, points: impl Iterator<Item = &'a [f64]>) -> f64 {
        const SWEEPS: usize = 100;
        const SETTLED: f64 = 1e-15;
        let d = frame.dim();
        for (bound, start) in [(&mut self.low, f64::INFINITY), (&mut self.high, f64::NEG_INFINITY)] {
            bound.clear();
            bound.resize(d, start);
        }
        for u in points {
            for (j, u) in u.iter().enumerate() {
                self.low[j] = self.low[j].min(*u);
                self.high[j] = self.high[j].max(*u);
            }
        }
        self.minimiser.clear();
        self.minimiser.extend_from_slice(frame.centre());
        self.local.clear();
        self.local.resize(d, 0.0);
        self.gradient.clear();
        self.gradient.extend_from_slice(&self.coefficients[1..=d]);
        for _ in 0..SWEEPS {
            let mut farthest = 0.0_f64;
            for j in 0..d {
                // ∂x/∂u_j, from x_i = Σ_j R_ji (u_j − c_j) / S_i
                self.along.clear();
                self.along.extend((0..d).map(|i| frame.rotation()[(j, i)] / frame.scale()[i]));
                let slope = linalg::dot(&self.along, &self.gradient);
                let bends = (0..d).map(|i| self.along[i] * linalg::dot(self.hessian.col(i), &self.along));
                let curvature: f64 = bends.sum();
                let old = self.minimiser[j];
                let new = if curvature > 0.0 { old - slope / curvature } else { -slope * f64::INFINITY };
                let new = if new.is_nan() { old } else { new.clamp(self.low[j], self.high[j]) };
                for i in 0..d {
                    let moved = self.along[i] * (new - old);
                    self.local[i] += moved;
                    linalg::axpy(&mut self.gradient, moved, self.hessian.col(i));
                }
                self.minimiser[j] = new;
                farthest = farthest.max((new - old).abs());
            }
            if farthest <= SETTLED {
                break;
            }
        }
        self.value()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
