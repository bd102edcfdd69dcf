//! Ask and tell: suggestions have ids; any number may be pending, and they may be told in any order.

pub(crate) mod config;
mod convergence;
mod dataset;
mod descent;
mod errors;
mod forecast;
mod merit;
mod model;
mod nearest;
mod noise;
mod portfolio;
mod posterior;
mod problem;
mod propose;
mod recommend;
mod region;
pub(crate) mod report;
mod residuals;
mod run;
mod search;
mod secants;
mod seen;
mod slopes;
#[cfg(feature = "serde")]
pub(crate) mod state;
mod view;

pub use errors::{AskError, Error, TellError};
pub use residuals::LocalResiduals;
pub use view::{Prediction, Recommendation, Region};

use crate::design;
use crate::domain::{Axis, Domain, PointError};
use crate::gp::residuals::Products;
use crate::known::{Known, KnownError};
use crate::length_scale::StepKind;
use crate::math;
use crate::observations::{Direction, Evaluation, Observations, Outcome, TrialId};
use crate::rng::Rng;
use config::{Config, ConfigError, Noise, Preset, Settings};
use model::{Model, Workspace};
use noise::Noisy;
use portfolio::Portfolio;
use problem::{Choice, Pending, Problem, problem};
use propose::Tools;
use report::{Origin, Restart, RestartCause, StepReport, StopReason};
use run::{Extent, LocalRun};
use seen::Seen;
use std::collections::VecDeque;

/// A point to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Its number, for [`Optimizer::tell`].
    pub id: TrialId,
    /// The point, in user units.
    pub x: Vec<f64>,
}

/// The optimizer: `ask` suggests a point, and `tell` records its value.
///
/// ```
/// use labcat::{Config, Domain, Optimizer, Preset};
///
/// let domain = Domain::new(&[(-5.0, 10.0), (-5.0, 10.0)])?;
/// let mut config = Config::new(Preset::Default);
/// config.budget = Some(60);
/// let mut optimizer = Optimizer::new(domain, config)?;
/// while let Ok(suggestion) = optimizer.ask() {
///     let x = &suggestion.x;
///     optimizer.tell(suggestion.id, (x[0] - 1.0).powi(2) + (x[1] + 2.0).powi(2))?;
/// }
/// let best = optimizer.best().map(|e| e.outcome.value());
/// assert!(best.flatten().is_some_and(|v| v < 1e-6));
/// # Ok::<(), labcat::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Optimizer {
    domain: Domain,
    settings: Settings,
    /// Constraints that no suggestion violates. Not part of the saved state.
    known: Known,
    rng: Rng,
    observations: Observations,
    /// The number of evaluations that will be pending at a time, 0 if unknown. Not part of the saved state.
    expected: usize,
    state: State,
    /// Whether every allowed configuration of a finite space was suggested or told. Not part of the saved state: it is determined again.
    spent: bool,
    /// Every point that was suggested, told, failed or cancelled, and so is not suggested again.
    seen: Seen,
    /// The model of the newest step. It follows from the run and the history, and can be dropped at any time.
    model: Option<Model>,
    work: Workspace,
    report: Option<StepReport>,
}

/// What decides the suggestions besides the evaluations and the random numbers: state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct State {
    /// In the order asked.
    pending: Vec<Pending>,
    /// Points withdrawn by [`Optimizer::cancel`].
    cancelled: Vec<Vec<f64>>,
    /// Points queued by [`Optimizer::enqueue`].
    queue: VecDeque<Vec<f64>>,
    next_id: u64,
    run: LocalRun,
    /// The runs beside it.
    portfolio: Portfolio,
    /// The run that found the best point, once it is over. (May be null, not missing.)
    #[cfg_attr(feature = "serde", serde(deserialize_with = "serde::Deserialize::deserialize"))]
    best_run: Option<LocalRun>,
    /// With noise: the lowest mean plus standard deviation in the models of earlier runs. (May be null, or missing.)
    #[cfg_attr(feature = "serde", serde(rename = "found"))]
    bound: Option<f64>,
    restarts: Vec<Restart>,
    converged: bool,
}

