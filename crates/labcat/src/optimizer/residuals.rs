//! Least squares: where the residuals of each evaluation are told, all of them are modelled at once, each as a linear trend plus a Gaussian process
//! with one kernel for all, and the sum of their squares is minimised inside a trust region (Gauss–Newton on the model).
//!
//! Such a prediction is a weighted sum of what was observed, with the same weights w(x) for every residual. So Σ r(x)² = |r₀ + Σ w_j d_j|² with
//! d_j = r_j − r₀ needs the residuals only in the inner products of the d_j: ten thousand residuals cost no more than a few.

use super::model::Standing;
use super::nearest::Forecast;
use super::problem::Problem;
use super::run::{Extent, LocalRun};
use crate::frame::{AxisOrder, Frame, PrincipalAxes};
use crate::gp::kernel::KernelKind;
use crate::linalg::{self, Matrix};
use crate::math;
use crate::observations::Observations;
use crate::qp::Halfspaces;
use crate::sqp::{self, Look, Program};

/// Observations per dimension that the model takes, the nearest to the best, and among how many of the newest.
const EACH: usize = 4;
const AMONG: usize = 1000;
/// Length-scales tried, in units of the root mean square distance of the observations, and relative nuggets: powers of these.
const LENGTHS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 64.0];
const NUGGETS: [f64; 4] = [1e-10, 1e-6, 1e-3, 1e-1];
/// Ratios of actual to predicted reduction below which the trust region shrinks and above which it grows; the factors; its bounds.
const POOR: f64 = 0.1;
const GOOD: f64 = 0.7;
const SHRINK: f64 = 0.5;
const GROW: f64 = 2.0;
const LEAST_RADIUS: f64 = 1e-11;
/// A value this many times the best tells nothing of the residuals around it.
const USELESS: f64 = 1e6;
/// Along each direction the observations have to spread by this part of the trust region; else one is made there.
const SPREAD: f64 = 0.03;
/// Quadratic programs per descent.
const ROUNDS: usize = 25;

/// Adapts the trust region to what the newest forecast has shown; at first it is as wide as the members spread.
fn adapt_radius(problem: Problem<'_>, run: &mut LocalRun, standing: &Standing) {
    let (observations, centre) = (problem.observations, problem.observations.unit(standing.best));
    let away = |u: &[f64]| u.iter().zip(centre).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    if run.radius == 0.0 {
        let mut spread: Vec<f64> = run.now.members.iter().map(|&p| away(observations.unit(p))).collect();
        spread.sort_unstable_by(f64::total_cmp);
        run.radius = spread.get(spread.len() / 2).copied().unwrap_or(1.0).clamp(1e-6, 1.0);
    }
    let Some(shown) = run.followed.and_then(|followed| observations.position(followed.id)) else { return };
    let Some(followed) = run.followed.take() else { return };
    let gained = observations.value(shown).map_or(f64::NEG_INFINITY, |value| followed.from - value);
    let ratio = gained / followed.gain;
    if followed.gain == 0.0 {
        // A point that only explores has to be of some use.
        if -gained > USELESS * followed.from.abs() {
            run.radius *= SHRINK * SHRINK;
        }
    } else if ratio < POOR {
        run.radius = SHRINK * run.radius.min(followed.length);
    } else if ratio > GOOD && GROW * followed.length > run.radius {
        run.radius = (GROW * followed.length).min(1.0);
    } else {
        // Steps that stay inside become shorter: what is made to explore shall not be far away.
        run.radius = (SHRINK * run.radius).max((2.0 * GROW * followed.length).min(run.radius));
    }
}

