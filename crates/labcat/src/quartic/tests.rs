use super::*;
use crate::rng::Rng;

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
fn f(x: &[f64]) -> f64 {
    let valley = |w: &[f64]| 10.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2);
    x.windows(2).map(valley).sum::<f64>() + 0.3 * x[0] * x[1] * x[x.len() - 1]
}

fn row(x: &Matrix, row: usize) -> Vec<f64> {
    (0..x.cols()).map(|j| x[(row, j)]).collect()
}

#[test]
fn there_are_as_many_monomials_as_counted() {
    for d in 1..=9 {
        let mut quartic = Quartic::default();
        quartic.enumerate(d);
        assert_eq!(1 + quartic.monomials.len(), count(d));
    }
    assert_eq!((count(1), count(2), count(5), count(7)), (5, 15, 126, 330));
    assert!(count(100_000) > 1_000_000, "no overflow");
}

#[test]
fn a_polynomial_of_the_fourth_degree_is_found_from_as_many_points_as_it_has_coefficients() {
    for d in 2..=5 {
        let n = count(d);
        let x = points(n + 5, d);
        let y: Vec<f64> = (0..n + 5).map(|k| f(&row(&x, k)) + 100.0).collect();
        let mut quartic = Quartic::default();
        assert!(!quartic.fit(&x, &y, n - 1, 1.0), "too few");
        assert!(quartic.fit(&x, &y, n, 100.0));
        for k in n..n + 5 {
            assert!(quartic.error(&x, &y, k, 100.0) < 1e-6, "d = {d}: {}", quartic.error(&x, &y, k, 100.0));
        }
    }
}

#[test]
fn its_derivatives_are_those_of_its_value() {
    let d = 4;
    let x = points(100, d);
    let y: Vec<f64> = (0..100).map(|k| f(&row(&x, k)) + 100.0).collect();
    let mut quartic = Quartic::default();
    assert!(quartic.fit(&x, &y, 100, 100.0));
    let (at, h) = ([0.3, -0.7, 1.1, 0.2], 1e-5);
    let (here, hessian) = (quartic.look(&at), quartic.hessian(&at, &[]));
    assert_eq!(here.value, quartic.value(&at));
    for j in 0..d {
        let moved = |step: f64| {
            let mut there = at;
            there[j] += step;
            quartic.look(&there)
        };
        let (up, down) = (moved(h), moved(-h));
        assert!(((up.value - down.value) / (2.0 * h) - here.gradient[j]).abs() < 1e-5);
        for k in 0..d {
            let slope = (up.gradient[k] - down.gradient[k]) / (2.0 * h);
            assert!((slope - hessian[(k, j)]).abs() < 1e-4, "{slope} {}", hessian[(k, j)]);
        }
    }
}
