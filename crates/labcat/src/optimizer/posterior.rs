//! The posterior of all observations: a Gaussian process of the objective and of each measured constraint, along the axes of the box. It is fitted
//! on demand and used for recommendations under noise, predictions, and the relevance of parameters.

use super::dataset::Output;
use super::descent::{self, Goal};
use super::problem::Problem;
use super::run::LocalRun;
use super::slopes;
use crate::design;
use crate::domain::Domain;
use crate::frame::{Frame, Outputs, normalise_bent};
use crate::gp::kernel::KernelKind;
use crate::gp::likelihood::{Curvature, Derivatives};
use crate::gp::surrogate::Surrogate;
use crate::gp::{Buffers, Gp, PointPrediction, Prior, Trend};
use crate::linalg::{self, Matrix};
use crate::math;
use crate::rng::Rng;

/// No function is a draw from a Gaussian process: at a kink or between steep walls the mean is biased. What is left of the observations there shows
/// a part of the bias; the standard deviation that is said counts this many times that part. (The record has the coverage; with 2 a fifth of some
/// runs on the sharpest kinks is missed.)
const BIAS: f64 = 3.0;
/// Below the lowest mean at an observation the model extrapolates: the standard deviation counts what lies below this many times. (With 2 a fifth
/// of some runs on flat bowls between steep walls is missed.)
const BELOW: f64 = 4.0;
/// Values are bent towards their logarithm from this many times the noise on. From 20 on, the walls of a bowl still pull the mean at its flat
/// bottom down; from 3 on, quartics gain and kinks lose a little. The record has all three.
const BENT: f64 = 5.0;
/// What is recommended has the lowest mean plus this many standard deviations, where the constraints are satisfied with as many to spare.
const CAUTION: f64 = 1.3;
/// Rows at most: the cost grows with their cube. Where there are more observations the nearest to each other are one.
const ROWS: usize = 400;
/// What the likelihood decides is learned from this many of them, and of the likeliest model then by so many steps from all. (More of them or more
/// steps cost more and gain nothing; without these steps the regret is a tenth to a quarter larger from 200 evaluations on.)
const LEARNED: usize = 150;
const STEPS_OF_ALL: usize = 2;
/// Rounds in which the bend is replaced by its tangents. (Without them intervals on kinks lie too high: a quarter of the runs on Σ |z|^1.5 is missed.)
const UNBENT_ROUNDS: usize = 2;
/// Exact values nearer to a better one than this, in units of the box, tell of nothing that the model could hold.
const NEAREST: f64 = 2e-2;
/// Standard deviations of what is known before: of ln ℓ around √d half-widths of the box for d parameters, and of the logarithm of the variance
/// of the noise where it is estimated, given, or stands for what the model cannot hold of exact values. Of the logarithm of the signal's, where
/// a trend is to take most of it, around this; and of that of the trend's.
const PRIOR_SIGMA: f64 = 0.7;
const NOISE_SIGMA: f64 = 0.3;
const GIVEN_SIGMA: f64 = 1e-3;
const MISFIT_SIGMA: f64 = 4.0;
const LITTLE: (f64, f64) = (-5.0, 1.5);
const TREND_SIGMA: f64 = 4.0;
/// By how much the logarithm of its likelihood may be less for the simpler of two models. The other counts in what is uncertain, from this share of
/// the likelihood on; where values are exact always so much that two standard deviations reach it: their likelihood says little of other places.
const SIMPLER: f64 = 2.0;
const OTHER: f64 = 0.02;
const OTHER_OF_EXACT: f64 = 0.25;
/// Variance of that misfit to begin with, in that of the values, and the least.
const MISFIT: f64 = 1e-9;
/// Variance of noise in bent outputs to begin with, in that of the outputs.
const RELATIVE: f64 = 0.1;
/// By how much the logarithm of the likelihood has to be more with noise that grows with the height than with noise that is everywhere the same: by
/// chance it was up to 12 more, where there is such noise from 35 on.
const UNEVEN: f64 = 20.0;
/// Newton steps of the likelihood of some rows, the longest of them, and how often one is halved. They end once one gains less than this.
const STEPS: usize = 15;
const LONGEST: f64 = 1.0;
const HALVINGS: usize = 6;
const GAINS: f64 = 0.02;
/// An observation that is left over by more standard deviations than this is an outlier: its variance grows until it is no more. Rounds of it.
const OUTLYING: f64 = 3.5;
const OUTLIER_ROUNDS: usize = 4;
/// Of the caution towards constraints this much is enough once a descent is over: it ends on their border.
const SPARED: f64 = 0.95;
/// Where descents to the lowest mean begin: at this many of the lowest.
const STARTS: usize = 3;
/// Draws of functions that the parameters' shares are taken of, and the places of each; at least this many for each parameter.
const DRAWS: usize = 40;
const PLACES: usize = 300;
const LEAST_PLACES: usize = 8;

