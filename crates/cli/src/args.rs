//! The command line.

mod audit;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use cuda_lock_commands::{Failure, request};

pub use audit::{Audit, AuditFormat};
use cuda_lock_formats::manifest::BuildName;

/// Locks Python environments that will load and run on the GPU machine you name.
#[derive(Debug, Parser)]
#[command(name = "cuda-lock", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve env.toml and write pylock.toml and requirements.txt beside it.
    Resolve(Resolve),
    /// Say what moved between two locks, the CUDA stack first.
    Diff(Diff),
    /// Say why a package, or a layer of the machine, is what it is, and why it is not newer.
    Explain(Explain),
    /// Look after the cache folder.
    #[command(subcommand)]
    Cache(Cache),
    /// Check an installed environment: versions as locked, libraries that load, the GPU in use.
    Verify(Verify),
    /// Judge files that exist already: would what they install run on that machine?
    Audit(Box<Audit>),
    /// Print this machine as the `[machine]` of an env.toml.
    Probe,
}

impl Command {
    /// Whether a program waits for a JSON document.
    #[must_use]
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Resolve(args) => args.format == Format::Json,
            Self::Explain(args) => args.format == Format::Json,
            Self::Diff(args) => args.format == DiffFormat::Json,
            Self::Verify(args) => args.format == Format::Json,
            Self::Audit(args) => args.format == AuditFormat::Json,
            Self::Cache(_) | Self::Probe => false,
        }
    }
}

/// `cuda-lock resolve`.
#[derive(Clone, Debug, Args)]
pub struct Resolve {
    /// The environment and its machine.
    #[arg(default_value = "env.toml", value_name = "ENV_TOML")]
    pub manifest: PathBuf,
    /// Solve only this target of env.toml.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Check that the lock and requirements.txt are up to date; write nothing.
    #[arg(long, conflicts_with_all = ["moving", "dry_run"])]
    pub check: bool,
    /// Which pins of the existing lock may move.
    #[command(flatten)]
    pub upgrade: Upgrade,
    /// Print the answer; write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Download wheels whose index publishes no digest, once, to learn their digests.
    #[arg(long)]
    pub hash_missing: bool,
    /// Let the metadata of this source distribution be built by uv or pip, which runs its code; `:all:` for every one. Can
    /// be repeated.
    #[arg(long, value_name = "NAME|:all:")]
    pub build: Vec<BuildName>,
    /// Ignore files uploaded after this date or time; overrides env.toml.
    #[arg(long, value_name = "DATE")]
    pub exclude_newer: Option<String>,
    /// Also write all that this solve depends on, without credentials, to one file: for a bug report, or a test.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "hash_missing"])]
    pub save_problem: Option<PathBuf>,
    /// Solve what such a file holds, without a network; write nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "manifest", "target", "check", "moving", "within", "exclude_newer", "hash_missing", "save_problem",
    ])]
    pub problem: Option<PathBuf>,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Say how much work the run was: versions decided, requests, bytes.
    #[arg(long)]
    pub stats: bool,
    /// Show the whole proof when there is no solution.
    #[arg(short, long)]
    pub verbose: bool,
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Indexes, cache and network.
    #[command(flatten)]
    pub network: Network,
}

impl Resolve {
    /// What it asks for.
    ///
    /// # Errors
    /// When a date cannot be read.
    pub fn request(&self) -> Result<request::Request, Failure> {
        let exclude_newer = self.exclude_newer.as_ref().map(|text| text.parse()).transpose();
        Ok(request::Request {
            targets: match &self.target {
                Some(name) => request::Targets::One(Some(name.clone())),
                None => request::Targets::All,
            },
            upgrade: self.upgrade.typed(),
            exclude_newer: exclude_newer
                .map_err(|error| Failure::argument(format!("--exclude-newer: {error}")))?,
            build: self.build.clone(),
            hash_missing: self.hash_missing,
            noted: self.save_problem.is_some(),
            network: self.network.typed(),
            ..request::Request::new(&self.manifest)
        })
    }
}

/// `cuda-lock explain`.
#[derive(Clone, Debug, Args)]
pub struct Explain {
    /// A distribution, or one of: driver, gpu, cuda, cudnn, python.
    pub name: String,
    /// The environment and its machine.
    #[arg(default_value = "env.toml", value_name = "ENV_TOML")]
    pub manifest: PathBuf,
    /// The target of env.toml, when it has several.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// How to print the explanation.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Indexes, cache and network.
    #[command(flatten)]
    pub network: Network,
}

