//! Constraints as text, such as `x + 2*y <= 1`. A formula can use only the names it is given, and no file or program.
//!
//! ```text
//! formula  = sum, comparison, sum, { comparison, sum }          comparison = "<=" | ">=" | "=="
//! sum      = product, { ("+" | "-"), product }
//! product  = signed, { ("*" | "/"), signed }
//! signed   = { "+" | "-" }, power
//! power    = atom, [ ("^" | "**"), signed ]
//! atom     = number | "pi" | name | "{", any name, "}" | function, "(", sum, { ",", sum }, ")" | "(", sum, ")"
//! ```

mod parse;

use labcat_numerics::math;
use std::fmt;
use std::ops::Range;

/// A constraint as text: sums compared by `<=`, `>=` or `==`, of numbers, names, `+ - * / ^`, parentheses and functions.
///
/// ```
/// use labcat_formula::Formula;
///
/// let formula = Formula::parse("0 <= x + 2*y <= sqrt(z)")?;
/// assert_eq!(formula.names().collect::<Vec<_>>(), ["x", "y", "z"]);
/// // How far the sides of each comparison are apart: satisfied when not above 0.
/// assert_eq!(formula.excesses(&[1.0, 1.0, 4.0]), [-3.0, 1.0]);
/// assert_eq!(Formula::parse("x + 2y <= 1").unwrap_err().column, 6);
/// # Ok::<(), labcat_formula::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    names: Vec<Name>,
    /// Each comparison alone.
    parts: Vec<String>,
    /// One more than comparisons.
    sides: Vec<Side>,
    /// `<=`, `>=` or `==`.
    comparisons: Vec<&'static str>,
}

/// A name of a formula, and the column where it stands first.
#[derive(Clone, Debug, PartialEq)]
struct Name {
    name: String,
    column: usize,
}

/// What is wrong with a formula, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct FormulaError {
    /// The column, in characters from 1.
    pub column: usize,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// What is compared, in the order of its computation: each step takes numbers from a stack and leaves one.
type Side = Vec<Step>;

/// A step of a computation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Number(f64),
    /// The value of a name, by its place among them.
    Value(usize),
    /// By its place among the [`RULES`].
    Apply(usize),
}

/// What is computed of one number, of two, or of two and more, one after another.
#[derive(Clone, Copy)]
enum Rule {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    Many(fn(f64, f64) -> f64),
}

/// What formulas compute: the operators, then the functions. `pow` is both.
const RULES: [(&str, Rule); 23] = [
    ("-", Rule::One(|a| -a)),
    ("+", Rule::Two(|a, b| a + b)),
    ("-", Rule::Two(|a, b| a - b)),
    ("*", Rule::Two(|a, b| a * b)),
    ("/", Rule::Two(|a, b| a / b)),
    ("pow", Rule::Two(power)),
    ("abs", Rule::One(f64::abs)),
    ("sqrt", Rule::One(f64::sqrt)),
    ("exp", Rule::One(math::exp)),
    ("log", Rule::One(math::ln)),
    ("ln", Rule::One(math::ln)),
    ("log10", Rule::One(libm::log10)),
    ("log2", Rule::One(libm::log2)),
    ("sin", Rule::One(math::sin)),
    ("cos", Rule::One(math::cos)),
    ("tan", Rule::One(libm::tan)),
    ("asin", Rule::One(libm::asin)),
    ("acos", Rule::One(libm::acos)),
    ("atan", Rule::One(libm::atan)),
    ("atan2", Rule::Two(libm::atan2)),
    ("tanh", Rule::One(libm::tanh)),
    ("min", Rule::Many(least)),
    ("max", Rule::Many(largest)),
];
const NEGATE: usize = 0;
const ADD: usize = 1;
const SUBTRACT: usize = 2;
const MULTIPLY: usize = 3;
const DIVIDE: usize = 4;
const POWER: usize = 5;
const FUNCTIONS: Range<usize> = POWER..RULES.len();

/// A power; the square is the rounded product, as elsewhere.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 2.0 { base * base } else { math::pow(base, exponent) }
}

