//! How the core's own matrix kernels compare with nalgebra and faer at the sizes of a step: time of theirs over time of ours.
//!
//! `cargo run --release --manifest-path benchmarks/backends/Cargo.toml`

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Par, Side};
use labcat::internals::Yardstick;
use nalgebra::DMatrix;
use std::hint::black_box;
use std::time::Instant;

/// Seconds of the quickest of many calls, in about a fifth of a second.
fn quickest(mut f: impl FnMut() -> f64) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed().as_millis() < 200 {
        let start = Instant::now();
        black_box(f());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    faer::set_global_parallelism(Par::Seq);
    println!("| n | operation | ours, µs | nalgebra / ours | faer / ours |");
    println!("|---|---|---|---|---|");
    for n in [14, 35, 70, 140, 700] {
        let mut ours = Yardstick::new(n, n / 7);
        let na = DMatrix::from_fn(n, n, |i, j| ours.entry(i, j));
        let fa = Mat::from_fn(n, n, |i, j| ours.entry(i, j));
        let row = |name: &str, ours: f64, nalgebra: f64, faer: f64| {
            println!("| {n} | {name} | {:.1} | {:.2} | {:.2} |", ours * 1e6, nalgebra / ours, faer / ours);
        };

        let base = quickest(|| ours.cholesky());
        let by_nalgebra = quickest(|| na.clone().cholesky().map_or(0.0, |c| c.l_dirty()[(0, 0)]));
        let by_faer = quickest(|| Llt::new(fa.as_ref(), Side::Lower).map_or(0.0, |l| l.L()[(0, 0)]));
        row("Cholesky", base, by_nalgebra, by_faer);

        let (Some(na_factor), Ok(fa_factor)) = (na.clone().cholesky(), Llt::new(fa.as_ref(), Side::Lower)) else { return };
        let base = quickest(|| ours.inverse());
        let by_nalgebra = quickest(|| na_factor.inverse()[(0, 0)]);
        let by_faer = quickest(|| fa_factor.inverse()[(0, 0)]);
        row("inverse from the factor", base, by_nalgebra, by_faer);

        let base = quickest(|| ours.product());
        let by_nalgebra = quickest(|| (&na * &na)[(0, 0)]);
        let by_faer = quickest(|| (&fa * &fa)[(0, 0)]);
        row("product", base, by_nalgebra, by_faer);
    }
}
