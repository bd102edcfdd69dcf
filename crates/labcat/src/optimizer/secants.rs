//! Steps along derivatives: the quadratic with the slopes at the best point and a Hessian of the slopes on the way there is followed to its least
//! value inside a trust region, as a quasi-Newton method does; the ratio of actual to predicted reduction adapts the region.

use super::model::Model;
use super::nearest::Forecast;
use super::problem::Problem;
use super::run::LocalRun;
use super::slopes::{self, ROUNDING};
use crate::frame::Frame;
use crate::linalg::{self, Matrix};
use crate::qp::Halfspaces;
use crate::sqp::{self, Look, Program};

/// Secants per dimension that make the Hessian, the newest.
const SECANTS: usize = 3;
/// The update of rank one is taken where it misses the newest secant by less than this part of what the positive definite one does.
const BETTER: f64 = 0.1;
/// A secant whose remainder is this near to a right angle changes nothing.
const FLAT: f64 = 1e-8;
/// The part of the curvature along a secant that a positive definite update leaves at least.
const DAMPED: f64 = 0.2;
/// Quadratic programs per descent.
const ROUNDS: usize = 25;
/// The least size of the trust region to begin with.
const LEAST_RADIUS: f64 = 1e-6;

/// A displacement and the difference of the slopes along it.
type Secant = (Vec<f64>, Vec<f64>);

/// The newest secants of a run, the newest first: each member's from the best one before it, along the axes that move.
fn secants(problem: Problem<'_>, run: &LocalRun, moves: &[bool]) -> Vec<Secant> {
    let observations = problem.observations;
    let along = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().zip(b).zip(moves).map(|((a, b), moves)| if *moves { a - b } else { 0.0 }).collect()
    };
    let mut best: Option<(f64, &[f64], Vec<f64>)> = None;
    let mut found = Vec::new();
    for &p in &run.now.members {
        let (u, slopes, Some(value)) = (observations.unit(p), slopes::at(problem, p), observations.value(p)) else {
            continue;
        };
        if slopes.iter().zip(moves).any(|(s, moves)| *moves && !s.is_finite()) {
            continue;
        }
        if let Some((_, from, before)) = &best {
            found.push((along(u, from), along(&slopes, before)));
        }
        if best.as_ref().is_none_or(|(least, _, _)| value < *least) {
            best = Some((value, u, slopes));
        }
    }
    found.retain(|(s, _)| s.iter().any(|s| *s != 0.0));
    found.reverse();
    found.truncate(SECANTS * moves.len());
    found
}

/// Updates a Hessian to a secant: symmetric of rank one, by which a quadratic is known exactly after d secants; or positive definite of rank two
/// (damped BFGS), which follows a function that is none.
fn update(h: &mut Matrix, (s, y): &Secant, definite: bool) {
    let d = s.len();
    let mut image = vec![0.0; d];
    (0..d).for_each(|j| linalg::axpy(&mut image, s[j], h.col(j)));
    let (bend, change) = (linalg::dot(s, &image), linalg::dot(s, y));
    if definite {
        let share = if change < DAMPED * bend { (1.0 - DAMPED) * bend / (bend - change) } else { 1.0 };
        let y: Vec<f64> = y.iter().zip(&image).map(|(y, i)| share * y + (1.0 - share) * i).collect();
        let change = linalg::dot(s, &y);
        for j in 0..d {
            linalg::axpy(h.col_mut(j), y[j] / change, &y);
            linalg::axpy(h.col_mut(j), -image[j] / bend, &image);
        }
        return;
    }
    let rest: Vec<f64> = y.iter().zip(&image).map(|(y, i)| y - i).collect();
    let along = linalg::dot(&rest, s);
    if along.abs() > FLAT * (linalg::dot(&rest, &rest) * linalg::dot(s, s)).sqrt() {
        (0..d).for_each(|j| linalg::axpy(h.col_mut(j), rest[j] / along, &rest));
    }
}

/// The Hessian of secants, the newest first; it begins with the curvature along the newest.
fn hessian(secants: &[Secant], steepness: f64, definite: bool) -> Matrix {
    let d = secants.first().map_or(0, |(s, _)| s.len());
    let curvature = secants.first().map_or(0.0, |(s, y)| (linalg::dot(y, y) / linalg::dot(s, y)).abs());
    let mut h = Matrix::identity(d);
    h.scale(if curvature > 0.0 && curvature.is_finite() { curvature } else { steepness });
    secants.iter().rev().for_each(|secant| update(&mut h, secant, definite));
    h
}

