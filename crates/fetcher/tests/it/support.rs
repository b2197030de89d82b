//! A small HTTP server whose answers a test decides, and short ways to set up a fetcher.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cuda_lock_constraint::catalog::{Catalog, CatalogError, File, Project};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{
    Event, Fetcher, FetcherConfig, Mode, Observer, Patience, SourceConfig, SourceFormat,
};
use url::Url;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Path and query.
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Seen {
    /// A header, empty when it was not sent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

/// An answer.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Close the connection after so many bytes of the body.
    pub cut: Option<usize>,
    /// Wait before answering.
    pub delay: Duration,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), cut: None, delay: Duration::ZERO }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// What a server answers.
pub type Answer = dyn Fn(&Seen) -> Reply + Send + Sync;

/// A server that runs until the test process ends.
pub struct Server {
    pub port: u16,
    log: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let log: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let answer: Arc<Answer> = Arc::new(answer);
        let seen = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&seen));
                std::thread::spawn(move || serve(&stream, &*answer, &log));
            }
        });
        Self { port, log }
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}{path}", self.port)).expect("valid")
    }

    /// Requests so far; emptied by reading.
    pub fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.log.lock().expect("no panic"))
    }

    /// Paths of the requests so far; emptied by reading.
    pub fn paths(&self) -> Vec<String> {
        self.take().into_iter().map(|seen| seen.path).collect()
    }
}

fn serve(stream: &TcpStream, answer: &Answer, log: &Mutex<Vec<Seen>>) {
    stream.set_nodelay(true).expect("a socket");
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let seen = Seen { path, headers };
        log.lock().expect("no panic").push(seen.clone());
        let reply = answer(&seen);
        std::thread::sleep(reply.delay);
        let mut head = format!("HTTP/1.1 {} X\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if reply.status != 304 {
            head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
        }
        head.push_str("\r\n");
        let end = reply.cut.unwrap_or(reply.body.len());
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&reply.body[..end]);
        let sent = writer.write_all(&bytes).is_ok();
        if !sent || reply.cut.is_some() {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

/// Answers a request for a file as a server that knows ranges does.
pub fn ranged(seen: &Seen, body: &[u8]) -> Reply {
    let total = body.len();
    let range = seen.header("range").strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let (start, end) = match range {
        None => return Reply::new(200, body),
        Some(("", last)) => (total - last.parse::<usize>().expect("a number").min(total), total),
        Some((start, last)) => {
            let last: usize = last.parse().expect("a number");
            (start.parse().expect("a number"), (last + 1).min(total))
        }
    };
    if start >= end {
        return Reply::new(416, "").with("content-range", format!("bytes */{total}"));
    }
    Reply::new(206, &body[start..end])
        .with("content-range", format!("bytes {start}-{}/{total}", end - 1))
}

/// Keeps warnings and retries.
#[derive(Default)]
pub struct Listener {
    pub lines: Mutex<Vec<String>>,
}

impl Observer for Listener {
    fn event(&self, event: Event<'_>) {
        let line = match event {
            Event::Warning(text) => format!("warning: {text}"),
            Event::Retrying { attempt, .. } => format!("retry {attempt}"),
            _ => return,
        };
        self.lines.lock().expect("no panic").push(line);
    }
}

/// A source with the number 0.
pub fn source(url: Url) -> SourceConfig {
    SourceConfig {
        id: SourceId(0),
        name: "test".into(),
        url: url.into(),
        format: SourceFormat::Simple,
        forbidden_means_absent: false,
    }
}

/// A configuration with one source and pauses short enough for tests.
pub fn config(source: SourceConfig, cache: &Path, mode: Mode) -> FetcherConfig {
    let patience = Patience {
        pause: Duration::from_millis(1),
        read: Duration::from_millis(500),
        ..Patience::default()
    };
    let mut config = FetcherConfig::new(vec![source]);
    config.cache_dir = Some(cache.to_owned());
    config.mode = mode;
    config.patience = patience;
    config
}

pub fn fetcher(config: FetcherConfig) -> Fetcher {
    Fetcher::new(config, Arc::new(cuda_lock_fetcher::Silent)).expect("valid sources")
}

pub fn name(text: &str) -> Name {
    Name::new(text).expect("a valid name")
}

/// One run over one index.
pub fn run(server: &Server, cache: &Path, mode: Mode) -> Fetcher {
    fetcher(config(source(server.url("/simple/")), cache, mode))
}

pub fn ask(fetcher: &Fetcher, project: &str) -> Result<Option<Arc<Project>>, CatalogError> {
    fetcher.project(SourceId(0), name(project))
}

/// The text of the error, with ports made equal.
pub fn error<T>(result: Result<T, CatalogError>) -> String {
    let Err(error) = result else { panic!("this should have failed") };
    plain(&error.to_string())
}

/// Replaces what differs between runs.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("127.0.0.1:") {
        let (head, tail) = rest.split_at(at);
        plain.push_str(head);
        plain.push_str("127.0.0.1:PORT");
        rest = tail["127.0.0.1:".len()..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    plain + rest
}

/// The versions as text.
pub fn versions(project: &Project) -> Vec<String> {
    project.versions.iter().map(ToString::to_string).collect()
}

/// The first file of the last version.
pub fn newest(project: &Project) -> File {
    project.files.files(project.versions.len() - 1).remove(0)
}

/// A page in JSON with one file, and any further keys of it.
pub fn page(file: &str, keys: &str) -> Reply {
    let body = format!(
        r#"{{"meta":{{"api-version":"1.1"}},"name":"foo","files":[{{"filename":"{file}","url":"/files/{file}","hashes":{{}}{keys}}}]}}"#
    );
    Reply::new(200, body).with("content-type", "application/vnd.pypi.simple.v1+json")
}

/// The bytes of every file below a folder.
pub fn contents(dir: &Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return all };
    for entry in entries {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            let mut bytes = path.display().to_string().into_bytes();
            std::fs::File::open(&path)
                .and_then(|mut file| file.read_to_end(&mut bytes))
                .expect("readable");
            all.push(bytes);
        }
    }
    all
}

pub const METADATA: &str = "Metadata-Version: 2.1\nName: foo\nVersion: 1.0\nRequires-Dist: bar>=2\nRequires-Python: >=3.8\n\ntext\n";

/// A wheel of foo with so many members besides METADATA.
pub fn wheel(members: usize) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut add = |path: &str, bytes: &[u8]| {
        zip.start_file(path, stored).expect("a member");
        zip.write_all(bytes).expect("memory");
    };
    add("foo-1.0.dist-info/METADATA", METADATA.as_bytes());
    for member in 0..members {
        add(&format!("foo/{}_{member}.py", "long_name_".repeat(9)), &[b'x'; 500]);
    }
    zip.finish().expect("memory").into_inner()
}
