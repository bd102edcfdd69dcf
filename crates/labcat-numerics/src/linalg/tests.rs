//! Reconstruction properties over a list of sizes on both sides of every block width.

use super::product::{PartialSums, add_products};
use super::*;
use crate::rng::Rng;
use crate::width;

const SIZES: [usize; 12] = [1, 2, 3, 4, 7, 14, 16, 17, 35, 70, 131, 150];

fn random(rng: &mut Rng, rows: usize, cols: usize) -> Matrix {
    let mut m = Matrix::zeros(rows, cols);
    for v in &mut m.data {
        *v = rng.between(-1.0, 1.0);
    }
    m
}

/// A Aᵀ + I, well conditioned.
fn positive_definite(rng: &mut Rng, n: usize) -> Matrix {
    let a = random(rng, n, n);
    let mut m = Matrix::identity(n);
    for i in 0..n {
        for j in 0..n {
            m[(i, j)] += (0..n).map(|k| a[(i, k)] * a[(j, k)]).sum::<f64>() / n as f64;
        }
    }
    m
}

fn lower_times_transpose(l: &Matrix) -> Matrix {
    let n = l.rows;
    let mut m = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            m[(i, j)] = (0..=i.min(j)).map(|k| l[(i, k)] * l[(j, k)]).sum();
        }
    }
    m
}

fn distance(a: &Matrix, b: &Matrix) -> f64 {
    assert_eq!((a.rows, a.cols), (b.rows, b.cols));
    a.data.iter().zip(&b.data).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

fn tolerance(n: usize) -> f64 {
    64.0 * n as f64 * f64::EPSILON
}

#[test]
fn cholesky_reconstructs() {
    let mut rng = Rng::new(1);
    for n in SIZES {
        let a = positive_definite(&mut rng, n);
        let mut l = a.clone();
        cholesky(&mut l).unwrap();
        assert!(distance(&lower_times_transpose(&l), &a) < tolerance(n), "n = {n}");
    }
}

#[test]
fn cholesky_names_the_pivot() {
    for n in [1, 5, 20, 40] {
        for index in [0, n / 2, n - 1] {
            let mut a = Matrix::identity(n);
            a[(index, index)] = -1.0;
            assert_eq!(cholesky(&mut a), Err(NonPositivePivot { index }));
        }
        let mut a = Matrix::identity(n);
        a[(n - 1, n - 1)] = f64::NAN;
        assert_eq!(cholesky(&mut a), Err(NonPositivePivot { index: n - 1 }));
    }
}

#[test]
fn solves_and_inverse() {
    let mut rng = Rng::new(2);
    for n in SIZES {
        let a = positive_definite(&mut rng, n);
        let mut l = a.clone();
        cholesky(&mut l).unwrap();
        let x: Vec<f64> = (0..n).map(|_| rng.between(-1.0, 1.0)).collect();
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[(i, j)] * x[j]).sum()).collect();
        solve_lower(&l, &mut b);
        solve_lower_transposed(&l, &mut b);
        for (x, b) in x.iter().zip(&b) {
            assert!((x - b).abs() < tolerance(n));
        }

        let (mut scratch, mut inverse) = (Matrix::default(), Matrix::default());
        inverse_from_cholesky(&l, &mut scratch, &mut inverse);
        let mut product = Matrix::default();
        neg_product(&inverse, &a, &mut product);
        product.scale(-1.0);
        assert!(distance(&product, &Matrix::identity(n)) < tolerance(n), "inverse, n = {n}");

        for m in [1, 3, 20, 130] {
            let rows = random(&mut rng, m, n);
            let mut solved = rows.clone();
            solve_rows(&l, &mut solved);
            for r in 0..m {
                let mut one: Vec<f64> = (0..n).map(|j| rows[(r, j)]).collect();
                solve_lower(&l, &mut one);
                for (j, v) in one.iter().enumerate() {
                    assert!((v - solved[(r, j)]).abs() < tolerance(n), "m = {m}, n = {n}");
                }
            }
        }
    }
}

#[test]
fn removal_equals_refactoring() {
    let mut rng = Rng::new(3);
    for n in SIZES.into_iter().filter(|&n| n > 1) {
        let a = positive_definite(&mut rng, n);
        for index in [0, n / 2, n - 1] {
            let mut l = a.clone();
            cholesky(&mut l).unwrap();
            remove_from_cholesky(&mut l, index, &mut Vec::new());
            let mut smaller = Matrix::zeros(n - 1, n - 1);
            let skip = |i: usize| if i < index { i } else { i + 1 };
            for i in 0..n - 1 {
                for j in 0..n - 1 {
                    smaller[(i, j)] = a[(skip(i), skip(j))];
                }
            }
            assert!(distance(&lower_times_transpose(&l), &smaller) < tolerance(n), "n = {n}, index = {index}");
        }
    }
}

