//! Parameters: their types, ranges, labels and conditions.

use super::LARGEST;
use crate::math;
use std::fmt;

/// The powers of ten that a number holds exactly: 10^0 to 10^22.
const EXACT_POWERS: usize = 23;

/// How a parameter's range is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Scale {
    /// Equal steps are equal differences.
    #[default]
    Linear,
    /// Equal steps are equal ratios; needs positive bounds.
    Log,
}

/// A category of a categorical parameter.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(untagged))]
pub enum Label {
    /// Nothing: `None`, `null`.
    Empty,
    /// Yes or no.
    Flag(bool),
    /// An integer.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("none"),
            Self::Flag(flag) => flag.fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Label {
    /// The label as a number; a boolean is 0 or 1.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Flag(flag) => Some(f64::from(u8::from(*flag))),
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Empty | Self::Text(_) => None,
        }
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// The type of a parameter's values.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ParameterKind {
    /// A real number.
    #[default]
    Real,
    /// A real number in steps, such as the resolution of an instrument: `low`, `low + step`, … up to `high`.
    Stepped {
        /// The distance between neighbours.
        step: f64,
    },
    /// An integer: `low`, `low + step`, … up to `high`.
    Integer {
        /// The distance between neighbours.
        step: u64,
    },
    /// One of several labels; a point has the number of the label, from 0.
    Categorical {
        /// The labels.
        labels: Vec<Label>,
        /// Whether neighbours in the list resemble each other.
        ordered: bool,
    },
    /// A boolean; a point has 0 or 1.
    Boolean,
}

/// A condition: a parameter applies only while another has certain values.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Condition {
    /// The name of the other parameter, which comes before this one.
    pub parameter: String,
    /// The values, as in a point: an integer, the number of a label, 0 or 1.
    pub values: Vec<f64>,
}

/// A parameter: its name, type and range.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Parameter {
    /// Name, unique within a domain.
    pub name: String,
    /// Smallest value, included.
    pub low: f64,
    /// Largest value, included.
    pub high: f64,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// The type of its values.
    #[cfg_attr(feature = "serde", serde(default, rename = "type", skip_serializing_if = "ParameterKind::is_real"))]
    pub kind: ParameterKind,
    /// The condition under which it applies; `None`: always.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub when: Option<Condition>,
}

impl ParameterKind {
    #[cfg(feature = "serde")]
    fn is_real(&self) -> bool {
        *self == Self::Real
    }

    /// The name of the type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Real | Self::Stepped { .. } => "real",
            Self::Integer { .. } => "integer",
            Self::Categorical { .. } => "categorical",
            Self::Boolean => "boolean",
        }
    }
}

impl Parameter {
    fn new(name: &str, low: f64, high: f64, kind: ParameterKind) -> Self {
        Self { name: name.into(), low, high, scale: Scale::Linear, kind, when: None }
    }

    /// A real number.
    pub fn real(name: &str, low: f64, high: f64) -> Self {
        Self::new(name, low, high, ParameterKind::Real)
    }

    /// An integer.
    pub fn integer(name: &str, low: f64, high: f64) -> Self {
        Self::new(name, low, high, ParameterKind::Integer { step: 1 })
    }

    /// One of several labels. With a single label its value is fixed.
    pub fn categorical<L: Into<Label>>(name: &str, labels: impl IntoIterator<Item = L>) -> Self {
        let labels: Vec<Label> = labels.into_iter().map(Into::into).collect();
        let high = labels.len().saturating_sub(1) as f64;
        Self::new(name, 0.0, high, ParameterKind::Categorical { labels, ordered: false })
    }

    /// A boolean.
    pub fn boolean(name: &str) -> Self {
        Self::new(name, 0.0, 1.0, ParameterKind::Boolean)
    }

