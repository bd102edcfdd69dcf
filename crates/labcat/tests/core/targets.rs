//! How well the paper's preset does on the paper's six functions: 2-D, β = 0.5, 150 evaluations, fifty seeds.

use crate::support::{function, seeded};
use labcat::{Domain, Preset, minimize};

/// Regrets of the seeds 0–49, ascending.
fn regrets(name: &str) -> Vec<f64> {
    let f = function(name);
    let regret = |seed| {
        let mut config = seeded(Preset::Paper, seed);
        (config.beta, config.budget) = (Some(0.5), Some(150));
        let solution = minimize(|x| f.value(x), Domain::new(&f.bounds(2)).unwrap(), config).unwrap();
        assert_eq!(solution.evaluations, 150);
        (solution.best.and_then(|b| b.outcome.value()).unwrap() - f.minimum(2)).max(0.0)
    };
    let mut all: Vec<f64> = (0..50).map(regret).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn mean(regrets: &[f64]) -> f64 {
    regrets.iter().sum::<f64>() / regrets.len() as f64
}

#[test]
fn means_of_the_smooth_functions() {
    for (name, limit) in [("sphere", 1e-13), ("quartic", 1e-16), ("booth", 1e-12), ("branin", 1e-11)] {
        let mean = mean(&regrets(name));
        assert!(mean <= limit, "{name}: mean regret {mean:e}, allowed {limit:e}");
    }
}

#[test]
fn median_and_worst_of_rosenbrock() {
    let all = regrets("rosenbrock");
    let (median, worst) = (0.5 * (all[24] + all[25]), all[49]);
    assert!(median <= 1e-10, "median {median:e}");
    assert!(worst <= 1e-5, "worst {worst:e}");
}

#[test]
fn failures_on_levy() {
    let missed = regrets("levy").iter().filter(|r| **r > 1e-8).count();
    assert!(missed <= 5, "{missed} of 50 runs end above 1e-8");
}
