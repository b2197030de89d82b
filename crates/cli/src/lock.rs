//! From a solution to the files that are written.

use std::collections::BTreeMap;

use cuda_lock_constraint::constraint::{Constraint, Reason};
use cuda_lock_constraint::digest::sha256_hex;
use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::matrix;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::rules::index;
use cuda_lock_constraint::solve::{
    Chosen, Problem, Solution, SystemStack, is_url_source, range_text,
};
use cuda_lock_formats::manifest::Manifest;
use cuda_lock_formats::pylock::{
    LockMetadata, LockedArchive, LockedConstraint, LockedDependency, LockedFile, LockedIndex,
    LockedMachine, LockedPackage, Origin, Pylock,
};
use cuda_lock_formats::requirements_out::{RequirementsError, RequirementsStyle, requirements_txt};

use crate::plan::{Plan, Sources};

/// What a lock is made of.
pub struct Answer<'a> {
    /// env.toml.
    pub manifest: &'a Manifest,
    /// The target.
    pub plan: &'a Plan,
    /// The problem with the Python that was chosen.
    pub problem: &'a Problem,
    /// Every index.
    pub sources: &'a Sources,
    /// What was chosen.
    pub solution: &'a Solution,
    /// What it means for the machine.
    pub stack: &'a SystemStack,
}

