//! Spaces with whole numbers, choices and conditions: where the trust region reaches, when a run is over, and the next point.

use super::model::{self, Model, Workspace};
use super::propose::{Choice, Problem, search_of};
use super::report::{Origin, RestartCause};
use super::run::LocalRun;
use super::seen::Seen;
use crate::acquisition::maximise::{Maximiser, Search};
use crate::domain::{Axis, Domain};
use crate::frame::Outputs;
use crate::math;
use crate::rng::Rng;
use std::ops::Range;

/// A space with no more configurations than this is searched as a whole: every one that was not tried is a candidate at each step.
const SMALL: u64 = 2048;
/// Samples of the acquisition function per parameter.
const SAMPLES: usize = 40;
/// How many of them, of different choices, are climbed from, and for how many rounds at most.
const CLIMBERS: usize = 4;
const ROUNDS: usize = 6;
/// A neighbour counts as tried if it was evaluated with reals as near as this, in units of the box.
const NEAR: f64 = 1e-3;
/// Evaluations without progress, per parameter, after which a run without reals looks at the neighbours it has not tried.
const PATIENCE: usize = 2;
/// Random tries for a configuration that was never suggested, before all are gone through.
const TRIES: usize = 200;

/// How far the trust region reaches along each axis, in local units: β; at least a step for whole numbers; everywhere for choices.
pub(super) fn reach(problem: Problem<'_>, run: &LocalRun, beta: f64, out: &mut Vec<f64>) {
    let frame = &run.now.frame;
    out.clear();
    out.extend(problem.domain.axes().iter().enumerate().map(|(j, axis)| match axis {
        Axis::Real | Axis::Whole => beta,
        Axis::Steps => beta.max(1.5 * problem.domain.step_length(j, frame.centre()[j]) / frame.scale()[j]),
        Axis::Choice => f64::INFINITY,
    }));
}

/// The best of the members, or why the run is over: the reals have converged and no neighbour of the best point is left.
pub(super) fn best_member(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs) -> Result<usize, RestartCause> {
    let (observations, switches) = (problem.observations, &problem.settings.switches);
    let is_best = |p: &usize| observations.value(*p) == Some(outputs.minimum());
    let best = run.now.members.iter().position(is_best).ok_or(RestartCause::OutputRange)?;
    if !problem.ends || is_small(problem.domain) {
        return Ok(best);
    }
    if let Some(cause) = settled(problem, run, best, outputs)
        && untried(problem, run.now.members[best]).is_empty()
    {
        return Err(cause);
    }
    let overall = observations.best().and_then(|p| observations.value(p)).unwrap_or(f64::INFINITY);
    let behind = outputs.minimum() - overall;
    if switches.restarts && switches.give_up.is_some_and(|most| behind > most * outputs.range()) {
        return Err(RestartCause::Hopeless);
    }
    Ok(best)
}

fn is_small(domain: &Domain) -> bool {
    domain.list_length().is_some_and(|n| n <= SMALL)
}

/// Whether the reals have converged, and how that shows: in the outputs of members with the choices of the best, or in the region.
fn settled(problem: Problem<'_>, run: &LocalRun, best: usize, outputs: &Outputs) -> Option<RestartCause> {
    let (domain, observations, switches) = (problem.domain, problem.observations, &problem.settings.switches);
    let (members, reals) = (&run.now.members, domain.axes().iter().filter(|a| **a == Axis::Real).count());
    let newest = members.last().copied().unwrap_or(0);
    if reals == 0 {
        let idle = newest.saturating_sub(members[best]);
        return (idle >= PATIENCE * domain.free_parameters()).then_some(RestartCause::OutputRange);
    }
    let centre = observations.unit(members[best]);
    let alike = members.iter().filter(|p| domain.same_choices(observations.unit(**p), centre));
    let (mut count, mut highest) = (0, f64::NEG_INFINITY);
    for &p in alike {
        count += 1;
        highest = highest.max(observations.value(p).unwrap_or(f64::NEG_INFINITY));
    }
    let range = highest - outputs.minimum();
    if count >= reals + 2 {
        if switches.tolerance.is_some_and(|t| range <= t) {
            return Some(RestartCause::Tolerance);
        }
        if range <= (switches.precision * run.now.spread).max(4.0 * f64::EPSILON * outputs.largest()) {
            return Some(RestartCause::OutputRange);
        }
    }
    model::is_narrow(problem, run, run.now.beta, centre).then_some(RestartCause::TrustRegion)
}

