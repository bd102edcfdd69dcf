//! The records that are written to and read from the journal.

use labcat::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::study::{Constraints, Measures};
use crate::value::Reading;

/// Why an evaluation has no value after a correction.
pub(crate) const CORRECTED_TO_FAILURE: &str = "it was corrected by hand to be a failure";

/// One change of the study; several make up a transaction.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A suggestion was given out.
    Asked { id: u64, x: Vec<f64> },
    /// A point waits to be suggested; the optimizer's state has it.
    Enqueued,
    /// A note about an evaluation; an empty one deletes it.
    Noted { id: u64, text: String },
    /// A run begins: the evaluations of an earlier run are no longer being worked on.
    NothingRuns,
    /// A command is about to start.
    Started { id: u64 },
    /// A job is about to be submitted; none before it is expected to end.
    Submitting { id: u64, attempt: u32, name: String },
    /// It was submitted, and has this number.
    Submitted { id: u64, attempt: u32, number: String },
    /// Nothing is expected of the jobs of an evaluation.
    JobsClosed { id: u64 },
    /// An evaluation ended.
    Told { id: u64, x: Vec<f64>, run: usize, result: Box<Record> },
    /// An evaluation failed and is to be tried again: it stays pending.
    Attempted { id: u64, result: Box<Record> },
    /// An evaluation that had failed was run again.
    Retried { id: u64, result: Box<Record> },
    /// A pending suggestion will never be told.
    Cancelled { id: u64 },
    /// The value was wrong and is corrected; no value means that the evaluation failed.
    Corrected { id: u64, was: Option<f64>, result: Box<Record> },
    /// The trust region of a suggestion, as JSON.
    Step { at_evaluation: usize, region: String },
}

/// The result of an evaluation, without its point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    /// `None`: it failed.
    pub(crate) reading: Option<Reading>,
    /// The measured constraints, satisfied when g ≤ 0.
    pub(crate) constraints: Vec<f64>,
    /// Standard deviation of the noise in each, NaN where none is known; empty if none is.
    pub(crate) constraint_std: Vec<f64>,
    pub(crate) status: &'static str,
    pub(crate) source: &'static str,
    /// Why it failed.
    pub(crate) message: Option<String>,
    pub(crate) seconds: Option<f64>,
    pub(crate) attempts: u32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// How the command was run, if there was one.
    pub(crate) execution: Option<Execution>,
}

impl Record {
    /// The value; `None` if the evaluation failed.
    pub(crate) fn value(&self) -> Option<f64> {
        self.reading.as_ref().and_then(|reading| reading.value)
    }

    /// The residuals; empty if there are none.
    pub(crate) fn residuals(&self) -> &[f64] {
        self.reading.as_ref().map_or(&[], |reading| &reading.residuals)
    }

    /// The outcome that is told to the optimizer.
    pub(crate) fn outcome(&self) -> Outcome {
        Told {
            value: self.value(),
            std: self.reading.as_ref().and_then(|reading| reading.std),
            residuals: self.residuals().to_vec(),
            gradient: self.reading.as_ref().map_or_else(Vec::new, |reading| reading.gradient.clone()),
            constraints: self.constraints.clone(),
            constraint_std: self.constraint_std.clone(),
            message: self.message.clone(),
        }
        .outcome()
    }

    /// The value of an evaluation, or why it failed.
    pub(crate) fn of(
        measured: Result<(Reading, Measures), String>,
        source: &'static str,
        constraints: &Constraints,
    ) -> Record {
        let (reading, measures, message) = match measured {
            Err(why) => (None, Measures::default(), Some(why).filter(|why| !why.is_empty())),
            Ok((reading, measures)) => {
                let message = reading.value.is_none().then(|| constraints.no_value(&measures.excesses));
                (Some(reading), measures, message)
            }
        };
        let status = if reading.as_ref().is_some_and(|reading| reading.value.is_some()) { "ok" } else { "failed" };
        let Measures { excesses: constraints, std: constraint_std } = measures;
        Record { reading, constraints, constraint_std, status, source, message, ..Record::default() }
    }

    /// The same evaluation as a failure, for this reason.
    pub(crate) fn failed(self, why: String) -> Record {
        let (constraints, constraint_std) = (Vec::new(), Vec::new());
        Record { reading: None, constraints, constraint_std, status: "failed", message: Some(why), ..self }
    }
}

/// What the optimizer is told of an evaluation: a value with its noise and its gradient, or why there is none; the residuals that it is
/// the sum of squares of; the measured constraints with their noise.
pub(super) struct Told {
    pub(super) value: Option<f64>,
    pub(super) std: Option<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    pub(super) constraints: Vec<f64>,
    pub(super) constraint_std: Vec<f64>,
    pub(super) message: Option<String>,
}

