//! Forecasts: the minimum of a polynomial regression is tried if it predicts the newest observations far better than the model does. Now and then the
//! minimum of a local quadratic regression is tried too. The ratio of actual to predicted reduction decides how soon the next one is tried.

use super::merit::{self, Merit};
use super::model::{Model, Workspace};
use super::nearest::{self, Forecast, NEWEST, Nearest};
use super::problem::{Choice, Problem};
use super::report::Origin;
use super::run::{Followed, LocalRun, Progress};
use super::{residuals, secants};
use crate::frame::{Frame, Outputs};
use crate::linalg::Matrix;
use crate::math;
use crate::observations::TrialId;
use crate::polynomial::{self, Polynomial, Terms, bounds_of};
use crate::rng::Rng;

/// How much smaller the error of a polynomial must be than the model's, and than the reduction that it predicts.
const MARGIN: f64 = 1e-4;
/// A forecast of which less than this part came true is not followed again at once.
const CAME_TRUE: f64 = 0.5;
/// After such forecasts in a row the wait doubles up to this many times d observations.
const LONGEST_WAIT: usize = 8;
/// The weights of the nearest fall beyond the distance of this neighbour of the best point.
const FIFTH: usize = 5;
/// A quartic is tried so many times while as many observations come in as it takes. It may have several minima: they are sought from so many of them.
const QUARTIC_TRIES: usize = 8;
const QUARTIC_STARTS: usize = 8;
/// A smaller error of a quartic, in the median of the heights, may be rounding.
const LEAST_ERROR: f64 = 1e-9;

impl Followed {
    /// Where in the history too little of it came true, if so.
    fn failed_at(self, problem: Problem<'_>, run: &LocalRun) -> Option<usize> {
        let shown = problem.observations.position(self.id)?;
        let gained = Merit::of_told(problem, run).told(problem, shown).map_or(0.0, |merit| self.from - merit);
        (gained < CAME_TRUE * self.gain).then_some(shown)
    }
}

/// Whether the newest forecast failed, and what is to be waited for has not come in since.
fn is_waiting(problem: Problem<'_>, run: &LocalRun) -> bool {
    let newest = run.now.members.last().copied().unwrap_or(0);
    let failed = run.followed.and_then(|followed| Some((followed.failed_at(problem, run)?, followed.wait)));
    failed.is_some_and(|(shown, wait)| newest.saturating_sub(shown) <= wait)
}

/// Whether the evaluation of the newest forecast is pending.
fn is_pending(problem: Problem<'_>, run: &LocalRun) -> bool {
    run.followed.is_some_and(|followed| problem.pending.iter().any(|p| p.id == followed.id))
}

/// Whether nothing but the bounds and reals is at play.
fn is_plain(problem: Problem<'_>) -> bool {
    problem.constraints() == 0 && problem.known.is_empty() && !problem.domain.is_mixed()
}

/// Whether a fit of the nearest, made in a run as it is now, may rest on this observation.
pub(super) fn may_rest_on(problem: Problem<'_>, now: &Progress, position: usize) -> bool {
    let most = |terms: Terms| nearest::count(problem.settings, terms, now.frame.dim());
    position + NEWEST * most(Terms::Quadratic).max(most(Terms::Quartic)) >= now.told
}

/// The polynomials of the members, the simplest first.
const SIMPLEST_FIRST: [Terms; 4] = [Terms::Linear, Terms::Round, Terms::Squares, Terms::Quadratic];

/// The members along the axes that move: places in a frame, and in the box from its centre on; the median of how much worse than the best each is by
/// merit, the best merit, the range of the values, and how far a fit may miss the newest.
struct Members<'a> {
    x: &'a Matrix,
    offsets: &'a Matrix,
    frame: &'a Frame,
    typical: f64,
    from: f64,
    range: f64,
    allowed: f64,
}

