//! Simulators as they are: decks filled, directories made ready, the value found in what they write.

use std::fs;

use crate::common::{Dir, Ended, shell, study};

/// Evaluations of each example: they are there to be right, not to converge.
const BUDGET: usize = 8;

/// A copy of one of the examples, run; each of its values must be that of its point.
fn example(name: &str, value: impl Fn(&[f64]) -> f64) -> Dir {
    let dir = Dir::copy_of(&format!("simulator-{name}"), &format!("examples/simulators/{name}"));
    dir.labcat(&["check", "study.toml"]).expect(0);
    dir.labcat(&["run", "study.toml", "--budget", &BUDGET.to_string()]).expect(0);
    let told = dir.told("study.db");
    assert_eq!(told.len(), BUDGET);
    for told in told {
        let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
        let found = f64::from_bits(told.value.unwrap_or_else(|| panic!("evaluation {} of {name} failed", told.id)));
        let expected = value(&x);
        assert!((found - expected).abs() <= 1e-8 * expected.abs().max(1.0), "{name} at {x:?}: {found}, not {expected}");
    }
    dir
}

#[test]
fn a_deck_is_filled_in_a_directory_of_its_own_with_what_it_needs() {
    let dir = example("deck", |x| 1.5e3_f64.powi(2) / 2.1e5 * (1.0 + (x[0] - 4.0).powi(2) + (x[1] - 2.0).powi(2)));
    let told = dir.told("study.db");
    for told in told {
        let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
        let deck = dir.read(&format!("runs/{}/deck.in", told.id));
        let expected = format!(
            "$ bracket, evaluation {}\nGEOMETRY {{\n  THICKNESS = {}\n  RADIUS = {}\n}}\n",
            told.id, x[0], x[1]
        );
        assert!(deck.starts_with(&expected), "{deck}");
        assert!(!dir.path(&format!("runs/{}/material.dat", told.id)).is_symlink());
        assert!(dir.path(&format!("runs/{}/loads.dat", told.id)).is_symlink());
    }
    let shown = dir.labcat(&["check", "study.toml"]).expect(0).stdout.clone();
    assert!(
        shown.contains(
            "in ./runs/0\nwith ./runs/0/deck.in\n  $ bracket, evaluation 0\n  GEOMETRY {\n    THICKNESS = 5.5\n"
        ),
        "{shown}"
    );
    let one = dir.labcat(&["status", "study.toml", "3", "--json"]).expect(0).json();
    assert!(one["directory"].as_str().unwrap().ends_with("/runs/3"));
}

#[test]
fn the_value_is_the_last_match_of_a_pattern() {
    example("regex", |x| (x[0] - 1.0).powi(2) + 1e-3);
}

#[test]
fn the_value_is_at_a_path_in_a_json_file() {
    example("json", |x| 40.0 * (2.0 * x[0].to_radians()).sin() - 5.0 * x[0].to_radians().sin().powi(2));
}

