//! Orthogonal factors: principal axes, least squares.

use super::{Matrix, axpy, dot};
use crate::wide;

wide! {
    /// Singular value decomposition of a tall, possibly rank-deficient matrix, without its left factor: Z = Q diag(σ) Vᵀ.
    ///
    /// Householder reduction to a square triangle, then one-sided Jacobi rotations, which keep the small singular
    /// directions of badly scaled columns to high relative accuracy. `z` is destroyed; `v` (d × d) becomes the right singular vectors,
    /// unsorted and close to the identity when the columns of Z were nearly orthogonal; `sigma` the singular values.
    pub fn right_singular_vectors(z: &mut Matrix, v: &mut Matrix, sigma: &mut Vec<f64>) {
        let d = z.cols;
        if z.rows > d {
            triangularise(z);
        }
        let rows = z.rows.min(d);
        v.set_identity(d);
        const MAX_SWEEPS: usize = 30;
        const ORTHOGONAL: f64 = 1e-14;
        for _ in 0..MAX_SWEEPS {
            let mut rotated = false;
            for q in 1..d {
                for p in 0..q {
                    let (x, y) = (&z.col(p)[..rows], &z.col(q)[..rows]);
                    let (xx, yy, xy) = (dot(x, x), dot(y, y), dot(x, y));
                    if xy.abs() <= ORTHOGONAL * (xx * yy).sqrt() {
                        continue;
                    }
                    rotated = true;
                    // Smaller root of t² + 2ζt − 1 = 0: the rotation that makes the two columns orthogonal.
                    let zeta = (yy - xx) / (2.0 * xy);
                    let t = if zeta.is_finite() {
                        1.0_f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt())
                    } else {
                        0.0
                    };
                    let cosine = 1.0 / (1.0 + t * t).sqrt();
                    let sine = cosine * t;
                    rotate_columns(z, p, q, rows, cosine, sine);
                    rotate_columns(v, p, q, d, cosine, sine);
                }
            }
            if !rotated {
                break;
            }
        }
        sigma.clear();
        sigma.extend((0..d).map(|j| dot(&z.col(j)[..rows], &z.col(j)[..rows]).sqrt()));
    }
}

/// (x_p, x_q) ← (c x_p − s x_q, s x_p + c x_q) over the first `rows` entries.
#[inline(always)]
fn rotate_columns(m: &mut Matrix, p: usize, q: usize, rows: usize, cosine: f64, sine: f64) {
    let (left, right) = m.data.split_at_mut(q * m.rows);
    let x = &mut left[p * m.rows..][..rows];
    for (x, y) in x.iter_mut().zip(&mut right[..rows]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Householder QR in place; the upper triangle becomes R, what lies below it is zeroed.
#[inline(always)]
fn triangularise(z: &mut Matrix) {
    let (n, d) = (z.rows, z.cols);
    for j in 0..d {
        let (left, rest) = z.data.split_at_mut((j + 1) * n);
        let x = &mut left[j * n + j..];
        let norm = dot(x, x).sqrt();
        if norm == 0.0 {
            continue;
        }
        let alpha = -norm.copysign(x[0]);
        x[0] -= alpha;
        let scale = -1.0 / (alpha * x[0]); // 2 / vᵀv
        for k in 0..d - j - 1 {
            let y = &mut rest[k * n + j..(k + 1) * n];
            let s = scale * dot(x, y);
            axpy(y, -s, x);
        }
        x[0] = alpha;
        x[1..].fill(0.0);
    }
}

wide! {
    /// The x that minimises |A x − b|, from `system` = (A, b) with at least as many rows as columns of A. Leaves in `system` the triangle R of
    /// A = QR, and below the last column's first entries, if there are more rows, the length of what is left over, up to its sign. False
    /// if the columns of A are dependent, up to rounding.
    pub fn least_squares(system: &mut Matrix, x: &mut Vec<f64>) -> bool {
        const DEPENDENT: f64 = 1e-10;
        let p = system.cols - 1;
        // Columns of length one: their dependence is then what the diagonal of the triangle tells.
        x.clear();
        for j in 0..p {
            let length = dot(system.col(j), system.col(j)).sqrt();
            x.push(length);
            for v in system.col_mut(j) {
                *v /= length;
            }
        }
        triangularise(system);
        for j in (0..p).rev() {
            let pivot = system[(j, j)];
            if pivot.is_nan() || pivot.abs() <= DEPENDENT {
                return false;
            }
            let rest: f64 = (j + 1..p).map(|k| system[(j, k)] * system[(k, p)]).sum();
            system[(j, p)] = (system[(j, p)] - rest) / pivot;
        }
        for (j, x) in x.iter_mut().enumerate() {
            let length = std::mem::replace(x, system[(j, p)] / *x);
            for r in &mut system.col_mut(j)[..=j] {
                *r *= length;
            }
        }
        true
    }
}

wide! {
    /// Restores the orthonormality of the columns of a nearly orthogonal matrix (modified Gram–Schmidt).
    pub fn orthonormalise(m: &mut Matrix) {
        for j in 0..m.cols {
            let rows = m.rows;
            let (left, col) = m.split_col(j);
            for k in 0..j {
                let q = &left[k * rows..(k + 1) * rows];
                let s = dot(q, col);
                axpy(col, -s, q);
            }
            let inverse = 1.0 / dot(col, col).sqrt();
            for v in col {
                *v *= inverse;
            }
        }
    }
}

/// Whether the columns are of length one and at right angles, up to rounding.
pub fn is_orthonormal(m: &Matrix) -> bool {
    const EDGE: f64 = 1e-9;
    let right = |i: usize, j: usize| (dot(m.col(i), m.col(j)) - f64::from(u8::from(i == j))).abs() <= EDGE;
    (0..m.cols).all(|i| (0..=i).all(|j| right(i, j)))
}

/// Gives each row of a square matrix a column of its own: that of the largest entry in absolute value, then that of the largest in the rows and columns
/// left, and so on. `m` is destroyed.
pub fn match_columns(m: &mut Matrix, columns: &mut Vec<usize>) {
    let d = m.cols;
    columns.clear();
    columns.resize(d, usize::MAX);
    for _ in 0..d {
        let mut best = (-1.0, 0, 0);
        for j in 0..d {
            for (i, entry) in m.col(j).iter().enumerate() {
                if entry.abs() > best.0 && !entry.is_nan() {
                    best = (entry.abs(), i, j);
                }
            }
        }
        let (_, i, j) = best;
        columns[i] = j;
        m.col_mut(j).fill(f64::NAN);
        for k in 0..d {
            m[(i, k)] = f64::NAN;
        }
    }
}
