//! Least squares: if the residuals of each evaluation are told, a model of all of them is minimised inside a trust region of its own. The ratio of
//! actual to predicted reduction adapts that region.

use super::config::Noise;
use super::convergence::{HOPELESS, is_modelled};
use super::dataset::Output;
use super::merit::Merit;
use super::model::Standing;
use super::nearest::Forecast;
use super::problem::Problem;
use super::run::{Doubt, Extent, LocalRun};
use crate::domain::Axis;
use crate::frame::{AxisOrder, Frame, PrincipalAxes, Tail};
use crate::gp::residuals::{Products, Residuals, Told};
use crate::linalg::{self, Matrix};
use crate::math;
use crate::observations::{Observations, TrialId};
use crate::rng::Rng;
use crate::sqp::{self, Program};

/// The model takes so many observations per dimension, or per pending evaluation if these are more, nearest to the best; among so many newest.
const EACH: usize = 4;
const AMONG: usize = 1000;
/// The least size of the trust region.
const LEAST_RADIUS: f64 = 1e-11;
/// Of the nearest observations one whose value is this many times their median tells nothing of the residuals around the best.
const USELESS: f64 = 1e6;
/// Along each direction the observations within so many trust regions have to spread by this part of it before it shrinks.
const REACH: f64 = 8.0;
const SPREAD: f64 = 0.03;
/// Where a point of the first design changes the residuals by so many times their size, the design comes nearer by the factor.
const TOO_FAR: f64 = 10.0;
const NEARER: f64 = 0.1;
/// Where it changes them by less than so many times what noise does, in squares, it goes farther, by no more than the factor.
const TOO_NEAR: f64 = 10.0;
const FARTHER: f64 = 10.0;
/// Where residuals are exact a design so much smaller than the first step tells their slopes better.
pub(super) const FINE: f64 = 0.1;
/// No nearer than this: a function that jumps at its starting point looks the same from every distance.
const NEAREST_DESIGN: f64 = 1e-6;
/// Evaluations after which residuals are compared with another one.
const STAYS: usize = 16;
/// Under noise the model takes so many times as many observations. Where a step predicts less than the noise of the sum, every other one goes this
/// part of the trust region beside it: evaluations in one place tell no slopes.
const MORE_ROWS: usize = 3;
const BESIDE_NOISE: f64 = 0.3;
/// How far a model that leads to other integers is followed at first, in units of the box; and the next step, as a part of one that failed.
const WIDE: f64 = 1.0;
const SHORTER_NEXT: f64 = 0.5;
/// Quadratic programs per descent.
const ROUNDS: usize = 25;
/// While a step is pending the next one is so much shorter.
const SHORTER: f64 = 0.5;
/// A told derivative is an evaluation so far beside its own, as a part of how far the others are from the best. Much nearer, the nugget of the
/// model hides it; much farther, what bends is left out.
const BESIDE: f64 = 0.01;

