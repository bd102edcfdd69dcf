//! People at a bench: points of their own, remarks, instruments that are set in steps, and the manual that comes with the program.

use std::path::Path;
use std::process::Command;

use crate::common::{Dir, LABCAT, output};

const BENCH: &str = "[study]\nbudget = 20\n[[parameter]]\nname = \"temperature\"\nlow = 20\nhigh = 90\nstep = 0.5\n\
                     [[parameter]]\nname = \"acid\"\nlow = 0\nhigh = 1\n\
                     [[parameter]]\nname = \"solvent\"\ntype = \"categorical\"\nchoices = [\"water\", \"oil\"]\n\
                     [[parameter]]\nname = \"stir\"\nlow = 1\nhigh = 9\nwhen = { solvent = \"oil\" }\n";

fn bench(name: &str) -> Dir {
    let dir = Dir::new(name);
    dir.write("s.toml", BENCH);
    dir
}

#[test]
fn a_value_may_have_been_measured_at_another_point() {
    let dir = bench("lab-at");
    dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    let told = dir.labcat(&[
        "tell",
        "s.toml",
        "0",
        "3.25",
        "--at",
        "temperature=72.5",
        "--at",
        "acid=0.3",
        "--note",
        "old acid",
    ]);
    let said = &told.expect(0).stdout;
    assert!(said.contains("evaluation 2: 3.25 at temperature = 72.5, acid = 0.3"), "{said}");
    assert!(said.contains("instead of point 0, which is withdrawn\n1 evaluation of 20"), "{said}");
    let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    assert!(csv.lines().nth(1).unwrap().starts_with("2,72.5,0.3,"), "{csv}");
    assert_eq!(dir.labcat(&["status", "s.toml", "2", "--json"]).json()["note"], "old acid");
    // The point that was given out is nobody's any more; the other is as it was.
    dir.labcat(&["tell", "s.toml", "0", "1"]).expect(2).says("evaluation 0 is not pending");
    dir.labcat(&["tell", "s.toml", "1", "2.5"]).expect(0);
    for (at, part) in [
        ("temperature=95", "temperature = 95 is outside its range, 20 to 90"),
        ("temperature=72.3", "temperature = 72.3 is not allowed: it must be one of 20, 20.5, … 90"),
        ("tempera=72", "names no parameter of the study"),
        ("solvent=wine", "which is none of water, oil"),
        ("acid", "is not a parameter value"),
    ] {
        dir.labcat(&["ask", "s.toml"]).expect(0);
        let id = dir.labcat(&["status", "s.toml", "--json"]).json()["pending"][0]["id"].to_string();
        dir.labcat(&["tell", "s.toml", &id, "1", "--at", at]).expect(2).says(part);
        dir.labcat(&["tell", "s.toml", &id, "1"]).expect(0);
    }
}

#[test]
fn a_point_of_ones_own_is_given_out_next() {
    let dir = bench("lab-enqueue");
    dir.labcat(&["enqueue", "s.toml", "temperature=30", "acid=0.25", "solvent=water"]).expect(0);
    dir.labcat(&["enqueue", "s.toml", "temperature=40.5", "acid=0.75", "solvent=oil", "stir=3"]).expect(0);
    let asked = dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0).stdout.clone();
    let lines: Vec<&str> = asked.lines().collect();
    assert_eq!(lines[0], "0: temperature = 30  acid = 0.25  solvent = water");
    assert_eq!(lines[1], "1: temperature = 40.5  acid = 0.75  solvent = oil  stir = 3");
    dir.labcat(&["enqueue", "s.toml", "temperature=30"]).expect(2).says("there is no value for acid (from 0 to 1");
    let oil = ["enqueue", "s.toml", "temperature=30", "acid=0.1", "solvent=oil"];
    dir.labcat(&oil).expect(2).says("there is no value for stir");
    dir.labcat(&["enqueue", "s.toml", "temperature=30", "acid=7", "solvent=water"]).expect(2).says("outside its range");
}

#[test]
fn remarks_are_kept_with_their_evaluations() {
    let dir = bench("lab-note");
    dir.labcat(&["ask", "s.toml"]).expect(0);
    dir.labcat(&["note", "s.toml", "0", "new batch, \"B\""]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "1.5"]).expect(0);
    assert!(dir.labcat(&["status", "s.toml", "0"]).stdout.contains("note: new batch, \"B\""));
    assert!(dir.labcat(&["export", "s.toml", "--all"]).stdout.contains(",\"new batch, \"\"B\"\"\"\n"));
    dir.labcat(&["note", "s.toml", "0", ""]).expect(0);
    assert!(!dir.labcat(&["status", "s.toml", "0"]).stdout.contains("note:"));
    dir.labcat(&["note", "s.toml", "7", "x"]).expect(2).says("there is no evaluation 7");
}

