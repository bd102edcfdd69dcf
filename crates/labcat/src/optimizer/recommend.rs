//! The recommended point of a step: the constrained minimum of the model; under noise, the least mean plus standard deviation.

use super::config::Preset;
use super::descent::{self, Goal};
use super::merit::{self, Merit};
use super::model::Model;
use super::problem::Problem;
use super::run::LocalRun;
use crate::gp::PointPrediction;

/// Under noise, the lowest mean plus this many standard deviations is to be improved on, and constraints are satisfied with as many to spare.
const SPARE: f64 = 1.0;
/// How far the prediction of the newest value may be off, in what it gained, for a minimum along the reals among other axes to be followed.
const MISSED: f64 = 0.5;
/// Quadratic programs of that descent at most: with twelve the search fares alike, and a step in five dimensions takes a fifth longer.
const FEW_PROGRAMS: usize = 4;

/// Finds the constrained minimum of the model, for the penalty parameters and as a candidate; under noise the lowest mean, to be improved on.
pub(super) fn settle(problem: Problem<'_>, run: &mut LocalRun, model: &mut Model) {
    let limited = !(model.surrogate.constraints.is_empty() && problem.known.is_empty());
    if limited {
        if problem.constraints() > 0 {
            model.incumbent = model.outputs.to_normalised(model.standing.merit);
        }
        let moves = run.extent.moving(problem.domain);
        let goal = Goal::cautious(problem, run, 0.0, run.now.beta, &moves);
        let centre = vec![0.0; problem.domain.dim()];
        let (x, multipliers) = descent::minimise(problem, &run.now.frame, &model.surrogate, goal, &centre);
        let slope = model.outputs.slope(model.incumbent);
        let each =
            multipliers.iter().zip(&model.surrogate.constraints).map(|(m, constraint)| m * constraint.unit * slope);
        merit::update_penalties(run, each);
        model.minimum = x;
    }
    model.follows = is_followed(problem, run, model).unwrap_or(false);
    if !model.surrogate.has_noise() {
        return;
    }
    let (x, mean, std, allowed) = lowest(problem, run, model);
    (model.lowest, model.incumbent) = (x, mean);
    if allowed {
        let bound = model.outputs.to_user(mean) + std * model.outputs.slope(mean);
        run.now.noise.find(bound, run.now.told);
    }
}

/// Whether the newest member is the best and, where other axes than reals may have more to give, gained far more than its prediction was off.
fn is_followed(problem: Problem<'_>, run: &LocalRun, model: &Model) -> Option<bool> {
    let ((newest, above), (last, others)) = (model.made.surprise?, run.now.members.split_last()?);
    if !problem.domain.is_mixed() || *last != model.standing.best {
        return Some(*last == model.standing.best);
    }
    let (merit, user) = (Merit::of_told(problem, run), |y: f64| model.outputs.to_user(y));
    let best = others.iter().filter_map(|&p| merit.told(problem, p)).fold(f64::INFINITY, f64::min);
    let (missed, gained) = ((user(newest - above) - user(newest)).abs(), best - model.standing.merit);
    Some(missed <= MISSED * gained)
}

/// The lowest mean, with some caution, among points that the models of the constraints allow with as much: its point in the frame, its mean and
/// standard deviation, and whether they allow it; else those of the centre.
fn lowest(problem: Problem<'_>, run: &LocalRun, model: &Model) -> (Vec<f64>, f64, f64, bool) {
    let (frame, surrogate) = (&run.now.frame, &model.surrogate);
    // The streams of `paper` stay as they were.
    let programs = if problem.settings.switches.preset == Preset::Paper { descent::PROGRAMS } else { FEW_PROGRAMS };
    let moves = &run.extent.moving(problem.domain);
    let goal = Goal { kappa: -SPARE, caution: SPARE, beta: run.now.beta, moves, programs };
    let start = if model.minimum.is_empty() { &vec![0.0; frame.dim()] } else { &model.minimum };
    let (x, _) = descent::minimise(problem, frame, surrogate, goal, start);
    let mut u = descent::place(problem, frame, &x);
    if let Some(allowed) = problem.known.nearest(problem.domain, &u, frame.centre()) {
        u = problem.domain.place(&allowed);
    }
    let (mut at, x) = (PointPrediction::default(), frame.local(&u));
    // An integer or a known constraint may have moved it.
    if surrogate.at(&x, &mut at).iter().all(|limit| limit.mean <= 0.0) {
        return (x, at.mean, at.std, true);
    }
    let centre = vec![0.0; x.len()];
    surrogate.at(&centre, &mut at);
    (centre, at.mean, at.std, false)
}
