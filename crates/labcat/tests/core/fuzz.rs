//! A random user against a simple model of what an optimizer is: more than a hundred thousand operations, no panic, nothing
//! lost, no point suggested twice.

use crate::capabilities::{CAPABILITIES, Plan, are_allowed, name, singles_and_pairs};
use crate::support::{Dice, PRESETS};
use labcat::{
    AskError, Config, Direction, Domain, Noise, Optimizer, Outcome, Parameter, ParameterKind, Preset, Scale,
    StopReason, TellError, TrialId,
};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// What an optimizer must remember, kept in the plainest way.
struct Model {
    told: Vec<(u64, Vec<f64>, Outcome)>,
    pending: BTreeMap<u64, Vec<f64>>,
    cancelled: HashSet<u64>,
    queue: VecDeque<Vec<f64>>,
    /// Bits of every point suggested or told.
    seen: HashSet<Vec<u64>>,
    next_id: u64,
    direction: Direction,
    budget: Option<usize>,
    target: Option<f64>,
    converged: bool,
}

fn key(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| (v + 0.0).to_bits()).collect()
}

impl Model {
    fn best(&self) -> Option<(u64, f64)> {
        let mut best: Option<(u64, f64)> = None;
        for (id, _, outcome) in &self.told {
            if let Some(v) = outcome.value() {
                let better = match self.direction {
                    Direction::Minimize => best.is_none_or(|(_, b)| v < b),
                    Direction::Maximize => best.is_none_or(|(_, b)| v > b),
                };
                if better {
                    best = Some((*id, v));
                }
            }
        }
        best
    }

    fn stop(&self) -> Option<StopReason> {
        let reached = |t: f64| {
            self.best().is_some_and(|(_, b)| match self.direction {
                Direction::Minimize => b <= t,
                Direction::Maximize => b >= t,
            })
        };
        if self.target.is_some_and(reached) {
            Some(StopReason::Target)
        } else if self.budget.is_some_and(|b| self.told.len() >= b) {
            Some(StopReason::Budget)
        } else {
            self.converged.then_some(StopReason::Tolerance)
        }
    }

    /// What must come of telling, failing or cancelling this id.
    fn finishing(&self, id: u64) -> Result<(), TellError> {
        if self.pending.contains_key(&id) {
            Ok(())
        } else if self.told.iter().any(|t| t.0 == id) {
            Err(TellError::AlreadyTold(TrialId(id)))
        } else {
            Err(TellError::UnknownId(TrialId(id)))
        }
    }

    fn compare(&self, optimizer: &Optimizer) {
        assert_eq!(optimizer.n_evaluations(), self.told.len());
        for (e, (id, x, outcome)) in optimizer.evaluations().iter().zip(&self.told) {
            assert_eq!((e.id.0, &e.x, &e.outcome), (*id, x, outcome));
        }
        let pending: Vec<(u64, Vec<f64>)> = optimizer.pending().map(|(id, x)| (id.0, x.to_vec())).collect();
        assert_eq!(pending, self.pending.clone().into_iter().collect::<Vec<_>>());
        assert_eq!(
            optimizer.best().map(|e| e.id.0),
            self.best().map(|b| b.0),
            "{:?} {:?} {:?}",
            self.best(),
            optimizer.best(),
            self.direction
        );
        assert_eq!(optimizer.stop_reason(), self.stop());
    }
}

fn random_domain(dice: &mut Dice, d: usize) -> Domain {
    let parameters = (0..d).map(|i| {
        let (low, high, scale) = match dice.below(5) {
            0 => (1e-6, 1e3, Scale::Log),
            1 => (-1e9, 1e9, Scale::Linear),
            2 => (3.0, 3.000_001, Scale::Linear),
            _ => (-1.0, 1.0, Scale::Linear),
        };
        Parameter::real(&format!("p{i}"), low, high).scaled(scale)
    });
    Domain::from_parameters(parameters.collect()).unwrap()
}

fn random_config(dice: &mut Dice, seed: u64) -> Config {
    let mut config = Config::new(*dice.pick(&PRESETS));
    config.seed = seed;
    config.direction = *dice.pick(&[Direction::Minimize, Direction::Maximize]);
    config.budget = dice.chance(0.8).then(|| 5 + dice.below(60));
    config.target = dice.chance(0.2).then_some(0.0);
    config.tolerance = dice.chance(0.3).then_some(0.1);
    config.restarts = dice.chance(0.8);
    config.rotation = dice.chance(0.8);
    config.warp = dice.chance(0.5);
    config.match_axes = dice.chance(0.5);
    config.cache_factor = 1.0 + 6.0 * dice.unit();
    if dice.chance(0.3) {
        config.kernel = labcat::KernelKind::Matern52;
    }
    if dice.chance(0.3) {
        config.acquisition = labcat::AcquisitionKind::LowerConfidenceBound;
    }
    config
}

