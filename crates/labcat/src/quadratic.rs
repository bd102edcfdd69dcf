//! A linear or quadratic fit of the observations: for a function that simple it says where the minimum is long before the
//! Gaussian process can.

use crate::frame::Frame;
use crate::linalg::{self, Matrix};

/// Which terms a fit has besides the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// x_i.
    Linear,
    /// x_i and |x|²: one curvature along all axes.
    Round,
    /// x_i and x_i²: enough for a sphere in any frame, and for an ellipsoid in its own.
    Squares,
    /// x_i and x_i x_j.
    All,
}

impl Terms {
    /// The number of coefficients in `d` dimensions.
    pub(crate) fn count(self, d: usize) -> usize {
        1 + d + usize::from(self == Self::Round) + self.products(d).count()
    }

    /// Their values at `x`.
    fn at(self, x: &[f64]) -> impl Iterator<Item = f64> {
        let round = (self == Self::Round).then(|| linalg::dot(x, x));
        let products = self.products(x.len()).map(|(i, j)| x[i] * x[j]);
        std::iter::once(1.0).chain(x.iter().copied()).chain(round).chain(products)
    }

    /// The products x_i x_j among them, as (i, j).
    fn products(self, d: usize) -> impl Iterator<Item = (usize, usize)> {
        let rows = if matches!(self, Self::Linear | Self::Round) { 0..0 } else { 0..d };
        rows.flat_map(move |i| (if self == Self::All { 0 } else { i }..=i).map(move |j| (i, j)))
    }
}

/// q(x) = c + gᵀx + ½ xᵀHx, fitted by least squares, and the buffers for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quadratic {
    /// Rows w (1, x, products) and, in the last column, w y.
    system: Matrix,
    /// c, g and the factors of the products.
    coefficients: Vec<f64>,
    hessian: Matrix,
    factor: Matrix,
    /// The point of the newest minimisation, in the box.
    pub(crate) minimiser: Vec<f64>,
    local: Vec<f64>,
    /// What the newest minimisation kept to.
    bounds: Vec<(f64, f64)>,
    at_bounds: AtBounds,
}

/// Buffers of a minimisation by active sets: H A, the Hessian and the gradient in the box; the coordinates held and free, the step in the
/// free ones and its image under the Hessian.
#[derive(Clone, Debug, Default)]
struct AtBounds {
    image: Matrix,
    hessian: Matrix,
    gradient: Vec<f64>,
    held: Vec<bool>,
    free: Vec<usize>,
    step: Vec<f64>,
    along: Vec<f64>,
}

/// c + gᵀx + ½ xᵀHx.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial {
    pub(crate) constant: f64,
    pub(crate) slope: Vec<f64>,
    pub(crate) hessian: Matrix,
}

impl Polynomial {
    /// Its value and its gradient g + Hx.
    pub(crate) fn at(&self, x: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = self.slope.clone();
        for (j, x) in x.iter().enumerate() {
            linalg::axpy(&mut gradient, *x, self.hessian.col(j));
        }
        let both: f64 = self.slope.iter().zip(&gradient).zip(x).map(|((g, now), x)| x * (g + now)).sum();
        (self.constant + 0.5 * both, gradient)
    }
}

/// Changes of the set of free coordinates per dimension before a minimisation is left as it is: several times what visiting every bound takes.
const ACTIVE_SETS: usize = 10;

impl Quadratic {
    /// Makes room for `n` observations in `d` dimensions.
    pub(crate) fn reserve(&mut self, n: usize, d: usize) {
        let each = [Terms::Linear, Terms::Round, Terms::Squares, Terms::All];
        let count = each.map(|terms| terms.count(d)).into_iter().filter(|c| *c <= n).max().unwrap_or(0);
        self.system.reserve(n, count + 1);
        self.coefficients.reserve(count);
        for matrix in [&mut self.hessian, &mut self.factor] {
            matrix.reserve(d, d);
        }
        for v in [&mut self.minimiser, &mut self.local] {
            v.reserve(d);
        }
        self.bounds.reserve(d);
        let AtBounds { image, hessian, gradient, held, free, step, along } = &mut self.at_bounds;
        for matrix in [image, hessian] {
            matrix.reserve(d, d);
        }
        for v in [gradient, step, along] {
            v.reserve(d);
        }
        held.reserve(d);
        free.reserve(d);
    }

