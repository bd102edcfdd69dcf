//! The data of a step: the members of the run, their outputs with the noise in each, and their merits.

use super::config::Noise;
use super::noise::Level;
use super::problem::Problem;
use super::run::{LocalRun, Progress};
use crate::frame::Frame;
use crate::gp::{Gp, Prior};
use crate::linalg;

/// Values are bent towards their logarithm only from this many times the noise on: below, it would be bent with them.
pub(super) const CLEAR: f64 = 20.0;
/// Noise of less than this part of the run's spread is not looked for: a run that has come so far sees rounding.
const NOTICED: f64 = 1e-6;
/// The model doubts that values are exact when noise of this part of its signal makes them this many times e more likely.
const DOUBTED: f64 = 0.1;
const DOUBT: f64 = 3.0;
/// Exact values nearer to each other than this, in units of the box, may be the same by rounding alone.
const ROUNDED: f64 = 1e-4;
/// Under noise so many times as many observations are kept. With three times as many what is recommended is worse and a step costs more; with as
/// many as without noise it is better still, but a far value does more harm, and intervals hold less often.
const MORE: usize = 2;
/// A bowl that rises by the signal over one length-scale rises over the trust region by so many standard deviations of the noise at least.
const LEAST_RISE: f64 = 2.0;

/// An output of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    Objective,
    /// Measured constraint k.
    Constraint(usize),
}

impl Problem<'_> {
    /// Every output.
    pub(super) fn outputs(&self) -> impl Iterator<Item = Output> + use<> {
        std::iter::once(Output::Objective).chain((0..self.constraints()).map(Output::Constraint))
    }

    /// An output of an evaluation, smaller is better.
    pub(super) fn output(&self, output: Output, position: usize) -> Option<f64> {
        match output {
            Output::Objective => self.observations.value(position),
            Output::Constraint(k) => self.observations.outcome(position).constraints().get(k).copied(),
        }
    }

    /// Standard deviation of the noise in an output of an evaluation: as told, or else as known of the output.
    pub(super) fn std(&self, run: &LocalRun, output: Output, position: usize) -> f64 {
        self.told_std(output, position).unwrap_or_else(|| self.sigma(run, output))
    }

    /// The same as told with the evaluation, if it counts.
    pub(super) fn told_std(&self, output: Output, position: usize) -> Option<f64> {
        let outcome = self.observations.outcome(position);
        match output {
            _ if self.settings.switches.noise == Noise::None => None,
            Output::Objective => outcome.std(),
            Output::Constraint(k) => outcome.constraint_std().get(k).copied().filter(|s| !s.is_nan()),
        }
    }

    /// Standard deviation of the noise in an output where it was not told by evaluation, 0 for none.
    pub(super) fn sigma(&self, run: &LocalRun, output: Output) -> f64 {
        match (self.settings.switches.noise, output) {
            (Noise::None, _) => 0.0,
            (Noise::Sigma(sigma), Output::Objective) => sigma,
            _ => run.now.noise.level(output).sigma,
        }
    }

    /// Root mean square of the standard deviations of the members' outputs.
    pub(super) fn typical_std(&self, run: &LocalRun, output: Output) -> f64 {
        let n = run.now.members.len() as f64;
        let std = |&p: &usize| self.std(run, output, p) / n.sqrt();
        run.now.members.iter().map(std).map(|s| s * s).sum::<f64>().sqrt().min(f64::MAX)
    }

    /// Whether an output of the members has noise.
    pub(super) fn is_noisy(&self, run: &LocalRun, output: Output) -> bool {
        self.typical_std(run, output) > 0.0
    }

    /// Whether noise is looked for in an output.
    pub(super) fn looks_for_noise(&self, output: Output) -> bool {
        match self.settings.switches.noise {
            Noise::None => false,
            Noise::Auto => true,
            Noise::Sigma(_) => output != Output::Objective,
        }
    }

    /// Whether a place is at least as near to an evaluation that succeeded as to every one that failed without measuring why, which a constraint
    /// that only passes or fails does not tell either.
    pub(super) fn is_among_successes(&self, u: &[f64]) -> bool {
        let measured = |p: usize| self.observations.outcome(p).constraints();
        let tests: Vec<usize> = (0..self.constraints()).filter(|&k| self.passes_or_fails(k)).collect();
        let fails = |p: usize| {
            let failed = self.observations.value(p).is_none() && measured(p).is_empty();
            failed || tests.iter().any(|&k| measured(p).get(k).is_some_and(|g| *g > 0.0))
        };
        let nearest = |failed: bool| {
            let wanted = |p: &usize| fails(*p) == failed && (failed || self.observations.value(*p).is_some());
            let square = |p: usize| self.observations.unit(p).iter().zip(u).map(|(a, b)| (a - b) * (a - b)).sum();
            (0..self.observations.len()).filter(wanted).map(square).fold(f64::INFINITY, f64::min)
        };
        nearest(false) <= nearest(true)
    }

    /// Whether a measured constraint has but two values.
    fn passes_or_fails(&self, k: usize) -> bool {
        let told = || (0..self.observations.len()).filter_map(|p| self.output(Output::Constraint(k), p));
        let (low, high) = told().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), g| (low.min(g), high.max(g)));
        told().all(|g| g == low || g == high)
    }
}

