//! Spaces with whole numbers, choices and conditions: where the trust region reaches, when a run is over, and the next point.

use super::climb::{Climb, Scored};
use super::config::Settings;
use super::model::{Model, Workspace};
use super::noise;
use super::propose::{Choice, Prepared, Problem, Scope, prepare, search_of};
use super::report::{Origin, RestartCause};
use super::run::{LocalRun, Slice};
use super::seen::Seen;
use super::shortcut::{self, Shortcut};
use super::{Limited, feasible, survey};
use crate::domain::{Axis, Domain};
use crate::frame::{Frame, Outputs};
use crate::gp::Gp;
use crate::linalg::Matrix;
use crate::observations::{Evaluation, Observations, TrialId};
use crate::rng::Rng;

/// A space with no more configurations than this is searched as a whole: every one that was not tried is a candidate at each step.
pub(super) const SMALL: u64 = 2048;
/// A neighbour counts as tried if it was evaluated with reals as near as this, in units of the box.
const NEAR: f64 = 1e-3;
/// Evaluations without progress, per parameter, after which the neighbours that were never tried are.
const PATIENCE: usize = 3;
/// Progress that is worth waiting for, as a part of what lies between the best and the median of the members.
const WORTH: f64 = 0.01;
/// Random tries for a configuration that was never suggested, before all are gone through, or as many as this under constraints.
const TRIES: usize = 200;
const LISTED: u64 = 100_000;

/// How far the trust region reaches along each axis, in local units: β; at least a step for whole numbers; everywhere for choices,
/// and for everything in a survey.
pub(super) fn reach(problem: Problem<'_>, run: &LocalRun, beta: f64, out: &mut Vec<f64>) {
    let frame = &run.now.frame;
    out.clear();
    out.extend(problem.domain.axes().iter().enumerate().map(|(j, axis)| match axis {
        Axis::Choice => f64::INFINITY,
        _ if problem.scope == Scope::Survey => 2.0 / frame.scale()[j],
        Axis::Real | Axis::Whole => beta,
        Axis::Steps => beta.max(1.5 * problem.domain.step_length(j, frame.centre()[j]) / frame.scale()[j]),
    }));
}

/// The best of the members, or why the run is over: the reals have converged and no neighbour of the best point is left.
pub(super) fn best_member(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs) -> Result<usize, RestartCause> {
    let (observations, switches) = (problem.observations, &problem.settings.switches);
    let best = best_of(problem, run, outputs).ok_or(RestartCause::OutputRange)?;
    if !problem.ends || is_small(problem.domain) {
        return Ok(best);
    }
    if let Some(cause) = settled(problem, run)
        && untried(problem, run.now.members[best]).is_empty()
    {
        return Err(cause);
    }
    let overall = observations.incumbent().unwrap_or(f64::INFINITY);
    let behind = feasible::best_value(problem, run).unwrap_or(outputs.minimum()) - overall;
    if switches.restarts && switches.give_up.is_some_and(|most| behind > most * outputs.range()) {
        return Err(RestartCause::Hopeless);
    }
    Ok(best)
}

/// The best of the members, by merit where constraints are measured.
fn best_of(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs) -> Option<usize> {
    if problem.settings.switches.constraints > 0 {
        return feasible::best_member(problem, run);
    }
    run.now.members.iter().position(|&p| problem.observations.value(p) == Some(outputs.minimum()))
}

pub(super) fn is_small(domain: &Domain) -> bool {
    domain.list_length().is_some_and(|n| n <= SMALL)
}

/// Whether there has been no progress worth having for a while; if there are no restarts, whether the reals have converged as well.
fn settled(problem: Problem<'_>, run: &LocalRun) -> Option<RestartCause> {
    let Problem { domain, observations, .. } = problem;
    let converged = !has_reals(domain) || run.slice.as_ref().is_some_and(|s| s.over);
    if !(converged || problem.settings.switches.restarts) {
        return None;
    }
    let value = |p: &usize| feasible_value(observations, *p);
    let mut values: Vec<f64> = run.now.members.iter().filter_map(value).collect();
    values.sort_by(f64::total_cmp);
    let (least, median) = (values.first()?, values[values.len() / 2]);
    let gain = if converged { 0.0 } else { WORTH * (median - least) };
    let reached = *run.now.members.iter().find(|p| value(p).is_some_and(|v| v <= least + gain))?;
    let idle = observations.all()[reached + 1..].iter().filter(|e| e.run == run.number).count();
    (idle >= PATIENCE * domain.free_parameters()).then_some(RestartCause::Neighbourhood)
}

fn has_reals(domain: &Domain) -> bool {
    domain.axes().contains(&Axis::Real)
}

