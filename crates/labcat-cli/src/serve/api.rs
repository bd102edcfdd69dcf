//! Ask and tell over HTTP, as JSON; `openapi.json` describes the calls, and a test compares the two.
//!
//! Each call that changes a study is one transaction, answered once it is durable. A call that is repeated because its answer was
//! lost changes nothing.

use hyper::Method;
use hyper::header::{ALLOW, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use labcat::{AskError, Suggestion, TrialId};
use serde_json::{Map, Value, json};

use super::http::{Answer, Asked, LONGEST, Unread};
use super::studies::Served;
use super::token::Token;
use super::{JSON, not_found};
use crate::best::Found;
use crate::commands::bench::why_no_more;
use crate::commands::show::{best_json, status_json};
use crate::failure::Failure;
use crate::format::count;
use crate::journal::{Record, Trial};
use crate::session::Session;
use crate::study::nearest;
use crate::value::Reading;

const DESCRIPTION: &str = include_str!("openapi.json");
/// The source of these results in the journal.
const SOURCE: &str = "api";
/// The most points of one call: each takes its time, and others wait.
const MOST: u64 = 1000;

const ASK: [&str; 1] = ["n"];
const TELL: [&str; 10] =
    ["id", "value", "std", "residuals", "gradient", "results", "failed", "extra", "seconds", "note"];
const CANCEL: [&str; 1] = ["id"];
/// Fields of a result that mean something: `extra` cannot have them.
const MEANT: [&str; 4] = ["value", "std", "residuals", "gradient"];

/// Whether a request is for this interface and not for a page.
pub(super) fn is_meant(asked: &Asked) -> bool {
    asked.path == "/openapi.json" || asked.path == "/api" || asked.path.starts_with("/api/")
}

/// The calls of the API.
#[derive(Clone, Copy, PartialEq)]
enum Call {
    Description,
    Studies,
    Status,
    Best,
    Ask,
    Tell,
    Cancel,
}

impl Call {
    /// The call of a path, and the study that it names.
    fn of(path: &str) -> Option<(Call, &str)> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            ["openapi.json"] => Some((Call::Description, "")),
            ["api", "studies"] => Some((Call::Studies, "")),
            ["api", "studies", study] => Some((Call::Status, study)),
            ["api", "studies", study, "best"] => Some((Call::Best, study)),
            ["api", "studies", study, "ask"] => Some((Call::Ask, study)),
            ["api", "studies", study, "tell"] => Some((Call::Tell, study)),
            ["api", "studies", study, "cancel"] => Some((Call::Cancel, study)),
            _ => None,
        }
    }

    fn changes(self) -> bool {
        matches!(self, Call::Ask | Call::Tell | Call::Cancel)
    }
}

/// Why a call is refused.
struct Refused {
    status: u16,
    /// What is wrong, and what is allowed.
    error: String,
    /// Why the study has stopped, if that is the reason.
    stop: Option<String>,
}

impl Refused {
    fn new(status: u16, error: impl Into<String>) -> Refused {
        Refused { status, error: error.into(), stop: None }
    }

    /// The request is wrong.
    fn wrong(error: impl Into<String>) -> Refused {
        Refused::new(400, error)
    }

    fn answer(self) -> Answer {
        let mut object = json!({"error": self.error});
        if self.status == 409 {
            object["stop"] = json!(self.stop);
        }
        let field: Option<(HeaderName, &'static str)> = match self.status {
            401 => Some((WWW_AUTHENTICATE, "Bearer")),
            503 => Some((RETRY_AFTER, "1")),
            _ => None,
        };
        Answer { field, ..Answer::new(self.status, JSON, object.to_string()) }
    }
}

/// An error of the study, not of the request.
impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused::new(500, failure.message)
    }
}

/// An error as these calls answer it.
pub(super) fn refused(status: u16, error: &str) -> Answer {
    Refused::new(status, error).answer()
}

