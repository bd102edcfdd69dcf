use super::*;
use crate::rng::Rng;

/// H = B Bᵀ + I/10, g and m random halfspaces; `around`: all hold the origin.
fn random(rng: &mut Rng, d: usize, m: usize, around: bool) -> (Matrix, Vec<f64>, Halfspaces) {
    let mut draw = |low: f64| rng.between(low, 1.0);
    let b: Vec<Vec<f64>> = (0..d).map(|_| (0..d).map(|_| draw(-1.0)).collect()).collect();
    let mut h = Matrix::zeros(d, d);
    for i in 0..d {
        for j in 0..d {
            h[(i, j)] = linalg::dot(&b[i], &b[j]) + if i == j { 0.1 } else { 0.0 };
        }
    }
    let g = (0..d).map(|_| 10.0 * draw(-1.0)).collect();
    let mut within = Halfspaces::default();
    for _ in 0..m {
        let normal: Vec<f64> = (0..d).map(|_| draw(-1.0)).collect();
        within.push(&normal, draw(if around { 0.0 } else { -1.0 }));
    }
    (h, g, within)
}

#[test]
fn a_solution_meets_the_conditions_of_karush_kuhn_and_tucker() {
    let mut rng = Rng::new(3);
    for round in 0..300 {
        let (d, m) = (1 + round % 9, round % 23);
        let (h, g, within) = random(&mut rng, d, m, true);
        let factor = factor_convex(&h, 0.0).unwrap();
        let Solved { x, multipliers } = minimise(&factor, &g, &within).unwrap();
        let mut slope = g.clone();
        for j in 0..d {
            linalg::axpy(&mut slope, x[j], h.col(j));
        }
        for ((a, _), u) in within.rows().zip(&multipliers) {
            assert!(*u >= 0.0);
            linalg::axpy(&mut slope, *u, a);
        }
        assert!(slope.iter().all(|s| s.abs() < 1e-8), "round {round}: {slope:?}");
        for ((a, b), u) in within.rows().zip(&multipliers) {
            let by = linalg::dot(a, &x) - b;
            assert!(by < 1e-9 && (*u == 0.0 || by.abs() < 1e-9), "round {round}: {by:e}");
        }
    }
}

#[test]
fn contradictions_are_told() {
    let factor = factor_convex(&Matrix::identity(2), 0.0).unwrap();
    let mut within = Halfspaces::default();
    within.push(&[1.0, 1.0], -1.0);
    within.push(&[-1.0, -1.0], -1.0);
    assert_eq!(minimise(&factor, &[0.0, 0.0], &within), None);
}

#[test]
fn no_convexity_is_made_up_for() {
    let mut h = Matrix::identity(3);
    h[(1, 1)] = -5.0;
    assert!(factor_convex(&h, 0.0).is_some());
    assert!(factor_convex(&Matrix::zeros(2, 2), 1e-3).is_some());
}
