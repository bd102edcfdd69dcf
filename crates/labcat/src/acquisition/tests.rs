//! Slopes against finite differences, the far tails against a continued fraction, the samples against the regions they belong to.

use super::AcquisitionKind::{ExpectedImprovement, LogExpectedImprovement};
use super::landscape::Landscape;
use super::maximise::{Maximiser, Search, Task};
use super::*;
use crate::frame::{AxisOrder, Frame, PrincipalAxes};
use crate::gp::kernel::KernelKind;
use crate::gp::surrogate::Surrogate;
use crate::gp::{Buffers, Gp, Prior};
use crate::rng::Rng;

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a:e} and {b:e} differ by {:e} > {tolerance:e}", (a - b).abs());
}

fn slope(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

const KINDS: [AcquisitionKind; 3] = [
    AcquisitionKind::ExpectedImprovement,
    AcquisitionKind::LogExpectedImprovement,
    AcquisitionKind::LowerConfidenceBound,
];

/// The tail of the normal distribution without cancellation: with a = −z > 0, Φ/φ = 1/(a + K) for the continued fraction
/// K = 1/(a + 2/(a + 3/(a + …))), and h/φ = 1 − a Φ/φ = K/(a + K) for h(z) = z Φ(z) + φ(z).
fn continued_fraction(a: f64) -> f64 {
    (1..2000).rev().fold(0.0, |k, i| f64::from(i) / (a + k))
}

fn ln_h(z: f64) -> f64 {
    let a = -z;
    let k = continued_fraction(a);
    -0.5 * z * z - 0.5 * (2.0 * std::f64::consts::PI).ln() + (k / (a + k)).ln()
}

#[test]
fn slopes_equal_finite_differences() {
    for kind in KINDS {
        for std in [1e-3, 0.2, 3.0] {
            for z in [-9.0, -5.0, -3.0, -1.0, -0.2, 0.0, 0.4, 2.0, 6.0] {
                let best = 0.1;
                let mean = best - z * std;
                let (_, by_mean, by_std) = kind.look(mean, std, best);
                let h = 2e-3 * std / (1.0 + z * z);
                let scale = kind.value(mean, std, best).abs() / std + by_mean.abs() + by_std.abs();
                close(by_mean, slope(h, |h| kind.value(mean + h, std, best)), 1e-8 * scale, "by mean");
                close(by_std, slope(h, |h| kind.value(mean, std + h, best)), 1e-8 * scale, "by std");
            }
        }
    }
}

#[test]
fn log_expected_improvement_is_the_logarithm_while_there_is_one() {
    for z in [-8.0, -4.0, -1.0, 0.0, 1.0, 5.0, 30.0] {
        let (best, std) = (0.3, 0.07);
        let mean = best - z * std;
        let ei = ExpectedImprovement.value(mean, std, best);
        close(LogExpectedImprovement.value(mean, std, best), ei.ln(), 1e-12 * (1.0 + ei.ln().abs()), "ln EI");
    }
}

#[test]
fn log_expected_improvement_is_right_in_the_far_tail() {
    for z in [-3.0, -8.0, -11.9, -12.0, -12.1, -20.0, -29.9, -30.1, -38.0, -60.0, -1e3, -1e6, -1e100, -1e150] {
        let value = LogExpectedImprovement.value(-z, 1.0, 0.0);
        close(value, ln_h(z), 1e-10 + 1e-15 * ln_h(z).abs(), &format!("ln h({z})"));
    }
}

#[test]
fn slopes_of_log_expected_improvement_are_right_in_the_far_tail() {
    for z in [-11.0, -12.5, -20.0, -29.0, -31.0, -50.0, -300.0, -1e4] {
        for std in [1e-3, 1.0] {
            let mean = -z * std;
            let (_, by_mean, by_std) = LogExpectedImprovement.look(mean, std, 0.0);
            // ∂/∂μ = −Φ/(σ h) = −1/(σ K) and ∂/∂σ = φ/(σ h) = (a + K)/(σ K).
            let k = continued_fraction(-z);
            close(by_mean * std * k, -1.0, 1e-9, "by mean");
            close(by_std * std * k / (k - z), 1.0, 1e-9, "by std");
        }
    }
}

#[test]
fn log_expected_improvement_rises_through_the_switch_to_the_tail() {
    for around in [-12.0, -30.0] {
        let values: Vec<f64> =
            (-50..=50).map(|i| LogExpectedImprovement.value(-around + f64::from(-i) * 1e-6, 1.0, 0.0)).collect();
        assert!(values.windows(2).all(|w| w[0] < w[1]), "not monotone around z = {around}");
    }
}

#[test]
fn expected_improvement_has_its_limits() {
    let ei = ExpectedImprovement;
    close(ei.value(0.0, 1e-300, 1.0), 1.0, 1e-15, "certain improvement");
    assert_eq!(ei.value(1.0, 1e-300, 0.0), 0.0);
    close(ei.value(0.0, 1.0, 0.0), 0.398_942_280_401_432_7, 1e-16, "σ φ(0)");
}

/// A frame centred at `centre` along the principal axes of random points, the longest of this length and each of the others
/// shorter than the one before by `aspect`.
fn stretched(rng: &mut Rng, d: usize, centre: f64, length: f64, aspect: f64) -> Frame {
    let n = 2 * d;
    let points: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| rng.between(-1.0, 1.0)).collect()).collect();
    let mut axes = PrincipalAxes::default();
    axes.find(&Frame::of_box(d), points.iter().map(|u| (u.as_slice(), 0.0)), n, |_| true);
    axes.arrange(AxisOrder::Sorted);
    Frame::of_box(d)
        .centred(&vec![centre; d])
        .rotated(&mut axes)
        .with_scale((0..d).map(|i| length / aspect.powi(i as i32)))
}

