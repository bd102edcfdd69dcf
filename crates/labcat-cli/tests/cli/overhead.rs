//! What the study costs on top of the commands themselves.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Dir, study};

const EVALUATIONS: usize = 1_000;
/// Shares of the evaluations that are measured in turn, so that both sides meet the same machine.
const ROUNDS: usize = 10;
/// The promise.
const LIMIT: f64 = 1.5;

/// Spawns the commands and commits a row after each, durably: what no study can avoid.
fn commands_and_commits(dir: &Dir, n: usize) -> Duration {
    let db = rusqlite::Connection::open(dir.path("plain.db")).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", "FULL").unwrap();
    db.execute_batch("CREATE TABLE IF NOT EXISTS row (value REAL)").unwrap();
    let began = Instant::now();
    for _ in 0..n {
        let output = Command::new("printf").arg("1.5").stdin(Stdio::null()).output().unwrap();
        let value: f64 = String::from_utf8_lossy(&output.stdout).parse().unwrap();
        db.execute("INSERT INTO row VALUES (?1)", [value]).unwrap();
    }
    began.elapsed()
}

/// The time of a run up to so many evaluations in all.
fn run(dir: &Dir, budget: usize) -> Duration {
    let began = Instant::now();
    dir.labcat(&["run", "s.toml", "--budget", &budget.to_string()]).expect(0);
    began.elapsed()
}

#[test]
fn a_thousand_evaluations_cost_at_most_half_as_much_again_as_their_commands_and_commits() {
    let dir = Dir::new("overhead");
    dir.write("s.toml", &study("budget = 1", "command = [\"printf\", \"{x}\"]"));
    let share = EVALUATIONS / ROUNDS;
    let (mut study, mut plain) = (Duration::ZERO, Duration::ZERO);
    for round in 1..=ROUNDS {
        plain += commands_and_commits(&dir, share);
        study += run(&dir, round * share);
    }
    assert_eq!(dir.told("s.db").len(), EVALUATIONS);
    let ratio = study.as_secs_f64() / plain.as_secs_f64();
    println!(
        "{EVALUATIONS} evaluations: {study:.2?} as a study, {plain:.2?} for commands and commits alone, ratio {ratio:.2}"
    );
    assert!(ratio <= LIMIT, "ratio {ratio:.2}");
}
