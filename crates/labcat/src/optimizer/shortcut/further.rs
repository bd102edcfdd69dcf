//! A fit of the fourth degree, and where it has its lowest minimum.

use super::{MOST_COEFFICIENTS, NEAREST, NEWEST, Nearby, Shortcut, feasible, is_plain, noise};
use crate::frame::{Frame, Outputs};
use crate::optimizer::config::Settings;
use crate::optimizer::model::Workspace;
use crate::optimizer::propose::Problem;
use crate::optimizer::run::LocalRun;
use crate::quartic::{self, Quartic};
use crate::sqp;

/// It is tried so many times while as many observations come in as it takes.
const TRIES: usize = 16;

/// Its minimum is sought from the best point and from this many others, in so many steps each.
const STARTS: usize = 8;
const STEPS: usize = 100;

/// How many observations it takes with `others` on their way; 0 if there is none.
pub(super) fn most(settings: &Settings, d: usize, others: usize) -> usize {
    let count = quartic::count(d);
    let made = settings.switches.quadratic && settings.switches.quartic && others > 0;
    if made && count <= MOST_COEFFICIENTS { (NEAREST * count as f64) as usize } else { 0 }
}

/// Where it has its lowest minimum among the nearest observations, if it forecast each of the newest d of them far better than they
/// differ, and than it promises beyond the best and all that is on its way. So many coefficients take many observations; with others on their way these take little time.
pub(in crate::optimizer) fn look_further(
    problem: Problem<'_>,
    run: &LocalRun,
    outputs: &Outputs,
    work: &mut Workspace,
) -> Option<Shortcut> {
    let (observations, frame, margin) =
        (problem.observations, &run.now.frame, problem.settings.switches.quadratic_margin);
    let (d, most) = (frame.dim(), most(problem.settings, frame.dim(), run.now.others));
    let is_due = (observations.len() + problem.pending.len()).is_multiple_of(most.div_ceil(TRIES).max(2));
    if most == 0 || !is_due || !is_plain(problem) || noise::is_on(problem, run) {
        return None;
    }
    let n = work.nearby.find(observations, observations.len(), frame, (NEWEST * most, most), &mut work.scratch);
    if n < quartic::count(d) + d {
        return None;
    }
    work.nearby.order.sort_unstable_by_key(|(_, _, p)| *p);
    work.nearby.fill(observations, frame, (outputs.minimum(), outputs.range()), &mut work.scratch);
    let (Nearby { order, inputs, y, .. }, fit) = (&work.nearby, &mut work.quartic);
    work.scratch.clear();
    work.scratch.extend_from_slice(y);
    work.scratch.sort_unstable_by(f64::total_cmp);
    let typical = work.scratch[n / 2];
    if typical <= 0.0 || !fit.fit(inputs, y, n - d, typical) {
        return None;
    }
    let error = (n - d..n).map(|row| fit.error(inputs, y, row, typical)).fold(0.0, f64::max);
    if error > margin * typical || !fit.fit(inputs, y, n, typical) {
        return None;
    }
    let start = |k: usize| (0..d).map(|i| inputs[(k * n / STARTS, i)]).collect();
    let starts = std::iter::once(vec![0.0; d]).chain((0..STARTS).map(start));
    let (lowest, u) = minimise(fit, frame, starts, order.iter().map(|(_, _, p)| observations.unit(*p)))?;
    let best = fit.value(&vec![0.0; d]);
    let (mut place, mut x) = (vec![0.0; d], vec![0.0; d]);
    let on_its_way = problem.pending.iter().map(|pending| {
        problem.domain.to_unit(&pending.x, &mut place);
        frame.to_local(&place, &mut x);
        fit.value(&x)
    });
    let gain = on_its_way.fold(best, f64::min) - lowest;
    let (from, to) = (outputs.minimum(), outputs.minimum() - (best - lowest) * outputs.range());
    (error < margin * gain && to.is_finite()).then_some(Shortcut { u, from, to })
}

/// The lowest minimum found from some starts in a frame, over the smallest box around `points`: the value, and the place in the box.
fn minimise<'a>(
    fit: &Quartic,
    frame: &Frame,
    starts: impl Iterator<Item = Vec<f64>>,
    points: impl Iterator<Item = &'a [f64]>,
) -> Option<(f64, Vec<f64>)> {
    let within = feasible::around(frame, points);
    let descend = |start: Vec<f64>| sqp::minimise(fit, &within, &start, 1.0, STEPS).0;
    let (lowest, x) = starts.map(descend).map(|x| (fit.value(&x), x)).min_by(|a, b| a.0.total_cmp(&b.0))?;
    let u = (0..frame.dim()).map(|j| frame.to_box(&x, j).clamp(-1.0, 1.0)).collect();
    Some((lowest, u))
}