/// Takes note of an evaluation of a design around a starting point. A step that changes the residuals by far more than they are, or hardly more than
/// noise does, tells nothing of their slopes: it is to be made again, nearer to the best point or farther from it, and so is the rest of the design.
/// Otherwise that begins where the model of the observations so far, along the axes that they explore, has its minimum. The answer is whether the
/// point is to be evaluated again, to see whether there is noise.
pub(super) fn adapt_design(problem: Problem<'_>, run: &mut LocalRun, position: usize) -> bool {
    let Problem { domain, observations, .. } = problem;
    let may_be_noisy = problem.settings.switches.noise != Noise::None;
    let around_start = run.is_around_start(domain);
    let best = run.best(observations).filter(|&p| around_start && !observations.residuals(p).is_empty());
    let Some((best, value)) = best.and_then(|p| Some((p, observations.value(p)?))) else { return false };
    let centre = observations.unit(best).to_vec();
    let by_noise = change_by_noise(observations, &run.now.members).or((!may_be_noisy).then_some(0.0));
    let exact = by_noise == Some(0.0);
    let is_far = |p: usize| observations.change(best, p) > TOO_FAR * TOO_FAR * value.max(f64::MIN_POSITIVE);
    // Of those that were asked before the design came nearer, and of others in the box, nothing follows for it.
    let of_design = observations.unit(position).iter().zip(&centre).all(|(u, c)| (u - c).abs() <= 2.0 * run.radius);
    let (change, noise) = (observations.change(best, position), by_noise.unwrap_or(0.0));
    let seldom = run.now.members.len() <= EACH * (domain.dim() + 1);
    let part = if run.radius > NEAREST_DESIGN && of_design && is_far(position) {
        NEARER
    } else if observations.unit(position) != centre && change < TOO_NEAR * noise && seldom {
        (2.0 * TOO_NEAR * noise / (change - noise)).abs().sqrt().min(FARTHER.min(1.0 / run.radius))
    } else {
        1.0
    };
    if part < 1.0 || part > 1.0 && of_design {
        run.design.insert(0, observations.unit(position).to_vec());
        run.radius *= part;
        scale_design(run, &centre, part);
        return false;
    }
    let slope = |i: usize| slope(problem, best, i).is_some();
    let size = if exact { FINE } else { 1.0 };
    if run.now.members.len() == 1 + usize::from(may_be_noisy) {
        // Directions whose slopes are told are not explored; one point at least is: where the model has its minimum.
        let known = |u: &Vec<f64>| (0..u.len()).all(|i| u[i] == centre[i] || slope(i));
        let first = run.design.first().cloned();
        run.design.retain(|u| !known(u));
        run.design.extend(first.filter(|_| run.design.is_empty()));
        scale_design(run, &centre, size);
    }
    let near: Vec<usize> = run.now.members.iter().copied().filter(|&p| !is_far(p)).collect();
    let size = if (0..domain.dim()).all(slope) { run.radius } else { size * run.radius };
    follow_design(problem, run, (best, &near), size, !exact);
    by_noise.is_none() && run.now.members.len() == 1
}

/// Makes the rest of a design so many times as wide. What would leave the box goes the other way.
pub(super) fn scale_design(run: &mut LocalRun, centre: &[f64], part: f64) {
    for (u, c) in run.design.iter_mut().flat_map(|u| u.iter_mut().zip(centre)) {
        let by = part * (*u - c);
        *u = if (c + by).abs() <= 1.0 { c + by } else { (c - by).clamp(-1.0, 1.0) };
    }
}

/// Has the rest of a design begin where the model of the observations near the best has its minimum.
fn follow_design(problem: Problem<'_>, run: &mut LocalRun, (best, near): (usize, &[usize]), size: f64, noisy: bool) {
    let Problem { domain, observations, .. } = problem;
    let centre = observations.unit(best);
    let slope = |i: usize| slope(problem, best, i).is_some();
    let explored = |i: &usize| slope(*i) || near.iter().any(|&p| observations.unit(p)[*i] != centre[*i]);
    let axes: Vec<usize> = (0..domain.dim()).filter(explored).collect();
    let mut rows = nearest_rows(problem, best, &axes, (0, false));
    rows.retain(|row| near.contains(&row.position));
    add_slopes(&mut rows, problem, &axes, size);
    if axes.is_empty() || rows.len() <= axes.len() {
        return;
    }
    let shared = &mut Shared { products: &mut Products::default(), merit: &Merit::default() };
    let found = least(observations, &rows, Around { axes: &axes, centre }, shared, size, noisy);
    let Some(Least { x, .. }) = found else { return };
    // No farther than the next point of the design will be from there: what the model leaves out is taken for a slope along its axis.
    let part = (size / linalg::dot(&x, &x).sqrt()).min(1.0);
    for u in &mut run.design {
        axes.iter().zip(&x).for_each(|(&i, x)| u[i] = (centre[i] + part * x).clamp(-1.0, 1.0));
    }
}

/// By how much noise alone changes the residuals, as a sum of squares: as a point that was evaluated twice shows; `None` while none was.
fn change_by_noise(observations: &Observations, members: &[usize]) -> Option<f64> {
    members.iter().enumerate().find_map(|(k, &p)| {
        let twin = members[..k].iter().find(|&&other| observations.unit(other) == observations.unit(p))?;
        Some(observations.change(*twin, p))
    })
}

