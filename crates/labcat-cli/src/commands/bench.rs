//! Studies that are run by hand: `ask`, `tell`, `enqueue`, `note`, `cancel` and `correct`.

use std::io::{Write, stdout};

use labcat::{AskError, StopReason, TrialId};
use serde_json::json;

use crate::best::Found;
use crate::cli;
use crate::failure::Failure;
use crate::format::{count, json_text, number, people, word};
use crate::journal::Record;
use crate::paths::Paths;
use crate::session::Session;
use crate::study::values;
use crate::value::Reading;

/// Gives out suggestions; they are durable before they are printed.
pub(crate) fn ask(args: &cli::Ask) -> Result<(), Failure> {
    let mut session = Session::open(&Paths::of(&args.study.path), "ask")?;
    let mut suggestions = Vec::new();
    let mut refusal = None;
    while suggestions.len() < args.n && refusal.is_none() {
        match session.ask() {
            Ok(suggestion) => suggestions.push(suggestion),
            Err(error) => refusal = Some(error),
        }
    }
    session.commit()?;
    let mut out = people();
    for suggestion in &suggestions {
        if args.json {
            writeln!(out, "{}", json_text(&json!({"id": suggestion.id.0, "x": session.by_name(&suggestion.x)})))?;
        } else {
            let values = session.identity.named(&suggestion.x).into_iter();
            let values: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
            writeln!(out, "{}: {}", suggestion.id, values.join("  "))?;
        }
    }
    match refusal {
        None => Ok(()),
        Some(error) => Err(no_more(&error, suggestions.len(), args)),
    }
}

/// Asking past the end of the study is an error, also when some of the points could be given.
fn no_more(error: &AskError, given: usize, args: &cli::Ask) -> Failure {
    let given = match given {
        0 => String::new(),
        n => format!("only {} of {} could be given: ", count(n, "point"), args.n),
    };
    Failure::run(given + &why_no_more(error, &word(&args.study.path)))
}

/// Why no point can be given, and what to do.
pub(crate) fn why_no_more(error: &AskError, study: &str) -> String {
    match error {
        AskError::Stopped(StopReason::Exhausted) => {
            format!(
                "the study has stopped (exhausted): every configuration was evaluated; `labcat best {study}` shows the best"
            )
        }
        AskError::Stopped(reason) => format!(
            "the study has stopped ({reason}); `labcat best {study}` shows the best point, a larger `budget` continues it"
        ),
        AskError::BudgetOutstanding { pending } => format!(
            "the rest of the budget is pending ({}): tell or cancel them first, see `labcat status {study}`",
            count(*pending, "point")
        ),
        AskError::SpaceOutstanding { pending } => format!(
            "every configuration left is pending ({}): tell or cancel them first, see `labcat status {study}`",
            count(*pending, "point")
        ),
    }
}

/// Records a value.
pub(crate) fn tell(args: &cli::Tell) -> Result<(), Failure> {
    let (said, results) = (Said::of(&args.value)?.with_std(args.std.as_deref())?, results(&args.results)?);
    let mut session = Session::open(&Paths::of(&args.study.path), "tell")?;
    let asked = session.point_of(TrialId(args.id));
    let at = match (&args.at[..], &asked) {
        ([], _) | (_, None) => None,
        (given, Some(asked)) => Some(point(&session, given, Some(asked))?),
    };
    let record = Record { attempts: 1, ..told(&session, args.id, at.as_deref(), &said, &results, "tell")? };
    let shown = shown_of(&session, &record);
    let id = match at.filter(|at| asked.as_ref() != Some(at)) {
        None => session.tell(TrialId(args.id), record).map(|()| TrialId(args.id))?,
        Some(at) => session.tell_at(TrialId(args.id), &at, record)?,
    };
    if let Some(text) = &args.note {
        session.note(id, text);
    }
    session.commit()?;
    let mut out = people();
    let place = session.point_of(id).filter(|_| id.0 != args.id).map_or_else(String::new, |x| {
        format!(" at {}, instead of point {}, which is withdrawn", session.identity.in_brief(&x, 6), args.id)
    });
    writeln!(out, "evaluation {id}: {shown}{place}")?;
    progress(&session, &mut out)
}

