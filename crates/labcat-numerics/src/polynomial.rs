//! Polynomials of the observations, fitted by least squares: for a function that simple they say where the minimum is long before the
//! Gaussian process can. Linear, round, quadratic and quartic ones differ in their monomials alone.

use crate::linalg::{self, Matrix};
use crate::sqp::{Look, Program};

/// Which monomials a polynomial has besides the constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terms {
    /// x_i.
    #[default]
    Linear,
    /// x_i and Σ x_i²: the square of a distance.
    Round,
    /// x_i and x_i²: a sum of functions of one coordinate each.
    Squares,
    /// All up to the second degree.
    Quadratic,
    /// All up to the fourth degree: what a sum of squares is whose residuals bend no more than quadratically.
    Quartic,
}

impl Terms {
    fn degree(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::Round | Self::Squares | Self::Quadratic => 2,
            Self::Quartic => 4,
        }
    }

    /// Whether another choice of axes makes another polynomial of it.
    pub fn depends_on_axes(self) -> bool {
        matches!(self, Self::Round | Self::Squares)
    }

    /// The number of coefficients in `d` dimensions: for all up to degree k, (d + k)! / (d! k!).
    pub fn count(self, d: usize) -> usize {
        match self {
            Self::Round => 2 + d,
            Self::Squares => 1 + 2 * d,
            _ => (1..=self.degree()).fold(1, |product: usize, k| product.saturating_mul(d + k) / k),
        }
    }
}

/// Σ c_m x^m, and the buffers of its fit.
#[derive(Clone, Debug, Default)]
pub struct Polynomial {
    terms: Terms,
    d: usize,
    /// Each monomial but the first, 1, is an earlier one times a coordinate: the two of them.
    monomials: Vec<(usize, usize)>,
    /// Rows w (monomials) and, in the last column, w y; after the fit, R.
    system: Matrix,
    coefficients: Vec<f64>,
    /// The second derivatives at 0.
    hessian: Matrix,
    factor: Matrix,
    values: Vec<f64>,
    /// Where it is least, for whoever looks for that.
    pub minimiser: Vec<f64>,
    /// Memory for the way there.
    pub way: Vec<f64>,
}

impl Polynomial {
    /// A constant and slopes.
    pub fn linear(constant: f64, slope: &[f64]) -> Self {
        let d = slope.len();
        let mut all = Self { hessian: Matrix::zeros(d, d), ..Self::default() };
        all.enumerate(Terms::Linear, d);
        all.coefficients.push(constant);
        all.coefficients.extend_from_slice(slope);
        all
    }

    /// Fits to the first `n` rows of `x` and outputs `y`. A fit has to be right where outputs are good, so that each row weighs as
    /// much as its `rank` ≥ 0 (0 for the best) is small against `typical`. False if they do not determine it.
    pub fn fit(&mut self, terms: Terms, x: &Matrix, y: &[f64], rank: &[f64], n: usize, typical: f64) -> bool {
        let count = terms.count(x.cols());
        if n < count {
            return false;
        }
        self.enumerate(terms, x.cols());
        self.system.reshape(n, count + 1);
        self.system.col_mut(0).iter_mut().zip(rank).for_each(|(weight, rank)| *weight = typical / (typical + rank));
        let alone = if terms == Terms::Round { x.cols() } else { self.monomials.len() };
        let (alone, summed) = self.monomials.split_at(alone);
        for (column, &(earlier, j)) in (1..).zip(alone) {
            let (before, column) = self.system.split_col(column);
            let earlier = &before[earlier * n..][..n];
            column.iter_mut().zip(earlier).zip(x.col(j)).for_each(|((to, a), b)| *to = a * b);
        }
        if !summed.is_empty() {
            let (before, column) = self.system.split_col(count - 1);
            column.fill(0.0);
            for &(earlier, j) in summed {
                let earlier = &before[earlier * n..][..n];
                column.iter_mut().zip(earlier).zip(x.col(j)).for_each(|((to, a), b)| *to += a * b);
            }
        }
        let (before, outputs) = self.system.split_col(count);
        outputs.iter_mut().zip(&before[..n]).zip(y).for_each(|((to, weight), y)| *to = weight * y);
        self.solve()
    }

