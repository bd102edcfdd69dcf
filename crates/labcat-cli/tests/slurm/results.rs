//! What a job gives is what a local command gives; what Slurm knows of its end is in the message.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Dir, LABCAT, Told, output, pending, study, wait_for};
use crate::{cluster_study, ended, first_job, start, starts, submissions};

/// Runs the same study with and without Slurm, one evaluation at a time: the histories are the same, bit for bit.
fn same_as_local(name: &str, objective: &str) -> Vec<Told> {
    let histories = ["local", "slurm"].map(|place| {
        let dir = Dir::new(&format!("slurm-{name}-{place}"));
        dir.write("deck.in", "x <<x>>\ny <<y>>\n");
        dir.write("data", "3\n");
        let submit = format!("{objective}\ndirectory = \"runs/{{id}}\"\nsubmit = \"{place}\"");
        let poll = if place == "slurm" { "\n[slurm]\npoll = \"500ms\"" } else { "" };
        dir.write("s.toml", &study("budget = 3", &(submit + poll)));
        dir.labcat(&["run", "s.toml"]).expect(0);
        dir.told("s.db")
    });
    assert_eq!(histories[0], histories[1], "{name}");
    let [_, slurm] = histories;
    slurm
}

#[test]
fn every_form_of_value_is_what_it_is_in_a_local_run() {
    let last_line =
        same_as_local("line", &format!("command = [{LABCAT:?}, \"functions\", \"branin\", \"{{x}}\", \"{{y}}\"]"));
    assert!(last_line.iter().all(|told| told.status == "ok"));
    same_as_local(
        "json",
        "shell = true\ncommand = '''echo noise; echo \"{{\\\"value\\\": $LABCAT_x, \\\"std\\\": 0.5}}\"'''",
    );
    same_as_local("file", "shell = true\ncommand = 'echo {x} > out.txt'\nvalue_file = \"out.txt\"");
    same_as_local(
        "deck",
        "command = [\"sh\", \"-c\", \"cat deck.in data | awk '{{s += $NF}} END {{print \\\"sum = \\\" s}}' > log\"]\n\
         copy = [\"data\"]\ntemplate = { from = \"deck.in\", marks = [\"<<\", \">>\"] }\n\
         value = { file = \"log\", regex = 'sum = (\\S+)' }\nenvironment = { A = \"it's $(b)\" }",
    );
    same_as_local(
        "parameters",
        "command = [\"python3\", \"-c\", \"import json; p = json.load(open('p.json')); print(p['x'] + p['y'])\"]\n\
         parameters_file = \"p.json\"",
    );
}

#[test]
fn failures_are_told_with_their_reasons() {
    let dir = cluster_study("slurm-failures", "budget = 7\nworkers = 7", "timeout = \"2s\"\nretries = 0");
    for (id, behaviour) in [
        (0, "echo hopeless >&2; exit 3"),
        (1, "kill -9 $$"),
        (2, "sleep 30"),
        (3, "echo nonsense; exit 0"),
        (4, "sleep 1.5"),
    ] {
        dir.write(&format!("behave-{id}"), behaviour);
    }
    let run = start(&dir);
    wait_for("evaluation 4 to run", || dir.path("starts/4").exists());
    // Somebody else cancels a job.
    output(Command::new("scancel").arg(format!("--name={}", first_job(&dir, 4)))).expect(0);
    assert_eq!(ended(run), Some(0), "{}", dir.read("said"));
    for (id, status, part) in [
        (0, "failed", "exit status 3"),
        (1, "failed", "killed by signal 9"),
        (2, "timeout", "did not end within its timeout of 2s"),
        (3, "failed", "is neither a number nor"),
        (4, "failed", "ended as CANCELLED: somebody cancelled it"),
        (5, "ok", ""),
        (6, "ok", ""),
    ] {
        let shown = dir.labcat(&["status", "s.toml", &id.to_string(), "--json"]).expect(0).json();
        assert_eq!(shown["status"], status, "{shown}");
        assert!(shown["message"].as_str().unwrap_or_default().contains(part), "{shown}");
        assert!(shown["directory"].as_str().unwrap().ends_with(&format!("runs/{id}")), "{shown}");
    }
    let shown = dir.labcat(&["status", "s.toml", "0", "--json"]).json();
    assert_eq!((shown["stderr"].as_str(), shown["exit"].as_i64()), (Some("hopeless\n"), Some(3)));
    assert!(starts(&dir).values().all(|count| *count == 1));
    // What failed is run again, as a job of its own.
    (0..5).for_each(|id| fs::remove_file(dir.path(&format!("behave-{id}"))).unwrap());
    let retried = dir.labcat(&["retry", "s.toml", "--failed"]);
    assert!(retried.expect(0).stdout.contains("5 of 5 evaluations"), "{}", retried.stdout);
    assert_eq!(submissions(&dir).values().sum::<usize>(), 12);
}

