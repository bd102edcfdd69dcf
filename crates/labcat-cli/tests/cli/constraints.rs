//! Constraints: those on parameters, which no suggestion violates, and those on results, which are measured.

use std::fs;
use std::process::Stdio;

use crate::common::{Dir, shell, study, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// (x − 1)² + (y − 1)², with x² + 2 y² as its mass; the value is missing where the mass is above `limit`.
fn bowl(limit: &str) -> String {
    let print = format!(
        "v = (x - 1) * (x - 1) + (y - 1) * (y - 1); m = x * x + 2 * y * y; \
         if (m > {limit}) printf \"{{{{\\\"value\\\": null, \\\"mass\\\": %.17g}}}}\\n\", m; \
         else printf \"{{{{\\\"value\\\": %.17g, \\\"mass\\\": %.17g}}}}\\n\", v, m"
    );
    format!("command = ['awk', 'BEGIN {{{{ x = {{x}}; y = {{y}}; {print} }}}}']")
}

/// The rows of an export as objects.
fn rows(dir: &Dir, study: &str) -> Vec<Value> {
    let export = dir.labcat(&["export", study, "--json"]).expect(0).json();
    export["evaluations"].as_array().unwrap().clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn no_suggestion_violates_a_constraint_on_parameters() {
    let dir = Dir::new("known");
    let limits = r#"constraint = ["x + y <= 1", "0.25 <= x^2 + y^2 <= 16", "x >= y - 3"]"#;
    for seed in 0..4 {
        let name = format!("s{seed}.toml");
        dir.write(&name, &study(&format!("budget = 40\nseed = {seed}\n{limits}"), &bowl("1e9")));
        let workers = if seed == 3 { "3" } else { "1" };
        dir.labcat(&["run", &name, "--workers", workers]).expect(0);
        let all = rows(&dir, &name);
        assert_eq!(all.len(), 40);
        for row in &all {
            let [x, y] = ["x", "y"].map(|name| number(&row["x"][name]));
            assert!(x + y <= 1.0 && x >= y - 3.0, "{row}");
            assert!((0.25..=16.0).contains(&(x * x + y * y)), "{row}");
            assert!(row.get("feasible").is_none(), "nothing is measured");
        }
        let best = number(&dir.labcat(&["best", &name, "--json"]).expect(0).json()["value"]);
        assert!(seed == 3 || best - 0.5 < 1e-6, "{best}");
    }
}

#[test]
fn a_constraint_on_results_is_measured_and_the_best_meets_it() {
    let dir = Dir::new("measured");
    dir.write("s.toml", &study("budget = 45\nconstraint = \"mass <= 0.5\"", &bowl("1e9")));
    let check = dir.labcat(&["check", "s.toml"]).expect(0).stdout.clone();
    assert!(check.contains("mass <= 0.5: measured, every evaluation must give mass"), "{check}");
    let run = dir.labcat(&["run", "s.toml", "--json"]).expect(0).stdout.clone();
    let events: Vec<Value> = run.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<&Value> = events.iter().filter(|event| event["event"] == "evaluation").collect();
    let all = rows(&dir, "s.toml");
    for (row, event) in all.iter().zip(&told) {
        let excess = number(&row["result"]["mass"]) - 0.5;
        assert_eq!(row["constraints"], json!({"mass <= 0.5": excess}));
        assert_eq!(row["feasible"], json!(excess <= 0.0));
        assert_eq!((&event["feasible"], &event["constraints"]), (&row["feasible"], &row["constraints"]));
    }
    assert!(all.iter().any(|row| row["feasible"] == json!(false)), "a limit that binds is crossed now and then");
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    // The least of (x − 1)² + (y − 1)² within x² + 2 y² ≤ ½.
    let least = 0.667_352_432_752_2;
    assert!((number(&best["value"]) - least).abs() < 1e-6 && best["feasible"] == json!(true), "{best}");
    let feasible = all.iter().filter(|row| row["feasible"] == json!(true));
    let lowest = feasible.clone().map(|row| number(&row["value"])).fold(f64::INFINITY, f64::min);
    assert_eq!(number(&best["value"]), lowest, "the best is the best that meets the constraint");
    assert!(all.iter().any(|row| number(&row["value"]) < lowest), "and not the best of all");
    assert_eq!(events.last().unwrap()["value"], best["value"]);

    let words = dir.labcat(&["best", "s.toml"]).expect(0).stdout.clone();
    assert!(words.starts_with("value 0.66735") && words.contains("\nmass <= 0.5: satisfied, "), "{words}");
    let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    let count = format!("\nconstraints  `mass <= 0.5` satisfied by {} evaluations\n", feasible.count());
    assert!(status.contains(&count) && status.contains("\nbest         0.66735"), "{status}");
    let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    assert_eq!(csv.lines().next(), Some("id,x,y,value,status,seconds,feasible,mass,mass <= 0.5"));
    let first: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
    assert_eq!(first[6], all[0]["feasible"].to_string());
    assert_eq!(first[7].parse::<f64>().unwrap(), number(&all[0]["result"]["mass"]));
    dir.labcat(&["report", "s.toml"]).expect(0);
    assert!(dir.read("s.html").contains("\"measured_constraints\":[\"mass \\u003c= 0.5\"]"));
}

#[test]
fn without_a_feasible_evaluation_the_least_violated_is_shown() {
    let dir = Dir::new("infeasible");
    dir.write("s.toml", &study("budget = 12\nconstraint = \"mass <= -1\"", &bowl("1e9")));
    let run = dir.labcat(&["run", "s.toml"]);
    run.expect(0).says("violates `mass <= -1` by").says("least infeasible so far");
    assert!(run.stdout.contains("no evaluation satisfies the constraints; the least infeasible: "), "{}", run.stdout);
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert_eq!(best["feasible"], json!(false));
    let least =
        rows(&dir, "s.toml").iter().map(|row| number(&row["constraints"]["mass <= -1"])).fold(f64::MAX, f64::min);
    assert_eq!(number(&best["constraints"]["mass <= -1"]), least);
    let words = dir.labcat(&["best", "s.toml"]).expect(0).stdout.clone();
    assert!(
        words.starts_with("no evaluation satisfies the constraints yet; this one violates them least\nvalue "),
        "{words}"
    );
    assert!(words.contains("\nmass <= -1: violated by "), "{words}");
    let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(status.contains("\nconstraints  `mass <= -1` satisfied by 0 evaluations\n"), "{status}");
    assert!(status.contains("\nleast infeasible ") && status.contains(", violates `mass <= -1` by"), "{status}");
    dir.labcat(&["report", "s.toml"]).expect(0);
    assert!(dir.read("s.html").contains("none of which satisfies the constraints; evaluation"));
}

#[test]
fn a_value_may_be_missing_where_a_constraint_is_violated() {
    let dir = Dir::new("missing");
    let objective = format!("{}\nmax_consecutive_failures = 1", bowl("60"));
    dir.write("s.toml", &study("budget = 40\nseed = 3\nconstraint = \"mass <= 0.5\"", &objective));
    dir.labcat(&["run", "s.toml"]).expect(0).says("no value at x = ");
    let all = rows(&dir, "s.toml");
    let missing: Vec<&Value> = all.iter().filter(|row| row["value"].is_null()).collect();
    assert!(!missing.is_empty() && missing.len() < 40, "{}", missing.len());
    for row in &missing {
        assert_eq!((&row["feasible"], &row["status"]), (&json!(false), &json!("failed")));
        assert!(row["message"].as_str().unwrap().starts_with("no value; violated: `mass <= 0.5` by"), "{row}");
        assert!(number(&row["constraints"]["mass <= 0.5"]) > 0.0);
    }
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert_eq!((&status["failures"], &status["feasible"]), (&json!(0), &json!(true)), "those are no failures");
    assert!(number(&status["value"]) < 0.8, "{status}");
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(0);

    // Without a value and without a violation nothing is known.
    dir.write("t.toml", &study("budget = 1\nconstraint = \"mass <= 5\"", &shell("echo '{{\"mass\": 2}}'")));
    dir.labcat(&["run", "t.toml"])
        .expect(1)
        .says("has no value, which may be missing only where a constraint is violated");
}

#[test]
fn a_result_that_is_not_there_is_named() {
    for (name, script, part) in [
        ("absent", "echo '{{\"value\": 1}}'", "has no number \"mass\", which the constraint `mass <= 5` needs"),
        ("bare", "echo 1", "has no number \"mass\", which the constraint `mass <= 5` needs"),
        ("text", "echo '{{\"value\": 1, \"mass\": \"2\"}}'", "has no number \"mass\""),
        ("nan", "echo '{{\"value\": 1, \"mass\": NaN}}'", "has no number \"mass\""),
    ] {
        let dir = Dir::new(&format!("result-{name}"));
        dir.write("s.toml", &study("budget = 1\nconstraint = \"mass <= 5\"", &shell(script)));
        dir.labcat(&["run", "s.toml"]).expect(1).says(part);
    }
    let dir = Dir::new("result-mistyped");
    dir.write("s.toml", &study("budget = 1\nconstraint = \"x + yy <= 5\"", &shell("echo '{{\"value\": 1}}'")));
    dir.labcat(&["run", "s.toml"])
        .expect(1)
        .says("which the constraint `x + yy <= 5` needs; is the parameter `y` meant?");
    dir.write(
        "t.toml",
        &study("budget = 1\nconstraint = \"sqrt(mass) <= 5\"", &shell("echo '{{\"value\": 1, \"mass\": -1}}'")),
    );
    dir.labcat(&["run", "t.toml"]).expect(1).says("gives no number to the constraint `sqrt(mass) <= 5`");
}

#[test]
fn results_are_found_wherever_the_value_is() {
    let dir = Dir::new("result-readers");
    for (name, value, script) in [
        ("regex", r#"{ regex = 'energy (?<value>\S+) mass (?<mass>\S+)' }"#, "echo energy {x} mass 7.5"),
        ("json", r#"{ json = "a.energy" }"#, "echo '{{\"a\": {{\"energy\": {x}, \"mass\": 7.5}}}}'"),
        ("csv", r#"{ column = "energy" }"#, "echo mass,energy; echo 7.5,{x}"),
    ] {
        let file = format!("{name}.toml");
        dir.write(
            &file,
            &study("budget = 2\nconstraint = \"mass <= y + 10\"", &format!("value = {value}\n{}", shell(script))),
        );
        dir.labcat(&["run", &file]).expect(0);
        for row in rows(&dir, &file) {
            assert_eq!(number(&row["constraints"]["mass <= y + 10"]), 7.5 - (number(&row["x"]["y"]) + 10.0), "{name}");
            assert_eq!(row["value"], row["x"]["x"], "{name}");
        }
    }
    dir.write(
        "s.toml",
        &study("constraint = \"mass <= 5\"", &format!("value = {{ regex = 'a' }}\n{}", shell("echo a"))),
    );
    dir.labcat(&["check", "s.toml"]).expect(2).says("write a group (?<mass>…) into the `regex`");
}

#[test]
fn mistakes_in_constraints_are_found_early_with_their_line_and_column() {
    let dir = Dir::new("constraint-mistakes");
    for (constraint, part) in [
        (
            "\"x + 2y <= 1\"",
            "s.toml:2: `constraint` cannot be \"x + 2y <= 1\": column 6: an operator is missing before `y`",
        ),
        (
            "\"x + y <= -50\"",
            "s.toml:2: no point within the ranges satisfies `x + y <= -50`: write wider ranges or limits",
        ),
        (
            "[\"x <= 0\", \"x >= y + 6\", \"y >= 0\"]",
            "no point within the ranges satisfies `x <= 0` and `x >= y + 6` and `y >= 0`",
        ),
        ("\"x^2 + y^2 <= -1\"", "s.toml:2: none of 2000 points within the ranges satisfies `x^2 + y^2 <= -1`"),
        ("\"x*y == 1\"", "an equation must be linear"),
        ("\"x < 1\"", "column 3: write <=, >= or ==, not `<`"),
        ("\"$(reboot) <= x\"", "column 1: `$` cannot be part of a formula, which has numbers, names, + - * / ^"),
        ("\"system(x) <= 1\"", "column 1: there is no function `system`; the functions are pow, abs, sqrt"),
        ("\"mass == 3\"", "a measured result never equals a number exactly: write two limits instead"),
        ("\"seconds <= 3\"", "`seconds` is not a parameter and cannot be a result"),
        ("5", "`constraint` must be text in quotes, not integer: write constraint = \"x + 2*y <= 1\""),
        ("[\"x <= 1\", 5]", "`constraint` must hold strings only, not 5"),
    ] {
        dir.write("s.toml", &study(&format!("constraint = {constraint}"), &shell("echo 1")));
        dir.labcat(&["check", "s.toml"]).expect(2).says(part);
    }
    let started = study("constraint = \"x + y <= 1\"", &shell("echo 1")).replace("low = -5\n", "low = -5\nstart = 3\n");
    dir.write("s.toml", &started);
    dir.labcat(&["check", "s.toml"]).expect(2).says("the point of all `start` violates `x + y <= 1`");
    dir.write("s.toml", &study("constraints = \"x <= 1\"", &shell("echo 1")));
    dir.labcat(&["check", "s.toml"]).expect(2).says("unknown key `constraints` in [study]: did you mean `constraint`?");
    dir.write("s.toml", &format!("{}[optimizer]\nconstraints = 2\n", study("", &shell("echo 1"))));
    dir.labcat(&["check", "s.toml"]).expect(2).says("unknown key `constraints` in [optimizer]");
}

#[test]
fn each_wrong_constraint_is_told() {
    let dir = Dir::new("constraint-all-mistakes");
    dir.write("s.toml", &study("constraint = [\n\"x + <= 1\",\n\"x <= 1\",\n\"y < 3\",\n]", &shell("echo 1")));
    let told = dir.labcat(&["check", "s.toml"]);
    told.expect(2)
        .says("s.toml:3: `constraint` cannot be \"x + <= 1\"")
        .says("s.toml:5: `constraint` cannot be \"y < 3\"");
}

#[test]
fn a_parameter_that_is_misspelt_in_a_constraint_is_asked_about() {
    let dir = Dir::new("constraint-misspelt");
    let text = |constraint: &str| {
        study(&format!("constraint = {constraint:?}"), &shell("echo 1")).replace("\"x\"", "\"height\"")
    };
    dir.write("s.toml", &text("hieght <= 1"));
    let printed = |dir: &Dir| dir.labcat(&["check", "s.toml"]).expect(0).stdout.clone();
    assert!(printed(&dir).contains("must give hieght (or is the parameter `height` meant?)\n"));
    dir.write("s.toml", &text("weight_in_all <= 1"));
    assert!(printed(&dir).contains("must give weight_in_all\n"));
}

#[test]
fn constraints_are_what_a_study_is() {
    let dir = Dir::new("constraint-edited");
    dir.write("s.toml", &study("budget = 2\nconstraint = \"x + y <= 1\"", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    dir.write("s.toml", &study("budget = 4", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(2).says("`constraint` was \"x + y <= 1\" and is now none");
}

#[test]
fn a_study_with_constraints_that_was_killed_goes_on_as_if_nothing_had_happened() {
    let dir = Dir::new("constraint-killed");
    let general = "budget = 24\nseed = 5\nconstraint = [\"x + y <= 1\", \"mass <= 3\"]";
    dir.write("whole.toml", &study(general, &bowl("9")));
    dir.labcat(&["run", "whole.toml"]).expect(0);
    dir.write("killed.toml", &study(general, &bowl("9")));
    for n in [3, 9, 15] {
        let mut command = dir.command(&["run", "killed.toml"]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("evaluations", || dir.path("killed.db").exists() && dir.told("killed.db").len() >= n);
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&run), Signal::KILL);
        run.wait().unwrap();
    }
    dir.labcat(&["run", "killed.toml"]).expect(0);
    assert_eq!(dir.told("killed.db"), dir.told("whole.db"));
    let constraints = |study: &str| rows(&dir, study).iter().map(|row| row["constraints"].clone()).collect::<Vec<_>>();
    assert_eq!(constraints("killed.toml"), constraints("whole.toml"));
}

#[test]
fn results_are_told_corrected_and_imported_by_hand() {
    let dir = Dir::new("constraint-hand");
    let text = study("budget = 20\nconstraint = [\"x <= 5\", \"1 <= mass <= 5\"]", "");
    let text = text.split("[objective]").next().unwrap();
    dir.write("s.toml", text);
    dir.labcat(&["ask", "s.toml", "-n", "5"]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "3.5"])
        .expect(2)
        .says("evaluation 0 has no number \"mass\"")
        .says("mass=NUMBER");
    dir.labcat(&["tell", "s.toml", "0", "3.5", "mas=2"])
        .expect(2)
        .says("evaluation 0 has `mas`, which is not a result that a constraint of this study needs (mass)");
    dir.labcat(&["tell", "s.toml", "0", "3.5", "mass=heavy"])
        .expect(2)
        .says("\"mass=heavy\" is not a result: write NAME=NUMBER");
    let told = dir.labcat(&["tell", "s.toml", "0", "3.5", "mass=7"]).expect(0).stdout.clone();
    assert_eq!(
        told,
        "evaluation 0: 3.5, violates `mass <= 5` by 2\n1 evaluation of 20, least infeasible 3.5, violates `mass <= 5` by 2\n"
    );
    let told = dir.labcat(&["tell", "s.toml", "1", "4.5", "mass=2"]).expect(0).stdout.clone();
    assert_eq!(told, "evaluation 1: 4.5\n2 evaluations of 20, best 4.5\n");
    dir.labcat(&["tell", "s.toml", "2", "failed"]).expect(0);
    dir.labcat(&["tell", "s.toml", "3", "failed", "mass=0.5"]).expect(0);
    dir.labcat(&["tell", "s.toml", "4", "2", "mass=2", "--std", "0.5"]).expect(0);
    let feasible: Vec<Value> = rows(&dir, "s.toml").iter().map(|row| row["feasible"].clone()).collect();
    assert_eq!(feasible, [json!(false), json!(true), json!(null), json!(false), json!(true)]);

    // A correction of the value keeps the mass, one of the mass changes what is feasible.
    dir.labcat(&["correct", "s.toml", "0", "1.25"]).expect(0);
    assert_eq!(dir.labcat(&["best", "s.toml", "--json"]).expect(0).json()["id"], json!(4));
    let corrected = dir.labcat(&["correct", "s.toml", "0", "1.25", "mass=4"]).expect(0).stdout.clone();
    assert!(corrected.contains("best 1.25"), "{corrected}");
    let one = dir.labcat(&["status", "s.toml", "0"]).expect(0).stdout.clone();
    assert!(one.contains("constraints: 1 <= mass: satisfied, 3 to spare; mass <= 5: satisfied, 1 to spare"), "{one}");
    dir.labcat(&["correct", "s.toml", "0", "failed"]).expect(0);
    let row = &rows(&dir, "s.toml")[0];
    assert_eq!((&row["feasible"], &row["constraints"], &row["value"]), (&json!(null), &json!({}), &json!(null)));
    dir.labcat(&["correct", "s.toml", "0", "failed", "mass=9"]).expect(0);

    // What is exported can be imported, and nothing twice.
    let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    dir.write("all.csv", &csv);
    dir.write("t.toml", text);
    assert_eq!(dir.labcat(&["import", "t.toml", "all.csv"]).expect(0).stdout, "5 evaluations imported\n");
    let essence = |study: &str| {
        let all = rows(&dir, study);
        all.iter().map(|row| json!([row["x"], row["value"], row["constraints"], row["feasible"]])).collect::<Vec<_>>()
    };
    assert_eq!(essence("t.toml"), essence("s.toml"));
    assert!(
        dir.labcat(&["import", "t.toml", "all.csv"])
            .expect(0)
            .stdout
            .contains("5 rows skipped: the study already has them")
    );
    dir.write("more.csv", "x,y,value,mass\n6,1,2,3\n1,1,2,3\n");
    dir.labcat(&["import", "t.toml", "more.csv"])
        .expect(2)
        .says("more.csv:2: the point violates the constraint `x <= 5`");
    let left = dir.labcat(&["import", "t.toml", "more.csv", "--skip-outside"]).expect(0).stdout.clone();
    assert!(left.contains("1 evaluation imported, 1 row skipped"), "{left}");
    dir.write("bad.csv", "x,y,value\n1,1,2\n");
    dir.labcat(&["import", "t.toml", "bad.csv"]).expect(2).says("there is no column `mass`");
    dir.write("bad.csv", "x,y,value,mass\n1,1,2,\n");
    dir.labcat(&["import", "t.toml", "bad.csv"]).expect(2).says("bad.csv:2: mass is \"\", which is not a number");
}

#[test]
fn constraints_hold_among_integers_and_categories() {
    let dir = Dir::new("constraint-mixed");
    let parameters = "[[parameter]]\nname = \"n\"\ntype = \"integer\"\nlow = 1\nhigh = 12\n\
         [[parameter]]\nname = \"size\"\ntype = \"categorical\"\nchoices = [4, 8, 16]\n\
         [[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\n";
    let general = "[study]\nbudget = 40\nconstraint = [\"n*size <= 40\", \"x + n/12 <= 1\", \"load <= 30\"]\n";
    // The more the better, but for a load of n · size + 10 x.
    let script = "awk 'BEGIN {{ n = {n}; s = {size}; x = {x}; print \"{{\\\"value\\\": \" (-n - s - 5 * x) \", \\\"load\\\": \" (n * s + 10 * x) \"}}\" }}'";
    dir.write("s.toml", &format!("{general}{parameters}[objective]\n{}\n", shell(script)));
    dir.labcat(&["run", "s.toml"]).expect(0);
    for row in rows(&dir, "s.toml") {
        let [n, size, x] = ["n", "size", "x"].map(|name| number(&row["x"][name]));
        assert!(n * size <= 40.0 && x + n / 12.0 <= 1.0, "{row}");
        assert!((number(&row["constraints"]["load <= 30"]) - (n * size + 10.0 * x - 30.0)).abs() < 1e-4, "{row}");
    }
    // n = 1, size = 16, x = 11/12: a load of 25.17 and a value of −21.58.
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert!(best["feasible"] == json!(true) && number(&best["value"]) < -21.0, "{best}");
    dir.write("t.toml", &format!("{}{parameters}", general.replace("n*size <= 40", "n*size <= 3")));
    dir.labcat(&["check", "t.toml"]).expect(2).says("none of 2000 points within the ranges satisfies");
}

#[test]
fn the_example_finds_the_lightest_beam() {
    let dir = Dir::copy_of("constraint-example", "examples/constraints");
    dir.labcat(&["check", "study.toml"]).expect(0);
    dir.labcat(&["run", "study.toml"]).expect(0);
    for row in rows(&dir, "study.toml") {
        assert!(number(&row["x"]["height"]) <= 4.0 * number(&row["x"]["width"]), "{row}");
    }
    // Both limits bind: height = 4 width and 16 width³ = 12000 mm³.
    let best = dir.labcat(&["best", "study.toml", "--json"]).expect(0).json();
    let least = 4.0 * 750_f64.powf(2.0 / 3.0);
    assert!(best["feasible"] == json!(true) && (number(&best["value"]) / least - 1.0).abs() < 1e-6, "{best}");
}

#[test]
fn init_writes_constraints() {
    let dir = Dir::new("constraint-init");
    let args = ["init", "-p", "x:0:1", "-p", "y:0:1", "--constraint", "x + y <= 1"];
    dir.labcat(&args).expect(0);
    assert!(dir.read("study.toml").contains("\nconstraint = \"x + y <= 1\"\n"));
    dir.labcat(&[&args[..], &["--constraint", "mass <= 5", "--force"]].concat()).expect(0);
    assert!(dir.read("study.toml").contains("\nconstraint = [\"x + y <= 1\", \"mass <= 5\"]\n"));
    dir.labcat(&["init", "bad.toml", "-p", "x:0:1", "--constraint", "x <"]).expect(2).says("column 3");
    dir.labcat(&["init", "plain.toml", "-p", "x:0:1"]).expect(0);
    assert!(dir.read("plain.toml").contains("\n# constraint = "));
}

#[test]
fn a_journal_of_the_second_version_opens_and_goes_on() {
    let dir = Dir::copy_of("second-version", "crates/labcat-cli/tests/fixtures/journal-2");
    let before = fs::read(dir.path("old.db")).unwrap();
    let status = dir.labcat(&["status", "old.toml"]).expect(0).stdout.clone();
    assert!(status.contains("9 of 20, 1 failed, 1 pending"), "{status}");
    let best = dir.labcat(&["best", "old.db"]).expect(0).stdout.clone();
    assert!(best.starts_with("value 0.5029833701455979 (evaluation 6 of 9)"), "{best}");
    assert_eq!(rows(&dir, "old.db")[6]["result"], json!({"value": 0.5029833701455979, "std": 0.25, "mass": 2}));
    assert_eq!(fs::read(dir.path("old.db")).unwrap(), before, "looking changes nothing");
    let told = dir.told("old.db");
    dir.labcat(&["run", "old.toml", "--budget", "13"]).expect(0);
    let now = dir.told("old.db");
    assert_eq!((now.len(), &now[..9]), (13, &told[..]), "what was told stays, and the study goes on");
}
