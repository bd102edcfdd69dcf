//! The option `noise`.

use super::value::{Kind, Value};

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
