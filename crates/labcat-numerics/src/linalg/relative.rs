//! How wrong a least-squares Jacobian may be.

use super::{Matrix, cholesky, right_singular_vectors, solve_lower};

/// A column below this part of the largest is measured by that.
const SMALL: f64 = 1e-3;

/// The standard deviation of a Jacobian relative to its size, for the worst parameter and the worst direction, by JᵀJ and the covariance of a row.
pub fn relative_error(information: &Matrix, covariance: &Matrix) -> (f64, f64) {
    let d = information.cols();
    let size: Vec<f64> = (0..d).map(|j| information[(j, j)].max(0.0).sqrt()).collect();
    let least = SMALL * size.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let each = (0..d).map(|j| covariance[(j, j)].max(0.0).sqrt() / size[j].max(least));
    let error = each.fold(0.0, f64::max);
    let (mut factor, mut inside) = (Matrix::zeros(d, d), Matrix::zeros(d, d));
    for j in 0..d {
        for i in 0..d {
            let unit = size[i] * size[j];
            (factor[(i, j)], inside[(i, j)]) = (information[(i, j)] / unit, covariance[(i, j)] / unit);
        }
    }
    if size.contains(&0.0) || cholesky(&mut factor).is_err() {
        return (error, f64::INFINITY);
    }
    // L⁻¹ C L⁻ᵀ: each column, then each row.
    for _ in 0..2 {
        (0..d).for_each(|j| solve_lower(&factor, inside.col_mut(j)));
        let before = inside.clone();
        (0..d).for_each(|j| (0..d).for_each(|i| inside[(i, j)] = before[(j, i)]));
    }
    let (mut v, mut sigma) = (Matrix::zeros(d, d), Vec::new());
    right_singular_vectors(&mut inside, &mut v, &mut sigma);
    (error, sigma.into_iter().fold(0.0, f64::max).sqrt())
}
