//! `status` and `best`.

use std::io::{Write, stdout};
use std::path::Path;
use std::time::Duration;

use labcat::{Evaluation, Optimizer};
use serde_json::{Map, Value, json};

use super::export::trial_json;

use crate::best::{Found, with};
use crate::cli;
use crate::failure::Failure;
use crate::fit::StandardErrors;
use crate::format::{brief, count, date, json_text, last_lines, moment, number, people, printable, timestamp, word};
use crate::journal::{Correction, InHand, Job, Journal, Trial, claimed, holder, is_run, running};
use crate::paths::Paths;
use crate::study::{Constraints, Identity, Study, duration};

/// How many of the newest failures are shown.
const FAILURES_SHOWN: usize = 5;

/// Shows the best evaluation.
pub(crate) fn best(args: &cli::Best) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    let (optimizer, constraints) = (journal.optimizer()?, identity.constraints()?);
    let Some(found) = Found::of(&optimizer, &constraints) else {
        return Err(Failure::run(none_succeeded(&paths)));
    };
    let mut out = people();
    let told = optimizer.n_evaluations();
    if args.json {
        writeln!(out, "{}", json_text(&found_json(&found, &optimizer, &identity, &constraints)))?;
        return Ok(());
    }
    let best = &found.best;
    if best.violated.is_some() {
        writeln!(out, "no evaluation satisfies the constraints yet; this one violates them least")?;
    }
    match &found.recommended {
        Some(found) => writeln!(out, "recommended {} after {}", found.in_words(), count(told, "evaluation"))?,
        None => {
            let value = best.value().map_or_else(|| "missing".to_owned(), number);
            writeln!(out, "value {value} (evaluation {} of {told})", best.evaluation.id)?;
        }
    }
    let errors = StandardErrors::of(&optimizer).map(|errors| errors.by_name(&identity)).unwrap_or_default();
    for (name, value) in identity.named(found.x()) {
        match errors.iter().find(|(of, _)| *of == name) {
            Some((_, error)) => writeln!(out, "{name} = {value} ± {}", brief(*error, 2))?,
            None => writeln!(out, "{name} = {value}")?,
        }
    }
    if found.recommended.is_none() {
        for line in constraints.lines(best.evaluation.outcome.constraints()) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The best evaluation of a study; the inner error says why there is none.
pub(crate) fn best_json(paths: &Paths) -> Result<Result<Value, String>, Failure> {
    let (journal, identity) = Journal::of_begun_study(paths)?;
    let (optimizer, constraints) = (journal.optimizer()?, identity.constraints()?);
    let found = Found::of(&optimizer, &constraints).ok_or_else(|| none_succeeded(paths));
    Ok(found.map(|found| found_json(&found, &optimizer, &identity, &constraints)))
}

fn none_succeeded(paths: &Paths) -> String {
    format!("no evaluation of {} has succeeded yet, so there is no best one", paths.named().display())
}

fn found_json(found: &Found<'_>, optimizer: &Optimizer, identity: &Identity, constraints: &Constraints) -> Value {
    let (told, stop) = (optimizer.n_evaluations(), optimizer.stop_reason().map(|reason| reason.to_string()));
    let line = json!({"recommended": null, "id": null, "value": null, "x": null, "evaluations": told, "stop": stop});
    let line = with(line, found.as_json(identity, constraints));
    with(line, least_squares_json(optimizer, found.best.evaluation, identity))
}

/// The residuals of the best evaluation of a fit to data, and the standard errors of the parameters there.
fn least_squares_json(optimizer: &Optimizer, best: &Evaluation, identity: &Identity) -> Map<String, Value> {
    let residuals = best.outcome.residuals();
    if residuals.is_empty() {
        return Map::new();
    }
    let errors = StandardErrors::of(optimizer).map(|errors| errors.by_name(identity));
    let errors =
        errors.map(|errors| errors.into_iter().map(|(name, error)| (name, json!(error))).collect::<Map<_, _>>());
    Map::from_iter([("residuals".to_owned(), json!(residuals)), ("standard_errors".to_owned(), json!(errors))])
}

/// Shows how far the study is, or everything about one evaluation.
pub(crate) fn status(args: &cli::Status) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, identity) = Journal::of_begun_study(&paths)?;
    if let Some(id) = args.id {
        let trial = journal.trial(id)?.ok_or_else(|| journal.absent(id))?;
        let corrections = journal.corrections(id)?;
        return match args.json {
            true => one_as_json(&trial, &corrections, &identity),
            false => one_in_words(&trial, &corrections, &identity),
        };
    }
    let status = Status::of(&journal, &identity, &paths)?;
    match args.json {
        true => Ok(writeln!(stdout(), "{}", json_text(&status.as_json()))?),
        false => status.in_words(),
    }
}

