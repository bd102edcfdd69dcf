//! Disks that are full, directories that cannot be written, programs that misbehave: a clear line each, and the study
//! is intact.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Dir, Ended, LABCAT, built_in, is_alive, output, pending, shell, study, wait_for};
use rustix::process::{Pid, Signal, geteuid, kill_process};

#[test]
fn a_full_disk_ends_the_run_and_loses_nothing_that_was_told() {
    let text = study("budget = 80", &shell("yes 0123456789 | head -c 30000; echo; echo {x}"));
    let whole = Dir::new("disk-whole");
    whole.write("s.toml", &text);
    whole.labcat(&["run", "s.toml"]).expect(0);

    let dir = Dir::new("disk-full");
    dir.write("s.toml", &text);
    let limited = || {
        let script = format!("ulimit -f 400; exec {LABCAT} run s.toml");
        output(Command::new("bash").args(["-c", &script]).current_dir(dir.path("")))
    };
    limited().expect(1).says("the disk is full or a file-size limit is reached").says("s.db");
    let told = dir.told("s.db");
    assert!(!told.is_empty() && told.len() < 80, "{} were told before the disk was full", told.len());
    limited().expect(1);
    assert!(dir.told("s.db").starts_with(&told));
    dir.labcat(&["status", "s.toml"]).expect(0);
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db"), whole.told("s.db"), "with room again it ends like an uninterrupted run");
}

/// Where the program and the study of a test are put for a user without the rights of root.
fn public_place() -> PathBuf {
    std::env::temp_dir().join(format!("labcat-test-{}", std::process::id()))
}

/// Runs the program in a directory that cannot be written. Permissions do not bind root, so root becomes nobody, who
/// gets copies of the program and the study where everybody may go.
fn run_read_only(dir: &Dir, args: &[&str]) -> Ended {
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o555)).unwrap();
    let ended = match geteuid().is_root() {
        false => dir.labcat(args),
        true => {
            let (program, study) = (public_place().join("labcat"), public_place().join("study"));
            fs::create_dir_all(&study).unwrap();
            // By another process: a program that is still open for writing, also in a fork of another test, cannot be started.
            assert!(Command::new("cp").arg(LABCAT).arg(&program).status().unwrap().success());
            for file in ["s.toml", "s.db", "s.db-wal"] {
                if dir.path(file).exists() {
                    fs::copy(dir.path(file), study.join(file)).unwrap();
                }
            }
            fs::set_permissions(&study, fs::Permissions::from_mode(0o555)).unwrap();
            let mut nobody = Command::new("setpriv");
            nobody
                .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
                .arg(program)
                .args(args)
                .current_dir(study);
            let ended = output(&mut nobody);
            fs::remove_dir_all(public_place()).unwrap();
            ended
        }
    };
    fs::set_permissions(dir.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    ended
}

#[test]
fn a_read_only_directory_is_named_and_can_still_be_looked_at() {
    let dir = Dir::new("read-only");
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    run_read_only(&dir, &["run", "s.toml"]).expect(1).says("s.db-lock").says("directory that can be written");
    run_read_only(&dir, &["ask", "s.toml"]).expect(1).says("directory that can be written");
    assert!(!dir.path("s.db").exists());

    dir.labcat(&["run", "s.toml"]).expect(0);
    fs::remove_file(dir.path("s.db-lock")).unwrap();
    assert!(run_read_only(&dir, &["best", "s.toml"]).expect(0).stdout.starts_with("value "));
    assert_eq!(run_read_only(&dir, &["export", "s.toml"]).expect(0).stdout.lines().count(), 6);
    run_read_only(&dir, &["run", "s.toml", "--budget", "6"]).expect(1).says("directory that can be written");
    // A log that SQLite cannot take in without writing: what is in the file is shown, and that it may not be all.
    dir.write("s.db-wal", "what a killed run has left");
    let ended = run_read_only(&dir, &["status", "s.db"]);
    assert!(ended.expect(0).says("what was written last may be missing").stdout.contains("5 of 5"));
}

#[test]
fn a_missing_program_ends_the_run_and_nothing_is_spent() {
    let dir = Dir::new("missing");
    dir.write("s.toml", &study("budget = 5", "command = [\"no-such-program\", \"{x}\"]"));
    dir.labcat(&["run", "s.toml"]).expect(1).says("cannot start `no-such-program`: there is no such program");
    assert!(dir.told("s.db").is_empty());
    assert_eq!(pending(&dir.path("s.db")), 1);
    dir.labcat(&["check", "s.toml"]).expect(2).says("s.toml:14: `command`: there is no program `no-such-program`");

    dir.write("not-executable", "1");
    dir.write("s.toml", &study("budget = 5", "command = [\"./not-executable\"]"));
    dir.labcat(&["run", "s.toml"]).expect(1).says("it is not executable");

    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 5, "with the program in place the study goes on");
}

