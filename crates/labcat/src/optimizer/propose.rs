//! The algorithm itself: [`Optimizer::propose`] and [`update_model`] are Algorithm 2 of the paper, one call per line.

use super::feasible::{self, Limits};
use super::landscape;
use super::model::{self, Model, Workspace};
use super::noise::Found;
use super::report::{Origin, RestartCause};
use super::run::LocalRun;
use super::{Limited, Optimizer, Pending, config::Settings, mixed, noise, seen::Seen, shortcut};
use crate::acquisition::maximise::Search;
use crate::domain::Domain;
use crate::math;
use crate::observations::{Observations, TrialId};
use crate::rng::Rng;

/// What a step reads and never changes.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub(super) domain: &'a Domain,
    pub(super) settings: &'a Settings,
    pub(super) known: &'a Limited,
    pub(super) observations: &'a Observations,
    pub(super) pending: &'a [Pending],
    pub(super) seen: &'a Seen,
    /// How many evaluations the user will have outstanding at a time, 0 if he has not said.
    pub(super) expected: usize,
    /// What the runs that are over would recommend under noise.
    pub(super) found: Option<&'a Found>,
    /// Whether a run that has converged is over: not for a look at its model.
    pub(super) ends: bool,
    /// What is searched.
    pub(super) scope: Scope,
}

/// What a step searches, in a space with whole numbers or choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// The trust region.
    Region,
    /// The reals of the trust region, with everything else as in the best point.
    Reals,
    /// The whole box.
    Survey,
}

/// What a step of an optimizer reads; a macro, because the step changes the other fields meanwhile.
macro_rules! problem {
    ($optimizer:expr) => {
        Problem {
            domain: &$optimizer.domain,
            settings: &$optimizer.settings,
            known: &$optimizer.known,
            observations: &$optimizer.observations,
            pending: &$optimizer.pending,
            seen: &$optimizer.seen,
            expected: $optimizer.expected,
            found: $optimizer.found.as_ref(),
            ends: true,
            scope: Scope::Region,
        }
    };
}
pub(super) use problem;

impl Problem<'_> {
    /// Whether there are limits besides the bounds.
    pub(super) fn is_constrained(&self) -> bool {
        self.settings.switches.constraints > 0 || !self.known.is_empty()
    }
}

/// The next point, and where it comes from.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// In user units.
    pub(super) x: Vec<f64>,
    pub(super) origin: Origin,
    /// Acquisition value.
    pub(super) acquisition: f64,
    /// What the model predicts there, in user units.
    pub(super) predicted: f64,
    /// Samples that had to be clipped to the bounds.
    pub(super) clipped: usize,
}

impl Choice {
    /// A point that no model chose.
    pub(super) fn given(x: Vec<f64>, origin: Origin) -> Self {
        Self { x, origin, acquisition: 0.0, predicted: 0.0, clipped: 0 }
    }
}

impl Optimizer {
    /// Algorithm 2, lines 6–12: brings the model up to date with what was told, and chooses the next point.
    pub(super) fn propose(&mut self) -> Result<Choice, RestartCause> {
        let (problem, next) = (problem!(self), TrialId(self.next_id));
        let (run, model, work, rng) = (&mut self.run, &mut self.model, &mut self.work, &mut self.rng);
        if problem.domain.is_mixed() {
            return mixed::propose(problem, run, model, work, rng, next);
        }
        match prepare(problem, run, model, work, next)? {
            Prepared::Choice(choice) => Ok(choice),
            Prepared::Model(current) => maximise_acquisition(problem, run, current, work, rng), // line 12: x_EI
        }
    }
}

/// What a step has before the acquisition function is maximised.
pub(super) enum Prepared<'a> {
    /// The point of a shortcut.
    Choice(Choice),
    /// The model, with pending points in it.
    Model(&'a Model),
}

/// Brings the model up to date, and follows its shortcut if it has one.
pub(super) fn prepare<'a>(
    problem: Problem<'_>,
    run: &mut LocalRun,
    model: &'a mut Option<Model>,
    work: &mut Workspace,
    next: TrialId,
) -> Result<Prepared<'a>, RestartCause> {
    // A step that was made before is only made again, or still at hand; what was revised or set since may end the run all the same.
    let known = run.started() && run.fresh() == 0;
    let mut current = match model.take() {
        Some(current) if known => current,
        outdated => {
            work.reclaim(outdated);
            let mut new = update_model(Problem { ends: problem.ends && !known, ..problem }, run, work)?; // lines 6–11
            new.avoid_failures(problem, run);
            new
        }
    };
    if let Some(cause) = known.then(|| model::why_over(problem, run, &current.outputs)).flatten() {
        work.reclaim(Some(current));
        return Err(cause);
    }
    let shortcut = current.shortcut.take();
    let current = model.insert(current);
    // With points pending the step may be one done again, whose shortcut was followed before.
    let and_nearby = shortcut.is_none() || !problem.pending.is_empty();
    let mut choice = shortcut.and_then(|s| shortcut::follow(problem, run, &s, next));
    if choice.is_none() && and_nearby {
        let further = shortcut::look_further(problem, run, &current.outputs, work);
        choice = further.and_then(|s| shortcut::follow(problem, run, &s, next));
    }
    if choice.is_none() && and_nearby {
        let nearby = shortcut::look_nearby(problem, run, &current.outputs, work, next);
        choice = nearby.and_then(|s| shortcut::follow(problem, run, &s, next));
    }
    if let Some(choice) = choice {
        return Ok(Prepared::Choice(choice));
    }
    if let Some(position) = current.again {
        let x = problem.observations.all()[position].x.clone();
        if problem.pending.iter().all(|p| p.x != x) {
            return Ok(Prepared::Choice(Choice::given(x, Origin::Repeat)));
        }
    }
    current.imagine_pending(problem, run);
    Ok(Prepared::Model(current))
}

