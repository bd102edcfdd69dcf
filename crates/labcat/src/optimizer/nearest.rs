//! The observations nearest to the best point, and the minimum of a polynomial regression of them.

use super::config::Settings;
use crate::frame::Frame;
use crate::linalg::{self, Matrix};
use crate::observations::Observations;
use crate::polynomial::Terms;

/// A fit of the nearest takes this many observations for each coefficient. (Three with pending evaluations: no better.)
const PER_COEFFICIENT: f64 = 1.5;
/// They are looked for among this many times as many of the newest.
pub(super) const NEWEST: usize = 4;
/// No fit has more coefficients: its cost grows with their cube.
const MOST_COEFFICIENTS: usize = 400;
/// In fewer dimensions the model is as quick as a quadratic of the nearest.
const LEAST_DIMENSION: usize = 3;

/// Where a polynomial has its minimum.
#[derive(Clone, Debug)]
pub(super) struct Forecast {
    /// In the box.
    pub(super) u: Vec<f64>,
    /// The best merit so far, and by how much less the value there is predicted to be.
    pub(super) from: f64,
    pub(super) gain: f64,
}

impl Forecast {
    /// One that predicts a number.
    pub(super) fn new(u: Vec<f64>, from: f64, gain: f64) -> Option<Self> {
        (from - gain).is_finite().then_some(Self { u, from, gain })
    }
}

/// How many observations a fit of the nearest takes; 0 if there is none.
pub(super) fn count(settings: &Settings, terms: Terms, d: usize) -> usize {
    let (switches, coefficients) = (&settings.switches, terms.count(d));
    let made = match terms {
        Terms::Quartic => switches.quartic,
        _ => switches.nearby && d >= LEAST_DIMENSION,
    };
    let made = switches.quadratic && made && coefficients <= MOST_COEFFICIENTS;
    if made { (PER_COEFFICIENT * coefficients as f64) as usize } else { 0 }
}

/// The nearest observations: their distances, values and positions; their places in the frame, outputs, and what their weights fall with.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearest {
    pub(super) order: Vec<(f64, f64, usize)>,
    pub(super) inputs: Matrix,
    pub(super) y: Vec<f64>,
    pub(super) rank: Vec<f64>,
}

impl Nearest {
    /// Sorts the newest observations by their distance from the centre of a frame, and keeps the nearest. Gives their number, if it is enough.
    pub(super) fn find(
        &mut self,
        observations: &Observations,
        frame: &Frame,
        (terms, most): (Terms, usize),
        scratch: &mut Vec<f64>,
    ) -> Option<usize> {
        self.order.clear();
        scratch.resize(frame.dim(), 0.0);
        for p in observations.len().saturating_sub(NEWEST * most)..observations.len() {
            frame.to_local(observations.unit(p), scratch);
            let distance = linalg::dot(scratch, scratch).sqrt();
            self.order.extend(observations.value(p).map(|value| (distance, value, p)));
        }
        let by_distance = |a: &(f64, f64, usize), b: &(f64, f64, usize)| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2));
        if most < self.order.len() {
            self.order.select_nth_unstable_by(most, by_distance);
            self.order.truncate(most);
        }
        self.order.sort_unstable_by(by_distance);
        Some(self.order.len()).filter(|n| *n >= terms.count(frame.dim()) + frame.dim())
    }

    /// Their places in the frame, and their values above `zero` in units of `scale`.
    pub(super) fn fill(
        &mut self,
        observations: &Observations,
        frame: &Frame,
        (zero, scale): (f64, f64),
        scratch: &mut Vec<f64>,
    ) {
        let Self { order, inputs, y, rank } = self;
        inputs.reshape(order.len(), frame.dim());
        frame.to_local_rows(order.iter().map(|(_, _, p)| observations.unit(*p)), inputs, scratch);
        y.clear();
        y.extend(order.iter().map(|(_, value, _)| (value - zero) / scale));
        rank.clear();
    }
}