#[test]
fn the_value_is_in_a_column_and_a_row_of_a_table() {
    example("csv", |x| {
        let (mut position, mut speed, mut total) = (1.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..100 {
            speed += 0.1 * (-x[0] * position - 1.2 * speed);
            position += 0.1 * speed;
            total += 0.1 * position.abs();
        }
        total
    });
}

#[test]
fn the_value_is_a_number_of_fortran() {
    example("fortran", |x| (x[0] - 1.0).powi(2) + 10.0 * (x[1] + 2.0).powi(2) + 1e-6);
}

/// What `check` and then `run` say of an objective in a directory with a deck and a data file.
fn said(name: &str, objective: &str) -> [Ended; 2] {
    let dir = Dir::new(&format!("simulator-wrong-{name}"));
    dir.write("deck.in", "a = {x}\nb = {y}\n");
    dir.write("bad.in", "a = {x}\nb = {z}\nc = {\n");
    dir.write("data", "1\n");
    dir.write("s.toml", &study("budget = 1", objective));
    [dir.labcat(&["check", "s.toml"]), dir.labcat(&["run", "s.toml"])]
}

#[test]
fn what_is_wrong_with_a_deck_or_a_value_is_said_before_anything_runs() {
    let own = "command = [\"true\"]\ndirectory = \"runs/{id}\"\n";
    for (name, objective, parts) in [
        (
            "no-directory",
            "command = [\"true\"]\ntemplate = { from = \"deck.in\" }".to_owned(),
            &[":15: `template` needs a file for each evaluation"][..],
        ),
        (
            "copy-nowhere",
            "command = [\"true\"]\ncopy = [\"data\"]".to_owned(),
            &[":15: `copy` needs a directory for each evaluation"],
        ),
        (
            "absent",
            format!("{own}template = {{ from = \"absent.in\" }}"),
            &[":16: the template ./absent.in cannot be read"],
        ),
        (
            "bad-deck",
            format!("{own}template = {{ from = \"bad.in\" }}"),
            &["./bad.in:2: unknown placeholder `{z}`", "./bad.in:3: `{` is not closed in `c = {`"],
        ),
        ("no-from", format!("{own}template = {{ to = \"a\" }}"), &[":16: `from` is missing in `template`"]),
        (
            "text",
            format!("{own}template = \"deck.in\""),
            &[":16: `template` must be a table: write template = { from ="],
        ),
        (
            "typo",
            format!("{own}template = {{ form = \"deck.in\" }}"),
            &["unknown key `form` in `template`: did you mean `from`?"],
        ),
        (
            "marks",
            format!("{own}template = {{ from = \"deck.in\", marks = [\"<\"] }}"),
            &[":16: `marks` must be two different strings"],
        ),
        (
            "regex",
            "command = [\"true\"]\nvalue = { regex = \"(\" }".to_owned(),
            &[":15: `regex` cannot be \"(\"", "unclosed group"],
        ),
        ("json", "command = [\"true\"]\nvalue = { json = \"a b\" }".to_owned(), &[":15: `json` cannot be \"a b\""]),
        (
            "two",
            "command = [\"true\"]\nvalue = { json = \"a\", regex = \"b\" }".to_owned(),
            &[":15: `value` has regex and json: write one of them"],
        ),
        (
            "row",
            "command = [\"true\"]\nvalue = { json = \"a\", row = 1 }".to_owned(),
            &[":15: `row` belongs to `column`"],
        ),
        (
            "row-zero",
            "command = [\"true\"]\nvalue = { column = \"a\", row = 0 }".to_owned(),
            &[":15: `row` must be an integer, 1 or more"],
        ),
        (
            "both",
            "command = [\"true\"]\nvalue = { file = \"a\" }\nvalue_file = \"b\"".to_owned(),
            &["`value` and `value_file` are both there"],
        ),
    ] {
        for ended in said(name, &objective) {
            ended.expect(2);
            for part in parts {
                ended.says(part);
            }
        }
    }
    let [check, run] = said("copy-absent", &format!("{own}copy = [\"data\", \"nothing\"]"));
    check.expect(2).says(":14: `copy`: there is no file ./nothing");
    run.expect(1).says("cannot copy or link ./nothing to ./runs/0/nothing");
}

#[test]
fn a_directory_that_is_there_keeps_what_the_study_does_not_name() {
    let dir = Dir::new("simulator-again");
    dir.write("deck.in", "{x}\n");
    fs::create_dir_all(dir.path("tree/below")).unwrap();
    dir.write("tree/below/leaf", "green");
    std::os::unix::fs::symlink("..", dir.path("tree/below/up")).unwrap();
    fs::create_dir_all(dir.path("runs/0")).unwrap();
    dir.write("runs/0/restart", "kept");
    dir.write("runs/0/out", "99");
    dir.write("runs/0/deck.in", "what the program made of a link");
    let objective = format!(
        "{}\ndirectory = \"runs/{{id}}\"\ncopy = [\"tree\"]\nlink = [\"deck.in\"]\n\
         template = [{{ from = \"deck.in\", to = \"a/deck-{{id}}\" }}, {{ from = \"deck.in\", to = \"deck.in\" }}]\nvalue = {{ file = \"out\" }}",
        shell("cat restart; cat tree/below/leaf; cat a/deck-{id} > out")
    );
    dir.write("s.toml", &study("budget = 1", &objective));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db")[0].value, Some(2.5_f64.to_bits()), "the value of this run, not what lay there");
    let one = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
    assert_eq!(one["stdout"], "keptgreen");
    assert_eq!(dir.read("deck.in"), "{x}\n", "a link is replaced, what it leads to is not written over");
    assert_eq!(dir.read("runs/0/deck.in"), "2.5\n");
    let into_itself = objective.replace("copy = [\"tree\"]", "copy = [\"runs\"]");
    dir.write("t.toml", &study("budget = 1", &into_itself));
    dir.labcat(&["run", "t.toml"]).expect(1).says("a directory cannot be copied into itself");
    // Running it again finds everything in place and takes it as it should be.
    dir.write("s.toml", &study("budget = 2", &objective.replace("cat restart", "[ {id} = 0 ] && cat restart")));
    dir.labcat(&["run", "s.toml"]).expect(0);
}