impl Optimizer {
    /// An optimizer for a domain and a configuration, which is checked.
    pub fn new(domain: Domain, config: Config) -> Result<Self, Error> {
        let settings = config.check_for(&domain)?;
        let mut rng = Rng::new(config.seed);
        let run = LocalRun::new(0, &domain, &settings, &mut rng);
        let expected = settings.budget.min(10_000);
        Ok(Self {
            work: Workspace::default(),
            seen: Seen::with_capacity(expected),
            observations: Observations::new(settings.switches.direction, domain.dim(), expected),
            domain,
            settings,
            known: Known::default(),
            rng,
            expected: 0,
            state: State { run, ..State::default() },
            spent: false,
            model: None,
            report: None,
        })
    }

    /// An optimizer whose suggestions satisfy known constraints.
    pub fn with_constraints(domain: Domain, config: Config, known: Known) -> Result<Self, Error> {
        let mut optimizer = Self::new(domain, config)?;
        optimizer.constrain(known)?;
        Ok(optimizer)
    }

    /// From now on, suggestions satisfy these constraints, and so does the best evaluation. They are not saved with the state, because a function
    /// cannot be: give them again to an optimizer that is restored from a state.
    pub fn constrain(&mut self, known: Known) -> Result<(), KnownError> {
        let mut known = known.check(&self.domain)?;
        known.listed = region::is_small(&self.domain).then(|| region::listed(&self.domain, &known));
        known.inside = match &known.listed {
            Some(all) => {
                let tried = self.domain.list_length().unwrap_or(0) as usize;
                self.domain.place(all.first().ok_or(KnownError::NotFound { tried })?)
            }
            None => known.sample(&self.domain, &mut Rng::new(self.config().seed))?,
        };
        self.state.queue.retain(|x| known.allows(x));
        self.observations.forbid(0, |x| known.allows(x));
        self.known = known;
        self.spent = false;
        self.drop_model();
        Ok(())
    }

    /// The next point to evaluate.
    pub fn ask(&mut self) -> Result<Suggestion, AskError> {
        if let Some(reason) = self.stop_reason() {
            return Err(AskError::Stopped(reason));
        }
        if self.observations.len() + self.state.pending.len() >= self.settings.budget {
            return Err(AskError::BudgetOutstanding { pending: self.state.pending.len() });
        }
        let (choice, restart) = self.next_choice()?;
        self.write_report(&choice, restart);
        let proposed = !matches!(choice.origin, Origin::Enqueued | Origin::Design);
        let number = self.state.portfolio.led_by_kept().filter(|_| proposed).unwrap_or(self.state.run.number);
        Ok(self.suggest(choice.x, number))
    }

    /// Announces the number of evaluations that will be pending at a time. The optimizer counts pending evaluations in any case; knowing the number
    /// in advance helps while there are fewer. It is not saved with the state.
    pub fn expect_outstanding(&mut self, n: usize) {
        self.expected = n;
    }

    /// Up to `n` suggestions, fewer if the budget leaves fewer; an error only if there is none.
    pub fn ask_many(&mut self, n: usize) -> Result<Vec<Suggestion>, AskError> {
        let known = self.expected;
        self.expected = known.max(self.state.pending.len().saturating_add(n));
        let mut suggestions = Vec::new();
        let error = (0..n).find_map(|_| self.ask().map(|suggestion| suggestions.push(suggestion)).err());
        self.expected = known;
        error.filter(|_| suggestions.is_empty()).map_or(Ok(suggestions), Err)
    }

