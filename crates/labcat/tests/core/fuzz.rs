//! A random user against a simple model of what an optimizer is: more than a hundred thousand operations, no panic, nothing
//! lost, no point suggested twice.

use crate::support::{Dice, PRESETS};
use labcat::{
    AskError, Config, Direction, Domain, Optimizer, Outcome, Parameter, Scale, StopReason, TellError, TrialId,
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
        .map(|p| if ends { *dice.pick(&[p.low, p.high]) } else { (p.low + dice.unit() * (p.high - p.low)).min(p.high) })
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
fn a_hundred_thousand_operations_of_a_random_user() {
    let mut operations = 0;
    let mut seed = 0;
    while operations < 120_000 {
        operations += episode(seed);
        seed += 1;
    }
}
