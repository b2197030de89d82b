//! What a command line can ask for, typed. The defaults are those of a command line without flags.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use cuda_lock_fetcher::{FetcherConfig, Mode};
use cuda_lock_formats::manifest::{BuildName, ExcludeNewer};

/// An env.toml, and what is asked of it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The file.
    pub manifest: PathBuf,
    /// Which of its targets.
    pub targets: Targets,
    /// Which pins of the locks beside it may move.
    pub upgrade: Upgrade,
    /// Files uploaded later are ignored; goes before env.toml.
    pub exclude_newer: Option<ExcludeNewer>,
    /// Source distributions whose metadata may be built, beside those that env.toml names.
    pub build: Vec<BuildName>,
    /// Wheels whose index publishes no digest are downloaded to learn it.
    pub hash_missing: bool,
    /// What the indexes say is noted, so that the run can be saved to a file.
    pub noted: bool,
    /// Cache and network.
    pub network: Network,
}

impl Request {
    /// All targets of an env.toml.
    #[must_use]
    pub fn new(manifest: impl Into<PathBuf>) -> Self {
        Self {
            manifest: manifest.into(),
            targets: Targets::All,
            upgrade: Upgrade::default(),
            exclude_newer: None,
            build: Vec::new(),
            hash_missing: false,
            noted: false,
            network: Network::default(),
        }
    }
}

/// Targets of an env.toml.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// Every one.
    All,
    /// The one that is named, or the only one.
    One(Option<String>),
}

/// Which pins of an existing lock may move. Without any, a pin stays while it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upgrade {
    /// All of them.
    pub all: bool,
    /// Those of these distributions, each `name` or `name==version`.
    pub packages: Vec<String>,
    /// Those of the CUDA stack.
    pub stack: bool,
    /// How far they may move.
    pub within: Option<Within>,
}

/// How far a pin may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The first number of the version stays.
    Major,
    /// The first two numbers stay.
    Minor,
}

impl Within {
    /// The word on a command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Within {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Major, Self::Minor]
            .into_iter()
            .find(|within| within.as_str() == text)
            .ok_or_else(|| format!("'{text}' is neither major nor minor"))
    }
}

/// How indexes are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// Only the cache is read.
    pub offline: bool,
    /// Every page in the cache is asked for again.
    pub refresh: bool,
    /// The cache is neither read nor written.
    pub no_cache: bool,
    /// Another folder for the cache than the user's.
    pub cache_dir: Option<PathBuf>,
}

impl Network {
    /// Tells a fetcher.
    pub fn apply(&self, config: &mut FetcherConfig) {
        config.cache_dir.clone_from(&self.cache_dir);
        config.no_cache = self.no_cache;
        config.mode = match (self.offline, self.refresh) {
            (true, _) => Mode::Offline,
            (false, true) => Mode::Refresh,
            (false, false) => Mode::Online,
        };
    }
}