impl super::noise::Noisy {
    /// What is known of an output.
    pub(super) fn level(&self, output: Output) -> Level {
        match output {
            Output::Objective => self.objective,
            Output::Constraint(k) => self.constraints.get(k).copied().unwrap_or_default(),
        }
    }

    pub(super) fn level_mut(&mut self, output: Output) -> &mut Level {
        match output {
            Output::Objective => &mut self.objective,
            Output::Constraint(k) => {
                if self.constraints.len() <= k {
                    self.constraints.resize(k + 1, Level::default());
                }
                &mut self.constraints[k]
            }
        }
    }
}

/// Looks for evaluations of one point among what is new. The first that differ show noise: whether the run began its frame again.
pub(super) fn look_for_repeats(problem: Problem<'_>, run: &mut LocalRun) -> bool {
    let mut begins_again = false;
    for output in problem.outputs().filter(|output| problem.looks_for_noise(*output)) {
        let tied = are_tied(problem, run, output);
        assume(problem, run, output, tied);
        let was_exact = run.now.noise.level(output).sigma == 0.0;
        let members = std::mem::take(&mut run.now.members);
        for (place, &new) in members.iter().enumerate().rev().take_while(|(_, new)| **new >= run.now.told) {
            let same = |old: &&usize| problem.observations.unit(**old) == problem.observations.unit(new);
            let Some(value) = problem.output(output, new) else { continue };
            let (mut sum, mut count) = (0.0, 0.0);
            for old in members[..place].iter().filter(same).filter_map(|&old| problem.output(output, old)) {
                (sum, count) = (sum + (value - old), count + 1.0); // 0 to the bit where all are equal
            }
            if count > 0.0 {
                let square = (sum / count).powi(2) * count / (count + 1.0);
                run.now.noise.level_mut(output).saw(square, tied);
            }
        }
        run.now.members = members;
        begins_again |= was_exact && run.now.noise.level(output).sigma > 0.0;
    }
    begins_again &= !problem.domain.is_mixed();
    if begins_again {
        begin_again(problem, run);
    }
    begins_again
}

/// Where some values come with their standard deviation, the others have noise of that size until repeats show more.
fn assume(problem: Problem<'_>, run: &mut LocalRun, output: Output, tied: bool) {
    let level = run.now.noise.level(output);
    if level.sigma > 0.0 || level.is_exact(tied) {
        return;
    }
    let told = |&p: &usize| problem.told_std(output, p);
    let typical = problem.typical_std(run, output);
    if typical > 0.0 && !run.now.members.iter().all(|p| told(p).is_some()) {
        let noisy = run.now.members.iter().filter_map(told).filter(|std| *std > 0.0).count();
        run.now.noise.level_mut(output).sigma = typical * (run.now.members.len() as f64 / noisy as f64).sqrt();
    }
}

