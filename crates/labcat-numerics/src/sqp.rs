//! Sequential quadratic programming for cheap, smooth functions: the models of an objective and of its constraints.

use crate::linalg::{self, Matrix};
use crate::qp::{self, Halfspaces};

/// What a program is worth at a point, and how that changes.
#[derive(Clone, Debug)]
pub struct Look {
    /// What is minimised.
    pub value: f64,
    /// Its slopes.
    pub gradient: Vec<f64>,
    /// Each constraint g ≤ 0 with its gradient. One that is flat or not defined at a point may be missing there: then
    /// those after it move up.
    pub limits: Vec<(f64, Vec<f64>)>,
}

/// A smooth function to minimise where smooth constraints are satisfied.
pub trait Program {
    /// The value, the constraints and their gradients at a point.
    fn look(&self, x: &[f64]) -> Look;

    /// The second derivatives of the value plus `multipliers` times the constraints.
    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix;
}

/// The penalty for a unit of violation in a program whose constraints cannot be satisfied, in units of the value.
const ELASTIC: f64 = 1e3;

/// Lengths of a step that are tried, each this part of the one before.
const STEP_LENGTHS: usize = 8;
const STEP_CONTRACTION: f64 = 0.4;
/// Only steps longer than this part of the radius are shortened.
const SHORT: f64 = 1e-8;

/// A local minimum over `within`, a convex set of size about `radius` that holds `start`: at most `rounds` quadratic programs. Where the
/// constraints cannot be satisfied they are violated as little as the programs can tell. Gives the
/// point and the multipliers of the constraints, those of the last program.
pub fn minimise(
    program: &impl Program,
    within: &Halfspaces,
    start: &[f64],
    radius: f64,
    rounds: usize,
) -> (Vec<f64>, Vec<f64>) {
    let mut x = start.to_vec();
    let mut here = program.look(&x);
    let mut multipliers = vec![0.0; here.limits.len()];
    let mut penalty = 0.0_f64;
    for _ in 0..rounds {
        let h = program.hessian(&x, &multipliers);
        let steepest = linalg::dot(&here.gradient, &here.gradient).sqrt();
        let Some(step) = solve(&h, &here, within, &x, 1e-8 * steepest / radius) else { break };
        let fixed = within.len();
        multipliers.clear();
        multipliers.extend_from_slice(&step.multipliers[fixed..fixed + here.limits.len()]);
        penalty = multipliers.iter().fold(penalty, |a, m| a.max(1.5 * m));
        let cost = |l: &Look| l.value + penalty * l.limits.iter().map(|(g, _)| g.max(0.0)).sum::<f64>();
        let farthest = step.x.iter().take(x.len()).fold(0.0_f64, |a, p| a.max(p.abs()));
        // Where so short a step leads no lower, the rest is rounding. (Along a curved constraint it may violate that by more than it gains.)
        let trials = if here.limits.is_empty() && farthest < SHORT * radius { 1 } else { STEP_LENGTHS };
        let mut length = 1.0;
        let mut moved = false;
        for _ in 0..trials {
            let trial: Vec<f64> = x.iter().zip(&step.x).map(|(x, p)| x + length * p).collect();
            let there = program.look(&trial);
            if cost(&there) < cost(&here) {
                (x, here, moved) = (trial, there, true);
                break;
            }
            length *= STEP_CONTRACTION;
        }
        if !moved || farthest < 1e-12 * radius {
            break;
        }
    }
    (x, multipliers)
}

/// The step of one quadratic program: with the constraints linearised or, where they contradict each other, as penalties.
fn solve(h: &Matrix, here: &Look, within: &Halfspaces, x: &[f64], floor: f64) -> Option<qp::Solved> {
    let d = x.len();
    let mut rows = within.moved(x);
    for (g, slope) in &here.limits {
        rows.push(slope, -g);
    }
    let factor = qp::factor_convex(h, floor)?;
    qp::minimise(&factor, &here.gradient, &rows).or_else(|| {
        // One more variable s ≥ 0: how far each constraint is let off.
        let mut larger = Matrix::zeros(d + 1, d + 1);
        for j in 0..d {
            larger.col_mut(j)[..d].copy_from_slice(h.col(j));
        }
        larger[(d, d)] = 1e-3 * ELASTIC;
        let mut gradient = here.gradient.clone();
        gradient.push(ELASTIC);
        let mut rows = rows.widened(|i| if i < within.len() { 0.0 } else { -1.0 });
        let mut least = vec![0.0; d + 1];
        least[d] = -1.0;
        rows.push(&least, 0.0);
        qp::minimise(&qp::factor_convex(&larger, floor.max(1e-9))?, &gradient, &rows)
    })
}

#[cfg(test)]
mod tests;
