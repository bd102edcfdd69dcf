//! `labcat retry`: runs failed evaluations again, once their cause is fixed.

use labcat::{Evaluation, Suggestion, TrialId};

use super::{Run, Task, load};
use crate::cli;
use crate::failure::Failure;
use crate::format::count;
use crate::paths::Paths;

/// Runs failed evaluations again. Those that succeed now replace their failure; nothing counts against the budget.
pub(crate) fn retry(args: &cli::Retry) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    if !paths.journal.exists() {
        return Err(paths.not_begun());
    }
    let mut run = Run::new(&paths, load(&paths)?, args.workers, args.json, "retry")?;
    if let Some(id) = args.ids.iter().find(|id| !matches!(run.session.trial(TrialId(**id)), Ok(Some(_)))) {
        return Err(run.session.absent(TrialId(*id)));
    }
    let chosen = chosen(args, run.session.optimizer.evaluations(), &paths)?;
    run.queue = chosen.into_iter().map(|evaluation| Suggestion { id: evaluation.id, x: evaluation.x }).collect();
    run.task = Task::Again;
    run.deadline = None;
    run.go()
}

fn chosen(args: &cli::Retry, told: &[Evaluation], paths: &Paths) -> Result<Vec<Evaluation>, Failure> {
    let failed =
        |evaluation: &&Evaluation| evaluation.outcome.is_failed() && evaluation.outcome.constraints().is_empty();
    if args.failed {
        return Ok(told.iter().filter(failed).cloned().collect());
    }
    if args.ids.is_empty() {
        return Err(Failure::usage(format!(
            "name the evaluations to run again, or write `labcat retry {} --failed` for all that failed ({})",
            paths.word(),
            told.iter().filter(failed).count()
        )));
    }
    let mut chosen: Vec<Evaluation> = Vec::new();
    for id in &args.ids {
        let found = told.iter().find(|evaluation| evaluation.id == TrialId(*id));
        match found {
            None => {
                return Err(Failure::usage(format!("evaluation {id} has not failed: it has no result yet")));
            }
            Some(evaluation) if !failed(&evaluation) => {
                return Err(Failure::usage(format!(
                    "evaluation {id} has not failed, it has a value; `labcat correct {} {id} VALUE` replaces it",
                    paths.word()
                )));
            }
            Some(evaluation) if chosen.iter().all(|other| other.id != evaluation.id) => chosen.push(evaluation.clone()),
            Some(_) => {}
        }
    }
    Ok(chosen)
}

/// `2 of 3 evaluations have a value now`.
pub(super) fn summary(succeeded: usize, run: usize) -> String {
    match run {
        0 => "no evaluation has failed: there is nothing to run again\n".to_owned(),
        _ => format!("{succeeded} of {} that had failed now have a value\n", count(run, "evaluation")),
    }
}