    /// Fits to the first `n` rows of `x` and outputs `y`. A fit has to be right where outputs are good, so that each row weighs as
    /// much as its `rank` ≥ 0 (0 for the best) is small against `typical`. False if they do not determine it.
    pub(crate) fn fit(&mut self, terms: Terms, x: &Matrix, y: &[f64], rank: &[f64], n: usize, typical: f64) -> bool {
        let (d, count) = (x.cols(), terms.count(x.cols()));
        if n < count {
            return false;
        }
        self.system.reshape(n, count + 1);
        for row in 0..n {
            let weight = typical / (typical + rank[row]);
            self.put(row, terms, x, y, row, weight);
        }
        self.solve(terms, d)
    }

    /// Takes rows `from..to` into the newest fit, that of the rows before them, all of weight 1: at the price of these rows alone.
    pub(crate) fn extend(&mut self, terms: Terms, x: &Matrix, y: &[f64], (from, to): (usize, usize)) -> bool {
        let (d, count) = (x.cols(), terms.count(x.cols()));
        // R and R b, and what was left over, stand for the rows that they came from.
        let mut triangle = Matrix::zeros(count + 1, count + 1);
        for j in 0..count {
            let column = &self.system.col(j)[..=j];
            triangle.col_mut(j)[..=j].copy_from_slice(column);
            linalg::axpy(&mut triangle.col_mut(count)[..=j], self.coefficients[j], column);
        }
        triangle[(count, count)] = self.left_over();
        self.system.reshape(count + 1 + to - from, count + 1);
        for j in 0..=count {
            self.system.col_mut(j)[..=count].copy_from_slice(triangle.col(j));
        }
        for row in from..to {
            self.put(count + 1 + row - from, terms, x, y, row, 1.0);
        }
        self.solve(terms, d)
    }

    /// Row `of` of the data as a row of the system.
    fn put(&mut self, row: usize, terms: Terms, x: &Matrix, y: &[f64], of: usize, weight: f64) {
        let d = x.cols();
        self.system[(row, 0)] = weight;
        for i in 0..d {
            self.system[(row, 1 + i)] = weight * x[(of, i)];
        }
        if terms == Terms::Round {
            self.system[(row, 1 + d)] = weight * (0..d).map(|i| x[(of, i)] * x[(of, i)]).sum::<f64>();
        }
        for (k, (i, j)) in terms.products(d).enumerate() {
            self.system[(row, 1 + d + k)] = weight * x[(of, i)] * x[(of, j)];
        }
        let count = self.system.cols() - 1;
        self.system[(row, count)] = weight * y[of];
    }

    /// The coefficients of the system, and the Hessian.
    fn solve(&mut self, terms: Terms, d: usize) -> bool {
        let determined = linalg::least_squares(&mut self.system, &mut self.coefficients);
        self.hessian.reshape(d, d);
        self.hessian.fill(0.0);
        if terms == Terms::Round {
            for i in 0..d {
                self.hessian[(i, i)] = 2.0 * self.coefficients[1 + d];
            }
        }
        for (factor, (i, j)) in self.coefficients[1 + d..].iter().zip(terms.products(d)) {
            self.hessian[(i, j)] += factor;
            self.hessian[(j, i)] += factor;
        }
        determined
    }

    /// The newest fit, on its own.
    pub(crate) fn polynomial(&self) -> Polynomial {
        let d = self.hessian.cols();
        Polynomial {
            constant: self.coefficients[0],
            slope: self.coefficients[1..=d].to_vec(),
            hessian: self.hessian.clone(),
        }
    }

    /// q at the centre of the frame.
    pub(crate) fn at_centre(&self) -> f64 {
        self.coefficients[0]
    }

    /// The root of the sum of squares that the newest fit left over, if it had more rows than coefficients.
    pub(crate) fn left_over(&self) -> f64 {
        let count = self.coefficients.len();
        if self.system.rows() > count { self.system[(count, count)].abs() } else { 0.0 }
    }

    /// q at `x`, and its standard deviation for rows of weight 1 with errors of standard deviation 1.
    pub(crate) fn at(&self, x: &[f64], terms: Terms) -> (f64, f64) {
        (self.sum_of(terms.at(x)), self.std_of(terms.at(x)))
    }

    /// By how much q is smaller at `here` than at `there`, and the standard deviation of that, as before.
    pub(crate) fn gain(&self, here: &[f64], there: &[f64], terms: Terms) -> (f64, f64) {
        let between = || terms.at(there).zip(terms.at(here)).map(|(there, here)| there - here);
        (self.sum_of(between()), self.std_of(between()))
    }

