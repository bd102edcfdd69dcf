//! The types of option values: how each is read, shown and bounded.

use super::Scope;
use crate::acquisition::AcquisitionKind;
use crate::gp::kernel::KernelKind;
use crate::gp::likelihood::Curvature;
use crate::observations::Direction;
use strum::VariantNames;

/// The values an option takes, besides the `none` of an optional one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// An integer within the range.
    Whole,
    /// A number within the range.
    Number,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names or a number within the range.
    NumberOr(&'static [&'static str]),
}

/// Noise in the values of the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Noise {
    /// Values are exact.
    #[default]
    None,
    /// Found out: values are taken as exact until the model doubts it and an evaluation at the same point gives another value; then
    /// the standard deviation is estimated.
    Auto,
    /// Its standard deviation, in units of the objective.
    #[cfg_attr(feature = "serde", serde(untagged))]
    Sigma(f64),
}

/// An interval, each end with or without its end point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: f64,
    /// Whether `low` itself is allowed.
    pub low_included: bool,
    /// The upper end; infinite for none.
    pub high: f64,
    /// Whether `high` itself is allowed.
    pub high_included: bool,
}

/// Any finite number.
pub(super) const ANY: Range =
    Range { low: f64::NEG_INFINITY, low_included: false, high: f64::INFINITY, high_included: false };

/// Finite numbers above 0.
pub(super) const POSITIVE: Range = above(0.0, f64::INFINITY);

/// [low, high], or [low, ∞) for finite numbers.
pub(super) const fn from(low: f64, high: f64) -> Range {
    Range { low, low_included: true, high, high_included: high.is_finite() }
}

/// (low, high], or (low, ∞).
pub(super) const fn above(low: f64, high: f64) -> Range {
    Range { low, low_included: false, high, high_included: high.is_finite() }
}

/// [low, high).
pub(super) const fn below(low: f64, high: f64) -> Range {
    Range { low, low_included: true, high, high_included: false }
}

impl Range {
    pub(super) fn contains(&self, v: f64) -> bool {
        (self.low < v || (self.low_included && v == self.low))
            && (v < self.high || (self.high_included && v == self.high))
    }

    /// The interval in words, after "a number" or "an integer".
    pub(super) fn words(&self) -> String {
        let Range { low, low_included, high, high_included } = *self;
        // The largest integer as it is: the nearest f64 lies above it.
        let most = if high == u64::MAX as f64 { u64::MAX.to_string() } else { high.to_string() };
        match (low.is_finite(), high.is_finite()) {
            (false, _) => String::new(),
            (true, false) if low_included => format!(" of at least {low}"),
            (true, false) => format!(" above {low}"),
            (true, true) => {
                let start = if low_included { format!(" from {low}") } else { format!(" above {low},") };
                format!("{start} to {}{most}", if high_included { "" } else { "below " })
            }
        }
    }
}

/// A type that an option can have.
pub(super) trait Value: Sized {
    const KIND: Kind;
    const OPTIONAL: bool = false;

    /// From text; `None` if it is not a value of this type.
    fn read(text: &str) -> Option<Self>;

    /// As text that [`Value::read`] takes.
    fn show(&self) -> String;

    /// The number to hold against a range, if it is one.
    fn number(&self) -> Option<f64>;
}

/// Types that are read and shown as the standard library does: each with its kind and the number that it is, if it is one.
macro_rules! values {
    ($($type:ty: $kind:expr, $number:expr;)+) => {
        $(impl Value for $type {
            const KIND: Kind = $kind;

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn number(&self) -> Option<f64> {
                let number: fn(Self) -> Option<f64> = $number;
                number(*self)
            }
        })+
    };
}

values! {
    bool: Kind::Flag, |_| None;
    f64: Kind::Number, Some;
    usize: Kind::Whole, |v| Some(v as f64);
    u64: Kind::Whole, |v| Some(v as f64);
    Direction: Kind::Choice(Direction::VARIANTS), |_| None;
    KernelKind: Kind::Choice(KernelKind::VARIANTS), |_| None;
    Curvature: Kind::Choice(Curvature::VARIANTS), |_| None;
    AcquisitionKind: Kind::Choice(AcquisitionKind::VARIANTS), |_| None;
    Scope: Kind::Choice(Scope::VARIANTS), |_| None;
}

impl Value for Noise {
    const KIND: Kind = Kind::NumberOr(&["auto", "none"]);

    fn read(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            _ if text.eq_ignore_ascii_case("none") => Some(Self::None),
            _ => text.parse().ok().map(Self::Sigma),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Auto => "auto".to_owned(),
            Self::Sigma(sigma) => sigma.to_string(),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Sigma(sigma) => Some(*sigma),
            Self::None | Self::Auto => None,
        }
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn read(text: &str) -> Option<Self> {
        if text.eq_ignore_ascii_case("none") { Some(None) } else { T::read(text).map(Some) }
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::show)
    }

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}
