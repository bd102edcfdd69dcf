//! What is known of the noise in the objective.

use super::value::{Kind, Value};

/// Noise in the values of the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(into = "Written", from = "Written"))]
pub enum Noise {
    /// Values are exact.
    #[default]
    None,
    /// Found out: values are taken as exact until the model doubts it and an evaluation at the same point gives another value; then
    /// the standard deviation is estimated.
    Auto,
    /// Its standard deviation, in units of the objective.
    Sigma(f64),
}

/// A noise as it is written.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum Written {
    Sigma(f64),
    Word(Word),
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    None,
    Auto,
}

#[cfg(feature = "serde")]
impl From<Noise> for Written {
    fn from(noise: Noise) -> Self {
        match noise {
            Noise::None => Self::Word(Word::None),
            Noise::Auto => Self::Word(Word::Auto),
            Noise::Sigma(sigma) => Self::Sigma(sigma),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Written> for Noise {
    fn from(written: Written) -> Self {
        match written {
            Written::Word(Word::None) => Self::None,
            Written::Word(Word::Auto) => Self::Auto,
            Written::Sigma(sigma) => Self::Sigma(sigma),
        }
    }
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
