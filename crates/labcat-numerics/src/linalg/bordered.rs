//! A positive definite matrix bordered by a few columns.

use super::{Matrix, NonPositivePivot, axpy, cholesky, inverse_from_cholesky, ln_det, solve};

/// The inverse of [K F; Fᵀ 0] in blocks: [P B; Bᵀ −T] with T = (FᵀK⁻¹F)⁻¹. It gives the weights of universal kriging with trends F.
#[derive(Clone, Debug, Default)]
pub struct Bordered {
    /// K⁻¹ − K⁻¹ F T FᵀK⁻¹.
    pub p: Matrix,
    /// K⁻¹ F T.
    pub b: Matrix,
    /// T.
    pub t: Matrix,
    /// The logarithms of the determinants of K and of FᵀK⁻¹F.
    pub ln_dets: (f64, f64),
}

impl Bordered {
    /// From the lower triangle of K.
    pub fn inverse(mut k: Matrix, f: &Matrix) -> Result<Self, NonPositivePivot> {
        let (n, q) = (f.rows, f.cols);
        cholesky(&mut k)?;
        let (mut p, mut t, mut scratch) = (Matrix::default(), Matrix::default(), Matrix::default());
        inverse_from_cholesky(&k, &mut scratch, &mut p);
        // K⁻¹ F.
        let mut images = Matrix::zeros(n, q);
        for j in 0..q {
            (0..n).for_each(|i| axpy(images.col_mut(j), f[(i, j)], p.col(i)));
        }
        let mut inner = Matrix::zeros(q, q);
        for j in 0..q {
            (0..q).for_each(|i| inner[(i, j)] = images.col(i).iter().zip(f.col(j)).map(|(a, b)| a * b).sum());
        }
        cholesky(&mut inner)?;
        let mut b = Matrix::zeros(n, q);
        for row in 0..n {
            let mut coefficients: Vec<f64> = (0..q).map(|j| images[(row, j)]).collect();
            solve(&inner, &mut coefficients);
            (0..q).for_each(|j| b[(row, j)] = coefficients[j]);
        }
        for col in 0..n {
            (0..q).for_each(|j| axpy(p.col_mut(col), -images[(col, j)], b.col(j)));
        }
        inverse_from_cholesky(&inner, &mut scratch, &mut t);
        Ok(Self { p, b, t, ln_dets: (ln_det(&k), ln_det(&inner)) })
    }
}
