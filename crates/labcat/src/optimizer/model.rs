//! The lines of the algorithm that make the model, as functions of the run and the history.

use super::config::Noise;
use super::dataset::{self, CLEAR, Output};
use super::merit::Merit;
use super::nearest::Nearest;
use super::problem::Problem;
use super::region;
use super::report::RestartCause;
use super::run::{Extent, LocalRun};
use super::slopes;
use crate::acquisition::maximise::Maximiser;
use crate::frame::{AxisOrder, Frame, MOST_MEDIANS, Outputs, PrincipalAxes, normalise};
use crate::gp::residuals::Products;
use crate::gp::surrogate::{Rows, Surrogate};
use crate::gp::{Buffers, Gp, Prior};
use crate::length_scale::{LengthScales, StepKind};
use crate::linalg::{self, Matrix};
use crate::math;
use crate::polynomial::Polynomial;
use crate::trust_region::TrustRegion;

/// Most length-scale steps for results that were told together.
const CATCH_UP: usize = 8;
/// Factors on β after a better point and otherwise, and the largest.
const GROWTH: f64 = 1.6;
const DECAY: f64 = 0.8;
const MOST_BETA: f64 = 1.0;
/// Violations of a constraint per coefficient of its trend, and among how many of the newest observations they are looked for.
const VIOLATIONS: usize = 2;
const VIOLATIONS_AMONG: usize = 1000;
/// Two places are one if they are nearer than this part of the trust region.
const SAME_PLACE: f64 = 2e-3;

/// What lines 6–11 found.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) surrogate: Surrogate,
    pub(super) outputs: Outputs,
    pub(super) standing: Standing,
    pub(super) made: Made,
    /// The observation to be evaluated again, to find out whether values are exact.
    pub(super) again: Option<usize>,
    /// How many of the appended rows are not pending points.
    pub(super) settled: usize,
    /// The output to improve on: 0, the best, or a smaller mean at a pending point.
    pub(super) incumbent: f64,
    /// Where the model has its constrained minimum, in the frame; empty without constraints.
    pub(super) minimum: Vec<f64>,
    /// Whether the search follows such a minimum, whatever might be found elsewhere.
    pub(super) follows: bool,
    /// Under noise, where the model has its lowest mean with some caution, in the frame; else empty.
    pub(super) lowest: Vec<f64>,
    /// Whose search it serves.
    pub(super) extent: Extent,
}

/// What the step did.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// ℓ*: what each axis was stretched by, and how.
    pub(super) ell: Vec<f64>,
    pub(super) step: StepKind,
    /// Observations forgotten.
    pub(super) discarded: usize,
    /// The newest output and how far the others' prediction missed it, until a polynomial was asked to do better.
    pub(super) surprise: Option<(f64, f64)>,
}

/// What the members are worth, without their noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// The best of them as a row, as a position in the history, and its merit.
    row: usize,
    pub(super) best: usize,
    pub(super) merit: f64,
    /// The lowest value, and how far the highest lies above it.
    pub(super) low: f64,
    pub(super) range: f64,
    /// Whether the values have noise.
    pub(super) noisy: bool,
    /// The least and the largest penalty for violations of the measured constraints.
    pub(super) penalties: (f64, f64),
}

/// Memory that steps use in turn and that can be dropped at any time. Only the products of residuals hold between them, until one is revised.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// y′ of the members, the same without the warp, and the variances of the noise in y′ (empty for none).
    pub(super) y: Vec<f64>,
    pub(super) linear: Vec<f64>,
    noise: Vec<f64>,
    /// The members' values without their noise, their merits (which forecasts of the newest step read), and the merits between 0 and 1.
    values: Vec<f64>,
    pub(super) merits: Vec<f64>,
    rank: Vec<f64>,
    matrix: Matrix,
    inverse: Matrix,
    axes: PrincipalAxes,
    pub(super) length_scales: LengthScales,
    ell: Vec<f64>,
    /// Buffers of the next model, and of the trials of its line search.
    spare: Buffers,
    trial: Buffers,
    pub(super) maximiser: Maximiser,
    pub(super) polynomial: Polynomial,
    pub(super) offsets: Matrix,
    pub(super) nearest: Nearest,
    pub(super) products: Products,
    pub(super) bounds: Vec<(f64, f64)>,
    dropped: Vec<usize>,
    pub(super) scratch: Vec<f64>,
}

