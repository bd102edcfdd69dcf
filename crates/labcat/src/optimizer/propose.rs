//! The algorithm itself: [`Optimizer::propose`] is Algorithm 2 of the paper, one call per line.

use super::Optimizer;
use super::report::{Origin, RestartCause, StepReport};
use crate::acquisition::maximise::{Maximiser, Search};
use crate::frame::{AxisOrder, Outputs, PrincipalAxes, normalise};
use crate::gp::likelihood::Curvature;
use crate::gp::{Buffers, Gp, Prior};
use crate::length_scale::LengthScales;
use crate::quadratic::{Quadratic, Terms};
use crate::trust_region::TrustRegion;

/// At most this many length-scale steps catch up with observations that were told in bulk.
const CATCH_UP: usize = 8;

/// With `explore`, a run is given up when the best of all runs is farther below its own best than this many times the range of its
/// outputs.
const HOPELESS: f64 = 3.0;

/// With `explore`, σ counts this many times more in every other run.
const DARING: f64 = 2.0;

/// Memory of the algorithm between steps. Nothing in it needs to be saved: it follows from the run and the history.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    /// The model of the newest step, with fantasies of failed points and, after them, of the first pending ones.
    gp: Option<Gp>,
    outputs: Outputs,
    /// y′ of the members.
    y: Vec<f64>,
    /// How many of the fantasies are failed points.
    avoided: usize,
    /// The value to improve on: 0, the best output, or a smaller mean at a pending point.
    incumbent: f64,
    axes: PrincipalAxes,
    length_scales: LengthScales,
    /// Buffers of the next model, and of the trials of its line search.
    spare: Buffers,
    trial: Buffers,
    maximiser: Maximiser,
    quadratic: Quadratic,
    /// The value of the quadratic at its minimiser, if it is to be followed there.
    shortcut: Option<f64>,
    dropped: Vec<usize>,
    scratch: Vec<f64>,
    /// The point found by the newest `propose`, in user units.
    pub(super) x: Vec<f64>,
    pub(super) report: StepReport,
}

impl Workspace {
    /// Room for everything that a step in `d` dimensions needs; for caches and samples beyond the usual it grows when they fill.
    pub(super) fn new(members: usize, candidates: usize, d: usize) -> Self {
        let n = members.min(1000) + 2;
        let candidates = candidates.min(10_000);
        let mut work = Self {
            gp: None,
            outputs: Outputs::default(),
            y: Vec::with_capacity(n),
            avoided: 0,
            incumbent: 0.0,
            axes: PrincipalAxes::default(),
            length_scales: LengthScales::default(),
            spare: Buffers::default(),
            trial: Buffers::default(),
            maximiser: Maximiser::default(),
            quadratic: Quadratic::default(),
            shortcut: None,
            dropped: Vec::with_capacity(n),
            scratch: Vec::with_capacity(n.max(d)),
            x: vec![0.0; d],
            report: StepReport::empty(),
        };
        work.axes.reserve(n, d);
        work.length_scales.reserve(n, d, Curvature::Exact);
        work.spare.reserve(n, d);
        work.trial.reserve(n, d);
        work.maximiser.reserve(candidates, n, d);
        work.quadratic.reserve(n, d);
        work
    }

    /// Forgets the model; the next step makes it again.
    pub(super) fn drop_model(&mut self) {
        if let Some(gp) = self.gp.take() {
            self.spare = gp.into_buffers();
        }
    }
}

impl Optimizer {
    /// Algorithm 2, lines 6–12: brings the model up to date with what was told, and leaves the next point in the workspace.
    pub(super) fn propose(&mut self) -> Result<(), RestartCause> {
        self.work.report.restart = None;
        if self.run.fresh > 0 || self.work.gp.is_none() {
            let (news, passes) = self.begin_step();
            let best = self.normalise_outputs()?; // line 6: T_minmax
            self.adapt_trust_region(best, news);
            self.centre(best); // line 7: T_cen
            for _ in 0..passes {
                self.rotate(); // line 7: T_rot
                self.fit_and_rescale()?; // lines 8–10: GP, ℓ*, T_resc
            }
            self.discard(best); // line 11: T_discard
            self.find_shortcut();
            self.avoid_failures();
        }
        if self.take_shortcut() {
            return Ok(());
        }
        self.add_fantasies();
        self.maximise_acquisition() // line 12: x_EI
    }

