//! `labcat serve`: the pages of studies, live in a browser. Nothing can be changed through them; with `--api`, programs ask and tell.

mod api;
mod body;
mod http;
mod news;
mod studies;
mod token;

use std::io::{Write, stdout};
use std::net::{IpAddr, SocketAddr};

use crate::cli;
use crate::failure::Failure;
use crate::format::complain;
use crate::paths::Paths;
use crate::report::{STYLE, TOOLS, fill, script_safe_json};
use body::Body;
use http::{Answer, Answers, Asked, answer_all};
use news::Known;
use studies::{Served, Summary};
use token::Token;

const COMPARE: &str = include_str!("../report/page/compare.html");
const COMPARE_SCRIPT: &str = include_str!("../report/page/compare.js");

/// Serves until the process is ended.
pub(crate) fn serve(args: &cli::Serve) -> Result<(), Failure> {
    let studies: Vec<Served> =
        args.studies.iter().map(|path| Served::new(Paths::of(path))).collect::<Result<_, _>>()?;
    let wanted = SocketAddr::new(args.address, args.port);
    let local = args.address.is_loopback();
    let token = args.api.then(|| Token::new(args.token.as_deref())).transpose()?;
    if token.is_some() {
        studies.iter().try_for_each(Served::begin)?;
    }
    let said = token.as_ref().map(Token::in_words);
    let listening = |address: SocketAddr| {
        if !local {
            complain("warning: everybody who reaches this address can see the studies and what their commands printed");
        }
        writeln!(stdout(), "http://{address}/  (Ctrl-C ends it)")?;
        if let Some(said) = &said {
            writeln!(stdout(), "http://{address}/api/studies  (described in http://{address}/openapi.json)\n{said}")?;
        }
        stdout().flush()
    };
    let site = Site { studies, local, token };
    answer_all(wanted, listening, site).map_err(|error| {
        Failure::run(format!(
            "cannot listen at {wanted}: {error}; another --port may be free, --port 0 takes any that is"
        ))
    })
}

/// The studies that are served, and how.
struct Site {
    studies: Vec<Served>,
    /// Only for this machine.
    local: bool,
    /// The token that programs need to ask and tell; `None` if the API is off.
    token: Option<Token>,
}

impl Answer {
    fn new(status: u16, kind: &'static str, text: impl Into<String>) -> Answer {
        Answer { status, kind, body: Body::new(text.into()), field: None }
    }

    fn failed(failure: &Failure) -> Answer {
        Answer::new(500, TEXT, format!("{failure}\n"))
    }
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Answers for Site {
    fn refusal(&self, asked: &Asked) -> Option<Answer> {
        if self.local && !is_of_this_machine(asked.host.as_deref().unwrap_or_default()) {
            let why = "labcat answers only requests to this machine, under localhost or its address";
            return Some(match api::is_meant(asked) {
                true => api::refused(403, why),
                false => Answer::new(403, TEXT, format!("{why}\n")),
            });
        }
        match (api::is_meant(asked), &self.token) {
            (true, Some(token)) => api::refusal(asked, token),
            (true, None) => Some(api::refused(404, "the API is off: `labcat serve --api` turns it on")),
            (false, _) => (!asked.reads()).then(|| Answer::new(405, TEXT, "these pages can only be read\n")),
        }
    }

    fn answer(&self, asked: &Asked) -> Answer {
        if api::is_meant(asked) {
            return api::answer(asked, &self.studies);
        }
        let parts: Vec<&str> = asked.path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => Answer::new(200, HTML, self.comparison()),
            ["studies"] => Answer::new(200, JSON, script_safe_json(&self.summaries())),
            ["study", number] | ["study", number, "data"] => {
                let found = number.parse::<usize>().ok().and_then(|number| self.studies.get(number));
                match (found, parts.len()) {
                    (None, _) => not_found(),
                    (Some(study), 2) => page(study),
                    (Some(study), _) => news(study, &asked.query),
                }
            }
            _ => not_found(),
        }
    }
}

impl Site {
    /// The rows of the list. Studies of the same name are told apart by their files.
    fn summaries(&self) -> Vec<Summary> {
        let mut rows: Vec<Summary> =
            self.studies.iter().enumerate().map(|(number, study)| study.summary(number)).collect();
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        for ((row, study), name) in rows.iter_mut().zip(&self.studies).zip(&names) {
            if names.iter().filter(|other| *other == name).count() > 1 {
                row.name = format!("{name} ({})", study.paths().study.display());
            }
        }
        rows
    }

    fn comparison(&self) -> String {
        let script = format!("\"use strict\";\n{{\n{TOOLS}{COMPARE_SCRIPT}}}\n");
        fill(
            COMPARE,
            &[
                ("style", STYLE),
                ("version", env!("CARGO_PKG_VERSION")),
                ("data", &script_safe_json(&self.summaries())),
                ("script", &script),
            ],
        )
    }
}

fn not_found() -> Answer {
    Answer::new(404, TEXT, "there is no such page; / lists the studies\n")
}

fn page(study: &Served) -> Answer {
    match study.snapshot() {
        Ok(snapshot) => Answer { status: 200, kind: HTML, body: snapshot.page().clone(), field: None },
        Err(failure) => Answer::failed(&failure),
    }
}

/// The part of a study that a browser does not have yet.
fn news(study: &Served, query: &str) -> Answer {
    match study.news(&Known::of(query)) {
        Ok(None) => Answer::new(204, JSON, ""),
        Ok(Some(news)) => Answer::new(200, JSON, news),
        Err(failure) => Answer::failed(&failure),
    }
}

/// On this machine's own address only requests under its own names are answered: a page from elsewhere whose name was made to lead here
/// shall learn nothing.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