/// The axes that a model moves along, and the place in the box that it counts from.
#[derive(Clone, Copy)]
struct Around<'a> {
    axes: &'a [usize],
    centre: &'a [f64],
}

impl Around<'_> {
    fn row(self, observations: &Observations, position: usize) -> Row {
        let x = self.axes.iter().map(|&i| observations.unit(position)[i] - self.centre[i]).collect();
        Row { x, position, slope: None }
    }

    /// The place in the box of a displacement.
    fn place(self, x: &[f64]) -> Vec<f64> {
        let mut u = self.centre.to_vec();
        self.axes.iter().zip(x).for_each(|(&i, x)| u[i] = (u[i] + x).clamp(-1.0, 1.0));
        u
    }
}

/// What all fits of a step share.
struct Shared<'a> {
    products: &'a mut Products,
    merit: &'a Merit,
}

/// Where a model has its minimum, as a displacement from the best observation; and by how much less the merit is there.
struct Least {
    x: Vec<f64>,
    gain: f64,
    model: Residuals,
}

/// Where the sum of squares of the modelled residuals is least under the modelled constraints, inside a trust region around the best.
fn least(
    observations: &Observations,
    rows: &[Row],
    around: Around<'_>,
    Shared { products, merit }: &mut Shared<'_>,
    radius: f64,
    noisy: bool,
) -> Option<Least> {
    let d = around.axes.len();
    let points = rows.iter().map(|row| row.x.clone()).collect();
    // In units of the value.
    let limit = |(k, (penalty, tail)): (usize, &(f64, Tail))| {
        rows.iter().map(|row| penalty * tail.bend(observations.outcome(row.position).constraints()[k])).collect()
    };
    let limits = merit.0.iter().enumerate().map(limit).collect();
    let origin = origin(observations).unwrap_or(rows[0].position);
    let model = Residuals::fit(points, &inner_products(observations, (origin, rows), products), limits, radius, noisy)?;
    let centre: Vec<f64> = around.axes.iter().map(|&i| around.centre[i]).collect();
    let within = Frame::of_box(d).centred(&centre).cube_in_box(radius);
    let start = vec![0.0; d];
    let (x, _) = sqp::minimise(&model, &within, &start, radius, ROUNDS);
    let worth = |x: &[f64]| {
        let look = model.look(x);
        look.value + look.limits.iter().map(|(g, _)| g.max(0.0)).sum::<f64>()
    };
    let gain = worth(&start) - worth(&x);
    Some(Least { x, gain, model })
}

/// The inner products of r₀ and of what the rows differ from it by.
fn inner_products(observations: &Observations, (r0, rows): (usize, &[Row]), products: &mut Products) -> Matrix {
    let origin = Told::Residuals(r0);
    let told = |row: &Row| match row.slope {
        Some(slope) => Told::Slopes(row.position, slope.parameter),
        None => Told::Residuals(row.position),
    };
    let with_origin: Vec<Told> = std::iter::once(origin).chain(rows.iter().map(told)).collect();
    let mut gram = products.of(&with_origin, |told| match told {
        Told::Residuals(p) => (observations.residuals(p), true),
        Told::Slopes(p, parameter) => (observations.outcome(p).jacobian(parameter), false),
    });
    // A little beside its evaluation: that plus a step along the slopes.
    for (j, slope) in rows.iter().enumerate().filter_map(|(j, row)| Some((j + 1, row.slope?))) {
        let column = gram.col(slope.beside + 1).to_vec();
        gram.col_mut(j).iter_mut().zip(column).for_each(|(g, of)| *g = of + slope.step * *g);
    }
    for (j, slope) in rows.iter().enumerate().filter_map(|(j, row)| Some((j + 1, row.slope?))) {
        for i in 0..gram.cols() {
            gram[(j, i)] = gram[(slope.beside + 1, i)] + slope.step * gram[(j, i)];
        }
    }
    gram
}

