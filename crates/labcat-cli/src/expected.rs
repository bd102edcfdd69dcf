//! Predictions of the model of all evaluations around the recommended point: along each parameter, and over the two numeric parameters that
//! matter most.

use crate::report::{Expected, Map};
use labcat::{Optimizer, Parameter, ParameterKind, Scale};

/// Values of a parameter along a slice, and along each side of a map.
const STEPS: usize = 41;
const CELLS: usize = 25;
/// Digits that a page can show.
const DIGITS: usize = 5;

/// The slices and the map, by the parameters' shares.
pub(crate) fn around(optimizer: &Optimizer, x: &[f64], shares: &[f64]) -> (Vec<Vec<Expected>>, Option<Map>) {
    let (domain, parameters) = (optimizer.domain(), optimizer.domain().parameters());
    let lines: Vec<Vec<f64>> =
        (0..x.len()).map(|i| if domain.is_active(i, x) { values(&parameters[i], STEPS) } else { Vec::new() }).collect();
    let mut numbers: Vec<usize> = (0..x.len()).filter(|&i| lines[i].len() > 2 && is_number(&parameters[i])).collect();
    numbers.sort_by(|a, b| shares.get(*b).partial_cmp(&shares.get(*a)).unwrap_or(std::cmp::Ordering::Equal));
    let sides = match numbers[..] {
        [a, b, ..] => Some([a.min(b), a.max(b)].map(|i| (i, values(&parameters[i], CELLS)))),
        _ => None,
    };
    let moved = |changes: &[(usize, f64)]| {
        let mut point = x.to_vec();
        changes.iter().for_each(|(i, value)| point[*i] = *value);
        domain.canonical(&point)
    };
    let mut points: Vec<Vec<f64>> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        points.extend(line.iter().map(|value| moved(&[(i, *value)])));
    }
    if let Some([(i, across), (j, up)]) = &sides {
        points
            .extend(up.iter().flat_map(|b| across.iter().map(move |a| [(*i, *a), (*j, *b)])).map(|both| moved(&both)));
    }
    let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
    let Ok(Some(said)) = optimizer.predict_many(&points) else { return (Vec::new(), None) };
    let mut said = said.into_iter().map(|said| [said.mean, said.std].map(rounded));
    let mut next = || said.next().unwrap_or([f64::NAN; 2]);
    let mut expected = |at: f64| {
        let [mean, std] = next();
        Expected { at, mean, std }
    };
    let slices = lines.into_iter().map(|line| line.into_iter().map(&mut expected).collect()).collect();
    let map = sides.map(|[(i, across), (j, up)]| {
        let mut row = || (0..across.len()).map(|_| next()).map(|[mean, std]| (mean, std)).unzip();
        let (mean, std) = up.iter().map(|_| row()).unzip();
        Map { axes: [i, j], at: [across, up], mean, std }
    });
    (slices, map)
}

/// Values of a parameter from its lowest to its highest: all of them if they are few.
fn values(parameter: &Parameter, count: usize) -> Vec<f64> {
    let (low, high, log) = (parameter.low, parameter.high, parameter.scale == Scale::Log);
    let levels = parameter.levels().map_or(usize::MAX, |levels| levels as usize);
    let count = if is_number(parameter) { count.min(levels) } else { levels };
    let at = |k: usize| {
        let part = k as f64 / (count.max(2) - 1) as f64;
        let value = if log { low * (high / low).powf(part) } else { low + part * (high - low) };
        parameter.nearest(value.clamp(low, high))
    };
    let mut values: Vec<f64> = (0..count).map(at).collect();
    values.dedup();
    values
}

fn is_number(parameter: &Parameter) -> bool {
    !matches!(parameter.kind, ParameterKind::Categorical { .. } | ParameterKind::Boolean)
}

fn rounded(number: f64) -> f64 {
    format!("{number:.DIGITS$e}").parse().unwrap_or(number)
}
