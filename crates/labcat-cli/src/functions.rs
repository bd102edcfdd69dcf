//! Built-in test functions: the paper's six, and more for demonstrations and benchmarks. The core's tests use them too.

use std::f64::consts::PI;

/// A test function with a known minimum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// Name, as on the command line.
    pub(crate) name: &'static str,
    /// One line on what makes it hard.
    pub(crate) summary: &'static str,
    /// The only dimension it is defined in; `None`: any from 2 on.
    pub(crate) only_dim: Option<usize>,
    /// Bounds of each coordinate (the last pair serves all further ones).
    bounds: &'static [(f64, f64)],
    minimum: fn(usize) -> f64,
    value: fn(&[f64]) -> f64,
}

impl Function {
    /// The function of this name.
    pub(crate) fn by_name(name: &str) -> Option<&'static Function> {
        ALL.iter().find(|f| f.name == name)
    }

    /// Whether it is defined in `dim` dimensions.
    pub(crate) fn allows(&self, dim: usize) -> bool {
        match self.only_dim {
            Some(only) => dim == only,
            None => dim >= 2,
        }
    }

    /// The usual bounds in `dim` dimensions.
    pub(crate) fn bounds(&self, dim: usize) -> Vec<(f64, f64)> {
        let last = self.bounds.len() - 1;
        (0..dim).map(|i| self.bounds[i.min(last)]).collect()
    }

    /// The value at x.
    pub(crate) fn value(&self, x: &[f64]) -> f64 {
        (self.value)(x)
    }

    /// The global minimum in `dim` dimensions.
    pub(crate) fn minimum(&self, dim: usize) -> f64 {
        (self.minimum)(dim)
    }
}

/// Defaults that most functions share: any dimension, and a minimum of zero.
const USUAL: Function =
    Function { name: "", summary: "", only_dim: None, bounds: &[], minimum: |_| 0.0, value: |_| 0.0 };

fn square(v: f64) -> f64 {
    v * v
}

/// Every built-in function.
pub(crate) const ALL: &[Function] = &[
    Function {
        name: "sphere",
        summary: "sum of squares: the easiest of all",
        bounds: &[(-5.12, 5.12)],
        value: |x| x.iter().map(|v| v * v).sum(),
        ..USUAL
    },
    Function {
        name: "quartic",
        summary: "fourth powers: flat around its minimum",
        bounds: &[(-1.28, 1.28)],
        value: |x| x.iter().enumerate().map(|(i, v)| (i + 1) as f64 * square(v * v)).sum(),
        ..USUAL
    },
    Function {
        name: "booth",
        summary: "a tilted, mildly ill-conditioned bowl",
        only_dim: Some(2),
        bounds: &[(-10.0, 10.0)],
        value: |x| square(x[0] + 2.0 * x[1] - 7.0) + square(2.0 * x[0] + x[1] - 5.0),
        ..USUAL
    },
    Function {
        name: "rosenbrock",
        summary: "a long, curved, narrow valley",
        bounds: &[(-5.0, 10.0)],
        value: |x| x.windows(2).map(|w| 100.0 * square(w[1] - w[0] * w[0]) + square(w[0] - 1.0)).sum(),
        ..USUAL
    },
    Function {
        name: "branin",
        summary: "three equal minima",
        only_dim: Some(2),
        bounds: &[(-5.0, 10.0), (0.0, 15.0)],
        minimum: |_| 0.397_887_357_729_738_16, // 10 / (8π), where the square vanishes and the cosine is −1
        value: |x| {
            let bowl = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
            bowl * bowl + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * libm::cos(x[0]) + 10.0
        },
    },
    Function {
        name: "levy",
        summary: "many local minima around one global one",
        bounds: &[(-10.0, 10.0)],
        value: |x| {
            let w = |v: &f64| 1.0 + (v - 1.0) / 4.0;
            let sine_squared = |v: f64| square(libm::sin(v));
            let (Some(first), Some(last)) = (x.first().map(w), x.last().map(w)) else { return 0.0 };
            let body =
                x[..x.len() - 1].iter().map(w).map(|w| square(w - 1.0) * (1.0 + 10.0 * sine_squared(PI * w + 1.0)));
            sine_squared(PI * first) + body.sum::<f64>() + square(last - 1.0) * (1.0 + sine_squared(2.0 * PI * last))
        },
        ..USUAL
    },
    Function {
        name: "ellipsoid",
        summary: "a separable bowl, a million times steeper along one axis than another",
        bounds: &[(-5.0, 5.0)],
        value: |x| {
            let steps = (x.len() - 1).max(1) as f64;
            x.iter().enumerate().map(|(i, v)| libm::pow(1e6, i as f64 / steps) * square(v - 1.0)).sum()
        },
        ..USUAL
    },
    Function {
        name: "rastrigin",
        summary: "a bowl covered with regular dents",
        bounds: &[(-5.12, 5.12)],
        value: |x| x.iter().map(|v| v * v - 10.0 * libm::cos(2.0 * PI * v) + 10.0).sum(),
        ..USUAL
    },
    Function {
        name: "ackley",
        summary: "a funnel in a nearly flat, rippled plain",
        bounds: &[(-32.768, 32.768)],
        value: |x| {
            let n = x.len() as f64;
            let radius = (x.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
            let ripple = x.iter().map(|v| libm::cos(2.0 * PI * v)).sum::<f64>() / n;
            20.0 + std::f64::consts::E - 20.0 * libm::exp(-0.2 * radius) - libm::exp(ripple)
        },
        ..USUAL
    },
    Function {
        name: "himmelblau",
        summary: "four equal minima",
        only_dim: Some(2),
        bounds: &[(-5.0, 5.0)],
        value: |x| square(x[0] * x[0] + x[1] - 11.0) + square(x[0] + x[1] * x[1] - 7.0),
        ..USUAL
    },
    Function {
        name: "hartmann6",
        summary: "six dimensions, six local minima",
        only_dim: Some(6),
        bounds: &[(0.0, 1.0)],
        minimum: |_| -3.322_368_011_415_512,
        value: hartmann6,
    },
];

fn hartmann6(x: &[f64]) -> f64 {
    const WEIGHT: [f64; 4] = [1.0, 1.2, 3.0, 3.2];
    const STEEPNESS: [[f64; 6]; 4] = [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ];
    const CENTRE: [[f64; 6]; 4] = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ];
    let well = |i: usize| {
        let distance: f64 = x.iter().zip(STEEPNESS[i]).zip(CENTRE[i]).map(|((x, a), p)| a * square(x - p)).sum();
        WEIGHT[i] * libm::exp(-distance)
    };
    -(0..4).map(well).sum::<f64>()
}
