//! Slopes beside values.

use super::*;

fn prior(kernel: KernelKind) -> Prior {
    Prior { kernel, mean: 0.5, signal: 1.0, nugget: 1e-10, noise: 0.0 }
}

/// f = x² + 3xy and its gradient.
fn f(x: &[f64]) -> (f64, [f64; 2]) {
    (x[0] * x[0] + 3.0 * x[0] * x[1], [2.0 * x[0] + 3.0 * x[1], 3.0 * x[0]])
}

fn model(kernel: KernelKind) -> Gp {
    let points = [[0.1, 0.2], [-0.3, 0.4], [0.5, -0.1]];
    let mut buffers = Buffers::default();
    let x = buffers.inputs(3, 2);
    let mut slopes = Vec::new();
    for (row, p) in points.iter().enumerate() {
        (x[(row, 0)], x[(row, 1)]) = (p[0], p[1]);
        let (_, g) = f(p);
        slopes.push(Slope { x: p.to_vec(), direction: vec![2.0, 0.0], value: 2.0 * g[0] });
        slopes.push(Slope { x: p.to_vec(), direction: vec![1.0, 1.0], value: g[0] + g[1] });
    }
    let y: Vec<f64> = points.iter().map(|p| f(p).0).collect();
    let mut gp = Gp::fit(prior(kernel), &y, buffers).unwrap();
    slopes.into_iter().for_each(|slope| gp.append_slope(slope));
    gp
}

#[test]
fn values_and_slopes_are_reproduced_and_gradients_match_differences() {
    for kernel in KERNELS {
        let gp = model(kernel);
        let mut at = PointPrediction::default();
        let mut points = Matrix::zeros(1, 2);
        (points[(0, 0)], points[(0, 1)]) = (0.7, -0.2);
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        gp.predict(&points, &mut k_star, &mut mean, &mut std);
        gp.predict_with_gradient(&[0.7, -0.2], &mut at);
        assert!((mean[0] - at.mean).abs() < 1e-9 && (std[0] - at.std).abs() < 1e-6, "many at once are the same");
        gp.predict_with_gradient(&[-0.3, 0.4], &mut at);
        let (value, gradient) = f(&[-0.3, 0.4]);
        assert!((at.mean - value).abs() < 1e-6 && at.std < 1e-3, "{} {}", at.mean, at.std);
        for (found, known) in at.mean_gradient.iter().zip(gradient) {
            assert!((found - known).abs() < 1e-5, "{found} {known}");
        }
        let x = [0.2, -0.4];
        gp.predict_with_gradient(&x, &mut at);
        let mut h = Matrix::zeros(2, 2);
        gp.add_hessian(&x, &mut h);
        for j in 0..2 {
            let moved = |by: f64| {
                let (mut there, mut x) = (PointPrediction::default(), x);
                x[j] += by;
                gp.predict_with_gradient(&x, &mut there);
                there
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            assert!(((up.mean - down.mean) / 2e-5 - at.mean_gradient[j]).abs() < 1e-6);
            assert!(((up.std - down.std) / 2e-5 - at.std_gradient[j]).abs() < 1e-5);
            assert!(((up.mean_gradient[0] - down.mean_gradient[0]) / 2e-5 - h[(0, j)]).abs() < 1e-4);
        }
    }
}

#[test]
fn a_fantasy_takes_the_variance_away_and_leaves_the_mean() {
    let mut gp = model(KernelKind::SquaredExponential);
    let (mut before, mut after) = (PointPrediction::default(), PointPrediction::default());
    gp.predict_with_gradient(&[1.0, 1.0], &mut before);
    let imagined = gp.append_fantasy(&[1.0, 1.0], f64::NEG_INFINITY);
    gp.predict_with_gradient(&[1.0, 1.0], &mut after);
    assert!((imagined - before.mean).abs() < 1e-12 && (after.mean - before.mean).abs() < 1e-9);
    assert!(after.std < 0.1 * before.std);
    let floor = before.mean + 1.0;
    gp.append_fantasy(&[1.5, 1.0], floor);
    gp.predict_with_gradient(&[1.5, 1.0], &mut after);
    assert!(after.mean > before.mean + 0.5);
}

#[test]
fn slopes_of_the_objective_leave_the_constraints_as_uncertain_as_before() {
    use crate::gp::surrogate::{Rows, Surrogate};
    use crate::polynomial::Polynomial;
    let points: [[f64; 2]; 6] = [[0.1, 0.2], [-0.3, 0.4], [0.5, -0.1], [-0.6, -0.5], [0.7, 0.6], [-0.2, -0.8]];
    let mut buffers = Buffers::default();
    let x = buffers.inputs(6, 2);
    for (row, p) in points.iter().enumerate() {
        (x[(row, 0)], x[(row, 1)]) = (p[0], p[1]);
    }
    let y: Vec<f64> = points.iter().map(|p| f(p).0).collect();
    let mut surrogate = Surrogate::new(Gp::fit(prior(KernelKind::SquaredExponential), &y, buffers).unwrap());
    let g = points.iter().map(|p| p[0].sin() + p[1] * p[1]).collect();
    let rows = Rows { axes: &[0, 1], rank: &[0.0; 6], typical: 1.0, violated: &[] };
    surrogate.add_constraint(g, Vec::new(), &rows, &mut Polynomial::default());
    let mut at = PointPrediction::default();
    let place = [0.3, 0.5];
    let before = surrogate.at(&place, &mut at)[0].clone();
    let std = at.std;
    for p in points {
        surrogate.append_slope(Slope { x: p.to_vec(), direction: vec![1.0, 0.0], value: f(&p).1[0] });
        surrogate.append_slope(Slope { x: p.to_vec(), direction: vec![0.0, 1.0], value: f(&p).1[1] });
    }
    let after = surrogate.at(&place, &mut at)[0].clone();
    assert!(at.std < 0.2 * std, "the objective is known better: {std} {}", at.std);
    assert!(before.std > 0.0 && (after.std / before.std - 1.0).abs() < 1e-6, "{} {}", before.std, after.std);
    assert!((after.mean - before.mean).abs() < 1e-6 * before.std, "{} {}", before.mean, after.mean);
}