/// Queues a point: the next suggestion is this one.
pub(crate) fn enqueue(args: &cli::Enqueue) -> Result<(), Failure> {
    let mut session = Session::open(&Paths::of(&args.study.path), "enqueue")?;
    let x = point(&session, &args.point, None)?;
    session.enqueue(&x)?;
    session.commit()?;
    let study = word(&args.study.path);
    writeln!(
        people(),
        "queued {}: `labcat ask {study}` or `labcat run {study}` takes it next",
        session.identity.in_brief(&x, 6)
    )?;
    Ok(())
}

/// Attaches a note.
pub(crate) fn note(args: &cli::Note) -> Result<(), Failure> {
    let mut session = Session::open(&Paths::of(&args.study.path), "note")?;
    if session.trial(TrialId(args.id))?.is_none() {
        return Err(session.absent(TrialId(args.id)));
    }
    session.note(TrialId(args.id), &args.text);
    session.commit()?;
    let done = if args.text.is_empty() { "has no note any more" } else { "has this note" };
    writeln!(people(), "evaluation {} {done}", args.id)?;
    Ok(())
}

/// A point as `NAME=VALUE` for each parameter; those that are not given are as in another point.
fn point(session: &Session, given: &[String], other: Option<&[f64]>) -> Result<Vec<f64>, Failure> {
    let domain = session.optimizer.domain();
    let names: Vec<&str> = domain.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    let mut x: Vec<Option<f64>> = match other {
        Some(other) => other.iter().copied().map(Some).collect(),
        None => domain.parameters().iter().map(|p| (p.levels() == Some(1)).then_some(p.low)).collect(),
    };
    for text in given {
        let wrong =
            |why: &str| Failure::usage(format!("{text:?} {why}: write NAME=VALUE, with one of {}", names.join(", ")));
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("is not a parameter value"))?;
        let place = names.iter().position(|known| *known == name.trim());
        let place = place.ok_or_else(|| wrong("names no parameter of the study"))?;
        let read = values::read(&domain.parameters()[place], value.trim());
        x[place] = Some(read.map_err(|why| Failure::usage(format!("{name} is {value:?}, {why}")))?);
    }
    // What is not given may be something that does not apply.
    let filled: Vec<f64> = x.iter().map(|value| value.unwrap_or(f64::NAN)).collect();
    if let Some(missing) = (0..x.len()).find(|i| x[*i].is_none() && domain.is_active(*i, &filled)) {
        let range = values::range(&domain.parameters()[missing]);
        return Err(Failure::usage(format!(
            "there is no value for {0} ({range}): write {0}=VALUE too",
            names[missing]
        )));
    }
    match session.outside(&filled) {
        Some(why) => Err(Failure::usage(why)),
        None => Ok(domain.canonical(&filled)),
    }
}

/// Withdraws a suggestion.
pub(crate) fn cancel(args: &cli::Cancel) -> Result<(), Failure> {
    let mut session = Session::open(&Paths::of(&args.study.path), "cancel")?;
    session.cancel(TrialId(args.id))?;
    session.commit()?;
    writeln!(stdout(), "evaluation {} is cancelled and does not count", args.id)?;
    Ok(())
}

/// Replaces a value.
pub(crate) fn correct(args: &cli::Correct) -> Result<(), Failure> {
    let (said, mut results) = (Said::of(&args.value)?, results(&args.results)?);
    let mut session = Session::open(&Paths::of(&args.study.path), "correct")?;
    let is_number = matches!(said, Said::Value(..));
    if is_number || said == Said::Failed && !results.is_empty() {
        // What is not given anew stays as it was; an object has all in it.
        let known = session.results_of(TrialId(args.id))?.into_iter();
        let kept: Vec<_> = known.filter(|(name, _)| results.iter().all(|(given, _)| given != name)).collect();
        results.extend(kept);
    }
    let mut record = told(&session, args.id, None, &said, &results, "correct")?;
    if let Some(reading) = record.reading.take() {
        // The residuals of a value that stays are those of before.
        let residuals = session.residuals_of(TrialId(args.id), reading.value);
        let reading = if residuals.is_empty() { Ok(reading) } else { reading.with_residuals(residuals) };
        record.reading = Some(reading.map_err(|why| Failure::usage(format!("evaluation {} {why}", args.id)))?);
    }
    let shown_now = shown_of(&session, &record);
    let was = session.correct(TrialId(args.id), record)?;
    session.commit()?;
    let mut out = people();
    writeln!(out, "evaluation {}: {} is corrected to {shown_now}", args.id, shown(was))?;
    progress(&session, &mut out)
}