    /// The sum of the coefficients, each times its t.
    fn sum_of(&self, t: impl Iterator<Item = f64>) -> f64 {
        t.zip(&self.coefficients).map(|(t, c)| t * c).sum()
    }

    /// |R⁻ᵀ t|: the standard deviation of that sum.
    fn std_of(&self, t: impl Iterator<Item = f64>) -> f64 {
        let mut solved: Vec<f64> = Vec::with_capacity(self.coefficients.len());
        for (j, t) in t.enumerate() {
            let rest = linalg::dot(&self.system.col(j)[..j], &solved);
            solved.push((t - rest) / self.system[(j, j)]);
        }
        linalg::dot(&solved, &solved).sqrt()
    }

    /// q at row `row` of `x`.
    pub(crate) fn at_row(&mut self, x: &Matrix, row: usize) -> f64 {
        self.local.clear();
        self.local.extend((0..x.cols()).map(|i| x[(row, i)]));
        self.value()
    }

    /// q at `local`.
    fn value(&self) -> f64 {
        let terms = self.local.iter().enumerate().map(|(i, x)| {
            let slope = self.coefficients[1 + i] + 0.5 * linalg::dot(self.hessian.col(i), &self.local);
            x * slope
        });
        self.coefficients[0] + terms.sum::<f64>()
    }

