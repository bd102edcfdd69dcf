use super::*;

fn ascent(steps: usize, curvature: Curvature) -> Ascent {
    Ascent { steps, curvature, longest: f64::INFINITY }
}
use crate::gp::Prior;
use crate::gp::kernel::KernelKind;
use crate::rng::Rng;

/// Inputs, outputs of a smooth function of them, and the prior of those.
struct Data {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    prior: Prior,
}

impl Data {
    /// `steepness`: how fast the function changes per unit along each axis.
    fn new(seed: u64, n: usize, steepness: &[f64]) -> Self {
        let mut rng = Rng::new(seed);
        let d = steepness.len();
        let x: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| rng.between(-1.0, 1.0)).collect()).collect();
        let value = |x: &Vec<f64>| x.iter().zip(steepness).map(|(x, s)| math::sin(s * x + 0.5)).sum::<f64>();
        let mut y: Vec<f64> = x.iter().map(value).collect();
        crate::frame::normalise(&mut y, None, &mut Vec::new());
        let prior = Prior::of(&y, KernelKind::SquaredExponential, 1.0, 1e-2);
        Self { x, y, prior }
    }

    fn fit(&self, ell: &[f64]) -> Gp {
        let mut buffers = Buffers::default();
        let inputs = buffers.inputs(self.x.len(), ell.len());
        for (p, x) in self.x.iter().enumerate() {
            for (j, x) in x.iter().enumerate() {
                inputs[(p, j)] = x / ell[j];
            }
        }
        Gp::fit(self.prior, &self.y, buffers).unwrap()
    }

    fn start(&self) -> Gp {
        self.fit(&vec![1.0; self.x[0].len()])
    }
}

fn posterior(gp: &Gp, ell: &[f64], sigma: Option<f64>) -> f64 {
    let ln_ell: Vec<f64> = ell.iter().map(|l| l.ln()).collect();
    gp.log_likelihood() + log_prior(&ln_ell, sigma)
}

const SIGMAS: [Option<f64>; 3] = [Some(0.1), Some(1.0), None];

#[test]
fn every_step_improves_the_posterior_and_gives_the_model_it_says() {
    for seed in 0..20 {
        for sigma in SIGMAS {
            for (n, steepness) in [(5, vec![1.0]), (14, vec![0.3, 3.0]), (35, vec![0.1, 0.5, 1.0, 2.0, 4.0])] {
                let data = Data::new(seed, n, &steepness);
                let mut scales = LengthScales::default();
                let before = data.start().log_likelihood();
                let (gp, kind) =
                    scales.improve(data.start(), &data.y, sigma, ascent(1, Curvature::Exact), &mut Buffers::default());
                let ell = scales.ell.clone();
                assert!(ell.iter().all(|l| *l > 0.0 && l.is_finite()));
                let after = posterior(&gp, &ell, sigma);
                match kind {
                    StepKind::Stay => assert_eq!(ell, vec![1.0; ell.len()]),
                    StepKind::Newton | StepKind::Gradient => {
                        assert!(after > before, "{after} is no better than {before}")
                    }
                }
                let refit = data.fit(&ell);
                let difference = (gp.log_likelihood() - refit.log_likelihood()).abs();
                assert!(difference < 1e-7 * (1.0 + refit.log_likelihood().abs()), "off by {difference:e}");
            }
        }
    }
}

#[test]
fn the_line_search_accepts_by_the_rule_of_armijo() {
    for seed in 0..20 {
        let data = Data::new(seed, 14, &[0.5, 3.0]);
        let mut scales = LengthScales::default();
        let (gp, kind) =
            scales.improve(data.start(), &data.y, Some(0.1), ascent(1, Curvature::Exact), &mut Buffers::default());
        if kind == StepKind::Stay {
            continue;
        }
        let gain = posterior(&gp, &scales.ell, Some(0.1)) - data.start().log_likelihood();
        // The step is t times the direction, t = 1, ½, ¼, …; the slope along it is what the gain is measured against.
        let t = scales.ell[0].ln() / scales.direction[0];
        let halvings = -t.log2();
        assert!((halvings - halvings.round()).abs() < 1e-9 && (-1e-9..10.0).contains(&halvings), "t = {t}");
        let slope = linalg::dot(&scales.gradient, &scales.direction);
        assert!(gain >= 1e-4 * t * slope - 1e-12);
    }
}

#[test]
fn many_steps_arrive_at_a_stationary_point() {
    for sigma in [Some(0.1), Some(1.0)] {
        for seed in 0..10 {
            let data = Data::new(seed, 20, &[0.7, 2.5]);
            let mut scales = LengthScales::default();
            let (gp, _) =
                scales.improve(data.start(), &data.y, sigma, ascent(200, Curvature::Exact), &mut Buffers::default());
            scales.ascent_direction(&gp, sigma, Curvature::Exact);
            let norm = linalg::dot(&scales.gradient, &scales.gradient).sqrt();
            assert!(norm < 1e-3, "seed {seed}: gradient of length {norm} is left");
        }
    }
}

