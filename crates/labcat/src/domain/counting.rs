//! Configurations of integers and categories: how many there are, which they are, and which lie next to each other.

use super::{Axis, Domain, LARGEST, ParameterKind};
use std::ops::Range;

impl Domain {
    /// The number of different points; `None` if there is a real parameter, or if the number is too large.
    pub fn configurations(&self) -> Option<u64> {
        let roots = (0..self.parameters.len()).filter(|&i| self.spans[i].when.is_none());
        let count: f64 = roots.map(|i| self.count_from(i)).product();
        (count < LARGEST).then_some(count as u64)
    }

    /// Configurations of a parameter and those that depend on it.
    fn count_from(&self, i: usize) -> f64 {
        let Some(levels) = self.parameters[i].levels() else { return f64::INFINITY };
        let depends = |j: &usize| self.spans[*j].when.as_ref().is_some_and(|(on, _)| *on == i);
        let dependants: Vec<usize> = (i + 1..self.parameters.len()).filter(depends).collect();
        let mut values: Vec<f64> =
            dependants.iter().flat_map(|&j| self.spans[j].when.iter().flat_map(|(_, v)| v.iter().copied())).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let with = |value: &f64| -> f64 {
            let active = |j: &&usize| self.spans[**j].when.as_ref().is_some_and(|(_, v)| v.contains(value));
            dependants.iter().filter(active).map(|&j| self.count_from(j)).product()
        };
        levels as f64 - values.len() as f64 + values.iter().map(with).sum::<f64>()
    }

    /// How many points [`Domain::listed`] knows: each configuration at least once. `None` if there are too many to tell.
    pub(crate) fn list_length(&self) -> Option<u64> {
        let levels = self.parameters.iter().map(|p| p.levels().map_or(f64::INFINITY, |l| l as f64));
        let count: f64 = levels.product();
        (count < LARGEST).then_some(count as u64)
    }

    /// Point `k` of the list of all.
    pub(crate) fn listed(&self, mut k: u64) -> Vec<f64> {
        let mut x = vec![0.0; self.parameters.len()];
        for (x, p) in x.iter_mut().zip(&self.parameters) {
            let levels = p.levels().unwrap_or(1);
            *x = p.level(k % levels);
            k /= levels;
        }
        self.canonical(&x)
    }

    /// The coordinates of each parameter whose axes never turn.
    pub(crate) fn untied(&self) -> Vec<Range<usize>> {
        let coordinates = self.spans.iter().map(|s| s.first..s.first + s.count);
        coordinates.filter(|c| !c.is_empty() && !self.axes[c.start].turns()).collect()
    }

    /// Whether two places in the box stand for the same integers and categories, whatever the reals.
    pub(crate) fn same_choices(&self, a: &[f64], b: &[f64]) -> bool {
        self.axes.iter().zip(a.iter().zip(b)).all(|(axis, (a, b))| *axis == Axis::Real || a == b)
    }

    /// The points that differ from one (in user units) by a step of a number or by another label, in one parameter.
    pub(crate) fn neighbours(&self, x: &[f64]) -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        for (i, p) in self.parameters.iter().enumerate() {
            let Some(levels) = p.levels() else { continue };
            if !self.is_active(i, x) {
                continue;
            }
            let labels = matches!(p.kind, ParameterKind::Categorical { ordered: false, .. });
            let values: Vec<f64> = if labels {
                (0..levels).map(|k| p.level(k)).collect()
            } else {
                [x[i] - p.step(), x[i] + p.step()].map(|value| p.nearest(value)).to_vec()
            };
            for value in values {
                if value != x[i] {
                    let mut other = x.to_vec();
                    other[i] = value;
                    found.push(self.woken(x, other));
                }
            }
        }
        found
    }

    /// A point made from another: parameters that begin to mean something start in the middle of their ranges.
    pub(crate) fn woken(&self, from: &[f64], mut x: Vec<f64>) -> Vec<f64> {
        for i in 0..x.len() {
            if !self.is_active(i, from) && self.is_active(i, &x) {
                x[i] = self.idle(i);
            }
        }
        self.canonical(&x)
    }

    /// The length of one step of coordinate `j` of the box at `u`; 0 for a real.
    pub(crate) fn step_length(&self, j: usize, u: f64) -> f64 {
        let i = self.parameter_of(j);
        let step = self.parameters[i].step();
        if step == 0.0 { 0.0 } else { step / self.stretch(j, u) }
    }
}
