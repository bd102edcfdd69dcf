//! Known constraints: linear ones, and any cheap function of the parameters. No suggestion violates them.

use crate::domain::{Domain, Parameter, ParameterKind};
use crate::frame::Frame;
use crate::linalg;
use crate::math;
use crate::qp::{self, Halfspaces};
use crate::rng::Rng;
use std::fmt;
use std::sync::Arc;

/// A cheap function g of a point in user units. The constraint is satisfied when g ≤ 0, and violated if g is NaN.
pub type Function = Arc<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// Constraints on the parameters that are checked before an evaluation.
///
/// ```
/// use labcat::{Config, Domain, Known, Optimizer};
///
/// let known = Known::default()
///     .at_most(vec![1.0, 1.0], 1.0) // x + y ≤ 1
///     .met(|x| x[0] * x[0] + x[1] * x[1] - 4.0); // within a disc
/// let domain = Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)])?;
/// let mut optimizer = Optimizer::with_constraints(domain, Config::default(), known)?;
/// let x = optimizer.ask()?.x;
/// assert!(x[0] + x[1] <= 1.0);
/// # Ok::<(), labcat::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Known {
    /// a·x ≤ b.
    linear: Vec<(Vec<f64>, f64)>,
    /// a·x = b.
    equal: Vec<(Vec<f64>, f64)>,
    functions: Vec<Function>,
    /// The functions that are linear, as a·x ≤ b: a contradiction among them is found at once.
    pub(crate) linear_functions: Vec<(Vec<f64>, f64)>,
    /// The equations, each solved for one parameter: the factors of the other parameters, and the constant.
    dependent: Vec<(usize, Vec<f64>, f64)>,
    /// A place in the box that satisfies the constraints.
    pub(crate) inside: Vec<f64>,
    /// Of a small finite space, every configuration that does.
    pub(crate) listed: Option<Vec<Vec<f64>>>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("linear", &self.linear).field("equal", &self.equal).finish_non_exhaustive()
    }
}

/// What is wrong with known constraints.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum KnownError {
    /// A linear constraint has the wrong number of factors.
    #[error("a linear constraint has {got} factors: there are {expected} parameters")]
    WrongLength { got: usize, expected: usize },
    /// A factor or a bound is NaN, or a factor infinite.
    #[error("a linear constraint has a factor or bound that is not a finite number")]
    NotFinite,
    /// A linear constraint has a factor for a category, which is not a number.
    #[error("a linear constraint has a factor for `{name}`, a category: use 0 there, or a function of the parameters")]
    Choice { name: String },
    /// The linear constraints and bounds contradict each other.
    #[error("no point within the bounds satisfies the linear constraints")]
    Empty,
    /// No point was found that satisfies all constraints.
    #[error(
        "none of {tried} points within the bounds satisfies the constraints: check them, or narrow the bounds to where they can be satisfied"
    )]
    NotFound { tried: usize },
}

/// Points tried before a set is taken for empty.
const SAMPLED: usize = 2000;

/// How many of them are drawn before others are moved towards the constraints.
const REJECTIONS: usize = 100;

/// How often one of these is moved.
const MOVES: usize = 20;

/// Halvings of a segment towards a point that satisfies the constraints.
const BISECTIONS: usize = 60;

/// Projections of a mixed point before such a segment is searched.
const PROJECTIONS: usize = 5;

/// What an equation may be off by, relative to the size of its terms: rounding.
const TERMS_ROUNDING: f64 = 1e-12;

impl Known {
    /// Adds the constraint `factors`·x ≤ `bound`.
    #[must_use]
    pub fn at_most(mut self, factors: Vec<f64>, bound: f64) -> Self {
        self.linear.push((factors, bound));
        self
    }

    /// Adds the constraint `factors`·x = `value`.
    #[must_use]
    pub fn equal_to(mut self, factors: Vec<f64>, value: f64) -> Self {
        self.equal.push((factors, value));
        self
    }

