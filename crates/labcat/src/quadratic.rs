//! A linear or quadratic fit of the observations: for a function that simple it says where the minimum is long before the
//! Gaussian process can.

use crate::frame::Frame;
use crate::linalg::{self, Matrix};

/// Which terms a fit has besides the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// x_i.
    Linear,
    /// x_i and x_i²: the frame's axes are where products x_i x_j vanish.
    Squares,
}

impl Terms {
    /// The number of coefficients in `d` dimensions.
    pub(crate) fn count(self, d: usize) -> usize {
        match self {
            Self::Linear => 1 + d,
            Self::Squares => 1 + 2 * d,
        }
    }
}

/// q(x) = c + Σ g_i x_i + Σ h_i x_i², fitted by least squares, and the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quadratic {
    /// Rows w (1, x, x²) and, in the last column, w y.
    system: Matrix,
    /// c, g and, with squares, h.
    coefficients: Vec<f64>,
    /// The point of the newest minimisation, in the box.
    pub(crate) minimiser: Vec<f64>,
    local: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Quadratic {
    /// Makes room for `n` observations in `d` dimensions.
    pub(crate) fn reserve(&mut self, n: usize, d: usize) {
        self.system.reserve(n, Terms::Squares.count(d) + 1);
        self.coefficients.reserve(Terms::Squares.count(d) + 1);
        for v in [&mut self.minimiser, &mut self.local, &mut self.low, &mut self.high] {
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
                let x = x[(row, i)];
                self.system[(row, 1 + i)] = weight * x;
                if terms == Terms::Squares {
                    self.system[(row, 1 + d + i)] = weight * x * x;
                }
            }
            self.system[(row, count)] = weight * y[row];
        }
        linalg::least_squares(&mut self.system, &mut self.coefficients)
    }

    /// q at row `row` of `x`.
    pub(crate) fn at_row(&self, x: &Matrix, row: usize) -> f64 {
        self.value((0..x.cols()).map(|i| x[(row, i)]))
    }

    fn value(&self, x: impl ExactSizeIterator<Item = f64>) -> f64 {
        let d = x.len();
        x.enumerate().fold(self.coefficients[0], |q, (i, x)| q + (self.slope(i) + self.bend(d, i) * x) * x)
    }

    /// g_i.
    fn slope(&self, i: usize) -> f64 {
        self.coefficients[1 + i]
    }

    /// h_i, 0 without squares.
    fn bend(&self, d: usize, i: usize) -> f64 {
        self.coefficients.get(1 + d + i).copied().unwrap_or(0.0)
    }

    /// Minimises q over the smallest box around `points` by descent along one coordinate of the box after another, from the
    /// centre of the frame. Leaves the point in [`Quadratic::minimiser`] and gives q there.
    pub(crate) fn minimise<'a>(&mut self, frame: &Frame, points: impl Iterator<Item = &'a [f64]>) -> f64 {
        const SWEEPS: usize = 50;
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
        for _ in 0..SWEEPS {
            let mut farthest = 0.0_f64;
            for j in 0..d {
                // x_i = Σ_j R_ji (u_j − c_j) / S_i
                let (mut slope, mut curvature) = (0.0, 0.0);
                for i in 0..d {
                    let by_u = frame.rotation()[(j, i)] / frame.scale()[i];
                    slope += by_u * (self.slope(i) + 2.0 * self.bend(d, i) * self.local[i]);
                    curvature += by_u * by_u * 2.0 * self.bend(d, i);
                }
                let old = self.minimiser[j];
                let new = if curvature > 0.0 { old - slope / curvature } else { -slope * f64::INFINITY };
                let new = if new.is_nan() { old } else { new.clamp(self.low[j], self.high[j]) };
                for i in 0..d {
                    self.local[i] += frame.rotation()[(j, i)] / frame.scale()[i] * (new - old);
                }
                self.minimiser[j] = new;
                farthest = farthest.max((new - old).abs());
            }
            if farthest <= SETTLED {
                break;
            }
        }
        self.value(self.local.iter().copied())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
