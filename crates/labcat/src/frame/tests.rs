//! Round trips over scales from 1e-12 to 1e12, and the paper's three proofs (appendices A–C) as properties: the incremental update of
//! (R, S, c, X′), written out from the paper's formulas, equals the transform recomputed from the raw points.

use super::*;
use crate::rng::Rng;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn config(cases: u32, seed: u64) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(seed), ..Config::default() }
}

/// An orthogonal matrix.
fn random_rotation(rng: &mut Rng, d: usize) -> Matrix {
    let mut m = Matrix::zeros(d, d);
    for j in 0..d {
        for v in m.col_mut(j) {
            *v = rng.between(-1.0, 1.0);
        }
    }
    linalg::orthonormalise(&mut m);
    linalg::orthonormalise(&mut m);
    m
}

fn random_points(rng: &mut Rng, n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| rng.between(-1.0, 1.0)).collect()).collect()
}

/// A frame at a random place, turned at random, its axes from 10^`from` to 10^`to` long.
fn random_frame(rng: &mut Rng, d: usize, from: f64, to: f64) -> Frame {
    Frame {
        centre: (0..d).map(|_| rng.between(-1.0, 1.0)).collect(),
        rotation: random_rotation(rng, d),
        scale: (0..d).map(|_| 10_f64.powf(rng.between(from, to))).collect(),
    }
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |a: f64, v| a.max(v.abs()))
}

/// A matrix product of plain rows: the paper's notation, one column per observation.
fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..columns).map(|j| row.iter().zip(b).map(|(a, b)| a * b[j]).sum()).collect()).collect()
}

fn transposed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a.first().map_or(0, Vec::len)).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

fn rows(m: &Matrix) -> Vec<Vec<f64>> {
    (0..m.rows()).map(|i| (0..m.cols()).map(|j| m[(i, j)]).collect()).collect()
}

fn scaled_rows(factors: impl Iterator<Item = f64>, a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    factors.zip(a).map(|(f, row)| row.iter().map(|v| f * v).collect()).collect()
}