#[test]
fn appending_equals_factoring() {
    let mut rng = Rng::new(4);
    for n in SIZES {
        let a = positive_definite(&mut rng, n + 1);
        let mut whole = a.clone();
        cholesky(&mut whole).unwrap();
        let mut l = Matrix::zeros(n, n);
        for j in 0..n {
            for i in 0..n {
                l[(i, j)] = a[(i, j)];
            }
        }
        cholesky(&mut l).unwrap();
        let mut row: Vec<f64> = (0..n).map(|j| a[(n, j)]).collect();
        solve_lower(&l, &mut row);
        let pivot = (a[(n, n)] - dot(&row, &row)).sqrt();
        l.append_row(&row);
        l.append_column(&[]);
        l[(n, n)] = pivot;
        assert!(distance(&lower_times_transpose(&l), &a) < tolerance(n + 1));
        let mut x = random(&mut rng, n, 3);
        let before = x.clone();
        x.append_row(&[1.0, 2.0, 3.0]);
        for j in 0..3 {
            assert_eq!(&x.col(j)[..n], before.col(j));
            assert_eq!(x[(n, j)], j as f64 + 1.0);
        }
    }
}

#[test]
fn singular_vectors_diagonalise_badly_scaled_columns() {
    let mut rng = Rng::new(5);
    for (n, d) in [(1, 1), (3, 3), (2, 5), (14, 2), (35, 5), (140, 20)] {
        let mut z = random(&mut rng, n, d);
        for j in 0..d {
            let scale = 10_f64.powi(-2 * j as i32);
            for v in z.col_mut(j) {
                *v *= scale;
            }
        }
        let original = z.clone();
        let (mut v, mut sigma) = (Matrix::default(), Vec::new());
        right_singular_vectors(&mut z, &mut v, &mut sigma);
        let rotated =
            |j: usize| -> Vec<f64> { (0..n).map(|i| (0..d).map(|k| original[(i, k)] * v[(k, j)]).sum()).collect() };
        for p in 0..d {
            for q in 0..p {
                assert!(dot(v.col(p), v.col(q)).abs() < 1e-13);
                // Scaled columns cancel when recombined here; what is left is rounding of the largest.
                let cosine = dot(&rotated(p), &rotated(q)).abs();
                assert!(cosine <= 1e-13 * sigma[p].max(1e-3) * sigma[q].max(1e-3) + 1e-15, "{n} x {d}: {cosine:e}");
            }
            assert!((dot(v.col(p), v.col(p)) - 1.0).abs() < 1e-13);
        }
    }
}

#[test]
fn orthonormalise_restores_a_rotation() {
    let mut rng = Rng::new(6);
    let mut v = random(&mut rng, 6, 6);
    orthonormalise(&mut v);
    for p in 0..6 {
        for q in 0..=p {
            assert!((dot(v.col(p), v.col(q)) - f64::from(u8::from(p == q))).abs() < 1e-13);
        }
    }
}

