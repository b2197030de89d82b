//! Saving a problem to one file, and solving it again from there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::atomic::{Output, write_all};
use cuda_lock_formats::manifest::{self, Manifest};
use cuda_lock_formats::problem::{FORMAT, Header, Model, ProblemFile, Recording, Replay, Upgrade};
use serde_spanned::Spanned;

use crate::failure::{Failure, read_file};
use crate::plan::{Plan, Sources};
use crate::request::{self, Request, Targets};
use crate::run::Run;

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
            let text = fs_err::read_to_string(path(plan)).ok()?;
            Some((plan.spec.name.clone().unwrap_or_default(), text))
        };
        plans.iter().filter_map(lock).collect()
    }

    /// The text of the lock of a target, which a file holds or which is at `path`.
    #[must_use]
    pub fn lock(&self, target: Option<&str>, path: &Path) -> Option<String> {
        match self {
            Self::Saved(_, header) => header.locks.get(target.unwrap_or_default()).cloned(),
            Self::Indexes | Self::Noted(_) => fs_err::read_to_string(path).ok(),
        }
    }
}

/// Reads a problem file: what it was written for, env.toml, and the answers.
///
/// # Errors
/// When it cannot be used.
pub(crate) fn read(path: &Path) -> Result<(Request, Manifest, Answers), Failure> {
    let bytes = read_file(path)?;
    let name = path.display().to_string();
    let ProblemFile { header, records } = ProblemFile::parse(&bytes, &name)?;
    // Messages speak of env.toml as its owner knows it.
    let mut manifest = Manifest::parse(&header.manifest, "env.toml")?;
    if let Some(model) = &header.model {
        let number = |value| Some(Spanned::new(0..0, u32::try_from(value).unwrap_or(u32::MAX)));
        manifest.model = Some(manifest::Model {
            opset: number(model.opset),
            ir_version: number(model.ir),
            onnx: None,
        });
    }
    let replay = Replay::new(&ProblemFile { header: header.clone(), records });
    let exclude_newer = header.exclude_newer.as_ref().map(|text| text.parse()).transpose();
    let request = Request {
        targets: match &header.target {
            Some(name) => Targets::One(Some(name.clone())),
            None => Targets::All,
        },
        upgrade: flags(&header.upgrade),
        exclude_newer: exclude_newer
            .map_err(|error| Failure::argument(format!("--exclude-newer: {error}")))?,
        ..Request::new("env.toml")
    };
    Ok((request, manifest, Answers::Saved(replay, Box::new(header))))
}

/// Writes what a run noted, if it did.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn save(run: &Run, path: &Path, locks: BTreeMap<String, String>) -> Result<(), Failure> {
    let Run { request, manifest, answers: Answers::Noted(recording), .. } = run else {
        return Ok(());
    };
    let read_model = manifest.model.as_ref().is_some_and(|model| model.onnx.is_some());
    let model = run.plans.iter().find_map(|plan| {
        let model = plan.problem.model.as_ref().filter(|_| read_model)?;
        Some(Model { opset: model.opset?, ir: model.ir? })
    });
    let header = Header {
        format: FORMAT,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        manifest: manifest.source().text().to_owned(),
        target: match &request.targets {
            Targets::One(name) => name.clone(),
            Targets::All => None,
        },
        exclude_newer: request.exclude_newer.as_ref().map(|date| date.text.clone()),
        upgrade: Upgrade {
            all: request.upgrade.all,
            stack: request.upgrade.stack,
            packages: request.upgrade.packages.clone(),
            within: request.upgrade.within.map(|within| within.as_str().to_owned()),
        },
        model,
        locks,
    };
    let compressed = path.extension().is_some_and(|extension| extension == "gz");
    let content = ProblemFile::new(header, recording)
        .to_bytes(compressed)
        .map_err(|error| Failure::Unwritable(error.to_string()))?;
    write_all(&[Output { path, content: &content }]).map_err(Failure::system)?;
    Ok(())
}

fn flags(upgrade: &Upgrade) -> request::Upgrade {
    request::Upgrade {
        all: upgrade.all,
        packages: upgrade.packages.clone(),
        stack: upgrade.stack,
        within: upgrade.within.as_deref().and_then(|text| text.parse().ok()),
    }
}