/// How far a study is, and what it is.
pub(crate) fn status_json(paths: &Paths) -> Result<Value, Failure> {
    let (journal, identity) = Journal::of_begun_study(paths)?;
    let status = Status::of(&journal, &identity, paths)?;
    let (parameters, results) = (json!(identity.parameters), json!(status.constraints.results()));
    let what = Map::from_iter([("parameters".to_owned(), parameters), ("results".to_owned(), results)]);
    Ok(with(status.as_json(), what))
}

/// How far a study is.
struct Status<'a> {
    name: String,
    created: u64,
    identity: &'a Identity,
    constraints: Constraints,
    optimizer: Optimizer,
    told: Vec<Trial>,
    pending: Vec<Trial>,
    in_hand: Vec<InHand>,
    /// Jobs of which an end is expected.
    jobs: Vec<Job>,
    /// Who is changing the study at this moment.
    holder: Option<String>,
    /// What living `labcat worker`s have in hand.
    claimed: Vec<u64>,
    word: String,
}

impl Status<'_> {
    fn of<'a>(journal: &Journal, identity: &'a Identity, paths: &Paths) -> Result<Status<'a>, Failure> {
        let (claimed, pending) = (claimed(&paths.journal), journal.pending()?);
        let in_hand = running(&paths.journal).map(|by| match is_run(&by) {
            true => by,
            false => {
                // A worker that has just stored a value may still hold its claim on it beside the next one.
                let workers = claimed.iter().filter(|id| pending.iter().any(|trial| trial.id == **id)).count();
                format!("labcat worker: {}", count(workers.max(1), "worker"))
            }
        });
        let holder = in_hand.or_else(|| holder(&paths.lock));
        let mut optimizer = journal.optimizer()?;
        if !holder.as_deref().is_some_and(is_run) {
            with_limits_of_file(&mut optimizer, identity, paths);
        }
        Ok(Status {
            name: journal.name()?,
            created: journal.created()?,
            identity,
            constraints: identity.constraints()?,
            optimizer,
            told: journal.told()?,
            pending,
            in_hand: journal.in_hand()?,
            jobs: journal.open_jobs()?,
            holder,
            claimed,
            word: paths.word(),
        })
    }

    fn failed(&self) -> Vec<&Trial> {
        self.told.iter().filter(|trial| trial.is_failed()).collect()
    }

    /// How many evaluations meet the constraints.
    fn feasible(&self) -> usize {
        self.told.iter().filter(|trial| Constraints::is_met(trial.value, &trial.constraints) == Some(true)).count()
    }

    /// What became of a pending evaluation, and how long ago it was started.
    fn state(&self, id: u64) -> (&'static str, Option<f64>) {
        match self.in_hand.iter().find(|running| running.id == id) {
            None => ("asked", None),
            Some(running) if self.is_running(id) => ("running", Some((moment() - running.started).max(0.0))),
            Some(_) if self.job(id).is_some() => ("submitted", None),
            Some(_) => ("interrupted", None),
        }
    }

    /// Whether whoever began an evaluation still lives.
    fn is_running(&self, id: u64) -> bool {
        if self.claimed.is_empty() { self.holder.is_some() } else { self.claimed.contains(&id) }
    }

    /// The job of a pending evaluation, in words.
    fn job(&self, id: u64) -> Option<String> {
        let number = |number: &String| format!("job {number} of Slurm");
        let job = self.jobs.iter().find(|job| job.trial == id)?;
        Some(job.number.as_ref().map_or_else(|| "a job of Slurm".to_owned(), number))
    }

    fn host(&self, id: u64) -> Option<&str> {
        self.in_hand.iter().find(|running| running.id == id).map(|running| running.host.as_str())
    }

    /// Why evaluations failed, the commonest reason first.
    fn reasons(&self) -> Vec<(usize, &str)> {
        let mut reasons: Vec<(usize, &str)> = Vec::new();
        for trial in self.failed() {
            let why = reason(trial);
            match reasons.iter_mut().find(|(_, known)| *known == why) {
                Some((count, _)) => *count += 1,
                None => reasons.push((1, why)),
            }
        }
        reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        reasons
    }

    fn as_json(&self) -> Value {
        let optimizer = &self.optimizer;
        let pending = |trial: &Trial| {
            let (state, seconds) = self.state(trial.id);
            json!({
                "id": trial.id, "x": self.identity.by_name(&trial.x), "state": state, "seconds": seconds,
                "host": self.host(trial.id), "message": trial.message,
                "job": self.jobs.iter().find(|job| job.trial == trial.id).and_then(|job| job.number.clone()),
            })
        };
        let failed = |trial: &&Trial| {
            json!({
                "id": trial.id, "x": self.identity.by_name(&trial.x), "status": trial.status,
                "message": reason(trial), "seconds": trial.seconds,
            })
        };
        let mut line = json!({
            "study": self.name, "direction": self.identity.direction, "created": self.created,
            "evaluations": self.told.len(), "budget": optimizer.config().budget, "failures": self.failed().len(),
            "restarts": optimizer.restarts(), "stop": optimizer.stop_reason().map(|reason| reason.to_string()),
            "value": null, "x": null, "recommended": null,
            "in_use_by": self.holder,
            "pending": self.pending.iter().map(pending).collect::<Vec<_>>(),
            "failed": self.failed().iter().map(failed).collect::<Vec<_>>(),
        });
        if self.constraints.is_measured() {
            line["meet_constraints"] = self.feasible().into();
        }
        let found = Found::of(optimizer, &self.constraints);
        let mut found = found.map_or_else(Default::default, |found| found.as_json(self.identity, &self.constraints));
        found.remove("id");
        with(line, found)
    }

    fn in_words(&self) -> Result<(), Failure> {
        let mut out = people();
        let optimizer = &self.optimizer;
        writeln!(out, "{}: {}, begun {}", self.name, self.identity.direction, date(self.created))?;
        let budget = optimizer.config().budget.map_or_else(String::new, |budget| format!(" of {budget}"));
        let (told, failed) = (self.told.len(), self.failed().len());
        writeln!(out, "evaluations  {told}{budget}, {failed} failed, {} pending", self.pending.len())?;
        if self.constraints.is_measured() {
            let all = self.constraints.of_results().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
            writeln!(out, "constraints  {all} satisfied by {}", count(self.feasible(), "evaluation"))?;
        }
        match &self.holder {
            Some(holder) => writeln!(out, "in use by    {}", printable(holder))?,
            None if !self.in_hand.is_empty() => {
                let count = count(self.in_hand.len(), "evaluation");
                writeln!(
                    out,
                    "not running  the last run ended with {count} unfinished; `labcat run {}` continues",
                    self.word
                )?;
            }
            None => {}
        }
        if let Some(found) = Found::of(optimizer, &self.constraints) {
            let at = self.identity.in_brief(found.x(), 6);
            match &found.recommended {
                Some(found) => writeln!(out, "recommended  {} at {at}", found.in_words())?,
                None => {
                    let (title, value, id) = (found.title(), found.in_words(number), found.best.evaluation.id);
                    writeln!(out, "{title:<12} {value} at {at} (evaluation {id})")?;
                }
            }
        }
        if let Some(newest) = optimizer.restarts().last() {
            let restarts = count(optimizer.restarts().len(), "restart");
            let at = count(newest.at_evaluation, "evaluation");
            writeln!(out, "restarts     {restarts}, the newest after {at}: {}", newest.cause)?;
        }
        if let Some(reason) = optimizer.stop_reason() {
            writeln!(out, "stopped      {reason}")?;
        }
        self.list_pending(&mut out)?;
        self.list_failures(&mut out)
    }

    fn list_pending(&self, out: &mut impl Write) -> Result<(), Failure> {
        if !self.pending.is_empty() {
            writeln!(out, "\npending")?;
        }
        for trial in &self.pending {
            let values = self.identity.named(&trial.x).into_iter();
            let values: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
            let state = match self.state(trial.id) {
                ("running", Some(seconds)) => {
                    let span = duration::show(Duration::try_from_secs_f64(seconds).unwrap_or_default());
                    match self.job(trial.id) {
                        Some(job) => format!("  ({job}, submitted {span} ago)"),
                        None => format!("  (running for {span})"),
                    }
                }
                ("submitted", _) => {
                    format!("  ({}; the next run finds it again)", self.job(trial.id).unwrap_or_default())
                }
                ("interrupted", _) => "  (interrupted; the next run repeats it)".to_owned(),
                _ => String::new(),
            };
            let attempt = trial.message.as_ref().map_or_else(String::new, |why| format!("  (last attempt: {why})"));
            writeln!(out, "  {}: {}{state}{}", trial.id, values.join("  "), printable(&attempt))?;
        }
        Ok(())
    }

    fn list_failures(&self, out: &mut impl Write) -> Result<(), Failure> {
        let (failed, reasons) = (self.failed(), self.reasons());
        if failed.is_empty() {
            return Ok(());
        }
        if failed.len() > FAILURES_SHOWN {
            writeln!(out, "\nwhy they failed")?;
            for (count, why) in reasons.iter().take(FAILURES_SHOWN) {
                writeln!(out, "  {count} times: {}", printable(why))?;
            }
        }
        let word = &self.word;
        writeln!(
            out,
            "\nnewest failures (`labcat status {word} ID` shows all of the output, `labcat retry {word} ID` tries again)"
        )?;
        for trial in failed.iter().rev().take(FAILURES_SHOWN) {
            writeln!(out, "  {}: {}  at {}", trial.id, printable(reason(trial)), self.identity.in_brief(&trial.x, 5))?;
            for line in last_lines(&trial.stdout, &trial.stderr) {
                writeln!(out, "     | {}", printable(line))?;
            }
        }
        Ok(())
    }
}