fn random_point(dice: &mut Dice, domain: &Domain) -> Vec<f64> {
    let ends = dice.chance(0.1);
    domain
        .parameters()
        .iter()
        .map(|p| {
            let inside = (p.low + dice.unit() * (p.high - p.low)).min(p.high);
            let inside = if p.kind == ParameterKind::Real { inside } else { inside.round() };
            if ends { *dice.pick(&[p.low, p.high]) } else { inside }
        })
        .collect()
}

fn random_value(dice: &mut Dice, x: &[f64]) -> f64 {
    match dice.below(24) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => *dice.pick(&[1e308, -1e308, 5e-324, 0.0, -0.0, 1.0]),
        4..=8 => dice.unit(),
        _ => 1.0 + x.iter().map(|v| (v / (1.0 + v.abs()) - 0.2).powi(2)).sum::<f64>(),
    }
}

/// One life of an optimizer; gives the number of operations.
fn episode(seed: u64) -> usize {
    let mut dice = Dice(seed);
    let d = 1 + dice.below(4);
    let domain = random_domain(&mut dice, d);
    let config = random_config(&mut dice, seed);
    let mut model = Model {
        told: Vec::new(),
        pending: BTreeMap::new(),
        cancelled: HashSet::new(),
        queue: VecDeque::new(),
        seen: HashSet::new(),
        next_id: 0,
        direction: config.direction,
        budget: config.budget,
        target: config.target,
        converged: false,
    };
    let mut optimizer = Optimizer::new(domain, config).unwrap();
    let operations = 60 + dice.below(120);
    for step in 0..operations {
        let some_id = match dice.below(4) {
            0 => dice.below(model.next_id as usize + 3) as u64,
            _ if !model.pending.is_empty() => *dice.pick(&model.pending.keys().copied().collect::<Vec<_>>()),
            _ => model.next_id,
        };
        match dice.below(40) {
            0..=15 => ask(&mut optimizer, &mut model),
            16..=27 => {
                let x = model.pending.get(&some_id).cloned().unwrap_or_default();
                let value = random_value(&mut dice, &x);
                let expected = model.finishing(some_id);
                assert_eq!(optimizer.tell(TrialId(some_id), value), expected);
                if expected.is_ok() {
                    let x = model.pending.remove(&some_id).unwrap();
                    model.told.push((some_id, x, Outcome::from(value)));
                }
            }
            28 => {
                let expected = model.finishing(some_id);
                assert_eq!(optimizer.fail(TrialId(some_id)), expected);
                if expected.is_ok() {
                    let x = model.pending.remove(&some_id).unwrap();
                    model.told.push((some_id, x, Outcome::failed("")));
                }
            }
            29..=30 => {
                let expected = model.finishing(some_id);
                assert_eq!(optimizer.cancel(TrialId(some_id)), expected);
                if expected.is_ok() {
                    model.pending.remove(&some_id);
                    model.cancelled.insert(some_id);
                }
            }
            31..=32 => {
                let id = dice.below(model.next_id as usize + 2) as u64;
                let value = random_value(&mut dice, &[]);
                let result = optimizer.revise(TrialId(id), value);
                if model.pending.contains_key(&id) {
                    assert_eq!(result, Err(TellError::StillPending(TrialId(id))));
                } else if let Some(told) = model.told.iter_mut().find(|t| t.0 == id) {
                    assert_eq!(result, Ok(()));
                    told.2 = Outcome::from(value);
                } else {
                    assert_eq!(result, Err(TellError::UnknownId(TrialId(id))));
                }
            }
            33..=34 => {
                // A point never asked; now and then one that was told before.
                let again = model.told.last().map(|t| t.1.clone()).filter(|_| dice.chance(0.3));
                let x = again.unwrap_or_else(|| random_point(&mut dice, optimizer.domain()));
                let value = random_value(&mut dice, &x);
                let failed = dice.chance(0.1);
                let id = if failed { optimizer.fail_point(&x) } else { optimizer.tell_point(&x, value) };
                assert_eq!(id, Ok(TrialId(model.next_id)));
                model.seen.insert(key(&x));
                model.told.push((model.next_id, x, if failed { Outcome::failed("") } else { Outcome::from(value) }));
                model.next_id += 1;
            }
            35 => {
                let x = random_point(&mut dice, optimizer.domain());
                optimizer.enqueue(&x).unwrap();
                model.queue.push_back(x);
            }
            36 => {
                let wrong = [vec![], vec![f64::NAN; d], vec![1e300; d], vec![0.0; d + 1]];
                let x = dice.pick(&wrong);
                assert!(optimizer.tell_point(x, 0.0).is_err());
                assert!(optimizer.enqueue(x).is_err());
                assert!(optimizer.predict(x).is_err());
            }
            37 => {
                let x = random_point(&mut dice, optimizer.domain());
                if let Some(p) = optimizer.predict(&x).unwrap() {
                    assert!(!p.mean.is_nan() && !p.std.is_nan() && p.std >= 0.0, "{p:?}");
                }
                assert!(optimizer.relevance().is_none_or(|r| r.iter().all(|v| v.is_finite())));
                assert!(optimizer.trust_region().is_none_or(|r| r.centre.iter().all(|v| v.is_finite())));
            }
            38 => {
                #[cfg(feature = "serde")]
                {
                    let again = Optimizer::from_json(&optimizer.to_json()).unwrap();
                    assert_eq!(again.to_json(), optimizer.to_json());
                    optimizer = again;
                }
            }
            _ => {
                if let Some(budget) = model.budget {
                    let budget = (budget + dice.below(9)).saturating_sub(3).max(1);
                    let tolerance = optimizer.config().tolerance;
                    optimizer.set_stopping(Some(budget), model.target, tolerance).unwrap();
                    model.budget = Some(budget);
                }
            }
        }
        if step % 8 == 0 {
            model.compare(&optimizer);
        }
    }
    model.compare(&optimizer);
    operations
}

