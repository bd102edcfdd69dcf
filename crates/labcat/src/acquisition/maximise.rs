//! Maximisation over the trust region ∩ bounds: uniform samples, optionally some of them close to the best point, then a local
//! refinement of the best sample.

use super::landscape::{Landscape, Slopes};
use crate::domain::Domain;
use crate::frame::Frame;
use crate::gp::PointPrediction;
use crate::linalg::{self, Matrix};
use crate::math;
use crate::rng::Rng;

/// How many rounds of rejection the samples get before the rest of them are clipped to the bounds.
const REJECTION_ROUNDS: usize = 10;
/// Samples near the best point shrink the trust region by factors between this and 1.
const LEAST_SCALE: f64 = 1e-4;

/// Such a factor, uniform in its logarithm.
pub(crate) fn nearer(rng: &mut Rng) -> f64 {
    math::pow(LEAST_SCALE, rng.unit())
}

/// The maximisation to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    pub(crate) beta: f64,
    pub(crate) candidates: usize,
    /// How many of them are drawn near the best point, at every scale: late in a run what is left to gain lies closer to it than any
    /// uniform sample, while far away σ grows faster than μ and keeps the refinement there.
    pub(crate) near: usize,
    /// Gradient steps from the best sample; 0 for none.
    pub(crate) refinements: usize,
}

/// A maximisation: of what, in which frame, how; and on which lattice if there are integers or categories.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) landscape: &'a Landscape<'a>,
    pub(crate) frame: &'a Frame,
    pub(crate) search: &'a Search,
    pub(crate) lattice: Option<Lattice<'a>>,
}

/// Where integers and categories have their places, and along which axes a point is climbed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) moves: &'a [bool],
}

/// Buffers of the maximisation, and its result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maximiser {
    local: Matrix,
    /// Places of the candidates in the box, one column each.
    place: Matrix,
    k_star: Matrix,
    mean: Vec<f64>,
    std: Vec<f64>,
    score: Vec<f64>,
    interval: Vec<(f64, f64)>,
    x: Vec<f64>,
    trial: Vec<f64>,
    u: Vec<f64>,
    gradient: Vec<f64>,
    previous: Vec<f64>,
    at: PointPrediction,
    /// Candidates that had to be clipped in the newest call.
    pub(crate) clipped: usize,
}

impl Maximiser {
    /// Draws the candidates, scores them, and refines the best. (eq:EI, over Ω_TR ∩ Ω)
    pub(crate) fn run(&mut self, task: Task<'_>, rng: &mut Rng) {
        self.sample(task.frame, task.search, rng);
        self.score_all(task.landscape);
        if task.search.refinements > 0
            && let Some(candidate) = self.best()
        {
            self.refine(candidate.index, task);
        }
    }

    /// Scores given places in the box, and refines each of them if the search does; on a lattice, along the axes that move.
    pub(crate) fn score_places(&mut self, places: &[Vec<f64>], task: Task<'_>) -> Vec<Scored> {
        let (d, m) = (task.frame.dim(), places.len());
        self.local.reshape(m, d);
        self.place.reshape(d, m);
        places.iter().enumerate().for_each(|(c, u)| self.place.col_mut(c).copy_from_slice(u));
        task.frame.to_local_rows(places.iter().map(Vec::as_slice), &mut self.local, &mut self.x);
        self.score_all(task.landscape);
        if task.search.refinements > 0 {
            (0..m).for_each(|c| self.refine(c, task));
        }
        let scored = |c: usize| Scored { u: self.place.col(c).to_vec(), mean: self.mean[c], score: self.score[c] };
        (0..m).map(scored).collect()
    }

    /// Takes candidates that were found otherwise.
    pub(crate) fn load(&mut self, d: usize, found: &[Scored]) {
        self.place.reshape(d, found.len());
        self.mean.clear();
        self.score.clear();
        for (c, scored) in found.iter().enumerate() {
            self.place.col_mut(c).copy_from_slice(&scored.u);
            self.mean.push(scored.mean);
            self.score.push(scored.score);
        }
    }