    /// The same on another scale.
    pub fn scaled(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// The same integer in steps.
    pub fn in_steps(self, step: u64) -> Self {
        Self { kind: ParameterKind::Integer { step }, ..self }
    }

    /// The same real number in steps.
    pub fn with_step(self, step: f64) -> Self {
        Self { kind: ParameterKind::Stepped { step }, ..self }
    }

    /// The same labels in an order: neighbours resemble each other.
    pub fn ordered(mut self) -> Self {
        if let ParameterKind::Categorical { ordered, .. } = &mut self.kind {
            *ordered = true;
        }
        self
    }

    /// The same parameter, which applies only while another parameter has one of these values (as in a point).
    pub fn when(self, parameter: &str, values: &[f64]) -> Self {
        Self { when: Some(Condition { parameter: parameter.into(), values: values.to_vec() }), ..self }
    }

    /// The number of values; `None` for a real, unless its bounds are equal: then it is fixed.
    pub fn levels(&self) -> Option<u64> {
        match &self.kind {
            ParameterKind::Real => (self.low == self.high).then_some(1),
            ParameterKind::Categorical { labels, .. } => Some(labels.len() as u64),
            ParameterKind::Stepped { .. } | ParameterKind::Integer { .. } => {
                Some(((self.high - self.low) / self.step()).round() as u64 + 1)
            }
            ParameterKind::Boolean => Some(2),
        }
    }

    /// The distance between neighbours; 0 for a real.
    pub(crate) fn step(&self) -> f64 {
        match &self.kind {
            ParameterKind::Real => 0.0,
            ParameterKind::Stepped { step } => *step,
            ParameterKind::Integer { step } => *step as f64,
            ParameterKind::Categorical { .. } | ParameterKind::Boolean => 1.0,
        }
    }

    /// Level `k`, as in a point.
    pub(crate) fn level(&self, k: u64) -> f64 {
        self.after(k as f64).min(self.high)
    }

    /// The value so many steps above the lowest.
    fn after(&self, steps: f64) -> f64 {
        match self.kind {
            ParameterKind::Stepped { step } if steps >= ((self.high - self.low) / step).round() => self.high,
            ParameterKind::Stepped { step } => steps_above(self.low, step, steps),
            _ => self.low + self.step() * steps,
        }
    }

    /// The nearest allowed value; if the bounds are not valid, any value is allowed.
    pub fn nearest(&self, value: f64) -> f64 {
        let step = self.step();
        if self.low.is_nan() || self.high.is_nan() || self.low > self.high {
            return value;
        }
        if step == 0.0 {
            return value.clamp(self.low, self.high);
        }
        self.after(((value - self.low) / step).round()).clamp(self.low, self.high)
    }

    /// A value as people read it: the number, or the label.
    pub fn show(&self, value: f64) -> String {
        self.label(value).to_string()
    }

    /// The value that a number of a point stands for: a number of its type, or the label.
    pub fn label(&self, value: f64) -> Label {
        match &self.kind {
            ParameterKind::Real | ParameterKind::Stepped { .. } => Label::Number(value),
            ParameterKind::Integer { .. } => Label::Whole(value as i64),
            ParameterKind::Boolean => Label::Flag(value != 0.0),
            ParameterKind::Categorical { labels, .. } => labels.get(value as usize).cloned().unwrap_or(Label::Empty),
        }
    }

    /// A value of a point as a number for computations: booleans are 0 and 1, and a category must be a number itself.
    pub fn number(&self, value: f64) -> Option<f64> {
        match &self.kind {
            ParameterKind::Categorical { labels, .. } => labels.get(value as usize)?.number(),
            _ => Some(value),
        }
    }

    /// Half of a range and its middle, in the linear or the logarithmic coordinate; no overflow for finite bounds. Values in steps
    /// have cells of one step, and the range ends with the cells of the first and the last.
    pub(super) fn middle_and_half(&self) -> (f64, f64) {
        let margin = 0.5 * self.step();
        let (low, high) = match self.scale {
            Scale::Linear => (self.low - margin, self.high + margin),
            Scale::Log => (math::ln(self.low - margin), math::ln(self.high + margin)),
        };
        (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)
    }
}

/// The value so many steps above another. Steps of decimals end at decimals: at 0.3, not at 0.1 + 0.1 + 0.1.
pub(super) fn steps_above(low: f64, step: f64, steps: f64) -> f64 {
    let whole = |power: f64| ((low * power).round(), (step * power).round());
    let exact = |power: &f64| {
        let (l, s) = whole(*power);
        l / power == low && s / power == step && l.abs() + s * steps < LARGEST
    };
    let mut powers = std::iter::successors(Some(1.0), |power| Some(power * 10.0)).take(EXACT_POWERS);
    match powers.find(exact) {
        Some(power) => (whole(power).0 + whole(power).1 * steps) / power,
        None => low + step * steps,
    }
}
