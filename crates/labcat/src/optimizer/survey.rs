//! In a space with labels, a look at all of it: a run that holds what every local run was told, in the box's own axes, and has no trust
//! region (where there is nothing but labels, the region is the whole space already). Which labels belong together, and where the reals then lie, is seen from afar; the local runs find it exactly.

use super::mixed;
use super::model::{Model, Workspace};
use super::noise::Known;
use super::propose::{Choice, Prepared, Problem, Scope, prepare};
use super::run::{LocalRun, Slice};
use crate::domain::{Axis, Domain};
use crate::frame::Frame;
use crate::observations::{Observations, TrialId};
use crate::rng::Rng;

/// Evaluations per coordinate of the box before a local search begins.
const FIRST: usize = 2;
/// The most observations of its model, if the local runs do not keep more.
const KEEP: usize = 200;
/// Observations with the same whole numbers and choices and reals as near as this, in units of the box, are one: the better of them.
const ALIKE: f64 = 0.02;

/// Begins the survey where there is to be one, with what was told last.
pub(super) fn begin(problem: Problem<'_>, run: &mut LocalRun) {
    let Problem { domain, observations, .. } = problem;
    let has_more = domain.axes().iter().any(|axis| *axis != Axis::Choice);
    if !(domain.has_labels() && has_more) || mixed::is_small(domain) {
        run.survey = None;
    } else if run.survey.is_none() {
        let mut all = LocalRun::with(0, Vec::new(), Frame::of_box(domain.dim()), 1.0, Known::default());
        for position in observations.len().saturating_sub(KEEP)..observations.len() {
            place(domain, observations, &mut all, position, observations.value(position).is_some());
        }
        run.survey = Some(Box::new(Slice { run: all, leads: false, decided_at: 0, over: false }));
    }
}

/// Whether too little is known for a local search.
pub(super) fn is_first(problem: Problem<'_>, run: &LocalRun) -> bool {
    run.survey.is_some() && run.number == 0 && problem.observations.len() <= FIRST * problem.domain.dim()
}

/// Takes an evaluation in, unless a better one is next to it.
pub(super) fn place(
    domain: &Domain,
    observations: &Observations,
    survey: &mut LocalRun,
    position: usize,
    succeeded: bool,
) {
    let (value, u) = (observations.value(position), observations.unit(position));
    let alike = |p: &usize| {
        let v = observations.unit(*p);
        domain.same_choices(u, v) && u.iter().zip(v).all(|(a, b)| (a - b).abs() <= ALIKE)
    };
    if let Some(other) = survey.now.members.iter().copied().filter(|_| succeeded).find(alike) {
        if observations.value(other) <= value {
            return;
        }
        survey.now.members.retain(|&p| p != other);
    }
    survey.place(position, succeeded);
}

/// The next point of the survey, if it is its turn and has one.
pub(super) fn propose(
    problem: Problem<'_>,
    run: &mut LocalRun,
    model: &mut Option<Model>,
    work: &mut Workspace,
    rng: &mut Rng,
    next: TrialId,
) -> Option<Choice> {
    let survey = run.survey.as_mut().filter(|survey| survey.leads)?;
    let mut settings = problem.settings.clone();
    settings.rotation = None;
    settings.region.keep = settings.region.keep.max(KEEP);
    let wide = Problem { settings: &settings, scope: Scope::Survey, ends: false, ..problem };
    mixed::reclaim_other(wide.scope, model, work);
    match prepare(wide, &mut survey.run, model, work, next).ok()? {
        Prepared::Choice(choice) => Some(choice),
        Prepared::Model(current) => mixed::choose(wide, &survey.run, current, work, rng, false).ok(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
