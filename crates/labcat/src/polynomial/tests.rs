//! Fits and minima of functions that are polynomials indeed.

use super::*;
use crate::rng::Rng;
use crate::sqp::Program;

const D: usize = 4;

/// A turned and stretched frame around a point.
fn frame(rng: &mut Rng) -> Frame {
    use crate::frame::{AxisOrder, PrincipalAxes};
    let points: Vec<Vec<f64>> = (0..9).map(|_| (0..D).map(|_| rng.between(-1.0, 1.0)).collect()).collect();
    let mut axes = PrincipalAxes::default();
    axes.find(&Frame::of_box(D), points.iter().map(|u| (u.as_slice(), 0.0)), points.len(), |_| true);
    axes.arrange(AxisOrder::Sorted);
    Frame::of_box(D).centred(&points[0]).rotated(&mut axes).with_scale((0..D).map(|i| 0.3 + 0.2 * i as f64))
}

/// Points of the box, their places in the frame, and f of them, shifted so that the best is 0.
fn observe(
    rng: &mut Rng,
    frame: &Frame,
    n: usize,
    f: impl Fn(&[f64], &[f64]) -> f64,
) -> (Vec<Vec<f64>>, Matrix, Vec<f64>) {
    let (mut points, mut x, mut y) = (Vec::new(), Matrix::zeros(n, D), Vec::new());
    let mut local = [0.0; D];
    for row in 0..n {
        let u: Vec<f64> = (0..D).map(|_| rng.between(-1.0, 1.0)).collect();
        frame.to_local(&u, &mut local);
        for (i, value) in local.iter().enumerate() {
            x[(row, i)] = *value;
        }
        y.push(f(&u, &local));
        points.push(u);
    }
    let least = y.iter().copied().fold(f64::INFINITY, f64::min);
    y.iter_mut().for_each(|y| *y -= least);
    (points, x, y)
}

/// The least value over the smallest box around points, and whether the polynomial is convex.
fn minimise<'a>(fit: &mut Polynomial, frame: &Frame, points: impl Iterator<Item = &'a [f64]>) -> (f64, bool) {
    let mut bounds = Vec::new();
    bounds_of(&mut bounds, frame.dim(), points);
    let lowest = super::minimise(fit, &[], frame, &bounds, std::iter::empty()).unwrap();
    (lowest, fit.is_convex())
}

/// The minimiser of the newest fit, in the frame.
fn bottom(fit: &Polynomial, frame: &Frame) -> Vec<f64> {
    let mut x = vec![0.0; frame.dim()];
    frame.to_local(&fit.minimiser, &mut x);
    x
}

#[test]
fn a_bowl_is_recovered_and_its_bottom_found() {
    let mut rng = Rng::new(1);
    for _ in 0..50 {
        let frame = frame(&mut rng);
        let bottom: Vec<f64> = (0..D).map(|_| rng.between(-0.3, 0.3)).collect();
        let mut target = [0.0; D];
        frame.to_local(&bottom, &mut target);
        let bowl = |_: &[f64], x: &[f64]| (0..D).map(|i| (1.0 + i as f64) * (x[i] - target[i]).powi(2)).sum::<f64>();
        for terms in [Terms::Squares, Terms::Quadratic] {
            let n = terms.count(D) + 3;
            let (mut points, x, y) = observe(&mut rng, &frame, n, bowl);
            let mut quadratic = Polynomial::default();
            assert!(quadratic.fit(terms, &x, &y, &y, n - 1, 0.5));
            assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() < 1e-9, "the row left out is forecast");
            points.extend([vec![-0.5; D], vec![0.5; D]]); // so that what was seen is all around the bottom
            let (lowest, convex) = minimise(&mut quadratic, &frame, points.iter().map(Vec::as_slice));
            for (found, wanted) in quadratic.minimiser.iter().zip(&bottom) {
                assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
            }
            assert!(convex && lowest <= 1e-9, "no observation is lower");
        }
    }
}