/// The models of all observations.
pub(super) struct Posterior {
    frame: Frame,
    outputs: Outputs,
    surrogate: Surrogate,
    /// The rows' places in the box, the lowest mean first.
    lowest: Vec<Vec<f64>>,
    /// The other model of the objective, with its share of the likelihood.
    other: Option<(Fitted, f64)>,
}

/// Observations of one output, or the mean of several that are near each other.
struct Row {
    u: Vec<f64>,
    value: f64,
    /// Of the noise in it.
    variance: f64,
    /// How many, and where the first of them stands in the history.
    count: f64,
    position: usize,
}

/// The model of one output.
struct Fitted {
    frame: Frame,
    outputs: Outputs,
    gp: Gp,
    positions: Vec<usize>,
}

impl Posterior {
    /// Of what was told, with what a run knows of the noise. `None` while there is next to nothing to go by.
    pub(super) fn of(problem: Problem<'_>, run: &LocalRun) -> Option<Self> {
        let fitted = |output: Output, centre: Option<&[f64]>| {
            let sigma = problem.sigma(run, output);
            let known = if problem.looks_for_noise(output) { NOISE_SIGMA } else { GIVEN_SIGMA };
            let rows = rows(problem, output, sigma);
            let slopes = problem.observations.all().iter().any(|e| !e.outcome.gradient().is_empty());
            let centre = centre.or_else(|| rows.first().map(|row| &*row.u))?.to_vec();
            Fitted::of(rows, known, slopes && output == Output::Objective, &centre, problem.domain)
        };
        let (Fitted { frame, outputs, gp, positions }, other) = fitted(Output::Objective, None)?;
        let mut order: Vec<(f64, usize)> = gp.smoothed().zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let x = gp.inputs();
        let place = |row: usize| {
            let x: Vec<f64> = (0..x.cols()).map(|j| x[(row, j)]).collect();
            descent::place(problem, &frame, &x)
        };
        let lowest = order.into_iter().map(|(_, row)| place(row)).collect();
        let without = Surrogate::new(gp);
        let mut surrogate = without.clone();
        slopes::add(problem, (&frame, &positions), &mut surrogate, &outputs);
        let mut surrogate = if surrogate.gp.weights().iter().all(|w| w.is_finite()) { surrogate } else { without };
        for k in 0..problem.constraints() {
            let (limit, _) = fitted(Output::Constraint(k), Some(frame.centre()))?;
            let stretch = frame.scale().iter().zip(limit.frame.scale()).map(|(s, own)| s / own).collect();
            surrogate.add_model(limit.gp, stretch, limit.outputs.to_normalised(0.0));
        }
        Some(Self { frame, outputs, surrogate, lowest, other })
    }

