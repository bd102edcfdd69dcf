//! The lines of the algorithm that make the model, as functions of the run and the history.

use super::config::Settings;
use super::feasible::{self, Limits};
use super::mixed;
use super::noise;
use super::propose::{Problem, Scope};
use super::report::RestartCause;
use super::run::LocalRun;
use super::shortcut::{Nearby, Shortcut};
use crate::acquisition::maximise::Maximiser;
use crate::domain::Axis;
use crate::frame::{AxisOrder, Frame, Outputs, PrincipalAxes, normalise};
use crate::gp::joint::{Joint, Slope};
use crate::gp::{Buffers, Gp, Prior};
use crate::length_scale::{LengthScales, StepKind};
use crate::linalg::Matrix;
use crate::math;
use crate::quadratic::Quadratic;
use crate::quartic::Quartic;
use crate::trust_region::TrustRegion;

/// What lines 6–11 found.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) fit: Fit,
    pub(super) outputs: Outputs,
    /// Observations forgotten in this step.
    pub(super) discarded: usize,
    /// The observation to be evaluated again, to find out whether values are exact.
    pub(super) again: Option<usize>,
    /// Where a fit simpler than the model has its minimum, if it is to be followed there.
    pub(super) shortcut: Option<Shortcut>,
    /// How many of the fantasies in the model are failed points; the others are pending.
    pub(super) avoided: usize,
    /// The value to improve on: 0, the best output, or a smaller mean at a pending point.
    pub(super) incumbent: f64,
    /// The measured constraints in the same frame.
    pub(super) limits: Limits,
    /// The objective with the derivatives that were told, if any.
    pub(super) joint: Option<Joint>,
    /// Whose search it serves.
    pub(super) scope: Scope,
}

/// A Gaussian process in the frame of its own most likely length-scales.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) gp: Gp,
    /// ℓ*: what each axis was stretched by.
    pub(super) ell: Vec<f64>,
    pub(super) step: StepKind,
}

/// Memory that steps use in turn. It means nothing between them: anything of it can be dropped at any time.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// y′ of the members, and the same without the warp.
    pub(super) y: Vec<f64>,
    pub(super) linear: Vec<f64>,
    /// Under noise: its variance in each y′, and the members' posterior means between 0 and 1.
    pub(super) noise: Vec<f64>,
    pub(super) smooth: Vec<f64>,
    pub(super) matrix: Matrix,
    pub(super) inverse: Matrix,
    axes: PrincipalAxes,
    length_scales: LengthScales,
    ell: Vec<f64>,
    /// Buffers of the next model, and of the trials of its line search.
    pub(super) spare: Buffers,
    pub(super) trial: Buffers,
    pub(super) maximiser: Maximiser,
    pub(super) quadratic: Quadratic,
    pub(super) quartic: Quartic,
    pub(super) nearby: Nearby,
    /// The members along the box's own axes.
    pub(super) upright: Frame,
    pub(super) upright_inputs: Matrix,
    dropped: Vec<usize>,
    pub(super) scratch: Vec<f64>,
}

impl Workspace {
    /// Room for everything that a step in `d` dimensions needs; for caches and samples beyond the usual it grows when they fill.
    pub(super) fn new(settings: &Settings, d: usize) -> Self {
        let n = settings.region.keep.min(1000) + 2;
        let mut work = Self::default();
        work.y.reserve(n);
        work.linear.reserve(n);
        work.ell.reserve(d);
        work.dropped.reserve(n);
        work.scratch.reserve(n.max(2 * d));
        work.axes.reserve(n, d);
        work.length_scales.reserve(n, d, settings.ascent.curvature);
        work.spare.reserve(n, d);
        work.trial.reserve(n, d);
        work.maximiser.reserve(settings.search.candidates.min(10_000), n, d);
        work.quadratic.reserve(n, d);
        work.quadratic.reserve(work.nearby.reserve(settings, d), d);
        work.upright = Frame::of_box(d);
        work.upright_inputs.reserve(n, d);
        work
    }

    /// Takes the memory of a model that is of no more use.
    pub(super) fn reclaim(&mut self, model: Option<Model>) {
        self.reclaim_fit(model.map(|m| m.fit));
    }

    pub(super) fn reclaim_fit(&mut self, fit: Option<Fit>) {
        if let Some(Fit { gp, ell, .. }) = fit {
            self.spare = gp.into_buffers();
            self.ell = ell;
        }
    }
}