/// Finds out whether a polynomial of the other members would have predicted the newest one far better than the model, and predicts
/// a reduction far larger than its error; if so, where it has its minimum: among the observations, or anywhere with pending evaluations.
/// Asked when it is wanted and not within the step: what was followed since must not change a step that is done again.
fn find(problem: Problem<'_>, run: &LocalRun, model: &mut Model, work: &mut Workspace) -> Option<Forecast> {
    let wanted = problem.settings.switches.quadratic && !run.is_on_lattice(problem.domain) && !model.standing.noisy;
    if !wanted || is_waiting(problem, run) {
        return None;
    }
    let (newest, above) = model.made.surprise.take().filter(|_| work.merits.len() == run.now.members.len())?;
    let (observations, members, gp) = (problem.observations, &run.now.members, &model.surrogate.gp);
    let allowed = MARGIN * (model.outputs.to_user(newest) - model.outputs.to_user(newest - above)).abs();
    // Heights above the best, without the warp: of the values, and by merit as the step knew it.
    let (from, range) = (model.standing.merit, model.outputs.range());
    work.linear.clear();
    work.linear.extend(members.iter().filter_map(|&p| observations.value(p)).map(|v| (v - from) / range));
    work.merits.iter_mut().for_each(|m| *m = (*m - from) / range);
    work.scratch.clone_from(&work.merits);
    let typical = math::median(&mut work.scratch)?;
    bounds_of(&mut work.bounds, problem.domain.dim(), members.iter().map(|&p| observations.unit(p)));
    let frame = &run.now.frame;
    let mut offsets = std::mem::take(&mut work.offsets);
    offsets.reshape(members.len(), frame.dim());
    for (j, c) in frame.centre().iter().enumerate() {
        offsets.col_mut(j).iter_mut().zip(members).for_each(|(to, &p)| *to = observations.unit(p)[j] - c);
    }
    let these = Members { x: gp.inputs(), offsets: &offsets, frame, typical, from, range, allowed };
    if !problem.domain.is_mixed() {
        let found = best_fit(problem, run, &these, work);
        work.offsets = offsets;
        return found;
    }
    let axes = run.extent.axes(problem.domain);
    let [mut x, mut along] = [(); 2].map(|()| Matrix::zeros(members.len(), axes.len()));
    for (k, &i) in axes.iter().enumerate() {
        x.col_mut(k).copy_from_slice(&gp.inputs().col(i)[..members.len()]);
        along.col_mut(k).copy_from_slice(offsets.col(i));
    }
    work.bounds = axes.iter().map(|&i| work.bounds[i]).collect();
    let these = Members { x: &x, offsets: &along, frame: &frame.block(&axes), ..these };
    let found = best_fit(problem, run, &these, work)?;
    let mut u = frame.centre().to_vec();
    axes.iter().zip(&found.u).for_each(|(&i, value)| u[i] = *value);
    Some(Forecast { u, ..found })
}

/// The first polynomial that passes, with its minimum under the constraints and bounds. Heights are above the best merit, in units of the range.
fn best_fit(problem: Problem<'_>, run: &LocalRun, members: &Members<'_>, work: &mut Workspace) -> Option<Forecast> {
    let &Members { frame, typical, from, range, allowed, .. } = members;
    let limits = limits(problem, run, members, work)?;
    if run.now.others > 0 && limits.is_empty() {
        // While one is pending where the observations end, others would be sent to nearly the same place.
        work.bounds.fill((-1.0, 1.0));
    }
    for terms in SIMPLEST_FIRST {
        let (y, fit) = (&work.linear, &mut work.polynomial);
        let predicts = |error: f64| error * range <= allowed;
        let Some(error) = fit_if(predicts, fit, terms, members, (y, &work.merits)) else { continue };
        let lowest = polynomial::minimise(fit, &limits, frame, &work.bounds, std::iter::empty());
        if let Some(lowest) = lowest
            && error.max(f64::EPSILON * typical.min(1.0)) < MARGIN * -lowest // what is smaller may be rounding
            && let Some(forecast) = Forecast::new(fit.minimiser.clone(), from, -lowest * range)
        {
            return Some(forecast);
        }
    }
    None
}

/// Fits a polynomial to the members if one of all but the newest predicts that well enough, and gives by how much it misses it. Parameters are more
/// often independent of each other than directions of the frame: where the axes matter they are those of the box.
fn fit_if(
    predicts: impl Fn(f64) -> bool,
    fit: &mut Polynomial,
    terms: Terms,
    Members { x, offsets, frame, typical, .. }: &Members<'_>,
    (y, rank): (&[f64], &[f64]),
) -> Option<f64> {
    let (n, along) = (y.len(), if terms.depends_on_axes() { offsets } else { x });
    let missed = |fit: &mut Polynomial, x: &Matrix| (fit.at_row(x, n - 1) - y[n - 1]).abs();
    let error = fit.fit(terms, along, y, rank, n - 1, *typical).then(|| missed(fit, along));
    let error = error.filter(|error| predicts(*error) && fit.fit(terms, along, y, rank, n, *typical))?;
    if terms.depends_on_axes() {
        fit.turn(|i, j| frame.rotation()[(i, j)] * frame.scale()[j]);
    }
    Some(error.max(missed(fit, x))) // rounding of what was turned counts, too
}

