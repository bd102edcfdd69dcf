//! A polynomial of the fourth degree: what a sum of squares is whose residuals bend no more than quadratically, such as the misfit of a
//! calibration.

use crate::linalg::{self, Matrix};
use crate::sqp::{Look, Program};

const DEGREE: usize = 4;

/// Its coefficients in `d` dimensions: (d + 4)! / (d! 4!).
pub(crate) fn count(d: usize) -> usize {
    (1..=DEGREE).fold(1, |product: usize, k| product.saturating_mul(d + k) / k)
}

/// Σ c_m x^m, fitted by least squares, and the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quartic {
    /// Each monomial but the first, 1, is an earlier one times a coordinate: the two of them.
    monomials: Vec<(usize, usize)>,
    /// Rows w (monomials) and, in the last column, w y.
    system: Matrix,
    coefficients: Vec<f64>,
}

impl Quartic {
    /// Fits to the first `n` rows of `x` and outputs `y`; each row weighs as in [`crate::quadratic::Quadratic::fit`]. False if they do not
    /// determine it.
    pub(crate) fn fit(&mut self, x: &Matrix, y: &[f64], n: usize, typical: f64) -> bool {
        self.enumerate(x.cols());
        let count = 1 + self.monomials.len();
        if n < count {
            return false;
        }
        self.system.reshape(n, count + 1);
        for row in 0..n {
            self.system[(row, 0)] = weight(y[row], typical);
            self.system[(row, count)] = weight(y[row], typical) * y[row];
        }
        for (m, &(of, j)) in self.monomials.iter().enumerate() {
            for row in 0..n {
                self.system[(row, 1 + m)] = self.system[(row, of)] * x[(row, j)];
            }
        }
        linalg::least_squares(&mut self.system, &mut self.coefficients)
    }

    /// How far the fit is from row `row` of `x` and `y`, as much as that row weighs.
    pub(crate) fn error(&self, x: &Matrix, y: &[f64], row: usize, typical: f64) -> f64 {
        let place: Vec<f64> = (0..x.cols()).map(|j| x[(row, j)]).collect();
        weight(y[row], typical) * (self.value(&place) - y[row]).abs()
    }

    pub(crate) fn value(&self, x: &[f64]) -> f64 {
        linalg::dot(&self.values(x), &self.coefficients)
    }

    /// The monomials at `x`.
    fn values(&self, x: &[f64]) -> Vec<f64> {
        let mut values = Vec::with_capacity(1 + self.monomials.len());
        values.push(1.0);
        for &(of, j) in &self.monomials {
            values.push(values[of] * x[j]);
        }
        values
    }

    /// The gradient and the Hessian, monomial after monomial by the rule for products.
    fn derivatives(&self, x: &[f64]) -> (Vec<f64>, Matrix) {
        let (d, values) = (x.len(), self.values(x));
        let (mut slopes, mut bends) = (Matrix::zeros(d, values.len()), Matrix::zeros(d * d, values.len()));
        let (mut gradient, mut hessian) = (vec![0.0; d], Matrix::zeros(d, d));
        for (m, (&(of, j), factor)) in (1..).zip(self.monomials.iter().zip(&self.coefficients[1..])) {
            for k in 0..d {
                let slope = slopes[(k, of)];
                for i in 0..d {
                    bends[(i + d * k, m)] += bends[(i + d * k, of)] * x[j];
                }
                bends[(j + d * k, m)] += slope;
                bends[(k + d * j, m)] += slope;
                slopes[(k, m)] = slope * x[j];
            }
            slopes[(j, m)] += values[of];
            linalg::axpy(&mut gradient, *factor, slopes.col(m));
            for k in 0..d {
                linalg::axpy(hessian.col_mut(k), *factor, &bends.col(m)[d * k..d * (k + 1)]);
            }
        }
        (gradient, hessian)
    }

    /// Lists the monomials of `d` coordinates: those of each degree are those of the one before, times the last coordinate in them or a later one.
    fn enumerate(&mut self, d: usize) {
        if 1 + self.monomials.len() == count(d) {
            return;
        }
        self.monomials.clear();
        let (mut from, mut last) = (0, vec![0]);
        for _ in 0..DEGREE {
            let to = last.len();
            for of in from..to {
                for j in last[of]..d {
                    self.monomials.push((of, j));
                    last.push(j);
                }
            }
            from = to;
        }
    }
}

/// A fit has to be right where outputs are good.
fn weight(y: f64, typical: f64) -> f64 {
    typical / (typical + y)
}

impl Program for Quartic {
    fn look(&self, x: &[f64]) -> Look {
        let (gradient, _) = self.derivatives(x);
        Look { value: self.value(x), gradient, limits: Vec::new() }
    }

    fn hessian(&self, x: &[f64], _: &[f64]) -> Matrix {
        self.derivatives(x).1
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
