//! An index on loopback.

use std::collections::HashMap;
use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::fault::{Fault, Kind};
use crate::http::{Request, Response};
use crate::index::{Body, File, Index, normalized};
use crate::replica::Found;
use crate::{page, sha256};

/// A running index. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A finished page.
type Page = Arc<Vec<u8>>;

#[derive(Debug)]
struct Shared {
    index: Arc<Index>,
    faults: Mutex<HashMap<String, Fault>>,
    log: Mutex<Vec<(Request, u16)>>,
    /// Finished pages by (project, JSON or not): a recorded page is thousands of rows.
    pages: Mutex<HashMap<(String, bool), Page>>,
    stopped: AtomicBool,
}

impl Server {
    /// Serves `index` on a free port. Several servers may share one index.
    ///
    /// # Panics
    /// When loopback has no free port.
    #[must_use]
    pub fn start(index: Arc<Index>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            index,
            faults: Mutex::default(),
            log: Mutex::default(),
            pages: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if accepting.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let shared = Arc::clone(&accepting);
                std::thread::spawn(move || shared.converse(stream));
            }
        });
        Self { address, shared }
    }

    /// The address of the index: `http://127.0.0.1:PORT/simple/`.
    #[must_use]
    pub fn url(&self) -> String {
        self.at("/simple/")
    }

    /// The address of `path` on this server.
    #[must_use]
    pub fn at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Spoils the answers of one path, such as `/simple/a/`, from now on.
    pub fn fault(&self, path: &str, fault: Fault) {
        self.shared
            .faults
            .lock()
            .expect("no test panics with the lock")
            .insert(path.to_owned(), fault);
    }

    /// Mends everything.
    pub fn mend(&self) {
        self.shared.faults.lock().expect("no test panics with the lock").clear();
    }

    /// Every request so far with the status of its answer.
    #[must_use]
    pub fn log(&self) -> Vec<(Request, u16)> {
        self.shared.log.lock().expect("no test panics with the lock").clone()
    }

    /// How many requests `which` is true of.
    #[must_use]
    pub fn count(&self, which: impl Fn(&Request) -> bool) -> usize {
        self.log().iter().filter(|(request, _)| which(request)).count()
    }

    /// Forgets the log.
    pub fn forget(&self) {
        self.shared.log.lock().expect("no test panics with the lock").clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts, which then sees the flag.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Answers the requests of one connection until either side ends it.
    fn converse(&self, mut stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(clone) = stream.try_clone() else { return };
        let mut reader = BufReader::new(clone);
        while let Some(request) = Request::read(&mut reader) {
            let fault = self.take_fault(&request.path);
            let mut response = self.answer(&request);
            let mut ends = false;
            match fault {
                Some(Kind::Status(code)) => response = Response::plain(code, ""),
                Some(Kind::Redirect(to)) => {
                    response = Response::plain(302, "").with("Location", to)
                }
                Some(Kind::Body(bytes)) => response.body = bytes,
                Some(Kind::Delay(time)) => std::thread::sleep(time),
                Some(Kind::Truncate(bytes)) => {
                    response.length = Some(response.body.len() as u64);
                    response.body.truncate(bytes);
                    ends = true;
                }
                Some(Kind::Drop) => {
                    self.note(&request, 0);
                    return;
                }
                None => {}
            }
            self.note(&request, response.status);
            std::thread::sleep(self.index.features.latency);
            if !response.write(&mut stream, &request.method) || ends {
                return;
            }
        }
    }

    fn note(&self, request: &Request, status: u16) {
        self.log.lock().expect("no test panics with the lock").push((request.clone(), status));
    }

    fn take_fault(&self, path: &str) -> Option<Kind> {
        let mut faults = self.faults.lock().expect("no test panics with the lock");
        let fault = faults.get_mut(path)?;
        match &mut fault.left {
            None => {}
            Some(0) => return None,
            Some(left) => *left -= 1,
        }
        Some(fault.kind.clone())
    }

    fn answer(&self, request: &Request) -> Response {
        if request.method != "GET" && request.method != "HEAD" {
            return Response::plain(405, "GET and HEAD only\n");
        }
        if let Some(found) = self.index.replica.as_ref().and_then(|r| r.at(&request.path)) {
            return self.replicated(&found, request);
        }
        let parts: Vec<&str> = request.path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            ["simple", project] if *project == normalized(project) => self.page(project, request),
            ["files", project, filename] => self.file(project, filename, request),
            _ => Response::plain(404, "no such path\n"),
        }
    }

    /// A replica answers in HTML whatever is accepted.
    fn replicated(&self, found: &Found<'_>, request: &Request) -> Response {
        match found {
            Found::Page(text) => {
                let etag = format!("\"{}\"", sha256(text.as_bytes()));
                let unchanged =
                    request.header("if-none-match").is_some_and(|tags| tags.contains(&etag));
                let body = if unchanged { Vec::new() } else { text.as_bytes().to_vec() };
                Response::new(if unchanged { 304 } else { 200 }, "text/html", body)
                    .with("ETag", etag)
                    .with("Cache-Control", "max-age=600, public, must-revalidate".to_owned())
            }
            Found::Metadata(text) => {
                Response::new(200, "application/octet-stream", text.as_bytes().to_vec())
            }
            Found::File(file) => match contents(file) {
                Some(contents) => self.part(&contents, request),
                None => Response::plain(404, "not kept\n"),
            },
            Found::Nothing(status) => Response::plain(*status, "no such project\n"),
        }
    }

    fn page(&self, project: &str, request: &Request) -> Response {
        let Some(files) = self.index.projects.get(project) else {
            return Response::plain(404, "no such project\n");
        };
        let features = &self.index.features;
        let json = features.json && request.accepts("accept", page::JSON);
        let body = {
            let mut pages = self.pages.lock().expect("no test panics with the lock");
            let made = pages.entry((project.to_owned(), json)).or_insert_with(|| {
                let text = if json {
                    page::json(project, files, features)
                } else {
                    page::html(project, files, features)
                };
                Arc::new(text.into_bytes())
            });
            Arc::clone(made)
        };
        let etag = format!("\"{}\"", sha256(&body));
        let headed = |response: Response| {
            response
                .with("ETag", etag.clone())
                .with("Cache-Control", format!("max-age={}, public", features.max_age))
                .with("Vary", "Accept, Accept-Encoding")
        };
        let content_type = if json { page::JSON } else { page::HTML };
        if request.header("if-none-match").is_some_and(|tags| tags.contains(etag.as_str())) {
            return headed(Response::new(304, content_type, Vec::new()));
        }
        if features.gzip && request.accepts("accept-encoding", "gzip") {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            let packed = encoder.write_all(&body).and_then(|()| encoder.finish());
            let packed = packed.expect("memory takes the page");
            return headed(Response::new(200, content_type, packed))
                .with("Content-Encoding", "gzip");
        }
        headed(Response::new(200, content_type, body.to_vec()))
    }

    fn file(&self, project: &str, filename: &str, request: &Request) -> Response {
        let immutable = |response: Response| {
            response
                .with("Cache-Control", "max-age=365000000, immutable, public")
                .with("ETag", format!("\"{}\"", sha256(filename.as_bytes())))
        };
        if let Some(wheel) = filename.strip_suffix(".metadata") {
            let file = self.index.file(project, wheel);
            return match file.and_then(|file| file.metadata.as_ref()) {
                Some(text) if self.index.features.sidecars => immutable(Response::new(
                    200,
                    "application/octet-stream",
                    text.as_bytes().to_vec(),
                )),
                _ => Response::plain(404, "no such file\n"),
            };
        }
        match self.index.file(project, filename) {
            Some(file) => match contents(file) {
                Some(contents) => immutable(self.part(&contents, request)),
                None => Response::plain(404, "not kept\n"),
            },
            None => Response::plain(404, "no such file\n"),
        }
    }

    /// The whole of a file or the range asked for.
    fn part(&self, contents: &Contents, request: &Request) -> Response {
        let total = contents.len();
        let binary = "application/octet-stream";
        if !self.index.features.ranges {
            return Response::new(200, binary, contents.slice(0, total));
        }
        let Some(range) = request.header("range") else {
            if request.method == "HEAD" {
                let mut response =
                    Response::new(200, binary, Vec::new()).with("Accept-Ranges", "bytes");
                response.length = Some(total);
                return response;
            }
            return Response::new(200, binary, contents.slice(0, total))
                .with("Accept-Ranges", "bytes");
        };
        match parse_range(range, total) {
            Some((start, end)) => Response::new(206, binary, contents.slice(start, end))
                .with("Accept-Ranges", "bytes")
                .with("Content-Range", format!("bytes {start}-{}/{total}", end - 1)),
            None => Response::plain(416, "").with("Content-Range", format!("bytes */{total}")),
        }
    }
}