/// For each measured constraint the simplest polynomial that predicts its newest value well, if all have one; and the known ones to first order.
fn limits(
    problem: Problem<'_>,
    run: &LocalRun,
    members: &Members<'_>,
    work: &mut Workspace,
) -> Option<Vec<Polynomial>> {
    let mut limits = Vec::new();
    if is_plain(problem) {
        return Some(limits);
    }
    for k in 0..problem.constraints() {
        let size = merit::size(problem, run, k);
        let told = run.now.members.iter().filter_map(|&p| problem.observations.outcome(p).constraints().get(k));
        let g: Vec<f64> = told.map(|g| g / size).collect();
        let least = work.merits.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?.0;
        let spread = g.iter().fold(0.0_f64, |a, v| a.max((v - g[least]).abs()));
        let mut fit = std::mem::take(&mut work.polynomial);
        let predicts = |error: f64| error <= MARGIN * spread;
        let error =
            SIMPLEST_FIRST.into_iter().find_map(|terms| fit_if(predicts, &mut fit, terms, members, (&g, &work.merits)));
        // Aim inside by the error: a point that misses a constraint by rounding is worth nothing.
        let largest = g.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let mut limit = fit.clone();
        work.polynomial = fit;
        limit.raise(2.0 * error? + 1e-14 * largest);
        limits.push(limit);
    }
    let centre = vec![0.0; problem.domain.dim()];
    let known = problem.known.in_frame(problem.domain, &run.now.frame, &centre);
    let axes = run.extent.axes(problem.domain);
    let moving = |slope: Vec<f64>| -> Vec<f64> { axes.iter().map(|&i| slope[i]).collect() };
    limits.extend(known.into_iter().map(|(g, slope)| Polynomial::linear(g, &moving(slope))));
    Some(limits)
}

/// The next point by a forecast, if there is one: that of the members, or one of the nearest observations.
pub(super) fn next(
    problem: Problem<'_>,
    run: &mut LocalRun,
    model: &mut Model,
    work: &mut Workspace,
    id: TrialId,
) -> Option<Choice> {
    if let Some(forecast) = residuals::find(problem, run, &model.standing, &mut work.products) {
        return follow(problem, run, &forecast, id);
    }
    if let Some(choice) = secants::find(problem, run, model).and_then(|lowest| follow(problem, run, &lowest, id)) {
        return Some(choice);
    }
    let first = find(problem, run, model, work);
    // With pending points the step may be one done again, whose forecast was followed before.
    let is_last = first.is_some() && problem.pending.is_empty();
    let choice = first.and_then(|forecast| follow(problem, run, &forecast, id));
    if choice.is_some() || is_last || !is_plain(problem) || model.standing.noisy {
        return choice;
    }
    let quartic = quartic(problem, run, &model.outputs, work);
    let choice = quartic.and_then(|forecast| follow(problem, run, &forecast, id));
    choice.or_else(|| follow(problem, run, &quadratic(problem, run, &model.outputs, work, id)?, id))
}

/// Where a quadratic of the nearest observations, more of them than the model keeps, has its minimum, if it is convex. What such a fit
/// leaves out grows with the cube of the distance, and so do the weights fall: on a smooth function each one is right to more digits than the one
/// before, which the Gaussian process, that has to learn all functions, is not. Whether the function is smooth, only following shows.
/// While one such point is pending others follow fits that weigh the observations at random: as far apart as what the fits leave open.
fn quadratic(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    work: &mut Workspace,
    id: TrialId,
) -> Option<Forecast> {
    let (observations, frame, terms) = (problem.observations, &run.now.frame, Terms::Quadratic);
    let (d, most) = (frame.dim(), nearest::count(problem.settings, terms, frame.dim()));
    // In many dimensions it costs more than a step; with pending evaluations it mostly takes the place of a search.
    let every = d.div_ceil(if problem.pending.is_empty() { 4 } else { 8 });
    let is_due = (observations.len() + problem.pending.len()).is_multiple_of(every);
    if most == 0 || !run.manner(problem.settings).follows || !is_due || is_waiting(problem, run) {
        return None;
    }
    let n = work.nearest.find(observations, frame, (terms, most), &mut work.scratch)?;
    let far = work.nearest.order[n - 1].1;
    let scale = (far - outputs.minimum()).max(outputs.range());
    work.nearest.fill(observations, frame, (outputs.minimum(), scale), &mut work.scratch);
    let Nearest { order, inputs, y, rank } = &mut work.nearest;
    let near = order[FIFTH.min(n - 1)].0;
    rank.extend(order.iter().map(|(distance, _, _)| (distance / near).powi(3)));
    if is_pending(problem, run) {
        Rng::new(problem.settings.switches.seed.wrapping_add(id.0)).bootstrap(rank);
    }
    let fit = &mut work.polynomial;
    if near == 0.0 || !fit.fit(terms, inputs, y, rank, n, 1.0) {
        return None;
    }
    bounds_of(&mut work.bounds, d, order[..n / 2].iter().map(|(_, _, p)| observations.unit(*p)));
    let lowest = polynomial::minimise(fit, &[], frame, &work.bounds, std::iter::empty())?;
    let gain = (fit.at_centre().0 - lowest) * scale;
    // Minima that several found at once lie in one place: bounds around these would hold the next ones there.
    let free = |(u, (low, high)): (&f64, &(f64, f64))| (low < u && u < high) || u.abs() == 1.0;
    let held = run.now.others > 0 && !fit.minimiser.iter().zip(&work.bounds).all(free);
    let proper = !held && gain > 0.0 && polynomial::is_proper(fit, frame, &work.bounds);
    Forecast::new(fit.minimiser.clone(), outputs.minimum(), gain).filter(|_| proper)
}

