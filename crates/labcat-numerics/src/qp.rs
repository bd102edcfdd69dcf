//! Small convex quadratic programs: minimise ½ xᵀHx + gᵀx subject to aᵢᵀx ≤ bᵢ, by the dual active-set method of Goldfarb and
//! Idnani. Exact up to rounding, and it tells when nothing is feasible.

use crate::linalg::{self, Matrix};

/// A violation that counts, in the units of a constraint whose normal has length one, relative to the size of its terms.
const VIOLATION_ROUNDING: f64 = 1e-13;

/// Changes of the active set per constraint and variable before a program is given up.
const CHANGES: usize = 10;

/// A point that solves a program, with the multipliers of its constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solved {
    /// The point.
    pub x: Vec<f64>,
    /// One for each constraint; zero where it is not active.
    pub multipliers: Vec<f64>,
}

/// The constraints aᵢᵀx ≤ bᵢ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Halfspaces {
    /// The aᵢ one after another, and the bᵢ.
    normals: Vec<f64>,
    offsets: Vec<f64>,
}

impl Halfspaces {
    /// Adds a constraint.
    pub fn push(&mut self, normal: &[f64], offset: f64) {
        self.normals.extend_from_slice(normal);
        self.offsets.push(offset);
    }

    /// |xᵢ| ≤ `half`.
    pub fn cube(d: usize, half: f64) -> Self {
        let (mut all, mut normal) = (Self::default(), vec![0.0; d]);
        for i in 0..d {
            for sign in [1.0, -1.0] {
                normal[i] = sign;
                all.push(&normal, half);
            }
            normal[i] = 0.0;
        }
        all
    }

    /// Keeps those whose normals are wanted.
    pub fn retain(&mut self, wanted: impl Fn(&[f64]) -> bool) {
        let all = std::mem::take(self);
        all.rows().filter(|(a, _)| wanted(a)).for_each(|(a, b)| self.push(a, b));
    }

    /// The same constraints on steps from `x`.
    pub fn moved(&self, x: &[f64]) -> Self {
        let offsets = self.rows().map(|(a, b)| b - linalg::dot(a, x)).collect();
        Self { normals: self.normals.clone(), offsets }
    }

    /// The same constraints with one more variable, and its factor in each of them.
    pub fn widened(&self, factor: impl Fn(usize) -> f64) -> Self {
        let mut all = Self::default();
        for (i, (a, b)) in self.rows().enumerate() {
            all.push(a, b);
            all.normals.push(factor(i));
        }
        all
    }

    /// Each with its offset.
    fn rows(&self) -> impl Iterator<Item = (&[f64], f64)> {
        let d = self.normals.len() / self.len().max(1);
        self.normals.chunks_exact(d.max(1)).zip(self.offsets.iter().copied())
    }

    /// The normal of constraint i.
    fn normal(&self, i: usize) -> &[f64] {
        let d = self.normals.len() / self.len();
        &self.normals[d * i..d * (i + 1)]
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }
}

/// Adds multiples of the identity, at least `floor`, to a symmetric matrix until it is positive definite; gives its factor.
pub fn factor_convex(h: &Matrix, floor: f64) -> Option<Matrix> {
    let size = h.as_slice().iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    let mut shift = (1e-12 * size).max(floor).max(f64::MIN_POSITIVE);
    while shift.is_finite() {
        let mut factor = h.clone();
        for i in 0..h.cols() {
            factor[(i, i)] += shift;
        }
        if linalg::cholesky(&mut factor).is_ok() {
            return Some(factor);
        }
        shift = (10.0 * shift).max(1e-6 * size);
    }
    None
}

/// The point nearest to the origin of d dimensions that satisfies all constraints.
pub fn nearest(d: usize, within: &Halfspaces) -> Option<Vec<f64>> {
    let factor = factor_convex(&Matrix::identity(d), 0.0)?;
    minimise(&factor, &vec![0.0; d], within).map(|solved| solved.x)
}

