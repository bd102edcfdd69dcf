//! The umbrella over the errors of each operation.

use crate::domain::{DomainError, PointError};
use crate::known::KnownError;
use crate::optimizer::config::ConfigError;
use crate::optimizer::{AskError, TellError};

/// Any error of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(transparent)]
#[non_exhaustive]
pub enum Error {
    /// The domain makes no sense.
    Domain(#[from] DomainError),
    /// The configuration makes no sense.
    Config(#[from] ConfigError),
    /// The point is not one of the domain.
    Point(#[from] PointError),
    /// The known constraints make no sense.
    Known(#[from] KnownError),
    /// The text of a constraint cannot be read.
    Formula(#[from] crate::FormulaError),
    /// There is no suggestion.
    Ask(#[from] AskError),
    /// A result was not taken.
    Tell(#[from] TellError),
    /// What was told is not a standard deviation.
    Std(#[from] crate::StdError),
    /// A saved state could not be continued from.
    #[cfg(feature = "serde")]
    State(#[from] crate::StateError),
}
