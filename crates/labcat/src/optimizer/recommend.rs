//! What a step knows of the optimum: the constrained minimum of the model, and under noise the point that the run would recommend, by its model
//! or, where the objective looks like a quadratic, by a regression over much more than the model keeps.

use super::config::Noise;
use super::dataset::Output;
use super::descent::{self, Bound};
use super::merit;
use super::model::{Model, Workspace};
use super::nearest::Nearest;
use super::noise::Found;
use super::problem::Problem;
use super::run::LocalRun;
use crate::acquisition::landscape::Landscape;
use crate::acquisition::maximise::{Lattice, Search};
use crate::acquisition::{AcquisitionKind, KAPPA};
use crate::gp::PointPrediction;
use crate::linalg;
use crate::polynomial::{Polynomial, Terms};

/// A recommendation is the lowest mean plus this many standard deviations, where the constraints are satisfied with as many to spare.
pub(super) const CAUTION: f64 = 1.0;
/// Gradient steps on the way to it.
const DESCENTS: usize = 50;
/// The regression: observations at most, at least for each coefficient, and the most coefficients: the cost grows with their square.
const MOST: usize = 2000;
const LEAST: usize = 3;
const MOST_COEFFICIENTS: usize = 66;
/// They are looked for among so many of the newest.
const AMONG: usize = 10_000;
/// From one neighbourhood to the next larger one.
const LARGER: f64 = 1.5;
/// A neighbourhood is too large if it leaves over more than a smaller one by this many standard deviations of what that left over, the
/// smallest if it is more than the noise as the run knows it.
const SURE: f64 = 3.0;

/// Finds the constrained minimum of the model, for the penalty parameters and as a candidate; and under noise what the run would recommend, which
/// is then what is to be improved on.
pub(super) fn settle(problem: Problem<'_>, run: &mut LocalRun, model: &mut Model, work: &mut Workspace) {
    let limited = !(model.surrogate.constraints.is_empty() && problem.known.known.is_empty());
    if limited {
        if problem.constraints() > 0 {
            model.incumbent = model.outputs.to_normalised(model.standing.merit);
        }
        let how = (Bound::cautious(problem, run, 0.0), run.now.beta, &*moves(problem, run));
        let centre = vec![0.0; problem.domain.dim()];
        let (x, multipliers) = descent::minimise(problem, &run.now.frame, &model.surrogate, how, &centre);
        let slope = model.outputs.slope(model.incumbent);
        let each =
            multipliers.iter().zip(&model.surrogate.constraints).map(|(m, constraint)| m * constraint.unit * slope);
        merit::update_penalties(run, each);
        model.minimum = x;
    }
    if !model.surrogate.has_noise() {
        return;
    }
    let (u, mean, std, allowed) =
        if limited { under_constraints(problem, run, model) } else { lowest(problem, run, model, work) };
    model.incumbent = mean;
    if allowed {
        let found = Found::new(u, &model.outputs, mean, std);
        let (bound, told) = (found.bound(), run.now.told);
        let simple = if limited { None } else { regression(problem, run, model, &found, work) };
        run.now.noise.find(simple.unwrap_or(found), bound, told);
    }
}

/// The axes that are searched by gradients.
fn moves(problem: Problem<'_>, run: &LocalRun) -> Vec<bool> {
    (0..problem.domain.dim()).map(|i| run.extent.moves(problem.domain, i)).collect()
}

/// The lowest mean of the trust region, with some caution: its place in the box, mean and standard deviation.
fn lowest(problem: Problem<'_>, run: &LocalRun, model: &Model, work: &mut Workspace) -> (Vec<f64>, f64, f64, bool) {
    // The lower confidence bound with a negative factor is the upper one.
    let (kind, optimism) = (AcquisitionKind::LowerConfidenceBound, -CAUTION / KAPPA);
    let landscape = Landscape { surrogate: &model.surrogate, kind, incumbent: 0.0, optimism };
    let search = Search { beta: run.now.beta, refinements: DESCENTS, ..problem.settings.search };
    let (centre, moves) = (vec![0.0; problem.domain.dim()], moves(problem, run));
    let lattice = problem.domain.is_mixed().then_some(Lattice { domain: problem.domain, moves: &moves });
    let (u, mean, std) = work.maximiser.climb(&landscape, &run.now.frame, &centre, lattice, &search);
    (u.to_vec(), mean, std, true)
}

/// The same among points that the models of the constraints allow with some caution, and whether it is one; else the centre.
fn under_constraints(problem: Problem<'_>, run: &LocalRun, model: &Model) -> (Vec<f64>, f64, f64, bool) {
    let (frame, surrogate) = (&run.now.frame, &model.surrogate);
    let bound = Bound { kappa: -CAUTION, caution: CAUTION };
    let how = (bound, run.now.beta, &*moves(problem, run));
    let (x, _) = descent::minimise(problem, frame, surrogate, how, &model.minimum);
    let mut u = descent::place(problem, frame, &x);
    if let Some(allowed) = problem.known.nearest(problem.domain, &u, frame.centre()) {
        u = problem.place(&allowed);
    }
    let (mut at, mut x) = (PointPrediction::default(), x);
    frame.to_local(&u, &mut x);
    // An integer or a known constraint may have moved it.
    if surrogate.at(&x, &mut at).iter().all(|limit| limit.mean <= 0.0) {
        return (u, at.mean, at.std, true);
    }
    surrogate.at(&vec![0.0; x.len()], &mut at);
    (frame.centre().to_vec(), at.mean, at.std, false)
}

