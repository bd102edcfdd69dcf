//! Dense linear algebra for matrices of tens to hundreds of rows: the only module that knows how a matrix is stored
//! and multiplied.
//!
//! Every product runs through one kernel, [`product`], which adds the terms of each entry one after another, and inner products
//! in eight fixed lanes. Wider registers hold more entries and never reorder a sum, so the bits do not depend on the instruction set,
//! which [`crate::width`] chooses at run time, the optimisation level or the number of threads. Rust contracts no multiply–add by itself.
//! `benchmarks/` holds the comparison with other back ends, and `docs/divergences.md` the figures.

mod bordered;
mod elimination;
mod inner;
mod orthogonal;
mod product;
mod relative;
mod triangular;

pub use bordered::Bordered;
pub use elimination::eliminate;
pub use inner::Products;
pub use orthogonal::{is_orthonormal, least_squares, match_columns, orthonormalise, right_singular_vectors};
use product::PartialSums;
pub use product::{neg_gram, neg_product, squared_distances, squared_distances_above, weighted_squares};
pub use relative::relative_error;
pub use triangular::{
    NonPositivePivot, cholesky, inverse_from_cholesky, ln_det, remove_from_cholesky, solve, solve_lower,
    solve_lower_transposed, solve_rows,
};

/// Column-major matrix whose buffer is reused between sizes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// Zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The matrix of these rows.
    pub fn from_rows(rows: &[Vec<f64>]) -> Self {
        let mut m = Self::zeros(rows.len(), rows.first().map_or(0, Vec::len));
        for (i, row) in rows.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, v)| m[(i, j)] = *v);
        }
        m
    }

    /// The sum of the products of its entries and those of another.
    pub fn inner(&self, other: &Self) -> f64 {
        (0..self.cols()).map(|j| dot(self.col(j), other.col(j))).sum()
    }

    /// The identity of order `n`.
    pub fn identity(n: usize) -> Self {
        let mut m = Self::default();
        m.set_identity(n);
        m
    }

    /// Becomes the identity of order `n`, keeping the allocation.
    pub fn set_identity(&mut self, n: usize) {
        self.reset(n, n);
        for i in 0..n {
            self[(i, i)] = 1.0;
        }
    }

    /// Becomes a matrix of zeros, keeping the allocation.
    pub fn reset(&mut self, rows: usize, cols: usize) {
        self.reshape(rows, cols);
        self.data.fill(0.0);
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    #[inline]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Column `j`, contiguous.
    #[inline]
    pub fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j` to write.
    #[inline]
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Mᵀ v: the inner product of each column with v.
    pub fn transposed_times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.cols).map(|j| dot(self.col(j), v)).collect()
    }

    /// All entries, column after column.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Whether the stored buffer has as many entries as the shape says (a deserialised matrix may lie).
    pub fn is_consistent(&self, rows: usize, cols: usize) -> bool {
        self.rows == rows && self.cols == cols && self.data.len() == rows * cols
    }

    /// Takes another shape, keeping the allocation; the entries are unspecified afterwards.
    pub fn reshape(&mut self, rows: usize, cols: usize) {
        self.data.resize(rows * cols, 0.0);
        (self.rows, self.cols) = (rows, cols);
    }

    /// Takes the shape and the entries of another, keeping the allocation.
    pub fn copy_from(&mut self, other: &Matrix) {
        self.reshape(other.rows, other.cols);
        self.data.copy_from_slice(&other.data);
    }

    /// Every entry times c.
    pub fn scale(&mut self, c: f64) {
        for v in &mut self.data {
            *v *= c;
        }
    }

    /// Sets every entry.
    pub fn fill(&mut self, value: f64) {
        self.data.fill(value);
    }

    /// Copies the strict lower triangle onto the upper one.
    pub fn mirror_lower(&mut self) {
        self.each_pair(|lower, upper| *upper = *lower);
    }

    /// Copies the strict upper triangle onto the lower one.
    pub fn mirror_upper(&mut self) {
        self.each_pair(|lower, upper| *lower = *upper);
    }

    /// Calls `f` for each entry below the diagonal and its mirror image, in squares small enough for the first cache.
    fn each_pair(&mut self, f: impl Fn(&mut f64, &mut f64)) {
        const SIDE: usize = 32;
        let n = self.rows;
        for left in (0..n).step_by(SIDE) {
            for top in (left..n).step_by(SIDE) {
                for j in left..n.min(left + SIDE) {
                    let first = top.max(j + 1).min(n);
                    let (columns, rest) = self.data.split_at_mut((j + 1) * n);
                    let mut at = (first - j - 1) * n + j;
                    for lower in &mut columns[j * n + first..j * n + n.min(top + SIDE).max(first)] {
                        f(lower, &mut rest[at]);
                        at += n;
                    }
                }
            }
        }
    }

    /// out_i = Σ_k (x_ik − at(k))² for the first rows, k after k.
    #[inline(always)]
    pub fn squared_distances_to(&self, at: impl Fn(usize) -> f64, out: &mut [f64]) {
        out.fill(0.0);
        for k in 0..self.cols {
            let origin = at(k);
            for (s, x) in out.iter_mut().zip(self.col(k)) {
                let difference = x - origin;
                *s += difference * difference;
            }
        }
    }

    /// Removes some rows, in ascending order.
    pub fn remove_rows(&mut self, removed: &[usize]) {
        let mut row = (0..self.rows).cycle();
        self.data.retain(|_| row.next().is_some_and(|row| removed.binary_search(&row).is_err()));
        self.rows -= removed.len();
    }

    /// One more row: one number at the foot of each column.
    pub fn append_row(&mut self, row: &[f64]) {
        let n = self.rows;
        self.data.resize((n + 1) * self.cols, 0.0);
        for j in (0..self.cols).rev() {
            self.data.copy_within(j * n..(j + 1) * n, j * (n + 1));
            self.data[j * (n + 1) + n] = row[j];
        }
        self.rows = n + 1;
    }

    /// One more column, zeros below what is given.
    pub fn append_column(&mut self, column: &[f64]) {
        self.data.extend_from_slice(column);
        self.cols += 1;
        self.data.resize(self.rows * self.cols, 0.0);
    }

    /// Becomes the transpose of `other`, with rows of zeros below it up to a multiple of `step`.
    pub fn transpose_from(&mut self, other: &Matrix, step: usize) {
        const SIDE: usize = 16;
        let (m, n) = (other.rows, other.cols);
        let rows = n.next_multiple_of(step);
        self.reshape(rows, m);
        for top in (0..m).step_by(SIDE) {
            for j in 0..n {
                for i in top..m.min(top + SIDE) {
                    self.data[i * rows + j] = other.data[j * m + i];
                }
            }
        }
        for i in 0..m {
            self.col_mut(i)[n..].fill(0.0);
        }
    }

    /// Column `j` to write, together with the columns before it.
    pub(crate) fn split_col(&mut self, j: usize) -> (&[f64], &mut [f64]) {
        let (left, right) = self.data.split_at_mut(j * self.rows);
        (left, &mut right[..self.rows])
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[j * self.rows + i]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[j * self.rows + i]
    }
}

/// Lanes of [`dot`]: fixed, so that the order of the sum is.
const LANES: usize = 8;

/// Whether no component of two vectors differs by more than `within`.
pub fn is_near(a: &[f64], b: &[f64], within: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within)
}

/// Removes the values at these positions, in ascending order.
pub fn remove_at<T>(values: &mut Vec<T>, removed: &[usize]) {
    let (mut removed, mut position) = (removed.iter().peekable(), 0);
    values.retain(|_| {
        position += 1;
        removed.next_if_eq(&&(position - 1)).is_none()
    });
}

/// Zero in the place of the values that are not kept.
pub fn mask(values: &mut [f64], kept: &[bool]) {
    values.iter_mut().zip(kept).filter(|(_, kept)| !**kept).for_each(|(v, _)| *v = 0.0);
}

/// Inner product in eight interleaved partial sums, added pairwise at the end.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut acc = [0.0; LANES];
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for l in 0..LANES {
            acc[l] += x[l] * y[l];
        }
    }
    for (l, (x, y)) in a_rest.iter().zip(b_rest).enumerate() {
        acc[l] += x * y;
    }
    total(&acc)
}

/// The partial sums of [`dot`], added.
#[inline(always)]
fn total(acc: &PartialSums) -> f64 {
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

/// y += c x.
#[inline(always)]
pub fn axpy(y: &mut [f64], c: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

#[cfg(test)]
mod tests;