    /// The coefficients of the system, and the Hessian.
    fn solve(&mut self) -> bool {
        let determined = linalg::least_squares(&mut self.system, &mut self.coefficients);
        let d = self.d;
        if self.terms == Terms::Round
            && let Some(factor) = self.coefficients.pop()
        {
            self.coefficients.resize(1 + 2 * d, factor);
        }
        self.hessian.reset(d, d);
        for (factor, &(earlier, j)) in self.coefficients[1..].iter().zip(&self.monomials) {
            if (1..=d).contains(&earlier) {
                self.hessian[(earlier - 1, j)] += factor;
                self.hessian[(j, earlier - 1)] += factor;
            }
        }
        determined
    }

    /// Lists the monomials: those of each degree are those of the one before, times the last coordinate in them or an earlier one.
    fn enumerate(&mut self, terms: Terms, d: usize) {
        if (self.terms, self.d) == (terms, d) && !self.monomials.is_empty() {
            return;
        }
        (self.terms, self.d) = (terms, d);
        self.monomials.clear();
        self.monomials.extend((0..d).map(|j| (0, j)));
        let (mut from, mut to) = (1, 1 + d);
        for _ in 1..terms.degree() {
            for earlier in from..to {
                let last = self.monomials[earlier - 1].1;
                let first = if terms.depends_on_axes() { last } else { 0 };
                self.monomials.extend((first..=last).map(|j| (earlier, j)));
            }
            (from, to) = (to, 1 + self.monomials.len());
        }
    }

    /// The constant and the slope at 0.
    pub fn at_centre(&self) -> (f64, &[f64]) {
        (self.coefficients[0], &self.coefficients[1..=self.d])
    }

    /// Makes of this function, of the second degree at most, that of x whose value is its own at A x.
    pub fn turn(&mut self, map: impl Fn(usize, usize) -> f64) {
        let d = self.d;
        let entries = || (0..d).flat_map(|j| (0..d).map(move |i| (i, j)));
        self.system.reset(d, d); // H A
        for (i, j) in entries() {
            self.system[(i, j)] = (0..d).map(|k| self.hessian[(i, k)] * map(k, j)).sum();
        }
        for (i, j) in entries() {
            self.hessian[(i, j)] = (0..d).map(|k| self.system[(k, j)] * map(k, i)).sum(); // Aᵀ H A
        }
        self.values.clear();
        self.values.extend((0..d).map(|j| (0..d).map(|i| self.coefficients[1 + i] * map(i, j)).sum::<f64>()));
        self.coefficients.truncate(1);
        self.coefficients.extend_from_slice(&self.values);
        self.enumerate(Terms::Quadratic, d);
        let products = self.monomials[d..].iter().map(|&(earlier, j)| (earlier - 1, j));
        let factor = |(i, j)| if i == j { 0.5 * self.hessian[(i, j)] } else { self.hessian[(i, j)] };
        self.coefficients.extend(products.map(factor));
    }

    /// Adds to the constant.
    pub fn raise(&mut self, by: f64) {
        self.coefficients[0] += by;
    }

    /// The monomials at `x`.
    fn monomials_at(&self, x: impl Fn(usize) -> f64, values: &mut Vec<f64>) {
        values.clear();
        values.push(1.0);
        for &(earlier, j) in &self.monomials {
            values.push(values[earlier] * x(j));
        }
    }

    /// Its value at `x`.
    pub fn value(&self, x: &[f64]) -> f64 {
        let mut values = Vec::with_capacity(self.coefficients.len());
        self.monomials_at(|j| x[j], &mut values);
        linalg::dot(&values, &self.coefficients)
    }

    /// Its value at row `row` of `x`.
    pub fn at_row(&mut self, x: &Matrix, row: usize) -> f64 {
        self.evaluate(|j| x[(row, j)])
    }

    /// Its value at coordinates, without an allocation.
    pub fn evaluate(&mut self, x: impl Fn(usize) -> f64) -> f64 {
        let mut values = std::mem::take(&mut self.values);
        self.monomials_at(x, &mut values);
        let value = linalg::dot(&values, &self.coefficients);
        self.values = values;
        value
    }

