//! The public surface: names, shapes and exit statuses that users rely on.

use crate::common::{Dir, built_in, shell, study};
use serde_json::{Value, json};

#[test]
fn minimize_prints_one_line_of_json_with_the_agreed_keys() {
    let dir = Dir::new("minimize");
    let args = ["minimize", "--function", "branin", "--budget", "60", "--seed", "5", "--preset", "paper", "--json"];
    let ended = dir.labcat(&args);
    let line = ended.expect(0).json();
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["function", "dim", "preset", "seed", "value", "x", "evaluations", "restarts", "stop", "seconds"]);
    assert_eq!(ended.stdout.lines().count(), 1);
    assert_eq!((&line["function"], &line["dim"], &line["preset"]), (&json!("branin"), &json!(2), &json!("paper")));
    assert_eq!((&line["seed"], &line["evaluations"], &line["stop"]), (&json!(5), &json!(60), &json!("budget")));
    let again = dir.labcat(&args).json();
    assert_eq!((&again["value"], &again["x"]), (&line["value"], &line["x"]), "one seed, one stream");
}

#[test]
fn minimize_takes_every_option_and_stops_for_every_reason() {
    let dir = Dir::new("switches");
    let stop = |args: &[&str]| {
        let mut all = vec!["minimize", "--function", "sphere", "--json"];
        all.extend(args);
        let line = dir.labcat(&all).expect(0).json();
        (line["stop"].as_str().unwrap().to_owned(), line["evaluations"].as_u64().unwrap())
    };
    assert_eq!(stop(&[]), ("budget".into(), 400), "200 per dimension");
    assert_eq!(stop(&["--dim", "3", "--budget", "10"]), ("budget".into(), 10));
    assert_eq!(stop(&["--target", "0.01", "--budget", "400"]).0, "target");
    assert_eq!(stop(&["--target", "-1e-7", "--budget", "9"]).0, "budget");
    assert_eq!(stop(&["--tolerance", "1e-3", "--no-restarts"]).0, "tolerance");
    assert_eq!(
        stop(&["--tolerance", "1e-3"]),
        ("budget".into(), 400),
        "with restarts a tolerance does not end the run"
    );
    assert_eq!(stop(&["--time-limit", "50ms"]).0, "time_limit");
    for switches in [
        "--beta 0.5 --cache-factor 20",
        "--prior-sigma none",
        "--prior-sigma 0.2 --no-rotation",
        "--newton-steps 10 --initial-points 8 --candidates 30",
        "--no-restarts --restarts --preset paper",
    ] {
        let mut args: Vec<&str> = switches.split(' ').collect();
        args.extend(["--budget", "15"]);
        assert_eq!(stop(&args).1, 15, "{switches}");
    }
}

#[test]
fn minimize_refuses_what_makes_no_sense() {
    let dir = Dir::new("refusals");
    for (args, part) in [
        (vec!["--function", "sphre"], "there is no function `sphre` (did you mean `sphere`?)"),
        (vec!["--function", "branin", "--dim", "3"], "`branin` is not defined for 3 parameters: it needs 2"),
        (vec!["--function", "sphere", "--dim", "0"], "an integer of at least 1"),
        (vec!["--function", "sphere", "--beta", "-1"], "beta = -1 is not allowed: it must be a number above 0"),
        (vec!["--function", "sphere", "--beta", "wide"], "beta = \"wide\" is not allowed"),
        (vec!["--function", "sphere", "--budget", "0"], "budget = 0 is not allowed"),
        (vec!["--function", "sphere", "--seed", "-3"], "seed"),
        (vec!["--function", "sphere", "--preset", "best"], "possible values: default, paper"),
        (vec!["--function", "sphere", "--time-limit", "long"], "--time-limit long is not a span of time"),
        (vec![], "--function"),
    ] {
        let mut all = vec!["minimize"];
        all.extend(args);
        dir.labcat(&all).expect(2).says(part);
    }
}

