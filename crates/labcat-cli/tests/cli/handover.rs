//! What a worker has measured reaches its own point of its own study, whatever happens to files and processes meanwhile.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Dir, LABCAT, pending, shell, study, wait_for};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

fn worker(dir: &Dir) -> Child {
    dir.command(&["worker", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn lines(dir: &Dir, file: &str) -> usize {
    fs::read_to_string(dir.path(file)).map_or(0, |text| text.lines().count())
}

fn said(child: Child) -> (Option<i32>, String) {
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn slow(general: &str, seconds: f64) -> String {
    study(general, &shell(&format!("echo >> started; sleep {seconds}; echo {{x}}")))
}

fn remove_journal(dir: &Dir) {
    for file in ["s.db", "s.db-wal", "s.db-shm"] {
        let _ = fs::remove_file(dir.path(file));
    }
}

#[test]
fn a_worker_does_not_begin_a_study_anew_when_its_journal_vanishes() {
    let dir = Dir::new("vanished");
    dir.write("s.toml", &slow("budget = 6", 0.5));
    let worker = worker(&dir);
    wait_for("the first evaluation", || lines(&dir, "started") == 1);
    remove_journal(&dir);
    let (code, said) = said(worker);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("s.db") && said.contains("is gone"), "{said}");
    assert!(said.contains("evaluation 0") && said.contains("s.db-evaluation-0"), "{said}");
    assert!(!dir.path("s.db").exists(), "nothing was begun");
    assert!(dir.read("s.db-evaluation-0").contains("\"value\""), "the value is kept");
}

#[test]
fn a_value_is_never_told_to_another_study_or_another_point() {
    let dir = Dir::new("other-study");
    dir.write("s.toml", &slow("budget = 6", 1.0));
    let worker = worker(&dir);
    wait_for("the first evaluation", || lines(&dir, "started") == 1);
    remove_journal(&dir);
    dir.write("s.toml", &slow("budget = 6", 1.0).replace("low = -5\nhigh = 10", "low = 900\nhigh = 1000"));
    dir.labcat(&["ask", "s.toml"]).expect(0);
    let (code, said) = said(worker);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("another study") && said.contains("s.db-evaluation-0"), "{said}");
    assert!(dir.told("s.db").is_empty(), "nothing was told to the point of the other study");
    assert_eq!(pending(&dir.path("s.db")), 1);
    // A run of the other study does not take the value in either.
    dir.write("s.toml", &dir.read("s.toml").replace("sleep 1", "sleep 0"));
    dir.labcat(&["run", "s.toml", "--budget", "2"]).expect(0).says("another study");
    assert!(dir.told("s.db").iter().all(|told| told.value >= Some(900.0_f64.to_bits())));
}

#[test]
fn a_study_file_that_is_half_saved_costs_no_evaluation() {
    let dir = Dir::new("half-saved");
    let whole = slow("budget = 3", 0.4);
    dir.write("s.toml", &whole);
    let mut worker = dir.command(&["worker", "s.toml"]);
    worker.stdout(Stdio::null()).stderr(fs::File::create(dir.path("said")).unwrap());
    let mut worker = worker.spawn().unwrap();
    wait_for("the first evaluation", || lines(&dir, "started") == 1);
    dir.write("s.toml", "[study\nbudg");
    wait_for("its value", || dir.told("s.db").len() == 1);
    wait_for("word of the wait", || dir.read("said").contains("s.toml"));
    dir.write("s.toml", &whole);
    let code = worker.wait().unwrap().code();
    assert_eq!((code, dir.told("s.db").len(), lines(&dir, "started")), (Some(0), 3, 3), "{}", dir.read("said"));
}

#[test]
fn a_lock_that_is_held_long_costs_no_evaluation() {
    let dir = Dir::new("lock-held");
    dir.write("s.toml", &slow("budget = 1", 0.2));
    let first = worker(&dir);
    wait_for("the first evaluation", || lines(&dir, "started") == 1);
    let lock = fs::File::options().write(true).open(dir.path("s.db-lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    // It waits; killed meanwhile, it leaves the value in a file that the next worker takes in.
    wait_for("the value in a file", || {
        fs::read_to_string(dir.path("s.db-evaluation-0")).is_ok_and(|text| text.contains("\"value\""))
    });
    let mut first = first;
    assert_eq!(first.try_wait().unwrap(), None, "it has not given up");
    first.kill().unwrap();
    first.wait().unwrap();
    drop(lock);
    dir.labcat(&["worker", "s.toml"]).expect(0).says("has been stored");
    let told = dir.told("s.db");
    assert_eq!((told.len(), lines(&dir, "started")), (1, 1), "it was not evaluated again");
    assert!(!dir.path("s.db-evaluation-0").exists());
}

#[test]
fn residuals_and_the_noise_of_constraints_are_kept_too() {
    let dir = Dir::new("kept-residuals");
    let script = r#"echo >> started; sleep 0.2; echo '{{"residuals": [0.1, -0.2], "mass": 4, "mass_std": 0.5}}'"#;
    dir.write("s.toml", &study("budget = 1\nconstraint = [\"mass <= 5\", \"x + mass <= 90\"]", &shell(script)));
    let mut first = worker(&dir);
    wait_for("the first evaluation", || lines(&dir, "started") == 1);
    let lock = fs::File::options().write(true).open(dir.path("s.db-lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    wait_for("the residuals in a file", || {
        fs::read_to_string(dir.path("s.db-evaluation-0")).is_ok_and(|text| text.contains("\"residuals\""))
    });
    first.kill().unwrap();
    first.wait().unwrap();
    drop(lock);
    dir.labcat(&["worker", "s.toml"]).expect(0).says("has been stored");
    let told = &dir.labcat(&["export", "s.toml", "--json"]).expect(0).json()["evaluations"][0];
    assert_eq!((&told["residuals"], &told["result"]["mass_std"]), (&json!([0.1, -0.2]), &json!(0.5)), "{told}");
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let std: String = db.query_row("SELECT constraint_std FROM trial", [], |row| row.get(0)).unwrap();
    assert_eq!((std.as_str(), lines(&dir, "started")), ("[0.5,0.5]", 1));
}

#[test]
fn the_program_of_a_killed_process_is_ended_before_its_evaluation_is_repeated() {
    for command in ["worker", "run"] {
        let dir = Dir::new(&format!("orphan-{command}"));
        // The first attempt starts a second process that leaves the group, and stays; the next sees whether they live.
        let script = "if [ -e first ]; then for p in $(cat first); do grep -q \"State:.[RSDT]\" /proc/$p/status 2>/dev/null && echo $p >> alive; done; echo 1; \
            else setsid sleep 600 & echo $$ $! > new; mv new first; exec sleep 600; fi";
        dir.write("s.toml", &study("budget = 1", &shell(script)));
        let mut first = dir.command(&[command, "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the first attempt", || dir.path("first").exists());
        first.kill().unwrap();
        first.wait().unwrap();
        // A job of a scheduler is not ours to end.
        let journal = fs::canonicalize(dir.path("s.db")).unwrap();
        let mut job = Command::new("sleep");
        job.arg("600").env("LABCAT_journal", journal).env("LABCAT_id", "0").env("SLURM_JOB_ID", "77");
        let mut job = job.spawn().unwrap();
        dir.labcat(&[command, "s.toml"]).expect(0);
        assert!(!dir.path("alive").exists(), "{command}: the old program went on: {}", dir.read("alive"));
        assert_eq!(job.try_wait().unwrap(), None, "{command}");
        job.kill().unwrap();
        job.wait().unwrap();
    }
}

#[test]
fn failures_in_a_row_are_counted_over_all_workers() {
    let dir = Dir::new("failing-workers");
    dir.write("s.toml", &study("budget = 300", &shell("sleep 0.05; exit 3")));
    let workers: Vec<Child> = (0..12).map(|_| worker(&dir)).collect();
    for worker in workers {
        let (code, said) = said(worker);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("in a row failed"), "{said}");
    }
    let told = dir.told("s.db").len();
    assert!(told <= 24 + 12, "{told} evaluations were spent");
}

#[test]
fn an_edited_command_is_used_by_every_worker_and_said() {
    let dir = Dir::new("edited-command");
    let text = |value: &str| study("budget = 10", &shell(&format!("echo >> started; sleep 0.5; echo {value}")));
    dir.write("s.toml", &text("1"));
    let workers = [worker(&dir), worker(&dir)];
    wait_for("two evaluations", || lines(&dir, "started") >= 4);
    let before = dir.told("s.db").len() + 2;
    dir.write("s.toml", &text("2"));
    for worker in workers {
        let (code, said) = said(worker);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("s.toml has changed") && said.contains("from evaluation"), "{said}");
    }
    let values: Vec<f64> = dir.told("s.db").iter().map(|told| f64::from_bits(told.value.unwrap())).collect();
    assert!(values[before + 2..].iter().all(|value| *value == 2.0), "{values:?}");
}

#[test]
fn a_worker_names_the_way_out_when_all_that_is_left_was_asked_for_before() {
    let dir = Dir::copy_of("worker-first-version", "crates/labcat-cli/tests/fixtures/journal-1");
    let text = dir.read("old.toml");
    let line = text.lines().find(|line| line.starts_with("budget")).unwrap().to_owned();
    dir.write("old.toml", &text.replace(&line, "budget = 10"));
    dir.labcat(&["worker", "old.toml"])
        .expect(1)
        .says("evaluation 10")
        .says("`labcat run old.toml` evaluates")
        .says("`labcat tell old.toml 10 VALUE`")
        .says("`labcat cancel old.toml 10`");
}

#[test]
fn killed_workers_of_quick_programs_lose_nothing() {
    let dir = Dir::new("killed-workers");
    dir.write(
        "s.toml",
        &study("budget = 60", &format!("command = [{LABCAT:?}, \"functions\", \"sphere\", \"{{x}}\", \"{{y}}\"]")),
    );
    let began = Instant::now();
    let (mut done, mut patience) = (0, 1);
    for round in 0.. {
        assert!(began.elapsed() < Duration::from_secs(600), "{done} evaluations in {round} rounds");
        let mut workers = [worker(&dir), worker(&dir)];
        thread::sleep(patience * Duration::from_millis(5 + (37 * round) % 60));
        for worker in &mut workers {
            worker.kill().unwrap();
            worker.wait().unwrap();
        }
        let told = if dir.path("s.db").exists() { dir.told("s.db").len() } else { 0 };
        // On a busy machine it takes longer until a kill comes in the middle of something.
        patience = if told > done { (patience / 2).max(1) } else { patience + 1 };
        done = told;
        if done == 60 {
            break;
        }
    }
    for told in dir.told("s.db") {
        let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
        let ended = dir.labcat(&["functions", "sphere", &x[0].to_string(), &x[1].to_string()]);
        assert_eq!(told.value, Some(ended.stdout.trim().parse::<f64>().unwrap().to_bits()), "{}", told.x);
    }
}
