//! What the benchmarks of the parts work on: the recorded index of the tests, served on loopback, and problems over it.
//!
//! `cargo bench -p cuda-lock-benches` runs them all. Whole runs beside other tools are compared by `compare.py`, growth
//! with the size of the problem is measured by `growth.py`; what they gave is in `docs/performance.md`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::machine::{Machine, Platform};
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::solve::{Problem, Solution, Source, SourceKind, solve};
use cuda_lock_constraint::target::Target;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Fetcher, FetcherConfig, Mode, Silent, SourceConfig, SourceFormat};
use cuda_lock_formats::problem::{Header, ProblemFile, Recording, Replay};
use cuda_lock_testing::{Index, Server};
use tempfile::TempDir;

/// The index on a port of its own, and a cache folder.
pub struct Recorded {
    server: Server,
    cache: TempDir,
}

impl Default for Recorded {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorded {
    /// Starts the server.
    ///
    /// # Panics
    /// When there is no free port, or no temporary folder.
    #[must_use]
    pub fn new() -> Self {
        let recording = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../tests/recordings/index-2026-11-30.json.gz");
        let server = Index::from_recording(&recording).serve();
        let cache = TempDir::new().expect("a temporary folder can be made");
        Self { server, cache }
    }

    /// The address of the index.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The body of a page, asked for with this `Accept`.
    ///
    /// # Panics
    /// When the server does not answer.
    #[must_use]
    pub fn page(&self, project: &str, accept: &str) -> Vec<u8> {
        let url = self.server.at("");
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).expect("the server listens");
        let request = format!(
            "GET /simple/{project}/ HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("the server reads");
        let head_end = b"\r\n\r\n";
        let mut answer = Vec::new();
        let mut buffer = [0; 1 << 16];
        loop {
            let count = stream.read(&mut buffer).expect("the server answers");
            answer.extend(buffer.iter().take(count));
            let head = answer.windows(4).position(|window| window == head_end);
            let Some(head) = head else { continue };
            let length = String::from_utf8_lossy(&answer[..head]);
            let length = length.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            });
            let length: usize = length.expect("the answer has a length");
            if answer.len() >= head + 4 + length {
                return answer.split_off(head + 4);
            }
            assert!(count > 0, "the answer ended early");
        }
    }

    /// A fetcher over the cache folder.
    ///
    /// # Panics
    /// Never: the address of the server can be fetched.
    #[must_use]
    pub fn fetcher(&self, mode: Mode) -> Arc<Fetcher> {
        let source = SourceConfig {
            id: SourceId(0),
            name: "recorded".to_owned(),
            url: self.url().parse::<url::Url>().expect("an address").into(),
            format: SourceFormat::Simple,
            forbidden_means_absent: false,
        };
        let mut config = FetcherConfig::new(vec![source]);
        config.cache_dir = Some(self.cache.path().to_owned());
        config.mode = mode;
        Arc::new(Fetcher::new(config, Arc::new(Silent)).expect("the address can be fetched"))
    }

    /// Solves `problem` once over the network, which fills the cache, and keeps every answer in memory.
    ///
    /// # Panics
    /// When there is no answer.
    #[must_use]
    pub fn replay(&self, problem: &Arc<Problem>) -> Arc<dyn Catalog> {
        let recording = Arc::new(Recording::default());
        let names = vec!["recorded".to_owned()];
        let catalog = recording.of(self.fetcher(Mode::Online), names.clone());
        let _ = answer(problem, catalog);
        let header = Header::new("", "");
        Replay::new(&ProblemFile::new(header, &recording)).of(names)
    }
}

/// The answer of a problem that has one.
///
/// # Panics
/// When it has none.
#[must_use]
pub fn answer(problem: &Arc<Problem>, catalog: Arc<dyn Catalog>) -> Solution {
    match solve(Arc::clone(problem), catalog) {
        Ok(solution) => solution,
        Err(error) => panic!("{error}"),
    }
}

/// A problem on Linux with Python 3.11 and a recent GPU and driver.
///
/// # Panics
/// When a requirement cannot be read.
#[must_use]
pub fn problem(requirements: &[&str]) -> Arc<Problem> {
    let platform = Platform::LinuxX86_64;
    let machine = Machine {
        driver: Some("580.95.05".parse().expect("a driver")),
        gpus: find_gpu("RTX 3090").ok().map(|gpu| vec![gpu]),
        ..Machine::new(platform)
    };
    let read = |text: &&str| Arc::new(text.parse::<Requirement>().expect("a requirement"));
    let source = Source {
        id: SourceId(0),
        name: "recorded".to_owned(),
        kind: SourceKind::PyPi,
        only: None,
        explicit: false,
        plain_linux: false,
    };
    let target = Target::new(platform, &"3.11".parse().expect("a version"));
    Arc::new(Problem::new(target, machine, requirements.iter().map(read).collect(), vec![source]))
}

/// What most people of this program start from.
pub const TRAIN: &[&str] =
    &["torch", "torchvision", "torchaudio", "onnx", "onnxruntime-gpu", "numpy"];
/// The same with the Hugging Face stack on top.
pub const LANGUAGE_MODELS: &[&str] =
    &["torch==2.6.0", "transformers", "accelerate", "datasets", "onnxruntime-gpu"];