#[test]
fn functions_lists_and_evaluates() {
    let dir = Dir::new("functions");
    let list = dir.labcat(&["functions"]).expect(0).stdout.clone();
    for name in ["sphere", "quartic", "booth", "rosenbrock", "branin", "levy"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{name}");
    }
    let line = dir.labcat(&["functions", "booth", "--json"]).expect(0).json();
    assert_eq!((&line["name"], &line["minimum"], &line["only_dim"]), (&json!("booth"), &json!(0.0), &json!(2)));
    assert_eq!(dir.labcat(&["functions", "booth", "1", "3"]).expect(0).stdout, "0\n");
    assert_eq!(dir.labcat(&["functions", "sphere", "-1", "2e0"]).expect(0).stdout, "5\n");
    assert_eq!(dir.labcat(&["functions", "sphere", "-1e-5", "-2.5e-300"]).expect(0).stdout, "1.0000000000000002e-10\n");
    dir.labcat(&["functions", "sphere", "--jsno"]).expect(2);
    dir.labcat(&["functions", "booth", "1"]).expect(2).says("not defined for 1 parameter: it needs 2");
    dir.labcat(&["functions", "booth", "a", "b"]).expect(2);
}

#[test]
fn a_finished_study_can_be_shown_in_every_form() {
    let dir = Dir::new("shown");
    let text = study("name = \"rosenbrock\"\nbudget = 9\nseed = 7", &built_in("rosenbrock"));
    dir.write("s.toml", &text);
    for command in ["status", "best", "export", "report"] {
        dir.labcat(&[command, "s.toml"]).expect(1).says("has not begun");
    }
    dir.labcat(&["run", "s.toml"]).expect(0);

    let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
    assert_eq!(csv, dir.labcat(&["export", "s.db", "--csv"]).expect(0).stdout);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines[0], lines.len()), ("id,x,y,value,status,seconds", 10));
    let told = dir.told("s.db");
    for (line, told) in lines[1..].iter().zip(&told) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0].parse(), Ok(told.id));
        assert_eq!(cells[3].parse::<f64>().unwrap().to_bits(), told.value.unwrap(), "values read back exactly");
        assert_eq!(
            format!("[{},{}]", cells[1], cells[2]).replace(['.', '0', ' '], ""),
            told.x.replace(['.', '0', ' '], "")
        );
        assert_eq!(cells[4], "ok");
        assert!(cells[5].parse::<f64>().unwrap() > 0.0);
    }
    let export = dir.labcat(&["export", "s.toml", "--json"]).expect(0).json();
    assert_eq!(export["evaluations"].as_array().unwrap().len(), 9);
    dir.labcat(&["export", "s.toml", "--json", "-o", "all.json"]).expect(0);
    assert_eq!(serde_json::from_str::<Value>(&dir.read("all.json")).unwrap(), export);

    let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
    let least = export["evaluations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["value"].as_f64().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert_eq!(best["value"].as_f64(), Some(least));
    assert!(best["x"]["x"].is_f64() && best["x"]["y"].is_f64());
    assert!(dir.labcat(&["best", "s.db"]).expect(0).stdout.starts_with("value "));
    let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
    assert_eq!(
        (&status["study"], &status["evaluations"], &status["stop"]),
        (&json!("rosenbrock"), &json!(9), &json!("budget"))
    );
    dir.labcat(&["status", "s.toml", "99"]).expect(2).says("there is no evaluation 99: they are numbered from 0 to 8");

    dir.labcat(&["report", "s.toml", "-o", "page.html"]).expect(0);
    let page = dir.read("page.html");
    assert!(page.contains("<html") && page.contains("rosenbrock"));
    dir.labcat(&["report", "s.toml", "-o", "no/such/place.html"])
        .expect(1)
        .says("cannot write no/such/place.html: there is no directory no/such");
}

#[test]
fn json_events_tell_the_whole_story() {
    let dir = Dir::new("events");
    dir.write("s.toml", &study("budget = 4", &shell("[ {id} != 2 ] && echo '{{\"value\": {x}}}'")));
    let ended = dir.labcat(&["run", "s.toml", "--json", "--workers", "2"]);
    let events: Vec<Value> = ended.expect(0).stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds = |kind: &str| events.iter().filter(|event| event["event"] == kind).count();
    assert_eq!((kinds("begin"), kinds("suggestion"), kinds("evaluation"), kinds("end")), (1, 4, 4, 1));
    let failed = events.iter().find(|event| event["event"] == "evaluation" && event["id"] == 2).unwrap();
    assert_eq!(
        (&failed["status"], &failed["message"], &failed["value"]),
        (&json!("failed"), &json!("exit status 1"), &Value::Null)
    );
    let end = events.last().unwrap();
    assert_eq!((&end["stop"], &end["failures"], &end["evaluations"]), (&json!("budget"), &json!(1), &json!(4)));

    dir.write("t.toml", &study("budget = 4", "command = [\"no-such-program\"]"));
    let ended = dir.labcat(&["run", "t.toml", "--json"]);
    let end: Value = serde_json::from_str(ended.expect(1).stdout.lines().last().unwrap()).unwrap();
    assert_eq!((&end["event"], &end["stop"]), (&json!("end"), &json!("error")));
    assert!(end["message"].as_str().unwrap().contains("no-such-program"));
}