#[test]
fn a_bowl_turned_against_the_frame_needs_the_products() {
    let mut rng = Rng::new(4);
    let frame = frame(&mut rng);
    let bowl = |u: &[f64], _: &[f64]| (0..D).map(|j| 10_f64.powi(j as i32) * (u[j] - 0.1).powi(2)).sum::<f64>();
    let n = 2 * Terms::Quadratic.count(D);
    let (points, x, y) = observe(&mut rng, &frame, n, bowl);
    let mut quadratic = Polynomial::default();
    assert!(quadratic.fit(Terms::Squares, &x, &y, &y, n - 1, 0.5));
    assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() > 1e-3, "squares do not suffice");
    assert!(quadratic.fit(Terms::Quadratic, &x, &y, &y, n - 1, 0.5));
    assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() < 1e-8);
    minimise(&mut quadratic, &frame, points.iter().map(Vec::as_slice));
    for found in &quadratic.minimiser {
        assert!((found - 0.1).abs() < 1e-8, "{found}");
    }
}

#[test]
fn polynomials_along_the_box_are_found_from_few_observations_and_turned_into_the_frame() {
    let mut rng = Rng::new(6);
    let frame = frame(&mut rng);
    let weights = |terms: Terms| move |j: usize| if terms == Terms::Round { 3.0 } else { 10_f64.powi(j as i32) };
    for (terms, n) in [(Terms::Round, D + 2), (Terms::Squares, 2 * D + 1)] {
        let weight = weights(terms);
        let f = |u: &[f64], _: &[f64]| (0..D).map(|j| weight(j) * (u[j] - 0.1).powi(2)).sum::<f64>() - 7.0;
        let (points, x, y) = observe(&mut rng, &frame, n, f);
        let mut along = Matrix::zeros(n, D);
        for (row, u) in points.iter().enumerate() {
            (0..D).for_each(|j| along[(row, j)] = u[j] - frame.centre()[j]);
        }
        let mut fit = Polynomial::default();
        assert!(!fit.fit(terms, &along, &y, &y, n - 1, 0.5), "too few");
        assert!(fit.fit(terms, &along, &y, &y, n, 0.5));
        fit.turn(|i, j| frame.rotation()[(i, j)] * frame.scale()[j]);
        for row in 0..n {
            assert!((fit.at_row(&x, row) - y[row]).abs() < 1e-9 * weight(D - 1), "row {row}");
        }
        minimise(&mut fit, &frame, points.iter().map(Vec::as_slice));
        for found in &fit.minimiser {
            assert!((found - 0.1).abs() < 1e-8, "{found}");
        }
    }
}

#[test]
fn a_slope_is_followed_to_the_corner_of_what_was_seen() {
    let mut rng = Rng::new(2);
    let frame = frame(&mut rng);
    let slope = |u: &[f64], _: &[f64]| u[0] - 2.0 * u[1] + 0.5 * u[2] - u[3];
    let (points, x, y) = observe(&mut rng, &frame, D + 2, slope);
    let mut quadratic = Polynomial::default();
    assert!(!quadratic.fit(Terms::Squares, &x, &y, &y, D + 2, 0.5), "too few for the squares");
    assert!(quadratic.fit(Terms::Linear, &x, &y, &y, D + 2, 0.5));
    let (seen, _) = minimise(&mut quadratic, &frame, points.iter().map(Vec::as_slice));
    let side = |j: usize, sign: f64| points.iter().map(|u| sign * u[j]).fold(f64::INFINITY, f64::min) * sign;
    let corner = [side(0, 1.0), side(1, -1.0), side(2, 1.0), side(3, -1.0)];
    assert_eq!(quadratic.minimiser, corner);
    let lowest = super::minimise(&mut quadratic, &[], &frame, &[(-1.0, 1.0); D], std::iter::empty()).unwrap();
    assert_eq!(quadratic.minimiser, [-1.0, 1.0, -1.0, 1.0]);
    assert!(lowest < seen, "{lowest} at the corner of the box, {seen} before");
}

#[test]
fn a_hill_sends_to_the_border_and_dependent_points_are_refused() {
    let mut rng = Rng::new(3);
    let frame = frame(&mut rng);
    let hill = |_: &[f64], x: &[f64]| -x.iter().map(|x| (x - 0.1) * (x - 0.1)).sum::<f64>();
    let n = 2 * Terms::Squares.count(D);
    let (points, x, y) = observe(&mut rng, &frame, n, hill);
    let mut quadratic = Polynomial::default();
    assert!(quadratic.fit(Terms::Squares, &x, &y, &y, n, 0.5));
    let (lowest, convex) = minimise(&mut quadratic, &frame, points.iter().map(Vec::as_slice));
    assert!(!convex && lowest.is_finite());
    for j in 0..D {
        let u = quadratic.minimiser[j];
        assert!(points.iter().any(|p| p[j] == u), "coordinate {j} is at the end of its range");
    }
    let (_, mut x, y) = observe(&mut rng, &frame, n, hill);
    for row in 0..n {
        x[(row, 1)] = x[(row, 0)];
    }
    assert!(!quadratic.fit(Terms::Linear, &x, &y, &y, n, 0.5));
    assert!(!quadratic.fit(Terms::Linear, &x, &vec![0.0; n], &vec![0.0; n], n, 0.0), "all equal");
}

