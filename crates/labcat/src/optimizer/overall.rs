//! What is recommended under noise by all that was told: one Gaussian process over the observations of all runs, made when it is asked for.
//!
//! The model of a run keeps what lies in its region, and a quadratic holds only where the objective is one. Where a valley drowns in the
//! noise and bends, both see too little of it to tell one end from the other.

use super::config::Noise;
use super::noise::Found;
use super::problem::Problem;
use super::recommend::CAUTION;
use crate::acquisition::landscape::Landscape;
use crate::acquisition::maximise::{Maximiser, Search};
use crate::acquisition::{AcquisitionKind, KAPPA};
use crate::frame::{AxisOrder, Frame, PrincipalAxes};
use crate::gp::kernel::KernelKind;
use crate::gp::likelihood::{Curvature, Derivatives};
use crate::gp::surrogate::Surrogate;
use crate::gp::{Buffers, Gp, Prior};
use crate::linalg::{self, Matrix};
use crate::math;

/// Observations per dimension before there is such a model, as many as a run spends without progress, and the most in it: its cost grows
/// with their cube.
const LEAST: usize = 40;
const MOST: usize = 1000;
/// Its length-scales and its signal are learned from this many of them: so many of the nearest, and every so manieth of the others in the
/// order of their values.
const LEARNED: usize = 500;
const NEAREST: usize = 150;
/// Its axes are those of this many of the lowest values per dimension.
const AXES: usize = 10;
/// A length-scale is twice their spread, give or take a factor of e^1.5.
const SPREADS: f64 = 2.0;
const PRIOR_SIGMA: f64 = 1.5;
/// Standard deviation of the logarithm of the noise variance where it is estimated, and where it is given.
const NOISE_SIGMA: f64 = 0.6;
const GIVEN_SIGMA: f64 = 1e-3;
/// How a function goes on far above its minimum is of no use there: a value counts as uncertain by this part of its height.
const SLACK: f64 = 0.1;
/// Newton steps of the likelihood, the longest of them, and how often one is halved. They end once one gains less than this.
const STEPS: usize = 30;
const LONGEST: f64 = 1.0;
const HALVINGS: usize = 6;
const GAINS: f64 = 0.01;
/// Where the descent to the lowest mean begins: this many of the lowest, and what was recommended. Its gradient steps.
const STARTS: usize = 3;
const DESCENTS: usize = 50;
/// How far from what was recommended the minimum is looked for, in length-scales: beyond, the model has a say, but no details.
const REACH: f64 = 1.0;

/// The lowest mean, with some caution, of a model of all observations, if it is better than what is recommended `now` by more than the
/// standard deviation of the difference. `sigma` is the noise of values that were told without their own.
pub(super) fn recommend(problem: Problem<'_>, sigma: f64, now: &Found) -> Option<Found> {
    let limited = problem.constraints() > 0 || !problem.known.known.is_empty();
    if problem.domain.is_mixed() || limited {
        return None;
    }
    let data = Data::gather(problem, sigma, now)?;
    let prior = Prior::of(&data.y, KernelKind::Matern52, 1.0, 0.0);
    let noise_sigma = if problem.settings.switches.noise == Noise::Auto { NOISE_SIGMA } else { GIVEN_SIGMA };
    let t = learn(&data, prior, noise_sigma)?;
    let ell: Vec<f64> = t[..data.frame.dim()].iter().map(|t| math::exp(*t)).collect();
    let frame = data.frame.clone().rescaled(&ell);
    let rows: Vec<usize> = (0..data.points.len()).collect();
    let surrogate = Surrogate::new(data.fit(&rows, &t, prior)?);
    let gp = &surrogate.gp;
    let x = gp.inputs();
    let mut lowest: Vec<(f64, usize)> = gp.smoothed().zip(0..).collect();
    lowest.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_near = |row: &usize| (0..x.cols()).all(|j| x[(*row, j)].abs() <= REACH);
    let near = lowest.iter().map(|&(_, row)| row).filter(is_near).take(STARTS);
    let origin = vec![0.0; x.cols()]; // what is recommended now
    let others = near.map(|row| (0..x.cols()).map(|j| x[(row, j)]).collect());
    // The lower confidence bound with a negative factor is the upper one.
    let (kind, optimism) = (AcquisitionKind::LowerConfidenceBound, -CAUTION / KAPPA);
    let landscape = Landscape { surrogate: &surrogate, kind, incumbent: 0.0, optimism };
    let search = Search { beta: REACH, refinements: DESCENTS, ..problem.settings.search };
    let mut maximiser = Maximiser::default();
    let descend = |start: Vec<f64>| {
        let (u, mean, std) = maximiser.climb(&landscape, &frame, &start, None, &search);
        (u.to_vec(), mean, std)
    };
    let bound = |(_, mean, std): &(Vec<f64>, f64, f64)| mean + CAUTION * std;
    let found = std::iter::once(origin.clone()).chain(others).map(descend);
    let (u, mean, std) = found.min_by(|a, b| bound(a).total_cmp(&bound(b)))?;

    let mut place = origin.clone();
    frame.to_local(&u, &mut place);
    let (gain, doubt) = gp.gain(&place, &origin);
    let (mean, std) = (data.zero + data.scale * mean, data.scale * std);
    let found = Found { u, mean, std, supersedes: now.supersedes, explains: 0 };
    (gain > doubt && found.bound().is_finite()).then_some(found)
}

