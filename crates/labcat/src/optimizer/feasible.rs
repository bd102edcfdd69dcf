//! Measured constraints: which member is best, how much each counts, the models of the constraints, and the shortcut of fits.

use super::mixed;
use super::model::{Model, Workspace};
use super::propose::Problem;
use super::run::LocalRun;
use super::shortcut::Shortcut;
use crate::frame::{Frame, Outputs};
use crate::gp::Gp;
use crate::linalg::{self, Matrix};
use crate::qp::Halfspaces;
use crate::quadratic::{Polynomial, Quadratic, Terms};
use crate::sqp::{self, Look, Program};

/// The measured constraints as Gaussian processes with the inputs, the kernel and the factor of the objective's.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// α of each.
    pub(super) alpha: Vec<Vec<f64>>,
    /// Its prior mean, linear in x: the constant and the slope.
    pub(super) trend: Vec<(f64, Vec<f64>)>,
    /// Its prior standard deviation around that, in units of the objective's.
    pub(super) doubt: Vec<f64>,
    /// dg′/dg at 0.
    pub(super) unit: Vec<f64>,
    /// Where the model has its constrained minimum, in the frame.
    pub(super) minimum: Vec<f64>,
}

/// The size of each constraint among the members: its median absolute value, or the largest where that is 0.
fn sizes(problem: Problem<'_>, run: &LocalRun) -> Vec<f64> {
    let size = |k: usize| {
        let told = run.now.members.iter().filter_map(|&p| problem.observations.constraints(p).get(k));
        let mut all: Vec<f64> = told.map(|g| g.abs()).collect();
        all.sort_unstable_by(f64::total_cmp);
        let (median, largest) = (all.get(all.len() / 2), all.last());
        [median, largest].into_iter().flatten().copied().find(|v| *v > 0.0).unwrap_or(1.0)
    };
    (0..problem.settings.switches.constraints).map(size).collect()
}

/// Orders the members: value plus the violation of each constraint times its price. A constraint costs at least as much as the
/// values vary while it varies by its own size.
#[derive(Clone, Debug)]
pub(super) struct Merit {
    prices: Vec<f64>,
}

impl Merit {
    pub(super) fn of(problem: Problem<'_>, run: &LocalRun) -> Self {
        let mut values: Vec<f64> = run.now.members.iter().filter_map(|&p| problem.observations.value(p)).collect();
        values.sort_unstable_by(f64::total_cmp);
        let spread = match (values.get(values.len() / 2), values.first()) {
            (Some(median), Some(least)) if median > least => median - least,
            _ => 1.0,
        };
        let known = |k: usize| run.now.prices.get(k).copied().unwrap_or(0.0);
        let price = |(k, size): (usize, f64)| known(k).max(spread / size).min(f64::MAX);
        Self { prices: sizes(problem, run).into_iter().enumerate().map(price).collect() }
    }

    /// Of an evaluation with a value.
    fn at(&self, problem: Problem<'_>, position: usize) -> Option<f64> {
        let value = problem.observations.value(position)?;
        Some((value + self.cost(problem, position)).min(f64::MAX))
    }

    /// What its violations cost.
    fn cost(&self, problem: Problem<'_>, position: usize) -> f64 {
        let constraints = problem.observations.constraints(position).iter().zip(&self.prices);
        constraints.map(|(g, price)| price * g.max(0.0)).sum()
    }
}

/// The best member by merit.
pub(super) fn best_member(problem: Problem<'_>, run: &LocalRun) -> Option<usize> {
    let merit = Merit::of(problem, run);
    let all = run.now.members.iter().enumerate().filter_map(|(k, &p)| merit.at(problem, p).map(|m| (m, k)));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, k)| k)
}

/// The same with other values for the members.
pub(super) fn best_of(problem: Problem<'_>, run: &LocalRun, values: &[f64]) -> Option<usize> {
    let merit = Merit::of(problem, run);
    let all = run.now.members.iter().zip(values).map(|(&p, value)| value + merit.cost(problem, p)).enumerate();
    all.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k)
}

/// Whether measured constraints are met by no member yet: then the values say nothing of convergence.
pub(super) fn is_astray(problem: Problem<'_>, run: &LocalRun) -> bool {
    problem.settings.switches.constraints > 0 && !run.now.members.iter().any(|&p| problem.observations.is_feasible(p))
}