/// Refuses what is not called as it must be, before its body is read.
pub(super) fn refusal(asked: &Asked, token: &Token) -> Option<Answer> {
    let Some((call, _)) = Call::of(&asked.path) else {
        return Some(refused(404, &format!("there is no {}: /openapi.json describes what there is", asked.path)));
    };
    let (right, method) = match call.changes() {
        true => (asked.method == Method::POST, "POST"),
        false => (asked.reads(), "GET"),
    };
    if !right {
        let error = format!("{} {} is not allowed: use {method}", asked.method, asked.path);
        return Some(Answer { field: Some((ALLOW, method)), ..refused(405, &error) });
    }
    if !call.changes() || asked.token.as_deref().is_some_and(|shown| token.is(shown)) {
        return None;
    }
    let what = if asked.token.is_some() { "the token is not that of this server" } else { "a token is missing" };
    Some(refused(
        401,
        &format!(
            "{what}: send the header `Authorization: Bearer TOKEN`, as `labcat serve --api` was given it or printed it"
        ),
    ))
}

/// Answers a call that was not refused.
pub(super) fn answer(asked: &Asked, studies: &[Served]) -> Answer {
    let Some((call, name)) = Call::of(&asked.path) else { return not_found() };
    let made = match call {
        Call::Description => Ok(description()),
        Call::Studies => Ok(list(studies)),
        _ => study_of(studies, name).and_then(|study| called(call, study, asked)),
    };
    match made {
        Ok(object) => Answer::new(200, JSON, object.to_string()),
        Err(refused) => refused.answer(),
    }
}

fn description() -> Value {
    let mut description: Value = serde_json::from_str(DESCRIPTION).unwrap_or_default();
    description["info"]["version"] = env!("CARGO_PKG_VERSION").into();
    description
}

fn list(studies: &[Served]) -> Value {
    let rows = studies.iter().enumerate().map(|(number, study)| study.summary(number).as_json());
    json!({"studies": rows.collect::<Vec<_>>()})
}

fn study_of<'a>(studies: &'a [Served], name: &str) -> Result<&'a Served, Refused> {
    let found = name.parse::<usize>().ok().and_then(|number| studies.get(number));
    found.ok_or_else(|| {
        let last = studies.len().saturating_sub(1);
        Refused::new(
            404,
            format!("there is no study {name:?}: write a number from 0 to {last}; GET /api/studies lists them"),
        )
    })
}

fn called(call: Call, study: &Served, asked: &Asked) -> Result<Value, Refused> {
    let paths = study.paths();
    match call {
        Call::Best => best_json(paths)?.map_err(|why| Refused::new(404, why)),
        Call::Ask => {
            let fields = Fields::of(asked, &ASK)?;
            let n = fields.whole("n", 1, MOST)?.unwrap_or(1);
            changed(study, |session| ask(session, n, &paths.word()))
        }
        Call::Tell => {
            let fields = Fields::of(asked, &TELL)?;
            let id = fields.id()?;
            changed(study, |session| tell(session, id, &fields))
        }
        Call::Cancel => {
            let id = Fields::of(asked, &CANCEL)?.id()?;
            changed(study, |session| cancel(session, id))
        }
        Call::Status | Call::Studies | Call::Description => Ok(status_json(paths)?),
    }
}

/// Changes a study, in one transaction.
fn changed(study: &Served, change: impl FnOnce(&mut Session) -> Result<Value, Refused>) -> Result<Value, Refused> {
    study.change(|opened| {
        // Another process has the study, or its disk is full: later it may be free. Or its file was edited.
        let mut session = opened.map_err(|failure| match failure.is_run() {
            true => Refused::new(503, failure.message),
            false => Refused::new(409, failure.message),
        })?;
        let answer = change(&mut session)?;
        session.commit()?;
        Ok(answer)
    })
}

/// Gives out points: as many as there are, if that is fewer.
fn ask(session: &mut Session, n: u64, word: &str) -> Result<Value, Refused> {
    let mut given: Vec<Suggestion> = Vec::new();
    let mut refusal: Option<AskError> = None;
    while (given.len() as u64) < n && refusal.is_none() {
        match session.ask() {
            Ok(suggestion) => given.push(suggestion),
            Err(error) => refusal = Some(error),
        }
    }
    let stop = session.optimizer.stop_reason().map(|reason| reason.to_string());
    match refusal {
        Some(error) if given.is_empty() => Err(Refused { stop, ..Refused::new(409, why_no_more(&error, word)) }),
        _ => {
            let points = given.iter().map(|point| json!({"id": point.id.0, "x": session.by_name(&point.x)}));
            Ok(json!({"suggestions": points.collect::<Vec<_>>(), "stop": stop}))
        }
    }
}

