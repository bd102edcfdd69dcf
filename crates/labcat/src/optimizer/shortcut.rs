//! The shortcut: a linear or quadratic fit that forecasts far better than the model is followed to its minimum.

use super::model::Workspace;
use super::propose::{Choice, Problem};
use super::report::Origin;
use super::run::LocalRun;
use crate::frame::Outputs;
use crate::gp::Gp;
use crate::quadratic::Terms;

/// Where a fit has its minimum.
#[derive(Clone, Debug)]
pub(super) struct Shortcut {
    /// In the box.
    u: Vec<f64>,
    /// The value that the fit promises, smaller is better.
    value: f64,
}

/// Finds out whether a linear or quadratic fit of the other members would have forecast the newest one far better than the model,
/// and promises far more than its error; if so, where it has its minimum.
pub(super) fn find(
    problem: Problem<'_>,
    run: &LocalRun,
    gp: &Gp,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    let (switches, observations, members) = (&problem.settings.switches, problem.observations, &run.now.members);
    let (newest, above) = gp.surprise().filter(|_| switches.quadratic)?;
    let (n, range) = (gp.len(), outputs.range());
    let allowed = switches.quadratic_margin * (outputs.to_user(newest) - outputs.to_user(newest - above)).abs();
    let y = &mut work.linear;
    y.clear();
    y.extend(members.iter().filter_map(|&p| observations.value(p)).map(|v| (v - outputs.minimum()) / range));
    work.scratch.clear();
    work.scratch.extend_from_slice(y);
    work.scratch.sort_unstable_by(f64::total_cmp);
    let typical = work.scratch[n / 2];
    let (fit, x) = (&mut work.quadratic, gp.inputs());
    for terms in Terms::EACH {
        if fit.fit(terms, x, y, n - 1, typical) {
            let error = (fit.at_row(x, n - 1) - y[n - 1]).abs();
            if error * range <= allowed && fit.fit(terms, x, y, n, typical) {
                let lowest = fit.minimise(&run.now.frame, members.iter().map(|&p| observations.unit(p)));
                if error < switches.quadratic_margin * -lowest {
                    return Some(Shortcut { u: fit.minimiser.clone(), value: outputs.minimum() + lowest * range });
                }
            }
        }
    }
    None
}

/// Goes to the minimum of the fit: once, and not while others are on their way.
pub(super) fn follow(problem: Problem<'_>, shortcut: Shortcut) -> Option<Choice> {
    let mut x = vec![0.0; shortcut.u.len()];
    problem.domain.to_user(&shortcut.u, &mut x);
    if !problem.pending.is_empty() || problem.seen.contains(&x) {
        return None;
    }
    let predicted = problem.settings.switches.direction.orient(shortcut.value);
    Some(Choice { predicted, ..Choice::given(x, Origin::Quadratic) })
}
