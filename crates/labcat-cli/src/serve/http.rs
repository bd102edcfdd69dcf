//! The network side of `labcat serve`: connections, their limits, and requests as the site reads them.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio_io_timeout::TimeoutStream;

use super::body::Body;

/// Connections at a time; more are closed at once.
const MOST: usize = 256;
/// How long a reader may take no byte of an answer, or send no byte of a request, before it is given up.
const STALLED: Duration = Duration::from_secs(10);
/// How long a connection may be idle.
const IDLE: Duration = Duration::from_secs(120);
/// The longest body of a request, in bytes: half a million residuals.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;
/// How long a body may take.
const SENT_WITHIN: Duration = Duration::from_secs(60);

/// A request.
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) host: Option<String>,
    pub(super) path: String,
    pub(super) query: String,
    /// What follows `Authorization: Bearer`.
    pub(super) token: Option<String>,
    pub(super) body: Result<Bytes, Unread>,
    gzip: bool,
}

/// Why a body was not read.
pub(super) enum Unread {
    TooLong,
    Broken,
}

/// An answer: its status, its type and its text.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: Body,
    /// One more field of its head.
    pub(super) field: Option<(HeaderName, &'static str)>,
}

/// A handler of requests.
pub(super) trait Answers: Send + Sync + 'static {
    /// Refuses a request of which the body was not read yet.
    fn refusal(&self, asked: &Asked) -> Option<Answer>;

    /// May be slow.
    fn answer(&self, asked: &Asked) -> Answer;
}

/// Answers for ever. `listening` is told the address; reading a study takes its time, so the site is asked on threads that may wait.
pub(super) fn answer_all(
    wanted: SocketAddr,
    listening: impl FnOnce(SocketAddr) -> io::Result<()>,
    site: impl Answers,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(wanted).await?;
        listening(listener.local_addr()?)?;
        let (site, room) = (Arc::new(site), Arc::new(Semaphore::new(MOST)));
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // Too many open files, mostly: others may end meanwhile.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Ok(place) = Arc::clone(&room).try_acquire_owned() else { continue };
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(STALLED));
            stream.set_read_timeout(Some(IDLE));
            let site = Arc::clone(&site);
            let service = service_fn(move |request| respond(Arc::clone(&site), request));
            tokio::spawn(async move {
                let connection = TokioIo::new(Box::pin(stream));
                let mut http = http1::Builder::new();
                // A browser that has gone away, or that takes nothing, needs no answer.
                let _ = http
                    .timer(TokioTimer::new())
                    .header_read_timeout(IDLE)
                    .title_case_headers(true)
                    .serve_connection(connection, service)
                    .await;
                drop(place);
            });
        }
    })
}

fn respond(
    site: Arc<impl Answers>,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<Full<Bytes>>, Infallible>> {
    let mut asked = Asked::of(&request);
    async move {
        if let Some(refusal) = site.refusal(&asked) {
            return Ok(response(&refusal, asked.gzip));
        }
        if asked.method == Method::POST {
            asked.body = body_of(request).await;
        }
        let made = spawn_blocking(move || response(&site.answer(&asked), asked.gzip)).await;
        Ok(made.unwrap_or_else(|_| {
            let mut failed = Response::new(Full::default());
            *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            failed
        }))
    }
}

async fn body_of(request: Request<Incoming>) -> Result<Bytes, Unread> {
    let body = Limited::new(request.into_body(), LONGEST).collect();
    match tokio::time::timeout(SENT_WITHIN, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Unread::TooLong),
        _ => Err(Unread::Broken),
    }
}

fn response(answer: &Answer, gzip: bool) -> Response<Full<Bytes>> {
    let compressed = answer.body.compressed().filter(|_| gzip);
    let encoding = compressed.as_ref().map(|_| (header::CONTENT_ENCODING, "gzip"));
    let bytes = compressed.unwrap_or_else(|| answer.body.plain());
    let fields = [
        (header::CONTENT_TYPE, answer.kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::VARY, "Accept-Encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    let fields = fields
        .into_iter()
        .chain(encoding)
        .chain(answer.field.clone())
        .map(|(name, value)| (name, HeaderValue::from_static(value)));
    let mut response = Response::new(Full::new(Bytes::from_owner(bytes)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().extend(fields);
    response
}

impl Asked {
    /// Whether it only reads.
    pub(super) fn reads(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }

    fn of(request: &Request<Incoming>) -> Asked {
        let text = |name: HeaderName| request.headers().get(name)?.to_str().ok().map(str::to_owned);
        let bearer = |text: String| {
            let (scheme, token) = text.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        };
        Asked {
            method: request.method().clone(),
            token: text(header::AUTHORIZATION).and_then(bearer),
            body: Ok(Bytes::new()),
            host: text(header::HOST),
            path: request.uri().path().to_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            gzip: takes_gzip(request.headers()),
        }
    }
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let mut ways = texts.flat_map(|text| text.split(',')).map(|way| way.trim().to_ascii_lowercase());
    ways.any(|way| way == "gzip" || (way.starts_with("gzip;") && !way.ends_with("q=0")))
}
