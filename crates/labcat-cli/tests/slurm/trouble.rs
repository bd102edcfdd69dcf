//! The cluster itself is in trouble: these tests run alone.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::common::{output, wait_for};
use crate::{
    cluster_study, ended, first_job, kill_controller, queue, scontrol, start, start_controller, starts, submissions,
};

#[test]
fn a_node_that_fails_and_a_job_that_is_preempted_cost_no_evaluation() {
    let dir = cluster_study("slurm-node", "budget = 2\nworkers = 2", "");
    dir.write("behave", "[ \"$(wc -l <\"../../starts/$LABCAT_id\")\" -gt 1 ] || sleep 60");
    let run = start(&dir);
    wait_for("both to run", || starts(&dir).len() == 2);
    let node = output(Command::new("sinfo").args(["-N", "-h", "-p", "all", "-o", "%n"])).stdout.trim().to_owned();
    // A job of higher priority takes the whole node from one of them; then the node itself fails.
    let (name, first) = (format!("NodeName={node}"), first_job(&dir, 0));
    output(Command::new("sbatch").args([
        "--partition=urgent",
        "--exclusive",
        "--time=1",
        "--output=/dev/null",
        "--wrap",
        "sleep 0.1",
    ]))
    .expect(0);
    wait_for("the preemption", || queue(&first).is_empty());
    wait_for("a second attempt", || starts(&dir).get(&0) == Some(&2) && starts(&dir).get(&1) == Some(&2));
    assert_eq!(ended(run), Some(0), "{}", dir.read("said"));
    let said = dir.read("said");
    assert!(said.contains("needs another job: Slurm job") && said.contains("ended as PREEMPTED"), "{said}");

    let dir = cluster_study("slurm-node-fail", "budget = 1", "");
    dir.write("behave", "[ \"$(wc -l <../../starts/0)\" -gt 1 ] || sleep 60");
    let run = start(&dir);
    wait_for("it to run", || starts(&dir).len() == 1);
    scontrol(&["update", &name, "State=DOWN", "Reason=test"]);
    wait_for("the loss", || dir.read("said").contains("ended as NODE_FAIL"));
    // It may have come back by itself.
    output(Command::new("scontrol").args(["update", &name, "State=RESUME"]));
    assert_eq!(ended(run), Some(0), "{}", dir.read("said"));
    assert_eq!(dir.labcat(&["status", "s.toml", "--json"]).json()["failures"], 0);
    assert_eq!(submissions(&dir)[&0], 2);
}

#[test]
fn a_controller_that_is_down_is_waited_for() {
    let dir = cluster_study("slurm-controller", "budget = 8\nworkers = 2", "");
    dir.write("behave", "sleep 0.5");
    let run = start(&dir);
    wait_for("some to be told", || dir.path("s.db").exists() && dir.told("s.db").len() >= 2);
    kill_controller();
    wait_for("the run to notice", || dir.read("said").contains("Slurm does not answer"));
    thread::sleep(Duration::from_secs(1));
    start_controller();
    assert_eq!(ended(run), Some(0), "{}", dir.read("said"));
    assert!(dir.read("said").contains("Slurm answers again, after "));
    let told = dir.told("s.db");
    assert!(told.len() == 8 && told.iter().all(|told| told.status == "ok"), "{told:?}");
    assert!(starts(&dir).values().all(|count| *count == 1));
}
