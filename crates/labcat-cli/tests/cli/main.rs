//! The command line as its users meet it: one program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod api;
mod bench;
mod cluster;
mod common;
mod constraints;
mod doors;
mod failures;
mod faults;
mod handover;
mod hangs;
mod journals;
mod kill;
mod lab;
mod mixed;
mod noise;
mod output;
mod overhead;
mod residuals;
mod restore;
mod simulators;
mod studies;
mod surface;
mod words;
mod worker;
