//! The local Gaussian process: fitted model, posterior, and the likelihood with its derivatives.

pub(crate) mod kernel;
pub(crate) mod likelihood;
pub(crate) mod residuals;
pub(crate) mod surrogate;

use crate::linalg::{self, Matrix, NonPositivePivot};
use crate::math;
use crate::rng::Rng;
use kernel::KernelKind;
use labcat_numerics::wide;

/// What is fixed about a model before it sees data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    pub(crate) kernel: KernelKind,
    /// m: the constant mean.
    pub(crate) mean: f64,
    /// σ_f².
    pub(crate) signal: f64,
    /// σ_n², the nugget on the diagonal.
    pub(crate) nugget: f64,
    /// Variance of the noise in the next observation, 0 for none.
    pub(crate) noise: f64,
}

impl Prior {
    /// m = mean(Y′), σ_f = `signal_factor` · std(Y′), σ_n = `nugget`. Equal outputs have no spread to take σ_f from:
    /// then σ_f = 1, the whole normalised range.
    pub(crate) fn of(y: &[f64], kernel: KernelKind, signal_factor: f64, nugget: f64) -> Self {
        let n = y.len().max(1) as f64;
        let mean = y.iter().sum::<f64>() / n;
        let variance = y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n;
        let signal = if variance > 0.0 { variance } else { 1.0 };
        Self { kernel, mean, signal: signal_factor * signal_factor * signal, nugget: nugget * nugget, noise: 0.0 }
    }
}

/// Coordinates that the gradient of a prediction takes together.
const TOGETHER: usize = 8;

/// Memory of a model, reused from fit to fit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    x: Matrix,
    /// Xᵀ: the coordinates of one input side by side, and zeros up to a multiple of [`TOGETHER`].
    x_transposed: Matrix,
    residual: Vec<f64>,
    /// Variance of the noise in each output; empty for none.
    noise: Vec<f64>,
    trend: Option<Trend>,
    correlations: Matrix,
    factor: Matrix,
    alpha: Vec<f64>,
    scratch: Vec<f64>,
}

/// A quadratic trend whose coefficients are unknown: v (1 + Σ w_j a_j b_j)² is added to the covariance of f(a) and f(b).
#[derive(Clone, Debug)]
pub(crate) struct Trend {
    pub(crate) variance: f64,
    pub(crate) weights: Vec<f64>,
}

impl Trend {
    /// 1 + Σ w_j a_j b_j.
    fn product(&self, a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) -> f64 {
        1.0 + self.weights.iter().enumerate().map(|(j, w)| w * a(j) * b(j)).sum::<f64>()
    }

    /// Adds the covariances of the rows of x.
    fn add_to(&self, x: &Matrix, k: &mut Matrix) {
        for q in 0..x.rows() {
            for p in 0..x.rows() {
                k[(p, q)] += self.variance * self.product(|j| x[(p, j)], |j| x[(q, j)]).powi(2);
            }
        }
    }
}

impl Buffers {
    /// The inputs to fit next, n × d: to be filled in local coordinates divided by their length-scales.
    pub(crate) fn inputs(&mut self, n: usize, d: usize) -> &mut Matrix {
        self.x.reshape(n, d);
        self.noise.clear();
        self.trend = None;
        &mut self.x
    }

    /// Gives the model to fit next a trend. It takes no slopes.
    pub(crate) fn set_trend(&mut self, trend: Trend) {
        self.trend = Some(trend);
    }

    /// Gives the outputs to fit next noise of these variances, one for each row of the inputs or none.
    pub(crate) fn set_noise(&mut self, noise: &[f64]) {
        self.noise.clear();
        self.noise.extend_from_slice(noise);
    }
}

/// A Gaussian process fitted at unit length-scales: a value of this type *is* fitted. (eq:gp_regression)
///
/// Its rows are the observed values and, appended below them, slopes and fantasies. A slope is a derivative v·∇f along a direction of length
/// one: the derivative of a Gaussian process is one too. For s = |a − b|², δ = a − b: cov(f(a), v·∇f(b)) = −2 k′ δ·v and
/// cov(u·∇f(a), v·∇f(b)) = −4 k″ (δ·u)(δ·v) − 2 k′ u·v, times σ_f².
#[derive(Clone, Debug)]
pub(crate) struct Gp {
    prior: Prior,
    b: Buffers,
    log_likelihood: f64,
    /// Rows appended since the fit.
    appended: usize,
    /// The directions of the slopes, which are rows from `first_slope` on.
    directions: Vec<Vec<f64>>,
    first_slope: usize,
}

