//! Parameters, and the map between user values and the box [−1, 1]^d in which everything else works.
//!
//! A real, an integer, a category of two labels and an ordered category have one coordinate in the box. An unordered category of more labels has one coordinate
//! for each label, and a fixed value has none. Integers and categories have *places* in the box; [`Domain::snap`] moves a point to its
//! place, so that the model and the objective see the same values.

mod counting;
mod errors;
mod parameter;

pub use errors::{DomainError, PointError};
pub use parameter::{Condition, Label, Parameter, ParameterKind, Scale};

use crate::math;
use parameter::steps_above;

/// An integer with at least this many values is searched like a real: its axis turns with those of the reals.
const MANY: u64 = 64;
/// The largest integer that a point can hold exactly.
const LARGEST: f64 = 9_007_199_254_740_992.0;
/// Where the coordinate of a category stands, for the label that is chosen and with the other sign for the others.
const CHOSEN: f64 = 0.5;

/// What a coordinate of the box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// A real number.
    Real,
    /// An integer with many values.
    Whole,
    /// An integer or ordered category with few values.
    Steps,
    /// A label or a boolean.
    Choice,
}

impl Axis {
    /// Whether its direction can be mixed with others.
    pub(crate) fn turns(self) -> bool {
        matches!(self, Self::Real | Self::Whole)
    }
}

/// A parameter's place in the box.
#[derive(Clone, Debug, PartialEq)]
struct Span {
    /// Middle and half-width, in the parameter's own coordinate (linear or logarithmic): (eq:input_init).
    middle: f64,
    half: f64,
    /// Its coordinates in the box.
    first: usize,
    count: usize,
    /// The parameter that decides whether it applies, and for which of its values.
    when: Option<(usize, Vec<f64>)>,
}

/// A checked set of named parameters: the set Ω of (eq:black_box_problem).
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    parameters: Vec<Parameter>,
    spans: Vec<Span>,
    /// What each coordinate of the box stands for.
    axes: Vec<Axis>,
}

/// Labels in words.
fn list(labels: &[Label]) -> String {
    labels.iter().map(Label::to_string).collect::<Vec<_>>().join(", ")
}

impl Domain {
    /// Linear real parameters named `x0`, `x1`, … from (low, high) pairs.
    pub fn new(bounds: &[(f64, f64)]) -> Result<Self, DomainError> {
        let named = |(i, &(low, high)): (usize, &(f64, f64))| Parameter::real(&format!("x{i}"), low, high);
        Self::from_parameters(bounds.iter().enumerate().map(named).collect())
    }

    /// A domain of named parameters.
    pub fn from_parameters(parameters: Vec<Parameter>) -> Result<Self, DomainError> {
        if parameters.is_empty() {
            return Err(DomainError::Empty);
        }
        let (mut spans, mut axes) = (Vec::with_capacity(parameters.len()), Vec::new());
        for (i, p) in parameters.iter().enumerate() {
            check_parameter(p)?;
            if parameters[..i].iter().any(|q| q.name == p.name) {
                return Err(DomainError::DuplicateName { name: p.name.clone() });
            }
            let kinds = axes_of(p);
            let (middle, half) = p.middle_and_half();
            let when = condition(p, &parameters[..i])?;
            spans.push(Span { middle, half, first: axes.len(), count: kinds.len(), when });
            axes.extend(kinds);
        }
        Ok(Self { parameters, spans, axes })
    }

