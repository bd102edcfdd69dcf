//! A cause that is no fault of the points ends the run early, and what it cost is run again.

use std::fs;

use crate::common::{Dir, LABCAT, shell, study};
use serde_json::{Value, json};

#[test]
fn ten_failures_in_a_row_end_the_run_and_a_retry_makes_them_good() {
    let dir = Dir::new("in-a-row");
    // An outage from the sixth evaluation on, as long as a file is there.
    let command = shell("[ {id} -ge 5 ] && [ -e outage ] && { echo no licence >&2; exit 7; }; echo {x}");
    dir.write("s.toml", &study("budget = 30", &command.replace("{ echo", "{{ echo").replace("; }", "; }}")));
    dir.write("outage", "");
    dir.labcat(&["run", "s.toml"])
        .expect(1)
        .says("10 evaluations in a row failed, the last one (14) with: exit status 7\n  | no licence\n")
        .says("`labcat retry s.toml --failed` runs the failed evaluations again")
        .says("`labcat run s.toml` continues")
        .says("max_consecutive_failures = 0");
    let failed = |dir: &Dir| dir.told("s.db").iter().filter(|told| told.value.is_none()).count();
    assert_eq!((dir.told("s.db").len(), failed(&dir)), (15, 10), "not the whole budget of 30");

    // The cause is still there: ten more and no more, and they stay failures.
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(1).says("in a row failed");
    assert_eq!((dir.told("s.db").len(), failed(&dir)), (15, 10));

    fs::remove_file(dir.path("outage")).unwrap();
    let ended = dir.labcat(&["retry", "s.toml", "7", "8", "7"]);
    assert_eq!(ended.expect(0).stdout, "2 of 2 evaluations that had failed now have a value\n");
    assert_eq!(
        dir.labcat(&["retry", "s.toml", "--failed"]).expect(0).stdout,
        "8 of 8 evaluations that had failed now have a value\n"
    );
    let told = dir.told("s.db");
    assert_eq!((told.len(), failed(&dir)), (15, 0), "the budget has not paid for it");
    for told in &told {
        let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
        assert_eq!(told.value, Some(x[0].to_bits()), "each has the value of its own point");
    }
    assert!(dir.labcat(&["retry", "s.toml", "--failed"]).expect(0).stdout.contains("nothing to run again"));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!((dir.told("s.db").len(), failed(&dir)), (30, 0));
    let one = dir.labcat(&["status", "s.toml", "7", "--json"]).expect(0).json();
    assert_eq!((&one["attempts"], &one["corrections"][0]["cause"]), (&json!(3), &json!("retry")));
}

#[test]
fn evaluations_of_earlier_local_runs_can_be_retried_and_corrected() {
    let dir = Dir::new("retry-restarts");
    let flaky = format!("[ -e outage ] && [ $(({{id}} % 13)) = 5 ] && exit 3; {LABCAT} functions sphere {{x}} {{y}}");
    dir.write("s.toml", &study("budget = 200", &shell(&flaky)));
    dir.write("outage", "");
    dir.labcat(&["run", "s.toml"]).expect(0);
    let status = |dir: &Dir| dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert!(status(&dir)["restarts"].as_array().unwrap().len() > 1, "there are earlier runs");
    fs::remove_file(dir.path("outage")).unwrap();
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(0);
    assert_eq!(status(&dir)["failures"], 0, "the study can still be read");
    for (id, value) in [("3", "failed"), ("40", "failed"), ("41", "2.5"), ("3", "1")] {
        dir.labcat(&["correct", "s.toml", id, value]).expect(0);
        status(&dir);
    }
    dir.labcat(&["run", "s.toml", "--budget", "220"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 220);
}

#[test]
fn a_retry_says_what_it_cannot_run_again() {
    let dir = Dir::new("retry-words");
    dir.write("s.toml", &study("budget = 4", &shell("[ {id} = 2 ] || echo {x}")));
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(1).says("has not begun");
    dir.labcat(&["run", "s.toml"]).expect(0);
    dir.labcat(&["retry", "s.toml"]).expect(2).says("`labcat retry s.toml --failed` for all that failed (1)");
    dir.labcat(&["retry", "s.toml", "1"]).expect(2).says("evaluation 1 has not failed, it has a value");
    dir.labcat(&["retry", "s.toml", "9"]).expect(2).says("there is no evaluation 9: they are numbered from 0 to 3");
    dir.labcat(&["retry", "s.toml", "2", "--failed"]).expect(2);
    let ended = dir.labcat(&["retry", "s.toml", "2"]);
    ended.expect(1).says("1 evaluation failed again; `labcat status s.toml`");
    assert_eq!(ended.stdout, "0 of 1 evaluation that had failed now have a value\n");
}

#[test]
fn the_limit_is_the_studys_and_success_begins_the_count_anew() {
    let limited = |name: &str, limit: &str, script: &str| {
        let dir = Dir::new(name);
        dir.write("s.toml", &study("budget = 40", &format!("{}\n{limit}", shell(script))));
        let ended = dir.labcat(&["run", "s.toml", "--json"]);
        let end: Value = serde_json::from_str(ended.stdout.lines().last().unwrap()).unwrap();
        (ended.status.code(), end["stop"].as_str().unwrap().to_owned(), dir.told("s.db").len())
    };
    assert_eq!(limited("limit-3", "max_consecutive_failures = 3", "false"), (Some(1), "failures".into(), 3));
    assert_eq!(limited("limit-none", "max_consecutive_failures = 0", "false"), (Some(1), "budget".into(), 40));
    assert_eq!(limited("limit-10", "", "[ $(({id} % 10)) = 0 ] && echo 1"), (Some(0), "budget".into(), 40));
    let dir = Dir::new("limit-wrong");
    dir.write("s.toml", &study("", "command = [\"a\"]\nmax_consecutive_failures = -1"));
    dir.labcat(&["check", "s.toml"]).expect(2).says(":15: `max_consecutive_failures` must be an integer, 0 or more");
}

#[test]
fn many_workers_are_not_stopped_by_one_bad_batch() {
    let dir = Dir::new("batch");
    dir.write("s.toml", &study("budget = 60\nworkers = 12", &shell("[ {id} -ge 14 ] && echo 1")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 60);
}