    /// Adds a function of the parameters, which must be ≤ 0.
    #[must_use]
    pub fn met(mut self, function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.functions.push(Arc::new(function));
        self
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.linear.is_empty() && self.equal.is_empty() && self.functions.is_empty()
    }

    /// Whether a point in user units satisfies all constraints: inequalities exactly, equations up to rounding.
    pub fn allows(&self, x: &[f64]) -> bool {
        let size = |a: &[f64]| a.iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
        self.linear.iter().all(|(a, b)| sum(a, x) <= *b)
            && self.equal.iter().all(|(a, b)| (sum(a, x) - b).abs() <= TERMS_ROUNDING * (size(a) + b.abs()))
            && self.functions.iter().all(|f| f(x) <= 0.0)
    }

    /// Checks the constraints against a domain, and solves each equation for one parameter.
    pub(crate) fn check(mut self, domain: &Domain) -> Result<Self, KnownError> {
        let (d, parameters) = (domain.dim(), domain.parameters());
        let is_choice = |p: &Parameter| matches!(p.kind, ParameterKind::Categorical { .. });
        for (a, b) in self.linear.iter().chain(&self.equal) {
            if a.len() != parameters.len() {
                return Err(KnownError::WrongLength { got: a.len(), expected: parameters.len() });
            }
            if let Some((p, _)) = parameters.iter().zip(a).find(|(p, a)| is_choice(p) && **a != 0.0) {
                return Err(KnownError::Choice { name: p.name.clone() });
            }
            if a.iter().any(|a| !a.is_finite()) || b.is_nan() {
                return Err(KnownError::NotFinite);
            }
        }
        self.linear.retain(|(_, b)| *b != f64::INFINITY);
        let reals: Vec<bool> = parameters.iter().map(|p| p.levels().is_none()).collect();
        // An integer follows from others only by luck.
        self.dependent = linalg::eliminate(&self.equal, &reals).ok_or(KnownError::Empty)?;
        // The bounds and the linear constraints alone, in units of the box (integers as reals): the nearest point to its middle.
        let numbers = d == parameters.len() && !parameters.iter().any(is_choice);
        if numbers && parameters.iter().all(|p| p.scale == crate::Scale::Linear && p.when.is_none()) {
            qp::nearest(d, &self.in_box(domain)).ok_or(KnownError::Empty)?;
        }
        Ok(self)
    }

    /// The linear constraints on u of a linear box, equations as two.
    fn in_box(&self, domain: &Domain) -> Halfspaces {
        let d = domain.dim();
        let middle: Vec<f64> = domain.parameters().iter().map(|p| 0.5 * p.low + 0.5 * p.high).collect();
        let mut within = Halfspaces::cube(d, 1.0);
        let mut push = |a: &[f64], b: f64, sign: f64, slack: f64| {
            let normal: Vec<f64> = (0..d).map(|j| sign * a[j] * domain.stretch(j, 0.0)).collect();
            within.push(&normal, sign * (b - linalg::dot(a, &middle)) + slack);
        };
        for (a, b) in self.linear.iter().chain(&self.linear_functions) {
            push(a, *b, 1.0, 0.0);
        }
        for (a, b) in &self.equal {
            let slack = 1e-9 * (b.abs() + a.iter().zip(&middle).map(|(a, m)| (a * m).abs()).sum::<f64>() + 1e-300);
            push(a, *b, 1.0, slack);
            push(a, *b, -1.0, slack);
        }
        within
    }

    /// Puts the parameters that the equations determine where they belong.
    pub(crate) fn repair(&self, x: &mut [f64]) {
        for (j, factors, constant) in &self.dependent {
            let value = constant + sum(factors, x);
            // An integer that rounding has moved.
            let whole = value.round();
            x[*j] = if (value - whole).abs() <= TERMS_ROUNDING * value.abs() { whole } else { value };
        }
    }

