//! 200 jobs, the controller killed twice, the run killed five times: scripts/test-slurm campaign.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{is_alive, output, pending};
use crate::{cluster_study, kill_controller, noted, signal, start, start_controller, starts, submissions};

const JOBS: usize = 200;

/// A controller that was killed may start a job again that still runs; Slurm then drains the node for a person to look at, here us.
struct Administrator(Instant);

impl Administrator {
    fn attend(&mut self) {
        if self.0.elapsed() < Duration::from_secs(1) {
            return;
        }
        self.0 = Instant::now();
        let state = output(Command::new("sinfo").args(["-N", "-h", "-p", "all", "-o", "%n %T"])).stdout;
        if let Some((node, state)) = state.trim().split_once(' ')
            && state.contains("dr")
        {
            output(Command::new("scontrol").args(["update", &format!("NodeName={node}"), "State=RESUME"]));
        }
    }
}

#[test]
#[ignore = "a few minutes: scripts/test-slurm campaign"]
fn two_hundred_jobs_with_kills_of_run_and_controller_are_evaluated_once_each() {
    let dir = cluster_study("slurm-campaign", &format!("budget = {JOBS}\nworkers = 8"), "");
    dir.write("behave", "sleep 0.$((LABCAT_id % 7))");
    let told = || if dir.path("s.db").exists() { dir.told("s.db").len() } else { 0 };
    let (began, mut run) = (Instant::now(), start(&dir));
    let mut administrator = Administrator(Instant::now());
    // At so many evaluations: the run is killed (and started again), or the controller is.
    let events =
        [(15, "run"), (40, "run"), (60, "controller"), (80, "run"), (110, "run"), (140, "controller"), (165, "run")];
    let (mut runs, mut controllers) = (0, 0);
    for (at, what) in events {
        while told() < at {
            assert!(is_alive(run.id()), "the run ended early:\n{}", dir.read("said"));
            assert!(began.elapsed() < Duration::from_secs(540), "{} of {JOBS} in {:?}", told(), began.elapsed());
            administrator.attend();
            thread::sleep(Duration::from_millis(37));
        }
        match what {
            "run" => {
                signal(&run, "-KILL");
                run.wait().unwrap();
                runs += 1;
                run = start(&dir);
            }
            _ => {
                kill_controller();
                controllers += 1;
                thread::sleep(Duration::from_secs(6));
                start_controller();
            }
        }
    }
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(580), "{} of {JOBS} in {:?}", told(), began.elapsed());
        administrator.attend();
        thread::sleep(Duration::from_millis(100));
    }
    let (told, starts, ends, submissions) = (dir.told("s.db"), starts(&dir), noted(&dir, "ends"), submissions(&dir));
    let mut ids: Vec<i64> = told.iter().map(|told| told.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let said = dir.read("said");
    let count =
        |why: &str| said.lines().filter(|line| line.contains("needs another job") && line.contains(why)).count();
    let (noted, forgotten) = (count("noted and never submitted"), count("Slurm does not know its job"));
    let (ended, gone) = (count("ended as"), count("is gone"));
    let again: usize = submissions.values().map(|count| count - 1).sum();
    println!(
        "{JOBS} jobs, run killed {runs} times, controller killed {controllers} times, {:.0} s: {} told, {} different, {} failed, {} pending\n\
         commands: {} started, {} ended, at most {} of one evaluation\n\
         noted again: {again}, of which {noted} never submitted, {forgotten} forgotten by the controller before they began, \
         {} lost by it while they ran",
        began.elapsed().as_secs_f64(),
        told.len(),
        ids.len(),
        told.iter().filter(|told| told.status != "ok").count(),
        pending(&dir.path("s.db")),
        starts.values().sum::<usize>(),
        ends.values().sum::<usize>(),
        ends.values().max().unwrap(),
        ended + gone,
    );
    assert_eq!((told.len(), ids.len(), pending(&dir.path("s.db"))), (JOBS, JOBS, 0));
    assert!(told.iter().all(|told| told.status == "ok"), "{said}");
    assert_eq!((ends.len(), ends.values().max()), (JOBS, Some(&1)), "each command ended once: {ends:?}");
    assert_eq!(again, noted + forgotten + ended + gone, "no job is noted again without a cause: {said}");
    assert!(starts.values().sum::<usize>() <= JOBS + ended + gone, "nothing starts again but what was lost: {said}");
}

#[test]
#[ignore = "Slurm's shortest time limit is a minute: scripts/test-slurm campaign"]
fn the_time_limit_of_slurm_is_a_timeout() {
    let dir = cluster_study("slurm-time-limit", "budget = 2\nworkers = 2", "");
    dir.write("s.toml", &dir.read("s.toml").replace("--time=10", "--time=1"));
    dir.write("behave-0", "sleep 600");
    let (began, mut run) = (Instant::now(), start(&dir));
    while run.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(240), "{}", dir.read("said"));
        thread::sleep(Duration::from_millis(200));
    }
    let shown = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
    println!("time limit: {shown}");
    assert_eq!(shown["status"], "timeout");
    assert!(
        shown["message"].as_str().unwrap().contains("ended as TIMEOUT: its time limit in Slurm was over"),
        "{shown}"
    );
}