/// The study may have been edited since the last run: its limits are those that the next one keeps.
fn with_limits_of_file(optimizer: &mut Optimizer, identity: &Identity, paths: &Paths) {
    let study = paths.study_file().ok().flatten().and_then(|file| Study::load(file).ok());
    if let Some(study) = study.filter(|study| study.identity().difference(identity).is_none()) {
        // What the file says was checked when it was read.
        let _ = optimizer.set_stopping(study.config.budget, study.config.target, study.config.tolerance);
    }
}

/// Why an evaluation failed.
fn reason(trial: &Trial) -> &str {
    match (&trial.message, trial.source.as_deref()) {
        (Some(message), _) => message,
        (None, Some("hand")) => "told by hand that it failed",
        (None, Some("import")) => "imported as a failure",
        (None, _) => "no value",
    }
}

fn one_as_json(trial: &Trial, corrections: &[Correction], identity: &Identity) -> Result<(), Failure> {
    let mut line = trial_json(trial, identity, &identity.constraints()?);
    let replaced = |correction: &Correction| {
        let Correction { was, became, at, cause } = correction;
        json!({"was": was, "became": became, "at": timestamp(*at as f64), "cause": cause})
    };
    line["corrections"] = corrections.iter().map(replaced).collect();
    writeln!(stdout(), "{}", json_text(&line))?;
    Ok(())
}