impl Problem<'_> {
    /// Whether axis `i` of the frame turns, and is searched by samples and gradients.
    pub(super) fn moves(&self, i: usize) -> bool {
        let axis = self.domain.axes()[i];
        if self.scope == Scope::Reals { axis == Axis::Real } else { axis.turns() }
    }
}

/// Takes an evaluation into the search of the reals that it belongs to, if it has the same choices.
pub(super) fn place(
    domain: &Domain,
    observations: &Observations,
    run: &mut LocalRun,
    position: usize,
    succeeded: bool,
) {
    if let Some(survey) = &mut run.survey {
        survey::place(domain, observations, &mut survey.run, position, succeeded);
    }
    let of = observations.all()[position].run;
    for slice in run.slice.iter_mut().chain(&mut run.kept).filter(|slice| slice.run.number == of) {
        let Some(&first) = slice.run.now.members.first() else { continue };
        if domain.same_choices(observations.unit(first), observations.unit(position)) {
            slice.over &= !feasible_value(observations, position).is_some_and(|v| v < slice.best(observations));
            slice.run.place(position, succeeded);
        }
    }
}

impl Slice {
    fn best(&self, observations: &Observations) -> f64 {
        self.run.now.members.iter().filter_map(|&p| feasible_value(observations, p)).fold(f64::INFINITY, f64::min)
    }
}

/// The value of an observation that meets its constraints.
fn feasible_value(observations: &Observations, position: usize) -> Option<f64> {
    observations.value(position).filter(|_| observations.is_feasible(position))
}

/// What a run that is over leaves to the next: the search of the reals at the best point of all, while it has not converged.
pub(super) fn kept(observations: &Observations, over: &mut LocalRun) -> Option<Box<Slice>> {
    let best = observations.best().and_then(|p| observations.value(p));
    let left = over.slice.take().into_iter().chain(over.kept.take());
    let mut kept = left.into_iter().find(|slice| !slice.over && Some(slice.best(observations)) == best)?;
    kept.leads = false;
    Some(kept)
}

/// The next point: of the search of the reals, the survey and the search of everything in turn, each for as long as it finds better
/// points.
pub(super) fn propose(
    problem: Problem<'_>,
    run: &mut LocalRun,
    model: &mut Option<Model>,
    work: &mut Workspace,
    rng: &mut Rng,
    next: TrialId,
) -> Result<Choice, RestartCause> {
    if let Some(mut kept) = run.kept.take() {
        work.reclaim(model.take()); // it may be another's
        let observations = problem.observations;
        let outdone =
            run.now.members.iter().any(|&p| observations.value(p).is_some_and(|v| v < kept.best(observations)));
        if kept.decided_at != observations.len() {
            (kept.leads, kept.decided_at) = (!kept.leads, observations.len());
        }
        let step = (kept.leads && !outdone).then(|| step_of_reals(problem, &mut kept, model, work, rng, next));
        if !outdone && !matches!(step, Some(Err(_))) {
            run.kept = Some(kept);
        }
        if let Some(Ok(choice)) = step {
            return Ok(choice);
        }
        work.reclaim(model.take());
    }
    decide(problem, run);
    if let Some(mut slice) = run.slice.take_if(|s| s.leads) {
        let enough =
            slice.run.now.members.len() >= slice_settings(problem).initial_points.min(2 + reals(problem.domain));
        let step = enough.then(|| {
            reclaim_other(Scope::Reals, model, work);
            step_of_reals(problem, &mut slice, model, work, rng, next)
        });
        if let Some(step) = &step {
            (slice.over, slice.leads) = (step.is_err(), step.is_ok());
        }
        run.slice = Some(slice);
        if let Some(Ok(choice)) = step {
            return Ok(choice);
        }
    }
    if let Some(choice) = survey::propose(problem, run, model, work, rng, next) {
        return Ok(choice);
    }
    reclaim_other(Scope::Region, model, work);
    let leads = run.slice.as_ref().is_some_and(|s| s.leads);
    match prepare(problem, run, model, work, next)? {
        Prepared::Choice(choice) => Ok(choice),
        Prepared::Model(current) => choose(problem, run, current, work, rng, leads),
    }
}

/// Takes the memory of a model that serves another search.
pub(super) fn reclaim_other(scope: Scope, model: &mut Option<Model>, work: &mut Workspace) {
    work.reclaim(model.take_if(|m| m.scope != scope));
}