    /// Number of coordinates of the box in which the search works: one for each parameter of reals, integers and pairs, one for
    /// each label of an unordered category, none for a fixed value.
    pub fn dim(&self) -> usize {
        self.axes.len()
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Number of parameters that are not fixed, at least one.
    pub fn free_parameters(&self) -> usize {
        self.spans.iter().filter(|s| s.count > 0).count().max(1)
    }

    /// Whether there is a parameter other than a real that always applies.
    pub(crate) fn is_mixed(&self) -> bool {
        let plain = |(p, s): (&Parameter, &Span)| p.levels().is_none() && s.when.is_none();
        !self.parameters.iter().zip(&self.spans).all(plain)
    }

    /// What the coordinates of the box stand for.
    pub(crate) fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Whether a point has the right length and allowed values. A parameter that does not apply at the point may have any value.
    pub fn check(&self, x: &[f64]) -> Result<(), PointError> {
        if x.len() != self.parameters.len() {
            return Err(PointError::WrongLength { got: x.len(), expected: self.parameters.len() });
        }
        for (i, (p, &value)) in self.parameters.iter().zip(x).enumerate() {
            let (name, low, high) = (|| p.name.clone(), p.low, p.high);
            if !self.is_active(i, x) {
                continue;
            }
            if !(low <= value && value <= high) {
                return Err(PointError::Outside { name: name(), value, low, high });
            }
            if value != p.nearest(value) {
                return Err(PointError::BetweenSteps { name: name(), value, low, high, step: p.step() });
            }
        }
        Ok(())
    }

    /// Whether parameter `i` applies at a point: its condition holds, and so does the condition of the parameter it depends on.
    pub fn is_active(&self, i: usize, x: &[f64]) -> bool {
        match &self.spans[i].when {
            None => true,
            Some((other, values)) => values.contains(&x[*other]) && self.is_active(*other, x),
        }
    }

    /// The point with the middle value for each parameter that does not apply there, so that each configuration has one point.
    pub fn canonical(&self, x: &[f64]) -> Vec<f64> {
        let value = |i: usize| if self.is_active(i, x) { x[i] + 0.0 } else { self.idle(i) };
        if self.is_mixed() { (0..x.len()).map(value).collect() } else { x.to_vec() }
    }

    /// The middle of all ranges, each on its own scale.
    pub fn middle(&self) -> Vec<f64> {
        let middle: Vec<f64> = (0..self.parameters.len()).map(|i| self.idle(i)).collect();
        self.canonical(&middle)
    }

    /// The value of a parameter that does not apply.
    fn idle(&self, i: usize) -> f64 {
        let (p, span) = (&self.parameters[i], &self.spans[i]);
        p.nearest(unscaled(p, span.middle))
    }

    /// The place of a point in the box.
    pub(crate) fn place(&self, x: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.dim()];
        self.to_unit(x, &mut u);
        u
    }

