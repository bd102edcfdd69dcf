//! Parameters, bounds, and the map between user values and the box [−1, 1]^d in which everything else works.

use crate::math;

/// How a parameter's range is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Scale {
    /// Equal steps are equal differences.
    #[default]
    Linear,
    /// Equal steps are equal ratios; needs positive bounds.
    Log,
}

/// A real parameter: its name and range.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameter {
    /// Name, unique within a domain.
    pub name: String,
    /// Smallest value, included.
    pub low: f64,
    /// Largest value, included.
    pub high: f64,
    /// Linear or logarithmic.
    pub scale: Scale,
}

impl Parameter {
    /// Half of a range and its middle, in the linear or the logarithmic coordinate; no overflow for finite bounds.
    fn middle_and_half(&self) -> (f64, f64) {
        let (low, high) = match self.scale {
            Scale::Linear => (self.low, self.high),
            Scale::Log => (math::ln(self.low), math::ln(self.high)),
        };
        (0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)
    }
}

/// What is wrong with a domain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DomainError {
    /// There is no parameter.
    #[error("no parameters: give at least one (low, high) pair")]
    Empty,
    /// A bound is NaN or infinite.
    #[error("bounds of {name} are ({low}, {high}): both must be finite")]
    NotFinite {
        /// The parameter's name.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// The lower bound is not below the upper bound.
    #[error("bounds of {name} are ({low}, {high}): low must be below high, and wider apart than rounding")]
    Inverted {
        /// The parameter's name.
        name: String,
        /// Its lower bound.
        low: f64,
        /// Its upper bound.
        high: f64,
    },
    /// A logarithmic parameter reaches zero or below.
    #[error("{name} is on a log scale and its low is {low}: a log scale needs low > 0")]
    LogNotPositive {
        /// The parameter's name.
        name: String,
        /// Its lower bound.
        low: f64,
    },
    /// Two parameters have the same name.
    #[error("two parameters are named {name}: names must differ")]
    DuplicateName {
        /// The name.
        name: String,
    },
}

/// What is wrong with a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PointError {
    /// The number of coordinates differs from the number of parameters.
    #[error("the point has {got} coordinates: this domain has {expected} parameters")]
    WrongLength {
        /// Coordinates given.
        got: usize,
        /// Parameters of the domain.
        expected: usize,
    },
    /// A coordinate lies outside its bounds, or is NaN.
    #[error("{name} = {value} is not allowed: it must lie in [{low}, {high}]")]
    Outside {
        /// The parameter's name.
        name: String,
        /// The coordinate.
        value: f64,
        /// The parameter's lower bound.
        low: f64,
        /// The parameter's upper bound.
        high: f64,
    },
    /// The point violates a known constraint.
    #[error("the point violates a known constraint")]
    Violates,
}

/// A checked box of named parameters: the set Ω of (eq:black_box_problem).
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    parameters: Vec<Parameter>,
    /// Middle and half-width of each parameter, in its own coordinate (linear or logarithmic): (eq:input_init).
    spans: Vec<(f64, f64)>,
}

impl Domain {
    /// Linear parameters named `x0`, `x1`, … from (low, high) pairs.
    pub fn new(bounds: &[(f64, f64)]) -> Result<Self, DomainError> {
        let named = |(i, &(low, high))| Parameter { name: format!("x{i}"), low, high, scale: Scale::Linear };
        Self::from_parameters(bounds.iter().enumerate().map(named).collect())
    }

    /// A domain of named parameters.
    pub fn from_parameters(parameters: Vec<Parameter>) -> Result<Self, DomainError> {
        if parameters.is_empty() {
            return Err(DomainError::Empty);
        }
        for (i, p) in parameters.iter().enumerate() {
            let (name, low, high) = (p.name.clone(), p.low, p.high);
            if !(low.is_finite() && high.is_finite()) {
                return Err(DomainError::NotFinite { name, low, high });
            }
            if p.scale == Scale::Log && low <= 0.0 {
                return Err(DomainError::LogNotPositive { name, low });
            }
            let (middle, half) = p.middle_and_half();
            if !(low < high && half > 0.0 && middle + half > middle && middle - half < middle) {
                return Err(DomainError::Inverted { name, low, high });
            }
            if parameters[..i].iter().any(|q| q.name == p.name) {
                return Err(DomainError::DuplicateName { name });
            }
        }
        let spans = parameters.iter().map(Parameter::middle_and_half).collect();
        Ok(Self { parameters, spans })
    }

    /// Number of parameters, d.
    pub fn dim(&self) -> usize {
        self.parameters.len()
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Whether a point has the right length and lies inside the bounds.
    pub fn check(&self, x: &[f64]) -> Result<(), PointError> {
        if x.len() != self.dim() {
            return Err(PointError::WrongLength { got: x.len(), expected: self.dim() });
        }
        for (p, &value) in self.parameters.iter().zip(x) {
            if !(p.low <= value && value <= p.high) {
                let (name, low, high) = (p.name.clone(), p.low, p.high);
                return Err(PointError::Outside { name, value, low, high });
            }
        }
        Ok(())
    }

    /// User values → [−1, 1]^d.
    pub(crate) fn to_unit(&self, x: &[f64], u: &mut [f64]) {
        for (((p, &(middle, half)), &x), u) in self.parameters.iter().zip(&self.spans).zip(x).zip(u) {
            let t = match p.scale {
                Scale::Linear => x,
                Scale::Log => math::ln(x),
            };
            // Halved first, so that the widest finite bounds do not overflow.
            *u = ((0.5 * t - 0.5 * middle) / (0.5 * half)).clamp(-1.0, 1.0);
        }
    }

    /// [−1, 1]^d → user values, inside the bounds whatever the rounding.
    pub(crate) fn to_user(&self, u: &[f64], x: &mut [f64]) {
        for (((p, &(middle, half)), &u), x) in self.parameters.iter().zip(&self.spans).zip(u).zip(x) {
            let t = middle + half * u;
            let value = match p.scale {
                Scale::Linear => t,
                Scale::Log => math::exp(t),
            };
            *x = value.clamp(p.low, p.high);
        }
    }

    /// The smallest step of coordinate `j` of the unit box that still changes the user's value reliably at `u`:
    /// 4ε · max(|t|, 10⁻³ · width) in the parameter's own coordinate t.
    pub(crate) fn resolution(&self, j: usize, u: f64) -> f64 {
        let (middle, half) = self.spans[j];
        let t = middle + half * u;
        4.0 * f64::EPSILON * (t.abs() / half).max(2e-3)
    }

    /// User units per unit of the box at `u`, for coordinate `j`.
    pub(crate) fn stretch(&self, j: usize, u: f64) -> f64 {
        let (middle, half) = self.spans[j];
        match self.parameters[j].scale {
            Scale::Linear => half,
            Scale::Log => half * math::exp(middle + half * u),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
