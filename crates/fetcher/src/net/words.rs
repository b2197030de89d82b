//! What goes wrong on a network, in plain words.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use url::Url;

use super::auth::KeyOrigin;
use super::shown::shown;
use super::sink::Refusal;
use crate::config::Patience;

/// A request that failed: which, why, how often tried, what to do. Its text holds no credentials.
#[derive(Debug)]
pub(crate) struct NetworkError {
    pub(crate) url: Box<Url>,
    pub(crate) cause: Cause,
    pub(crate) attempts: u32,
}

/// Why.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The host name has no address.
    Dns { host: String },
    /// Nothing listens there.
    NoConnection { address: String, why: String },
    /// The TLS handshake failed; nothing but a change of settings helps.
    Tls(String),
    /// No connection or no data in time.
    Timeout { connecting: bool, limit: Duration },
    /// The body trickles in.
    TooSlow { received: u64, after: Duration },
    /// The body ended early.
    Truncated { received: u64, length: Option<u64> },
    /// Any other trouble of the transport.
    Transport(String),
    /// A status that is no success.
    Status { status: StatusCode, key: Option<KeyOrigin>, retry_after: Option<Duration> },
    /// The redirect leads nowhere.
    BadRedirect,
    /// More redirects than allowed.
    TooManyRedirects(usize),
    /// The client could not be made.
    Client(Arc<str>),
    /// The body is not wanted.
    Refused(Refusal),
}

impl Cause {
    /// Reads a transport error.
    pub(crate) fn of(error: reqwest::Error, url: &Url, patience: &Patience) -> Self {
        if error.is_timeout() {
            let connecting = error.is_connect();
            let limit = if connecting { patience.connect } else { patience.read };
            return Self::Timeout { connecting, limit };
        }
        let chain: Vec<&(dyn Error + 'static)> =
            std::iter::successors(error.source(), |error| (*error).source()).collect();
        let texts: Vec<String> = chain.iter().map(ToString::to_string).collect();
        // The TLS library's own type is behind two layers of others; its words are stable enough to tell its errors.
        if let Some(text) = texts.iter().rev().find(|text| text.contains("certificate")) {
            return Self::Tls(text.clone());
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        if texts.iter().any(|text| text.contains("dns error")) {
            return Self::Dns { host };
        }
        let last = texts.last().cloned().unwrap_or_else(|| "the request failed".to_owned());
        let kind = chain.iter().rev().find_map(|error| error.downcast_ref::<io::Error>());
        if error.is_connect() {
            let port = url.port_or_known_default().unwrap_or_default();
            let why = match kind.map(io::Error::kind) {
                Some(io::ErrorKind::ConnectionRefused) => "nothing listens there".to_owned(),
                Some(io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable) => {
                    "the network has no way to it".to_owned()
                }
                Some(io::ErrorKind::InvalidData) => return Self::Tls(last),
                _ => last,
            };
            return Self::NoConnection { address: format!("{host}:{port}"), why };
        }
        Self::Transport(last)
    }

    /// Whether trying again may help.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Dns { .. }
                | Self::NoConnection { .. }
                | Self::Timeout { .. }
                | Self::Truncated { .. }
                | Self::Transport(_)
        )
    }

    fn hint(&self, url: &Url) -> Option<String> {
        let host = url.host_str().unwrap_or("HOST");
        let proxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"]
            .into_iter()
            .find(|key| std::env::var_os(key).is_some_and(|value| !value.is_empty()));
        match (self, proxy) {
            (Self::Dns { .. } | Self::NoConnection { .. } | Self::Timeout { .. }, Some(key)) => {
                Some(format!("check the URL, the network, and the proxy that {key} names"))
            }
            (Self::Dns { .. } | Self::NoConnection { .. } | Self::Timeout { .. }, None) => Some(
                "check the URL and the network; with a filled cache, --offline needs neither"
                    .to_owned(),
            ),
            (Self::Tls(_), _) => Some(format!(
                "if {host} or a proxy has a certificate authority of its own, name its PEM file with SSL_CERT_FILE"
            )),
            (Self::Truncated { .. } | Self::Transport(_), _) => Some("try again".to_owned()),
            (Self::Status { status, key, .. }, _) => status_hint(*status, *key, host),
            _ => None,
        }
    }
}