    /// The next point and, if it begins a run, why the run before it ended.
    fn next_choice(&mut self) -> Result<(Choice, Option<RestartCause>), AskError> {
        let mut restart = None;
        loop {
            if let Some(x) = self.state.queue.pop_front() {
                return Ok((Choice::given(x, Origin::Enqueued), restart));
            }
            if self.is_exhausted() {
                let stopped = self.stop_reason().map(AskError::Stopped);
                return Err(stopped.unwrap_or(AskError::SpaceOutstanding { pending: self.state.pending.len() }));
            }
            if let Some((best, _)) = self.doubted().filter(|_| self.is_to_be_repeated()) {
                if self.state.pending.iter().any(|p| p.x == best.x) {
                    return Err(AskError::SpaceOutstanding { pending: self.state.pending.len() });
                }
                return Ok((Choice::given(best.x.clone(), Origin::Repeat), restart));
            }
            if self.is_in_design() {
                match self.design_point() {
                    Some(x) => return Ok((Choice::given(x, Origin::Design), restart)),
                    None => continue,
                }
            }
            if self.begins_again() {
                continue;
            }
            match self.propose() {
                Ok(choice) => return Ok((choice, restart)),
                Err(_) if !self.settings.switches.restarts => {
                    self.state.converged = true;
                    return Err(AskError::Stopped(StopReason::Tolerance));
                }
                Err(cause) => {
                    self.begin_next_run(cause);
                    restart = Some(cause);
                }
            }
        }
    }

    /// Whether the next point is one of the design. The linear trend of residuals takes one evaluation less than a model of their sum, and one less
    /// for each told column of their Jacobian; and where the first gradient is whole, two tell more of the slopes around a start than a design.
    fn is_in_design(&mut self) -> bool {
        let run = &mut self.state.run;
        let first = run.now.members.first().map(|&p| self.observations.outcome(p));
        let told = first.is_some_and(|first| !first.residuals().is_empty());
        let gradient = first.filter(|_| !self.domain.is_mixed()).map_or(&[][..], |first| first.gradient());
        let known = gradient.iter().filter(|g| g.is_finite()).count();
        let sloped = known > 0 && known == gradient.len();
        let spared = usize::from(told) + if told || sloped { known } else { 0 };
        let least = (2 + self.domain.free_parameters()).saturating_sub(spared).max(2);
        let few = run.now.members.len() < self.settings.initial_points.min(least);
        if sloped && !few && run.is_around_start(&self.domain) {
            run.design.clear();
        }
        few || !run.design.is_empty()
    }

    /// A step of the run whose turn it is.
    fn propose(&mut self) -> Result<Choice, RestartCause> {
        let (problem, next) = (problem!(self), TrialId(self.state.next_id));
        let mut tools = Tools { model: &mut self.model, work: &mut self.work, rng: &mut self.rng, next };
        self.state.portfolio.propose(problem, &mut self.state.run, &mut tools)
    }

    /// Writes what this `ask` did over the last report: a steady run allocates nothing here.
    fn write_report(&mut self, choice: &Choice, restart: Option<RestartCause>) {
        let report = self.report.get_or_insert_default();
        for v in [&mut report.length_scales, &mut report.half_widths, &mut report.centre, &mut report.rotation] {
            v.clear();
        }
        (report.evaluations, report.run) = (self.observations.len(), self.state.run.number);
        (report.origin, report.restart) = (choice.origin, restart);
        (report.acquisition, report.predicted, report.clipped) = (choice.acquisition, choice.predicted, choice.clipped);
        (report.observations, report.discarded, report.step) = (0, 0, StepKind::Stay);
        (report.output_range, report.log_likelihood, report.nugget) = (0.0, 0.0, 0.0);
        report.gradients_left_out = false;
        let chosen_by_model = matches!(choice.origin, Origin::Model | Origin::Quadratic);
        if let Some(model) = self.model.as_ref().filter(|_| chosen_by_model) {
            let (frame, gp) = (&self.state.run.now.frame, &model.surrogate.gp);
            (report.observations, report.discarded, report.step) = (gp.len(), model.made.discarded, model.made.step);
            (report.output_range, report.nugget) = (model.outputs.range(), gp.prior().nugget);
            report.log_likelihood = gp.log_likelihood();
            let told = |&p: &usize| self.observations.gradient(p).next().is_some();
            report.gradients_left_out = !gp.has_slopes() && self.state.run.now.members.iter().any(told);
            report.length_scales.extend_from_slice(&model.made.ell);
            let bounded = frame.scale().iter().zip(self.domain.axes()).filter(|(_, axis)| **axis != Axis::Choice);
            report.half_widths.extend(bounded.map(|(s, _)| s * self.state.run.now.beta));
            report.centre.resize(self.domain.parameters().len(), 0.0);
            self.domain.to_user(frame.centre(), &mut report.centre);
            report.rotation.extend_from_slice(frame.rotation().as_slice());
        }
    }