/// The same with all axes of one length.
fn turned(rng: &mut Rng, d: usize, centre: f64, length: f64) -> Frame {
    stretched(rng, d, centre, length, 1.0)
}

/// A model of a few observations in the trust region of a frame.
fn model(rng: &mut Rng, d: usize, beta: f64) -> Gp {
    let n = 3 * d;
    let mut buffers = Buffers::default();
    let x = buffers.inputs(n, d);
    for j in 0..d {
        for v in x.col_mut(j) {
            *v = rng.between(-2.0 * beta, 2.0 * beta);
        }
    }
    let y: Vec<f64> = (0..n).map(|_| rng.unit()).collect();
    Gp::fit_with_jitter(Prior::of(&y, KernelKind::SquaredExponential, 1.0, 1e-3), &y, buffers).unwrap()
}

fn maximise(
    maximiser: &mut Maximiser,
    gp: &Gp,
    frame: &Frame,
    (kind, optimism): (AcquisitionKind, f64),
    search: &Search,
    rng: &mut Rng,
) {
    let surrogate = Surrogate::new(gp.clone());
    let landscape = Landscape { surrogate: &surrogate, kind, incumbent: 0.0, optimism };
    maximiser.run(Task { landscape: &landscape, frame, search, lattice: None }, rng);
}

#[test]
fn candidates_lie_in_the_trust_region_and_in_the_box() {
    let mut rng = Rng::new(1);
    let (mut cut, mut searches) = (0, 0);
    for d in [1, 2, 5, 8] {
        for (centre, length) in [(0.0, 0.3), (1.0, 0.3), (-0.9, 0.2), (0.5, 100.0), (1.0, 1e-9), (-1.0, 1e3)] {
            for refinements in [0, 15] {
                for aspect in [1.0, 7.0] {
                    let frame = stretched(&mut rng, d, centre, length, aspect);
                    let beta = 0.5;
                    let gp = model(&mut rng, d, beta);
                    let (candidates, near) = (10 * d, 4 * d);
                    let search = Search { beta, candidates, near, refinements };
                    let mut maximiser = Maximiser::default();
                    maximise(&mut maximiser, &gp, &frame, (LogExpectedImprovement, 1.5), &search, &mut rng);
                    let mut local = vec![0.0; d];
                    for taken in 0..search.candidates {
                        let candidate = maximiser.best().unwrap();
                        assert!(candidate.u.iter().all(|u| u.abs() <= 1.0), "outside the box");
                        assert!(candidate.score.is_finite() && candidate.mean.is_finite(), "candidate {taken}");
                        frame.to_local(candidate.u, &mut local);
                        for (x, s) in local.iter().zip(frame.scale()) {
                            let rounding = 1e-14 * beta + 4.0 * f64::EPSILON * d as f64 / s;
                            assert!(
                                x.abs() <= beta + rounding,
                                "d = {d}, centre {centre}, length {length}, aspect {aspect}: {} half-widths",
                                x.abs() / beta
                            );
                        }
                        let index = candidate.index;
                        maximiser.strike(index);
                    }
                    assert!(maximiser.best().is_none(), "every candidate was struck");
                    if centre == 0.0 && length < 1.0 {
                        assert_eq!(maximiser.clipped, 0);
                    }
                    cut += usize::from(maximiser.clipped > 0);
                    searches += 1;
                }
            }
        }
    }
    assert!(cut > searches / 4, "the bounds mattered in {cut} of {searches} searches only");
}