    /// A draw of the model's output at each of some places, the largest number where a constraint is drawn as violated.
    pub(super) fn draw<'a>(&self, places: impl ExactSizeIterator<Item = &'a [f64]> + Clone, rng: &mut Rng) -> Vec<f64> {
        let local = self.local(places.clone());
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        self.surrogate.gp.predict(&local, &mut k_star, &mut mean, &mut std);
        let feasible = |u: &[f64]| math::exp(self.surrogate.log_feasible(&self.frame.local(u), 0.0, 1.0));
        let value = |((u, mean), std): ((&[f64], &f64), &f64)| {
            let value = mean + std * rng.normal();
            if rng.unit() < feasible(u) { value } else { f64::MAX }
        };
        places.zip(&mean).zip(&std).map(value).collect()
    }

    fn local<'a>(&self, places: impl ExactSizeIterator<Item = &'a [f64]>) -> Matrix {
        let mut local = Matrix::zeros(places.len(), self.frame.dim());
        self.frame.to_local_rows(places, &mut local, &mut Vec::new());
        local
    }

    /// The share of each parameter in how the objective varies over the box, and its standard deviation: its total effect, half the mean square
    /// of what changing it alone changes (Sobol), in the sum of all, by the mean of the model; and how far functions drawn from it are from that. (Each
    /// draw varies along every parameter, with or without an effect: the mean of the draws' shares is too large for those without.)
    pub(super) fn shares(&self, domain: &Domain) -> Option<Vec<(f64, f64)>> {
        let (n, mut rng) = (domain.parameters().len(), Rng::new(1));
        let bases = (PLACES / (n + 1)).max(LEAST_PLACES);
        let [from, to] = [(); 2].map(|()| design::latin_hypercube(&mut rng, bases, n));
        let mut places = Vec::new();
        for (from, to) in from.iter().zip(&to) {
            places.push(domain.embed(from));
            for (j, other) in to.iter().enumerate() {
                let mut moved = from.clone();
                moved[j] = *other;
                places.push(domain.embed(&moved));
            }
        }
        let local = self.local(places.iter().map(Vec::as_slice));
        let shares = |y: &[f64], bases: &mut dyn Iterator<Item = usize>| -> Vec<f64> {
            let height = |place: usize| self.outputs.height(y[place]).clamp(-1e100, 1e100);
            let mut effects = vec![0.0; n];
            for base in bases.map(|base| base * (n + 1)) {
                effects.iter_mut().enumerate().for_each(|(j, e)| *e += (height(base) - height(base + 1 + j)).powi(2));
            }
            let total: f64 = effects.iter().sum();
            effects.into_iter().map(|effect| if total > 0.0 { effect / total } else { 1.0 / n as f64 }).collect()
        };
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        self.surrogate.gp.predict(&local, &mut k_star, &mut mean, &mut std);
        let said = shares(&mean, &mut (0..bases));
        let mut squares = vec![0.0; n];
        for draw in self.surrogate.gp.draws(&local, DRAWS, &mut rng)? {
            // The places are drawn again, so that their choice counts.
            let drawn = shares(&draw, &mut std::iter::repeat_with(|| rng.below(bases)).take(bases));
            squares.iter_mut().zip(drawn.iter().zip(&said)).for_each(|(s, (a, b))| *s += (a - b).powi(2));
        }
        Some(said.into_iter().zip(squares).map(|(share, square)| (share, (square / DRAWS as f64).sqrt())).collect())
    }

    /// What is said of a place: the mean and the standard deviation of the model in units of the objective, with the bias that shows in what is
    /// left of the observations, and with what the other model says, as far as it may be the right one.
    pub(super) fn in_units(&self, u: &[f64]) -> (f64, f64) {
        let (mean, std) = in_units((&self.frame, &self.outputs, &self.surrogate.gp), u);
        let Some((other, share)) = &self.other else { return (mean, std) };
        let (there, doubt) = in_units((&other.frame, &other.outputs, &other.gp), u);
        let variance = (1.0 - share) * std * std + share * (doubt * doubt + (there - mean).powi(2));
        (mean, if variance.is_finite() { variance.sqrt() } else { std })
    }

    /// The lowest mean with some caution, among points that the models of the constraints allow with as much and that lie among successes: its
    /// place in the box, mean and standard deviation. Where none is allowed, the one that is violated least.
    pub(super) fn lowest(&self, problem: Problem<'_>) -> Option<(Vec<f64>, f64, f64)> {
        let domain = problem.domain;
        let moves: Vec<bool> = domain.axes().iter().map(|axis| axis.turns()).collect();
        let beta = 2.0 / self.frame.scale().iter().copied().fold(f64::INFINITY, f64::min); // all of the box
        let goal = Goal { kappa: -CAUTION, caution: CAUTION, beta, moves: &moves, programs: descent::PROGRAMS };
        // The lowest of all, and of those that are allowed.
        let mut starts: Vec<&Vec<f64>> = self.lowest.iter().take(1).collect();
        for u in &self.lowest {
            if starts.len() < STARTS && !starts.contains(&u) && self.look(u).0 == 0.0 {
                starts.push(u);
            }
        }
        let mut found: Option<(f64, f64, Vec<f64>)> = None;
        for start in starts {
            let x = self.frame.local(start);
            let (x, _) = descent::minimise(problem, &self.frame, &self.surrogate, goal, &x);
            let end = descent::place(problem, &self.frame, &x);
            for u in [end, start.clone()] {
                let Some(allowed) = problem.known.nearest(domain, &u, start) else { continue };
                let u = problem.domain.place(&allowed);
                if !problem.is_among_successes(&u) {
                    continue;
                }
                let (excess, mean, std) = self.look(&u);
                let bound = mean + CAUTION * std;
                if bound.is_finite() && found.as_ref().is_none_or(|best| (excess, bound) < (best.0, best.1)) {
                    found = Some((excess, bound, u));
                }
            }
        }
        found.map(|(_, _, u)| {
            let (mean, std) = self.in_units(&u);
            (u, mean, std)
        })
    }

    /// By how much the constraints are violated at a place with caution, and the mean and standard deviation of the model's output.
    fn look(&self, u: &[f64]) -> (f64, f64, f64) {
        let (x, mut at) = (self.frame.local(u), PointPrediction::default());
        let limits = self.surrogate.at(&x, &mut at);
        let excess = limits.iter().map(|limit| (limit.mean + SPARED * CAUTION * limit.std).max(0.0)).sum();
        (excess, at.mean, at.std)
    }
}

