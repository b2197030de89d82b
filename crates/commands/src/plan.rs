//! From env.toml to problems and a fetcher: what is solved, and where builds may come from.

mod image;
mod moved;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::machine::Machine;
use cuda_lock_constraint::matrix;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::rules::onnx_model::Model;
use cuda_lock_constraint::solve::{Builds, Policy, Problem};
use cuda_lock_constraint::target::Target;
use cuda_lock_fetcher::{Credentials, FetcherConfig, StaticMetadata};
use cuda_lock_formats::diagnostic::{Diagnostic, Diagnostics, Severity};
use cuda_lock_formats::manifest::{
    self, Backends, BuildName, DirectSource, ExcludeNewer, Manifest, PythonRequest, TargetSpec,
};
use cuda_lock_formats::onnx_model::read_model;
use pep440_rs::Version as Pep440;
use serde_spanned::Spanned;
use url::Url;

use crate::failure::{Failure, read_named};
use crate::request::Network;
pub use sources::{Sources, known, none_left};

/// One target of env.toml, ready to be solved.
pub struct Plan {
    /// The target as env.toml has it.
    pub spec: TargetSpec,
    /// The Pythons to try, the preferred first: more than one when env.toml gives a range.
    pub pythons: Vec<Pep440>,
    /// The problem for the first of them.
    pub problem: Problem,
}

impl Plan {
    /// The problem for one Python.
    #[must_use]
    pub fn problem_for(&self, python: &Pep440) -> Problem {
        let mut problem = self.problem.clone();
        problem.target = problem.target.with_python(python);
        problem
    }
}

/// Plans one target.
///
/// # Errors
/// What cannot be used, with its place in env.toml.
pub fn plan(
    manifest: &Manifest,
    name: Option<&str>,
    sources: &Sources,
    exclude_newer: Option<&ExcludeNewer>,
) -> Result<Plan, Diagnostics> {
    let spec = manifest.target(name).map_err(|error| at_top(manifest, &error.to_string()))?;
    let machine = manifest.machine_of(&spec)?;
    let pythons = pythons(manifest, &spec)?;
    let first = pythons.first().cloned().unwrap_or_else(|| Pep440::new([3]));
    let target = Target {
        libc: machine.libc.clone(),
        free_threaded: matches!(spec.python.get_ref(), PythonRequest::FreeThreaded(_)),
        ..Target::new(machine.platform, &first)
    };
    let options = &manifest.options;
    let bounds = image::bounds(manifest, &spec, &machine)?;
    let problem = Problem {
        target,
        machine,
        requirements: requirements(manifest, &spec.dependencies)?,
        constraints: requirements(manifest, &options.constraints)?,
        overrides: overrides(manifest)?,
        substitute: options.substitute.iter().map(|(from, to)| (*from, *to.get_ref())).collect(),
        sources: sources.all.iter().map(|known| known.source.clone()).collect(),
        pinned_sources: pinned(manifest, sources),
        backends: match &manifest.pytorch.backends {
            Backends::Any => None,
            Backends::None => Some(Vec::new()),
            Backends::Only(names) => Some(names.iter().map(|n| n.get_ref().clone()).collect()),
        },
        model: model_of(manifest)?,
        bounds,
        policy: policy(manifest, exclude_newer),
    };
    Ok(Plan { spec, pythons, problem })
}

/// The configuration of the fetcher for all targets.
#[must_use]
pub fn fetcher(manifest: &Manifest, sources: &Sources, network: &Network) -> FetcherConfig {
    let mut config =
        FetcherConfig::new(sources.all.iter().map(|known| known.config.clone()).collect());
    network.apply(&mut config);
    config.overrides = manifest.metadata.iter().map(stated).collect();
    config.credentials = credentials(manifest);
    config.with_environment()
}

/// Every index that env.toml and the matrices know.
///
/// # Errors
/// When a name in `only-indexes` or `[sources]` is no index.
pub fn sources(manifest: &Manifest, manifest_path: &Path) -> Result<Sources, Diagnostics> {
    sources::sources(manifest, manifest_path)
}