/// The observations: places in a frame, outputs and variances of their noise, in the order of their distance from its centre.
struct Data {
    frame: Frame,
    points: Vec<Vec<f64>>,
    y: Vec<f64>,
    noise: Vec<f64>,
    /// What y = 0 and a unit of it stand for.
    zero: f64,
    scale: f64,
}

impl Data {
    /// Those of all runs nearest to what is recommended now, along the principal axes of the lowest. `None` if there are too few, or if a
    /// regression explains three quarters of them: what is that simple needs no other model.
    fn gather(problem: Problem<'_>, sigma: f64, now: &Found) -> Option<Self> {
        let (observations, d) = (problem.observations, problem.domain.dim());
        let mut all: Vec<(f64, usize)> =
            (0..observations.len()).filter_map(|p| Some((observations.value(p)?, p))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        if all.len() < LEAST * d || 4 * now.explains > 3 * all.len() {
            return None;
        }
        let lowest = &all[..AXES * d];
        let (least, most) = (lowest[0].0, lowest[lowest.len() - 1].0);
        let height = |value: f64| if most > least { (value - least) / (most - least) } else { 0.0 };
        let mut axes = PrincipalAxes::default();
        let frame = Frame::of_box(d).centred(&now.u);
        axes.find(&frame, lowest.iter().map(|(v, p)| (observations.unit(*p), height(*v))), lowest.len(), |_| true);
        axes.arrange(AxisOrder::Sorted);
        let total = lowest.iter().map(|(v, _)| (1.0 - height(*v)).powi(2)).sum::<f64>().sqrt();
        let frame = frame.rotated(&mut axes).with_scale(axes.sigma().map(|s| SPREADS * s / total));

        let zero = all[all.len() / 20].0;
        let mut near: Vec<(f64, Vec<f64>, f64, f64)> = Vec::with_capacity(all.len());
        for &(value, p) in &all {
            let mut x = vec![0.0; d];
            frame.to_local(observations.unit(p), &mut x);
            let std = observations.std(p).unwrap_or(sigma);
            near.push((linalg::dot(&x, &x), x, value - zero, std));
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0));
        near.truncate(MOST);
        let n = near.len() as f64;
        let scale = near.iter().map(|(_, _, y, std)| (y * y + std * std) / n).sum::<f64>().sqrt();
        let variance = |(_, _, y, std): &(f64, Vec<f64>, f64, f64)| {
            let (std, slack) = (std / scale, SLACK * y.max(0.0) / scale);
            std * std + slack * slack
        };
        let noise: Vec<f64> = near.iter().map(variance).collect();
        let usable = scale.is_finite() && noise.iter().all(|v| *v > 0.0) && near.iter().all(|(s, ..)| s.is_finite());
        usable.then(|| Self {
            frame,
            y: near.iter().map(|(_, _, y, _)| y / scale).collect(),
            points: near.into_iter().map(|(_, x, ..)| x).collect(),
            noise,
            zero,
            scale,
        })
    }