/// The solution of a small system by elimination with pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// ½ (u − b)ᵀ H (u − b).
fn value(h: &[Vec<f64>], b: &[f64], u: &[f64]) -> f64 {
    let product = |i: usize| (0..D).map(|j| h[i][j] * (u[j] - b[j])).sum::<f64>();
    0.5 * (0..D).map(|i| (u[i] - b[i]) * product(i)).sum::<f64>()
}

/// The least value over a box, by trying every set of coordinates at every end.
fn least(h: &[Vec<f64>], b: &[f64], low: &[f64], high: &[f64]) -> f64 {
    let mut best = f64::INFINITY;
    for set in 0..3_usize.pow(D as u32) {
        let place = |j: usize| (set / 3_usize.pow(j as u32)) % 3;
        let mut u: Vec<f64> = (0..D).map(|j| if place(j) == 1 { low[j] } else { high[j] }).collect();
        let free: Vec<usize> = (0..D).filter(|&j| place(j) == 0).collect();
        let held = |i: usize| (0..D).filter(|j| !free.contains(j)).map(|j| h[i][j] * (u[j] - b[j])).sum::<f64>();
        let matrix = free.iter().map(|&i| free.iter().map(|&j| h[i][j]).collect()).collect();
        let moved = solve(matrix, free.iter().map(|&i| -held(i)).collect());
        for (j, moved) in free.iter().zip(moved) {
            u[*j] = b[*j] + moved;
        }
        if (0..D).all(|j| (low[j]..=high[j]).contains(&u[j])) {
            best = best.min(value(h, b, &u));
        }
    }
    best
}

/// Turned against frame and box, a million times steeper along one axis than along another, its bottom inside what was seen or not.
#[test]
fn a_steep_bowl_is_followed_to_its_minimum_within_what_was_seen() {
    let mut rng = Rng::new(5);
    let (mut inside, mut at_the_border) = (0, 0);
    for _ in 0..100 {
        let (frame, turn) = (frame(&mut rng), frame(&mut rng));
        let r = turn.rotation();
        let steepness = |k: usize| 1e6_f64.powf(k as f64 / (D - 1) as f64);
        let entry = |i: usize, j: usize| (0..D).map(|k| r[(i, k)] * steepness(k) * r[(j, k)]).sum::<f64>();
        let h: Vec<Vec<f64>> = (0..D).map(|i| (0..D).map(|j| entry(i, j)).collect()).collect();
        let bottom: Vec<f64> = (0..D).map(|_| rng.between(-1.3, 1.3)).collect();
        let n = 2 * Terms::Quadratic.count(D);
        let (points, x, y) = observe(&mut rng, &frame, n, |u, _| value(&h, &bottom, u));
        let mut quadratic = Polynomial::default();
        assert!(quadratic.fit(Terms::Quadratic, &x, &y, &y, n, 0.5));
        minimise(&mut quadratic, &frame, points.iter().map(Vec::as_slice));
        let end = |j: usize, sign: f64| sign * points.iter().map(|u| sign * u[j]).fold(f64::INFINITY, f64::min);
        let low: Vec<f64> = (0..D).map(|j| end(j, 1.0)).collect();
        let high: Vec<f64> = (0..D).map(|j| end(j, -1.0)).collect();
        for (j, u) in quadratic.minimiser.iter().enumerate() {
            assert!((low[j]..=high[j]).contains(u), "coordinate {j}: {u} is outside of what was seen");
        }
        let (found, wanted) = (value(&h, &bottom, &quadratic.minimiser), least(&h, &bottom, &low, &high));
        let range = y.iter().copied().fold(0.0, f64::max);
        assert!(found - wanted <= 1e-12 * range, "{found:e} found, {wanted:e} possible, of a range of {range:e}");
        let is_inside = (0..D).all(|j| (low[j]..=high[j]).contains(&bottom[j]));
        (inside, at_the_border) = (inside + usize::from(is_inside), at_the_border + usize::from(!is_inside));
    }
    assert!(inside >= 5 && at_the_border >= 50, "{inside} inside, {at_the_border} not");
}