/// Where the modelled sum of squares is least inside the trust region; with too few observations, a point along a direction in which there is none.
pub(super) fn find(
    problem: Problem<'_>,
    run: &mut LocalRun,
    standing: &Standing,
    products: &mut Products,
) -> Option<Forecast> {
    let (observations, domain) = (problem.observations, problem.domain);
    if !is_modelled(problem, run, standing) {
        let told = run.extent == Extent::Region && !observations.residuals(standing.best).is_empty();
        return if told && !standing.noisy { other_integers(problem, run, standing.best, products) } else { None };
    }
    let axes = run.extent.axes(domain);
    let (d, mut rows) = (axes.len(), nearest_rows(problem, standing.best, &axes, (run.now.others, standing.noisy)));
    run.begin_radius(rows.iter().map(|row| &row.x));
    if problem.constraints() == 0 {
        add_slopes(&mut rows, problem, &axes, run.radius);
    }
    let around = Around { axes: &axes, centre: observations.unit(standing.best) };
    // Where others lie nearer, the model has learned nothing from the newest step.
    let shown = run.followed.and_then(|followed| observations.position(followed.id));
    let learned = rows.iter().any(|row| Some(row.position) == shown);
    let open = learned && unexplored(&rows, run.radius, around).is_some();
    let merit = Merit::of_told(problem, run);
    let noise = problem.std(run, Output::Objective, standing.best);
    run.adapt_radius(observations, |shown| merit.told(problem, shown), Doubt { open, noise });
    if run.radius < LEAST_RADIUS {
        return None;
    }
    let from = merit.told(problem, standing.best)?;
    if rows.len() <= d {
        return unexplored(&rows, run.radius, around).and_then(|x| Forecast::new(around.place(&x), from, 0.0));
    }
    let shared = &mut Shared { products, merit: &merit };
    let mut lowest = |radius: f64| least(observations, &rows, around, shared, radius, standing.noisy);
    let Least { mut x, mut gain, .. } = lowest(run.radius)?;
    let mut rng =
        Rng::new(problem.settings.switches.seed.wrapping_add((observations.len() + problem.pending.len()) as u64));
    if gain < noise && observations.len().is_multiple_of(2) {
        let part = BESIDE_NOISE * run.radius;
        x.iter_mut().for_each(|x| *x += part * (2.0 * rng.unit() - 1.0));
        return Forecast::new(around.place(&x), from, 0.0);
    }
    // While a step and more are pending: a shorter one, as that will be wanted if it fails; or one around it, which tells the slopes there.
    let (length, pending) = (x.iter().fold(0.0_f64, |most, x| most.max(x.abs())), problem.pending.len());
    if run.followed.is_some() && pending % 2 == 1 {
        Least { x, gain, .. } = lowest(length * SHORTER.powi(pending.div_ceil(2) as i32))?;
    } else if run.followed.is_some() {
        x.iter_mut().for_each(|x| *x += FINE * length * (2.0 * rng.unit() - 1.0));
    }
    Forecast::new(around.place(&x), from, gain).filter(|_| gain > 0.0)
}

/// Where other integers may be better: those at which a model of integers and reals has its minimum; where these are the best ones, those a step
/// beside them. Each has a fit of its own, which predicts the reals.
fn other_integers(problem: Problem<'_>, run: &LocalRun, best: usize, products: &mut Products) -> Option<Forecast> {
    let Problem { domain, observations, .. } = problem;
    let merit = Merit::of_told(problem, run);
    let (from, centre) = (merit.told(problem, best)?, observations.unit(best));
    let is_step = |u: &Vec<f64>| (0..u.len()).all(|i| u[i] == centre[i] || domain.axes()[i] != Axis::Choice);
    let beside =
        || domain.neighbours(&observations.all()[best].x).iter().map(|x| domain.place(x)).filter(is_step).collect();
    let shared = &mut Shared { products, merit: &merit };
    let places: Vec<Vec<f64>> = relaxed(problem, best, shared).map_or_else(beside, |u| vec![u]);
    let fits = places.into_iter().filter_map(|u| apart(problem, (best, from), u, shared));
    let new = fits.filter(|found| !problem.seen.contains(&domain.point(&found.u)));
    new.max_by(|a, b| a.gain.total_cmp(&b.gain))
}