/// What a person says of an evaluation; `command` is what the person has written.
fn told(
    session: &Session,
    id: u64,
    at: Option<&[f64]>,
    said: &Said,
    results: &[(String, f64)],
    command: &str,
) -> Result<Record, Failure> {
    // An id that nobody knows is refused with better words when it is told.
    let asked = || session.point_of(TrialId(id)).unwrap_or_else(|| session.optimizer.domain().middle());
    let x = at.map_or_else(asked, <[f64]>::to_vec);
    let record = match said {
        Said::Failed => session.by_hand(&x, (None, None), results, "hand"),
        Said::Value(value, std) => session.by_hand(&x, (Some(*value), *std), results, "hand"),
        Said::Object(_) if !results.is_empty() => {
            Err("has results behind an object, in which they can stand".to_owned())
        }
        Said::Object(text) => Reading::parse(text, &session.constraints.fields())
            .and_then(|reading| session.by_reading(&x, reading, "hand")),
    };
    record.map_err(|why| {
        let needed = session.constraints.results();
        let needed: Vec<String> = needed.iter().map(|name| format!(" {name}=NUMBER")).collect();
        Failure::usage(format!("evaluation {id} {why}: write `labcat {command} STUDY {id} VALUE{}`", needed.concat()))
    })
}

/// Results as `NAME=NUMBER`.
fn results(texts: &[String]) -> Result<Vec<(String, f64)>, Failure> {
    let result = |text: &String| {
        let (name, number) = text.split_once('=')?;
        let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some((name.trim().to_owned(), number))
    };
    let read = |text: &String| {
        result(text)
            .ok_or_else(|| Failure::usage(format!("{text:?} is not a result: write NAME=NUMBER, such as mass=4.5")))
    };
    texts.iter().map(read).collect()
}

/// What was told, and what it violates.
fn shown_of(session: &Session, record: &Record) -> String {
    match session.constraints.violation(&record.constraints) {
        Some(violated) => {
            format!("{}, violates {violated}", record.value().map_or_else(|| "no value".to_owned(), number))
        }
        None => shown(record.value()),
    }
}

/// What a person writes of an evaluation.
#[derive(PartialEq)]
enum Said {
    Failed,
    /// A number, and the standard deviation of its noise.
    Value(f64, Option<f64>),
    /// An object as a command prints it: `{"residuals": [0.5, -0.2]}`.
    Object(String),
}

impl Said {
    fn of(text: &str) -> Result<Said, Failure> {
        match text.parse::<f64>() {
            _ if text == "failed" => Ok(Said::Failed),
            _ if text.trim_start().starts_with('{') => Ok(Said::Object(text.to_owned())),
            Ok(value) if value.is_finite() => Ok(Said::Value(value, None)),
            _ => Err(Failure::usage(format!(
                "{text:?} is not a value: write a finite number such as 3.25, or the word failed"
            ))),
        }
    }

    /// The same with `--std`.
    fn with_std(self, text: Option<&str>) -> Result<Said, Failure> {
        let Some(text) = text else { return Ok(self) };
        let std = text.parse::<f64>().ok().filter(|std| std.is_finite() && *std >= 0.0);
        let wrong = format!("--std {text:?} is not the standard deviation of a value: write a number of at least 0");
        match (self, std) {
            (_, None) => Err(Failure::usage(wrong)),
            (Said::Value(value, _), std) => Ok(Said::Value(value, std)),
            (Said::Failed, _) => Ok(Said::Failed),
            (Said::Object(_), _) => Err(Failure::usage("write \"std\" into the object, instead of --std")),
        }
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "failed".to_owned(), number)
}

fn progress(session: &Session, out: &mut impl Write) -> Result<(), Failure> {
    let optimizer = &session.optimizer;
    let told = count(optimizer.n_evaluations(), "evaluation");
    let budget = optimizer.config().budget.map_or_else(String::new, |budget| format!(" of {budget}"));
    let found = Found::of(optimizer, &session.constraints);
    let found = found.map_or_else(String::new, |found| format!(", {} {}", found.title(), found.in_words(number)));
    let stop = optimizer.stop_reason().map_or_else(String::new, |reason| format!(", stopped: {reason}"));
    writeln!(out, "{told}{budget}{found}{stop}")?;
    Ok(())
}
