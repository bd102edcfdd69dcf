//! Micro-benchmarks of the core. Timings are ratios within one run: `cargo bench -p labcat-benchmarks`.

pub mod kernels;
