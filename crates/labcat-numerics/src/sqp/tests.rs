use super::*;
use std::cell::Cell;

/// A quartic bowl around (2, 1), outside the unit disc and above a line.
struct Disc {
    line: f64,
}

impl Program for Disc {
    fn look(&self, x: &[f64]) -> Look {
        let (a, b) = (x[0] - 2.0, x[1] - 1.0);
        Look {
            value: a * a + b * b + a.powi(4),
            gradient: vec![2.0 * a + 4.0 * a.powi(3), 2.0 * b],
            limits: vec![
                (x[0] * x[0] + x[1] * x[1] - 1.0, vec![2.0 * x[0], 2.0 * x[1]]),
                (self.line - x[0], vec![-1.0, 0.0]),
            ],
        }
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64]) -> Matrix {
        let mut h = Matrix::identity(2);
        h.scale(2.0 + 2.0 * multipliers[0]);
        h[(0, 0)] += 12.0 * (x[0] - 2.0).powi(2);
        h
    }
}

fn square() -> Halfspaces {
    Halfspaces::cube(2, 3.0)
}

#[test]
fn a_curved_boundary_is_met_to_rounding() {
    let (x, _) = minimise(&Disc { line: -3.0 }, &square(), &[0.0, 0.0], 3.0, 30);
    let look = Disc { line: -3.0 }.look(&x);
    assert!(look.limits[0].0.abs() < 1e-9, "{x:?}");
    // The gradients of the value and of the constraint are opposite.
    let (f, g) = (&look.gradient, &look.limits[0].1);
    assert!((f[0] * g[1] - f[1] * g[0]).abs() < 1e-5 && f[0] * g[0] < 0.0, "{x:?}");
}

#[test]
fn constraints_that_contradict_each_other_are_violated_little() {
    let (x, _) = minimise(&Disc { line: 1.5 }, &square(), &[0.0, 0.0], 3.0, 50);
    let look = Disc { line: 1.5 }.look(&x);
    // Between the disc and the line, half a unit apart, no point violates them by less in all.
    let total: f64 = look.limits.iter().map(|(g, _)| g.max(0.0)).sum();
    assert!((0.5 - 1e-9..0.52).contains(&total), "{x:?}: {total}");
}

/// A quartic bowl whose values are large against its bends, and how often it was looked at.
struct Counted {
    looks: Cell<usize>,
    bends: Cell<usize>,
}

impl Program for Counted {
    fn look(&self, x: &[f64]) -> Look {
        self.looks.set(self.looks.get() + 1);
        let (a, b) = (x[0] - 0.7, x[1] + 0.2);
        let value = 10.0 + a * a + b * b + a.powi(4) + a * b;
        Look { value, gradient: vec![2.0 * a + 4.0 * a.powi(3) + b, 2.0 * b + a], limits: Vec::new() }
    }

    fn hessian(&self, x: &[f64], _: &[f64]) -> Matrix {
        self.bends.set(self.bends.get() + 1);
        let mut h = Matrix::identity(2);
        h.scale(2.0);
        h[(0, 0)] += 12.0 * (x[0] - 0.7).powi(2);
        (h[(0, 1)], h[(1, 0)]) = (1.0, 1.0);
        h
    }
}

#[test]
fn a_descent_that_has_arrived_tries_no_shorter_steps() {
    for k in 0..8 {
        let counted = Counted { looks: Cell::new(0), bends: Cell::new(0) };
        let (x, _) = minimise(&counted, &square(), &[2.9 - 0.7 * f64::from(k), -2.5 + 0.6 * f64::from(k)], 3.0, 50);
        assert!((x[0] - 0.7).abs() < 1e-7 && (x[1] + 0.2).abs() < 1e-7, "{x:?}");
        assert_eq!(counted.looks.get(), counted.bends.get() + 1, "start {k}");
    }
}
