//! The trust region Ω_TR = [−β, β]^d of the local frame, and which observations it keeps.

use crate::linalg::Matrix;

/// Decides where to look next and what to forget. (eq:trust_region_def)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrustRegion {
    /// β: half of the side, in length-scales.
    pub(crate) beta: f64,
    /// ρ d: as many observations are kept.
    pub(crate) keep: usize,
}

impl TrustRegion {
    /// Rows of `x` to discard, ascending, so that `keep` are left: the oldest outside the trust region and, when those do not
    /// suffice, the oldest inside; never `best`. `reach` is how far it extends along each axis: β, farther for categories. Rows are ordered by age, the oldest first. (eq:input_discard)
    pub(crate) fn discard(&self, x: &Matrix, best: usize, reach: &[f64], out: &mut Vec<usize>) {
        let inside = |row: usize| reach.iter().enumerate().all(|(j, reach)| x[(row, j)].abs() <= *reach);
        out.clear();
        let excess = x.rows().saturating_sub(self.keep);
        let others = || (0..x.rows()).filter(|&row| row != best);
        out.extend(others().filter(|&row| !inside(row)).take(excess));
        // All the rest lies inside: without this, n would grow for as long as progress stalls.
        let missing = excess - out.len();
        out.extend(others().filter(|&row| inside(row)).take(missing));
        out.sort_unstable();
    }
}

#[cfg(test)]
mod tests;
