//! What an optimizer can do, as a table: each capability prepares a [`Plan`], and a plan may have any of them that exclude none of the
//! others. Golden streams, the fuzz test and the state fixtures walk this table, so that a capability is listed once.

use labcat::{Config, Domain, Formula, Known, Noise, Optimizer, Outcome, Parameter, Preset, Scope};

/// A small generator (SplitMix64) of the tests' own choices; the same bits on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A problem and the way in which it is solved.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) config: Config,
    /// Known constraints.
    pub(crate) formulas: &'static [&'static str],
    pub(crate) function: Option<fn(&[f64]) -> f64>,
    /// Noise in values and constraints, and whether its standard deviation is told with each value.
    pub(crate) noise: f64,
    pub(crate) tells_std: bool,
    pub(crate) tells_gradient: bool,
    /// With gradients: every second component is not known.
    pub(crate) leaves_gaps: bool,
    /// Whether the value is a sum of squares that are told, and with their derivatives.
    pub(crate) tells_residuals: bool,
    pub(crate) tells_jacobian: bool,
    /// Whether the search begins at a point.
    pub(crate) starts: bool,
    /// Pending evaluations at a time.
    pub(crate) workers: usize,
    /// Every so many-th suggestion; 0: none.
    pub(crate) fail_every: usize,
    pub(crate) cancel_every: usize,
    pub(crate) correct_every: usize,
}

/// Uniform noise of this half-width has a standard deviation of 0.1.
const NOISE: f64 = 0.173;

pub(crate) struct Capability {
    pub(crate) name: &'static str,
    /// Two of one kind exclude each other.
    pub(crate) kind: &'static str,
    pub(crate) prepare: fn(&mut Plan),
}

const fn capability(name: &'static str, kind: &'static str, prepare: fn(&mut Plan)) -> Capability {
    Capability { name, kind, prepare }
}

pub(crate) const CAPABILITIES: [Capability; 19] = [
    capability("noise auto", "noise", |plan| (plan.noise, plan.config.noise) = (NOISE, Noise::Auto)),
    capability("noise sigma", "noise", |plan| (plan.noise, plan.config.noise) = (NOISE, Noise::Sigma(0.1))),
    capability("noise std", "noise", |plan| {
        (plan.noise, plan.config.noise, plan.tells_std) = (NOISE, Noise::Auto, true);
    }),
    capability("integers", "integers", |plan| plan.parameters.push(Parameter::integer("n", 0.0, 12.0))),
    capability("categories", "categories", |plan| {
        plan.parameters.push(Parameter::categorical("kind", ["a", "b", "c"]));
    }),
    capability("conditions", "conditions", |plan| {
        plan.parameters.push(Parameter::boolean("flag"));
        plan.parameters.push(Parameter::real("z", -1.0, 1.0).when("flag", &[1.0]));
    }),
    capability("known formula", "formula", |plan| plan.formulas = &["x + y <= 1", "x^2 + y^2 <= 4"]),
    capability("known function", "function", |plan| plan.function = Some(|x| x[0] * x[0] - x[1] - 0.2)),
    capability("measured constraints", "measured", |plan| plan.config.constraints = 2),
    capability("gradients", "gradients", |plan| plan.tells_gradient = true),
    capability("partial gradients", "gradients", |plan| (plan.tells_gradient, plan.leaves_gaps) = (true, true)),
    capability("pending", "pending", |plan| plan.workers = 3),
    capability("failures", "failures", |plan| plan.fail_every = 7),
    capability("cancellations", "cancellations", |plan| plan.cancel_every = 6),
    capability("corrections", "corrections", |plan| plan.correct_every = 5),
    capability("residuals", "residuals", |plan| plan.tells_residuals = true),
    capability("Jacobian", "residuals", |plan| (plan.tells_residuals, plan.tells_jacobian) = (true, true)),
    capability("start", "start", |plan| plan.starts = true),
    capability("global search", "scope", |plan| plan.config.search = Scope::Global),
];

/// Every capability alone and every pair that is allowed, as positions in the table.
pub(crate) fn singles_and_pairs() -> Vec<Vec<usize>> {
    let n = CAPABILITIES.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| vec![a, b]));
    (0..n).map(|a| vec![a]).chain(pairs.filter(|pair| are_allowed(pair))).collect()
}

