//! The model of a step: the objective and the measured constraints as Gaussian processes of the same inputs and kernel. An output shares the
//! objective's factor if it has the same rows and no noise of its own.

use super::{Buffers, Gp, PointPrediction, Prior, add_hessian_of};
use crate::frame::Tail;
use crate::linalg::{self, Matrix};
use crate::math;
use crate::polynomial::{Polynomial, Terms};

/// The least prior standard deviation of a constraint around its trend, in the objective's: what rounding leaves of a linear one.
const LEAST_DEVIATION: f64 = 1e-9;

/// A constraint is bent where a linear trend leaves more than this part of its square, and where that makes its values so many times e likelier. Bends
/// that are tried: by these powers, beyond so many quantiles of its size (the half, a quarter, …) and beyond this part of the least one.
const LINEAR: f64 = 0.01;
const FAR_LIKELIER: f64 = 10.0;
const POWERS: [f64; 2] = [0.0, 1.0 / 3.0];
const QUANTILES: usize = 6;
const BELOW_LEAST: f64 = 0.01;

/// The objective and the constraints of a step.
#[derive(Clone, Debug)]
pub(crate) struct Surrogate {
    pub(crate) gp: Gp,
    pub(crate) constraints: Vec<Constraint>,
}

/// A measured constraint: a linear trend and a Gaussian process around it, in units of its own. Zero stays where it is.
#[derive(Clone, Debug)]
pub(crate) struct Constraint {
    constant: f64,
    slope: Vec<f64>,
    /// g in these units, per g.
    pub(crate) unit: f64,
    process: Process,
    /// Under noise, the fit of the trend along some axes, and the standard deviation of what it leaves over: the trend is uncertain, too.
    uncertain: Option<(Polynomial, Vec<usize>, f64)>,
}

#[derive(Clone, Debug)]
enum Process {
    /// α with the objective's factor, and the standard deviation in units of the objective's.
    Shared { alpha: Vec<f64>, deviation: f64 },
    /// Other rows, or noise of its own; and what the coordinates are multiplied by for it, empty for nothing.
    Own(Box<Gp>, Vec<f64>),
}

/// The rows that constraints are fitted to.
pub(crate) struct Rows<'a> {
    /// [`Surrogate::trend`], and the axes that have a part in it.
    pub(crate) trend: &'a [Vec<f64>],
    pub(crate) axes: &'a [usize],
    /// How much worse than the best each row is, and the rank that halves a row's weight in the trend.
    pub(crate) rank: &'a [f64],
    pub(crate) typical: f64,
    /// The violations of the constraint nearest to the centre: places and values.
    pub(crate) violated: &'a [(Vec<f64>, f64)],
}

impl Surrogate {
    pub(crate) fn new(gp: Gp) -> Self {
        Self { gp, constraints: Vec::new() }
    }

    /// The bend under which a linear trend and the process are likeliest to have made the values of a constraint, if far likelier than without.
    fn likeliest_tail(&self, g: &[f64], trend: &[Vec<f64>]) -> Tail {
        // How large the bent values are, and in such units the square of what does not lie along a basis.
        let left = |basis: &[Vec<f64>], tail: Tail| {
            let bent: Vec<f64> = g.iter().map(|g| tail.bend(*g)).collect();
            let largest = bent.iter().fold(f64::MIN_POSITIVE, |a, g| a.max(g.abs()));
            (largest, self.besides(basis, bent.into_iter().map(|g| g / largest).collect()).1)
        };
        if left(trend, Tail::default()).1 <= LINEAR * left(&trend[..trend.len().min(1)], Tail::default()).1 {
            return Tail::default();
        }
        let mut sizes: Vec<f64> = g.iter().map(|g| g.abs()).filter(|g| *g > 0.0).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        let likelihood = |tail: Tail| {
            let (largest, square) = left(trend, tail);
            // In units in which the bend changes no volume, with the likeliest signal.
            let unit = g.iter().map(|g| tail.ln_slope(*g)).sum::<f64>() / g.len() as f64;
            (g.len() - trend.len()) as f64 * (unit - math::ln(largest) - 0.5 * math::ln(square.max(f64::MIN_POSITIVE)))
        };
        let quantiles = (1..=QUANTILES).map(|k| sizes.len() >> k).filter_map(|at| sizes.get(at).copied());
        let beyond = quantiles.chain(sizes.first().map(|least| BELOW_LEAST * least));
        let bends = beyond.flat_map(|size| POWERS.map(|power| Tail::beyond(size, power)));
        let best = bends.map(|tail| (likelihood(tail), tail)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|best| best.0 > likelihood(Tail::default()) + FAR_LIKELIER)
            .map_or_else(Tail::default, |best| best.1)
    }