    /// Minimises q over the smallest box around `points`, from the centre of the frame: one Newton step if that stays inside, else by
    /// active sets. Leaves the point in [`Quadratic::minimiser`] and gives q there, and whether that
    /// is a minimum beyond those bounds too: q curves up along all that no face of [−1, 1]^d holds.
    pub(crate) fn minimise<'a>(&mut self, frame: &Frame, points: impl Iterator<Item = &'a [f64]>) -> (f64, bool) {
        self.bounds.clear();
        self.bounds.resize(frame.dim(), (f64::INFINITY, f64::NEG_INFINITY));
        for u in points {
            for ((low, high), u) in self.bounds.iter_mut().zip(u) {
                (*low, *high) = (low.min(*u), high.max(*u));
            }
        }
        self.minimise_within_bounds(frame)
    }

    /// As [`Quadratic::minimise`], over all of [−1, 1]^d.
    pub(crate) fn minimise_anywhere(&mut self, frame: &Frame) -> (f64, bool) {
        self.bounds.clear();
        self.bounds.resize(frame.dim(), (-1.0, 1.0));
        self.minimise_within_bounds(frame)
    }

    fn minimise_within_bounds(&mut self, frame: &Frame) -> (f64, bool) {
        let bounds = std::mem::take(&mut self.bounds);
        self.minimiser.clear();
        let mut convex = self.solve_inside();
        let mut inside = convex;
        if convex {
            self.minimiser.extend((0..frame.dim()).map(|j| frame.to_box(&self.local, j)));
            inside = self.minimiser.iter().zip(&bounds).all(|(u, (low, high))| low <= u && u <= high);
        }
        if !inside {
            convex |= self.solve_at_bounds(frame, &bounds);
            frame.to_local(&self.minimiser, &mut self.local);
        }
        self.bounds = bounds;
        (self.value(), convex)
    }

    /// Whether the newest minimiser meets none of the bounds it was sought in but faces of [−1, 1]^d.
    pub(crate) fn is_inside(&self) -> bool {
        let free = |(u, (low, high)): (&f64, &(f64, f64))| (low < u && u < high) || u.abs() == 1.0;
        self.minimiser.iter().zip(&self.bounds).all(free)
    }

    /// x = −H⁻¹ g in `local`; false if q is not convex. Solved in the frame, where H is as round as the frame makes it.
    fn solve_inside(&mut self) -> bool {
        let d = self.hessian.cols();
        self.factor.copy_from(&self.hessian);
        self.local.clear();
        self.local.extend(self.coefficients[1..=d].iter().map(|g| -g));
        if linalg::cholesky(&mut self.factor).is_err() {
            return false;
        }
        linalg::solve_lower(&self.factor, &mut self.local);
        linalg::solve_lower_transposed(&self.factor, &mut self.local);
        self.local.iter().all(|x| x.is_finite())
    }

    /// Minimises q over a box of u by active sets: Newton's step in the coordinates that are free (or, where q is not convex in them,
    /// steepest descent), up to the first bound, which holds its coordinate from then on. Once nothing is left to gain, the coordinate
    /// that q falls off most steeply is let go, until there is none. Gives whether q was convex in the
    /// free coordinates then, and all others at faces.
    fn solve_at_bounds(&mut self, frame: &Frame, bounds: &[(f64, f64)]) -> bool {
        let d = frame.dim();
        // q in the box: x = A (u − c) with A_ij = R_ji / S_i, so the gradient is Aᵀ g and the Hessian Aᵀ H A.
        let map = |i: usize, j: usize| frame.rotation()[(j, i)] / frame.scale()[i];
        let AtBounds { mut image, mut hessian, mut gradient, mut held, mut free, mut step, mut along } =
            std::mem::take(&mut self.at_bounds);
        image.reshape(d, d);
        image.fill(0.0);
        hessian.reshape(d, d);
        gradient.clear();
        for j in 0..d {
            for i in 0..d {
                linalg::axpy(image.col_mut(j), map(i, j), self.hessian.col(i));
            }
        }
        for j in 0..d {
            gradient.push((0..d).map(|i| map(i, j) * self.coefficients[1 + i]).sum());
            for k in 0..d {
                hessian[(j, k)] = (0..d).map(|i| map(i, j) * image[(i, k)]).sum();
            }
        }
        let u = &mut self.minimiser;
        u.clear();
        u.extend(frame.centre().iter().zip(bounds).map(|(c, (low, high))| c.clamp(*low, *high)));
        for (j, (u, c)) in u.iter().zip(frame.centre()).enumerate() {
            linalg::axpy(&mut gradient, u - c, hessian.col(j));
        }
        held.clear();
        held.resize(d, false);
        let mut proper = false;
        for _ in 0..ACTIVE_SETS * (d + 1) {
            free.clear();
            free.extend((0..d).filter(|&j| !held[j]));
            step.clear();
            step.extend(free.iter().map(|&j| -gradient[j]));
            self.factor.reshape(free.len(), free.len());
            for (a, &j) in free.iter().enumerate() {
                for (b, &k) in free.iter().enumerate() {
                    self.factor[(a, b)] = hessian[(j, k)];
                }
            }
            let convex = linalg::cholesky(&mut self.factor).is_ok();
            if convex {
                linalg::solve_lower(&self.factor, &mut step);
                linalg::solve_lower_transposed(&self.factor, &mut step);
            }
            along.clear();
            along.resize(d, 0.0);
            for (p, &j) in step.iter().zip(&free) {
                linalg::axpy(&mut along, *p, hessian.col(j));
            }
            let (mut slope, mut bend) = (0.0, 0.0);
            for (p, &j) in step.iter().zip(&free) {
                slope += p * gradient[j];
                bend += p * along[j];
            }
            let whole = if convex {
                1.0
            } else if bend > 0.0 {
                -slope / bend
            } else {
                f64::INFINITY
            };
            // The length at which each coordinate meets its bound, and the first of them.
            let bound = |p: f64, j: usize| if p > 0.0 { bounds[j].1 } else { bounds[j].0 };
            let reach = |p: f64, j: usize, u: f64| if p == 0.0 { f64::INFINITY } else { (bound(p, j) - u) / p };
            let first = step.iter().zip(&free).map(|(&p, &j)| reach(p, j, u[j]));
            let length = first.fold(whole, f64::min).max(0.0);
            if !length.is_finite() {
                break;
            }
            for (&p, &j) in step.iter().zip(&free) {
                held[j] = reach(p, j, u[j]) <= length;
                u[j] = if held[j] { bound(p, j) } else { u[j] + length * p };
            }
            linalg::axpy(&mut gradient, length, &along);
            if length == whole || free.iter().all(|&j| held[j]) {
                // How steeply q falls from a held coordinate into the box.
                let fall = |j: &usize| if u[*j] <= bounds[*j].0 { -gradient[*j] } else { gradient[*j] };
                let steepest = (0..d).filter(|&j| held[j]).max_by(|a, b| fall(a).total_cmp(&fall(b)));
                match steepest.filter(|j| fall(j) > 0.0) {
                    Some(j) => held[j] = false,
                    None => {
                        proper = convex && (0..d).all(|j| !held[j] || u[j].abs() == 1.0);
                        break;
                    }
                }
            }
        }
        self.at_bounds = AtBounds { image, hessian, gradient, held, free, step, along };
        proper
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