/// Reads env.toml.
///
/// # Errors
/// When it cannot be read or used.
pub fn read_manifest(path: &Path) -> Result<Manifest, Failure> {
    let advice = "name the file, as in: cuda-lock resolve path/to/env.toml";
    let bytes = read_named(path, advice)?;
    Ok(Manifest::parse_bytes(&bytes, &path.display().to_string())?)
}

fn at_top(manifest: &Manifest, text: &str) -> Diagnostics {
    Diagnostics::new(vec![Diagnostic::error(manifest.source(), text)])
}

fn at<T>(manifest: &Manifest, value: &Spanned<T>, text: &str) -> Diagnostics {
    Diagnostics::new(vec![manifest.diagnostic(Severity::Error, value.span(), text)])
}

fn requirements(
    manifest: &Manifest,
    texts: &[Spanned<String>],
) -> Result<Vec<Arc<Requirement>>, Diagnostics> {
    texts
        .iter()
        .map(|text| match text.get_ref().parse::<Requirement>() {
            Ok(requirement) => Ok(Arc::new(requirement)),
            Err(error) => Err(at(manifest, text, &error.to_string())),
        })
        .collect()
}

/// What env.toml overrides: versions, and where distributions are from that no index has.
fn overrides(manifest: &Manifest) -> Result<Vec<Arc<Requirement>>, Diagnostics> {
    let mut overrides = requirements(manifest, &manifest.options.overrides)?;
    for (name, source) in &manifest.direct {
        let url = match source.get_ref() {
            DirectSource::Url(url) => url.clone(),
            DirectSource::Path(path) => {
                let home = Path::new(manifest.source().name()).with_file_name(path);
                let found = std::path::absolute(&home).ok().filter(|path| path.exists());
                let address = found.and_then(|path| {
                    if path.is_dir() {
                        Url::from_directory_path(path).ok()
                    } else {
                        Url::from_file_path(path).ok()
                    }
                });
                let missing =
                    || at(manifest, source, &format!("there is no {path} beside the manifest"));
                address.ok_or_else(missing)?.to_string()
            }
        };
        match format!("{name} @ {url}").parse::<Requirement>() {
            Ok(requirement) => overrides.push(Arc::new(requirement)),
            Err(error) => return Err(at(manifest, source, &error.to_string())),
        }
    }
    Ok(overrides)
}

/// The Pythons that a request allows, newest first.
fn pythons(manifest: &Manifest, spec: &TargetSpec) -> Result<Vec<Pep440>, Diagnostics> {
    let specifiers = match spec.python.get_ref() {
        PythonRequest::Version(version) | PythonRequest::FreeThreaded(version) => {
            return Ok(vec![version.clone()]);
        }
        PythonRequest::Range(specifiers) => specifiers,
    };
    let range = cuda_lock_constraint::version::python_range(specifiers);
    let known = matrix::python().minor.iter().map(|row| row.version.clone());
    let allowed: Vec<Pep440> = known
        .filter(|python| {
            range.contains(&Target::new(*spec.platform.get_ref(), python).python_version())
        })
        .collect();
    if allowed.is_empty() {
        let text = format!("no known Python satisfies \"{specifiers}\"");
        return Err(at(manifest, &spec.python, &text));
    }
    Ok(allowed)
}

fn pinned(
    manifest: &Manifest,
    sources: &Sources,
) -> BTreeMap<Name, cuda_lock_constraint::version::SourceId> {
    manifest
        .sources
        .iter()
        .filter_map(|(name, index)| Some((*name, sources.by_name(index.get_ref())?.source.id)))
        .collect()
}