#[test]
fn refinement_never_loses() {
    let mut rng = Rng::new(2);
    for d in [1, 2, 5, 10] {
        for centre in [0.0, 1.0] {
            for kind in KINDS {
                let frame = turned(&mut rng, d, centre, 0.4);
                let gp = model(&mut rng, d, 0.5);
                let mut scores = Vec::new();
                for refinements in [0, 1, 20] {
                    let search = Search { beta: 0.5, candidates: 10 * d, near: 5 * d, refinements };
                    let mut maximiser = Maximiser::default();
                    maximise(&mut maximiser, &gp, &frame, (kind, 2.0), &search, &mut Rng::new(3));
                    scores.push(maximiser.best().unwrap().score);
                }
                assert!(scores[0] <= scores[1] && scores[1] <= scores[2], "{scores:?}");
            }
        }
    }
}

#[test]
fn rejection_in_a_corner_is_bounded_and_says_what_it_clipped() {
    let mut rng = Rng::new(4);
    let d = 20; // about 2⁻²⁰ of the samples around a corner lie inside: rejection alone would draw 10⁸ of them
    let frame = turned(&mut rng, d, 1.0, 0.1);
    let gp = model(&mut rng, d, 0.5);
    let search = Search { beta: 0.5, candidates: 10 * d, near: 0, refinements: 0 };
    let mut maximiser = Maximiser::default();
    maximise(&mut maximiser, &gp, &frame, (ExpectedImprovement, 1.0), &search, &mut rng);
    assert!(maximiser.clipped > 0 && maximiser.clipped <= search.candidates);
}

/// A model of a bowl whose bottom is the best point, seen from a wide trust region: what is left to gain is near the origin.
#[test]
fn near_samples_find_what_uniform_ones_miss() {
    let (d, n) = (5, 30);
    let mut rng = Rng::new(5);
    let frame = turned(&mut rng, d, 0.0, 0.3);
    let mut buffers = Buffers::default();
    let x = buffers.inputs(n, d);
    let mut y = vec![0.0; n];
    for row in 1..n {
        for j in 0..d {
            x[(row, j)] = rng.between(-0.7, 0.7);
            y[row] += x[(row, j)] * x[(row, j)];
        }
    }
    let gp = Gp::fit_with_jitter(Prior::of(&y, KernelKind::SquaredExponential, 1.0, 1e-6), &y, buffers).unwrap();
    let best_score = |near: usize, rng: &mut Rng| {
        let search = Search { beta: 0.7, candidates: 10 * d, near, refinements: 20 };
        let mut maximiser = Maximiser::default();
        maximise(&mut maximiser, &gp, &frame, (LogExpectedImprovement, 0.1), &search, rng);
        maximiser.best().unwrap().score
    };
    let (mut uniform, mut near) = (0.0, 0.0);
    for _ in 0..20 {
        uniform += best_score(0, &mut rng);
        near += best_score(5 * d, &mut rng);
    }
    assert!(near > uniform + 20.0, "ln EI, summed over 20 searches: {near} with near samples, {uniform} without");
}
