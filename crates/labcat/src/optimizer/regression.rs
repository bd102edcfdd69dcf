//! What is recommended under noise where the objective looks like a quadratic: the minimum of a regression over much more than the
//! model keeps.

use super::config::Noise;
use super::model::Workspace;
use super::noise::Found;
use super::propose::Problem;
use super::run::LocalRun;
use super::shortcut::Nearby;
use crate::frame::Outputs;
use crate::linalg;
use crate::quadratic::{Quadratic, Terms};

/// Observations at most, at least for each coefficient, and the most coefficients: the cost grows with their square.
const MOST: usize = 2000;
const LEAST: usize = 3;
const MOST_COEFFICIENTS: usize = 66;
/// They are looked for among so many of the newest.
const NEWEST: usize = 10_000;
/// From one neighbourhood to the next larger one.
const LARGER: f64 = 1.5;
/// A neighbourhood is too large if it leaves over more than a smaller one by this many standard deviations of what that left over, the
/// smallest if it is more than the noise as the run knows it.
const SURE: f64 = 3.0;

/// What is to be recommended by a quadratic regression over the observations of all runs nearest to the best point. Two points are weighed on the
/// same model: one takes the place of another if it is better by more than the standard deviation of the difference. The minimum
/// of the regression has to take that of what the run's `model` recommends, and of what earlier runs recommend; else the model's that of
/// theirs; else theirs stays, with what is known of it by now if that is more. `None` if there is no such regression, or it does not reach
/// what it would have to speak of.
pub(super) fn recommend(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    model: &Found,
    sigma: f64,
    work: &mut Workspace,
) -> Option<Found> {
    let (observations, frame, terms) = (problem.observations, &run.now.frame, Terms::All);
    let count = terms.count(frame.dim());
    if count > MOST_COEFFICIENTS || problem.domain.is_mixed() || sigma <= 0.0 {
        return None;
    }
    let Workspace { nearby, quadratic, scratch, .. } = work;
    let all = nearby.find(observations, run.now.told, frame, (NEWEST, MOST), scratch);
    if all < LEAST * count || nearby.order.iter().any(|(_, _, p)| observations.std(*p).is_some()) {
        return None;
    }
    let (zero, scale) = (outputs.minimum(), outputs.range());
    nearby.fill(observations, frame, (zero, scale), scratch);
    let (n, left_over) = widest(quadratic, nearby, LEAST * count, sigma / scale)?;
    let sigma = match problem.settings.switches.noise {
        Noise::Sigma(sigma) => sigma,
        _ => scale * left_over,
    };
    let (_, proper) = quadratic.minimise(frame, nearby.order[..n].iter().map(|(_, _, p)| observations.unit(*p)));
    let quadratic = &*quadratic;
    // Where a point is in the frame, if the regression reaches it.
    let place = |u: &[f64]| {
        let mut local = vec![0.0; frame.dim()];
        frame.to_local(u, &mut local);
        (linalg::dot(&local, &local).sqrt() <= nearby.order[n - 1].0).then_some(local)
    };
    let beats = |here: &[f64], there: &[f64]| {
        let (gain, std) = quadratic.gain(here, there, terms);
        gain * scale > sigma * std
    };
    let supersedes = problem.found.is_some();
    let found = |u: &[f64], local: &[f64]| {
        let (mean, std) = quadratic.at(local, terms);
        let found = Found { u: u.to_vec(), mean: zero + scale * mean, std: sigma * std, supersedes, explains: n };
        found.bound().is_finite().then_some(found)
    };
    let (now, earlier) = (place(&model.u)?, problem.found.map(|earlier| place(&earlier.u)));
    let lowest = place(&quadratic.minimiser).filter(|_| proper);
    if let Some(lowest) = lowest.filter(|lowest| beats(lowest, &now))
        && earlier.as_ref().is_none_or(|earlier| earlier.as_ref().is_some_and(|earlier| beats(&lowest, earlier)))
    {
        return found(&quadratic.minimiser, &lowest);
    }
    let (then, earlier) = (problem.found?, earlier??);
    if beats(&now, &earlier) {
        return Some(Found { supersedes, ..model.clone() });
    }
    found(&then.u, &earlier).filter(|found| found.std <= then.std)
}

/// Fits the nearest observations: as many as leave over no more, each, than fewer do, and at least `fewest`, which are held against the noise.
/// Gives their number, and the root mean square of what they leave over.
fn widest(quadratic: &mut Quadratic, nearby: &mut Nearby, fewest: usize, noise: f64) -> Option<(usize, f64)> {
    let Nearby { inputs, y, rank, .. } = nearby;
    let (all, count) = (y.len(), Terms::All.count(inputs.cols()));
    rank.resize(all, 0.0);
    // A mean of f squares of noise is σ², give or take √(2/f) σ².
    let at_most = |variance: f64, n: usize| variance * (1.0 + SURE * (2.0 / (n - count) as f64).sqrt());
    let left_over = |quadratic: &Quadratic, n: usize| quadratic.left_over().powi(2) / (n - count) as f64;
    let (mut n, mut most) = (fewest, f64::INFINITY);
    if !quadratic.fit(Terms::All, inputs, y, rank, n, 1.0) || left_over(quadratic, n) > at_most(noise * noise, n) {
        return None;
    }
    while n < all {
        most = most.min(at_most(left_over(quadratic, n), n));
        let more = all.min((LARGER * n as f64) as usize);
        let mut wider = quadratic.clone();
        if !wider.extend(Terms::All, inputs, y, (n, more)) || left_over(&wider, more) > most {
            break;
        }
        (*quadratic, n) = (wider, more);
    }
    Some((n, left_over(quadratic, n).sqrt()))
}