/// The smaller number; NaN if either is (f64::min would hide it).
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// The larger number; NaN if either is.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        parse::formula(text)
    }

    /// The names it has, in the order of their first appearance.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|n| n.name.as_str())
    }

    /// The text of each comparison: of `0 <= x <= 1` both `0 <= x` and `x <= 1`.
    pub fn comparisons(&self) -> &[String] {
        &self.parts
    }

    /// Whether comparison `k` is a `==`.
    pub fn is_equation(&self, k: usize) -> bool {
        self.comparisons.get(k) == Some(&"==")
    }

    /// Whether there is a `==`.
    pub fn has_equation(&self) -> bool {
        self.comparisons.contains(&"==")
    }

    /// By how much each comparison is violated, given the values of its names in their order: satisfied when not above 0, and nowhere
    /// where it is NaN.
    pub fn excesses(&self, values: &[f64]) -> Vec<f64> {
        (0..self.comparisons.len()).map(|k| self.excess(k, values)).collect()
    }

    /// Of comparison `k`.
    pub fn excess(&self, k: usize, values: &[f64]) -> f64 {
        let [low, high] = self.sides(k).map(|side| evaluate(side, values));
        if self.comparisons[k] == "==" { (low - high).abs() } else { low - high }
    }

    /// The sides of a comparison, first the one that is to be the smaller.
    fn sides(&self, k: usize) -> [&Side; 2] {
        let [left, right] = [&self.sides[k], &self.sides[k + 1]];
        if self.comparisons[k] == ">=" { [right, left] } else { [left, right] }
    }

    /// Comparison `k` as a linear one of the names: factors, and what their sum is at most or equal to; `None` if it is not linear.
    pub fn linear(&self, k: usize) -> Option<(Vec<f64>, f64)> {
        let n = self.names.len();
        let [low, high] = self.sides(k).map(|side| linear(side, n));
        let (low, high) = (low?, high?);
        let factors: Vec<f64> = (0..n).map(|name| low[name] - high[name]).collect();
        factors.iter().any(|f| *f != 0.0).then_some((factors, high[n] - low[n]))
    }

    /// What is wrong with a name, at the column where it stands first.
    pub fn error(&self, name: usize, message: String) -> FormulaError {
        FormulaError { column: self.names.get(name).map_or(1, |n| n.column), message }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What the steps compute, in numbers of any kind: `leaf` makes them of the steps that take none, `apply` one of one or two.
fn compute<T>(steps: &[Step], leaf: impl Fn(Step) -> T, apply: impl Fn(usize, T, Option<T>) -> Option<T>) -> Option<T> {
    let mut stack = Vec::with_capacity(steps.len());
    for &step in steps {
        let result = match step {
            Step::Apply(k) => {
                let right = if matches!(RULES[k].1, Rule::One(_)) { None } else { Some(stack.pop()?) };
                apply(k, stack.pop()?, right)?
            }
            step => leaf(step),
        };
        stack.push(result);
    }
    stack.pop()
}

/// The number that a rule makes of one or two.
fn apply(k: usize, left: f64, right: Option<f64>) -> f64 {
    match RULES[k].1 {
        Rule::One(rule) => rule(left),
        Rule::Two(rule) | Rule::Many(rule) => rule(left, right.unwrap_or(f64::NAN)),
    }
}

/// The number that the steps compute.
fn evaluate(steps: &[Step], values: &[f64]) -> f64 {
    let leaf = |step| match step {
        Step::Number(number) => number,
        Step::Value(name) | Step::Apply(name) => values.get(name).copied().unwrap_or(f64::NAN),
    };
    compute(steps, leaf, |k, left, right| Some(apply(k, left, right))).unwrap_or(f64::NAN)
}

/// What the steps compute as a linear function of `n` names, if they do: the factors of the names, and the constant after them.
fn linear(steps: &[Step], n: usize) -> Option<Vec<f64>> {
    let one = |k: usize, value: f64| {
        let mut all = vec![0.0; n + 1];
        all[k] = value;
        all
    };
    let leaf = |step| match step {
        Step::Number(number) => one(n, number),
        Step::Value(name) | Step::Apply(name) => one(name, 1.0),
    };
    let is_constant = |of: &[f64]| of[..n].iter().all(|f| *f == 0.0);
    let linear = compute(steps, leaf, |k, left: Vec<f64>, right: Option<Vec<f64>>| {
        let constant = right.as_ref().is_none_or(|right| is_constant(right));
        let at = |all: &Option<Vec<f64>>, i: usize| all.as_ref().map(|all| all[i]);
        match k {
            NEGATE | ADD | SUBTRACT => Some((0..=n).map(|i| apply(k, left[i], at(&right, i))).collect()),
            MULTIPLY if is_constant(&left) => Some((0..=n).map(|i| apply(k, left[n], at(&right, i))).collect()),
            MULTIPLY | DIVIDE if constant => Some(left.iter().map(|l| apply(k, *l, at(&right, n))).collect()),
            _ if is_constant(&left) && constant => Some(one(n, apply(k, left[n], at(&right, n)))),
            _ => None,
        }
    })?;
    linear.iter().all(|v| v.is_finite()).then_some(linear)
}

#[cfg(test)]
mod tests;