/// Marks how the step begins. Gives the number of observations told since the last and the number of passes over the frame that it
/// takes: one per observation, as if they had been told one by one, so that results told in bulk are caught up with.
pub(super) fn begin_step(problem: Problem<'_>, run: &mut LocalRun, work: &mut Workspace) -> (usize, usize) {
    let settings = problem.settings;
    let again = run.fresh() == 0;
    if again {
        run.rewind(); // the model was lost, not outdated: the same step again gives the same model
    }
    let (first, news) = (!run.started(), run.fresh());
    if !again {
        let crowd = std::mem::take(&mut run.crowd);
        run.now.others = problem.pending.len().max(crowd).max(problem.expected.saturating_sub(1));
    }
    run.mark();
    let begun_again = noise::look_for_repeats(problem, run);
    run.know();
    let many = run.now.members.len() > noise::keep(problem, run).saturating_add(settings.initial_points);
    if many {
        keep_nearest(problem, run, first, work);
    }
    let missed = if begun_again { run.now.members.len() } else { news };
    (news, if many || !first { missed.clamp(1, settings.switches.catch_up) } else { 1 })
}

/// y′ of the members, in the workspace, and how they came about. (eq:output_min_max)
pub(super) fn normalise_outputs(problem: Problem<'_>, run: &LocalRun, work: &mut Workspace, warp: bool) -> Outputs {
    work.noise.clear();
    work.y.clear();
    work.y.extend(run.now.members.iter().filter_map(|&p| problem.observations.value(p)));
    normalise(&mut work.y, warp && problem.settings.switches.warp, &mut work.scratch)
}

/// The best of the members, or why the run is over.
pub(super) fn best_member(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs) -> Result<usize, RestartCause> {
    if problem.domain.is_mixed() && problem.scope != Scope::Reals {
        return mixed::best_member(problem, run, outputs);
    }
    if let Some(cause) = why_over(problem, run, outputs) {
        return Err(cause);
    }
    let observations = problem.observations;
    let is_best = |p: &usize| observations.value(*p) == Some(outputs.minimum());
    let best = if problem.settings.switches.constraints > 0 {
        feasible::best_member(problem, run)
    } else {
        run.now.members.iter().position(is_best)
    };
    let best = best.ok_or(RestartCause::OutputRange)?;
    let centre = observations.unit(run.now.members[best]);
    if problem.ends && is_narrow(problem, run, run.now.beta, centre) {
        return Err(RestartCause::TrustRegion);
    }
    Ok(best)
}

/// Why a run whose members have these outputs has no more to give, if so.
pub(super) fn why_over(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs) -> Option<RestartCause> {
    let (switches, range) = (&problem.settings.switches, outputs.range());
    let mixed = problem.domain.is_mixed() && problem.scope != Scope::Reals;
    if !problem.ends || noise::is_on(problem, run) || mixed || feasible::is_astray(problem, run) {
        return None; // under noise the next step says
    }
    if switches.tolerance.is_some_and(|t| range <= t) {
        return Some(RestartCause::Tolerance);
    }
    // Neither knows where zero is: the run's own spread, and below it the rounding of the outputs. With others on their way digits
    // cost little time and a restart much: each of them has to agree.
    let precision = switches.precision / (1.0 + run.now.others as f64);
    if range <= (precision * run.now.spread).max(4.0 * f64::EPSILON * outputs.largest()) {
        return Some(RestartCause::OutputRange);
    }
    let observations = problem.observations;
    let overall = observations.incumbent().unwrap_or(f64::INFINITY);
    let behind = feasible::best_value(problem, run).unwrap_or(outputs.minimum()) - overall;
    switches.give_up.is_some_and(|most| switches.restarts && behind > most * range).then_some(RestartCause::Hopeless)
}