/// The median and half the width of an interval of two standard deviations in units of the objective: bent outputs are not symmetric.
fn in_units((frame, outputs, gp): (&Frame, &Outputs, &Gp), u: &[f64]) -> (f64, f64) {
    let (x, mut at) = (frame.local(u), PointPrediction::default());
    gp.look(&x, &mut at);
    let bias = BIAS * gp.smoothed_residual(&x);
    let least = (gp.prior().noise / gp.len() as f64).sqrt(); // not even the mean of all outputs is known better
    let lowest = if gp.noise().is_empty() { at.mean } else { gp.smoothed().fold(f64::INFINITY, f64::min) };
    let std = at.std.max(least).hypot(bias).hypot(BELOW * (lowest - at.mean).max(0.0));
    let [low, high] = [at.mean - std, at.mean + std].map(|y| outputs.to_user(y));
    (outputs.to_user(at.mean), 0.5 * high - 0.5 * low)
}

/// The observations of an output in the order of their values, so that the order of telling does not matter; as many as a model takes.
fn rows(problem: Problem<'_>, output: Output, sigma: f64) -> Vec<Row> {
    let observations = problem.observations;
    let row = |p: usize| {
        let std = problem.told_std(output, p).unwrap_or(sigma);
        let value = problem.output(output, p)?;
        Some(Row { u: observations.unit(p).to_vec(), value, variance: std * std, count: 1.0, position: p })
    };
    let mut rows: Vec<Row> = (0..observations.len()).filter_map(row).filter(|row| row.variance.is_finite()).collect();
    rows.sort_by(|a, b| {
        let places = || a.u.iter().zip(&b.u).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne());
        a.value.total_cmp(&b.value).then_with(|| places().unwrap_or(std::cmp::Ordering::Equal))
    });
    let exact = rows.iter().all(|row| row.variance == 0.0);
    let mut radius = NEAREST;
    while rows.len() > ROWS || (exact && radius == NEAREST) {
        rows = merged(rows, radius);
        radius *= 1.5;
    }
    rows
}

