//! `labcat serve`: the pages of studies, live in a browser. Nothing can be changed through them.

mod body;
mod news;
mod studies;

use std::io::{Cursor, Write, stdout};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use tiny_http::{Header, Method, Request, Response, Server, StatusCode};

use crate::cli;
use crate::failure::Failure;
use crate::format::complain;
use crate::paths::Paths;
use crate::report::{STYLE, TOOLS, fill, script_safe_json};
use body::Body;
use news::Known;
use studies::{Served, Summary};

/// Requests that are answered at the same time, each by a thread; more are turned away.
const MOST: usize = 256;
/// How long a reader may take no byte of an answer before it is given up.
const STALLED: Duration = Duration::from_secs(10);
const COMPARE: &str = include_str!("../report/page/compare.html");
const COMPARE_SCRIPT: &str = include_str!("../report/page/compare.js");

/// Answers until the process is ended.
pub(crate) fn serve(args: &cli::Serve) -> Result<(), Failure> {
    let studies: Vec<Served> =
        args.studies.iter().map(|path| Served::new(Paths::of(path))).collect::<Result<_, _>>()?;
    let wanted = SocketAddr::new(args.address, args.port);
    let (server, address) = listen(wanted).map_err(|error| {
        Failure::run(format!(
            "cannot listen at {wanted}: {error}; another --port may be free, --port 0 takes any that is"
        ))
    })?;
    if !address.ip().is_loopback() {
        complain("warning: everybody who reaches this address can see the studies and what their commands printed");
    }
    writeln!(stdout(), "http://{address}/  (Ctrl-C ends it)")?;
    stdout().flush()?;
    let site = Arc::new(Site { studies, address });
    while let Ok(request) = server.recv() {
        let answering = Arc::clone(&site);
        // The threads of this process that answer are those that hold the site.
        if Arc::strong_count(&site) > MOST {
            let _ = request.respond(Response::from_string("too many at a time\n").with_status_code(503));
        } else if thread::Builder::new().spawn(move || answering.answer(request)).is_err() {
            complain("warning: a request could not be answered, there are too many threads");
        }
    }
    Err(Failure::run("the server has stopped"))
}

/// Listens. What the listening socket is told of timeouts holds for all connections that it takes.
fn listen(wanted: SocketAddr) -> Result<(Server, SocketAddr), Box<dyn std::error::Error + Send + Sync>> {
    let listener = TcpListener::bind(wanted)?;
    set_socket_timeout(&listener, Timeout::Send, Some(STALLED))?;
    let address = listener.local_addr()?;
    Ok((Server::from_listener(listener, None)?, address))
}

/// What is served, and where.
struct Site {
    studies: Vec<Served>,
    address: SocketAddr,
}

/// An answer: its status, its type and its text.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Body,
}

impl Answer {
    fn new(status: u16, kind: &'static str, text: impl Into<String>) -> Answer {
        Answer { status, kind, body: Body::new(text.into()) }
    }

    fn failed(failure: &Failure) -> Answer {
        Answer::new(500, TEXT, format!("{failure}\n"))
    }
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Site {
    fn answer(&self, request: Request) {
        let answer = self.decide(&request);
        let compressed = answer.body.compressed().filter(|_| takes_gzip(&request));
        let encoding = compressed.as_ref().map(|_| ("Content-Encoding", "gzip"));
        let bytes = compressed.unwrap_or_else(|| answer.body.plain());
        let fields = [
            ("Content-Type", answer.kind),
            ("Cache-Control", "no-store"),
            ("Vary", "Accept-Encoding"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ];
        let fields =
            fields.into_iter().chain(encoding).filter_map(|(name, value)| Header::from_bytes(name, value).ok());
        let length = bytes.len();
        let response =
            Response::new(StatusCode(answer.status), fields.collect(), Cursor::new(bytes), Some(length), None);
        // A browser that has gone away, or that takes nothing, needs no answer.
        let _ = request.respond(response);
    }

    fn decide(&self, request: &Request) -> Answer {
        if !matches!(request.method(), Method::Get | Method::Head) {
            return Answer::new(405, TEXT, "these pages can only be read\n");
        }
        if !self.is_addressed(request) {
            let text = format!("this is labcat, at http://{}/ and under no other name\n", self.address);
            return Answer::new(403, TEXT, text);
        }
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => Answer::new(200, HTML, self.comparison()),
            ["studies"] => Answer::new(200, JSON, script_safe_json(&self.summaries())),
            ["study", number] | ["study", number, "data"] => {
                let found = number.parse::<usize>().ok().and_then(|number| self.studies.get(number));
                match (found, parts.len()) {
                    (None, _) => not_found(),
                    (Some(study), 2) => page(study),
                    (Some(study), _) => news(study, query),
                }
            }
            _ => not_found(),
        }
    }

    /// On this machine's own address only requests under its own names are answered: a page from elsewhere whose name
    /// was made to lead here shall learn nothing.
    fn is_addressed(&self, request: &Request) -> bool {
        if !self.address.ip().is_loopback() {
            return true;
        }
        let host = request.headers().iter().find(|header| header.field.equiv("Host"));
        host.is_some_and(|header| {
            let host = header.value.as_str();
            let name = match host.strip_prefix('[') {
                Some(rest) => rest.split(']').next().unwrap_or_default(),
                None => host.rsplit_once(':').map_or(host, |(name, _)| name),
            };
            name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        })
    }

    fn summaries(&self) -> Vec<Summary> {
        self.studies.iter().enumerate().map(|(number, study)| study.summary(number)).collect()
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
        Ok(snapshot) => Answer { status: 200, kind: HTML, body: snapshot.page().clone() },
        Err(failure) => Answer::failed(&failure),
    }
}

/// What is new of a study to a browser that knows it.
fn news(study: &Served, query: &str) -> Answer {
    match study.news(&Known::of(query)) {
        Ok(None) => Answer::new(204, JSON, ""),
        Ok(Some(news)) => Answer::new(200, JSON, news),
        Err(failure) => Answer::failed(&failure),
    }
}

fn takes_gzip(request: &Request) -> bool {
    let mut headers = request.headers().iter().filter(|header| header.field.equiv("Accept-Encoding"));
    headers.any(|header| {
        let ways = header.value.as_str().split(',');
        ways.map(|way| way.trim().to_ascii_lowercase())
            .any(|way| way == "gzip" || way.starts_with("gzip;") && !way.ends_with("q=0"))
    })
}
