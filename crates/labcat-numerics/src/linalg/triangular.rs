//! Cholesky's factorisation, what is solved with it, and how it is kept up to date.
//!
//! Each entry loses its products in the order of k, however the columns are grouped: the widths here change the speed and not the bits.

use super::product::{PANEL, sub_product, sub_product_of_upper};
use super::{Matrix, axpy, dot};
use crate::{math, wide};

/// A factorisation met a pivot that is not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonPositivePivot {
    /// Row of the pivot.
    pub index: usize,
}

/// Columns that take the products of all columns before them together; then they take each other's, four by four.
const BLOCK: usize = 64;

wide! {
    /// Factors the lower triangle of a symmetric matrix in place: A = L Lᵀ. The strict upper triangle is unspecified afterwards.
    pub fn cholesky(a: &mut Matrix) -> Result<(), NonPositivePivot> {
        let n = a.rows;
        for start in (0..n).step_by(BLOCK) {
            let end = n.min(start + BLOCK);
            let (left, block) = a.data.split_at_mut(start * n);
            let (m, width) = (n - start, end - start);
            let below = left.get(start..).unwrap_or_default();
            sub_product::<LANES>((&mut block[start..], n), (below, n), (m, start, width), |j| j..m, (below, n));
            for first in (start..end).step_by(PANEL) {
                let last = end.min(first + PANEL);
                let (left, panel) = block.split_at_mut((first - start) * n);
                let (m, width) = (n - first, last - first);
                let below = left.get(first..).unwrap_or_default();
                let shape = (m, first - start, width);
                sub_product::<LANES>((&mut panel[first..], n), (below, n), shape, |_| 0..m, (below, n));
                for j in first..last {
                    let (done, col) = panel.split_at_mut((j - first) * n);
                    let col = &mut col[j..n];
                    for k in 0..j - first {
                        let x = &done[k * n + j..(k + 1) * n];
                        axpy(col, -x[0], x);
                    }
                    if !(col[0] > 0.0 && col[0].is_finite()) {
                        return Err(NonPositivePivot { index: j });
                    }
                    let pivot = col[0].sqrt();
                    let inverse = 1.0 / pivot;
                    col[0] = pivot;
                    for v in &mut col[1..] {
                        *v *= inverse;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The logarithm of the determinant of A = L Lᵀ.
pub fn ln_det(l: &Matrix) -> f64 {
    2.0 * (0..l.cols).map(|i| math::ln(l[(i, i)])).sum::<f64>()
}

wide! {
    /// x ← L⁻¹ x, for the leading rows of L if x is shorter.
    pub fn solve_lower(l: &Matrix, x: &mut [f64]) {
        let (mut rest, mut j) = (x, 0);
        while rest.len() >= PANEL {
            let (head, tail) = rest.split_at_mut(PANEL);
            let mut h: [f64; PANEL] = std::array::from_fn(|k| head[k]);
            let columns: [&[f64]; PANEL] = std::array::from_fn(|k| &l.col(j + k)[j..][..PANEL + tail.len()]);
            for k in 0..PANEL {
                h[k] /= columns[k][k];
                for i in k + 1..PANEL {
                    h[i] -= h[k] * columns[k][i];
                }
            }
            head.copy_from_slice(&h);
            let ([h0, h1, h2, h3], [l0, l1, l2, l3]) = (h, columns.map(|column| &column[PANEL..]));
            for i in 0..tail.len() {
                tail[i] = tail[i] - h0 * l0[i] - h1 * l1[i] - h2 * l2[i] - h3 * l3[i];
            }
            j += PANEL;
            rest = tail;
        }
        for k in 0..rest.len() {
            rest[k] /= l[(j + k, j + k)];
            for i in k + 1..rest.len() {
                rest[i] -= rest[k] * l[(j + i, j + k)];
            }
        }
    }
}

wide! {
    /// x ← L⁻ᵀ x, for the leading rows of L if x is shorter.
    pub fn solve_lower_transposed(l: &Matrix, x: &mut [f64]) {
        let n = x.len();
        for j in (0..n).rev() {
            let s = dot(&l.col(j)[j + 1..n], &x[j + 1..]);
            x[j] = (x[j] - s) / l[(j, j)];
        }
    }
}

/// x ← A⁻¹ x for A = L Lᵀ.
pub fn solve(l: &Matrix, x: &mut [f64]) {
    solve_lower(l, x);
    solve_lower_transposed(l, x);
}

wide! {
    /// B ← B L⁻ᵀ for B of m × n: the rows of B are right-hand sides, solved side by side.
    pub fn solve_rows(l: &Matrix, b: &mut Matrix) {
        let m = b.rows;
        solve_leading_rows::<LANES>(l, b, |_| m, |_| 0);
    }
}

/// As [`solve_rows`], touching only the first `live(j)` rows of column j (the others are zero and stay so), where those before column `zeros(i)` are
/// zero in row i and below.
#[inline(always)]
fn solve_leading_rows<const LANES: usize>(
    l: &Matrix,
    b: &mut Matrix,
    live: impl Fn(usize) -> usize,
    zeros: impl Fn(usize) -> usize + Copy,
) {
    let (m, n) = (b.rows, b.cols);
    for start in (0..n).step_by(BLOCK) {
        let end = n.min(start + BLOCK);
        let (left, block) = b.data.split_at_mut(start * m);
        let rows = |j: usize| 0..live((start + j + PANEL).min(end) - 1);
        let (shape, factors) = ((m, start, end - start), (&l.data[start..], l.rows));
        sub_product_of_upper::<LANES>((block, m), (left, m), shape, rows, factors, zeros);
        for first in (start..end).step_by(PANEL) {
            let last = end.min(first + PANEL);
            let (left, panel) = block.split_at_mut((first - start) * m);
            let rows = live(last - 1);
            let factors = (&l.data[start * l.rows + first..], l.rows);
            let shape = (rows, first - start, last - first);
            let zeros = |i: usize| zeros(i).saturating_sub(start);
            sub_product_of_upper::<LANES>((panel, m), (left, m), shape, |_| 0..rows, factors, zeros);
            for j in first..last {
                let (done, col) = panel.split_at_mut((j - first) * m);
                let col = &mut col[..rows];
                for k in first..j {
                    axpy(col, -l[(j, k)], &done[(k - first) * m..][..rows]);
                }
                let inverse = 1.0 / l[(j, j)];
                for v in col {
                    *v *= inverse;
                }
            }
        }
    }
}

wide! {
    /// A⁻¹ from its factor L, both triangles; `scratch` receives L⁻ᵀ.
    pub fn inverse_from_cholesky(l: &Matrix, scratch: &mut Matrix, inverse: &mut Matrix) {
        let n = l.rows;
        scratch.set_identity(n);
        solve_leading_rows::<LANES>(l, scratch, |j| j + 1, |i| i);
        // −A⁻¹ = −L⁻ᵀ L⁻¹, whose entry (i, j), i ≥ j, sums the columns k ≥ i of L⁻ᵀ.
        inverse.reset(n, n);
        for first in (0..n).step_by(BLOCK) {
            let end = n.min(first + BLOCK);
            let a = &scratch.data[first * n..];
            let (shape, zeros) = ((end, end - first, end), |i: usize| i.saturating_sub(first));
            sub_product_of_upper::<LANES>((&mut inverse.data, n), (a, n), shape, |j| j..end, (a, n), zeros);
        }
        inverse.scale(-1.0);
        inverse.mirror_lower();
    }
}

/// Removes row and column `index` of A = L Lᵀ from its factor, in O(n²): the trailing block takes the removed column
/// back by a sequence of plane rotations.
pub fn remove_from_cholesky(l: &mut Matrix, index: usize, scratch: &mut Vec<f64>) {
    let n = l.rows;
    scratch.clear();
    scratch.extend_from_slice(&l.col(index)[index + 1..]);
    // Shift the remaining columns up and to the left, into the (n − 1)-row layout.
    for j in (0..n).filter(|&j| j != index) {
        let to = (j - usize::from(j > index)) * (n - 1);
        l.data.copy_within(j * n..j * n + index, to);
        l.data.copy_within(j * n + index + 1..(j + 1) * n, to + index);
    }
    l.reshape(n - 1, n - 1);
    add_rank_one(l, index, scratch);
}

wide! {
    /// L[from.., from..] ← factor of L Lᵀ + v vᵀ; `v` is overwritten.
    fn add_rank_one(l: &mut Matrix, from: usize, v: &mut [f64]) {
        let n = l.rows;
        for j in from..n {
            let (v_j, v_rest) = match v[j - from..].split_first_mut() {
                Some((first, rest)) => (*first, rest),
                None => return,
            };
            let (_, col) = l.split_col(j);
            let (diagonal, column) = (col[j], &mut col[j + 1..]);
            let radius = (diagonal * diagonal + v_j * v_j).sqrt();
            let (cosine, sine) = (diagonal / radius, v_j / radius);
            for (x, w) in column.iter_mut().zip(v_rest) {
                let old = *x;
                *x = cosine * old + sine * *w;
                *w = cosine * *w - sine * old;
            }
            col[j] = radius;
        }
    }
}
