//! torch: which accelerator a build is for, and the CUDA and cuDNN that it brings or was built with.

use pep440_rs::Version as Pep440;

use super::build::{Build, Origin, from_within_major, major_range, named_version};
use super::rule::Rule;
use super::span::{Fit, find};
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::{Machine, Platform};
use crate::matrix::{self, rows};
use crate::package::Package;
use crate::version::{Range, SystemVersion, Version};

/// The distribution that everything here is about.
pub const TORCH: &str = "torch";

/// What a build of the torch family is for, with who says so.
#[derive(Clone, Debug)]
pub struct Accelerator {
    /// CUDA `major.minor`; `0.0` for the CPU.
    pub cuda: SystemVersion,
    /// In words, to follow the name of the build: "is the CUDA 12.8 build on linux-x86_64".
    pub text: String,
    /// Public sources.
    pub sources: Vec<String>,
    /// True when the release is not among the facts and a neighbour's row was taken.
    pub assumed: bool,
}

impl Accelerator {
    /// True for a build without CUDA.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.cuda.major() == 0
    }
}

/// The CUDA version that a backend name stands for: `cu118` is 11.8, `cpu` is 0.0. `None` for anything else.
///
/// Three digits, the last one being the minor version: every backend since CUDA 10.0 is named so, and a new one needs no row.
#[must_use]
pub fn backend_cuda(backend: &str) -> Option<SystemVersion> {
    if backend == "cpu" {
        return Some(SystemVersion::new(0, 0));
    }
    let digits = backend.strip_prefix("cu")?;
    if digits.len() != 3 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(SystemVersion::new(number / 10, number % 10))
}

/// The backend name of a CUDA version: 11.8 is `cu118`, 0.0 is `cpu`.
#[must_use]
pub fn backend_name(cuda: &SystemVersion) -> String {
    if cuda.major() == 0 { "cpu".to_owned() } else { format!("cu{}{}", cuda.major(), cuda.minor()) }
}

/// The CUDA toolkit that the METADATA of a build pins, from the distributions whose version is the toolkit's.
///
/// The pins stand in the METADATA of every platform, behind markers.
#[must_use]
pub fn pinned_toolkit(build: &Build) -> Option<SystemVersion> {
    let pins = &matrix::torch().toolkit_pin;
    build
        .base_requirements(|name| pins.iter().any(|pin| pin.name.as_str() == name))
        .filter_map(|requirement| named_version(&requirement))
        .find_map(|version| match version.release() {
            [major, minor, ..] => Some(SystemVersion::new(*major, *minor)),
            _ => None,
        })
}

/// What a build of torch is for: by its local label, by the facts about PyPI's builds, and for releases that these do not
/// know by the toolkit that METADATA pins (see [`pinned_toolkit`]).
///
/// `None` for a build that is for no accelerator we know (ROCm, XPU).
#[must_use]
pub fn accelerator(build: &Build, platform: Platform) -> Option<Accelerator> {
    if let Some(by_name) = labelled_accelerator(build) {
        return by_name;
    }
    pypi_accelerator(&build.release()?, platform, || pinned_toolkit(build))
}

/// What the name of a build says: its local label or the PyTorch index it lies on. The outer `None`: it says nothing.
pub(super) fn labelled_accelerator(build: &Build) -> Option<Option<Accelerator>> {
    let (name, source) = match (build.label(), build.origin) {
        (Some(label), _) => (label, "local version label"),
        (None, Origin::PyTorch { backend }) if !backend.is_empty() => {
            (backend.to_owned(), "PyTorch index of that backend")
        }
        (None, _) => return None,
    };
    Some(backend_cuda(&name).map(|cuda| Accelerator {
        text: format!("is a build for {}", describe(&cuda)),
        cuda,
        sources: vec![format!("{source} {name}")],
        assumed: false,
    }))
}

/// What the build of torch `release` on PyPI is for. `toolkit` is asked only about releases that the facts do not know.
pub(super) fn pypi_accelerator(
    release: &Pep440,
    platform: Platform,
    toolkit: impl FnOnce() -> Option<SystemVersion>,
) -> Option<Accelerator> {
    let found = find(&matrix::torch().pypi, release, |row| row.platform == platform)?;
    if found.fit != Fit::Known
        && let Some(cuda) = toolkit()
    {
        return Some(Accelerator {
            text: format!("pins the libraries of CUDA {cuda}"),
            cuda,
            sources: vec![format!("METADATA of torch {release}")],
            assumed: false,
        });
    }
    let cuda = found.row.cuda.clone();
    Some(Accelerator {
        text: format!(
            "from PyPI is built for {} on {platform}{}",
            describe(&cuda),
            found.fit.assumption()
        ),
        cuda,
        sources: found.row.source.clone(),
        assumed: found.fit != Fit::Known,
    })
}

