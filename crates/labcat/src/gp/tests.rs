//! Derivatives against finite differences, and everything else against a naive Gaussian process: explicit inverse and determinant.

use super::likelihood::{Curvature, Derivatives};
use super::*;
use crate::rng::Rng;

mod noise;
mod precise;
mod slopes;

const KERNELS: [KernelKind; 3] = [KernelKind::SquaredExponential, KernelKind::Matern52, KernelKind::Matern32];

/// Inverse and ln |determinant| by Gauss–Jordan elimination with partial pivoting.
fn invert(mut a: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let n = a.len();
    let mut inverse: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut ln_det = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        inverse.swap(k, pivot);
        let divisor = a[k][k];
        ln_det += divisor.abs().ln();
        for j in 0..n {
            a[k][j] /= divisor;
            inverse[k][j] /= divisor;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k];
            for j in 0..n {
                a[i][j] -= factor * a[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    (inverse, ln_det)
}

/// The Gaussian process of the textbook, with length-scales written out.
struct Naive {
    prior: Prior,
    ell: Vec<f64>,
    x: Vec<Vec<f64>>,
    alpha: Vec<f64>,
    inverse: Vec<Vec<f64>>,
    log_likelihood: f64,
}

impl Naive {
    fn new(prior: Prior, ell: &[f64], x: Vec<Vec<f64>>, y: &[f64]) -> Self {
        let n = x.len();
        let mut naive = Self { prior, ell: ell.to_vec(), x, alpha: vec![], inverse: vec![], log_likelihood: 0.0 };
        let mut k: Vec<Vec<f64>> = naive.x.iter().map(|p| naive.covariances(p)).collect();
        for (i, row) in k.iter_mut().enumerate() {
            row[i] += prior.nugget;
        }
        let (inverse, ln_det) = invert(k);
        let residual: Vec<f64> = y.iter().map(|y| y - prior.mean).collect();
        naive.alpha = times(&inverse, &residual);
        let quadratic: f64 = residual.iter().zip(&naive.alpha).map(|(r, a)| r * a).sum();
        naive.log_likelihood = -0.5 * quadratic - 0.5 * ln_det - 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
        naive.inverse = inverse;
        naive
    }

    fn covariances(&self, at: &[f64]) -> Vec<f64> {
        let correlation = |p: &Vec<f64>| {
            let s: f64 = p.iter().zip(at).zip(&self.ell).map(|((p, q), l)| ((p - q) / l).powi(2)).sum();
            match self.prior.kernel {
                KernelKind::SquaredExponential => (-0.5 * s).exp(),
                KernelKind::Matern52 => (1.0 + (5.0 * s).sqrt() + 5.0 * s / 3.0) * (-(5.0 * s).sqrt()).exp(),
                KernelKind::Matern32 => (1.0 + (3.0 * s).sqrt()) * (-(3.0 * s).sqrt()).exp(),
            }
        };
        self.x.iter().map(|p| self.prior.signal * correlation(p)).collect()
    }

    /// Mean and standard deviation of an observation at a point.
    fn predict(&self, at: &[f64]) -> (f64, f64) {
        let k = self.covariances(at);
        let mean = self.prior.mean + k.iter().zip(&self.alpha).map(|(k, a)| k * a).sum::<f64>();
        let explained: f64 = times(&self.inverse, &k).iter().zip(&k).map(|(v, k)| v * k).sum();
        (mean, (self.prior.signal + self.prior.nugget - explained).max(self.prior.nugget).sqrt())
    }
}

fn times(m: &[Vec<f64>], v: &[f64]) -> Vec<f64> {
    m.iter().map(|row| row.iter().zip(v).map(|(m, v)| m * v).sum()).collect()
}

/// A random problem: inputs within a few length-scales of each other, outputs in [0, 1], a nugget that keeps K invertible.
struct Problem {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    ell: Vec<f64>,
    prior: Prior,
    /// An upper bound of the condition number of K: what rounding errors may be multiplied by.
    condition: f64,
}

impl Problem {
    fn random(rng: &mut Rng, kernel: KernelKind, n: usize, d: usize, nugget: f64) -> Self {
        let ell: Vec<f64> = (0..d).map(|_| math::exp(rng.between(-1.5, 1.5))).collect();
        let x: Vec<Vec<f64>> = (0..n).map(|_| ell.iter().map(|l| l * rng.between(-1.5, 1.5)).collect()).collect();
        let mut y: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
        crate::frame::normalise(&mut y, None, &mut Vec::new());
        let of_data = Prior::of(&y, kernel, 1.0, 0.0);
        let prior = Prior { nugget: nugget * of_data.signal, ..of_data };
        Self { x, y, ell, prior, condition: 1.0 + n as f64 / nugget }
    }

    fn fit_at(&self, ell: &[f64]) -> Gp {
        fit(self.prior, ell, &self.x, &self.y)
    }

    fn fit(&self) -> Gp {
        self.fit_at(&self.ell)
    }

    fn naive(&self) -> Naive {
        Naive::new(self.prior, &self.ell, self.x.clone(), &self.y)
    }

    /// What ln ℓ + h e_i does to the length-scales, for one or two coordinates.
    fn moved(&self, moves: &[(usize, f64)]) -> Vec<f64> {
        let mut ell = self.ell.clone();
        for &(i, h) in moves {
            ell[i] *= math::exp(h);
        }
        ell
    }
}

fn buffers(ell: &[f64], x: &[Vec<f64>]) -> Buffers {
    let mut b = Buffers::default();
    let inputs = b.inputs(x.len(), ell.len());
    for (p, x) in x.iter().enumerate() {
        for (j, x) in x.iter().enumerate() {
            inputs[(p, j)] = x / ell[j];
        }
    }
    b
}

fn fit(prior: Prior, ell: &[f64], x: &[Vec<f64>], y: &[f64]) -> Gp {
    Gp::fit(prior, y, buffers(ell, x)).unwrap()
}

/// Mean and standard deviation at a point given in the coordinates before the division by ℓ.
fn predict(gp: &Gp, ell: &[f64], at: &[f64]) -> (f64, f64) {
    let mut points = Matrix::zeros(1, ell.len());
    for (j, x) in at.iter().enumerate() {
        points[(0, j)] = x / ell[j];
    }
    let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
    gp.predict(&points, &mut k_star, &mut mean, &mut std);
    (mean[0], std[0])
}

/// Fourth-order central difference.
fn slope(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a:e} and {b:e} differ by {:e} > {tolerance:e}", (a - b).abs());
}

const SHAPES: [(usize, usize); 8] = [(1, 1), (2, 1), (5, 2), (14, 2), (9, 3), (21, 3), (35, 5), (40, 8)];

/// Random problems of every kernel and shape, well and less well conditioned.
fn problems(seed: u64, nuggets: &[f64], mut check: impl FnMut(&Problem, &mut Rng)) {
    let mut rng = Rng::new(seed);
    for kernel in KERNELS {
        for (n, d) in SHAPES {
            for &nugget in nuggets {
                let problem = Problem::random(&mut rng, kernel, n, d, nugget);
                check(&problem, &mut rng);
            }
        }
    }
}

#[test]
fn kernels_start_at_one_and_their_slopes_are_slopes() {
    for kernel in KERNELS {
        assert_eq!(kernel.at(0.0), 1.0);
        for s in [1e-3, 0.1, 0.7, 2.0, 9.0, 40.0] {
            let (first, second) = kernel.slopes_at(s, kernel.at(s));
            let h = 1e-3 * s;
            close(first, slope(h, |h| kernel.at(s + h)), 1e-10, "k′");
            close(second, slope(h, |h| kernel.slopes_at(s + h, kernel.at(s + h)).0), 1e-10 / s, "k″");
        }
        // At s = 0 from the right: the Matérn kernel is not smooth beyond.
        let (first, second) = kernel.slopes_at(0.0, 1.0);
        close(first, (kernel.at(1e-8) - 1.0) / 1e-8, 1e-3, "k′(0)");
        assert!(second > 0.0 && second.is_finite());
    }
}

#[test]
fn likelihood_mean_and_variance_equal_the_naive_ones() {
    problems(1, &[1e-1, 1e-3, 1e-6, 1e-9], |problem, rng| {
        let (gp, naive) = (problem.fit(), problem.naive());
        let tolerance = 1e-14 * problem.condition;
        close(
            gp.log_likelihood(),
            naive.log_likelihood,
            tolerance * (1.0 + naive.log_likelihood.abs()),
            "log likelihood",
        );
        for _ in 0..5 {
            let at: Vec<f64> = problem.ell.iter().map(|l| l * rng.between(-2.5, 2.5)).collect();
            let (mean, std) = predict(&gp, &problem.ell, &at);
            let (naive_mean, naive_std) = naive.predict(&at);
            close(mean, naive_mean, tolerance, "mean");
            close(std * std, naive_std * naive_std, tolerance * problem.prior.signal, "variance");
        }
    });
}

#[test]
fn variance_is_never_below_the_nugget() {
    problems(2, &[1e-3, 1e-12], |problem, _| {
        let gp = problem.fit();
        for at in &problem.x {
            let std = predict(&gp, &problem.ell, at).1;
            assert!(std >= problem.prior.nugget.sqrt());
            assert!(
                std * std <= 2.5 * problem.prior.nugget + 1e-13 * problem.condition.min(1e3) * problem.prior.signal
            );
        }
    });
}

#[test]
fn gradient_equals_finite_differences() {
    problems(3, &[1e-1, 1e-2, 1e-3, 1e-4], |problem, _| {
        let mut derivatives = Derivatives::default();
        derivatives.compute(&problem.fit(), None);
        let h = 2e-3;
        let scale = 1.0 + derivatives.gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
        for (i, &analytic) in derivatives.gradient.iter().enumerate() {
            let numeric = slope(h, |h| problem.fit_at(&problem.moved(&[(i, h)])).log_likelihood());
            // Truncation, and rounding of the likelihood divided by the step.
            close(analytic, numeric, 1e-6 * scale + 1e-14 * problem.condition / h, "gradient");
        }
    });
}

#[test]
fn hessian_equals_finite_differences_and_is_symmetric() {
    problems(4, &[1e-1, 1e-2, 1e-3, 1e-4], |problem, _| {
        let d = problem.ell.len();
        let mut derivatives = Derivatives::default();
        derivatives.compute(&problem.fit(), Some(Curvature::Exact));
        let hessian = derivatives.hessian.clone();
        let scale = 1.0 + hessian.as_slice().iter().fold(0.0, |a: f64, h| a.max(h.abs()));
        let h = 2e-3;
        for i in 0..d {
            let gradient_at = |h: f64| {
                let mut derivatives = Derivatives::default();
                derivatives.compute(&problem.fit_at(&problem.moved(&[(i, h)])), None);
                derivatives.gradient
            };
            let [a, b, c, e] = [h, -h, 2.0 * h, -2.0 * h].map(gradient_at);
            for j in 0..d {
                let numeric = (8.0 * (a[j] - b[j]) - (c[j] - e[j])) / (12.0 * h);
                close(hessian[(i, j)], numeric, 1e-6 * scale + 1e-14 * problem.condition / h, "Hessian");
                assert_eq!(hessian[(i, j)], hessian[(j, i)]);
            }
        }
    });
}

#[test]
fn gradient_is_the_same_with_and_without_the_hessian() {
    problems(5, &[1e-3], |problem, _| {
        let gp = problem.fit();
        let (mut alone, mut both) = (Derivatives::default(), Derivatives::default());
        alone.compute(&gp, None);
        both.compute(&gp, Some(Curvature::Exact));
        assert_eq!(alone.gradient, both.gradient);
    });
}

#[test]
fn derivatives_do_not_depend_on_what_their_buffers_held() {
    let mut rng = Rng::new(6);
    let mut reused = Derivatives::default();
    for (n, d) in [(35, 5), (14, 2), (21, 3), (3, 1), (40, 8)] {
        let gp = Problem::random(&mut rng, KernelKind::SquaredExponential, n, d, 1e-4).fit();
        let mut new = Derivatives::default();
        new.compute(&gp, Some(Curvature::Exact));
        reused.compute(&gp, Some(Curvature::Exact));
        assert_eq!(new.gradient, reused.gradient);
        assert_eq!(new.hessian, reused.hessian);
    }
}

#[test]
fn gradients_of_a_prediction_equal_finite_differences() {
    problems(7, &[1e-1, 1e-3, 1e-5], |problem, rng| {
        let d = problem.ell.len();
        let unit = vec![1.0; d];
        let mut gp = problem.fit();
        for fantasies in [0, 2] {
            for _ in 0..fantasies {
                let at: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
                gp.append_fantasy(&at, f64::NEG_INFINITY);
            }
            let at: Vec<f64> = (0..d).map(|_| rng.between(-1.2, 1.2)).collect();
            let mut point = PointPrediction::default();
            gp.predict_with_gradient(&at, &mut point);
            let (mean, std) = predict(&gp, &unit, &at);
            let tolerance = 1e-13 * problem.condition;
            close(point.mean, mean, tolerance, "mean");
            close(point.std * point.std, std * std, tolerance * problem.prior.signal, "variance");
            let h = 1e-3;
            for j in 0..d {
                let beside = |h: f64| {
                    let mut at = at.clone();
                    at[j] += h;
                    predict(&gp, &unit, &at)
                };
                let rounding = 1e-15 * problem.condition / h;
                let by_mean = slope(h, |h| beside(h).0);
                close(point.mean_gradient[j], by_mean, 1e-7 * (1.0 + by_mean.abs()) + rounding, "mean gradient");
                let by_variance = slope(h, |h| beside(h).1.powi(2));
                let analytic = 2.0 * point.std * point.std_gradient[j];
                close(analytic, by_variance, 1e-7 * (1.0 + by_variance.abs()) + rounding, "variance gradient");
            }
        }
    });
}

#[test]
fn removal_equals_refitting() {
    problems(8, &[1e-1, 1e-4, 1e-8], |problem, rng| {
        let (n, d) = (problem.x.len(), problem.ell.len());
        let removed: Vec<usize> = (0..n).filter(|_| rng.unit() < 0.4).collect();
        if removed.len() == n {
            return;
        }
        let mut gp = problem.fit();
        gp.remove(&removed);
        let kept: Vec<usize> = (0..n).filter(|p| !removed.contains(p)).collect();
        let x: Vec<Vec<f64>> = kept.iter().map(|&p| problem.x[p].clone()).collect();
        let y: Vec<f64> = kept.iter().map(|&p| problem.y[p]).collect();
        let refit = fit(problem.prior, &problem.ell, &x, &y);
        assert_eq!(gp.len(), kept.len());
        assert_eq!(gp.inputs(), refit.inputs());
        for _ in 0..5 {
            let at: Vec<f64> = (0..d).map(|j| problem.ell[j] * rng.between(-2.0, 2.0)).collect();
            let (a, b) = (predict(&gp, &problem.ell, &at), predict(&refit, &problem.ell, &at));
            let tolerance = 1e-14 * problem.condition;
            close(a.0, b.0, tolerance, "mean");
            close(a.1 * a.1, b.1 * b.1, tolerance * problem.prior.signal, "variance");
        }
    });
}

#[test]
fn removing_nothing_changes_nothing() {
    let gp = Problem::random(&mut Rng::new(9), KernelKind::SquaredExponential, 14, 2, 1e-6).fit();
    let mut same = gp.clone();
    same.remove(&[]);
    assert_eq!(same.b.alpha, gp.b.alpha);
    assert_eq!(same.b.factor, gp.b.factor);
}

#[test]
fn fantasies_equal_refitting_with_the_mean_as_value() {
    problems(10, &[1e-1, 1e-4, 1e-7], |problem, rng| {
        let d = problem.ell.len();
        let mut gp = problem.fit();
        let before = gp.clone();
        let (mut x, mut y) = (problem.x.clone(), problem.y.clone());
        for count in 1..=3 {
            let local: Vec<f64> = (0..d).map(|_| rng.between(-1.5, 1.5)).collect();
            let at: Vec<f64> = local.iter().zip(&problem.ell).map(|(x, l)| x * l).collect();
            let mean = gp.append_fantasy(&local, f64::NEG_INFINITY);
            close(mean, predict(&before, &problem.ell, &at).0, 1e-13 * problem.condition, "the fantasy's value");
            assert_eq!((gp.appended(), gp.len()), (count, problem.x.len()));
            x.push(at);
            y.push(mean);
        }
        let refit = fit(problem.prior, &problem.ell, &x, &y);
        for _ in 0..5 {
            let at: Vec<f64> = (0..d).map(|j| problem.ell[j] * rng.between(-2.0, 2.0)).collect();
            let (a, b) = (predict(&gp, &problem.ell, &at), predict(&refit, &problem.ell, &at));
            let tolerance = 1e-13 * problem.condition;
            close(a.0, b.0, tolerance, "mean");
            close(a.1 * a.1, b.1 * b.1, tolerance * problem.prior.signal, "variance");
            let unchanged = predict(&before, &problem.ell, &at);
            close(a.0, unchanged.0, tolerance, "the mean is what it was");
            assert!(a.1 <= unchanged.1 + tolerance, "a fantasy never adds variance");
        }
    });
}

#[test]
fn fantasies_with_a_floor_equal_refitting_with_that_value() {
    problems(12, &[1e-1, 1e-3, 1e-5], |problem, rng| {
        let d = problem.ell.len();
        let mut gp = problem.fit();
        let (mut x, mut y) = (problem.x.clone(), problem.y.clone());
        for _ in 0..4 {
            let local: Vec<f64> = (0..d).map(|_| rng.between(-1.5, 1.5)).collect();
            let at: Vec<f64> = local.iter().zip(&problem.ell).map(|(x, l)| x * l).collect();
            let mean = predict(&gp, &problem.ell, &at).0;
            let floor = mean + rng.between(-0.2, 0.2);
            let output = gp.append_fantasy(&local, floor);
            close(output, mean.max(floor), 1e-13 * problem.condition, "the mean, but no less than the floor");
            x.push(at);
            y.push(output);
        }
        let refit = fit(problem.prior, &problem.ell, &x, &y);
        let mut point = PointPrediction::default();
        for _ in 0..5 {
            let local: Vec<f64> = (0..d).map(|_| rng.between(-2.0, 2.0)).collect();
            let at: Vec<f64> = local.iter().zip(&problem.ell).map(|(x, l)| x * l).collect();
            let (a, b) = (predict(&gp, &problem.ell, &at), predict(&refit, &problem.ell, &at));
            let tolerance = 1e-13 * problem.condition;
            close(a.0, b.0, tolerance, "mean");
            close(a.1 * a.1, b.1 * b.1, tolerance * problem.prior.signal, "variance");
            gp.predict_with_gradient(&local, &mut point);
            close(point.mean, b.0, tolerance, "mean with gradient");
        }
    });
}

#[test]
fn a_fantasy_on_an_observation_stays_finite() {
    for noise in [0.0, 1e-6] {
        let mut rng = Rng::new(11);
        let problem = Problem::random(&mut rng, KernelKind::SquaredExponential, 10, 2, noise);
        let mut gp = problem.fit();
        let first: Vec<f64> = (0..2).map(|j| gp.inputs()[(0, j)]).collect();
        for _ in 0..3 {
            assert!(gp.append_fantasy(&first, f64::NEG_INFINITY).is_finite());
        }
        let (mean, std) = predict(&gp, &[1.0, 1.0], &first);
        assert!(mean.is_finite() && std.is_finite() && std >= 0.0);
    }
}

#[test]
fn the_prior_comes_from_the_outputs() {
    let prior = Prior::of(&[0.0, 0.5, 1.0, 0.5], KernelKind::Matern52, 2.0, 1e-3);
    assert_eq!(prior.mean, 0.5);
    close(prior.signal, 4.0 * 0.125, 1e-16, "σ_f² of a signal factor 2");
    assert_eq!(prior.nugget, 1e-3 * 1e-3);
    let flat = Prior::of(&[0.25; 7], KernelKind::Matern52, 1.0, 0.0);
    assert_eq!((flat.mean, flat.signal), (0.25, 1.0));
}

#[test]
fn jitter_saves_duplicated_points_and_gives_up_on_nonsense() {
    let x = vec![vec![0.5, 0.5]; 6];
    let y = [0.0, 1.0, 0.5, 0.25, 0.75, 1.0];
    let prior = Prior::of(&y, KernelKind::SquaredExponential, 1.0, 0.0);
    let (pivot, b) = Gp::fit(prior, &y, buffers(&[1.0, 1.0], &x)).unwrap_err();
    assert_eq!(pivot, NonPositivePivot { index: 1 });
    let gp = Gp::fit_with_jitter(prior, &y, b).unwrap();
    assert!(gp.prior().nugget > 0.0 && gp.prior().nugget <= 1e-2 * prior.signal);
    let (mean, _) = predict(&gp, &[1.0, 1.0], &[0.5, 0.5]);
    close(mean, prior.mean, 1e-2, "the mean of equal points is the mean of their values");

    assert!(Gp::fit_with_jitter(prior, &y, buffers(&[f64::NAN, 1.0], &x)).is_err());
    let overflowing = Prior { signal: f64::INFINITY, ..prior };
    assert!(Gp::fit_with_jitter(overflowing, &y, buffers(&[1.0, 1.0], &x)).is_err());
}

/// ½ αᵀ K_i K⁻¹ K_j α from the definition: explicit inverse, K_i by differences of K along ln ℓ_i.
fn naive_information(problem: &Problem) -> Vec<Vec<f64>> {
    let naive = problem.naive();
    let images: Vec<Vec<f64>> = (0..problem.ell.len())
        .map(|i| {
            let h = 1e-3;
            let covariances =
                |h: f64, p: &Vec<f64>| Naive { ell: problem.moved(&[(i, h)]), ..problem.naive() }.covariances(p);
            let [a, b, c, e] = [h, -h, 2.0 * h, -2.0 * h]
                .map(|h| problem.x.iter().map(|p| covariances(h, p)).collect::<Vec<Vec<f64>>>());
            let n = problem.x.len();
            let k_i: Vec<Vec<f64>> = (0..n)
                .map(|p| (0..n).map(|q| (8.0 * (a[p][q] - b[p][q]) - (c[p][q] - e[p][q])) / (12.0 * h)).collect())
                .collect();
            times(&k_i, &naive.alpha)
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    images.iter().map(|i| images.iter().map(|j| 0.5 * dot(i, &times(&naive.inverse, j))).collect()).collect()
}

#[test]
fn average_information_equals_its_definition() {
    problems(12, &[1e-1, 1e-2, 1e-3], |problem, _| {
        if problem.x.len() > 25 {
            return; // the naive way is slow
        }
        let mut derivatives = Derivatives::default();
        derivatives.compute(&problem.fit(), Some(Curvature::AverageInformation));
        let expected = naive_information(problem);
        let scale = expected.iter().flatten().fold(0.0, |a: f64, v| a.max(v.abs()));
        for (i, row) in expected.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                close(-derivatives.hessian[(i, j)], *value, 1e-8 * problem.condition.min(1e3) * scale, "information");
                assert_eq!(derivatives.hessian[(i, j)], derivatives.hessian[(j, i)]);
            }
        }
    });
}

#[test]
fn average_information_is_never_indefinite() {
    // As badly conditioned as the nugget allows, and more dimensions than observations among them.
    let mut rng = Rng::new(13);
    for kernel in KERNELS {
        for (n, d) in [(2, 1), (3, 5), (14, 2), (20, 40), (35, 5), (70, 10)] {
            for nugget in [1e-2, 1e-6, 1e-12] {
                let problem = Problem::random(&mut rng, kernel, n, d, nugget);
                let Ok(gp) = Gp::fit(problem.prior, &problem.y, buffers(&problem.ell, &problem.x)) else { continue };
                let mut derivatives = Derivatives::default();
                derivatives.compute(&gp, Some(Curvature::AverageInformation));
                let largest = (0..d).map(|i| -derivatives.hessian[(i, i)]).fold(0.0, f64::max);
                for _ in 0..20 {
                    let v: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
                    let along: f64 = (0..d).map(|j| v[j] * linalg::dot(derivatives.hessian.col(j), &v)).sum();
                    assert!(-along >= -1e-12 * d as f64 * largest, "{n} x {d}: {along:e}, largest {largest:e}");
                }
            }
        }
    }
}

/// Where model and data agree, −H and the average information have the same expectation, ½ tr(K⁻¹ K_i K⁻¹ K_j).
#[test]
fn average_information_is_what_the_hessian_is_on_average() {
    let mut rng = Rng::new(14);
    let template = Problem::random(&mut rng, KernelKind::SquaredExponential, 20, 2, 1e-2);
    let factor = template.fit().b.factor.clone();
    let (mut exact, mut average) = (vec![0.0; 4], vec![0.0; 4]);
    const DRAWS: usize = 4000;
    for _ in 0..DRAWS {
        // y = m + L z
        let z: Vec<f64> = (0..20).map(|_| (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0).collect();
        let y = (0..20).map(|i| template.prior.mean + (0..=i).map(|k| factor[(i, k)] * z[k]).sum::<f64>()).collect();
        let problem = Problem { y, x: template.x.clone(), ell: template.ell.clone(), ..template };
        let gp = problem.fit();
        for (sum, curvature) in [(&mut exact, Curvature::Exact), (&mut average, Curvature::AverageInformation)] {
            let mut derivatives = Derivatives::default();
            derivatives.compute(&gp, Some(curvature));
            for (sum, h) in sum.iter_mut().zip(derivatives.hessian.as_slice()) {
                *sum -= h / DRAWS as f64;
            }
        }
    }
    for (a, b) in exact.iter().zip(&average) {
        close(*a, *b, 0.05 * average[0].max(average[3]), "information");
    }
}

#[test]
fn every_instruction_set_gives_the_same_model() {
    let mut rng = Rng::new(15);
    for kernel in KERNELS {
        for (n, d) in [(1, 1), (2, 1), (7, 3), (13, 2), (35, 5), (70, 10), (83, 13)] {
            let problem = Problem::random(&mut rng, kernel, n, d, 1e-6);
            let points: Vec<f64> = (0..17 * d).map(|_| rng.between(-1.0, 1.0)).collect();
            let results = labcat_numerics::width::at_each_level(|| {
                let mut gp = problem.fit();
                let mut bits = vec![gp.log_likelihood().to_bits()];
                let mut derivatives = Derivatives::default();
                for curvature in [None, Some(Curvature::Exact), Some(Curvature::AverageInformation)] {
                    derivatives.compute(&gp, curvature);
                    bits.extend(derivatives.gradient.iter().map(|v| v.to_bits()));
                    bits.extend(derivatives.hessian.as_slice().iter().map(|v| v.to_bits()));
                }
                gp.append_fantasy(&points[..d], 0.1);
                let mut candidates = Matrix::zeros(17, d);
                for (k, v) in points.iter().enumerate() {
                    candidates[(k % 17, k / 17)] = *v;
                }
                let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
                gp.predict(&candidates, &mut k_star, &mut mean, &mut std);
                let mut point = PointPrediction::default();
                gp.predict_with_gradient(&points[d * 3..d * 4], &mut point);
                for part in [&mean, &std, &point.mean_gradient, &point.std_gradient, &vec![point.mean, point.std]] {
                    bits.extend(part.iter().map(|v| v.to_bits()));
                }
                bits
            });
            for (level, bits) in &results[1..] {
                assert!(*bits == results[0].1, "{n} x {d}: {level:?} and the baseline differ");
            }
        }
    }
}
