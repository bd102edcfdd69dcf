//! Told derivatives as rows of a model. They are left out if they contradict the values.

use super::problem::Problem;
use crate::domain::Axis;
use crate::frame::{Frame, Outputs};
use crate::gp::Slope;
use crate::gp::surrogate::Surrogate;
use crate::linalg::Matrix;

/// Of the pairs of neighbours at least this share has to agree.
const AGREE: f64 = 0.9;
/// Differences of values that may be rounding, relative to the values.
pub(super) const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Derivatives per dimension that enter the model, and the most in all.
const SLOPES: usize = 20;
const MOST_SLOPES: usize = 400;

/// The derivatives told at an evaluation, along the coordinates of the box; NaN where there is none.
pub(super) fn at(problem: Problem<'_>, position: usize) -> Vec<f64> {
    let (observations, domain) = (problem.observations, problem.domain);
    let (u, gradient): (_, Vec<f64>) = (observations.unit(position), observations.gradient(position).collect());
    let x = &observations.all()[position].x;
    let slope = |j: usize| {
        let parameter = domain.parameter_of(j);
        let told = domain.axes()[j] == Axis::Real && domain.is_active(parameter, x);
        gradient.get(parameter).filter(|_| told).map_or(f64::NAN, |g| g * domain.stretch(j, u[j]))
    };
    (0..domain.dim()).map(slope).collect()
}

/// Whether derivatives and values tell the same at the distance of the rows: from each to its nearest neighbour the mean slope has the sign of the
/// change. That is so for none where derivatives are zero or have the wrong sign, and for half of them where the values are rugged: then the slopes
/// say nothing of the way down.
fn agree(problem: Problem<'_>, x: &Matrix, members: &[usize], rows: &[usize]) -> bool {
    let observations = problem.observations;
    let told: Vec<(Vec<f64>, f64)> =
        rows.iter().filter_map(|&row| Some((at(problem, members[row]), observations.value(members[row])?))).collect();
    let (mut pairs, mut agree) = (0, 0);
    for (k, (slopes, value)) in told.iter().enumerate() {
        let here = observations.unit(members[rows[k]]);
        let square = |other: usize| (0..x.cols()).map(|j| (x[(rows[k], j)] - x[(rows[other], j)]).powi(2)).sum::<f64>();
        let alike =
            |&other: &usize| other != k && problem.domain.same_choices(here, observations.unit(members[rows[other]]));
        let nearest = (0..told.len()).filter(alike).min_by(|a, b| square(*a).total_cmp(&square(*b)));
        let Some(other) = nearest else { continue };
        let there = observations.unit(members[rows[other]]);
        let both = slopes.iter().zip(&told[other].0).map(|(a, b)| a + b);
        let ways = both.zip(there.iter().zip(here)).map(|(slope, (b, a))| slope * (b - a));
        let change = told[other].1 - value;
        if change.abs() > ROUNDING * value.abs().max(told[other].1.abs()) {
            pairs += 1;
            agree += usize::from(ways.filter(|way| way.is_finite()).sum::<f64>() * change > 0.0);
        }
    }
    agree as f64 >= AGREE * pairs as f64
}

/// The derivatives told at the members nearest to the centre, as many as the model takes.
pub(super) fn add(
    problem: Problem<'_>,
    (frame, members): (&Frame, &[usize]),
    surrogate: &mut Surrogate,
    outputs: &Outputs,
) {
    let is_cut = |p: usize| problem.observations.value(p).is_some_and(|value| outputs.is_cut(value));
    let told = |row: &usize| problem.observations.gradient(members[*row]).next().is_some() && !is_cut(members[*row]);
    let mut rows: Vec<usize> = (0..members.len()).filter(told).collect();
    if rows.is_empty() {
        return;
    }
    let (x, y, d) = (surrogate.gp.inputs().clone(), surrogate.gp.outputs(), problem.domain.dim());
    let exact = problem.settings.switches.quadratic && surrogate.gp.noise().is_empty();
    if exact && !agree(problem, &x, members, &rows) {
        return;
    }
    let distance = |row: usize| (0..d).map(|j| x[(row, j)] * x[(row, j)]).sum::<f64>();
    rows.sort_by(|a, b| distance(*a).total_cmp(&distance(*b)).then(b.cmp(a)));
    let mut count = 0;
    for row in rows {
        let told = at(problem, members[row]);
        // A step along coordinate j of the box: its direction in the frame, and what it changes there.
        let slope = |j: usize| Slope {
            x: (0..d).map(|i| x[(row, i)]).collect(),
            direction: (0..d).map(|i| frame.rotation()[(j, i)] / frame.scale()[i]).collect(),
            value: told[j] / outputs.slope(y[row]),
        };
        let new: Vec<Slope> = (0..d).map(slope).filter(|slope| slope.value.is_finite()).collect();
        if count > 0 && count + new.len() > (SLOPES * d).min(MOST_SLOPES) {
            break;
        }
        count += new.len();
        new.into_iter().for_each(|slope| surrogate.append_slope(slope));
    }
}
