//! Least squares: where the residuals of each evaluation are told, the model of all of them is followed to the least sum of squares inside a trust
//! region of its own, which the ratio of actual to predicted reduction adapts.

use super::model::Standing;
use super::nearest::Forecast;
use super::problem::Problem;
use super::run::{Extent, LocalRun};
use crate::domain::Domain;
use crate::frame::{AxisOrder, Frame, PrincipalAxes};
use crate::gp::residuals::Residuals;
use crate::linalg;
use crate::observations::Observations;
use crate::qp::Halfspaces;
use crate::sqp::{self, Program};

/// Observations per dimension that the model takes, the nearest to the best, and among how many of the newest.
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
/// No nearer than this: a function that jumps at its starting point looks the same from every distance.
const NEAREST_DESIGN: f64 = 1e-6;
/// Quadratic programs per descent.
const ROUNDS: usize = 25;

/// Takes note of an evaluation of the first design around a starting point. A step that changes the residuals by far more than they are tells
/// nothing of their slopes: it is to be made again, nearer to the best point, and so is the rest of the design.
pub(super) fn adapt_design(domain: &Domain, observations: &Observations, run: &mut LocalRun, position: usize) {
    let by_value = |a: &&usize, b: &&usize| {
        let value = |p: usize| observations.value(p).unwrap_or(f64::INFINITY);
        value(**a).total_cmp(&value(**b))
    };
    let Some(&best) = run.now.members.iter().min_by(by_value).filter(|_| run.is_around_start() && !domain.is_mixed())
    else {
        return;
    };
    let (r, s) = (observations.residuals(best), observations.residuals(position));
    let change: f64 = r.iter().zip(s).map(|(a, b)| (a - b).powi(2)).sum();
    let size: f64 = r.iter().map(|r| r * r).sum();
    let centre = observations.unit(best).to_vec();
    let far = observations.unit(position).iter().zip(&centre).any(|(u, c)| (u - c).abs() > NEAREST_DESIGN);
    if far && size > 0.0 && change > TOO_FAR * TOO_FAR * size {
        run.design.insert(0, observations.unit(position).to_vec());
        for u in &mut run.design {
            u.iter_mut().zip(&centre).for_each(|(u, c)| *u = c + NEARER * (*u - c));
        }
    }
}

/// Where the sum of squares of the modelled residuals is least inside the trust region; or, with too few observations for a
/// model, a point along a direction in which there is none.
pub(super) fn find(problem: Problem<'_>, run: &mut LocalRun, standing: &Standing) -> Option<Forecast> {
    let (observations, domain) = (problem.observations, problem.domain);
    let on_lattice = domain.is_mixed() && run.extent != Extent::Reals;
    if observations.residuals(standing.best).is_empty() || on_lattice || problem.constraints() > 0 {
        return None;
    }
    let axes: Vec<usize> = (0..domain.dim()).filter(|&i| run.extent.moves(domain, i)).collect();
    let (d, rows) = (axes.len(), nearest_rows(problem, standing.best, &axes));
    if run.radius == 0.0 {
        run.radius = typical_distance(&rows);
    }
    let centre = observations.unit(standing.best);
    let open = unexplored(&rows, run.radius, &axes, centre).is_some();
    run.adapt_radius(observations, open);
    if run.radius < LEAST_RADIUS || run.followed.is_some() {
        return None; // one is pending
    }
    let place = |x: &[f64]| {
        let mut u = centre.to_vec();
        axes.iter().zip(x).for_each(|(&i, x)| u[i] = (u[i] + x).clamp(-1.0, 1.0));
        u
    };
    let from = observations.value(standing.best)?;
    if rows.len() <= d {
        return unexplored(&rows, run.radius, &axes, centre).and_then(|x| Forecast::new(place(&x), from, 0.0));
    }
    let residuals: Vec<&[f64]> = rows.iter().map(|(_, p)| observations.residuals(*p)).collect();
    let points = rows.iter().map(|(x, _)| x.clone()).collect();
    let model = Residuals::fit(points, &residuals, run.radius, standing.noisy)?;
    let mut within = Halfspaces::cube(d, run.radius);
    for (k, &i) in axes.iter().enumerate() {
        for (sign, room) in [(1.0, 1.0 - centre[i]), (-1.0, 1.0 + centre[i])] {
            let mut normal = vec![0.0; d];
            normal[k] = sign;
            within.push(normal, room);
        }
    }
    let (x, _) = sqp::minimise(&model, &within, &vec![0.0; d], run.radius, ROUNDS);
    let gain = model.look(&vec![0.0; d]).value - model.look(&x).value;
    Forecast::new(place(&x), from, gain).filter(|_| gain > 0.0)
}

/// An observation: its displacement from the best along the axes that move, and its position in the history.
type Row = (Vec<f64>, usize);

/// The observations with residuals nearest to the best one, that one first.
fn nearest_rows(problem: Problem<'_>, best: usize, axes: &[usize]) -> Vec<Row> {
    let (observations, domain) = (problem.observations, problem.domain);
    let centre = observations.unit(best);
    let row = |p: usize| -> Row { (axes.iter().map(|&i| observations.unit(p)[i] - centre[i]).collect(), p) };
    let newest = observations.len().saturating_sub(AMONG)..observations.len();
    let others = newest.filter(|p| *p != best && !observations.residuals(*p).is_empty());
    let alike = others.filter(|&p| domain.same_choices(observations.unit(p), centre));
    let mut rows: Vec<(f64, Row)> = alike.map(row).map(|row| (linalg::dot(&row.0, &row.0), row)).collect();
    rows.retain(|(square, _)| *square > 0.0);
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.1.cmp(&a.1.1)));
    rows.truncate(EACH * axes.len() + 1);
    let value = |row: &(f64, Row)| observations.value(row.1.1).unwrap_or(f64::INFINITY);
    let mut values: Vec<f64> = rows.iter().map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let most = values.get(values.len() / 2).map_or(0.0, |median| USELESS * median);
    rows.retain(|row| value(row) <= most);
    std::iter::once((vec![0.0; axes.len()], best)).chain(rows.into_iter().map(|(_, row)| row)).collect()
}

/// The median of how far the observations are from the best.
fn typical_distance(rows: &[Row]) -> f64 {
    let farthest = |(x, _): &Row| x.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let mut distances: Vec<f64> = rows.iter().map(farthest).collect();
    distances.sort_unstable_by(f64::total_cmp);
    distances[distances.len() / 2].clamp(1e-6, 1.0)
}

/// A step of the trust region's size along the direction in which the observations near it spread least, if that is too little; away from the nearer bound.
fn unexplored(rows: &[Row], radius: f64, axes: &[usize], centre: &[f64]) -> Option<Vec<f64>> {
    let d = axes.len();
    let mut principal = PrincipalAxes::default();
    let frame = Frame::of_box(d);
    // A far observation shows no more of a direction than one at the edge of the trust region.
    let near = rows.iter().filter(|(x, _)| x.iter().all(|x| x.abs() <= REACH * radius));
    let clipped: Vec<Vec<f64>> = near
        .map(|(x, _)| {
            let far = x.iter().fold(radius, |most, x| most.max(x.abs()));
            x.iter().map(|x| x * radius / far).collect()
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
