//! The maximisation of the acquisition function over spaces with whole numbers and choices: samples, gradients for the reals, steps and
//! swaps for the rest.

use super::landscape;
use super::model::Model;
use super::propose::{Problem, Scope};
use super::run::LocalRun;
use crate::acquisition::maximise::{Lattice, Maximiser, Search};
use crate::domain::Axis;
use crate::math;
use crate::rng::Rng;
use std::ops::Range;

/// Samples of the acquisition function per parameter.
const SAMPLES: usize = 40;
/// How many of them, of different choices, are climbed from, and for how many rounds at most.
const CLIMBERS: usize = 4;
const ROUNDS: usize = 6;

/// A scored point of the box.
#[derive(Clone, Debug)]
pub(super) struct Scored {
    pub(super) u: Vec<f64>,
    pub(super) mean: f64,
    pub(super) score: f64,
}

/// The maximisation of the acquisition function over valid points.
pub(super) struct Climb<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) run: &'a LocalRun,
    pub(super) model: &'a Model,
    pub(super) search: Search,
    /// The axes that samples and gradients move along, and whether nothing else moves.
    pub(super) moves: Vec<bool>,
    pub(super) reals_only: bool,
    /// How far the region reaches along each axis.
    pub(super) reach: Vec<f64>,
    pub(super) maximiser: &'a mut Maximiser,
}

impl Climb<'_> {
    pub(super) fn places(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let domain = self.problem.domain;
        let place = |x: &Vec<f64>| {
            let mut u = vec![0.0; domain.dim()];
            domain.to_unit(x, &mut u);
            u
        };
        points.iter().map(place).collect()
    }

    pub(super) fn score(&mut self, places: &[Vec<f64>], refined: bool) -> Vec<Scored> {
        if self.problem.is_constrained() {
            let Self { problem, run, model, search, moves, .. } = self;
            let moves = refined.then_some(moves.as_slice());
            let found = landscape::score_places(*problem, run, model, search, moves, places);
            return found.into_iter().map(|(score, mean, u)| Scored { u, mean, score }).collect();
        }
        let (problem, frame) = (self.problem, &self.run.now.frame);
        let lattice = Lattice { domain: problem.domain, moves: &self.moves };
        let refined_in = Some(lattice).filter(|_| refined && self.search.refinements > 0);
        let acquisition = problem.settings.switches.acquisition;
        let (gp, incumbent) = (&self.model.fit.gp, self.model.incumbent);
        self.maximiser.score_places(places, refined_in, gp, frame, incumbent, acquisition, &self.search);
        let found = |c: usize| {
            let candidate = self.maximiser.candidate(c);
            Scored { u: candidate.u.to_vec(), mean: candidate.mean, score: candidate.score }
        };
        (0..places.len()).map(found).collect()
    }

    /// Samples of the trust region and neighbours of its centre; from the best of them, of different choices, the reals are climbed
    /// by gradients and the rest by steps and swaps, in turn.
    pub(super) fn search(&mut self, rng: &mut Rng) -> Vec<Scored> {
        let domain = self.problem.domain;
        let mut places = self.samples(rng);
        places.extend(self.neighbours(self.run.now.frame.centre()));
        let mut found = self.score(&places, false);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].score.total_cmp(&found[a].score));
        let mut climbers: Vec<Scored> = Vec::with_capacity(CLIMBERS);
        for c in order {
            if climbers.len() < CLIMBERS && !climbers.iter().any(|f| domain.same_choices(&f.u, &found[c].u)) {
                climbers.push(found[c].clone());
            }
        }
        for _ in 0..ROUNDS {
            let places: Vec<Vec<f64>> = climbers.iter().map(|f| f.u.clone()).collect();
            climbers = self.score(&places, true);
            found.extend_from_slice(&climbers);
            let mut moved = false;
            for climber in &mut climbers {
                let neighbours = self.neighbours(&climber.u);
                for other in self.score(&neighbours, false) {
                    if other.score > climber.score {
                        *climber = other;
                        moved = true;
                    }
                }
            }
            if !moved {
                break;
            }
            found.extend_from_slice(&climbers);
        }
        found
    }

    /// Neighbours of a place by a step or a swap that the region reaches, with its reals.
    fn neighbours(&self, u: &[f64]) -> Vec<Vec<f64>> {
        let (domain, frame) = (self.problem.domain, &self.run.now.frame);
        let mut x = vec![0.0; domain.parameters().len()];
        domain.to_user(u, &mut x);
        if self.reals_only {
            return Vec::new();
        }
        let mut places = self.places(&domain.neighbours(&x));
        places.retain(|u| {
            let away = |j: usize| (u[j] - frame.centre()[j]).abs() / frame.scale()[j];
            (0..u.len()).all(|j| domain.axes()[j] != Axis::Steps || away(j) <= self.reach[j])
        });
        places
    }

    /// Samples of the trust region: reals uniform in it, some of them nearer to the best point; half of the samples have its whole
    /// numbers and choices, in the others some of those are changed, at least one. In a survey half of them are samples of the box,
    /// and in the others something is changed.
    fn samples(&self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let (problem, frame, search) = (self.problem, &self.run.now.frame, &self.search);
        let (domain, d) = (problem.domain, frame.dim());
        let discrete = if self.reals_only { Vec::new() } else { domain.untied() };
        let wide = problem.scope == Scope::Survey;
        let turning: Vec<usize> = (0..d).filter(|&j| self.moves[j]).collect();
        let count = SAMPLES * domain.free_parameters();
        let mut places = Vec::with_capacity(count);
        for c in 0..count {
            if wide && c % 2 == 0 {
                let cube: Vec<f64> = domain.parameters().iter().map(|_| rng.between(-1.0, 1.0)).collect();
                places.push(domain.embed(&cube));
                continue;
            }
            let nearer = if c % 4 < 2 { math::pow(search.nearest, rng.unit()) } else { 1.0 };
            let mut u = frame.centre().to_vec();
            for &i in &turning {
                let x = nearer * rng.between(-search.beta, search.beta);
                for &j in &turning {
                    u[j] += frame.rotation()[(j, i)] * frame.scale()[i] * x;
                }
            }
            if (wide || c % 2 == 0) && !discrete.is_empty() {
                self.change(&discrete, &mut u, rng);
            }
            for u in &mut u {
                *u = u.clamp(-1.0, 1.0);
            }
            domain.snap(&mut u);
            places.push(u);
        }
        places
    }

    /// Changes some of the whole numbers and choices, at least one.
    fn change(&self, discrete: &[Range<usize>], u: &mut [f64], rng: &mut Rng) {
        let (domain, frame) = (self.problem.domain, &self.run.now.frame);
        let sure = rng.below(discrete.len());
        let share = rng.unit();
        for (k, coordinates) in discrete.iter().enumerate() {
            if k == sure || rng.unit() < share * share {
                for j in coordinates.clone() {
                    u[j] = match domain.axes()[j] {
                        Axis::Choice => rng.between(-1.0, 1.0),
                        _ => u[j] + frame.scale()[j] * self.reach[j] * rng.between(-1.0, 1.0),
                    };
                }
            }
        }
    }
}
