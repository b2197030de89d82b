//! The arguments of `cuda-lock audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Network;

/// `cuda-lock audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Files to judge, of any kind that is known; `-` is standard input.
    #[arg(value_name = "FILE", required_unless_present_any = ["explain", "site_packages"])]
    pub files: Vec<PathBuf>,
    /// Judge what is installed in this folder; can be repeated.
    #[arg(long, value_name = "DIR")]
    pub site_packages: Vec<PathBuf>,
    /// Print what is documented about a code, and stop.
    #[arg(long, value_name = "CODE", exclusive = true)]
    pub explain: Option<String>,
    /// Rewrite the pins of the files so that no error is left, as far as that was solved; only the lines that must change.
    #[arg(long, conflicts_with = "diff", help_heading = "Fixes")]
    pub fix: bool,
    /// Print what --fix would change as a unified diff; write nothing.
    #[arg(long, help_heading = "Fixes")]
    pub diff: bool,
    /// Do not look for fixes by solving.
    #[arg(long, conflicts_with_all = ["fix", "diff"], help_heading = "Fixes")]
    pub no_solve: bool,
    /// The machine of an env.toml; a target follows a colon: env.toml:edge. Or: auto, this machine.
    #[arg(long, value_name = "ENV_TOML[:TARGET]|auto", help_heading = "Machine")]
    pub machine: Option<String>,
    /// The NVIDIA driver: 535.104.05, or 535.x for any of the branch.
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    pub driver: Option<String>,
    /// A GPU by name or compute capability; can be repeated.
    #[arg(long, value_name = "GPU", help_heading = "Machine")]
    pub gpu: Vec<String>,
    /// The Python that the packages are installed into.
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    pub python: Option<String>,
    /// linux-x86_64, linux-aarch64, windows-x86_64 or macos-arm64.
    #[arg(long, value_name = "PLATFORM", help_heading = "Machine")]
    pub platform: Option<String>,
    /// The C library of the machine.
    #[arg(long, value_name = "VERSION", help_heading = "Machine")]
    pub glibc: Option<String>,
    /// The nvidia/cuda image that everything runs in.
    #[arg(long, value_name = "IMAGE", help_heading = "Machine")]
    pub image: Option<String>,
    /// The ONNX model: opset=17, ir=9.
    #[arg(long, value_name = "KEY=NUMBER", help_heading = "Machine")]
    pub model: Vec<String>,
    /// How to print the findings.
    #[arg(long, value_enum, default_value_t = AuditFormat::Text)]
    pub format: AuditFormat,
    /// Count findings of this code as errors; can be repeated.
    #[arg(long, value_name = "CODE", help_heading = "Findings")]
    pub deny: Vec<String>,
    /// Count findings of this code as warnings; can be repeated.
    #[arg(long, value_name = "CODE", help_heading = "Findings")]
    pub warn: Vec<String>,
    /// Hide findings of this code; can be repeated.
    #[arg(long, value_name = "CODE", help_heading = "Findings")]
    pub allow: Vec<String>,
    /// The index that stands for PyPI, such as a mirror.
    #[arg(long, value_name = "URL", help_heading = "Network and cache")]
    pub default_index: Option<String>,
    /// Ask no other index than these, by name (pypi, pytorch-cu128); can be repeated.
    #[arg(long, value_name = "NAME", help_heading = "Network and cache")]
    pub only_index: Vec<String>,
    /// Indexes, cache and network.
    #[command(flatten)]
    pub network: Network,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A table for a pull request.
    Markdown,
}
