//! What a run of the fetcher is told: sources, cache, network limits, credentials.

use std::path::PathBuf;
use std::time::Duration;

use cuda_lock_constraint::catalog::Metadata;
use cuda_lock_constraint::matrix::rows::indexes::Format;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::secret::SecretUrl;
use cuda_lock_constraint::version::SourceId;
use pep440_rs::Version;
use url::Url;

/// Everything the fetcher is told. [`FetcherConfig::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct FetcherConfig {
    /// The indexes of this run. Several may be on one host.
    pub sources: Vec<SourceConfig>,
    /// Where the cache lies; unset: [`default_dir`](crate::cache::default_dir).
    pub cache_dir: Option<PathBuf>,
    /// True to neither read nor write the cache.
    pub no_cache: bool,
    /// How far the cache is trusted.
    pub mode: Mode,
    /// Credentials beside those in the URLs of sources and in netrc; they win over netrc.
    pub credentials: Vec<Credentials>,
    /// The netrc file; unset: none is read.
    pub netrc: Option<PathBuf>,
    /// A PEM file with the certificate authorities to trust instead of the system's; unset: the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Requests in flight at the same time.
    pub concurrency: usize,
    /// Time limits and repetitions.
    pub patience: Patience,
    /// The largest file, in bytes, that is downloaded whole just to read its METADATA.
    pub max_download: u64,
    /// METADATA that the user states, instead of what a file says.
    pub overrides: Vec<StaticMetadata>,
    /// Commits that an earlier lock has, which stay.
    pub commits: Vec<KnownCommit>,
}

impl FetcherConfig {
    /// Defaults for these sources, nothing taken from the environment.
    #[must_use]
    pub fn new(sources: Vec<SourceConfig>) -> Self {
        Self {
            sources,
            cache_dir: None,
            no_cache: false,
            mode: Mode::Online,
            credentials: Vec::new(),
            netrc: None,
            ca_bundle: None,
            concurrency: 50,
            patience: Patience::default(),
            max_download: 100 * 1024 * 1024,
            overrides: Vec::new(),
            commits: Vec::new(),
        }
    }

    /// Takes what the environment says where nothing is set yet: `CUDA_LOCK_CACHE_DIR`, `SSL_CERT_FILE`, and `NETRC` or
    /// the `.netrc` of the home folder. Proxies (`HTTPS_PROXY`, `NO_PROXY` ...) are always taken from the environment.
    #[must_use]
    pub fn with_environment(mut self) -> Self {
        let path = |key| std::env::var_os(key).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.cache_dir = self.cache_dir.or_else(|| path("CUDA_LOCK_CACHE_DIR"));
        self.ca_bundle = self.ca_bundle.or_else(|| path("SSL_CERT_FILE"));
        self.netrc = self.netrc.or_else(|| path("NETRC")).or_else(|| {
            let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
            etcetera::home_dir().ok().map(|home| home.join(name))
        });
        self
    }
}

/// A repository as an earlier lock has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCommit {
    /// Its address, without credentials.
    pub url: String,
    /// The branch, tag or commit that was asked for.
    pub requested: Option<String>,
    /// The commit that it was.
    pub commit: String,
}

/// One index.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// Its place among the sources.
    pub id: SourceId,
    /// What people call it, for messages.
    pub name: String,
    /// Its root: `https://…`, `http://…` or `file://…`, with or without a secret.
    pub url: SecretUrl,
    /// How it lists files.
    pub format: SourceFormat,
    /// True when 403 means "this project is not here", as object stores without the right to list answer (the PyTorch
    /// indexes do). Elsewhere 403 is an error.
    pub forbidden_means_absent: bool,
}

/// How an index lists files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// The simple repository API (PEP 503, PEP 691): one page per project.
    Simple,
    /// One page, or local folder, with the files of all projects.
    Flat,
}

impl From<Format> for SourceFormat {
    /// JSON and HTML are two forms of the simple API, told apart when a page arrives.
    fn from(format: Format) -> Self {
        match format {
            Format::Flat => Self::Flat,
            Format::Json | Format::Html => Self::Simple,
        }
    }
}

/// How far the cache is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Entries are used while HTTP calls them fresh, then the server is asked whether they still hold.
    #[default]
    Online,
    /// Entries are used however old they are, and nothing is asked of the network.
    Offline,
    /// Every page that is used is confirmed by the server once in this run.
    Refresh,
}

/// A user and password for everything below a URL.
#[derive(Clone)]
pub struct Credentials {
    /// Scheme, host, port and path below which they hold.
    pub url: Url,
    /// User name.
    pub username: String,
    /// Password or token.
    pub password: Option<String>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Credentials for {}", crate::net::shown(&self.url))
    }
}

/// Time limits and repetitions of requests.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a connection to come about.
    pub connect: Duration,
    /// Between two pieces of an answer, and for its head to come.
    pub read: Duration,
    /// For a request with all its repetitions: none is begun after that.
    pub whole: Duration,
    /// The slowest pace of a body, in bytes a second, averaged from its beginning; the first `read` seconds are free.
    pub pace: u64,
    /// How often a request that failed for a reason that may pass is repeated.
    pub retries: u32,
    /// The pause before the first repetition; each further one is three times as long.
    pub pause: Duration,
    /// The longest pause that a server may ask for with `Retry-After`.
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            read: Duration::from_secs(30),
            whole: Duration::from_secs(25),
            pace: 4 << 10,
            retries: 3,
            pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(30),
        }
    }
}

/// METADATA as the user states it (`[metadata.NAME]`), for releases whose own cannot be read without a build.
#[derive(Clone, Debug)]
pub struct StaticMetadata {
    /// The project.
    pub name: Name,
    /// The one version this holds for; unset: every version.
    pub version: Option<Version>,
    /// What holds.
    pub metadata: Metadata,
}