/// Algorithm 2, lines 6–11: the model of what was told, in the frame that it makes. A step is a function of the run as it began
/// and of the history: done again, it gives the same model, bit for bit.
pub(super) fn update_model(
    problem: Problem<'_>,
    run: &mut LocalRun,
    work: &mut Workspace,
) -> Result<Model, RestartCause> {
    let (news, passes) = model::begin_step(problem, run, work);
    if noise::is_on(problem, run) {
        let model = noise::update_model(problem, run, work, (news, passes))?;
        return Ok(limited(problem, run, model, work));
    }
    let outputs = model::normalise_outputs(problem, run, work, true); // line 6: T_minmax
    run.now.spread = run.now.spread.max(outputs.spread());
    let best = model::best_member(problem, run, &outputs)?; // line 5: converged?
    model::adapt_trust_region(problem, run, best, news);
    model::centre(problem, run, run.now.members[best]); // line 7: T_cen
    let mut fit = None;
    for _ in 0..passes {
        work.reclaim_fit(fit.take());
        model::rotate(problem, run, &outputs, work); // line 7: T_rot
        fit = Some(model::fit_and_rescale(problem, run, work)?); // lines 8–10: GP, ℓ*, T_resc
    }
    let mut fit = fit.ok_or(RestartCause::Factorisation)?;
    let again = noise::doubtful(problem, run, (&fit.gp, &outputs), best, work);
    let discarded = model::discard(problem, run, &mut fit.gp, best, work); // line 11: T_discard
    let shortcut = shortcut::find(problem, run, &fit.gp, &outputs, work);
    let (limits, joint) = (Limits::default(), model::join_gradients(problem, run, &fit.gp, &outputs));
    let (incumbent, scope) = (0.0, problem.scope);
    let model = Model { fit, outputs, discarded, shortcut, again, avoided: 0, incumbent, scope, limits, joint };
    Ok(limited(problem, run, model, work))
}

/// The model with those of the constraints.
fn limited(problem: Problem<'_>, run: &mut LocalRun, mut model: Model, work: &mut Workspace) -> Model {
    if problem.is_constrained() {
        model.limits = feasible::fit(problem, run, &mut model, &mut work.quadratic);
        landscape::settle(problem, run, &mut model);
        if noise::is_on(problem, run) {
            landscape::recommend(problem, run, &mut model);
        }
    }
    model
}

/// The most promising candidate that was never suggested before.
fn maximise_acquisition(
    problem: Problem<'_>,
    run: &LocalRun,
    model: &Model,
    work: &mut Workspace,
    rng: &mut Rng,
) -> Result<Choice, RestartCause> {
    let Problem { domain, settings, pending, seen, .. } = problem;
    let search = search_of(problem, run)?;
    if problem.is_constrained() || model.joint.is_some() {
        return landscape::search(problem, run, model, &search, work, rng);
    }
    // Under noise a point may be evaluated again, but not while it is.
    let again = model.fit.gp.prior().noise > 0.0;
    let is_new = |x: &[f64]| if again { pending.iter().all(|p| p.x != x) } else { !seen.contains(x) };
    let acquisition = settings.switches.acquisition;
    let maximiser = &mut work.maximiser;
    maximiser.run(&model.fit.gp, &run.now.frame, model.incumbent, acquisition, &search, rng);
    let mut x = vec![0.0; domain.dim()];
    while let Some(candidate) = maximiser.best() {
        domain.to_user(candidate.u, &mut x);
        if is_new(&x) && !model.is_imagined(run, candidate.u) {
            let predicted = settings.switches.direction.orient(model.outputs.to_user(candidate.mean));
            let (acquisition, clipped) = (candidate.score, maximiser.clipped);
            return Ok(Choice { x, origin: Origin::Model, acquisition, predicted, clipped });
        }
        let index = candidate.index;
        maximiser.strike(index);
    }
    Err(RestartCause::NoNewPoint)
}

/// How the acquisition function is to be maximised now.
pub(super) fn search_of(problem: Problem<'_>, run: &LocalRun) -> Result<Search, RestartCause> {
    let settings = problem.settings;
    // Each failure in a row halves the region looked at: where a border of failures is near, the next point comes nearer to
    // what is known to work. (Powers of two are exact.)
    let halvings = run.failures_in_a_row().min(1000) as i32;
    let beta = run.now.beta * 0.5_f64.powi(halvings);
    if halvings > 0 && model::is_narrow(problem, run, beta, run.now.frame.centre()) {
        return Err(RestartCause::TrustRegion);
    }
    let daring = if run.explores() { settings.switches.explore_optimism } else { 1.0 };
    let beta = beta * share_of_region(problem, run);
    Ok(Search { beta, optimism: settings.search.optimism * daring, ..settings.search })
}

/// How much of the trust region a suggestion looks at. One region has use for few points at a time; where more than these are on
/// their way, they would all lie along its rim, so that it hardly shrinks. Then suggestions take regions of every size, the smallest
/// one smaller by the root of how many times too many they are, in the order of van der Corput's sequence.
fn share_of_region(problem: Problem<'_>, run: &LocalRun) -> f64 {
    const OF_USE: f64 = 0.5;
    let crowd = (1.0 + run.now.others as f64) / (OF_USE * problem.domain.free_parameters() as f64);
    if run.now.others == 0 || crowd <= 1.0 {
        return 1.0;
    }
    let suggested = (problem.observations.len() + problem.pending.len()) as u64;
    math::pow(crowd, -0.5 * (suggested.reverse_bits() as f64 / u64::MAX as f64))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
