//! Which search has the turn: the local run; in a space with integers or categories also the search of the reals of the best configuration, and,
//! there or with a global search, a survey of the whole box. The survey finds the labels and the basin; the local runs find the exact minimum.

use super::config::{Scope, Settings};
use super::dataset::Output;
use super::merit::Merit;
use super::noise::Noisy;
use super::problem::{Choice, Problem};
use super::propose::{Tools, propose};
use super::region;
use super::report::RestartCause;
use super::run::{Extent, LocalRun};
use crate::domain::{Axis, Domain};
use crate::frame::Frame;
use crate::linalg;
use crate::observations::Observations;

/// Evaluations per coordinate of the box before a local search begins, where there is a survey.
const FIRST: usize = 2;
/// The most observations of the survey's model, if the local runs do not keep more.
const KEEP: usize = 200;
/// Of observations with the same integers and categories, and reals as near as this in units of the box, a survey has the better one.
const ALIKE: f64 = 0.02;

/// A run besides the local one.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Entry {
    pub(super) run: LocalRun,
    /// Whether the newest step was one of this run, and how many evaluations were told when that was decided.
    leads: bool,
    decided_at: usize,
    /// Whether it has converged.
    over: bool,
}

impl Entry {
    fn new(run: LocalRun, extent: Extent) -> Box<Self> {
        Box::new(Self { run: LocalRun { extent, ..run }, leads: false, decided_at: 0, over: false })
    }

    fn best(&self, observations: &Observations) -> f64 {
        self.run.now.members.iter().filter_map(|&p| observations.feasible_value(p)).fold(f64::INFINITY, f64::min)
    }
}

/// The order in which the local run and those beside it have the turn.
const LOCAL: usize = 0;
const REALS: usize = 1;
const SURVEY: usize = 2;

/// Whether the newest step was one of a run that there is.
fn leads(entry: &Option<Box<Entry>>) -> bool {
    entry.as_ref().is_some_and(|entry| entry.leads)
}

/// The runs besides the local one.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub(super) struct Portfolio {
    /// The reals of the best integers and categories.
    pub(super) reals: Option<Box<Entry>>,
    /// Those of the best point of all, begun beside a local run that is over: it takes every other step until it has converged.
    pub(super) kept: Option<Box<Entry>>,
    /// The whole box.
    pub(super) survey: Option<Box<Entry>>,
}

