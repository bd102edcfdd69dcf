//! Everything that was told, append-only, and the only entry for values of the objective.

use crate::domain::Domain;
use crate::linalg;
use crate::names::{UnknownName, unknown};
use std::collections::BTreeSet;
use std::fmt;

/// The number of an evaluation, from `ask` to `tell`. Ids count up from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct TrialId(pub u64);

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[strum(serialize_all = "snake_case", parse_err_ty = UnknownName, parse_err_fn = unknown::<Self>)]
pub enum Direction {
    /// Smaller values are better.
    #[default]
    Minimize,
    /// Larger values are better.
    Maximize,
}

impl Direction {
    /// The value as the algorithm sees it: smaller is better. Its own inverse.
    pub(crate) fn orient(self, value: f64) -> f64 {
        match self {
            Self::Minimize => value,
            Self::Maximize => -value,
        }
    }
}

/// The result of an evaluation, in the user's units and direction. It is made from a value (`2.5.into()`), from residuals, or by
/// [`Outcome::failed`]. Each part may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Outcome {
    /// The objective, finite; `None` if the evaluation failed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    value: Option<f64>,
    /// Why there is no value, if a reason was given.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    reason: Option<String>,
    /// Standard deviation of the noise in the value, if it is known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    std: Option<f64>,
    /// Measured constraints, finite; each is satisfied when ≤ 0.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    constraints: Vec<f64>,
    /// Standard deviation of the noise in each constraint; NaN if unknown, empty if none is known.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty", with = "gaps"))]
    constraint_std: Vec<f64>,
    /// The residuals of a least-squares problem, finite: the value is the sum of their squares.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty"))]
    residuals: Vec<f64>,
    /// The derivatives of the residuals, by the first parameter, then by the next; NaN if unknown.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty", with = "gaps"))]
    jacobian: Vec<f64>,
    /// Derivatives of the value by each parameter; NaN if unknown.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Vec::is_empty", with = "gaps"))]
    gradient: Vec<f64>,
}

