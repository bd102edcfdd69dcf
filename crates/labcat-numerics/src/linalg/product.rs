//! Products and squared distances, in tiles that stay in registers: what all else is made of.

use super::{LANES, Matrix};
use crate::wide;
use std::ops::Range;

/// Columns of the result in one tile.
pub(super) const PANEL: usize = 4;
/// Terms that a tile takes before it goes back to memory; as many entries of B are gathered at a time.
const DEPTH: usize = 64;
/// Rows of A that stay in the second cache while all columns of the result take their terms.
const CACHED_ROWS: usize = 256;

/// C −= A B; see [`fold`].
#[inline(always)]
pub(super) fn sub_product<const LANES: usize>(
    c: (&mut [f64], usize),
    a: (&[f64], usize),
    shape: (usize, usize, usize),
    rows: impl Fn(usize) -> Range<usize>,
    b: (&[f64], usize),
) {
    sub_product_of_upper::<LANES>(c, a, shape, rows, b, |_| 0);
}

/// The same for an A whose entries before column `zeros(i)` are zero in row i and below.
#[inline(always)]
pub(super) fn sub_product_of_upper<const LANES: usize>(
    c: (&mut [f64], usize),
    a: (&[f64], usize),
    shape: (usize, usize, usize),
    rows: impl Fn(usize) -> Range<usize>,
    b: (&[f64], usize),
    zeros: impl Fn(usize) -> usize + Copy,
) {
    fold::<LANES>(c, a, shape, rows, b, zeros, |sum, a, b| sum - b * a);
}

wide! {
    /// out ← −A B for square symmetric matrices, both triangles stored.
    pub fn neg_product(a: &Matrix, b: &Matrix, out: &mut Matrix) {
        let n = a.rows;
        out.reset(n, n);
        sub_product::<LANES>((&mut out.data, n), (&a.data, n), (n, n, n), |_| 0..n, (&b.data, n));
    }
}

wide! {
    /// out ← −A Aᵀ, both triangles.
    pub fn neg_gram(a: &Matrix, out: &mut Matrix) {
        let m = a.rows;
        out.reset(m, m);
        sub_product::<LANES>((&mut out.data, m), (&a.data, m), (m, a.cols, m), |j| j..m, (&a.data, m));
        out.mirror_lower();
    }
}

wide! {
    /// out_pq = Σ_k (x_pk − y_qk)².
    pub fn squared_distances(x: &Matrix, y: &Matrix, out: &mut Matrix) {
        let m = x.rows;
        squared_distances_in::<LANES>(x, y, |_| 0..m, out);
    }
}

wide! {
    /// out_pq = Σ_k (x_pk − x_qk)² for p < q; other entries are unspecified.
    pub fn squared_distances_above(x: &Matrix, out: &mut Matrix) {
        squared_distances_in::<LANES>(x, x, |q| 0..q + PANEL - 1, out);
    }
}

/// Those of a [`dot`](super::dot), for vectors that come in parts.
pub(super) type PartialSums = [f64; LANES];

wide! {
    /// Adds the terms of (a − origin) · b to the partial sums for each a. Of the parts that vectors come in only the last may have a number of
    /// entries that is no multiple of eight.
    pub(super) fn add_products(sums: &mut [PartialSums], a: &[&[f64]], origin: &[f64], b: &[f64]) {
        let (sums, last_sums) = sums.as_chunks_mut::<PANEL>();
        let (a, last) = a.as_chunks::<PANEL>();
        sums.iter_mut().zip(a).for_each(|(sums, a)| add_products_of(sums, a, origin, b));
        last_sums.iter_mut().zip(last).for_each(|(sum, a)| add_products_of(std::array::from_mut(sum), &[*a], origin, b));
    }
}

