//! How the core's own matrix kernels compare with nalgebra and faer at the sizes of a step: time of theirs over time of ours.
//!
//! `cargo run --release --manifest-path benchmarks/backends/Cargo.toml`

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{Mat, Par, Side};
use labcat_benchmarks::kernels::Kernels;
use nalgebra::DMatrix;
use std::hint::black_box;
use std::time::Instant;

/// Seconds of the quickest of many calls, in about two seconds.
fn quickest(mut f: impl FnMut() -> f64) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    while begin.elapsed().as_millis() < 2000 {
        let start = Instant::now();
        black_box(f());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

const SIZES: [usize; 5] = [14, 35, 70, 140, 700];
const OPERATIONS: [&str; 3] = ["Cholesky", "inverse from the factor", "product"];

fn ours(n: usize) -> [f64; 3] {
    let mut y = Kernels::new(n);
    [quickest(|| y.cholesky()), quickest(|| y.inverse()), quickest(|| y.product())]
}

fn by_nalgebra(n: usize) -> [f64; 3] {
    let y = Kernels::new(n);
    let k = DMatrix::from_fn(n, n, |i, j| y.entry(i, j));
    let cholesky = quickest(|| k.clone().cholesky().map_or(0.0, |c| c.l_dirty()[(0, 0)]));
    let inverse = k.clone().cholesky().map_or(f64::NAN, |factor| quickest(|| factor.inverse()[(0, 0)]));
    [cholesky, inverse, quickest(|| (&k * &k)[(0, 0)])]
}

fn by_faer(n: usize) -> [f64; 3] {
    let y = Kernels::new(n);
    let k = Mat::from_fn(n, n, |i, j| y.entry(i, j));
    let cholesky = quickest(|| Llt::new(k.as_ref(), Side::Lower).map_or(0.0, |l| l.L()[(0, 0)]));
    let inverse = Llt::new(k.as_ref(), Side::Lower).map_or(f64::NAN, |factor| quickest(|| factor.inverse()[(0, 0)]));
    [cholesky, inverse, quickest(|| (&k * &k)[(0, 0)])]
}

fn main() {
    faer::set_global_parallelism(Par::Seq);
    // One after the other: wide registers left in use by one library slow the next one's narrow ones down.
    let [ours, nalgebra, faer] = [ours, by_nalgebra, by_faer].map(|run| SIZES.map(run));
    println!("| n | operation | ours, µs | nalgebra / ours | faer / ours |");
    println!("|---|---|---|---|---|");
    for (s, n) in SIZES.iter().enumerate() {
        for (o, operation) in OPERATIONS.iter().enumerate() {
            let base = ours[s][o];
            println!("| {n} | {operation} | {:.1} | {:.2} | {:.2} |", base * 1e6, nalgebra[s][o] / base, faer[s][o] / base);
        }
    }
}