#[test]
fn an_instrument_is_set_in_its_steps() {
    let dir = bench("lab-step");
    assert!(
        dir.labcat(&["check", "s.toml"]).expect(0).stdout.contains("temperature from 20 to 90 in steps of 0.5, linear")
    );
    let asked = dir.labcat(&["ask", "s.toml", "-n", "12", "--json"]).expect(0).stdout.clone();
    for line in asked.lines() {
        let point: serde_json::Value = serde_json::from_str(line).unwrap();
        let steps = (point["x"]["temperature"].as_f64().unwrap() - 20.0) / 0.5;
        assert_eq!(steps.fract(), 0.0, "{line}");
    }
    // What a study is cannot be edited; a step that does not fit is told with its line.
    dir.write("s.toml", &BENCH.replace("step = 0.5", "step = 0.25"));
    dir.labcat(&["ask", "s.toml"]).expect(2).says("`temperature` was 20..90 (in steps of 0.5, linear)");
    dir.write("t.toml", &BENCH.replace("step = 0.5", "step = 0.3"));
    let wrong = dir.labcat(&["check", "t.toml"]);
    wrong.expect(2).says("t.toml:7: `step` does not fit: ").says("such as 89.9 or 90.2");
    dir.write("u.toml", &BENCH.replace("step = 0.5", "step = -1"));
    dir.labcat(&["check", "u.toml"]).expect(2).says("the step must be a finite number above 0");
    dir.labcat(&["init", "i.toml", "-p", "t:0:1:step=0.1", "-p", "r:0.25:8:step=0.25:log"]).expect(0);
    let text = dir.labcat(&["check", "i.toml"]).expect(0).stdout.clone();
    assert!(text.contains("t from 0 to 1 in steps of 0.1, linear") && text.contains("in steps of 0.25, log"), "{text}");
}

#[test]
fn init_writes_decks_values_workers_and_conditions() {
    let dir = Dir::new("lab-init");
    dir.write("deck.in", "{momentum} {solver}\n");
    dir.write("solver.sh", "echo \"energy = 1.5\" > out.log\n");
    let init = [
        "init",
        "-p",
        "solver:sgd|adam",
        "-p",
        "momentum:0:1",
        "--when",
        "momentum:solver=sgd",
        "--workers",
        "3",
        "--budget",
        "4",
        "--template",
        "deck.in",
        "--copy",
        "solver.sh",
        "--value-file",
        "out.log",
        "--value-regex",
        r"energy = (\S+)",
        "--timeout",
        "30s",
        "--",
        "sh",
        "solver.sh",
    ];
    dir.labcat(&init).expect(0);
    let text = dir.read("study.toml");
    for line in [
        "workers = 3",
        "when = { \"solver\" = \"sgd\" }",
        "directory = \"runs/{id}\"",
        "copy = [\"solver.sh\"]",
        "template = { from = \"deck.in\" }",
        "timeout = \"30s\"",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    dir.labcat(&["check", "study.toml"]).expect(0);
    let run = dir.labcat(&["run", "study.toml"]);
    assert!(run.expect(0).stdout.contains("best value 1.5"), "{}", run.stdout);
    let wrong = |args: &[&str], part: &str| {
        dir.labcat(&[&["init", "n.toml", "-p", "x:0:1"], args].concat()).expect(2).says(part);
    };
    wrong(&["--when", "y:x=1", "--", "true"], "--when y:x=1 is not NAME:OTHER=VALUE");
    wrong(&["--template", "deck.in"], "belongs to a command, and there is none");
    wrong(&["--timeout", "soon", "--", "true"], "`timeout` must be a span of time");
    wrong(&["--value-json", "a", "--value-column", "b", "--", "true"], "cannot be used with");
}

#[test]
fn the_manual_comes_with_the_program() {
    let dir = Dir::new("lab-help");
    let topics = dir.labcat(&["help"]).expect(0).stdout.clone();
    assert!(topics.contains("study") && topics.contains("slurm"), "{topics}");
    let study = dir.labcat(&["help", "study"]).expect(0).stdout.clone();
    assert!(
        study.starts_with("The study file\n") && study.contains("\n  `max_consecutive_failures`\n      "),
        "{study}"
    );
    assert!(
        !study.contains("\nPlaceholders") && !study.contains("](") && !study.contains("\n|"),
        "one chapter, no marks: {study}"
    );
    assert!(study.lines().all(|line| line.starts_with("    ") || line.chars().count() <= 100), "{study}");
    assert!(dir.labcat(&["help", "run"]).expect(0).stdout.contains("--workers"));
    dir.labcat(&["help", "everything"]).expect(2).says("the topics are start, study");
}

#[test]
fn the_bench_of_the_manual_prints_what_it_shows() {
    let dir = Dir::new("lab-manual");
    let chapter = include_str!("../../manual.md").split("\n## At the lab bench\n").nth(1).unwrap();
    let block = chapter.split("```").nth(1).unwrap().strip_prefix("console\n").unwrap();
    let path = format!("{}:{}", Path::new(LABCAT).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for part in block.split("$ ").skip(1) {
        let (line, shown) = part.split_once('\n').unwrap();
        let ended = output(Command::new("sh").args(["-c", line]).env("PATH", &path).current_dir(dir.path("")));
        assert!(
            ended.expect(0).stdout.starts_with(shown),
            "{line}: {shown:?} is not at the beginning of {:?}",
            ended.stdout
        );
        commands += 1;
    }
    assert!(commands > 8, "{block}");
}