/// Whether the region [−β, β]^d of the frame around a point is no wider than rounding along one of its axes, one along which the box is
/// wider than that: a step along it changes no coordinate, and nothing is left to be learned there. Axes of whole numbers and
/// choices do not count.
pub(super) fn is_narrow(problem: Problem<'_>, run: &LocalRun, beta: f64, centre: &[f64]) -> bool {
    /// A box this many times as wide as rounding has room for a search.
    const ROOM: f64 = 1e3;
    let (d, frame) = (centre.len(), &run.now.frame);
    let rounding = |j: usize| problem.domain.resolution(j, centre[j]);
    let share = |i: usize, j: usize| frame.rotation()[(j, i)].abs();
    let narrow = |i: usize| (0..d).all(|j| beta * frame.scale()[i] * share(i, j) <= rounding(j));
    let roomy = |i: usize| (0..d).any(|j| share(i, j) > ROOM * rounding(j));
    let is_real = |i: usize| {
        let along = |a: &usize, b: &usize| share(i, *a).total_cmp(&share(i, *b));
        !problem.domain.is_mixed() || (0..d).max_by(along).is_some_and(|j| problem.domain.axes()[j] == Axis::Real)
    };
    let mut reals = (0..d).filter(|&i| is_real(i)).peekable();
    reals.peek().is_some() && (reals.clone().any(|i| narrow(i) && roomy(i)) || reals.all(narrow))
}

impl LocalRun {
    /// Whether this run looks for another basin: every other one does.
    pub(super) fn explores(&self) -> bool {
        self.number % 2 == 1
    }
}

/// Widens the trust region after a better point was found and narrows it otherwise, between the β of the configuration and the
/// most; a run that explores stays wide. Nothing of it without the switches. With others on their way there are fewer rounds to get
/// anywhere in, and each has to reach farther: the least β grows with the fourth root of their number, and beyond 2 d of them, where
/// suggestions take regions of every size, with the root of how many times as many they are.
pub(super) fn adapt_trust_region(problem: Problem<'_>, run: &mut LocalRun, best: usize, news: usize) {
    let (switches, base) = (&problem.settings.switches, problem.settings.region.beta);
    let explored = switches.explore_beta.filter(|_| run.explores());
    let mut least = base.max(explored.unwrap_or(base));
    let mut most = least;
    if switches.adapt_beta {
        let improved = best >= run.now.members.len().saturating_sub(news);
        run.now.beta *= if improved { switches.beta_growth } else { switches.beta_decay };
        if run.now.others > 0 {
            // Of results that were told together one may be the best; each of the others narrows, as if told one by one.
            let together = news.saturating_sub(1).min(run.now.others);
            run.now.beta *= math::pow(switches.beta_decay, together as f64);
        }
        most = least.max(switches.beta_most);
        least *= problem.settings.beta_least / base;
        let all = 1.0 + run.now.others as f64;
        let crowd = (all / (2.0 * problem.domain.free_parameters() as f64)).max(1.0);
        least = (least * all.sqrt().sqrt() * crowd.sqrt()).min(most);
    }
    run.now.beta = run.now.beta.clamp(least, most);
}

/// The frame around an observation. (eq:input_cen)
pub(super) fn centre(problem: Problem<'_>, run: &mut LocalRun, position: usize) {
    let frame = std::mem::take(&mut run.now.frame);
    run.now.frame = frame.centred(problem.observations.unit(position));
}

/// The frame along the weighted principal components, its trust region no wider than the box. (eq:svd_mod, eq:input_rot)
pub(super) fn rotate(problem: Problem<'_>, run: &mut LocalRun, outputs: &Outputs, work: &mut Workspace) {
    let mut frame = std::mem::take(&mut run.now.frame);
    if let Some(order) = problem.settings.rotation {
        find_axes(problem, &frame, run, outputs, work);
        work.axes.arrange(order);
        frame = frame.rotated(&mut work.axes);
    }
    run.now.frame = frame.within_box(2.0 / problem.settings.region.beta);
}

fn find_axes(problem: Problem<'_>, frame: &Frame, run: &LocalRun, outputs: &Outputs, work: &mut Workspace) {
    let members = &run.now.members;
    let y = if problem.settings.switches.constraints > 0 {
        feasible::ranks(problem, run, outputs, &mut work.linear);
        &work.linear
    } else if work.noise.is_empty() {
        &work.y
    } else {
        &work.smooth
    };
    let points = members.iter().map(|&p| problem.observations.unit(p)).zip(y.iter().copied());
    work.axes.find(frame, points, members.len(), |i| problem.moves(i));
}

