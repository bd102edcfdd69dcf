use super::*;

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