    /// The next point of the design, or one more that fills the space around everything asked in this run. With many pending
    /// evaluations it need only keep apart from them, by a part of the spacing of a grid. `None` when nothing of a finite
    /// space is left and that decides what comes next; where values have noise a point comes again.
    fn design_point(&mut self) -> Option<Vec<f64>> {
        const DESIGN_TRIES: usize = 10;
        const APART: f64 = 0.1;
        const MANY_PENDING: usize = 2;
        let d = self.domain.parameters().len();
        let mut x = vec![0.0; d];
        let finite = self.domain.list_length().is_some();
        let before = finite.then(|| (self.rng.clone(), self.state.run.design.clone()));
        for _ in 0..DESIGN_TRIES {
            let u = match self.state.run.design.pop() {
                Some(u) => u,
                None => {
                    let asked: Vec<Vec<f64>> = self.state.pending.iter().map(|p| self.domain.place(&p.x)).collect();
                    let failed = self.state.run.failed.iter().rev().take(1000); // the cost does not grow
                    let told = self.state.run.now.members.iter().chain(failed).map(|&p| self.observations.unit(p));
                    let taken = told.chain(asked.iter().map(Vec::as_slice));
                    let spacing = 2.0 / math::pow(taken.clone().count() as f64, 1.0 / d as f64);
                    let apart = if asked.len() < MANY_PENDING * d { f64::INFINITY } else { APART * spacing };
                    design::one_more(&mut self.rng, &self.domain, taken, apart)
                }
            };
            self.domain.to_user(&u, &mut x);
            if !self.known.admits(&self.domain, &mut x) {
                // Another one that does; the place that is known to do so if none is found.
                let other = self.known.sample(&self.domain, &mut self.rng);
                self.domain.to_user(&other.unwrap_or_else(|_| self.known.inside.clone()), &mut x);
                self.known.repair(&mut x);
            }
            // The start comes again in its design, to see whether there is noise.
            let again = self.state.run.is_around_start(&self.domain)
                && self.config().noise != Noise::None
                && self.state.run.now.members.iter().any(|&p| self.observations.all()[p].x == x)
                && self.state.pending.iter().all(|p| p.x != x);
            if again || !self.seen.contains(&x) {
                return Some(x);
            }
        }
        let new = region::unseen(problem!(self), &mut self.rng);
        self.spent |= new.is_none() && finite;
        let ends = self.spent && (self.is_exhausted() || self.is_to_be_repeated());
        if let Some((rng, design)) = before.filter(|_| ends) {
            // Nothing else is remembered of this, so that a state that was saved finds it out again.
            (self.rng, self.state.run.design) = (rng, design);
            return None;
        }
        Some(new.unwrap_or(x))
    }

    /// Whether every configuration of a finite space was suggested or told, none is queued, and none needs another evaluation.
    fn is_exhausted(&self) -> bool {
        self.state.queue.is_empty() && self.is_covered() && !self.has_noise() && self.doubted().is_none()
    }

    /// Whether every configuration of a finite space that is allowed was suggested or told.
    fn is_covered(&self) -> bool {
        match &self.known.listed {
            Some(listed) => listed.iter().all(|x| self.seen.contains(x)),
            None if self.spent => true,
            None => self.domain.configurations().is_some_and(|all| self.seen.len() as u64 >= all),
        }
    }

