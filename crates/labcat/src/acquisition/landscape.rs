//! The acquisition function of a step, from the models of the objective and of the constraints.

use super::AcquisitionKind;
use crate::gp::PointPrediction;
use crate::gp::surrogate::Surrogate;

/// The acquisition function over the models of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landscape<'a> {
    pub(crate) surrogate: &'a Surrogate,
    pub(crate) kind: AcquisitionKind,
    /// The output to improve on.
    pub(crate) incumbent: f64,
    /// Factor on σ: above 1 the model is trusted less, and more is explored.
    pub(crate) optimism: f64,
}

/// Derivatives of a worth by the mean and by the standard deviation.
pub(crate) type Slopes = (f64, f64);

impl Landscape<'_> {
    /// What a point is worth by the objective alone.
    pub(crate) fn worth(&self, mean: f64, std: f64) -> f64 {
        self.kind.value(mean, self.optimism * std, self.incumbent)
    }

    /// The same at a point, with its derivatives in the mean and in the standard deviation.
    pub(crate) fn look(&self, at: &PointPrediction) -> (f64, Slopes) {
        let (worth, by_mean, by_std) = self.kind.look(at.mean, self.optimism * at.std, self.incumbent);
        (worth, (by_mean, by_std))
    }

    /// The gradient of that.
    pub(crate) fn gradient(&self, at: &PointPrediction, (by_mean, by_std): Slopes, out: &mut Vec<f64>) {
        out.clear();
        let slopes = at.mean_gradient.iter().zip(&at.std_gradient);
        out.extend(slopes.map(|(m, s)| by_mean * m + by_std * (self.optimism * s)));
    }

    /// A worth times the probability that the constraints are satisfied where the objective has this standard deviation. The optimism is theirs, too.
    pub(crate) fn times_feasible(&self, worth: f64, x: &[f64], std: f64) -> f64 {
        let log_feasible = self.surrogate.log_feasible(x, std, self.optimism);
        match self.kind {
            AcquisitionKind::ExpectedImprovement => worth * crate::math::exp(log_feasible),
            _ => worth + log_feasible,
        }
    }
}
