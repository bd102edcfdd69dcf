//! The right word at the right place: what a person reads when something is wrong, running, or was corrected.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::common::{Dir, built_in, shell, study, wait_for};
use serde_json::json;

#[test]
fn a_value_is_corrected_to_a_failure_and_the_history_is_shown() {
    let dir = Dir::new("to-failed");
    dir.write("s.toml", study("budget = 9", "").split("[objective]").next().unwrap());
    dir.labcat(&["ask", "s.toml", "-n", "3"]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "-7"]).expect(0);
    dir.labcat(&["tell", "s.toml", "1", "5"]).expect(0);
    let ended = dir.labcat(&["correct", "s.toml", "0", "failed"]);
    assert!(
        ended.expect(0).stdout.starts_with("evaluation 0: -7 is corrected to failed\n2 evaluations of 9, best 5\n")
    );
    assert_eq!((dir.told("s.db")[0].value, dir.told("s.db")[0].status.as_str()), (None, "failed"));
    dir.labcat(&["correct", "s.toml", "0", "2.5"]).expect(0);
    let shown = dir.labcat(&["status", "s.toml", "0"]).expect(0).stdout.clone();
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("corrected: ")).collect();
    assert!(lines[0].starts_with("corrected: from -7 to failed, 20") && lines[0].ends_with(" by hand"), "{shown}");
    assert!(lines.len() == 2 && lines[1].starts_with("corrected: from failed to 2.5, "), "{shown}");
    let json = dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json();
    assert_eq!((&json["corrections"][0]["was"], &json["corrections"][0]["became"]), (&json!(-7.0), &json!(null)));
}

#[test]
fn each_command_speaks_of_itself() {
    let dir = Dir::new("own-words");
    fs::create_dir(dir.path("my studies")).unwrap();
    let file = "my studies/it's one.toml";
    dir.write(file, study("budget = 9", "").split("[objective]").next().unwrap());
    dir.labcat(&["best", file]).expect(1).says(r"`labcat run 'my studies/it'\''s one.toml'`");
    dir.labcat(&["ask", file, "-n", "2"]).expect(0);
    dir.labcat(&["tell", file, "0", "1"]).expect(0);
    let word = r"'my studies/it'\''s one.toml'";
    for (args, part) in [
        (
            vec!["tell", file, "0", "2"],
            format!("evaluation 0 already has a result (pending: 1); `labcat correct {word} 0 VALUE`"),
        ),
        (
            vec!["cancel", file, "0"],
            format!("only a pending evaluation can be cancelled (pending: 1); `labcat correct {word} 0 failed`"),
        ),
        (vec!["cancel", file, "7"], "evaluation 7 is not pending".to_owned()),
        (
            vec!["correct", file, "1", "2"],
            format!("evaluation 1 has no result yet (pending: 1); `labcat tell {word} 1 VALUE`"),
        ),
        (vec!["correct", file, "7", "2"], "there is no evaluation 7: they are numbered from 0 to 1".to_owned()),
    ] {
        let ended = dir.labcat(&args);
        ended.expect(2).says(&part);
        for wrong in ["revis", "tell takes"] {
            assert!(!ended.stderr.contains(wrong), "{}", ended.stderr);
        }
    }
}