/// Where the sum of squares of the modelled residuals is least inside the trust region; or a point along a direction in which too little was observed.
pub(super) fn find(problem: Problem<'_>, run: &mut LocalRun, standing: &Standing) -> Option<Forecast> {
    let (observations, domain) = (problem.observations, problem.domain);
    let on_lattice = domain.is_mixed() && run.extent != Extent::Reals;
    if observations.residuals(standing.best).is_empty() || on_lattice || problem.constraints() > 0 {
        return None;
    }
    adapt_radius(problem, run, standing);
    if run.radius < LEAST_RADIUS || run.followed.is_some() {
        return None; // one is pending
    }
    let axes: Vec<usize> = (0..domain.dim()).filter(|&i| run.extent.moves(domain, i)).collect();
    let rows = nearest_rows(problem, standing.best, &axes);
    let d = axes.len();
    let centre = observations.unit(standing.best);
    let place = |x: &[f64]| {
        let mut u = centre.to_vec();
        axes.iter().zip(x).for_each(|(&i, x)| u[i] = (u[i] + x).clamp(-1.0, 1.0));
        u
    };
    let from = observations.value(standing.best)?;
    if let Some(x) = unexplored(&rows, run.radius, &axes, centre) {
        return Forecast::new(place(&x), from, 0.0);
    }
    let nuggets = if standing.noisy { &NUGGETS[..] } else { &NUGGETS[..1] };
    let model = Residuals::fit(observations, &rows, nuggets).filter(|_| rows.len() > d)?;
    let mut within = Halfspaces::cube(d, run.radius);
    for (k, &i) in axes.iter().enumerate() {
        for (sign, room) in [(1.0, 1.0 - centre[i]), (-1.0, 1.0 + centre[i])] {
            let mut normal = vec![0.0; d];
            normal[k] = sign;
            within.push(normal, room);
        }
    }
    let (x, _) = sqp::minimise(&model, &within, &vec![0.0; d], run.radius, ROUNDS);
    let gain = model.look(&vec![0.0; d]).value - model.look(&x).value;
    Forecast::new(place(&x), from, gain).filter(|_| gain > 0.0)
}

/// An observation: its displacement from the best along the axes that move, and its position in the history.
type Row = (Vec<f64>, usize);

/// The observations with residuals nearest to the best one, that one first.
fn nearest_rows(problem: Problem<'_>, best: usize, axes: &[usize]) -> Vec<Row> {
    let (observations, domain) = (problem.observations, problem.domain);
    let centre = observations.unit(best);
    let row = |p: usize| -> Row { (axes.iter().map(|&i| observations.unit(p)[i] - centre[i]).collect(), p) };
    let newest = observations.len().saturating_sub(AMONG)..observations.len();
    let most = observations.value(best).map_or(0.0, |value| USELESS * value);
    let useful = |p: &usize| !observations.residuals(*p).is_empty() && observations.value(*p) <= Some(most);
    let others = newest.filter(|p| *p != best && useful(p));
    let alike = others.filter(|&p| domain.same_choices(observations.unit(p), centre));
    let mut rows: Vec<(f64, Row)> = alike.map(row).map(|row| (linalg::dot(&row.0, &row.0), row)).collect();
    rows.retain(|(square, _)| *square > 0.0);
    rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.1.cmp(&a.1.1)));
    rows.truncate(EACH * axes.len() + 1);
    std::iter::once((vec![0.0; axes.len()], best)).chain(rows.into_iter().map(|(_, row)| row)).collect()
}

/// A step of the trust region's size along the direction in which the observations spread least, if that is too little; away from the nearer bound.
fn unexplored(rows: &[Row], radius: f64, axes: &[usize], centre: &[f64]) -> Option<Vec<f64>> {
    let d = axes.len();
    let mut principal = PrincipalAxes::default();
    let frame = Frame::of_box(d);
    // A far observation shows no more of a direction than one at the edge of the trust region.
    let clipped: Vec<Vec<f64>> = rows
        .iter()
        .map(|(x, _)| {
            let far = x.iter().fold(radius, |most, x| most.max(x.abs()));
            x.iter().map(|x| x * radius / far).collect()
        })
        .collect();
    principal.find(&frame, clipped.iter().map(|x| (x.as_slice(), 0.0)), rows.len(), |_| true);
    principal.arrange(AxisOrder::Sorted);
    let least = principal.sigma().last().unwrap_or(0.0);
    if least >= SPREAD * radius {
        return None;
    }
    let turned = frame.rotated(&mut principal);
    let direction = turned.rotation().col(d - 1);
    let largest = direction.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    let room =
        |sign: f64| axes.iter().zip(direction).all(|(&i, v)| (centre[i] + sign * radius * v / largest).abs() <= 1.0);
    let sign = if room(1.0) { 1.0 } else { -1.0 };
    Some(direction.iter().map(|v| sign * radius * v / largest).collect())
}