/// Whether no two of these exclude each other.
pub(crate) fn are_allowed(chosen: &[usize]) -> bool {
    chosen.iter().enumerate().all(|(k, a)| chosen[..k].iter().all(|b| CAPABILITIES[*a].kind != CAPABILITIES[*b].kind))
}

pub(crate) fn name(chosen: &[usize]) -> String {
    chosen.iter().map(|c| CAPABILITIES[*c].name).collect::<Vec<_>>().join(" × ")
}

fn square(v: f64) -> f64 {
    v * v
}

impl Plan {
    /// Two reals, and what the capabilities add.
    pub(crate) fn new(preset: Preset, seed: u64, chosen: &[usize]) -> Self {
        let mut config = Config::new(preset);
        config.seed = seed;
        let mut plan = Self {
            parameters: vec![Parameter::real("x", -2.0, 2.0), Parameter::real("y", -1.0, 3.0)],
            config,
            formulas: &[],
            function: None,
            noise: 0.0,
            tells_std: false,
            tells_gradient: false,
            leaves_gaps: false,
            tells_residuals: false,
            tells_jacobian: false,
            starts: false,
            workers: 1,
            fail_every: 0,
            cancel_every: 0,
            correct_every: 0,
        };
        chosen.iter().for_each(|c| (CAPABILITIES[*c].prepare)(&mut plan));
        plan
    }

    pub(crate) fn domain(&self) -> Domain {
        Domain::from_parameters(self.parameters.clone()).unwrap()
    }

    pub(crate) fn known(&self) -> Known {
        let known = self.formulas.iter().fold(Known::default(), |known, text| {
            known.formula(&Formula::parse(text).unwrap(), &self.domain()).unwrap()
        });
        self.function.into_iter().fold(known, Known::met)
    }

    pub(crate) fn optimizer(&self) -> Optimizer {
        let mut optimizer = self.constrained(Optimizer::new(self.domain(), self.config.clone()).unwrap());
        self.start().iter().for_each(|start| optimizer.start_at(&[start], None).unwrap());
        optimizer
    }

    /// Where the search begins, if that is told: a point that the known constraints allow.
    pub(crate) fn start(&self) -> Option<Vec<f64>> {
        let start = |p: &Parameter| match p.name.as_str() {
            "x" => 0.5,
            "y" => 0.2,
            "n" => 4.0,
            "z" => 0.1,
            _ => 1.0,
        };
        self.starts.then(|| self.domain().canonical(&self.parameters.iter().map(start).collect::<Vec<_>>()))
    }

    /// The same state, written and read again.
    #[cfg(feature = "serde")]
    pub(crate) fn reloaded(&self, optimizer: &Optimizer) -> Optimizer {
        self.constrained(Optimizer::from_json(&optimizer.to_json()).unwrap())
    }

    /// With the known constraints, which no state holds.
    pub(crate) fn constrained(&self, mut optimizer: Optimizer) -> Optimizer {
        if !self.known().is_empty() {
            optimizer.constrain(self.known()).unwrap();
        }
        optimizer
    }

    /// The true value and its derivatives (NaN for labels), from products and sums only.
    pub(crate) fn value(&self, x: &[f64]) -> (f64, Vec<f64>) {
        if self.tells_residuals {
            let (residuals, columns) = self.residuals(x);
            let slope = |column: &Vec<f64>| column.iter().zip(&residuals).map(|(j, r)| 2.0 * j * r).sum();
            return (residuals.iter().map(|r| r * r).sum(), columns.iter().map(slope).collect());
        }
        let bend = x[1] - 0.8 * square(x[0]);
        let mut value = square(x[0] - 0.6) + 3.0 * square(bend);
        let mut gradient = vec![2.0 * (x[0] - 0.6) - 9.6 * x[0] * bend, 6.0 * bend];
        for (p, v) in self.parameters.iter().zip(x).skip(2) {
            let (more, slope) = match p.name.as_str() {
                "n" => (0.05 * square(v - 7.0) + 0.02 * v * x[0], 0.1 * (v - 7.0) + 0.02 * x[0]),
                "kind" => ([0.5, 0.0, 0.3][*v as usize] * (1.0 + 0.2 * x[1]), f64::NAN),
                "flag" => (0.4 - 0.5 * v, f64::NAN),
                _ => (square(v - 0.3), 2.0 * (v - 0.3)), // 0 where it means nothing
            };
            match p.name.as_str() {
                "n" => gradient[0] += 0.02 * v,
                "kind" => gradient[1] += 0.2 * [0.5, 0.0, 0.3][*v as usize],
                _ => {}
            }
            value += more;
            gradient.push(slope);
        }
        (value, gradient)
    }

