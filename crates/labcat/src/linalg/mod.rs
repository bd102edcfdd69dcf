//! Dense linear algebra for matrices of tens to hundreds of rows: the only file that knows how a matrix is stored
//! and multiplied.
//!
//! Every product runs through one kernel, [`sub_product`], which walks down contiguous columns and adds the terms of each
//! entry one after another. Vectorising it widens the walk and never reorders a sum, so the bits do not depend on
//! the instruction set, the optimisation level or the number of threads. Rust contracts no multiply–add by itself.
//! `benchmarks/` holds the comparison with other back ends, and `docs/divergences.md` the figures.

/// Column-major matrix whose buffer is reused between sizes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Matrix {
    /// A matrix of zeros.
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity of order `n`.
    pub(crate) fn identity(n: usize) -> Self {
        let mut m = Self::zeros(n, n);
        for i in 0..n {
            m[(i, i)] = 1.0;
        }
        m
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Column `j`, contiguous.
    pub(crate) fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// Column `j`, contiguous.
    pub(crate) fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..(j + 1) * self.rows]
    }

    /// All entries, column after column.
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// Whether the stored buffer has as many entries as the shape says (a deserialised matrix may lie).
    #[cfg(any(feature = "serde", test))]
    pub(crate) fn is_consistent(&self, rows: usize, cols: usize) -> bool {
        self.rows == rows && self.cols == cols && self.data.len() == rows * cols
    }

    /// Takes another shape, keeping the allocation; the entries are unspecified afterwards.
    pub(crate) fn reshape(&mut self, rows: usize, cols: usize) {
        self.data.resize(rows * cols, 0.0);
        (self.rows, self.cols) = (rows, cols);
    }

    /// Makes room for a `rows` × `cols` shape.
    pub(crate) fn reserve(&mut self, rows: usize, cols: usize) {
        self.data.reserve((rows * cols).saturating_sub(self.data.len()));
    }

    pub(crate) fn copy_from(&mut self, other: &Matrix) {
        self.reshape(other.rows, other.cols);
        self.data.copy_from_slice(&other.data);
    }

    pub(crate) fn negate(&mut self) {
        for v in &mut self.data {
            *v = -*v;
        }
    }

    pub(crate) fn fill(&mut self, value: f64) {
        self.data.fill(value);
    }

    /// Copies the strict lower triangle onto the upper one.
    pub(crate) fn mirror_lower(&mut self) {
        let n = self.rows;
        for j in 0..n {
            for i in j + 1..n {
                self.data[i * n + j] = self.data[j * n + i];
            }
        }
    }

    /// Copies the strict upper triangle onto the lower one.
    pub(crate) fn mirror_upper(&mut self) {
        let n = self.rows;
        for j in 0..n {
            for i in j + 1..n {
                self.data[j * n + i] = self.data[i * n + j];
            }
        }
    }

    /// Writes entry `index` of the column-after-column order.
    pub(crate) fn set_linear(&mut self, index: usize, value: f64) {
        self.data[index] = value;
    }

    /// A square lower-triangular factor grown by the row (`row`, `pivot`).
    pub(crate) fn append_row(&mut self, row: &[f64], pivot: f64) {
        let n = self.rows;
        self.data.resize((n + 1) * (n + 1), 0.0);
        for j in (0..n).rev() {
            self.data.copy_within(j * n..(j + 1) * n, j * (n + 1));
            self.data[j * (n + 1) + n] = row[j];
        }
        self.data[n * (n + 1)..].fill(0.0);
        self.data[n * (n + 1) + n] = pivot;
        (self.rows, self.cols) = (n + 1, n + 1);
    }

    /// One more row: `coordinates` at the foot of each column.
    pub(crate) fn append_coordinates(&mut self, coordinates: &[f64]) {
        let n = self.rows;
        self.data.resize((n + 1) * self.cols, 0.0);
        for j in (0..self.cols).rev() {
            self.data.copy_within(j * n..(j + 1) * n, j * (n + 1));
            self.data[j * (n + 1) + n] = coordinates[j];
        }
        self.rows = n + 1;
    }

    /// Column `j` to write, together with the columns before it.
    fn split_col(&mut self, j: usize) -> (&[f64], &mut [f64]) {
        let (left, right) = self.data.split_at_mut(j * self.rows);
        (left, &mut right[..self.rows])
    }
}

impl std::ops::Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[j * self.rows + i]
    }
}

impl std::ops::IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[j * self.rows + i]
    }
}

/// A factorisation met a pivot that is not positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonPositivePivot {
    /// Row of the pivot.
    pub(crate) index: usize,
}

/// Lanes of [`dot`]: fixed, so that the order of the sum is.
const LANES: usize = 8;

/// Inner product in eight interleaved partial sums, added pairwise at the end.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
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
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7]))
}

