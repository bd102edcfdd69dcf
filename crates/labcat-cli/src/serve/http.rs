//! The network side of `labcat serve`: connections, their limits, and requests as the site reads them.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
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

/// What was asked.
pub(super) struct Asked {
    /// Whether it only wishes to read.
    pub(super) reads: bool,
    pub(super) host: Option<String>,
    pub(super) path: String,
    pub(super) query: String,
    gzip: bool,
}

/// An answer: its status, its type and its text.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: Body,
}

/// Answers for ever. `listening` is told the address; reading a study takes its time, so `answer` is called on threads that may wait.
pub(super) fn answer_all(
    wanted: SocketAddr,
    listening: impl FnOnce(SocketAddr) -> io::Result<()>,
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(wanted).await?;
        listening(listener.local_addr()?)?;
        let (answer, room) = (Arc::new(answer), Arc::new(Semaphore::new(MOST)));
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
            let answer = Arc::clone(&answer);
            let service = service_fn(move |request| respond(Arc::clone(&answer), request));
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

fn respond<A>(
    answer: Arc<A>,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<Full<Bytes>>, Infallible>>
where
    A: Fn(&Asked) -> Answer + Send + Sync + 'static,
{
    let asked = Asked::of(&request);
    async move {
        let made = spawn_blocking(move || response(&answer(&asked), asked.gzip)).await;
        Ok(made.unwrap_or_else(|_| {
            let mut failed = Response::new(Full::default());
            *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            failed
        }))
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
    let fields = fields.into_iter().chain(encoding).map(|(name, value)| (name, HeaderValue::from_static(value)));
    let mut response = Response::new(Full::new(Bytes::from_owner(bytes)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().extend(fields);
    response
}

impl Asked {
    fn of(request: &Request<Incoming>) -> Asked {
        let text = |name: HeaderName| request.headers().get(name)?.to_str().ok().map(str::to_owned);
        Asked {
            reads: matches!(*request.method(), Method::GET | Method::HEAD),
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