/// A step of the search of the reals alone.
fn step_of_reals(
    problem: Problem<'_>,
    slice: &mut Slice,
    model: &mut Option<Model>,
    work: &mut Workspace,
    rng: &mut Rng,
    next: TrialId,
) -> Result<Choice, RestartCause> {
    let settings = slice_settings(problem);
    let inner = Problem { settings: &settings, scope: Scope::Reals, ..problem };
    match prepare(inner, &mut slice.run, model, work, next)? {
        Prepared::Choice(choice) => Ok(choice),
        Prepared::Model(current) => choose(inner, &slice.run, current, work, rng, true),
    }
}

fn reals(domain: &Domain) -> usize {
    domain.axes().iter().filter(|a| **a == Axis::Real).count()
}

/// The settings for the search of the reals alone.
fn slice_settings(problem: Problem<'_>) -> Settings {
    let (settings, d) = (problem.settings, reals(problem.domain));
    let alone = settings.switches.check(d);
    alone.map_or_else(|_| settings.clone(), |s| Settings { budget: settings.budget, ..s })
}

/// Whose turn it is: after a success as before, after a failure the next of the reals, the survey and everything. A survey comes first,
/// until enough is known for a local search.
fn decide(problem: Problem<'_>, run: &mut LocalRun) {
    let Problem { domain, observations, .. } = problem;
    if noise::is_on(problem, run) {
        (run.slice, run.kept, run.survey) = (None, None, None); // the best value is no guide
        return;
    }
    let value = |p: &usize| observations.value(*p).unwrap_or(f64::INFINITY);
    let best = if problem.settings.switches.constraints > 0 {
        feasible::best_member(problem, run).map(|k| run.now.members[k])
    } else {
        run.now.members.iter().copied().min_by(|a, b| value(a).total_cmp(&value(b)))
    };
    let Some(best) = best else { return };
    survey::begin(problem, run);
    if run.slice.iter().chain(&run.survey).any(|s| s.decided_at == observations.len()) {
        return;
    }
    let improved = run.now.members.last() == Some(&best);
    let led = run.slice.as_ref().is_some_and(|s| s.leads);
    let surveyed = run.survey.as_ref().is_some_and(|s| s.leads);
    run.slice = has_reals(domain).then(|| slice_around(problem, run, best));
    let (reals, others) = (run.slice.as_ref().is_some_and(|s| !s.over), run.survey.is_some());
    let surveys = survey::is_first(problem, run)
        || others && if improved { surveyed || led && !reals } else { led || !surveyed && !reals };
    let leads = reals && !surveys && !surveyed && led == improved;
    for (search, leads) in run.slice.iter_mut().map(|s| (s, leads)).chain(run.survey.iter_mut().map(|s| (s, surveys))) {
        (search.leads, search.decided_at) = (leads, observations.len());
    }
}

/// The search of the reals around a point: the one there is, if it has the same choices.
fn slice_around(problem: Problem<'_>, run: &mut LocalRun, best: usize) -> Box<Slice> {
    let Problem { domain, observations, .. } = problem;
    let alike = |p: &usize| domain.same_choices(observations.unit(*p), observations.unit(best));
    let current = run.slice.take().filter(|s| s.run.now.members.first().is_some_and(alike));
    current.unwrap_or_else(|| {
        let members: Vec<usize> = run.now.members.iter().copied().filter(|p| alike(p)).collect();
        // Where whole numbers turn with the reals, the reals alone need axes of their own.
        let mut frame = run.now.frame.clone();
        if domain.axes().contains(&Axis::Whole) {
            frame = Frame::of_box(domain.dim()).with_scale(run.now.frame.scale().iter().copied());
        }
        let alone = LocalRun::with(run.number, members, frame, run.now.beta, run.now.noise.clone());
        Box::new(Slice { run: alone, leads: false, decided_at: 0, over: false })
    })
}

