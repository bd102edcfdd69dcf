//! The points that were suggested or told already.

use std::collections::HashSet;

/// A set of points, by a 64-bit fingerprint of their coordinates.
#[derive(Clone, Debug)]
pub(super) struct Seen(HashSet<u64>);

impl Seen {
    pub(super) fn with_capacity(n: usize) -> Self {
        Self(HashSet::with_capacity(n))
    }

    /// Adds a point, and says whether it is new.
    pub(super) fn insert(&mut self, x: &[f64]) -> bool {
        self.0.insert(fingerprint(x))
    }

    /// The number of different points.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn contains(&self, x: &[f64]) -> bool {
        self.0.contains(&fingerprint(x))
    }
}

/// FNV-1a over whole coordinates, then a finalising mix; 0 and −0 are one point.
fn fingerprint(x: &[f64]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for v in x {
        h = (h ^ (v + 0.0).to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
        h ^= h >> 29;
    }
    h = h.wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 32)
}