    /// Whether a point in user units is in the bounds and satisfies the constraints, after [`Known::repair`].
    pub(crate) fn admits(&self, domain: &Domain, x: &mut [f64]) -> bool {
        self.repair(x);
        self.is_empty() || domain.check(x).is_ok() && self.allows(x)
    }

    /// The allowed point nearest to a place in the box, in user units: the place itself; one with its integers and categories, if the reals
    /// alone can satisfy the constraints; else one on the way to `centre` or to the place known to be allowed.
    pub(crate) fn nearest(&self, domain: &Domain, u: &[f64], centre: &[f64]) -> Option<Vec<f64>> {
        let mut x = domain.point(u);
        if self.admits(domain, &mut x) {
            return Some(x);
        }
        let mut place = u.to_vec();
        for _ in 0..if domain.is_mixed() { PROJECTIONS } else { 0 } {
            let Some(next) = self.project(domain, &place) else { break };
            place = next;
            domain.to_user(&place, &mut x);
            if self.admits(domain, &mut x) {
                return Some(x);
            }
        }
        self.pull(domain, u, centre).or_else(|| self.pull(domain, u, &self.inside))
    }

    /// The point on the way from `u` to `inside` that is nearest to `u` and satisfies the constraints, both places in the box; in user units.
    fn pull(&self, domain: &Domain, u: &[f64], inside: &[f64]) -> Option<Vec<f64>> {
        let at = |part: f64| {
            let place: Vec<f64> = u.iter().zip(inside).map(|(u, i)| i + part * (u - i)).collect();
            let mut x = domain.point(&place);
            self.admits(domain, &mut x).then_some(x)
        };
        if let Some(x) = at(1.0) {
            return Some(x);
        }
        let (mut low, mut high) = (0.0, 1.0);
        let mut best = at(0.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            match at(middle) {
                Some(x) => (low, best) = (middle, Some(x)),
                None => high = middle,
            }
        }
        best
    }

    /// A random point that satisfies the constraints, as a place in the box.
    pub(crate) fn sample(&self, domain: &Domain, rng: &mut Rng) -> Result<Vec<f64>, KnownError> {
        if domain.is_mixed() {
            return self.sample_mixed(domain, rng);
        }
        for round in 0..SAMPLED {
            let mut place = Some((0..domain.dim()).map(|_| rng.between(-1.0, 1.0)).collect::<Vec<f64>>());
            let mut moves = if round < REJECTIONS { 0 } else { MOVES };
            while let Some(u) = place {
                let mut x = domain.point(&u);
                if self.admits(domain, &mut x) {
                    return Ok(domain.place(&x));
                }
                // Towards where the linearised constraints are satisfied.
                place = if moves > 0 { self.project(domain, &u) } else { None };
                moves = moves.saturating_sub(1);
            }
        }
        Err(KnownError::NotFound { tried: SAMPLED })
    }

    /// The same among integers and categories, where there are no slopes: random points, improved one parameter at a time.
    fn sample_mixed(&self, domain: &Domain, rng: &mut Rng) -> Result<Vec<f64>, KnownError> {
        let n = domain.parameters().len();
        let (mut cube, mut least) = (vec![0.0; n], f64::INFINITY);
        for round in 0..SAMPLED {
            let mut next = cube.clone();
            if round < REJECTIONS || round % REJECTIONS == 0 {
                next.fill_with(|| rng.between(-1.0, 1.0));
                least = f64::INFINITY;
            } else {
                // Anywhere, or by a step of any size.
                let (j, reach) = (rng.below(n), math::pow(1e-3, rng.unit()));
                let step = if rng.unit() < 0.5 { 2.0 } else { reach };
                next[j] = (next[j] + step * rng.between(-1.0, 1.0)).clamp(-1.0, 1.0);
            }
            let mut x = domain.point(&domain.embed(&next));
            if self.admits(domain, &mut x) {
                return Ok(domain.place(&x));
            }
            let excess = self.excess(domain, &x);
            if excess < least {
                (least, cube) = (excess, next);
            }
        }
        Err(KnownError::NotFound { tried: SAMPLED })
    }

