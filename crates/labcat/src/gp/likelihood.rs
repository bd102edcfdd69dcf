//! Gradient and Hessian of the log marginal likelihood in ln ℓ, at the length-scales of the fit.

use super::Gp;
use crate::linalg::{self, Matrix};
use crate::names::{UnknownName, unknown};
use labcat_numerics::wide;
use std::ops::Range;

/// Pairs gathered before they are summed.
const PAIRS: usize = 512;

/// What stands for the second derivatives of the likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum Curvature {
    /// The Hessian itself: d products of n × n matrices.
    Exact,
    /// The average information of Gilmour, Thompson and Cullis (1995), ½ αᵀ K_i K⁻¹ K_j α: the mean of −H and its expectation, but for a
    /// term that is zero in expectation. d triangular solves, and never indefinite.
    AverageInformation,
}

/// Derivatives of log p(Y′ | X′, θ) in ln ℓ, and the buffers for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derivatives {
    /// J. (eq:log_lik_Jac)
    pub(crate) gradient: Vec<f64>,
    /// H or what stands for it, both triangles; only after a call that asked for it. (eq:log_lik_Hess)
    pub(crate) hessian: Matrix,
    inverse: Matrix,
    scratch: Matrix,
    /// −2 σ_f² k′(s_pq), upper triangle: what K_i = ∂K/∂ln ℓ_i has in common over i.
    slope: Matrix,
    /// D_i of the gathered pairs, one column per i if H is exact, else one for all; the pairs' weights in J and in H.
    squares: Matrix,
    weight: Vec<f64>,
    curvature: Vec<f64>,
    /// One K_i, both triangles; or −2 σ_f² k′(s_pq) α_q.
    derivative: Matrix,
    /// −K⁻¹ K_i, and the transpose of one.
    products: Vec<Matrix>,
    transposed: Matrix,
    /// L⁻¹ K_i α, one column per i, and one row per i.
    images: Matrix,
    image_rows: Matrix,
}

impl Derivatives {
    /// J_i = ½ αᵀ K_i α − ½ tr(K⁻¹ K_i), and if asked for also
    ///
    /// H_ij = ½ tr(K⁻¹ K_i K⁻¹ K_j) − ½ tr(K⁻¹ K_ij) − αᵀ K_i K⁻¹ K_j α + ½ αᵀ K_ij α, or −½ αᵀ K_i K⁻¹ K_j α in its place.
    ///
    /// The print of appendix D has the signs of −H.
    pub(crate) fn compute(&mut self, gp: &Gp, curvature: Option<Curvature>) {
        gp.invert(&mut self.scratch, &mut self.inverse);
        pairwise_terms(self, gp, curvature == Some(Curvature::Exact));
        match curvature {
            Some(Curvature::Exact) => product_terms(self, gp),
            Some(Curvature::AverageInformation) => self.average_information(gp),
            None => {}
        }
    }

    /// K⁻¹ of the newest call.
    pub(crate) fn inverse(&self) -> &Matrix {
        &self.inverse
    }

    /// L⁻¹ K_i α of the newest call that asked for the average information, one row per i.
    pub(crate) fn image_rows(&self) -> &Matrix {
        &self.image_rows
    }

    /// −½ (L⁻¹ K_i α)ᵀ (L⁻¹ K_j α).
    fn average_information(&mut self, gp: &Gp) {
        let n = gp.len();
        self.derivative.copy_from(&self.slope);
        self.derivative.mirror_upper();
        (0..n).for_each(|q| self.derivative.col_mut(q).iter_mut().for_each(|slope| *slope *= gp.b.alpha[q]));
        linalg::weighted_squares(&gp.b.x, &self.derivative, &mut self.images);
        self.image_rows.transpose_from(&self.images, 1);
        linalg::solve_rows(&gp.b.factor, &mut self.image_rows);
        linalg::neg_gram(&self.image_rows, &mut self.hessian);
        self.hessian.scale(0.5);
    }
}