/// Where a model has its minimum that takes integers for reals, rounded, if the integers there are not the best ones: the model of the evaluations
/// around the best, and the best ones with other integers.
fn relaxed(problem: Problem<'_>, best: usize, shared: &mut Shared<'_>) -> Option<Vec<f64>> {
    let Problem { domain, observations, .. } = problem;
    let (centre, reals) = (observations.unit(best), Extent::Reals.axes(domain));
    let ordered: Vec<usize> = (0..domain.dim()).filter(|&i| domain.axes()[i] != Axis::Choice).collect();
    let has_labels = |u: &[f64]| (0..u.len()).all(|i| u[i] == centre[i] || ordered.contains(&i));
    let told = (observations.len().saturating_sub(AMONG)..observations.len())
        .filter(|&p| !observations.residuals(p).is_empty() && has_labels(observations.unit(p)));
    let mut told: Vec<(f64, usize)> = told.filter_map(|p| Some((shared.merit.told(problem, p)?, p))).collect();
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut used = vec![best];
    for (_, p) in told {
        let alike = |&q: &usize| domain.same_choices(observations.unit(q), observations.unit(p));
        if used.len() <= EACH * ordered.len() && !used.iter().any(alike) {
            used.push(p);
        }
    }
    used.extend(nearest_rows(problem, best, &reals, (0, false)).iter().skip(1).map(|row| row.position));
    let varies = |i: &usize| used.iter().any(|&p| observations.unit(p)[*i] != centre[*i]);
    let axes: Vec<usize> = ordered.into_iter().filter(varies).collect();
    let around = Around { axes: &axes, centre };
    let rows: Vec<Row> = used.iter().map(|&p| around.row(observations, p)).collect();
    if rows.len() <= axes.len() + 1 {
        return None;
    }
    let Least { x, .. } = least(observations, &rows, around, shared, WIDE, false)?;
    let mut u = around.place(&x);
    domain.snap(&mut u);
    Some(u).filter(|u| !domain.same_choices(u, centre))
}

/// Where the sum of squares is least with the integers of a place: there, if these were never tried; or by the model of the evaluations with them, and, while
/// they are few, of those around the best, until it predicts but a small part of what separates the two.
fn apart(problem: Problem<'_>, (best, from): (usize, f64), u: Vec<f64>, shared: &mut Shared<'_>) -> Option<Forecast> {
    let Problem { domain, observations, .. } = problem;
    let (merit, axes) = (shared.merit, Extent::Reals.axes(domain));
    let tried = || (0..observations.len()).filter(|&p| domain.same_choices(observations.unit(p), &u));
    let told = || tried().filter_map(|p| Some((p, merit.told(problem, p)?)));
    let Some((own, value)) = told().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return if tried().next().is_none() { Forecast::new(u, from, 0.0) } else { None };
    };
    let around = Around { axes: &axes, centre: observations.unit(own) };
    let newest = around.row(observations, told().next_back()?.0);
    let radius =
        if newest.position == own { WIDE } else { SHORTER_NEXT * math::median_length(std::iter::once(&newest.x)) };
    let mut rows = nearest_rows(problem, own, &axes, (0, false));
    if rows.len() <= EACH * axes.len() {
        // One more coordinate tells the two apart.
        rows.iter_mut().for_each(|row| row.x.push(0.0));
        let others = nearest_rows(problem, best, &axes, (0, false));
        rows.extend(others.iter().map(|row| {
            let mut row = around.row(observations, row.position);
            row.x.push(radius);
            row
        }));
    }
    if radius < LEAST_RADIUS || axes.is_empty() || rows.len() <= rows[0].x.len() + 1 {
        return None;
    }
    let Least { x, gain, .. } = least(observations, &rows, around, shared, radius, false)?;
    let inside = x.iter().all(|x| x.abs() < radius);
    let hopeless = gain <= 0.0 || inside && gain < HOPELESS * (value - from);
    Forecast::new(around.place(&x), from, gain - (value - from)).filter(|_| !hopeless)
}