    /// Marks how the step begins. Gives the number of observations told since the last and the number of passes over the frame
    /// that it takes: one per observation, as if they had been told one by one, so that results told in bulk are caught up with.
    fn begin_step(&mut self) -> (usize, usize) {
        if self.run.fresh == 0 {
            self.run.rewind(); // the model was lost, not outdated: the same step again gives the same model
        }
        let first = !self.run.started();
        self.run.mark();
        let many = self.run.members.len() > self.settings.region.keep + self.settings.initial_points;
        if many {
            self.keep_nearest(first);
        }
        let news = std::mem::take(&mut self.run.fresh);
        (news, if many || !first { news.clamp(1, CATCH_UP) } else { 1 })
    }

    /// y′ of the members. Gives the best, or why the run has converged.
    fn normalise_outputs(&mut self) -> Result<usize, RestartCause> {
        let (work, run, observations) = (&mut self.work, &self.run, &self.observations);
        let values = || run.members.iter().filter_map(|&p| observations.value(p));
        work.y.clear();
        work.y.extend(values());
        let largest = work.y.iter().fold(0.0, |a: f64, y| a.max(y.abs()));
        work.outputs = normalise(&mut work.y, self.settings.warp, &mut work.scratch);

        let range = work.outputs.range();
        if self.settings.tolerance.is_some_and(|t| range <= t) {
            return Err(RestartCause::Tolerance);
        }
        if range <= self.settings.precision * largest {
            return Err(RestartCause::OutputRange);
        }
        let overall = observations.best().and_then(|p| observations.value(p)).unwrap_or(f64::INFINITY);
        if self.settings.explore && work.outputs.minimum() - overall > HOPELESS * range {
            return Err(RestartCause::Hopeless);
        }
        let best = values().position(|v| v == work.outputs.minimum()).ok_or(RestartCause::OutputRange)?;
        let centre = observations.unit(run.members[best]);
        if self.is_narrow(run.beta, centre) { Err(RestartCause::TrustRegion) } else { Ok(best) }
    }

    /// Whether the region [−β, β]^d of the frame around a point is no wider than rounding.
    fn is_narrow(&self, beta: f64, centre: &[f64]) -> bool {
        (0..centre.len()).all(|j| self.run.frame.reach(j) * beta <= self.domain.resolution(j, centre[j]))
    }

    /// Whether this run looks for another basin: every other one does.
    fn explores(&self) -> bool {
        self.settings.explore && self.run.number % 2 == 1
    }

    /// Widens the trust region after a better point was found and narrows it otherwise, between the β of the configuration and 1;
    /// a run that explores stays wide. Nothing of it without the switches.
    fn adapt_trust_region(&mut self, best: usize, news: usize) {
        const WIDER: f64 = 1.6;
        const NARROWER: f64 = 0.8;
        const WIDE: f64 = 0.5;
        let base = self.settings.region.beta;
        let least = if self.explores() { base.max(WIDE) } else { base };
        if self.settings.adapt_beta {
            let improved = best >= self.run.members.len().saturating_sub(news);
            self.run.beta *= if improved { WIDER } else { NARROWER };
        }
        self.run.beta = self.run.beta.clamp(least, if self.settings.adapt_beta { least.max(1.0) } else { least });
    }

    /// The frame around the best point. (eq:input_cen)
    fn centre(&mut self, best: usize) {
        let frame = std::mem::take(&mut self.run.frame);
        self.run.frame = frame.centred(self.observations.unit(self.run.members[best]));
    }

    /// The frame along the weighted principal components. (eq:svd_mod, eq:input_rot)
    fn rotate(&mut self) {
        if let Some(order) = self.settings.rotation {
            self.find_axes();
            self.work.axes.arrange(order);
            self.run.frame = std::mem::take(&mut self.run.frame).rotated(&mut self.work.axes);
        }
    }

    fn find_axes(&mut self) {
        let (work, run, observations) = (&mut self.work, &self.run, &self.observations);
        let points = run.members.iter().map(|&p| observations.unit(p)).zip(work.y.iter().copied());
        work.axes.find(&run.frame, points, run.members.len());
    }

