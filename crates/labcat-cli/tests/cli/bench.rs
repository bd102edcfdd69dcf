//! People in the loop: the study is the state, and days may pass between two commands.

use crate::common::{Dir, Ended, built_in, study};
use serde_json::Value;

/// A study without a command.
fn bench(name: &str, general: &str) -> Dir {
    let dir = Dir::new(name);
    let text = study(general, "");
    dir.write("s.toml", text.split("[objective]").next().unwrap());
    dir
}

fn asked(ended: &Ended) -> Vec<Value> {
    ended.expect(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn asking_and_telling_by_hand_gives_the_suggestions_of_a_run() {
    let run = Dir::new("bench-run");
    run.write("s.toml", &study("budget = 15\nseed = 2", &built_in("booth")));
    run.labcat(&["run", "s.toml"]).expect(0);

    let dir = bench("bench-hand", "budget = 15\nseed = 2");
    for id in 0..15 {
        let point = asked(&dir.labcat(&["ask", "s.toml", "--json"])).remove(0);
        assert_eq!(point["id"], id);
        let [x, y] = ["x", "y"].map(|name| point["x"][name].to_string());
        let value = dir.labcat(&["functions", "booth", &x, &y]).expect(0).stdout.trim().to_owned();
        dir.labcat(&["tell", if id % 2 == 0 { "s.toml" } else { "s.db" }, &id.to_string(), &value]).expect(0);
    }
    assert_eq!(dir.told("s.db"), run.told("s.db"));
    dir.labcat(&["ask", "s.toml"]).expect(1).says("the study has stopped (budget)");
}

#[test]
fn several_points_are_told_in_any_order_withdrawn_and_counted() {
    let dir = bench("bench-order", "budget = 6");
    let points = asked(&dir.labcat(&["ask", "s.toml", "-n", "4", "--json"]));
    let mut places: Vec<String> = points.iter().map(|point| point["x"].to_string()).collect();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), 4, "four different points");
    dir.labcat(&["tell", "s.toml", "2", "-3.5e-2"]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "failed"]).expect(0);
    dir.labcat(&["cancel", "s.toml", "3"]).expect(0);
    let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(status.contains("2 of 6, 1 failed, 1 pending") && status.contains("\n  1: x = "), "{status}");
    for (args, part) in [
        (["tell", "s.toml", "2", "1"], "evaluation 2 already has a result"),
        (["tell", "s.toml", "3", "1"], "evaluation 3 is not pending"),
        (["tell", "s.toml", "77", "1"], "(pending: 1)"),
        (["tell", "s.toml", "1", "abc"], "\"abc\" is not a value: write a finite number"),
        (["tell", "s.toml", "1", "nan"], "\"nan\" is not a value"),
        (["tell", "s.toml", "-1", "3"], "-1"),
        (["correct", "s.toml", "1", "3"], "evaluation 1 has no result yet"),
        (["correct", "s.toml", "2", "inf"], "\"inf\" is not a value"),
    ] {
        dir.labcat(&args).expect(2).says(part);
    }
    dir.labcat(&["cancel", "s.toml", "2"]).expect(2);
    // The budget counts what is told and pending: three more.
    let ended = dir.labcat(&["ask", "s.toml", "-n", "5"]);
    ended.expect(1).says("only 3 points of 5 could be given").says("tell or cancel them first");
    assert_eq!(ended.stdout.lines().count(), 3, "those that could be given are");
}