    fn score_all(&mut self, landscape: &Landscape<'_>) {
        landscape.surrogate.gp.predict(&self.local, &mut self.k_star, &mut self.mean, &mut self.std);
        self.score.clear();
        for (c, (&mean, &std)) in self.mean.iter().zip(&self.std).enumerate() {
            let mut score = landscape.worth(mean, std);
            if !landscape.surrogate.constraints.is_empty() {
                self.x.clear();
                self.x.extend((0..self.local.cols()).map(|i| self.local[(c, i)]));
                score = landscape.times_feasible(score, &self.x, std);
            }
            self.score.push(if score.is_nan() { f64::NEG_INFINITY } else { score });
        }
    }

    /// The best candidate left: its place in the box, score and predicted mean.
    pub(crate) fn best(&self) -> Option<Candidate<'_>> {
        let mut best: Option<usize> = None;
        for (c, &score) in self.score.iter().enumerate() {
            if score > best.map_or(f64::NEG_INFINITY, |b| self.score[b]) {
                best = Some(c);
            }
        }
        best.map(|c| Candidate { index: c, u: self.place.col(c), score: self.score[c], mean: self.mean[c] })
    }

    /// Takes a candidate out of the running.
    pub(crate) fn strike(&mut self, index: usize) {
        self.score[index] = f64::NEG_INFINITY;
    }

    /// The samples of the newest call, as places in the box.
    pub(crate) fn samples(&self) -> Vec<Vec<f64>> {
        (0..self.local.rows()).map(|c| self.place.col(c).to_vec()).collect()
    }

    /// Samples of Ω_TR ∩ Ω, uniform but for the near ones. The trust region is first cut to what the bounds can reach along each
    /// axis, which changes nothing but the number of rejections.
    pub(crate) fn sample(&mut self, frame: &Frame, search: &Search, rng: &mut Rng) {
        let (d, m, beta) = (frame.dim(), search.candidates, search.beta);
        self.local.reshape(m, d);
        self.place.reshape(d, m);
        self.interval.clear();
        self.interval.extend((0..d).map(|i| {
            let (low, high) = frame.box_interval(i);
            (low.max(-beta), high.min(beta))
        }));
        self.x.resize(d, 0.0);
        self.clipped = 0;
        let mut draws = REJECTION_ROUNDS * m;
        let mut c = 0;
        while c < m {
            for (x, (low, high)) in self.x.iter_mut().zip(&self.interval) {
                *x = rng.between(*low, *high);
            }
            if c < search.near {
                let nearer = nearer(rng);
                for x in &mut self.x {
                    *x *= nearer;
                }
            }
            let u = self.place.col_mut(c);
            frame.to_box(&self.x, u);
            if clip(u) {
                if draws > 0 {
                    draws -= 1;
                    continue;
                }
                bring_back(frame, beta, u, &mut self.x);
                self.clipped += 1;
            }
            for (i, x) in self.x.iter().enumerate() {
                self.local[(c, i)] = *x;
            }
            c += 1;
        }
    }

    /// Projected gradient ascent from a sample, with Barzilai–Borwein first lengths and backtracking. Its result takes the place of
    /// that sample. With integers and categories only the axes that move are climbed, and each point is moved to the place of what
    /// it stands for.
    fn refine(&mut self, index: usize, task: Task<'_>) {
        let Task { landscape, search, .. } = task;
        let gp = &landscape.surrogate.gp;
        self.x.clear();
        self.x.extend((0..self.local.cols()).map(|i| self.local[(index, i)]));
        self.u.clear();
        self.u.extend_from_slice(self.place.col(index));
        gp.look(&self.x, &mut self.at);
        let (_, mut slopes) = landscape.look(&self.at);
        for step in 0..search.refinements {
            gp.add_gradient(&self.x, &mut self.at);
            landscape.gradient(&self.at, slopes, &mut self.gradient);
            if let Some(Lattice { moves, .. }) = task.lattice {
                linalg::mask(&mut self.gradient, moves);
            }
            let Some(length) = self.first_length(step, search.beta) else { break };
            let Some((score, there)) = self.line_search(length, self.score[index], task) else { break };
            slopes = there;
            self.place.col_mut(index).copy_from_slice(&self.u);
            (self.mean[index], self.std[index], self.score[index]) = (self.at.mean, self.at.std, score);
            for (t, x) in self.trial.iter_mut().zip(&mut self.x) {
                let new = *t;
                *t = new - *x;
                *x = new;
            }
            std::mem::swap(&mut self.previous, &mut self.gradient);
        }
    }

    /// How long the first trial along the gradient is, as a factor on it; `None` where there is none. At first a quarter of the trust region; then
    /// |Δx|² / |Δx · Δg|, with Δx in `trial` and the old gradient in `previous`.
    fn first_length(&self, step: usize, beta: f64) -> Option<f64> {
        let norm = linalg::dot(&self.gradient, &self.gradient).sqrt();
        if !(norm > 0.0 && norm.is_finite()) {
            return None;
        }
        let (mut xx, mut xg) = (0.0, 0.0);
        if step > 0 {
            for ((x, old), new) in self.trial.iter().zip(&self.previous).zip(&self.gradient) {
                xx += x * x;
                xg += x * (old - new);
            }
        }
        Some(if xg == 0.0 { 0.25 * beta / norm } else { (xx / xg.abs()).min(2.0 * beta / norm) })
    }

    /// A point along the gradient that is worth more than `score`, in `trial`, its place in `u` and its prediction in `at`: that worth and its slopes.
    fn line_search(&mut self, mut length: f64, score: f64, task: Task<'_>) -> Option<(f64, Slopes)> {
        const SHORTENINGS: usize = 6;
        const CONTRACTION: f64 = 0.3;
        let (Task { landscape, frame, lattice, .. }, beta) = (task, task.search.beta);
        for _ in 0..SHORTENINGS {
            self.trial.clear();
            self.trial.extend(self.x.iter().zip(&self.gradient).map(|(x, g)| {
                let stays = lattice.is_some() && *g == 0.0;
                if stays { *x } else { (x + length * g).clamp(-beta, beta) }
            }));
            frame.to_box(&self.trial, &mut self.u);
            let clipped = clip(&mut self.u);
            if let Some(Lattice { domain, .. }) = lattice {
                domain.snap(&mut self.u);
                frame.to_local(&self.u, &mut self.trial);
            } else if clipped {
                bring_back(frame, beta, &mut self.u, &mut self.trial);
            }
            landscape.surrogate.gp.look(&self.trial, &mut self.at);
            let (new, slopes) = landscape.look(&self.at);
            if new > score {
                return Some((new, slopes));
            }
            length *= CONTRACTION;
        }
        None
    }
}

/// Moves a place to the nearest in the box, and says whether it lay outside.
fn clip(u: &mut [f64]) -> bool {
    let outside = u.iter().any(|u| u.abs() > 1.0);
    u.iter_mut().for_each(|u| *u = u.clamp(-1.0, 1.0));
    outside
}

/// The local coordinates `x` of a point `u` that was clipped to the box. Where clipping took it out of the trust region both shrink
/// towards the centre until it fits: the box is convex and holds the centre, so it stays in the box.
fn bring_back(frame: &Frame, beta: f64, u: &mut [f64], x: &mut [f64]) {
    frame.to_local(u, x);
    let farthest = x.iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    if farthest > beta {
        for x in x.iter_mut() {
            *x = (*x * (beta / farthest)).clamp(-beta, beta);
        }
        frame.to_box(x, u);
        clip(u);
    }
}

/// A place in the box with its score, and the mean predicted there.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    pub(crate) u: Vec<f64>,
    pub(crate) mean: f64,
    pub(crate) score: f64,
}

/// A scored candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) index: usize,
    pub(crate) u: &'a [f64],
    pub(crate) score: f64,
    pub(crate) mean: f64,
}
