//! Behaviour of the whole optimizer, through its public interface.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asking;
#[allow(dead_code)] // without serde nothing is written and read again
#[path = "../capabilities/mod.rs"]
mod capabilities;
mod constraints;
mod equivariance;
mod errors;
mod extremes;
mod failures;
#[cfg(feature = "serde")]
mod fixtures;
#[allow(dead_code, unreachable_pub)] // the command line has them
#[path = "../../../labcat-cli/src/functions.rs"]
mod functions;
mod fuzz;
mod meets;
mod mixed;
mod noise;
mod parallel;
mod quality;
mod reports;
mod residuals;
mod shortcut;
#[cfg(feature = "serde")]
mod state;
mod stopping;
mod support;
mod switches;
mod targets;
mod telling;
mod views;
