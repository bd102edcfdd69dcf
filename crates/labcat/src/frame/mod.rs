//! The local frame: its centre, rotation and scale, and the normalisation of outputs in it.

mod outputs;
mod principal;

pub(crate) use outputs::{MOST_MEDIANS, Outputs, Tail, normalise, normalise_bent};
pub(crate) use principal::{AxisOrder, PrincipalAxes};

use crate::linalg::{self, Matrix};
use crate::qp::Halfspaces;
use labcat_numerics::wide;

/// The affine map u = R S x′ + c between the box [−1, 1]^d (u) and the local frame (x′): (eq:input_transform).
///
/// A value, never changed in place: each step of the algorithm takes a frame and gives the next (its buffers move along).
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Frame {
    /// c: the origin of the frame, in the box.
    centre: Vec<f64>,
    /// R: orthogonal; its columns are the frame's axes, in the box.
    rotation: Matrix,
    /// Diagonal of S: length of one local unit along each axis, in the box.
    scale: Vec<f64>,
}

impl Frame {
    /// The initial frame of the box: c = 0, R = I, S = I, since the box is [−1, 1]^d already. (eq:input_init)
    pub(crate) fn of_box(d: usize) -> Self {
        Self { centre: vec![0.0; d], rotation: Matrix::identity(d), scale: vec![1.0; d] }
    }

    pub(crate) fn dim(&self) -> usize {
        self.centre.len()
    }

    pub(crate) fn centre(&self) -> &[f64] {
        &self.centre
    }

    pub(crate) fn rotation(&self) -> &Matrix {
        &self.rotation
    }

    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// The same axes around another point: X′_cen. (eq:input_cen)
    pub(crate) fn centred(mut self, u_min: &[f64]) -> Self {
        self.centre.copy_from_slice(u_min); // c ← c + R S x′_min (eq:b_update)
        self
    }

    /// The axes turned by the principal axes found in this frame: R ← R U_a. (eq:u_update)
    pub(crate) fn rotated(mut self, axes: &mut PrincipalAxes) -> Self {
        axes.turn(&mut self.rotation);
        linalg::orthonormalise(&mut self.rotation);
        self
    }

    /// The axes stretched by the most likely length-scales: S ← L S. (eq:s_update)
    pub(crate) fn rescaled(mut self, ell: &[f64]) -> Self {
        for (s, l) in self.scale.iter_mut().zip(ell) {
            *s = (*s * l).clamp(f64::MIN_POSITIVE, f64::MAX);
        }
        self
    }

    /// No axis longer than `most` times the half-width of the box along it: nothing could tell points apart along it, or shorten it again.
    pub(crate) fn within_box(mut self, most: f64) -> Self {
        for (i, s) in self.scale.iter_mut().enumerate() {
            let width = self.rotation.col(i).iter().map(|r| r.abs()).sum::<f64>().max(1.0);
            *s = s.min(most * width);
        }
        self
    }

    /// The same frame with the given lengths of the axes.
    pub(crate) fn with_scale(mut self, scale: impl IntoIterator<Item = f64>) -> Self {
        for (s, new) in self.scale.iter_mut().zip(scale) {
            *s = new;
        }
        self
    }

    /// Coordinates Rᵀ (u − c) of one point along the axes, in units of the box. Several axes at a time: each sum has to wait for itself.
    pub(crate) fn along_axes(&self, u: &[f64], out: &mut [f64]) {
        const AT_ONCE: usize = 8;
        let (blocks, rest) = out.as_chunks_mut::<AT_ONCE>();
        let done = AT_ONCE * blocks.len();
        for (b, out) in blocks.iter_mut().enumerate() {
            let axes: [&[f64]; AT_ONCE] = std::array::from_fn(|i| self.rotation.col(b * AT_ONCE + i));
            *out = [0.0; AT_ONCE];
            for (j, (u, c)) in u.iter().zip(&self.centre).enumerate() {
                for (out, axis) in out.iter_mut().zip(axes) {
                    *out += axis[j] * (u - c);
                }
            }
        }
        for (i, out) in rest.iter_mut().enumerate() {
            let axis = self.rotation.col(done + i);
            *out = axis.iter().zip(u).zip(&self.centre).map(|((r, u), c)| r * (u - c)).sum();
        }
    }

