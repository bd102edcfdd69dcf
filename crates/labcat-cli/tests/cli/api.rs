//! `labcat serve --api`: programs in any language ask and tell.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use labcat::{Config, Domain, Optimizer, Outcome};
use serde_json::{Value, json};

use crate::common::{Dir, built_in, output, pending, shell, study, wait_for};

const TOKEN: &str = "0123456789abcdef";

/// A server, ended with the test.
struct Server {
    process: Child,
    address: String,
    /// What it printed after its address.
    said: Vec<String>,
}

impl Server {
    fn start(dir: &Dir, args: &[&str]) -> Server {
        let mut process = dir
            .command(&[&["serve", "s.toml", "--api", "--port", "0"], args].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().take(3);
        let mut said: Vec<String> = lines.map(Result::unwrap).collect();
        let address = said.remove(0).split(['/', ' ']).nth(2).unwrap().to_owned();
        Server { process, address, said }
    }

    fn with_token(dir: &Dir) -> Server {
        Server::start(dir, &["--token", TOKEN])
    }

    /// Sends a request as it is; gives the status, the head and the body.
    fn send(&self, method: &str, path: &str, fields: &str, body: &str) -> (u16, String, Value) {
        self.send_as(&self.address, method, path, fields, body)
    }

    /// The same under another name of the server.
    fn send_as(&self, host: &str, method: &str, path: &str, fields: &str, body: &str) -> (u16, String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), serde_json::from_str(body).unwrap_or_default())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let (status, _, body) = self.send("GET", path, "", "");
        (status, body)
    }

    fn post(&self, call: &str, body: &Value) -> (u16, Value) {
        let fields = format!("Authorization: Bearer {TOKEN}\r\n");
        let (status, _, body) = self.send("POST", &format!("/api/studies/0/{call}"), &fields, &body.to_string());
        (status, body)
    }

    /// Points, which there must be.
    fn ask(&self, n: usize) -> Vec<(u64, Value)> {
        let (status, body) = self.post("ask", &json!({"n": n}));
        assert_eq!(status, 200, "{body}");
        body["suggestions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| (point["id"].as_u64().unwrap(), point["x"].clone()))
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A study that has no command.
fn by_hand(general: &str) -> String {
    study(general, "").replace("[objective]\n\n", "")
}

fn number(x: &Value, name: &str) -> f64 {
    x[name].as_f64().unwrap()
}

#[test]
fn studies_of_one_name_are_told_apart_by_their_files() {
    let dir = Dir::new("api-names");
    for (file, name) in [("s.toml", "cable"), ("t.toml", "cable"), ("u.toml", "beam")] {
        dir.write(file, &by_hand(&format!("name = \"{name}\"")));
    }
    let (status, rows) = Server::start(&dir, &["t.toml", "u.toml"]).get("/studies");
    let names: Vec<&str> = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!((status, names), (200, vec!["cable (s.toml)", "cable (t.toml)", "beam"]));
}

#[test]
fn the_client_of_the_guide_runs_a_study_to_its_end() {
    let page = include_str!("../../../../docs/how-to/http.md");
    let file = |name: &str| page.split(&format!("title=\"{name}\"\n")).nth(1).unwrap().split("```").next().unwrap();
    let dir = Dir::new("api-client");
    dir.write("s.toml", file("study.toml"));
    dir.write("client.mjs", file("client.mjs"));
    assert!(file("client.mjs").lines().count() <= 40);
    let server = Server::with_token(&dir);
    // A client before this one was ended with two points in hand.
    server.ask(2);
    let mut node = Command::new("node");
    node.current_dir(dir.path(""))
        .args(["client.mjs", &format!("http://{}", server.address)])
        .env("LABCAT_TOKEN", TOKEN);
    let ended = output(&mut node);
    ended.expect(0);
    assert!(ended.stdout.contains("after 40 evaluations"), "{}", ended.stdout);
    assert_eq!((dir.told("s.db").len(), pending(&dir.path("s.db"))), (40, 0));
    let value: f64 = ended.stdout.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(Some(value), dir.labcat(&["best", "s.db", "--json"]).json()["value"].as_f64());
    node.env("LABCAT_TOKEN", "another-token-of-somebody");
    dir.write("s.toml", &file("study.toml").replace("40", "50"));
    let ended = output(&mut node);
    ended.expect(1).says("the token is not that of this server");
}

#[test]
fn a_change_needs_the_token_and_reading_does_not() {
    let dir = Dir::new("api-token");
    dir.write("s.toml", &by_hand("budget = 9"));
    let server = Server::start(&dir, &[]);
    let token = server.said[1].strip_prefix("token: ").unwrap();
    assert_eq!(token.len(), 32);
    assert!(server.said[0].contains("/openapi.json"), "{:?}", server.said);
    for call in ["ask", "tell", "cancel"] {
        let path = format!("/api/studies/0/{call}");
        for (fields, says) in [
            (String::new(), "a token is missing"),
            ("Authorization: Bearer 00000000000000000000000000000000\r\n".to_owned(), "is not that of this server"),
            (format!("Authorization: Bearer {}\r\n", &token[1..]), "is not that of this server"),
            (format!("Authorization: Basic {token}\r\n"), "a token is missing"),
        ] {
            let (status, head, body) = server.send("POST", &path, &fields, "{}");
            assert_eq!(status, 401, "{fields}");
            assert!(body["error"].as_str().unwrap().contains(says), "{body}");
            assert!(head.to_lowercase().contains("www-authenticate: bearer"), "{head}");
        }
        assert_eq!(server.send("GET", &path, "", "").0, 405);
    }
    assert_eq!(pending(&dir.path("s.db")), 0);
    let fields = format!("authorization: bearer {token}\r\n");
    assert_eq!(server.send("POST", "/api/studies/0/ask", &fields, "").0, 200);
    for path in ["/api/studies", "/api/studies/0", "/openapi.json", "/", "/study/0"] {
        assert_eq!(server.get(path).0, 200, "{path}");
    }
    // A page of elsewhere whose name was made to lead here.
    let (status, _, body) = server.send_as("evil.example", "POST", "/api/studies/0/ask", &fields, "");
    assert_eq!(
        (status, body["error"].as_str().unwrap().contains("only requests to this machine")),
        (403, true),
        "{body}"
    );
    assert_eq!(server.send("POST", "/study/0", &fields, "").0, 405);
    dir.labcat(&["serve", "s.toml", "--api", "--token", "short"]).expect(2).says("at least 16");
    dir.labcat(&["serve", "s.toml", "--token", TOKEN]).expect(2).says("--api");
    let from_environment = output(dir.command(&["serve", "s.toml", "--api"]).env("LABCAT_TOKEN", "a b"));
    from_environment.expect(2).says("LABCAT_TOKEN");
}

#[test]
fn without_api_nothing_can_be_asked() {
    let dir = Dir::new("api-off");
    dir.write("s.toml", &by_hand("budget = 9"));
    let mut process = dir.command(&["serve", "s.toml", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split(['/', ' ']).nth(2).unwrap().to_owned();
    let server = Server { process, address, said: Vec::new() };
    let (status, body) = server.post("ask", &json!({}));
    assert_eq!((status, body["error"].as_str().unwrap().contains("--api")), (404, true), "{body}");
    assert!(!dir.path("s.db").exists());
}

#[test]
fn nothing_is_lost_when_the_server_is_killed_between_ask_and_tell() {
    let dir = Dir::new("api-killed");
    dir.write("s.toml", &by_hand("budget = 12\nseed = 3"));
    let mut told = 0;
    for round in 0..4 {
        let server = Server::with_token(&dir);
        let points = server.ask(3);
        drop(server); // SIGKILL
        let server = Server::with_token(&dir);
        let (_, status) = server.get("/api/studies/0");
        let pending: Vec<(u64, Value)> =
            status["pending"].as_array().unwrap().iter().map(|p| (p["id"].as_u64().unwrap(), p["x"].clone())).collect();
        assert_eq!(pending, points, "round {round}");
        for (id, x) in &points {
            let body =
                json!({"id": id, "value": number(x, "x").powi(2) + number(x, "y").powi(2), "extra": {"round": round}});
            told += 1;
            assert_eq!(server.post("tell", &body).0, 200, "{body}");
            assert_eq!(server.post("tell", &body).1["repeated"], true);
        }
    }
    assert_eq!((dir.told("s.db").len(), told), (12, 12));
}

#[test]
fn a_tell_that_is_sent_again_changes_nothing_and_another_one_is_refused() {
    let dir = Dir::new("api-again");
    dir.write("s.toml", &by_hand("budget = 9\nconstraint = \"x + mass <= 20\""));
    let server = Server::with_token(&dir);
    let ids: Vec<u64> = server.ask(5).into_iter().map(|(id, _)| id).collect();
    let bodies = [
        json!({"id": ids[0], "value": 0.1, "std": 0.3, "results": {"mass": 1.7, "mass_std": 0.1}, "gradient": [0.1, null], "seconds": 0.7}),
        json!({"id": ids[1], "residuals": [0.1, -0.2], "results": {"mass": 1}, "extra": {"note": "x", "n": [1, 2.5]}, "note": "wet"}),
        json!({"id": ids[2], "failed": "it diverged"}),
        json!({"id": ids[3], "results": {"mass": 1e6}}),
    ];
    // Residuals once are residuals always; here they come second.
    for body in &bodies {
        let (status, first) = server.post("tell", body);
        assert_eq!((status, &first["repeated"]), (200, &json!(false)), "{body} {first}");
        let (status, again) = server.post("tell", body);
        assert_eq!((status, &again["repeated"]), (200, &json!(true)), "{body} {again}");
        assert_eq!((&first["evaluations"], &first["best"]), (&again["evaluations"], &again["best"]));
        for change in [json!({"value": 7}), json!({"failed": "another"}), json!({"seconds": 9})] {
            let mut other = body.clone();
            other
                .as_object_mut()
                .unwrap()
                .retain(|name, _| name == "id" || name == "results" && change.get("failed").is_none());
            other.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            if other.get("value").is_none() && other.get("failed").is_none() {
                other["value"] = json!(3);
                other["results"] = json!({"mass": 1});
            }
            if other.get("value").is_some() && other.get("results").is_none() {
                other["results"] = json!({"mass": 1});
            }
            let (status, answer) = server.post("tell", &other);
            assert_eq!(status, 409, "{other} {answer}");
            assert!(answer["error"].as_str().unwrap().contains("already has a result"), "{answer}");
        }
    }
    assert_eq!(server.post("cancel", &json!({"id": ids[4]})), (200, json!({"id": ids[4], "repeated": false})));
    assert_eq!(server.post("cancel", &json!({"id": ids[4]})), (200, json!({"id": ids[4], "repeated": true})));
    assert_eq!(server.post("cancel", &json!({"id": ids[0]})).0, 409);
    assert_eq!(server.post("tell", &json!({"id": ids[4], "value": 1, "results": {"mass": 1}})).0, 409);
    let exported = dir.labcat(&["export", "s.toml", "--json"]).json();
    let first = &exported["evaluations"][0];
    assert_eq!((&first["source"], &first["seconds"], &first["std"]), (&json!("api"), &json!(0.7), &json!(0.3)));
    assert_eq!(exported["evaluations"][1]["residuals"], json!([0.1, -0.2]));
    assert_eq!(exported["evaluations"][1]["note"], "wet");
    assert_eq!(exported["evaluations"][2]["message"], "it diverged");
    assert_eq!(dir.told("s.db").len(), 4);
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    let dir = Dir::new("api-wrong");
    dir.write("s.toml", &by_hand("budget = 3\nconstraint = \"x + mass <= 20\""));
    let server = Server::with_token(&dir);
    server.ask(2);
    for (call, body, status, says) in [
        ("ask", json!({"n": 0}), 400, "\"n\" is 0: write an integer from 1 to 1000"),
        ("ask", json!({"m": 1}), 400, "allowed are n"),
        ("ask", json!([1]), 400, "is not an object"),
        ("tell", json!({"value": 1}), 400, "\"id\" is missing"),
        ("tell", json!({"id": 77, "value": 1}), 404, "no evaluation 77"),
        ("tell", json!({"id": -1, "value": 1}), 400, "\"id\" is -1"),
        ("tell", json!({"id": 0, "vaule": 1}), 400, "is \"value\" meant?"),
        ("tell", json!({"id": 0, "value": "1"}), 400, "\"value\" is \"1\": write a finite number"),
        ("tell", json!({"id": 0, "value": null}), 400, "has no number \"mass\""),
        (
            "tell",
            json!({"id": 0, "value": null, "results": {"mass": 1}}),
            400,
            "may be missing only where a constraint is violated",
        ),
        (
            "tell",
            json!({"id": 0, "value": 1}),
            400,
            "has no number \"mass\", which the constraint `x + mass <= 20` needs",
        ),
        ("tell", json!({"id": 0, "value": 1, "results": {"mas": 1}}), 400, "allowed are mass, mass_std"),
        ("tell", json!({"id": 0, "value": 1, "results": {"mass": "x"}}), 400, "\"mass\" in \"results\" is \"x\""),
        ("tell", json!({"id": 0, "value": 1, "extra": {"mass": 1}}), 400, "it belongs outside"),
        ("tell", json!({"id": 0, "value": 1, "std": -1}), 400, "\"std\" is -1: write a finite number of at least 0"),
        ("tell", json!({"id": 0, "value": 1, "gradient": [1]}), 400, "one for each of x, y"),
        ("tell", json!({"id": 0, "value": 1, "gradient": {"z": 1}}), 400, "\"gradient\" has \"z\": allowed are x, y"),
        ("tell", json!({"id": 0, "residuals": [], "results": {"mass": 1}}), 400, "an empty list of residuals"),
        ("tell", json!({"id": 0, "failed": "x", "value": 1}), 400, "\"failed\" and \"value\""),
        ("tell", json!({"id": 0, "failed": true}), 400, "\"failed\" is true: write a string"),
        ("cancel", json!({}), 400, "\"id\" is missing"),
        ("cancel", json!({"id": 9}), 404, "no evaluation 9"),
    ] {
        let (got, answer) = server.post(call, &body);
        assert_eq!(got, status, "{call} {body}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(says), "{call} {body}: {answer}");
    }
    let fields = format!("Authorization: Bearer {TOKEN}\r\n");
    let (status, _, answer) = server.send("POST", "/api/studies/0/tell", &fields, "{\"id\": 0,");
    assert_eq!((status, answer["error"].as_str().unwrap().contains("is not JSON")), (400, true));
    let (status, _, answer) = server.send("POST", "/api/studies/4/tell", &fields, "{}");
    assert_eq!((status, answer["error"].as_str().unwrap().contains("from 0 to 0")), (404, true));
    assert_eq!(server.get("/api/studies/0/best").0, 404, "nothing has succeeded");
    assert_eq!(server.get("/api/nothing").0, 404);
    assert_eq!((dir.told("s.db").len(), pending(&dir.path("s.db"))), (0, 2));
}

#[test]
fn the_study_says_when_it_ends() {
    let dir = Dir::new("api-end");
    dir.write("s.toml", &by_hand("budget = 3"));
    let server = Server::with_token(&dir);
    assert_eq!(server.ask(9).len(), 3, "as many as there are");
    let (status, answer) = server.post("ask", &json!({}));
    assert_eq!((status, &answer["stop"]), (409, &Value::Null));
    for id in 0..3 {
        assert_eq!(server.post("tell", &json!({"id": id, "value": id})).0, 200);
    }
    let (status, answer) = server.post("ask", &json!({}));
    assert_eq!((status, &answer["stop"]), (409, &json!("budget")));
    assert_eq!(server.get("/api/studies/0/best").1["value"], 0.0);
}

#[test]
fn a_run_has_the_study_to_itself_and_others_share_it() {
    let dir = Dir::new("api-run");
    dir.write("s.toml", &study("budget = 2", &shell("sleep 4; echo 1")));
    let server = Server::with_token(&dir);
    let mut run = dir.command(&["run", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the run", || pending(&dir.path("s.db")) > 0);
    let (status, head, answer) =
        server.send("POST", "/api/studies/0/ask", &format!("Authorization: Bearer {TOKEN}\r\n"), "");
    assert_eq!((status, answer["error"].as_str().unwrap().contains("labcat run")), (503, true), "{answer}");
    assert!(head.to_lowercase().contains("retry-after: 1"), "{head}");
    assert_eq!(server.get("/api/studies/0").0, 200);
    assert!(run.wait().unwrap().success());
    dir.write("s.toml", &study("budget = 62", &built_in("sphere")));
    // Programs, people and workers, all at once.
    let mut worker = dir.command(&["worker", "s.toml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    for (id, x) in server.ask(2) {
                        let value = number(&x, "x").powi(2) + number(&x, "y").powi(2);
                        assert_eq!(server.post("tell", &json!({"id": id, "value": value})).0, 200);
                    }
                }
            });
        }
    });
    assert!(worker.wait().unwrap().success());
    let told = dir.told("s.db");
    assert_eq!((told.len(), told.iter().map(|told| &told.x).collect::<BTreeSet<_>>().len()), (62, 62));
    assert_eq!(pending(&dir.path("s.db")), 0);
}

#[test]
fn gradients_reach_the_optimizer_through_the_journal_bit_for_bit() {
    let dir = Dir::new("api-gradient");
    dir.write("s.toml", &by_hand("budget = 25\nseed = 5"));
    let server = Server::with_token(&dir);
    let domain = Domain::new(&[(-5.0, 10.0); 2]).unwrap();
    let mut config = Config::default();
    (config.budget, config.seed) = (Some(25), 5);
    let mut optimizer = Optimizer::new(domain, config).unwrap();
    for _ in 0..25 {
        let suggestion = optimizer.ask().unwrap();
        let (id, x) = server.ask(1).remove(0);
        assert_eq!([number(&x, "x"), number(&x, "y")], *suggestion.x);
        let [x, y] = suggestion.x[..] else { panic!() };
        let (value, gx) = (100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2), -400.0 * x * (y - x * x) - 2.0 * (1.0 - x));
        optimizer.tell(suggestion.id, Outcome::from(value).with_gradient(vec![gx, f64::NAN])).unwrap();
        assert_eq!(server.post("tell", &json!({"id": id, "value": value, "gradient": {"x": gx}})).0, 200);
    }
}

#[test]
fn a_command_may_print_a_gradient_too() {
    let dir = Dir::new("api-printed-gradient");
    dir.write("s.toml", &study("budget = 3", &shell("echo '{{\"value\": 1, \"gradient\": [1, 2, 3]}}'")));
    dir.labcat(&["run", "s.toml"]);
    let failed = dir.labcat(&["status", "s.toml", "--json"]).json();
    let message = failed["failed"][0]["message"].as_str().unwrap();
    assert_eq!(message, "it gave a gradient of 3 numbers, the study has 2 parameters");
    let script = "echo {x} {y} | awk '{{printf \"{{\\\"value\\\": %.17g, \\\"gradient\\\": [%.17g, %.17g]}}\\n\", $1*$1+3*$2*$2, 2*$1, 6*$2}}'";
    dir.write("t.toml", &study("budget = 12", &shell(script)));
    dir.labcat(&["run", "t.toml"]).expect(0);
    let best = dir.labcat(&["best", "t.toml", "--json"]).json();
    assert!(best["value"].as_f64().unwrap() < 1e-6, "{best}");
}

/// Everything in which a value does not agree with a schema of the description.
fn disagreements(value: &Value, schema: &Value, all: &Value, place: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return disagreements(value, all.pointer(name.trim_start_matches('#')).unwrap(), all, place);
    }
    if value.is_null() && schema["nullable"] == true {
        return Vec::new();
    }
    let right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => false,
    };
    if !right || schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        return vec![format!("{place} is {value}, not of {schema}")];
    }
    let mut found = Vec::new();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            found.push(format!("{place} lacks {name}"));
        }
    }
    for (name, part) in value.as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => found.push(format!("{place} is not described")),
            (Value::Null, others @ Value::Object(_)) => found.extend(disagreements(part, others, all, &place)),
            (Value::Null, _) => {}
            (described, _) => found.extend(disagreements(part, described, all, &place)),
        }
    }
    for (k, item) in value.as_array().into_iter().flatten().enumerate() {
        found.extend(disagreements(item, &schema["items"], all, &format!("{place}[{k}]")));
    }
    found
}

