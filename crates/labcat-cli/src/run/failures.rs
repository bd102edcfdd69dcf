//! How failed evaluations end a run: one rule for `labcat run` and `labcat worker`.

use labcat::TrialId;

use crate::format::{count, last_lines};
use crate::journal::Record;
use crate::study::OnFailure;

/// What becomes of an evaluation that ended.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// It is told.
    Tell,
    /// It is told, and nothing more is started; says why.
    TellAndEnd(String),
    /// It stays pending, and nothing more is started; says why.
    LeaveAndEnd(String),
}

/// The study's rules for failures.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub(super) on_failure: OnFailure,
    /// Failures in a row that end the run.
    pub(super) limit: Option<usize>,
    /// The command that goes on.
    pub(super) again: &'a str,
    /// The study as a word of commands.
    pub(super) word: &'a str,
}

impl Rules<'_> {
    /// Judges an evaluation after so many failures in a row.
    pub(super) fn judge(&self, id: TrialId, record: &Record, before: usize) -> Verdict {
        if record.reading.is_some() {
            return Verdict::Tell;
        }
        if self.on_failure == OnFailure::Stop {
            let why = format!("evaluation {id} failed and the study says on_failure = \"stop\": {}", said(record));
            return Verdict::LeaveAndEnd(to_be_fixed(&why, self.again));
        }
        match self.limit {
            Some(limit) if before + 1 >= limit => Verdict::TellAndEnd(self.too_many(id, record, before + 1)),
            _ => Verdict::Tell,
        }
    }

    fn too_many(&self, id: TrialId, record: &Record, failures: usize) -> String {
        let (word, again) = (self.word, self.again);
        format!(
            "{} in a row failed, the last one ({id}) with: {}\n\
             fix the command; then `labcat retry {word} --failed` runs the failed evaluations again without using \
             the budget, and `{again}` continues. If many points are expected to fail, write \
             max_consecutive_failures = 0 into [objective]",
            count(failures, "evaluation"),
            said(record),
        )
    }
}

/// The command cannot be run, or the study wants the run to end.
pub(super) fn to_be_fixed(why: &str, again: &str) -> String {
    format!("{why}\nthe study is intact: fix the command, then `{again}` continues")
}

/// Why an evaluation failed, and the end of what its command said.
fn said(record: &Record) -> String {
    let why = record.message.clone().unwrap_or_else(|| "no value".to_owned());
    let lines = last_lines(&record.stdout, &record.stderr);
    lines.iter().fold(why, |text, line| text + "\n  | " + line)
}
