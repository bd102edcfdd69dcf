//! Hessians from secants, as quasi-Newton methods make them.

use crate::linalg::{self, Matrix};

/// The update of rank one is taken where it misses the newest secant by less than this part of what the positive definite one does.
const BETTER: f64 = 0.1;
/// A secant whose remainder is this near to a right angle changes nothing.
const FLAT: f64 = 1e-8;
/// The part of the curvature along a secant that a positive definite update leaves at least.
const DAMPED: f64 = 0.2;

/// A displacement and the difference of the slopes along it.
pub type Secant = (Vec<f64>, Vec<f64>);

/// Updates a Hessian to a secant: symmetric of rank one, by which a quadratic is known exactly after d secants; or positive definite of rank two
/// (damped BFGS), which follows a function that is none.
fn update(h: &mut Matrix, (s, y): &Secant, definite: bool) {
    let d = s.len();
    let mut image = vec![0.0; d];
    (0..d).for_each(|j| linalg::axpy(&mut image, s[j], h.col(j)));
    let (bend, change) = (linalg::dot(s, &image), linalg::dot(s, y));
    if definite {
        let share = if change < DAMPED * bend { (1.0 - DAMPED) * bend / (bend - change) } else { 1.0 };
        let y: Vec<f64> = y.iter().zip(&image).map(|(y, i)| share * y + (1.0 - share) * i).collect();
        let change = linalg::dot(s, &y);
        for j in 0..d {
            linalg::axpy(h.col_mut(j), y[j] / change, &y);
            linalg::axpy(h.col_mut(j), -image[j] / bend, &image);
        }
        return;
    }
    let rest: Vec<f64> = y.iter().zip(&image).map(|(y, i)| y - i).collect();
    let along = linalg::dot(&rest, s);
    if along.abs() > FLAT * (linalg::dot(&rest, &rest) * linalg::dot(s, s)).sqrt() {
        (0..d).for_each(|j| linalg::axpy(h.col_mut(j), rest[j] / along, &rest));
    }
}

/// The Hessian of secants, the newest first; it begins with the curvature along the newest.
fn hessian(secants: &[Secant], steepness: f64, definite: bool) -> Matrix {
    let d = secants.first().map_or(0, |(s, _)| s.len());
    let curvature = secants.first().map_or(0.0, |(s, y)| (linalg::dot(y, y) / linalg::dot(s, y)).abs());
    let mut h = Matrix::identity(d);
    h.scale(if curvature > 0.0 && curvature.is_finite() { curvature } else { steepness });
    secants.iter().rev().for_each(|secant| update(&mut h, secant, definite));
    h
}

/// By how much a Hessian misses a secant.
fn missed(h: &Matrix, (s, y): &Secant) -> f64 {
    let mut rest = y.clone();
    (0..s.len()).for_each(|j| linalg::axpy(&mut rest, -s[j], h.col(j)));
    linalg::dot(&rest, &rest).sqrt()
}

/// The Hessian of secants, the newest first: by updates of rank one where these miss the newest secant by far less than positive definite ones, as on
/// a quadratic. Before the first it is `steepness` times the identity. `None` without a secant.
pub fn likelier(secants: &[Secant], steepness: f64) -> Option<Matrix> {
    let (newest, before) = secants.split_first()?;
    let misses =
        |definite: bool| if before.is_empty() { 0.0 } else { missed(&hessian(before, steepness, definite), newest) };
    Some(hessian(secants, steepness, BETTER * misses(true) <= misses(false)))
}