/// The model of all residuals: weights w(x) = P k(x) + B f(x) of universal kriging with f = (1, x), and the inner products of what the
/// observations differ from the best by.
struct Residuals {
    points: Vec<Vec<f64>>,
    length: f64,
    p: Matrix,
    b: Matrix,
    /// d_i · d_j, and d_j · r₀; |r₀|².
    gram: Matrix,
    with_best: Vec<f64>,
    square: f64,
}

impl Residuals {
    fn fit(observations: &Observations, rows: &[Row], nuggets: &[f64]) -> Option<Self> {
        let best = observations.residuals(rows[0].1);
        let apart =
            |row: &Row| -> Vec<f64> { observations.residuals(row.1).iter().zip(best).map(|(r, b)| r - b).collect() };
        let differences: Vec<Vec<f64>> = rows.iter().map(apart).collect();
        let n = rows.len();
        let mut gram = Matrix::zeros(n, n);
        for j in 0..n {
            for i in 0..=j {
                let product = linalg::dot(&differences[i], &differences[j]);
                (gram[(i, j)], gram[(j, i)]) = (product, product);
            }
        }
        let with_best = differences.iter().map(|difference| linalg::dot(difference, best)).collect();
        let points: Vec<Vec<f64>> = rows.iter().map(|(x, _)| x.clone()).collect();
        let spread = (points.iter().map(|x| linalg::dot(x, x)).sum::<f64>() / n as f64).sqrt();
        let mut found: Option<(f64, f64, Matrix, Matrix)> = None;
        for length in LENGTHS.map(|l| l * spread) {
            for nugget in nuggets {
                if let Some((likelihood, p, b)) = weights(&points, length, *nugget, &gram)
                    && found.as_ref().is_none_or(|(best, ..)| likelihood > *best)
                {
                    found = Some((likelihood, length, p, b));
                }
            }
        }
        let (_, length, p, b) = found?;
        Some(Self { points, length, p, b, gram, with_best, square: linalg::dot(best, best) })
    }

    /// The weights at a point, and their derivatives along each coordinate.
    fn weights(&self, x: &[f64]) -> (Vec<f64>, Matrix) {
        let (n, d) = (self.points.len(), x.len());
        let (mut w, mut slopes) = (vec![0.0; n], Matrix::zeros(n, d));
        w.copy_from_slice(self.b.col(0));
        for j in 0..d {
            linalg::axpy(&mut w, x[j], self.b.col(1 + j));
            slopes.col_mut(j).copy_from_slice(self.b.col(1 + j));
        }
        for (i, point) in self.points.iter().enumerate() {
            let delta: Vec<f64> = x.iter().zip(point).map(|(a, b)| (a - b) / self.length).collect();
            let s = linalg::dot(&delta, &delta);
            let k = KERNEL.at(s);
            linalg::axpy(&mut w, k, self.p.col(i));
            let slope = 2.0 * KERNEL.slopes_at(s, k).0 / self.length;
            (0..d).for_each(|j| linalg::axpy(slopes.col_mut(j), slope * delta[j], self.p.col(i)));
        }
        (w, slopes)
    }
}

const KERNEL: KernelKind = KernelKind::SquaredExponential;