/// The bits of everything that runs as wide as the machine, for one problem of order `n`.
fn everything(n: usize) -> Vec<u64> {
    let mut rng = Rng::new(n as u64);
    let a = positive_definite(&mut rng, n);
    let mut results = Vec::new();
    let mut l = a.clone();
    cholesky(&mut l).unwrap();
    for j in 0..n {
        results.extend_from_slice(&l.col(j)[j..]);
    }
    let mut x: Vec<f64> = (0..n).map(|_| rng.between(-1.0, 1.0)).collect();
    for k in [n, n - n / 3] {
        solve_lower(&l, &mut x[..k]);
        results.extend_from_slice(&x);
        solve_lower_transposed(&l, &mut x[..k]);
        results.extend_from_slice(&x);
    }
    let (mut scratch, mut inverse, mut product) = (Matrix::default(), Matrix::default(), Matrix::default());
    inverse_from_cholesky(&l, &mut scratch, &mut inverse);
    neg_product(&inverse, &a, &mut product);
    for part in [&scratch, &inverse, &product].map(Matrix::as_slice) {
        results.extend_from_slice(part);
    }
    weighted_squares(&inverse, &a, &mut product);
    results.extend_from_slice(product.as_slice());
    for m in [1, 5, 8, 19] {
        let mut rows = random(&mut rng, m, n);
        solve_rows(&l, &mut rows);
        results.extend_from_slice(rows.as_slice());
    }
    let d = (n / 4).clamp(1, 20);
    let (mut z, mut v, mut sigma) = (random(&mut rng, n, d), Matrix::default(), Vec::new());
    let mut system = z.clone();
    right_singular_vectors(&mut z, &mut v, &mut sigma);
    results.extend_from_slice(v.as_slice());
    results.extend_from_slice(&sigma);
    if least_squares(&mut system, &mut sigma) {
        results.extend_from_slice(&sigma);
    }
    orthonormalise(&mut v);
    results.extend_from_slice(v.as_slice());
    remove_from_cholesky(&mut l, n / 2, &mut Vec::new());
    for j in 0..n - 1 {
        results.extend_from_slice(&l.col(j)[j..]);
    }
    let columns: Vec<&[f64]> = (0..n.min(7)).map(|j| a.col(j)).collect();
    results.extend(products(&columns, a.col(n / 2), a.col(n / 3), 16).iter().map(total));
    assert!(results.iter().all(|v| v.is_finite()));
    results.into_iter().map(f64::to_bits).collect()
}

/// Products of (a − origin) with b, which are taken in parts.
fn products(a: &[&[f64]], origin: &[f64], b: &[f64], part: usize) -> Vec<PartialSums> {
    let mut sums = vec![PartialSums::default(); a.len()];
    for from in (0..b.len()).step_by(part) {
        let range = from..b.len().min(from + part);
        let a: Vec<&[f64]> = a.iter().map(|a| &a[range.clone()]).collect();
        add_products(&mut sums, &a, &origin[range.clone()], &b[range]);
    }
    sums
}

/// In parts and several at a time, they are the inner products of the differences to the bit.
#[test]
fn products_with_differences_are_inner_products() {
    let mut rng = Rng::new(9);
    for n in [1, 7, 8, 20, 64, 131] {
        let a = random(&mut rng, n, 9);
        let (origin, b) = (a.col(0), a.col(1));
        for count in 1..=7 {
            let rows: Vec<&[f64]> = (2..2 + count).map(|j| a.col(j)).collect();
            for part in [8, 24, n.next_multiple_of(8)] {
                for (sums, row) in products(&rows, origin, b, part).iter().zip(&rows) {
                    let difference: Vec<f64> = row.iter().zip(origin).map(|(a, o)| a - o).collect();
                    assert_eq!(total(sums), dot(&difference, b), "n = {n}, {count} at a time, in parts of {part}");
                }
            }
        }
    }
}

/// Columns of a permutation that is a little off are matched with where they came from.
#[test]
fn columns_are_matched_by_their_largest_entries() {
    let mut rng = Rng::new(13);
    let (mut m, places) = (random(&mut rng, 5, 5), [3, 0, 4, 1, 2]);
    m.scale(0.4);
    places.iter().enumerate().for_each(|(i, &j)| m[(i, j)] = if i % 2 == 0 { 0.9 } else { -0.8 });
    let mut matched = vec![7; 9];
    match_columns(&mut m, &mut matched);
    assert_eq!(matched, places);
}

/// [K F; Fᵀ 0] [P B; Bᵀ −T] = I.
#[test]
fn a_bordered_matrix_has_its_inverse() {
    let mut rng = Rng::new(12);
    for (n, q) in [(1, 1), (5, 2), (17, 4), (70, 9)] {
        let (k, f) = (positive_definite(&mut rng, n), random(&mut rng, n, q));
        let inverse = Bordered::inverse(k.clone(), &f).unwrap();
        let (mut whole, mut inverted) = (Matrix::zeros(n + q, n + q), Matrix::zeros(n + q, n + q));
        for j in 0..n {
            whole.col_mut(j)[..n].copy_from_slice(k.col(j));
            inverted.col_mut(j)[..n].copy_from_slice(inverse.p.col(j));
            for i in 0..q {
                (whole[(n + i, j)], whole[(j, n + i)]) = (f[(j, i)], f[(j, i)]);
                (inverted[(n + i, j)], inverted[(j, n + i)]) = (inverse.b[(j, i)], inverse.b[(j, i)]);
            }
        }
        for j in 0..q {
            (0..q).for_each(|i| inverted[(n + i, n + j)] = -inverse.t[(i, j)]);
        }
        let mut product = Matrix::zeros(n + q, n + q);
        for j in 0..n + q {
            product.col_mut(j).copy_from_slice(&whole.transposed_times(inverted.col(j)));
        }
        assert!(distance(&product, &Matrix::identity(n + q)) < 100.0 * tolerance(n), "n = {n}, q = {q}");
        let (mut factor, mut inner) = (k, inverse.t.clone());
        cholesky(&mut factor).unwrap();
        cholesky(&mut inner).unwrap();
        assert!((inverse.ln_dets.0 - ln_det(&factor)).abs() < 1e-12, "n = {n}");
        assert!((inverse.ln_dets.1 + ln_det(&inner)).abs() < 1e-6, "n = {n}, q = {q}");
    }
}

