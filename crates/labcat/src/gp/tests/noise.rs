//! Observations with noise of their own: the derivatives in its variance and in the signal's, and the trend.

use super::*;

/// A model with noise, and the same with other variances.
struct Noisy {
    prior: Prior,
    x: Matrix,
    y: Vec<f64>,
    noise: Vec<f64>,
}

impl Noisy {
    fn random(kernel: KernelKind, n: usize, d: usize) -> Self {
        let mut rng = Rng::new(7);
        let mut x = Matrix::zeros(n, d);
        for j in 0..d {
            for v in x.col_mut(j) {
                *v = rng.between(-2.0, 2.0);
            }
        }
        let y = (0..n).map(|_| rng.between(-1.0, 1.0)).collect();
        let noise = (0..n).map(|_| rng.between(0.01, 0.3)).collect();
        Self { prior: Prior { kernel, mean: 0.1, signal: 0.7, nugget: 0.0, noise: 0.1 }, x, y, noise }
    }

    fn fit(&self, ln_signal: f64, ln_noise: f64) -> Gp {
        let mut buffers = Buffers::default();
        buffers.inputs(self.x.rows(), self.x.cols()).copy_from(&self.x);
        let noise: Vec<f64> = self.noise.iter().map(|n| n * ln_noise.exp()).collect();
        buffers.set_noise(&noise);
        let prior = Prior { signal: self.prior.signal * ln_signal.exp(), ..self.prior };
        Gp::fit(prior, &self.y, buffers).map_err(|_| "not positive definite").unwrap()
    }
}

#[test]
fn slopes_in_the_variances_are_those_of_the_likelihood() {
    for kernel in KERNELS {
        let problem = Noisy::random(kernel, 25, 3);
        let gp = problem.fit(0.0, 0.0);
        let mut derivatives = Derivatives::default();
        derivatives.compute(&gp, Some(Curvature::AverageInformation));
        let h = 1e-5;
        let along = |signal: f64, noise: f64| {
            let at = |t: f64| problem.fit(t * signal, t * noise).log_likelihood();
            (at(h) - at(-h)) / (2.0 * h)
        };
        let [signal, noise, _] = gp.variance_slopes(derivatives.inverse());
        for ((slope, image), expected) in [(signal, along(1.0, 0.0)), (noise, along(0.0, 1.0))] {
            assert!((slope - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{slope} for {expected}");
            assert_eq!(image.len(), 25);
        }
    }
}

/// A model with a quadratic trend, its variance times e^t.
fn with_trend(problem: &Noisy, t: f64) -> Gp {
    let mut buffers = Buffers::default();
    buffers.inputs(problem.x.rows(), problem.x.cols()).copy_from(&problem.x);
    buffers.set_noise(&problem.noise);
    buffers.set_trend(Trend { variance: 0.3 * t.exp(), weights: vec![0.5; problem.x.cols()] });
    Gp::fit(problem.prior, &problem.y, buffers).map_err(|_| "not positive definite").unwrap()
}

#[test]
fn a_trend_is_a_covariance_with_the_right_slopes() {
    for kernel in KERNELS {
        let problem = Noisy::random(kernel, 25, 2);
        let gp = with_trend(&problem, 0.0);
        let mut derivatives = Derivatives::default();
        derivatives.compute(&gp, Some(Curvature::AverageInformation));
        let h = 1e-5;
        let [.., (slope, _)] = gp.variance_slopes(derivatives.inverse());
        let expected =
            (with_trend(&problem, h).log_likelihood() - with_trend(&problem, -h).log_likelihood()) / (2.0 * h);
        assert!((slope - expected).abs() < 1e-6, "{slope} for {expected}");
        // Of a point alone and of many: the same; its gradient is that of differences.
        let (mut at, mut k, mut mean, mut std) =
            (PointPrediction::default(), Matrix::default(), Vec::new(), Vec::new());
        let mut look = |x: [f64; 2]| {
            let mut points = Matrix::zeros(1, 2);
            (points[(0, 0)], points[(0, 1)]) = (x[0], x[1]);
            gp.predict(&points, &mut k, &mut mean, &mut std);
            (mean[0], std[0])
        };
        let x = [0.3, -0.7];
        gp.predict_with_gradient(&x, &mut at);
        let here = look(x);
        assert!((at.mean - here.0).abs() < 1e-9 && (at.std - here.1).abs() < 1e-9);
        for j in 0..2 {
            let moved = |by: f64| if j == 0 { [x[0] + by, x[1]] } else { [x[0], x[1] + by] };
            let (up, down) = (look(moved(h)), look(moved(-h)));
            assert!((at.mean_gradient[j] - (up.0 - down.0) / (2.0 * h)).abs() < 1e-5);
            assert!((at.std_gradient[j] - (up.1 - down.1) / (2.0 * h)).abs() < 1e-5);
        }
        assert!(look([100.0, 100.0]).1 > 100.0, "a trend is not known far away");
    }
}

#[test]
fn draws_have_the_mean_and_the_deviation_of_the_posterior() {
    for kernel in KERNELS {
        let problem = Noisy::random(kernel, 25, 2);
        for gp in [problem.fit(0.0, 0.0), with_trend(&problem, 0.0)] {
            let mut points = Matrix::zeros(3, 2);
            (points[(0, 0)], points[(1, 1)], points[(2, 0)]) = (0.5, 1.5, 3.0);
            let (mut k, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
            gp.predict(&points, &mut k, &mut mean, &mut std);
            let count = 2000;
            let draws = gp.draws(&points, count, &mut Rng::new(3)).unwrap();
            for i in 0..3 {
                let average = draws.iter().map(|draw| draw[i]).sum::<f64>() / count as f64;
                let square = draws.iter().map(|draw| (draw[i] - mean[i]).powi(2)).sum::<f64>() / count as f64;
                assert!((average - mean[i]).abs() < 0.1 * std[i], "{average} for {}", mean[i]);
                assert!((square.sqrt() / std[i] - 1.0).abs() < 0.1, "{} for {}", square.sqrt(), std[i]);
            }
        }
    }
}