/// P and B for a length-scale and a nugget, and the restricted log-likelihood of all residuals with one signal, up to a constant.
fn weights(points: &[Vec<f64>], length: f64, nugget: f64, gram: &Matrix) -> Option<(f64, Matrix, Matrix)> {
    let (n, q) = (points.len(), points[0].len() + 1);
    let mut k = Matrix::zeros(n, n);
    for j in 0..n {
        for i in 0..=j {
            let s: f64 = points[i].iter().zip(&points[j]).map(|(a, b)| ((a - b) / length).powi(2)).sum();
            (k[(i, j)], k[(j, i)]) = (KERNEL.at(s), KERNEL.at(s));
        }
        k[(j, j)] += nugget;
    }
    linalg::cholesky(&mut k).ok()?;
    // K⁻¹ and K⁻¹ F.
    let solved = |mut column: Vec<f64>| {
        linalg::solve_lower(&k, &mut column);
        linalg::solve_lower_transposed(&k, &mut column);
        column
    };
    let trend = |j: usize| -> Vec<f64> { points.iter().map(|x| if j == 0 { 1.0 } else { x[j - 1] }).collect() };
    let images: Vec<Vec<f64>> = (0..q).map(|j| solved(trend(j))).collect();
    let mut inner = Matrix::zeros(q, q);
    for j in 0..q {
        let column = trend(j);
        (0..q).for_each(|i| inner[(i, j)] = linalg::dot(&images[i], &column));
    }
    linalg::cholesky(&mut inner).ok()?;
    let (mut p, mut b) = (Matrix::zeros(n, n), Matrix::zeros(n, q));
    for row in 0..n {
        let mut coefficients: Vec<f64> = images.iter().map(|image| image[row]).collect();
        linalg::solve_lower(&inner, &mut coefficients);
        linalg::solve_lower_transposed(&inner, &mut coefficients);
        (0..q).for_each(|j| b[(row, j)] = coefficients[j]);
    }
    for col in 0..n {
        let mut unit = vec![0.0; n];
        unit[col] = 1.0;
        let mut column = solved(unit);
        (0..q).for_each(|j| linalg::axpy(&mut column, -images[j][col], b.col(j)));
        p.col_mut(col).copy_from_slice(&column);
    }
    let left_over: f64 = (0..n).map(|j| linalg::dot(p.col(j), gram.col(j))).sum();
    let ln_det = |m: &Matrix| 2.0 * (0..m.cols()).map(|i| math::ln(m[(i, i)])).sum::<f64>();
    let freedom = (n - q) as f64;
    let likelihood = -freedom * math::ln(left_over.max(f64::MIN_POSITIVE)) - ln_det(&k) - ln_det(&inner);
    likelihood.is_finite().then_some((likelihood, p, b))
}

impl Program for Residuals {
    fn look(&self, x: &[f64]) -> Look {
        let (w, slopes) = self.weights(x);
        let image: Vec<f64> = (0..w.len()).map(|i| linalg::dot(self.gram.col(i), &w) + self.with_best[i]).collect();
        let value = self.square + linalg::dot(&w, &self.with_best) + linalg::dot(&w, &image);
        let gradient = (0..x.len()).map(|j| 2.0 * linalg::dot(slopes.col(j), &image)).collect();
        Look { value: value.max(0.0), gradient, limits: Vec::new() }
    }

    /// 2 (∂w)ᵀ G ∂w + 2 Σ (G w + g)_i ∂²w_i.
    fn hessian(&self, x: &[f64], _: &[f64]) -> Matrix {
        let (w, slopes) = self.weights(x);
        let (n, d) = (self.points.len(), x.len());
        let mut h = Matrix::zeros(d, d);
        for j in 0..d {
            let image: Vec<f64> = (0..n).map(|i| linalg::dot(self.gram.col(i), slopes.col(j))).collect();
            (0..d).for_each(|i| h[(i, j)] = 2.0 * linalg::dot(slopes.col(i), &image));
        }
        let image: Vec<f64> = (0..n).map(|i| linalg::dot(self.gram.col(i), &w) + self.with_best[i]).collect();
        for (i, point) in self.points.iter().enumerate() {
            let delta: Vec<f64> = x.iter().zip(point).map(|(a, b)| (a - b) / self.length).collect();
            let s = linalg::dot(&delta, &delta);
            let (slope, bend) = KERNEL.slopes_at(s, KERNEL.at(s));
            let scaled = 2.0 * linalg::dot(self.p.col(i), &image) / (self.length * self.length);
            for j in 0..d {
                linalg::axpy(h.col_mut(j), 4.0 * scaled * bend * delta[j], &delta);
                h[(j, j)] += 2.0 * scaled * slope;
            }
        }
        h
    }
}