fn one_in_words(trial: &Trial, corrections: &[Correction], identity: &Identity) -> Result<(), Failure> {
    let constraints = identity.constraints()?;
    let mut out = people();
    writeln!(out, "evaluation {}: {}", trial.id, trial.status)?;
    for (name, value) in identity.named(&trial.x) {
        writeln!(out, "{name} = {value}")?;
    }
    let run = trial.execution.as_ref();
    let beside = trial.result.as_ref().filter(|result| result.as_object().is_some_and(|fields| fields.len() > 1));
    let facts = [
        ("value", trial.value.map(number)),
        ("residuals", (!trial.residuals.is_empty()).then(|| trial.residuals.len().to_string())),
        ("result", beside.map(ToString::to_string)),
        ("constraints", (!trial.constraints.is_empty()).then(|| constraints.lines(&trial.constraints).join("; "))),
        ("why", trial.value.is_none().then(|| trial.message.clone()).flatten()),
        ("seconds", trial.seconds.map(number)),
        ("attempts", (trial.attempts > 1).then(|| trial.attempts.to_string())),
        ("note", trial.note.clone()),
        ("told by", trial.source.clone()),
        ("command", run.map(|run| run.command.iter().map(|part| word(Path::new(part))).collect::<Vec<_>>().join(" "))),
        ("directory", run.map(|run| run.directory.clone())),
        ("host", run.map(|run| run.host.clone())),
        ("exit status", run.and_then(|run| run.exit).map(|exit| exit.to_string())),
        ("signal", run.and_then(|run| run.signal).map(|signal| signal.to_string())),
        ("started", run.map(|run| timestamp(run.started))),
        ("ended", run.map(|run| timestamp(run.ended))),
    ];
    for (what, fact) in facts {
        if let Some(fact) = fact {
            writeln!(out, "{what}: {}", printable(&fact))?;
        }
    }
    for Correction { was, became, at, cause } in corrections {
        let shown = |value: &Option<f64>| value.map_or_else(|| "failed".to_owned(), number);
        writeln!(out, "corrected: from {} to {}, {} by {cause}", shown(was), shown(became), date(*at))?;
    }
    for (what, text) in [("standard output", &trial.stdout), ("standard error", &trial.stderr)] {
        if !text.is_empty() {
            writeln!(out, "--- {what}\n{}", printable(text.trim_end_matches('\n')))?;
        }
    }
    Ok(())
}