    /// With `noise = auto`, the best point of a space that is covered, unless equal repeats have shown exact values; and how often it was evaluated.
    fn doubted(&self) -> Option<(&Evaluation, usize)> {
        let best = self.best().filter(|_| self.config().noise == Noise::Auto && self.is_covered())?;
        let values = self.evaluations().iter().filter(|e| e.x == best.x).filter_map(|e| e.outcome.value());
        let (mut count, mut differ) = (0, false);
        for value in values {
            (count, differ) = (count + 1, differ || Some(value) != best.outcome.value());
        }
        (count == 1 || differ).then_some((best, count))
    }

    /// Whether that point is to be evaluated once more.
    fn is_to_be_repeated(&self) -> bool {
        !self.has_noise() && matches!(self.doubted(), Some((_, 1)))
    }

    /// Ends the local run and prepares the next.
    fn begin_next_run(&mut self, cause: RestartCause) {
        self.state.restarts.push(Restart { at_evaluation: self.observations.len(), cause });
        self.drop_model();
        let mut next = LocalRun::new(self.state.run.number + 1, &self.domain, &self.settings, &mut self.rng);
        next.now.noise = Noisy { best: None, ..self.state.run.now.noise.clone() };
        // The least violated may be one without a value.
        let best = self.observations.best().filter(|&p| self.observations.value(p).is_some());
        if let Some(best) = best.filter(|_| self.config().keep_best) {
            next.design.pop();
            next.place(best, true);
        }
        let bounds = self.state.bound.into_iter().chain(self.state.run.now.noise.best.map(|(bound, _)| bound));
        self.state.bound = bounds.reduce(f64::min);
        self.state.portfolio = std::mem::take(&mut self.state.portfolio).next(&self.observations);
        let over = std::mem::replace(&mut self.state.run, next);
        if over.started() && self.best().is_some_and(|best| best.run == over.number) {
            self.state.best_run = Some(over);
        }
    }

    /// Forgets the model; the next step makes it again.
    fn drop_model(&mut self) {
        self.work.reclaim(self.model.take());
    }

    /// The id of a point that is given out or told.
    fn name(&mut self, x: &[f64]) -> TrialId {
        self.seen.insert(x);
        self.state.next_id += 1;
        TrialId(self.state.next_id - 1)
    }

    /// Gives out a point.
    fn suggest(&mut self, x: Vec<f64>, run: usize) -> Suggestion {
        let id = self.name(&x);
        self.state.pending.push(Pending { id, x: x.clone(), run });
        Suggestion { id, x }
    }

    /// Records the result of a pending evaluation: a value or an [`Outcome`]. A value that is not finite is a failure.
    pub fn tell(&mut self, id: TrialId, outcome: impl Into<Outcome>) -> Result<(), TellError> {
        let position = self.pending_position(id)?;
        let outcome = self.checked(outcome.into())?;
        let Pending { id, x, run } = self.state.pending.remove(position);
        self.state.run.crowd = self.state.run.crowd.max(self.state.pending.len());
        self.record(Evaluation { id, x, outcome, run });
        Ok(())
    }

    /// Records that a pending evaluation failed. It counts against the budget and is never suggested again.
    pub fn fail(&mut self, id: TrialId) -> Result<(), TellError> {
        self.tell(id, Outcome::default())
    }

    /// Records the result of a point that was never suggested (a warm start), and returns its id. For a pending point use [`Optimizer::tell`].
    pub fn tell_point(&mut self, x: &[f64], outcome: impl Into<Outcome>) -> Result<TrialId, TellError> {
        self.domain.check(x)?;
        let outcome = self.checked(outcome.into())?;
        let x = self.domain.canonical(x);
        let (id, allowed) = (self.name(&x), self.known.allows(&x));
        self.record(Evaluation { id, x, outcome, run: self.state.run.number });
        if !allowed {
            self.observations.forbid(self.n_evaluations() - 1, |_| false);
        }
        Ok(id)
    }

