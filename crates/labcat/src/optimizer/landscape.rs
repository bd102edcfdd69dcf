//! The next point under constraints: expected improvement times the probability that the constraints are met, maximised over
//! samples and over the constrained minima of the model.

use super::feasible::{self, Limits};
use super::model::{Model, Workspace};
use super::noise::{self, Found};
use super::propose::{Choice, Problem};
use super::report::{Origin, RestartCause};
use super::run::LocalRun;
use crate::acquisition::AcquisitionKind;
use crate::acquisition::maximise::Search;
use crate::frame::Frame;
use crate::gp::joint::Joint;
use crate::gp::{Gp, PointPrediction};
use crate::linalg::{self, Matrix};
use crate::math;
use crate::qp::Halfspaces;
use crate::rng::Rng;
use crate::sqp::{self, Look, Program};

/// Quadratic programs per descent.
const ROUNDS: usize = 12;

/// The models of one step.
#[derive(Clone, Copy)]
struct Landscape<'a> {
    gp: &'a Gp,
    joint: Option<&'a Joint>,
    limits: &'a Limits,
    incumbent: f64,
    optimism: f64,
}

/// A lower bound of the objective, κ standard deviations below its mean, where the constraints' means lie `caution` standard
/// deviations below 0.
struct Bound<'a> {
    landscape: Landscape<'a>,
    problem: Problem<'a>,
    frame: &'a Frame,
    kappa: f64,
    caution: f64,
    /// The axes along which it is searched.
    moves: &'a [bool],
}

impl<'a> Landscape<'a> {
    fn of(model: &'a Model, optimism: f64) -> Self {
        let Model { fit, joint, limits, incumbent, .. } = model;
        Self { gp: &fit.gp, joint: joint.as_ref(), limits, incumbent: *incumbent, optimism }
    }

    fn at(&self, x: &[f64]) -> (PointPrediction, Vec<(f64, Vec<f64>)>) {
        let mut at = PointPrediction::default();
        match self.joint {
            Some(joint) => joint.predict_with_gradient(x, &mut at),
            None => self.gp.predict_with_gradient(x, &mut at),
        }
        let mut limits = self.gp.sums_at(x, &self.limits.alpha);
        for ((g, gradient), (constant, slope)) in limits.iter_mut().zip(&self.limits.trend) {
            *g += constant + linalg::dot(slope, x);
            linalg::axpy(gradient, 1.0, slope);
        }
        (at, limits)
    }

    /// ln EI over the best merit + Σ ln P(g ≤ 0); and the mean.
    fn score(&self, x: &[f64]) -> (f64, f64) {
        let (at, limits) = self.at(x);
        let std = self.optimism * at.std;
        let doubts = self.limits.doubt.iter().map(|doubt| doubt * at.std);
        let met: f64 = limits.iter().zip(doubts).map(|((g, _), std)| log_normal_cdf(-g / std)).sum();
        let gain = AcquisitionKind::LogExpectedImprovement.value(at.mean, std, self.incumbent);
        (gain + met, at.mean)
    }
}

impl Program for Bound<'_> {
    fn look(&self, x: &[f64]) -> Look {
        let (at, mut limits) = self.landscape.at(x);
        for ((g, slope), doubt) in limits.iter_mut().zip(&self.landscape.limits.doubt) {
            *g += self.caution * doubt * at.std;
            linalg::axpy(slope, self.caution * doubt, &at.std_gradient);
        }
        limits.extend(feasible::known_limits(self.problem, self.frame, x));
        let mut gradient: Vec<f64> =
            at.mean_gradient.iter().zip(&at.std_gradient).map(|(m, s)| m - self.kappa * s).collect();
        for slope in limits.iter_mut().map(|(_, slope)| slope).chain([&mut gradient]) {
            slope.iter_mut().zip(self.moves).filter(|(_, moves)| !**moves).for_each(|(s, _)| *s = 0.0);
        }
        Look { value: at.mean - self.kappa * at.std, gradient, limits }
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix {
        let Landscape { gp, limits, .. } = self.landscape;
        let mut h = Matrix::zeros(x.len(), x.len());
        match self.landscape.joint {
            Some(joint) => joint.add_hessian(x, &mut h),
            None => gp.hessian_at(x, gp.weights(), 1.0, &mut h),
        }
        for (alpha, m) in limits.alpha.iter().zip(multipliers).filter(|(_, m)| **m > 0.0) {
            gp.hessian_at(x, alpha, *m, &mut h);
        }
        for i in (0..x.len()).filter(|&i| !self.moves[i]) {
            for j in 0..x.len() {
                (h[(i, j)], h[(j, i)]) = (0.0, 0.0);
            }
            h[(i, i)] = 1.0;
        }
        h
    }
}

/// ln Φ(z), for any z.
fn log_normal_cdf(z: f64) -> f64 {
    if z > -30.0 { math::ln(math::normal_cdf(z)) } else { -0.5 * z * z - math::ln(-z) - 0.5 * math::ln(2.0 * math::PI) }
}

