//! The maintainers' tool: derives rows of `matrices/wheels.toml` from wheels, checks them, and says what is new.
//!
//! A wheel says more than its METADATA: which libraries its shared objects need, which GPUs they have code for, and with which
//! releases of torch they load. People's runs never download wheels for that; this tool does, once for each release.

mod coverage;
mod derive;
mod elf;
mod error;
mod exports;
mod extension;
mod fatbin;
mod index;
mod remote;
mod row;
mod torch_symbols;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cuda_lock_constraint::name::Name;
use pep440_rs::{Version, VersionSpecifiers};

use crate::coverage::Uncovered;
use crate::error::Error;
use crate::exports::Exports;
use crate::index::{Index, Wanted, Wheel};
use crate::row::{File, Row};

/// Derives facts from wheels.
#[derive(Parser)]
#[command(name = "cuda-lock-facts", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// The index to read instead of PyPI.
    #[arg(long, global = true)]
    index: Option<String>,
    /// The folder of the matrices.
    #[arg(long, global = true, default_value = "matrices")]
    matrices: PathBuf,
    /// The file with what each release of torch exports.
    #[arg(long, global = true, default_value = "crates/facts/data/torch-exports.bin")]
    exports: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Read wheels and write their rows.
    Derive {
        /// Projects, each with the releases to read: `torchcodec`, `torchcodec>=0.7`, `dgl==2.1.0`.
        #[arg(required = true)]
        projects: Vec<String>,
        /// Only the newest release of each minor version.
        #[arg(long)]
        minors: bool,
        /// Only releases uploaded on this day or later: `2024-06-01`.
        #[arg(long)]
        since: Option<jiff::civil::Date>,
        /// Leave out releases that a row covers already.
        #[arg(long)]
        missing: bool,
        /// Print the rows instead of writing them.
        #[arg(long)]
        dry_run: bool,
    },
    /// Read releases of torch and keep what they export.
    Torch {
        /// Which, as PEP 440 specifiers.
        releases: String,
    },
    /// Derive rows again and fail where one disagrees.
    Check {
        /// How many wheels, spread over all rows; all of them when left out.
        #[arg(long)]
        sample: Option<usize>,
    },
    /// Print which projects and releases have rows, as Markdown.
    Coverage {
        /// The projects without rows, with the reasons.
        #[arg(long, default_value = "crates/facts/data/uncovered.toml")]
        uncovered: PathBuf,
    },
    /// List releases that no row covers.
    News {
        /// Only these projects; all that have rows when left out.
        projects: Vec<Name>,
    },
}

/// The platform that rows are derived for: extensions of torch take the same symbols on all of them, and code for GPUs is
/// compiled with the same list of targets.
const PLATFORM: &str = "linux-x86_64";
const WANTED: Wanted = Wanted { system: "manylinux", processor: "x86_64", python: 311 };

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// What a command runs with.
struct Tool<'a> {
    index: Index,
    exports: Exports,
    exports_path: &'a Path,
    rows: File,
    rows_path: PathBuf,
}

fn run(cli: &Cli) -> Result<bool, Error> {
    let rows_path = cli.matrices.join("wheels.toml");
    let mut tool = Tool {
        index: Index::new(cli.index.as_deref())?,
        exports: Exports::load(&cli.exports)?,
        exports_path: &cli.exports,
        rows: File::load(&rows_path)?,
        rows_path,
    };
    match &cli.command {
        Command::Derive { projects, minors, since, missing, dry_run } => {
            let choice = Choice { minors: *minors, since: *since, missing: *missing };
            tool.derive(projects, &choice, *dry_run)
        }
        Command::Torch { releases } => tool.torch(releases),
        Command::Check { sample } => tool.check(*sample),
        Command::Coverage { uncovered } => {
            let uncovered = Uncovered::load(uncovered)?;
            anstream::print!("{}", coverage::markdown(&tool.rows, &uncovered));
            Ok(true)
        }
        Command::News { projects } => tool.news(projects),
    }
}

/// Which releases of a project are read.
struct Choice {
    minors: bool,
    since: Option<jiff::civil::Date>,
    missing: bool,
}

impl Choice {
    /// What is left of `wheels`, which are ascending.
    fn apply(&self, wheels: &mut Vec<Wheel>, covered: &[Version]) {
        if let Some(since) = self.since {
            let day = |wheel: &Wheel| {
                wheel.file.upload_time.map(|time| jiff::tz::Offset::UTC.to_datetime(time).date())
            };
            wheels.retain(|wheel| day(wheel).is_none_or(|day| day >= since));
        }
        if self.minors {
            let minor = |wheel: &Wheel| {
                wheel.version.release().iter().take(2).copied().collect::<Vec<u64>>()
            };
            let last =
                |n: usize| wheels.get(n + 1).is_none_or(|next| minor(next) != minor(&wheels[n]));
            let keep: Vec<bool> = (0..wheels.len()).map(last).collect();
            let mut keep = keep.into_iter();
            wheels.retain(|_| keep.next().unwrap_or(false));
        }
        if self.missing {
            wheels.retain(|wheel| !covered.contains(&wheel.version));
        }
    }
}