    /// x′ = S⁻¹ Rᵀ (u − c). (eq:input_transform)
    pub(crate) fn to_local(&self, u: &[f64], x: &mut [f64]) {
        self.along_axes(u, x);
        for (x, s) in x.iter_mut().zip(&self.scale) {
            *x /= s;
        }
    }

    /// The same of several places, one row each.
    pub(crate) fn to_local_rows<'a>(
        &self,
        places: impl Iterator<Item = &'a [f64]>,
        rows: &mut Matrix,
        scratch: &mut Vec<f64>,
    ) {
        scratch.resize(self.dim(), 0.0);
        for (row, u) in places.enumerate() {
            self.to_local(u, scratch);
            scratch.iter().enumerate().for_each(|(j, x)| rows[(row, j)] = *x);
        }
    }

    /// The same as a point of its own.
    pub(crate) fn local(&self, u: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.dim()];
        self.to_local(u, &mut x);
        x
    }

    /// The frame of some axes that the others are not turned with.
    pub(crate) fn block(&self, axes: &[usize]) -> Self {
        let mut rotation = Matrix::zeros(axes.len(), axes.len());
        for (b, &j) in axes.iter().enumerate() {
            for (a, &i) in axes.iter().enumerate() {
                rotation[(a, b)] = self.rotation[(i, j)];
            }
        }
        let pick = |v: &[f64]| axes.iter().map(|&i| v[i]).collect();
        Self { centre: pick(&self.centre), rotation, scale: pick(&self.scale) }
    }

    /// u = R S x′ + c. (eq:input_transform)
    pub(crate) fn to_box(&self, x: &[f64], u: &mut [f64]) {
        stretched(&self.rotation, &self.scale, x, u);
        for (u, c) in u.iter_mut().zip(&self.centre) {
            *u += c;
        }
    }

    /// The same as a point of its own.
    pub(crate) fn place(&self, x: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.dim()];
        self.to_box(x, &mut u);
        u
    }

    /// Takes the values of another frame, keeping the allocations.
    pub(crate) fn copy_from(&mut self, other: &Frame) {
        self.centre.clone_from(&other.centre);
        self.rotation.copy_from(&other.rotation);
        self.scale.clone_from(&other.scale);
    }

    /// Interval of local coordinate `i` that the box [−1, 1]^d covers.
    pub(crate) fn box_interval(&self, i: usize) -> (f64, f64) {
        let axis = self.rotation.col(i);
        let reach: f64 = axis.iter().map(|r| r.abs()).sum();
        let middle: f64 = axis.iter().zip(&self.centre).map(|(r, c)| r * c).sum();
        ((-reach - middle) / self.scale[i], (reach - middle) / self.scale[i])
    }

    /// Adds the bounds of a box as constraints on the local coordinates.
    pub(crate) fn push_box(&self, bounds: &[(f64, f64)], within: &mut Halfspaces) {
        for (j, (low, high)) in bounds.iter().enumerate() {
            let mut row: Vec<f64> = self.scale.iter().enumerate().map(|(i, s)| self.rotation[(j, i)] * s).collect();
            within.push(&row, high - self.centre[j]);
            row.iter_mut().for_each(|v| *v = -*v);
            within.push(&row, self.centre[j] - low);
        }
    }

    /// The part of a cube of this half-side that lies in the box.
    pub(crate) fn cube_in_box(&self, beta: f64) -> Halfspaces {
        let mut within = Halfspaces::cube(self.dim(), beta);
        self.push_box(&vec![(-1.0, 1.0); self.dim()], &mut within);
        within
    }

    /// Whether every number is usable (a deserialised frame may hold anything).
    #[cfg(any(feature = "serde", test))]
    pub(crate) fn is_valid(&self, d: usize) -> bool {
        let finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        self.centre.len() == d
            && self.scale.len() == d
            && self.rotation.is_consistent(d, d)
            && finite(&self.centre)
            && linalg::is_orthonormal(&self.rotation)
            && self.scale.iter().all(|s| s.is_finite() && *s > 0.0)
    }
}

wide! {
    /// u = R S x, axis after axis.
    fn stretched(rotation: &Matrix, scale: &[f64], x: &[f64], u: &mut [f64]) {
        u.fill(0.0);
        for (i, (x, s)) in x.iter().zip(scale).enumerate() {
            for (u, r) in u.iter_mut().zip(rotation.col(i)) {
                *u += r * s * x;
            }
        }
    }
}

#[cfg(test)]
mod tests;
