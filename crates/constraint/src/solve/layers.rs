//! The system layers: what the machine fixes, what is left to decide, and what each layer needs of the others.

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::constraint::{Constraint, Force, Reason};
use crate::machine::Libc;
use crate::package::Package;
use crate::rules;
use crate::solve::problem::Problem;
use crate::version::{DistVersion, Range, SourceId, SystemVersion, Version};

/// The one version that the root package has.
pub(super) fn root_version() -> Version {
    Version::System(SystemVersion::new(0, 0))
}

/// The packages that have exactly one version on this machine.
pub(super) struct MachineFacts {
    known: FxHashMap<Package, Version>,
}

impl MachineFacts {
    pub(super) fn new(problem: &Problem) -> Self {
        let mut known = FxHashMap::default();
        known.insert(Package::Root, root_version());
        for (package, version, _) in fixed(problem) {
            known.insert(package, version);
        }
        Self { known }
    }

    /// The version of a layer that is not to be decided.
    pub(super) fn get(&self, package: Package) -> Option<&Version> {
        self.known.get(&package)
    }

    /// Whether the machine satisfies the range; `None` when the package is not fixed by it.
    pub(super) fn holds(&self, package: Package, range: &Range) -> Option<bool> {
        self.known.get(&package).map(|version| range.contains(version))
    }
}

/// What the machine fixes, with the words it was written in.
fn fixed(problem: &Problem) -> Vec<(Package, Version, String)> {
    let machine = &problem.machine;
    let python = &problem.target.python;
    let mut fixed = vec![(
        Package::Python,
        Version::Dist(DistVersion::new(python.clone(), SourceId(0))),
        format!("python = \"{}\"", problem.target.asked_python()),
    )];
    if let Some(Libc::Glibc(glibc)) = &machine.libc {
        fixed.push((
            Package::Glibc,
            Version::System(glibc.clone()),
            format!("glibc = \"{glibc}\""),
        ));
    }
    if let Some(macos) = &machine.macos {
        fixed.push((
            Package::Macos,
            Version::System(macos.clone()),
            format!("macos = \"{macos}\""),
        ));
    }
    if let Some(driver) = &machine.driver {
        fixed.push((
            Package::Driver,
            Version::System(driver.clone()),
            format!("driver = \"{driver}\""),
        ));
    }
    for (n, gpu) in (0_u8..).zip(machine.gpus.iter().flatten()) {
        let text = if gpu.name == gpu.capability.as_str() {
            format!("GPU of compute capability {}", gpu.capability)
        } else {
            format!("GPU {} (compute capability {})", gpu.name, gpu.capability)
        };
        fixed.push((Package::Gpu(n), Version::System(gpu.capability.clone()), text));
    }
    fixed
}

/// The root's edges to the machine: its fixed layers, and the wishes for the others.
pub(super) fn machine_constraints(problem: &Problem, root: &(Package, Version)) -> Vec<Constraint> {
    let edge = |package, range, text: &str| Constraint {
        subject: root.clone(),
        package,
        range,
        force: Force::Requires,
        reason: Reason::Manifest { text: Arc::from(text) },
    };
    let mut constraints: Vec<_> = fixed(problem)
        .into_iter()
        .map(|(package, version, text)| edge(package, Range::singleton(version), &text))
        .collect();
    let wishes = [
        (Package::Cuda, "cuda", &problem.machine.cuda),
        (Package::Cudnn, "cudnn", &problem.machine.cudnn),
    ];
    for (package, key, wish) in wishes {
        if let Some((text, range)) = wish {
            constraints.push(edge(package, range.clone(), &format!("{key} = \"{text}\"")));
        }
    }
    // Whoever brings torch along: most that use it do not name it.
    if let Some((range, fact)) = rules::torch::wanted_backend(&problem.machine) {
        constraints.push(Constraint {
            subject: root.clone(),
            package: Package::Backend,
            range,
            force: Force::IfPresent,
            reason: Reason::Matrix(Arc::new(fact)),
        });
    }
    constraints.extend(named_backends(problem, root));
    constraints.extend(problem.bounds.iter().map(|bound| Constraint {
        subject: root.clone(),
        package: bound.package,
        range: bound.range.clone(),
        force: bound.force,
        reason: bound.reason.clone(),
    }));
    let model = [
        (Package::Opset, "opset", problem.model.as_ref().and_then(|m| m.opset)),
        (Package::OnnxIr, "ir-version", problem.model.as_ref().and_then(|m| m.ir)),
    ];
    for (package, key, number) in model {
        if let Some(number) = number {
            let version = Version::System(SystemVersion::new(number, 0));
            constraints.push(edge(
                package,
                Range::singleton(version),
                &format!("{key} = {number}"),
            ));
        }
    }
    constraints
}