/// The model of the rotated inputs, its most likely length-scales, and the frame stretched by them.
pub(super) fn fit_and_rescale(
    problem: Problem<'_>,
    run: &mut LocalRun,
    work: &mut Workspace,
) -> Result<Fit, RestartCause> {
    let switches = &problem.settings.switches;
    let gp = fit(problem, run, work)?; // line 8
    let how = problem.settings.ascent;
    let (gp, step) = work.length_scales.improve(gp, &work.y, switches.prior_sigma, how, &mut work.trial); // line 9
    let mut ell = std::mem::take(&mut work.ell);
    ell.clone_from(&work.length_scales.ell);
    run.now.frame = std::mem::take(&mut run.now.frame).rescaled(&ell); // line 10 (eq:input_resc)
    Ok(Fit { gp, ell, step })
}

/// Derivatives per dimension that enter the model, and the most in all.
const SLOPES: usize = 20;
const MOST_SLOPES: usize = 400;

/// The model of the members with the derivatives told at those nearest to the centre, as many as fit in.
pub(super) fn join_gradients(problem: Problem<'_>, run: &LocalRun, gp: &Gp, outputs: &Outputs) -> Option<Joint> {
    let (observations, frame, d) = (problem.observations, &run.now.frame, problem.domain.dim());
    let x = gp.inputs();
    let told = |row: &usize| observations.gradient(run.now.members[*row]).next().is_some();
    let mut rows: Vec<usize> = (0..gp.len()).filter(told).collect();
    let plain = !problem.domain.is_mixed() && problem.domain.parameters().len() == d;
    if rows.is_empty() || !plain {
        return None;
    }
    let distance = |row: usize| (0..d).map(|j| x[(row, j)] * x[(row, j)]).sum::<f64>();
    rows.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)).then(b.cmp(a)));
    let y = gp.outputs();
    let mut slopes = Vec::new();
    for row in rows {
        let u = observations.unit(run.now.members[row]);
        let at: Vec<f64> = (0..d).map(|j| x[(row, j)]).collect();
        let scale = outputs.slope(y[row]);
        let mut new = Vec::new();
        for (j, g) in observations.gradient(run.now.members[row]).enumerate().filter(|(_, g)| g.is_finite()) {
            // A step along parameter j: its direction in the frame, and what it changes there.
            let direction = (0..d).map(|i| frame.rotation()[(j, i)] / frame.scale()[i]).collect();
            new.push(Slope { x: at.clone(), direction, value: g * problem.domain.stretch(j, u[j]) / scale });
        }
        if !slopes.is_empty() && slopes.len() + new.len() > (SLOPES * d).min(MOST_SLOPES) {
            break;
        }
        slopes.extend(new);
    }
    if slopes.is_empty() { None } else { Joint::fit(*gp.prior(), x, &y, slopes) }
}

/// The model of the members in the frame as it is.
pub(super) fn fit(problem: Problem<'_>, run: &LocalRun, work: &mut Workspace) -> Result<Gp, RestartCause> {
    let switches = &problem.settings.switches;
    let mut buffers = std::mem::take(&mut work.spare);
    run.fill_inputs(problem.observations, &mut buffers, &mut work.scratch);
    buffers.set_noise(&work.noise);
    let nugget = if run.explores() { switches.nugget.max(switches.explore_nugget) } else { switches.nugget };
    let prior = Prior::of(&work.y, switches.kernel, switches.signal, nugget);
    let prior = noise::prior(problem, prior, &work.noise);
    Gp::fit_with_jitter(prior, &work.y, buffers).map_err(|(_, buffers)| {
        work.spare = buffers;
        RestartCause::Factorisation
    })
}

/// Forgets observations outside the trust region, and gives their number. (eq:input_discard)
pub(super) fn discard(
    problem: Problem<'_>,
    run: &mut LocalRun,
    gp: &mut Gp,
    best: usize,
    work: &mut Workspace,
) -> usize {
    let region = TrustRegion { beta: run.now.beta, keep: noise::keep(problem, run) };
    mixed::reach(problem, run, run.now.beta, &mut work.scratch);
    region.discard(gp.inputs(), best, &work.scratch, &mut work.dropped);
    gp.remove(&work.dropped);
    let mut dropped = work.dropped.iter().peekable();
    let mut position = 0;
    run.now.members.retain(|_| {
        position += 1;
        dropped.next_if_eq(&&(position - 1)).is_none()
    });
    work.dropped.len()
}