    /// The point that a place in the box stands for.
    pub(crate) fn point(&self, u: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.parameters.len()];
        self.to_user(u, &mut x);
        x
    }

    /// User values → [−1, 1]^d.
    pub(crate) fn to_unit(&self, x: &[f64], u: &mut [f64]) {
        for (i, (p, span)) in self.parameters.iter().zip(&self.spans).enumerate() {
            let u = &mut u[span.first..span.first + span.count];
            if !self.is_active(i, x) {
                u.fill(0.0);
            } else if let [u] = u {
                *u = place(p, span, x[i]);
            } else {
                u.fill(-CHOSEN);
                if let Some(chosen) = u.get_mut(x[i] as usize) {
                    *chosen = CHOSEN;
                }
            }
        }
    }

    /// [−1, 1]^d → user values: the nearest that are allowed, whatever the rounding.
    pub(crate) fn to_user(&self, u: &[f64], x: &mut [f64]) {
        for (i, (p, span)) in self.parameters.iter().zip(&self.spans).enumerate() {
            x[i] = if !self.is_active(i, x) {
                self.idle(i)
            } else {
                match &u[span.first..span.first + span.count] {
                    [] => p.low,
                    [u] => p.nearest(unscaled(p, span.middle + span.half * u)),
                    labels => {
                        let largest = |best, k| if labels[k] > labels[best] { k } else { best };
                        (0..labels.len()).fold(0, largest) as f64
                    }
                }
            };
        }
    }

    /// Moves a point of the box to the place of the values that it stands for; reals stay where they are.
    pub(crate) fn snap(&self, u: &mut [f64]) {
        let x = self.point(u);
        let place = self.place(&x);
        for (i, (p, span)) in self.parameters.iter().zip(&self.spans).enumerate() {
            if p.kind != ParameterKind::Real || !self.is_active(i, &x) {
                let at = span.first..span.first + span.count;
                u[at.clone()].copy_from_slice(&place[at]);
            }
        }
    }

    /// The place in the box of a point of the cube [−1, 1] of one coordinate per parameter, in which each value has the same share.
    pub(crate) fn embed(&self, cube: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.dim()];
        for (span, v) in self.spans.iter().zip(cube) {
            if let [u] = &mut u[span.first..span.first + span.count] {
                *u = *v;
            } else if span.count > 1 {
                let label = (0.5 * (v + 1.0) * span.count as f64) as usize;
                u[span.first + label.min(span.count - 1)] = 1.0;
            }
        }
        if self.is_mixed() {
            self.snap(&mut u);
        }
        u
    }

    /// The smallest step of coordinate `j` of the unit box that still changes the user's value reliably at `u`:
    /// 4ε · max(|t|, 10⁻³ · width) in the parameter's own coordinate t.
    pub(crate) fn resolution(&self, j: usize, u: f64) -> f64 {
        let Span { middle, half, .. } = self.spans[self.parameter_of(j)];
        let t = middle + half * u;
        4.0 * f64::EPSILON * (t.abs() / half).max(2e-3)
    }

    /// User units per unit of the box at `u`, for coordinate `j`.
    pub(crate) fn stretch(&self, j: usize, u: f64) -> f64 {
        let i = self.parameter_of(j);
        let Span { middle, half, .. } = self.spans[i];
        match self.parameters[i].scale {
            Scale::Linear => half,
            Scale::Log => half * math::exp(middle + half * u),
        }
    }

    /// The parameter that coordinate `j` of the box belongs to.
    pub(crate) fn parameter_of(&self, j: usize) -> usize {
        self.spans.partition_point(|s| s.first + s.count <= j)
    }
}

/// A value in the parameter's own coordinate, back to the user's.
fn unscaled(p: &Parameter, t: f64) -> f64 {
    match p.scale {
        Scale::Linear => t,
        Scale::Log => math::exp(t),
    }
}

/// The place of a value, for a parameter with one coordinate.
fn place(p: &Parameter, span: &Span, x: f64) -> f64 {
    let t = match p.scale {
        Scale::Linear => x,
        Scale::Log => math::ln(x),
    };
    // Halved first, so that the widest finite bounds do not overflow.
    ((0.5 * t - 0.5 * span.middle) / (0.5 * span.half)).clamp(-1.0, 1.0)
}

/// What the coordinates of a parameter stand for.
fn axes_of(p: &Parameter) -> Vec<Axis> {
    match (&p.kind, p.levels()) {
        (_, Some(1)) => vec![],
        (_, None) => vec![Axis::Real],
        (ParameterKind::Categorical { labels, ordered: false }, _) if labels.len() > 2 => {
            vec![Axis::Choice; labels.len()]
        }
        (_, Some(2)) => vec![Axis::Choice],
        (_, Some(levels)) => vec![if levels < MANY { Axis::Steps } else { Axis::Whole }],
    }
}