    /// An orthonormal basis of the linear functions of inputs, of the constants alone where there are too few, as the rows are correlated.
    pub(crate) fn trend(&self) -> Vec<Vec<f64>> {
        let x = self.gp.inputs();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let columns = if x.rows() > x.cols() + 1 { x.cols() } else { 0 };
        for t in std::iter::once(vec![1.0; x.rows()]).chain((0..columns).map(|j| x.col(j).to_vec())) {
            let (mut t, square) = self.besides(&basis, t);
            if square > 0.0 {
                t.iter_mut().for_each(|t| *t /= square.sqrt());
                basis.push(t);
            }
        }
        basis
    }

    /// What does not lie along a basis, as the rows are correlated, and its square.
    fn besides(&self, basis: &[Vec<f64>], mut v: Vec<f64>) -> (Vec<f64>, f64) {
        linalg::solve_lower(&self.gp.b.factor, &mut v);
        for b in basis {
            let along = linalg::dot(&v, b);
            linalg::axpy(&mut v, -along, b);
        }
        let square = linalg::dot(&v, &v);
        (v, square)
    }

    /// Adds a constraint measured at the rows of the objective's model (none of them a slope), with these variances of its noise, empty for none;
    /// and gives how it is bent.
    pub(crate) fn add_constraint(
        &mut self,
        mut g: Vec<f64>,
        mut noise: Vec<f64>,
        rows: &Rows<'_>,
        fit: &mut Polynomial,
    ) -> Tail {
        let (x, spread) = (self.gp.inputs(), self.gp.prior().signal.sqrt());
        // In a small region a constraint is nearly linear; the process has only to tell what it is besides.
        let mut moving = Matrix::zeros(x.rows(), rows.axes.len());
        for (k, &i) in rows.axes.iter().enumerate() {
            moving.col_mut(k).copy_from_slice(x.col(i));
        }
        uncensor(&mut g, &moving, rows, fit);
        let tail = self.likeliest_tail(&g, rows.trend);
        noise.iter_mut().zip(&g).for_each(|(v, g)| *v *= math::exp(2.0 * tail.ln_slope(*g)));
        g.iter_mut().for_each(|g| *g = tail.bend(*g));
        let n = g.len() as f64;
        let mean = g.iter().sum::<f64>() / n;
        let deviation = (g.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n).sqrt();
        // In units in which the kernel of the objective fits.
        let unit = if deviation > 0.0 { spread / deviation } else { spread / mean.abs().max(f64::MIN_POSITIVE) };
        let (mut constant, mut slope, mut freedom) = (mean, vec![0.0; x.cols()], n);
        if g.len() > rows.axes.len() + 1 && fit.fit(Terms::Linear, &moving, &g, rows.rank, g.len(), rows.typical) {
            let (at_centre, slopes) = fit.at_centre();
            (constant, freedom) = (at_centre, n - 1.0 - rows.axes.len() as f64);
            rows.axes.iter().zip(slopes).for_each(|(&i, s)| slope[i] = *s);
        }
        let has_trend = freedom < n;
        let around = |(row, g): (usize, f64)| {
            let along: f64 = slope.iter().enumerate().map(|(j, s)| s * x[(row, j)]).sum();
            unit * (g - constant - along)
        };
        let residual: Vec<f64> = g.into_iter().enumerate().map(around).collect();
        let variance = linalg::dot(&residual, &residual) / freedom;
        let process = self.process(residual, variance, &noise, unit);
        let slope = slope.into_iter().map(|s| unit * s).collect();
        let uncertain = (has_trend && !noise.is_empty()).then(|| (fit.clone(), rows.axes.to_vec(), variance.sqrt()));
        self.constraints.push(Constraint { constant: unit * constant, slope, unit, process, uncertain });
        tail
    }

