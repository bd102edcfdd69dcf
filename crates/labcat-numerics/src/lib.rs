//! The numerics of labcat: matrices of tens to hundreds of rows, transcendental functions, one generator, small quadratic programs.
//!
//! All of it gives the same bits in debug and release builds and on every processor: sums have an order that is written down, nothing is
//! fused, and [`wide!`] compiles a loop for each width of registers without changing that order. It knows nothing of optimisation by models.

pub mod linalg;
pub mod math;
pub mod polynomial;
pub mod qp;
pub mod quasi_newton;
pub mod rng;
pub mod sqp;
pub mod width;