    /// The model of some of them, with what was learned.
    fn fit(&self, rows: &[usize], t: &[f64], prior: Prior) -> Option<Gp> {
        let d = self.frame.dim();
        let (signal, noise) = (math::exp(t[d]), math::exp(t[d + 1]));
        let mut buffers = Buffers::default();
        let x = buffers.inputs(rows.len(), d);
        for j in 0..d {
            let shrink = math::exp(-t[j]);
            for (to, &row) in rows.iter().enumerate() {
                x[(to, j)] = shrink * self.points[row][j];
            }
        }
        let variances: Vec<f64> = rows.iter().map(|&row| noise * self.noise[row]).collect();
        buffers.set_noise(&variances);
        let y: Vec<f64> = rows.iter().map(|&row| self.y[row]).collect();
        Gp::fit(Prior { signal: signal * prior.signal, ..prior }, &y, buffers).ok()
    }

    /// What the likelihood is taken of.
    fn learned(&self) -> Vec<usize> {
        let n = self.points.len();
        if n <= LEARNED {
            return (0..n).collect();
        }
        let mut others: Vec<usize> = (NEAREST..n).collect();
        others.sort_by(|a, b| self.y[*a].total_cmp(&self.y[*b]));
        let every = others.len().div_ceil(LEARNED - NEAREST);
        (0..NEAREST).chain(others.into_iter().step_by(every)).collect()
    }
}

/// The most likely of what the likelihood decides, ln ℓ, ln σ_f² and the logarithm of a factor on all noise variances: Newton steps, with the
/// average information for the curvature.
fn learn(data: &Data, prior: Prior, noise_sigma: f64) -> Option<Vec<f64>> {
    let (d, rows) = (data.frame.dim(), data.learned());
    let mut precision = vec![PRIOR_SIGMA.powi(-2); d];
    precision.extend([0.0, noise_sigma.powi(-2)]);
    let log_prior = |t: &[f64]| -0.5 * t.iter().zip(&precision).map(|(t, p)| p * t * t).sum::<f64>();
    let mut t = vec![0.0; d + 2];
    let mut gp = data.fit(&rows, &t, prior)?;
    let (mut derivatives, mut information) = (Derivatives::default(), Matrix::zeros(d + 2, d + 2));
    for _ in 0..STEPS {
        derivatives.compute(&gp, Some(Curvature::AverageInformation));
        let mut step = derivatives.gradient.clone();
        let row = |i: usize| (0..rows.len()).map(|k| derivatives.image_rows()[(i, k)]).collect();
        let mut images: Vec<Vec<f64>> = (0..d).map(row).collect();
        for (slope, image) in gp.variance_slopes(derivatives.inverse()) {
            step.push(slope);
            images.push(image);
        }
        for i in 0..d + 2 {
            step[i] -= precision[i] * t[i];
            for j in 0..d + 2 {
                let prior = if i == j { precision[i] + f64::EPSILON } else { 0.0 };
                information[(i, j)] = 0.5 * linalg::dot(&images[i], &images[j]) + prior;
            }
        }
        if linalg::cholesky(&mut information).is_err() {
            break;
        }
        linalg::solve_lower(&information, &mut step);
        linalg::solve_lower_transposed(&information, &mut step);
        let longest = step.iter().fold(LONGEST, |most, s| most.max(s.abs()));
        let (mut part, before) = (LONGEST / longest, gp.log_likelihood() + log_prior(&t));
        let mut gained = 0.0;
        for _ in 0..HALVINGS {
            let trial: Vec<f64> = t.iter().zip(&step).map(|(t, s)| t + part * s).collect();
            if let Some(there) = data.fit(&rows, &trial, prior) {
                let gain = there.log_likelihood() + log_prior(&trial) - before;
                if gain > 0.0 {
                    (gp, t, gained) = (there, trial, gain);
                    break;
                }
            }
            part *= 0.5;
        }
        if gained < GAINS {
            break;
        }
    }
    Some(t)
}