/// What is to be recommended by a quadratic regression over the observations of all runs nearest to the best point. Two points are weighed on the
/// same model: one takes the place of another if it is better by more than the standard deviation of the difference. The minimum
/// of the regression has to take that of what the run's `model` recommends, and of what earlier runs recommend; else the model's that of
/// theirs; else theirs stays, with what is known of it by now if that is more. `None` if there is no such regression, or it does not reach
/// what it would have to speak of.
fn regression(problem: Problem<'_>, run: &LocalRun, model: &Model, now: &Found, work: &mut Workspace) -> Option<Found> {
    let (observations, frame, terms) = (problem.observations, &run.now.frame, Terms::Quadratic);
    let (count, sigma) = (terms.count(frame.dim()), problem.sigma(run, Output::Objective));
    if count > MOST_COEFFICIENTS || problem.domain.is_mixed() || sigma <= 0.0 {
        return None;
    }
    let Workspace { nearest, polynomial, scratch, bounds, .. } = work;
    let all = nearest.find(observations, run.now.told, frame, (AMONG, MOST), scratch);
    if all < LEAST * count || nearest.order.iter().any(|(_, _, p)| observations.std(*p).is_some()) {
        return None;
    }
    let (zero, scale) = (model.outputs.minimum(), model.outputs.range());
    nearest.fill(observations, frame, (zero, scale), scratch);
    let (n, left_over) = widest(polynomial, nearest, LEAST * count, sigma / scale)?;
    let sigma = match problem.settings.switches.noise {
        Noise::Sigma(sigma) => sigma,
        _ => scale * left_over,
    };
    let proper = polynomial.is_convex();
    crate::polynomial::bounds_of(bounds, frame.dim(), nearest.order[..n].iter().map(|(_, _, p)| observations.unit(*p)));
    polynomial.minimise(frame, bounds, std::iter::empty());
    let quadratic = &*polynomial;
    // Where a point is in the frame, if the regression reaches it.
    let place = |u: &[f64]| {
        let mut local = vec![0.0; frame.dim()];
        frame.to_local(u, &mut local);
        (linalg::dot(&local, &local).sqrt() <= nearest.order[n - 1].0).then_some(local)
    };
    let beats = |here: &[f64], there: &[f64]| {
        let (gain, std) = quadratic.gain(here, there);
        gain * scale > sigma * std
    };
    let supersedes = problem.found.is_some();
    let found = |u: &[f64], local: &[f64]| {
        let (mean, std) = quadratic.at(local);
        let found = Found { u: u.to_vec(), mean: zero + scale * mean, std: sigma * std, supersedes, explains: n };
        found.bound().is_finite().then_some(found)
    };
    let (here, earlier) = (place(&now.u)?, problem.found.map(|earlier| place(&earlier.u)));
    let lowest = place(&quadratic.minimiser).filter(|_| proper);
    if let Some(lowest) = lowest.filter(|lowest| beats(lowest, &here))
        && earlier.as_ref().is_none_or(|earlier| earlier.as_ref().is_some_and(|earlier| beats(&lowest, earlier)))
    {
        return found(&quadratic.minimiser, &lowest);
    }
    let (then, earlier) = (problem.found?, earlier??);
    if beats(&here, &earlier) {
        return Some(Found { supersedes, ..now.clone() });
    }
    found(&then.u, &earlier).filter(|found| found.std <= then.std)
}

/// Fits the nearest observations: as many as leave over no more, each, than fewer do, and at least `fewest`, which are held against the noise.
/// Gives their number, and the root mean square of what they leave over.
fn widest(quadratic: &mut Polynomial, nearest: &mut Nearest, fewest: usize, noise: f64) -> Option<(usize, f64)> {
    let Nearest { inputs, y, rank, .. } = nearest;
    let (all, count) = (y.len(), Terms::Quadratic.count(inputs.cols()));
    rank.resize(all, 0.0);
    // A mean of f squares of noise is σ², give or take √(2/f) σ².
    let at_most = |variance: f64, n: usize| variance * (1.0 + SURE * (2.0 / (n - count) as f64).sqrt());
    let left_over = |quadratic: &Polynomial, n: usize| quadratic.left_over().powi(2) / (n - count) as f64;
    let (mut n, mut most) = (fewest, f64::INFINITY);
    if !quadratic.fit(Terms::Quadratic, inputs, y, rank, n, 1.0) || left_over(quadratic, n) > at_most(noise * noise, n)
    {
        return None;
    }
    while n < all {
        most = most.min(at_most(left_over(quadratic, n), n));
        let more = all.min((LARGER * n as f64) as usize);
        let mut wider = quadratic.clone();
        if !wider.extend(inputs, y, (n, more)) || left_over(&wider, more) > most {
            break;
        }
        (*quadratic, n) = (wider, more);
    }
    Some((n, left_over(quadratic, n).sqrt()))
}