/// Under noise: where the sum of squares of the expected residuals is least, as a place in the box; that sum, and its standard deviation.
pub(super) fn recommended(problem: Problem<'_>) -> Option<(Vec<f64>, f64, f64)> {
    let Problem { observations, domain, .. } = problem;
    let best = observations.best().filter(|&p| !observations.residuals(p).is_empty() && problem.constraints() == 0)?;
    let axes = Extent::Reals.axes(domain);
    let rows = nearest_rows(problem, best, &axes, (0, true));
    if axes.is_empty() || rows.len() <= axes.len() + 2 {
        return None;
    }
    let (centre, radius) = (observations.unit(best), math::median_length(rows[1..].iter().map(|row| &row.x)));
    let shared = &mut Shared { products: &mut Products::default(), merit: &Merit::default() };
    let around = Around { axes: &axes, centre };
    let Least { x, model, .. } = least(observations, &rows, around, shared, radius, true)?;
    let u = around.place(&x);
    let u =
        Some(domain.place(&problem.known.nearest(domain, &u, centre)?)).filter(|u| problem.is_among_successes(u))?;
    let x: Vec<f64> = axes.iter().map(|&i| u[i] - centre[i]).collect();
    let (noise, m) = (model.noise_at(&x), observations.residuals(best).len() as f64);
    let mean = (model.look(&x).value - noise).max(0.0);
    Some((u, mean, ((4.0 * mean * noise + 2.0 * noise * noise) / m).sqrt()))
}

/// The evaluation that residuals are compared with, the best of all but the newest few: it stays for some steps, and so do inner products.
fn origin(observations: &Observations) -> Option<usize> {
    let n = observations.len();
    let known = 0..if n < STAYS { 1 << n.ilog2() } else { n / STAYS * STAYS };
    let value = |p: &usize| observations.value(*p).unwrap_or(f64::INFINITY);
    known.filter(|p| !observations.residuals(*p).is_empty()).min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// An observation, or one a little beside it by its told slopes: displacement from the best along the axes that move, position in the history.
#[derive(Clone, Debug)]
struct Row {
    x: Vec<f64>,
    position: usize,
    slope: Option<Slope>,
}

/// A told derivative of all residuals of an evaluation: by which parameter, the length of the step along it, the row beside.
#[derive(Clone, Copy, Debug)]
struct Slope {
    parameter: usize,
    step: f64,
    beside: usize,
}

/// By which parameter the residuals of an evaluation change along an axis of the box, and how far that goes, if their derivatives were told.
fn slope(problem: Problem<'_>, position: usize, axis: usize) -> Option<(usize, f64)> {
    let Problem { domain, observations, .. } = problem;
    let (parameter, u) = (domain.parameter_of(axis), observations.unit(position));
    let told = domain.axes()[axis] == Axis::Real
        && domain.is_active(parameter, &observations.all()[position].x)
        && !observations.outcome(position).jacobian(parameter).is_empty();
    told.then(|| (parameter, domain.stretch(axis, u[axis])))
}

/// Puts rows for told derivatives behind those of their evaluations, the nearest, as many as the model takes.
fn add_slopes(rows: &mut Vec<Row>, problem: Problem<'_>, axes: &[usize], radius: f64) {
    let is_told = |row: &Row| axes.iter().any(|&i| slope(problem, row.position, i).is_some());
    if !rows.iter().any(is_told) {
        return;
    }
    let squares: f64 = rows.iter().map(|row| linalg::dot(&row.x, &row.x)).sum();
    let apart = if squares > 0.0 { (squares / (rows.len() - 1) as f64).sqrt().min(radius) } else { radius };
    let (most, evaluations) = (EACH * axes.len() + 1, std::mem::take(rows));
    for row in evaluations.into_iter().take(most) {
        let beside = rows.len();
        if beside >= most {
            break;
        }
        rows.push(row.clone());
        for (k, (parameter, stretch)) in
            axes.iter().enumerate().filter_map(|(k, &i)| Some((k, slope(problem, row.position, i)?)))
        {
            let (h, mut x) = (BESIDE * apart, row.x.clone());
            x[k] += h;
            rows.push(Row { x, slope: Some(Slope { parameter, step: h * stretch, beside }), ..row });
        }
    }
}

/// The observations with residuals nearest to the best one, that one first; more with noise, and with others pending, which lie close together.
fn nearest_rows(problem: Problem<'_>, best: usize, axes: &[usize], (pending, noisy): (usize, bool)) -> Vec<Row> {
    let Problem { domain, observations, .. } = problem;
    let centre = observations.unit(best);
    let row = |position: usize| Around { axes, centre }.row(observations, position);
    let newest = observations.len().saturating_sub(AMONG)..observations.len();
    let others = newest.filter(|p| *p != best && !observations.residuals(*p).is_empty());
    let alike = others.filter(|&p| domain.same_choices(observations.unit(p), centre));
    let mut rows: Vec<(f64, Row)> = alike.map(row).map(|row| (linalg::dot(&row.x, &row.x), row)).collect();
    rows.retain(|(square, _)| *square > 0.0);
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.position.cmp(&a.1.position)));
    rows.truncate(if noisy { MORE_ROWS } else { 1 } * EACH * axes.len().max(1 + pending) + 1);
    let value = |row: &(f64, Row)| observations.value(row.1.position).unwrap_or(f64::INFINITY);
    let mut values: Vec<f64> = rows.iter().map(value).collect();
    let most = math::median(&mut values).map_or(0.0, |median| USELESS * median);
    rows.retain(|row| value(row) <= most);
    std::iter::once(row(best)).chain(rows.into_iter().map(|(_, row)| row)).collect()
}

