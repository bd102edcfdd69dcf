//! Line 5: why a run has no more to give. Each criterion has a name; the first of a list that is met gives the cause.

use super::merit::Merit;
use super::model::Standing;
use super::problem::Problem;
use super::report::RestartCause::{self, Hopeless, Neighbourhood, OutputRange, Stalled, Tolerance, TrustRegion};
use super::run::LocalRun;
use super::{dataset, region};
use crate::domain::Axis;
use crate::frame::Outputs;

/// Under noise a run ends after this many evaluations per dimension in which its recommendation became no better.
const NO_BETTER: usize = 40;
/// A run ends by its precision only once no half-width of its region exceeds this part of the box.
const SMALL_REGION: f64 = 1e-4;
/// The part of the distance to the best of all runs that a step of a run predicts at least, while it is worth its evaluations.
pub(super) const HOPELESS: f64 = 0.01;
/// A run creeps, and is over, when so many evaluations for each coefficient of a linear trend gained less than this part of a residual's variance.
const CREEPING: usize = 2;
const STALLED: f64 = 0.05;

/// A criterion, and what it is the cause of.
type Criterion<'a> = (&'a dyn Fn() -> bool, RestartCause);

fn first(criteria: &[Criterion<'_>]) -> Option<RestartCause> {
    criteria.iter().find(|(is_met, _)| is_met()).map(|(_, cause)| *cause)
}

/// Why a run has no more to give, if so, by what its members are worth.
pub(super) fn why_over(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    standing: &Standing,
) -> Option<RestartCause> {
    let (switches, now, range, noisy) = (&problem.settings.switches, &run.now, standing.range, standing.noisy);
    let on_lattice = run.is_on_lattice(problem.domain);
    let (exact_reals, exact_lattice, (least, most)) = (!on_lattice && !noisy, on_lattice && !noisy, standing.penalties);
    // Violations that are all alike, as many as the model keeps, lead nowhere.
    let equally_infeasible = || {
        let alike = most - least <= switches.precision * most && now.members.len() >= dataset::keep(problem, run);
        alike && switches.restarts && exact_reals
    };
    let no_neighbour_left =
        || exact_lattice && region::settled(problem, run) && region::untried(problem, standing.best).is_empty();
    let within_tolerance = || !exact_lattice && switches.tolerance.is_some_and(|t| range <= t);
    let no_better = || {
        let stalled = now.noise.best.map_or(0, |(_, then)| now.told.saturating_sub(then));
        noisy && stalled >= NO_BETTER * problem.domain.dim()
    };
    // It does not know where zero is: the run's own spread, and below it the rounding of the outputs. With pending evaluations digits
    // cost little time and a restart much: each of them has to agree.
    // The widest spread says nothing of a function that fell by twenty orders of magnitude: the region has to be small as well.
    let within_precision = || {
        let wide = now.frame.scale().iter().any(|s| now.beta * s > SMALL_REGION);
        let precision = if wide { 0.0 } else { switches.precision / (1.0 + now.others as f64) };
        exact_reals && range <= (precision * now.spread).max(4.0 * f64::EPSILON * outputs.largest())
    };
    let far_behind = || {
        let (own, overall) =
            if noisy { (standing.low, problem.bound) } else { (standing.merit, problem.observations.incumbent()) };
        let behind = own - overall.unwrap_or(f64::INFINITY);
        switches.give_up.is_some_and(|most| switches.restarts && behind > most * range)
    };
    let narrow = || !on_lattice && is_narrow(problem, run, now.beta, problem.observations.unit(standing.best));
    match least > 0.0 {
        _ if !problem.ends => None,
        true => first(&[(&equally_infeasible, OutputRange)]), // the values say nothing of convergence
        false if exact_lattice && region::is_small(problem.domain) => None, // every configuration will be tried
        false => first(&[
            (&no_neighbour_left, Neighbourhood),
            (&within_tolerance, Tolerance),
            (&no_better, RestartCause::Noise),
            (&within_precision, OutputRange),
            (&far_behind, Hopeless),
            (&narrow, TrustRegion),
        ]),
    }
}

/// Whether there are residuals, and the run moves reals alone.
pub(super) fn is_modelled(problem: Problem<'_>, run: &LocalRun, standing: &Standing) -> bool {
    !run.is_on_lattice(problem.domain) && !problem.observations.residuals(standing.best).is_empty()
}

/// Why a run that follows residuals or told slopes has no more to give, if so, by what its newest step predicted and showed.
pub(super) fn why_over_by_step(problem: Problem<'_>, run: &LocalRun, standing: &Standing) -> Option<RestartCause> {
    let (observations, switches) = (problem.observations, &problem.settings.switches);
    let followed = run.followed.filter(|f| f.gain > 0.0)?;
    let shown = observations.position(followed.id)?;
    let sloped = problem.constraints() == 0 && observations.gradient(standing.best).next().is_some();
    let modelled = is_modelled(problem, run, standing);
    if !(modelled || sloped) || run.radius == 0.0 || !problem.ends || standing.noisy {
        return None;
    }
    let behind = standing.merit - observations.incumbent().unwrap_or(standing.merit);
    let inside = followed.length < run.radius; // it leads to a minimum
    let nothing_changed = || {
        let scale = if modelled { standing.merit } else { standing.range.min(standing.merit.abs()) };
        let merit = Merit::of_told(problem, run).told(problem, shown);
        let changed = merit.map_or(f64::INFINITY, |merit| followed.from - merit);
        followed.gain.max(changed.abs()) <= switches.precision * scale
    };
    let too_little_to_gain = || switches.restarts && inside && followed.gain < HOPELESS * behind;
    // The best of all runs does not creep while its minimum lies inside the trust region: it converges, and ends when that is precise.
    let creeping = || {
        let own = (0..observations.len()).filter(|&p| observations.all()[p].run == run.number);
        let values: Vec<f64> = own.map(|p| observations.feasible_value(p).unwrap_or(f64::INFINITY)).collect();
        let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
        let before = values.len().saturating_sub(CREEPING * (1 + problem.domain.dim().max(run.now.others)));
        let variance = standing.merit / observations.residuals(standing.best).len() as f64;
        before > 0 && least(&values[..before]) - least(&values) < STALLED * variance
    };
    let creeps = || switches.restarts && modelled && !(inside && behind <= 0.0) && creeping();
    first(&[(&nothing_changed, OutputRange), (&too_little_to_gain, Hopeless), (&creeps, Stalled)])
}

/// Why a run whose newest evaluations failed has no more to give, if so: the smaller region that it looks at for that is too narrow.
pub(super) fn why_over_by_failures(problem: Problem<'_>, run: &LocalRun, beta: f64) -> Option<RestartCause> {
    let narrow = run.failures_in_a_row() > 0 && is_narrow(problem, run, beta, run.now.frame.centre());
    narrow.then_some(TrustRegion)
}

/// Whether the region [−β, β]^d of the frame around a point is no wider than rounding along one of its axes, one along which the box is
/// wider than that: a step along it changes no coordinate, and nothing is left to be learned there. Axes of integers and
/// categories do not count.
fn is_narrow(problem: Problem<'_>, run: &LocalRun, beta: f64, centre: &[f64]) -> bool {
    /// A box this many times as wide as rounding has room for a search.
    const ROOM: f64 = 1e3;
    let (d, frame) = (centre.len(), &run.now.frame);
    let rounding = |j: usize| problem.domain.resolution(j, centre[j]);
    let share = |i: usize, j: usize| frame.rotation()[(j, i)].abs();
    let narrow = |i: usize| (0..d).all(|j| beta * frame.scale()[i] * share(i, j) <= rounding(j));
    let roomy = |i: usize| (0..d).any(|j| share(i, j) > ROOM * rounding(j));
    let is_real = |i: usize| {
        let along = |a: &usize, b: &usize| share(i, *a).total_cmp(&share(i, *b));
        (0..d).max_by(along).is_some_and(|j| problem.domain.axes()[j] == Axis::Real)
    };
    let mut reals = (0..d).filter(|&i| is_real(i)).peekable();
    reals.peek().is_some() && (reals.clone().any(|i| narrow(i) && roomy(i)) || reals.all(narrow))
}
