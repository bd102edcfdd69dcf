//! Errors of domains and points.

use super::Label;

/// An error of a domain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum DomainError {
    /// There is no parameter.
    #[error("no parameters: give at least one (low, high) pair")]
    Empty,
    /// The bounds are not a range: one is not finite, low is not below high, or a log scale reaches zero.
    #[error("bounds of {name} are ({low}, {high}): {allowed}")]
    Bounds { name: String, low: f64, high: f64, allowed: &'static str },
    /// Two parameters have the same name.
    #[error("two parameters are named {name}: names must differ")]
    DuplicateName { name: String },
    /// The values of an integer, or of a real in steps, do not fill its range.
    #[error("{name} has low {low}, high {high}, step {step}: {allowed}")]
    Steps { name: String, low: f64, high: f64, step: f64, allowed: String },
    /// A categorical parameter has no labels, or one of them twice.
    #[error("the labels of {name} are [{}]: there must be at least one, all different", crate::domain::list(.labels))]
    Labels { name: String, labels: Vec<Label> },
    /// A categorical or boolean parameter has a scale, or bounds that do not follow from its labels.
    #[error("{name} is {kind}: it has no bounds or scale of its own")]
    NoRange { name: String, kind: &'static str },
    /// A condition names a parameter that does not come before.
    #[error("{name} depends on {other:?}: a condition names a parameter that comes before ({})", .before.join(", "))]
    ConditionOn { name: String, other: String, before: Vec<String> },
    /// A condition has a value that the other parameter never has.
    #[error("{name} depends on {other} = {value}: {why}")]
    ConditionValue { name: String, other: String, value: f64, why: String },
}

/// An error of a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum PointError {
    /// The number of coordinates differs from the number of parameters.
    #[error("the point has length {got}: it must be {expected}, one number for each parameter")]
    WrongLength { got: usize, expected: usize },
    /// A coordinate lies outside its bounds, or is NaN.
    #[error("{name} = {value} is not allowed: it must lie in [{low}, {high}]")]
    Outside { name: String, value: f64, low: f64, high: f64 },
    /// The point violates a known constraint.
    #[error("the point violates a known constraint")]
    Violates,
    /// A coordinate lies between the values of a parameter in steps.
    #[error("{name} = {value} is not allowed: it must be one of {low}, {}, … {high}", .low + .step)]
    BetweenSteps { name: String, value: f64, low: f64, high: f64, step: f64 },
}
