//! Errors of asking and telling.

use super::config::ConfigError;
use super::report::StopReason;
use crate::domain::{DomainError, PointError};
use crate::known::KnownError;
use crate::observations::{Outcome, TrialId};

/// Why there is no suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum AskError {
    /// The optimization is over.
    #[error("the optimization has stopped ({0}): there are no more suggestions")]
    Stopped(StopReason),
    /// All of the budget is told or pending: tell (or cancel) something first.
    #[error("the rest of the budget is pending ({pending} evaluations): tell or cancel one before asking again")]
    BudgetOutstanding { pending: usize },
    /// Every configuration of a finite space is told or pending: tell something first.
    #[error("every configuration left is pending ({pending} evaluations): tell or cancel one before asking again")]
    SpaceOutstanding { pending: usize },
}

/// Why a result was not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // fields are what the message says of them
pub enum TellError {
    /// The id was never given out, or was cancelled.
    #[error("there is no evaluation with id {0}: use an id that ask gave")]
    UnknownId(TrialId),
    /// The id was told before; [`Optimizer::revise`](super::Optimizer::revise) corrects a value.
    #[error("evaluation {0} was already told: to correct its value use revise")]
    AlreadyTold(TrialId),
    /// The id is still pending: tell it first.
    #[error("evaluation {0} is still pending: use tell, not revise")]
    StillPending(TrialId),
    /// The point is not one of the domain.
    #[error(transparent)]
    Point(#[from] PointError),
    /// The number of constraints differs from the option `constraints`.
    #[error("the number of constraints told is {got}: it must be {expected} (option `constraints`)")]
    Constraints { got: usize, expected: usize },
    /// The number of standard deviations of constraints differs from the number of constraints.
    #[error("constraint_std has length {got}: it must be {expected}, one for each constraint, NaN if unknown")]
    ConstraintStd { got: usize, expected: usize },
    /// The number of residuals differs from that of the evaluations before.
    #[error("the number of residuals told is {got}: it must be {expected}, as in earlier evaluations")]
    Residuals { got: usize, expected: usize },
    /// Residuals are told to an optimizer that maximises.
    #[error("residuals were told, but this optimizer maximises: a sum of squares can only be minimised")]
    MaximisedResiduals,
    /// The number of derivatives differs from the number of parameters.
    #[error("the gradient has length {got}: it must be {expected}, one for each parameter, NaN if unknown")]
    Gradient { got: usize, expected: usize },
}

impl Outcome {
    /// Whether it has as many constraints and derivatives as it should. (A failure may have no constraints.)
    pub(super) fn fits(&self, constraints: usize, dim: usize) -> Result<(), TellError> {
        let (told, derivatives) = (self.constraints().len(), self.gradient().len());
        if told != constraints && !(told == 0 && self.is_failed()) {
            return Err(TellError::Constraints { got: told, expected: constraints });
        }
        let stds = self.constraint_std().len();
        if stds != told && stds != 0 {
            return Err(TellError::ConstraintStd { got: stds, expected: told });
        }
        if (derivatives != dim && derivatives != 0) || !self.has_jacobian_of(dim) {
            return Err(TellError::Gradient { got: derivatives, expected: dim });
        }
        Ok(())
    }
}

/// Any error of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // fields are what the message says of them
pub enum Error {
    /// The domain makes no sense.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The point is not one of the domain.
    #[error(transparent)]
    Point(#[from] PointError),
    /// The known constraints make no sense.
    #[error(transparent)]
    Known(#[from] KnownError),
    /// The text of a constraint cannot be read.
    #[error(transparent)]
    Formula(#[from] labcat_formula::FormulaError),
    /// The radius of the first design makes no sense.
    #[error("the radius {value} is not allowed: it must be a positive number for each of {parameters} parameters")]
    Radius { value: f64, parameters: usize },
    /// There is no suggestion.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A result was not taken.
    #[error(transparent)]
    Tell(#[from] TellError),
    /// What was told is not a standard deviation.
    #[error(transparent)]
    Std(#[from] crate::observations::StdError),
    /// A saved state could not be continued from.
    #[cfg(feature = "serde")]
    #[error(transparent)]
    State(#[from] super::state::StateError),
}