/// The accelerator in words.
pub(super) fn describe(cuda: &SystemVersion) -> String {
    if cuda.major() == 0 { "the CPU".to_owned() } else { format!("CUDA {cuda}") }
}

/// What a build of torch needs: one backend, a CUDA runtime and a cuDNN of the right major version.
///
/// Builds that carry their libraries inside, and so pin nothing in METADATA, need at least the versions they carry.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    if build.name.as_str() != TORCH {
        return Vec::new();
    }
    let Some(accelerator) = accelerator(build, platform) else {
        return Vec::new();
    };
    let mut constraints = vec![backend_constraint(build, &accelerator)];
    if accelerator.is_cpu() {
        return constraints;
    }
    constraints.push(build.constraint(
        Package::Cuda,
        from_within_major(&accelerator.cuda),
        Force::Requires,
        Fact {
            rule: Rule::CudaMajorMismatch,
            text: format!("{} {}", build.title(), accelerator.text),
            sources: accelerator.sources.clone(),
            symptom: None,
        },
    ));
    constraints.extend(cudnn_constraint(build, platform, &accelerator));
    constraints
}

/// One process has one accelerator for the whole torch family.
fn backend_constraint(build: &Build, accelerator: &Accelerator) -> Constraint {
    build.constraint(
        Package::Backend,
        Range::singleton(Version::System(accelerator.cuda.clone())),
        Force::Requires,
        Fact {
            rule: Rule::BackendMismatch,
            text: format!("{} {}", build.title(), accelerator.text),
            sources: accelerator.sources.clone(),
            symptom: None,
        },
    )
}

/// What a machine with GPUs asks of the torch family: a build that uses them. `None` where nothing is asked.
#[must_use]
pub fn wanted_backend(machine: &Machine) -> Option<(Range, Fact)> {
    let gpus = machine.gpus.as_ref().filter(|gpus| !gpus.is_empty())?;
    if machine.platform == Platform::MacosArm64 {
        return None;
    }
    let names: Vec<&str> = gpus.iter().map(|gpu| gpu.name.as_str()).collect();
    let row = &matrix::torch().cpu_build;
    let fact = Fact {
        rule: Rule::CpuBuild,
        text: format!(
            "the machine has {}, which a build for the CPU does not use",
            names.join(", ")
        ),
        sources: row.source.clone(),
        symptom: Some(row.symptom.clone()),
    };
    let cpu = Version::System(SystemVersion::new(0, 0));
    Some((Range::strictly_higher_than(cpu), fact))
}

fn cudnn_constraint(
    build: &Build,
    platform: Platform,
    accelerator: &Accelerator,
) -> Option<Constraint> {
    let backend = backend_name(&accelerator.cuda);
    let found = find(&matrix::torch().variant, &build.release()?, |row| row.backend == backend)?;
    let says_itself =
        || build.base_requirements(|n| n.starts_with("nvidia-cudnn")).next().is_some();
    if found.fit != Fit::Known && says_itself() {
        return None;
    }
    let cudnn = found.row.cudnn.as_ref()?;
    let bundled = found.fit == Fit::Known && carries(build, platform, found.row);
    let (range, text) = if bundled {
        (from_within_major(cudnn), format!("{} contains cuDNN {cudnn}", build.title()))
    } else {
        let major = cudnn.major();
        let text =
            format!("{} is built with cuDNN {major}{}", build.title(), found.fit.assumption());
        (major_range(major), text)
    };
    Some(build.constraint(
        Package::Cudnn,
        range,
        Force::Requires,
        Fact { rule: Rule::CudnnMismatch, text, sources: found.row.source.clone(), symptom: None },
    ))
}

/// Whether a build of torch carries the CUDA libraries inside, as far as is known.
pub(super) fn carries_libraries(build: &Build, platform: Platform) -> bool {
    let Some(accelerator) = accelerator(build, platform) else { return false };
    let Some(release) = build.release() else { return false };
    let backend = backend_name(&accelerator.cuda);
    let found = find(&matrix::torch().variant, &release, |row| row.backend == backend);
    found.is_some_and(|found| found.fit == Fit::Known && carries(build, platform, found.row))
}

