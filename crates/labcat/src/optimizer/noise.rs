//! Noise: what is known of it, and the step of the algorithm when there is some.
//!
//! Without noise nothing here runs but a look at the model's doubts. With it the same lines of the algorithm work on denoised values:
//! the observations carry their noise into the fit, the incumbent is the lowest posterior mean, and the signal of the model never
//! falls below a multiple of the noise, so that the length-scales, and with them the trust region, stop shrinking where what is left
//! to be seen would drown.

use super::config::Noise;
use super::feasible::{self, Limits};
use super::model::{self, Fit, Model, Workspace};
use super::propose::Problem;
use super::regression;
use super::report::RestartCause;
use super::run::{LocalRun, Progress};
use crate::acquisition::AcquisitionKind;
use crate::acquisition::maximise::{Lattice, Search};
use crate::frame::{Frame, Outputs};
use crate::gp::{Gp, Prior};
use crate::math;

/// The model doubts that values are exact when noise of this part of its signal makes them this many times e more likely.
const DOUBTED: f64 = 0.1;
const DOUBT: f64 = 3.0;
/// Noise of less than this part of the run's spread is not looked for: a run that has come so far sees rounding.
const NOTICED: f64 = 1e-6;
/// A bowl that rises by the signal over one length-scale rises over the trust region by at least this many standard deviations of the
/// noise.
const LEAST_RISE: f64 = 2.0;
/// Observations kept where the noise is a third of the members' spread or more, in those kept without, and how fast their number follows.
const MORE: f64 = 3.0;
const DROWNED: f64 = 1.0 / 3.0;
const FOLLOW: f64 = 0.2;
/// As many again where it was a tenth of the run's widest spread: nothing was ever clear, and only numbers help; much fewer where it was
/// less. The most of them.
const MANY_MORE: f64 = 6.0;
const COARSE: f64 = 0.1;
const MOST_MORE: f64 = 400.0;
/// Values are warped only while their spread is this many times the noise.
const CLEAR: f64 = 20.0;
/// Standard deviation of ln σ² between two steps, the longest step, and how many repeated evaluations the memory holds.
const DRIFT: f64 = 0.2;
const LONGEST: f64 = 1.0;
const MEMORY: f64 = 6.0;
/// The best point is evaluated again until repeated evaluations count as this many: the first one alone may show next to nothing of the
/// noise, and the region would close in on values as if they were exact.
const ENOUGH: f64 = 1.5;
/// A run ends after this many evaluations per dimension in which its recommendation became no better.
const PATIENCE: usize = 40;
/// A recommendation is the lowest mean plus this many standard deviations.
pub(super) const CAUTION: f64 = 1.0;
/// Gradient steps on the way to it.
const DESCENTS: usize = 50;

/// What is known of the noise: state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Known {
    /// Standard deviation of a value, in units of the objective; 0 while values are taken as exact.
    pub(super) sigma: f64,
    /// Sum of the squares of what repeated evaluations differed by, and how many there were.
    squares: f64,
    repeats: f64,
    /// How much of what the model sees is noise, 0 to 1.
    share: f64,
    /// Whether a repeated evaluation gave the same value.
    exact: bool,
    /// What the run would recommend, smaller is better.
    pub(super) found: Option<Found>,
    /// The best that it would have recommended, mean plus standard deviation, and the place in the history by then.
    best: Option<(f64, usize)>,
}

/// A point of the box and what the model knows of it, smaller is better.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Found {
    pub(super) u: Vec<f64>,
    pub(super) mean: f64,
    pub(super) std: f64,
    /// Whether what an earlier run would recommend was weighed against it, with more observations than that run had.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub(super) supersedes: bool,
    /// How many observations the regression explains that it comes from, 0 if there is none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "super::run::is_zero"))]
    pub(super) explains: usize,
}

