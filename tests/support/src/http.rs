//! As much of HTTP/1.1 as clients of an index speak.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A request as the log keeps it.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET` or `HEAD`.
    pub method: String,
    /// The path, percent-decoded, without a query.
    pub path: String,
    /// The query, as it was sent; empty without one.
    pub query: String,
    /// Header fields in their order, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl Request {
    /// The value of a header field; `name` in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Reads the next request of a connection; `None` at its end or at something that is not HTTP.
    pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_ascii_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let request =
            Self { method, path: percent_decoded(path), query: query.to_owned(), headers };
        let length = request.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
        std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
        Some(request)
    }

    pub(crate) fn accepts(&self, header: &str, what: &str) -> bool {
        self.header(header).is_some_and(|value| value.contains(what))
    }
}

/// An answer before it is written.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// The length stated instead of the body's, for HEAD and for bodies that end early.
    pub(crate) length: Option<u64>,
}

impl Response {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type", content_type.to_owned())],
            body,
            length: None,
        }
    }

    pub(crate) fn plain(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain", text.as_bytes().to_vec())
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Writes it; false when the other side has gone.
    pub(crate) fn write(&self, stream: &mut TcpStream, method: &str) -> bool {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        if self.status != 304 {
            head +=
                &format!("Content-Length: {}\r\n", self.length.unwrap_or(self.body.len() as u64));
        }
        let mut bytes = (head + "\r\n").into_bytes();
        if method != "HEAD" && self.status != 304 {
            bytes.extend_from_slice(&self.body);
        }
        stream.write_all(&bytes).and_then(|()| stream.flush()).is_ok()
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        302 => "Found",
        304 => "Not Modified",
        404 => "Not Found",
        416 => "Range Not Satisfiable",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
