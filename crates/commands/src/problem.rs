//! Saving a problem to one file, and solving it again from there.

use std::path::Path;
use std::sync::Arc;

use cuda_lock_fetcher::Observer;
use cuda_lock_formats::atomic::{Output, write_all};
use cuda_lock_formats::manifest::{self, Manifest};
use cuda_lock_formats::problem::{FORMAT, Header, Model, ProblemFile, Replay, Upgrade};
use cuda_lock_formats::regular;
use serde_spanned::Spanned;

use crate::answers::Answers;
use crate::failure::Failure;
use crate::request::{self, Request, Targets};
use crate::run::Run;

/// The most bytes of a problem file: it holds what the indexes said.
const PROBLEM_LIMIT: u64 = 256 << 20;

impl Run {
    /// Prepares to solve what a problem file holds, without a network.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn replay(file: &Path, observer: Arc<dyn Observer>) -> Result<Self, Failure> {
        let (request, manifest, answers) = read(file)?;
        Self::over(request, manifest, answers, observer)
    }

    /// Writes everything that the run asked for and was answered to one file, if that was noted.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), Failure> {
        save(self, path)
    }
}

/// Reads a problem file: what it was written for, env.toml, and the answers.
///
/// # Errors
/// When it cannot be used.
fn read(path: &Path) -> Result<(Request, Manifest, Answers), Failure> {
    let bytes = regular::read(path, PROBLEM_LIMIT).map_err(Failure::system)?;
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
fn save(run: &Run, path: &Path) -> Result<(), Failure> {
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
        locks: run.locks.clone(),
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