/// A derivative of the output at a point, along `direction`, both in local coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Slope {
    pub(crate) x: Vec<f64>,
    pub(crate) direction: Vec<f64>,
    pub(crate) value: f64,
}

impl Gp {
    /// Fits to the inputs of [`Buffers::inputs`] and the outputs `y`. The buffers come back when K is not positive definite.
    #[allow(clippy::result_large_err)] // the buffers move back instead of being allocated again
    pub(crate) fn fit(prior: Prior, y: &[f64], mut b: Buffers) -> Result<Self, (NonPositivePivot, Buffers)> {
        let n = b.x.rows();
        b.residual.clear();
        b.residual.extend(y.iter().map(|y| y - prior.mean));
        b.x_transposed.transpose_from(&b.x, TOGETHER);
        kernel_matrix(&prior, &b.x, &mut b.correlations, &mut b.factor);
        for (i, noise) in b.noise.iter().enumerate() {
            b.factor[(i, i)] += noise;
        }
        if let Some(trend) = &b.trend {
            trend.add_to(&b.x, &mut b.factor);
        }
        if let Err(pivot) = linalg::cholesky(&mut b.factor) {
            return Err((pivot, b));
        }
        let log_det = linalg::ln_det(&b.factor);
        let mut gp = Self { prior, b, log_likelihood: 0.0, appended: 0, directions: Vec::new(), first_slope: 0 };
        gp.solve_alpha();
        let quadratic = linalg::dot(&gp.b.residual, &gp.b.alpha);
        // log p(Y′ | X′, θ), with y − m in the place of y. (eq:gp_log_lik)
        gp.log_likelihood = -0.5 * quadratic - 0.5 * log_det - 0.5 * n as f64 * math::ln(2.0 * math::PI);
        Ok(gp)
    }

    /// As [`Gp::fit`], with the nugget raised tenfold until K is positive definite, at most to a hundredth of σ_f².
    #[allow(clippy::result_large_err)]
    pub(crate) fn fit_with_jitter(
        mut prior: Prior,
        y: &[f64],
        mut b: Buffers,
    ) -> Result<Self, (NonPositivePivot, Buffers)> {
        let ceiling = 1e-2 * prior.signal;
        loop {
            match Self::fit(prior, y, b) {
                Ok(gp) => return Ok(gp),
                Err(failure) if prior.nugget >= ceiling => return Err(failure),
                Err((_, buffers)) => {
                    b = buffers;
                    prior.nugget = (10.0 * prior.nugget).max(1e-14 * prior.signal);
                }
            }
        }
    }

    /// The model of other outputs at the same inputs, without noise.
    pub(crate) fn refit(&self, prior: Prior, y: &[f64]) -> Option<Self> {
        let mut buffers = Buffers::default();
        buffers.inputs(self.b.x.rows(), self.b.x.cols()).copy_from(&self.b.x);
        Self::fit(prior, y, buffers).ok()
    }

    /// K⁻¹. Only before rows are appended.
    pub(crate) fn invert(&self, scratch: &mut Matrix, inverse: &mut Matrix) {
        linalg::inverse_from_cholesky(&self.b.factor, scratch, inverse);
    }

    pub(crate) fn into_buffers(self) -> Buffers {
        self.b
    }

    pub(crate) fn prior(&self) -> &Prior {
        &self.prior
    }

    pub(crate) fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Number of observed values.
    pub(crate) fn len(&self) -> usize {
        self.b.alpha.len() - self.appended
    }

    /// Number of rows appended to them.
    pub(crate) fn appended(&self) -> usize {
        self.appended
    }

    /// Whether some rows are slopes.
    pub(crate) fn has_slopes(&self) -> bool {
        !self.directions.is_empty()
    }

    /// Inputs of all rows, in local coordinates.
    pub(crate) fn inputs(&self) -> &Matrix {
        &self.b.x
    }