/// JSON has no NaN: an unknown number is null.
#[cfg(feature = "serde")]
mod gaps {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|v| v.is_finite().then_some(*v)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
        let known = numbers.iter().any(Option::is_some);
        Ok(numbers.into_iter().filter(|_| known).map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

impl From<f64> for Outcome {
    /// A value that is not finite is a failed evaluation.
    fn from(value: f64) -> Self {
        if value.is_finite() {
            Self { value: Some(value), ..Self::default() }
        } else {
            Self::failed(&format!("the value is {value}"))
        }
    }
}

impl Outcome {
    /// The residuals of a least-squares problem; the value is the sum of their squares. If a residual is not finite, the evaluation has failed.
    ///
    /// ```
    /// let outcome = labcat::Outcome::of_residuals(vec![3.0, -4.0]);
    /// assert_eq!(outcome.value(), Some(25.0));
    /// ```
    pub fn of_residuals(residuals: Vec<f64>) -> Self {
        let outcome = Self::from(linalg::dot(&residuals, &residuals));
        match residuals.iter().position(|r| outcome.is_failed() && !r.is_finite()) {
            Some(wrong) => Self::failed(&format!("residual {wrong} is {}", residuals[wrong])),
            None if outcome.is_failed() => outcome,
            None => Self { residuals, ..outcome },
        }
    }

    /// The residuals; empty if none were told.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// A failed evaluation, with its reason; an empty text is no reason.
    pub fn failed(reason: &str) -> Self {
        Self { reason: (!reason.is_empty()).then(|| reason.to_owned()), ..Self::default() }
    }

    /// The same with measured constraints; each is satisfied when ≤ 0. The value may be missing if one is violated. If a constraint is not
    /// finite, the whole evaluation has failed.
    ///
    /// ```
    /// let outcome = labcat::Outcome::from(2.5).with_constraints(vec![-1.0, 0.25]);
    /// assert!(!outcome.is_feasible());
    /// assert_eq!(outcome.violation(), 0.25);
    /// ```
    #[must_use]
    pub fn with_constraints(mut self, constraints: Vec<f64>) -> Self {
        match constraints.iter().position(|g| !g.is_finite()) {
            Some(wrong) => Self::failed(&format!("constraint {wrong} is {}", constraints[wrong])),
            None => {
                self.constraints = constraints;
                self
            }
        }
    }

    /// The same with the derivatives of the value by each parameter; a derivative that is NaN or infinite is unknown.
    #[must_use]
    pub fn with_gradient(mut self, gradient: Vec<f64>) -> Self {
        self.gradient = if gradient.iter().any(|g| g.is_finite()) { gradient } else { Vec::new() };
        self
    }

    /// The same with the derivatives of the residuals: of all residuals by the first parameter, then by the next. A derivative that is NaN or
    /// infinite is unknown. The derivatives of the value follow from them.
    ///
    /// ```
    /// let outcome = labcat::Outcome::of_residuals(vec![3.0, -4.0]).with_jacobian(vec![1.0, 0.0, 2.0, f64::NAN]);
    /// assert_eq!(outcome.gradient()[0], 6.0);
    /// assert!(outcome.gradient()[1].is_nan());
    /// ```
    #[must_use]
    pub fn with_jacobian(mut self, jacobian: Vec<f64>) -> Self {
        if self.residuals.is_empty() || jacobian.is_empty() {
            return self;
        }
        let along = |column: &[f64]| 2.0 * column.iter().zip(&self.residuals).map(|(j, r)| j * r).sum::<f64>();
        let gradient = jacobian.chunks(self.residuals.len()).map(along).collect();
        self.jacobian = if jacobian.iter().any(|j| j.is_finite()) { jacobian } else { Vec::new() };
        self.with_gradient(gradient)
    }

    /// The derivatives of the residuals by a parameter; empty unless all of them were told.
    pub fn jacobian(&self, parameter: usize) -> &[f64] {
        let column = self.jacobian.chunks(self.residuals.len().max(1)).nth(parameter).unwrap_or_default();
        if column.iter().all(|j| j.is_finite()) { column } else { &[] }
    }

    /// Whether the derivatives of the residuals, if told, are by this number of parameters.
    pub(crate) fn has_jacobian_of(&self, parameters: usize) -> bool {
        self.jacobian.is_empty() || self.jacobian.len() == parameters * self.residuals.len()
    }

    /// The measured constraints; empty if none were told.
    pub fn constraints(&self) -> &[f64] {
        &self.constraints
    }

    /// The derivatives of the value, NaN if unknown; empty if none were told.
    pub fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The total violation: the sum of the constraints above 0.
    pub fn violation(&self) -> f64 {
        self.constraints.iter().map(|g| g.max(0.0)).sum()
    }

    /// Whether there is a value and no constraint is violated.
    pub fn is_feasible(&self) -> bool {
        self.value.is_some() && self.constraints.iter().all(|g| *g <= 0.0)
    }

    /// The same with the standard deviation of the noise in its value, in units of the objective. A failure has none.
    ///
    /// ```
    /// use labcat::Outcome;
    ///
    /// assert_eq!(Outcome::from(2.5).with_std(0.1)?.std(), Some(0.1));
    /// assert!(Outcome::from(2.5).with_std(-0.1).is_err());
    /// # Ok::<(), labcat::StdError>(())
    /// ```
    pub fn with_std(self, std: f64) -> Result<Self, StdError> {
        if is_std(std) { Ok(Self { std: self.value.map(|_| std), ..self }) } else { Err(StdError { std }) }
    }

    /// The same with the standard deviation of the noise in each constraint; NaN if unknown.
    ///
    /// ```
    /// use labcat::Outcome;
    ///
    /// let outcome = Outcome::from(2.5).with_constraints(vec![-1.0]).with_constraint_std(vec![0.1])?;
    /// assert_eq!(outcome.constraint_std(), [0.1]);
    /// # Ok::<(), labcat::StdError>(())
    /// ```
    pub fn with_constraint_std(mut self, std: Vec<f64>) -> Result<Self, StdError> {
        if let Some(&std) = std.iter().find(|s| !(s.is_nan() || is_std(**s))) {
            return Err(StdError { std });
        }
        self.constraint_std = if std.iter().all(|s| s.is_nan()) { Vec::new() } else { std };
        Ok(self)
    }

    /// Standard deviation of the noise in each constraint, NaN if unknown; empty if none was told.
    pub fn constraint_std(&self) -> &[f64] {
        &self.constraint_std
    }

    /// Standard deviation of the noise in the value, if it was told.
    pub fn std(&self) -> Option<f64> {
        self.std
    }

    /// The value, unless the evaluation failed.
    pub fn value(&self) -> Option<f64> {
        self.value
    }

    /// Whether there is no value.
    pub fn is_failed(&self) -> bool {
        self.value.is_none()
    }

    /// Why there is no value, if a reason was given.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}

fn is_std(std: f64) -> bool {
    std.is_finite() && std >= 0.0
}

/// A number that is not a standard deviation.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("std = {std} is not the standard deviation of a value: it must be a finite number of at least 0")]
pub struct StdError {
    /// The number.
    pub std: f64,
}

/// One finished evaluation.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evaluation {
    /// Its id.
    pub id: TrialId,
    /// The point, in user units.
    pub x: Vec<f64>,
    /// Its result.
    pub outcome: Outcome,
    /// The local run it belongs to: 0, then one more with each restart.
    pub run: usize,
}

/// The evaluations in the order told, with their places in the box [−1, 1]^d.
#[derive(Clone, Debug)]
pub(crate) struct Observations {
    direction: Direction,
    evaluations: Vec<Evaluation>,
    /// Places in the box, d numbers per evaluation.
    unit: Vec<f64>,
    d: usize,
    best: Option<usize>,
    /// Those told at points that known constraints forbid: none of them is the best.
    forbidden: BTreeSet<usize>,
}

impl Observations {
    /// Of places in `d` dimensions, with room for `n`.
    pub(crate) fn new(direction: Direction, d: usize, n: usize) -> Self {
        let (evaluations, unit) = (Vec::with_capacity(n), Vec::with_capacity(n * d));
        Self { direction, evaluations, unit, d, best: None, forbidden: BTreeSet::new() }
    }

    /// Appends and gives the position.
    pub(crate) fn push(&mut self, domain: &Domain, evaluation: Evaluation) -> usize {
        let position = self.evaluations.len();
        self.unit.resize((position + 1) * self.d, 0.0);
        domain.to_unit(&evaluation.x, &mut self.unit[position * self.d..]);
        self.evaluations.push(evaluation);
        if self.better(position, self.best) {
            self.best = Some(position);
        }
        position
    }

    /// Replaces the outcome of an evaluation.
    pub(crate) fn revise(&mut self, position: usize, outcome: Outcome) {
        self.evaluations[position].outcome = outcome;
        self.find_best();
    }

    fn find_best(&mut self) {
        self.best = (0..self.evaluations.len()).fold(None, |best, p| if self.better(p, best) { Some(p) } else { best });
    }

    /// Finds out from a position on which points are allowed.
    pub(crate) fn forbid(&mut self, from: usize, allows: impl Fn(&[f64]) -> bool) {
        _ = self.forbidden.split_off(&from);
        self.forbidden.extend((from..self.evaluations.len()).filter(|&p| !allows(&self.evaluations[p].x)));
        self.find_best();
    }

    /// The best value among the feasible evaluations, oriented so that smaller is better.
    pub(crate) fn incumbent(&self) -> Option<f64> {
        self.best.and_then(|p| self.feasible_value(p))
    }

    /// The outcome of an evaluation, as it was told.
    pub(crate) fn outcome(&self, position: usize) -> &Outcome {
        &self.evaluations[position].outcome
    }

    /// The value of an evaluation that satisfies its constraints.
    pub(crate) fn feasible_value(&self, position: usize) -> Option<f64> {
        self.value(position).filter(|_| self.outcome(position).is_feasible())
    }

    /// The derivatives of the oriented value by the parameters, NaN where not known; empty if none were told.
    pub(crate) fn gradient(&self, position: usize) -> impl Iterator<Item = f64> {
        self.outcome(position).gradient().iter().map(|g| self.direction.orient(*g))
    }

    /// The residuals of an evaluation; empty if none were told.
    pub(crate) fn residuals(&self, position: usize) -> &[f64] {
        self.outcome(position).residuals()
    }

    /// The sum of the squares by which those of two evaluations differ.
    pub(crate) fn change(&self, a: usize, b: usize) -> f64 {
        self.residuals(a).iter().zip(self.residuals(b)).map(|(a, b)| (a - b).powi(2)).sum()
    }

    /// Whether the evaluation at `position` succeeded and beats `other` (the earlier of equals stays).
    fn better(&self, position: usize, other: Option<usize>) -> bool {
        let old = other.and_then(|o| self.merit(o));
        let allowed = !self.forbidden.contains(&position);
        self.merit(position).is_some_and(|new| allowed && old.is_none_or(|old| new < old))
    }

    /// What orders the evaluations: whether constraints are violated, then by how much or else the value; `None` for a failure.
    fn merit(&self, position: usize) -> Option<(bool, f64)> {
        let outcome = self.outcome(position);
        let by = outcome.violation();
        if by > 0.0 { Some((true, by)) } else { self.value(position).map(|value| (false, value)) }
    }

    pub(crate) fn len(&self) -> usize {
        self.evaluations.len()
    }

    pub(crate) fn all(&self) -> &[Evaluation] {
        &self.evaluations
    }

    pub(crate) fn position(&self, id: TrialId) -> Option<usize> {
        self.evaluations.iter().rposition(|e| e.id == id)
    }

    pub(crate) fn best(&self) -> Option<usize> {
        self.best
    }

    /// Place in the box.
    pub(crate) fn unit(&self, position: usize) -> &[f64] {
        &self.unit[position * self.d..(position + 1) * self.d]
    }

    /// Value oriented so that smaller is better; `None` for a failure.
    pub(crate) fn value(&self, position: usize) -> Option<f64> {
        self.outcome(position).value().map(|v| self.direction.orient(v))
    }
}
