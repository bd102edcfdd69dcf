//! Observations with noise of their own: the derivatives in its variance and in the signal's, and what is known of a difference.

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
        let [signal, noise] = gp.variance_slopes(derivatives.inverse());
        for ((slope, image), expected) in [(signal, along(1.0, 0.0)), (noise, along(0.0, 1.0))] {
            assert!((slope - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{slope} for {expected}");
            assert_eq!(image.len(), 25);
        }
        let (slope, information) = gp.noise_slopes(&mut Matrix::default(), &mut Matrix::default());
        let [_, (of_noise, image)] = gp.variance_slopes(derivatives.inverse());
        assert!((slope - of_noise).abs() < 1e-9 && (information - 0.5 * linalg::dot(&image, &image)).abs() < 1e-9);
    }
}

#[test]
fn a_difference_is_known_better_the_nearer_its_ends() {
    for kernel in KERNELS {
        let problem = Noisy::random(kernel, 25, 2);
        let gp = problem.fit(0.0, 0.0);
        let (here, mut std_before) = ([0.3, -0.2], f64::INFINITY);
        for away in [100.0, 0.5, 0.1, 0.0] {
            let there = [0.3 + away, -0.2];
            let mut points = Matrix::zeros(2, 2);
            for (row, point) in [here, there].iter().enumerate() {
                (points[(row, 0)], points[(row, 1)]) = (point[0], point[1]);
            }
            let (mut k, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
            gp.predict(&points, &mut k, &mut mean, &mut std);
            let (gain, doubt) = gp.gain(&here, &there);
            assert!((gain - (mean[1] - mean[0])).abs() < 1e-12);
            assert!(doubt <= std[0] + std[1] + 1e-9 && doubt < std_before, "{doubt} at {away}");
            if away == 100.0 {
                assert!((doubt - std[0].hypot(std[1])).abs() < 1e-9, "places that have nothing in common");
            }
            std_before = doubt;
        }
        assert!(std_before < 1e-9, "of a place and itself");
    }
}
