//! A least-squares study at its best point: the model beside the data, and the standard errors of the parameters.

use labcat::{Evaluation, LocalResiduals, Optimizer, Parameter};

use crate::best::recommended;
use crate::report::{Fit, FitSeries};
use crate::study::{Data, Identity};

/// The most points of a curve on a page: of more, every k-th is shown.
const SHOWN: usize = 2_000;
/// The largest relative error of a Jacobian that is worth telling.
const WORST: f64 = 0.1;
/// Pivots below this share of the largest are rounding errors.
const SINGULAR: f64 = 1e-12;

/// What the page of a study shows; `None` if the best evaluation has no residuals.
pub(crate) fn of(optimizer: &Optimizer, data: &[Data]) -> Option<Fit> {
    let best = optimizer.best().filter(|best| !best.outcome.residuals().is_empty())?;
    let errors = StandardErrors::of(optimizer);
    Some(Fit {
        evaluation: best.id.0,
        count: best.outcome.residuals().len(),
        series: series(best.outcome.residuals(), data),
        sigma: errors.as_ref().map(|errors| errors.sigma),
        standard_errors: errors.map_or_else(Vec::new, |errors| errors.of),
    })
}

/// The residuals cut into the columns of the data; those that a command printed are one column without data.
fn series(residuals: &[f64], data: &[Data]) -> Vec<FitSeries> {
    if data.iter().map(|column| column.values.len()).sum::<usize>() != residuals.len() {
        let at = (1..=residuals.len()).map(|place| place as f64).collect();
        let series = FitSeries { residuals: residuals.to_vec(), at, ..FitSeries::default() };
        return vec![thinned(series)];
    }
    let mut rest = residuals;
    let one = |column: &Data| {
        let (residuals, after) = rest.split_at(column.values.len());
        rest = after;
        let error = |k: usize| column.error.get(k).copied();
        let model = |(k, (residual, value)): (usize, (&f64, &f64))| value + residual * error(k).unwrap_or(1.0);
        let at = match column.at.is_empty() {
            true => (1..=residuals.len()).map(|row| row as f64).collect(),
            false => column.at.clone(),
        };
        thinned(FitSeries {
            name: column.name.clone(),
            at,
            at_name: column.at_name.clone(),
            data: column.values.clone(),
            error: column.error.clone(),
            model: residuals.iter().zip(&column.values).enumerate().map(model).collect(),
            residuals: residuals.to_vec(),
        })
    };
    data.iter().map(one).collect()
}

/// At most so many points that a page stays light.
fn thinned(series: FitSeries) -> FitSeries {
    let every = series.residuals.len().div_ceil(SHOWN).max(1);
    let thin = |all: Vec<f64>| all.into_iter().step_by(every).collect();
    FitSeries {
        at: thin(series.at),
        data: thin(series.data),
        error: thin(series.error),
        model: thin(series.model),
        residuals: thin(series.residuals),
        ..series
    }
}

/// Standard errors of the parameters at the point to use, from s² (JᵀJ)⁻¹ with s² = Σ r² / (m − p).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StandardErrors {
    /// One for each parameter; `None` for labels, what does not apply, and what is at its bound.
    pub(crate) of: Vec<Option<f64>>,
    /// s, the standard deviation of a residual.
    pub(crate) sigma: f64,
}

impl StandardErrors {
    /// `None` if the evaluations do not determine them.
    ///
    /// The Jacobian J is that of the optimizer's model of the evaluations around it.
    pub(crate) fn of(optimizer: &Optimizer) -> Option<StandardErrors> {
        let (domain, best) = (optimizer.domain(), optimizer.best()?);
        let (x, value) = match recommended(optimizer) {
            Some(found) => (found.x, found.mean),
            None => (best.x.clone(), best.outcome.value()?),
        };
        let (m, around) = (best.outcome.residuals().len(), optimizer.residuals_around(&x).ok()??);
        let (p, free) = (around.parameters.len(), &around.parameters);
        if m <= p || around.error.max(around.weakest) > WORST {
            return None;
        }
        let sigma = (value / (m - p) as f64).sqrt();
        let jacobian = jacobian(optimizer.evaluations(), best, &around);
        let information: Vec<Vec<f64>> =
            jacobian.iter().map(|a| jacobian.iter().map(|b| dot(a, b)).collect()).collect();
        // What is held by its bound is no estimate: the others are those with it fixed.
        let inner: Vec<usize> = (0..p).filter(|k| !is_at_bound(&domain.parameters()[free[*k]], x[free[*k]])).collect();
        let inverse =
            inverse(&inner.iter().map(|i| inner.iter().map(|j| information[*i][*j]).collect()).collect::<Vec<_>>())?;
        let mut of = vec![None; domain.parameters().len()];
        for (place, k) in inner.iter().enumerate() {
            let i = free[*k];
            of[i] = Some(sigma * inverse[place][place].max(0.0).sqrt());
        }
        Some(StandardErrors { of, sigma })
    }
}

impl StandardErrors {
    /// Those that there are, by the parameters' names.
    pub(crate) fn by_name(&self, identity: &Identity) -> Vec<(String, f64)> {
        let named = identity.names().into_iter().zip(&self.of);
        named.filter_map(|(name, error)| Some((name.to_owned(), (*error)?))).collect()
    }
}

