//! The file that is the study: copied, deleted, of an older version, read where nothing can be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Dir, output, shell, study, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

#[test]
fn a_copy_of_the_one_file_is_a_backup_while_a_run_goes_on() {
    let dir = Dir::new("copied");
    dir.write("s.toml", &study("budget = 8", &shell("sleep 0.4; echo {x}")));
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for n in [1, 2, 3] {
        wait_for("an evaluation", || dir.path("s.db").exists() && dir.told("s.db").len() == n);
        // In the middle of the next evaluation nothing is being written.
        std::thread::sleep(std::time::Duration::from_millis(250));
        fs::create_dir_all(dir.path("backup")).unwrap();
        fs::copy(dir.path("s.db"), dir.path("backup/s.db")).unwrap();
        let status = dir.labcat(&["status", "backup/s.db", "--json"]).expect(0).json();
        assert_eq!(status["evaluations"], json!(n), "the copy has everything that was told");
        fs::remove_dir_all(dir.path("backup")).unwrap();
    }
    kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
    run.wait().unwrap();
    let told = dir.told("s.db").len();
    fs::create_dir_all(dir.path("after")).unwrap();
    fs::copy(dir.path("s.db"), dir.path("after/s.db")).unwrap();
    fs::copy(dir.path("s.toml"), dir.path("after/s.toml")).unwrap();
    dir.labcat(&["run", "after/s.toml", "--budget", "5"]).expect(0);
    assert!(told >= 3 && dir.told("after/s.db").len() == 5, "the copy can be resumed");
}

#[test]
fn a_study_that_was_only_asked_is_whole_in_its_file_too() {
    let dir = Dir::new("copied-bench");
    dir.write("s.toml", study("budget = 8", "").split("[objective]").next().unwrap());
    // Somebody is reading all the time, so that no command is the last to close the journal.
    dir.labcat(&["ask", "s.toml"]).expect(0);
    let reader = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    reader.query_row("SELECT count(*) FROM trial", [], |row| row.get::<_, i64>(0)).unwrap();
    dir.labcat(&["tell", "s.toml", "0", "4.5"]).expect(0);
    fs::copy(dir.path("s.db"), dir.path("lone.db")).unwrap();
    assert_eq!(dir.labcat(&["best", "lone.db", "--json"]).expect(0).json()["value"], json!(4.5));
}

#[test]
fn a_journal_that_is_deleted_stops_the_run_and_is_saved() {
    deleted("deleted", &["s.db", "s.db-wal", "s.db-shm"]);
}

#[test]
fn a_log_that_is_deleted_stops_the_run_too() {
    deleted("deleted-log", &["s.db-wal"]);
}

/// Deletes files of a journal while a run goes on.
fn deleted(name: &str, files: &[&str]) {
    let dir = Dir::new(name);
    dir.write("s.toml", &study("budget = 50", &shell("echo {id} >> started; sleep 0.2; echo {x}")));
    let run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("three evaluations", || dir.path("s.db").exists() && dir.told("s.db").len() == 3);
    for file in files {
        fs::remove_file(dir.path(file)).unwrap();
    }
    let ended = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the journal s.db or its log s.db-wal was deleted or replaced while the study ran"),
        "{said}"
    );
    assert!(said.contains("what it held is in s.rescued-1.db: `labcat restore s.toml s.rescued-1.db`"), "{said}");
    assert!(dir.read("started").lines().count() <= 5, "nothing more was started");
    fs::rename(dir.path("s.rescued-1.db"), dir.path("s.db")).unwrap();
    assert!(dir.told("s.db").len() >= 3);
    dir.write("s.toml", &study("budget = 6", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 6);
}

