//! The shortcut: a linear or quadratic fit that forecasts far better than the model is followed to its minimum, and now and then a
//! quadratic fit of what lies nearest or, with others on their way, one of the fourth degree.

mod further;

pub(super) use further::look_further;

use super::config::Settings;
use super::feasible;
use super::mixed;
use super::model::Workspace;
use super::noise;
use super::propose::{Choice, Problem};
use super::report::Origin;
use super::run::{LocalRun, Progress};
use crate::frame::{Frame, Outputs};
use crate::gp::Gp;
use crate::linalg::{self, Matrix};
use crate::math;
use crate::observations::{Observations, TrialId};
use crate::quadratic::Terms;
use crate::rng::Rng;

/// A shortcut that gained less than this part of what it promised is not followed again at once.
const KEPT: f64 = 0.5;

/// Fits of the nearest observations take this many for each coefficient, look for them among this many times as many of the newest,
/// and are not made with more coefficients than this: their cost grows with the cube of it. With others on their way they take more,
/// since minima of earlier fits lie close together and tell little of how the function bends.
const NEAREST: f64 = 1.5;
const NEAREST_AMONG_OTHERS: f64 = 3.0;
const NEWEST: usize = 4;
const MOST_COEFFICIENTS: usize = 400;

/// In fewer dimensions the model is as quick.
const LEAST_DIMENSION: usize = 3;

/// From this dimension on a round fit, which takes d − 1 observations less than squares do, saves enough to be tried at each step; with
/// others on their way it may save a whole round in any dimension.
const LEAST_ROUND: usize = 21;

/// Their weights fall beyond the distance of this neighbour of the best point.
const FIFTH: usize = 5;

/// After broken promises in a row the wait doubles up to this many times d observations.
const LONGEST_WAIT: usize = 8;

/// What a shortcut promised when it was followed.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Promise {
    /// The evaluation that will show.
    id: TrialId,
    /// The best value then, and the value promised.
    from: f64,
    to: f64,
    /// If it is broken: how many observations to wait for.
    #[cfg_attr(feature = "serde", serde(default))]
    wait: usize,
}

impl Promise {
    /// Where in the history it was broken, if so.
    fn broken_at(self, problem: Problem<'_>, run: &LocalRun) -> Option<usize> {
        let observations = problem.observations;
        let shown = observations.position(self.id)?;
        let gained = if problem.is_constrained() {
            feasible::gained(problem, run, self.from, shown)
        } else {
            observations.value(shown).map_or(0.0, |value| self.from - value)
        };
        (gained < KEPT * (self.from - self.to)).then_some(shown)
    }