/// The derivatives of the residuals by each parameter that has them.
fn jacobian(all: &[Evaluation], best: &Evaluation, around: &LocalResiduals) -> Vec<Vec<f64>> {
    let r = best.outcome.residuals();
    let mut columns = vec![vec![0.0; r.len()]; around.parameters.len()];
    for (row, id) in around.evaluations.iter().enumerate() {
        // What does not change would cancel.
        let Some(told) = all.iter().find(|told| told.id == *id) else { continue };
        let differences: Vec<f64> = told.outcome.residuals().iter().zip(r).map(|(a, b)| a - b).collect();
        for (column, slopes) in columns.iter_mut().zip(&around.slopes) {
            column.iter_mut().zip(&differences).for_each(|(j, d)| *j += slopes[row] * d);
        }
    }
    columns
}

fn is_at_bound(p: &Parameter, x: f64) -> bool {
    x <= p.low || x >= p.high
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a symmetric positive definite matrix, by its Cholesky factor; `None` if it is singular. Its rows are brought to one
/// size first, so that units do not matter.
fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let size: Vec<f64> = (0..n).map(|i| matrix[i][i].sqrt()).collect();
    if n == 0 || size.iter().any(|size| !(size.is_finite() && *size > 0.0)) {
        return None;
    }
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = matrix[i][j] / (size[i] * size[j]) - dot(&l[i][..j], &l[j][..j]);
            l[i][j] = if i > j { rest / l[j][j] } else { rest.sqrt() };
            if i == j && (rest.is_nan() || rest < SINGULAR) {
                return None;
            }
        }
    }
    let column = |k: usize| {
        let mut x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == k))).collect();
        for i in 0..n {
            x[i] = (x[i] - dot(&l[i][..i], &x[..i])) / l[i][i];
        }
        for i in (0..n).rev() {
            let below: f64 = (i + 1..n).map(|j| l[j][i] * x[j]).sum();
            x[i] = (x[i] - below) / l[i][i];
        }
        (0..n).map(|i| x[i] / (size[i] * size[k])).collect::<Vec<f64>>()
    };
    Some((0..n).map(column).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use labcat::{Config, Domain, Outcome};

    #[test]
    fn an_inverse_does_not_depend_on_units_and_knows_what_is_singular() {
        let found = inverse(&[vec![4e12, 2e3], vec![2e3, 3e-6]]).unwrap();
        let (a, b, d): (f64, f64, f64) = (4e12, 2e3, 3e-6);
        let determinant = a * d - b * b;
        for (i, j, expected) in [(0, 0, d / determinant), (0, 1, -b / determinant), (1, 1, a / determinant)] {
            assert!((found[i][j] / expected - 1.0).abs() < 1e-12, "{i} {j}");
        }
        assert_eq!(inverse(&[vec![1.0, 2.0], vec![2.0, 4.0]]), None);
        assert_eq!(inverse(&[vec![0.0]]), None);
    }

    /// y = a exp(-b t) at t = 0, 0.2, …, with fixed disturbances, told at points around the minimum.
    fn decay(points: &[[f64; 2]]) -> Optimizer {
        let domain =
            Domain::from_parameters(vec![Parameter::real("a", 0.0, 10.0), Parameter::real("b", 0.0, 2.0)]).unwrap();
        let mut optimizer = Optimizer::new(domain, Config::default()).unwrap();
        for point in points {
            optimizer.tell_point(point, Outcome::of_residuals(disturbed(point[0], point[1]))).unwrap();
        }
        optimizer
    }

    fn disturbed(a: f64, b: f64) -> Vec<f64> {
        let residual = |k: usize| {
            let t = 0.2 * k as f64;
            a * (-b * t).exp() - 5.0 * (-0.7 * t).exp() - 0.1 * (7.3 * (k * k) as f64).sin()
        };
        (0..20).map(residual).collect()
    }

    #[test]
    fn standard_errors_are_those_of_the_jacobian() {
        let best = [5.02, 0.71];
        let mut points = vec![best];
        for k in 0..12 {
            let angle = f64::from(k);
            points.push([best[0] + 0.03 * angle.cos(), best[1] + 0.01 * (1.7 * angle).sin()]);
        }
        let optimizer = decay(&points);
        let best = optimizer.best().unwrap().x.clone();
        let found = StandardErrors::of(&optimizer).unwrap();
        // The Jacobian by central differences.
        let column = |step: [f64; 2]| -> Vec<f64> {
            let (up, down) =
                (disturbed(best[0] + step[0], best[1] + step[1]), disturbed(best[0] - step[0], best[1] - step[1]));
            up.iter().zip(&down).map(|(u, d)| (u - d) / 2e-5).collect()
        };
        let j = [column([1e-5, 0.0]), column([0.0, 1e-5])];
        let product = |i: usize, k: usize| dot(&j[i], &j[k]);
        let covariance = inverse(&[vec![product(0, 0), product(0, 1)], vec![product(1, 0), product(1, 1)]]).unwrap();
        for i in 0..2 {
            let expected = found.sigma * covariance[i][i].sqrt();
            let error = found.of[i].unwrap();
            assert!((error / expected - 1.0).abs() < 0.02, "parameter {i}: {error} for {expected}");
        }
    }

    #[test]
    fn what_the_evaluations_do_not_determine_has_no_standard_error() {
        let on_a_line: Vec<[f64; 2]> = (0..9).map(|k| [5.0 + 0.01 * f64::from(k), 0.7]).collect();
        assert_eq!(StandardErrors::of(&decay(&on_a_line)), None);
        assert_eq!(StandardErrors::of(&decay(&[[5.0, 0.7]])), None);
        let scattered = [[5.0, 0.7], [9.0, 0.01], [0.5, 1.9], [0.1, 0.0], [9.9, 2.0]];
        assert_eq!(StandardErrors::of(&decay(&scattered)), None, "a linear model explains nothing out there");
    }
}