proptest! {
    #![proptest_config(config(500, 11))]

    #[test]
    fn box_to_local_and_back(seed: u64, d in 1..12_usize) {
        let mut rng = Rng::new(seed);
        let frame = random_frame(&mut rng, d, -12.0, 12.0);
        let u: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
        for (back, u) in frame.place(&frame.local(&u)).into_iter().zip(&u) {
            // The lengths cancel on the way back, whatever their spread: only rounding of numbers of the size of the box is left.
            prop_assert!((back - u).abs() <= 1e-14 * d as f64);
        }
    }

    #[test]
    fn local_to_box_and_back(seed: u64, d in 1..12_usize) {
        let mut rng = Rng::new(seed);
        let frame = random_frame(&mut rng, d, -12.0, 12.0);
        let x: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
        let along = |j: usize| (0..d).fold(0.0, |u, i| u + frame.rotation[(j, i)] * frame.scale[i] * x[i]);
        let u: Vec<f64> = (0..d).map(|j| along(j) + frame.centre[j]).collect();
        prop_assert_eq!(&frame.place(&x), &u);
        let mut back = vec![0.0; d];
        frame.to_local(&u, &mut back);
        let size = 1.0 + largest(frame.scale.iter().copied());
        for i in 0..d {
            // A rounding error of the box is 1/s_i times as large along axis i.
            prop_assert!((back[i] - x[i]).abs() <= 1e-14 * d as f64 * size / frame.scale[i]);
        }
    }

    #[test]
    fn the_box_lies_within_its_intervals(seed: u64, d in 1..8_usize) {
        let mut rng = Rng::new(seed);
        let frame = random_frame(&mut rng, d, -12.0, 12.0);
        let mut x = vec![0.0; d];
        for _ in 0..20 {
            let corner: Vec<f64> = (0..d).map(|_| if rng.unit() < 0.5 { -1.0 } else { 1.0 }).collect();
            frame.to_local(&corner, &mut x);
            for (i, x) in x.iter().enumerate() {
                let (low, high) = frame.box_interval(i);
                let rounding = 1e-14 * d as f64 / frame.scale[i];
                prop_assert!(low - rounding <= *x && *x <= high + rounding);
            }
        }
    }

    /// Appendices A, B and C, over several iterations with new observations in between.
    #[test]
    fn the_incremental_update_equals_the_transform_recomputed(
        seed: u64, d in 1..7_usize, extra in 1..20_usize, decades in 0.0..12.0_f64, matched: bool,
    ) {
        let mut rng = Rng::new(seed);
        let order = if matched { AxisOrder::Matched } else { AxisOrder::Sorted };
        let mut u = random_points(&mut rng, d + extra, d);
        let mut y: Vec<f64> = u.iter().map(|_| rng.unit()).collect();
        let start = 10_f64.powf(rng.between(-decades, decades));
        let mut frame = Frame::of_box(d).with_scale(vec![start; d]);

        // The paper's state: R, S, c, X′ (d × n).
        let mut r = rows(&frame.rotation);
        let mut s = frame.scale.clone();
        let mut c = frame.centre.clone();
        let mut x = transposed(&u.iter().map(|u| local(&frame, u)).collect::<Vec<_>>());

        for _ in 0..6 {
            let n = u.len();
            let mut weights = y.clone();
            normalise(&mut weights, None, &mut Vec::new());
            let best = (0..n).min_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap();

            // Core: from raw points.
            frame = frame.centred(&u[best]);
            let old = rows(&frame.rotation);
            let mut axes = PrincipalAxes::default();
            axes.find(&frame, u.iter().map(Vec::as_slice).zip(weights.iter().copied()), n, |_| true);
            axes.arrange(order);
            frame = frame.rotated(&mut axes);
            let ell: Vec<f64> = (0..d).map(|_| 10_f64.powf(rng.between(-1.0, 1.0))).collect();
            frame = frame.rescaled(&ell);

            // Paper: X′_cen = X′ − x′_min 1ᵀ, c ← c + R S x′_min.
            let x_min: Vec<Vec<f64>> = x.iter().map(|row| vec![row[best]]).collect();
            for (row, min) in x.iter_mut().zip(&x_min) {
                row.iter_mut().for_each(|v| *v -= min[0]);
            }
            let shift = product(&r, &scaled_rows(s.iter().copied(), &x_min));
            c.iter_mut().zip(&shift).for_each(|(c, by)| *c += by[0]);
            // U_a: orthogonal, and it diagonalises S X′_cen W² X′_cenᵀ S, so it is the left factor of the decomposition of S X′_cen W.
            let u_a = product(&transposed(&old), &rows(&frame.rotation));
            let spread = scaled_rows(s.iter().copied(), &x);
            let weighted: Vec<Vec<f64>> =
                spread.iter().map(|row| row.iter().zip(&weights).map(|(v, y)| (1.0 - y) * v).collect()).collect();
            let aligned = product(&transposed(&u_a), &weighted);
            let gram = product(&aligned, &transposed(&aligned));
            let size = largest(gram.iter().flatten().copied());
            for i in 0..d {
                for j in 0..d {
                    let unit: f64 = (0..d).map(|k| u_a[k][i] * u_a[k][j]).sum();
                    prop_assert!((unit - f64::from(u8::from(i == j))).abs() < 1e-12, "U_a is orthogonal");
                    prop_assert!(i == j || gram[i][j].abs() <= 1e-11 * size, "U_a diagonalises");
                }
            }
            // X′_rot = S⁻¹ U_aᵀ S X′_cen, R ← R U_a.
            x = scaled_rows(s.iter().map(|s| 1.0 / s), &product(&transposed(&u_a), &spread));
            r = product(&r, &u_a);
            // X′ = L⁻¹ X′_rot, S ← L S.
            x = scaled_rows(ell.iter().map(|l| 1.0 / l), &x);
            s.iter_mut().zip(&ell).for_each(|(s, l)| *s *= l);

            // The same transform, and the same points in it.
            prop_assert_eq!(&s, &frame.scale);
            prop_assert!(largest(c.iter().zip(&frame.centre).map(|(a, b)| a - b)) < 1e-12);
            for i in 0..d {
                for j in 0..d {
                    prop_assert!((r[i][j] - frame.rotation[(i, j)]).abs() < 1e-12);
                }
            }
            for (p, u) in u.iter().enumerate() {
                let recomputed = local(&frame, u);
                for i in 0..d {
                    prop_assert!((x[i][p] - recomputed[i]).abs() <= 1e-11 / s[i], "X′ has drifted");
                }
            }

            // A new observation, as the loop would add it.
            let new: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
            let column = local(&frame, &new);
            x.iter_mut().zip(&column).for_each(|(row, v)| row.push(*v));
            u.push(new);
            y.push(rng.unit());
        }
    }

    #[test]
    fn principal_axes_diagonalise_badly_scaled_points(seed: u64, d in 1..10_usize, decades in 0.0..5.0_f64) {
        let mut rng = Rng::new(seed);
        let turn = random_frame(&mut rng, d, -decades, 0.0);
        let mut points = random_points(&mut rng, 3 * d + 1, d);
        for u in &mut points {
            *u = turn.place(u).iter().zip(&turn.centre).map(|(u, c)| u - c).collect();
        }
        let y: Vec<f64> = points.iter().map(|_| rng.unit()).collect();
        let mut axes = PrincipalAxes::default();
        axes.find(&Frame::of_box(d), points.iter().map(Vec::as_slice).zip(y.iter().copied()), points.len(), |_| true);
        axes.arrange(AxisOrder::Sorted);
        let frame = Frame::of_box(d).rotated(&mut axes);
        let weighted: Vec<Vec<f64>> = points
            .iter()
            .zip(&y)
            .map(|(u, y)| local(&frame, u).into_iter().map(|x| (1.0 - y) * x).collect())
            .collect();
        let gram = product(&transposed(&weighted), &weighted);
        for i in 0..d {
            for j in 0..i {
                let cosine = gram[i][j].abs() / (gram[i][i] * gram[j][j]).sqrt();
                // An axis is turned by rounding as far as the longest axis leaks into the shorter of the two.
                let leak = (gram[0][0] / gram[i][i]).sqrt();
                prop_assert!(cosine <= 1e-13 * leak, "axes {} and {}: cosine {:e}", i, j, cosine);
            }
        }
        let sigma: Vec<f64> = axes.sigma().collect();
        prop_assert!(sigma.windows(2).all(|w| w[0] >= w[1]), "sorted by singular value");
        for (i, sigma) in sigma.iter().enumerate() {
            prop_assert!((gram[i][i].sqrt() - sigma).abs() <= 1e-12 * gram[0][0].sqrt() + 1e-8 * sigma);
        }
    }

    #[test]
    fn matched_axes_stay_next_to_the_old_ones(seed: u64, d in 2..8_usize) {
        let mut rng = Rng::new(seed);
        // Points along the axes of a frame, turned a little: matched axes must not change places.
        let before = random_frame(&mut rng, d, 0.0, 0.0);
        let lengths: Vec<f64> = (0..d).map(|i| 0.5_f64.powi(i as i32)).collect();
        let mut points = Vec::new();
        for (i, length) in lengths.iter().enumerate() {
            for sign in [-1.0, 1.0] {
                let mut x: Vec<f64> = (0..d).map(|_| 1e-3 * length * rng.between(-1.0, 1.0)).collect();
                x[i] = sign * length;
                points.push(before.place(&x));
            }
        }
        let mut axes = PrincipalAxes::default();
        axes.find(&before, points.iter().map(|u| (u.as_slice(), 0.0)), points.len(), |_| true);
        axes.arrange(AxisOrder::Matched);
        let after = before.clone().rotated(&mut axes);
        for i in 0..d {
            let cosine = linalg::dot(after.rotation.col(i), before.rotation.col(i));
            prop_assert!(cosine > 0.99, "axis {} moved: cosine {}", i, cosine);
        }
    }
}