impl Told {
    pub(super) fn outcome(self) -> Outcome {
        let outcome = match self.value {
            None => Outcome::failed(&self.message.unwrap_or_default()),
            Some(_) if !self.residuals.is_empty() => Outcome::of_residuals(self.residuals),
            Some(value) => Outcome::from(value),
        };
        let outcome = self.std.and_then(|std| outcome.clone().with_std(std).ok()).unwrap_or(outcome);
        let outcome = outcome.with_constraints(self.constraints).with_gradient(self.gradient);
        outcome.clone().with_constraint_std(self.constraint_std).unwrap_or(outcome)
    }
}

/// A record that waits in a file until it can be told; without what the command printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The evaluation had failed before.
    pub(crate) again: bool,
    reading: Option<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    residuals: Vec<f64>,
    constraints: Vec<f64>,
    /// `None` where none is known: JSON has no NaN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    constraint_std: Vec<Option<f64>>,
    status: String,
    message: Option<String>,
    seconds: Option<f64>,
    attempts: u32,
    execution: Option<Execution>,
}

impl Kept {
    /// The longest command and message that are kept, in bytes: the room for a result is limited.
    const LONGEST: usize = 2 * 1024;

    pub(crate) fn of(record: &Record, again: bool) -> Kept {
        let reading = record.reading.as_ref().and_then(|reading| serde_json::from_str(&reading.stored()).ok());
        let is_short = |run: &Execution| run.command.iter().map(String::len).sum::<usize>() <= Kept::LONGEST;
        Kept {
            again,
            reading,
            residuals: record.residuals().to_vec(),
            constraints: record.constraints.clone(),
            constraint_std: record.constraint_std.iter().map(|std| Some(*std).filter(|std| !std.is_nan())).collect(),
            status: record.status.to_owned(),
            message: record.message.as_ref().map(|text| text.chars().take(Kept::LONGEST / 4).collect()),
            seconds: record.seconds,
            attempts: record.attempts,
            execution: record.execution.clone().filter(is_short),
        }
    }

    /// The record as it can be told.
    pub(crate) fn into_record(self) -> Record {
        let status = ["ok", "timeout"].into_iter().find(|status| *status == self.status).unwrap_or("failed");
        let residuals = self.residuals;
        let restored = |stored| {
            let reading = Reading::restored(stored)?;
            if residuals.is_empty() { Some(reading) } else { reading.with_residuals(residuals).ok() }
        };
        Record {
            reading: self.reading.and_then(restored),
            constraints: self.constraints,
            constraint_std: self.constraint_std.into_iter().map(|std| std.unwrap_or(f64::NAN)).collect(),
            status,
            source: "command",
            message: self.message,
            seconds: self.seconds,
            attempts: self.attempts,
            stdout: String::new(),
            stderr: String::new(),
            execution: self.execution,
        }
    }
}

/// How a command was run. Times are seconds since 1970.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Execution {
    pub(crate) command: Vec<String>,
    pub(crate) directory: String,
    pub(crate) host: String,
    pub(crate) started: f64,
    pub(crate) ended: f64,
    /// The exit status; `None` if a signal ended it.
    pub(crate) exit: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// One trial as the journal has it.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) id: u64,
    pub(crate) x: Vec<f64>,
    /// `pending`, `ok`, `failed`, `timeout` or `cancelled`.
    pub(crate) status: String,
    pub(crate) value: Option<f64>,
    /// The measured constraints, satisfied when g ≤ 0; empty if none were.
    pub(crate) constraints: Vec<f64>,
    /// The residuals that the value is the sum of squares of; empty if none were told.
    pub(crate) residuals: Vec<f64>,
    /// What the command gave, as a JSON object.
    pub(crate) result: Option<serde_json::Value>,
    pub(crate) seconds: Option<f64>,
    pub(crate) source: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) attempts: u32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) execution: Option<Execution>,
    /// A note by the people who measure.
    pub(crate) note: Option<String>,
}

impl Trial {
    /// Whether only its failure is known.
    pub(crate) fn is_failed(&self) -> bool {
        self.value.is_none() && self.constraints.is_empty()
    }
}

/// A value that was replaced; `None` stands for a failure.
#[derive(Clone, Debug)]
pub(crate) struct Correction {
    pub(crate) was: Option<f64>,
    pub(crate) became: Option<f64>,
    pub(crate) at: u64,
    /// `hand` or `retry`.
    pub(crate) cause: String,
}

/// A job of a scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) trial: u64,
    pub(crate) attempt: u32,
    pub(crate) name: String,
    /// The scheduler's; `None`: it is not known whether it was submitted.
    pub(crate) number: Option<String>,
}

/// An evaluation that a run is, or was, working on.
#[derive(Clone, Debug)]
pub(crate) struct InHand {
    pub(crate) id: u64,
    /// Seconds since 1970.
    pub(crate) started: f64,
    pub(crate) host: String,
}