/// Those that were taken before are not asked for again, and with another first vector all of them are.
#[test]
fn products_that_are_kept_are_those_of_the_vectors() {
    let a = random(&mut Rng::new(10), 1100, 6);
    let vector = |k: usize| (a.col(k), k != 2);
    let mut kept = Products::default();
    for keys in [vec![0, 1, 2, 3], vec![0, 3, 4], vec![0, 2, 1, 4], vec![5, 2, 0]] {
        let gram = kept.of(&keys, vector);
        let standing = |k: usize| -> Vec<f64> {
            let differs = k != keys[0] && vector(k).1;
            a.col(k).iter().zip(a.col(keys[0])).map(|(v, o)| v - if differs { *o } else { 0.0 }).collect()
        };
        for (i, &p) in keys.iter().enumerate() {
            for (j, &q) in keys.iter().enumerate() {
                assert!((gram[(i, j)] - dot(&standing(p), &standing(q))).abs() < 1e-10, "{p} and {q} of {keys:?}");
            }
        }
        assert_eq!(kept.of(&keys, |k| (&a.col(k)[..0], false)), gram, "nothing is left to be taken");
    }
}

/// Σ_q w_pq (x_pi − x_qi)², in the order of q.
#[test]
fn weighted_squares_are_summed_in_order() {
    let mut rng = Rng::new(11);
    for (n, d) in [(1, 1), (7, 3), (8, 4), (19, 9), (40, 17)] {
        let (x, w, mut out) = (random(&mut rng, n, d), random(&mut rng, n, n), Matrix::default());
        weighted_squares(&x, &w, &mut out);
        for i in 0..d {
            for p in 0..n {
                let square = |q: usize| (x[(p, i)] - x[(q, i)]) * (x[(p, i)] - x[(q, i)]);
                assert_eq!(out[(p, i)], (0..n).fold(0.0, |sum, q| sum + w[(p, q)] * square(q)));
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    for n in (1..=40).chain([63, 64, 65, 70, 127, 131, 257, 300]) {
        let results = width::at_each_level(|| everything(n));
        for (level, bits) in &results[1..] {
            assert!(*bits == results[0].1, "n = {n}: {level:?} and the baseline differ");
        }
    }
}

/// Blocks and tiles must not show: the factor is what subtracting the products one by one in the order of k gives.
#[test]
fn the_order_of_sums_is_that_of_k() {
    let mut rng = Rng::new(8);
    for n in [1, 5, 37, 64, 67, 130, 193] {
        let a = positive_definite(&mut rng, n);
        let mut plain = a.clone();
        for j in 0..n {
            for i in j..n {
                for k in 0..j {
                    plain[(i, j)] -= plain[(i, k)] * plain[(j, k)];
                }
            }
            let pivot = plain[(j, j)].sqrt();
            let inverse = 1.0 / pivot;
            plain[(j, j)] = pivot;
            for i in j + 1..n {
                plain[(i, j)] *= inverse;
            }
        }
        let mut l = a.clone();
        cholesky(&mut l).unwrap();
        for j in 0..n {
            assert_eq!(l.col(j)[j..], plain.col(j)[j..], "column {j} of {n}");
        }
        let mut product = Matrix::default();
        neg_product(&a, &a, &mut product);
        for j in 0..n {
            for i in 0..n {
                let entry = (0..n).fold(0.0, |sum, k| sum - a[(i, k)] * a[(k, j)]);
                assert_eq!(product[(i, j)], entry);
            }
        }
    }
}

#[test]
fn a_machine_has_the_baseline_and_tests_see_what_it_has() {
    let levels: Vec<_> = width::at_each_level(width::level);
    assert_eq!(levels[0], (width::Level::Baseline, width::Level::Baseline));
    assert!(levels.iter().all(|(asked, ran)| asked == ran));
    assert!(levels.is_sorted());
}