/// Flags that let pins of the existing lock move. Without any, a pin stays while it holds.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Upgrades",
    group = ArgGroup::new("moving").multiple(true).args(["upgrade", "upgrade_package", "upgrade_stack"])
)]
pub struct Upgrade {
    /// Choose everything anew instead of keeping the versions of the existing lock.
    #[arg(short = 'U', long)]
    pub upgrade: bool,
    /// Choose this distribution anew, if given within these versions; can be repeated.
    #[arg(short = 'P', long, value_name = "NAME[==V]")]
    pub upgrade_package: Vec<String>,
    /// Choose the CUDA stack anew and keep the rest: torch and its companions, ONNX Runtime, NVIDIA's libraries.
    #[arg(long)]
    pub upgrade_stack: bool,
    /// Let versions move only within their present minor (2.4.x) or major (2.x) series.
    #[arg(long, value_enum, requires = "moving", value_name = "SERIES")]
    pub within: Option<Within>,
}

impl Upgrade {
    fn typed(&self) -> request::Upgrade {
        request::Upgrade {
            all: self.upgrade,
            packages: self.upgrade_package.clone(),
            stack: self.upgrade_stack,
            within: self.within.map(|within| match within {
                Within::Major => request::Within::Major,
                Within::Minor => request::Within::Minor,
            }),
        }
    }
}

/// How far a pin may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Within {
    /// The first number of the version stays.
    Major,
    /// The first two numbers stay.
    Minor,
}

/// `cuda-lock diff`.
#[derive(Clone, Debug, Args)]
pub struct Diff {
    /// Two locks, each a file or REVISION:FILE of git. With --git: the files to look at, else every pylock*.toml here.
    #[arg(value_name = "LOCK", required_unless_present = "git")]
    pub locks: Vec<String>,
    /// Compare the locks of this git revision with those in the working tree.
    #[arg(long, value_name = "REVISION")]
    pub git: Option<String>,
    /// How to print the difference.
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub format: DiffFormat,
    /// Exit with 1 when the minimum driver rose or a GPU lost its cover.
    #[arg(long)]
    pub deny_regressions: bool,
}

/// How a difference is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Text,
    /// For a pull request.
    Markdown,
    /// For programs.
    Json,
}

/// `cuda-lock verify`.
#[derive(Clone, Debug, Args)]
pub struct Verify {
    /// The lock that was installed.
    #[arg(default_value = "pylock.toml", value_name = "LOCK")]
    pub lock: PathBuf,
    /// The Python of the environment.
    #[arg(long, value_name = "PYTHON", default_value = if cfg!(windows) { "python" } else { "python3" })]
    pub python: PathBuf,
    /// Print the checks as a script that runs without cuda-lock, instead of running them.
    #[arg(long, conflicts_with = "format")]
    pub script: bool,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// `cuda-lock cache`.
#[derive(Debug, Subcommand)]
pub enum Cache {
    /// Print the folder.
    Dir(CacheFolder),
    /// Print how many bytes it holds.
    Size(CacheFolder),
    /// Remove what was not written for a while.
    Prune(Prune),
    /// Write the cache as a tar archive, for a machine without a network.
    Export(Archive),
    /// Add what an archive holds.
    Import(Archive),
}

/// Where the cache is.
#[derive(Clone, Debug, Args)]
pub struct CacheFolder {
    /// Another folder than the user's.
    #[arg(long, value_name = "DIR", env = "CUDA_LOCK_CACHE_DIR")]
    pub cache_dir: Option<PathBuf>,
}

/// `cuda-lock cache prune`.
#[derive(Clone, Debug, Args)]
pub struct Prune {
    /// The least age of what is removed: 30d, 12h, 0s.
    #[arg(long, value_name = "AGE", default_value = "30d")]
    pub older_than: String,
    /// Where the cache is.
    #[command(flatten)]
    pub folder: CacheFolder,
}

/// `cuda-lock cache export` and `import`.
#[derive(Clone, Debug, Args)]
pub struct Archive {
    /// The archive; - for standard output or input.
    #[arg(value_name = "FILE")]
    pub archive: PathBuf,
    /// Where the cache is.
    #[command(flatten)]
    pub folder: CacheFolder,
}

/// Flags of every command that reads indexes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Network and cache")]
pub struct Network {
    /// Use only what is in the cache.
    #[arg(long, env = "CUDA_LOCK_OFFLINE", conflicts_with = "refresh")]
    pub offline: bool,
    /// Ask again for every page that is in the cache.
    #[arg(long)]
    pub refresh: bool,
    /// Neither read nor write the cache.
    #[arg(long, conflicts_with_all = ["offline", "cache_dir"])]
    pub no_cache: bool,
    /// Where the cache is.
    #[arg(long, value_name = "DIR", env = "CUDA_LOCK_CACHE_DIR")]
    pub cache_dir: Option<PathBuf>,
}

impl Network {
    /// The same without a command line.
    #[must_use]
    pub fn typed(&self) -> request::Network {
        request::Network {
            offline: self.offline,
            refresh: self.refresh,
            no_cache: self.no_cache,
            cache_dir: self.cache_dir.clone(),
        }
    }
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}