    /// Like [`Optimizer::tell_point`], for an evaluation that failed.
    pub fn fail_point(&mut self, x: &[f64]) -> Result<TrialId, TellError> {
        self.tell_point(x, Outcome::default())
    }

    /// Withdraws a pending point that will never be told; it does not count against the budget.
    pub fn cancel(&mut self, id: TrialId) -> Result<(), TellError> {
        let position = self.pending_position(id)?;
        let withdrawn = self.state.pending.remove(position);
        self.state.cancelled.push(withdrawn.x);
        self.drop_model(); // it holds a fantasy there
        Ok(())
    }

    /// Corrects the result of an evaluation.
    pub fn revise(&mut self, id: TrialId, outcome: impl Into<Outcome>) -> Result<(), TellError> {
        if self.state.pending.iter().any(|p| p.id == id) {
            return Err(TellError::StillPending(id));
        }
        let position = self.observations.position(id).ok_or(TellError::UnknownId(id))?;
        let outcome = self.checked(outcome.into())?;
        self.state.portfolio = Portfolio::default(); // begun again when it is needed
        let (failed, fails_now) = (self.observations.value(position).is_none(), outcome.is_failed());
        self.observations.revise(position, outcome);
        self.work.products = Products::default();
        let run = self.observations.all()[position].run;
        if failed != fails_now && self.state.best_run.as_ref().is_some_and(|best| best.holds(position, run)) {
            self.state.best_run = None; // it names what succeeded and what failed
        }
        let changes_side = failed != fails_now && self.state.run.holds(position, run);
        let told = self.state.run.now.told;
        let nearby = forecast::may_rest_on(problem!(self), &self.state.run.now, position);
        let wide = nearby || self.has_noise(); // then far more than the members is looked at
        // What a failed evaluation measured is in the models of the constraints.
        let measured = self.config().constraints > 0 && self.state.run.failed.contains(&position);
        self.state.run.revised |=
            position < told && (changes_side || wide || measured || self.state.run.rests_on(position));
        if changes_side {
            self.state.run.place(position, !fails_now);
            self.drop_model(); // it may hold a fantasy of this point
        }
        Ok(())
    }

    /// Queues a point of the user, to be suggested before any other.
    pub fn enqueue(&mut self, x: &[f64]) -> Result<(), PointError> {
        self.domain.check(x)?;
        if !self.known.allows(x) {
            return Err(PointError::Violates);
        }
        self.state.queue.push_back(self.domain.canonical(x));
        // It takes the place of a design point that was not suggested yet.
        if self.state.run.number == 0 {
            self.state.run.design.pop();
        }
        Ok(())
    }

    /// Starts the search at these points, which are suggested first. If there is one, the rest of the first design lies around it, each point
    /// with one parameter changed by its `radius`, in user units. The default is 0.3 times the distance of the start from zero (with the option
    /// `noise` and in the preset `paper` the whole distance), but at least 1/2000 and at most 1/20 of each range; 1/200 where the start is zero.
    /// If a point was already suggested, these are simply suggested next.
    ///
    /// ```
    /// # use labcat::{Config, Domain, Optimizer};
    /// let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 10.0); 2])?, Config::default())?;
    /// optimizer.start_at(&[&[2.0, 3.0]], Some(&[0.5, 0.5]))?;
    /// assert_eq!(optimizer.ask()?.x, [2.0, 3.0]);
    /// assert!((optimizer.ask()?.x[0] - 2.0).abs() <= 0.5);
    /// # Ok::<(), labcat::Error>(())
    /// ```
    pub fn start_at(&mut self, points: &[&[f64]], radius: Option<&[f64]>) -> Result<(), Error> {
        let n = self.domain.parameters().len();
        if let Some(radius) = radius {
            let wrong = radius.iter().find(|r| !(r.is_finite() && **r > 0.0));
            if wrong.is_some() || radius.len() != n {
                let value = wrong.copied().unwrap_or(radius.len() as f64);
                return Err(Error::Radius { value, parameters: n });
            }
        }
        let begins = self.state.next_id == 0 && self.state.queue.is_empty();
        for x in points {
            self.enqueue(x)?;
        }
        let [start] = points else { return Ok(()) };
        if begins {
            // The first frame is as wide as the design, so that its points spread over the trust region.
            let reach = self.begin_around(start, radius).into_iter();
            let scale = reach.map(|reach| (reach / self.settings.region.beta).min(1.0));
            let frame = std::mem::take(&mut self.state.run.now.frame);
            self.state.run.now.frame = frame.with_scale(scale.map(|s| if s > 1e-9 { s } else { 1.0 }));
        }
        Ok(())
    }