    /// By how much a point leaves the bounds and violates the constraints, in all.
    fn excess(&self, domain: &Domain, x: &[f64]) -> f64 {
        let outside = domain.parameters().iter().zip(x).map(|(p, x)| (x - p.nearest(*x)).abs());
        let linear = self.linear.iter().map(|(a, b)| linalg::dot(a, x) - b);
        let functions = self.functions.iter().map(|f| f(x)).map(|g| if g.is_nan() { f64::INFINITY } else { g });
        outside.chain(linear).chain(functions).map(|g| g.max(0.0)).sum()
    }

    /// The nearest place in the box to `u` that satisfies the constraints to first order, a little inside. Integers and categories stay.
    fn project(&self, domain: &Domain, u: &[f64]) -> Option<Vec<f64>> {
        let d = u.len();
        let mut within = Halfspaces::cube(d, 1.0).moved(u);
        for (g, normal) in self.looks(domain, u, &Frame::of_box(d)) {
            let inside = 1e-9 * linalg::dot(&normal, &normal).sqrt();
            within.push(&normal, -g - inside);
        }
        let step = qp::nearest(d, &within)?;
        Some(u.iter().zip(&step).map(|(u, p)| (u + p).clamp(-1.0, 1.0)).collect())
    }

    /// Each inequality at a point of a frame with its slope there, in units in which a slope has length one; those that are flat are left out.
    pub(crate) fn in_frame(&self, domain: &Domain, frame: &Frame, x: &[f64]) -> Vec<(f64, Vec<f64>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let u: Vec<f64> = frame.place(x).into_iter().map(|u| u.clamp(-1.0, 1.0)).collect();
        let mut rows = self.looks(domain, &u, frame);
        rows.retain(|(_, slope)| linalg::dot(slope, slope) > 0.0);
        for (g, slope) in &mut rows {
            let length = linalg::dot(slope, slope).sqrt();
            *g /= length;
            slope.iter_mut().for_each(|s| *s /= length);
        }
        rows
    }

    /// Each inequality at a place in the box, and its slope along the axes of a frame (equations are satisfied by [`Known::repair`]).
    fn looks(&self, domain: &Domain, u: &[f64], frame: &Frame) -> Vec<(f64, Vec<f64>)> {
        const STEP: f64 = 1e-6;
        let d = u.len();
        let evaluate = |u: &[f64]| -> Vec<f64> {
            let x = domain.point(u);
            let off = |(a, b): &(Vec<f64>, f64)| sum(a, &x) - b;
            let equal = self.equal.iter().map(off).flat_map(|off| [off, -off]);
            self.linear.iter().map(off).chain(equal).chain(self.functions.iter().map(|f| f(&x))).collect()
        };
        let here = evaluate(u);
        let mut rows: Vec<(f64, Vec<f64>)> = here.iter().map(|g| (*g, vec![0.0; d])).collect();
        for j in 0..d {
            let direction: Vec<f64> = frame.rotation().col(j).iter().map(|r| r * frame.scale()[j]).collect();
            let length = linalg::dot(&direction, &direction).sqrt();
            let step = if length > 0.0 { STEP / length } else { STEP };
            // Away from the nearer end of the box.
            let toward = sum(u, &direction);
            let step = if toward > 0.0 { -step } else { step };
            let moved: Vec<f64> = u.iter().zip(&direction).map(|(u, v)| u + step * v).collect();
            for (row, there) in rows.iter_mut().zip(evaluate(&moved)) {
                row.1[j] = (there - row.0) / step;
            }
        }
        rows.retain(|(g, slope)| g.is_finite() && slope.iter().all(|s| s.is_finite()));
        rows
    }
}

/// Σ aⱼ xⱼ, in the order of j.
fn sum(a: &[f64], x: &[f64]) -> f64 {
    a.iter().zip(x).map(|(a, x)| a * x).sum()
}

#[cfg(test)]
mod tests;