/// Neighbours of an evaluated point, by a step or a swap, that were never tried near it, in user units.
fn untried(problem: Problem<'_>, position: usize) -> Vec<Vec<f64>> {
    let Problem { domain, observations, pending, seen, .. } = problem;
    let mut u = vec![0.0; domain.dim()];
    let mut asked: Vec<Vec<f64>> = Vec::with_capacity(pending.len());
    for p in pending {
        domain.to_unit(&p.x, &mut u);
        asked.push(u.clone());
    }
    let told = (0..observations.len()).map(|p| observations.unit(p));
    let tried: Vec<&[f64]> = told.chain(asked.iter().map(Vec::as_slice)).collect();
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= NEAR);
    let mut neighbours = domain.neighbours(&observations.all()[position].x);
    neighbours.retain(|x| {
        domain.to_unit(x, &mut u);
        !seen.contains(x) && !tried.iter().any(|v| domain.same_choices(v, &u) && near(v, &u))
    });
    neighbours
}

/// The most promising configuration that was never suggested before.
pub(super) fn choose(
    problem: Problem<'_>,
    run: &LocalRun,
    model: &Model,
    work: &mut Workspace,
    rng: &mut Rng,
) -> Result<Choice, RestartCause> {
    let Problem { domain, settings, observations, seen, .. } = problem;
    let search = search_of(problem, run)?;
    let best = run.now.members.iter().position(|&p| observations.value(p) == Some(model.outputs.minimum()));
    let over = best.filter(|_| !is_small(domain)).filter(|&b| settled(problem, run, b, &model.outputs).is_some());
    let neighbours = over.map(|b| untried(problem, run.now.members[b])).unwrap_or_default();
    let mut climb = Climb { problem, run, model, search, maximiser: &mut work.maximiser };
    let mut found: Vec<Found> = if !neighbours.is_empty() {
        climb.score(&climb.places(&neighbours), false)
    } else if is_small(domain) {
        climb.score(&climb.places(&all_unseen(domain, seen)), false)
    } else {
        climb.search(rng)
    };
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut x = vec![0.0; domain.parameters().len()];
    for Found { u, mean, score } in found {
        domain.to_user(&u, &mut x);
        if !seen.contains(&x) {
            let predicted = settings.switches.direction.orient(model.outputs.to_user(mean));
            return Ok(Choice { x, origin: Origin::Model, acquisition: score, predicted, clipped: 0 });
        }
    }
    Err(RestartCause::NoNewPoint)
}

/// A scored point of the box.
#[derive(Clone, Debug)]
struct Found {
    u: Vec<f64>,
    mean: f64,
    score: f64,
}

/// The maximisation of the acquisition function over valid points.
struct Climb<'a> {
    problem: Problem<'a>,
    run: &'a LocalRun,
    model: &'a Model,
    search: Search,
    maximiser: &'a mut Maximiser,
}