    /// The design of the run lies around a point. Gives how far it reaches along each axis.
    fn begin_around(&mut self, start: &[f64], radius: Option<&[f64]>) -> Vec<f64> {
        // Under noise, smaller differences are not seen. The streams of `paper` stay as they were.
        let switches = &self.settings.switches;
        let near = switches.noise == Noise::None && switches.preset != Preset::Paper;
        let part = if near { design::PART_OF_START } else { 1.0 };
        let around = design::around(&mut self.rng, &self.domain, start, (radius, part));
        let u = self.domain.place(start);
        let nearest = |x: Vec<f64>| self.known.nearest(&self.domain, &self.domain.place(&x), &u);
        self.state.run.design = around.into_iter().filter_map(nearest).map(|x| self.domain.place(&x)).collect();
        let reach = |j: usize| self.state.run.design.iter().fold(0.0_f64, |most, v| most.max((v[j] - u[j]).abs()));
        let reach: Vec<f64> = (0..u.len()).map(reach).collect();
        let mut steps: Vec<f64> = reach.iter().copied().filter(|step| *step > 0.0).collect();
        self.state.run.radius = math::median(&mut steps).unwrap_or(0.0);
        reach
    }

    /// A restart with residuals has a design around the best point of its first one: a linear trend over the box leads into a known basin.
    fn begins_again(&mut self) -> bool {
        let (run, observations) = (&self.state.run, &self.observations);
        let first = run.number > 0 && run.radius == 0.0 && !run.started() && !self.domain.is_mixed();
        let best = run.best(observations).filter(|&p| first && !observations.residuals(p).is_empty());
        let Some(best) = best else { return false };
        self.begin_around(&self.observations.all()[best].x.clone(), None);
        let part = if self.config().noise == Noise::None { residuals::FINE } else { 1.0 };
        residuals::scale_design(&mut self.state.run, self.observations.unit(best), part);
        true
    }

    /// The points queued by [`Optimizer::enqueue`], the next one first.
    pub fn queued(&self) -> impl Iterator<Item = &[f64]> {
        self.state.queue.iter().map(Vec::as_slice)
    }

    /// Adds a pending point that was chosen elsewhere and is being evaluated, and returns its id. It replaces a point of the design that was
    /// not suggested yet, and counts against the budget only when it is told.
    pub fn adopt(&mut self, x: &[f64]) -> Result<TrialId, PointError> {
        self.domain.check(x)?;
        self.state.run.design.pop();
        let suggestion = self.suggest(self.domain.canonical(x), self.state.run.number);
        Ok(suggestion.id)
    }

    /// Ends the local run now; the next suggestion is the first of a new one.
    pub fn restart(&mut self) {
        self.state.converged = false;
        self.begin_next_run(RestartCause::Requested);
    }

    /// The outcome, if it has as many constraints and derivatives as it should.
    fn checked(&self, outcome: Outcome) -> Result<Outcome, TellError> {
        outcome.fits(self.config().constraints, self.domain.parameters().len())?;
        let got = outcome.residuals().len();
        let told = || self.evaluations().iter().map(|e| e.outcome.residuals().len()).find(|n| *n > 0);
        if got > 0 && self.config().direction == Direction::Maximize {
            return Err(TellError::MaximisedResiduals);
        }
        if let Some(expected) = (got > 0).then(told).flatten().filter(|n| *n != got) {
            return Err(TellError::Residuals { got, expected });
        }
        Ok(outcome)
    }

