//! The matrix kernels as the benchmarks time them, and as those of others are compared with them.

use labcat_numerics::linalg::{self, Matrix};
use labcat_numerics::rng::Rng;

/// A kernel matrix, and what is made of it.
#[derive(Debug)]
pub struct Kernels {
    n: usize,
    kernel: Matrix,
    factor: Matrix,
    scratch: Matrix,
    inverse: Matrix,
    product: Matrix,
    column: Vec<f64>,
}

impl Kernels {
    /// A random, well-conditioned kernel matrix of order `n`.
    pub fn new(n: usize) -> Self {
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
            factor: kernel.clone(),
            kernel,
            scratch: Matrix::zeros(n, n),
            inverse: Matrix::zeros(n, n),
            product: Matrix::default(),
            column: Vec::with_capacity(n),
        }
    }

    /// One factorisation.
    pub fn cholesky(&mut self) -> f64 {
        self.factor.copy_from(&self.kernel);
        f64::from(u8::from(linalg::cholesky(&mut self.factor).is_ok()))
    }

    /// The oldest row removed from the factor of [`Kernels::cholesky`], which it destroys.
    pub fn remove(&mut self) -> f64 {
        linalg::remove_from_cholesky(&mut self.factor, 0, &mut self.column);
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
        self.product[(self.n / 2, 0)]
    }

    /// Entry (i, j) of the kernel matrix, for other back ends to start from.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.kernel[(i, j)]
    }
}
