//! Steps along derivatives. A quadratic with the slopes at the best point, and a Hessian from the slopes on the way there, is minimised inside a
//! trust region, as in a quasi-Newton method. The ratio of actual to predicted reduction adapts the region.

use super::model::Model;
use super::nearest::Forecast;
use super::problem::Problem;
use super::run::{Doubt, LocalRun};
use super::slopes::{self, ROUNDING};
use crate::frame::Frame;
use crate::linalg::{self, Matrix};
use crate::sqp::{self, Look, Program};
use labcat_numerics::quasi_newton::{self, Secant};

/// Secants per dimension that make the Hessian, the newest.
const SECANTS: usize = 3;
/// Quadratic programs per descent.
const STEPS_OF_QUADRATIC: usize = 25;

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
        let mut limits = self.problem.known.in_frame(self.problem.domain, &self.frame, x);
        limits.iter_mut().for_each(|(_, slope)| linalg::mask(slope, &self.moves));
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
    if !follows || !run.manner(problem.settings).follows || !model.surrogate.gp.has_slopes() {
        return None;
    }
    let moves = run.extent.moving(domain);
    let mut g = slopes::at(problem, standing.best);
    linalg::mask(&mut g, &moves);
    let secants = secants(problem, run, &moves);
    secants.first().filter(|_| g.iter().all(|g| g.is_finite()))?;
    run.begin_radius(secants.iter().map(|(step, _)| step));
    run.adapt_radius(observations, |shown| observations.value(shown), Doubt::default());
    if run.followed.is_some() {
        return None; // one is pending
    }
    let steepness = linalg::dot(&g, &g).sqrt() / run.radius;
    let mut h = quasi_newton::likelier(&secants, steepness)?;
    (0..moves.len()).filter(|&i| !moves[i]).for_each(|i| h[(i, i)] = 1.0);
    let frame = Frame::of_box(domain.dim()).centred(observations.unit(standing.best));
    let within = frame.cube_in_box(run.radius);
    let quadratic = Quadratic { problem, frame, g, h, moves };
    let (x, _) = sqp::minimise(&quadratic, &within, &vec![0.0; domain.dim()], run.radius, STEPS_OF_QUADRATIC);
    let gain = -quadratic.look(&x).value;
    let u = quadratic.frame.place(&x).into_iter().map(|u| u.clamp(-1.0, 1.0)).collect();
    Forecast::new(u, standing.merit, gain).filter(|_| gain > ROUNDING * standing.merit.abs())
}