/// Finds the constrained minimum of the model around the centre, for the prices of the constraints and as a candidate.
pub(super) fn settle(problem: Problem<'_>, run: &mut LocalRun, model: &mut Model) {
    let landscape = Landscape::of(model, 1.0);
    let (frame, caution, moves) = (&run.now.frame, caution(problem, run), moves(problem));
    let within = region(frame, run.now.beta, &moves);
    let bound = Bound { landscape, problem, frame, kappa: 0.0, caution, moves: &moves };
    let start = vec![0.0; problem.domain.dim()];
    let (x, multipliers) = sqp::minimise(&bound, &within, &start, run.now.beta, ROUNDS);
    let measured = model.limits.alpha.len();
    feasible::update_prices(run, &model.outputs, &model.limits, model.incumbent, &multipliers[..measured]);
    model.limits.minimum = x;
}

/// Under noise: the point with the lowest mean, with some caution, among those that the models of the constraints allow with some.
/// It is what the run would recommend, and what is to be improved on; without one, the mean at the centre is.
pub(super) fn recommend(problem: Problem<'_>, run: &mut LocalRun, model: &mut Model) {
    const SURE: f64 = 1.0;
    let landscape = Landscape::of(model, 1.0);
    let (frame, beta, moves) = (&run.now.frame, run.now.beta, moves(problem));
    let bound = Bound { landscape, problem, frame, kappa: -noise::CAUTION, caution: SURE, moves: &moves };
    let start = &model.limits.minimum;
    let (mut x, _) = sqp::minimise(&bound, &region(frame, beta, &moves), start, beta, ROUNDS);
    let mut u: Vec<f64> = (0..x.len()).map(|j| frame.to_box(&x, j).clamp(-1.0, 1.0)).collect();
    problem.domain.snap(&mut u);
    let centre = landscape.at(&vec![0.0; x.len()]).0.mean;
    let allowed = if problem.known.is_empty() { None } else { problem.known.pull(problem.domain, &u, frame.centre()) };
    if let Some(allowed) = allowed {
        problem.domain.to_unit(&allowed, &mut u);
    }
    x = local(frame, &u);
    let (at, limits) = landscape.at(&x);
    // A whole number or a known constraint may have moved it.
    let met = limits.iter().all(|(g, _)| *g <= 0.0);
    model.incumbent = if met { at.mean } else { centre };
    if met {
        let found = Found::new(u, &model.outputs, at.mean, at.std);
        run.now.noise.learn(found.bound(), run.now.told);
        run.now.noise.find(found);
    }
}

/// The axes that are searched by gradients.
fn moves(problem: Problem<'_>) -> Vec<bool> {
    (0..problem.domain.dim()).map(|i| !problem.domain.is_mixed() || problem.moves(i)).collect()
}

/// The trust region within the box, along the axes that move.
fn region(frame: &Frame, beta: f64, moves: &[bool]) -> Halfspaces {
    let mut within = Halfspaces::cube(frame.dim(), beta);
    feasible::in_box(frame, &vec![(-1.0, 1.0); frame.dim()], &mut within);
    within.retain(|normal| normal.iter().zip(moves).any(|(a, moves)| *a != 0.0 && *moves));
    within
}

/// Score, mean and place of each place of a mixed space. Those that are refined go first to the constrained minimum of a lower bound
/// along the axes that move; those that known constraints do not allow are moved, their reals first.
pub(super) fn score_places(
    problem: Problem<'_>,
    run: &LocalRun,
    model: &Model,
    search: &Search,
    refined: Option<&[bool]>,
    places: &[Vec<f64>],
) -> Vec<(f64, f64, Vec<f64>)> {
    let (frame, domain) = (&run.now.frame, problem.domain);
    let landscape = Landscape::of(model, search.optimism);
    let caution = caution(problem, run);
    let score = |u: Vec<f64>| {
        let mut x = vec![0.0; domain.parameters().len()];
        domain.to_user(&u, &mut x);
        let mut u = u;
        if !(problem.known.is_empty() || problem.known.known.admits(domain, &mut x)) {
            match problem.known.settle(domain, &u, frame.centre()) {
                Some(allowed) => x = allowed,
                None => return (f64::NEG_INFINITY, 0.0, u),
            }
        }
        if !problem.known.is_empty() {
            domain.to_unit(&x, &mut u);
        }
        let (score, mean) = landscape.score(&local(frame, &u));
        (if score.is_nan() { f64::NEG_INFINITY } else { score }, mean, u)
    };
    let refine = |u: &[f64], moves: &[bool]| {
        let bound = Bound { landscape, problem, frame, kappa: search.optimism, caution, moves };
        let within = region(frame, search.beta, moves);
        let x = sqp::minimise(&bound, &within, &local(frame, u), search.beta, ROUNDS).0;
        let mut u: Vec<f64> = (0..x.len()).map(|j| frame.to_box(&x, j).clamp(-1.0, 1.0)).collect();
        domain.snap(&mut u);
        u
    };
    let better = |u: &Vec<f64>| {
        let here = score(u.clone());
        let Some(moves) = refined else { return here };
        let there = score(refine(u, moves));
        if there.0 > here.0 { there } else { here }
    };
    places.iter().map(better).collect()
}