/// Rows that are nearer to one before them than a radius, together with it: of exact values the first counts, of others the mean.
fn merged(rows: Vec<Row>, radius: f64) -> Vec<Row> {
    let mut leaders: Vec<(Vec<f64>, Row)> = Vec::new();
    for row in rows {
        let near = |u: &[f64]| u.iter().zip(&row.u).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() < radius * radius;
        match leaders.iter_mut().find(|(u, _)| near(u)) {
            None => leaders.push((row.u.clone(), row)),
            Some((_, into)) if into.variance > 0.0 => {
                // Weights by the number: those of precise rows would follow what was told of them too far.
                let (all, part) = (into.count + row.count, row.count / (into.count + row.count));
                for (a, b) in into.u.iter_mut().zip(&row.u) {
                    *a += part * (b - *a);
                }
                into.value += part * (row.value - into.value);
                into.variance = (1.0 - part).powi(2) * into.variance + part * part * row.variance;
                into.count = all;
            }
            Some(_) => {}
        }
    }
    leaders.into_iter().map(|(_, row)| row).collect()
}

impl Fitted {
    /// The likelier of two models of rows whose noise is known up to a factor: a quadratic trend and a process around it, or a process of outputs
    /// bent towards their logarithm; and the other with its share of the likelihood, unless that is small.
    fn of(
        rows: Vec<Row>,
        noise_sigma: f64,
        slopes: bool,
        centre: &[f64],
        domain: &Domain,
    ) -> Option<(Self, Option<(Self, f64)>)> {
        rows.get(1)?;
        let model = |form: Form| Data::of(&rows, noise_sigma, form, centre, domain);
        let trend = if slopes { None } else { model(Form::Trend).learn() };
        let (bent, relative) = (model(Form::Bent), model(Form::Relative));
        let differs = noise_sigma > GIVEN_SIGMA && !bent.exact && relative.outputs != bent.outputs;
        let relative = if differs { relative.learn() } else { None };
        let relative = relative.map(|(data, t, evidence)| (data, t, evidence - UNEVEN));
        let bent = bent.learn().into_iter().chain(relative).max_by(|a, b| a.2.total_cmp(&b.2));
        let positions: Vec<usize> = rows.into_iter().map(|row| row.position).collect();
        let fitted = |mut learned: Learned| Self::last(learned.0, &mut learned.1, &positions);
        match (trend, bent) {
            (Some(trend), Some(bent)) => {
                let (more, least) = (bent.2 - trend.2, if trend.0.exact { OTHER_OF_EXACT } else { 0.0 });
                let (first, second, more) = if more > SIMPLER { (bent, trend, -more) } else { (trend, bent, more) };
                let Some(first) = fitted(first) else { return Some((fitted(second)?, None)) };
                let share = (1.0 / (1.0 + math::exp(-more))).max(least);
                let other = if share > OTHER { fitted(second) } else { None };
                Some((first, other.map(|other| (other, share))))
            }
            (trend, bent) => Some((fitted(trend.or(bent)?)?, None)),
        }
    }