impl Found {
    /// A place in the box with the mean and standard deviation of y′ there.
    pub(super) fn new(u: Vec<f64>, outputs: &Outputs, mean: f64, std: f64) -> Self {
        Self { u, mean: outputs.to_user(mean), std: std * outputs.slope(mean), supersedes: false, explains: 0 }
    }

    /// What it is worth for all we know: one standard deviation above the mean.
    pub(super) fn bound(&self) -> f64 {
        self.mean + self.std
    }

    /// Whether it takes the place of what an earlier run would recommend: it was weighed against that, or is better by one standard
    /// deviation of each. The lower of two bounds alone is soon the luckier one.
    pub(super) fn beats(&self, earlier: &Self) -> bool {
        self.supersedes || self.bound() < earlier.mean - earlier.std
    }

    /// Whether every number is usable (a deserialised one may hold anything).
    #[cfg(feature = "serde")]
    pub(super) fn is_valid(&self, d: usize) -> bool {
        self.u.len() == d && self.u.iter().all(|u| u.abs() <= 1.0) && self.bound().is_finite() && self.std >= 0.0
    }
}

impl Known {
    /// What the next run begins with.
    pub(super) fn carried(&self) -> Self {
        Self { found: None, best: None, share: 0.0, ..self.clone() }
    }

    /// Takes in the square of what a repeated evaluation differed by.
    fn saw(&mut self, square: f64) {
        if !square.is_finite() {
            return;
        }
        const KEPT: f64 = 1.0 - 1.0 / MEMORY;
        self.squares = (KEPT * self.squares + square).min(f64::MAX);
        self.repeats = KEPT * self.repeats + 1.0;
        self.exact = self.squares == 0.0;
        if self.sigma == 0.0 {
            self.sigma = (self.squares / self.repeats).sqrt();
        }
    }

    /// Whether a state that was read can be worked with.
    #[cfg(feature = "serde")]
    pub(super) fn is_valid(&self, d: usize) -> bool {
        let amount = |v: f64| v.is_finite() && v >= 0.0;
        [self.sigma, self.squares, self.repeats].into_iter().all(amount)
            && (0.0..=1.0).contains(&self.share)
            && self.found.as_ref().is_none_or(|found| found.is_valid(d))
            && self.best.is_none_or(|(bound, _)| bound.is_finite())
    }

    /// One step of ln σ² towards its most likely value, given its last one and what repeated evaluations have shown.
    fn estimate(&mut self, gp: &Gp, work: &mut Workspace) {
        if self.sigma == 0.0 {
            return; // every evaluation was told with its own
        }
        let (slope, information) = gp.noise_slopes(&mut work.matrix, &mut work.inverse);
        let shown = 0.5 * self.squares / (self.sigma * self.sigma);
        let slope = slope + shown - 0.5 * self.repeats;
        let information = information + shown + 1.0 / (DRIFT * DRIFT);
        let sigma = self.sigma * math::exp(0.5 * (slope / information).clamp(-LONGEST, LONGEST));
        if sigma.is_finite() && sigma > 0.0 {
            self.sigma = sigma;
        }
    }

    /// Takes in what the run would recommend after a step.
    pub(super) fn find(&mut self, found: Found) {
        if found.bound().is_finite() {
            self.found = Some(found);
        }
    }

    /// Takes in what its model knows of the best point.
    pub(super) fn learn(&mut self, bound: f64, told: usize) {
        if bound.is_finite() && self.best.is_none_or(|(best, _)| bound < best) {
            self.best = Some((bound, told));
        }
    }
}