/// Runs a study of two evaluations whose command fails; gives the reasons that the journal has.
fn reasons(name: &str, objective: &str) -> String {
    let dir = Dir::new(name);
    dir.write("s.toml", &study("budget = 2", objective));
    dir.labcat(&["run", "s.toml"]).expect(1).says("every evaluation failed");
    let told = dir.told("s.db");
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|told| told.value.is_none()));
    dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone()
}

#[test]
fn programs_that_give_no_value_fail_with_a_reason() {
    for (name, script, reason) in [
        ("nothing", "true", "its output holds no value"),
        ("blank", "echo; echo '  '", "its output holds no value"),
        (
            "garbage",
            "echo 3; echo the answer is 42",
            "its output ends with the line `the answer is 42`, which is neither a number",
        ),
        ("binary", "head -c 1000 /dev/urandom; echo; echo x", "is neither a number"),
        ("nan", "echo nan", "`nan`, which is not a finite number"),
        ("object", "echo '{\"loss\": 3}'", "has no \"value\""),
        ("crash", "echo 1; echo oh no >&2; exit 3", "exit status 3"),
        ("signal", "echo 1; kill -SEGV $$", "killed by signal 11"),
    ] {
        let status = reasons(&format!("fails-{name}"), &shell(&script.replace('{', "{{").replace('}', "}}")));
        assert!(status.contains(reason), "{name}: {status}");
        assert_eq!(status.contains("| oh no"), name == "crash", "{status}");
    }
}

/// The process whose number is in the file is gone at once, but for the time that the system needs to bury it.
#[track_caller]
fn wait_for_end(dir: &Dir, file: &str) {
    let process = dir.read(file).trim().parse().unwrap();
    wait_for("the end of a process", || !is_alive(process));
}

#[test]
fn a_program_that_hangs_is_ended_with_everything_it_started() {
    let dir = Dir::new("hang");
    // The grandchild ignores the polite signal and holds the output open.
    let script = "(trap '' TERM; echo $$ > shell; exec sleep 600) & echo $! > child; wait";
    dir.write("s.toml", &study("budget = 1", &format!("{}\ntimeout = \"300ms\"", shell(script))));
    let began = Instant::now();
    dir.labcat(&["run", "s.toml"]).expect(1);
    assert!(began.elapsed() < Duration::from_secs(300));
    wait_for_end(&dir, "child");
    assert_eq!(dir.told("s.db")[0].status, "timeout");
    assert!(dir.labcat(&["status", "s.toml"]).stdout.contains("did not end within its timeout of 300ms"));
}

#[test]
fn what_a_program_leaves_running_is_ended_and_its_value_counts() {
    let dir = Dir::new("left-running");
    dir.write("s.toml", &study("budget = 1", &shell("sleep 600 & echo $! > child; echo 4.5")));
    let began = Instant::now();
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(began.elapsed() < Duration::from_secs(300));
    wait_for_end(&dir, "child");
    assert_eq!(dir.told("s.db")[0].value, Some(4.5_f64.to_bits()));
}

#[test]
fn a_gigabyte_of_output_is_survived_in_bounded_memory() {
    let dir = Dir::new("flood");
    let script = "echo first; head -c 1000000000 /dev/zero; echo; echo noise >&2; echo 2.5";
    dir.write("s.toml", &study("budget = 1", &shell(script)));
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while run.try_wait().unwrap().is_none() {
        peak = peak.max(peak_memory(run.id()));
        thread::sleep(Duration::from_millis(5));
    }
    assert!(run.wait().unwrap().success());
    println!("peak memory {peak} KiB");
    assert!(peak > 0 && peak < 64 * 1024, "{peak} KiB");
    assert_eq!(dir.told("s.db")[0].value, Some(2.5_f64.to_bits()));
    let shown = dir.labcat(&["status", "s.toml", "0"]).expect(0).stdout.clone();
    assert!(shown.contains("first") && shown.contains("bytes left out") && shown.contains("noise"));
    assert!(fs::metadata(dir.path("s.db")).unwrap().len() < 1_000_000);
}

