//! The merit of a member of a run: its value plus a penalty for each violated constraint, both without their noise.

use super::dataset::Output;
use super::problem::Problem;
use super::run::LocalRun;
use crate::frame::Tail;
use crate::math;

/// What the memory of a penalty parameter is multiplied by at each step, and how much larger than a multiplier it is.
const FORGET: f64 = 0.8;
const LARGER: f64 = 2.0;

/// Penalty parameters and bends of the constraints. A violation costs at least as much as the values vary while its constraint varies by its own size.
#[derive(Clone, Debug, Default)]
pub(super) struct Merit(pub(super) Vec<(f64, Tail)>);

impl Merit {
    /// Of members with these values.
    pub(super) fn of(problem: Problem<'_>, run: &LocalRun, values: &[f64], scratch: &mut Vec<f64>) -> Self {
        if problem.constraints() == 0 {
            return Self::default();
        }
        scratch.clear();
        scratch.extend_from_slice(values);
        let spread = math::median(scratch).map(|median| median - scratch[0]).filter(|s| *s > 0.0).unwrap_or(1.0);
        let known = |k: usize| run.now.penalties.get(k).copied().unwrap_or(0.0);
        let penalty = |k: usize| known(k).max(spread / size(problem, run, k)).min(f64::MAX);
        Self((0..problem.constraints()).map(|k| (penalty(k), tail(run, k))).collect())
    }

    /// Of members as they were told.
    pub(super) fn of_told(problem: Problem<'_>, run: &LocalRun) -> Self {
        if problem.constraints() == 0 {
            return Self::default();
        }
        let values: Vec<f64> = run.now.members.iter().filter_map(|&p| problem.observations.value(p)).collect();
        Self::of(problem, run, &values, &mut Vec::new())
    }

    /// The penalty for the violations of constraints: 0 where they are satisfied.
    pub(super) fn penalty(&self, constraints: impl Iterator<Item = f64>) -> f64 {
        constraints.zip(&self.0).map(|(g, (penalty, tail))| penalty * tail.bend(g.max(0.0))).sum()
    }

    /// Of a value and constraints.
    pub(super) fn at(&self, value: f64, constraints: impl Iterator<Item = f64>) -> f64 {
        if self.0.is_empty() { value } else { (value + self.penalty(constraints)).min(f64::MAX) }
    }

    /// Of an evaluation as it was told, if it has a value.
    pub(super) fn told(&self, problem: Problem<'_>, position: usize) -> Option<f64> {
        let value = problem.observations.value(position)?;
        Some(self.at(value, problem.observations.outcome(position).constraints().iter().copied()))
    }
}

/// How a constraint is bent.
fn tail(run: &LocalRun, k: usize) -> Tail {
    run.now.tails.get(k).copied().unwrap_or_default()
}

/// The size of a bent constraint among the members: its median absolute value, or the largest where that is 0.
pub(super) fn size(problem: Problem<'_>, run: &LocalRun, k: usize) -> f64 {
    let told = run.now.members.iter().filter_map(|&p| problem.output(Output::Constraint(k), p));
    let mut sizes: Vec<f64> = told.map(|g| tail(run, k).bend(g).abs()).collect();
    math::median(&mut sizes).filter(|s| *s > 0.0).or(sizes.last().copied().filter(|s| *s > 0.0)).unwrap_or(1.0)
}

/// Raises the penalty parameters to the multipliers at the model's constrained minimum, in units of the objective; else they fall slowly.
pub(super) fn update_penalties(run: &mut LocalRun, multipliers: impl ExactSizeIterator<Item = f64>) {
    run.now.penalties.resize(multipliers.len(), 0.0);
    for (penalty, m) in run.now.penalties.iter_mut().zip(multipliers) {
        *penalty = (LARGER * m).max(FORGET * *penalty).min(f64::MAX);
    }
}