/// The backends that env.toml narrows the torch family to, wherever a build comes from.
fn named_backends(problem: &Problem, root: &(Package, Version)) -> Option<Constraint> {
    let names = problem.backends.as_ref().filter(|names| !names.is_empty())?;
    let known = names.iter().filter_map(|name| rules::torch::backend_cuda(name));
    let range = known
        .map(|cuda| Range::singleton(Version::System(cuda)))
        .fold(Range::empty(), |all, one| all.union(&one));
    let text = format!("[pytorch] backends = [{}]", quoted(names));
    Some(Constraint {
        subject: root.clone(),
        package: Package::Backend,
        range,
        force: Force::IfPresent,
        reason: Reason::Manifest { text: Arc::from(text) },
    })
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// What a layer at one version needs of the others.
pub(super) fn constraints(
    package: Package,
    version: &Version,
    problem: &Problem,
) -> Vec<Constraint> {
    rules::layer_constraints(package, version, &problem.machine)
}

/// Which known versions of CUDA the machine starts, found out when it is asked.
pub(super) struct Startable(Vec<(&'static Version, OnceCell<bool>)>);

impl Startable {
    pub(super) fn new() -> Self {
        let known = rules::known_versions(Package::Cuda).iter();
        Self(known.map(|version| (version, OnceCell::new())).collect())
    }

    /// Whether the machine starts no CUDA of a range, as far as its driver and GPUs are known.
    pub(super) fn none(&self, range: &Range, facts: &MachineFacts, problem: &Problem) -> bool {
        let starts = |version| {
            constraints(Package::Cuda, version, problem)
                .iter()
                .all(|constraint| facts.holds(constraint.package, &constraint.range) != Some(false))
        };
        let mut inside = self.0.iter().filter(|(version, _)| range.contains(version)).peekable();
        inside.peek().is_some()
            && inside.all(|(version, known)| !known.get_or_init(|| starts(version)))
    }
}

/// The version of a layer that is chosen from a range: the lowest driver, glibc and macOS, the newest of everything else.
///
/// A range can name versions that no matrix knows (the CUDA of a torch that is released tomorrow): its own bounds are
/// candidates then.
pub(super) fn choose(package: Package, range: &Range) -> Option<Version> {
    if matches!(package, Package::Driver | Package::Glibc | Package::Macos) {
        return lowest(range).or_else(|| {
            rules::known_versions(package).iter().find(|version| range.contains(version)).cloned()
        });
    }
    rules::known_versions(package)
        .iter()
        .rev()
        .find(|version| range.contains(version))
        .cloned()
        .or_else(|| highest_bound(range))
}

fn lowest(range: &Range) -> Option<Version> {
    let (start, _) = range.iter().next()?;
    match start {
        std::ops::Bound::Included(version) => Some(version.clone()),
        std::ops::Bound::Excluded(_) | std::ops::Bound::Unbounded => None,
    }
}

fn highest_bound(range: &Range) -> Option<Version> {
    let (start, end) = range.iter().last()?;
    match (start, end) {
        (_, std::ops::Bound::Included(version)) | (std::ops::Bound::Included(version), _) => {
            Some(version.clone())
        }
        _ => None,
    }
}