fn carries(build: &Build, platform: Platform, row: &rows::torch::Variant) -> bool {
    let from_pypi = build.label().is_none();
    row.bundled.contains(&platform) && (!from_pypi || row.pypi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    fn ranges(pin: &Pin, platform: Platform) -> Vec<String> {
        constraints(&pin.build(), platform)
            .iter()
            .map(|c| format!("{} {}", c.package, c.range))
            .collect()
    }

    #[test]
    fn backends_and_their_names_agree() {
        for (name, cuda) in
            [("cpu", "0.0"), ("cu102", "10.2"), ("cu118", "11.8"), ("cu140", "14.0")]
        {
            let version: SystemVersion = cuda.parse().expect("valid");
            assert_eq!(backend_cuda(name), Some(version.clone()), "{name}");
            assert_eq!(backend_name(&version), name);
        }
        for name in ["", "cu", "cu1", "cu12", "cu12x", "cu1210", "rocm6.4", "xpu", "cuda"] {
            assert_eq!(backend_cuda(name), None, "{name}");
        }
    }

    #[test]
    fn builds_say_what_they_are_for() {
        let on = |version, platform| ranges(&Pin::pypi("torch", version), platform).join("; ");
        let windows = Platform::WindowsX86_64;
        insta::assert_snapshot!(on("2.4.0", linux()), @"torch backend 12.1; CUDA >=12.1, <13.0; cuDNN >=9.0, <10.0");
        insta::assert_snapshot!(on("1.12.1", linux()), @"torch backend 10.2; CUDA >=10.2, <11.0; cuDNN >=7.6.5.32, <8.0");
        insta::assert_snapshot!(on("2.1.2+cu118", linux()), @"torch backend 11.8; CUDA >=11.8, <12.0; cuDNN >=8.7.0.84, <9.0");
        insta::assert_snapshot!(on("2.9.1", windows), @"torch backend 0.0");
        insta::assert_snapshot!(on("2.9.1+cu128", windows), @"torch backend 12.8; CUDA >=12.8, <13.0; cuDNN >=9.10.2.21, <10.0");
        insta::assert_snapshot!(on("2.10.0", Platform::LinuxAarch64), @"torch backend 0.0");
        insta::assert_snapshot!(on("2.15.0", Platform::LinuxAarch64), @"torch backend 13.2; CUDA >=13.2, <14.0; cuDNN >=9.0, <10.0");
    }

    #[test]
    fn a_release_of_tomorrow_is_read_from_its_metadata() {
        let pin = Pin::pypi("torch", "3.0.0").requiring(&[
            "cuda-toolkit[cublas,cudart]==14.1.0; platform_system == 'Linux'",
            "nvidia-cudnn-cu14==10.2.0.7; platform_system == 'Linux'",
        ]);
        assert_eq!(ranges(&pin, linux()), ["torch backend 14.1", "CUDA >=14.1, <15.0"]);
        let without = constraints(&Pin::pypi("torch", "2.15.1").build(), linux());
        let crate::constraint::Reason::Matrix(fact) = &without[0].reason else { panic!("a fact") };
        insta::assert_snapshot!(fact.text, @"torch 2.15.1 from PyPI is built for CUDA 13.2 on linux-x86_64 (no fact about this release; taken from 2.15.0, the nearest one known)");
    }

    #[test]
    fn pins_behind_a_marker_for_another_platform_do_not_count() {
        let pin = Pin::pypi("torch", "3.0.0")
            .requiring(&["cuda-toolkit[cublas]==14.1.0; platform_system == 'Linux'"])
            .on(Platform::WindowsX86_64);
        assert_eq!(ranges(&pin, Platform::WindowsX86_64), ["torch backend 0.0"]);
    }

    #[test]
    fn a_machine_with_gpus_wants_a_build_that_uses_them() {
        let mut machine = crate::rules::stack::testing::machine();
        assert!(wanted_backend(&machine).is_none());
        machine.gpus = Some(vec![crate::machine::Gpu {
            name: "T4".to_owned(),
            capability: SystemVersion::new(7, 5),
            brand: crate::machine::Brand::DataCenter,
        }]);
        let (range, fact) = wanted_backend(&machine).expect("a wish");
        assert!(!range.contains(&Version::System(SystemVersion::new(0, 0))));
        assert!(range.contains(&Version::System(SystemVersion::new(11, 8))));
        insta::assert_snapshot!(fact.text, @"the machine has T4, which a build for the CPU does not use");
    }

    #[test]
    fn foreign_accelerators_have_no_cuda() {
        assert!(constraints(&Pin::pypi("torch", "2.9.1+rocm6.4").build(), linux()).is_empty());
    }

    #[test]
    fn rows_are_sorted_by_platform_or_backend_and_release() {
        let order = |b: &str| backend_cuda(b).map_or(0, |v| v.major() * 10 + v.minor());
        let file = matrix::torch();
        assert!(file.variant.is_sorted_by_key(|r| (order(&r.backend), r.span.from.clone())));
        for platform in Platform::ALL {
            let of_platform = file.pypi.iter().filter(|r| r.platform == platform);
            assert!(of_platform.map(|r| &r.span.from).is_sorted());
            let code = file.machine_code.iter().filter(|r| r.platform == platform);
            assert!(code.map(|r| (order(&r.build), &r.span.from)).is_sorted());
        }
    }

    #[test]
    fn backends_of_rows_are_named_after_their_toolkit() {
        for row in &matrix::torch().variant {
            assert_eq!(backend_cuda(&row.backend).as_ref(), Some(&row.cuda), "{row:?}");
        }
    }
}
