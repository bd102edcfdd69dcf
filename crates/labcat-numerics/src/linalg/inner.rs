//! Inner products of a few long vectors, which are kept.

use super::product::{PartialSums, add_products};
use super::{Matrix, total};

/// Entries whose products are taken at a time: as many as stay in the cache.
const CHUNK: usize = 512;
/// Vectors that are kept, as a multiple of those asked for: some leave and come again.
const KEPT: usize = 4;

/// The inner products of vectors that keys stand for, of some as they are and of others as they differ from the first. Those that were taken once are
/// not taken again while the first stays the same. All of them may be dropped at any time.
#[derive(Clone, Debug)]
pub struct Products<K> {
    /// The first vector and the others.
    keys: Vec<K>,
    /// NaN where one was not wanted yet.
    gram: Matrix,
}

impl<K> Default for Products<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), gram: Matrix::default() }
    }
}

impl<K: Copy + PartialEq> Products<K> {
    /// The inner products of some vectors, the first of which stands for itself. `vector` gives the vector of a key, and whether its difference from the
    /// first is what counts.
    pub fn of<'a>(&mut self, keys: &[K], vector: impl Fn(K) -> (&'a [f64], bool)) -> Matrix {
        let places = self.places(keys);
        let mut new = Vec::new();
        for (k, &b) in places.iter().enumerate() {
            new.extend(places[..=k].iter().filter(|&&a| self.gram[(a, b)].is_nan()).map(|&a| (a, b)));
        }
        self.take(new, vector);
        let mut gram = Matrix::zeros(keys.len(), keys.len());
        for (j, &b) in places.iter().enumerate() {
            gram.col_mut(j).iter_mut().zip(&places).for_each(|(g, &a)| *g = self.gram[(a, b)]);
        }
        gram
    }

    /// Where the keys stand among those that are kept.
    fn places(&mut self, keys: &[K]) -> Vec<usize> {
        let Some((first, others)) = keys.split_first() else { return Vec::new() };
        if self.keys.first() != Some(first) || self.keys.len() > KEPT * keys.len() {
            *self = Self { keys: vec![*first], ..Self::default() };
        }
        let place = |key: &K| {
            let kept = &self.keys[1..];
            1 + kept.iter().position(|other| other == key).unwrap_or_else(|| {
                self.keys.push(*key);
                self.keys.len() - 2
            })
        };
        let places = std::iter::once(0).chain(others.iter().map(place)).collect();
        let (n, before) = (self.keys.len(), std::mem::take(&mut self.gram));
        self.gram = Matrix::zeros(n, n);
        self.gram.fill(f64::NAN);
        (0..before.cols()).for_each(|j| self.gram.col_mut(j)[..before.rows()].copy_from_slice(before.col(j)));
        places
    }

    /// Takes products of pairs.
    fn take<'a>(&mut self, mut new: Vec<(usize, usize)>, vector: impl Fn(K) -> (&'a [f64], bool)) {
        let (keys, zeros) = (&self.keys, [0.0; CHUNK]);
        let differs = |row: usize| row > 0 && vector(keys[row]).1;
        // Those with the same vector together.
        new.iter_mut().for_each(|(a, b)| (*a, *b) = (*a.min(b), *a.max(b)));
        new.sort_unstable_by_key(|&(a, b)| (b, differs(a), a));
        let (count, mut sums) =
            (keys.first().map_or(0, |k| vector(*k).0.len()), vec![PartialSums::default(); new.len()]);
        let mut d = zeros;
        for from in (0..count).step_by(CHUNK) {
            let part = |row: usize| &vector(keys[row]).0[from..count.min(from + CHUNK)];
            let origin = |row: usize| if differs(row) { part(0) } else { &zeros[..part(0).len()] };
            let mut sums = sums.as_mut_slice();
            for pairs in new.chunk_by(|a, b| a.1 == b.1 && differs(a.0) == differs(b.0)) {
                let (first, with) = pairs[0];
                let d = &mut d[..part(with).len()];
                d.iter_mut().zip(part(with)).zip(origin(with)).for_each(|((d, r), origin)| *d = r - origin);
                let (these, others) = sums.split_at_mut(pairs.len());
                let a: Vec<&[f64]> = pairs.iter().map(|pair| part(pair.0)).collect();
                add_products(these, &a, origin(first), d);
                sums = others;
            }
        }
        for (sum, (i, j)) in sums.iter().map(total).zip(new) {
            (self.gram[(i, j)], self.gram[(j, i)]) = (sum, sum);
        }
    }
}
