//! What programs print, and what we print: nothing that a terminal obeys, no flood, no lost line.

use std::fs::{self, OpenOptions};
use std::process::Command;

use crate::common::{Dir, LABCAT, built_in, output, shell, study};
use serde_json::json;

#[test]
fn a_programs_escapes_do_not_reach_the_terminal() {
    let dir = Dir::new("escapes");
    let script = r"printf '\033]0;owned\007\033[31mred\033[0m\n' >&2; printf 'a\033[2Jb\r\n'";
    dir.write("s.toml", &study("budget = 2", &shell(script)));
    let run = dir.labcat(&["run", "s.toml"]);
    let (status, one) = (dir.labcat(&["status", "s.toml"]), dir.labcat(&["status", "s.toml", "0"]));
    for text in [&run.stderr, &status.stdout, &one.stdout] {
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        assert!(text.contains("a^[[2Jb"), "what was printed is still told: {text}");
    }
    assert!(one.stdout.contains("^[]0;owned^G^[[31mred^[[0m"), "{}", one.stdout);
    let exact = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
    assert_eq!(exact["stdout"], json!("a\u{1b}[2Jb\r\n"), "machines get the exact text");
}

#[test]
fn a_chatty_program_makes_a_small_journal_unless_the_study_wants_it_all() {
    let size = |name: &str, keep: &str| {
        let dir = Dir::new(name);
        let script = "head -c 200000 /dev/zero | tr '\\0' x; head -c 200000 /dev/zero | tr '\\0' y >&2; echo; echo {x}";
        dir.write("s.toml", &study("budget = 40", &format!("{}\n{keep}", shell(script))));
        dir.labcat(&["run", "s.toml"]).expect(0);
        let one = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
        let kept = |stream: &str| one[stream].as_str().unwrap().len();
        assert!(one["value"].is_f64());
        (fs::metadata(dir.path("s.db")).unwrap().len() / 40, kept("stdout"), kept("stderr"))
    };
    let (journal, stdout, stderr) = size("chatty", "");
    assert!(
        journal < 25_000 && (8_000..8_400).contains(&stdout) && (8_000..8_400).contains(&stderr),
        "{journal} {stdout} {stderr}"
    );
    let (journal, stdout, stderr) = size("chatty-none", "keep_output = 0");
    assert!(journal < 4_000 && stdout < 60 && stderr < 60, "{journal} {stdout} {stderr}");
    let (_, stdout, stderr) = size("chatty-all", "keep_output = \"1 MiB\"");
    assert!(stdout > 200_000 && stderr == 200_000, "{stdout} {stderr}");
    let dir = Dir::new("chatty-wrong");
    dir.write("s.toml", &study("", "command = [\"a\"]\nkeep_output = \"much\""));
    dir.labcat(&["check", "s.toml"])
        .expect(2)
        .says(":15: `keep_output` must be a number of bytes up to 64 MiB, not \"much\"");
}

#[test]
fn a_long_line_of_json_is_a_value() {
    let dir = Dir::new("long-line");
    let script = "printf '{{\"value\": 2.5, \"field\": \"'; head -c 1000000 /dev/zero | tr '\\0' z; echo '\"}}'";
    dir.write("s.toml", &study("budget = 1", &shell(script)));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db")[0].value, Some(2.5_f64.to_bits()));
    dir.write("t.toml", &study("budget = 1", &shell("head -c 6000000 /dev/zero | tr '\\0' 1; echo")));
    dir.labcat(&["run", "t.toml"]).expect(1).says("its last line is too long to hold a value");
}