impl Tool<'_> {
    fn derive(
        &mut self,
        projects: &[String],
        choice: &Choice,
        dry_run: bool,
    ) -> Result<bool, Error> {
        let mut complete = true;
        for project in projects {
            let (name, wanted) = split(project)?;
            let mut wheels = match self.index.wheels(name, &WANTED) {
                Ok(wheels) => wheels,
                Err(error) => {
                    anstream::eprintln!("{name}: {error}");
                    complete = false;
                    continue;
                }
            };
            wheels.retain(|wheel| wanted.contains(&wheel.version));
            let nothing = wheels.is_empty();
            choice.apply(&mut wheels, &self.covered(name));
            if nothing {
                anstream::eprintln!("{}", Error::NoRelease(project.clone()));
                complete = false;
            }
            let mut rows = Vec::new();
            for wheel in &wheels {
                match derive::row(&self.index, name, PLATFORM, wheel, &self.exports) {
                    Ok((row, unread)) => {
                        for problem in unread {
                            anstream::eprintln!("{}: {problem}", wheel.file.filename);
                            complete = false;
                        }
                        anstream::println!("{}", summary(&row));
                        rows.push(row);
                    }
                    Err(error) => {
                        anstream::eprintln!("{}: {error}", wheel.file.filename);
                        complete = false;
                    }
                }
            }
            // After each project, so that what was read is kept when the network goes away.
            self.rows.replace(rows);
            if !dry_run {
                self.rows.save(&self.rows_path)?;
            }
        }
        Ok(complete)
    }

    /// The releases of a project that rows cover.
    fn covered(&self, name: Name) -> Vec<Version> {
        let rows = self.rows.wheel.iter().filter(|row| row.name == name.as_str());
        rows.flat_map(single).map(|(_, version)| version).collect()
    }

    fn torch(&mut self, releases: &str) -> Result<bool, Error> {
        let wanted: VersionSpecifiers =
            releases.parse().map_err(|error| Error::Malformed(format!("{releases}: {error}")))?;
        let name = Name::new("torch").map_err(|error| Error::Malformed(error.to_string()))?;
        let wheels = self.index.wheels(name, &WANTED)?;
        for wheel in wheels.iter().filter(|wheel| wanted.contains(&wheel.version)) {
            let symbols = derive::torch(&self.index, wheel, &mut self.exports)?;
            self.exports.save(self.exports_path)?;
            anstream::println!("torch {}: {symbols} symbols", wheel.version);
        }
        Ok(true)
    }

    fn check(&mut self, sample: Option<usize>) -> Result<bool, Error> {
        let all: Vec<(Row, Version)> = self.rows.wheel.iter().flat_map(single).collect();
        let step = sample.map_or(1, |sample| (all.len() / sample.max(1)).max(1));
        let mut agrees = true;
        for (kept, version) in all.iter().step_by(step) {
            let name =
                Name::new(&kept.name).map_err(|error| Error::Malformed(error.to_string()))?;
            let wheels = self.index.wheels(name, &WANTED)?;
            let Some(wheel) = wheels.iter().find(|wheel| wheel.version == *version) else {
                anstream::println!("{name} {version}: no longer on the index");
                continue;
            };
            let (row, _) = derive::row(&self.index, name, PLATFORM, wheel, &self.exports)?;
            let stated = kept.source.contains(&wheel.source());
            if row::says_the_same(&row, kept) && stated {
                anstream::println!("{name} {version}: agrees");
            } else {
                agrees = false;
                anstream::println!(
                    "{name} {version}: disagrees\n  matrix: {}\n  wheel:  {}",
                    summary(kept),
                    summary(&row)
                );
                if !stated {
                    anstream::println!("  the matrix does not name {}", wheel.source());
                }
            }
        }
        Ok(agrees)
    }

    fn news(&self, projects: &[Name]) -> Result<bool, Error> {
        let mut names = projects.to_vec();
        if names.is_empty() {
            names = self.rows.wheel.iter().filter_map(|row| Name::new(&row.name).ok()).collect();
            names.dedup();
        }
        let mut nothing = true;
        for name in names {
            let covered: Vec<Version> = self
                .rows
                .wheel
                .iter()
                .filter(|row| row.name == name.as_str())
                .flat_map(single)
                .map(|(_, v)| v)
                .collect();
            let wheels: Vec<Wheel> = self.index.wheels(name, &WANTED)?;
            let newest = covered.iter().max();
            let new =
                wheels.iter().filter(|wheel| newest.is_none_or(|newest| wheel.version > *newest));
            let new: Vec<String> = new.map(|wheel| wheel.version.to_string()).collect();
            if !new.is_empty() {
                nothing = false;
                anstream::println!("{name}: {}", new.join(", "));
            }
        }
        Ok(nothing)
    }
}

/// A row for each release that a row was joined from: its wheels are named by release.
fn single(row: &Row) -> Vec<(Row, Version)> {
    let versions = row::wheels(row).filter_map(|(file, _)| file.split('-').nth(1)?.parse().ok());
    versions.map(|version| (row.clone(), version)).collect()
}

/// `torchcodec>=0.7` as a name and the releases of it.
fn split(text: &str) -> Result<(Name, VersionSpecifiers), Error> {
    let end = text.find(|c: char| "<>=!~".contains(c)).unwrap_or(text.len());
    let (name, specifiers) = text.split_at(end);
    let bad = |error: &dyn std::fmt::Display| Error::Malformed(format!("{text}: {error}"));
    let name = Name::new(name.trim()).map_err(|error| bad(&error))?;
    Ok((name, specifiers.parse().map_err(|error| bad(&error))?))
}

fn summary(row: &Row) -> String {
    let list = |title: &str, items: &[String]| {
        if items.is_empty() { String::new() } else { format!("; {title} {}", items.join(" ")) }
    };
    let torch = row.torch.as_ref().map_or_else(String::new, |torch| {
        format!("; torch {torch}{}", if row.stable_abi { " (stable ABI)" } else { "" })
    });
    format!(
        "{} {}{torch}{}{}{}{}",
        row.name,
        row.from,
        list("lacks", &row.lacks),
        list("needs", &row.needs),
        list("cubins", &row.cubins),
        list("PTX", &row.ptx)
    )
}
