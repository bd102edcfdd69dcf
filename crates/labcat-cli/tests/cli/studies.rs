//! What is wrong with a study is said before anything runs: the line, the key, what to write instead.

use crate::common::{Dir, built_in, study};

const PARAMETERS: &str = "[[parameter]]\nname = \"x\"\nlow = -5\nhigh = 10\n";

#[test]
fn every_mistake_has_its_line_its_key_and_its_cure() {
    let dir = Dir::new("mistakes");
    // The study, and parts of the one line that it must give.
    let cases: &[(&str, &[&str])] = &[
        ("[study\nname = 1", &["s.toml:1:", "this is not TOML"]),
        ("", &["s.toml:1:", "`[study]` is missing"]),
        ("[study]\nbugdet = 5\n", &[":2:", "unknown key `bugdet` in [study]", "did you mean `budget`?"]),
        ("[study]\nbudget = \"many\"\n", &[":2:", "`budget` must be an integer, 1 or more, not \"many\""]),
        ("[study]\nbudget = 0\n", &[":2:", "1 or more, not 0"]),
        (
            "[study]\nbudget = 99999999999999999999\n",
            &[":2:", "from 1 to 18446744073709551615, not 99999999999999999999"],
        ),
        ("[study]\nbudget = 1.5\n", &[":2:", "`budget` must be an integer"]),
        ("[study]\nseed = -1\n", &[":2:", "`seed` must be an integer, 0 or more"]),
        ("[study]\nworkers = 0\n", &[":2:", "`workers`", "1 or more"]),
        ("[study]\nname = 3\n", &[":2:", "`name` must be text in quotes, not integer: write name = "]),
        (
            "[study]\ndirection = \"up\"\n",
            &[":2:", "`direction` cannot be \"up\": write direction = \"minimize\" or \"maximize\""],
        ),
        ("[study]\ntarget = nan\n", &[":2:", "`target` must be a finite number, not nan"]),
        ("[study]\ntolerance = -1\n", &[":2:", "tolerance = -1 is not allowed"]),
        (
            "[study]\ntime_limit = \"soon\"\n",
            &[":2:", "`time_limit` must be a span of time above 0, not \"soon\": write \"90s\""],
        ),
        ("study = 3\n", &[":1:", "`study` must be a table: write a line [study]"]),
        ("[study]\n[extra]\n", &[":2:", "unknown key `extra`", "study, parameter, objective, optimizer"]),
        ("[study]\n[parameter]\nname = \"y\"\n", &[":2:", "write [[parameter]] with double brackets"]),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 1\n",
            &[":2:", "`high` is missing in [[parameter]]: write high = 10"],
        ),
        (
            "[study]\n[[parameter]]\nlow = 1\nhigh = 2\n",
            &[":2:", "`name` is missing in [[parameter]]: write name = \"x\""],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 3\nhigh = 3\n",
            &[":5:", "`y` has an empty range, low = high = 3"],
        ),
        ("[study]\n[[parameter]]\nname = \"y\"\nlow = 3\nhigh = -2\n", &[":5:", "write low = -2 and high = 3"]),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = \"3\"\nhigh = 4\n",
            &[":4:", "`low` must be a number, not string: write low = -5"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = inf\n",
            &[":5:", "`high` must be a finite number, not inf"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = 1\nscale = \"log\"\n",
            &[":4:", "scale = \"log\" and low = 0"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = 1\nscale = \"cubic\"\n",
            &[":6:", "`scale` cannot be \"cubic\""],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\ntype = \"integer\"\nlow = 0.5\nhigh = 9\n",
            &[":5:", "`y` is integer and has low = 0.5"],
        ),
        ("[study]\n[[parameter]]\nname = \"y\"\ntype = \"categorical\"\nchoices = [1, 1]\n", &[":5:", "` has 1 twice"]),
        (
            "[study]\n[[parameter]]\nname = \"y\"\ntype = \"categorical\"\nlow = 1\n",
            &[":2:", "`choices` is missing", "the labels of `y`"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"n\"\ntype = \"integer\"\nlow = 0\nhigh = 9\nstep = 2\n",
            &[":6:", "write high = 8"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = 1\nwhen = { k = 1 }\n",
            &[":6:", "`when` names `k`, which is not a parameter of integers or categories above this one"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"k\"\ntype = \"boolean\"\n\
             [[parameter]]\nname = \"y\"\nlow = 0\nhigh = 1\nwhen = { k = \"maybe\" }\n",
            &[":9:", "which is none of true, false"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\ntype = \"rational\"\nlow = 0\nhigh = 9\n",
            &[":4:", "`type` cannot be \"rational\": write type = \"real\""],
        ),
        ("[study]\n[[parameter]]\nname = \"id\"\nlow = 0\nhigh = 9\n", &[":3:", "`id` cannot name a parameter"]),
        ("[study]\n[[parameter]]\nname = \"a=b\"\nlow = 0\nhigh = 9\n", &[":3:", "\"a=b\" cannot name a parameter"]),
        ("[study]\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 9\n", &[":6:", "two parameters are named `x`"]),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = 9\nstart = 10\n",
            &[":6:", "start = 10 is outside `y`: write a number from 0 to 9"],
        ),
        (
            "[study]\n[[parameter]]\nname = \"y\"\nlow = 0\nhigh = 9\nstart = 1\n",
            &[":7:", "parameter `x` has no `start` but others have"],
        ),
        ("[study]\n[objective]\n", &[":2:", "`command` is missing in [objective]"]),
        (
            "[study]\n[objective]\ncommand = \"run --fast\"\n",
            &[":3:", "write command = [\"run\", \"--fast\"], or add shell = true"],
        ),
        (
            "[study]\n[objective]\ncommand = [\"a\"]\nshell = true\n",
            &[":3:", "with shell = true `command` must be one string"],
        ),
        ("[study]\n[objective]\ncommand = []\n", &[":3:", "`command` names no program"]),
        (
            "[study]\n[objective]\ncommand = [\"a\", 3]\n",
            &[":3:", "`command` must hold strings only, not 3: write \"3\" in quotes"],
        ),
        (
            "[study]\n[objective]\ncommand = [\n\"a\",\n\"{z}\"]\n",
            &[":5:", "unknown placeholder `{z}`: write one of {x} {id}"],
        ),
        ("[study]\n[objective]\ncommand = [\"a\", \"{x\"]\n", &[":3:", "`{` is not closed"]),
        ("[study]\n[objective]\ncommand = [\"a\"]\nshell = 1\n", &[":4:", "`shell` must be true or false"]),
        (
            "[study]\n[objective]\ncommand = [\"a\"]\ntimeout = -5\n",
            &[":4:", "`timeout` must be a span of time above 0, not -5"],
        ),
        (
            "[study]\n[objective]\ncommand = [\"a\"]\nretries = -1\n",
            &[":4:", "`retries` must be an integer, 0 or more"],
        ),
        (
            "[study]\n[objective]\ncommand = [\"a\"]\non_failure = \"ignore\"\n",
            &[":4:", "write on_failure = \"penalize\" or \"stop\""],
        ),
        ("[study]\n[objective]\ncommand = [\"a\"]\nenvironment = 3\n", &[":4:", "`environment` must be a table"]),
        (
            "[study]\nworkers = 2\n[objective]\ncommand = [\"a\"]\nvalue_file = \"out\"\n",
            &[":4:", "with 2 workers `value_file` must differ between evaluations"],
        ),
        ("[study]\n[optimizer]\nbeta = -1\n", &[":3:", "beta = -1 is not allowed: it must be a number above 0"]),
        ("[study]\n[optimizer]\npreset = \"fast\"\n", &[":3:", "write preset = \"default\" or \"paper\""]),
        (
            "[study]\n[optimizer]\nrotations = false\n",
            &[":3:", "unknown key `rotations` in [optimizer]: did you mean `rotation`?"],
        ),
        ("[study]\n[optimizer]\nbudget = 3\n", &[":3:", "unknown key `budget` in [optimizer]"]),
    ];
    for (text, parts) in cases {
        let rest = if text.contains("\n[parameter]") { "" } else { PARAMETERS };
        dir.write("s.toml", &format!("{text}{rest}"));
        for command in ["check", "run"] {
            let ended = dir.labcat(&[command, "s.toml"]);
            ended.expect(2);
            let line = ended.stderr.lines().find(|line| parts.iter().all(|part| line.contains(part)));
            assert!(line.is_some(), "{parts:?} are not in one line of\n{}for\n{text}", ended.stderr);
        }
        assert!(!dir.path("s.db").exists(), "nothing has begun");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let dir = Dir::new("many-mistakes");
    dir.write("s.toml", "[study]\nbugdet = 5\nseed = \"a\"\n[objective]\ncommand = [\"a\", \"{y}\"]\n[[parameter]]\nname = \"x\"\nlow = 1\nhigh = 0\n");
    let said = dir.labcat(&["check", "s.toml"]);
    let lines: Vec<&str> = said.expect(2).stderr.lines().collect();
    assert_eq!(lines.len(), 4, "{}", said.stderr);
    for (line, number) in lines.iter().zip([2, 3, 5, 9]) {
        assert!(line.starts_with(&format!("error: s.toml:{number}: ")), "{line}");
    }
}

#[test]
fn what_is_probably_forgotten_is_a_warning() {
    let dir = Dir::new("warning");
    dir.write("s.toml", &study("budget = 3", "command = [\"echo\", \"{x}\"]"));
    dir.labcat(&["check", "s.toml"]).expect(0).says("warning: s.toml:14: `command` does not use {y}");
    dir.labcat(&["run", "s.toml", "--budget", "2"]).expect(0).says("LABCAT_y");
    let again = dir.labcat(&["run", "s.toml"]);
    assert!(!again.expect(0).stderr.contains("LABCAT_y"), "once is enough: {}", again.stderr);
}

#[test]
fn an_edited_study_may_change_its_limits_and_its_command_and_nothing_else() {
    let dir = Dir::new("edited");
    let original = study("budget = 6\nseed = 3", &built_in("sphere"));
    dir.write("s.toml", &original);
    dir.labcat(&["run", "s.toml"]).expect(0);
    for (from, to, difference) in [
        ("seed = 3", "seed = 4", "`seed` was 3 and is now 4"),
        ("seed = 3", "direction = \"maximize\"\nseed = 3", "`direction` was minimize and is now maximize"),
        ("high = 10\n[[", "high = 11\n[[", "parameter `x` was -5..10 (linear) and is now -5..11 (linear)"),
        ("name = \"y\"", "name = \"z\"", "the parameters were `x`, `y` and are now `x`, `z`"),
        ("[objective]", "[optimizer]\nbeta = 0.5\n[objective]", "[optimizer] was empty and is now beta = 0.5"),
        ("[objective]", "[optimizer]\npreset = \"paper\"\n[objective]", "`preset` was default and is now paper"),
    ] {
        dir.write(
            "s.toml",
            &original.replace(from, to).replace("\"{y}\"", if to.contains("\"z\"") { "\"{z}\"" } else { "\"{y}\"" }),
        );
        for command in ["run", "ask", "check"] {
            dir.labcat(&[command, "s.toml"]).expect(2).says(difference).says("labcat import");
        }
    }
    let edited = original.replace("budget = 6", "budget = 10\nworkers = 2\ntarget = -1").replace("sphere", "booth");
    dir.write("s.toml", &format!("{edited}timeout = \"5s\"\nretries = 1\n"));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 10);
    dir.labcat(&["run", "s.toml", "--budget", "12"]).expect(0);
    assert_eq!(dir.told("s.db").len(), 12);
}

#[test]
fn a_larger_budget_goes_on_as_if_it_had_been_there_from_the_start() {
    let (long, short) = (Dir::new("long"), Dir::new("short"));
    long.write("s.toml", &study("budget = 30", &built_in("rosenbrock")));
    long.labcat(&["run", "s.toml"]).expect(0);
    short.write("s.toml", &study("budget = 11", &built_in("rosenbrock")));
    short.labcat(&["run", "s.toml"]).expect(0);
    short.labcat(&["run", "s.toml", "--budget", "30"]).expect(0);
    assert_eq!(short.told("s.db"), long.told("s.db"));
}

#[test]
fn a_budget_below_what_was_evaluated_is_named() {
    let dir = Dir::new("smaller-budget");
    dir.write("s.toml", &study("budget = 9", &built_in("booth")));
    let run = || dir.labcat(&["run", "s.toml"]).expect(0).stdout.clone();
    assert!(run().starts_with("stopped by budget after 9 evaluations"));
    dir.write("s.toml", &study("budget = 4", &built_in("booth")));
    assert!(run().starts_with("stopped by a budget of 4 after 9 evaluations"));
}

#[test]
fn without_a_limit_the_budget_is_200_per_parameter_and_is_said() {
    let dir = Dir::new("no-limit");
    dir.write("s.toml", &study("", "command = [\"echo\", \"1\"]"));
    assert!(dir.labcat(&["check", "s.toml"]).expect(0).stdout.contains("budget 400 (200 per parameter"));
    dir.write("t.toml", &study("target = 2", "command = [\"echo\", \"1\"]"));
    let ended = dir.labcat(&["run", "t.toml"]);
    assert!(ended.expect(0).stdout.starts_with("stopped by target after 1 evaluation "), "{}", ended.stdout);
}

#[test]
fn init_writes_a_study_that_check_and_run_accept() {
    let dir = Dir::new("init");
    let command = [
        "init",
        "-p",
        "x:-5:10",
        "-p",
        "rate:1e-6:1:log",
        "--budget",
        "7",
        "--",
        "echo",
        "{x}{{}}",
        "{rate}",
        "{guess}",
    ];
    assert!(dir.labcat(&command).expect(0).stdout.contains("\nthe range 0 to 1 is a guess for guess\n"));
    let text = dir.read("study.toml");
    assert!(
        text.contains("scale = \"log\"")
            && text.contains("# a guess: write the real range")
            && text.contains("budget = 7")
    );
    dir.labcat(&command).expect(2).says("study.toml exists");
    assert!(dir.labcat(&["check", "study.toml"]).expect(0).stdout.contains("2.5{}"));
    dir.labcat(&["init", "bench.toml", "-p", "t:20:90", "--maximize"]).expect(0);
    assert!(dir.labcat(&["check", "bench.toml"]).expect(0).stdout.contains("no command"));
    dir.labcat(&["run", "bench.toml"]).expect(2).says("has no command to run");
    let wrong = dir.labcat(&["init", "n.toml", "-p", "x:5:1", "-p", "y:0:0"]);
    wrong
        .expect(2)
        .says("error: parameter `x` has low = 5 above high = 1")
        .says("error: parameter `y` has an empty range");
    assert!(!wrong.stderr.contains("n.toml"), "it was not written: {}", wrong.stderr);
    dir.labcat(&["init", "n.toml"]).expect(2).says("a study needs a parameter");
    dir.labcat(&["init", "n.toml", "-p", "x:1"]).expect(2).says("-p x:1 is not NAME:LOW:HIGH");
    dir.labcat(&["init", "n.toml", "-p", "x:nan:1"]).expect(2).says("-p x:nan:1 is not NAME:LOW:HIGH");
    dir.labcat(&["init", "n.toml", "-p", "x:3:1"]).expect(2).says("low = 3 above high = 1");
    dir.labcat(&["check", "absent.toml"]).expect(2).says("there is no study absent.toml");
}

#[test]
fn a_study_of_init_has_no_time_limit_until_somebody_writes_one() {
    let dir = Dir::new("init-timeout");
    dir.labcat(&["init", "-p", "x:0:1", "--", "echo", "{x}"]).expect(0);
    let text = dir.read("study.toml");
    assert!(text.contains("\n# timeout = ") && !text.contains("\ntimeout"), "{text}");
}

#[test]
fn init_refuses_a_range_of_more_than_two_bounds() {
    let dir = Dir::new("init-bounds");
    dir.labcat(&["init", "-p", "x:0:1:2:3"]).expect(2).says("-p x:0:1:2:3 is not NAME:LOW:HIGH");
    assert!(!dir.path("study.toml").exists());
}

#[test]
fn the_advice_for_a_missing_start_can_be_followed() {
    let dir = Dir::new("start-advice");
    let text = |second: &str, third: &str| {
        format!(
            "[study]\nbudget = 3\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\nstart = 0.5\n\
             [[parameter]]\nname = \"solver\"\ntype = \"categorical\"\nchoices = [\"l u\", \"qr\"]\n{second}\n\
             [[parameter]]\nname = \"flag\"\ntype = \"boolean\"\n{third}\n"
        )
    };
    dir.write("s.toml", &text("", ""));
    let said = dir.labcat(&["check", "s.toml"]);
    said.expect(2).says("write start = \"l u\" here too").says("write start = false here too");
    dir.write("s.toml", &text("start = \"l u\"", "start = false"));
    dir.labcat(&["check", "s.toml"]).expect(0);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let dir = Dir::new("at-once");
    dir.write(
        "s.toml",
        "[study]\nbudget = 0\nworkers = 2\nconstraint = \"x + <= 1\"\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\n\
         [objective]\ncommand = [\"echo\", \"{x}\"]\nvalue_file = \"out\"\non_failure = \"cry\"\n[optimizer]\nbeta = -3\n",
    );
    let said = dir.labcat(&["check", "s.toml"]);
    said.expect(2).says(":2: ").says("`constraint` cannot be").says("`on_failure`").says("beta").says("with 2 workers");
    dir.write(
        "t.toml",
        "[study]\nbudget = 3\n[[parameter]]\nname = \"x\"\nlow = 0\nhigh = 1\n[objective]\ncommand = [\"./absent\"]\n\
         directory = \"runs/{id}\"\ncopy = [\"missing.dat\"]\ntemplate = { from = \"deck.in\" }\n",
    );
    dir.write("deck.in", "{y}\n");
    let said = dir.labcat(&["check", "t.toml"]);
    said.expect(2).says("deck.in:1: ").says("there is no file ./missing.dat").says("there is no program `./absent`");
}

#[test]
fn status_shows_the_budget_of_the_file() {
    let dir = Dir::new("status-budget");
    dir.write("s.toml", &study("budget = 5", &built_in("booth")));
    dir.labcat(&["run", "s.toml", "--budget", "3"]).expect(0);
    let status = || dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(status().contains("evaluations  3 of 5") && !status().contains("stopped"), "{}", status());
    dir.write("s.toml", &study("budget = 50", &built_in("booth")));
    assert_eq!(dir.labcat(&["status", "s.toml", "--json"]).expect(0).json()["budget"], 50);
    dir.write("s.toml", "half-saved [");
    assert!(status().contains("evaluations  3 of 3"), "{}", status());
}