    /// Variances of the noise in the observations; empty for none.
    pub(crate) fn noise(&self) -> &[f64] {
        &self.b.noise
    }

    /// The posterior means at the observations: y_i − σ_i² α_i.
    pub(crate) fn smoothed(&self) -> impl Iterator<Item = f64> {
        let outputs = self.b.residual.iter().zip(&self.b.alpha).zip(self.b.noise.iter().chain(std::iter::repeat(&0.0)));
        outputs.map(|((residual, alpha), noise)| self.prior.mean + residual - noise * alpha)
    }

    /// First derivatives of log p(Y′ | X′, θ) in ln σ_f², in the logarithm of a factor on all noise variances and in that of the trend's variance,
    /// ½ αᵀ K_i α − ½ tr(K⁻¹ K_i) for K_i = K − N − T, N and T, and L⁻¹ K_i α, of which the average information is made. Takes K⁻¹, and a model
    /// without a nugget.
    pub(crate) fn variance_slopes(&self, inverse: &Matrix) -> [(f64, Vec<f64>); 3] {
        let (b, n) = (&self.b, self.b.alpha.len());
        let (noise, of_noise) = self.noise_image(inverse);
        let (mut trend, mut of_trend) = (vec![0.0; n], 0.0);
        if let Some(t) = &b.trend {
            let mut k = Matrix::zeros(n, n);
            t.add_to(&b.x, &mut k);
            for q in 0..n {
                linalg::axpy(&mut trend, b.alpha[q], k.col(q));
                of_trend += linalg::dot(k.col(q), inverse.col(q));
            }
        }
        let signal: Vec<f64> = b.residual.iter().zip(&noise).zip(&trend).map(|((r, n), t)| r - n - t).collect();
        let of_signal = n as f64 - of_noise - of_trend;
        [(signal, of_signal), (noise, of_noise), (trend, of_trend)].map(|image| self.slope_of(image))
    }

    /// Of these, the slope in the logarithm of a factor on all noise variances, and the average information ½ αᵀ N K⁻¹ N α.
    pub(crate) fn noise_slopes(&self, inverse: &Matrix) -> (f64, f64) {
        let (slope, image) = self.slope_of(self.noise_image(inverse));
        (slope, 0.5 * linalg::dot(&image, &image))
    }

    /// N α and tr(K⁻¹ N).
    fn noise_image(&self, inverse: &Matrix) -> (Vec<f64>, f64) {
        let Buffers { noise, alpha, .. } = &self.b;
        let trace = noise.iter().enumerate().map(|(i, n)| n * inverse[(i, i)]).sum::<f64>();
        (noise.iter().zip(alpha).map(|(n, a)| n * a).collect(), trace)
    }

    /// The slope and L⁻¹ K_i α of K_i α and tr(K⁻¹ K_i).
    fn slope_of(&self, (mut image, trace): (Vec<f64>, f64)) -> (f64, Vec<f64>) {
        let slope = 0.5 * (linalg::dot(&image, &self.b.alpha) - trace);
        linalg::solve_lower(&self.b.factor, &mut image);
        (slope, image)
    }

    /// What the mean at a point would gain from smoothing what it leaves of the outputs, r = N α: kᵀK⁻¹r. Zero without noise.
    pub(crate) fn smoothed_residual(&self, x: &[f64]) -> f64 {
        let (b, mut at) = (&self.b, PointPrediction::default());
        self.covariances(x, None, &mut at);
        linalg::solve(&b.factor, &mut at.v);
        at.v.iter_mut().zip(b.noise.iter().chain(std::iter::repeat(&0.0))).for_each(|(v, noise)| *v *= noise);
        linalg::dot(&at.v, &b.alpha)
    }

    /// Whether every row is a value and there is no trend.
    fn is_plain(&self) -> bool {
        self.directions.is_empty() && self.b.trend.is_none()
    }

    /// Variance of f(x) before anything was observed.
    fn variance(&self, x: impl Fn(usize) -> f64) -> f64 {
        let of_trend = |trend: &Trend| trend.variance * trend.product(&x, &x).powi(2);
        self.prior.signal + self.prior.nugget + self.b.trend.as_ref().map_or(0.0, of_trend)
    }