    /// Adds a constraint with a model of its own: what the objective's coordinates are multiplied by for it, and its output where g = 0.
    pub(crate) fn add_model(&mut self, gp: Gp, stretch: Vec<f64>, zero: f64) {
        let (slope, process) = (vec![0.0; stretch.len()], Process::Own(Box::new(gp), stretch));
        self.constraints.push(Constraint { constant: -zero, slope, unit: 1.0, process, uncertain: None });
    }

    /// The process of what a trend leaves over, of this mean square.
    fn process(&self, mut residual: Vec<f64>, variance: f64, noise: &[f64], unit: f64) -> Process {
        let prior = *self.gp.prior();
        if noise.is_empty() && self.gp.noise().is_empty() {
            let deviation = (variance / prior.signal).sqrt().clamp(LEAST_DEVIATION, 1.0);
            linalg::solve(&self.gp.b.factor, &mut residual);
            return Process::Shared { alpha: residual, deviation };
        }
        let noise: Vec<f64> = noise.iter().map(|v| v * unit * unit).collect();
        let mean_noise = noise.iter().sum::<f64>() / noise.len().max(1) as f64;
        let signal =
            (variance - mean_noise).max(0.25 * mean_noise).clamp(LEAST_DEVIATION.powi(2) * prior.signal, prior.signal);
        let own = Prior { mean: 0.0, signal, nugget: prior.nugget / prior.signal * signal, noise: mean_noise, ..prior };
        let x = self.gp.inputs();
        let mut buffers = Buffers::default();
        buffers.inputs(x.rows(), x.cols()).copy_from(x);
        buffers.set_noise(&noise);
        match Gp::fit_with_jitter(own, &residual, buffers) {
            Ok(gp) => Process::Own(Box::new(gp), Vec::new()),
            Err(_) => Process::Shared { alpha: vec![0.0; residual.len()], deviation: 1.0 },
        }
    }

    /// Whether the models have more to tell than values of the objective: constraints, or slopes.
    pub(crate) fn has_more(&self) -> bool {
        !self.constraints.is_empty() || self.gp.has_slopes()
    }

    /// Whether an output has noise.
    pub(crate) fn has_noise(&self) -> bool {
        let own =
            |constraint: &Constraint| matches!(&constraint.process, Process::Own(gp, _) if gp.prior().noise > 0.0);
        self.gp.prior().noise > 0.0 || self.constraints.iter().any(own)
    }

    /// Adds an observed slope of the objective. Constraints that shared its rows have their own from then on.
    pub(crate) fn append_slope(&mut self, slope: super::Slope) {
        for constraint in &mut self.constraints {
            constraint.separate(&self.gp);
        }
        self.gp.append_slope(slope);
    }

    /// Adds a value that was not observed, the posterior mean but no less than `floor`, and gives it.
    pub(crate) fn append_fantasy(&mut self, x: &[f64], floor: f64) -> f64 {
        for constraint in &mut self.constraints {
            if let Process::Own(gp, _) = &mut constraint.process {
                gp.append_fantasy(x, f64::NEG_INFINITY);
            }
        }
        self.gp.append_fantasy(x, floor)
    }

    /// The objective at a point, in `at`, and every constraint.
    pub(crate) fn at(&self, x: &[f64], at: &mut PointPrediction) -> Vec<PointPrediction> {
        self.gp.predict_with_gradient(x, at);
        self.constraints.iter().map(|constraint| constraint.at(&self.gp, x, at)).collect()
    }

    /// Σ ln P(g ≤ 0), at a point where the objective has this standard deviation, with so many times the constraints' own.
    pub(crate) fn log_feasible(&self, x: &[f64], std: f64, optimism: f64) -> f64 {
        let at = self.gp.correlated(x, std);
        let log_probability = |constraint: &Constraint| {
            let around = constraint.around_trend(&self.gp, x, &at);
            let std = optimism * around.std.hypot(constraint.trend_std(x));
            math::ln_normal_cdf(-(around.mean + constraint.constant + linalg::dot(&constraint.slope, x)) / std)
        };
        self.constraints.iter().map(log_probability).sum()
    }