/// The most memory a process has had, in KiB.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[test]
fn a_second_run_is_refused_while_the_first_lives_and_works_after_it_was_killed() {
    let dir = Dir::new("second");
    dir.write("s.toml", &study("budget = 2", &shell("echo $$ > started; exec sleep 600")));
    let mut first = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the first evaluation", || fs::read_to_string(dir.path("started")).is_ok_and(|text| text.ends_with('\n')));
    let holder = format!("the study is in use by labcat run (process {})", first.id());
    dir.labcat(&["run", "s.toml"]).expect(1).says(&holder);
    dir.labcat(&["ask", "s.toml"]).expect(1).says(&holder);
    assert!(dir.labcat(&["status", "s.toml"]).expect(0).stdout.contains("1 pending"));
    first.kill().unwrap();
    first.wait().unwrap();
    // The killed run could not end its command.
    let orphan: i32 = dir.read("started").trim().parse().unwrap();
    kill_process(Pid::from_raw(orphan).unwrap(), Signal::KILL).unwrap();
    dir.write("s.toml", &study("budget = 2", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 2);
}

#[test]
fn an_interrupted_run_ends_its_commands_says_so_and_resumes_exactly() {
    let text = |script: &str| study("budget = 12\nworkers = 1", &shell(script));
    let whole = Dir::new("interrupt-whole");
    whole.write("s.toml", &text("echo {x}"));
    whole.labcat(&["run", "s.toml"]).expect(0);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let dir = Dir::new("interrupt");
        dir.write("s.toml", &text("if [ {id} -ge 5 ]; then echo $$ > shell; sleep 600; fi; echo {x}"));
        // Not with a signal ignored, as under nohup.
        let mut command = Command::new("env");
        command.args(["--default-signal", LABCAT, "run", "s.toml"]).current_dir(dir.path(""));
        let run = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let sixth = || fs::read_to_string(dir.path("shell")).is_ok_and(|text| text.ends_with('\n'));
        wait_for("the sixth evaluation", sixth); // of one worker: five were told
        kill_process(Pid::from_child(&run), signal).unwrap();
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("`labcat run s.toml` resumes the study"), "{said}");
        wait_for_end(&dir, "shell");
        dir.write("s.toml", &text("echo {x}"));
        dir.labcat(&["run", "s.toml"]).expect(0);
        assert_eq!(dir.told("s.db"), whole.told("s.db"));
    }
}

#[test]
fn a_signal_that_is_ignored_from_the_start_stays_ignored() {
    let dir = Dir::new("nohup");
    dir.write("s.toml", &study("budget = 2", &shell("touch started; sleep 0.5; echo {x}")));
    let script = format!("trap '' HUP; exec {LABCAT} run s.toml");
    let mut run =
        Command::new("bash").args(["-c", &script]).current_dir(dir.path("")).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the first evaluation", || dir.path("started").exists());
    kill_process(Pid::from_child(&run), Signal::HUP).unwrap();
    assert!(run.wait().unwrap().success(), "as under nohup, the run goes on");
    assert_eq!(dir.told("s.db").len(), 2);
}

#[test]
fn failures_are_retried_penalised_or_stop_the_run() {
    let dir = Dir::new("retries");
    let flaky = shell("n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; [ $((n % 3)) = 2 ] && echo {x}");
    dir.write("s.toml", &study("budget = 4", &format!("{flaky}\nretries = 2")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(dir.told("s.db").iter().all(|told| told.status == "ok"));
    assert_eq!(dir.read("n").trim(), "12");
    assert!(dir.labcat(&["status", "s.toml", "0"]).stdout.contains("attempts: 3"));

    let dir = Dir::new("stop");
    let picky = shell("[ {id} != 3 ] && echo {x}");
    dir.write("s.toml", &study("budget = 8", &format!("{picky}\non_failure = \"stop\"")));
    dir.labcat(&["run", "s.toml"])
        .expect(1)
        .says("evaluation 3 failed and the study says on_failure = \"stop\": exit status 1");
    assert_eq!((dir.told("s.db").len(), pending(&dir.path("s.db"))), (3, 1));
    assert!(dir.labcat(&["status", "s.toml"]).stdout.contains("last attempt: exit status 1"));
    dir.write("s.toml", &study("budget = 8", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let ids: Vec<i64> = dir.told("s.db").iter().map(|told| told.id).collect();
    assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6, 7], "the failed one was tried again");

    let dir = Dir::new("penalise");
    dir.write("s.toml", &study("budget = 8", &picky));
    dir.labcat(&["run", "s.toml"]).expect(0).says("3: failed");
    let failed: Vec<bool> = dir.told("s.db").iter().map(|told| told.value.is_none()).collect();
    assert_eq!(failed, [false, false, false, true, false, false, false, false]);
}

#[test]
fn a_time_limit_starts_nothing_new_and_finishes_what_runs() {
    let dir = Dir::new("time-limit");
    dir.write("s.toml", &study("time_limit = \"1s\"", &shell("sleep 0.4; echo {x}")));
    let ended = dir.labcat(&["run", "s.toml"]);
    assert!(ended.expect(0).stdout.starts_with("stopped by the time limit after "));
    let told = dir.told("s.db").len();
    assert!((1..=3).contains(&told), "{told}");
    assert!(pending(&dir.path("s.db")) <= 1);
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let dir = Dir::new("foreign");
    dir.write("s.toml", &study("budget = 2", &built_in("sphere")));
    rusqlite::Connection::open(dir.path("s.db")).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    dir.labcat(&["run", "s.toml"]).expect(2).says("is a database of another program");
    dir.labcat(&["status", "s.toml"]).expect(2);
    let dir = Dir::new("no-database");
    dir.write("s.toml", &study("budget = 2", &built_in("sphere")));
    dir.write("s.db", &"not a database at all, but long enough to look like a file of its own\n".repeat(100));
    dir.labcat(&["run", "s.toml"]).expect(1).says("it is not a journal of labcat, or it is damaged");
    assert!(dir.read("s.db").starts_with("not a database"));
}
