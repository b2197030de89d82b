//! One GET, as often and over as many redirects as it takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::StatusCode;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HeaderMap, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION,
    RANGE, RETRY_AFTER,
};
use reqwest::Response;
use tokio::sync::Semaphore;
use url::Url;

use super::auth::{KeyOrigin, Keyring};
use super::client::Clients;
use super::gate::Gates;
use super::range::Range;
use super::shown::{shown, without_secrets};
use super::sink::Sink;
use super::words::{Cause, NetworkError};
use crate::config::Patience;
use crate::observer::{Counters, Event, Observer, add};

/// As many as browsers follow.
const MAX_REDIRECTS: usize = 20;

/// The body of an answer that is no success is read up to this many bytes, so that the connection can be used again.
const DRAIN: usize = 64 * 1024;
/// Waiting longer for it costs more than another connection.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// Sends requests.
pub(crate) struct Http {
    pub(crate) clients: Clients,
    pub(crate) keyring: Keyring,
    pub(crate) patience: Patience,
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) gates: Gates,
    /// One permit per request in flight.
    pub(crate) slots: Semaphore,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    /// Where. Credentials in it are not sent: those of the keyring are.
    pub(crate) url: &'a Url,
    /// `Accept`.
    pub(crate) accept: Option<&'static str>,
    /// Whether the body may come compressed.
    pub(crate) gzip: bool,
    /// A part of the file.
    pub(crate) range: Option<Range>,
    /// `ETag` of the copy at hand.
    pub(crate) etag: Option<&'a str>,
    /// `Last-Modified` of the copy at hand.
    pub(crate) last_modified: Option<&'a str>,
}

impl<'a> Request<'a> {
    /// A plain request for the bytes as they are.
    pub(crate) fn new(url: &'a Url) -> Self {
        Self { url, accept: None, gzip: false, range: None, etag: None, last_modified: None }
    }
}

/// An answer without its body.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Where it came from in the end, without credentials.
    pub(crate) url: Url,
    /// How many attempts it took.
    pub(crate) attempts: u32,
    /// Whose credentials were sent, if any.
    pub(crate) key: Option<KeyOrigin>,
}

impl Head {
    /// A header as text.
    pub(crate) fn text(&self, name: http::HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The error for a status that is not expected.
    pub(crate) fn unexpected(&self) -> NetworkError {
        let cause = Cause::Status {
            status: self.status,
            key: self.key,
            retry_after: retry_after(&self.headers),
        };
        NetworkError { url: Box::new(self.url.clone()), cause, attempts: self.attempts }
    }
}

impl Http {
    /// Sends `request` until there is an answer that repeating cannot better, and gives the body of a success to `sink`.
    ///
    /// # Errors
    /// When no answer comes, or the sink refuses it. Any status, 5xx after the last repetition included, is an answer.
    pub(crate) async fn fetch<S: Sink>(
        &self,
        request: &Request<'_>,
        sink: &mut S,
    ) -> Result<Head, NetworkError> {
        let mut attempts = 1;
        let begun = Instant::now();
        loop {
            let outcome = self.attempt(request, sink, attempts).await;
            let wanted = match &outcome {
                Ok(head) if may_pass(head.status) => retry_after(&head.headers),
                Err(error) if error.cause.may_pass() => None,
                _ => return outcome,
            };
            let pause = wanted.unwrap_or_else(|| {
                self.patience.pause.saturating_mul(3u32.saturating_pow(attempts - 1))
            });
            let late = begun.elapsed() + pause > self.patience.whole;
            if attempts > self.patience.retries || pause > self.patience.longest_pause || late {
                return outcome;
            }
            let reason = match &outcome {
                Ok(head) => format!("{}: {}", shown(request.url), head.status),
                Err(error) => format!("{}: {}", shown(request.url), error.what()),
            };
            self.observer.event(Event::Retrying { reason: &reason, attempt: attempts, pause });
            tokio::time::sleep(pause).await;
            add(&self.counters.retries, 1);
            attempts += 1;
        }
    }

    async fn attempt<S: Sink>(
        &self,
        request: &Request<'_>,
        sink: &mut S,
        attempts: u32,
    ) -> Result<Head, NetworkError> {
        // The semaphore is never closed.
        let _slot = self.slots.acquire().await;
        let mut url = without_secrets(request.url);
        for _ in 0..=MAX_REDIRECTS {
            let fail = |cause| NetworkError { url: Box::new(url.clone()), cause, attempts };
            let (mut response, key) = self.send(request, &url).await.map_err(fail)?;
            let status = response.status();
            if let Some(next) = redirect(&response) {
                let next =
                    url.join(&next).ok().filter(|to| matches!(to.scheme(), "http" | "https"));
                let next = next.ok_or_else(|| fail(Cause::BadRedirect))?;
                drain(&mut response).await;
                url = without_secrets(&next);
                continue;
            }
            let headers = std::mem::take(response.headers_mut());
            let head = Head { status, headers, url: url.clone(), attempts, key };
            if matches!(status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) {
                self.body(response, &head, sink).await.map_err(fail)?;
            } else {
                drain(&mut response).await;
            }
            return Ok(head);
        }
        Err(NetworkError {
            url: Box::new(url),
            cause: Cause::TooManyRedirects(MAX_REDIRECTS),
            attempts,
        })
    }