/// Records the result of an evaluation. A repeated result is not recorded again.
fn tell(session: &mut Session, id: TrialId, fields: &Fields) -> Result<Value, Refused> {
    let trial = session.trial(id)?.ok_or_else(|| no_such(id))?;
    let record = told(session, id, &trial.x, fields)?;
    let repeated = trial.status != "pending";
    match trial.status.as_str() {
        "pending" => session.tell(id, record).map_err(|failure| Refused::wrong(failure.message))?,
        "cancelled" => {
            return Err(Refused::new(409, format!("evaluation {id} was cancelled: only what is pending can be told")));
        }
        _ if is_same(&trial, &record) => {}
        _ => {
            let was = trial.value.map_or_else(|| "a failure".to_owned(), |value| format!("the value {value}"));
            return Err(Refused::new(
                409,
                format!(
                    "evaluation {id} already has a result: {was}. The same result may be sent again; `labcat correct` changes it"
                ),
            ));
        }
    }
    if let Some(note) = fields.text("note")?.filter(|_| !repeated) {
        session.note(id, note);
    }
    let optimizer = &session.optimizer;
    let found = Found::of(optimizer, &session.constraints);
    let best = found.map(|found| found.as_json(&session.identity, &session.constraints));
    Ok(json!({
        "id": id.0, "repeated": repeated, "evaluations": optimizer.n_evaluations(), "budget": optimizer.config().budget,
        "stop": optimizer.stop_reason().map(|reason| reason.to_string()), "best": best,
    }))
}

/// Withdraws a point. One that was withdrawn before stays so.
fn cancel(session: &mut Session, id: TrialId) -> Result<Value, Refused> {
    let trial = session.trial(id)?.ok_or_else(|| no_such(id))?;
    let repeated = trial.status == "cancelled";
    if !repeated {
        session.cancel(id).map_err(|failure| Refused::new(409, failure.message))?;
    }
    Ok(json!({"id": id.0, "repeated": repeated}))
}

fn no_such(id: TrialId) -> Refused {
    Refused::new(404, format!("there is no evaluation {id}: write an id that /ask gave"))
}

/// Whether an evaluation has this result already.
fn is_same(trial: &Trial, record: &Record) -> bool {
    let result = record.reading.as_ref().and_then(|reading| serde_json::from_str(&reading.stored()).ok());
    (trial.value, trial.seconds, &trial.message, &trial.result)
        == (record.value(), record.seconds, &record.message, &result)
        && trial.constraints == record.constraints
        && trial.residuals == record.residuals()
}

/// The result in a request.
fn told(session: &Session, id: TrialId, x: &[f64], fields: &Fields) -> Result<Record, Refused> {
    let wrong = |why: String| Refused::wrong(format!("evaluation {id} {why}"));
    let no_reading =
        |why: String| wrong(format!("{why}: write \"value\", or \"residuals\", or \"failed\" with the reason"));
    let constraints = &session.constraints;
    let record = match fields.text("failed")? {
        None => {
            let object = object(session, fields)?.to_string();
            let reading = Reading::parse(&object, &constraints.fields()).map_err(no_reading)?;
            let measures = constraints.measure(x, &reading).map_err(wrong)?;
            Record::of(Ok((reading, measures)), SOURCE, constraints)
        }
        Some(reason) => {
            if let Some(name) =
                ["value", "std", "residuals", "gradient", "results", "extra"].iter().find(|name| fields.has(name))
            {
                return Err(Refused::wrong(format!(
                    "evaluation {id} has \"failed\" and \"{name}\": write one of them"
                )));
            }
            Record::of(Err(reason.to_owned()), SOURCE, constraints)
        }
    };
    Ok(Record { attempts: 1, seconds: fields.number("seconds", 0.0)?, ..record })
}