#[test]
fn a_running_evaluation_is_told_from_one_whose_run_died() {
    let dir = Dir::new("running");
    dir.write("s.toml", &study("budget = 3", &shell("touch started; exec sleep 30")));
    dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    assert!(!dir.labcat(&["status", "s.toml"]).expect(0).stdout.contains("running"));
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the command", || dir.path("started").exists());
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(status.contains(&format!("in use by    labcat run (process {})", run.id())), "{status}");
    let line = status.lines().find(|line| line.starts_with("  0: ")).unwrap();
    let elapsed = line.split("(running for ").nth(1).unwrap();
    assert!(elapsed.starts_with(|digit| ('1'..='9').contains(&digit)) && elapsed.ends_with("s)"), "{line}");
    assert!(
        !status.lines().find(|line| line.starts_with("  1: ")).unwrap().contains('('),
        "1 was only asked for: {status}"
    );
    let states = |dir: &Dir| {
        let json = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
        let pending = json["pending"].as_array().unwrap().clone();
        pending.iter().map(|one| one["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(states(&dir), ["running", "asked"]);
    run.kill().unwrap();
    run.wait().unwrap();
    let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(status.contains("not running  the last run ended with 1 evaluation unfinished"), "{status}");
    assert!(status.contains("(interrupted; the next run repeats it)"), "{status}");
    assert_eq!(states(&dir), ["interrupted", "asked"]);
    dir.write("s.toml", &study("budget = 3", &shell("echo {x}")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(!dir.labcat(&["status", "s.toml"]).expect(0).stdout.contains("not running"));
}

#[test]
fn machines_are_told_why_evaluations_failed() {
    let dir = Dir::new("why-json");
    dir.write(
        "s.toml",
        &study(
            "budget = 9\n",
            &format!("{}\nmax_consecutive_failures = 0", shell("[ {id} -lt 2 ] && echo 1 || exit 5")),
        ),
    );
    dir.labcat(&["run", "s.toml"]).expect(0);
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    let failed = status["failed"].as_array().unwrap();
    assert_eq!((failed.len(), &failed[0]["id"], &failed[0]["message"]), (7, &json!(2), &json!("exit status 5")));
    let words = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
    assert!(words.contains("why they failed\n  7 times: exit status 5\n"), "{words}");
}

#[test]
fn a_failure_is_shown_with_the_last_line_of_the_error_output() {
    let dir = Dir::new("last-line");
    dir.write("s.toml", &study("budget = 2", &shell("echo Traceback >&2; echo 'no mesh at {x}' >&2; exit 3")));
    dir.labcat(&["run", "s.toml"]).expect(1).says("failed at x = 2.5, y = 2.5: exit status 3\n  | no mesh at 2.5\n");
}

#[test]
fn a_new_study_names_the_help_that_comes_with_the_program() {
    let dir = Dir::new("init-help");
    dir.labcat(&["init", "-p", "x:0:1", "--", "echo", "{x}"]).expect(0);
    assert!(dir.read("study.toml").contains("`labcat help study` explains every key"));
    dir.labcat(&["help", "study"]).expect(0);
}

#[test]
fn check_previews_a_log_parameter_at_its_own_middle() {
    let dir = Dir::new("log-middle");
    let text = study("budget = 3", "command = [\"echo\", \"{x}\", \"{y}\"]");
    dir.write("s.toml", &text.replacen("low = -5\nhigh = 10", "low = 1e-6\nhigh = 1\nscale = \"log\"", 1));
    let shown = dir.labcat(&["check", "s.toml"]).expect(0).stdout.clone();
    let words: Vec<&str> = shown.lines().map(str::trim).collect();
    let at = words.iter().position(|word| *word == "echo").unwrap();
    let middle: f64 = words[at + 1].parse().unwrap();
    assert!((middle / 1e-3 - 1.0).abs() < 1e-12 && words[at + 2] == "2.5", "{shown}");
}

#[test]
fn a_broken_parameter_is_one_mistake_not_two() {
    let dir = Dir::new("one-mistake");
    let text = study("budget = 3", "command = [\"echo\", \"{x}\", \"{y}\"]");
    dir.write("s.toml", &text.replacen("high = 10", "high = \"ten\"", 1));
    let ended = dir.labcat(&["check", "s.toml"]);
    assert_eq!(ended.expect(2).stderr.lines().count(), 1, "{}", ended.stderr);
    ended.says("s.toml:7: `high` must be a number");
}

#[test]
fn a_program_that_may_not_be_executed_is_not_called_missing() {
    let dir = Dir::new("executable");
    dir.write("my program.sh", "echo 1\n");
    dir.write("s.toml", &study("budget = 3", "command = [\"./my program.sh\", \"{x}\", \"{y}\"]"));
    let ended = dir.labcat(&["check", "s.toml"]);
    ended.expect(2).says("my program.sh is not executable: `chmod +x '").says("'`, or name its interpreter first");
    assert!(!ended.stderr.contains("there is no program"));
    dir.write("my program.sh", "#!/no/such/interpreter\n");
    fs::set_permissions(dir.path("my program.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    dir.labcat(&["check", "s.toml"]).expect(0);
    dir.labcat(&["run", "s.toml"]).expect(1).says("the interpreter that its first line names does not exist");
    dir.write("s.toml", &study("budget = 3", "command = [\"./absent\", \"{x}\", \"{y}\"]"));
    dir.labcat(&["check", "s.toml"]).expect(2).says("there is no program `./absent`");
}

#[test]
fn a_parameter_that_nothing_uses_gets_a_hint() {
    let dir = Dir::new("unused");
    dir.write("s.toml", &study("budget = 3", "command = [\"echo\", \"1\"]"));
    let ended = dir.labcat(&["check", "s.toml"]);
    ended
        .expect(0)
        .says("`command` does not use {x}, {y}; the command finds them in its environment as LABCAT_x, LABCAT_y");
    assert_eq!(ended.stderr.lines().count(), 1, "one line for all of them");
    dir.write("s.toml", &study("budget = 3", "command = [\"echo\", \"1\"]\nparameters_file = \"{id}.json\""));
    assert_eq!(dir.labcat(&["check", "s.toml"]).expect(0).stderr, "");
    dir.write("deck.in", "{x} {y}\n");
    let template = "command = [\"echo\", \"1\"]\ndirectory = \"runs/{id}\"\ntemplate = { from = \"deck.in\" }";
    dir.write("s.toml", &study("budget = 3", template));
    assert_eq!(dir.labcat(&["check", "s.toml"]).expect(0).stderr, "");
    dir.write("s.toml", &study("budget = 3", &built_in("sphere")));
    assert_eq!(dir.labcat(&["check", "s.toml"]).expect(0).stderr, "");
}

#[test]
fn what_is_wrong_is_said_with_what_is_allowed() {
    let dir = Dir::new("allowed");
    dir.write("s.toml", study("budget = 9", "").split("[objective]").next().unwrap());
    dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "1"]).expect(0);
    for (args, status, part) in [
        (vec!["status", "s.toml", "9"], 2, "there is no evaluation 9: they are numbered from 0 to 1"),
        (vec!["note", "s.toml", "9", "x"], 2, "there is no evaluation 9: they are numbered from 0 to 1"),
        (vec!["enqueue", "s.toml", "x=a", "y=1"], 2, "x is \"a\", which is not a number from -5 to 10"),
        (vec!["import", "s.toml", "none.csv"], 2, "there is no file none.csv: name a file of comma-separated values"),
        (vec!["export", "s.toml", "-o", "none/a.csv"], 1, "cannot write none/a.csv: there is no directory none"),
        (vec!["demo", "-o", "none/a.html"], 1, "cannot write none/a.html: there is no directory none"),
        (vec!["export", "s.toml", "--xml"], 2, "the options of `labcat export` are --csv, --json, --all, --output"),
        (vec!["cancel", "s.toml", "0", "--force"], 2, "`labcat cancel` has no options"),
        (vec!["best", "s.toml", "--jsn"], 2, "a similar argument exists: '--json'"),
        (vec!["init", "./simulate", "--x={x}"], 2, "behind --, as in: labcat init -- ./simulate --x={x}"),
        (vec!["serve", "s.toml", "--port", "99999"], 2, "it must be an integer from 0 to 65535"),
        (vec!["serve", "s.toml", "--address", "nowhere"], 2, "such as 127.0.0.1"),
        (vec!["help", "stdy"], 2, "(did you mean `study`?): the topics are start, "),
        (vec!["help", "stattus"], 2, "(did you mean `status`?)"),
    ] {
        let ended = dir.labcat(&args);
        ended.expect(status).says(part);
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("as a value"), "{ended:?}");
    }
}