impl Model {
    /// Failed points of the trust region enter the model at its own mean, but as no better than the best point: nothing is
    /// expected there any more, and the length-scales never hear of it. As many as observations are kept, the newest.
    pub(super) fn avoid_failures(&mut self, problem: Problem<'_>, run: &LocalRun) {
        let newest = run.failed.len().saturating_sub(problem.settings.region.keep);
        if run.failed.is_empty() {
            return;
        }
        let (mut x, mut reach) = (vec![0.0; problem.domain.dim()], Vec::new());
        mixed::reach(problem, run, run.now.beta, &mut reach);
        for &position in &run.failed[newest..] {
            run.now.frame.to_local(problem.observations.unit(position), &mut x);
            let measured = !problem.observations.constraints(position).is_empty(); // in the model already
            if !measured && x.iter().zip(&reach).all(|(x, reach)| x.abs() <= *reach) {
                self.imagine(&x, self.incumbent);
            }
        }
        self.avoided = self.fit.gp.fantasies();
    }

    /// Points asked and not yet told enter the model at its own mean.
    pub(super) fn imagine_pending(&mut self, problem: Problem<'_>, run: &LocalRun) {
        let new = &problem.pending[self.fit.gp.fantasies() - self.avoided..];
        if new.is_empty() {
            return;
        }
        let d = problem.domain.dim();
        let (mut u, mut x) = (vec![0.0; d], vec![0.0; d]);
        for pending in new {
            problem.domain.to_unit(&pending.x, &mut u);
            run.now.frame.to_local(&u, &mut x);
            self.incumbent = self.incumbent.min(self.imagine(&x, f64::NEG_INFINITY));
        }
    }

    /// Adds a fantasy, no smaller than `floor`, and gives its output.
    fn imagine(&mut self, x: &[f64], floor: f64) -> f64 {
        let output = self.fit.gp.append_fantasy(x, floor);
        self.joint.as_mut().map_or(output, |joint| joint.append_fantasy(x, floor))
    }
}

impl Model {
    /// Whether a place in the box is, for all that a search can tell, that of a pending point: two workers shall not do one's work.
    pub(super) fn is_imagined(&self, run: &LocalRun, u: &[f64]) -> bool {
        /// As a part of the trust region.
        const SAME_PLACE: f64 = 2e-3;
        let gp = &self.fit.gp;
        let (first, total) = (gp.len() + self.avoided, gp.inputs().rows());
        if first == total {
            return false;
        }
        let mut x = vec![0.0; u.len()];
        run.now.frame.to_local(u, &mut x);
        let square = |row: usize| x.iter().enumerate().map(|(j, x)| (x - gp.inputs()[(row, j)]).powi(2)).sum::<f64>();
        (first..total).any(|row| square(row) <= (SAME_PLACE * run.now.beta).powi(2))
    }
}

/// Cuts a cache that was told in bulk to the members nearest to the best, and when there is no frame yet that could tell near from
/// far, makes one: the principal axes, each scaled so that the points spread over the trust region as they do in a steady run.
fn keep_nearest(problem: Problem<'_>, run: &mut LocalRun, first: bool, work: &mut Workspace) {
    let (observations, region) = (problem.observations, problem.settings.region);
    let keep = noise::keep(problem, run);
    let value = |p: usize| observations.value(p).unwrap_or(f64::INFINITY);
    let by_value = |a: &usize, b: &usize| value(*a).total_cmp(&value(*b));
    let Some(best) = run.now.members.iter().copied().min_by(by_value) else { return };
    centre(problem, run, best);
    let mut x = vec![0.0; problem.domain.dim()];
    let mut by_distance: Vec<(f64, usize)> = Vec::with_capacity(run.now.members.len());
    for &p in &run.now.members {
        run.now.frame.to_local(observations.unit(p), &mut x);
        by_distance.push((x.iter().map(|x| x * x).sum(), p));
    }
    by_distance.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    by_distance.truncate(keep);
    run.now.members.clear();
    run.now.members.extend(by_distance.iter().map(|(_, p)| *p));
    run.now.members.sort_unstable();
    let outputs = normalise_outputs(problem, run, work, true);
    if first && best_member(problem, run, &outputs).is_ok() {
        let frame = std::mem::take(&mut run.now.frame);
        find_axes(problem, &frame, run, &outputs, work);
        work.axes.arrange(AxisOrder::Matched);
        let frame = frame.rotated(&mut work.axes);
        // Points spread evenly over [−β s, β s] have a root mean square of β s / √3.
        let per_sigma = (3.0 / run.now.members.len() as f64).sqrt() / region.beta;
        run.now.frame = frame.with_scale(work.axes.sigma().map(|s| per_sigma * s));
    }
}