    /// The model of the rotated inputs, its most likely length-scales, and the frame stretched by them.
    fn fit_and_rescale(&mut self) -> Result<(), RestartCause> {
        self.work.drop_model();
        let (work, settings) = (&mut self.work, &self.settings);
        let mut buffers = std::mem::take(&mut work.spare);
        self.run.fill_inputs(&self.observations, &mut buffers, &mut work.scratch);
        let prior = Prior::of(&work.y, settings.kernel, settings.signal, settings.noise);
        let gp = match Gp::fit_with_jitter(prior, &work.y, buffers) {
            Ok(gp) => gp, // line 8
            Err((_, buffers)) => {
                work.spare = buffers;
                return Err(RestartCause::Factorisation);
            }
        };
        let how = (settings.newton_steps, Curvature::Exact);
        let (gp, kind) = work.length_scales.improve(gp, &work.y, settings.prior_sigma, how, &mut work.trial);
        self.run.frame = std::mem::take(&mut self.run.frame).rescaled(&work.length_scales.ell); // line 10 (eq:input_resc)
        work.report.step = kind;
        work.report.log_likelihood = gp.log_likelihood();
        work.report.nugget = gp.prior().nugget;
        work.gp = Some(gp);
        Ok(())
    }

    /// Forgets observations outside the trust region. (eq:input_discard)
    fn discard(&mut self, best: usize) {
        let work = &mut self.work;
        if let Some(gp) = &mut work.gp {
            let region = TrustRegion { beta: self.run.beta, ..self.settings.region };
            region.discard(gp.inputs(), best, &mut work.dropped);
            gp.remove(&work.dropped);
        }
        let mut dropped = work.dropped.iter().peekable();
        let mut position = 0;
        self.run.members.retain(|_| {
            position += 1;
            dropped.next_if_eq(&&(position - 1)).is_none()
        });
        work.incumbent = 0.0;
        work.report.discarded = work.dropped.len();
    }

    /// Finds out whether a linear or quadratic fit of the other members would have forecast the newest one far better than the
    /// model, and if so, where it has its minimum.
    fn find_shortcut(&mut self) {
        /// The error of a fit to follow is smaller than that of the model by this factor, and than what it promises to gain by this too.
        const FAR: f64 = 1e-4;
        let (work, run, observations) = (&mut self.work, &self.run, &self.observations);
        work.shortcut = None;
        let Some(gp) = work.gp.as_ref().filter(|_| self.settings.quadratic) else { return };
        let Some((newest, above)) = gp.surprise() else { return };
        let (outputs, n) = (work.outputs, gp.len());
        let (to_user, range) = (|y| outputs.to_user(y), outputs.range());
        let allowed = FAR * (to_user(newest) - to_user(newest - above)).abs();
        work.y.clear();
        work.y
            .extend(run.members.iter().filter_map(|&p| observations.value(p)).map(|v| (v - outputs.minimum()) / range));
        work.scratch.clear();
        work.scratch.extend_from_slice(&work.y);
        work.scratch.sort_unstable_by(f64::total_cmp);
        let typical = work.scratch[n / 2];
        for terms in Terms::EACH {
            let (fit, x) = (&mut work.quadratic, gp.inputs());
            if fit.fit(terms, x, &work.y, n - 1, typical) {
                let error = (fit.at_row(x, n - 1) - work.y[n - 1]).abs();
                if error * range <= allowed && fit.fit(terms, x, &work.y, n, typical) {
                    let lowest = fit.minimise(&run.frame, run.members.iter().map(|&p| observations.unit(p)));
                    if error < FAR * -lowest {
                        work.shortcut = Some(outputs.minimum() + lowest * range);
                        return;
                    }
                }
            }
        }
    }

    /// Goes to the minimiser of the fit, if there is one to follow: once, and not while others are on their way.
    fn take_shortcut(&mut self) -> bool {
        let Some(predicted) = self.work.shortcut.take().filter(|_| self.pending.is_empty()) else { return false };
        self.domain.to_user(&self.work.quadratic.minimiser, &mut self.work.x);
        if self.seen.contains(&self.work.x) {
            return false;
        }
        self.describe_model();
        self.work.report.origin = Origin::Quadratic;
        self.work.report.acquisition = 0.0;
        self.work.report.predicted = self.settings.direction.orient(predicted);
        true
    }

    /// Failed points of the trust region enter the model at its own mean, but as no better than the best point: nothing is
    /// expected there any more, and the length-scales never hear of it. As many as observations are kept, the newest.
    fn avoid_failures(&mut self) {
        let (work, run, d) = (&mut self.work, &self.run, self.domain.dim());
        let Some(gp) = &mut work.gp else { return };
        let newest = run.failed.len().saturating_sub(self.settings.region.keep);
        for &position in &run.failed[newest..] {
            work.scratch.resize(d, 0.0);
            run.frame.to_local(self.observations.unit(position), &mut work.scratch);
            if work.scratch.iter().all(|x| x.abs() <= run.beta) {
                gp.append_fantasy(&work.scratch, work.incumbent);
            }
        }
        work.avoided = gp.fantasies();
    }