/// By how much a Hessian misses a secant.
fn missed(h: &Matrix, (s, y): &Secant) -> f64 {
    let mut rest = y.clone();
    (0..s.len()).for_each(|j| linalg::axpy(&mut rest, -s[j], h.col(j)));
    linalg::dot(&rest, &rest).sqrt()
}

/// ½ xᵀHx + gᵀx for steps x from the centre of a frame, with the known constraints.
struct Quadratic<'a> {
    problem: Problem<'a>,
    frame: Frame,
    g: Vec<f64>,
    h: Matrix,
    moves: Vec<bool>,
}

impl Program for Quadratic<'_> {
    fn look(&self, x: &[f64]) -> Look {
        let gradient: Vec<f64> = (0..x.len()).map(|j| self.g[j] + linalg::dot(self.h.col(j), x)).collect();
        let value = x.iter().zip(&gradient).zip(&self.g).map(|((x, a), b)| 0.5 * x * (a + b)).sum();
        let mut limits = self.problem.known.known.in_frame(self.problem.domain, &self.frame, x);
        for (_, slope) in &mut limits {
            slope.iter_mut().zip(&self.moves).filter(|(_, moves)| !**moves).for_each(|(s, _)| *s = 0.0);
        }
        Look { value, gradient, limits }
    }

    fn hessian(&self, _x: &[f64], _multipliers: &[f64]) -> Matrix {
        self.h.clone()
    }
}

/// Where that quadratic is least inside the trust region, if the derivatives at the best point are known along all axes that move.
pub(super) fn find(problem: Problem<'_>, run: &mut LocalRun, model: &Model) -> Option<Forecast> {
    let (observations, domain, standing) = (problem.observations, problem.domain, &model.standing);
    let follows = problem.settings.switches.quadratic
        && !standing.noisy
        && problem.constraints() == 0
        && !run.is_on_lattice(domain);
    if !follows || run.explores(problem.settings) || !model.surrogate.gp.has_slopes() {
        return None;
    }
    let moves: Vec<bool> = (0..domain.dim()).map(|i| run.extent.moves(domain, i)).collect();
    let mut g = slopes::at(problem, standing.best);
    g.iter_mut().zip(&moves).filter(|(_, moves)| !**moves).for_each(|(g, _)| *g = 0.0);
    let secants = secants(problem, run, &moves);
    let (newest, before) = secants.split_first().filter(|_| g.iter().all(|g| g.is_finite()))?;
    if run.radius == 0.0 {
        let length = |(s, _): &Secant| s.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
        let mut lengths: Vec<f64> = secants.iter().map(length).collect();
        lengths.sort_unstable_by(f64::total_cmp);
        run.radius = lengths[lengths.len() / 2].clamp(LEAST_RADIUS, 1.0);
    }
    run.adapt_radius(observations, |shown| observations.value(shown), false);
    if run.followed.is_some() {
        return None; // one is pending
    }
    let steepness = linalg::dot(&g, &g).sqrt() / run.radius;
    let misses =
        |definite: bool| if before.is_empty() { 0.0 } else { missed(&hessian(before, steepness, definite), newest) };
    let definite = BETTER * misses(true) <= misses(false);
    let mut h = hessian(&secants, steepness, definite);
    (0..moves.len()).filter(|&i| !moves[i]).for_each(|i| h[(i, i)] = 1.0);
    let frame = Frame::of_box(domain.dim()).centred(observations.unit(standing.best));
    let mut within = Halfspaces::cube(domain.dim(), run.radius);
    frame.push_box(&vec![(-1.0, 1.0); domain.dim()], &mut within);
    let quadratic = Quadratic { problem, frame, g, h, moves };
    let (x, _) = sqp::minimise(&quadratic, &within, &vec![0.0; domain.dim()], run.radius, ROUNDS);
    let gain = -quadratic.look(&x).value;
    let u = quadratic.frame.place(&x).into_iter().map(|u| u.clamp(-1.0, 1.0)).collect();
    Forecast::new(u, standing.merit, gain).filter(|_| gain > ROUNDING * standing.merit.abs())
}
