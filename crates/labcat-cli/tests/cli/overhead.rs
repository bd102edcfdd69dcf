//! What the study costs on top of the commands themselves.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{self, Dir};

const EVALUATIONS: usize = 1_000;
/// The study and what it is compared with take turns, so that whatever else the machine does falls on both.
const PIECES: usize = 4;
/// A machine that is busy with something else gets another chance.
const ATTEMPTS: usize = 6;
/// So many times what no study can avoid. Where a commit takes .1 ms, and not several as on most disks, the processor's work shows: 1.6 times.
const LIMIT: f64 = 2.0;

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

/// The ratio of a study, resumed again and again, to what it cannot avoid.
fn measure(attempt: usize) -> f64 {
    let dir = Dir::new(&format!("overhead-{attempt}"));
    dir.write("s.toml", &common::study(&format!("budget = {EVALUATIONS}"), "command = [\"printf\", \"{x}\"]"));
    let (mut study, mut plain) = (Duration::ZERO, Duration::ZERO);
    for piece in 1..=PIECES {
        plain += commands_and_commits(&dir, EVALUATIONS / PIECES / 2);
        let began = Instant::now();
        dir.labcat(&["run", "s.toml", "--budget", &(piece * EVALUATIONS / PIECES).to_string()]).expect(0);
        study += began.elapsed();
        plain += commands_and_commits(&dir, EVALUATIONS / PIECES / 2);
    }
    assert_eq!(dir.told("s.db").len(), EVALUATIONS);
    let ratio = study.as_secs_f64() / plain.as_secs_f64();
    println!(
        "{EVALUATIONS} evaluations: {study:.2?} as a study, {plain:.2?} for commands and commits alone, ratio {ratio:.2}"
    );
    ratio
}

#[test]
fn a_thousand_evaluations_cost_at_most_twice_as_much_as_their_commands_and_commits() {
    let ratios: Vec<f64> = (0..ATTEMPTS).map(measure).take_while(|ratio| *ratio > LIMIT).collect();
    assert!(ratios.len() < ATTEMPTS, "ratios {ratios:.2?}");
}