wide! {
    /// The terms that are sums over pairs of observations: J, and those of H that contain K_ij. The pairs are gathered in blocks,
    /// so that the sums run over long vectors.
    fn pairwise_terms(to: &mut Derivatives, gp: &Gp, hessian: bool) {
        let (n, d) = (gp.len(), gp.b.x.cols());
        to.gradient.clear();
        to.gradient.resize(d, 0.0);
        if hessian {
            to.hessian.reset(d, d);
        }
        to.slope.reshape(n, n);
        to.squares.reshape(PAIRS + n, if hessian { d } else { 1 });
        to.weight.resize(PAIRS + n, 0.0);
        to.curvature.resize(PAIRS + n, 0.0);
        let (mut first, mut pairs) = (0, 0);
        for q in 0..n {
            weigh_pairs(to, gp, q, pairs);
            pairs += q;
            if pairs >= PAIRS || q + 1 == n {
                add_pairs(to, gp, first..q + 1, pairs, hessian);
                (first, pairs) = (q + 1, 0);
            }
        }
        if hessian {
            for (i, g) in to.gradient.iter().enumerate() {
                to.hessian[(i, i)] -= 2.0 * g; // the δ_ij part of K_ij is −2 K_i
            }
        }
    }
}

/// The slopes of the pairs (p, q), p < q, and their weights in J and H, these from place `at` on.
#[inline(always)]
fn weigh_pairs(to: &mut Derivatives, gp: &Gp, q: usize, at: usize) {
    let (x, alpha, prior) = (&gp.b.x, &gp.b.alpha, &gp.prior);
    let slopes = &mut to.slope.col_mut(q)[..=q];
    slopes[q] = 0.0;
    let (weights, curvatures) = (&mut to.weight[at..at + q], &mut to.curvature[at..at + q]);
    prior.kernel.slopes(x, q, &gp.b.correlations.col(q)[..q], slopes, curvatures);
    let pairs = alpha.iter().zip(&to.inverse.col(q)[..q]).zip(slopes).zip(weights).zip(curvatures);
    for ((((a, inverse), slope), weight), curvature) in pairs {
        let both_halves = a * alpha[q] - inverse; // (p, q) and (q, p) of ½ (α αᵀ − K⁻¹)
        *slope *= -2.0 * prior.signal;
        *weight = both_halves * *slope;
        *curvature *= both_halves * (4.0 * prior.signal);
    }
}

/// Adds the weighed pairs (p, q), p < q, of some q to J and H.
#[inline(always)]
fn add_pairs(to: &mut Derivatives, gp: &Gp, qs: Range<usize>, pairs: usize, hessian: bool) {
    for (i, g) in to.gradient.iter_mut().enumerate() {
        let squares = &mut to.squares.col_mut(if hessian { i } else { 0 })[..pairs];
        let x = gp.b.x.col(i);
        let mut rest = &mut *squares;
        for q in qs.clone() {
            let (these, others) = rest.split_at_mut(q);
            for (square, x_p) in these.iter_mut().zip(x) {
                *square = (x_p - x[q]) * (x_p - x[q]);
            }
            rest = others;
        }
        *g += linalg::dot(&to.weight[..pairs], squares);
    }
    if hessian {
        for j in 0..to.gradient.len() {
            let weighted = to.weight[..pairs].iter_mut().zip(&to.curvature).zip(to.squares.col(j));
            for ((w, c), square) in weighted {
                *w = c * square;
            }
            for i in 0..=j {
                to.hessian[(i, j)] += linalg::dot(&to.weight[..pairs], &to.squares.col(i)[..pairs]);
            }
        }
    }
}

wide! {
    /// The terms of H that multiply two first derivatives: d products of n × n matrices.
    fn product_terms(to: &mut Derivatives, gp: &Gp) {
        let (n, d) = (gp.len(), gp.b.x.cols());
        to.images.reshape(n, d);
        to.products.resize_with(d, Matrix::default);
        to.derivative.reshape(n, n);
        for i in 0..d {
            let x = gp.b.x.col(i);
            for q in 0..n {
                let column = to.derivative.col_mut(q)[..=q].iter_mut();
                for ((k, slope), x_p) in column.zip(to.slope.col(q)).zip(x) {
                    *k = slope * ((x_p - x[q]) * (x_p - x[q]));
                }
            }
            to.derivative.mirror_upper();
            let image = to.images.col_mut(i);
            image.fill(0.0);
            for (q, a) in gp.b.alpha.iter().enumerate() {
                linalg::axpy(image, *a, to.derivative.col(q));
            }
            linalg::solve_lower(&gp.b.factor, image);
            linalg::neg_product(&to.inverse, &to.derivative, &mut to.products[i]);
        }
        for j in 0..d {
            to.transposed.transpose_from(&to.products[j], 1);
            for i in 0..=j {
                let trace = linalg::dot(to.products[i].as_slice(), to.transposed.as_slice());
                to.hessian[(i, j)] += 0.5 * trace - linalg::dot(to.images.col(i), to.images.col(j));
            }
        }
        to.hessian.mirror_upper();
    }
}