    fn pending_position(&self, id: TrialId) -> Result<usize, TellError> {
        self.state.pending.iter().position(|p| p.id == id).ok_or_else(|| match self.observations.position(id) {
            Some(_) => TellError::AlreadyTold(id),
            None => TellError::UnknownId(id),
        })
    }

    fn record(&mut self, evaluation: Evaluation) {
        let of_this_run = evaluation.run == self.state.run.number;
        let succeeded = !evaluation.outcome.is_failed();
        let position = self.observations.push(&self.domain, evaluation);
        if of_this_run {
            self.state.run.place(position, succeeded);
            if residuals::adapt_design(problem!(self), &mut self.state.run, position) {
                self.state.run.design.push(self.observations.unit(position).to_vec());
            }
        }
        self.state.portfolio.place(&self.domain, &self.observations, position);
        // The search of the reals and the survey need not have taken it in.
        let of_run = self.model.as_ref().is_some_and(|model| model.extent == Extent::Region);
        if !(of_this_run && succeeded && of_run) {
            self.drop_model(); // it holds a fantasy of this point
        }
    }

    /// The best evaluation so far.
    pub fn best(&self) -> Option<&Evaluation> {
        self.observations.best().map(|p| &self.observations.all()[p])
    }

    /// Every evaluation, in the order of the results.
    pub fn evaluations(&self) -> &[Evaluation] {
        self.observations.all()
    }

    /// The number of evaluations that were told, including failed ones.
    pub fn n_evaluations(&self) -> usize {
        self.observations.len()
    }

    /// The pending points, in the order in which they were suggested.
    pub fn pending(&self) -> impl Iterator<Item = (TrialId, &[f64])> {
        self.state.pending.iter().map(|p| (p.id, p.x.as_slice()))
    }

    /// The restarts so far, with their causes.
    pub fn restarts(&self) -> &[Restart] {
        &self.state.restarts
    }

    /// Why there are no more suggestions; `None` while there are.
    pub fn stop_reason(&self) -> Option<StopReason> {
        if self.settings.target.is_some_and(|target| self.has_met(target)) {
            return Some(StopReason::Target);
        }
        if self.observations.len() >= self.settings.budget {
            return Some(StopReason::Budget);
        }
        if self.state.pending.is_empty() && self.is_exhausted() {
            return Some(StopReason::Exhausted);
        }
        self.state.converged.then_some(StopReason::Tolerance)
    }

    /// Replaces the stopping criteria: a run that has ended may continue, and one that continues may end earlier.
    ///
    /// ```
    /// # use labcat::{Config, Domain, Optimizer, Preset};
    /// let mut config = Config::new(Preset::Default);
    /// config.budget = Some(1);
    /// let mut optimizer = Optimizer::new(Domain::new(&[(0.0, 1.0)])?, config)?;
    /// let first = optimizer.ask()?;
    /// optimizer.tell(first.id, 1.0)?;
    /// assert!(optimizer.ask().is_err());
    /// optimizer.set_stopping(Some(2), None, None)?;
    /// assert!(optimizer.ask().is_ok());
    /// # Ok::<(), labcat::Error>(())
    /// ```
    pub fn set_stopping(
        &mut self,
        budget: Option<usize>,
        target: Option<f64>,
        tolerance: Option<f64>,
    ) -> Result<(), ConfigError> {
        let config = Config { budget, target, tolerance, ..self.config().clone() };
        let settings = config.check_for(&self.domain)?;
        self.state.converged &= tolerance == self.config().tolerance;
        self.settings = settings;
        Ok(())
    }

    /// The domain.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.settings.switches
    }
}