fn ask(optimizer: &mut Optimizer, model: &mut Model) {
    let restarts = optimizer.config().restarts;
    match optimizer.ask() {
        Ok(suggestion) => {
            assert_eq!(model.stop(), None, "a suggestion after the stop");
            assert!(model.budget.is_none_or(|b| model.told.len() + model.pending.len() < b), "over the budget");
            assert_eq!(suggestion.id.0, model.next_id);
            optimizer.domain().check(&suggestion.x).unwrap();
            match model.queue.pop_front() {
                Some(x) => assert_eq!(suggestion.x, x, "enqueued points come first"),
                None => assert!(!model.seen.contains(&key(&suggestion.x)), "{:?} was suggested before", suggestion.x),
            }
            model.seen.insert(key(&suggestion.x));
            model.pending.insert(model.next_id, suggestion.x);
            model.next_id += 1;
        }
        Err(AskError::Stopped(reason)) => {
            if model.stop().is_none() {
                assert!(reason == StopReason::Tolerance && !restarts, "{reason} out of nowhere");
                model.converged = true;
            }
            assert_eq!(model.stop(), Some(reason));
        }
        Err(AskError::SpaceOutstanding { .. }) => panic!("a space of reals has no end"),
        Err(AskError::BudgetOutstanding { pending }) => {
            assert_eq!(pending, model.pending.len());
            assert!(model.budget.is_some_and(|b| model.told.len() + pending >= b));
        }
    }
}

#[test]
fn fifty_thousand_operations_of_a_random_user() {
    let mut operations = 0;
    let mut seed = 0;
    while operations < 50_000 {
        operations += episode(seed);
        seed += 1;
    }
}

/// A random user of an optimizer with capabilities.
struct Walk {
    plan: Plan,
    optimizer: Optimizer,
    dice: Dice,
    told: Vec<(TrialId, Vec<f64>, Outcome)>,
    /// Bits of every point suggested or told.
    seen: HashSet<Vec<u64>>,
    enqueued: VecDeque<Vec<f64>>,
    next_id: u64,
}

