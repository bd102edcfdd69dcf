//! The command line as its users meet it: one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bench;
mod common;
mod constraints;
mod failures;
mod faults;
mod journals;
mod kill;
mod mixed;
mod noise;
mod output;
mod overhead;
mod residuals;
mod simulators;
mod studies;
mod surface;
mod words;
mod worker;
