//! A study that is killed at random moments loses nothing and continues as if nothing had happened.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{Dir, Told, built_in, pending, study};

/// Kills of each kind of study.
const KILLS: usize = 110;
/// Evaluations of each study.
const BUDGET: usize = 60;

/// Delays that are the same in every run, so that a failure can be met again.
struct Delays(u64);

impl Delays {
    fn new() -> Delays {
        Delays(20_250_117)
    }

    /// Between 0 and 80 ms, short ones more often.
    fn next(&mut self) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 40) as f64 / (1_u64 << 24) as f64;
        Duration::from_secs_f64(0.080 * share * share.sqrt())
    }
}

/// Runs the study and kills it after the delay; false if it had ended before. Checks what is left.
fn run_and_kill(dir: &Dir, workers: usize, delay: Duration, before: &mut Vec<Told>) -> bool {
    let events = OpenOptions::new().create(true).append(true).open(dir.path("events")).unwrap();
    let mut run = dir.command(&["run", "s.toml", "--json"]).stdout(events).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(delay);
    run.kill().unwrap();
    let killed = run.wait().unwrap().signal() == Some(9);
    if !dir.path("s.db").exists() {
        assert!(before.is_empty());
        return killed;
    }
    let after = dir.told("s.db");
    assert!(after.starts_with(before), "what was told is there, unchanged, in its place");
    let mut ids: Vec<i64> = after.iter().map(|told| told.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), after.len(), "nothing is told twice");
    if !after.is_empty() {
        assert!(pending(&dir.path("s.db")) <= workers as i64, "at most what was running is lost");
    }
    for id in announced(dir) {
        assert!(after.iter().any(|told| told.id == id), "evaluation {id} was announced and is gone");
    }
    *before = after;
    killed
}

/// The evaluations that the runs have announced, in complete lines.
fn announced(dir: &Dir) -> Vec<i64> {
    let text = dir.read("events");
    let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    events.filter(|event| event["event"] == "evaluation").map(|event| event["id"].as_i64().unwrap()).collect()
}

/// Kills studies with different seeds until there were enough kills; gives each finished history.
fn torture(workers: usize) -> Vec<(u64, Vec<Told>)> {
    let mut delays = Delays::new();
    let (mut kills, mut histories) = (0, Vec::new());
    while kills < KILLS {
        let seed = histories.len() as u64;
        let dir = Dir::new(&format!("kill-{workers}-{seed}"));
        dir.write("s.toml", &text(workers, seed));
        let mut told = Vec::new();
        while told.len() < BUDGET && kills < KILLS {
            kills += usize::from(run_and_kill(&dir, workers, delays.next(), &mut told));
        }
        dir.labcat(&["run", "s.toml"]).expect(0);
        let finished = dir.told("s.db");
        assert!(finished.starts_with(&told));
        histories.push((seed, finished));
    }
    println!("{workers} workers: {kills} kills over {} studies", histories.len());
    histories
}

fn text(workers: usize, seed: u64) -> String {
    study(&format!("budget = {BUDGET}\nworkers = {workers}\nseed = {seed}"), &built_in("rosenbrock"))
}

#[test]
fn one_worker_ends_with_the_history_of_an_uninterrupted_run_bit_for_bit() {
    for (seed, history) in torture(1) {
        let dir = Dir::new(&format!("uninterrupted-{seed}"));
        dir.write("s.toml", &text(1, seed));
        dir.labcat(&["run", "s.toml"]).expect(0);
        assert_eq!(history, dir.told("s.db"), "seed {seed}");
    }
}

#[test]
fn a_negative_zero_is_the_same_before_and_after_a_resumption() {
    let dir = Dir::new("zero");
    dir.write("s.toml", &study("budget = 12", "command = [\"printf\", \"-0.0\"]"));
    for budget in 1..=12 {
        dir.labcat(&["run", "s.toml", "--budget", &budget.to_string()]).expect(0);
    }
    let whole = Dir::new("zero-whole");
    whole.write("s.toml", &dir.read("s.toml"));
    whole.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db"), whole.told("s.db"));
}

#[test]
fn four_workers_lose_at_most_what_was_running() {
    for (seed, history) in torture(4) {
        assert_eq!(history.len(), BUDGET, "seed {seed}");
        assert!(history.iter().all(|told| told.status == "ok"));
    }
}
