//! The umbrella over the errors of each operation.

use crate::domain::{DomainError, PointError};
use crate::optimizer::config::ConfigError;
use crate::optimizer::{AskError, TellError};
use std::fmt;

/// Any error of this crate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The domain makes no sense.
    Domain(DomainError),
    /// The configuration makes no sense.
    Config(ConfigError),
    /// The point is not one of the domain.
    Point(PointError),
    /// There is no suggestion.
    Ask(AskError),
    /// A result was not taken.
    Tell(TellError),
    /// A saved state could not be continued from.
    #[cfg(feature = "serde")]
    State(crate::StateError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(e) => e.fmt(f),
            Self::Config(e) => e.fmt(f),
            Self::Point(e) => e.fmt(f),
            Self::Ask(e) => e.fmt(f),
            Self::Tell(e) => e.fmt(f),
            #[cfg(feature = "serde")]
            Self::State(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

macro_rules! from {
    ($($(#[$attribute:meta])* $error:ty => $variant:ident),+ $(,)?) => {
        $($(#[$attribute])* impl From<$error> for Error {
            fn from(e: $error) -> Self {
                Self::$variant(e)
            }
        })+
    };
}

from!(
    DomainError => Domain,
    ConfigError => Config,
    PointError => Point,
    AskError => Ask,
    TellError => Tell,
    #[cfg(feature = "serde")]
    crate::StateError => State,
);
