//! The region of a run: how far it reaches along each axis, the neighbours of a point that are left, and the configurations of a finite
//! space.

use super::problem::Problem;
use super::run::{Extent, LocalRun};
use super::seen::Seen;
use crate::domain::{Axis, Domain};
use crate::known::Known;
use crate::rng::Rng;
use crate::{linalg, math};

/// A space with no more configurations than this is searched as a whole: every one that was not tried is a candidate at each step.
const SMALL_SPACE: u64 = 2048;
/// A neighbour counts as tried if it was evaluated with reals as near as this, in units of the box.
const TRIED_NEAR: f64 = 1e-3;
/// Evaluations without progress, per parameter, after which the neighbours that were never tried are.
const IDLE: usize = 3;
/// Progress that is worth waiting for, as a part of what lies between the best and the median of the members.
const WORTH: f64 = 0.01;
/// Random tries for a configuration that was never suggested, before all are gone through, or as many as this under constraints.
const RANDOM_TRIES: usize = 200;
const LISTED: u64 = 100_000;

pub(super) fn is_small(domain: &Domain) -> bool {
    domain.list_length().is_some_and(|n| n <= SMALL_SPACE)
}

pub(super) fn count_reals(domain: &Domain) -> usize {
    domain.axes().iter().filter(|a| **a == Axis::Real).count()
}

/// How far the trust region reaches along each axis, in local units: β; at least a step of an integer; everywhere for categories and surveys.
pub(super) fn reach(problem: Problem<'_>, run: &LocalRun, beta: f64, out: &mut Vec<f64>) {
    let frame = &run.now.frame;
    out.clear();
    out.extend(problem.domain.axes().iter().enumerate().map(|(j, axis)| match axis {
        Axis::Choice => f64::INFINITY,
        _ if run.extent == Extent::Box => 2.0 / frame.scale()[j],
        Axis::Real | Axis::Whole => beta,
        Axis::Steps => beta.max(1.5 * problem.domain.step_length(j, frame.centre()[j]) / frame.scale()[j]),
    }));
}

/// The failed evaluations of a run in its region, as positions and places in the frame: the newest, as many as observations are kept.
pub(super) fn failed_inside(problem: Problem<'_>, run: &LocalRun) -> Vec<(usize, Vec<f64>)> {
    if run.failed.is_empty() {
        return Vec::new();
    }
    let newest = run.failed.len().saturating_sub(problem.settings.region.keep);
    let mut limits = Vec::new();
    reach(problem, run, run.now.beta, &mut limits);
    let place = |&position: &usize| {
        let x = run.now.frame.local(problem.observations.unit(position));
        x.iter().zip(&limits).all(|(x, reach)| x.abs() <= *reach).then_some((position, x))
    };
    run.failed[newest..].iter().filter_map(place).collect()
}

/// Whether there has been no progress worth having for a while; if there are no restarts, whether the reals have converged as well.
pub(super) fn settled(problem: Problem<'_>, run: &LocalRun) -> bool {
    let Problem { domain, observations, reals_over, .. } = problem;
    if !(reals_over || problem.settings.switches.restarts) {
        return false;
    }
    let value = |p: &usize| observations.feasible_value(*p);
    let mut values: Vec<f64> = run.now.members.iter().filter_map(value).collect();
    let Some(median) = math::median(&mut values) else { return false };
    let least = values[0];
    let gain = if reals_over { 0.0 } else { WORTH * (median - least) };
    let Some(&reached) = run.now.members.iter().find(|p| value(p).is_some_and(|v| v <= least + gain)) else {
        return false;
    };
    let idle = observations.all()[reached + 1..].iter().filter(|e| e.run == run.number).count();
    idle >= IDLE * domain.free_parameters()
}

/// Neighbours of an evaluated point, by a step or another label, that were never tried near it, in user units.
pub(super) fn untried(problem: Problem<'_>, position: usize) -> Vec<Vec<f64>> {
    let Problem { domain, observations, pending, seen, .. } = problem;
    let asked: Vec<Vec<f64>> = pending.iter().map(|p| domain.place(&p.x)).collect();
    let told = (0..observations.len()).map(|p| observations.unit(p));
    let tried: Vec<&[f64]> = told.chain(asked.iter().map(Vec::as_slice)).collect();
    let mut neighbours = domain.neighbours(&observations.all()[position].x);
    neighbours.retain_mut(|x| {
        if !problem.known.admits(domain, x) {
            return false;
        }
        let u = domain.place(x);
        !seen.contains(x) && !tried.iter().any(|v| domain.same_choices(v, &u) && linalg::is_near(v, &u, TRIED_NEAR))
    });
    neighbours
}

/// Every configuration of a small space that known constraints allow.
pub(super) fn listed(domain: &Domain, known: &Known) -> Vec<Vec<f64>> {
    let (all, mut found) = (0..domain.list_length().unwrap_or(0), Seen::with_capacity(0));
    all.map(|k| domain.listed(k)).filter(|x| known.allows(x) && found.insert(x)).collect()
}

/// Any configuration that was never suggested and is allowed; `None` if none is found (in a space of reals, a hit is no accident).
pub(super) fn unseen(problem: Problem<'_>, rng: &mut Rng) -> Option<Vec<f64>> {
    let Problem { domain, known, observations, seen, .. } = problem;
    if !domain.is_mixed() {
        return None;
    }
    let is_new = |x: &mut Vec<f64>| known.admits(domain, x) && !seen.contains(x);
    for _ in 0..RANDOM_TRIES {
        let cube: Vec<f64> = domain.parameters().iter().map(|_| rng.between(-1.0, 1.0)).collect();
        let mut x = domain.point(&domain.embed(&cube));
        if is_new(&mut x) {
            return Some(x);
        }
    }
    // Tries that all hit leave few: going through the list finds one, unless constraints leave hardly any. Those lie next to what was told.
    let length = domain.list_length()?;
    let start = (rng.unit() * length as f64) as u64;
    let most = if known.is_empty() { length } else { length.min(LISTED) };
    let listed = (0..most).map(|k| domain.listed((start + k) % length));
    let mut all = listed.chain(observations.all().iter().flat_map(|e| domain.neighbours(&e.x)));
    all.find_map(|mut x| is_new(&mut x).then_some(x))
}