#[test]
fn how_sure_a_fit_is_follows_from_least_squares() {
    // Against its definition: how far each observation moves q, which is linear in them.
    let mut rng = Rng::new(7);
    let (n, terms) = (40, Terms::Quadratic);
    let frame = frame(&mut rng);
    let rough = |u: &[f64], x: &[f64]| x.iter().map(|x| (x - 0.2).powi(2)).sum::<f64>() + 0.1 * (40.0 * u[0]).sin();
    let (points, x, y) = observe(&mut rng, &frame, n, rough);
    let ones = vec![0.0; n]; // the rank of weight 1
    let mut fit = Polynomial::default();
    assert!(fit.fit(terms, &x, &y, &ones, n, 1.0));
    let (lowest, _) = minimise(&mut fit, &frame, points.iter().map(Vec::as_slice));
    let bottom = bottom(&fit, &frame);
    let (value, std) = fit.at(&bottom);
    assert!((value - lowest).abs() < 1e-9 * lowest.abs().max(1.0));
    let (before, mut moved) = (fit.value(&bottom), 0.0);
    for row in 0..n {
        let mut more = y.clone();
        more[row] += 1.0;
        assert!(fit.fit(terms, &x, &more, &ones, n, 1.0));
        moved += (fit.value(&bottom) - before).powi(2);
    }
    assert!((std - moved.sqrt()).abs() < 1e-9);
}

fn points(n: usize, d: usize) -> Matrix {
    let mut rng = Rng::new(7);
    let mut x = Matrix::zeros(n, d);
    for row in 0..n {
        for j in 0..d {
            x[(row, j)] = 4.0 * rng.unit() - 2.0;
        }
    }
    x
}

/// Rosenbrock's function plus a cubic term.
fn valley(x: &Matrix, row: usize) -> f64 {
    let x: Vec<f64> = (0..x.cols()).map(|j| x[(row, j)]).collect();
    let valley = |w: &[f64]| 10.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
    x.windows(2).map(valley).sum::<f64>() + 0.3 * x[0] * x[1] * x[x.len() - 1]
}

#[test]
fn a_quartic_is_found_from_as_many_points_as_it_has_coefficients() {
    for d in 2..=5 {
        let n = Terms::Quartic.count(d);
        let x = points(n + 5, d);
        let y: Vec<f64> = (0..n + 5).map(|k| valley(&x, k) + 100.0).collect();
        let mut fit = Polynomial::default();
        assert!(!fit.fit(Terms::Quartic, &x, &y, &y, n - 1, 1.0), "too few");
        assert!(fit.fit(Terms::Quartic, &x, &y, &y, n, 100.0));
        for k in n..n + 5 {
            let error = (fit.at_row(&x, k) - y[k]).abs() * 100.0 / (100.0 + y[k]);
            assert!(error < 1e-6, "d = {d}: {error}");
        }
    }
}

#[test]
fn the_derivatives_are_those_of_the_value() {
    let d = 4;
    let x = points(100, d);
    let y: Vec<f64> = (0..100).map(|k| valley(&x, k) + 100.0).collect();
    for terms in [Terms::Linear, Terms::Round, Terms::Squares, Terms::Quadratic, Terms::Quartic] {
        let mut fit = Polynomial::default();
        assert!(fit.fit(terms, &x, &y, &y, 100, 100.0));
        let (at, h) = ([0.3, -0.7, 1.1, 0.2], 1e-5);
        let (here, hessian) = (fit.look(&at), fit.hessian(&at, &[]));
        assert_eq!(here.value, fit.value(&at));
        for j in 0..d {
            let moved = |step: f64| {
                let mut there = at;
                there[j] += step;
                fit.look(&there)
            };
            let (up, down) = (moved(h), moved(-h));
            assert!(((up.value - down.value) / (2.0 * h) - here.gradient[j]).abs() < 1e-5);
            for k in 0..d {
                let slope = (up.gradient[k] - down.gradient[k]) / (2.0 * h);
                assert!((slope - hessian[(k, j)]).abs() < 1e-4, "{slope} {}", hessian[(k, j)]);
            }
        }
    }
}
