//! Studies for Slurm on a machine that has none. What they do where there is one is in tests/slurm.

use std::fs::File;

use crate::common::{Dir, study, wait_for};

const SUBMIT: &str = "command = [\"echo\", \"{x}{y}\"]\ndirectory = \"runs/{id}\"\nsubmit = \"slurm\"\n";

#[test]
fn what_is_wrong_with_a_study_for_slurm_is_told_with_its_line() {
    let dir = Dir::new("cluster-wrong");
    for (objective, parts) in [
        (SUBMIT.replace("slurm", "pbs"), &["`submit` cannot be \"pbs\"", "\"slurm\""][..]),
        (SUBMIT.replace("directory = \"runs/{id}\"\n", ""), &["`submit` needs a directory for each evaluation"]),
        (SUBMIT.replace("submit = \"slurm\"", "[slurm]"), &["[slurm] is there but evaluations are not submitted"]),
        (format!("{SUBMIT}[slurm]\noption = []"), &["option", "options"]),
        (format!("{SUBMIT}[slurm]\noptions = \"--mem=4G\""), &["`options` must be a list"]),
        (format!("{SUBMIT}[slurm]\noptions = [\"--array=1-9\"]"), &["cannot hold --array: labcat decides that"]),
        (format!("{SUBMIT}[slurm]\noptions = [\"-Jname\"]"), &["cannot hold -J: labcat decides that"]),
        (format!("{SUBMIT}[slurm]\noptions = [\"long\"]"), &["`options` cannot hold \"long\""]),
        (format!("{SUBMIT}[slurm]\npoll = \"often\""), &["`poll` must be a span of time"]),
    ] {
        dir.write("s.toml", &study("budget = 3", &objective));
        let said = dir.labcat(&["check", "s.toml"]);
        for part in parts {
            said.expect(2).says(part);
        }
    }
    let right = format!("{SUBMIT}[slurm]\noptions = [\"--time=1:00:00\", \"-p\", \"long\", \"-n4\"]\npoll = \"30s\"");
    dir.write("s.toml", &study("budget = 3", &right));
    dir.labcat(&["check", "s.toml"]).expect(0);
}

#[test]
fn without_slurm_a_run_ends_and_costs_nothing() {
    let dir = Dir::new("cluster-none");
    dir.write("s.toml", &study("budget = 3\nworkers = 2", SUBMIT));
    let nowhere = dir.path(".");
    let ended = crate::common::output(dir.command(&["run", "s.toml"]).env("PATH", nowhere));
    ended
        .expect(1)
        .says("cannot start `sbatch`: ")
        .says("is Slurm installed on this machine?")
        .says("the study is intact");
    assert!(dir.told("s.db").is_empty());
    // The study can go on without it: nothing is with Slurm.
    dir.write("s.toml", &study("budget = 3\nworkers = 2", &SUBMIT.replace("{x}{y}", "1").replace("slurm", "local")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 3);
}

#[test]
fn the_workers_of_a_study_for_slurm_are_its_jobs() {
    let dir = Dir::new("cluster-worker");
    dir.write("s.toml", &study("budget = 3", SUBMIT));
    dir.labcat(&["worker", "s.toml"]).expect(2).says("its workers are Slurm's jobs; write `labcat run s.toml`");
}

#[test]
fn a_worker_runs_nothing_of_a_study_that_is_edited_to_submit_its_evaluations() {
    let dir = Dir::new("cluster-edited");
    let local = study(
        "budget = 2",
        &SUBMIT.replace("\"echo\", \"{x}{y}\"", "\"sh\", \"-c\", \"sleep 1; echo 1\"").replace("slurm", "local"),
    );
    dir.write("s.toml", &local);
    let said = File::create(dir.path("said")).unwrap();
    let mut worker = dir.command(&["worker", "s.toml"]).stderr(said).spawn().unwrap();
    wait_for("an evaluation", || dir.path("runs/0").exists());
    dir.write("s.toml", &local.replace("\"local\"", "\"slurm\""));
    wait_for("the worker to wait", || dir.read("said").contains("its workers are Slurm's jobs"));
    wait_for("what it had in hand to be told", || dir.told("s.db").len() == 1);
    dir.write("s.toml", &local);
    assert!(worker.wait().unwrap().success());
    assert_eq!(dir.told("s.db").len(), 2);
}
