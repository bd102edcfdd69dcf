//! What a step costs, as ratios:
//! one `ask` + `tell` over the work it cannot avoid, and late steps over early ones on a function that stalls.
//!
//! `cargo bench -p labcat-benchmarks --bench step [-- --smoke]`; `--smoke` takes the two smallest sizes and few repetitions, `--dim D` one size.
//! `benchmarks/compare-steps REVISION` runs it in turns with that of another revision.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod yardstick;

use labcat::{Config, Domain, Optimizer, Preset};
use labcat_benchmarks::kernels::Kernels;
use std::hint::black_box;
use std::time::Instant;
use yardstick::Yardstick;

/// Above this dimension an optimizer starts from points that are there already.
const LAST_FROM_SCRATCH: usize = 32;

/// A smooth valley with ripples.
fn smooth(x: &[f64]) -> f64 {
    let bowl: f64 = x.iter().enumerate().map(|(i, v)| (1.0 + i as f64) * (v - 0.3) * (v - 0.3)).sum();
    bowl + x.windows(2).map(|w| (3.0 * w[0] * w[1]).sin()).sum::<f64>()
}

/// A bowl so bumpy that no local run converges.
fn bumpy(x: &[f64]) -> f64 {
    let bowl: f64 = x.iter().map(|v| (v - 0.3) * (v - 0.3)).sum();
    bowl + 0.1 * x.iter().map(|v| (1e4 * v).sin()).sum::<f64>()
}

/// Evaluates until the cache is full, n = ρ d, and gives the number of restarts so far.
fn settle(optimizer: &mut Optimizer, d: usize) -> usize {
    while optimizer.report().is_none_or(|r| r.observations < 7 * d) {
        step(optimizer, smooth);
    }
    optimizer.restarts().len()
}

fn optimizer(preset: Preset, d: usize) -> Optimizer {
    let mut optimizer = Optimizer::new(Domain::new(&vec![(-5.0, 5.0); d]).unwrap(), Config::new(preset)).unwrap();
    if d > LAST_FROM_SCRATCH {
        tell_in_bulk(&mut optimizer, d);
    }
    optimizer
}

fn tell_in_bulk(optimizer: &mut Optimizer, d: usize) {
    let mut state = 1_u64;
    for _ in 0..14 * d {
        let x: Vec<f64> = (0..d)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64 * 0.2
            })
            .collect();
        optimizer.tell_point(&x, smooth(&x)).unwrap();
    }
}

fn step(optimizer: &mut Optimizer, objective: fn(&[f64]) -> f64) {
    let suggestion = optimizer.ask().unwrap();
    let value = objective(&suggestion.x);
    optimizer.tell(suggestion.id, value).unwrap();
}

/// Seconds.
fn timed(mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    f();
    start.elapsed().as_secs_f64()
}

/// (ask + tell) / yardstick and microseconds of ask + tell: the two are timed in turns, and the quickest of `rounds` rounds stands
/// for each, since other programs only ever make a round slower.
fn step_ratio(preset: Preset, d: usize, rounds: usize, inner: usize) -> (f64, f64) {
    let mut optimizer = optimizer(preset, d);
    let mut yardstick = Yardstick::new(7 * d, d);
    let (mut ours, mut base) = (f64::INFINITY, f64::INFINITY);
    let mut done = 0;
    while done < rounds {
        let restarts = settle(&mut optimizer, d);
        let round = timed(|| (0..inner).for_each(|_| step(&mut optimizer, smooth)));
        if optimizer.restarts().len() != restarts {
            continue; // a design is no step
        }
        ours = ours.min(round);
        base = base.min(timed(|| (0..inner).for_each(|_| _ = black_box(yardstick.run()))));
        done += 1;
    }
    (ours / base, ours / inner as f64 * 1e6)
}