#[test]
fn a_failure_is_tried_again_as_often_as_the_study_wants() {
    let dir = cluster_study("slurm-retries", "budget = 1", "retries = 2");
    dir.write("behave-0", "[ \"$(wc -l <../../starts/0)\" -gt 2 ] || exit 9");
    assert_eq!(ended(start(&dir)), Some(0), "{}", dir.read("said"));
    assert_eq!(dir.labcat(&["status", "s.toml", "0", "--json"]).json()["attempts"], 3);
    assert_eq!((starts(&dir)[&0], submissions(&dir)[&0]), (3, 3));
}

#[test]
fn what_slurm_does_not_take_ends_the_run_and_costs_nothing() {
    let dir = cluster_study("slurm-refused", "budget = 5\nworkers = 2", "");
    let text = dir.read("s.toml");
    dir.write("s.toml", &text.replace("--time=10", "--partition=nowhere"));
    let run = dir.labcat(&["run", "s.toml"]);
    run.expect(1).says("Slurm does not take evaluation ").says("invalid partition").says("the study is intact");
    assert!(dir.told("s.db").is_empty() && starts(&dir).is_empty());
    dir.write("s.toml", &text.replace("./program", "./missing"));
    dir.labcat(&["run", "s.toml"]).expect(1).says("cannot start ").says("missing").says("on the node");
    assert!(dir.told("s.db").is_empty());
    dir.write("s.toml", &text);
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!((dir.told("s.db").len(), pending(&dir.path("s.db"))), (5, 0));
}

#[test]
fn directories_that_the_nodes_do_not_see_are_named() {
    let dir = cluster_study("slurm-not-shared", "budget = 3", "");
    fs::create_dir(dir.path("runs")).unwrap();
    // Only this process sees what is mounted in its own namespace.
    let script = format!("mount -t tmpfs none runs && exec {LABCAT} run s.toml");
    let run = output(Command::new("unshare").args(["--mount", "sh", "-c", &script]).current_dir(dir.path(".")));
    run.expect(1).says("left nothing in ").says("share with this machine").says("the study is intact");
    assert!(dir.told("s.db").is_empty());
}

#[test]
fn a_job_that_ran_out_of_memory_says_so() {
    let dir = cluster_study("slurm-memory", "budget = 2\nworkers = 2", "");
    dir.write("behave-0", "kill -9 $$");
    // Without control groups Slurm cannot find out itself: it is told what it would find.
    let real = output(Command::new("sh").args(["-c", "command -v squeue"])).stdout.trim().to_owned();
    fs::create_dir(dir.path("bin")).unwrap();
    dir.write("bin/squeue", &format!("#!/bin/sh\n{real} \"$@\" | sed 's/|FAILED|/|OUT_OF_MEMORY|/'\n"));
    fs::set_permissions(dir.path("bin/squeue"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path("bin").display(), std::env::var("PATH").unwrap());
    output(dir.command(&["run", "s.toml"]).env("PATH", path)).expect(0);
    let shown = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
    assert_eq!((&shown["status"], &shown["signal"]), (&"failed".into(), &9.into()), "{shown}");
    let message = shown["message"].as_str().unwrap();
    assert!(message.ends_with("ended as OUT_OF_MEMORY: it needs more than the memory it has"), "{message}");
}
