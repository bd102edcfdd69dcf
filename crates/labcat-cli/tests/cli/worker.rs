//! Several processes share a study through its journal.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Dir, pending, shell, study, wait_for};

const WORKERS: usize = 4;
const BUDGET: usize = 40;

/// A study whose command notes each start and each end in a file, and takes a moment.
fn text(general: &str, seconds: f64) -> String {
    let script = "echo {id} >> started; sleep SECONDS; echo {id} >> ended; echo {x} {y} | awk '{{print $1*$1+$2*$2}}'";
    study(general, &shell(&script.replace("SECONDS", &seconds.to_string())))
}

fn start(dir: &Dir) -> Child {
    dir.command(&["worker", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// How often each number stands in a file.
fn counts(dir: &Dir, file: &str) -> BTreeMap<i64, usize> {
    let mut counts = BTreeMap::new();
    let text = std::fs::read_to_string(dir.path(file)).unwrap_or_default();
    text.lines().for_each(|line| *counts.entry(line.parse().unwrap()).or_default() += 1);
    counts
}

#[test]
fn processes_share_a_study_and_one_that_is_killed_loses_nothing() {
    let dir = Dir::new("workers");
    dir.write("s.toml", &text(&format!("budget = {BUDGET}"), 0.05));
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| start(&dir)).collect();
    wait_for("some evaluations", || counts(&dir, "ended").len() >= BUDGET / 4);
    let mut victim = workers.pop().unwrap();
    victim.kill().unwrap();
    victim.wait().unwrap();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let told = dir.told("s.db");
    let ids: BTreeMap<i64, usize> = told.iter().map(|told| (told.id, 1)).collect();
    assert_eq!((told.len(), ids.len()), (BUDGET, BUDGET), "all of the budget, each of it told once");
    assert!(told.iter().all(|told| told.status == "ok"));
    assert_eq!(pending(&dir.path("s.db")), 0);
    let again: Vec<usize> = counts(&dir, "started").into_values().filter(|n| *n > 1).collect();
    assert!(
        again.len() <= 1 && again.iter().all(|n| *n == 2),
        "only what the killed one had in hand is run again: {again:?}"
    );
    let left: Vec<String> =
        std::fs::read_dir(dir.path("")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.contains("evaluation")), "nothing is left in hand: {left:?}");
}

#[test]
fn what_a_killed_worker_had_in_hand_is_taken_over_by_the_next() {
    let dir = Dir::new("worker-left");
    dir.write("s.toml", &text("budget = 2", 0.3));
    let mut victim = start(&dir);
    wait_for("the first evaluation", || counts(&dir, "started").len() == 1);
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert_eq!(
        (&status["in_use_by"], &status["pending"][0]["state"]),
        (&"labcat worker: 1 worker".into(), &"running".into())
    );
    victim.kill().unwrap();
    victim.wait().unwrap();
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert_eq!(
        (&status["in_use_by"], &status["pending"][0]["state"]),
        (&serde_json::Value::Null, &"interrupted".into())
    );
    let ended = dir.labcat(&["worker", "s.toml", "--json"]);
    assert!(ended.expect(0).stdout.contains("\"stop\":\"budget\""), "{}", ended.stdout);
    assert_eq!(dir.told("s.db").iter().map(|told| told.id).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn what_a_worker_left_that_was_killed_after_it_had_told_is_cleared_by_the_next() {
    let dir = Dir::new("worker-told");
    dir.write("s.toml", &text("budget = 1", 0.0));
    dir.labcat(&["worker", "s.toml"]).expect(0);
    dir.write("s.db-evaluation-0", "");
    dir.labcat(&["worker", "s.toml"]).expect(0);
    assert!(!dir.path("s.db-evaluation-0").exists());
    assert_eq!((dir.told("s.db").len(), counts(&dir, "started")), (1, BTreeMap::from([(0, 1)])));
}

#[test]
fn a_run_and_workers_do_not_mix() {
    let dir = Dir::new("worker-run");
    dir.write("s.toml", &text("budget = 3", 0.3));
    let mut worker = start(&dir);
    wait_for("the first evaluation", || counts(&dir, "started").len() == 1);
    dir.labcat(&["run", "s.toml"]).expect(1).says("in use by a `labcat worker`");
    assert!(worker.wait().unwrap().success());
    assert_eq!(dir.told("s.db").len(), 3);
    dir.write("s.toml", &text("budget = 5", 3.0));
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the run's evaluation", || counts(&dir, "started").len() == 4);
    let asked = Instant::now();
    dir.labcat(&["worker", "s.toml"]).expect(1).says(&format!("in use by labcat run (process {})", run.id()));
    assert_eq!((counts(&dir, "ended").len(), run.try_wait().unwrap()), (3, None), "after {:?}", asked.elapsed());
    run.kill().unwrap();
    run.wait().unwrap();
    dir.labcat(&["worker", "none.toml"]).expect(2).says("there is no study");
}

#[test]
fn a_point_that_a_person_asked_for_is_left_to_that_person() {
    let dir = Dir::new("worker-hand");
    dir.write("s.toml", &text("budget = 3", 0.0));
    dir.labcat(&["ask", "s.toml"]).expect(0);
    dir.labcat(&["worker", "s.toml"]).expect(1).says("pending");
    assert_eq!(dir.told("s.db").iter().map(|told| told.id).collect::<Vec<_>>(), [1, 2]);
    dir.labcat(&["tell", "s.toml", "0", "1.5"]).expect(0);
    dir.labcat(&["worker", "s.toml"]).expect(0);
}

#[test]
fn a_worker_ends_after_failures_in_a_row_and_when_the_command_cannot_run() {
    let dir = Dir::new("worker-failures");
    dir.write("s.toml", &study("budget = 50", &shell("exit 3")));
    dir.labcat(&["worker", "s.toml"]).expect(1).says("in a row failed");
    dir.write("t.toml", &study("budget = 50", "command = [\"./none\"]"));
    dir.labcat(&["worker", "t.toml"]).expect(1).says("there is no such program");
    dir.write("u.toml", &study("budget = 50", &(shell("exit 3") + "\non_failure = \"stop\"")));
    dir.labcat(&["worker", "u.toml"]).expect(1).says("on_failure");
    assert_eq!((dir.told("u.db").len(), pending(&dir.path("u.db"))), (0, 1));
}

#[test]
fn an_interrupted_worker_leaves_its_evaluation_to_the_others() {
    let dir = Dir::new("worker-interrupt");
    dir.write("s.toml", &text("budget = 2", 5.0));
    let worker = start(&dir);
    wait_for("the first evaluation", || counts(&dir, "started").len() == 1);
    let process = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let mut worker = worker;
    assert_eq!(worker.wait().unwrap().code(), Some(130));
    dir.write("s.toml", &text("budget = 2", 0.0));
    thread::sleep(Duration::from_millis(10));
    dir.labcat(&["worker", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 2);
}