/// Looks for evaluations of one point among what was told since the last step. The first that differ show that there is noise: the run
/// then begins its frame again, and the answer is whether it did.
pub(super) fn look_for_repeats(problem: Problem<'_>, run: &mut LocalRun) -> bool {
    if problem.settings.switches.noise != Noise::Auto {
        return false;
    }
    let was_exact = run.now.noise.sigma == 0.0;
    let observations = problem.observations;
    let (members, known) = (&run.now.members, &mut run.now.noise);
    for (place, &new) in members.iter().enumerate().rev() {
        if new < run.now.told {
            break;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for &old in &members[..place] {
            if observations.unit(old) == observations.unit(new)
                && let Some(value) = observations.value(old)
            {
                (sum, count) = (sum + value, count + 1.0);
            }
        }
        if count > 0.0
            && let Some(value) = observations.value(new)
        {
            let square = (value - sum / count).powi(2) * count / (count + 1.0);
            known.saw(square);
        }
    }
    let begins_again = was_exact && run.now.noise.sigma > 0.0 && !problem.domain.is_mixed();
    if begins_again {
        begin_again(problem, run);
    }
    begins_again
}

/// What a run made of values as exact ones is worth nothing once they are known to be noisy: its region closed in on the luckiest of them.
/// Its frame is that of the box again, with all that it has seen.
fn begin_again(problem: Problem<'_>, run: &mut LocalRun) {
    let (observations, number) = (problem.observations, run.number);
    let Progress { members, frame, beta, spread, .. } = &mut run.now;
    *frame = Frame::of_box(frame.dim());
    (*beta, *spread) = (problem.settings.region.beta, 0.0);
    let told = members.last().map_or(0, |p| p + 1);
    let taken_over = members.clone();
    let is_own = |p: &usize| observations.all()[*p].run == number || taken_over.contains(p);
    members.clear();
    members.extend((0..told).filter(|p| is_own(p) && observations.value(*p).is_some()));
}

/// Standard deviation of the noise where it is not told by evaluation, 0 for none.
pub(super) fn sigma(problem: Problem<'_>, run: &LocalRun) -> f64 {
    match problem.settings.switches.noise {
        Noise::None => 0.0,
        Noise::Auto => run.now.noise.sigma,
        Noise::Sigma(sigma) => sigma,
    }
}

/// Whether the values of the members have noise.
pub(super) fn is_on(problem: Problem<'_>, run: &LocalRun) -> bool {
    let told = || run.now.members.iter().any(|&p| problem.observations.std(p).is_some_and(|s| s > 0.0));
    problem.settings.switches.noise != Noise::None && (sigma(problem, run) > 0.0 || told())
}

/// The member to be evaluated again, if the model doubts that values are exact and nothing has shown it yet.
pub(super) fn doubtful(
    problem: Problem<'_>,
    run: &LocalRun,
    (gp, outputs): (&Gp, &Outputs),
    best: usize,
    work: &mut Workspace,
) -> Option<usize> {
    let known = &run.now.noise;
    if problem.settings.switches.noise != Noise::Auto || known.exact || known.sigma > 0.0 {
        return None;
    }
    let few = gp.len() < 2 * problem.domain.dim() + 4;
    if few || DOUBTED * outputs.spread() < NOTICED * run.now.spread {
        return None;
    }
    let x = gp.inputs();
    let mut buffers = std::mem::take(&mut work.trial);
    buffers.inputs(x.rows(), x.cols()).copy_from(x);
    let prior = Prior { nugget: DOUBTED * DOUBTED * gp.prior().signal, ..*gp.prior() };
    let (gain, buffers) = match Gp::fit(prior, &work.y, buffers) {
        Ok(noisy) => (noisy.log_likelihood() - gp.log_likelihood(), noisy.into_buffers()),
        Err((_, buffers)) => (0.0, buffers),
    };
    work.trial = buffers;
    (gain > DOUBT).then(|| run.now.members[best])
}

/// Observations kept: more under noise, most where the whole run is noisy, and one more for each evaluation on its way, which was
/// chosen without knowing the others.
pub(super) fn keep(problem: Problem<'_>, run: &LocalRun) -> usize {
    let (usual, share, others) = (problem.settings.region.keep, run.now.noise.share, run.now.others);
    if share == 0.0 {
        return usual.saturating_add(others);
    }
    let coarse = (typical(problem, run) / (COARSE * run.now.spread)).min(1.0);
    let (usual, more) = (usual as f64, MORE - 1.0 + MANY_MORE * coarse.powi(4));
    ((usual * (1.0 + share * more)).min((MORE * usual).max(MOST_MORE)) as usize).saturating_add(others)
}

/// Lines 6–11 of the algorithm under noise.
pub(super) fn update_model(
    problem: Problem<'_>,
    run: &mut LocalRun,
    work: &mut Workspace,
    (news, passes): (usize, usize),
) -> Result<Model, RestartCause> {
    let mut outputs = normalise_outputs(problem, run, work); // line 6: T_minmax
    run.now.spread = run.now.spread.max(outputs.spread());
    let mut gp = model::fit(problem, run, work)?;
    if problem.settings.switches.noise == Noise::Auto {
        run.now.noise.estimate(&gp, work);
        work.spare = gp.into_buffers();
        outputs = normalise_outputs(problem, run, work);
        gp = model::fit(problem, run, work)?;
    }
    let (mut best, low, high) = smooth(&gp, work);
    work.spare = gp.into_buffers();
    if problem.settings.switches.constraints > 0 {
        let means: Vec<f64> = work.smooth.iter().map(|m| outputs.to_user(low + m * (high - low))).collect();
        best = feasible::best_of(problem, run, &means).unwrap_or(best);
    }
    if let Some(cause) = why_over(problem, run, outputs.to_user(low), outputs.to_user(high)) {
        return Err(cause); // line 5: converged?
    }
    let share = (typical(problem, run) / (DROWNED * outputs.spread())).min(1.0);
    run.now.noise.share += FOLLOW * (share - run.now.noise.share);
    model::adapt_trust_region(problem, run, best, news);
    model::centre(problem, run, run.now.members[best]); // line 7: T_cen
    let mut fit = None;
    for _ in 0..passes {
        work.reclaim_fit(fit.take());
        model::rotate(problem, run, &outputs, work); // line 7: T_rot
        fit = Some(model::fit_and_rescale(problem, run, work)?); // lines 8–10: GP, ℓ*, T_resc
    }
    let mut fit = fit.ok_or(RestartCause::Factorisation)?;
    let known = &run.now.noise;
    let unsure = problem.settings.switches.noise == Noise::Auto && known.repeats > 0.0 && known.repeats < ENOUGH;
    let again = unsure.then(|| run.now.members[best]);
    let discarded = model::discard(problem, run, &mut fit.gp, best, work); // line 11: T_discard
    let mut incumbent = 0.0;
    if !problem.is_constrained() {
        let (u, mean, std) = recommend(problem, run, &fit, work);
        incumbent = mean;
        let found = Found::new(u, &outputs, mean, std);
        let simple = regression::recommend(problem, run, &outputs, &found, sigma(problem, run), work);
        run.now.noise.learn(found.bound(), run.now.told);
        run.now.noise.find(simple.unwrap_or(found));
    }
    let (limits, joint) = (Limits::default(), None);
    Ok(Model {
        fit,
        outputs,
        discarded,
        shortcut: None,
        again,
        avoided: 0,
        incumbent,
        scope: problem.scope,
        limits,
        joint,
    })
}

/// y′ of the members and the variances of their noise, in the workspace. Values are not warped where the noise would be bent with them.
fn normalise_outputs(problem: Problem<'_>, run: &LocalRun, work: &mut Workspace) -> Outputs {
    let mut outputs = model::normalise_outputs(problem, run, work, true);
    let typical = typical(problem, run).min(f64::MAX);
    if outputs.spread() < CLEAR * typical {
        outputs = model::normalise_outputs(problem, run, work, false).no_narrower_than(typical, &mut work.y);
    }
    let sigma = sigma(problem, run);
    let variance = |(&p, &y): (&usize, &f64)| (problem.observations.std(p).unwrap_or(sigma) / outputs.slope(y)).powi(2);
    work.noise.extend(run.now.members.iter().zip(&work.y).map(variance));
    outputs
}

/// Root mean square of the standard deviations of the members' values.
fn typical(problem: Problem<'_>, run: &LocalRun) -> f64 {
    let (sigma, n) = (sigma(problem, run), run.now.members.len() as f64);
    let std = |&p: &usize| problem.observations.std(p).unwrap_or(sigma) / n.sqrt();
    run.now.members.iter().map(std).map(|s| s * s).sum::<f64>().sqrt()
}

/// The prior of outputs with noise: its signal σ_f² is what is left of their variance without the noise, but no less than a multiple of
/// it. Where that holds, the most likely length-scales are those over which the objective changes by σ_f: they do not shrink with the
/// region that is looked at. A bowl of σ_f per length-scale rises by d β² σ_f over the region.
pub(super) fn prior(problem: Problem<'_>, mut prior: Prior, noise: &[f64]) -> Prior {
    if !noise.is_empty() {
        let (d, beta) = (problem.domain.dim() as f64, problem.settings.region.beta);
        let (factor, least) = (problem.settings.switches.signal, LEAST_RISE / (d * beta * beta));
        prior.noise = noise.iter().sum::<f64>() / noise.len() as f64;
        let clear = prior.signal - factor * factor * prior.noise;
        prior.signal = clear.max(least * least * prior.noise);
    }
    prior
}

/// Posterior means of the members between 0 and 1, in the workspace; the lowest of them, and what 0 and 1 stand for.
fn smooth(gp: &Gp, work: &mut Workspace) -> (usize, f64, f64) {
    work.smooth.clear();
    work.smooth.extend(gp.smoothed());
    let low = work.smooth.iter().copied().fold(f64::INFINITY, f64::min);
    let high = work.smooth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let best = work.smooth.iter().position(|m| *m <= low).unwrap_or(0);
    for m in &mut work.smooth {
        *m = if high > low { (*m - low) / (high - low) } else { 0.0 };
    }
    (best, low, high)
}

/// Why a run whose denoised values lie between `low` and `high` has no more to give, if so.
fn why_over(problem: Problem<'_>, run: &LocalRun, low: f64, high: f64) -> Option<RestartCause> {
    let (switches, range) = (&problem.settings.switches, high - low);
    if !problem.ends {
        return None;
    }
    if switches.tolerance.is_some_and(|t| range <= t) {
        return Some(RestartCause::Tolerance);
    }
    let stalled = run.now.noise.best.map_or(0, |(_, then)| run.now.told.saturating_sub(then));
    if stalled >= PATIENCE * problem.domain.dim() {
        return Some(RestartCause::Noise);
    }
    let overall = problem.found.map_or(f64::INFINITY, Found::bound);
    if switches.give_up.is_some_and(|most| switches.restarts && low - overall > most * range) {
        return Some(RestartCause::Hopeless);
    }
    model::is_narrow(problem, run, run.now.beta, run.now.frame.centre()).then_some(RestartCause::TrustRegion)
}

/// The lowest mean of the trust region, with some caution: its place in the box, mean and standard deviation.
fn recommend(problem: Problem<'_>, run: &LocalRun, fit: &Fit, work: &mut Workspace) -> (Vec<f64>, f64, f64) {
    // The lower confidence bound with a negative factor is the upper one.
    let optimism = -CAUTION / crate::acquisition::KAPPA;
    let search = Search { beta: run.now.beta, optimism, refinements: DESCENTS, ..problem.settings.search };
    let centre = vec![0.0; problem.domain.dim()];
    let moves: Vec<bool> = (0..centre.len()).map(|i| problem.moves(i)).collect();
    let lattice = problem.domain.is_mixed().then_some(Lattice { domain: problem.domain, moves: &moves });
    let kind = AcquisitionKind::LowerConfidenceBound;
    let (u, mean, std) = work.maximiser.climb(&fit.gp, &run.now.frame, &centre, lattice, kind, &search);
    (u.to_vec(), mean, std)
}