    /// Adds the second derivatives of the objective's mean plus `multipliers` times the constraints'.
    pub(crate) fn add_hessian(&self, x: &[f64], multipliers: &[f64], out: &mut Matrix) {
        self.gp.add_hessian(x, out);
        for (constraint, m) in self.constraints.iter().zip(multipliers).filter(|(_, m)| **m > 0.0) {
            match &constraint.process {
                Process::Shared { alpha, .. } => add_hessian_of(&self.gp, x, alpha, *m, out),
                Process::Own(gp, stretch) if stretch.is_empty() => add_hessian_of(gp, x, gp.weights(), *m, out),
                Process::Own(gp, stretch) => {
                    let mut own = Matrix::zeros(x.len(), x.len());
                    let x: Vec<f64> = x.iter().zip(stretch).map(|(x, s)| x * s).collect();
                    add_hessian_of(gp, &x, gp.weights(), *m, &mut own);
                    for (j, s) in stretch.iter().enumerate() {
                        stretch.iter().enumerate().for_each(|(i, r)| out[(i, j)] += r * s * own[(i, j)]);
                    }
                }
            }
        }
    }
}

impl Constraint {
    /// Gives it a model of its own, the same as the shared one.
    fn separate(&mut self, gp: &Gp) {
        if let Process::Shared { alpha, deviation } = &self.process {
            self.process = Process::Own(Box::new(gp.with_weights(alpha.clone(), deviation * deviation)), Vec::new());
        }
    }

    /// Standard deviation of the trend at a point, where it counts.
    fn trend_std(&self, x: &[f64]) -> f64 {
        self.uncertain.as_ref().map_or(0.0, |(trend, axes, std)| {
            let along: Vec<f64> = axes.iter().map(|&i| x[i]).collect();
            std * trend.at(&along).1
        })
    }

    /// The process at a point where the objective is known.
    fn around_trend(&self, objective: &Gp, x: &[f64], at: &PointPrediction) -> PointPrediction {
        match &self.process {
            Process::Shared { alpha, deviation } => {
                let (mean, mean_gradient) = objective.sum_at(x, at, alpha);
                let std_gradient = at.std_gradient.iter().map(|s| deviation * s).collect();
                let std = deviation * at.std;
                PointPrediction { mean, std, mean_gradient, std_gradient, ..PointPrediction::default() }
            }
            Process::Own(gp, stretch) => stretched(gp, stretch, x),
        }
    }

    /// At a point where the objective is known.
    fn at(&self, objective: &Gp, x: &[f64], at: &PointPrediction) -> PointPrediction {
        let mut limit = self.around_trend(objective, x, at);
        limit.mean += self.constant + linalg::dot(&self.slope, x);
        limit.std = limit.std.hypot(self.trend_std(x));
        linalg::axpy(&mut limit.mean_gradient, 1.0, &self.slope);
        limit
    }
}

/// A model at a point of other coordinates.
fn stretched(gp: &Gp, stretch: &[f64], x: &[f64]) -> PointPrediction {
    let mut at = PointPrediction::default();
    if stretch.is_empty() {
        gp.predict_with_gradient(x, &mut at);
        return at;
    }
    let x: Vec<f64> = x.iter().zip(stretch).map(|(x, s)| x * s).collect();
    gp.predict_with_gradient(&x, &mut at);
    for gradient in [&mut at.mean_gradient, &mut at.std_gradient] {
        gradient.iter_mut().zip(stretch).for_each(|(g, s)| *g *= s);
    }
    at
}

/// A constraint that takes one value wherever it is satisfied, as max(0, g) does, tells nothing of how far. Those rows get what the trend of
/// the violations says, if it is less.
fn uncensor(g: &mut [f64], x: &Matrix, rows: &Rows<'_>, fit: &mut Polynomial) {
    let least = g.iter().copied().fold(f64::INFINITY, f64::min);
    let tied: Vec<usize> = (0..g.len()).filter(|&row| g[row] == least).collect();
    let n = rows.violated.len();
    if least > 0.0 || tied.len() < 2 {
        return;
    }
    let mut inputs = Matrix::zeros(n, x.cols());
    for (row, (place, _)) in rows.violated.iter().enumerate() {
        rows.axes.iter().enumerate().for_each(|(k, &i)| inputs[(row, k)] = place[i]);
    }
    let told: Vec<f64> = rows.violated.iter().map(|(_, g)| *g).collect();
    if fit.fit(Terms::Linear, &inputs, &told, &vec![0.0; n], n, 1.0) {
        tied.into_iter().for_each(|row| g[row] = g[row].min(fit.at_row(x, row)));
    }
}