#[test]
fn a_mistyped_value_is_corrected_everywhere() {
    let (right, wrong) = (bench("typed-right", "budget = 20"), bench("typed-wrong", "budget = 20"));
    for id in 0..8 {
        for dir in [&right, &wrong] {
            let point = asked(&dir.labcat(&["ask", "s.toml", "--json"])).remove(0);
            let value = point["x"]["x"].as_f64().unwrap().powi(2) + point["x"]["y"].as_f64().unwrap().abs();
            let typed = if std::ptr::eq(dir, &wrong) && id == 7 { value * 100.0 } else { value };
            dir.labcat(&["tell", "s.toml", &id.to_string(), &typed.to_string()]).expect(0);
        }
    }
    let value = f64::from_bits(right.told("s.db")[7].value.unwrap()).to_string();
    let ended = wrong.labcat(&["correct", "s.toml", "7", &value]);
    assert!(ended.expect(0).stdout.contains(&format!("is corrected to {value}")));
    assert_eq!(wrong.told("s.db"), right.told("s.db"));
    let best = |dir: &Dir| dir.labcat(&["best", "s.toml"]).expect(0).stdout.clone();
    assert_eq!(best(&wrong), best(&right));
    assert_eq!(asked(&wrong.labcat(&["ask", "s.toml", "--json"]))[0]["id"], 8, "the study goes on");
    let db = rusqlite::Connection::open(wrong.path("s.db")).unwrap();
    let noted: (i64, f64) =
        db.query_row("SELECT id, was FROM correction", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(noted.0, 7, "the correction is on record");
    assert!((noted.1 / value.parse::<f64>().unwrap() - 100.0).abs() < 1e-9);
}

#[test]
fn what_was_measured_before_is_imported_all_or_nothing() {
    let dir = bench("import", "budget = 30\ndirection = \"maximize\"");
    dir.write("known.csv", "run, y ,value,x,status\n1,2.5,10,-1,ok\n2,3.5,12.5,-1,\n# a comment\n3,4,,0,failed\n");
    assert_eq!(dir.labcat(&["import", "s.toml", "known.csv"]).expect(0).stdout, "3 evaluations imported\n");
    let ended = dir.labcat(&["import", "s.toml", "known.csv"]);
    assert_eq!(ended.expect(0).stdout, "0 evaluations imported, 3 rows skipped: the study already has them\n");
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert_eq!((best["value"].as_f64(), best["x"]["y"].as_f64()), (Some(12.5), Some(3.5)));
    for (text, part) in [
        ("x,value\n1,2\n", "bad.csv:1: there is no column `y`"),
        ("x,y,value\n1,2,3\n1,2,abc\n", "bad.csv:3: value is \"abc\", which is not a number"),
        ("x,y,value\n1,2,3\n99,2,3\n", "bad.csv:3: "),
        ("x,y,value\n1,2\n", "bad.csv:2: it has 2 cells, the first line has 3; nothing was imported"),
        (
            "",
            "bad.csv:1: there is no column `x`: the first line must name each parameter and value; the file has no lines",
        ),
        ("x;y;value\n1;2;3\n", "its cells seem to be separated by ';': write commas"),
        ("x,y,value\n1,2,\n", "bad.csv:2: value is empty: write a number, or `failed` in a column named status"),
        ("x,y,value,status\n1,2,3,maybe\n", "status is \"maybe\": write ok, failed or timeout"),
    ] {
        dir.write("bad.csv", text);
        dir.labcat(&["import", "s.toml", "bad.csv"]).expect(2).says(part);
        assert_eq!(dir.told("s.db").len(), 3, "nothing was taken in");
    }
    dir.labcat(&["import", "s.toml", "absent.csv"]).expect(2).says("there is no file absent.csv");

    // What one study exports another one of the same parameters takes in.
    dir.write("known2.csv", &dir.labcat(&["export", "s.toml"]).expect(0).stdout);
    let other = bench("import-other", "budget = 30\ndirection = \"maximize\"\nseed = 9");
    other.write("known2.csv", &dir.read("known2.csv"));
    other.labcat(&["import", "s.toml", "known2.csv"]).expect(0);
    let values = |dir: &Dir| dir.told("s.db").iter().map(|told| told.value).collect::<Vec<_>>();
    assert_eq!(values(&other), values(&dir));
}

#[test]
fn start_values_come_first() {
    let dir = bench("start", "budget = 9");
    let text = dir.read("s.toml").replace("high = 10\n", "high = 10\nstart = 1.25\n");
    dir.write("s.toml", &text);
    let point = asked(&dir.labcat(&["ask", "s.toml", "--json"])).remove(0);
    assert_eq!((point["x"]["x"].as_f64(), point["x"]["y"].as_f64()), (Some(1.25), Some(1.25)));
}

#[test]
fn many_tells_at_the_same_time_are_all_taken() {
    let dir = bench("bench-parallel", "budget = 40");
    dir.labcat(&["ask", "s.toml", "-n", "12"]).expect(0);
    let tells: Vec<_> = (0..12)
        .map(|id| {
            dir.command(&["tell", "s.toml", &id.to_string(), "1.5"])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut tell in tells {
        assert!(tell.wait().unwrap().success());
    }
    assert_eq!(dir.told("s.db").len(), 12);
}

#[test]
fn run_takes_up_what_ask_has_given_out() {
    let dir = bench("mixed", "budget = 5");
    dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0).says("2 pending suggestions to be run again");
    assert_eq!(dir.told("s.db").len(), 5);
}

#[test]
fn the_noise_of_values_survives_export_and_import() {
    let dir = Dir::new("import-std");
    for (name, noise) in [("s.toml", "auto"), ("t.toml", "auto")] {
        dir.write(name, &format!("[study]\nbudget = 9\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\n[optimizer]\nnoise = \"{noise}\"\n"));
    }
    dir.write("in.csv", "x,value,std\r\n0.25,1.5,0.125\r\n0.5,2.5,\r\n");
    dir.labcat(&["import", "s.toml", "in.csv"]).expect(0);
    let exported = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    assert!(
        exported.starts_with("id,x,value,status,seconds,std\n0,0.25,1.5,ok,,0.125\n1,0.5,2.5,ok,,\n"),
        "{exported}"
    );
    dir.write("out.csv", &exported);
    dir.labcat(&["import", "t.toml", "out.csv"]).expect(0);
    assert_eq!(dir.labcat(&["export", "t.toml"]).expect(0).stdout, exported);
    let result = &dir.labcat(&["export", "t.toml", "--json"]).json()["evaluations"][0]["result"];
    assert_eq!(result["std"], 0.125);
    dir.write("bad.csv", "x,value,std\r\n0.1,1,-1\r\n");
    dir.labcat(&["import", "t.toml", "bad.csv"]).expect(2).says("bad.csv:2: it has a \"std\" of -1");
}

#[test]
fn lines_are_counted_the_same_whatever_ends_them() {
    let dir = Dir::new("import-lines");
    dir.write("s.toml", "[study]\nbudget = 9\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\n");
    for end in ["\n", "\r\n", "\r"] {
        dir.write("in.csv", &["x,value", "0.1,1", "# a comment", "0.2,2", "0.3,bad", ""].join(end));
        dir.labcat(&["import", "s.toml", "in.csv"]).expect(2).says("in.csv:5: value is \"bad\"");
    }
}
