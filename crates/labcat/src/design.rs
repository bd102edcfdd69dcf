//! Where to look before there is a model: the Latin hypercube of Algorithm 2, line 1, and space-filling additions to it.

use crate::domain::Domain;
use crate::rng::Rng;

/// Latin hypercube of `count` points in [−1, 1]^d: each coordinate visits each of `count` equal cells once,
/// at a uniform place within the cell.
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
#[allow(clippy::unwrap_used)]
mod tests;
