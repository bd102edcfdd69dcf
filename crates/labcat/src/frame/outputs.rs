//! Min–max normalisation of the outputs, and the optional logarithmic warp of heavy tails.

use crate::math;

/// The map y = a y′ + b between outputs and their normalised values: (eq:output_transform).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outputs {
    /// Half of the range, a / 2: halved so that the widest finite outputs do not overflow. With the warp it ends where outputs are cut.
    half_range: f64,
    /// b: the smallest output.
    minimum: f64,
    /// The largest absolute value among the outputs.
    largest: f64,
    /// The median of y′, before any warp.
    median: f64,
    bend: Option<Bend>,
}

/// The warp y″ = ln(1 + y′/q) / ln(1 + 1/q): q, the median of y′, and the denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bend {
    q: f64,
    rate: f64,
}

impl Bend {
    fn at(q: f64) -> Self {
        Self { q, rate: math::log1p(1.0 / q) }
    }

    fn warp(self, y: f64) -> f64 {
        math::log1p(y / self.q) / self.rate
    }
}

impl Outputs {
    /// y′ (warped if the outputs are) → y.
    pub(crate) fn to_user(self, y: f64) -> f64 {
        let half = self.half_range * self.height(y);
        (self.minimum + half + half).clamp(-f64::MAX, f64::MAX)
    }

    /// y → y′ (warped if the outputs are), for outputs no smaller than the smallest.
    pub(crate) fn to_normalised(self, y: f64) -> f64 {
        let height = self.height_of(y);
        match self.bend {
            None => height,
            Some(bend) => bend.warp(height.max(0.0)),
        }
    }

    /// How far an output lies above the smallest, in ranges.
    fn height_of(self, y: f64) -> f64 {
        if self.half_range > 0.0 { (0.5 * y - 0.5 * self.minimum) / self.half_range } else { 0.0 }
    }

    /// Whether an output is farther above the smallest than the model is told.
    pub(crate) fn is_cut(self, y: f64) -> bool {
        self.height_of(y) > 1.0
    }

    /// y′ without the warp: the height above the smallest output, in ranges.
    pub(crate) fn height(self, y: f64) -> f64 {
        match self.bend {
            None => y,
            Some(Bend { q, rate }) => q * math::expm1(y * rate),
        }
    }

    /// dy/dy′ at y′: what a small deviation is worth in user units.
    pub(crate) fn slope(self, y: f64) -> f64 {
        let bent = match self.bend {
            None => 1.0,
            Some(Bend { q, rate }) => q * rate * math::exp(y * rate),
        };
        2.0 * (self.half_range * bent)
    }

    /// The same outputs in units of at least `range`, and `y`, their y′ without a warp: outputs closer together than their noise have no range.
    pub(crate) fn no_narrower_than(mut self, range: f64, y: &mut [f64]) -> Self {
        let half_range = 0.5 * range;
        if self.half_range < half_range {
            let factor = self.half_range / half_range;
            self.half_range = half_range;
            self.median *= factor;
            for y in y {
                *y *= factor;
            }
        }
        self
    }

    /// a: the range of the outputs.
    pub(crate) fn range(self) -> f64 {
        (2.0 * self.half_range).min(f64::MAX)
    }

    /// b: the smallest of the outputs.
    pub(crate) fn minimum(self) -> f64 {
        self.minimum
    }

    /// How far the median lies above the smallest output: a range that no single outlier makes.
    pub(crate) fn spread(self) -> f64 {
        (self.median * self.range()).min(f64::MAX)
    }

    /// The largest absolute value among the outputs: what their rounding is relative to.
    pub(crate) fn largest(self) -> f64 {
        self.largest
    }
}

/// Normalises finite outputs in place: y′ = (y − y_min)/(y_max − y_min). (eq:output_min_max)
///
/// When all are equal, y′ = 0 throughout and a = 0: nothing is divided by zero. With a warp a heavy tail is bent, and cut at so many medians.
pub(crate) fn normalise(y: &mut [f64], warp: Option<f64>, scratch: &mut Vec<f64>) -> Outputs {
    let minimum = y.iter().copied().fold(f64::INFINITY, f64::min);
    let maximum = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut half_range = 0.5 * maximum - 0.5 * minimum; // (eq:output_init): a = y_max − y_min, b = y_min
    for y in y.iter_mut() {
        *y = if half_range > 0.0 { (0.5 * *y - 0.5 * minimum) / half_range } else { 0.0 };
    }
    scratch.clear();
    scratch.extend_from_slice(y);
    let mut median = math::median(scratch).unwrap_or(0.0);
    let most = warp.unwrap_or(f64::INFINITY);
    let cut = median * most;
    if cut < 1.0 && half_range * cut > 0.0 {
        // Beyond this a logarithm has a heavy tail as well.
        (half_range, median) = (half_range * cut, 1.0 / most);
        y.iter_mut().for_each(|y| *y = (*y / cut).min(1.0));
    }
    // Where the median is not small, the outputs have no heavy tail to bend.
    let bend = (warp.is_some() && median < NO_TAIL).then(|| Bend::at(median.max(LEAST_BEND)));
    if let Some(bend) = bend {
        y.iter_mut().for_each(|y| *y = bend.warp(*y));
    }
    Outputs { half_range, minimum, largest: minimum.abs().max(maximum.abs()), median, bend }
}

/// Normalises finite outputs in units of at least `narrowest`, bent from their median above the smallest on, or from `least` if that is more.
pub(crate) fn normalise_bent(y: &mut [f64], least: f64, narrowest: f64) -> Outputs {
    let mut sorted = Vec::new();
    let mut outputs = normalise(y, None, &mut sorted).no_narrower_than(narrowest, y);
    sorted.retain(|y| *y > 0.0);
    let median = sorted.get(sorted.len() / 2).map_or(1.0, |y| y.min(outputs.median.max(*y)));
    let q = median.max(least / outputs.range());
    if outputs.range() > 0.0 && q < NO_TAIL {
        let bend = Bend::at(q);
        outputs.bend = Some(bend);
        y.iter_mut().for_each(|y| *y = bend.warp(*y));
    }
    outputs
}

/// The bend of a constraint with heavy tails, sgn(g) q ((1 + |g| / q)^p − 1) / p, or q ln(1 + |g| / q) for p = 0, keeps zero, signs and slopes there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Tail {
    /// 1/q, 0 for no bend.
    rate: f64,
    power: f64,
}

impl Tail {
    /// Bends beyond this size.
    pub(crate) fn beyond(size: f64, power: f64) -> Self {
        Self { rate: (1.0 / size).min(f64::MAX), power }
    }

    pub(crate) fn bend(self, g: f64) -> f64 {
        if self.rate == 0.0 {
            return g;
        }
        let height = self.height(g);
        let bent = if self.power == 0.0 { height } else { math::expm1(self.power * height) / self.power };
        (bent / self.rate).copysign(g)
    }

    /// The logarithm of the derivative of the bent value.
    pub(crate) fn ln_slope(self, g: f64) -> f64 {
        (self.power - 1.0) * self.height(g)
    }

    /// ln(1 + |g| / q).
    fn height(self, g: f64) -> f64 {
        math::log1p((self.rate * g.abs()).min(f64::MAX))
    }
}

/// From this median of y′ on, no warp.
const NO_TAIL: f64 = 0.5;

/// The strongest warp is that of this median.
const LEAST_BEND: f64 = 1e-3;

/// What lies farther above the smallest output than so many medians is told as that much. (From 10 to 1000 `bbob` and classics fare alike.)
pub(crate) const MOST_MEDIANS: f64 = 100.0;
