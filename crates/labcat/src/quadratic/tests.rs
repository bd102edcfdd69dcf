//! Fits and minima of functions that are linear or quadratic indeed.

use super::*;
use crate::rng::Rng;

const D: usize = 4;

/// A turned and stretched frame around a point.
fn frame(rng: &mut Rng) -> Frame {
    use crate::frame::{AxisOrder, PrincipalAxes};
    let points: Vec<Vec<f64>> = (0..9).map(|_| (0..D).map(|_| rng.between(-1.0, 1.0)).collect()).collect();
    let mut axes = PrincipalAxes::default();
    axes.find(&Frame::of_box(D), points.iter().map(|u| (u.as_slice(), 0.0)), points.len());
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

#[test]
fn a_bowl_is_recovered_and_its_bottom_found() {
    let mut rng = Rng::new(1);
    for _ in 0..50 {
        let frame = frame(&mut rng);
        let bottom: Vec<f64> = (0..D).map(|_| rng.between(-0.3, 0.3)).collect();
        let mut target = [0.0; D];
        frame.to_local(&bottom, &mut target);
        let bowl = |_: &[f64], x: &[f64]| (0..D).map(|i| (1.0 + i as f64) * (x[i] - target[i]).powi(2)).sum::<f64>();
        for terms in [Terms::Squares, Terms::All] {
            let n = terms.count(D) + 3;
            let (points, x, y) = observe(&mut rng, &frame, n, bowl);
            let mut quadratic = Quadratic::default();
            assert!(quadratic.fit(terms, &x, &y, n - 1, 0.5));
            assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() < 1e-9, "the row left out is forecast");
            let spanned = |j: usize| points.iter().any(|u| u[j] < bottom[j]) && points.iter().any(|u| u[j] > bottom[j]);
            let lowest = quadratic.minimise(&frame, points.iter().map(Vec::as_slice));
            if (0..D).all(spanned) {
                for (found, wanted) in quadratic.minimiser.iter().zip(&bottom) {
                    assert!((found - wanted).abs() < 1e-6, "{found} for {wanted}");
                }
                assert!(lowest <= 1e-9, "no observation is lower");
            }
        }
    }
}

/// A bowl along the axes of the box is none along those of the frame: only the products see it.
#[test]
fn a_bowl_turned_against_the_frame_needs_the_products() {
    let mut rng = Rng::new(4);
    let frame = frame(&mut rng);
    let bowl = |u: &[f64], _: &[f64]| (0..D).map(|j| 10_f64.powi(j as i32) * (u[j] - 0.1).powi(2)).sum::<f64>();
    let n = 2 * Terms::All.count(D);
    let (points, x, y) = observe(&mut rng, &frame, n, bowl);
    let mut quadratic = Quadratic::default();
    assert!(quadratic.fit(Terms::Squares, &x, &y, n - 1, 0.5));
    assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() > 1e-3, "squares do not suffice");
    assert!(quadratic.fit(Terms::All, &x, &y, n - 1, 0.5));
    assert!((quadratic.at_row(&x, n - 1) - y[n - 1]).abs() < 1e-8);
    quadratic.minimise(&frame, points.iter().map(Vec::as_slice));
    for found in &quadratic.minimiser {
        assert!((found - 0.1).abs() < 1e-8, "{found}");
    }
}

#[test]
fn a_slope_is_followed_to_the_corner_of_what_was_seen() {
    let mut rng = Rng::new(2);
    let frame = frame(&mut rng);
    let slope = |u: &[f64], _: &[f64]| u[0] - 2.0 * u[1] + 0.5 * u[2] - u[3];
    let (points, x, y) = observe(&mut rng, &frame, D + 2, slope);
    let mut quadratic = Quadratic::default();
    assert!(!quadratic.fit(Terms::Squares, &x, &y, D + 2, 0.5), "too few for the squares");
    assert!(quadratic.fit(Terms::Linear, &x, &y, D + 2, 0.5));
    quadratic.minimise(&frame, points.iter().map(Vec::as_slice));
    let side = |j: usize, sign: f64| points.iter().map(|u| sign * u[j]).fold(f64::INFINITY, f64::min) * sign;
    let corner = [side(0, 1.0), side(1, -1.0), side(2, 1.0), side(3, -1.0)];
    assert_eq!(quadratic.minimiser, corner);
}

#[test]
fn a_hill_sends_to_the_border_and_dependent_points_are_refused() {
    let mut rng = Rng::new(3);
    let frame = frame(&mut rng);
    let hill = |_: &[f64], x: &[f64]| -x.iter().map(|x| x * x).sum::<f64>();
    let n = 2 * Terms::Squares.count(D);
    let (points, x, y) = observe(&mut rng, &frame, n, hill);
    let mut quadratic = Quadratic::default();
    assert!(quadratic.fit(Terms::Squares, &x, &y, n, 0.5));
    let lowest = quadratic.minimise(&frame, points.iter().map(Vec::as_slice));
    assert!(lowest.is_finite());
    for j in 0..D {
        let u = quadratic.minimiser[j];
        assert!(points.iter().any(|p| p[j] == u), "coordinate {j} is at the end of its range");
    }
    let (_, mut x, y) = observe(&mut rng, &frame, n, hill);
    for row in 0..n {
        x[(row, 1)] = x[(row, 0)];
    }
    assert!(!quadratic.fit(Terms::Linear, &x, &y, n, 0.5));
    assert!(!quadratic.fit(Terms::Linear, &x, &vec![0.0; n], n, 0.0), "all equal");
}