/// With measured constraints, the best merit of a member.
pub(super) fn best_value(problem: Problem<'_>, run: &LocalRun) -> Option<f64> {
    if problem.settings.switches.constraints == 0 {
        return None;
    }
    let merit = Merit::of(problem, run);
    run.now.members.iter().filter_map(|&p| merit.at(problem, p)).min_by(f64::total_cmp)
}

/// Outputs that rank the members for the principal axes, from 0 to 1: their merits, normalised as the values are.
pub(super) fn ranks(problem: Problem<'_>, run: &LocalRun, outputs: &Outputs, out: &mut Vec<f64>) {
    let merit = Merit::of(problem, run);
    let normalised = |&p: &usize| merit.at(problem, p).map(|m| outputs.to_normalised(m).clamp(0.0, 1.0));
    out.clear();
    out.extend(run.now.members.iter().filter_map(normalised));
}

/// The least doubt about a constraint: what rounding leaves of one that is linear.
const LEAST_DOUBT: f64 = 1e-9;

/// Fits the constraints to the members and to failed evaluations in the region that measured them: those enter the model of the
/// objective at its own mean, where they change nothing but the variance.
pub(super) fn fit(problem: Problem<'_>, run: &LocalRun, model: &mut Model, fit: &mut Quadratic) -> Limits {
    let (observations, count) = (problem.observations, problem.settings.switches.constraints);
    if count == 0 {
        return Limits::default();
    }
    let gp = &mut model.fit.gp;
    let mut rows = run.now.members.clone();
    let (mut x, mut reach) = (vec![0.0; problem.domain.dim()], Vec::new());
    mixed::reach(problem, run, run.now.beta, &mut reach);
    for &p in run.failed.iter().filter(|&&p| !observations.constraints(p).is_empty()) {
        run.now.frame.to_local(observations.unit(p), &mut x);
        if x.iter().zip(&reach).all(|(x, reach)| x.abs() <= *reach) {
            gp.append_fantasy(&x, f64::NEG_INFINITY);
            rows.push(p);
        }
    }
    model.incumbent = best_value(problem, run).map_or(0.0, |merit| model.outputs.to_normalised(merit));
    let gp = &model.fit.gp;
    let (x, rank) = (gp.inputs(), rank_rows(problem, run, &rows));
    // Choices and whole numbers that may stand still have no part in the trend.
    let axes: Vec<usize> = (0..x.cols()).filter(|&i| !problem.domain.is_mixed() || problem.moves(i)).collect();
    let mut moving = Matrix::zeros(x.rows(), axes.len());
    for (k, &i) in axes.iter().enumerate() {
        moving.col_mut(k).copy_from_slice(x.col(i));
    }
    let typical = typical_rank(&rank);
    let mut limits = Limits::default();
    let spread = gp.prior().signal.sqrt();
    for k in 0..count {
        let mut g: Vec<f64> = rows.iter().filter_map(|&p| observations.constraints(p).get(k).copied()).collect();
        let n = g.len() as f64;
        let mean = g.iter().sum::<f64>() / n;
        let deviation = (g.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n).sqrt();
        // In units in which the kernel of the objective fits: zero stays where it is.
        let unit = if deviation > 0.0 { spread / deviation } else { spread / mean.abs().max(f64::MIN_POSITIVE) };
        // In a small region a constraint is nearly linear; the process has only to tell what it is besides.
        let (mut constant, mut slope, mut freedom) = (mean, vec![0.0; x.cols()], n);
        if g.len() > axes.len() + 1 && fit.fit(Terms::Linear, &moving, &g, &rank, g.len(), typical) {
            let linear = fit.polynomial();
            (constant, freedom) = (linear.constant, n - 1.0 - axes.len() as f64);
            axes.iter().zip(linear.slope).for_each(|(&i, s)| slope[i] = s);
        }
        for (row, g) in g.iter_mut().enumerate() {
            let along: f64 = slope.iter().enumerate().map(|(j, s)| s * x[(row, j)]).sum();
            *g = unit * (*g - constant - along);
        }
        let doubt = (linalg::dot(&g, &g) / freedom).sqrt() / spread;
        limits.doubt.push(doubt.clamp(LEAST_DOUBT, 1.0));
        limits.alpha.push(gp.weights_of(g));
        limits.trend.push((unit * constant, slope.into_iter().map(|s| unit * s).collect()));
        limits.unit.push(unit);
    }
    limits
}