/// Compares an answer with what the description says of the call.
#[track_caller]
fn agrees(description: &Value, method: &str, path: &str, (status, body): &(u16, Value)) {
    let described = &description["paths"][path][method]["responses"][status.to_string()];
    assert!(described.is_object(), "{method} {path} answers {status}, which is not described: {body}");
    let described = match described["$ref"].as_str() {
        Some(name) => description.pointer(name.trim_start_matches('#')).unwrap(),
        None => described,
    };
    let schema = &described["content"]["application/json"]["schema"];
    let found = disagreements(body, schema, description, "the body");
    assert!(found.is_empty(), "{method} {path} {status}: {found:?} in {body}");
}

#[test]
fn the_description_and_the_answers_agree() {
    let dir = Dir::new("api-described");
    let constrained = by_hand("budget = 12\nconstraint = \"x + mass <= 20\"") + "[optimizer]\nnoise = 0.1\n";
    for text in [by_hand("budget = 12"), constrained] {
        let _ = std::fs::remove_file(dir.path("s.db"));
        dir.write("s.toml", &text);
        let results = text.contains("mass").then(|| json!({"mass": 1.0, "mass_std": 0.5}));
        let server = Server::with_token(&dir);
        let (_, description) = server.get("/openapi.json");
        assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
        let paths = description["paths"].as_object().unwrap();
        assert_eq!(paths.len(), 7);
        let reads = |server: &Server| {
            for (path, of) in paths.iter().filter(|(_, of)| of.get("get").is_some()) {
                assert!(of.get("post").is_none());
                agrees(&description, "get", path, &server.get(&path.replace("{study}", "0")));
                let (status, _, body) = server.send("DELETE", &path.replace("{study}", "0"), "", "");
                agrees(&description, "get", path, &(status, body));
                if path.contains("{study}") {
                    agrees(&description, "get", path, &server.get(&path.replace("{study}", "9")));
                }
            }
        };
        reads(&server);
        let call = |name: &str, body: &Value| {
            let answer = server.post(name, body);
            agrees(&description, "post", &format!("/api/studies/{{study}}/{name}"), &answer);
            answer
        };
        let fields = &description["components"]["schemas"]["Tell"]["properties"];
        let examples = json!({
            "id": 0, "value": 4.5, "std": 0.1, "residuals": [1.0, 2.0], "gradient": {"x": 0.5, "y": null}, "results": results,
            "failed": "why", "extra": {"a": [1]}, "seconds": 1.5, "note": "remark",
        });
        let names = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(names(fields), names(&examples), "an example for each field");
        for (name, example) in examples.as_object().unwrap() {
            let (id, _) = server.ask(1).remove(0);
            let mut body = json!({"id": id, "results": results});
            body[name] = example.clone();
            body["id"] = json!(id);
            match name.as_str() {
                "failed" => body["results"] = Value::Null,
                "residuals" | "value" => {}
                _ => body["value"] = json!(2.5),
            }
            let (status, answer) = call("tell", &body);
            // Residuals are refused once there are values without them, if at all; everything else is taken.
            assert!(status == 200, "{name}: {answer}");
            assert_eq!(call("tell", &body).1["repeated"], true);
        }
        // The fields that an error lists are those that are described.
        for (name, schema) in [("tell", "Tell"), ("ask", "Ask"), ("cancel", "Cancel")] {
            let (_, answer) = call(name, &json!({"zzz": 1}));
            let listed = answer["error"].as_str().unwrap().split("allowed are ").nth(1).unwrap().split(", ");
            let described = names(&description["components"]["schemas"][schema]["properties"]);
            assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), described);
        }
        let (id, _) = server.ask(1).remove(0);
        reads(&server);
        for body in [json!({"id": id}), json!({"id": id}), json!({"id": 77}), json!({})] {
            call("cancel", &body);
        }
        while call("ask", &json!({"n": 1000})).0 == 200 {}
        let (status, _, body) = server.send("POST", "/api/studies/0/ask", "", "");
        agrees(&description, "post", "/api/studies/{study}/ask", &(status, body));
    }
}
