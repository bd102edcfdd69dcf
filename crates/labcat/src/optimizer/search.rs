//! Line 12: the point with the largest acquisition value in the region, over reals, integers and categories: samples, neighbours, descents.

use super::config::Preset;
use super::descent::{self, Goal};
use super::model::{Model, Workspace};
use super::posterior::Posterior;
use super::problem::{Choice, Problem};
use super::report::{Origin, RestartCause};
use super::run::{Extent, LocalRun};
use super::{convergence, region};
use crate::acquisition::landscape::Landscape;
use crate::acquisition::maximise::{Lattice, Maximiser, Scored, Search, Task, nearer};
use crate::domain::Axis;
use crate::math;
use crate::rng::Rng;
use std::ops::Range;

/// One region has use for this many points at a time per parameter.
const OF_USE: f64 = 0.5;
/// Samples of the acquisition function per parameter, where some are integers or categories.
const SAMPLES: usize = 40;
/// How many of them, of different integers and categories, are climbed from, and for how many rounds at most.
const CLIMBERS: usize = 4;
const CLIMBS: usize = 6;
/// Under noise every second suggestion is drawn around the lowest mean of the model, with this standard deviation, in half-sides of the trust
/// region: about as far as places spread evenly over it. (Every suggestion, or the lowest mean itself instead, is worse; the record has it.)
const DRAWN_EVERY: usize = 2;
const DRAWN_WITHIN: f64 = 0.6;

/// The most promising point that was never suggested before.
pub(super) fn search(
    problem: Problem<'_>,
    run: &LocalRun,
    model: &Model,
    work: &mut Workspace,
    rng: &mut Rng,
    extent: Extent,
) -> Result<Choice, RestartCause> {
    let (search, switches) = (search_of(problem, run)?, &problem.settings.switches);
    let optimism = switches.optimism * run.manner(problem.settings).optimism;
    let (surrogate, kind, incumbent) = (&model.surrogate, switches.acquisition, model.incumbent);
    let landscape = Landscape { surrogate, kind, incumbent, optimism };
    let limited = surrogate.has_more() || !problem.known.is_empty();
    let climbs = limited || problem.domain.is_mixed();
    let moves = if climbs { extent.moving(problem.domain) } else { Vec::new() };
    let Workspace { maximiser, scratch: reach, .. } = work;
    region::reach(problem, run, search.beta, reach);
    let mut hunt = Hunt { problem, run, model, landscape, search, extent, climbs, limited, moves, reach, maximiser };
    if let Some(choice) = hunt.draw_around_lowest(rng) {
        return Ok(choice);
    }
    hunt.find_candidates(rng);
    while let Some(candidate) = hunt.maximiser.best() {
        let index = candidate.index;
        if let Some(choice) = hunt.choose(candidate.u, candidate.score, candidate.mean) {
            return Ok(Choice { clipped: hunt.maximiser.clipped, ..choice });
        }
        hunt.maximiser.strike(index);
    }
    Err(RestartCause::NoNewPoint)
}

/// How the acquisition function is to be maximised now.
fn search_of(problem: Problem<'_>, run: &LocalRun) -> Result<Search, RestartCause> {
    let settings = problem.settings;
    // Each failure in a row halves the region: the next point comes nearer to what is known to work. (Powers of two are exact.)
    let halvings = run.failures_in_a_row().min(1000) as i32;
    let mut beta = run.now.beta * 0.5_f64.powi(halvings);
    convergence::why_over_by_failures(problem, run, beta).map_or(Ok(()), Err)?;
    beta *= share_of_region(problem, run);
    if run.extent == Extent::Box {
        let moving = run.now.frame.scale().iter().enumerate().filter(|(i, _)| run.extent.moves(problem.domain, *i));
        beta = moving.fold(1.0, |beta: f64, (_, scale)| beta.max(2.0 / scale)); // every way through the box
    }
    Ok(Search { beta, ..settings.search })
}

