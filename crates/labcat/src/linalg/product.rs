//! The product that all others are made of, in tiles that stay in registers.

use std::ops::Range;

/// Columns of the result in one tile.
pub(super) const PANEL: usize = 4;
/// Products that a tile takes before it goes back to memory; as many entries of B are gathered at a time.
const DEPTH: usize = 64;
/// Rows of A that stay in the second cache while all columns of the result take their products.
const ROWS: usize = 256;

/// C −= A B for column-major C (`ldc` its leading dimension) and A (m × k, `lda`), B given entry by entry as `b(k, n)`. Of the four columns of
/// C from j on only the rows `rows(j)` are touched, rounded to nothing; j is a multiple of four. Each entry of C loses its products in the order of k.
#[inline(always)]
pub(super) fn sub_product<const LANES: usize>(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    (m, k, n): (usize, usize, usize),
    rows: impl Fn(usize) -> Range<usize>,
    b: impl Fn(usize, usize) -> f64,
) {
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    let mut gathered = [[0.0; PANEL]; DEPTH];
    for first in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - first);
        for top in (0..m).step_by(ROWS) {
            for j in (0..n).step_by(PANEL) {
                let rows = rows(j);
                let rows = rows.start.max(top)..rows.end.min(top + ROWS).min(m);
                if rows.is_empty() {
                    continue;
                }
                let width = PANEL.min(n - j);
                for (p, row) in gathered[..depth].iter_mut().enumerate() {
                    for (q, v) in row[..width].iter_mut().enumerate() {
                        *v = b(first + p, j + q);
                    }
                }
                let (c, a, b) = (&mut c[j * ldc..], &a[first * lda..], &gathered[..depth]);
                match width {
                    PANEL => columns::<LANES, PANEL>((c, ldc), (a, lda), rows, b),
                    3 => columns::<LANES, 3>((c, ldc), (a, lda), rows, b),
                    2 => columns::<LANES, 2>((c, ldc), (a, lda), rows, b),
                    _ => columns::<LANES, 1>((c, ldc), (a, lda), rows, b),
                }
            }
        }
    }
}

/// The first `N` columns of C −= A B in the given rows.
#[inline(always)]
fn columns<const LANES: usize, const N: usize>(
    (c, ldc): (&mut [f64], usize),
    (a, lda): (&[f64], usize),
    rows: Range<usize>,
    b: &[[f64; PANEL]],
) {
    let Range { start: mut i, end } = rows;
    if LANES > 2 {
        while i + 8 <= end {
            tile::<8, N>((&mut c[i..], ldc), (&a[i..], lda), b);
            i += 8;
        }
    }
    while i + 4 <= end {
        tile::<4, N>((&mut c[i..], ldc), (&a[i..], lda), b);
        i += 4;
    }
    while i < end {
        tile::<1, N>((&mut c[i..], ldc), (&a[i..], lda), b);
        i += 1;
    }
}

/// The first `M` rows and `N` columns of C −= A B.
#[inline(always)]
fn tile<const M: usize, const N: usize>((c, ldc): (&mut [f64], usize), (a, lda): (&[f64], usize), b: &[[f64; PANEL]]) {
    let mut sums = [[0.0; M]; N];
    for q in 0..N {
        sums[q].copy_from_slice(&c[q * ldc..][..M]);
    }
    for (p, w) in b.iter().enumerate() {
        let x = &a[p * lda..][..M];
        for q in 0..N {
            for i in 0..M {
                sums[q][i] -= w[q] * x[i];
            }
        }
    }
    for q in 0..N {
        c[q * ldc..][..M].copy_from_slice(&sums[q]);
    }
}