/// How much worse than the best each row is, by merit; those without a value as bad as the worst.
fn rank_rows(problem: Problem<'_>, run: &LocalRun, rows: &[usize]) -> Vec<f64> {
    let merit = Merit::of(problem, run);
    let merits: Vec<Option<f64>> = rows.iter().map(|&p| merit.at(problem, p)).collect();
    let told = || merits.iter().flatten().copied();
    let (least, most) = (told().fold(f64::INFINITY, f64::min), told().fold(f64::NEG_INFINITY, f64::max));
    merits.iter().map(|m| (m.unwrap_or(most) - least).clamp(0.0, f64::MAX)).collect()
}

/// The median rank, which halves the weight of a row.
fn typical_rank(rank: &[f64]) -> f64 {
    let mut sorted = rank.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().filter(|r| *r > 0.0).unwrap_or(1.0)
}

/// What the shortcut that was shown by an evaluation gained from the merit `from`.
pub(super) fn gained(problem: Problem<'_>, run: &LocalRun, from: f64, shown: usize) -> f64 {
    Merit::of(problem, run).at(problem, shown).map_or(0.0, |merit| from - merit)
}

/// What the memory of a price is multiplied by at each step, and how much larger than a multiplier it is.
const FORGET: f64 = 0.8;
const DEARER: f64 = 2.0;

/// Raises the prices to the multipliers that the model has at its constrained minimum, and lets them fall slowly otherwise.
pub(super) fn update_prices(
    run: &mut LocalRun,
    outputs: &Outputs,
    limits: &Limits,
    incumbent: f64,
    multipliers: &[f64],
) {
    run.now.prices.resize(multipliers.len(), 0.0);
    let slope = outputs.slope(incumbent);
    for ((price, m), unit) in run.now.prices.iter_mut().zip(multipliers).zip(&limits.unit) {
        *price = (DEARER * m * unit * slope).max(FORGET * *price).min(f64::MAX);
    }
}

/// The fits that are tried, the simplest first.
const EACH: [Terms; 3] = [Terms::Linear, Terms::Squares, Terms::All];

/// Fits of the objective and of its constraints.
struct Fits {
    objective: Polynomial,
    limits: Vec<Polynomial>,
}

impl Program for Fits {
    fn look(&self, x: &[f64]) -> Look {
        let (value, gradient) = self.objective.at(x);
        Look { value, gradient, limits: self.limits.iter().map(|limit| limit.at(x)).collect() }
    }

    fn hessian(&self, _x: &[f64], multipliers: &[f64]) -> Matrix {
        let mut h = self.objective.hessian.clone();
        for (limit, m) in self.limits.iter().zip(multipliers).filter(|(_, m)| **m > 0.0) {
            for j in 0..h.cols() {
                linalg::axpy(h.col_mut(j), *m, limit.hessian.col(j));
            }
        }
        h
    }
}

/// A fit of outputs, and by how much the fit without the newest missed it.
fn forecast(
    fit: &mut Quadratic,
    terms: Terms,
    x: &Matrix,
    y: &[f64],
    rank: &[f64],
    typical: f64,
) -> Option<(Polynomial, f64)> {
    let n = y.len();
    if !fit.fit(terms, x, y, rank, n - 1, typical) {
        return None;
    }
    let error = (fit.at_row(x, n - 1) - y[n - 1]).abs();
    fit.fit(terms, x, y, rank, n, typical).then(|| (fit.polynomial(), error))
}

