//! Fits to data: residuals that a command prints or that the study takes from what it writes.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Dir, shell, study, wait_for};

/// 1.5 exp(−0.5 t) with disturbances, at times that the simulation does not step on.
const DATA: &str = "\
t,y,sigma
0.1,1.434,0.01
0.45,1.181,0.02
0.8,1.017,0.01
1.3,0.767,0.02
1.7,0.655,0.01
2.05,0.527,0.02
2.9,0.3565,0.01
3.6,0.2425,0.02
";
/// Where the squares of the residuals, each over its error, have the least sum, and the standard errors there by the Jacobian.
const BEST: [f64; 2] = [1.5049986, 0.4974478];
const ERRORS: [f64; 2] = [0.0084007, 0.0058958];

/// Writes a table of t = 0, 1/8, …, 4 and x exp(−y t).
fn simulation(to: &str) -> String {
    let rows = r#"for (k = 0; k <= 32; k++) printf "%.17g,%.17g\n", k / 8, a * exp(-b * k / 8)"#;
    format!("awk -v a={{x}} -v b={{y}} 'BEGIN {{{{ print \"t,y\"; {rows} }}}}' > {to}")
}

fn with_data(name: &str, general: &str, script: &str, residuals: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("data.csv", DATA);
    dir.write("s.toml", &study(general, &format!("{}\nresiduals = {residuals}", shell(script))));
    dir
}

const WEIGHTED: &str = r#"{ file = "out-{id}.csv", column = "y", at = "t", against = "data.csv", error = "sigma" }"#;

/// A fit of the data, each residual over its error.
fn weighted(name: &str, general: &str) -> Dir {
    with_data(name, general, &simulation("out-{id}.csv"), WEIGHTED)
}

fn exported(dir: &Dir) -> Vec<Value> {
    let export = dir.labcat(&["export", "s.toml", "--json"]).expect(0).json();
    export["evaluations"].as_array().unwrap().clone()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().map_or_else(Vec::new, |all| all.iter().map(|number| number.as_f64().unwrap()).collect())
}

/// The residuals as they should be: the simulation interpolated at the times of the data.
fn expected(x: &Value) -> Vec<f64> {
    let [a, b] = ["x", "y"].map(|name| x[name].as_f64().unwrap());
    let curve = |k: f64| a * (-b * k / 8.0).exp();
    let rows = DATA.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>());
    let residual = |row: Vec<f64>| {
        let below = (row[0] * 8.0).floor();
        let share = row[0] * 8.0 - below;
        (curve(below) * (1.0 - share) + curve(below + 1.0) * share - row[1]) / row[2]
    };
    rows.map(residual).collect()
}

#[test]
fn simulated_columns_are_interpolated_and_weighted() {
    let dir = weighted("residuals-weighted", "budget = 30");
    let checked = dir.labcat(&["check", "s.toml"]).expect(0).stdout.clone();
    assert!(
        checked.contains("8 residuals: y against y of data.csv, interpolated at t, over the error sigma"),
        "{checked}"
    );
    dir.labcat(&["run", "s.toml"]).expect(0);
    let all = exported(&dir);
    assert_eq!(all.len(), 30);
    for row in &all {
        let (found, expected) = (numbers(&row["residuals"]), expected(&row["x"]));
        assert_eq!(found.len(), 8);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} for {expected}");
        }
        let (value, sum) = (row["value"].as_f64().unwrap(), found.iter().map(|r| r * r).sum::<f64>());
        assert!((value - sum).abs() <= 1e-14 * sum, "{value} for {sum}");
        assert_eq!(row["result"], json!({ "value": row["value"] }), "they are kept once");
    }
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    for (k, name) in ["x", "y"].into_iter().enumerate() {
        let (found, error) = (best["x"][name].as_f64().unwrap(), best["standard_errors"][name].as_f64().unwrap());
        assert!((found - BEST[k]).abs() < 0.01 * ERRORS[k], "{name} = {found}");
        // A run that has converged leaves few evaluations around its end, most of them along one line.
        assert!((error / ERRORS[k] - 1.0).abs() < 0.10, "{name} ± {error}");
    }
    assert_eq!(numbers(&best["residuals"]).len(), 8);
    assert!(dir.labcat(&["best", "s.toml"]).expect(0).stdout.lines().filter(|line| line.contains(" ± ")).count() == 2);
    let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    assert_eq!(csv.lines().next(), Some("id,x,y,value,status,seconds"), "the table keeps its columns");
    assert!(dir.labcat(&["status", "s.toml", "3"]).expect(0).stdout.contains("\nresiduals: 8\n"));
}