/// By how many standard deviations the constraints are to be met: twice as many with each violation in a row.
fn caution(problem: Problem<'_>, run: &LocalRun) -> f64 {
    const LEAST: f64 = 0.1;
    const DOUBLINGS: usize = 6;
    let newest = run.now.members.iter().rev();
    let violated = newest.take_while(|&&p| !problem.observations.is_feasible(p)).count().min(DOUBLINGS);
    LEAST * 2.0_f64.powi(violated as i32)
}

/// The most promising point that was never suggested before.
pub(super) fn search(
    problem: Problem<'_>,
    run: &LocalRun,
    model: &Model,
    search: &Search,
    work: &mut Workspace,
    rng: &mut Rng,
) -> Result<Choice, RestartCause> {
    let (frame, d) = (&run.now.frame, problem.domain.dim());
    let landscape = Landscape::of(model, search.optimism);
    work.maximiser.sample(frame, search, rng);
    // Score, mean and place of each candidate.
    let mut candidates: Vec<(f64, f64, Vec<f64>)> = Vec::new();
    let mut best = (f64::NEG_INFINITY, vec![0.0; d]);
    // A candidate that is not allowed is pulled towards the centre.
    let allowed = |x: Vec<f64>, u: Vec<f64>| {
        if problem.known.is_empty() {
            return Some((x, u));
        }
        let user = problem.known.pull(problem.domain, &u, frame.centre())?;
        let mut u = vec![0.0; d];
        problem.domain.to_unit(&user, &mut u);
        Some((local(frame, &u), u))
    };
    for (x, u) in work.maximiser.samples() {
        let Some((x, u)) = allowed(x, u.to_vec()) else { continue };
        let (score, mean) = landscape.score(&x);
        candidates.push((score, mean, u));
        if score > best.0 {
            best = (score, x);
        }
    }
    let sampled = candidates.len();
    let moves = moves(problem);
    let within = region(frame, search.beta, &moves);
    let caution = caution(problem, run);
    let origin = vec![0.0; d];
    let mut descend = |kappa: f64, start: &[f64]| {
        let bound = Bound { landscape, problem, frame, kappa, caution, moves: &moves };
        let mut x = sqp::minimise(&bound, &within, start, search.beta, ROUNDS).0;
        let u = into_region(frame, search.beta, &mut x);
        if let Some((x, u)) = allowed(x, u) {
            let (score, mean) = landscape.score(&x);
            candidates.push((score, mean, u));
        }
    };
    descend(0.0, if model.limits.minimum.is_empty() { &origin } else { &model.limits.minimum });
    descend(search.optimism, &origin);
    descend(search.optimism, &best.1);
    // While it finds better points the constrained minimum of the model is followed, whatever might be found elsewhere.
    let improved =
        problem.is_constrained() && feasible::best_member(problem, run) == run.now.members.len().checked_sub(1);
    if let Some(minimum) = candidates.get_mut(sampled).filter(|_| improved) {
        minimum.0 = f64::INFINITY;
    }
    candidates.retain(|(score, _, _)| !score.is_nan());
    candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut x = vec![0.0; problem.domain.parameters().len()];
    for (acquisition, mean, u) in candidates {
        problem.domain.to_user(&u, &mut x);
        if !(problem.known.is_empty() || problem.known.known.admits(problem.domain, &mut x)) {
            // Rounding on the way through the box: the allowed point nearest to it.
            let Some(nearest) = problem.known.pull(problem.domain, &u, frame.centre()) else { continue };
            x = nearest;
        }
        if !problem.seen.contains(&x) && !model.is_imagined(run, &u) {
            let predicted = problem.settings.switches.direction.orient(model.outputs.to_user(mean));
            // Reports are written as JSON, which has no infinity.
            let acquisition = if acquisition.is_finite() { acquisition } else { landscape.score(&local(frame, &u)).0 };
            return Ok(Choice { x, origin: Origin::Model, acquisition, predicted, clipped: work.maximiser.clipped });
        }
    }
    Err(RestartCause::NoNewPoint)
}

/// The place in the box of a point that rounding may have put outside the region or the box.
fn into_region(frame: &Frame, beta: f64, x: &mut [f64]) -> Vec<f64> {
    for x in x.iter_mut() {
        *x = x.clamp(-beta, beta);
    }
    (0..x.len()).map(|j| frame.to_box(x, j).clamp(-1.0, 1.0)).collect()
}

fn local(frame: &Frame, u: &[f64]) -> Vec<f64> {
    let mut x = vec![0.0; u.len()];
    frame.to_local(u, &mut x);
    x
}