/// As [`super::shortcut::find`], under constraints: where fits of the objective and of every constraint have forecast the newest
/// member well, the least value of the one where the others are met.
pub(super) fn shortcut(
    problem: Problem<'_>,
    run: &LocalRun,
    gp: &Gp,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    let (switches, observations, members) = (&problem.settings.switches, problem.observations, &run.now.members);
    let (n, range) = (gp.len(), outputs.range());
    let best = best_member(problem, run)?;
    let merit = Merit::of(problem, run);
    let from = merit.at(problem, members[best])?;
    let sizes = sizes(problem, run);
    let y: Vec<f64> = members.iter().filter_map(|&p| observations.value(p)).map(|v| (v - from) / range).collect();
    let rank: Vec<f64> = members.iter().filter_map(|&p| merit.at(problem, p)).map(|m| (m - from) / range).collect();
    let mut sorted = rank.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let typical = sorted[n / 2];
    let x = gp.inputs();
    let mut limits = Vec::new();
    for k in 0..switches.constraints {
        let told = members.iter().filter_map(|&p| observations.constraints(p).get(k));
        let g: Vec<f64> = told.map(|g| g / sizes[k]).collect();
        let spread = g.iter().fold(0.0_f64, |a, v| a.max((v - g[best]).abs()));
        let good = |(_, error): &(Polynomial, f64)| *error <= switches.quadratic_margin * spread;
        let mut fits = EACH.into_iter().filter_map(|t| forecast(&mut work.quadratic, t, x, &g, &rank, typical));
        let (mut polynomial, error) = fits.find(good)?;
        // Aim inside by the error: a point that misses a constraint by rounding is worth nothing.
        let largest = g.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        polynomial.constant += 2.0 * error + 1e-14 * largest;
        limits.push(polynomial);
    }
    // What is known, to first order around the centre.
    for (constant, slope) in known_limits(problem, &run.now.frame, &vec![0.0; x.cols()]) {
        limits.push(Polynomial { constant, slope, hessian: Matrix::zeros(x.cols(), x.cols()) });
    }
    let (newest, above) = gp.surprise()?;
    let allowed = switches.quadratic_margin * (outputs.to_user(newest) - outputs.to_user(newest - above)).abs();
    let within = around(&run.now.frame, members.iter().map(|&p| observations.unit(p)));
    for terms in EACH {
        let Some((objective, error)) = forecast(&mut work.quadratic, terms, x, &y, &rank, typical) else { continue };
        if error * range > allowed {
            continue;
        }
        let fits = Fits { objective, limits: limits.clone() };
        let start: Vec<f64> = (0..x.cols()).map(|j| x[(best, j)]).collect();
        let (found, _) = sqp::minimise(&fits, &within, &start, 1.0, 30);
        let look = fits.look(&found);
        let violated = look.limits.iter().any(|(g, _)| *g > 1e-9);
        let to = from + look.value * range;
        if !violated && error < switches.quadratic_margin * -look.value && to.is_finite() {
            let frame = &run.now.frame;
            let mut u: Vec<f64> = (0..found.len()).map(|j| frame.to_box(&found, j).clamp(-1.0, 1.0)).collect();
            if !problem.known.is_empty() {
                let allowed = problem.known.pull(problem.domain, &u, frame.centre())?;
                problem.domain.to_unit(&allowed, &mut u);
            }
            return Some(Shortcut { u, from, to });
        }
    }
    None
}

/// The known constraints at a point of the frame with their slopes there, in units in which a slope has length one.
pub(super) fn known_limits(problem: Problem<'_>, frame: &Frame, x: &[f64]) -> Vec<(f64, Vec<f64>)> {
    if problem.known.is_empty() {
        return Vec::new();
    }
    let d = frame.dim();
    let u: Vec<f64> = (0..d).map(|j| frame.to_box(x, j).clamp(-1.0, 1.0)).collect();
    let axis = |i: usize| (0..d).map(|j| frame.rotation()[(j, i)] * frame.scale()[i]).collect();
    let mut rows = problem.known.known.looks(problem.domain, &u, &axis);
    rows.retain(|(_, slope)| linalg::dot(slope, slope) > 0.0);
    for (g, slope) in &mut rows {
        let length = linalg::dot(slope, slope).sqrt();
        *g /= length;
        slope.iter_mut().for_each(|s| *s /= length);
    }
    rows
}

/// The smallest box around points, as constraints on local coordinates.
pub(super) fn around<'a>(frame: &Frame, points: impl Iterator<Item = &'a [f64]>) -> Halfspaces {
    let d = frame.dim();
    let mut bounds = vec![(f64::INFINITY, f64::NEG_INFINITY); d];
    for u in points {
        for ((low, high), u) in bounds.iter_mut().zip(u) {
            (*low, *high) = (low.min(*u), high.max(*u));
        }
    }
    let mut within = Halfspaces::default();
    in_box(frame, &bounds, &mut within);
    within
}

/// Bounds of a box as constraints on local coordinates.
pub(super) fn in_box(frame: &Frame, bounds: &[(f64, f64)], within: &mut Halfspaces) {
    for (j, (low, high)) in bounds.iter().enumerate() {
        let row: Vec<f64> = frame.scale().iter().enumerate().map(|(i, s)| frame.rotation()[(j, i)] * s).collect();
        within.push(row.clone(), high - frame.centre()[j]);
        within.push(row.into_iter().map(|v| -v).collect(), frame.centre()[j] - low);
    }
}
