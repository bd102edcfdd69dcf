//! Initial designs: the Latin hypercube of Algorithm 2, line 1, and space-filling additions to it.

use crate::domain::{Domain, ParameterKind, Scale};
use crate::math;
use crate::rng::Rng;

/// Latin hypercube of `count` points in [−1, 1]^d: each coordinate visits each of `count` equal cells once, at a uniform place in it.
pub(crate) fn latin_hypercube(rng: &mut Rng, count: usize, d: usize) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; d]; count];
    let mut cells: Vec<usize> = (0..count).collect();
    for j in 0..d {
        rng.shuffle(&mut cells);
        for (point, &cell) in points.iter_mut().zip(&cells) {
            point[j] = (2.0 * (cell as f64 + rng.unit()) / count as f64 - 1.0).clamp(-1.0, 1.0);
        }
    }
    points
}

/// How far the first design reaches from a starting point, if nobody says: this part of how far the start is from zero. Farther away a function
/// often has another minimum. (As far as the start is from zero takes a seventh more evaluations; a tenth of it is as good.)
pub(crate) const PART_OF_START: f64 = 0.3;
/// But between these shares of the range. (In a box a hundred times as wide as the start is large, a least share of .005 solves a tenth fewer problems.)
const RADIUS: f64 = 0.05;
const LEAST_START_RADIUS: f64 = 0.0005;
/// A start of zero has no size: then this share.
const UNSIZED: f64 = 0.005;

/// Around a starting point, one point for each parameter that is not fixed, in user units: a real is moved by its radius (on a log scale by the
/// factor that it makes), up or down, to the side with more room; an integer by at least a step; a category takes another label.
pub(crate) fn around(
    rng: &mut Rng,
    domain: &Domain,
    start: &[f64],
    (radius, part): (Option<&[f64]>, f64),
) -> Vec<Vec<f64>> {
    let mut points = Vec::new();
    for (i, p) in domain.parameters().iter().enumerate().filter(|(_, p)| p.levels() != Some(1)) {
        let mut x = start.to_vec();
        x[i] = match p.kind {
            ParameterKind::Categorical { .. } | ParameterKind::Boolean => {
                let levels = p.levels().unwrap_or(1);
                p.level((start[i] as u64 + 1 + rng.below(levels as usize - 1) as u64) % levels)
            }
            _ => {
                let by = radius.map(|r| r[i]);
                let (low, high) = if p.scale == Scale::Log {
                    let factor =
                        by.map_or_else(|| math::pow((p.high / p.low).min(f64::MAX), RADIUS), |by| 1.0 + by / start[i]);
                    (start[i] / factor, start[i] * factor)
                } else {
                    let share = |share: f64| share * p.high - share * p.low;
                    let least = share(if start[i] == 0.0 { UNSIZED } else { LEAST_START_RADIUS });
                    let by = by.unwrap_or_else(|| (part * start[i].abs()).clamp(least, share(RADIUS)));
                    (start[i] - by, start[i] + by)
                };
                let (low, high) = (low.min(start[i] - p.step()), high.max(start[i] + p.step()));
                let (fits_above, fits_below) = (high <= p.high, low >= p.low);
                let roomier_above = p.high - start[i] >= start[i] - p.low;
                let above = if fits_above && fits_below { rng.unit() < 0.5 } else { fits_above || roomier_above };
                p.nearest(if above { high } else { low })
            }
        };
        points.push(domain.canonical(&x));
    }
    points
}

/// Of 10 uniform points per parameter, the first that is farther than `apart` from all of `taken`, or the one whose nearest neighbour
/// among them is farthest away. In many dimensions the latter lies near a corner; the former lies anywhere.
pub(crate) fn one_more<'a>(
    rng: &mut Rng,
    domain: &Domain,
    taken: impl Iterator<Item = &'a [f64]> + Clone,
    apart: f64,
) -> Vec<f64> {
    let d = domain.parameters().len();
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for _ in 0..10 * d {
        let cube: Vec<f64> = (0..d).map(|_| rng.between(-1.0, 1.0)).collect();
        let u = domain.embed(&cube);
        let distance = |p: &[f64]| p.iter().zip(&u).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let nearest = taken.clone().map(distance).fold(f64::INFINITY, f64::min);
        if nearest > best.0 {
            best = (nearest, u);
        }
        if best.0 > apart * apart {
            break;
        }
    }
    best.1
}

#[cfg(test)]
mod tests;