    /// Whether it was broken, and what is to be waited for has not come in since.
    fn is_fresh_and_broken(self, problem: Problem<'_>, run: &LocalRun) -> bool {
        let newest = run.now.members.last().copied().unwrap_or(0);
        self.broken_at(problem, run).is_some_and(|shown| newest.saturating_sub(shown) <= self.wait)
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
/// and promises far more than its error; if so, where it has its minimum: among the observations, or anywhere with others on their way.
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

/// Where a quadratic fit of the nearest observations, more of them than the model keeps, has its minimum, if it is convex. What such a fit
/// leaves out grows with the cube of the distance, and so do the weights fall: on a smooth function each one is right to more digits than the one
/// before, which the Gaussian process, that has to learn all functions, is not. Whether the function is smooth, only following shows.
/// While one such point is on its way others follow fits that weigh the observations at random: as far apart as what the fits leave open.
pub(super) fn look_nearby(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    work: &mut Workspace,
    next: TrialId,
) -> Option<Shortcut> {
    let (observations, frame) = (problem.observations, &run.now.frame);
    let (d, most) = (frame.dim(), nearest(problem.settings, frame.dim(), run.now.others));
    let broken = run.promise.is_some_and(|promise| promise.is_fresh_and_broken(problem, run));
    // In many dimensions it costs more than a step; with others on their way it mostly takes the place of a search.
    let every = d.div_ceil(if problem.pending.is_empty() { 4 } else { 8 });
    let is_due = (observations.len() + problem.pending.len()).is_multiple_of(every);
    if most == 0 || run.explores() || broken || !is_due || !is_plain(problem) || noise::is_on(problem, run) {
        return None;
    }
    let n = work.nearby.find(observations, observations.len(), frame, (NEWEST * most, most), &mut work.scratch);
    if n < Terms::All.count(d) + d {
        return None;
    }
    let far = work.nearby.order[n - 1].1;
    let scale = (far - outputs.minimum()).max(outputs.range());
    work.nearby.fill(observations, frame, (outputs.minimum(), scale), &mut work.scratch);
    let Nearby { order, inputs, y, rank } = &mut work.nearby;
    let near = order[FIFTH.min(n - 1)].0;
    rank.extend(order.iter().map(|(distance, _, _)| (distance / near).powi(3)));
    if is_on_its_way(problem, run) {
        weigh_at_random(rank, problem.settings.switches.seed.wrapping_add(next.0));
    }
    let fit = &mut work.quadratic;
    if near == 0.0 || !fit.fit(Terms::All, inputs, y, rank, n, 1.0) {
        return None;
    }
    let (lowest, convex) = fit.minimise(frame, order[..n / 2].iter().map(|(_, _, p)| observations.unit(*p)));
    let gain = (fit.at_centre() - lowest) * scale;
    let (from, to) = (outputs.minimum(), outputs.minimum() - gain);
    // Minima that several found at once lie in one place: bounds around these would hold the next ones there.
    let held = run.now.others > 0 && !fit.is_inside();
    (convex && !held && gain > 0.0 && to.is_finite()).then(|| Shortcut { u: fit.minimiser.clone(), from, to })
}

/// Multiplies the weights 1 / (1 + rank) of the squares by exponential draws: a fit with such weights is one of those that the observations
/// leave possible (the Bayesian bootstrap).
fn weigh_at_random(rank: &mut [f64], seed: u64) {
    let mut rng = Rng::new(seed);
    for rank in rank {
        let draw = -math::log1p(-rng.unit());
        *rank = (1.0 + *rank) / draw.max(f64::EPSILON).sqrt() - 1.0;
    }
}

/// Whether nothing but the bounds and reals is at play.
fn is_plain(problem: Problem<'_>) -> bool {
    !problem.is_constrained() && !problem.domain.is_mixed()
}

/// Whether the newest promise is still to be shown.
fn is_on_its_way(problem: Problem<'_>, run: &LocalRun) -> bool {
    run.promise.is_some_and(|promise| problem.pending.iter().any(|p| p.id == promise.id))
}

/// How many observations a fit of the nearest takes with `others` on their way; 0 if there is none.
fn nearest(settings: &Settings, d: usize, others: usize) -> usize {
    let count = Terms::All.count(d);
    let made = settings.switches.quadratic && settings.switches.nearby;
    let each = if others > 0 { NEAREST_AMONG_OTHERS } else { NEAREST };
    if made && d >= LEAST_DIMENSION && count <= MOST_COEFFICIENTS { (each * count as f64) as usize } else { 0 }
}

/// Whether a fit of the nearest, of the second degree or of the fourth, made in a run as it is now, may rest on this observation.
pub(super) fn may_rest_on(settings: &Settings, now: &Progress, position: usize) -> bool {
    let (d, others) = (now.frame.dim(), now.others);
    let most = nearest(settings, d, others).max(further::most(settings, d, others));
    position + NEWEST * most >= now.told
}

/// The nearest observations: their distances, values and positions; their places in the frame, outputs, and what their weights fall with.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby {
    pub(super) order: Vec<(f64, f64, usize)>,
    pub(super) inputs: Matrix,
    pub(super) y: Vec<f64>,
    pub(super) rank: Vec<f64>,
}

impl Nearby {
    /// Sorts the `newest` of the first `told` observations by their distance from the centre of a frame, keeps the `nearest`, and gives their
    /// number.
    pub(super) fn find(
        &mut self,
        observations: &Observations,
        told: usize,
        frame: &Frame,
        (newest, nearest): (usize, usize),
        scratch: &mut Vec<f64>,
    ) -> usize {
        self.order.clear();
        scratch.resize(frame.dim(), 0.0);
        for p in told.saturating_sub(newest)..told {
            frame.to_local(observations.unit(p), scratch);
            let distance = linalg::dot(scratch, scratch).sqrt();
            self.order.extend(observations.value(p).map(|value| (distance, value, p)));
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        self.order.truncate(nearest);
        self.order.len()
    }

    /// Their places in the frame, and their values above `zero` in units of `scale`.
    pub(super) fn fill(
        &mut self,
        observations: &Observations,
        frame: &Frame,
        (zero, scale): (f64, f64),
        scratch: &mut [f64],
    ) {
        let Self { order, inputs, y, rank } = self;
        inputs.reshape(order.len(), frame.dim());
        y.clear();
        rank.clear();
        for (row, (_, value, p)) in order.iter().enumerate() {
            frame.to_local(observations.unit(*p), scratch);
            for (j, x) in scratch.iter().enumerate() {
                inputs[(row, j)] = *x;
            }
            y.push((value - zero) / scale);
        }
    }

    /// Makes room for what a fit in `d` dimensions takes alone, and gives the number of observations.
    pub(super) fn reserve(&mut self, settings: &Settings, d: usize) -> usize {
        let most = nearest(settings, d, 0);
        self.order.reserve(NEWEST * most);
        self.inputs.reserve(most, d);
        self.y.reserve(most);
        self.rank.reserve(most);
        most
    }
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
    let tries_round = frame.dim() >= LEAST_ROUND || run.now.others > 0;
    let round = tries_round.then_some((Terms::Round, Axes::Even));
    let others = [(Terms::Squares, Axes::Frame), (Terms::Squares, Axes::Own), (Terms::All, Axes::Frame)];
    let fit = &mut work.quadratic;
    for (terms, axes) in std::iter::once((Terms::Linear, Axes::Frame)).chain(round).chain(others) {
        let (frame, x) = if axes == Axes::Frame {
            (frame, x)
        } else {
            upright(frame.centre(), &points, axes, &mut work.upright, &mut work.upright_inputs, &mut work.scratch);
            (&work.upright, &work.upright_inputs)
        };
        if fit.fit(terms, x, y, y, n - 1, typical) {
            let error = (fit.at_row(x, n - 1) - y[n - 1]).abs();
            if error * range <= allowed && fit.fit(terms, x, y, y, n, typical) {
                // While one is on its way to where the observations end, others would be sent to nearly the same place.
                let alone = run.now.others == 0;
                let (lowest, _) = if alone { fit.minimise(frame, points()) } else { fit.minimise_anywhere(frame) };
                let (from, to) = (outputs.minimum(), outputs.minimum() + lowest * range);
                if error < switches.quadratic_margin * -lowest && to.is_finite() {
                    return Some(Shortcut { u: fit.minimiser.clone(), from, to });
                }
            }
        }
    }
    None
}

/// The axes of a fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axes {
    /// Those of the frame.
    Frame,
    /// The box's own, each scaled by how far the members spread along it: there squares alone see a separable function.
    Own,
    /// The box's own, all scaled alike: there a bowl is round.
    Even,
}

/// The members in a frame along the box's own axes.
fn upright<'a, I: Iterator<Item = &'a [f64]>>(
    centre: &[f64],
    points: &impl Fn() -> I,
    axes: Axes,
    frame: &mut Frame,
    inputs: &mut Matrix,
    scratch: &mut Vec<f64>,
) {
    if frame.dim() != centre.len() {
        *frame = Frame::of_box(centre.len());
    }
    let spread = |j: usize| points().fold(f64::MIN_POSITIVE, |most: f64, u| most.max((u[j] - centre[j]).abs()));
    let widest = if axes == Axes::Even { (0..centre.len()).map(spread).reduce(f64::max) } else { None };
    *frame = std::mem::take(frame)
        .centred(centre)
        .with_scale((0..centre.len()).map(|j| widest.unwrap_or_else(|| spread(j))));
    inputs.reshape(points().count(), centre.len());
    scratch.resize(centre.len(), 0.0);
    for (row, u) in points().enumerate() {
        frame.to_local(u, scratch);
        for (j, x) in scratch.iter().enumerate() {
            inputs[(row, j)] = *x;
        }
    }
}

/// Goes to the minimum of the fit, once. The evaluation will have the id `next`. What it shows is waited for by those who are alone, and where
/// constraints, whole numbers or choices are; with others on their way a promise that is broken costs little.
pub(super) fn follow(problem: Problem<'_>, run: &mut LocalRun, shortcut: &Shortcut, next: TrialId) -> Option<Choice> {
    let mut x = vec![0.0; problem.domain.parameters().len()];
    problem.domain.to_user(&shortcut.u, &mut x);
    if !(problem.known.is_empty() || problem.known.known.admits(problem.domain, &mut x)) {
        return None;
    }
    let on_its_way = is_on_its_way(problem, run);
    if problem.seen.contains(&x) || (on_its_way && !is_plain(problem)) {
        return None;
    }
    if !on_its_way {
        let d = problem.domain.dim();
        let last = run.promise.filter(|promise| promise.broken_at(problem, run).is_some());
        let wait = last.map_or(d, |promise| (2 * promise.wait).clamp(d, LONGEST_WAIT * d));
        let wait = if run.now.others > 0 && is_plain(problem) { 0 } else { wait };
        run.promise = Some(Promise { id: next, from: shortcut.from, to: shortcut.to, wait });
    }
    let predicted = problem.settings.switches.direction.orient(shortcut.to);
    Some(Choice { predicted, ..Choice::given(x, Origin::Quadratic) })
}