/// How much of the trust region a suggestion looks at. One region has use for few points at a time; where more than these are
/// pending, they would all lie along its rim, so that it hardly shrinks. Then suggestions take regions of every size, the smallest
/// one smaller by the root of how many times too many they are, in the order of van der Corput's sequence.
pub(super) fn share_of_region(problem: Problem<'_>, run: &LocalRun) -> f64 {
    let crowd = (1.0 + run.now.others as f64) / (OF_USE * problem.domain.free_parameters() as f64);
    if run.now.others == 0 || crowd <= 1.0 {
        return 1.0;
    }
    let suggested = (problem.observations.len() + problem.pending.len()) as u64;
    math::pow(crowd, -0.5 * (suggested.reverse_bits() as f64 / u64::MAX as f64))
}

/// The maximisation of the acquisition function over valid points.
struct Hunt<'a> {
    problem: Problem<'a>,
    run: &'a LocalRun,
    model: &'a Model,
    landscape: Landscape<'a>,
    search: Search,
    extent: Extent,
    /// Whether more is climbed than the best sample, along gradients: where integers or categories are, or descents follow second derivatives.
    climbs: bool,
    /// Whether these do: where there are constraints, measured or known, or slopes.
    limited: bool,
    /// The axes that climbs move along.
    moves: Vec<bool>,
    /// How far the region reaches along each axis.
    reach: &'a [f64],
    maximiser: &'a mut Maximiser,
}