    /// Residuals, and their derivatives by each parameter (NaN for labels).
    fn residuals(&self, x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut residuals = vec![x[0] - 0.6, 1.7 * (x[1] - 0.8 * square(x[0]))];
        let mut columns = vec![vec![1.0, -2.72 * x[0]], vec![0.0, 1.7]];
        for (p, v) in self.parameters.iter().zip(x).skip(2) {
            let (more, slope) = match p.name.as_str() {
                "n" => (0.2 * (v - 7.0), 0.2),
                "kind" => ([0.7, 0.1, 0.5][*v as usize], f64::NAN),
                "flag" => (0.7 - 0.5 * v, f64::NAN),
                _ => (v - 0.3, 1.0),
            };
            residuals.push(more);
            columns.push([vec![0.0 * slope; residuals.len() - 1], vec![slope]].concat());
        }
        columns.iter_mut().for_each(|column| column.resize(residuals.len(), 0.0));
        (residuals, columns)
    }

    /// The true constraints: satisfied when none is above 0.
    pub(crate) fn constraints(&self, x: &[f64]) -> Vec<f64> {
        let both = [square(x[0] - 0.2) + x[1] - 0.9, -x[0] - x[1] - 2.5];
        both[..self.config.constraints].to_vec()
    }

    /// What an evaluation at `x` tells, the `k`-th.
    pub(crate) fn outcome(&self, x: &[f64], k: usize, dice: &mut Dice) -> Outcome {
        let (value, mut gradient) = self.value(x);
        let size = if self.tells_std { [0.5, 2.0][k % 2] } else { 1.0 };
        let mut noise = || size * self.noise * (2.0 * dice.unit() - 1.0);
        let outcome = if self.tells_residuals {
            let (residuals, columns) = self.residuals(x);
            let told = Outcome::of_residuals(residuals.into_iter().map(|r| r + 0.3 * noise()).collect());
            told.with_jacobian(if self.tells_jacobian { columns.concat() } else { Vec::new() })
        } else {
            Outcome::from(value + noise())
        };
        let outcome = if self.tells_std { outcome.with_std(0.1 * size).unwrap() } else { outcome };
        let outcome = outcome.with_constraints(self.constraints(x).into_iter().map(|g| g + noise()).collect());
        if self.leaves_gaps {
            gradient.iter_mut().skip(k % 2).step_by(2).for_each(|g| *g = f64::NAN);
        }
        if self.tells_gradient { outcome.with_gradient(gradient) } else { outcome }
    }

    /// Another result than before, with or without noise.
    pub(crate) fn correction(&self, x: &[f64], k: usize, dice: &mut Dice) -> Outcome {
        Self { noise: self.noise.max(0.1), ..self.clone() }.outcome(x, k, dice)
    }

    /// Asks until `n` suggestions were told, failed or cancelled, and gives each to `see`.
    pub(crate) fn run(&self, optimizer: &mut Optimizer, n: usize, mut see: impl FnMut(&Optimizer, &[f64])) {
        let mut dice = Dice(self.config.seed + 77);
        let is_due = |every: usize, k: usize| every > 0 && k % every == every - 1;
        for k in 0..n {
            while optimizer.pending().count() < self.workers {
                let suggestion = optimizer.ask().unwrap();
                see(optimizer, &suggestion.x);
            }
            let pending: Vec<_> = optimizer.pending().map(|(id, x)| (id, x.to_vec())).collect();
            let (id, x) = dice.pick(&pending).clone();
            if is_due(self.cancel_every, k) {
                optimizer.cancel(id).unwrap();
            } else if is_due(self.fail_every, k) {
                optimizer.fail(id).unwrap();
            } else {
                optimizer.tell(id, self.outcome(&x, k, &mut dice)).unwrap();
            }
            if is_due(self.correct_every, k) {
                let told = dice.pick(optimizer.evaluations()).clone();
                optimizer.revise(told.id, self.correction(&told.x, k, &mut dice)).unwrap();
            }
        }
    }
}