/// The solution for H = L Lᵀ, or `None` if no point satisfies all constraints (or rounding lets none be found).
pub fn minimise(factor: &Matrix, g: &[f64], within: &Halfspaces) -> Option<Solved> {
    let mut x: Vec<f64> = g.iter().map(|g| -g).collect();
    linalg::solve(factor, &mut x);
    let mut changes = CHANGES * (within.len() + x.len()) + 10;
    let mut active = Active { factor, within, indices: Vec::new(), multipliers: Vec::new(), images: Vec::new() };
    while let Some(entering) = active.most_violated(&x) {
        active.enter(entering, &mut x, &mut changes)?;
    }
    let mut multipliers = vec![0.0; within.len()];
    for (&i, u) in active.indices.iter().zip(&active.multipliers) {
        multipliers[i] = *u;
    }
    x.iter().all(|x| x.is_finite()).then_some(Solved { x, multipliers })
}

/// The constraints that hold a point, with their multipliers and H⁻¹ aᵢ.
struct Active<'a> {
    factor: &'a Matrix,
    within: &'a Halfspaces,
    indices: Vec<usize>,
    multipliers: Vec<f64>,
    images: Vec<Vec<f64>>,
}

impl Active<'_> {
    /// The constraint farthest from a point that violates it by more than rounding.
    fn most_violated(&self, x: &[f64]) -> Option<usize> {
        let mut worst: Option<(usize, f64)> = None;
        for (i, (a, b)) in self.within.rows().enumerate() {
            let by = linalg::dot(a, x) - b;
            if by <= 0.0 || self.indices.contains(&i) {
                continue;
            }
            let size = b.abs() + a.iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
            let length = linalg::dot(a, a).sqrt();
            if by > VIOLATION_ROUNDING * size && length > 0.0 && worst.is_none_or(|(_, w)| by / length > w) {
                worst = Some((i, by / length));
            }
        }
        worst.map(|(i, _)| i)
    }

    /// Moves a point until it satisfies one more constraint; those whose multipliers reach zero on the way leave. `None` if it cannot be satisfied, or not
    /// with the changes that are left.
    fn enter(&mut self, entering: usize, x: &mut [f64], changes: &mut usize) -> Option<()> {
        let (a, b) = (self.within.normal(entering), self.within.offsets[entering]);
        let mut image = a.to_vec();
        linalg::solve(self.factor, &mut image);
        let mut own = 0.0;
        loop {
            *changes = changes.checked_sub(1)?;
            let by = linalg::dot(a, x) - b;
            // r = (NᵀH⁻¹N)⁻¹ NᵀH⁻¹ a: how the multipliers of the active constraints move; z = H⁻¹ (a − N r): how x moves.
            let r = self.project(a)?;
            let mut z = image.clone();
            for (r, image) in r.iter().zip(&self.images) {
                linalg::axpy(&mut z, -r, image);
            }
            let bend = linalg::dot(&z, a);
            let whole = linalg::dot(&image, a);
            let full = if bend > 1e-12 * whole { by / bend } else { f64::INFINITY };
            let ratios = r.iter().zip(&self.multipliers).enumerate().filter(|(_, (r, _))| **r > 0.0);
            let blocking = ratios.map(|(k, (r, u))| (u / r, k)).min_by(|a, b| a.0.total_cmp(&b.0));
            let length = full.min(blocking.map_or(f64::INFINITY, |b| b.0));
            if !length.is_finite() {
                return None;
            }
            if full.is_finite() {
                linalg::axpy(x, -length, &z);
            }
            for (u, r) in self.multipliers.iter_mut().zip(&r) {
                *u = (*u - length * r).max(0.0);
            }
            own += length;
            let Some((_, k)) = blocking.filter(|(at, _)| *at < full) else {
                self.indices.push(entering);
                self.multipliers.push(own);
                self.images.push(image);
                return Some(());
            };
            self.indices.remove(k);
            self.multipliers.remove(k);
            self.images.remove(k);
        }
    }

    /// (NᵀH⁻¹N)⁻¹ NᵀH⁻¹ a for the active normals N with their images H⁻¹N.
    fn project(&self, a: &[f64]) -> Option<Vec<f64>> {
        let q = self.indices.len();
        let mut r: Vec<f64> = self.images.iter().map(|image| linalg::dot(image, a)).collect();
        if q > 0 {
            let mut gram = Matrix::zeros(q, q);
            for (row, &i) in self.indices.iter().enumerate() {
                for (col, image) in self.images.iter().enumerate() {
                    gram[(row, col)] = linalg::dot(self.within.normal(i), image);
                }
            }
            linalg::cholesky(&mut gram).ok()?;
            linalg::solve(&gram, &mut r);
        }
        Some(r)
    }
}

#[cfg(test)]
mod tests;