/// Of `N` vectors at a time: the additions of one need not wait for each other.
#[inline(always)]
fn add_products_of<const N: usize>(sums: &mut [PartialSums; N], a: &[&[f64]; N], origin: &[f64], b: &[f64]) {
    let ((origin, o_rest), (b, b_rest)) = (origin.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let whole = a.map(|a| &a.as_chunks::<LANES>().0[..b.len()]);
    let mut acc = *sums;
    for (k, (o, b)) in origin.iter().zip(b).enumerate() {
        for q in 0..N {
            let terms: PartialSums = std::array::from_fn(|l| (whole[q][k][l] - o[l]) * b[l]);
            acc[q] = std::array::from_fn(|l| acc[q][l] + terms[l]);
        }
    }
    *sums = acc;
    for (sums, a) in sums.iter_mut().zip(a) {
        for (((sum, a), o), b) in sums.iter_mut().zip(&a[LANES * b.len()..]).zip(o_rest).zip(b_rest) {
            *sum += (a - o) * b;
        }
    }
}

/// Squared distances between rows of x and y; of four columns of the result from q on, the rows `rows(q)`.
#[inline(always)]
fn squared_distances_in<const LANES: usize>(
    x: &Matrix,
    y: &Matrix,
    rows: impl Fn(usize) -> Range<usize>,
    out: &mut Matrix,
) {
    let (m, n) = (x.rows, y.rows);
    out.reset(m, n);
    let square = |sum: f64, a: f64, b: f64| {
        let difference = a - b;
        sum + difference * difference
    };
    fold::<LANES>((&mut out.data, m), (&x.data, m), (m, x.cols, n), rows, (&y.data, n), |_| 0, square);
}

/// c_ij ← f(c_ij, a_ik, b_kj), one k after another, for column-major C (`ldc` its leading dimension) and A (m × k, `lda`), and B row after row
/// (`ldb`). Of the four columns of C from j on only the rows `rows(j)` are touched, and row i and those below take the terms from k = `skips(i)` on.
#[inline(always)]
fn fold<const LANES: usize>(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    (m, k, n): (usize, usize, usize),
    rows: impl Fn(usize) -> Range<usize>,
    (b, ldb): (&[f64], usize),
    skips: impl Fn(usize) -> usize + Copy,
    f: impl Fn(f64, f64, f64) -> f64 + Copy,
) {
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    let mut gathered = [[0.0; PANEL]; DEPTH];
    for first in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - first);
        for top in (0..m).step_by(CACHED_ROWS) {
            for j in (0..n).step_by(PANEL) {
                let rows = rows(j);
                let rows = rows.start.max(top)..rows.end.min(top + CACHED_ROWS).min(m);
                if rows.is_empty() {
                    continue;
                }
                let width = PANEL.min(n - j);
                for (p, row) in gathered[..depth].iter_mut().enumerate() {
                    let from = &b[(first + p) * ldb + j..][..width];
                    match from.try_into() {
                        Ok(four) => *row = four,
                        Err(_) => row[..width].copy_from_slice(from),
                    }
                }
                let (c, a, b) = (&mut c[j * ldc..], &a[first * lda..], &gathered[..depth]);
                let skips = |i: usize| skips(i).saturating_sub(first);
                if width == PANEL {
                    columns::<LANES, PANEL>((c, ldc), (a, lda), rows, (b, 0), skips, f);
                } else {
                    for q in 0..width {
                        columns::<LANES, 1>((&mut c[q * ldc..], ldc), (a, lda), rows.clone(), (b, q), skips, f);
                    }
                }
            }
        }
    }
}

/// The first `N` columns of C in the given rows; those of B start at `from`.
#[inline(always)]
fn columns<const LANES: usize, const N: usize>(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    rows: Range<usize>,
    (b, from): (&[[f64; PANEL]], usize),
    skips: impl Fn(usize) -> usize,
    f: impl Fn(f64, f64, f64) -> f64 + Copy,
) {
    let Range { start: mut i, end } = rows;
    while i < end {
        let skipped = skips(i);
        if skipped >= b.len() {
            return; // and so do the rows below
        }
        let (c, a, b) = ((&mut c[i..], ldc), (&a[skipped * lda + i..], lda), (&b[skipped..], from));
        i += match end - i {
            8.. if LANES > 2 => tile::<8, N>(c, a, b, f),
            4.. => tile::<4, N>(c, a, b, f),
            2.. => tile::<2, N>(c, a, b, f),
            _ => tile::<1, N>(c, a, b, f),
        };
    }
}

/// The first `M` rows and `N` columns of C; the columns of B start at `from`. Gives the number of rows.
#[inline(always)]
fn tile<const M: usize, const N: usize>(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    (b, from): (&[[f64; PANEL]], usize),
    f: impl Fn(f64, f64, f64) -> f64 + Copy,
) -> usize {
    let mut sums = [[0.0; M]; N];
    for q in 0..N {
        sums[q].copy_from_slice(&c[q * ldc..][..M]);
    }
    for (p, w) in b.iter().enumerate() {
        let x = &a[p * lda..][..M];
        for q in 0..N {
            for i in 0..M {
                sums[q][i] = f(sums[q][i], x[i], w[from + q]);
            }
        }
    }
    for q in 0..N {
        c[q * ldc..][..M].copy_from_slice(&sums[q]);
    }
    M
}

wide! {
    /// out_pi = Σ_q w_pq (x_pi − x_qi)², in the order of q.
    pub fn weighted_squares(x: &Matrix, weights: &Matrix, out: &mut Matrix) {
        let d = x.cols;
        out.reshape(x.rows, d);
        let mut i = 0;
        while i + PANEL <= d {
            weighted_columns::<PANEL>(x, weights, i, out);
            i += PANEL;
        }
        while i < d {
            weighted_columns::<1>(x, weights, i, out);
            i += 1;
        }
    }
}

/// Columns i to i + N of [`weighted_squares`].
#[inline(always)]
fn weighted_columns<const N: usize>(x: &Matrix, weights: &Matrix, i: usize, out: &mut Matrix) {
    let mut p = 0;
    while p + 8 <= x.rows {
        weighted_tile::<8, N>(x, weights, (p, i), out);
        p += 8;
    }
    while p < x.rows {
        weighted_tile::<1, N>(x, weights, (p, i), out);
        p += 1;
    }
}

/// The same of M rows and N columns.
#[inline(always)]
fn weighted_tile<const M: usize, const N: usize>(
    x: &Matrix,
    weights: &Matrix,
    (p, i): (usize, usize),
    out: &mut Matrix,
) {
    let columns: [&[f64]; N] = std::array::from_fn(|c| x.col(i + c));
    let at: [[f64; M]; N] = columns.map(|column| std::array::from_fn(|l| column[p + l]));
    let mut sums = [[0.0; M]; N];
    for q in 0..x.rows {
        let w = &weights.col(q)[p..][..M];
        for c in 0..N {
            for l in 0..M {
                let difference = at[c][l] - columns[c][q];
                sums[c][l] += w[l] * (difference * difference);
            }
        }
    }
    for c in 0..N {
        out.col_mut(i + c)[p..][..M].copy_from_slice(&sums[c]);
    }
}
