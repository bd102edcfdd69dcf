//! What a study, its labels or its neighbours could do to files, terminals and shells.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::common::{Dir, built_in, shell, study, wait_for};

#[test]
fn an_output_never_takes_the_place_of_the_study_or_its_journal() {
    let dir = Dir::new("overwrite");
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    symlink("s.db", dir.path("link")).unwrap();
    fs::hard_link(dir.path("s.toml"), dir.path("other-name")).unwrap();
    let before = (fs::read(dir.path("s.db")).unwrap(), dir.read("s.toml"));
    for file in ["s.db", "s.toml", "link", "other-name", "./s.db", "s.db-lock"] {
        for command in ["export", "report"] {
            dir.labcat(&[command, "s.toml", "-o", file]).expect(2).says(file).says("name another file");
        }
    }
    // Nor that of another study.
    dir.write("t.toml", &study("budget = 5\nseed = 2", &built_in("sphere")));
    dir.labcat(&["run", "t.toml"]).expect(0);
    dir.labcat(&["export", "s.toml", "-o", "t.db"]).expect(2).says("t.db");
    dir.labcat(&["export", "s.toml", "-o", "t.toml"]).expect(2).says("t.toml");
    assert_eq!((fs::read(dir.path("s.db")).unwrap(), dir.read("s.toml")), before);
    dir.labcat(&["export", "s.toml", "-o", "out.csv"]).expect(0);
    dir.labcat(&["export", "s.toml", "-o", "out.csv"]).expect(0);
    dir.labcat(&["report", "s.toml", "-o", "out.html"]).expect(0);
}

#[test]
fn labels_and_names_cannot_steer_a_terminal() {
    let dir = Dir::new("escapes");
    let parameters = "[[parameter]]\nname = \"kind\"\ntype = \"categorical\"\n\
        choices = [\"a\\u001b[31m\", \"b\\u202Etxt\", \"c\\u009b2J\"]\n\
        [[parameter]]\nname = \"x\\u202E\"\nlow = 0\nhigh = 1\n";
    // The study has the name of its file.
    let file = "evil\u{1b}]0;title\u{7}\u{202e}.toml";
    let text = format!("[study]\nbudget = 4\n{parameters}[objective]\ncommand = [\"echo\", \"1\"]\n");
    dir.write(file, &text);
    let mut said = String::new();
    for args in [
        &["check", file][..],
        &["run", file, "--budget", "2"],
        &["run", file, "--budget", "3", "--json"],
        &["ask", file],
        &["tell", file, "3", "2"],
        &["best", file],
        &["best", file, "--json"],
        &["status", file],
        &["status", file, "0"],
        &["status", file, "--json"],
    ] {
        let ended = dir.labcat(args);
        said += &format!("{args:?}: {}{}\n", ended.expect(0).stdout, ended.stderr);
    }
    for harmful in ['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}'] {
        let line = said.lines().find(|line| line.contains(harmful));
        assert_eq!(line, None, "{harmful:?} is printed");
    }
    assert!(said.contains("^[[31m") && said.contains("\\u{202e}"), "they are shown as what they are");
    let best = dir.labcat(&["best", file, "--json"]).json();
    assert!(best["x"]["kind"].as_str().unwrap().contains(['\u{1b}', '\u{202e}', '\u{9b}']), "JSON reads back exactly");
}

#[test]
fn the_lock_follows_no_link_and_empties_no_file_of_others() {
    for (name, hard) in [("lock-link", false), ("lock-hard", true)] {
        let dir = Dir::new(name);
        dir.write("s.toml", &study("budget = 2", &built_in("sphere")));
        dir.write("precious", "do not touch\n");
        if hard {
            fs::hard_link(dir.path("precious"), dir.path("s.db-lock")).unwrap();
        } else {
            symlink("precious", dir.path("s.db-lock")).unwrap();
        }
        dir.labcat(&["run", "s.toml"]).expect(1).says("s.db-lock").says("remove it");
        dir.labcat(&["status", "s.toml"]).expect(1);
        assert_eq!(dir.read("precious"), "do not touch\n");
        assert!(!dir.path("s.db").exists());
    }
}

#[test]
fn a_deleted_lock_file_lets_nobody_else_in() {
    let dir = Dir::new("lock-deleted");
    dir.write("s.toml", &study("budget = 2", &shell("echo >> started; sleep 1.5; echo {x}")));
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the first evaluation", || dir.path("started").exists());
    fs::remove_file(dir.path("s.db-lock")).unwrap();
    let holder = format!("in use by labcat run (process {})", run.id());
    dir.labcat(&["run", "s.toml"]).expect(1).says(&holder);
    dir.labcat(&["worker", "s.toml"]).expect(1).says(&holder);
    dir.labcat(&["ask", "s.toml"]).expect(1).says(&holder);
    assert!(run.wait().unwrap().success());
    assert_eq!((dir.told("s.db").len(), dir.read("started").lines().count()), (2, 2));
}

#[test]
fn a_shell_reads_no_label() {
    let dir = Dir::new("shell-label");
    let parameter =
        "[[parameter]]\nname = \"kind\"\ntype = \"categorical\"\nchoices = [\"$(touch pwned)\", \"fine-1.5\"]\n";
    let text =
        |command: &str| format!("[study]\nbudget = 2\n{parameter}[objective]\nshell = true\ncommand = '{command}'\n");
    for command in ["echo {kind}; echo 1", "echo \"{kind}\"; echo 1"] {
        dir.write("s.toml", &text(command));
        for verb in ["check", "run"] {
            dir.labcat(&[verb, "s.toml"]).expect(2).says("s.toml:9:").says("$(touch pwned)").says("\"$LABCAT_kind\"");
        }
    }
    dir.write("s.toml", &text("echo \"$LABCAT_kind\" >> seen; echo 1"));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(!dir.path("pwned").exists() && dir.read("seen").contains("$(touch pwned)"));
    dir.write("t.toml", &text("echo {kind} >> plain; echo 1").replace("$(touch pwned)", "also_fine"));
    dir.labcat(&["run", "t.toml"]).expect(0);
    assert!(dir.read("plain").contains("fine-1.5"));
}