    /// With what was learned, and learns a little more from all rows if those were some.
    fn last(mut data: Data, t: &mut Vec<f64>, positions: &[usize]) -> Option<Self> {
        let all: Vec<usize> = (0..data.points.len()).collect();
        let mut gp = data.last(&all, t)?; // outliers count less from here on
        if all.len() > LEARNED && !data.exact {
            _ = data.climb(&all, t, STEPS_OF_ALL); // where that cannot be factored, what was learned stays
            gp = data.last(&all, t)?;
        }
        let rounds = if data.form == Form::Bent && !data.exact { UNBENT_ROUNDS } else { 0 };
        for _ in 0..rounds {
            data.unbend(&gp);
            gp = data.fit(&all, t, false)?;
        }
        let ell: Vec<f64> = data.group.iter().map(|&g| math::exp(t[g])).collect();
        Some(Self { frame: data.frame.rescaled(&ell), outputs: data.outputs, gp, positions: positions.to_vec() })
    }
}

/// Places, outputs and variances of their noise, and what is known of a model of them before: means and precisions of ln ℓ, of the logarithms of
/// the signal's variance, of a factor on those of the noise and, with a trend, of its variance.
struct Data {
    frame: Frame,
    outputs: Outputs,
    /// Which length-scale is that of an axis, and how many there are: labels of one parameter share theirs.
    group: Vec<usize>,
    lengths: usize,
    points: Vec<Vec<f64>>,
    form: Form,
    y: Vec<f64>,
    /// Where the tangents of the bend touch it by which `y` and `noise` are in bent units.
    tangent: Vec<f64>,
    noise: Vec<f64>,
    exact: bool,
    prior: Prior,
    means: Vec<f64>,
    precisions: Vec<f64>,
}

/// A model with what was learned, and how likely the values are by it.
type Learned = (Data, Vec<f64>, f64);

/// What a model of an output is made of.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// A quadratic trend and a process around it.
    Trend,
    /// A process of outputs bent towards their logarithm, as far as the noise is not bent with them.
    Bent,
    /// The same with noise that grows with the height above the lowest: bent with the outputs it is everywhere the same.
    Relative,
}

/// 1 / σ², with the same bits in every build, which a negative power of a constant need not have.
fn precision(sigma: f64) -> f64 {
    1.0 / (sigma * sigma)
}

impl Data {
    fn of(rows: &[Row], noise_sigma: f64, form: Form, centre: &[f64], domain: &Domain) -> Self {
        let trend = form == Form::Trend;
        let (n, axes, d) = (rows.len() as f64, centre.len(), domain.free_parameters());
        let mut group = vec![0; axes];
        for j in 1..axes {
            group[j] = group[j - 1] + usize::from(domain.parameter_of(j) != domain.parameter_of(j - 1));
        }
        let mut y: Vec<f64> = rows.iter().map(|row| row.value).collect();
        let typical = (rows.iter().map(|row| row.count * row.variance / n).sum::<f64>()).sqrt();
        // What a trend leaves is smooth; a process alone has to hold the kinks and what bending leaves of the tails.
        let kernel = if trend { KernelKind::SquaredExponential } else { KernelKind::Matern32 };
        let least = match form {
            Form::Trend => f64::MAX,
            Form::Bent => BENT * typical,
            Form::Relative => 0.0,
        };
        let outputs = normalise_bent(&mut y, least, typical);
        let (prior, exact) = (Prior::of(&y, kernel, 1.0, 0.0), typical == 0.0);
        let variance = |(row, y): (&Row, &f64)| {
            if exact {
                MISFIT * prior.signal
            } else if form == Form::Relative {
                RELATIVE * prior.signal * (row.variance / typical / typical) + 1e-12 * prior.signal
            } else {
                row.variance / outputs.slope(*y).powi(2) + 1e-12 * prior.signal
            }
        };
        let noise = rows.iter().zip(&y).map(variance).collect();
        let frame = Frame::of_box(axes).centred(centre).with_scale(vec![(d as f64).sqrt(); axes]);
        let points = rows.iter().map(|row| row.u.clone()).collect();
        let (mut means, mut precisions) = (vec![0.0; d + 2], vec![precision(PRIOR_SIGMA); d]);
        precisions.extend([0.0, precision(if exact || form == Form::Relative { MISFIT_SIGMA } else { noise_sigma })]);
        if trend {
            (means[d], precisions[d]) = (LITTLE.0, precision(LITTLE.1));
            means.push(0.0);
            precisions.push(precision(TREND_SIGMA));
        }
        Self {
            frame,
            outputs,
            group,
            lengths: d,
            points,
            form,
            tangent: y.clone(),
            y,
            noise,
            exact,
            prior,
            means,
            precisions,
        }
    }

