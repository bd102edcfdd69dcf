//! Locally adaptive Bayesian optimisation of expensive black-box functions.
#![doc = ""]

mod acquisition;
mod design;
mod domain;
mod error;
mod frame;
pub mod functions;
mod gp;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod length_scale;
mod linalg;
mod math;
mod minimize;
mod observations;
mod optimizer;
mod rng;
mod trust_region;

pub use acquisition::{
    Acquisition, AcquisitionKind, ExpectedImprovement, LogExpectedImprovement, LowerConfidenceBound,
};
pub use domain::{Domain, DomainError, Parameter, PointError, Scale};
pub use error::Error;
pub use gp::kernel::{Kernel, KernelKind, Matern52, SquaredExponential};
pub use length_scale::StepKind;
pub use minimize::{Solution, default_budget, minimize};
pub use observations::{Direction, Evaluation, Outcome, TrialId};
pub use optimizer::config::{Config, ConfigError, Preset, SWITCHES, Switch};
pub use optimizer::report::{Observer, Origin, Restart, RestartCause, StepReport, StopReason};
#[cfg(feature = "serde")]
pub use optimizer::state::StateError;
pub use optimizer::{AskError, Optimizer, Prediction, Region, Suggestion, TellError};
