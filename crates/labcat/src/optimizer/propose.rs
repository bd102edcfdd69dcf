//! The algorithm itself: [`propose`] and [`update_model`] are Algorithm 2 of the paper, one call per line.

use super::dataset::Output;
use super::model::{self, Model, Workspace};
use super::problem::{Choice, Problem};
use super::report::{Origin, RestartCause};
use super::run::{Extent, LocalRun};
use super::{convergence, forecast, recommend, search};
use crate::observations::TrialId;
use crate::rng::Rng;

/// What a step works with.
pub(super) struct Tools<'a> {
    pub(super) model: &'a mut Option<Model>,
    pub(super) work: &'a mut Workspace,
    pub(super) rng: &'a mut Rng,
    /// The id of the evaluation that the step proposes.
    pub(super) next: TrialId,
}

/// The next point of a run, by a search of this extent.
pub(super) fn propose(
    problem: Problem<'_>,
    run: &mut LocalRun,
    Tools { model, work, rng, next }: &mut Tools<'_>,
    extent: Extent,
) -> Result<Choice, RestartCause> {
    work.reclaim(model.take_if(|m| m.extent != run.extent)); // it serves another search
    let at_hand = model.take();
    let current = model.insert(current_model(problem, run, at_hand, work)?); // lines 5–11
    if let Some(cause) = convergence::why_over_by_step(problem, run, &current.standing) {
        return Err(cause);
    }
    current.imagine_pending(problem, run);
    let doubted = current.again.map(|position| &problem.observations.all()[position]);
    let again = doubted.filter(|best| problem.pending.iter().all(|p| p.x != best.x));
    // Residuals always lead somewhere: what is doubted comes first.
    let waits = again.is_none_or(|best| best.outcome.residuals().is_empty());
    if let Some(choice) = waits.then(|| forecast::next(problem, run, current, work, *next)).flatten() {
        return Ok(choice);
    }
    if let Some(best) = again {
        return Ok(Choice::given(best.x.clone(), Origin::Repeat));
    }
    search::search(problem, run, current, work, rng, extent) // line 12: x_EI
}

/// The model of a run as it is: the one at hand, or one made now. A step made before is made again; what was revised since may end the run.
fn current_model(
    problem: Problem<'_>,
    run: &mut LocalRun,
    at_hand: Option<Model>,
    work: &mut Workspace,
) -> Result<Model, RestartCause> {
    let known = run.started() && run.fresh() == 0;
    let current = match at_hand {
        Some(current) if known => current,
        outdated => {
            work.reclaim(outdated);
            let mut new = update_model(Problem { ends: problem.ends && !known, ..problem }, run, work)?;
            new.avoid_failures(problem, run);
            new
        }
    };
    let over = known && !problem.domain.is_mixed();
    match over.then(|| convergence::why_over(problem, run, &current.outputs, &current.standing)).flatten() {
        Some(cause) => {
            work.reclaim(Some(current));
            Err(cause)
        }
        None => Ok(current),
    }
}

/// Algorithm 2, lines 5–11: the model of what was told, in the frame that it makes. A step is a function of the run as it began
/// and of the history: done again, it gives the same model, bit for bit.
pub(super) fn update_model(
    problem: Problem<'_>,
    run: &mut LocalRun,
    work: &mut Workspace,
) -> Result<Model, RestartCause> {
    let (news, passes) = model::begin_step(problem, run, work);
    let outputs = model::normalise_outputs(problem, run, Output::Objective, work); // line 6: T_minmax
    run.now.spread = run.now.spread.max(outputs.spread());
    let standing = model::assess(problem, run, &outputs, work)?; // merits, without the noise
    if let Some(cause) = convergence::why_over(problem, run, &outputs, &standing) {
        return Err(cause); // line 5: converged?
    }
    model::adapt_trust_region(problem, run, &standing, news);
    model::centre(problem, run, standing.best); // line 7: T_cen
    let (mut gp, step, doubtful) = model::fit_model(problem, run, &outputs, passes, work)?; // lines 7–10: T_rot, GP, ℓ*, T_resc
    let made = model::discard(problem, run, (&mut gp, step), &standing, work); // line 11: T_discard
    let surrogate = model::surrogate(problem, run, gp, &outputs, work); // constraints and slopes
    let again = (doubtful || model::is_unsure(problem, run)).then_some(standing.best);
    let (incumbent, minimum, follows, lowest, settled, extent) = (0.0, Vec::new(), false, Vec::new(), 0, run.extent);
    let mut model =
        Model { surrogate, outputs, standing, made, again, incumbent, minimum, follows, lowest, settled, extent };
    recommend::settle(problem, run, &mut model);
    Ok(model)
}

#[cfg(test)]
mod tests;