/// The shortcut of the reals alone; there is none for everything.
pub(super) fn shortcut(
    problem: Problem<'_>,
    run: &LocalRun,
    gp: &Gp,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    if problem.scope != Scope::Reals {
        return None;
    }
    let axes: Vec<usize> = (0..problem.domain.dim()).filter(|&i| problem.moves(i)).collect();
    let mut x = Matrix::zeros(gp.len(), axes.len());
    for (k, &i) in axes.iter().enumerate() {
        x.col_mut(k).copy_from_slice(&gp.inputs().col(i)[..gp.len()]);
    }
    let reals = |u: &[f64]| -> Vec<f64> { axes.iter().map(|&i| u[i]).collect() };
    let points: Vec<Vec<f64>> = run.now.members.iter().map(|&p| reals(problem.observations.unit(p))).collect();
    let frame = run.now.frame.block(&axes);
    let points = || points.iter().map(Vec::as_slice);
    let mut found = shortcut::look(problem, run, gp, (&x, &frame), points, outputs, work)?;
    let mut u = run.now.frame.centre().to_vec();
    for (&i, value) in axes.iter().zip(&found.u) {
        u[i] = *value;
    }
    found.u = u;
    Some(found)
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
    neighbours.retain_mut(|x| {
        if !(problem.known.is_empty() || problem.known.known.admits(domain, x)) {
            return false;
        }
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
    reals_only: bool,
) -> Result<Choice, RestartCause> {
    let Problem { domain, settings, pending, seen, .. } = problem;
    let mut search = search_of(problem, run)?;
    let wide = problem.scope == Scope::Survey;
    if wide {
        let moving = run.now.frame.scale().iter().enumerate().filter(|(i, _)| problem.moves(*i));
        search.beta = moving.fold(1.0, |beta: f64, (_, scale)| beta.max(2.0 / scale)); // every way through the box
    }
    // Under noise a point may be evaluated again, but not while it is.
    let again = model.fit.gp.prior().noise > 0.0;
    let is_new = |x: &[f64]| if again { pending.iter().all(|p| p.x != x) } else { !seen.contains(x) };
    let best = best_of(problem, run, &model.outputs);
    let over =
        best.filter(|_| !(reals_only || wide || again || is_small(domain))).filter(|_| settled(problem, run).is_some());
    let neighbours = over.map(|b| untried(problem, run.now.members[b])).unwrap_or_default();
    let moves =
        (0..domain.dim()).map(|i| problem.moves(i) && (!reals_only || domain.axes()[i] == Axis::Real)).collect();
    let mut limits = Vec::with_capacity(domain.dim());
    reach(problem, run, search.beta, &mut limits);
    let maximiser = &mut work.maximiser;
    let mut climb = Climb { problem, run, model, search, moves, reals_only, reach: limits, maximiser };
    let mut found: Vec<Scored> = if !neighbours.is_empty() {
        climb.score(&climb.places(&neighbours), false)
    } else if is_small(domain) {
        climb.score(&climb.places(&listed(problem, is_new)), false)
    } else {
        climb.search(rng)
    };
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut x = vec![0.0; domain.parameters().len()];
    for Scored { u, mean, score } in found {
        domain.to_user(&u, &mut x);
        if !(problem.known.is_empty() || problem.known.known.admits(domain, &mut x)) {
            continue;
        }
        if is_new(&x) {
            let predicted = settings.switches.direction.orient(model.outputs.to_user(mean));
            return Ok(Choice { x, origin: Origin::Model, acquisition: score, predicted, clipped: 0 });
        }
    }
    Err(RestartCause::NoNewPoint)
}

/// Every configuration of a small space that is allowed and may be suggested.
fn listed(problem: Problem<'_>, is_new: impl Fn(&[f64]) -> bool) -> Vec<Vec<f64>> {
    if let Some(listed) = &problem.known.listed {
        return listed.iter().filter(|x| is_new(x)).cloned().collect();
    }
    let domain = problem.domain;
    let length = domain.list_length().unwrap_or(0);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut known = Seen::with_capacity(0);
    for x in (0..length).map(|k| domain.listed(k)) {
        if is_new(&x) && !known.contains(&x) {
            known.insert(&x);
            found.push(x);
        }
    }
    found
}

/// Any configuration that was never suggested and is allowed; `None` if none is found (in a space of reals, a hit is no accident).
pub(super) fn unseen(
    domain: &Domain,
    limited: &Limited,
    seen: &Seen,
    told: &[Evaluation],
    rng: &mut Rng,
) -> Option<Vec<f64>> {
    if !domain.is_mixed() {
        return None;
    }
    let is_new = |x: &mut Vec<f64>| (limited.is_empty() || limited.known.admits(domain, x)) && !seen.contains(x);
    let mut x = vec![0.0; domain.parameters().len()];
    for _ in 0..TRIES {
        let cube: Vec<f64> = x.iter().map(|_| rng.between(-1.0, 1.0)).collect();
        domain.to_user(&domain.embed(&cube), &mut x);
        if is_new(&mut x) {
            return Some(x);
        }
    }
    // Tries that all hit leave few: going through the list from a random place finds one soon enough, unless constraints leave hardly
    // any. Those lie next to what was told.
    let length = domain.list_length()?;
    let start = (rng.unit() * length as f64) as u64;
    let most = if limited.is_empty() { length } else { length.min(LISTED) };
    let listed = (0..most).map(|k| domain.listed((start + k) % length));
    let mut all = listed.chain(told.iter().flat_map(|e| domain.neighbours(&e.x)));
    all.find_map(|mut x| is_new(&mut x).then_some(x))
}
