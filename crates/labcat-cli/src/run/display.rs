//! The output of a run: a live display on a terminal, plain lines elsewhere, JSON events for machines.

use std::io::{self, IsTerminal, Write, stderr, stdout};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use labcat::{Restart, TrialId};
use serde_json::{Value, json};

use super::retry;
use crate::best::{Found, measured_json, with};
use crate::failure::Failure;
use crate::format::{brief, complain, count, json_text, last_lines, number, printable, shortened, stopped_by};
use crate::journal::Record;
use crate::paths::Paths;
use crate::session::Session;
use crate::study::{Study, duration};

/// Something that happened, after it has become durable.
pub(super) enum Event<'a> {
    Begin {
        /// What is to be run again, and what that is.
        pending: usize,
        what: &'static str,
        workers: usize,
    },
    Suggested {
        id: TrialId,
        x: &'a [f64],
    },
    Evaluated(&'a Told),
    Restarted(&'a Restart),
    End {
        reason: &'a str,
        paths: &'a Paths,
    },
    /// The run failed or was interrupted; people read the failure itself.
    Broken {
        failure: &'a Failure,
        stop: &'a str,
    },
}

/// An evaluation that was told.
pub(super) struct Told {
    pub(super) id: TrialId,
    pub(super) x: Vec<f64>,
    pub(super) record: Box<Record>,
    pub(super) improved: bool,
}

/// One of three ways to show a run, and what it has shown so far.
pub(super) struct Display {
    manner: Manner,
    default_budget: bool,
    began: Instant,
    /// Evaluations told before this run.
    before: usize,
    /// Evaluations of this run that gave a value, and that did not.
    succeeded: usize,
    failed: usize,
    /// Why standard output cannot be written, other than that nobody reads it.
    trouble: Option<io::Error>,
    /// What the live display says was found, of how many evaluations, and when it may be asked for again.
    found: (String, usize, Instant),
}

/// A recommendation takes its time: the live display asks for it so rarely that this share of the time is not exceeded.
const SHARE: u32 = 20;

enum Manner {
    Live(ProgressBar),
    Lines,
    Json,
}

impl Display {
    pub(super) fn new(json: bool, study: &Study, session: &Session) -> Display {
        let manner = match (json, stderr().is_terminal()) {
            (true, _) => Manner::Json,
            (false, true) => Manner::Live(bar(&session.name, session.optimizer.config().budget)),
            (false, false) => Manner::Lines,
        };
        Display {
            manner,
            default_budget: study.default_budget,
            began: Instant::now(),
            before: session.optimizer.n_evaluations(),
            succeeded: 0,
            failed: 0,
            trouble: None,
            found: ("no value yet".to_owned(), 0, Instant::now()),
        }
    }

    pub(super) fn show(&mut self, event: &Event<'_>, session: &Session) {
        if let Event::Evaluated(told) = event {
            let count = if told.record.reading.is_some() { &mut self.succeeded } else { &mut self.failed };
            *count += 1;
        }
        match &self.manner {
            Manner::Json => {
                let line = format!("{}\n", json_text(&self.json(event, session)));
                self.print(&line);
            }
            Manner::Lines => {
                if let Some(line) = self.line(event, session) {
                    complain(&line);
                }
            }
            Manner::Live(bar) => {
                let succeeded = matches!(event, Event::Evaluated(told) if told.record.reading.is_some());
                if let Some(line) = self.line(event, session).filter(|_| !succeeded) {
                    bar.println(printable(&line));
                }
            }
        }
        if let (Event::End { reason, paths }, Manner::Lines | Manner::Live(_)) = (event, &self.manner) {
            let summary = self.summary(reason, paths, session);
            self.print(&printable(&summary));
        }
    }

    /// The end of a retry.
    pub(super) fn after_retry(&mut self, paths: &Paths, session: &Session) -> Result<(), Failure> {
        let (succeeded, run) = (self.succeeded, self.succeeded + self.failed);
        let text = match self.manner {
            Manner::Json => format!("{}\n", json_text(&self.end("retried", None, session))),
            Manner::Lines | Manner::Live(_) => retry::summary(succeeded, run),
        };
        self.print(&text);
        match succeeded == run {
            true => Ok(()),
            false => Err(Failure::run(format!(
                "{} failed again; `labcat status {}` shows what the command printed",
                count(run - succeeded, "evaluation"),
                paths.word()
            ))),
        }
    }

    /// Writes to standard output. A reader that went away does not stop the study; a full disk does not either, but the
    /// run will not end well.
    fn print(&mut self, text: &str) {
        let mut out = stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => self.trouble = Some(error),
            _ => {}
        }
    }

    /// Why something that was to be printed is missing.
    pub(super) fn trouble(&self) -> Option<&io::Error> {
        self.trouble.as_ref()
    }

    /// A message outside the sequence of events.
    pub(super) fn note(&self, text: &str) {
        match &self.manner {
            Manner::Live(bar) => bar.println(printable(text)),
            Manner::Lines | Manner::Json => complain(text),
        }
    }

    /// Brings the live display up to date.
    pub(super) fn tick(&mut self, session: &Session, running: usize) {
        let Manner::Live(bar) = &self.manner else { return };
        let optimizer = &session.optimizer;
        let (_, known, next) = self.found;
        if known != optimizer.n_evaluations() && Instant::now() >= next {
            let began = Instant::now();
            self.found = (found(session), optimizer.n_evaluations(), Instant::now() + SHARE * began.elapsed());
        }
        let mut facts = vec![format!("{running} running"), format!("{} failed", session.failures())];
        facts.push(count(optimizer.restarts().len(), "restart"));
        facts.extend(self.left(session).map(|left| format!("{} left", duration::show(left))));
        bar.set_position(optimizer.n_evaluations() as u64);
        bar.set_message(printable(&format!("{}\n{}", self.found.0, facts.join(" · "))).into_owned());
    }

    /// Takes the live display away.
    pub(super) fn close(&self) {
        if let Manner::Live(bar) = &self.manner {
            bar.finish_and_clear();
        }
    }

    /// The time the rest of the budget will take at the pace so far.
    fn left(&self, session: &Session) -> Option<Duration> {
        let told = session.optimizer.n_evaluations();
        let done = told.checked_sub(self.before).filter(|done| *done > 0)?;
        let rest = session.optimizer.config().budget?.saturating_sub(told);
        Some(self.began.elapsed().mul_f64(rest as f64 / done as f64))
    }

    fn line(&self, event: &Event<'_>, session: &Session) -> Option<String> {
        Some(match event {
            Event::Begin { pending, what, workers } => self.beginning(*pending, what, *workers, session),
            Event::Suggested { .. } | Event::End { .. } | Event::Broken { .. } => return None,
            Event::Evaluated(told) => evaluated_line(told, session),
            Event::Restarted(restart) => {
                format!("restart after {}: {}", count(restart.at_evaluation, "evaluation"), restart.cause)
            }
        })
    }

    fn beginning(&self, pending: usize, what: &str, workers: usize, session: &Session) -> String {
        let mut text = match self.before {
            0 => format!("{}: starting", session.name),
            n => format!("{}: resuming after {}", session.name, count(n, "evaluation")),
        };
        if pending > 0 {
            text += &format!(", {} to be run again", count(pending, what));
        }
        if let Some(budget) = session.optimizer.config().budget {
            text += &format!(", budget {budget}");
            if self.default_budget {
                text += " (200 per parameter, as the study sets no limit)";
            }
        }
        text + &format!(", {}", count(workers, "worker"))
    }

    fn summary(&self, reason: &str, paths: &Paths, session: &Session) -> String {
        let optimizer = &session.optimizer;
        // Set below what was evaluated before, the budget is worth telling.
        let less = optimizer.config().budget.filter(|budget| *budget < optimizer.n_evaluations() && reason == "budget");
        let reason = less.map_or_else(|| stopped_by(reason).to_owned(), |budget| format!("a {reason} of {budget}"));
        let mut text = format!(
            "stopped by {reason} after {} ({} failed, {}), {} in this run\n",
            count(optimizer.n_evaluations(), "evaluation"),
            session.failures(),
            count(optimizer.restarts().len(), "restart"),
            duration::show(self.began.elapsed()),
        );
        if let Some(found) = Found::of(optimizer, &session.constraints) {
            let (id, best) = (found.best.evaluation.id, &found.best);
            text += &match (&best.violated, &found.recommended) {
                (None, Some(found)) => format!("recommended {}\n", found.in_words()),
                (None, None) => format!("best value {} (evaluation {id})\n", best.in_words(number)),
                (Some(_), _) => format!(
                    "no evaluation satisfies the constraints; the least infeasible: {} (evaluation {id})\n",
                    best.in_words(number)
                ),
            };
            for (name, value) in session.identity.named(found.x()) {
                text += &format!("  {name} = {value}\n");
            }
        }
        text + &format!("to write a report: labcat report {}\n", paths.word())
    }

    fn json(&self, event: &Event<'_>, session: &Session) -> Value {
        let optimizer = &session.optimizer;
        match event {
            Event::Begin { pending, workers, .. } => json!({
                "event": "begin", "study": session.name, "evaluations": self.before, "pending": pending,
                "budget": optimizer.config().budget, "workers": workers,
            }),
            Event::Suggested { id, x } => json!({"event": "suggestion", "id": id.0, "x": session.by_name(x)}),
            Event::Evaluated(told) => evaluated_json(told, session),
            Event::Restarted(restart) => json!({
                "event": "restart", "at_evaluation": restart.at_evaluation, "cause": restart.cause,
            }),
            Event::End { reason, .. } => self.end(reason, None, session),
            Event::Broken { failure, stop } => self.end(stop, Some(&failure.message), session),
        }
    }

    fn end(&self, reason: &str, message: Option<&str>, session: &Session) -> Value {
        let optimizer = &session.optimizer;
        let end = json!({
            "event": "end", "stop": reason, "message": message, "evaluations": optimizer.n_evaluations(),
            "failures": session.failures(), "restarts": optimizer.restarts().len(),
            "seconds": self.began.elapsed().as_secs_f64(), "value": null, "x": null,
        });
        let found = Found::of(optimizer, &session.constraints);
        with(end, found.map_or_else(Default::default, |found| found.as_json(&session.identity, &session.constraints)))
    }
}

