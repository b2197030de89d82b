//! The command line.

mod audit;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use audit::{Audit, AuditFormat};

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
    /// Judge files that exist already: would what they install run on that machine?
    Audit(Box<Audit>),
}

/// `cuda-lock resolve`.
#[derive(Debug, Args)]
pub struct Resolve {
    /// The environment and its machine.
    #[arg(default_value = "env.toml", value_name = "ENV_TOML")]
    pub manifest: PathBuf,
    /// Solve only this target of env.toml.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Check that the lock and requirements.txt are up to date; write nothing.
    #[arg(long, conflicts_with_all = ["upgrade", "upgrade_package", "dry_run"])]
    pub check: bool,
    /// Choose anew instead of keeping the versions of the existing lock.
    #[arg(short = 'U', long)]
    pub upgrade: bool,
    /// Choose only this distribution anew; can be repeated.
    #[arg(short = 'P', long, value_name = "NAME")]
    pub upgrade_package: Vec<String>,
    /// Print the answer; write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Ignore files uploaded after this date or time; overrides env.toml.
    #[arg(long, value_name = "DATE")]
    pub exclude_newer: Option<String>,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
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

/// Flags of every command that reads indexes.
#[derive(Debug, Args)]
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

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}