#[test]
fn the_page_shows_data_model_and_residuals() {
    let dir = weighted("residuals-page", "budget = 25");
    dir.labcat(&["run", "s.toml"]).expect(0);
    fs::remove_file(dir.path("data.csv")).unwrap();
    dir.labcat(&["report", "s.db"]).expect(0);
    let page = dir.read("s.html");
    assert!(page.contains("<section id=\"fit\"") && page.contains("Fit to the data"));
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    let (fit, best) = (&data["fit"], dir.labcat(&["best", "s.db", "--json"]).expect(0).json());
    assert_eq!((&fit["evaluation"], &fit["count"]), (&best["id"], &json!(8)));
    let series = &fit["series"][0];
    assert_eq!((&series["name"], &series["at_name"]), (&json!("y"), &json!("t")));
    assert_eq!(numbers(&series["at"])[..3], [0.1, 0.45, 0.8]);
    assert_eq!(numbers(&series["data"])[..2], [1.434, 1.181]);
    assert_eq!(series["residuals"], best["residuals"]);
    for k in 0..8 {
        let [model, value, error, residual] =
            ["model", "data", "error", "residuals"].map(|key| numbers(&series[key])[k]);
        assert!((model - value - error * residual).abs() < 1e-12);
    }
    assert_eq!(fit["standard_errors"], json!([best["standard_errors"]["x"], best["standard_errors"]["y"]]));
    let sigma = (best["value"].as_f64().unwrap() / 6.0).sqrt();
    assert!((fit["sigma"].as_f64().unwrap() - sigma).abs() < 1e-12);
    // A study of plain values has no such panel.
    let plain = Dir::new("residuals-page-plain");
    plain.write("s.toml", &study("budget = 3", &shell("echo {x}")));
    plain.labcat(&["run", "s.toml"]).expect(0);
    plain.labcat(&["report", "s.db"]).expect(0);
    assert!(plain.read("s.html").contains("\"fit\":null"));
}

#[test]
fn a_fit_that_is_killed_and_resumed_is_that_of_an_uninterrupted_run_bit_for_bit() {
    let whole = weighted("residuals-whole", "budget = 30\nseed = 3");
    whole.labcat(&["run", "s.toml"]).expect(0);
    let dir = weighted("residuals-killed", "budget = 30\nseed = 3");
    let mut kills = 0;
    for delay in (1..).map(|k: u64| Duration::from_millis(20 + 37 * k % 90)) {
        let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(delay);
        run.kill().unwrap();
        run.wait().unwrap();
        kills += 1;
        if dir.path("s.db").exists() && dir.told("s.db").len() >= 20 || kills > 60 {
            break;
        }
    }
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db"), whole.told("s.db"), "after {kills} kills");
    let residuals = |dir: &Dir| exported(dir).into_iter().map(|mut row| row["residuals"].take()).collect::<Vec<_>>();
    assert_eq!(residuals(&dir), residuals(&whole));
}

#[test]
fn printed_residuals_are_a_value() {
    let dir = Dir::new("residuals-printed");
    let print = r#"printf "{{\"residuals\": [%.17g, %.17g, -0.0]}}\n", 10 * (y - x * x), 1 - x"#;
    let script = format!("echo 'some progress'; awk -v x={{x}} -v y={{y}} 'BEGIN {{{{ {print} }}}}'");
    dir.write("s.toml", &study("budget = 40\ntarget = 1e-12", &shell(&script)));
    for budget in [5, 12, 40] {
        dir.labcat(&["run", "s.toml", "--budget", &budget.to_string()]).expect(0);
    }
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert!(
        best["value"].as_f64().unwrap() <= 1e-12,
        "Rosenbrock's valley is straight to who sees the residuals: {best}"
    );
    let whole = Dir::new("residuals-printed-whole");
    whole.write("s.toml", &dir.read("s.toml"));
    whole.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db"), whole.told("s.db"), "resumed, the stream is the same");
    dir.labcat(&["report", "s.toml"]).expect(0);
    assert!(dir.read("s.html").contains("\"fit\":{\"evaluation\":"));
}

