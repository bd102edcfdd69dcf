//! The cost of a step does not grow: steps 1900–2000 against steps 400–500 of a function that stalls.
#![allow(clippy::unwrap_used)]

use labcat::{Config, Domain, Optimizer, Origin, Preset};
use std::time::{Duration, Instant};

/// A rugged plain: no two points have much to do with each other, so the best is hardly ever improved on.
fn stalling(x: &[f64]) -> f64 {
    let mut h = 0x9e37_79b9_7f4a_7c15_u64;
    for v in x {
        h = (h ^ v.to_bits()).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^= h >> 31;
    }
    h as f64 / u64::MAX as f64
}

/// Time of each of 2000 steps; `None` where the cache is not full, soon after a restart.
fn run(preset: Preset, d: usize) -> Vec<Option<Duration>> {
    let mut config = Config::new(preset);
    config.budget = Some(2000);
    let mut optimizer = Optimizer::new(Domain::new(&vec![(0.0, 1.0); d]).unwrap(), config).unwrap();
    (0..2000)
        .map(|_| {
            let start = Instant::now();
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, stalling(&suggestion.x)).unwrap();
            let time = start.elapsed();
            let report = optimizer.report().unwrap();
            (report.origin == Origin::Model && report.observations == 7 * d).then_some(time)
        })
        .collect()
}

#[test]
fn late_steps_cost_what_early_ones_do() {
    const REPETITIONS: usize = 5;
    for preset in [Preset::Paper, Preset::Default] {
        for d in [2, 4] {
            // The work of a step is the same in every repetition, so its quickest time is the one least disturbed by others.
            let mut quickest = run(preset, d);
            for _ in 1..REPETITIONS {
                for (best, new) in quickest.iter_mut().zip(run(preset, d)) {
                    *best = new.min(*best); // the same steps are full each time
                }
            }
            let mean = |steps: std::ops::Range<usize>| {
                let full: Vec<Duration> = quickest[steps].iter().copied().flatten().collect();
                assert!(full.len() >= 50, "only {} full steps", full.len());
                full.iter().sum::<Duration>().as_secs_f64() / full.len() as f64
            };
            let ratio = mean(1900..2000) / mean(400..500);
            println!("{preset}, d = {d}: steps 1900-2000 over steps 400-500 = {ratio:.3}");
            assert!(ratio <= 1.2, "{preset}, d = {d}: {ratio:.3}");
        }
    }
}
