//! From a solution to the files that are written.

use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::constraint::{Constraint, Reason};
use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::matrix;
use cuda_lock_constraint::package::Package;
use cuda_lock_constraint::requirement::parse_specifiers;
use cuda_lock_constraint::rules::index;
use cuda_lock_constraint::solve::{
    Chosen, Problem, Solution, SystemStack, is_url_source, patches, range_text,
};
use cuda_lock_formats::diagnostic::mask_credentials;
use cuda_lock_formats::manifest::Manifest;
use cuda_lock_formats::pylock::{
    LockMetadata, LockedConstraint, LockedDependency, LockedIndex, LockedMachine, LockedPackage,
    LockedPassed, Pylock,
};
use cuda_lock_formats::requirements_out::{RequirementsError, RequirementsStyle, requirements_txt};
use pep440_rs::VersionSpecifiers;

use crate::passed;
use crate::plan::{Plan, Sources};
use crate::references;
use crate::run::Run;

/// What a lock is made of.
pub struct Answer<'a> {
    /// env.toml.
    pub manifest: &'a Manifest,
    /// The target.
    pub plan: &'a Plan,
    /// The problem with the Python that was chosen.
    pub problem: Arc<Problem>,
    /// Every index.
    pub sources: &'a Sources,
    /// What was chosen.
    pub solution: Solution,
    /// What it means for the machine.
    pub stack: SystemStack,
    /// Newer releases that were not taken.
    pub passed: Vec<LockedPassed>,
}

impl<'a> Answer<'a> {
    /// The answer for one target of a run, beside the lock that is there.
    #[must_use]
    pub fn new(
        run: &'a Run,
        plan: &'a Plan,
        (problem, solution): (Arc<Problem>, Solution),
        lock: Option<&Pylock>,
    ) -> Self {
        let stack = solution.system_stack(&problem);
        let passed = passed::over(&solution, lock);
        let (manifest, sources) = (&run.manifest, &run.sources);
        Self { manifest, plan, problem, sources, solution, stack, passed }
    }

    /// The lock.
    #[must_use]
    pub fn pylock(&self) -> Pylock {
        let mut lock = Pylock::new();
        lock.requires_python = Some(self.requires_python());
        let markers = patches::partly_needed(&self.problem, &self.solution);
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
                package.marker = markers.get(name).cloned();
                package.requires_python =
                    chosen.metadata.requires_python.as_deref().and_then(requires_python);
                package.dependencies = chosen
                    .requires
                    .iter()
                    .filter(|name| self.solution.builds.contains_key(name))
                    .map(|name| LockedDependency { name: *name, version: None })
                    .collect();
                package.index = self.index_of(chosen);
                package.origin = references::origin(chosen, self.folder());
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

    /// The folder of the lock.
    fn folder(&self) -> &Path {
        Path::new(self.manifest.source().name()).parent().unwrap_or(Path::new(""))
    }

    fn index_of(&self, chosen: &Chosen) -> Option<String> {
        if is_url_source(chosen.version.source()) {
            return None;
        }
        let known = self.sources.all.get(usize::from(chosen.version.source().0))?;
        Some(known.config.url.public().to_string())
    }

    /// The Pythons that the lock is for: the series without what a package excludes, or the one release.
    fn requires_python(&self) -> String {
        let target = &self.problem.target;
        if !target.series {
            return format!("=={}", target.python);
        }
        let excluded = patches::excluded(&self.problem, &self.solution);
        let all = target.patches();
        let first = all.iter().zip(&excluded).take_while(|(one, other)| one == other).count();
        let low = (first > 0).then(|| all.get(first)).flatten().map(|low| format!(",>={low}"));
        let holes = excluded.iter().skip(first).map(|patch| format!(",!={patch}"));
        let bounds: String = low.into_iter().chain(holes).collect();
        format!("=={}.*{bounds}", target.asked_python())
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
            python: self.problem.target.asked_python().to_string(),
            python_newest: self
                .problem
                .target
                .series
                .then(|| self.problem.target.python.to_string()),
            requirements: self.plan.spec.dependencies.iter().map(|d| safe(d.get_ref())).collect(),
            exclude_newer: self.problem.policy.exclude_newer,
            indexes: self
                .sources
                .all
                .iter()
                .filter(|known| used.contains(&known.source.name.as_str()))
                .map(|known| LockedIndex {
                    name: known.source.name.clone(),
                    url: known.config.url.public().to_string(),
                    flat: known.config.format == cuda_lock_fetcher::SourceFormat::Flat,
                })
                .collect(),
            machine: locked_machine(self.plan),
            cuda: self.stack.cuda.clone(),
            cudnn: self.stack.cudnn.clone(),
            minimum_driver: self.stack.minimum_driver.clone(),
            capabilities: self.stack.capabilities.clone(),
            loading: self.stack.loading.iter().map(|step| step.text.clone()).collect(),
            built: passed::built(&self.solution),
            passed_over: self.passed.clone(),
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

/// A `Requires-Python` as a lock may repeat it: as it is where it follows PEP 440, else what it means. `None` when nobody
/// can say: PEP 751 has no place for that.
fn requires_python(text: &str) -> Option<String> {
    if text.parse::<VersionSpecifiers>().is_ok() {
        return Some(text.to_owned());
    }
    let read = parse_specifiers(text).ok().filter(|read| !read.is_empty())?;
    Some(read.to_string()).filter(|text| text.parse::<VersionSpecifiers>().is_ok())
}

/// A line for each `Requires-Python` that the lock leaves out because nobody can say what it means.
#[must_use]
pub fn unclear_pythons(solution: &Solution) -> Vec<String> {
    let unclear = solution.builds.iter().filter_map(|(name, chosen)| {
        let text = chosen.metadata.requires_python.as_deref()?;
        requires_python(text).is_none().then(|| {
            format!(
                "the METADATA of {name} {} states Requires-Python '{text}', which means nothing by PEP 440; the lock \
                 leaves it out",
                chosen.version
            )
        })
    });
    unclear.collect()
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
        macos: machine.macos.clone(),
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
        Reason::Metadata { requirement } => {
            (format!("its METADATA: {}", safe(requirement)), Vec::new())
        }
        Reason::RequiresPython { specifiers } => {
            (format!("Requires-Python: {specifiers}"), Vec::new())
        }
        Reason::WheelTag { text } => (text.to_string(), Vec::new()),
        Reason::Matrix(fact) => (fact.text.clone(), fact.sources.clone()),
        Reason::Manifest { text } => (safe(text), Vec::new()),
        Reason::Extra => ("an extra belongs to its distribution".to_owned(), Vec::new()),
    }
}

/// A requirement without the credentials that its address may hold.
fn safe(text: &str) -> String {
    mask_credentials(text).into_owned()
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