    /// Functions drawn from the posterior, at the rows of `points`; `None` if their covariance cannot be factored.
    pub(crate) fn draws(&self, points: &Matrix, count: usize, rng: &mut Rng) -> Option<Vec<Vec<f64>>> {
        /// Of the largest variance before: what is left of it is a difference, as precise as the model is well conditioned.
        const JITTERS: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-4];
        let (mut k_star, mut mean, mut std) = (Matrix::default(), Vec::new(), Vec::new());
        self.predict(points, &mut k_star, &mut mean, &mut std);
        let (mut correlations, mut covariance, mut known) = (Matrix::default(), Matrix::default(), Matrix::default());
        kernel_matrix(&Prior { nugget: 0.0, ..self.prior }, points, &mut correlations, &mut covariance);
        if let Some(trend) = &self.b.trend {
            trend.add_to(points, &mut covariance);
        }
        let largest = (0..points.rows()).map(|q| covariance[(q, q)]).fold(0.0, f64::max);
        linalg::neg_gram(&k_star, &mut known);
        for q in 0..points.rows() {
            linalg::axpy(covariance.col_mut(q), 1.0, known.col(q));
        }
        let factored = |jitter: f64| {
            let mut factor = covariance.clone();
            (0..points.rows()).for_each(|q| factor[(q, q)] += jitter * largest);
            linalg::cholesky(&mut factor).is_ok().then_some(factor)
        };
        let factor = JITTERS.into_iter().find_map(factored)?;
        let mut draw = || {
            let z: Vec<f64> = (0..mean.len()).map(|_| rng.normal()).collect();
            let mut draw = mean.clone();
            z.iter().enumerate().for_each(|(q, z)| linalg::axpy(&mut draw[q..], *z, &factor.col(q)[q..]));
            draw
        };
        Some((0..count).map(|_| draw()).collect())
    }

    /// α = K⁻¹ (y − m).
    fn solve_alpha(&mut self) {
        let b = &mut self.b;
        b.alpha.clear();
        b.alpha.extend_from_slice(&b.residual);
        linalg::solve(&b.factor, &mut b.alpha);
    }

    /// The newest output and how far it lies above what the others alone would have predicted: α_n L_nn². Only before rows are appended.
    pub(crate) fn surprise(&self) -> Option<(f64, f64)> {
        let last = self.len().checked_sub(1)?;
        let pivot = self.b.factor[(last, last)];
        Some((self.prior.mean + self.b.residual[last], self.b.alpha[last] * pivot * pivot))
    }

    /// Forgets the observations at these positions (ascending), each by an O(n²) update of the factor.
    pub(crate) fn remove(&mut self, positions: &[usize]) {
        if positions.is_empty() {
            return;
        }
        let b = &mut self.b;
        for &p in positions.iter().rev() {
            linalg::remove_from_cholesky(&mut b.factor, p, &mut b.scratch);
            b.residual.remove(p);
            if !b.noise.is_empty() {
                b.noise.remove(p);
            }
        }
        b.x.remove_rows(positions);
        b.x_transposed.transpose_from(&b.x, TOGETHER);
        self.solve_alpha();
    }

    /// Adds a value that was not observed: the posterior mean there, but no less than `floor`. The mean leaves the mean
    /// everywhere as it is and takes the variance around it away. Gives the output.
    pub(crate) fn append_fantasy(&mut self, x: &[f64], floor: f64) -> f64 {
        let Prior { mean, signal, noise, .. } = self.prior;
        self.append(x, None, (mean, signal, noise), |mean| mean.max(floor))
    }

    /// Adds an observed slope, below the values and any slopes before it. One without a direction or a finite value is left out.
    pub(crate) fn append_slope(&mut self, mut slope: Slope) {
        let length = linalg::dot(&slope.direction, &slope.direction).sqrt();
        if !(length > 0.0 && slope.value.is_finite()) {
            return;
        }
        slope.direction.iter_mut().for_each(|v| *v /= length);
        if self.directions.is_empty() {
            self.first_slope = self.b.x.rows();
        }
        // Of the noise in slopes nothing is known: over a length-scale it is taken as that of a value.
        let variance = -2.0 * self.prior.signal * self.prior.kernel.slopes_at(0.0, 1.0).0;
        let prior = (0.0, variance, self.prior.noise);
        let direction = slope.direction.clone();
        self.append(&slope.x, Some(&slope.direction), prior, |_| slope.value / length);
        self.directions.push(direction);
    }

    /// Adds a row whose output, made from its posterior mean, has this prior mean, variance and noise. Gives the output.
    fn append(
        &mut self,
        x: &[f64],
        direction: Option<&[f64]>,
        (prior_mean, variance, noise): (f64, f64, f64),
        output: impl FnOnce(f64) -> f64,
    ) -> f64 {
        let mut at = PointPrediction::default();
        self.covariances(x, direction, &mut at);
        let mut k = at.v;
        let mean = prior_mean + linalg::dot(&k, &self.b.alpha);
        let b = &mut self.b;
        linalg::solve_lower(&b.factor, &mut k);
        let rest = variance + self.prior.nugget + noise - linalg::dot(&k, &k);
        let pivot = rest.max(self.prior.nugget.max(1e-14 * self.prior.signal)).sqrt();
        let n = b.x.rows();
        b.factor.append_row(&k);
        b.factor.append_column(&[]);
        b.factor[(n, n)] = pivot;
        b.x.append_row(x);
        b.x_transposed.append_column(x);
        self.appended += 1;
        // α of the grown system: α ← α − w δ/s and δ/s below it, for w = K⁻¹ k, the surprise δ and its variance s.
        let output = output(mean);
        let gain = (output - mean) / (pivot * pivot);
        if gain != 0.0 {
            linalg::solve_lower_transposed(&b.factor, &mut k);
            linalg::axpy(&mut b.alpha, -gain, &k);
        }
        b.alpha.push(gain);
        output
    }

    /// The covariances of f(x), or of its slope along a direction, with every row: k_*, in `at.v`.
    fn covariances(&self, x: &[f64], along: Option<&[f64]>, at: &mut PointPrediction) {
        let (b, prior) = (&self.b, &self.prior);
        correlate(self, x, at);
        at.v.clear();
        at.v.extend(at.k.iter().map(|k| prior.signal * k));
        if let Some(trend) = &b.trend {
            let add =
                |(i, k): (usize, &mut f64)| *k += trend.variance * trend.product(|j| x[j], |j| b.x[(i, j)]).powi(2);
            return at.v.iter_mut().enumerate().for_each(add);
        }
        if along.is_none() && self.directions.is_empty() {
            return;
        }
        for (i, out) in at.v.iter_mut().enumerate() {
            let (own, x_i) = (self.direction(i), b.x_transposed.col(i));
            let delta = |v: &[f64]| x.iter().zip(x_i).zip(v).map(|((a, b), v)| (a - b) * v).sum::<f64>();
            let (first, second) = prior.kernel.slopes_at(at.s[i], at.k[i]);
            match (along, own) {
                (None, None) => {}
                (None, Some(v)) => *out = -2.0 * prior.signal * first * delta(v),
                (Some(u), None) => *out = 2.0 * prior.signal * first * delta(u),
                (Some(u), Some(v)) => {
                    *out = -prior.signal * (4.0 * second * delta(u) * delta(v) + 2.0 * first * linalg::dot(u, v));
                }
            }
        }
    }

    /// The direction of row `i` if it is a slope.
    fn direction(&self, i: usize) -> Option<&[f64]> {
        self.directions.get(i.wrapping_sub(self.first_slope)).map(Vec::as_slice)
    }

    /// The outputs of the observations.
    pub(crate) fn outputs(&self) -> Vec<f64> {
        self.b.residual.iter().map(|r| self.prior.mean + r).collect()
    }

    /// α of the outputs themselves.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.b.alpha
    }

    /// The same model of other outputs: with these α, and a variance of `factor` times its own.
    fn with_weights(&self, alpha: Vec<f64>, factor: f64) -> Self {
        let mut gp = self.clone();
        let Prior { signal, nugget, noise, .. } = self.prior;
        gp.prior =
            Prior { mean: 0.0, signal: factor * signal, nugget: factor * nugget, noise: factor * noise, ..self.prior };
        gp.b.factor.scale(factor.sqrt());
        gp.b.alpha = alpha.into_iter().map(|a| a / factor).collect();
        gp
    }

    /// Σ αᵢ k(x, xᵢ) over values, and its gradient if those of the objective there are known; α may be shorter than the inputs.
    fn sum_at(&self, x: &[f64], at: &PointPrediction, alpha: &[f64]) -> (f64, Vec<f64>) {
        let value = self.prior.signal * alpha.iter().zip(&at.k).map(|(a, k)| a * k).sum::<f64>();
        let mut gradient = vec![0.0; x.len()];
        for (i, (alpha, slope)) in alpha.iter().zip(&at.slopes).enumerate() {
            for ((g, x), x_i) in gradient.iter_mut().zip(x).zip(self.b.x_transposed.col(i)) {
                *g += alpha * slope * (x - x_i);
            }
        }
        (value, gradient)
    }

    /// A point as far as [`Gp::sum_at`] needs it, and where the standard deviation is known.
    fn correlated(&self, x: &[f64], std: f64) -> PointPrediction {
        let mut at = PointPrediction { std, ..PointPrediction::default() };
        correlate(self, x, &mut at);
        at
    }

    /// Adds the second derivatives of the mean.
    fn add_hessian(&self, x: &[f64], out: &mut Matrix) {
        if self.is_plain() {
            return add_hessian_of(self, x, &self.b.alpha, 1.0, out);
        }
        // Slopes have third derivatives of the kernel, which need not exist: differences of the mean's gradient.
        const DIFFERENCE: f64 = 1e-4;
        let (d, mut at) = (x.len(), PointPrediction::default());
        for j in 0..d {
            for sign in [1.0, -1.0] {
                let mut moved = x.to_vec();
                moved[j] += sign * DIFFERENCE;
                self.predict_with_gradient(&moved, &mut at);
                for (i, slope) in at.mean_gradient.iter().enumerate() {
                    let half = 0.25 * sign * slope / DIFFERENCE;
                    out[(i, j)] += half;
                    out[(j, i)] += half;
                }
            }
        }
    }

    /// μ and σ of each row of `points` (m × d). `k_star` receives L⁻¹ k_* in its rows. (eq:gp_mean_pred, eq:gp_var_pred)
    pub(crate) fn predict(&self, points: &Matrix, k_star: &mut Matrix, mean: &mut Vec<f64>, std: &mut Vec<f64>) {
        mean.clear();
        mean.resize(points.rows(), self.prior.mean);
        if self.is_plain() {
            linalg::squared_distances(points, &self.b.x, k_star);
            add_weighted_kernels(&self.prior, &self.b.alpha, k_star, mean);
        } else {
            let (mut x, mut at) = (vec![0.0; points.cols()], PointPrediction::default());
            k_star.reshape(points.rows(), self.b.x.rows());
            for (row, mean) in mean.iter_mut().enumerate() {
                x.iter_mut().enumerate().for_each(|(j, x)| *x = points[(row, j)]);
                self.covariances(&x, None, &mut at);
                *mean += linalg::dot(&at.v, &self.b.alpha);
                at.v.iter().enumerate().for_each(|(i, k)| k_star[(row, i)] = *k);
            }
        }
        linalg::solve_rows(&self.b.factor, k_star);
        std.clear();
        std.extend((0..points.rows()).map(|row| self.variance(|j| points[(row, j)])));
        deviations(self.prior.nugget, k_star, std);
    }

    /// μ, σ and their gradients at one point.
    pub(crate) fn predict_with_gradient(&self, x: &[f64], at: &mut PointPrediction) {
        self.look(x, at);
        self.add_gradient(x, at);
    }

    /// μ and σ at one point, for the local refinement of the acquisition.
    pub(crate) fn look(&self, x: &[f64], at: &mut PointPrediction) {
        self.covariances(x, None, at);
        at.mean = self.prior.mean + linalg::dot(&at.v, &self.b.alpha);
        linalg::solve_lower(&self.b.factor, &mut at.v);
        let variance = self.variance(|j| x[j]) - linalg::dot(&at.v, &at.v);
        at.std = variance.max(self.prior.nugget).sqrt();
    }

    /// The gradients at a point that was looked at.
    pub(crate) fn add_gradient(&self, x: &[f64], at: &mut PointPrediction) {
        let (b, prior) = (&self.b, &self.prior);
        linalg::solve_lower_transposed(&b.factor, &mut at.v);
        if self.is_plain() {
            return add_gradient(self, x, at);
        }
        for gradient in [&mut at.mean_gradient, &mut at.std_gradient] {
            gradient.clear();
            gradient.resize(x.len(), 0.0);
        }
        for (i, (alpha, v)) in b.alpha.iter().zip(&at.v).enumerate() {
            let (own, x_i) = (self.direction(i), b.x_transposed.col(i));
            let (first, second) = prior.kernel.slopes_at(at.s[i], at.k[i]);
            // ∂/∂x of the covariance, as multiples of x − x_i and of the row's direction.
            let delta = own.map(|v| x.iter().zip(x_i).zip(v).map(|((a, b), v)| (a - b) * v).sum::<f64>());
            let apart = prior.signal * delta.map_or(2.0 * first, |along| -4.0 * second * along);
            let product = b.trend.as_ref().map(|trend| 2.0 * trend.variance * trend.product(|j| x[j], |j| x_i[j]));
            for j in 0..x.len() {
                let turned = own.map_or(0.0, |v| -2.0 * prior.signal * first * v[j]);
                let bent = b.trend.as_ref().zip(product).map_or(0.0, |(trend, p)| p * trend.weights[j] * x_i[j]);
                let dk = apart * (x[j] - x_i[j]) + turned + bent;
                at.mean_gradient[j] += alpha * dk;
                at.std_gradient[j] -= v * dk / at.std;
            }
        }
        if let Some(trend) = &b.trend {
            let factor = 2.0 * trend.variance * trend.product(|j| x[j], |j| x[j]) / at.std;
            at.std_gradient.iter_mut().enumerate().for_each(|(j, s)| *s += factor * trend.weights[j] * x[j]);
        }
    }
}