#[test]
fn a_newton_step_solves_the_augmented_system() {
    let data = Data::new(1, 20, &[0.7, 2.5]);
    let sigma = Some(0.1);
    let mut scales = LengthScales { ln_ell: vec![0.0; 2], ..LengthScales::default() };
    assert_eq!(scales.ascent_direction(&data.start(), sigma, Curvature::Exact), StepKind::Newton);
    // (H − I/σ²) p = −J
    for i in 0..2 {
        let row: f64 = (0..2).map(|j| scales.derivatives.hessian[(i, j)] * scales.direction[j]).sum::<f64>();
        let residual = row - scales.direction[i] / 0.01 + scales.gradient[i];
        assert!(residual.abs() < 1e-9 * (1.0 + scales.gradient[i].abs()), "{residual:e}");
    }
}

#[test]
fn without_a_prior_a_convex_likelihood_takes_the_gradient() {
    let mut kinds = Vec::new();
    for seed in 0..30 {
        let data = Data::new(seed, 8, &[6.0, 0.1]);
        let mut scales = LengthScales { ln_ell: vec![0.0; 2], ..LengthScales::default() };
        let kind = scales.ascent_direction(&data.start(), None, Curvature::Exact);
        if kind == StepKind::Gradient {
            let norm = linalg::dot(&scales.direction, &scales.direction).sqrt();
            assert!((norm - 1.0).abs() < 1e-12, "a step of length one in ln ℓ, not {norm}");
        }
        kinds.push(kind);
    }
    assert!(kinds.contains(&StepKind::Newton) && kinds.contains(&StepKind::Gradient), "{kinds:?}");
}

#[test]
fn no_steps_leave_the_length_scales_alone() {
    let data = Data::new(2, 14, &[1.0, 1.0]);
    let mut scales = LengthScales::default();
    let (gp, kind) =
        scales.improve(data.start(), &data.y, Some(0.1), ascent(0, Curvature::Exact), &mut Buffers::default());
    assert_eq!(kind, StepKind::Stay);
    assert_eq!(scales.ell, [1.0, 1.0]);
    assert_eq!(gp.log_likelihood(), data.start().log_likelihood());
}

#[test]
fn in_many_dimensions_the_step_needs_no_hessian() {
    let d = HESSIAN_MAX_DIM + 1;
    let data = Data::new(3, 50, &vec![0.5; d]);
    let mut scales = LengthScales { ln_ell: vec![0.0; d], ..LengthScales::default() };
    assert_eq!(scales.ascent_direction(&data.start(), Some(0.1), Curvature::Exact), StepKind::Gradient);
    let (_, kind) =
        scales.improve(data.start(), &data.y, Some(0.1), ascent(1, Curvature::Exact), &mut Buffers::default());
    assert_eq!(kind, StepKind::Gradient);
}

#[test]
fn the_prior_is_a_normal_density_of_ln_ell() {
    assert_eq!(log_prior(&[0.0, 0.0], Some(0.1)), 0.0);
    assert!((log_prior(&[0.1, -0.2], Some(0.1)) + 0.5 * (1.0 + 4.0)).abs() < 1e-12);
    assert_eq!(log_prior(&[3.0, 4.0], None), 0.0);
}

#[test]
fn average_information_needs_no_gradient_and_improves_in_any_dimension() {
    let average = Curvature::AverageInformation;
    for (n, d) in [(14, 2), (35, 5), (50, HESSIAN_MAX_DIM + 1), (60, 60)] {
        for seed in 0..5 {
            let steepness: Vec<f64> = (0..d).map(|i| [0.1, 0.5, 3.0][i % 3]).collect();
            let data = Data::new(seed, n, &steepness);
            let mut scales = LengthScales { ln_ell: vec![0.0; d], ..LengthScales::default() };
            assert_eq!(scales.ascent_direction(&data.start(), Some(0.1), average), StepKind::Newton);
            let slope = linalg::dot(&scales.gradient, &scales.direction);
            assert!(slope > 0.0, "uphill");
            let (gp, kind) =
                scales.improve(data.start(), &data.y, Some(0.1), ascent(1, average), &mut Buffers::default());
            assert_eq!(kind, StepKind::Newton, "{n} x {d}, seed {seed}: the step was refused");
            assert!(posterior(&gp, &scales.ell, Some(0.1)) > data.start().log_likelihood());
        }
    }
}

#[test]
fn both_curvatures_lead_to_the_same_length_scales() {
    for seed in 0..5 {
        let data = Data::new(seed, 25, &[0.7, 2.5, 1.2]);
        let [exact, average] = [Curvature::Exact, Curvature::AverageInformation].map(|curvature| {
            let mut scales = LengthScales::default();
            scales.improve(data.start(), &data.y, Some(0.3), ascent(300, curvature), &mut Buffers::default());
            scales.ell
        });
        for (a, b) in exact.iter().zip(&average) {
            assert!((a / b - 1.0).abs() < 1e-3, "seed {seed}: {exact:?} and {average:?}");
        }
    }
}