fn local(frame: &Frame, u: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; u.len()];
    frame.to_local(u, &mut x);
    x
}

#[test]
fn fewer_points_than_dimensions_still_give_a_rotation() {
    let mut rng = Rng::new(1);
    for (n, d) in [(1, 3), (2, 5), (4, 4), (1, 1)] {
        let points = random_points(&mut rng, n, d);
        for order in [AxisOrder::Sorted, AxisOrder::Matched] {
            let mut axes = PrincipalAxes::default();
            axes.find(&Frame::of_box(d), points.iter().map(|u| (u.as_slice(), 0.0)), n, |_| true);
            axes.arrange(order);
            let frame = Frame::of_box(d).rotated(&mut axes);
            assert!(frame.is_valid(d));
            for i in 0..d {
                for j in 0..d {
                    let product = linalg::dot(frame.rotation.col(i), frame.rotation.col(j));
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{n} points in {d} dimensions");
                }
            }
        }
    }
}

#[test]
fn points_that_all_coincide_turn_nothing() {
    let points = vec![vec![0.3, -0.2, 0.9]; 5];
    let mut axes = PrincipalAxes::default();
    let centred = Frame::of_box(3).centred(&points[0]);
    axes.find(&centred, points.iter().map(|u| (u.as_slice(), 0.0)), points.len(), |_| true);
    axes.arrange(AxisOrder::Sorted);
    assert_eq!(centred.clone().rotated(&mut axes), centred);
}

