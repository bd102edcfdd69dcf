//! `submit = "slurm"` in `[objective]`, and the table `[slurm]`.

use std::time::Duration;

use super::objective::Objective;
use super::reader::{Reader, Table};

const EXAMPLE: &str = r#"["--time=1:00:00", "--mem=4G"]"#;
/// How often Slurm is asked how the jobs are, if the study does not say.
const POLL: Duration = Duration::from_secs(10);
/// Options of `sbatch` that labcat sets itself, or that would make something else of a job.
const OURS: [&str; 20] = [
    "--job-name",
    "-J",
    "--output",
    "-o",
    "--error",
    "-e",
    "--input",
    "-i",
    "--array",
    "-a",
    "--chdir",
    "-D",
    "--parsable",
    "--wait",
    "-W",
    "--wrap",
    "--requeue",
    "--no-requeue",
    "--test-only",
    "--hold",
];

/// How evaluations are submitted to Slurm.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slurm {
    /// Options of `sbatch`.
    pub(crate) options: Vec<String>,
    /// How often Slurm is asked how the jobs are.
    pub(crate) poll: Duration,
}

/// Reads `[slurm]`; `None` if evaluations are not submitted to it.
pub(super) fn read(reader: &mut Reader<'_>, root: &Table<'_, '_>, objective: Option<&Objective>) -> Option<Slurm> {
    let table = reader.table(root, "slurm");
    let submits = objective.is_some_and(|objective| objective.submits);
    if let (Some(table), Some(_), false) = (&table, objective, submits) {
        let message = "[slurm] is there but evaluations are not submitted: write submit = \"slurm\" into [objective]";
        reader.problem(&table.span.clone(), message.to_owned());
    }
    let mut slurm = Slurm { options: Vec::new(), poll: POLL };
    if let Some(table) = table {
        reader.refuse_unknown(&table, &["options", "poll"]);
        slurm.options = options(reader, &table);
        slurm.poll = reader.span_of_time(&table, "poll").unwrap_or(POLL);
    }
    submits.then_some(slurm)
}

fn options(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Vec<String> {
    let Some(entry) = table.entries.get("options") else { return Vec::new() };
    let options = reader.strings("options", entry, EXAMPLE).unwrap_or_default();
    let mut takes_value = false;
    for option in &options {
        let text = option.get_ref();
        let name = text.split('=').next().unwrap_or_default();
        let short = !name.starts_with("--");
        let is_ours = |ours: &&&str| **ours == name || (short && ours.len() == 2 && name.starts_with(**ours));
        if let Some(ours) = OURS.iter().find(is_ours) {
            reader.problem(&option.span(), format!("`options` cannot hold {ours}: labcat decides that; leave it out"));
        } else if (!text.starts_with('-') && !takes_value) || text.contains(['\0', '\n']) {
            let message = format!("`options` cannot hold {text:?}: write options of sbatch, options = {EXAMPLE}");
            reader.problem(&option.span(), message);
        }
        takes_value = text.len() == 2 && text.starts_with('-');
    }
    options.into_iter().map(|option| option.into_inner()).collect()
}