/// y += c x.
pub(crate) fn axpy(y: &mut [f64], c: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

/// Columns of the result that one pass of [`sub_product`] writes.
const PANEL: usize = 4;
/// Rows that one pass keeps close to the processor.
const BLOCK: usize = 128;

/// C −= A B for column-major C (m × n, leading dimension `ldc`) and A (m × k, `lda`), B given entry by entry as `b(k, n)`.
/// Each entry of C loses its products in the order of k.
fn sub_product(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    (m, k, n): (usize, usize, usize),
    b: impl Fn(usize, usize) -> f64,
) {
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    for row in (0..m).step_by(BLOCK) {
        let len = BLOCK.min(m - row);
        let mut j = 0;
        while j + PANEL <= n {
            let (c0, rest) = c[j * ldc..].split_at_mut(ldc);
            let (c1, rest) = rest.split_at_mut(ldc);
            let (c2, c3) = rest.split_at_mut(ldc);
            let [c0, c1, c2, c3] = [c0, c1, c2, c3].map(|c| &mut c[row..row + len]);
            let mut p = 0;
            while p + 4 <= k {
                let x: [&[f64]; 4] = std::array::from_fn(|t| &a[(p + t) * lda + row..][..len]);
                let w: [[f64; 4]; PANEL] = std::array::from_fn(|q| std::array::from_fn(|t| b(p + t, j + q)));
                let [x0, x1, x2, x3] = x;
                for i in 0..len {
                    let (y0, y1, y2, y3) = (x0[i], x1[i], x2[i], x3[i]);
                    c0[i] = c0[i] - w[0][0] * y0 - w[0][1] * y1 - w[0][2] * y2 - w[0][3] * y3;
                    c1[i] = c1[i] - w[1][0] * y0 - w[1][1] * y1 - w[1][2] * y2 - w[1][3] * y3;
                    c2[i] = c2[i] - w[2][0] * y0 - w[2][1] * y1 - w[2][2] * y2 - w[2][3] * y3;
                    c3[i] = c3[i] - w[3][0] * y0 - w[3][1] * y1 - w[3][2] * y2 - w[3][3] * y3;
                }
                p += 4;
            }
            while p < k {
                let x = &a[p * lda + row..][..len];
                let w: [f64; PANEL] = std::array::from_fn(|q| b(p, j + q));
                for i in 0..len {
                    c0[i] -= w[0] * x[i];
                    c1[i] -= w[1] * x[i];
                    c2[i] -= w[2] * x[i];
                    c3[i] -= w[3] * x[i];
                }
                p += 1;
            }
            j += PANEL;
        }
        while j < n {
            let c0 = &mut c[j * ldc + row..][..len];
            let mut p = 0;
            while p + 4 <= k {
                let x: [&[f64]; 4] = std::array::from_fn(|t| &a[(p + t) * lda + row..][..len]);
                let w: [f64; 4] = std::array::from_fn(|t| b(p + t, j));
                let [x0, x1, x2, x3] = x;
                for i in 0..len {
                    c0[i] = c0[i] - w[0] * x0[i] - w[1] * x1[i] - w[2] * x2[i] - w[3] * x3[i];
                }
                p += 4;
            }
            while p < k {
                axpy(c0, -b(p, j), &a[p * lda + row..][..len]);
                p += 1;
            }
            j += 1;
        }
    }
}

/// Columns factored at a time: wide enough to feed [`sub_product`], narrow enough to stay in the first cache.
const FACTOR_PANEL: usize = 16;

/// Factors the lower triangle of a symmetric matrix in place: A = L Lᵀ. The strict upper triangle is left as it was.
pub(crate) fn cholesky(a: &mut Matrix) -> Result<(), NonPositivePivot> {
    let n = a.rows;
    for start in (0..n).step_by(FACTOR_PANEL) {
        let width = FACTOR_PANEL.min(n - start);
        let (left, right) = a.data.split_at_mut(start * n);
        let below = if start == 0 { &left[..] } else { &left[start..] };
        sub_product((&mut right[start..], n), (below, n), (n - start, start, width), |k, j| left[k * n + start + j]);
        for j in start..start + width {
            let (done, col) = right.split_at_mut((j - start) * n);
            let col = &mut col[j..n];
            for k in 0..j - start {
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
    Ok(())
}

/// x ← L⁻¹ x.
pub(crate) fn solve_lower(l: &Matrix, x: &mut [f64]) {
    for j in 0..x.len() {
        let (head, tail) = x.split_at_mut(j + 1);
        head[j] /= l[(j, j)];
        axpy(tail, -head[j], &l.col(j)[j + 1..j + 1 + tail.len()]);
    }
}

/// x ← L⁻ᵀ x.
pub(crate) fn solve_lower_transposed(l: &Matrix, x: &mut [f64]) {
    let n = x.len();
    for j in (0..n).rev() {
        let s = dot(&l.col(j)[j + 1..n], &x[j + 1..]);
        x[j] = (x[j] - s) / l[(j, j)];
    }
}

/// B ← B L⁻ᵀ for B of m × n: the rows of B are right-hand sides, solved side by side.
pub(crate) fn solve_rows(l: &Matrix, b: &mut Matrix) {
    let m = b.rows;
    solve_leading_rows(l, b, |_| m);
}

/// As [`solve_rows`], touching only the first `live(j)` rows of column j (the others are zero and stay so).
fn solve_leading_rows(l: &Matrix, b: &mut Matrix, live: impl Fn(usize) -> usize) {
    let (m, n) = (b.rows, b.cols);
    for start in (0..n).step_by(FACTOR_PANEL) {
        let width = FACTOR_PANEL.min(n - start);
        let rows = live(start + width - 1);
        let (left, right) = b.data.split_at_mut(start * m);
        sub_product((right, m), (left, m), (rows, start, width), |k, j| l[(start + j, k)]);
        for j in start..start + width {
            let (done, col) = right.split_at_mut((j - start) * m);
            let col = &mut col[..rows];
            for k in start..j {
                axpy(col, -l[(j, k)], &done[(k - start) * m..][..rows]);
            }
            let inverse = 1.0 / l[(j, j)];
            for v in col {
                *v *= inverse;
            }
        }
    }
}

/// A⁻¹ from its factor L, both triangles; `scratch` receives L⁻ᵀ.
pub(crate) fn inverse_from_cholesky(l: &Matrix, scratch: &mut Matrix, inverse: &mut Matrix) {
    let n = l.rows;
    scratch.reshape(n, n);
    scratch.data.fill(0.0);
    for i in 0..n {
        scratch[(i, i)] = 1.0;
    }
    solve_leading_rows(l, scratch, |j| j + 1);
    // −A⁻¹ = −L⁻ᵀ L⁻¹, whose entry (i, j), i ≥ j, sums the columns k ≥ i of L⁻ᵀ.
    inverse.reshape(n, n);
    inverse.data.fill(0.0);
    for start in (0..n).step_by(FACTOR_PANEL) {
        let width = FACTOR_PANEL.min(n - start);
        for first in (start..n).step_by(FACTOR_PANEL) {
            let depth = FACTOR_PANEL.min(n - first);
            let rows = first + depth - start;
            let a = &scratch.data[first * n + start..];
            let c = &mut inverse.data[start * n + start..];
            sub_product((c, n), (a, n), (rows, depth, width), |k, j| scratch.data[(first + k) * n + start + j]);
        }
    }
    inverse.negate();
    inverse.mirror_lower();
}

/// out ← −A B for square symmetric matrices, both triangles stored.
pub(crate) fn neg_product(a: &Matrix, b: &Matrix, out: &mut [f64]) {
    let n = a.rows;
    out.fill(0.0);
    sub_product((out, n), (&a.data, n), (n, n, n), |k, j| b.data[j * n + k]);
}

/// Removes row and column `index` of A = L Lᵀ from its factor, in O(n²): the trailing block takes the removed column
/// back by a sequence of plane rotations.
pub(crate) fn remove_from_cholesky(l: &mut Matrix, index: usize, scratch: &mut Vec<f64>) {
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

/// Singular value decomposition of a tall, possibly rank-deficient matrix, without its left factor: Z = Q diag(σ) Vᵀ.
///
/// Householder reduction to a square triangle, then one-sided Jacobi rotations, which keep the small singular
/// directions of badly scaled columns to high relative accuracy. `z` is destroyed; `v` (d × d) becomes the right singular vectors,
/// unsorted and close to the identity when the columns of Z were nearly orthogonal; `sigma` the singular values.
pub(crate) fn right_singular_vectors(z: &mut Matrix, v: &mut Matrix, sigma: &mut Vec<f64>) {
    let d = z.cols;
    if z.rows > d {
        triangularise(z);
    }
    let rows = z.rows.min(d);
    v.reshape(d, d);
    v.data.fill(0.0);
    for i in 0..d {
        v[(i, i)] = 1.0;
    }
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

/// (x_p, x_q) ← (c x_p − s x_q, s x_p + c x_q) over the first `rows` entries.
fn rotate_columns(m: &mut Matrix, p: usize, q: usize, rows: usize, cosine: f64, sine: f64) {
    let (left, right) = m.data.split_at_mut(q * m.rows);
    let x = &mut left[p * m.rows..][..rows];
    for (x, y) in x.iter_mut().zip(&mut right[..rows]) {
        (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
    }
}

/// Householder QR in place; the upper triangle becomes R, what lies below it is zeroed.
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

/// The x that minimises |A x − b|, from `system` = (A, b) with at least as many rows as columns of A; `system` is destroyed. False if
/// the columns of A are dependent, up to rounding.
pub(crate) fn least_squares(system: &mut Matrix, x: &mut Vec<f64>) -> bool {
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
    for (x, solution) in x.iter_mut().zip(system.col(p)) {
        *x = solution / *x;
    }
    true
}

/// Restores the orthonormality of the columns of a nearly orthogonal matrix (modified Gram–Schmidt).
pub(crate) fn orthonormalise(m: &mut Matrix) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