/// The model, from its file when env.toml names one (relative to env.toml).
fn model_of(manifest: &Manifest) -> Result<Option<Model>, Diagnostics> {
    let Some(file) = manifest.model.as_ref().and_then(|model| model.onnx.as_ref()) else {
        return Ok(model(manifest.model.as_ref()));
    };
    let path = Path::new(manifest.source().name()).with_file_name(file.get_ref());
    let header = read_model(&path)
        .map_err(|error| at(manifest, file, &format!("{} {error}", file.get_ref())))?;
    Ok(Some(Model { opset: Some(header.opset.into()), ir: Some(header.ir_version.into()) }))
}

/// The model of an env.toml as the rules see it.
#[must_use]
pub fn model(model: Option<&manifest::Model>) -> Option<Model> {
    let model = model?;
    let number = |n: &Option<Spanned<u32>>| n.as_ref().map(|n| u64::from(*n.get_ref()));
    let (opset, ir) = (number(&model.opset), number(&model.ir_version));
    (opset.is_some() || ir.is_some()).then_some(Model { opset, ir })
}

fn policy(manifest: &Manifest, exclude_newer: Option<&ExcludeNewer>) -> Policy {
    let options = &manifest.options;
    let stated = options.exclude_newer.as_ref().map(Spanned::get_ref);
    Policy {
        resolution: options.resolution,
        prerelease: options.prerelease,
        exclude_newer: exclude_newer.or(stated).map(|date| date.before),
        ignore_advice: false,
        trust_recorded: options.trust_recorded.iter().map(|name| *name.get_ref()).collect(),
        builds: builds(options.build.iter().map(|name| *name.get_ref())),
        preferences: BTreeMap::new(),
        nearest: BTreeMap::new(),
    }
}

/// User and password of the addresses that env.toml names directly; they hold for that address alone.
fn credentials(manifest: &Manifest) -> Vec<Credentials> {
    let targets = manifest.target_names().into_iter().filter_map(|name| manifest.target(name).ok());
    let asked = targets.flat_map(|spec| spec.dependencies);
    let asked = asked.filter_map(|text| {
        let requirement: Requirement = text.get_ref().parse().ok()?;
        Some(requirement.url?.url.into_string())
    });
    let named = manifest.direct.values().filter_map(|source| match source.get_ref() {
        DirectSource::Url(url) => Some(url.clone()),
        DirectSource::Path(_) => None,
    });
    let with_user = asked.chain(named).filter_map(|text| Url::parse(&text).ok());
    with_user
        .filter(|url| !url.username().is_empty() && matches!(url.scheme(), "http" | "https"))
        .map(|url| Credentials {
            username: decoded(url.username()),
            password: url.password().map(decoded),
            url,
        })
        .collect()
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// What may be built.
#[must_use]
pub fn builds(names: impl IntoIterator<Item = BuildName>) -> Builds {
    let mut only = BTreeSet::new();
    for name in names {
        match name {
            BuildName::All => return Builds::All,
            BuildName::One(name) => {
                only.insert(name);
            }
        }
    }
    if only.is_empty() { Builds::None } else { Builds::Only(only) }
}

fn stated(stated: &manifest::StaticMetadata) -> StaticMetadata {
    let version = stated.version.as_ref().map(|version| version.get_ref().clone());
    StaticMetadata {
        name: *stated.name.get_ref(),
        metadata: cuda_lock_constraint::catalog::Metadata {
            name: stated.name.get_ref().to_string(),
            version: version.as_ref().map(ToString::to_string).unwrap_or_default(),
            requires_dist: stated
                .requires_dist
                .iter()
                .map(|text| Arc::from(text.get_ref().as_str()))
                .collect(),
            requires_python: stated
                .requires_python
                .as_ref()
                .map(|text| Arc::from(text.get_ref().as_str())),
            provides_extra: stated.provides_extra.iter().map(|e| e.get_ref().to_string()).collect(),
            source: None,
        },
        version,
    }
}

/// The machine as a whole is needed by the lock as well.
impl AsRef<Machine> for Plan {
    fn as_ref(&self) -> &Machine {
        &self.problem.machine
    }
}