/// The result of an evaluation, as a command would print it.
fn object(session: &Session, fields: &Fields) -> Result<Value, Refused> {
    let needed = session.constraints.fields();
    let mut object = fields.object("extra")?;
    if let Some(name) = object.keys().find(|name| MEANT.contains(&name.as_str()) || needed.contains(name)) {
        return Err(Refused::wrong(format!("\"extra\" has \"{name}\": it belongs outside of it")));
    }
    let results = fields.object("results")?;
    if let Some(name) = results.keys().find(|name| !needed.contains(name)) {
        let names =
            if needed.is_empty() { "no constraint of this study needs any".to_owned() } else { needed.join(", ") };
        return Err(Refused::wrong(format!(
            "\"results\" has \"{name}\": allowed are {names}; what is only to be kept goes into \"extra\""
        )));
    }
    if let Some((name, value)) = results.iter().find(|(_, value)| !value.is_number() && !value.is_boolean()) {
        return Err(Refused::wrong(format!("\"{name}\" in \"results\" is {value}: write a number, or true or false")));
    }
    object.extend(results);
    fields.number("value", f64::NEG_INFINITY)?;
    fields.number("std", 0.0)?;
    for name in ["value", "std", "residuals"] {
        if let Some(value) = fields.get(name) {
            object.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(given) = fields.get("gradient") {
        object.insert("gradient".to_owned(), gradient(session, given)?);
    }
    Ok(Value::Object(object))
}

/// Derivatives, by the names of parameters or in their order, as a list.
fn gradient(session: &Session, given: &Value) -> Result<Value, Refused> {
    let parameters = session.optimizer.domain().parameters();
    let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    match given {
        Value::Object(by_name) => match by_name.keys().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(Refused::wrong(format!("\"gradient\" has \"{name}\": allowed are {}", names.join(", ")))),
            None => Ok(names.iter().map(|name| by_name.get(*name).cloned().unwrap_or_default()).collect()),
        },
        Value::Array(list) if list.len() == names.len() => Ok(given.clone()),
        Value::Array(list) => Err(Refused::wrong(format!(
            "\"gradient\" has {}: write one for each of {}, null where it is not known",
            count(list.len(), "number"),
            names.join(", ")
        ))),
        other => {
            Err(Refused::wrong(format!("\"gradient\" is {other}: write an object of numbers by {}", names.join(", "))))
        }
    }
}

/// The body of a call: an object with known fields. `null` stands for nothing.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(asked: &Asked, allowed: &[&str]) -> Result<Fields, Refused> {
        let bytes = asked.body.as_ref().map_err(|unread| match unread {
            Unread::TooLong => {
                Refused::new(413, format!("the body is too long: at most {} MiB are read", LONGEST >> 20))
            }
            Unread::Broken => Refused::wrong("the body is incomplete"),
        })?;
        let object = match bytes.trim_ascii().is_empty() {
            true => Value::Object(Map::new()),
            false => serde_json::from_slice(bytes)
                .map_err(|error| Refused::wrong(format!("the body is not JSON: {error}")))?,
        };
        let Value::Object(mut fields) = object else {
            return Err(Refused::wrong(format!("the body is not an object: write {{…}} with {}", allowed.join(", "))));
        };
        if let Some(name) = fields.keys().find(|name| !allowed.contains(&name.as_str())) {
            let meant = nearest(name, allowed).map_or_else(String::new, |near| format!(" (is \"{near}\" meant?)"));
            return Err(Refused::wrong(format!(
                "there is no field \"{name}\"{meant}: allowed are {}",
                allowed.join(", ")
            )));
        }
        fields.retain(|_, value| !value.is_null());
        Ok(Fields(fields))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn whole(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Refused> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_u64().filter(|number| (least..=most).contains(number));
        let wrong = || Refused::wrong(format!("\"{name}\" is {value}: write an integer from {least} to {most}"));
        number.map(Some).ok_or_else(wrong)
    }

    fn id(&self) -> Result<TrialId, Refused> {
        let missing = || Refused::wrong("\"id\" is missing: write the id that /ask gave");
        self.whole("id", 0, i64::MAX as u64)?.map(TrialId).ok_or_else(missing)
    }

    fn number(&self, name: &str, least: f64) -> Result<Option<f64>, Refused> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= least);
        let range = if least.is_finite() { format!(" of at least {least}") } else { String::new() };
        number.map(Some).ok_or_else(|| Refused::wrong(format!("\"{name}\" is {value}: write a finite number{range}")))
    }

    fn text(&self, name: &str) -> Result<Option<&str>, Refused> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| Refused::wrong(format!("\"{name}\" is {value}: write a string")))
    }

    fn object(&self, name: &str) -> Result<Map<String, Value>, Refused> {
        match self.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object.clone()),
            Some(other) => Err(Refused::wrong(format!("\"{name}\" is {other}: write an object, {{\"name\": …}}"))),
        }
    }
}
