//! What is recommended under noise where the objective looks like a quadratic: the minimum of a regression over much more than the
//! model keeps.

use super::model::Workspace;
use super::noise::Found;
use super::propose::Problem;
use super::run::LocalRun;
use crate::frame::Outputs;
use crate::linalg;
use crate::quadratic::{Quadratic, Terms};

/// Observations for each coefficient, at most and at least, and the most coefficients: the cost grows with their square.
const MOST: usize = 20;
const LEAST: usize = 3;
const MOST_COEFFICIENTS: usize = 66;
/// They are looked for among so many of the newest.
const NEWEST: usize = 10_000;
/// From one neighbourhood to the next smaller one.
const SMALLER: f64 = 2.0 / 3.0;

/// The minimum of a quadratic regression over the observations nearest to the best point: the most of them of which it leaves over no
/// more than noise of standard deviation `sigma` would. `None` if there is no such number or no such minimum, or if the regression does not
/// see that it is better than what the model recommends: by more than the standard deviation of the difference.
pub(super) fn recommend(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    model: &Found,
    sigma: f64,
    work: &mut Workspace,
) -> Option<Found> {
    let (observations, frame) = (problem.observations, &run.now.frame);
    let count = Terms::All.count(frame.dim());
    if count > MOST_COEFFICIENTS || problem.domain.is_mixed() || sigma <= 0.0 {
        return None;
    }
    let Workspace { nearby, quadratic, scratch, .. } = work;
    let mut n = nearby.find(observations, run.now.told, frame, (NEWEST, MOST * count), scratch);
    let scale = outputs.range();
    let fewest = LEAST * count;
    if n < fewest || nearby.order.iter().any(|(_, _, p)| observations.std(*p).is_some()) {
        return None;
    }
    nearby.fill(observations, frame, (outputs.minimum(), scale), scratch);
    nearby.rank.resize(n, 0.0);
    // A sum of f squares of noise is f σ², give or take √(2 f) σ².
    let is_noise = |quadratic: &Quadratic, n: usize| {
        let free = (n - count) as f64;
        (quadratic.left_over() * scale / sigma).powi(2) <= free + (2.0 * free).sqrt()
    };
    while !(quadratic.fit(Terms::All, &nearby.inputs, &nearby.y, &nearby.rank, n, 1.0) && is_noise(quadratic, n)) {
        n = (SMALLER * n as f64) as usize;
        if n < fewest {
            return None;
        }
    }
    let (lowest, proper) = quadratic.minimise(frame, nearby.order[..n].iter().map(|(_, _, p)| observations.unit(*p)));
    let mut beats = |other: &Found| {
        frame.to_local(&other.u, scratch);
        let (gain, std) = quadratic.gain_over(scratch, Terms::All);
        gain * scale > sigma * std && linalg::dot(scratch, scratch).sqrt() <= nearby.order[n - 1].0
    };
    // After a restart it has to be better than both: alone, a regression over few of the newest values is soon a lucky one.
    let supersedes = problem.found.is_some();
    let better = proper && beats(model) && problem.found.is_none_or(beats);
    let (u, mean) = (quadratic.minimiser.clone(), outputs.minimum() + scale * lowest);
    let found = Found { u, mean, std: sigma * quadratic.std_at_minimum(Terms::All), supersedes };
    (better && found.bound().is_finite()).then_some(found)
}
