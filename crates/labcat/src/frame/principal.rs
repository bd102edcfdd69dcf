//! Weighted principal axes of the observations: the directions in which good points spread.

use super::Frame;
use crate::linalg::{self, Matrix};

/// How the principal axes are ordered when they replace the axes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisOrder {
    /// By decreasing singular value, as a singular value decomposition gives them.
    Sorted,
    /// Each next to the old axis it resembles most (largest |cosine|), so that S stays on its axis.
    Matched,
}

/// Finds the principal axes, and keeps the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrincipalAxes {
    /// Z = (S X′_cen W)ᵀ, one row per observation.
    weighted: Matrix,
    /// U_a: right singular vectors of Z, in the old axes.
    axes: Matrix,
    sigma: Vec<f64>,
    /// Axes that keep their places.
    fixed: Vec<bool>,
    order: Vec<usize>,
    product: Matrix,
}

impl PrincipalAxes {
    /// Decomposes S X′_cen W = U_a Σ_a V_aᵀ with W = diag(1 − y′). (eq:svd_mod)
    ///
    /// S X′_cen = Rᵀ (U − c) is computed from the points in the box, so nothing drifts from step to step.
    ///
    /// Only the axes that `turns` names take part; they span a subspace of the box, and the others keep their places.
    pub(crate) fn find<'a>(
        &mut self,
        frame: &Frame,
        points: impl Iterator<Item = (&'a [f64], f64)>,
        n: usize,
        turns: impl Fn(usize) -> bool,
    ) {
        let d = frame.dim();
        self.fixed.clear();
        self.fixed.extend((0..d).map(|i| !turns(i)));
        self.weighted.reshape(n, d);
        self.sigma.clear();
        self.sigma.resize(d, 0.0);
        for (p, (u, y)) in points.enumerate() {
            frame.along_axes(u, &mut self.sigma);
            for (i, z) in self.sigma.iter().enumerate() {
                self.weighted[(p, i)] = (1.0 - y) * z;
            }
        }
        if self.fixed.contains(&true) {
            self.decompose_block();
        } else {
            linalg::right_singular_vectors(&mut self.weighted, &mut self.axes, &mut self.sigma);
        }
    }

    /// The decomposition of the block of axes that turn, between axes that stay.
    fn decompose_block(&mut self) {
        let (n, d) = (self.weighted.rows(), self.weighted.cols());
        let block: Vec<usize> = (0..d).filter(|&i| !self.fixed[i]).collect();
        let (mut weighted, mut axes) = (Matrix::zeros(n, block.len()), Matrix::default());
        let mut sigma = vec![0.0; block.len()];
        for (k, &i) in block.iter().enumerate() {
            weighted.col_mut(k).copy_from_slice(self.weighted.col(i));
        }
        if !block.is_empty() {
            linalg::right_singular_vectors(&mut weighted, &mut axes, &mut sigma);
        }
        self.axes.set_identity(d);
        for i in 0..d {
            self.sigma[i] = linalg::dot(self.weighted.col(i), self.weighted.col(i)).sqrt();
        }
        for (b, &j) in block.iter().enumerate() {
            for (a, &i) in block.iter().enumerate() {
                self.axes[(i, j)] = axes[(a, b)];
            }
            self.sigma[j] = sigma[b];
        }
    }

    /// Singular values in the places of their axes, none below 10⁻⁸ of the largest.
    pub(crate) fn sigma(&self) -> impl Iterator<Item = f64> {
        let floor = 1e-8 * self.sigma.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.order.iter().map(move |&j| self.sigma[j].max(floor))
    }

    /// Decides which axis takes which place, and its sign.
    pub(crate) fn arrange(&mut self, order: AxisOrder) {
        let d = self.axes.cols();
        self.order.clear();
        match order {
            AxisOrder::Sorted => {
                self.order.extend(0..d);
                self.order.sort_by(|&a, &b| self.sigma[b].total_cmp(&self.sigma[a]));
                if self.fixed.contains(&true) {
                    let mut sorted = std::mem::take(&mut self.order).into_iter().filter(|&j| !self.fixed[j]);
                    let place = |i: usize| if self.fixed[i] { Some(i) } else { sorted.next() };
                    self.order = (0..d).filter_map(place).collect();
                }
            }
            AxisOrder::Matched => {
                // U_a[(i, j)] is the cosine between old axis i and new axis j.
                self.product.copy_from(&self.axes);
                linalg::match_columns(&mut self.product, &mut self.order);
            }
        }
    }

    /// R ← R U_a, each axis in its place, its largest component positive in the old axes.
    pub(super) fn turn(&mut self, rotation: &mut Matrix) {
        let d = rotation.cols();
        self.product.reshape(d, d);
        for (place, &j) in self.order.iter().enumerate() {
            let u = self.axes.col(j);
            let largest = u.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            let out = self.product.col_mut(place);
            out.fill(0.0);
            for (k, weight) in u.iter().enumerate() {
                linalg::axpy(out, weight * 1.0_f64.copysign(largest), rotation.col(k));
            }
        }
        rotation.copy_from(&self.product);
    }
}
