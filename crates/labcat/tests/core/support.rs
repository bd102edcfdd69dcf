//! What the other modules share.

pub(crate) use crate::capabilities::Dice;
use crate::functions::Function;
use labcat::{Config, Domain, Optimizer, Preset, StepReport};

pub(crate) const PRESETS: [Preset; 2] = [Preset::Paper, Preset::Default];

pub(crate) fn function(name: &str) -> &'static Function {
    Function::by_name(name).unwrap()
}

pub(crate) fn seeded(preset: Preset, seed: u64) -> Config {
    let mut config = Config::new(preset);
    config.seed = seed;
    config
}

pub(crate) fn optimizer(bounds: &[(f64, f64)], config: Config) -> Optimizer {
    Optimizer::new(Domain::new(bounds).unwrap(), config).unwrap()
}

/// Evaluates `n` suggestions one after another and gives the points.
pub(crate) fn evaluate(optimizer: &mut Optimizer, f: impl Fn(&[f64]) -> f64, n: usize) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for _ in 0..n {
        let suggestion = optimizer.ask().unwrap();
        optimizer.tell(suggestion.id, f(&suggestion.x)).unwrap();
        points.push(suggestion.x);
    }
    points
}

/// The points of a run of `n` evaluations.
pub(crate) fn stream(bounds: &[(f64, f64)], config: Config, f: impl Fn(&[f64]) -> f64, n: usize) -> Vec<Vec<f64>> {
    evaluate(&mut optimizer(bounds, config), f, n)
}

pub(crate) fn bits(points: &[Vec<f64>]) -> Vec<Vec<u64>> {
    points.iter().map(|p| p.iter().map(|v| v.to_bits()).collect()).collect()
}

pub(crate) fn best_value(optimizer: &Optimizer) -> f64 {
    optimizer.best().and_then(|e| e.outcome.value()).unwrap()
}

pub(crate) fn all_distinct(points: &[Vec<f64>]) -> bool {
    let mut sorted = bits(points);
    sorted.sort_unstable();
    sorted.windows(2).all(|w| w[0] != w[1])
}

/// The vector from `from` to `to` in the frame of a step, in half-widths of its trust region. (Linear scales only.)
pub(crate) fn in_half_widths(bounds: &[(f64, f64)], report: &StepReport, from: &[f64], to: &[f64]) -> Vec<f64> {
    let d = bounds.len();
    let moved: Vec<f64> = (0..d).map(|j| 2.0 * (to[j] - from[j]) / (bounds[j].1 - bounds[j].0)).collect();
    let along = |i: usize| (0..d).map(|j| report.rotation[i * d + j] * moved[j]).sum::<f64>();
    (0..d).map(|i| along(i) / report.half_widths[i]).collect()
}
