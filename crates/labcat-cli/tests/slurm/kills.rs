//! Interrupts cancel jobs, kills leave them, and nothing is run twice.

use std::collections::BTreeMap;
use std::process::Command;

use crate::common::{Dir, output, pending, wait_for};
use crate::{cluster_study, ended, first_job, prefix, queue, signal, start, starts, submissions};

/// Every evaluation was told once, with a value, and run once.
fn each_once(dir: &Dir, budget: usize) {
    let told = dir.told("s.db");
    assert_eq!((told.len(), pending(&dir.path("s.db"))), (budget, 0), "{}", dir.read("said"));
    assert!(told.iter().all(|told| told.status == "ok"), "{told:?}");
    let starts = starts(dir);
    assert_eq!(starts.len(), budget);
    assert!(starts.values().all(|count| *count == 1), "{starts:?}");
}

#[test]
fn an_interrupt_cancels_the_jobs() {
    for name in ["-INT", "-TERM"] {
        let dir = cluster_study("slurm-interrupt", "budget = 4\nworkers = 4", "");
        dir.write("behave", "sleep 60");
        let run = start(&dir);
        wait_for("all to run", || starts(&dir).len() == 4);
        signal(&run, name);
        assert_eq!(ended(run), Some(130));
        assert!(queue(&prefix(&dir)).is_empty(), "the jobs are cancelled");
        assert!(dir.told("s.db").is_empty());
        dir.write("behave", "");
        assert_eq!(ended(start(&dir)), Some(0));
        assert_eq!((dir.told("s.db").len(), pending(&dir.path("s.db"))), (4, 0), "{}", dir.read("said"));
        assert!(submissions(&dir).values().all(|count| *count == 2));
    }
}

#[test]
fn a_kill_leaves_the_jobs_and_the_next_run_finds_them() {
    let dir = cluster_study("slurm-kill", "budget = 8\nworkers = 4", "");
    dir.write("behave", "sleep 2");
    let mut run = start(&dir);
    wait_for("all to run", || starts(&dir).len() == 4);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(queue(&prefix(&dir)).len(), 4, "the jobs go on");
    let state = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(state.contains("job "), "{state}");
    // Two of them are found while they run, and some after they have ended.
    assert_eq!(ended(start(&dir)), Some(0));
    assert!(dir.read("said").contains("looking for 4 jobs of an earlier run"));
    each_once(&dir, 8);
    assert!(submissions(&dir).values().all(|count| *count == 1), "nothing is submitted twice");
}

#[test]
fn a_study_does_not_leave_slurm_while_its_jobs_are_there() {
    let dir = cluster_study("slurm-edited", "budget = 1", "");
    dir.write("behave", "sleep 60");
    let mut run = start(&dir);
    wait_for("it to run", || starts(&dir).len() == 1);
    run.kill().unwrap();
    run.wait().unwrap();
    let text = dir.read("s.toml");
    dir.write("s.toml", text.split("[slurm]").next().unwrap().replace("\"slurm\"", "\"local\"").as_str());
    for command in ["run", "worker"] {
        dir.labcat(&[command, "s.toml"]).expect(1).says("evaluation 0 is with Slurm");
    }
    // The value is told by hand: the next run cancels the job that nobody waits for.
    dir.labcat(&["tell", "s.toml", "0", "1.5"]).expect(0);
    dir.write("s.toml", &text);
    assert_eq!(ended(start(&dir)), Some(0));
    wait_for("the job to be cancelled", || queue(&prefix(&dir)).is_empty());
}

#[test]
fn after_a_restore_nothing_that_other_jobs_have_left_is_taken_for_a_result() {
    let dir = cluster_study("slurm-restored", "budget = 1", "");
    let (one, two) = (dir.read("s.toml"), dir.read("s.toml").replace("budget = 1", "budget = 2"));
    assert_eq!(ended(start(&dir)), Some(0));
    dir.labcat(&["backup", "s.toml", "saved.db"]).expect(0);
    dir.write("s.toml", &two);
    assert_eq!(ended(start(&dir)), Some(0));
    dir.write("s.toml", &one);
    dir.labcat(&["restore", "s.toml", "saved.db"]).expect(0);
    dir.write("s.toml", &two);
    assert_eq!(ended(start(&dir)), Some(0));
    assert_eq!(starts(&dir), BTreeMap::from([(0, 1), (1, 2)]));
    assert_eq!(dir.told("s.db").len(), 2);
}

#[test]
fn a_job_that_was_submitted_just_before_a_kill_is_found_by_its_name() {
    let dir = cluster_study("slurm-name", "budget = 1", "");
    dir.write("behave", "sleep 2");
    let mut run = start(&dir);
    wait_for("it to run", || starts(&dir).len() == 1);
    run.kill().unwrap();
    run.wait().unwrap();
    // As if the kill had come before its number was learnt.
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    db.execute("UPDATE job SET number = NULL", []).unwrap();
    drop(db);
    assert_eq!(ended(start(&dir)), Some(0));
    each_once(&dir, 1);
    assert_eq!(submissions(&dir)[&0], 1);

    // As if it had come before the submission.
    let dir = cluster_study("slurm-unsubmitted", "budget = 1", "");
    dir.write("behave", "sleep 60");
    let mut run = start(&dir);
    wait_for("it to run", || starts(&dir).len() == 1);
    run.kill().unwrap();
    run.wait().unwrap();
    output(Command::new("scancel").arg(format!("--name={}", first_job(&dir, 0)))).expect(0);
    wait_for("the job's end", || queue(&prefix(&dir)).is_empty());
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    db.execute("UPDATE job SET number = NULL, name = name || '-never'", []).unwrap();
    drop(db);
    std::fs::remove_dir_all(dir.path("runs")).unwrap();
    dir.write("behave", "");
    assert_eq!(ended(start(&dir)), Some(0));
    assert!(dir.read("said").contains("its job was recorded but never submitted"));
    assert_eq!((dir.told("s.db").len(), submissions(&dir)[&0]), (1, 2));
}

#[test]
fn a_retry_leaves_the_jobs_of_an_interrupted_run_alone() {
    let dir = cluster_study("slurm-retry-beside", "budget = 3\nworkers = 3", "");
    dir.write("behave", "[ \"$LABCAT_id\" = 0 ] || sleep 4");
    dir.write("behave-0", "exit 1");
    let mut run = start(&dir);
    wait_for("the failure", || dir.path("s.db").exists() && dir.told("s.db").len() == 1 && starts(&dir).len() == 3);
    run.kill().unwrap();
    run.wait().unwrap();
    std::fs::remove_file(dir.path("behave-0")).unwrap();
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(0);
    assert_eq!(ended(start(&dir)), Some(0));
    let told = dir.told("s.db");
    assert!(told.len() == 3 && told.iter().all(|told| told.status == "ok"), "{told:?}");
    assert_eq!(starts(&dir).into_values().collect::<Vec<_>>(), [2, 1, 1], "what was running was not started again");
}
