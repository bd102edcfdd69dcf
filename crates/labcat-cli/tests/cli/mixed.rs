//! Studies of integers, categories, booleans, conditions and fixed values.

use std::collections::HashSet;
use std::process::Stdio;

use crate::common::{Dir, shell, wait_for};

/// Twelve configurations; the sixth evaluation waits for a file `go`, so that a run can be killed half-way.
fn twelve() -> String {
    let objective = shell(
        "[ {id} -lt 5 ] || [ -e go ] || exec sleep 600; test {c} = true && c=1 || c=0; test {b} = v && b=1 || b=0; echo $(({a} + b - c))",
    );
    format!(
        "[study]\nbudget = 100\n\
         [[parameter]]\nname = \"a\"\ntype = \"integer\"\nlow = 1\nhigh = 3\n\
         [[parameter]]\nname = \"b\"\ntype = \"categorical\"\nchoices = [\"u\", \"v\"]\n\
         [[parameter]]\nname = \"c\"\ntype = \"boolean\"\n\
         [objective]\n{objective}\n"
    )
}

#[test]
fn twelve_points_are_evaluated_once_each_though_the_run_is_killed() {
    let dir = Dir::new("mixed-twelve");
    dir.write("s.toml", &twelve());
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("five evaluations", || dir.path("s.db").exists() && dir.told("s.db").len() == 5);
    run.kill().unwrap();
    run.wait().unwrap();
    dir.write("go", "");
    let ended = dir.labcat(&["run", "s.toml"]);
    assert!(ended.expect(0).stdout.contains("exhausted"), "{}", ended.stdout);
    let told = dir.told("s.db");
    let different: HashSet<&String> = told.iter().map(|told| &told.x).collect();
    assert_eq!((told.len(), different.len()), (12, 12));
    let best = dir.labcat(&["best", "s.toml", "--json"]).json();
    assert_eq!(best["x"], serde_json::json!({"a": 1, "b": "u", "c": true}));
    assert_eq!(best["stop"], "exhausted");
    dir.labcat(&["ask", "s.toml"]).expect(1).says("every configuration was evaluated");
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 12, "run again, it has nothing to do");
}

const CONDITIONAL: &str = "[study]\nbudget = 20\n\
    [[parameter]]\nname = \"solver\"\ntype = \"categorical\"\nchoices = [\"lu\", \"qr\", \"svd\"]\n\
    [[parameter]]\nname = \"rate\"\nlow = 1e-3\nhigh = 1\nscale = \"log\"\nwhen = { solver = [\"lu\", \"qr\"] }\n\
    [[parameter]]\nname = \"n\"\ntype = \"integer\"\nlow = 0\nhigh = 10\nstep = 5\n\
    [[parameter]]\nname = \"threads\"\ntype = \"fixed\"\nvalue = 4\n";

#[test]
fn values_of_all_types_go_out_and_come_back() {
    let dir = Dir::new("mixed-values");
    let command = shell("cat p.json >> seen; echo >> seen; echo \"$(({n} + {threads}))\"");
    dir.write("s.toml", &format!("{CONDITIONAL}[objective]\n{command}\nparameters_file = \"p.json\"\n"));
    let checked = dir.labcat(&["check", "s.toml"]);
    for part in ["solver one of lu, qr, svd", "n from 0 to 10, integers in steps of 5", "threads fixed at 4"] {
        assert!(checked.expect(0).stdout.contains(part), "{}", checked.stdout);
    }
    dir.write("never.toml", &CONDITIONAL.replace("[\"lu\", \"qr\"]", "[]"));
    dir.labcat(&["check", "never.toml"]).expect(2).says("`when` names no value of `solver`: write when = { solver = ");
    dir.labcat(&["run", "s.toml"]).expect(0);
    for line in dir.read("seen").lines().filter(|line| !line.trim().is_empty()) {
        let point: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(point["threads"], 4);
        assert!(point["n"].is_i64());
        assert_eq!(point.get("rate").is_some(), point["solver"] != "svd", "{line}");
    }
    let table = dir.labcat(&["export", "s.toml", "--csv"]).stdout;
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert!(rows.iter().all(|row| ["lu", "qr", "svd"].contains(&row.split(',').nth(1).unwrap())), "{table}");
    assert!(rows.iter().filter(|row| row.contains("svd")).all(|row| row.contains("svd,,")), "{table}");
    // The table can be taken in by another study, and once more changes nothing.
    dir.write("t.toml", CONDITIONAL);
    dir.write("data.csv", &table);
    let taken = dir.labcat(&["import", "t.toml", "data.csv"]);
    assert!(taken.expect(0).stdout.contains("20 evaluations imported"), "{}", taken.stdout);
    let again = dir.labcat(&["import", "t.toml", "data.csv"]);
    assert!(again.expect(0).stdout.contains("0 evaluations imported"), "{}", again.stdout);
    assert_eq!(dir.labcat(&["export", "t.toml", "--json"]).json()["evaluations"].as_array().unwrap().len(), 20);
    dir.write("bad.csv", "solver,rate,n,threads,value\ncholesky,0.1,5,4,1\n");
    dir.labcat(&["import", "t.toml", "bad.csv"]).expect(2).says("which is none of lu, qr, svd");
    dir.write("between.csv", "solver,rate,n,threads,value\nlu,0.1,3,4,1\n");
    dir.labcat(&["import", "t.toml", "between.csv"]).expect(2).says("n = 3 is not allowed: it must be one of 0, 5");
    // The page has the labels, and null where a parameter does not apply.
    dir.labcat(&["report", "s.toml", "-o", "page.html"]).expect(0);
    assert!(dir.read("page.html").contains(r#""labels":["lu","qr","svd"]"#));
}

#[test]
fn init_writes_parameters_of_all_types() {
    let dir = Dir::new("mixed-init");
    let parameters =
        ["-p", "layers:1:8:int", "-p", "width:16:1024:int:log", "-p", "solver:lu|qr|svd", "-p", "flag:bool"];
    let arguments = [&["init", "s.toml"][..], &parameters, &["--", "true"]].concat();
    dir.labcat(&arguments).expect(0);
    let text = dir.read("s.toml");
    for part in ["type = \"integer\"\nlow = 1\nhigh = 8", "choices = [\"lu\", \"qr\", \"svd\"]", "type = \"boolean\""] {
        assert!(text.contains(part), "{text}");
    }
    dir.labcat(&["check", "s.toml"]).expect(0);
    dir.labcat(&["init", "t.toml", "-p", "solver:lu|"]).expect(2).says("-p solver:lu|qr|svd");
    dir.labcat(&["init", "u.toml", "-p", "n:0.5:3:int", "--", "true"]).expect(2).says("integer and has low = 0.5");
}