    async fn send(
        &self,
        request: &Request<'_>,
        url: &Url,
    ) -> Result<(Response, Option<KeyOrigin>), Cause> {
        let mut builder =
            self.clients.get(url).map_err(Cause::Client)?.get(self.keyring.with_query(url));
        if let Some(accept) = request.accept {
            builder = builder.header(ACCEPT, accept);
        }
        let encoding = if request.gzip { "gzip" } else { "identity" };
        builder = builder.header(ACCEPT_ENCODING, encoding);
        if let Some(range) = request.range {
            builder = builder.header(RANGE, range.header());
        }
        if let Some(etag) = request.etag {
            builder = builder.header(IF_NONE_MATCH, etag);
        } else if let Some(date) = request.last_modified {
            builder = builder.header(IF_MODIFIED_SINCE, date);
        }
        let key = self.keyring.key(url);
        if let Some(key) = key {
            builder = builder.basic_auth(key.username, key.password);
        }
        add(&self.counters.requests, 1);
        let patience = &self.patience;
        let gate = self.gates.gate(url);
        let turn = match &gate {
            Some(gate) => gate.pass().await,
            None => None,
        };
        let head = tokio::time::timeout(patience.connect + patience.read, builder.send());
        let response = match head.await {
            Ok(response) => response.map_err(|error| Cause::of(error, url, patience))?,
            Err(_) => return Err(Cause::Timeout { connecting: false, limit: patience.read }),
        };
        drop(turn);
        if let Some(gate) = &gate {
            gate.answered();
        }
        if response.status() == StatusCode::NOT_MODIFIED {
            add(&self.counters.not_modified, 1);
        }
        Ok((response, key.map(|key| key.origin)))
    }

    async fn body<S: Sink>(
        &self,
        mut response: Response,
        head: &Head,
        sink: &mut S,
    ) -> Result<(), Cause> {
        let length = head.text(CONTENT_LENGTH).and_then(|text| text.parse().ok());
        sink.begin(head, length).map_err(Cause::Refused)?;
        let mut received = 0u64;
        let begun = Instant::now();
        loop {
            let allowed = self.patience.read
                + Duration::from_secs(received.checked_div(self.patience.pace).unwrap_or(0));
            let Some(left) = allowed.checked_sub(begun.elapsed()) else {
                return Err(Cause::TooSlow { received, after: begun.elapsed() });
            };
            let Ok(chunk) = tokio::time::timeout(left, response.chunk()).await else { continue };
            match chunk {
                Ok(Some(bytes)) => {
                    received += bytes.len() as u64;
                    add(&self.counters.bytes, bytes.len() as u64);
                    sink.piece(&bytes).map_err(Cause::Refused)?;
                }
                Ok(None) => break,
                Err(error) if error.is_timeout() => {
                    return Err(Cause::of(error, &head.url, &self.patience));
                }
                Err(_) => return Err(Cause::Truncated { received, length }),
            }
        }
        match length {
            Some(expected) if expected != received => Err(Cause::Truncated { received, length }),
            _ => Ok(()),
        }
    }
}

/// Where an answer redirects to.
fn redirect(response: &Response) -> Option<String> {
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION)?;
    matches!(status, 301 | 302 | 303 | 307 | 308)
        .then(|| String::from_utf8_lossy(location.as_bytes()).into_owned())
}

async fn drain(response: &mut Response) {
    let _ = tokio::time::timeout(DRAIN_TIME, drain_all(response)).await;
}

async fn drain_all(response: &mut Response) {
    let mut left = DRAIN;
    while let Ok(Some(bytes)) = response.chunk().await {
        match left.checked_sub(bytes.len()) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

/// Statuses of troubles that may be over soon.
fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504 | 520..=530)
}

/// How long the server asks to wait: seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().expect("a header value"));
            retry_after(&headers)
        };
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(read("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
        assert!(
            read("Fri, 31 Dec 2100 23:59:59 GMT").is_some_and(|wait| wait.as_secs() > 1_000_000)
        );
        assert_eq!(read("soon"), None);
    }
}
