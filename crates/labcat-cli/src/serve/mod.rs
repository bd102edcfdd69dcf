//! `labcat serve`: the pages of studies, live in a browser. Nothing can be changed through them.

mod studies;

use std::io::{Write, stdout};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::thread;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::cli;
use crate::failure::Failure;
use crate::format::complain;
use crate::paths::Paths;
use crate::report::{STYLE, Setting, TOOLS, fill, render, script_safe_json};
use studies::{Served, Summary};

/// Requests that are answered at the same time.
const THREADS: usize = 4;
const COMPARE: &str = include_str!("../report/page/compare.html");
const COMPARE_SCRIPT: &str = include_str!("../report/page/compare.js");

/// Answers until the process is ended.
pub(crate) fn serve(args: &cli::Serve) -> Result<(), Failure> {
    let studies: Vec<Served> =
        args.studies.iter().map(|path| Served::new(Paths::of(path))).collect::<Result<_, _>>()?;
    let wanted = SocketAddr::new(args.address, args.port);
    let server = Server::http(wanted).map_err(|error| {
        Failure::run(format!(
            "cannot listen at {wanted}: {error}; another --port may be free, --port 0 takes any that is"
        ))
    })?;
    let address = server.server_addr().to_ip().unwrap_or(wanted);
    if !address.ip().is_loopback() {
        complain("warning: everybody who reaches this address can see the studies and what their commands printed");
    }
    writeln!(stdout(), "http://{address}/  (Ctrl-C ends it)")?;
    stdout().flush()?;
    let site = Arc::new(Site { studies, address });
    let server = Arc::new(server);
    let workers: Vec<_> = (0..THREADS)
        .map(|_| {
            let (server, site) = (Arc::clone(&server), Arc::clone(&site));
            thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    site.answer(request);
                }
            })
        })
        .collect();
    for worker in workers {
        let _ = worker.join();
    }
    Err(Failure::run("the server has stopped"))
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
    text: String,
}

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Site {
    fn answer(&self, request: Request) {
        let answer = self.decide(&request);
        let mut response = Response::from_string(answer.text).with_status_code(answer.status);
        let fields = [
            ("Content-Type", answer.kind),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
        ];
        for (name, value) in fields {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        // A browser that has gone away needs no answer.
        let _ = request.respond(response);
    }

    fn decide(&self, request: &Request) -> Answer {
        if !matches!(request.method(), Method::Get | Method::Head) {
            return Answer { status: 405, kind: TEXT, text: "these pages can only be read\n".to_owned() };
        }
        if !self.is_addressed(request) {
            let text = format!("this is labcat, at http://{}/ and under no other name\n", self.address);
            return Answer { status: 403, kind: TEXT, text };
        }
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => Answer { status: 200, kind: HTML, text: self.comparison() },
            ["studies"] => Answer { status: 200, kind: JSON, text: script_safe_json(&self.summaries()) },
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
    Answer { status: 404, kind: TEXT, text: "there is no such page; / lists the studies\n".to_owned() }
}

fn page(study: &Served) -> Answer {
    match study.data() {
        Ok(data) => Answer { status: 200, kind: HTML, text: render(&data, Setting::Served) },
        Err(failure) => Answer { status: 500, kind: TEXT, text: format!("{failure}\n") },
    }
}

/// The study, unless it is still as the browser knows it.
fn news(study: &Served, query: &str) -> Answer {
    let known = query.strip_prefix("known=").unwrap_or_default();
    match study.revision() {
        Ok(revision) if revision == known => Answer { status: 204, kind: JSON, text: String::new() },
        Ok(_) => match study.data() {
            Ok(data) => Answer { status: 200, kind: JSON, text: script_safe_json(&data) },
            Err(failure) => Answer { status: 500, kind: TEXT, text: format!("{failure}\n") },
        },
        Err(failure) => Answer { status: 500, kind: TEXT, text: format!("{failure}\n") },
    }
}