    /// The model of some rows, with what was learned. The misfit of exact values is part of what is predicted, noise is not.
    fn fit(&self, rows: &[usize], t: &[f64], learning: bool) -> Option<Gp> {
        let (axes, d) = (self.frame.dim(), self.lengths);
        let y: Vec<f64> = rows.iter().map(|&row| self.y[row]).collect();
        let (mut buffers, mut local) = (Buffers::default(), vec![0.0; axes]);
        let x = buffers.inputs(rows.len(), axes);
        let shrink: Vec<f64> = self.group.iter().map(|&g| math::exp(-t[g])).collect();
        for (to, &row) in rows.iter().enumerate() {
            self.frame.to_local(&self.points[row], &mut local);
            for j in 0..axes {
                x[(to, j)] = shrink[j] * local[j];
            }
        }
        let variances: Vec<f64> = rows.iter().map(|&row| math::exp(t[d + 1]) * self.noise[row]).collect();
        let typical = variances.iter().sum::<f64>() / variances.len() as f64;
        let is_noise = learning || !self.exact;
        let (nugget, noise) = if is_noise { (0.0, typical) } else { (typical, 0.0) };
        buffers.set_noise(if is_noise { &variances } else { &[] });
        if let Some(t) = t.get(d + 2) {
            let weights = shrink.iter().map(|s| precision(*s)).collect();
            buffers.set_trend(Trend { variance: math::exp(*t) * self.prior.signal, weights });
        }
        let signal = math::exp(t[d]) * self.prior.signal;
        let prior = Prior { signal, nugget, noise, ..self.prior };
        // More rows than the likelihood was learned from may need a larger nugget.
        let fit = if learning { Gp::fit } else { Gp::fit_with_jitter };
        fit(prior, &y, buffers).ok()
    }

    /// The model of all rows; outliers among them count less.
    fn last(&mut self, all: &[usize], t: &[f64]) -> Option<Gp> {
        for _ in 0..OUTLIER_ROUNDS {
            let gp = self.fit(all, t, false)?;
            if !self.doubt(all, &gp) {
                return Some(gp);
            }
        }
        self.fit(all, t, false)
    }

    /// Raises the variances of outliers, and says whether there are some.
    fn doubt(&mut self, rows: &[usize], gp: &Gp) -> bool {
        let mut some = false;
        for ((&row, noise), alpha) in rows.iter().zip(gp.noise()).zip(gp.weights()).filter(|_| !self.exact) {
            let left_over = noise.sqrt() * alpha.abs() / OUTLYING; // y − μ = σ² α
            if left_over > 1.0 {
                self.noise[row] *= left_over * left_over;
                some = true;
            }
        }
        some
    }

    /// The noise is normal in units of the objective; bent, it pulls the mean to one side. Values and variances as they are by the tangent of the
    /// bend where the model takes each row to be, instead of where it was told (a step of Gauss and Newton towards Laplace's approximation).
    fn unbend(&mut self, gp: &Gp) {
        for (row, smoothed) in gp.smoothed().enumerate() {
            let (from, to) = (self.tangent[row], smoothed.max(0.0));
            let [before, slope] = [from, to].map(|y| self.outputs.slope(y));
            let [here, there] = [from, to].map(|y| self.outputs.to_user(y));
            self.y[row] = to + (here - there + before * (self.y[row] - from)) / slope;
            self.noise[row] *= (before / slope).powi(2);
            self.tangent[row] = to;
        }
    }

