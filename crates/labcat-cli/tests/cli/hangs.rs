//! Nothing waits for ever: full disks, deleted journals, pipes in the place of files, programs that ask a terminal.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Dir, Ended, LABCAT, shell, study};
use rustix::process::{Pid, Signal, kill_process};

/// Quick programs that print much, four at a time: results are always waiting to be taken.
fn chatty(budget: usize) -> String {
    let objective =
        "command = [\"sh\", \"-c\", \"yes 0123456789 | head -c 20000; echo; echo {x}\"]\nkeep_output = \"64 KiB\"";
    study(&format!("budget = {budget}\nworkers = 4"), objective)
}

/// Runs a command to its end, and fails if that takes longer than ten minutes.
#[track_caller]
fn ends(command: &mut Command) -> Ended {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |pipe: &mut dyn Read| {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let stdout = thread::spawn(move || read(&mut out));
    let stderr = thread::spawn(move || read(&mut err));
    let give_up = Instant::now() + Duration::from_secs(600);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > give_up {
            kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
            panic!("it did not end");
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ended { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

#[test]
fn a_full_disk_with_quick_programs_ends_the_run_and_no_measured_value_is_lost() {
    // Limits of a file's size meet the log, the journal itself, or the files of results, one at a time.
    for blocks in [60, 150, 300, 600] {
        let dir = Dir::new(&format!("full-{blocks}"));
        dir.write("s.toml", &chatty(120));
        let script = format!("ulimit -f {blocks}; exec {LABCAT} run s.toml");
        let ended = ends(Command::new("bash").args(["-c", &script]).current_dir(dir.path("")));
        ended.expect(1).says("the disk is full or a file-size limit is reached");
        let told = dir.told("s.db").len();
        let kept = fs::read_dir(dir.path("")).unwrap().filter(|entry| {
            let path = entry.as_ref().unwrap().path();
            fs::read_to_string(&path).is_ok_and(|text| text.contains("\"value\""))
                && path.to_string_lossy().contains("db-evaluation-")
        });
        let kept = kept.count();
        assert!(kept > 0, "what could not be written down is kept: {}", ended.stderr);
        dir.labcat(&["run", "s.toml", "--budget", &(told + kept).to_string()]).expect(0).says("has been stored");
        let now = dir.told("s.db");
        assert!(now.len() >= told + kept && now.iter().all(|told| told.status == "ok"));
        for told in &now {
            let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
            assert_eq!(told.value, Some(x[0].to_bits()), "each value stands at its own point");
        }
    }
}

#[test]
fn a_full_disk_that_is_met_while_results_are_waiting_ends_the_run() {
    // Results come all the time, so that what was committed is brought into the journal's file between two of them. That file
    // reaches the limit; the log, which begins anew each time, does not.
    let dir = Dir::new("full-settling");
    let script = "printf '%020000d\\\\n' 0; sleep 0.1$(({id} * 7 % 10)); echo {x}";
    let objective = format!("command = [\"sh\", \"-c\", \"{script}\"]\nkeep_output = \"64 KiB\"");
    dir.write("s.toml", &study("budget = 4000\nworkers = 16", &objective));
    let script = format!("ulimit -f 7000; exec {LABCAT} run s.toml");
    let ended = ends(Command::new("bash").args(["-c", &script]).current_dir(dir.path("")));
    ended.expect(1).says("the disk is full or a file-size limit is reached");
    let told = dir.told("s.db").len();
    assert!(told > 50, "{told}");
    dir.labcat(&["run", "s.toml", "--budget", &(told + 20).to_string()]).expect(0);
}

#[test]
fn a_deleted_journal_with_quick_programs_ends_the_run() {
    let dir = Dir::new("deleted-quick");
    dir.write("s.toml", &chatty(4000));
    let mut run = dir.command(&["run", "s.toml"]);
    let place = dir.path("");
    let remover = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1500));
        for file in ["s.db", "s.db-wal", "s.db-shm"] {
            let _ = fs::remove_file(place.join(file));
        }
    });
    ends(&mut run).expect(1).says("was deleted or replaced while the study ran");
    remover.join().unwrap();
}

#[test]
fn a_pipe_in_the_place_of_the_value_file_is_a_failure() {
    let dir = Dir::new("fifo");
    let objective = format!("{}\nvalue_file = \"v\"", shell("mkfifo v; echo {x}"));
    dir.write("s.toml", &study("budget = 2", &objective));
    ends(&mut dir.command(&["run", "s.toml"])).expect(1);
    assert!(dir.labcat(&["status", "s.toml"]).stdout.contains("is not a regular file"));
    for (key, line) in [("template", "template = { from = \"p\" }"), ("copy", "copy = [\"p\"]")] {
        let dir = Dir::new(&format!("fifo-{key}"));
        assert!(Command::new("mkfifo").arg(dir.path("p")).status().unwrap().success());
        let objective = format!("{}\ndirectory = \"runs/{{id}}\"\n{line}", shell("echo {x}"));
        dir.write("s.toml", &study("budget = 2", &objective));
        let ended = ends(&mut dir.command(&["run", "s.toml"]));
        assert!(!ended.status.success());
        ended.says("is not a regular file");
    }
}

#[test]
fn a_program_that_asks_the_terminal_gets_none() {
    let dir = Dir::new("terminal");
    dir.write("s.toml", &study("budget = 2", &shell("read answer < /dev/tty && echo {x}")));
    // `script` gives labcat a terminal of its own.
    let inner = format!("{LABCAT} run s.toml");
    ends(Command::new("script").args(["-qec", &inner, "/dev/null"]).current_dir(dir.path("")));
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert_eq!((&status["evaluations"], &status["failures"]), (&2.into(), &2.into()), "{status}");
    assert!(dir.labcat(&["status", "s.toml", "0"]).stdout.contains("/dev/tty"));
}
