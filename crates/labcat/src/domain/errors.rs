//! What can be wrong with a domain or a point.

use super::Label;

/// What is wrong with a domain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DomainError {
    /// There is no parameter.
    #[error("no parameters: give at least one (low, high) pair")]
    Empty,
    /// The bounds make no range: one is not finite, low is not below high, or a log scale reaches zero.
    #[error("bounds of {name} are ({low}, {high}): {allowed}")]
    Bounds {
        /// The parameter's name.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Two parameters have the same name.
    #[error("two parameters are named {name}: names must differ")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The values of an integer, or of a real in steps, do not fill its range.
    #[error("{name} has low {low}, high {high}, step {step}: {allowed}")]
    Steps {
        /// The parameter's name.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
        /// Its step.
        step: f64,
        /// What is allowed.
        allowed: String,
    },
    /// A categorical parameter has no labels, or one of them twice.
    #[error("the labels of {name} are [{}]: there must be at least one, all different", crate::domain::list(.labels))]
    Labels {
        /// The parameter's name.
        name: String,
        /// Its labels.
        labels: Vec<Label>,
    },
    /// A categorical or boolean parameter has a scale, or bounds that do not follow from its labels.
    #[error("{name} is {kind}: it has no bounds or scale of its own")]
    NoRange {
        /// The parameter's name.
        name: String,
        /// Its type.
        kind: &'static str,
    },
    /// A condition names a parameter that does not come before.
    #[error("{name} depends on {other:?}: a condition names a parameter that comes before ({})", .before.join(", "))]
    ConditionOn {
        /// The parameter's name.
        name: String,
        /// The name in its condition.
        other: String,
        /// The names that are allowed.
        before: Vec<String>,
    },
    /// A condition's value is none of the other parameter's.
    #[error("{name} depends on {other} = {value}: {why}")]
    ConditionValue {
        /// The parameter's name.
        name: String,
        /// The other parameter's.
        other: String,
        /// The value, as in a point.
        value: f64,
        /// What is wrong with it.
        why: String,
    },
}

/// What is wrong with a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointError {
    /// The number of coordinates differs from the number of parameters.
    #[error("the point has {got} coordinates: this domain has {expected} parameters")]
    WrongLength {
        /// Coordinates given.
        got: usize,
        /// Parameters of the domain.
        expected: usize,
    },
    /// A coordinate lies outside its bounds, or is NaN.
    #[error("{name} = {value} is not allowed: it must lie in [{low}, {high}]")]
    Outside {
        /// The parameter's name.
        name: String,
        /// The coordinate.
        value: f64,
        /// The parameter's lower bound.
        low: f64,
        /// The parameter's upper bound.
        high: f64,
    },
    /// The point violates a known constraint.
    #[error("the point violates a known constraint")]
    Violates,
    /// A coordinate lies between the values of a parameter in steps.
    #[error("{name} = {value} is not allowed: it takes {low}, {}, … up to {high}", .low + .step)]
    BetweenSteps {
        /// The parameter's name.
        name: String,
        /// The coordinate.
        value: f64,
        /// The parameter's lower bound.
        low: f64,
        /// The parameter's upper bound.
        high: f64,
        /// The distance between its values.
        step: f64,
    },
}
