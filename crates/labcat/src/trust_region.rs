//! The trust region Ω_TR = [−β, β]^d of the local frame, and which observations it keeps.

use crate::linalg::Matrix;

/// Decides where to look next and what to forget. (eq:trust_region_def)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrustRegion {
    /// β: half of the side, in length-scales.
    pub(crate) beta: f64,
    /// ρ d: as many observations are kept even if they lie outside.
    pub(crate) keep: usize,
    /// No more observations than this are kept, wherever they lie.
    pub(crate) limit: usize,
}

impl TrustRegion {
    fn contains(&self, x: &Matrix, row: usize) -> bool {
        (0..x.cols()).all(|j| x[(row, j)].abs() <= self.beta)
    }

    /// Rows of `x` to discard, ascending: the oldest outside the trust region down to `keep`, then, beyond `limit`, the oldest
    /// of all; never `best`. Rows are ordered by age, the oldest first. (eq:input_discard)
    pub(crate) fn discard(&self, x: &Matrix, best: usize, out: &mut Vec<usize>) {
        let n = x.rows();
        out.clear();
        for row in 0..n {
            if n - out.len() <= self.keep {
                return;
            }
            if row != best && !self.contains(x, row) {
                out.push(row);
            }
        }
        // Still more than `keep`, all inside: without this, n would grow for as long as progress stalls.
        let excess = (n - out.len()).saturating_sub(self.limit);
        let already = out.len();
        let mut oldest = 0;
        while out.len() - already < excess && oldest < n {
            if oldest != best && !out[..already].contains(&oldest) {
                out.push(oldest);
            }
            oldest += 1;
        }
        out.sort_unstable();
    }
}