#[test]
fn a_fit_with_noise_shows_what_is_recommended_and_its_standard_errors() {
    let dir = weighted("residuals-noise", "budget = 60\nseed = 1");
    dir.write("s.toml", &format!("{}\n[optimizer]\nnoise = 0.1\n", dir.read("s.toml")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert_eq!((&best["recommended"]["x"], &best["recommended"]["mean"]), (&best["x"], &best["value"]));
    let sum: f64 = numbers(&best["residuals"]).iter().map(|r| r * r).sum();
    assert!((best["draw"]["value"].as_f64().unwrap() / sum - 1.0).abs() < 1e-9, "{best}");
    assert!(best["standard_errors"]["x"].as_f64().is_some_and(|error| error > 0.0), "{best}");
    for (name, (least, error)) in ["x", "y"].iter().zip(BEST.iter().zip(ERRORS)) {
        assert!((best["x"][*name].as_f64().unwrap() - least).abs() < error, "{best}");
    }
    dir.labcat(&["report", "s.toml"]).expect(0);
    assert!(dir.read("s.html").contains("; recommended "));
}

#[test]
fn a_bare_list_is_told_how_residuals_are_printed() {
    let dir = Dir::new("residuals-bare");
    dir.write("s.toml", &study("budget = 1", &shell("echo '[{x}, {y}]'")));
    dir.labcat(&["run", "s.toml"]);
    let told = dir.labcat(&["export", "s.toml", "--json"]).expect(0).json();
    let message = told["evaluations"][0]["message"].as_str().unwrap();
    assert!(message.contains("residuals are printed as {\"residuals\": […]}"), "{message}");
}

#[test]
fn two_workers_and_two_processes_share_a_fit() {
    let dir = weighted("residuals-workers", "budget = 60\nworkers = 2");
    dir.write("s.toml", &dir.read("s.toml").replace("high = 10\n", "high = 10\nstart = 1\nradius = 0.25\n"));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(exported(&dir).iter().all(|row| numbers(&row["residuals"]).len() == 8));
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert!((best["x"]["x"].as_f64().unwrap() - BEST[0]).abs() < 0.01, "{best}");

    let dir = weighted("residuals-processes", "budget = 24");
    let start = || dir.command(&["worker", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut workers: Vec<Child> = vec![start(), start(), start()];
    wait_for("some evaluations", || dir.path("s.db").exists() && dir.told("s.db").len() >= 6);
    let mut victim = workers.remove(0);
    victim.kill().unwrap();
    victim.wait().unwrap();
    for mut worker in workers {
        assert!(worker.wait().unwrap().success());
    }
    let all = exported(&dir);
    assert!(all.len() == 24 && all.iter().all(|row| numbers(&row["residuals"]).len() == 8));

    let one_file = with_data("residuals-one-file", "workers = 2", "true", &WEIGHTED.replace("-{id}", ""));
    one_file.labcat(&["check", "s.toml"]).expect(2).says("with 2 workers `file` must differ between evaluations");
}

#[test]
fn a_simulation_that_fails_in_half_of_the_box_is_fitted_in_the_other() {
    // Beyond y = 2.5 the solver diverges: it exits, writes NaN, or ends its table too early.
    let diverges = |when: &str, then: &str| {
        format!("if awk -v x={{x}} -v y={{y}} 'BEGIN {{{{ exit !(y > 2.5 && {when}) }}}}'; then {then}; fi")
    };
    let script = [
        diverges("x < 0", "exit 7"),
        simulation("out-{id}.csv"),
        diverges("x >= 0 && x < 5", "sed -i '30s/,.*/,nan/' out-{id}.csv"),
        diverges("x >= 5", "sed -i '18,$d' out-{id}.csv"),
    ];
    let residuals = format!("{WEIGHTED}\nmax_consecutive_failures = 0");
    let dir = with_data("residuals-failing", "budget = 60\nseed = 2", &script.join("\n"), &residuals);
    dir.labcat(&["run", "s.toml"]).expect(0);
    let all = exported(&dir);
    let failed: Vec<&Value> = all.iter().filter(|row| row["status"] == "failed").collect();
    assert!(failed.len() >= 3, "{} failed", failed.len());
    for row in &failed {
        let [x, y] = ["x", "y"].map(|name| row["x"][name].as_f64().unwrap());
        let expected = match x {
            ..0.0 => "exit status 7",
            0.0..5.0 => "csv has no finite number in row 29 of y",
            _ => "csv goes from 0 to 1.875 in t, but the data need 2.05",
        };
        let why = row["message"].as_str().unwrap();
        assert!(y > 2.5 && why.contains(expected), "{x}, {y}: {why}");
        assert!(row.get("residuals").is_none(), "{row}");
    }
    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    assert!((best["x"]["x"].as_f64().unwrap() - BEST[0]).abs() < 0.01, "{best}");
}

#[test]
fn another_number_of_residuals_than_before_is_a_failure_and_nothing_is_lost() {
    let dir = Dir::new("residuals-length");
    let script =
        "[ {id} = 0 ] && [ ! -e fixed ] && echo '{{\"residuals\": [1, 2]}}' || echo '{{\"residuals\": [{x}, {y}, 1]}}'";
    dir.write("s.toml", &study("budget = 8", &format!("{}\nmax_consecutive_failures = 3", shell(script))));
    let ended = dir.labcat(&["run", "s.toml"]);
    ended.expect(1).says("3 evaluations in a row failed").says("it gave 3 residuals, evaluation 0 had 2");
    ended.says("`labcat correct s.toml 0 failed` removes it");
    assert_eq!(dir.told("s.db").len(), 4, "everything is there");
    assert!(exported(&dir)[1]["stdout"].as_str().unwrap().contains("residuals"), "also what was printed");
    dir.labcat(&["worker", "s.toml"]).expect(1).says("it gave 3 residuals, evaluation 0 had 2");
    // As the message says:
    dir.labcat(&["correct", "s.toml", "0", "failed"]).expect(0);
    dir.write("fixed", "");
    dir.labcat(&["retry", "s.toml", "--failed"]).expect(0);
    dir.labcat(&["run", "s.toml"]).expect(0);
    let all = exported(&dir);
    assert!(all.iter().all(|row| numbers(&row["residuals"]).len() == 3), "{all:?}");
    let ids: Vec<i64> = dir.told("s.db").iter().map(|told| told.id).collect();
    assert_eq!(ids, (0..8).collect::<Vec<i64>>());
}

#[test]
fn residuals_are_told_by_hand() {
    let dir = Dir::new("residuals-hand");
    dir.write("s.toml", study("budget = 9", "").split("[objective]").next().unwrap());
    dir.labcat(&["ask", "s.toml", "-n", "3"]).expect(0);
    let told = dir.labcat(&["tell", "s.toml", "0", r#"{"residuals": [3, 4]}"#]).expect(0).stdout.clone();
    assert!(told.starts_with("evaluation 0: 25\n"), "{told}");
    dir.labcat(&["tell", "s.toml", "1", r#"{"residuals": [1, 2, 3]}"#]).expect(2).says("3 residuals were told");
    dir.labcat(&["tell", "s.toml", "1", r#"{"residuals": [1, "x"]}"#]).expect(2).says("in place 2 of its residuals");
    dir.labcat(&["tell", "s.toml", "1", "7"]).expect(0);
    dir.labcat(&["correct", "s.toml", "1", r#"{"residuals": [1, 2]}"#]).expect(0);
    assert_eq!(exported(&dir)[1]["residuals"], json!([1.0, 2.0]));
    dir.labcat(&["correct", "s.toml", "1", "5"]).expect(0);
    assert_eq!(exported(&dir)[1]["residuals"], json!([1.0, 2.0]), "the same value, the same residuals");
    dir.labcat(&["correct", "s.toml", "1", "6"]).expect(0);
    assert!(exported(&dir)[1].get("residuals").is_none() && exported(&dir)[1]["value"] == 6.0);
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    db.execute("UPDATE trial SET residuals = x'0102' WHERE id = 0", []).unwrap();
    // Its log, which names no transaction, is taken into the file.
    drop(db);
    dir.labcat(&["best", "s.toml"]).expect(1).says("2 bytes are not a list of residuals");
    dir.write("t.toml", &dir.read("s.toml").replace("[study]", "[study]\ndirection = \"maximize\""));
    dir.labcat(&["ask", "t.toml"]).expect(0);
    dir.labcat(&["tell", "t.toml", "0", r#"{"residuals": [3]}"#]).expect(2).says("this study maximises: tell a value");
}

#[test]
fn columns_stand_in_tables_of_all_kinds_and_in_json() {
    let dir = Dir::new("residuals-kinds");
    dir.write("data.csv", "t;y\n1;2\n2;\n3;4\n");
    dir.write("data.json", r#"{"runs": [{"t": 1, "y": 2, "e": 2}, {"t": 3, "y": 4, "e": 4}]}"#);
    let blanks = "printf '  1  {x}\\n 2 7\\n  3   {y}\\n' > out";
    let document = r#"printf '{{"a": {{"t": [1, 2, 3], "y": [{x}, 7, {y}]}}}}' > out"#;
    for (script, residuals, divisor) in [
        // Rows with rows: where nothing was measured, nothing is compared.
        (
            blanks,
            r#"{ file = "out", column = 2, separator = " ", against = "data.csv", against_column = "y", against_separator = ";" }"#,
            [1.0, 1.0],
        ),
        (
            blanks,
            r#"{ file = "out", column = 2, at = 1, separator = " ", against = "data.csv", against_column = "y", against_at = "t", against_separator = ";", error = 0.5 }"#,
            [0.5, 0.5],
        ),
        (
            document,
            r#"{ file = "out", json = "a.y", at = "a.t", against = "data.json", against_json = "runs[*].y", against_at = "runs[*].t", error = "runs[*].e" }"#,
            [2.0, 4.0],
        ),
        ("printf 'y\\n{x}\\n7\\n{y}\\n'", r#"{ column = "y", against = "data.csv", separator = ";" }"#, [1.0, 1.0]),
    ] {
        let _ = fs::remove_file(dir.path("s.db"));
        dir.write("s.toml", &study("budget = 3", &format!("{}\nresiduals = {residuals}", shell(script))));
        dir.labcat(&["run", "s.toml"]).expect(0);
        for row in exported(&dir) {
            let [x, y] = ["x", "y"].map(|name| row["x"][name].as_f64().unwrap());
            assert_eq!(numbers(&row["residuals"]), [(x - 2.0) / divisor[0], (y - 4.0) / divisor[1]], "{residuals}");
        }
    }
    // Several columns, one after the other.
    let both = r#"[{ file = "out", column = 2, separator = " ", against = "data.csv", against_column = "y", against_separator = ";" },
                   { file = "out", column = 1, separator = " ", against = "data.csv", against_column = "t", against_separator = ";" }]"#;
    let _ = fs::remove_file(dir.path("s.db"));
    dir.write("s.toml", &study("budget = 1", &format!("{}\nresiduals = {both}", shell(blanks))));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(numbers(&exported(&dir)[0]["residuals"])[2..], [0.0, 0.0, 0.0]);
}

#[test]
fn what_is_wrong_with_residuals_is_told_with_its_line() {
    let dir = Dir::new("residuals-wrong");
    dir.write("data.csv", DATA);
    dir.write("bad.csv", "t,y,sigma\n1,2,0\n2,3,1\n");
    let line = study("", "command = [\"true\"]").lines().count() + 1;
    for (residuals, part) in [
        (r#"{ column = "y", agianst = "data.csv" }"#, "unknown key `agianst` in `residuals`: did you mean `against`?"),
        (r#"{ file = "out.csv", against = "data.csv" }"#, "`column` is missing in `residuals`: write column = \"y\""),
        (r#"{ column = "y" }"#, "`against` is missing in `residuals`"),
        (r#"{ column = "y", against = "nothing.csv" }"#, "nothing.csv cannot be read"),
        (r#"{ column = "z", against = "data.csv" }"#, "data.csv has no column `z`; its first line is `t, y, sigma`"),
        (r#"{ column = "y", at = "time", against = "data.csv" }"#, "data.csv has no column `time`"),
        (r#"{ column = "y", against_at = "t", against = "data.csv" }"#, "`at` is missing in `residuals`"),
        (
            r#"{ column = "y", against = "bad.csv", error = "sigma" }"#,
            "bad.csv has 0 in row 1 of sigma: an error is a number above 0",
        ),
        (r#"{ column = "y", against = "data.csv", error = -1 }"#, "`error` must be above 0, not -1"),
        (r#"{ json = "y", against = "data.csv" }"#, "`against_column` is missing in `residuals`"),
        (r#"{ json = "y", column = "y", against = "data.csv" }"#, "`residuals` has column and json: write one of them"),
        (r#""out.csv""#, "`residuals` must be a table: write residuals = { file = \"out.csv\""),
        ("{ column = \"y\", against = \"data.csv\" }\nvalue = { json = \"a\" }", "`value` is not used"),
    ] {
        dir.write("s.toml", &study("", &format!("command = [\"true\"]\nresiduals = {residuals}")));
        let ended = dir.labcat(&["check", "s.toml"]);
        ended.expect(2).says(part).says("s.toml:");
        assert!((line - 1..=line + 1).any(|line| ended.stderr.contains(&format!("s.toml:{line}"))), "{}", ended.stderr);
    }
    dir.write(
        "s.toml",
        &study(
            "direction = \"maximize\"",
            "command = [\"true\"]\nresiduals = { column = \"y\", against = \"data.csv\" }",
        ),
    );
    dir.labcat(&["check", "s.toml"]).expect(2).says("s.toml:2").says("write direction = \"minimize\"");
    dir.write("s.toml", &study("direction = \"maximize\"", &shell("echo '{{\"residuals\": [1]}}'")));
    dir.labcat(&["run", "s.toml"]).expect(1).says("has residuals, whose squares are minimised");
}

#[test]
fn what_a_simulation_lacks_is_said() {
    for (name, script, part) in [
        ("no-file", "true", "its file ./out.csv cannot be read"),
        ("no-column", "printf 't,z\\n1,2\\n' > out.csv", "has no column `y`; its first line is `t, z`"),
        (
            "rows",
            "printf 't,y\\n1,2\\n' > out.csv",
            "has 1 row of y, and the data have 8: with `at`, such as at = \"t\"",
        ),
    ] {
        let residuals = "{ file = \"out.csv\", column = \"y\", against = \"data.csv\" }\non_failure = \"stop\"";
        let dir = with_data(&format!("residuals-{name}"), "", script, residuals);
        dir.labcat(&["run", "s.toml"]).expect(1).says(part).says("the study is intact");
        // With another command the same evaluation is run.
        let right = format!("{}\nresiduals = {residuals}", shell("sed 's/,[^,]*$//' data.csv > out.csv"));
        dir.write("s.toml", &study("budget = 2", &right));
        dir.labcat(&["run", "s.toml"]).expect(0);
        assert!(exported(&dir).iter().all(|row| row["value"] == 0.0));
    }
    let back = with_data("residuals-back", "budget = 1", "printf 't,y\\n0,1\\n5,2\\n4,3\\n' > out-{id}.csv", WEIGHTED);
    back.labcat(&["run", "s.toml"]).expect(1);
    assert!(exported(&back)[0]["message"].as_str().unwrap().contains("has 4 after 5 in t: it must not decrease"));
}

#[test]
fn the_data_are_part_of_what_the_study_is() {
    let dir = weighted("residuals-data", "budget = 4");
    dir.labcat(&["run", "s.toml"]).expect(0);
    dir.write("data.csv", &DATA.replace("1.434", "1.5"));
    for command in ["check", "run"] {
        dir.labcat(&[command, "s.toml"])
            .expect(2)
            .says("the data `y` of `residuals` have other values, times or errors");
    }
    dir.write("data.csv", DATA);
    dir.labcat(&["run", "s.toml", "--budget", "5"]).expect(0);
    assert_eq!(dir.labcat(&["export", "s.db", "--json"]).expect(0).json()["data"][0]["values"][0], 1.434);
}

#[test]
fn residuals_may_be_missing_where_a_measured_constraint_is_violated() {
    let script = format!(
        "echo '{{{{\"load\": {{x}}}}}}'; awk -v x={{x}} 'BEGIN {{{{ exit x > 1 }}}}' || exit 0; {}",
        simulation("out-{id}.csv")
    );
    let dir = with_data("residuals-constraint", "budget = 25\nconstraint = \"load <= 1\"", &script, WEIGHTED);
    dir.labcat(&["run", "s.toml"]).expect(0);
    for row in exported(&dir) {
        let violated = row["x"]["x"].as_f64().unwrap() > 1.0;
        assert_eq!((row["value"].is_null(), row["residuals"].is_null()), (violated, violated), "{row}");
        assert_eq!(row["feasible"], json!(!violated));
    }
}

#[test]
fn init_writes_residuals() {
    let dir = Dir::new("residuals-init");
    let args = ["init", "-p", "x:-5:10", "-p", "y:-5:10", "--budget", "2", "--residuals", "out.csv:y:data.csv"];
    dir.labcat(&args).expect(2).says("write the command too");
    let command = ["--", "sh", "-c", "sed 's/,[^,]*$//' data.csv > out.csv", "{x}{y}"];
    dir.labcat(&[&args[..], &command[..]].concat()).expect(0);
    assert!(
        dir.read("study.toml")
            .contains("\nresiduals = { file = \"out.csv\", column = \"y\", against = \"data.csv\" }\n")
    );
    dir.labcat(&["check", "study.toml"]).expect(2).says("data.csv cannot be read");
    dir.write("data.csv", DATA);
    dir.labcat(&["run", "study.toml"]).expect(0);
    let two = [&args[..], &["--residuals", "out.csv:3:data.csv", "--force"], &command[..]].concat();
    dir.labcat(&two).expect(0);
    assert!(dir.read("study.toml").contains("    { file = \"out.csv\", column = 3, against = \"data.csv\" },\n]"));
    dir.labcat(&[&["init", "t.toml", "--residuals", "out.csv"], &command[..]].concat())
        .expect(2)
        .says("is not FILE:COLUMN:DATA");
    dir.labcat(&[&["init", "u.toml"], &command[..]].concat()).expect(0);
    assert!(dir.read("u.toml").contains("\n# residuals = { file"));
}

#[test]
fn the_noise_of_a_measured_constraint_is_told() {
    let dir = Dir::new("constraint-std");
    let script = "echo '{{\"value\": {x}, \"std\": 0.5, \"stress\": {y}, \"stress_std\": 0.25}}'";
    dir.write(
        "s.toml",
        &study("budget = 12\nconstraint = [\"2*stress <= 3\", \"value + stress <= 9\"]", &shell(script)),
    );
    dir.labcat(&["run", "s.toml", "--budget", "5"]).expect(0);
    dir.labcat(&["run", "s.toml"]).expect(0);
    let db = rusqlite::Connection::open(dir.path("s.db")).unwrap();
    let stored: String = db.query_row("SELECT constraint_std FROM trial WHERE id = 3", [], |row| row.get(0)).unwrap();
    let stored = numbers(&serde_json::from_str(&stored).unwrap());
    let both = (0.5_f64 * 0.5 + 0.25 * 0.25).sqrt();
    assert!((stored[0] - 0.5).abs() < 1e-9 && (stored[1] - both).abs() < 1e-9, "{stored:?}");
    let whole = Dir::new("constraint-std-whole");
    whole.write("s.toml", &dir.read("s.toml"));
    whole.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db"), whole.told("s.db"), "resumed, the stream is the same");
    assert_eq!(exported(&dir)[0]["result"]["stress_std"], 0.25);

    let hand = Dir::new("constraint-std-hand");
    let text = study("budget = 9\nconstraint = [\"stress <= 3\", \"value <= 2\"]", "");
    hand.write("s.toml", text.split("[objective]").next().unwrap());
    hand.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    hand.labcat(&["tell", "s.toml", "0", "1.5", "stress=2", "stress_std=0.5", "--std", "0.1"]).expect(0);
    assert_eq!(exported(&hand)[0]["result"], json!({"stress": 2.0, "stress_std": 0.5, "value": 1.5, "std": 0.1}));
    let db = rusqlite::Connection::open(hand.path("s.db")).unwrap();
    let stored: String = db.query_row("SELECT constraint_std FROM trial WHERE id = 0", [], |row| row.get(0)).unwrap();
    let stored = numbers(&serde_json::from_str(&stored).unwrap());
    assert!((stored[0] - 0.5).abs() < 1e-12 && (stored[1] - 0.1).abs() < 1e-12, "{stored:?}");
    hand.labcat(&["tell", "s.toml", "1", "1", "stress=2", "stress_std=-1"]).expect(2).says("\"stress_std\" of -1");
    hand.labcat(&["tell", "s.toml", "1", "1", "stress=2", "mass_std=1"])
        .expect(2)
        .says("has `mass_std`, which is not a result");
}

#[test]
fn the_first_points_lie_within_the_radius_of_the_start() {
    let dir = Dir::new("start-radius");
    let at = |radius: [&str; 2]| {
        let mut lines = radius.into_iter();
        let text = study("budget = 3", &shell("echo {x}"));
        let parts: Vec<&str> = text.split("high = 10\n").collect();
        parts[1..].iter().fold(parts[0].to_owned(), |text, part| {
            format!("{text}high = 10\nstart = 1\n{}{part}", lines.next().unwrap_or_default())
        })
    };
    dir.write("s.toml", &at(["radius = 0.25\n", "radius = 0.5\n"]));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let points: Vec<[f64; 2]> =
        exported(&dir).iter().map(|row| ["x", "y"].map(|name| row["x"][name].as_f64().unwrap())).collect();
    assert_eq!(points[0], [1.0, 1.0]);
    let mut moved: Vec<f64> = points[1..].iter().map(|point| (point[0] - 1.0).abs() + (point[1] - 1.0).abs()).collect();
    moved.sort_by(f64::total_cmp);
    assert_eq!(moved, [0.25, 0.5], "one parameter at a time, by its radius: {points:?}");
    dir.write("s.toml", &at(["radius = 0.75\n", "radius = 0.5\n"]));
    dir.labcat(&["check", "s.toml"]).expect(2).says("start 1, radius 0.25) and is now").says("radius 0.75");
    dir.write("t.toml", &at(["radius = 0.25\n", ""]));
    dir.labcat(&["check", "t.toml"])
        .expect(2)
        .says("parameter `y` has no `radius` but others have: write radius = 0.75");
    dir.write("t.toml", &at(["radius = 0\n", "radius = 1\n"]));
    dir.labcat(&["check", "t.toml"]).expect(2).says("`radius` must be above 0, not 0");
    dir.write("t.toml", &at(["radius = 0.25\n", "radius = 1\n"]).replace("start = 1\n", ""));
    dir.labcat(&["check", "t.toml"]).expect(2).says("`radius` belongs to `start`");
}

#[test]
fn the_example_finds_the_constants_of_growth() {
    let dir = Dir::copy_of("calibration-example", "examples/calibration/cli");
    dir.labcat(&["check", "study.toml"]).expect(0);
    dir.labcat(&["run", "study.toml"]).expect(0);
    let best = dir.labcat(&["best", "study.toml", "--json"]).expect(0).json();
    for (name, truth) in [("growth", 0.8), ("half", 0.9), ("yield", 0.45)] {
        let (found, error) = (best["x"][name].as_f64().unwrap(), best["standard_errors"][name].as_f64().unwrap());
        assert!((found - truth).abs() < 3.0 * error, "{name} = {found} ± {error}");
    }
    assert!(best["value"].as_f64().unwrap() < 39.8893, "{best}");
}

#[test]
fn a_journal_of_the_third_version_with_constraints_opens_and_goes_on() {
    let dir = Dir::copy_of("third-version-constraint", "crates/labcat-cli/tests/fixtures/journal-3-constraint");
    let before = fs::read(dir.path("old.db")).unwrap();
    let status = dir.labcat(&["status", "old.toml"]).expect(0).stdout.clone();
    assert!(status.contains("9 of 20, 1 failed, 1 pending"), "{status}");
    assert!(status.contains("`mass <= 5` satisfied by 7 evaluations"), "{status}");
    dir.labcat(&["report", "old.db"]).expect(0);
    assert_eq!(fs::read(dir.path("old.db")).unwrap(), before, "looking changes nothing");
    let told = dir.told("old.db");
    dir.labcat(&["run", "old.toml", "--budget", "13"]).expect(0);
    let now = dir.told("old.db");
    assert_eq!((now.len(), &now[..9]), (13, &told[..]), "what was told stays, and the study goes on");
}