impl Answer<'_> {
    /// The lock.
    #[must_use]
    pub fn pylock(&self) -> Pylock {
        let mut lock = Pylock::new();
        let (major, minor) = self.problem.target.python_minor();
        lock.requires_python = Some(format!("=={major}.{minor}.*"));
        lock.packages = self
            .solution
            .builds
            .iter()
            .map(|(name, chosen)| {
                let version = chosen
                    .version
                    .version()
                    .cloned()
                    .unwrap_or_else(|| pep440_rs::Version::new([0]));
                let mut package = LockedPackage::new(*name, version);
                package.requires_python =
                    chosen.metadata.requires_python.as_ref().map(ToString::to_string);
                package.dependencies = chosen
                    .requires
                    .iter()
                    .filter(|name| self.solution.builds.contains_key(name))
                    .map(|name| LockedDependency { name: *name, version: None })
                    .collect();
                package.index = self.index_of(chosen);
                package.origin = origin(chosen);
                package
            })
            .collect();
        lock.tool = Some(self.metadata());
        lock
    }

    /// The same as requirements.txt.
    ///
    /// # Errors
    /// When a package cannot be pinned there.
    pub fn requirements(&self, lock: &Pylock) -> Result<String, RequirementsError> {
        requirements_of(lock, self.manifest, self.plan)
    }

    fn index_of(&self, chosen: &Chosen) -> Option<String> {
        if is_url_source(chosen.version.source()) {
            return None;
        }
        let known = self.sources.all.get(usize::from(chosen.version.source().0))?;
        Some(known.config.url.to_string())
    }

    fn metadata(&self) -> LockMetadata {
        let used: Vec<&str> = self
            .solution
            .builds
            .values()
            .filter_map(|c| Some(self.problem.source(c.version.source())?.name.as_str()))
            .collect();
        LockMetadata {
            manifest: self.manifest.target_digest(&self.plan.spec),
            matrices: matrix::REVISION.to_owned(),
            target: self.plan.spec.name.clone(),
            python: self.problem.target.python.to_string(),
            requirements: self.plan.spec.dependencies.iter().map(|d| d.get_ref().clone()).collect(),
            exclude_newer: self.problem.policy.exclude_newer,
            indexes: self
                .sources
                .all
                .iter()
                .filter(|known| used.contains(&known.source.name.as_str()))
                .map(|known| LockedIndex {
                    name: known.source.name.clone(),
                    url: known.config.url.to_string(),
                    flat: known.config.format == cuda_lock_fetcher::SourceFormat::Flat,
                })
                .collect(),
            machine: locked_machine(self.plan),
            cuda: self.stack.cuda.clone(),
            cudnn: self.stack.cudnn.clone(),
            minimum_driver: self.stack.minimum_driver.clone(),
            capabilities: self.stack.capabilities.clone(),
            loading: self.stack.loading.iter().map(|step| step.text.clone()).collect(),
            constraints: self.constraints(),
        }
    }

    fn constraints(&self) -> Vec<LockedConstraint> {
        let shown = |constraint: &&Constraint| {
            !matches!(constraint.package, Package::Python | Package::Backend)
        };
        let mut all: Vec<LockedConstraint> = self
            .solution
            .deciding_constraints()
            .into_iter()
            .filter(shown)
            .map(|constraint| {
                let (reason, sources) = reason(&constraint.reason);
                LockedConstraint {
                    subject: format!("{} {}", constraint.subject.0, constraint.subject.1),
                    package: constraint.package.to_string(),
                    range: range_text(&constraint.range, &[]),
                    reason,
                    sources,
                }
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The machine of a target as the lock records it.
#[must_use]
pub fn locked_machine(plan: &Plan) -> LockedMachine {
    let machine = &plan.problem.machine;
    LockedMachine {
        platform: machine.platform,
        glibc: match &machine.libc {
            Some(Libc::Glibc(version)) => Some(version.clone()),
            _ => None,
        },
        musl: match &machine.libc {
            Some(Libc::Musl(version)) => Some(version.clone()),
            _ => None,
        },
        driver: machine.driver.clone(),
        gpus: machine.gpus.as_ref().map(|gpus| gpus.iter().map(|g| g.name.clone()).collect()),
        libraries: machine.libraries,
        image: plan.spec.machine.image.as_ref().map(|image| image.get_ref().clone()),
    }
}

/// A lock of a target as requirements.txt.
///
/// # Errors
/// When a package cannot be pinned there.
pub fn requirements_of(
    lock: &Pylock,
    manifest: &Manifest,
    plan: &Plan,
) -> Result<String, RequirementsError> {
    let default = index::pypi().map(|pypi| pypi.url).unwrap_or_default();
    let command = match &plan.spec.name {
        Some(target) => format!("cuda-lock resolve --target {target}"),
        None => "cuda-lock resolve".to_owned(),
    };
    let manifest = file_name(manifest.source().name());
    let style = RequirementsStyle { command: &command, pip_default: &default, manifest };
    requirements_txt(lock, style)
}

fn reason(reason: &Reason) -> (String, Vec<String>) {
    match reason {
        Reason::Metadata { requirement } => (format!("its METADATA: {requirement}"), Vec::new()),
        Reason::RequiresPython { specifiers } => {
            (format!("Requires-Python: {specifiers}"), Vec::new())
        }
        Reason::WheelTag { text } => (text.to_string(), Vec::new()),
        Reason::Matrix(fact) => (fact.text.clone(), fact.sources.clone()),
        Reason::Manifest { text } => (text.to_string(), Vec::new()),
        Reason::Extra => ("an extra belongs to its distribution".to_owned(), Vec::new()),
    }
}

fn origin(chosen: &Chosen) -> Origin {
    let file = LockedFile {
        name: Some(chosen.file.filename.clone()),
        upload_time: chosen.file.upload_time,
        url: Some(chosen.file.url.clone()),
        path: None,
        size: chosen.file.size,
        hashes: chosen
            .file
            .sha256
            .iter()
            .map(|digest| ("sha256".to_owned(), sha256_hex(digest)))
            .collect::<BTreeMap<_, _>>(),
    };
    if is_url_source(chosen.version.source()) {
        return Origin::Archive(LockedArchive { file, subdirectory: None });
    }
    if chosen.file.filename.ends_with(".whl") {
        Origin::Index { sdist: None, wheels: vec![file] }
    } else {
        Origin::Index { sdist: Some(file), wheels: Vec::new() }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