#[test]
fn values_reach_the_command_as_arguments_variables_and_files() {
    let dir = Dir::new("ways");
    dir.write(
        "show.sh",
        "echo \"$1|$LABCAT_x|$LABCAT_y|$EXTRA|$(cat in/$2.json)|$(pwd)\" >> ../seen\nmkdir -p out\necho noise\necho 7.25 > out/$2.txt\n",
    );
    std::fs::create_dir(dir.path("work")).unwrap();
    let objective = "command = [\"sh\", \"../show.sh\", \"--x={x}\", \"{id}\"]\n\
        directory = \"work\"\nenvironment = { EXTRA = \"a b\" }\n\
        parameters_file = \"in/{id}.json\"\nvalue_file = \"out/{id}.txt\"\n";
    dir.write("s.toml", &study("budget = 3\nworkers = 2", objective));
    dir.labcat(&["run", "s.toml"]).expect(0);
    let seen = dir.read("seen");
    assert_eq!(seen.lines().count(), 3);
    for line in seen.lines() {
        let parts: Vec<&str> = line.split('|').collect();
        let file: Value = serde_json::from_str(parts[4]).unwrap();
        let x = parts[1].parse::<f64>().unwrap();
        assert_eq!(parts[0], format!("--x={}", parts[1]));
        assert_eq!((file["x"].as_f64(), file["y"].as_f64()), (Some(x), parts[2].parse().ok()));
        assert_eq!(parts[3], "a b");
        assert!(parts[5].ends_with("/work"));
    }
    assert!(dir.told("s.db").iter().all(|told| told.value == Some(7.25_f64.to_bits())));
}

#[test]
fn a_stale_value_file_is_not_taken_for_a_value() {
    let dir = Dir::new("stale");
    dir.write("out.txt", "5\n");
    dir.write("s.toml", &study("budget = 2", "command = [\"true\"]\nvalue_file = \"out.txt\""));
    dir.labcat(&["run", "s.toml"]).expect(1);
    assert!(dir.labcat(&["status", "s.toml"]).stdout.contains("value file ./out.txt cannot be read"));
}

