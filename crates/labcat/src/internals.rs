//! The work that no step can avoid, for the benchmark that measures a step against it. Not part of the public interface.

use crate::gp::kernel::KernelKind;
use crate::linalg::{self, Matrix};
use crate::rng::Rng;

/// Buffers and data of the yardstick for `n` observations in `d` dimensions.
#[derive(Debug)]
pub struct Yardstick {
    n: usize,
    d: usize,
    kernel: Matrix,
    factor: Matrix,
    scratch: Matrix,
    inverse: Matrix,
    product: Vec<f64>,
    candidates: Matrix,
    exponents: Vec<f64>,
}

impl Yardstick {
    /// A random, well-conditioned kernel matrix of order `n`.
    pub fn new(n: usize, d: usize) -> Self {
        let mut rng = Rng::new(7);
        let mut kernel = Matrix::identity(n);
        for q in 0..n {
            for p in 0..q {
                let k = rng.between(0.0, 0.5) / n as f64;
                kernel[(p, q)] = k;
                kernel[(q, p)] = k;
            }
        }
        Self {
            n,
            d,
            factor: kernel.clone(),
            kernel,
            scratch: Matrix::zeros(n, n),
            inverse: Matrix::zeros(n, n),
            product: vec![0.0; n * n],
            candidates: Matrix::zeros(10 * d, n),
            exponents: Vec::with_capacity(n * (n - 1) + 10 * d * n),
        }
    }

    /// Two Cholesky factorisations, one inverse from the factor, `products` symmetric n × n products, the exponentials of two
    /// kernel matrices and of 10 d kernel vectors, one triangular solve with 10 d right-hand sides. Gives a number that depends on all of it.
    pub fn run(&mut self, products: usize) -> f64 {
        let mut sum = self.cholesky() + self.cholesky();
        self.inverse();
        for _ in 0..products {
            sum += self.product();
        }
        self.exponentials();
        sum + self.solve()
    }

    /// One factorisation.
    pub fn cholesky(&mut self) -> f64 {
        self.factor.copy_from(&self.kernel);
        f64::from(u8::from(linalg::cholesky(&mut self.factor).is_ok()))
    }

    /// The oldest row removed from the factor of [`Yardstick::cholesky`], which it destroys.
    pub fn remove(&mut self) -> f64 {
        linalg::remove_from_cholesky(&mut self.factor, 0, &mut self.exponents);
        self.factor[(0, 0)]
    }

    /// The inverse from the factor.
    pub fn inverse(&mut self) -> f64 {
        linalg::inverse_from_cholesky(&self.factor, &mut self.scratch, &mut self.inverse);
        self.inverse[(0, 0)]
    }

    /// One symmetric product.
    pub fn product(&mut self) -> f64 {
        linalg::neg_product(&self.inverse, &self.kernel, &mut self.product);
        self.product[self.n / 2]
    }

    fn exponentials(&mut self) {
        let (n, m) = (self.n, 10 * self.d);
        self.exponents.clear();
        self.exponents.extend((0..n * (n - 1) + m * n).map(|i| 1e-3 * (i % 5000) as f64));
        KernelKind::SquaredExponential.apply(&mut self.exponents);
        for j in 0..n {
            self.candidates.col_mut(j).copy_from_slice(&self.exponents[j * m..(j + 1) * m]);
        }
    }

    /// One triangular solve with 10 d right-hand sides.
    pub fn solve(&mut self) -> f64 {
        linalg::solve_rows(&self.factor, &mut self.candidates);
        self.candidates[(0, self.n - 1)]
    }

    /// Entry (i, j) of the kernel matrix, for other back ends to start from.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.kernel[(i, j)]
    }
}