/// A step of the trust region's size along the direction in which the observations near it spread least, if that is too little; away from the nearer bound.
fn unexplored(rows: &[Row], radius: f64, Around { axes, centre }: Around<'_>) -> Option<Vec<f64>> {
    let d = axes.len();
    let mut principal = PrincipalAxes::default();
    let frame = Frame::of_box(d);
    // A far observation shows no more of a direction than one at the edge of the trust region.
    let near = rows.iter().filter(|row| row.x.iter().all(|x| x.abs() <= REACH * radius));
    let clipped: Vec<Vec<f64>> = near
        .map(|row| match row.slope {
            Some(slope) => {
                row.x.iter().zip(&rows[slope.beside].x).map(|(a, b)| if a == b { 0.0 } else { radius }).collect()
            }
            None => {
                let far = row.x.iter().fold(radius, |most, x| most.max(x.abs()));
                row.x.iter().map(|x| x * radius / far).collect()
            }
        })
        .collect();
    principal.find(&frame, clipped.iter().map(|x| (x.as_slice(), 0.0)), clipped.len(), |_| true);
    principal.arrange(AxisOrder::Sorted);
    let least = principal.sigma().last().unwrap_or(0.0);
    if least >= SPREAD * radius {
        return None;
    }
    let turned = frame.rotated(&mut principal);
    let direction = turned.rotation().col(d - 1);
    let largest = direction.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let room =
        |sign: f64| axes.iter().zip(direction).all(|(&i, v)| (centre[i] + sign * radius * v / largest).abs() <= 1.0);
    let sign = if room(1.0) { 1.0 } else { -1.0 };
    Some(direction.iter().map(|v| sign * radius * v / largest).collect())
}

/// Neighbourhoods that derivatives are looked for in: how many of the nearest evaluations are left out, and how many are used, for each unknown
/// of a linear trend. The nearest ones may differ by rounding errors alone.
const WINDOWS: [(usize, usize); 9] = [(0, 2), (0, 4), (0, 16), (1, 4), (2, 4), (4, 4), (8, 4), (16, 4), (32, 4)];
/// As many evaluations as derivatives take must lie so near.
const NEAR: f64 = 0.1;

