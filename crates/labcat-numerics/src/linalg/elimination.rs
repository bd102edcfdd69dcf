//! Linear equations.

use super::axpy;

/// Solves equations a·x = b for as many unknowns by elimination with the largest pivots, of `preferred` ones where there is one: each with the factors of
/// the others and the constant. `None` if the equations contradict each other.
pub fn eliminate(equations: &[(Vec<f64>, f64)], preferred: &[bool]) -> Option<Vec<(usize, Vec<f64>, f64)>> {
    let mut rows: Vec<(Vec<f64>, f64)> = equations.to_vec();
    let mut solved: Vec<(usize, usize)> = Vec::new();
    for r in 0..rows.len() {
        let size = rows[r].0.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let largest = equations[r].0.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        if size <= 1e-12 * largest || size == 0.0 {
            // It follows from the others, or contradicts them.
            if rows[r].1.abs() > 1e-9 * equations[r].1.abs().max(largest) {
                return None;
            }
            continue;
        }
        let by_size = |a: &usize, b: &usize| rows[r].0[*b].abs().total_cmp(&rows[r].0[*a].abs());
        let first = (0..preferred.len()).filter(|&j| preferred[j] && rows[r].0[j].abs() > 1e-9 * size).min_by(by_size);
        let pivot = first.or_else(|| (0..preferred.len()).min_by(by_size)).unwrap_or(0);
        let scale = rows[r].0[pivot];
        rows[r].0.iter_mut().for_each(|v| *v /= scale);
        rows[r].1 /= scale;
        let chosen = rows[r].clone();
        for (k, row) in rows.iter_mut().enumerate() {
            let factor = row.0[pivot];
            if k != r && factor != 0.0 {
                axpy(&mut row.0, -factor, &chosen.0);
                row.0[pivot] = 0.0;
                row.1 -= factor * chosen.1;
            }
        }
        solved.push((r, pivot));
    }
    let as_function = |(r, pivot): (usize, usize)| {
        let (row, constant) = &rows[r];
        let others = row.iter().enumerate().map(|(j, v)| if j == pivot { 0.0 } else { -v }).collect();
        (pivot, others, *constant)
    };
    Some(solved.into_iter().map(as_function).collect())
}