wide! {
    /// Turns each column of squared distances into kernels and adds α_i times the column to the mean.
    fn add_weighted_kernels(prior: &Prior, alpha: &[f64], k_star: &mut Matrix, mean: &mut [f64]) {
        for (i, alpha) in alpha.iter().enumerate() {
            let column = k_star.col_mut(i);
            prior.kernel.apply(column);
            for k in &mut *column {
                *k *= prior.signal;
            }
            linalg::axpy(mean, *alpha, column);
        }
    }
}

wide! {
    /// Takes the squares of each row of L⁻¹ k_* from its variance and leaves the standard deviation.
    fn deviations(nugget: f64, rows: &Matrix, std: &mut [f64]) {
        for i in 0..rows.cols() {
            for (s, v) in std.iter_mut().zip(rows.col(i)) {
                *s -= v * v;
            }
        }
        for s in std {
            *s = s.max(nugget).sqrt(); // a noisy observation never has less variance than the nugget
        }
    }
}

wide! {
    /// The squared distance of a point to every row, and the correlation with it.
    fn correlate(gp: &Gp, x: &[f64], at: &mut PointPrediction) {
        let n = gp.b.x.rows();
        at.s.resize(n.next_multiple_of(8), 0.0); // a multiple of a register is no more work than the rest of one
        gp.b.x.squared_distances_to(|j| x[j], &mut at.s);
        at.k.clone_from(&at.s);
        gp.prior.kernel.apply(&mut at.k);
        at.s.truncate(n);
        at.k.truncate(n);
    }
}

