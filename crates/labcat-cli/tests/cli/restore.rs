//! Backups: made while a run goes on, put back after a kill, and never mixed with the log of what was there before.

use std::fs;
use std::process::{Child, Stdio};

use crate::common::{Dir, Told, built_in, is_alive, shell, study, wait_for};

/// A study of quick evaluations, in a fresh directory.
fn quick(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("s.toml", &study("budget = 400\nseed = 5", &built_in("rosenbrock")));
    dir
}

fn start(dir: &Dir) -> Child {
    dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn told_at_least(dir: &Dir, n: usize) {
    wait_for("evaluations", || dir.path("s.db").exists() && dir.told("s.db").len() >= n);
}

fn kill(mut run: Child) {
    run.kill().unwrap();
    run.wait().unwrap();
}

/// What a journal holds, without its neighbours.
fn alone(dir: &Dir, file: &str) -> Vec<Told> {
    fs::copy(dir.path(file), dir.path("alone.db")).unwrap();
    let told = dir.told("alone.db");
    for ending in ["alone.db", "alone.db-wal", "alone.db-shm"] {
        let _ = fs::remove_file(dir.path(ending));
    }
    told
}

#[test]
fn a_backup_that_is_restored_after_a_kill_is_the_backup_and_goes_on() {
    let dir = quick("restore-kill");
    let run = start(&dir);
    told_at_least(&dir, 20);
    assert!(dir.labcat(&["backup", "s.toml", "b.db"]).expect(0).stdout.contains("b.db"));
    let saved = alone(&dir, "b.db");
    told_at_least(&dir, saved.len() + 20);
    kill(run);
    let newest = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json()["evaluations"].clone();
    let ended = dir.labcat(&["restore", "s.toml", "b.db"]);
    assert!(ended.expect(0).stdout.contains("s.replaced-1.db"), "{}", ended.stdout);
    assert_eq!(dir.told("s.db"), saved);
    assert_eq!(dir.labcat(&["status", "s.replaced-1.db", "--json"]).expect(0).json()["evaluations"], newest);
    let budget = (saved.len() + 5).to_string();
    dir.labcat(&["run", "s.toml", "--budget", &budget]).expect(0);
    let now = dir.told("s.db");
    assert_eq!((now.len(), &now[..saved.len()]), (saved.len() + 5, &saved[..]));
}

#[test]
fn a_copy_put_back_by_hand_does_not_meet_the_log_of_what_was_there() {
    for (name, backup) in [("hand-backup", true), ("hand-copy", false)] {
        let dir = quick(name);
        dir.labcat(&["run", "s.toml", "--budget", "20"]).expect(0);
        if backup {
            dir.labcat(&["backup", "s.toml", "b.db"]).expect(0);
        } else {
            fs::copy(dir.path("s.db"), dir.path("b.db")).unwrap();
        }
        let saved = alone(&dir, "b.db");
        let run = start(&dir);
        told_at_least(&dir, 60);
        kill(run);
        assert!(fs::metadata(dir.path("s.db-wal")).is_ok_and(|log| log.len() > 0), "the kill leaves a log");
        fs::copy(dir.path("b.db"), dir.path("s.db")).unwrap();
        let status = dir.labcat(&["status", "s.toml", "--json"]);
        assert_eq!(status.expect(0).says("s.db-wal").json()["evaluations"], saved.len(), "{name}");
        dir.labcat(&["run", "s.toml", "--budget", "25"]).expect(0).says("s.db-wal");
        let now = dir.told("s.db");
        assert_eq!((now.len(), &now[..20]), (25, &saved[..]), "{name}");
    }
}

#[test]
fn what_was_rescued_takes_the_place_of_a_deleted_journal() {
    for (name, by_hand) in [("rescued-moved", true), ("rescued-restored", false)] {
        let dir = quick(name);
        let run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        told_at_least(&dir, 20);
        fs::remove_file(dir.path("s.db")).unwrap();
        let ended = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("`labcat restore s.toml s.rescued-1.db`"), "{said}");
        let saved = alone(&dir, "s.rescued-1.db");
        assert!(saved.len() >= 20);
        if by_hand {
            fs::rename(dir.path("s.rescued-1.db"), dir.path("s.db")).unwrap();
        } else {
            dir.labcat(&["restore", "s.toml", "s.rescued-1.db"]).expect(0);
        }
        let budget = (saved.len() + 5).to_string();
        dir.labcat(&["run", "s.toml", "--budget", &budget]).expect(0);
        let now = dir.told("s.db");
        assert_eq!((now.len(), &now[..saved.len()]), (saved.len() + 5, &saved[..]), "{name}");
    }
}

#[test]
fn a_restore_is_refused_while_a_run_or_a_worker_is_at_work() {
    let dir = Dir::new("restore-busy");
    dir.write("s.toml", &study("budget = 3", &shell("echo $$ >> started; exec sleep 600")));
    dir.labcat(&["ask", "s.toml"]).expect(0);
    dir.labcat(&["backup", "s.toml", "b.db"]).expect(0);
    for (number, command) in [(1, "run"), (2, "worker")] {
        let mut busy = dir.command(&[command, "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("its evaluation", || {
            fs::read_to_string(dir.path("started")).is_ok_and(|text| text.lines().count() == number)
        });
        dir.labcat(&["restore", "s.toml", "b.db"]).expect(1).says(&format!("in use by labcat {command}"));
        assert!(!dir.path("s.replaced-1.db").exists());
        busy.kill().unwrap();
        busy.wait().unwrap();
    }
    dir.labcat(&["restore", "s.toml", "b.db"]).expect(0);
    let programs: Vec<u32> = dir.read("started").lines().map(|line| line.parse().unwrap()).collect();
    assert!(programs.iter().all(|process| !is_alive(*process)), "what was killed left programs: {programs:?}");
}

#[test]
fn backup_and_restore_say_what_they_refuse() {
    let dir = quick("restore-words");
    dir.labcat(&["backup", "s.toml", "b.db"]).expect(1).says("has not begun");
    dir.labcat(&["run", "s.toml", "--budget", "5"]).expect(0);
    let before = dir.told("s.db");
    dir.labcat(&["backup", "s.toml", "s.db"]).expect(2).says("s.db is the study's own journal");
    dir.labcat(&["backup", "s.toml", "s.toml"]).expect(2).says("s.toml is the study itself");
    dir.labcat(&["backup", "s.toml", "none/b.db"]).expect(1).says("cannot write none/b.db: there is no directory none");
    dir.labcat(&["restore", "s.toml", "none.db"]).expect(2).says("none.db");
    dir.write("text", "no journal at all");
    dir.labcat(&["restore", "s.toml", "text"]).expect(2).says("text is not a journal of labcat: name a copy");
    dir.labcat(&["restore", "typo.toml", "b.db"]).expect(2).says("there is no study typo.toml");
    assert!(!dir.path("typo.db").exists());
    dir.write("t.toml", &study("budget = 9\nseed = 6", &built_in("rosenbrock")));
    dir.labcat(&["run", "t.toml"]).expect(0);
    dir.labcat(&["restore", "s.toml", "t.db"]).expect(2).says("`seed` was 6 and is now 5");
    assert_eq!(dir.told("s.db"), before, "what is refused changes nothing");
    // A second backup takes the place of the first.
    dir.labcat(&["backup", "s.toml", "b.db"]).expect(0);
    dir.labcat(&["run", "s.toml", "--budget", "7"]).expect(0);
    dir.labcat(&["backup", "s.db", "b.db"]).expect(0);
    assert_eq!(dir.told("b.db").len(), 7);
}