    /// Its value at `x`, and the standard deviation of that for rows of weight 1 with errors of standard deviation 1: |R⁻ᵀ t| of the monomials t,
    /// each of which has a coefficient of its own.
    pub fn at(&self, x: &[f64]) -> (f64, f64) {
        let (mut values, mut solved) = (Vec::new(), Vec::new());
        self.monomials_at(|j| x[j], &mut values);
        for (j, t) in values.iter().enumerate() {
            let rest = linalg::dot(&self.system.col(j)[..j], &solved);
            solved.push((t - rest) / self.system[(j, j)]);
        }
        (linalg::dot(&values, &self.coefficients), linalg::dot(&solved, &solved).sqrt())
    }

    /// Its monomials.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The second derivatives at 0.
    pub fn hessian_at_centre(&self) -> &Matrix {
        &self.hessian
    }

    /// −H⁻¹ g, the minimum of a quadratic that curves up in every direction; false if it does not.
    pub fn newton(&mut self, x: &mut Vec<f64>) -> bool {
        let convex = self.is_convex();
        if convex {
            x.clear();
            x.extend(self.coefficients[1..=self.d].iter().map(|g| -g));
            linalg::solve(&self.factor, x);
        }
        convex
    }

    /// Whether a quadratic curves up in every direction.
    pub fn is_convex(&mut self) -> bool {
        self.factor.copy_from(&self.hessian);
        self.terms.degree() <= 2 && linalg::cholesky(&mut self.factor).is_ok()
    }

    /// What each monomial is worth to the sum at `x`, by itself and as a factor of later ones: the chain rule from the last to the first.
    fn worth(&self, x: &[f64]) -> Vec<f64> {
        let mut worth = self.coefficients.clone();
        for (m, &(of, j)) in (1..worth.len()).zip(&self.monomials).rev() {
            worth[of] += worth[m] * x[j];
        }
        worth
    }
}

impl Program for Polynomial {
    fn look(&self, x: &[f64]) -> Look {
        let (mut values, mut gradient) = (Vec::with_capacity(self.coefficients.len()), vec![0.0; x.len()]);
        self.monomials_at(|j| x[j], &mut values);
        if self.terms.degree() <= 2 {
            gradient.copy_from_slice(&self.coefficients[1..=x.len()]);
            x.iter().enumerate().for_each(|(j, x)| linalg::axpy(&mut gradient, *x, self.hessian.col(j)));
        } else {
            let each = self.monomials.iter().zip(self.worth(x).into_iter().skip(1));
            each.for_each(|(&(of, j), worth)| gradient[j] += worth * values[of]);
        }
        Look { value: linalg::dot(&values, &self.coefficients), gradient, limits: Vec::new() }
    }

    fn hessian(&self, x: &[f64], _: &[f64]) -> Matrix {
        if self.terms.degree() <= 2 {
            return self.hessian.clone();
        }
        let (d, mut values) = (x.len(), Vec::with_capacity(self.coefficients.len()));
        self.monomials_at(|j| x[j], &mut values);
        let worth = self.worth(x);
        let mut hessian = Matrix::zeros(d, d);
        let (mut slopes, mut bends) = (vec![0.0; values.len()], vec![0.0; values.len()]);
        for k in 0..d {
            // How all of it changes with x_k.
            for (m, &(of, j)) in (1..values.len()).zip(&self.monomials) {
                slopes[m] = slopes[of] * x[j] + if j == k { values[of] } else { 0.0 };
            }
            bends.fill(0.0);
            let column = hessian.col_mut(k);
            for (m, &(of, j)) in (1..values.len()).zip(&self.monomials).rev() {
                column[j] += bends[m] * values[of] + worth[m] * slopes[of];
                bends[of] += bends[m] * x[j] + if j == k { worth[m] } else { 0.0 };
            }
        }
        hessian
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_monomials_as_counted() {
        for terms in [Terms::Linear, Terms::Squares, Terms::Quadratic, Terms::Quartic] {
            for d in 1..=9 {
                let mut polynomial = Polynomial::default();
                polynomial.enumerate(terms, d);
                assert_eq!(1 + polynomial.monomials.len(), terms.count(d));
            }
        }
        assert_eq!(Terms::Round.count(7), 1 + 7 + 1, "a constant, slopes and one curvature");
        assert_eq!([1, 2, 5, 7].map(|d| Terms::Quartic.count(d)), [5, 15, 126, 330]);
        assert!(Terms::Quartic.count(100_000) > 1_000_000, "no overflow");
    }
}