wide! {
    /// The gradients there: ∂k_i/∂x_j = 2 σ_f² k′(s_i) (x_j − x_ij).
    fn add_gradient(gp: &Gp, x: &[f64], at: &mut PointPrediction) {
        let (b, prior, d) = (&gp.b, &gp.prior, x.len());
        at.slopes.clear();
        at.slopes.extend(at.k.iter().zip(&at.s).map(|(k, s)| 2.0 * prior.signal * prior.kernel.slopes_at(*s, *k).0));
        // Some coordinates j at a time; each sum takes its terms in the order of i.
        at.mean_gradient.clear();
        at.std_gradient.clear();
        for first in (0..d).step_by(TOGETHER) {
            let width = TOGETHER.min(d - first);
            let (mut place, mut dm, mut dv) = ([0.0; TOGETHER], [0.0; TOGETHER], [0.0; TOGETHER]);
            place[..width].copy_from_slice(&x[first..first + width]);
            for (i, ((k, alpha), v)) in at.slopes.iter().zip(&b.alpha).zip(&at.v).enumerate() {
                let x_i = &b.x_transposed.col(i)[first..][..TOGETHER];
                for l in 0..TOGETHER {
                    let dk = k * (place[l] - x_i[l]);
                    dm[l] += alpha * dk;
                    dv[l] += v * dk;
                }
            }
            at.mean_gradient.extend_from_slice(&dm[..width]);
            at.std_gradient.extend_from_slice(&dv[..width]);
        }
        for dv in &mut at.std_gradient {
            *dv = -*dv / at.std;
        }
    }
}