/// Whether members far enough apart have the same value of an output, as rounded values, counts and shares do.
fn are_tied(problem: Problem<'_>, run: &LocalRun, output: Output) -> bool {
    let members = run.now.members.iter();
    let mut values: Vec<(f64, usize)> = members.filter_map(|&p| Some((problem.output(output, p)?, p))).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let unit = |p: usize| problem.observations.unit(p);
    values.windows(2).any(|w| w[0].0 == w[1].0 && !linalg::is_near(unit(w[0].1), unit(w[1].1), ROUNDED))
}

/// A run that took noisy values for exact ones closed in on the luckiest of them: its frame is that of the box again, with all that it has seen.
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

/// Whether the best point is to be evaluated again: the model of the outputs `y` doubts that one is exact, and nothing has shown it yet.
pub(super) fn is_doubtful(problem: Problem<'_>, run: &LocalRun, gp: &Gp, y: &[f64], spread: f64) -> bool {
    let few = gp.len() < 2 * problem.domain.dim() + 4;
    if few || problem.settings.switches.noise == Noise::None {
        return false;
    }
    let doubts = |output: Output| {
        let exact = run.now.noise.level(output).is_exact(are_tied(problem, run, output));
        let unknown = !exact && !problem.is_noisy(run, output);
        if !(unknown && problem.looks_for_noise(output)) {
            return false;
        }
        match output {
            Output::Objective => DOUBTED * spread >= NOTICED * run.now.spread && gains_by_noise(gp, y),
            Output::Constraint(_) => {
                let g: Vec<f64> = run.now.members.iter().filter_map(|&p| problem.output(output, p)).collect();
                g.len() == gp.len() && gains_by_noise(gp, &g)
            }
        }
    };
    problem.outputs().any(doubts)
}

/// Whether noise makes outputs at the inputs of a model far more likely.
fn gains_by_noise(gp: &Gp, y: &[f64]) -> bool {
    let exact = Prior::of(y, gp.prior().kernel, 1.0, 0.0);
    let likelihood =
        |nugget: f64| gp.refit(Prior { nugget: nugget * exact.signal, ..exact }, y).map(|gp| gp.log_likelihood());
    let without = likelihood(gp.prior().nugget / gp.prior().signal).unwrap_or(f64::NEG_INFINITY);
    likelihood(DOUBTED * DOUBTED).is_some_and(|with| with - without > DOUBT)
}

/// Observations kept: more under noise, and one more for each pending evaluation, which was chosen without knowing the others.
pub(super) fn keep(problem: Problem<'_>, run: &LocalRun) -> usize {
    let factor = if problem.is_noisy(run, Output::Objective) { MORE } else { 1 };
    problem.settings.region.keep.saturating_mul(factor).saturating_add(run.now.others)
}

/// The prior of outputs with noise: its signal σ_f² is what is left of their variance without the noise, but no less than a multiple of
/// it. Where that holds, the most likely length-scales are those over which the objective changes by σ_f: they do not shrink with the
/// region that is looked at. A bowl of σ_f per length-scale rises by d β² σ_f over the region.
pub(super) fn noisy_prior(problem: Problem<'_>, mut prior: Prior, noise: &[f64]) -> Prior {
    if !noise.is_empty() {
        let (d, beta) = (problem.domain.dim() as f64, problem.settings.region.beta);
        let (factor, least) = (problem.settings.switches.signal, LEAST_RISE / (d * beta * beta));
        prior.noise = noise.iter().sum::<f64>() / noise.len() as f64;
        let clear = prior.signal - factor * factor * prior.noise;
        prior.signal = clear.max(least * least * prior.noise);
    }
    prior
}