fn status_hint(status: StatusCode, key: Option<KeyOrigin>, host: &str) -> Option<String> {
    match (status.as_u16(), key) {
        (401, None) => Some(format!(
            "give them in the URL of the index (https://USER:PASSWORD@{host}/…), or in the netrc file (machine {host} \
             login USER password PASSWORD)"
        )),
        (401 | 403, Some(_)) => Some(format!("check the user and password for {host}")),
        (403, None) => Some(format!(
            "{host} may want credentials, in the URL of the index or in the netrc file"
        )),
        (407, _) => Some(
            "give the proxy's user and password in the proxy's URL (http://USER:PASSWORD@PROXY/)"
                .to_owned(),
        ),
        (404 | 410, _) => Some("check the URL".to_owned()),
        (408 | 429 | 500..=599, _) => Some("try again later".to_owned()),
        _ => None,
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns { host } => write!(f, "the host name '{host}' has no address (DNS)"),
            Self::NoConnection { address, why } => write!(f, "no connection to {address}: {why}"),
            Self::Tls(text) => write!(f, "no secure connection (TLS): {text}"),
            Self::Timeout { connecting: true, limit } => {
                write!(f, "no connection within {} s", limit.as_secs_f32())
            }
            Self::Timeout { connecting: false, limit } => {
                write!(f, "the server sent nothing for {} s", limit.as_secs_f32())
            }
            Self::TooSlow { received, after } => {
                write!(f, "the server sent only {received} bytes in {} s", after.as_secs())
            }
            Self::Truncated { received, length: Some(length) } => {
                write!(f, "the body ended after {received} of {length} bytes")
            }
            Self::Truncated { received, length: None } => {
                write!(f, "the body broke off after {received} bytes")
            }
            Self::Transport(text) => write!(f, "the connection failed: {text}"),
            Self::Status { status, key, retry_after } => {
                match (status.as_u16(), key) {
                    (401, None) => f.write_str("the server asks for credentials")?,
                    (401, Some(KeyOrigin::Given)) => {
                        f.write_str("the server does not accept the credentials given for it")?;
                    }
                    (401, Some(KeyOrigin::Netrc)) => {
                        f.write_str(
                            "the server does not accept the credentials of the netrc file",
                        )?;
                    }
                    (403, _) => f.write_str("the server forbids this")?,
                    (404 | 410, _) => f.write_str("there is nothing at this address")?,
                    (407, _) => f.write_str("the proxy asks for credentials")?,
                    (429, _) => f.write_str("the server had too many requests")?,
                    (500..=599, _) => f.write_str("the server failed")?,
                    _ => f.write_str("the server gave an answer that is not expected")?,
                }
                write!(f, " (HTTP {status})")?;
                match retry_after {
                    Some(wait) => write!(f, " and asks to wait {} s", wait.as_secs()),
                    None => Ok(()),
                }
            }
            Self::BadRedirect => {
                f.write_str("the server redirects to something that is no web address")
            }
            Self::TooManyRedirects(count) => {
                write!(f, "the server redirects in circles ({count} times)")
            }
            Self::Client(text) => f.write_str(text),
            Self::Refused(Refusal::TooLarge { limit, length }) => {
                match length {
                    Some(length) => write!(f, "the file has {}", mebibytes(*length))?,
                    None => f.write_str("the file is too large")?,
                }
                write!(f, ", the limit is {}", mebibytes(*limit))
            }
            Self::Refused(Refusal::Enough) => f.write_str("no more was needed"),
            Self::Refused(Refusal::Disk(error)) => {
                write!(f, "the file cannot be kept in the folder for temporary files: {error}")
            }
        }
    }
}

fn mebibytes(bytes: u64) -> String {
    const MEBI: u64 = 1 << 20;
    if bytes < MEBI { format!("{bytes} bytes") } else { format!("{} MiB", bytes.div_ceil(MEBI)) }
}

impl NetworkError {
    /// Why the body was not taken, when that is what happened.
    pub(crate) fn refusal(&self) -> Option<&Refusal> {
        match &self.cause {
            Cause::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// What happened, without URL and advice.
    pub(crate) fn what(&self) -> String {
        self.cause.to_string()
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read {}: {}", shown(&self.url), self.cause)?;
        if self.attempts > 1 {
            write!(f, ", tried {} times", self.attempts)?;
        }
        match self.cause.hint(&self.url) {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}