impl Climb<'_> {
    fn places(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let domain = self.problem.domain;
        let place = |x: &Vec<f64>| {
            let mut u = vec![0.0; domain.dim()];
            domain.to_unit(x, &mut u);
            u
        };
        points.iter().map(place).collect()
    }

    fn score(&mut self, places: &[Vec<f64>], refined: bool) -> Vec<Found> {
        let (problem, frame) = (self.problem, &self.run.now.frame);
        let refined_in = Some(problem.domain).filter(|_| refined && self.search.refinements > 0);
        let acquisition = problem.settings.switches.acquisition;
        let (gp, incumbent) = (&self.model.fit.gp, self.model.incumbent);
        self.maximiser.score_places(places, refined_in, gp, frame, incumbent, acquisition, &self.search);
        let found = |c: usize| {
            let candidate = self.maximiser.candidate(c);
            Found { u: candidate.u.to_vec(), mean: candidate.mean, score: candidate.score }
        };
        (0..places.len()).map(found).collect()
    }

    /// Samples of the trust region and neighbours of its centre; from the best of them, of different choices, the reals are climbed
    /// by gradients and the rest by steps and swaps, in turn.
    fn search(&mut self, rng: &mut Rng) -> Vec<Found> {
        let domain = self.problem.domain;
        let mut places = self.samples(rng);
        places.extend(self.neighbours(self.run.now.frame.centre()));
        let mut found = self.score(&places, false);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].score.total_cmp(&found[a].score));
        let mut climbers: Vec<Found> = Vec::with_capacity(CLIMBERS);
        for c in order {
            if climbers.len() < CLIMBERS && !climbers.iter().any(|f| domain.same_choices(&f.u, &found[c].u)) {
                climbers.push(found[c].clone());
            }
        }
        for _ in 0..ROUNDS {
            let places: Vec<Vec<f64>> = climbers.iter().map(|f| f.u.clone()).collect();
            climbers = self.score(&places, true);
            found.extend_from_slice(&climbers);
            let mut moved = false;
            for climber in &mut climbers {
                let neighbours = self.neighbours(&climber.u);
                for other in self.score(&neighbours, false) {
                    if other.score > climber.score {
                        *climber = other;
                        moved = true;
                    }
                }
            }
            if !moved {
                break;
            }
            found.extend_from_slice(&climbers);
        }
        found
    }

    /// Neighbours of a place by a step or a swap, with its reals.
    fn neighbours(&self, u: &[f64]) -> Vec<Vec<f64>> {
        let domain = self.problem.domain;
        let mut x = vec![0.0; domain.parameters().len()];
        domain.to_user(u, &mut x);
        self.places(&domain.neighbours(&x))
    }

    /// Samples of the trust region: reals uniform in it, some of them nearer to the best point; half of the samples have its whole
    /// numbers and choices, in the others some of those are changed, at least one.
    fn samples(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let (problem, frame, search) = (self.problem, &self.run.now.frame, &self.search);
        let (domain, d) = (problem.domain, frame.dim());
        let mut limits = Vec::with_capacity(d);
        reach(problem, self.run, search.beta, &mut limits);
        let discrete = domain.untied();
        let turning: Vec<usize> = (0..d).filter(|&j| domain.axes()[j].turns()).collect();
        let count = SAMPLES * domain.free_parameters();
        let mut places = Vec::with_capacity(count);
        for c in 0..count {
            let nearer = if c % 4 < 2 { math::pow(search.nearest, rng.unit()) } else { 1.0 };
            let mut u = frame.centre().to_vec();
            for &i in &turning {
                let x = nearer * rng.between(-search.beta, search.beta);
                for &j in &turning {
                    u[j] += frame.rotation()[(j, i)] * frame.scale()[i] * x;
                }
            }
            if c % 2 == 0 && !discrete.is_empty() {
                self.change(&discrete, &limits, &mut u, rng);
            }
            for u in &mut u {
                *u = u.clamp(-1.0, 1.0);
            }
            domain.snap(&mut u);
            places.push(u);
        }
        places
    }

    /// Changes some of the whole numbers and choices, at least one.
    fn change(&self, discrete: &[Range<usize>], limits: &[f64], u: &mut [f64], rng: &mut Rng) {
        let (domain, frame) = (self.problem.domain, &self.run.now.frame);
        let sure = rng.below(discrete.len());
        let share = rng.unit();
        for (k, coordinates) in discrete.iter().enumerate() {
            if k == sure || rng.unit() < share * share {
                for j in coordinates.clone() {
                    u[j] = match domain.axes()[j] {
                        Axis::Choice => rng.between(-1.0, 1.0),
                        _ => u[j] + frame.scale()[j] * limits[j] * rng.between(-1.0, 1.0),
                    };
                }
            }
        }
    }
}

/// Every configuration of a small space that was never suggested.
fn all_unseen(domain: &Domain, seen: &Seen) -> Vec<Vec<f64>> {
    let length = domain.list_length().unwrap_or(0);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut known = Seen::with_capacity(0);
    for x in (0..length).map(|k| domain.listed(k)) {
        if !seen.contains(&x) && !known.contains(&x) {
            known.insert(&x);
            found.push(x);
        }
    }
    found
}

/// Any configuration that was never suggested; `None` if none is found (in a space of reals, a hit is no accident).
pub(super) fn unseen(domain: &Domain, seen: &Seen, rng: &mut Rng) -> Option<Vec<f64>> {
    if !domain.is_mixed() {
        return None;
    }
    let mut x = vec![0.0; domain.parameters().len()];
    for _ in 0..TRIES {
        let cube: Vec<f64> = x.iter().map(|_| rng.between(-1.0, 1.0)).collect();
        domain.to_user(&domain.embed(&cube), &mut x);
        if !seen.contains(&x) {
            return Some(x);
        }
    }
    // Tries that all hit leave few: going through the list from a random place finds one soon enough.
    let length = domain.list_length()?;
    let start = (rng.unit() * length as f64) as u64;
    (0..length).map(|k| domain.listed((start + k) % length)).find(|x| !seen.contains(x))
}