/// What was found so far, in one line.
fn found(session: &Session) -> String {
    match Found::of(&session.optimizer, &session.constraints) {
        Some(found) => {
            let (value, at) = (found.in_words(|value| brief(value, 6)), session.identity.in_brief(found.x(), 5));
            format!("{} {value}  at {at}", found.title())
        }
        None => "no value yet".to_owned(),
    }
}

/// A line about an evaluation that was told. Under noise no draw is called the best.
pub(super) fn evaluated_line(told: &Told, session: &Session) -> String {
    let Told { id, x, record, .. } = told;
    let at = session.identity.in_brief(x, 5);
    let improved = told.improved && !session.optimizer.has_noise();
    match (record.value(), session.constraints.violation(&record.constraints)) {
        (Some(value), None) => {
            let mark = if improved { "  best so far" } else { "" };
            format!("{id}: {} at {at}{mark}", brief(value, 6))
        }
        (value, Some(violated)) => {
            let mark = if improved { "  least infeasible so far" } else { "" };
            let value = value.map_or_else(|| "no value".to_owned(), |value| brief(value, 6));
            format!("{id}: {value} at {at}, violates {violated}{mark}")
        }
        (None, None) => {
            let why = record.message.as_deref().unwrap_or("no value");
            let said = last_lines("", &record.stderr).last().map(|line| format!("\n  | {}", shortened(line)));
            format!("{id}: failed at {at}: {why}{}", said.unwrap_or_default())
        }
    }
}

/// The event of an evaluation that was told.
pub(super) fn evaluated_json(told: &Told, session: &Session) -> Value {
    let Told { id, x, record, improved } = told;
    let event = json!({
        "event": "evaluation", "id": id.0, "x": session.by_name(x), "value": record.value(),
        "status": record.status, "message": record.message, "seconds": record.seconds,
        "best": *improved && !session.optimizer.has_noise(),
    });
    with(event, measured_json(&session.constraints, record.value(), &record.constraints))
}

fn bar(name: &str, budget: Option<usize>) -> ProgressBar {
    let (bar, counts) = match budget {
        Some(budget) => (ProgressBar::new(budget as u64), "{bar:32.cyan/blue} {pos}/{len}"),
        None => (ProgressBar::new_spinner(), "{spinner} {pos} evaluations"),
    };
    let name = printable(name).replace(['{', '}'], "");
    // The template is ours but for the name; if indicatif refuses it, its own default does.
    if let Ok(style) = ProgressStyle::with_template(&format!("{name}  {counts}  {{elapsed_precise}}\n{{msg}}")) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