/// What the evaluations around a point say of the residuals there: they and their derivatives are weighted sums of those that were told.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalResiduals {
    /// The evaluations.
    pub evaluations: Vec<TrialId>,
    /// Their weights in the residuals, of sum 1.
    pub weights: Vec<f64>,
    /// The parameters that have derivatives: real ones that apply.
    pub parameters: Vec<usize>,
    /// For each of them the weights of the evaluations in the derivatives by it, of sum 0.
    pub slopes: Vec<Vec<f64>>,
    /// How wrong the derivatives may be: their standard deviation, relative to their size, for the worst parameter.
    pub error: f64,
    /// The same for the worst of all directions: infinite where the residuals do not change.
    pub weakest: f64,
}

/// The model that is most certain of its derivatives; `None` if too few evaluations lie around the point.
pub(super) fn around(problem: Problem<'_>, x: &[f64]) -> Option<LocalResiduals> {
    let Problem { domain, observations, .. } = problem;
    let u = domain.place(x);
    let is_free = |i: &usize| {
        let parameter = domain.parameter_of(*i);
        let varies = domain.parameters()[parameter].levels() != Some(1);
        domain.axes()[*i] == Axis::Real && varies && domain.is_active(parameter, x)
    };
    let axes: Vec<usize> = (0..domain.dim()).filter(is_free).collect();
    let around = Around { axes: &axes, centre: &u };
    let row = |p: usize| around.row(observations, p);
    let told = (0..observations.len()).filter(|&p| !observations.residuals(p).is_empty());
    let mut rows: Vec<Row> = told.filter(|&p| domain.same_choices(observations.unit(p), &u)).map(row).collect();
    rows.sort_by(|a, b| linalg::dot(&a.x, &a.x).total_cmp(&linalg::dot(&b.x, &b.x)));
    let unknowns = axes.len() + 1;
    if axes.is_empty() || rows.get(unknowns)?.x.iter().any(|x| x.abs() > NEAR) {
        return None;
    }
    let window = |&(left_out, used): &(usize, usize)| {
        let others = rows.iter().skip(1 + left_out * unknowns).take(used * unknowns);
        let rows: Vec<Row> = rows[..1].iter().chain(others).cloned().collect();
        if rows.len() > unknowns + 1 { derivatives(problem, rows, around) } else { None }
    };
    let by_error =
        |a: &LocalResiduals, b: &LocalResiduals| a.weakest.total_cmp(&b.weakest).then(a.error.total_cmp(&b.error));
    WINDOWS.iter().filter_map(window).min_by(by_error)
}

/// Derivatives at a point by the model of some observations around it.
fn derivatives(problem: Problem<'_>, mut rows: Vec<Row>, around: Around<'_>) -> Option<LocalResiduals> {
    let (Problem { domain, observations, .. }, Around { axes, centre }) = (problem, around);
    let (n, d) = (rows.len() as f64, axes.len());
    let spread: Vec<f64> = (0..d).map(|k| (rows.iter().map(|row| row.x[k].powi(2)).sum::<f64>() / n).sqrt()).collect();
    if spread.contains(&0.0) {
        return None;
    }
    rows.iter_mut().for_each(|row| row.x.iter_mut().zip(&spread).for_each(|(x, spread)| *x /= spread));
    let products = inner_products(observations, (rows[0].position, &rows), &mut Products::default());
    let points = rows.iter().map(|row| row.x.clone()).collect();
    let (weights, mut slopes, information, covariance) =
        Residuals::fit(points, &products, Vec::new(), f64::INFINITY, true)?.slopes();
    let (error, weakest) = linalg::relative_error(&information, &covariance);
    for (k, &i) in axes.iter().enumerate() {
        let unit = spread[k] * domain.stretch(i, centre[i]);
        slopes.col_mut(k).iter_mut().for_each(|slope| *slope /= unit);
    }
    Some(LocalResiduals {
        evaluations: rows.iter().map(|row| observations.all()[row.position].id).collect(),
        weights,
        parameters: axes.iter().map(|&i| domain.parameter_of(i)).collect(),
        slopes: (0..d).map(|k| slopes.col(k).to_vec()).collect(),
        error,
        weakest,
    })
}