impl Portfolio {
    /// Every run there is.
    #[cfg(feature = "serde")]
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        [&self.reals, &self.kept, &self.survey].into_iter().flatten().map(|entry| &**entry)
    }

    /// Whether the search of the reals has converged.
    fn reals_over(&self, domain: &Domain) -> bool {
        region::count_reals(domain) == 0 || self.reals.as_ref().is_some_and(|s| s.over)
    }

    /// The number of the run that the newest step belongs to, if it is that of the best point of all.
    pub(super) fn led_by_kept(&self) -> Option<usize> {
        self.kept.as_ref().filter(|kept| kept.leads).map(|kept| kept.run.number)
    }

    /// Takes an evaluation into the runs that it belongs to.
    pub(super) fn place(&mut self, domain: &Domain, observations: &Observations, position: usize) {
        if let Some(survey) = &mut self.survey {
            place_in_survey(domain, observations, &mut survey.run, position);
        }
        let of = observations.all()[position].run;
        for entry in self.reals.iter_mut().chain(&mut self.kept).filter(|entry| entry.run.number == of) {
            let Some(&first) = entry.run.now.members.first() else { continue };
            if domain.same_choices(observations.unit(first), observations.unit(position)) {
                entry.over &= !observations.feasible_value(position).is_some_and(|v| v < entry.best(observations));
                entry.run.place(position, observations.value(position).is_some());
            }
        }
    }

    /// What stays when the local run is over: the search of the reals at the best point of all, while it has not converged, and the survey.
    pub(super) fn next(mut self, observations: &Observations) -> Self {
        let best = observations.best().and_then(|p| observations.value(p));
        let mut left = self.reals.take().into_iter().chain(self.kept.take());
        let mut kept = left.find(|entry| !entry.over && Some(entry.best(observations)) == best);
        kept.iter_mut().for_each(|kept| kept.leads = false);
        Self { reals: None, kept, survey: self.survey }
    }

    /// The next point: of the search of the reals, the survey and the local run in turn, each for as long as it finds better points.
    pub(super) fn propose(
        &mut self,
        problem: Problem<'_>,
        run: &mut LocalRun,
        tools: &mut Tools<'_>,
    ) -> Result<Choice, RestartCause> {
        if !problem.domain.is_mixed() && problem.settings.switches.search == Scope::Local {
            return propose(problem, run, tools, Extent::Region);
        }
        if let Some(choice) = self.propose_kept(problem, run, tools) {
            return Ok(choice);
        }
        self.decide(problem, run);
        if let Some(reals) = self.reals.as_mut().filter(|reals| reals.leads) {
            let settings = settings_of_reals(problem);
            if reals.run.now.members.len() >= settings.initial_points.min(2 + region::count_reals(problem.domain)) {
                let step = propose(Problem { settings: &settings, ..problem }, &mut reals.run, tools, Extent::Reals);
                (reals.over, reals.leads) = (step.is_err(), step.is_ok());
                if step.is_ok() {
                    return step;
                }
            }
        }
        if let Some(survey) = self.survey.as_mut().filter(|survey| survey.leads) {
            let mut settings = problem.settings.clone();
            settings.rotation = None;
            settings.region.keep = settings.region.keep.max(KEEP);
            let wide = Problem { settings: &settings, ends: false, ..problem };
            if let Ok(choice) = propose(wide, &mut survey.run, tools, Extent::Box) {
                return Ok(choice);
            }
        }
        // While the search of the reals has too few members, the local run moves the reals for it.
        let extent = if leads(&self.reals) { Extent::Reals } else { Extent::Region };
        propose(Problem { reals_over: self.reals_over(problem.domain), ..problem }, run, tools, extent)
    }

    /// A step of the search of the reals at the best point of all, if it is its turn. It ends where it converges, or another point is better.
    fn propose_kept(&mut self, problem: Problem<'_>, run: &LocalRun, tools: &mut Tools<'_>) -> Option<Choice> {
        let mut kept = self.kept.take()?;
        tools.work.reclaim(tools.model.take()); // it may be another's
        let observations = problem.observations;
        let better = |p: &usize| observations.value(*p).is_some_and(|v| v < kept.best(observations));
        if run.now.members.iter().any(better) {
            return None;
        }
        if kept.decided_at != observations.len() {
            (kept.leads, kept.decided_at) = (!kept.leads, observations.len());
        }
        if !kept.leads {
            self.kept = Some(kept);
            return None;
        }
        let settings = settings_of_reals(problem);
        let step = propose(Problem { settings: &settings, ..problem }, &mut kept.run, tools, Extent::Reals);
        if step.is_err() {
            tools.work.reclaim(tools.model.take());
        } else {
            self.kept = Some(kept);
        }
        step.ok()
    }

    /// Whose turn it is: after a success as before, after a failure the next of the local run, the reals and the survey. A survey comes first,
    /// until enough is known for a local search. Under noise the best value is no guide, and there is the local run alone.
    fn decide(&mut self, problem: Problem<'_>, run: &LocalRun) {
        let Problem { domain, observations, .. } = problem;
        if problem.is_noisy(run, Output::Objective) {
            *self = Self::default();
            return;
        }
        let merit = Merit::of_told(problem, run);
        let by_merit = |p: &&usize| merit.told(problem, **p).unwrap_or(f64::INFINITY);
        let best = run.now.members.iter().min_by(|a, b| by_merit(a).total_cmp(&by_merit(b)));
        let Some(&best) = best else { return };
        self.begin_survey(problem);
        if self.reals.iter().chain(&self.survey).any(|s| s.decided_at == observations.len()) {
            return;
        }
        let improved = run.now.members.last() == Some(&best);
        let before = [false, leads(&self.reals), leads(&self.survey)].iter().position(|leads| *leads);
        self.reals =
            (domain.is_mixed() && region::count_reals(domain) > 0).then(|| self.reals_around(problem, run, best));
        let open = [true, self.reals.as_ref().is_some_and(|s| !s.over), self.survey.is_some()];
        let survey_first = open[SURVEY] && run.number == 0 && observations.len() <= FIRST * domain.dim();
        let next = if survey_first { SURVEY } else { before.unwrap_or(LOCAL) + usize::from(!improved) };
        let turn = (next..).map(|turn| turn % open.len()).find(|&turn| open[turn]);
        for (entry, of) in [(&mut self.reals, REALS), (&mut self.survey, SURVEY)] {
            entry.iter_mut().for_each(|s| (s.leads, s.decided_at) = (turn == Some(of), observations.len()));
        }
    }

    /// The search of the reals around a point: the one there is, if it has the same integers and categories.
    fn reals_around(&mut self, problem: Problem<'_>, run: &LocalRun, best: usize) -> Box<Entry> {
        let Problem { domain, observations, .. } = problem;
        let alike = |p: &usize| domain.same_choices(observations.unit(*p), observations.unit(best));
        let current = self.reals.take().filter(|s| s.run.now.members.first().is_some_and(alike));
        current.unwrap_or_else(|| {
            let members: Vec<usize> = run.now.members.iter().copied().filter(|p| alike(p)).collect();
            // Where integers turn with the reals, the reals alone need axes of their own.
            let mut frame = run.now.frame.clone();
            if domain.axes().contains(&Axis::Whole) {
                frame = Frame::of_box(domain.dim()).with_scale(run.now.frame.scale().iter().copied());
            }
            let alone = LocalRun::with(run.number, members, frame, run.now.beta, run.now.noise.clone());
            Entry::new(alone, Extent::Reals)
        })
    }

    /// Begins the survey where there is to be one, with what was told last.
    fn begin_survey(&mut self, problem: Problem<'_>) {
        let Problem { domain, observations, .. } = problem;
        let has_more = domain.axes().iter().any(|axis| *axis != Axis::Choice);
        let wanted = domain.is_mixed() || problem.settings.switches.search == Scope::Global;
        if !(wanted && has_more) || region::is_small(domain) {
            self.survey = None;
        } else if self.survey.is_none() {
            let mut all = LocalRun::with(0, Vec::new(), Frame::of_box(domain.dim()), 1.0, Noisy::default());
            for position in observations.len().saturating_sub(KEEP)..observations.len() {
                place_in_survey(domain, observations, &mut all, position);
            }
            self.survey = Some(Entry::new(all, Extent::Box));
        }
    }
}

/// Takes an evaluation into a survey, unless a better one is next to it.
fn place_in_survey(domain: &Domain, observations: &Observations, survey: &mut LocalRun, position: usize) {
    let (value, u) = (observations.value(position), observations.unit(position));
    let alike = |p: &usize| {
        let v = observations.unit(*p);
        domain.same_choices(u, v) && linalg::is_near(u, v, ALIKE)
    };
    if let Some(other) = survey.now.members.iter().copied().filter(|_| value.is_some()).find(alike) {
        if observations.value(other) <= value {
            return;
        }
        survey.now.members.retain(|&p| p != other);
    }
    survey.place(position, value.is_some());
}

/// The settings for the search of the reals alone.
fn settings_of_reals(problem: Problem<'_>) -> Settings {
    let settings = problem.settings;
    let alone = settings.switches.check(region::count_reals(problem.domain));
    alone.map_or_else(|_| settings.clone(), |s| Settings { budget: settings.budget, ..s })
}

#[cfg(test)]
mod tests;