    fn log_prior(&self, t: &[f64]) -> f64 {
        let terms = t.iter().zip(&self.means).zip(&self.precisions);
        -0.5 * terms.map(|((t, m), p)| p * (t - m) * (t - m)).sum::<f64>()
    }

    /// The most likely of what the likelihood of some rows decides, and how likely the values are by it.
    fn learn(mut self) -> Option<Learned> {
        let rows: Vec<usize> = (0..self.points.len()).step_by(self.points.len().div_ceil(LEARNED)).collect();
        let mut t = self.means.clone();
        let gp = self.climb(&rows, &mut t, STEPS)?;
        let unit = |row: &usize| self.outputs.slope(self.y[*row]) / self.outputs.range(); // the same for every unit of the objective
        let units: f64 = rows.iter().map(unit).filter(|unit| unit.is_finite()).map(math::ln).sum();
        let evidence = gp.log_likelihood() + self.log_prior(&t) - units;
        evidence.is_finite().then_some((self, t, evidence))
    }

    /// Newton steps towards the most likely by some rows, while outliers among them come to count less; and the model there.
    fn climb(&mut self, rows: &[usize], t: &mut Vec<f64>, steps: usize) -> Option<Gp> {
        let (mut gp, mut rounds) = (self.fit(rows, t, true)?, 0);
        for _ in 0..steps {
            let step = self.newton(&gp, t)?;
            let longest = step.iter().fold(LONGEST, |most, s| most.max(s.abs()));
            let (mut part, before) = (LONGEST / longest, gp.log_likelihood() + self.log_prior(t));
            let mut gained = 0.0;
            for _ in 0..HALVINGS {
                let trial: Vec<f64> = t.iter().zip(&step).map(|(t, s)| t + part * s).collect();
                if let Some(there) = self.fit(rows, &trial, true) {
                    let gain = there.log_likelihood() + self.log_prior(&trial) - before;
                    if gain > 0.0 {
                        (gp, *t, gained) = (there, trial, gain);
                        break;
                    }
                }
                part *= 0.5;
            }
            if gained < GAINS {
                rounds += 1;
                if rounds > OUTLIER_ROUNDS || !self.doubt(rows, &gp) {
                    break;
                }
                gp = self.fit(rows, t, true)?;
            }
        }
        Some(gp)
    }

    /// The Newton step of what is learned, with the average information for the curvature.
    fn newton(&self, gp: &Gp, t: &[f64]) -> Option<Vec<f64>> {
        let (d, n) = (self.lengths, gp.len());
        let mut derivatives = Derivatives::default();
        derivatives.compute(gp, Some(Curvature::AverageInformation));
        let (mut step, mut images) = (vec![0.0; d], vec![vec![0.0; n]; d]);
        for (axis, &g) in self.group.iter().enumerate() {
            step[g] += derivatives.gradient[axis];
            images[g].iter_mut().enumerate().for_each(|(k, image)| *image += derivatives.image_rows()[(axis, k)]);
        }
        for (slope, image) in gp.variance_slopes(derivatives.inverse()).into_iter().take(t.len() - d) {
            step.push(slope);
            images.push(image);
        }
        let mut information = Matrix::zeros(t.len(), t.len());
        for i in 0..t.len() {
            step[i] -= self.precisions[i] * (t[i] - self.means[i]);
            for j in 0..t.len() {
                let prior = if i == j { self.precisions[i] + 1e-6 } else { 0.0 };
                information[(i, j)] = 0.5 * linalg::dot(&images[i], &images[j]) + prior;
            }
        }
        linalg::cholesky(&mut information).ok()?;
        linalg::solve(&information, &mut step);
        Some(step)
    }
}
