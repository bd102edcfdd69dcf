//! Locally adaptive Bayesian optimisation of expensive black-box functions.
//!
//! After a small space-filling design, the observations are kept in a frame that is centred on the best point, rotated to the
//! weighted principal components and rescaled by the length-scales of a local Gaussian process. The next point maximises an
//! acquisition function over a cube of that frame. Start with [`Optimizer`] (ask and tell) or [`minimize`] (a closure).
//!
//! # Reader's guide
//!
//! The algorithm is `optimizer/propose.rs`, one call per line of Algorithm 2 of the paper. Formulas carry the label of their
//! equation in the paper's source, such as `(eq:EI)`; `docs/notation.md` lists symbols, names, files and labels, and
//! `docs/divergences.md` every departure from the paper.
//!
//! | line | what | where |
//! |---|---|---|
//! | 1 | Latin hypercube | `design::latin_hypercube` |
//! | 2, 13 | values of the objective | `observations::Outcome` |
//! | 3 | initial frame | `domain::Domain`, `frame::Frame::of_box` |
//! | 4 | trust region | `trust_region::TrustRegion` |
//! | 5 | convergence, restarts | `optimizer::convergence::why_over`, `optimizer::Optimizer::stop_reason` |
//! | 6 | normalised outputs | `frame::normalise` |
//! | 7 | centre, rotate | `frame::Frame::centred`, `frame::Frame::rotated`, `frame::PrincipalAxes` |
//! | 8 | Gaussian process | `gp::Gp::fit` |
//! | 9 | most likely length-scales | `length_scale::LengthScales::improve`, `gp::likelihood::Derivatives` |
//! | 10 | rescale | `frame::Frame::rescaled` |
//! | 11 | discard | `trust_region::TrustRegion::discard`, `gp::Gp::remove` |
//! | 12 | maximise EI | `optimizer::search::search`, `acquisition::maximise::Maximiser` |
//! | 14, 15 | append | `optimizer::Optimizer::tell` |
//!
//! Imports follow the data: domain → design → observations → frame → known → polynomial → gp → length_scale → trust_region →
//! acquisition → optimizer. A test fails on a circle. Matrices, quadratic programs and the like are in another crate, `labcat-numerics`.
//!
//! # Guarantees
//!
//! - One seed gives one stream of suggestions: in debug and release builds, with any target CPU, on every platform. Every
//!   transcendental function comes from `math`, no sum is reordered by vectorisation, and wide instructions change no bit.
//! - Nothing that a caller does causes a panic; errors name the value and what is allowed.
//! - No result is lost: values that are not finite are failures, and results that arrive after a stop are recorded.
//! - There is no printing, no clock, no thread and no library to link.
//!
//! # Features
//!
//! `serde` (default): [`Optimizer::to_json`] and [`Optimizer::from_json`], exact to the bit, and `Serialize`/`Deserialize` for
//! the data types.

mod acquisition;
mod design;
mod domain;
mod formula;
mod frame;
mod gp;
mod known;
mod length_scale;
mod minimize;
mod names;
mod observations;
mod optimizer;
mod polynomial;
mod trust_region;

use labcat_numerics::{linalg, math, qp, rng, sqp};

pub use acquisition::AcquisitionKind;
pub use domain::{Condition, Domain, DomainError, Label, Parameter, ParameterKind, PointError, Scale};
pub use gp::kernel::KernelKind;
pub use gp::likelihood::Curvature;
pub use known::{Function, Known, KnownError};
pub use labcat_formula::{Formula, FormulaError};
pub use length_scale::StepKind;
pub use minimize::{Solution, default_budget, minimize};
pub use names::UnknownName;
pub use observations::{Direction, Evaluation, Outcome, StdError, TrialId};
pub use optimizer::config::{Config, ConfigError, Kind, Noise, Preset, Range, SWITCHES, Scope, Switch};
pub use optimizer::report::{Origin, Restart, RestartCause, StepReport, StopReason};
#[cfg(feature = "serde")]
pub use optimizer::state::StateError;
pub use optimizer::{
    AskError, Error, LocalResiduals, Optimizer, Prediction, Recommendation, Region, Suggestion, TellError,
};

/// The code of the site's page about this crate is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/rust.md")]
struct Page;
