//! Descents of the models under constraints: to the constrained minimum, to a candidate, to the recommended point.

use super::problem::Problem;
use super::run::LocalRun;
use crate::frame::Frame;
use crate::gp::PointPrediction;
use crate::gp::surrogate::Surrogate;
use crate::linalg::{self, Matrix};
use crate::sqp::{self, Look, Program};

/// Quadratic programs per descent.
pub(super) const PROGRAMS: usize = 12;
/// By how many standard deviations the constraints are to be satisfied, doubled with each violation in a row up to this many times.
const LEAST_CAUTION: f64 = 0.1;
const DOUBLINGS: usize = 6;

/// What a descent minimises: κ standard deviations below the mean of the objective, where the constraints' means lie `caution` standard
/// deviations below 0; inside ±β, along the axes that move, by so many quadratic programs at most.
#[derive(Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) kappa: f64,
    pub(super) caution: f64,
    pub(super) beta: f64,
    pub(super) moves: &'a [bool],
    pub(super) programs: usize,
}

impl<'a> Goal<'a> {
    /// With as much caution as the newest violations ask for.
    pub(super) fn cautious(problem: Problem<'_>, run: &LocalRun, kappa: f64, beta: f64, moves: &'a [bool]) -> Self {
        let newest = run.now.members.iter().rev();
        let violated = newest.take_while(|&&p| !problem.observations.outcome(p).is_feasible()).count().min(DOUBLINGS);
        let caution = LEAST_CAUTION * 2.0_f64.powi(violated as i32);
        Self { kappa, caution, beta, moves, programs: PROGRAMS }
    }
}

/// The program of a descent along the axes that move.
struct Descent<'a> {
    surrogate: &'a Surrogate,
    problem: Problem<'a>,
    frame: &'a Frame,
    goal: Goal<'a>,
}

impl Program for Descent<'_> {
    fn look(&self, x: &[f64]) -> Look {
        let (mut at, Goal { kappa, caution, moves, .. }) = (PointPrediction::default(), self.goal);
        let mut limits = Vec::new();
        for mut limit in self.surrogate.at(x, &mut at) {
            linalg::axpy(&mut limit.mean_gradient, caution, &limit.std_gradient);
            limits.push((limit.mean + caution * limit.std, limit.mean_gradient));
        }
        limits.extend(self.problem.known.in_frame(self.problem.domain, self.frame, x));
        let mut gradient: Vec<f64> =
            at.mean_gradient.iter().zip(&at.std_gradient).map(|(m, s)| m - kappa * s).collect();
        limits.iter_mut().map(|(_, slope)| slope).chain([&mut gradient]).for_each(|s| linalg::mask(s, moves));
        Look { value: at.mean - kappa * at.std, gradient, limits }
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix {
        let mut h = Matrix::zeros(x.len(), x.len());
        self.surrogate.add_hessian(x, multipliers, &mut h);
        for i in (0..x.len()).filter(|&i| !self.goal.moves[i]) {
            for j in 0..x.len() {
                (h[(i, j)], h[(j, i)]) = (0.0, 0.0);
            }
            h[(i, i)] = 1.0;
        }
        h
    }
}

/// The minimum of a goal over the trust region inside the box, from a start in the frame; and the multipliers of the measured constraints.
pub(super) fn minimise(
    problem: Problem<'_>,
    frame: &Frame,
    surrogate: &Surrogate,
    goal: Goal<'_>,
    start: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let Goal { beta, moves, .. } = goal;
    let mut within = frame.cube_in_box(beta);
    within.retain(|normal| normal.iter().zip(moves).any(|(a, moves)| *a != 0.0 && *moves));
    let descent = Descent { surrogate, problem, frame, goal };
    let (mut x, mut multipliers) = sqp::minimise(&descent, &within, start, beta, goal.programs);
    multipliers.truncate(surrogate.constraints.len());
    // Rounding may have put it outside.
    x.iter_mut().zip(moves).filter(|(_, moves)| **moves).for_each(|(x, _)| *x = x.clamp(-beta, beta));
    (x, multipliers)
}

/// The place in the box of a point of the frame: of what its values stand for.
pub(super) fn place(problem: Problem<'_>, frame: &Frame, x: &[f64]) -> Vec<f64> {
    let mut u: Vec<f64> = frame.place(x).into_iter().map(|u| u.clamp(-1.0, 1.0)).collect();
    problem.domain.snap(&mut u);
    u
}
