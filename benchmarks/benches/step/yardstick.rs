//! The work that no step can avoid, done by others: faer's linear algebra and the standard library's exponential, on one thread, in
//! memory that is there already.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::{factor, inverse};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};

/// Data and memory for `n` observations in `d` dimensions.
pub struct Yardstick {
    kernel: Mat<f64>,
    factor: Mat<f64>,
    inverse: Mat<f64>,
    distances: Vec<f64>,
    kernels: Vec<f64>,
    candidates: Mat<f64>,
    memory: MemBuffer,
}

impl Yardstick {
    pub fn new(n: usize, d: usize) -> Self {
        let kernel = Mat::from_fn(n, n, |i, j| {
            let distance = i.abs_diff(j) as f64 / n as f64;
            (-8.0 * distance * distance).exp() + if i == j { 0.1 } else { 0.0 }
        });
        let pairs = n * (n - 1) + 10 * d * n;
        let request = StackReq::any_of(&[
            factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()),
            inverse::inverse_scratch::<f64>(n, Par::Seq),
        ]);
        Self {
            factor: kernel.clone(),
            kernel,
            inverse: Mat::zeros(n, n),
            distances: (0..pairs).map(|i| 1e-3 * (i % 5000) as f64).collect(),
            kernels: vec![0.0; pairs],
            candidates: Mat::from_fn(n, 10 * d, |i, j| ((i * 7 + j * 3) % 11) as f64),
            memory: MemBuffer::new(request),
        }
    }

    /// Two Cholesky factorisations, the inverse, the exponentials of two kernel matrices and of 10 d kernel vectors, one triangular solve
    /// with 10 d right-hand sides. Gives a number that depends on all of it.
    pub fn run(&mut self) -> f64 {
        for _ in 0..2 {
            self.factor.copy_from(&self.kernel);
            let stack = MemStack::new(&mut self.memory);
            let factored = factor::cholesky_in_place(
                self.factor.as_mut(),
                Default::default(),
                Par::Seq,
                stack,
                Default::default(),
            );
            assert!(factored.is_ok(), "the kernel matrix is positive definite");
        }
        inverse::inverse(self.inverse.as_mut(), self.factor.as_ref(), Par::Seq, MemStack::new(&mut self.memory));
        for (k, s) in self.kernels.iter_mut().zip(&self.distances) {
            *k = (-0.5 * s).exp();
        }
        solve_lower_triangular_in_place(self.factor.as_ref(), self.candidates.as_mut(), Par::Seq);
        // The right-hand sides of the next call.
        for (j, column) in self.candidates.col_iter_mut().enumerate() {
            for (to, k) in column.iter_mut().zip(&self.kernels[j..]) {
                *to = *k;
            }
        }
        self.inverse[(0, 0)] + self.candidates[(0, 0)]
    }
}