wide! {
    /// Adds the second derivatives of Σ αᵢ k(x, xᵢ) over values: Σ αᵢ σ_f² (4 k″ δδᵀ + 2 k′ I), δ = x − xᵢ. Some rows of a column at a time; each
    /// entry takes its terms in the order of i.
    fn add_hessian_of(gp: &Gp, x: &[f64], alpha: &[f64], weight: f64, out: &mut Matrix) {
        let (b, prior, at) = (&gp.b, &gp.prior, gp.correlated(x, 0.0));
        let terms = at.s.iter().zip(&at.k).zip(alpha).map(|((s, k), alpha)| {
            let ((slope, bend), scaled) = (prior.kernel.slopes_at(*s, *k), weight * alpha * prior.signal);
            (4.0 * scaled * bend, 2.0 * scaled * slope)
        });
        let terms: Vec<(f64, f64)> = terms.collect();
        for j in 0..x.len() {
            for first in (0..x.len()).step_by(TOGETHER) {
                let column = &mut out.col_mut(j)[first..];
                let width = TOGETHER.min(column.len());
                let (mut place, mut sums, mut own) = ([0.0; TOGETHER], [0.0; TOGETHER], [0.0; TOGETHER]);
                place[..width].copy_from_slice(&x[first..first + width]);
                sums[..width].copy_from_slice(&column[..width]);
                if let Some(own) = j.checked_sub(first).and_then(|l| own.get_mut(l)) {
                    *own = 1.0;
                }
                for (i, (bend, slope)) in terms.iter().enumerate() {
                    let x_i = b.x_transposed.col(i);
                    let (along, x_i) = (bend * (x[j] - x_i[j]), &x_i[first..][..TOGETHER]);
                    for l in 0..TOGETHER {
                        sums[l] = sums[l] + along * (place[l] - x_i[l]) + slope * own[l];
                    }
                }
                column[..width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

/// Posterior at one point with its gradient, and the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointPrediction {
    pub(crate) mean: f64,
    pub(crate) std: f64,
    pub(crate) mean_gradient: Vec<f64>,
    pub(crate) std_gradient: Vec<f64>,
    /// Squared distances of the rows, correlations, and 2 σ_f² k′.
    s: Vec<f64>,
    k: Vec<f64>,
    slopes: Vec<f64>,
    /// k_*, then L⁻¹ k_*, then K⁻¹ k_*.
    v: Vec<f64>,
}

wide! {
    /// Correlations k(s_pq) above the diagonal of `correlations`, and K = σ_f² k(s_pq) + σ_n² δ_pq. (eq:K)
    fn kernel_matrix(prior: &Prior, x: &Matrix, correlations: &mut Matrix, k: &mut Matrix) {
        let n = x.rows();
        linalg::squared_distances_above(x, correlations);
        k.reshape(n, n);
        for q in 0..n {
            // A multiple of a register is no more work than the rest of one.
            let above = &mut correlations.col_mut(q)[..n.min(q.next_multiple_of(8))];
            prior.kernel.apply(above);
            for (k, correlation) in k.col_mut(q)[..q].iter_mut().zip(above) {
                *k = prior.signal * *correlation;
            }
            k[(q, q)] = prior.signal + prior.nugget;
        }
        k.mirror_upper();
    }
}

#[cfg(test)]
mod tests;
