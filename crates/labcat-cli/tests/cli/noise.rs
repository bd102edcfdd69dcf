//! Values with noise: told by the command or by hand, and what is recommended.

use crate::common::{Dir, study};

/// A bowl with its minimum at (1, 1) and noise that the evaluation's number determines, of a size that it may tell.
fn bowl(tells: bool) -> String {
    let print = if tells { r#"printf "{{\"value\": %.17g, \"std\": 1}}\n", v"# } else { r#"printf "%.17g\n", v"# };
    let draw = "srand({id} + 1); rand(); u = sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())";
    let value = "v = ({x} - 1) * ({x} - 1) + ({y} - 1) * ({y} - 1) + u";
    ["command = ['awk', 'BEGIN {{ ", draw, "; ", value, "; ", print, " }}']"].concat()
}

#[test]
fn best_status_and_report_show_what_is_recommended() {
    for (name, noise, tells) in [("given", "1.0", false), ("told", "\"auto\"", true)] {
        let dir = Dir::new(&format!("noise-{name}"));
        let text = study("budget = 60\nseed = 3", &bowl(tells));
        dir.write("s.toml", &format!("{text}[optimizer]\nnoise = {noise}\n"));
        let ended = dir.labcat(&["run", "s.toml"]);
        ended.expect(0);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("\nrecommended ") && !said.contains("best"), "no draw is called the best: {said}");
        let best = dir.labcat(&["best", "s.toml", "--json"]).expect(0).json();
        let found = &best["recommended"];
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        let (mean, std) = (number(&found["mean"]), number(&found["std"]));
        assert!(number(&best["draw"]["value"]) < mean && std > 0.0 && std < 1.0, "{best}");
        assert_eq!(
            (number(&best["value"]), &best["x"]),
            (mean, &found["x"]),
            "the point to use, not the luckiest draw"
        );
        let [x, y] = ["x", "y"].map(|name| number(&found["x"][name]));
        assert!((x - 1.0).hypot(y - 1.0) < 1.0, "{found}");
        assert_eq!(found["noise"].as_f64(), (!tells).then_some(1.0));
        let status = dir.labcat(&["status", "s.toml", "--json"]).expect(0).json();
        assert_eq!((&status["recommended"], &status["value"], &status["x"]), (found, &found["mean"], &found["x"]));
        let words = dir.labcat(&["best", "s.toml"]).expect(0).stdout.clone();
        assert!(words.starts_with("recommended ") && words.contains(" ± ") && !words.contains("best"), "{words}");
        let status = dir.labcat(&["status", "s.toml"]).expect(0).stdout.clone();
        assert!(status.contains("\nrecommended  ") && !status.contains("\nbest"), "{status}");
        let csv = dir.labcat(&["export", "s.toml"]).expect(0).stdout.clone();
        assert_eq!(
            csv.lines().next(),
            Some(if tells { "id,x,y,value,status,seconds,std" } else { "id,x,y,value,status,seconds" })
        );
        assert_eq!(csv.lines().nth(1).unwrap().ends_with(",1"), tells, "{csv}");
        let export = dir.labcat(&["export", "s.toml", "--json"]).expect(0).json();
        assert_eq!(export["evaluations"][0]["std"].as_f64(), tells.then_some(1.0));
        dir.labcat(&["report", "s.toml"]).expect(0);
        assert!(dir.read("s.html").contains(&format!("; recommended {mean} ± {std} at x = {x}")));
    }
}

#[test]
fn without_noise_the_best_value_is_shown() {
    let dir = Dir::new("noise-none");
    dir.write("s.toml", &study("budget = 8", &crate::common::built_in("booth")));
    dir.labcat(&["run", "s.toml"]).expect(0);
    assert!(dir.labcat(&["best", "s.toml", "--json"]).expect(0).json()["recommended"].is_null());
    assert!(dir.labcat(&["best", "s.toml"]).expect(0).stdout.starts_with("value "));
}

#[test]
fn the_noise_of_a_value_is_told_by_hand() {
    let dir = Dir::new("noise-hand");
    dir.write("s.toml", study("budget = 9", "").split("[objective]").next().unwrap());
    dir.labcat(&["ask", "s.toml", "-n", "2"]).expect(0);
    dir.labcat(&["tell", "s.toml", "0", "3.5", "--std", "0.25"]).expect(0);
    assert_eq!(dir.labcat(&["status", "s.toml", "0", "--json"]).expect(0).json()["result"]["std"], 0.25);
    for std in ["-1", "nan", "much"] {
        dir.labcat(&["tell", "s.toml", "1", "3", "--std", std])
            .expect(2)
            .says("is not the standard deviation of a value");
    }
}

#[test]
fn a_wrong_std_is_a_failure_with_its_reason() {
    let dir = Dir::new("noise-wrong");
    dir.write("s.toml", &study("budget = 2", r#"command = ['echo', '{{"value": 1, "std": -2}}']"#));
    let ended = dir.labcat(&["run", "s.toml"]);
    let status = dir.labcat(&["status", "s.toml"]).stdout;
    assert!(status.contains("has a \"std\" of -2"), "{status} {ended:?}");
}
