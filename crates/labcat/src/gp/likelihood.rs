//! Gradient and Hessian of the log marginal likelihood in ln ℓ, at the length-scales of the fit.

use super::Gp;
use crate::linalg::{self, Matrix};

/// Pairs gathered before they are summed.
const BLOCK: usize = 512;

/// Derivatives of log p(Y′ | X′, θ) in ln ℓ, and the buffers for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derivatives {
    /// J. (eq:log_lik_Jac)
    pub(crate) gradient: Vec<f64>,
    /// H, both triangles; only after a call that asked for it. (eq:log_lik_Hess)
    pub(crate) hessian: Matrix,
    inverse: Matrix,
    scratch: Matrix,
    /// −2 σ_f² k′(s_pq), upper triangle: what K_i = ∂K/∂ln ℓ_i has in common over i.
    slope: Matrix,
    /// D_i of the gathered pairs, one column per i; the pairs' weights in J and in H.
    squares: Matrix,
    weight: Vec<f64>,
    curvature: Vec<f64>,
    /// One K_i, both triangles.
    derivative: Matrix,
    /// −K⁻¹ K_i, one n × n block after another.
    products: Vec<f64>,
    transposed: Vec<f64>,
    /// L⁻¹ K_i α, one column per i.
    images: Matrix,
}

impl Derivatives {
    /// Makes room for `n` observations in `d` dimensions.
    pub(crate) fn reserve(&mut self, n: usize, d: usize, hessian: bool) {
        self.gradient.reserve(d);
        for m in [&mut self.inverse, &mut self.scratch, &mut self.slope] {
            m.reserve(n, n);
        }
        self.squares.reserve(BLOCK + n, d);
        self.weight.reserve(BLOCK + n);
        self.curvature.reserve(BLOCK + n);
        if hessian {
            self.hessian.reserve(d, d);
            self.derivative.reserve(n, n);
            self.products.reserve(d * n * n);
            self.transposed.reserve(n * n);
            self.images.reserve(n, d);
        }
    }

    /// J_i = ½ αᵀ K_i α − ½ tr(K⁻¹ K_i), and with `hessian` also
    ///
    /// H_ij = ½ tr(K⁻¹ K_i K⁻¹ K_j) − ½ tr(K⁻¹ K_ij) − αᵀ K_i K⁻¹ K_j α + ½ αᵀ K_ij α.
    ///
    /// The print of appendix D has the signs of −H.
    pub(crate) fn compute(&mut self, gp: &Gp, hessian: bool) {
        linalg::inverse_from_cholesky(&gp.b.factor, &mut self.scratch, &mut self.inverse);
        self.pairwise_terms(gp, hessian);
        if hessian {
            self.product_terms(gp);
        }
    }

    /// The terms that are sums over pairs of observations: J, and those of H that contain K_ij. The pairs are gathered in blocks,
    /// so that the sums run over long vectors.
    fn pairwise_terms(&mut self, gp: &Gp, hessian: bool) {
        let (n, d) = (gp.len(), gp.b.x.cols());
        let (x, alpha, prior) = (&gp.b.x, &gp.b.alpha, &gp.prior);
        self.gradient.clear();
        self.gradient.resize(d, 0.0);
        if hessian {
            self.hessian.reshape(d, d);
            self.hessian.fill(0.0);
        }
        self.slope.reshape(n, n);
        self.squares.reshape(BLOCK + n, d);
        self.weight.resize(BLOCK + n, 0.0);
        self.curvature.resize(BLOCK + n, 0.0);
        let mut filled = 0;
        for q in 0..n {
            let block = filled..filled + q;
            for i in 0..d {
                let (column, origin) = (x.col(i), x[(q, i)]);
                for (square, x) in self.squares.col_mut(i)[block.clone()].iter_mut().zip(column) {
                    *square = (x - origin) * (x - origin);
                }
            }
            let correlations = &gp.b.correlations.col(q)[..q];
            let slopes = &mut self.slope.col_mut(q)[..=q];
            slopes[q] = 0.0;
            let (weights, curvatures) = (&mut self.weight[block.clone()], &mut self.curvature[block.clone()]);
            prior.kernel.slopes(&self.squares, block.start, correlations, slopes, curvatures);
            let pairs = alpha.iter().zip(&self.inverse.col(q)[..q]).zip(slopes).zip(weights).zip(curvatures);
            for ((((a, inverse), slope), weight), curvature) in pairs {
                let both_halves = a * alpha[q] - inverse; // (p, q) and (q, p) of ½ (α αᵀ − K⁻¹)
                *slope *= -2.0 * prior.signal;
                *weight = both_halves * *slope;
                *curvature *= both_halves * (4.0 * prior.signal);
            }
            filled = block.end;
            if filled >= BLOCK || q + 1 == n {
                self.add_block(filled, hessian);
                filled = 0;
            }
        }
        if hessian {
            for (i, g) in self.gradient.iter().enumerate() {
                self.hessian[(i, i)] -= 2.0 * g; // the δ_ij part of K_ij is −2 K_i
            }
        }
    }

    /// Adds the first `pairs` gathered pairs to J and H.
    fn add_block(&mut self, pairs: usize, hessian: bool) {
        for (i, g) in self.gradient.iter_mut().enumerate() {
            *g += linalg::dot(&self.weight[..pairs], &self.squares.col(i)[..pairs]);
        }
        if hessian {
            for j in 0..self.gradient.len() {
                let weighted = self.weight[..pairs].iter_mut().zip(&self.curvature).zip(self.squares.col(j));
                for ((w, c), square) in weighted {
                    *w = c * square;
                }
                for i in 0..=j {
                    self.hessian[(i, j)] += linalg::dot(&self.weight[..pairs], &self.squares.col(i)[..pairs]);
                }
            }
        }
    }

    /// The terms of H that multiply two first derivatives: d products of n × n matrices.
    fn product_terms(&mut self, gp: &Gp) {
        let (n, d) = (gp.len(), gp.b.x.cols());
        self.images.reshape(n, d);
        self.products.resize(d * n * n, 0.0);
        self.transposed.resize(n * n, 0.0);
        self.derivative.reshape(n, n);
        for i in 0..d {
            let x = gp.b.x.col(i);
            for q in 0..n {
                let column = self.derivative.col_mut(q)[..=q].iter_mut();
                for ((k, slope), x_p) in column.zip(self.slope.col(q)).zip(x) {
                    *k = slope * ((x_p - x[q]) * (x_p - x[q]));
                }
            }
            self.derivative.mirror_upper();
            let image = self.images.col_mut(i);
            image.fill(0.0);
            for (q, a) in gp.b.alpha.iter().enumerate() {
                linalg::axpy(image, *a, self.derivative.col(q));
            }
            linalg::solve_lower(&gp.b.factor, image);
            linalg::neg_product(&self.inverse, &self.derivative, &mut self.products[i * n * n..(i + 1) * n * n]);
        }
        for j in 0..d {
            let block = &self.products[j * n * n..(j + 1) * n * n];
            for q in 0..n {
                for (p, v) in block[q * n..(q + 1) * n].iter().enumerate() {
                    self.transposed[p * n + q] = *v;
                }
            }
            for i in 0..=j {
                let trace = linalg::dot(&self.products[i * n * n..(i + 1) * n * n], &self.transposed);
                self.hessian[(i, j)] += 0.5 * trace - linalg::dot(self.images.col(i), self.images.col(j));
            }
        }
        self.hessian.mirror_upper();
    }
}