#[test]
fn a_range_that_was_narrowed_takes_in_what_is_inside() {
    let dir = Dir::new("narrowed");
    dir.write("s.toml", &study("budget = 9", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    dir.write("known.csv", &dir.labcat(&["export", "s.toml"]).expect(0).stdout);
    let inside = |told: &crate::common::Told| {
        let x: Vec<f64> = serde_json::from_str(&told.x).unwrap();
        x.iter().all(|x| (-5.0..=3.0).contains(x))
    };
    let expected = dir.told("s.db").iter().filter(|told| inside(told)).count();
    assert!(expected > 0 && expected < 9);
    dir.write("t.toml", &dir.read("s.toml").replace("high = 10", "high = 3").replace("budget = 9", "budget = 30"));
    dir.labcat(&["import", "t.toml", "known.csv"])
        .expect(2)
        .says("is outside its range, -5 to 3; --skip-outside leaves such rows out; nothing was imported");
    let ended = dir.labcat(&["import", "t.toml", "known.csv", "--skip-outside"]);
    let left = 9 - expected;
    let noun = |n: usize, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let words = format!(
        "{} imported, {} skipped: they are outside the study's ranges\n",
        noun(expected, "evaluation"),
        noun(left, "row")
    );
    assert_eq!(ended.expect(0).stdout, words);
    assert_eq!(dir.told("t.db").len(), expected);
}

#[test]
fn json_given_as_csv_is_refused_in_one_short_line() {
    let dir = Dir::new("json-as-csv");
    dir.write("s.toml", &study("budget = 9", &built_in("sphere")));
    let numbers: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
    for text in [format!("{{\"a\": [{}]}}", numbers.join(",")), format!("\n [{}]", numbers.join(","))] {
        dir.write("data.json", &text);
        let ended = dir.labcat(&["import", "s.toml", "data.json"]);
        ended.expect(2).says("data.json is JSON: only comma-separated values can be imported");
        assert!(ended.stderr.len() < 300, "{} bytes", ended.stderr.len());
    }
    // Nor does a heading line of a megabyte, or a cell of one, come back whole.
    for text in [numbers.join(","), format!("x,y,value\n1,1,{}", "z".repeat(1_000_000))] {
        dir.write("data.csv", &text);
        let ended = dir.labcat(&["import", "s.toml", "data.csv"]);
        assert!(ended.expect(2).stderr.len() < 600, "{} bytes", ended.stderr.len());
    }
}

/// Runs a command with standard output on a disk that is always full.
fn to_full_disk(dir: &Dir, args: &[&str]) -> crate::common::Ended {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    output(dir.command(args).stdout(full))
}

#[test]
fn a_full_standard_output_is_an_error_at_the_end_of_a_run() {
    for (name, flag) in [("full-json", "--json"), ("full-words", "--workers=1")] {
        let dir = Dir::new(name);
        dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
        to_full_disk(&dir, &["run", "s.toml", flag]).expect(1).says("cannot write to standard output: No space left");
        assert_eq!(dir.told("s.db").len(), 5, "the study itself is whole");
        for command in ["status", "best", "export"] {
            to_full_disk(&dir, &[command, "s.toml"]).expect(1).says("cannot write to standard output");
        }
    }
}

#[test]
fn a_page_that_does_not_fit_leaves_the_old_one_alone() {
    let dir = Dir::new("full-page");
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let limited = |command: &str| {
        let script = format!("ulimit -f 8; exec {LABCAT} {command}");
        output(Command::new("bash").args(["-c", &script]).current_dir(dir.path("")))
    };
    limited("report s.toml -o page.html").expect(1).says("cannot write page.html");
    assert!(!dir.path("page.html").exists(), "no empty page");
    dir.labcat(&["report", "s.toml", "-o", "page.html"]).expect(0);
    let whole = dir.read("page.html");
    limited("report s.toml -o page.html").expect(1);
    assert_eq!(dir.read("page.html"), whole, "the old page is as it was");
    let left: Vec<String> =
        fs::read_dir(dir.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".part")), "{left:?}");
    // A pipe or a device is written to, not replaced.
    assert!(dir.labcat(&["report", "s.toml", "-o", "/dev/stdout"]).expect(0).stdout.starts_with("<!doctype html>"));
    std::os::unix::fs::symlink("page.html", dir.path("link.html")).unwrap();
    dir.labcat(&["report", "s.toml", "-o", "link.html"]).expect(0);
    assert!(dir.path("link.html").is_symlink(), "a link stays one");
}