/// The bytes of a file, not all of them in memory.
enum Contents {
    Wheel(crate::virtual_wheel::VirtualWheel),
    Bytes(Vec<u8>),
}

impl Contents {
    fn len(&self) -> u64 {
        match self {
            Self::Wheel(wheel) => wheel.len(),
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    fn slice(&self, start: u64, end: u64) -> Vec<u8> {
        match self {
            Self::Wheel(wheel) => wheel.slice(start, end),
            Self::Bytes(bytes) => {
                let at = |n: u64| usize::try_from(n).unwrap_or(usize::MAX).min(bytes.len());
                bytes.get(at(start)..at(end)).unwrap_or_default().to_vec()
            }
        }
    }
}

fn contents(file: &File) -> Option<Contents> {
    match &file.body {
        Body::Wheel => Some(Contents::Wheel(file.wheel())),
        Body::Bytes(bytes) => Some(Contents::Bytes(bytes.clone())),
        Body::Absent => None,
    }
}

/// `bytes=A-B`, `bytes=A-` and `bytes=-N` as a half-open range inside `total`.
fn parse_range(text: &str, total: u64) -> Option<(u64, u64)> {
    let (from, to) = text.strip_prefix("bytes=")?.trim().split_once('-')?;
    let (start, end) = match (from.parse::<u64>().ok(), to.parse::<u64>().ok()) {
        (Some(start), Some(last)) => (start, last.saturating_add(1).min(total)),
        (Some(start), None) if to.is_empty() => (start, total),
        (None, Some(count)) if from.is_empty() && count > 0 => (total.saturating_sub(count), total),
        _ => return None,
    };
    (start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::parse_range;

    #[test]
    fn ranges_are_half_open_inside_the_file() {
        assert_eq!(parse_range("bytes=0-9", 100), Some((0, 10)));
        assert_eq!(parse_range("bytes=90-", 100), Some((90, 100)));
        assert_eq!(parse_range("bytes=-10", 100), Some((90, 100)));
        assert_eq!(parse_range("bytes=-1000", 100), Some((0, 100)));
        assert_eq!(parse_range("bytes=50-1000", 100), Some((50, 100)));
        for bad in ["bytes=100-", "bytes=9-3", "bytes=-0", "bytes=-", "lines=1-2", "bytes=a-b"] {
            assert_eq!(parse_range(bad, 100), None, "{bad}");
        }
    }
}