mod outputs {
    use super::*;

    proptest! {
        #![proptest_config(config(500, 12))]

        #[test]
        fn outputs_fill_the_unit_interval_and_come_back(
            seed: u64, n in 2..40_usize, size in -12.0..12.0_f64, offset in -12.0..12.0_f64, kind in 0..3_usize,
        ) {
            let mut rng = Rng::new(seed);
            let user: Vec<f64> =
                (0..n).map(|_| 10_f64.powf(offset) + 10_f64.powf(size) * math_pow4(rng.unit())).collect();
            let (low, high) = (user.iter().copied().fold(f64::MAX, f64::min), user.iter().copied().fold(f64::MIN, f64::max));
            prop_assume!(low < high);
            let (mut y, warp) = (user.clone(), [None, Some(f64::INFINITY), Some(MOST_MEDIANS)][kind]);
            let outputs = normalise(&mut y, warp, &mut Vec::new());
            prop_assert!(y.iter().all(|y| (0.0..=1.0).contains(y)));
            prop_assert!(y.contains(&0.0) && y.contains(&1.0), "both ends are attained");
            prop_assert_eq!(outputs.minimum(), low);
            let mut sorted = user.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let most = if warp == Some(MOST_MEDIANS) { 100.0 * (sorted[n / 2] - low) } else { f64::INFINITY };
            let range = if most > 0.0 { most.min(high - low) } else { high - low };
            prop_assert!((outputs.range() - range).abs() <= 1e-13 * range + 1e-13 * low.abs());
            for (y, user) in y.iter().zip(&user) {
                let told = user.min(low + range);
                prop_assert!((outputs.to_user(*y) - told).abs() <= 1e-11 * range + 1e-13 * low.abs());
                prop_assert!(!outputs.is_cut(*user) || *y == 1.0);
                let numeric = (outputs.to_user(y + 1e-6) - outputs.to_user(y - 1e-6)) / 2e-6;
                let rounding = 1e-9 * outputs.range() + 1e-9 * low.abs();
                prop_assert!((outputs.slope(*y) - numeric).abs() <= 1e-6 * numeric.abs() + rounding);
            }
            // The order of the outputs stays as it is.
            for (a, b) in y.iter().zip(&user) {
                for (c, d) in y.iter().zip(&user) {
                    prop_assert!(b > d || a <= c, "warping reorders");
                }
            }
        }
    }

    fn math_pow4(v: f64) -> f64 {
        v * v * v * v
    }

    #[test]
    fn equal_outputs_divide_nothing_by_zero() {
        for value in [0.0, 1.0, -1e308, 5e-324] {
            for warp in [None, Some(f64::INFINITY), Some(MOST_MEDIANS)] {
                let mut y = vec![value; 5];
                let outputs = normalise(&mut y, warp, &mut Vec::new());
                assert_eq!(y, [0.0; 5]);
                assert_eq!((outputs.range(), outputs.minimum()), (0.0, value));
                assert_eq!(outputs.to_user(0.0), value);
            }
        }
    }

    #[test]
    fn the_widest_outputs_do_not_overflow() {
        let mut y = vec![-1.7e308, 0.0, 1.7e308];
        let outputs = normalise(&mut y, None, &mut Vec::new());
        assert_eq!(y, [0.0, 0.5, 1.0]);
        assert_eq!(outputs.to_user(0.0), -1.7e308);
        assert!(outputs.to_user(0.5).abs() < 1e293);
        assert!((outputs.to_user(1.0) / 1.7e308 - 1.0).abs() < 1e-15);
    }
}