impl Workspace {
    /// Takes the memory of a model that is of no more use.
    pub(super) fn reclaim(&mut self, model: Option<Model>) {
        if let Some(Model { surrogate, made, .. }) = model {
            self.spare = surrogate.gp.into_buffers();
            self.ell = made.ell;
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
    let begun_again = dataset::look_for_repeats(problem, run);
    run.know();
    let many = run.now.members.len() > dataset::keep(problem, run).saturating_add(settings.initial_points);
    if many {
        keep_nearest(problem, run, first, work);
    }
    let missed = if begun_again { run.now.members.len() } else { news };
    (news, if many || !first { missed.clamp(1, CATCH_UP) } else { 1 })
}

/// y′ of an output of the members and the variances of its noise. Only values are warped, and not with their noise. (eq:output_min_max)
pub(super) fn normalise_outputs(problem: Problem<'_>, run: &LocalRun, output: Output, work: &mut Workspace) -> Outputs {
    let warps = output == Output::Objective && problem.settings.switches.warp;
    // However near the reals come to a minimum, what other integers and categories are worth has to be seen.
    let most = if problem.domain.is_mixed() { f64::INFINITY } else { MOST_MEDIANS };
    let mut normalised = |warp: Option<f64>| {
        work.y.clear();
        work.y.extend(run.now.members.iter().filter_map(|&p| problem.output(output, p)));
        normalise(&mut work.y, warp, &mut work.scratch)
    };
    let mut outputs = normalised(warps.then_some(most));
    let typical = problem.typical_std(run, output);
    if outputs.spread() < CLEAR * typical {
        outputs = normalised(None).no_narrower_than(typical, &mut work.y);
    }
    work.noise.clear();
    if typical > 0.0 {
        let variance = |(&p, &y): (&usize, &f64)| (problem.std(run, output, p) / outputs.slope(y)).powi(2);
        work.noise.extend(run.now.members.iter().zip(&work.y).map(variance));
    }
    outputs
}

/// A normalised output of the members without its noise, as the model in the old frame sees it. σ of a constraint takes a step of its ascent.
fn denoise(
    problem: Problem<'_>,
    run: &mut LocalRun,
    output: Output,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Result<Vec<f64>, RestartCause> {
    let mut values = std::mem::take(&mut work.values);
    values.clear();
    if work.noise.is_empty() {
        values.extend(run.now.members.iter().filter_map(|&p| problem.output(output, p)));
        return Ok(values);
    }
    let gp = fit(problem, run, work)?;
    if output != Output::Objective && problem.looks_for_noise(output) {
        gp.invert(&mut work.matrix, &mut work.inverse);
        run.now.noise.level_mut(output).estimate(gp.noise_slopes(&work.inverse));
    }
    values.extend(gp.smoothed().map(|y| outputs.to_user(y)));
    work.spare = gp.into_buffers();
    Ok(values)
}

/// What the members are worth without their noise.
pub(super) fn assess(
    problem: Problem<'_>,
    run: &mut LocalRun,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Result<Standing, RestartCause> {
    work.values = denoise(problem, run, Output::Objective, outputs, work)?;
    let measured = measured(problem, run, work)?;
    let merit = Merit::of(problem, run, &work.values, &mut work.scratch);
    let at = |row: usize| measured.iter().map(move |g| g[row]);
    work.merits.clear();
    work.merits.extend(work.values.iter().enumerate().map(|(row, value)| merit.at(*value, at(row))));
    let mut row = 0;
    for (k, m) in work.merits.iter().enumerate() {
        row = if *m < work.merits[row] { k } else { row };
    }
    let best = *run.now.members.get(row).ok_or(RestartCause::OutputRange)?;
    let penalties = (0..work.values.len()).map(|row| merit.penalty(at(row)));
    let values = || work.values.iter().copied();
    let low = values().fold(f64::INFINITY, f64::min);
    let standing = Standing {
        row,
        best,
        merit: work.merits[row],
        low,
        range: values().fold(f64::NEG_INFINITY, f64::max) - low,
        noisy: !work.noise.is_empty(),
        penalties: penalties.fold((f64::INFINITY, 0.0), |(low, high), p| (low.min(p), high.max(p))),
    };
    rank(outputs, work);
    Ok(standing)
}

/// The measured constraints of the members without their noise. The workspace keeps the objective.
fn measured(problem: Problem<'_>, run: &mut LocalRun, work: &mut Workspace) -> Result<Vec<Vec<f64>>, RestartCause> {
    let kept = [&mut work.y, &mut work.noise, &mut work.values].map(std::mem::take);
    let mut one = |k: usize| {
        let output = Output::Constraint(k);
        let outputs = normalise_outputs(problem, run, output, work);
        denoise(problem, run, output, &outputs, work)
    };
    let all = (0..problem.constraints()).map(&mut one).collect();
    [work.y, work.noise, work.values] = kept;
    all
}

/// The members between 0, the best, and 1 by merit: what weighs them in the principal axes.
fn rank(outputs: &Outputs, work: &mut Workspace) {
    work.rank.clear();
    work.rank.extend(work.merits.iter().map(|m| outputs.to_normalised(*m).clamp(0.0, 1.0)));
}

/// Widens the trust region after a better point was found and narrows it otherwise, between the β of the configuration and the
/// most; an exploration run stays wide. Nothing of it without the options. With pending evaluations there are fewer rounds to get
/// anywhere in, and each has to reach farther: the least β grows with the fourth root of their number, and beyond 2 d of them, where
/// suggestions take regions of every size, with the root of how many times as many they are.
pub(super) fn adapt_trust_region(problem: Problem<'_>, run: &mut LocalRun, standing: &Standing, news: usize) {
    let (switches, base) = (&problem.settings.switches, problem.settings.region.beta);
    let mut least = base.max(run.manner(problem.settings).beta);
    let mut most = least;
    if switches.adapt_beta {
        let improved = standing.row >= run.now.members.len().saturating_sub(news);
        run.now.beta *= if improved { GROWTH } else { DECAY };
        // Of results that were told together one may be the best; each of the others narrows, as if told one by one.
        let together = news.saturating_sub(1).min(run.now.others);
        run.now.beta *= math::pow(DECAY, together as f64);
        most = least.max(MOST_BETA);
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
pub(super) fn rotate(problem: Problem<'_>, run: &mut LocalRun, work: &mut Workspace) {
    let mut frame = std::mem::take(&mut run.now.frame);
    if let Some(order) = problem.settings.rotation {
        find_axes(problem, &frame, run, work);
        work.axes.arrange(order);
        frame = frame.rotated(&mut work.axes);
    }
    run.now.frame = frame.within_box(2.0 / problem.settings.region.beta);
}

fn find_axes(problem: Problem<'_>, frame: &Frame, run: &LocalRun, work: &mut Workspace) {
    let members = &run.now.members;
    let points = members.iter().map(|&p| problem.observations.unit(p)).zip(work.rank.iter().copied());
    work.axes.find(frame, points, members.len(), |i| run.extent.moves(problem.domain, i));
}

/// The model of the members in the frame as it is.
fn fit(problem: Problem<'_>, run: &LocalRun, work: &mut Workspace) -> Result<Gp, RestartCause> {
    let switches = &problem.settings.switches;
    let mut buffers = std::mem::take(&mut work.spare);
    run.fill_inputs(problem.observations, &mut buffers, &mut work.scratch);
    buffers.set_noise(&work.noise);
    let nugget = switches.nugget.max(run.manner(problem.settings).nugget);
    let prior = Prior::of(&work.y, switches.kernel, switches.signal, nugget);
    let prior = dataset::noisy_prior(problem, prior, &work.noise);
    Gp::fit_with_jitter(prior, &work.y, buffers).map_err(|(_, buffers)| {
        work.spare = buffers;
        RestartCause::Factorisation
    })
}

/// Lines 7–10 as often as results were told; and whether the model doubts that they are exact. σ of the noise takes a step of its ascent, too.
pub(super) fn fit_model(
    problem: Problem<'_>,
    run: &mut LocalRun,
    outputs: &Outputs,
    mut passes: usize,
    work: &mut Workspace,
) -> Result<(Gp, StepKind, bool), RestartCause> {
    let (how, prior_sigma) = (problem.settings.ascent, problem.settings.switches.prior_sigma);
    let mut doubtful = false;
    loop {
        rotate(problem, run, work); // line 7: T_rot
        let gp = fit(problem, run, work)?; // line 8
        let (gp, step) = work.length_scales.improve(gp, &work.y, prior_sigma, how, &mut work.trial); // line 9: ℓ*
        run.now.frame = std::mem::take(&mut run.now.frame).rescaled(&work.length_scales.ell); // line 10: T_resc (eq:input_resc)
        // Looked at after each: length-scales that follow the noise explain it soon.
        doubtful |= dataset::is_doubtful(problem, run, &gp, &work.y, outputs.spread());
        passes = passes.saturating_sub(1);
        if passes == 0 {
            if problem.looks_for_noise(Output::Objective) {
                run.now.noise.objective.estimate(work.length_scales.noise);
            }
            return Ok((gp, step, doubtful));
        }
        work.spare = gp.into_buffers();
    }
}

/// Forgets observations outside the trust region. (eq:input_discard)
pub(super) fn discard(
    problem: Problem<'_>,
    run: &mut LocalRun,
    (gp, step): (&mut Gp, StepKind),
    standing: &Standing,
    work: &mut Workspace,
) -> Made {
    let region = TrustRegion { beta: run.now.beta, keep: dataset::keep(problem, run) };
    region::reach(problem, run, run.now.beta, &mut work.scratch);
    region.discard(gp.inputs(), standing.row, &work.scratch, &mut work.dropped);
    gp.remove(&work.dropped);
    for rows in [&mut work.merits, &mut work.values] {
        linalg::remove_at(rows, &work.dropped);
    }
    linalg::remove_at(&mut run.now.members, &work.dropped);
    let mut ell = std::mem::take(&mut work.ell);
    ell.clone_from(&work.length_scales.ell);
    Made { ell, step, discarded: work.dropped.len(), surprise: gp.surprise() }
}

/// The models of the measured constraints, of the members and of failed evaluations in the region that measured them: those enter the
/// model of the objective at its own mean, where they change nothing but the variance.
fn add_constraints(problem: Problem<'_>, run: &mut LocalRun, surrogate: &mut Surrogate, work: &mut Workspace) {
    let (observations, domain) = (problem.observations, problem.domain);
    if problem.constraints() == 0 {
        return;
    }
    let mut rows = run.now.members.clone();
    for (position, x) in region::failed_inside(problem, run) {
        if !observations.outcome(position).constraints().is_empty() {
            surrogate.append_fantasy(&x, f64::NEG_INFINITY);
            rows.push(position);
        }
    }
    let least = work.merits.iter().copied().fold(f64::INFINITY, f64::min);
    let most = work.merits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut rank: Vec<f64> = work.merits.iter().map(|m| (m - least).clamp(0.0, f64::MAX)).collect();
    rank.resize(rows.len(), (most - least).clamp(0.0, f64::MAX)); // those without a value are as bad as the worst
    let typical = math::median(&mut rank.clone()).filter(|r| *r > 0.0).unwrap_or(1.0);
    // Integers and categories that stand still have no part in the trend.
    let axes = run.extent.axes(domain);
    run.now.tails.clear();
    let trend = surrogate.trend();
    for k in 0..problem.constraints() {
        let output = Output::Constraint(k);
        let g: Vec<f64> = rows.iter().filter_map(|&p| problem.output(output, p)).collect();
        let noisy = problem.is_noisy(run, output);
        let variance = |&p: &usize| problem.std(run, output, p).powi(2);
        let noise: Vec<f64> = if noisy { rows.iter().map(variance).collect() } else { Vec::new() };
        let violated = nearest_violations(problem, run, k, VIOLATIONS * (axes.len() + 1));
        let rows = Rows { trend: &trend, axes: &axes, rank: &rank, typical, violated: &violated };
        run.now.tails.push(surrogate.add_constraint(g, noise, &rows, &mut work.polynomial));
    }
}

/// The violations of a constraint nearest to the centre of the frame, at most `most`: their places in it, and values.
fn nearest_violations(problem: Problem<'_>, run: &LocalRun, k: usize, most: usize) -> Vec<(Vec<f64>, f64)> {
    let observations = problem.observations;
    let newest = observations.len().saturating_sub(VIOLATIONS_AMONG)..observations.len();
    let violated = |p: usize| problem.output(Output::Constraint(k), p).filter(|g| *g > 0.0);
    let place = |p: usize| run.now.frame.local(observations.unit(p));
    let mut found: Vec<_> = newest.filter_map(|p| violated(p).map(|g| (place(p), g))).collect();
    let square = |(x, _): &(Vec<f64>, f64)| x.iter().map(|x| x * x).sum::<f64>();
    found.sort_by(|a, b| square(a).total_cmp(&square(b)));
    found.truncate(most);
    found
}

impl Model {
    /// Failed points of the trust region enter the model at its own mean, but as no better than the best point: nothing is
    /// expected there any more, and the length-scales never hear of it. As many as observations are kept, the newest.
    pub(super) fn avoid_failures(&mut self, problem: Problem<'_>, run: &LocalRun) {
        for (position, x) in region::failed_inside(problem, run) {
            if problem.observations.outcome(position).constraints().is_empty() {
                self.surrogate.append_fantasy(&x, self.incumbent);
            }
        }
        self.settled = self.surrogate.gp.appended();
    }

    /// Points asked and not yet told enter the model at its own mean.
    pub(super) fn imagine_pending(&mut self, problem: Problem<'_>, run: &LocalRun) {
        let known = self.surrogate.gp.appended() - self.settled;
        for pending in &problem.pending[known..] {
            let x = run.now.frame.local(&problem.domain.place(&pending.x));
            let mean = self.surrogate.append_fantasy(&x, f64::NEG_INFINITY);
            self.incumbent = self.incumbent.min(mean);
        }
    }
}

impl LocalRun {
    /// Whether a place in the box is, for all that a search can tell, that of a pending point: two workers shall not do one's work.
    pub(super) fn is_near_pending(&self, problem: Problem<'_>, u: &[f64]) -> bool {
        if problem.pending.is_empty() {
            return false;
        }
        let frame = &self.now.frame;
        let x = frame.local(u);
        let square = |other: Vec<f64>| x.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let same = |square: f64| square <= (SAME_PLACE * self.now.beta).powi(2);
        problem.pending.iter().any(|pending| same(square(frame.local(&problem.domain.place(&pending.x)))))
    }
}

/// Cuts a cache that was told in bulk to the members nearest to the best, and when there is no frame yet that could tell near from
/// far, makes one: the principal axes, each scaled so that the points spread over the trust region as they do in a steady run.
fn keep_nearest(problem: Problem<'_>, run: &mut LocalRun, first: bool, work: &mut Workspace) {
    let (observations, region) = (problem.observations, problem.settings.region);
    let Some(best) = run.best(observations) else { return };
    centre(problem, run, best);
    let square = |p: usize| run.now.frame.local(observations.unit(p)).iter().map(|x| x * x).sum();
    let mut by_distance: Vec<(f64, usize)> = run.now.members.iter().map(|&p| (square(p), p)).collect();
    by_distance.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    by_distance.truncate(dataset::keep(problem, run));
    run.now.members.clear();
    run.now.members.extend(by_distance.iter().map(|(_, p)| *p));
    run.now.members.sort_unstable();
    let outputs = normalise_outputs(problem, run, Output::Objective, work);
    work.values.clear();
    work.values.extend(run.now.members.iter().filter_map(|&p| observations.value(p)));
    let merit = Merit::of(problem, run, &work.values, &mut work.scratch);
    work.merits.clear();
    work.merits.extend(run.now.members.iter().filter_map(|&p| merit.told(problem, p)));
    rank(&outputs, work);
    if first && outputs.range() > 0.0 {
        let frame = std::mem::take(&mut run.now.frame);
        find_axes(problem, &frame, run, work);
        work.axes.arrange(AxisOrder::Matched);
        let frame = frame.rotated(&mut work.axes);
        // Points spread evenly over [−β s, β s] have a root mean square of β s / √3.
        let per_sigma = (3.0 / run.now.members.len() as f64).sqrt() / region.beta;
        run.now.frame = frame.with_scale(work.axes.sigma().map(|s| per_sigma * s));
    }
}

/// The model of the objective with those of the measured constraints and with the derivatives that were told.
pub(super) fn surrogate(
    problem: Problem<'_>,
    run: &mut LocalRun,
    gp: Gp,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Surrogate {
    let mut surrogate = Surrogate::new(gp);
    add_constraints(problem, run, &mut surrogate, work);
    slopes::add(problem, (&run.now.frame, &run.now.members), &mut surrogate, outputs);
    surrogate
}

/// Whether it was seen that an output has noise, but not yet how much.
pub(super) fn is_unsure(problem: Problem<'_>, run: &LocalRun) -> bool {
    let unsure = |output: Output| run.now.noise.level(output).is_unsure();
    problem.settings.switches.noise == Noise::Auto && problem.outputs().any(unsure)
}
