//! The one source of randomness: a named, portable, serialisable generator.

use crate::math;
use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Seeded generator of every random draw of an optimizer; part of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform on [0, 1): the top 53 bits of one draw.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform on [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform on {0, …, n − 1} for n ≥ 1, by multiply-shift (bias below 2⁻³² for n < 2³²).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (a, b) = (self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = a * a + b * b;
            if square > 0.0 && square < 1.0 {
                return a * (-2.0 * math::ln(square) / square).sqrt();
            }
        }
    }

    /// Multiplies the weights 1 / (1 + rank) of squares by exponential draws: a fit with such weights is one of those that the rows leave
    /// possible (the Bayesian bootstrap).
    pub fn bootstrap(&mut self, rank: &mut [f64]) {
        for rank in rank {
            let draw = -math::log1p(-self.unit());
            *rank = (1.0 + *rank) / draw.max(f64::EPSILON).sqrt() - 1.0;
        }
    }

    /// Fisher–Yates shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