impl Hunt<'_> {
    /// Whether a point may be suggested: under noise again, but not while it is pending.
    fn is_new(&self, x: &[f64]) -> bool {
        let Problem { pending, seen, .. } = self.problem;
        if self.landscape.surrogate.has_noise() { pending.iter().all(|p| p.x != x) } else { !seen.contains(x) }
    }

    /// A place as the next point, moved to where it is allowed, if it is new.
    fn choose(&self, u: &[f64], score: f64, mean: f64) -> Option<Choice> {
        let problem = self.problem;
        let x = problem.known.nearest(problem.domain, u, self.run.now.frame.centre())?;
        let predicted = problem.settings.switches.direction.orient(self.model.outputs.to_user(mean));
        // Reports are written as JSON, which has no infinity.
        let acquisition = score.clamp(f64::MIN, f64::MAX);
        let free = self.is_new(&x) && !self.run.is_near_pending(problem, u);
        free.then_some(Choice { x, origin: Origin::Model, acquisition, predicted, clipped: 0 })
    }

    /// Under noise, when it is its turn, a place around the lowest mean of the model. Expected improvement goes to the rim of the region, where the
    /// standard deviation is large. Places on all sides of the minimum tell more of where it is.
    fn draw_around_lowest(&mut self, rng: &mut Rng) -> Option<Choice> {
        let Problem { settings, observations, pending, .. } = self.problem;
        let is_turn = (observations.len() + pending.len()).is_multiple_of(DRAWN_EVERY);
        let draws = self.landscape.surrogate.has_noise() && settings.switches.preset != Preset::Paper;
        if self.climbs || !draws || !is_turn {
            return None;
        }
        let mut away = || DRAWN_WITHIN * self.search.beta * rng.normal();
        let x: Vec<f64> = self.model.lowest.iter().map(|x| x + away()).collect();
        let drawn = self.score(&[descent::place(self.problem, &self.run.now.frame, &x)]).pop()?;
        self.choose(&drawn.u, drawn.score, drawn.mean)
    }

    /// Fills the maximiser: samples and climbs from them; every configuration of a small space; or, where nothing else is to be gained, neighbours.
    fn find_candidates(&mut self, rng: &mut Rng) {
        let (problem, domain) = (self.problem, self.problem.domain);
        if !self.climbs {
            let (landscape, frame, search) = (&self.landscape, &self.run.now.frame, &self.search);
            return self.maximiser.run(Task { landscape, frame, search, lattice: None }, rng);
        }
        let noisy = self.landscape.surrogate.has_noise();
        let in_region = domain.is_mixed() && self.extent == Extent::Region;
        let settled = in_region && !noisy && !region::is_small(domain) && region::settled(problem, self.run);
        let neighbours = if settled { region::untried(problem, self.model.standing.best) } else { Vec::new() };
        let found = match region::is_small(domain) {
            true => self.all(rng),
            false if neighbours.is_empty() => self.climb(rng),
            false => self.shuffled(neighbours, rng),
        };
        self.maximiser.load(domain.dim(), &found);
    }

    /// Every configuration of a small space that is new; under noise, one is drawn to come first.
    fn all(&mut self, rng: &mut Rng) -> Vec<Scored> {
        let Problem { domain, known, .. } = self.problem;
        let mut all = known.listed.clone().unwrap_or_else(|| region::listed(domain, known));
        all.retain(|x| self.is_new(x));
        let mut found = self.shuffled(all, rng);
        if self.landscape.surrogate.has_noise()
            && let Some(chosen) = self.draw(&found, rng)
        {
            found[chosen].score = f64::INFINITY;
        }
        found
    }

    /// Points in a random order, so that ties go to any of them.
    fn shuffled(&mut self, mut points: Vec<Vec<f64>>, rng: &mut Rng) -> Vec<Scored> {
        rng.shuffle(&mut points);
        self.score(&self.places(&points))
    }

    /// Thompson sampling: the best place in a draw from the posterior. Expected improvement would nearly always go back to the lowest mean.
    fn draw(&self, places: &[Scored], rng: &mut Rng) -> Option<usize> {
        let drawn = Posterior::of(self.problem, self.run)?.draw(places.iter().map(|place| &*place.u), rng);
        (0..drawn.len()).min_by(|a, b| drawn[*a].total_cmp(&drawn[*b]))
    }

    fn places(&self, points: &[Vec<f64>]) -> Vec<Vec<f64>> {
        points.iter().map(|x| self.problem.domain.place(x)).collect()
    }

    /// Score and mean of places, each moved to where it is allowed.
    fn score(&mut self, places: &[Vec<f64>]) -> Vec<Scored> {
        let (problem, frame) = (self.problem, &self.run.now.frame);
        let search = Search { refinements: 0, ..self.search };
        let task = Task { landscape: &self.landscape, frame, search: &search, lattice: None };
        if problem.known.is_empty() {
            return self.maximiser.score_places(places, task);
        }
        let allowed =
            |u: &Vec<f64>| problem.known.nearest(problem.domain, u, frame.centre()).map(|x| problem.domain.place(&x));
        let places: Vec<Vec<f64>> = places.iter().filter_map(allowed).collect();
        self.maximiser.score_places(&places, task)
    }

    /// The places climbed from along the axes that move: by quadratic programs under constraints, else along gradients.
    fn refine(&mut self, places: &[Vec<f64>], kappa: f64) -> Vec<Scored> {
        let (problem, run, search) = (self.problem, self.run, &self.search);
        let frame = &run.now.frame;
        if search.refinements == 0 {
            return self.score(places);
        }
        if !self.limited {
            let lattice = Some(Lattice { domain: problem.domain, moves: &self.moves });
            let task = Task { landscape: &self.landscape, frame, search, lattice };
            return self.maximiser.score_places(places, task);
        }
        let goal = Goal::cautious(problem, run, kappa, search.beta, &self.moves);
        let descend = |u: &Vec<f64>| {
            let (x, _) = descent::minimise(problem, frame, &self.model.surrogate, goal, &frame.local(u));
            descent::place(problem, frame, &x)
        };
        let found: Vec<Vec<f64>> = places.iter().map(descend).collect();
        self.score(&found)
    }

    /// Samples of the trust region and neighbours of its centre; from the best of them, of different integers and categories, the reals are
    /// climbed by gradients and the rest by steps and other labels, in turn.
    fn climb(&mut self, rng: &mut Rng) -> Vec<Scored> {
        let domain = self.problem.domain;
        let mut places = self.samples(rng);
        places.extend(self.neighbours(self.run.now.frame.centre()));
        let mut found = self.score(&places);
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[b].score.total_cmp(&found[a].score));
        let mut climbers: Vec<Scored> = Vec::with_capacity(CLIMBERS);
        for c in order {
            if climbers.len() < CLIMBERS && !climbers.iter().any(|f| domain.same_choices(&f.u, &found[c].u)) {
                climbers.push(found[c].clone());
            }
        }
        if self.limited && self.search.refinements > 0 {
            found.extend(self.constrained_minima());
        }
        for _ in 0..CLIMBS {
            let places: Vec<Vec<f64>> = climbers.iter().map(|f| f.u.clone()).collect();
            for (climber, refined) in climbers.iter_mut().zip(self.refine(&places, self.landscape.optimism)) {
                if refined.score > climber.score {
                    *climber = refined;
                }
            }
            found.extend_from_slice(&climbers);
            let mut moved = false;
            for climber in &mut climbers {
                let neighbours = self.neighbours(&climber.u);
                for other in self.score(&neighbours) {
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

    /// Where descents end from the centre and from the model's constrained minimum.
    fn constrained_minima(&mut self) -> Vec<Scored> {
        let (frame, minimum) = (&self.run.now.frame, &self.model.minimum);
        let centre = frame.centre().to_vec();
        let start = if minimum.is_empty() { centre.clone() } else { descent::place(self.problem, frame, minimum) };
        let mut found = self.refine(&[centre], self.landscape.optimism);
        let mut lowest = self.refine(&[start], 0.0);
        lowest.iter_mut().filter(|_| self.model.follows).for_each(|f| f.score = f64::INFINITY);
        found.append(&mut lowest);
        found
    }

    /// Neighbours of a place by a step or another label that the region reaches, with its reals.
    fn neighbours(&self, u: &[f64]) -> Vec<Vec<f64>> {
        let (domain, frame) = (self.problem.domain, &self.run.now.frame);
        if self.extent == Extent::Reals {
            return Vec::new();
        }
        let mut places = self.places(&domain.neighbours(&domain.point(u)));
        places.retain(|u| {
            let away = |j: usize| (u[j] - frame.centre()[j]).abs() / frame.scale()[j];
            (0..u.len()).all(|j| domain.axes()[j] != Axis::Steps || away(j) <= self.reach[j])
        });
        places
    }

    /// Samples of the trust region: reals uniform in it, some of them nearer to the best point; half of the samples have its integers
    /// and categories, in the others some of those are changed, at least one. Where the whole box is searched half of them are samples of
    /// it, and in the others something is changed.
    fn samples(&mut self, rng: &mut Rng) -> Vec<Vec<f64>> {
        let (problem, frame, search) = (self.problem, &self.run.now.frame, &self.search);
        let (domain, d) = (problem.domain, frame.dim());
        if !domain.is_mixed() {
            self.maximiser.sample(frame, search, rng);
            return self.maximiser.samples();
        }
        let discrete = if self.extent == Extent::Reals { Vec::new() } else { domain.untied() };
        let wide = self.extent == Extent::Box;
        let turning: Vec<usize> = (0..d).filter(|&j| self.moves[j]).collect();
        let count = SAMPLES * domain.free_parameters();
        let mut places = Vec::with_capacity(count);
        for c in 0..count {
            if wide && c % 2 == 0 {
                let cube: Vec<f64> = domain.parameters().iter().map(|_| rng.between(-1.0, 1.0)).collect();
                places.push(domain.embed(&cube));
                continue;
            }
            let nearer = if c % 4 < 2 { nearer(rng) } else { 1.0 };
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

    /// Changes some of the integers and categories, at least one.
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