#[test]
fn a_journal_without_its_log_is_not_called_something_else() {
    let dir = Dir::new("lone");
    dir.write("s.toml", &study("budget = 3", &shell("echo {x}")));
    // What a copy of the file alone was before anything was brought into it.
    dir.write("s.db", "");
    dir.labcat(&["status", "s.toml"]).expect(1).says("s.db is empty").says("s.db-wal was left behind");
    fs::remove_file(dir.path("s.db")).unwrap();
    dir.labcat(&["run", "s.toml"]).expect(0);
    fs::set_permissions(dir.path("s.db"), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(dir.labcat(&["status", "s.db"]).expect(0).stdout.contains("3 of 3"));
}

/// Everything that a command for the journal of the first version prints.
fn of_fixture(dir: &Dir, args: &[&str]) -> String {
    dir.labcat(args).expect(0).stdout.clone()
}

#[test]
fn a_journal_of_the_first_version_opens_and_goes_on() {
    let dir = Dir::copy_of("first-version", "crates/labcat-cli/tests/fixtures/journal-1");
    let before = fs::read(dir.path("old.db")).unwrap();
    let status = of_fixture(&dir, &["status", "old.toml"]);
    assert!(status.contains("9 of 20, 2 failed, 1 pending"), "{status}");
    assert!(status.contains("5: did not end within its timeout of 500ms") && status.contains("| no mesh"), "{status}");
    assert!(of_fixture(&dir, &["best", "old.db"]).starts_with("value 0.2784077674654948 (evaluation 7 of 9)"));
    assert!(of_fixture(&dir, &["status", "old.db", "1"]).contains("corrected: from 3.790868908360884 to 2.5"));
    assert_eq!(of_fixture(&dir, &["export", "old.db", "--all"]).lines().count(), 10);
    of_fixture(&dir, &["report", "old.db"]);
    assert_eq!(fs::read(dir.path("old.db")).unwrap(), before, "looking changes nothing");

    let told = dir.told("old.db");
    dir.labcat(&["retry", "old.toml", "3"]).expect(1);
    dir.labcat(&["run", "old.toml", "--budget", "14"]).expect(0);
    let now = dir.told("old.db");
    assert_eq!((now.len(), &now[..9]), (14, &told[..]), "what was told stays, and the study goes on");
    let export = dir.labcat(&["export", "old.toml", "--json"]).expect(0).json();
    assert_eq!(export["evaluations"][0]["command"], json!(null), "what was not recorded is not known");
    assert!(export["evaluations"][13]["command"].is_array());
}

#[test]
fn a_journal_of_a_later_version_is_left_alone() {
    let dir = Dir::new("later-version");
    dir.write("s.toml", &study("budget = 1", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    rusqlite::Connection::open(dir.path("s.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for command in ["status", "run"] {
        dir.labcat(&[command, "s.toml"]).expect(1).says("another version of labcat (format 99, this one reads 1 to 6)");
    }
}

#[test]
fn a_log_of_the_transaction_that_brings_a_newer_format_is_the_journals_own() {
    let dir = Dir::new("named-upgrade");
    dir.write("s.toml", &study("budget = 2", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    db.execute_batch(
        "ALTER TABLE trial DROP residuals; ALTER TABLE trial DROP constraint_std; PRAGMA user_version = 5",
    )
    .unwrap();
    let names = "SELECT token, previous FROM mark";
    let names = |db: &rusqlite::Connection| -> [String; 2] {
        db.query_row(names, [], |row| Ok([row.get(0)?, row.get(1)?])).unwrap()
    };
    let before = names(&db);
    drop(db);
    assert_eq!(dir.told("s.db").len(), 2, "format 5 is read as it is");
    dir.labcat(&["note", "s.toml", "0", "seen"]).expect(0);
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let format: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let after = names(&db);
    assert_eq!(format, 6);
    assert!(!after.contains(&before[0]), "a name for the new format, and one for the remark: {before:?} {after:?}");
}

#[test]
fn how_each_command_was_run_is_recorded_and_exported() {
    let dir = Dir::new("recorded");
    let script = "echo '{{\"value\": {x}, \"mass\": 2.5}}'; [ {id} != 1 ] || exit 3; [ {id} != 2 ] || kill -9 $$";
    dir.write("s.toml", &study("budget = 4", &shell(script)));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let export = dir.labcat(&["export", "s.toml", "--json"]).expect(0).json();
    let one = |id: usize| &export["evaluations"][id];
    let host = output(Command::new("uname").arg("-n")).stdout.trim().to_owned();
    for id in 0..4 {
        let words: Vec<&str> =
            one(id)["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(words[..2], ["/bin/sh", "-c"]);
        let x = one(id)["x"]["x"].as_f64().unwrap();
        assert!(
            words[2].starts_with(&format!("echo '{{\"value\": {x}, \"mass\"")),
            "the values are filled in: {words:?}"
        );
        assert_eq!(one(id)["host"], json!(host));
        assert_eq!(
            one(id)["directory"].as_str().map(Path::new),
            Some(fs::canonicalize(dir.path("")).unwrap().as_path())
        );
        let [started, ended] = ["started", "ended"].map(|key| one(id)[key].as_str().unwrap());
        assert!(started <= ended && started.len() == "2025-03-09T14:05:07.250Z".len() && ended.ends_with('Z'));
    }
    assert_eq!(one(0)["result"], json!({"value": one(0)["value"], "mass": 2.5}), "the whole object is kept");
    assert_eq!((&one(0)["exit"], &one(1)["exit"], &one(1)["signal"]), (&json!(0), &json!(3), &json!(null)));
    assert_eq!((&one(2)["exit"], &one(2)["signal"]), (&json!(null), &json!(9)));
    let csv = dir.labcat(&["export", "s.toml", "--all"]).expect(0).stdout.clone();
    let heading =
        "id,x,y,value,status,seconds,source,attempts,message,started,ended,host,exit,signal,directory,command,note";
    assert_eq!(csv.lines().next(), Some(heading));
    assert!(csv.lines().nth(2).unwrap().contains(",command,1,exit status 3,"));
    let shown = dir.labcat(&["status", "s.toml", "1"]).expect(0).stdout.clone();
    for part in ["command: /bin/sh -c 'echo ", "exit status: 3", &format!("host: {host}"), "started: 20", "ended: 20"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(dir.labcat(&["status", "s.toml", "0"]).expect(0).stdout.contains("\"mass\":2.5"));
}

#[test]
fn a_journal_of_the_third_version_that_was_killed_goes_on() {
    let dir = Dir::copy_of("third-version", "crates/labcat-cli/tests/fixtures/journal-3");
    let before = fs::read(dir.path("old.db")).unwrap();
    assert!(of_fixture(&dir, &["status", "old.toml"]).contains("7 of 12, 0 failed, 1 pending"));
    assert_eq!(of_fixture(&dir, &["backup", "old.toml", "saved.db"]), "saved.db: 7 evaluations\n");
    assert_eq!(fs::read(dir.path("old.db")).unwrap(), before, "looking and copying change nothing");
    let told = dir.told("old.db");
    dir.labcat(&["worker", "old.toml"]).expect(0);
    let now = dir.told("old.db");
    assert_eq!(
        (now.len(), &now[..7], now[7].id),
        (12, &told[..], 7),
        "what was in hand is repeated, and the study goes on"
    );
    dir.labcat(&["restore", "old.toml", "saved.db"]).expect(0);
    assert_eq!(dir.told("old.db"), told);
    assert_eq!(
        dir.labcat(&["export", "old.toml"]).expect(0).stdout.lines().next().unwrap().split(',').nth(6),
        Some("std")
    );
}
