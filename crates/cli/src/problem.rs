//! Saving a problem to one file, and solving it again from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum as _;
use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::atomic::{Output, write_all};
use cuda_lock_formats::manifest::{self, Manifest};
use cuda_lock_formats::problem::{FORMAT, Header, Model, ProblemFile, Recording, Replay, Upgrade};
use cuda_lock_formats::regular::{self, TEXT_LIMIT};
use serde_spanned::Spanned;

use crate::args::{self, Resolve, Within};
use crate::exit::Exit;
use crate::output::message;
use crate::plan::{Plan, Sources};

/// The most bytes of a problem file: it holds what the indexes said.
const PROBLEM_LIMIT: u64 = 256 << 20;

/// Where the answers of a run come from, and whether they are written down.
pub enum Answers {
    /// The indexes.
    Indexes,
    /// The indexes, and everything they say is noted.
    Noted(Arc<Recording>),
    /// A problem file.
    Saved(Arc<Replay>, Box<Header>),
}

impl Answers {
    /// The answers of a command line that names no problem file.
    #[must_use]
    pub fn of_indexes(noted: bool) -> Self {
        if noted { Self::Noted(Arc::default()) } else { Self::Indexes }
    }

    /// The catalog over `sources`. `open` is called unless a file has all the answers.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn catalog<E>(
        &self,
        sources: &Sources,
        open: impl FnOnce() -> Result<Arc<Fetcher>, E>,
    ) -> Result<Arc<dyn Catalog>, E> {
        let names = || sources.all.iter().map(|known| known.source.name.clone()).collect();
        match self {
            Self::Indexes => Ok(open()?),
            Self::Noted(recording) => Ok(recording.of(open()?, names())),
            Self::Saved(replay, _) => Ok(replay.of(names())),
        }
    }

    /// The text of every lock that is there, by the name of its target, when it is to be written down.
    #[must_use]
    pub fn noted_locks(
        &self,
        plans: &[Plan],
        path: impl Fn(&Plan) -> PathBuf,
    ) -> BTreeMap<String, String> {
        if !matches!(self, Self::Noted(_)) {
            return BTreeMap::new();
        }
        let lock = |plan: &Plan| {
            let text = String::from_utf8(regular::read(&path(plan), TEXT_LIMIT).ok()?).ok()?;
            Some((plan.spec.name.clone().unwrap_or_default(), text))
        };
        plans.iter().filter_map(lock).collect()
    }

    /// The lock of a target, which a file holds or which is at `path`; `None` when there is none.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn lock(&self, target: Option<&str>, path: &Path) -> std::io::Result<Option<Vec<u8>>> {
        match self {
            Self::Saved(_, header) => {
                Ok(header.locks.get(target.unwrap_or_default()).map(|text| text.clone().into()))
            }
            Self::Indexes | Self::Noted(_) => crate::run::bytes_of(path),
        }
    }
}

/// Reads a problem file: the command line it was written for, env.toml, and the answers.
///
/// # Errors
/// When it cannot be used; the reason has been printed.
pub fn read(args: &Resolve, path: &Path) -> Result<(Resolve, Manifest, Answers), Exit> {
    let bytes = regular::read(path, PROBLEM_LIMIT).map_err(|error| {
        message::error(error);
        Exit::BadInput
    })?;
    let name = path.display().to_string();
    let ProblemFile { header, records } =
        ProblemFile::parse(&bytes, &name).map_err(Exit::bad_input)?;
    // Messages speak of env.toml as its owner knows it.
    let mut manifest = Manifest::parse(&header.manifest, "env.toml").map_err(Exit::bad_input)?;
    if let Some(model) = &header.model {
        let number = |value| Some(Spanned::new(0..0, u32::try_from(value).unwrap_or(u32::MAX)));
        manifest.model = Some(manifest::Model {
            opset: number(model.opset),
            ir_version: number(model.ir),
            onnx: None,
        });
    }
    let replay = Replay::new(&ProblemFile { header: header.clone(), records });
    let args = Resolve {
        manifest: "env.toml".into(),
        target: header.target.clone(),
        exclude_newer: header.exclude_newer.clone(),
        upgrade: flags(&header.upgrade),
        dry_run: true,
        problem: None,
        ..args.clone()
    };
    Ok((args, manifest, Answers::Saved(replay, Box::new(header))))
}

/// Writes what `answers` noted, if they did.
///
/// # Errors
/// When the file cannot be written; the reason has been printed.
pub fn save(
    args: &Resolve,
    manifest: &Manifest,
    answers: &Answers,
    (plans, locks): (&[Plan], BTreeMap<String, String>),
) -> Result<(), Exit> {
    let (Some(path), Answers::Noted(recording)) = (&args.save_problem, answers) else {
        return Ok(());
    };
    let read_model = manifest.model.as_ref().is_some_and(|model| model.onnx.is_some());
    let model = plans.iter().find_map(|plan| {
        let model = plan.problem.model.as_ref().filter(|_| read_model)?;
        Some(Model { opset: model.opset?, ir: model.ir? })
    });
    let header = Header {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        manifest: manifest.source().text().to_owned(),
        target: args.target.clone(),
        exclude_newer: args.exclude_newer.clone(),
        upgrade: Upgrade {
            all: args.upgrade.upgrade,
            stack: args.upgrade.upgrade_stack,
            packages: args.upgrade.upgrade_package.clone(),
            within: args
                .upgrade
                .within
                .and_then(|within| Some(within.to_possible_value()?.get_name().to_owned())),
        },
        model,
        locks,
    };
    let compressed = path.extension().is_some_and(|extension| extension == "gz");
    let content = ProblemFile::new(header, recording).to_bytes(compressed).map_err(|error| {
        message::error(error);
        Exit::No
    })?;
    write_all(&[Output { path, content: &content }]).map_err(|error| {
        message::error(error);
        Exit::BadInput
    })?;
    if !args.quiet {
        message::help(format_args!(
            "the problem is in {}; solve it again with: cuda-lock resolve --problem {}",
            path.display(),
            path.display()
        ));
    }
    Ok(())
}

fn flags(upgrade: &Upgrade) -> args::Upgrade {
    args::Upgrade {
        upgrade: upgrade.all,
        upgrade_package: upgrade.packages.clone(),
        upgrade_stack: upgrade.stack,
        within: upgrade.within.as_deref().and_then(|text| Within::from_str(text, false).ok()),
    }
}
