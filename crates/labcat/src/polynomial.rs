//! Minima of polynomial regressions in the box of a frame. For a function that is nearly a polynomial they find the minimum long
//! before the Gaussian process can.

use crate::frame::Frame;
use crate::linalg::{self, Matrix};
use crate::qp::Halfspaces;
use crate::sqp::{self, Look, Program};

pub(crate) use labcat_numerics::polynomial::{Polynomial, Terms};

/// Most of Newton's steps in a descent.
const NEWTON_STEPS: usize = 100;
/// Rounding of a bound or constraint, relative to the width between the bounds.
const BOUND_ROUNDING: f64 = 1e-9;

/// Whether the newest minimiser of a polynomial of a frame's coordinates is a minimum beyond the bounds that it was sought in: a quadratic curves up
/// along all coordinates but those that a face of [−1, 1]^d holds.
pub(crate) fn is_proper(fit: &mut Polynomial, frame: &Frame, bounds: &[(f64, f64)]) -> bool {
    if fit.is_convex() {
        return true;
    }
    let held = |j: &usize| fit.minimiser[*j] <= bounds[*j].0 || fit.minimiser[*j] >= bounds[*j].1;
    let (held, free): (Vec<usize>, Vec<usize>) = (0..frame.dim()).partition(held);
    // The Hessian in the box, Aᵀ H A with A_ij = R_ji / s_i, of the free coordinates.
    let map = |i: usize, j: usize| frame.rotation()[(j, i)] / frame.scale()[i];
    let image = |j: usize| -> Vec<f64> {
        let mut image = vec![0.0; frame.dim()];
        (0..frame.dim()).for_each(|i| linalg::axpy(&mut image, map(i, j), fit.hessian_at_centre().col(i)));
        image
    };
    let mut bend = Matrix::zeros(free.len(), free.len());
    for (b, &k) in free.iter().enumerate() {
        let image = image(k);
        for (a, &j) in free.iter().enumerate() {
            bend[(a, b)] = (0..frame.dim()).map(|i| map(i, j) * image[i]).sum();
        }
    }
    held.iter().all(|&j| fit.minimiser[j].abs() == 1.0) && linalg::cholesky(&mut bend).is_ok()
}

/// Minimises a polynomial of a frame's coordinates over a box of u, where no limit is above 0, from the centre of the frame and from further `starts`
/// in it: one Newton step if that stays inside, else quadratic programs. Leaves the point in [`Polynomial::minimiser`] and gives the value there,
/// unless a limit is violated.
pub(crate) fn minimise(
    fit: &mut Polynomial,
    limits: &[Polynomial],
    frame: &Frame,
    bounds: &[(f64, f64)],
    starts: impl Iterator<Item = Vec<f64>>,
) -> Option<f64> {
    let mut x = std::mem::take(&mut fit.way);
    fit.minimiser.clear();
    if limits.is_empty() && fit.newton(&mut x) {
        // Solved in the frame, where H is as round as the frame makes it.
        fit.minimiser.resize(frame.dim(), 0.0);
        frame.to_box(&x, &mut fit.minimiser);
    }
    let inside = |(u, (low, high)): (&f64, &(f64, f64))| low <= u && u <= high;
    if limits.is_empty() && fit.terms() == Terms::Linear {
        // ∂/∂u_j = Σ_i R_ji g_i / s_i: to the corner that lies below.
        let slopes = fit.at_centre().1.iter().zip(frame.scale()).enumerate();
        let slope = |j: usize| slopes.clone().map(|(i, (g, s))| frame.rotation()[(j, i)] * g / s).sum::<f64>();
        let corner = |(j, (low, high)): (usize, &(f64, f64))| if slope(j) > 0.0 { *low } else { *high };
        fit.minimiser = bounds.iter().enumerate().map(corner).collect();
    } else if fit.minimiser.is_empty() || !fit.minimiser.iter().zip(bounds).all(inside) {
        fit.minimiser = descend(&Constrained { fit, limits }, frame, bounds, starts);
    }
    x.resize(frame.dim(), 0.0);
    frame.to_local(&fit.minimiser, &mut x);
    let value = fit.evaluate(|j| x[j]);
    let satisfied = limits.iter().all(|limit| limit.value(&x) <= BOUND_ROUNDING);
    fit.way = x;
    satisfied.then_some(value)
}

/// A polynomial to minimise where no other is above 0.
struct Constrained<'a> {
    fit: &'a Polynomial,
    limits: &'a [Polynomial],
}

impl Program for Constrained<'_> {
    fn look(&self, x: &[f64]) -> Look {
        let limits = self.limits.iter().map(|limit| limit.look(x)).map(|l| (l.value, l.gradient)).collect();
        Look { limits, ..self.fit.look(x) }
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix {
        let mut h = self.fit.hessian(x, &[]);
        for (limit, m) in self.limits.iter().zip(multipliers).filter(|(_, m)| **m > 0.0) {
            let bend = limit.hessian(x, &[]);
            (0..h.cols()).for_each(|j| linalg::axpy(h.col_mut(j), *m, bend.col(j)));
        }
        h
    }
}

/// The lowest minimum within bounds that quadratic programs find from the centre and further starts.
fn descend(
    program: &Constrained<'_>,
    frame: &Frame,
    bounds: &[(f64, f64)],
    starts: impl Iterator<Item = Vec<f64>>,
) -> Vec<f64> {
    let mut within = Halfspaces::default();
    frame.push_box(bounds, &mut within);
    let nearest: Vec<f64> = frame.centre().iter().zip(bounds).map(|(c, (low, high))| c.clamp(*low, *high)).collect();
    let descend = |start: Vec<f64>| sqp::minimise(program, &within, &start, 1.0, NEWTON_STEPS).0;
    let found = std::iter::once(frame.local(&nearest)).chain(starts).map(descend).map(|x| (program.fit.value(&x), x));
    let x = found.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(nearest, |(_, x)| x);
    let snap = |(u, (low, high)): (f64, &(f64, f64))| {
        let (u, width) = (u.clamp(*low, *high), BOUND_ROUNDING * (high - low));
        if u - low <= width {
            *low
        } else if high - u <= width {
            *high
        } else {
            u
        }
    };
    frame.place(&x).into_iter().zip(bounds).map(snap).collect()
}

/// The smallest box around points of [−1, 1]^d.
pub(crate) fn bounds_of<'a>(bounds: &mut Vec<(f64, f64)>, d: usize, points: impl Iterator<Item = &'a [f64]>) {
    bounds.clear();
    bounds.resize(d, (f64::INFINITY, f64::NEG_INFINITY));
    let widen = |((low, high), u): (&mut (f64, f64), &f64)| (*low, *high) = (low.min(*u), high.max(*u));
    points.for_each(|u| bounds.iter_mut().zip(u).for_each(widen));
}

#[cfg(test)]
mod tests;
