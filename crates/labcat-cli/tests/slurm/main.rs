//! Studies on a real Slurm, which scripts/test-slurm starts: SLURM_CONF and LABCAT_SLURM (its directory) say where it is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod campaign;
#[allow(dead_code)]
#[path = "../cli/common.rs"]
mod common;
mod kills;
mod results;
mod trouble;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{Dir, output, wait_for};

/// A program that notes that it was started, takes its time, and prints a value. What it does follows from the files `behave`
/// and `behave-ID` beside the study.
const PROGRAM: &str = r#"#!/bin/sh
echo "$SLURM_JOB_ID" >>"../../starts/$LABCAT_id"
for file in ../../behave "../../behave-$LABCAT_id"; do
  if [ -e "$file" ]; then . "$file"; fi
done
awk -v x="$1" -v y="$2" 'BEGIN { printf "%.17g\n", (x - 1)^2 + (y - 2)^2 }'
echo "$SLURM_JOB_ID" >>"../../ends/$LABCAT_id"
"#;

/// A directory with the program, and a study of it that is submitted.
fn cluster_study(name: &str, general: &str, objective: &str) -> Dir {
    let dir = Dir::new(name);
    ["starts", "ends"].iter().for_each(|name| fs::create_dir(dir.path(name)).unwrap());
    dir.write("program", PROGRAM);
    fs::set_permissions(dir.path("program"), fs::Permissions::from_mode(0o755)).unwrap();
    let objective = format!(
        "command = [\"./program\", \"{{x}}\", \"{{y}}\"]\ndirectory = \"runs/{{id}}\"\nsubmit = \"slurm\"\n{objective}\n\
         [slurm]\noptions = [\"--time=10\"]\npoll = \"500ms\""
    );
    dir.write("s.toml", &common::study(general, &objective));
    dir
}

/// Starts `labcat run`; what it says is in the file `said`.
fn start(dir: &Dir) -> Child {
    let said = fs::OpenOptions::new().create(true).append(true).open(dir.path("said")).unwrap();
    dir.command(&["run", "s.toml"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

/// How often the program was started for each evaluation.
fn starts(dir: &Dir) -> BTreeMap<u64, usize> {
    noted(dir, "starts")
}

/// What the program has noted of each evaluation: its `starts`, or its `ends`.
fn noted(dir: &Dir, what: &str) -> BTreeMap<u64, usize> {
    let lines = |path: PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let entries = fs::read_dir(dir.path(what)).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().to_str().unwrap().parse().unwrap(), lines(entry.path()))).collect()
}

/// How often each evaluation was noted to be submitted, as the journal has it.
fn submissions(dir: &Dir) -> BTreeMap<u64, usize> {
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let mut statement = db.prepare("SELECT trial, count(*) FROM job GROUP BY trial").unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as usize));
    statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}

/// The jobs in the queue whose names hold `part`: number, state and name.
fn queue(part: &str) -> Vec<(String, String, String)> {
    let listed = output(Command::new("squeue").args(["-h", "-o", "%i|%T|%j"]));
    let job = |line: &str| {
        let parts: Vec<String> = line.split('|').map(str::to_owned).collect();
        (parts[0].clone(), parts[1].clone(), parts[2].clone())
    };
    listed.expect(0).stdout.lines().map(job).filter(|(_, _, name)| name.contains(part)).collect()
}

/// What the names of a study's jobs begin with.
fn prefix(dir: &Dir) -> String {
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let id: String = db.query_row("SELECT value FROM meta WHERE key = 'id'", [], |row| row.get(0)).unwrap();
    format!("labcat-{id:.12}-")
}

/// The name of an evaluation's first job.
fn first_job(dir: &Dir, id: u64) -> String {
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let query = "SELECT name FROM job WHERE trial = ?1 AND attempt = 1";
    db.query_row(query, [id as i64], |row| row.get(0)).unwrap()
}

fn scontrol(args: &[&str]) {
    output(Command::new("scontrol").args(args)).expect(0);
}

/// The directory of the Slurm that the tests were started for.
fn slurm() -> PathBuf {
    env::var_os("LABCAT_SLURM").map(PathBuf::from).expect("scripts/test-slurm starts a Slurm and these tests")
}

fn kill_controller() {
    let pid = fs::read_to_string(slurm().join("slurmctld.pid")).unwrap();
    output(Command::new("kill").args(["-9", pid.trim()])).expect(0);
}

fn start_controller() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/slurm-one-node");
    output(Command::new(script).arg("controller").arg(slurm())).expect(0);
}

/// Waits for a run's end and gives its exit status.
fn ended(mut run: Child) -> Option<i32> {
    let mut status = None;
    wait_for("the run's end", || {
        status = run.try_wait().unwrap();
        status.is_some()
    });
    status.and_then(|status| status.code())
}

/// Sends a signal to a run.
fn signal(run: &Child, name: &str) {
    output(Command::new("kill").args([name, &run.id().to_string()])).expect(0);
}