#[test]
fn nothing_reaches_a_shell_that_was_not_asked_for() {
    let dir = Dir::new("injection ; touch hacked");
    let name = "; touch hacked $(touch hacked) `touch hacked` & | > hacked ' \\\" *";
    let text = format!(
        "[study]\nbudget = 3\nname = \"; touch hacked\"\n[[parameter]]\nname = \"{name}\"\nlow = -1\nhigh = 1\n\
         [[parameter]]\nname = \"y\"\nlow = -1\nhigh = 1\n\
         [objective]\ncommand = [\"printf\", \"%s\\n\", \"; touch hacked\", \"$(touch hacked)\", \"{{{name}}}\"]\n\
         environment = {{ EVIL = \"$(touch hacked)\" }}\n"
    );
    dir.write("s.toml", &text);
    dir.labcat(&["run", "s.toml"]).expect(0);
    let shown = dir.labcat(&["status", "s.toml", "0"]).expect(0).stdout.clone();
    assert!(shown.contains("; touch hacked\n$(touch hacked)\n"), "arguments arrive as they are: {shown}");
    dir.labcat(&["report", "s.toml"]).expect(0);
    dir.labcat(&["export", "s.toml"]).expect(0);

    // With a shell of the study's own choice only decimal numbers are put into its text.
    dir.write("t.toml", &study("budget = 3", &shell("echo \"; touch hacked\" {x} '$(touch hacked)'; echo {y}")));
    dir.labcat(&["run", "t.toml"]).expect(0);
    let here = std::fs::read_dir(dir.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(here.into_iter().all(|file| file != "hacked"), "no shell has seen any of it");
}

#[test]
fn demo_finds_the_minimum_and_writes_its_page() {
    let dir = Dir::new("demo");
    let ended = dir.labcat(&["demo"]);
    let shown = &ended.expect(0).stdout;
    assert!(shown.contains("found  ") && shown.contains("page   labcat-demo.html"), "{shown}");
    assert!(dir.read("labcat-demo.html").contains("<html"));
    assert!(!shown.contains('\x1b'), "no colours where there is no terminal");
    dir.labcat(&["demo", "--function", "hartmann6"]).expect(2).says("has no map");
    dir.labcat(&["demo", "-o", "no/where.html"]).expect(1).says("cannot write no/where.html");
}

#[test]
fn help_completions_and_manual_are_there() {
    let dir = Dir::new("help");
    assert!(dir.labcat(&["--help"]).expect(0).stdout.contains("Examples:"));
    for command in [
        "demo",
        "run",
        "worker",
        "retry",
        "ask",
        "tell",
        "cancel",
        "correct",
        "import",
        "status",
        "best",
        "export",
        "report",
        "serve",
        "init",
        "check",
        "minimize",
        "functions",
        "completions",
        "man",
    ] {
        assert!(dir.labcat(&[command, "--help"]).expect(0).stdout.contains("Example"), "{command} teaches by example");
    }
    for sh in ["bash", "zsh", "fish"] {
        assert!(dir.labcat(&["completions", sh]).expect(0).stdout.contains("minimize"));
    }
    assert!(dir.labcat(&["man"]).expect(0).stdout.contains(".TH labcat 1"));
    dir.labcat(&["man", "--directory", "man1"]).expect(0);
    assert!(dir.path("man1/labcat-run.1").exists());
    dir.labcat(&["no-such-command"]).expect(2);
    dir.labcat(&[]).expect(2);
}

#[test]
fn a_reader_that_has_gone_away_is_no_error_and_does_not_end_a_run() {
    let dir = Dir::new("pipe");
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    for args in
        [vec!["functions"], vec!["man"], vec!["run", "s.toml"], vec!["export", "s.toml"], vec!["status", "s.toml"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = dir.command(&args);
        command.stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(0), "{args:?}");
    }
    assert_eq!(dir.told("s.db").len(), 5);
}

#[test]
fn a_command_that_is_mistyped_gets_the_one_that_was_meant() {
    let dir = Dir::new("mistyped");
    for (typed, meant) in [("rnu", "run"), ("stauts", "status"), ("chekc", "check"), ("aks", "ask")] {
        dir.labcat(&[typed, "s.toml"]).expect(2).says(&format!("'{meant}'"));
    }
    let far = dir.labcat(&["xyz"]);
    assert!(!far.expect(2).stderr.contains("similar"), "{}", far.stderr);
}

#[test]
fn a_number_on_the_command_line_is_refused_by_what_it_must_be() {
    let dir = Dir::new("numbers");
    dir.write("s.toml", &study("budget = 5", &built_in("sphere")));
    for (args, part) in [
        (&["tell", "s.toml", "abc", "1"][..], "'abc' for '<ID>': it must be the number of an evaluation, such as 12"),
        (&["tell", "s.toml", "-1", "1"], "'-1' for '<ID>': it must be the number of an evaluation, such as 12"),
        (&["status", "s.toml", "1e3"], "'1e3' for '[ID]': it must be the number of an evaluation, such as 12"),
        (&["retry", "s.toml", "-3"], "it must be the number of an evaluation, such as 12"),
        (&["run", "s.toml", "--workers", "-3"], "'-3' for '--workers <N>': it must be an integer of at least 1"),
        (&["init", "new.toml", "-p", "x:0:1", "--budget", "-3"], "it must be an integer of at least 1"),
        (&["demo", "--seed", "-3"], "'-3' for '--seed <S>': it must be an integer from 0 to 18446744073709551615"),
        (&["functions", "sphere", "a", "1"], "'a' for '[X]...': it must be a number, such as -3.1 or 1e-5"),
    ] {
        dir.labcat(args).expect(2).says(part);
    }
    assert!(!dir.path("s.db").exists());
}

#[test]
fn the_help_of_options_that_turn_something_off_is_a_sentence() {
    let dir = Dir::new("off");
    let help = dir.labcat(&["minimize", "--help"]).expect(0).stdout.clone();
    assert!(help.contains("Turn off: ") && !help.contains("Do not "), "{help}");
}
