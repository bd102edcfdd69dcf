//! The shortcut: a linear or quadratic fit that forecasts far better than the model is followed to its minimum.

use super::feasible;
use super::mixed;
use super::model::Workspace;
use super::propose::{Choice, Problem};
use super::report::Origin;
use super::run::LocalRun;
use crate::frame::{Frame, Outputs};
use crate::gp::Gp;
use crate::linalg::Matrix;
use crate::observations::TrialId;
use crate::quadratic::Terms;

/// A shortcut that gained less than this part of what it promised is not followed again at once.
const KEPT: f64 = 0.5;

/// What a shortcut promised when it was followed.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Promise {
    /// The evaluation that will show.
    id: TrialId,
    /// The best value then, and the value promised.
    from: f64,
    to: f64,
}

impl Promise {
    /// Whether it was broken, and fewer observations have come in since than there are coefficients in a linear fit.
    fn is_fresh_and_broken(self, problem: Problem<'_>, run: &LocalRun) -> bool {
        let observations = problem.observations;
        let (Some(shown), Some(&newest)) = (observations.position(self.id), run.now.members.last()) else {
            return false;
        };
        let gained = if problem.is_constrained() {
            feasible::gained(problem, run, self.from, shown)
        } else {
            observations.value(shown).map_or(0.0, |value| self.from - value)
        };
        gained < KEPT * (self.from - self.to) && newest.saturating_sub(shown) <= problem.domain.dim()
    }
}

/// Where a fit has its minimum.
#[derive(Clone, Debug)]
pub(super) struct Shortcut {
    /// In the box.
    pub(super) u: Vec<f64>,
    /// The best value so far and the value that the fit promises, smaller is better.
    pub(super) from: f64,
    pub(super) to: f64,
}

/// Finds out whether a linear or quadratic fit of the other members would have forecast the newest one far better than the model,
/// and promises far more than its error; if so, where it has its minimum.
pub(super) fn find(
    problem: Problem<'_>,
    run: &LocalRun,
    gp: &Gp,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    if problem.domain.is_mixed() {
        return mixed::shortcut(problem, run, gp, outputs, work);
    }
    let (members, observations) = (&run.now.members, problem.observations);
    let points = || members.iter().map(|&p| observations.unit(p));
    look(problem, run, gp, (gp.inputs(), &run.now.frame), points, outputs, work)
}

/// As [`find`], for inputs in a frame and the same points in its box.
pub(super) fn look<'a, I: Iterator<Item = &'a [f64]>>(
    problem: Problem<'_>,
    run: &LocalRun,
    gp: &Gp,
    (x, frame): (&Matrix, &Frame),
    points: impl Fn() -> I,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    let (switches, observations, members) = (&problem.settings.switches, problem.observations, &run.now.members);
    let broken = run.promise.is_some_and(|promise| promise.is_fresh_and_broken(problem, run));
    let (newest, above) = gp.surprise().filter(|_| switches.quadratic && !broken)?;
    if problem.is_constrained() {
        return feasible::shortcut(problem, run, gp, outputs, work);
    }
    let (n, range) = (gp.len(), outputs.range());
    let allowed = switches.quadratic_margin * (outputs.to_user(newest) - outputs.to_user(newest - above)).abs();
    let y = &mut work.linear;
    y.clear();
    y.extend(members.iter().filter_map(|&p| observations.value(p)).map(|v| (v - outputs.minimum()) / range));
    work.scratch.clear();
    work.scratch.extend_from_slice(y);
    work.scratch.sort_unstable_by(f64::total_cmp);
    let typical = work.scratch[n / 2];
    upright(frame.centre(), &points, &mut work.upright, &mut work.upright_inputs, &mut work.scratch);
    let (turned, upright) = ((frame, x), (&work.upright, &work.upright_inputs));
    let fit = &mut work.quadratic;
    for (terms, (frame, x)) in
        [(Terms::Linear, turned), (Terms::Squares, turned), (Terms::Squares, upright), (Terms::All, turned)]
    {
        if fit.fit(terms, x, y, y, n - 1, typical) {
            let error = (fit.at_row(x, n - 1) - y[n - 1]).abs();
            if error * range <= allowed && fit.fit(terms, x, y, y, n, typical) {
                let lowest = fit.minimise(frame, points());
                let (from, to) = (outputs.minimum(), outputs.minimum() + lowest * range);
                if error < switches.quadratic_margin * -lowest && to.is_finite() {
                    return Some(Shortcut { u: fit.minimiser.clone(), from, to });
                }
            }
        }
    }
    None
}

/// The members in a frame along the box's own axes, each scaled by how far they spread: there squares alone see a separable function.
fn upright<'a, I: Iterator<Item = &'a [f64]>>(
    centre: &[f64],
    points: &impl Fn() -> I,
    frame: &mut Frame,
    inputs: &mut Matrix,
    scratch: &mut Vec<f64>,
) {
    if frame.dim() != centre.len() {
        *frame = Frame::of_box(centre.len());
    }
    let spread = |j: usize| points().fold(f64::MIN_POSITIVE, |most: f64, u| most.max((u[j] - centre[j]).abs()));
    *frame = std::mem::take(frame).centred(centre).with_scale((0..centre.len()).map(spread));
    inputs.reshape(points().count(), centre.len());
    scratch.resize(centre.len(), 0.0);
    for (row, u) in points().enumerate() {
        frame.to_local(u, scratch);
        for (j, x) in scratch.iter().enumerate() {
            inputs[(row, j)] = *x;
        }
    }
}

/// Goes to the minimum of the fit: once, and not while another shortcut is on its way. The evaluation will have the id `next`.
pub(super) fn follow(problem: Problem<'_>, run: &mut LocalRun, shortcut: &Shortcut, next: TrialId) -> Option<Choice> {
    let mut x = vec![0.0; problem.domain.parameters().len()];
    problem.domain.to_user(&shortcut.u, &mut x);
    if !(problem.known.is_empty() || problem.known.known.admits(problem.domain, &mut x)) {
        return None;
    }
    let on_its_way = run.promise.is_some_and(|promise| problem.pending.iter().any(|p| p.id == promise.id));
    if on_its_way || problem.seen.contains(&x) {
        return None;
    }
    run.promise = Some(Promise { id: next, from: shortcut.from, to: shortcut.to });
    let predicted = problem.settings.switches.direction.orient(shortcut.to);
    Some(Choice { predicted, ..Choice::given(x, Origin::Quadratic) })
}