fn check_parameter(p: &Parameter) -> Result<(), DomainError> {
    let (name, low, high) = (|| p.name.clone(), p.low, p.high);
    let bounds = |allowed| Err(DomainError::Bounds { name: name(), low, high, allowed });
    let inverted = || bounds("low must be below high, by more than a rounding error");
    if !(low.is_finite() && high.is_finite()) {
        return bounds("both must be finite");
    }
    if low > high || (low == high && matches!(p.kind, ParameterKind::Stepped { .. })) {
        return inverted();
    }
    match &p.kind {
        ParameterKind::Real => {}
        ParameterKind::Stepped { .. } | ParameterKind::Integer { .. } => {
            if let Some(allowed) = wrong_steps(p) {
                return Err(DomainError::Steps { name: name(), low, high, step: p.step(), allowed });
            }
        }
        ParameterKind::Categorical { labels, .. }
            if labels.is_empty() || labels.iter().enumerate().any(|(k, label)| labels[..k].contains(label)) =>
        {
            return Err(DomainError::Labels { name: name(), labels: labels.clone() });
        }
        kind @ (ParameterKind::Categorical { .. } | ParameterKind::Boolean) => {
            if p.scale == Scale::Log || low != 0.0 || p.levels().map(|n| (n - 1) as f64) != Some(high) {
                return Err(DomainError::NoRange { name: name(), kind: kind.name() });
            }
        }
    }
    if p.scale == Scale::Log && low <= 0.0 {
        return bounds("a log scale needs low > 0");
    }
    let (middle, half) = p.middle_and_half();
    let wide = half > 0.0 && middle + half > middle && middle - half < middle;
    if wide || p.levels() == Some(1) { Ok(()) } else { inverted() }
}

/// What the steps of a number must be, if they do not fill its range.
fn wrong_steps(p: &Parameter) -> Option<String> {
    let (low, high, step, log) = (p.low, p.high, p.step(), p.scale == Scale::Log);
    let steps = (high - low) / step;
    let fractions = low.fract() != 0.0 || high.fract() != 0.0 || low.abs() > LARGEST || high.abs() > LARGEST;
    let allowed = match p.kind {
        ParameterKind::Integer { .. } if fractions => "both bounds must be integers of at most 2^53",
        ParameterKind::Integer { .. } if step == 0.0 => "the step must be at least 1",
        ParameterKind::Integer { .. } if (high - low) % step != 0.0 => "high must be low plus a multiple of the step",
        ParameterKind::Integer { .. } if log && step != 1.0 => "on a log scale the step must be 1",
        ParameterKind::Integer { .. } => return None,
        _ if !(step.is_finite() && step > 0.0) => "the step must be a finite number above 0",
        _ if steps >= LARGEST || low + step == low || high - step == high => {
            "the step must be large enough to be told apart"
        }
        _ if (steps - steps.round()).abs() > 1e-9 * steps.max(1.0) || steps < 0.5 => {
            let (below, above) = (steps_above(low, step, steps.floor()), steps_above(low, step, steps.ceil()));
            return Some(format!("high must be low plus a multiple of the step, such as {below} or {above}"));
        }
        _ if log && step > low => "on a log scale the step must be at most low",
        _ => return None,
    };
    Some(allowed.to_owned())
}

/// The condition of a parameter, on one of those before it.
fn condition(p: &Parameter, before: &[Parameter]) -> Result<Option<(usize, Vec<f64>)>, DomainError> {
    let Some(Condition { parameter, values }) = &p.when else { return Ok(None) };
    let (name, other) = (p.name.clone(), parameter.clone());
    let on = before.iter().position(|q| q.name == *parameter && q.kind != ParameterKind::Real);
    let Some(on) = on else {
        let before = before.iter().filter(|q| q.kind != ParameterKind::Real).map(|q| q.name.clone()).collect();
        return Err(DomainError::ConditionOn { name, other, before });
    };
    let q = &before[on];
    let unknown = |v: &&f64| !(q.low <= **v && **v <= q.high && q.nearest(**v) == **v);
    match values.iter().find(unknown) {
        Some(&value) => {
            let why = match &q.kind {
                ParameterKind::Categorical { labels, .. } => {
                    format!("it must be the number of one of [{}]", list(labels))
                }
                _ => format!("it must be one of {}, {}, … {}", q.low, q.level(1), q.high),
            };
            Err(DomainError::ConditionValue { name, other, value, why })
        }
        None => Ok(Some((on, values.clone()))),
    }
}

#[cfg(test)]
mod tests;