/// Time of steps 1900–2000 over that of steps 400–500, the smaller of three runs each.
fn stall_ratio(d: usize) -> f64 {
    let run = || {
        let mut config = Config::new(Preset::Paper);
        config.seed = 3;
        let mut optimizer = Optimizer::new(Domain::new(&vec![(-5.0, 5.0); d]).unwrap(), config).unwrap();
        let mut window = |from: usize, to: usize| {
            while optimizer.n_evaluations() < from {
                step(&mut optimizer, bumpy);
            }
            timed(|| {
                while optimizer.n_evaluations() < to {
                    step(&mut optimizer, bumpy)
                }
            })
        };
        (window(400, 500), window(1900, 2000))
    };
    let runs: Vec<_> = (0..3).map(|_| run()).collect();
    let least = |pick: fn(&(f64, f64)) -> f64| runs.iter().map(pick).fold(f64::INFINITY, f64::min);
    least(|r| r.1) / least(|r| r.0)
}

/// A long study: time of its last thousand steps over that of the second thousand, the quickest hundred of each, and bytes of memory per
/// evaluation between them (where the system tells).
fn long_study(d: usize, evaluations: usize) -> (f64, f64) {
    let mut optimizer = optimizer(Preset::Default, d);
    let mut thousand = |from: usize| {
        while optimizer.n_evaluations() < from {
            step(&mut optimizer, bumpy);
        }
        let hundred = || timed(|| (0..100).for_each(|_| step(&mut optimizer, bumpy)));
        let quickest = std::iter::repeat_with(hundred).take(10).fold(f64::INFINITY, f64::min);
        (quickest, resident_bytes())
    };
    let (early, late) = (thousand(1000), thousand(evaluations - 1000));
    (late.0 / early.0, (late.1 - early.1) / (evaluations - 2000) as f64)
}

/// Memory in use; NaN where the system does not tell.
fn resident_bytes() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|s| s.split(' ').nth(1)?.parse::<f64>().ok());
    pages.map_or(f64::NAN, |pages| pages * 4096.0)
}

/// Time to remove a row from a factor over the time to factor anew, the quickest of many.
fn removal_ratio(n: usize) -> f64 {
    let mut kernels = Kernels::new(n);
    let (mut factor, mut remove) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..200 {
        factor = factor.min(timed(|| _ = black_box(kernels.cholesky())));
        remove = remove.min(timed(|| _ = black_box(kernels.remove())));
    }
    remove / factor
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let smoke = arguments.iter().any(|a| a == "--smoke");
    let only = arguments.windows(2).find(|w| w[0] == "--dim").map(|w| w[1].parse::<usize>().unwrap());
    let sizes: &[(usize, usize, usize)] = if smoke {
        &[(2, 300, 10), (5, 40, 4)]
    } else {
        &[(2, 1000, 10), (5, 300, 4), (10, 100, 2), (20, 40, 1), (50, 10, 1), (100, 6, 1)]
    };
    println!("| d | n | step / unavoidable work, paper | default | µs per step, paper | default |");
    println!("|---|---|---|---|---|---|");
    for &(d, rounds, inner) in sizes.iter().filter(|size| only.is_none_or(|d| size.0 == d)) {
        let (paper, paper_us) = step_ratio(Preset::Paper, d, rounds, inner);
        let (default, default_us) = step_ratio(Preset::Default, d, rounds, inner);
        println!("| {d} | {} | {paper:.2} | {default:.2} | {paper_us:.0} | {default_us:.0} |", 7 * d);
    }
    if only.is_none() {
        let removals = [14, 35, 70, 140].map(|n| format!("n = {n}: {:.2}", removal_ratio(n)));
        println!("\nremoving a row over factoring anew: {}", removals.join(", "));
        println!("steps 1900–2000 over steps 400–500, stalled, d = 2: {:.2}", stall_ratio(2));
        let evaluations = if smoke { 10_000 } else { 100_000 };
        for d in [2, 5] {
            let (ratio, bytes) = long_study(d, evaluations);
            println!(
                "{evaluations} evaluations, d = {d}: last thousand steps over the second {ratio:.2}, {bytes:.0} bytes per evaluation"
            );
        }
    }
}