impl Walk {
    /// A walk with these capabilities and, by chance, others that go with them.
    fn new(preset: Preset, seed: u64, chosen: &[usize]) -> Self {
        let mut dice = Dice(seed);
        let mut chosen = chosen.to_vec();
        for c in 0..CAPABILITIES.len() {
            if dice.chance(0.15) && are_allowed(&[&chosen[..], &[c]].concat()) {
                chosen.push(c);
            }
        }
        let mut plan = Plan::new(preset, seed, &chosen);
        let direction = *dice.pick(&[Direction::Minimize, Direction::Maximize]);
        plan.config.direction = if plan.tells_residuals { Direction::Minimize } else { direction };
        let optimizer = plan.optimizer();
        let (told, seen, enqueued) = (Vec::new(), HashSet::new(), plan.start().into_iter().collect());
        Self { plan, optimizer, dice, told, seen, enqueued, next_id: 0 }
    }

    fn ask(&mut self) {
        let pending: Vec<Vec<f64>> = self.optimizer.pending().map(|(_, x)| x.to_vec()).collect();
        let suggestion = self.optimizer.ask().unwrap();
        let x = &suggestion.x;
        assert_eq!(suggestion.id.0, self.next_id, "ids count up");
        self.optimizer.domain().check(x).unwrap(); // in its range, whole, a label that there is
        assert_eq!(self.optimizer.domain().canonical(x), *x, "what means nothing has one value");
        assert!(self.plan.known().allows(x), "{x:?} violates a known constraint");
        let new = self.seen.insert(key(x));
        match self.enqueued.pop_front() {
            Some(wanted) => assert_eq!(*x, wanted, "enqueued points come first"),
            None if self.plan.config.noise == Noise::None => assert!(new, "{x:?} was suggested before"),
            None => assert!(!pending.contains(x), "{x:?} is pending"),
        }
        self.next_id += 1;
    }

    /// What an evaluation tells: now and then nothing, something extreme, or less than usual.
    fn outcome(&mut self, x: &[f64]) -> Outcome {
        let k = self.dice.below(100);
        let outcome = self.plan.outcome(x, k, &mut self.dice);
        let g = outcome.constraints().to_vec();
        match k {
            0 => Outcome::from(*self.dice.pick(&[f64::NAN, f64::INFINITY])).with_constraints(g),
            1 => Outcome::from(*self.dice.pick(&[1e300, -1e300, 5e-324, -0.0])).with_constraints(g),
            2 => outcome.with_constraints(vec![f64::NAN; g.len()]),
            3..=10 => outcome.with_gradient(Vec::new()),
            11..=16 if g.iter().any(|g| *g > 0.0) => Outcome::failed("no convergence").with_constraints(g),
            _ => outcome,
        }
    }

    /// A point of the domain that known constraints allow, if a few tries find one.
    fn point(&mut self) -> Option<Vec<f64>> {
        let (known, domain) = (self.plan.known(), self.plan.domain());
        let mut tries = (0..20).map(|_| domain.canonical(&random_point(&mut self.dice, &domain)));
        tries.find(|x| known.allows(x))
    }

    /// Takes a pending evaluation out of the optimizer in some way.
    fn finish(&mut self) {
        let pending: Vec<(TrialId, Vec<f64>)> = self.optimizer.pending().map(|(id, x)| (id, x.to_vec())).collect();
        let Some((id, x)) = (!pending.is_empty()).then(|| self.dice.pick(&pending).clone()) else { return };
        let outcome = match self.dice.below(10) {
            0 => return self.optimizer.cancel(id).unwrap(),
            1 => Outcome::failed("no licence"),
            _ => self.outcome(&x),
        };
        self.optimizer.tell(id, outcome.clone()).unwrap();
        self.told.push((id, x, outcome));
    }

    fn correct(&mut self) {
        if self.told.is_empty() {
            return;
        }
        let place = self.dice.below(self.told.len());
        let (id, x, _) = self.told[place].clone();
        let outcome = self.outcome(&x);
        self.optimizer.revise(id, outcome.clone()).unwrap();
        self.told[place].2 = outcome;
    }

    fn tell_point(&mut self) {
        let Some(x) = self.point() else { return };
        let outcome = self.outcome(&x);
        let id = self.optimizer.tell_point(&x, outcome.clone()).unwrap();
        assert_eq!(id.0, self.next_id, "ids count up");
        self.next_id += 1;
        self.seen.insert(key(&x));
        self.told.push((id, x, outcome));
    }

    fn enqueue(&mut self) {
        if let Some(x) = self.point() {
            self.optimizer.enqueue(&x).unwrap();
            self.enqueued.push_back(x);
        }
    }