/// Where a quartic of the nearest observations has its lowest minimum among them, if it predicted each of the newest d far better than
/// they differ, and than it predicts below the best and all pending points.
fn quartic(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs, work: &mut Workspace) -> Option<Forecast> {
    let (observations, frame, terms) = (problem.observations, &run.now.frame, Terms::Quartic);
    let d = frame.dim();
    let most = nearest::count(problem.settings, terms, d);
    let is_due = (observations.len() + problem.pending.len()).is_multiple_of(most.div_ceil(QUARTIC_TRIES).max(2));
    if most == 0 || !is_due {
        return None;
    }
    let n = work.nearest.find(observations, frame, (terms, most), &mut work.scratch)?;
    work.nearest.order.sort_unstable_by_key(|(_, _, p)| *p);
    work.nearest.fill(observations, frame, (outputs.minimum(), outputs.range()), &mut work.scratch);
    let (Nearest { order, inputs, y, .. }, fit) = (&work.nearest, &mut work.polynomial);
    work.scratch.clone_from(y);
    let typical = math::median(&mut work.scratch)?;
    if typical <= 0.0 || !fit.fit(terms, inputs, y, y, n - d, typical) {
        return None;
    }
    let missed = |row: usize| typical / (typical + y[row]) * (fit.at_row(inputs, row) - y[row]).abs();
    // What is smaller than that may be rounding, which decides nothing.
    let error = (n - d..n).map(missed).fold(LEAST_ERROR * typical, f64::max);
    if error > MARGIN * typical || !fit.fit(terms, inputs, y, y, n, typical) {
        return None;
    }
    bounds_of(&mut work.bounds, d, order.iter().map(|(_, _, p)| observations.unit(*p)));
    let start = |k: usize| (0..d).map(|i| inputs[(k * n / QUARTIC_STARTS, i)]).collect();
    let lowest = polynomial::minimise(fit, &[], frame, &work.bounds, (0..QUARTIC_STARTS).map(start))?;
    let best = fit.at_centre().0;
    let pending = problem.pending.iter().map(|p| fit.value(&frame.local(&problem.domain.place(&p.x))));
    let gain = pending.fold(best, f64::min) - lowest;
    let forecast = Forecast::new(fit.minimiser.clone(), outputs.minimum(), (best - lowest) * outputs.range());
    forecast.filter(|_| error < MARGIN * gain)
}

/// Goes to the minimum of a forecast, once. The evaluation will have the id `id`. What it shows is waited for where nothing else is pending,
/// and where constraints, integers or categories are; with pending evaluations a forecast that fails costs little.
fn follow(problem: Problem<'_>, run: &mut LocalRun, forecast: &Forecast, id: TrialId) -> Option<Choice> {
    let x = problem.known.nearest(problem.domain, &forecast.u, run.now.frame.centre())?;
    let (pending, plain) = (is_pending(problem, run), is_plain(problem));
    if problem.seen.contains(&x) || (pending && !plain) || run.is_near_pending(problem, &forecast.u) {
        return None;
    }
    if !pending {
        let d = problem.domain.dim();
        let last = run.followed.filter(|followed| followed.failed_at(problem, run).is_some());
        let longer = last.map_or(d, |followed| (2 * followed.wait).clamp(d, LONGEST_WAIT * d));
        let wait = if run.now.others > 0 && plain { 0 } else { longer };
        let apart = |(a, b): (&f64, &f64)| (a - b).abs();
        let length = forecast.u.iter().zip(run.now.frame.centre()).map(apart).fold(0.0, f64::max);
        run.followed = Some(Followed { id, from: forecast.from, gain: forecast.gain, length, wait });
    }
    let predicted = problem.settings.switches.direction.orient(forecast.from - forecast.gain);
    Some(Choice { predicted, ..Choice::given(x, Origin::Quadratic) })
}