    /// Points asked and not yet told enter the model at its own mean.
    fn add_fantasies(&mut self) {
        let work = &mut self.work;
        if let Some(gp) = &mut work.gp {
            for pending in &self.pending[gp.fantasies() - work.avoided..] {
                work.scratch.resize(2 * self.domain.dim(), 0.0);
                let (u, x) = work.scratch.split_at_mut(self.domain.dim());
                self.domain.to_unit(&pending.x, u);
                self.run.frame.to_local(u, x);
                work.incumbent = work.incumbent.min(gp.append_fantasy(x, f64::NEG_INFINITY));
            }
        }
    }

    /// The most promising candidate that was never suggested before.
    fn maximise_acquisition(&mut self) -> Result<(), RestartCause> {
        // Each failure in a row halves the region looked at: where a border of failures is near, the next point comes nearer to
        // what is known to work. (Powers of two are exact.)
        let halvings = self.run.failures_in_a_row().min(1000) as i32;
        let beta = self.run.beta * 0.5_f64.powi(halvings);
        if halvings > 0 && self.is_narrow(beta, self.run.frame.centre()) {
            return Err(RestartCause::TrustRegion);
        }
        let optimism = self.settings.search.optimism * if self.explores() { DARING } else { 1.0 };
        let (work, settings) = (&mut self.work, &self.settings);
        let gp = work.gp.as_ref().ok_or(RestartCause::Factorisation)?;
        let acquisition = settings.acquisition.function();
        let search = Search { beta, optimism, ..settings.search };
        work.maximiser.run(gp, &self.run.frame, work.incumbent, acquisition, &search, &mut self.rng);
        while let Some(candidate) = work.maximiser.best() {
            self.domain.to_user(candidate.u, &mut work.x);
            if !self.seen.contains(&work.x) {
                work.report.acquisition = candidate.score;
                work.report.predicted = settings.direction.orient(work.outputs.to_user(candidate.mean));
                self.describe_model();
                return Ok(());
            }
            let index = candidate.index;
            work.maximiser.strike(index);
        }
        Err(RestartCause::NoNewPoint)
    }

    /// The model's part of the report.
    fn describe_model(&mut self) {
        let (work, frame) = (&mut self.work, &self.run.frame);
        let report = &mut work.report;
        report.origin = Origin::Model;
        report.observations = self.run.members.len();
        report.length_scales.clone_from(&work.length_scales.ell);
        report.half_widths.clear();
        report.half_widths.extend(frame.scale().iter().map(|s| s * self.run.beta));
        report.centre.resize(frame.dim(), 0.0);
        self.domain.to_user(frame.centre(), &mut report.centre);
        report.rotation.clear();
        report.rotation.extend_from_slice(frame.rotation().as_slice());
        report.output_range = work.outputs.range();
        report.clipped = work.maximiser.clipped;
    }

    /// Cuts a cache that was told in bulk to the members nearest to the best, and when there is no frame yet that could tell near
    /// from far, makes one: the principal axes, each scaled so that the points spread over the trust region as they do in a steady run.
    fn keep_nearest(&mut self, first: bool) {
        let observations = &self.observations;
        let by_value = |a: &usize, b: &usize| {
            let key = |p: usize| observations.value(p).unwrap_or(f64::INFINITY);
            key(*a).total_cmp(&key(*b))
        };
        let Some(best) = self.run.members.iter().copied().min_by(by_value) else { return };
        let frame = std::mem::take(&mut self.run.frame).centred(observations.unit(best));
        let mut x = vec![0.0; frame.dim()];
        let mut by_distance: Vec<(f64, usize)> = Vec::with_capacity(self.run.members.len());
        for &p in &self.run.members {
            frame.to_local(observations.unit(p), &mut x);
            by_distance.push((x.iter().map(|x| x * x).sum(), p));
        }
        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        by_distance.truncate(self.settings.region.keep);
        self.run.members.clear();
        self.run.members.extend(by_distance.iter().map(|(_, p)| *p));
        self.run.members.sort_unstable();
        self.run.frame = frame;
        if first && self.normalise_outputs().is_ok() {
            self.find_axes();
            self.work.axes.arrange(AxisOrder::Matched);
            let frame = std::mem::take(&mut self.run.frame).rotated(&mut self.work.axes);
            // Points spread evenly over [−β s, β s] have a root mean square of β s / √3.
            let per_sigma = (3.0 / self.run.members.len() as f64).sqrt() / self.settings.region.beta;
            self.run.frame = frame.with_scale(self.work.axes.sigma().map(|s| per_sigma * s));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