    /// Ends the local run: every output is within such a tolerance.
    fn restart(&mut self) {
        self.optimizer.set_stopping(None, None, Some(f64::MAX)).unwrap();
        self.ask();
        self.optimizer.set_stopping(None, None, None).unwrap();
    }

    fn act(&mut self) {
        match self.dice.below(40) {
            0..=16 => self.ask(),
            17..=32 => self.finish(),
            33..=34 => self.correct(),
            35 => self.tell_point(),
            36 => self.enqueue(),
            37..=38 => self.restart(),
            _ => self.look(),
        }
        // As many are pending as the plan has workers, or a few more.
        while self.optimizer.pending().count() > self.plan.workers + 2 {
            self.finish();
        }
    }

    /// What is best is the best feasible evaluation, else the one that violates least; the first of equals.
    fn best(&self) -> Option<TrialId> {
        let sign = if self.plan.config.direction == Direction::Maximize { -1.0 } else { 1.0 };
        let merit = |o: &Outcome| match o.violation() {
            by if by > 0.0 => Some((true, by)),
            _ => o.value().map(|v| (false, sign * v)),
        };
        let mut best: Option<(TrialId, (bool, f64))> = None;
        for (id, _, outcome) in &self.told {
            if let Some(m) = merit(outcome).filter(|m| best.is_none_or(|(_, b)| *m < b)) {
                best = Some((*id, m));
            }
        }
        best.map(|(id, _)| id)
    }

    /// What the optimizer says of itself.
    fn look(&mut self) {
        assert_eq!(self.optimizer.best().map(|e| e.id), self.best());
        assert_eq!(self.optimizer.stop_reason(), None);
        if let Some(found) = self.optimizer.recommended() {
            self.optimizer.domain().check(&found.x).unwrap();
            assert!(self.plan.known().allows(&found.x), "{found:?} violates a known constraint");
            assert!(found.mean.is_finite() && found.std.is_finite() && found.std >= 0.0, "{found:?}");
        } else {
            let valued = self.optimizer.best().is_some_and(|e| e.outcome.value().is_some());
            assert!(!valued, "nothing is recommended though there is a value");
        }
        if let Some(x) = self.point()
            && let Some(p) = self.optimizer.predict(&x).unwrap()
        {
            assert!(p.mean.is_finite() && p.std.is_finite() && p.std >= 0.0, "{p:?}");
        }
    }

    /// Nothing is lost, and nothing comes twice.
    fn compare(&self) {
        assert_eq!(self.optimizer.n_evaluations(), self.told.len());
        for (e, (id, x, outcome)) in self.optimizer.evaluations().iter().zip(&self.told) {
            assert_eq!((e.id, &e.x), (*id, x));
            assert_eq!(format!("{:?}", e.outcome), format!("{outcome:?}")); // a NaN is not equal to itself
        }
        let told = self.told.iter().map(|t| t.0);
        let ids: HashSet<TrialId> = told.chain(self.optimizer.pending().map(|(id, _)| id)).collect();
        assert_eq!(ids.len(), self.told.len() + self.optimizer.pending().count());
    }

    /// Now and then: written and read again, it goes on bit for bit.
    #[cfg(feature = "serde")]
    fn reload(&mut self) {
        if !self.dice.chance(0.4) {
            return;
        }
        let mut again = self.plan.reloaded(&self.optimizer);
        assert_eq!(again.to_json(), self.optimizer.to_json());
        assert_eq!(again.ask(), self.optimizer.clone().ask(), "continued after {} evaluations", self.told.len());
        if self.dice.chance(0.25) {
            self.optimizer = self.plan.reloaded(&self.optimizer);
        }
    }
}

/// What a random user does in one walk.
const STEPS: usize = 40;

fn walk_of(preset: Preset) {
    for (seed, chosen) in singles_and_pairs().iter().enumerate() {
        let walk = std::panic::catch_unwind(|| {
            let mut walk = Walk::new(preset, seed as u64, chosen);
            for _ in 0..STEPS {
                walk.act();
                walk.compare();
                #[cfg(feature = "serde")]
                walk.reload();
            }
            walk.look();
        });
        assert!(walk.is_ok(), "{preset}, seed {seed}: {}", name(chosen));
    }
}

#[test]
fn every_pair_of_capabilities_in_the_hands_of_a_random_user() {
    walk_of(Preset::Default);
}

#[test]
fn every_pair_of_capabilities_with_the_published_algorithm() {
    walk_of(Preset::Paper);
}
