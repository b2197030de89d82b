//! Wheels of NVIDIA libraries: which CUDA and cuDNN they are, which GPUs they have code for, which files they supply,
//! and which of them overwrite each other.

use std::sync::OnceLock;

use pep440_rs::{Operator, Version as Pep440, VersionSpecifier, VersionSpecifiers};
use rustc_hash::FxHashMap;

use super::gpu::without_tegra;
use super::limit::{
    Limit, between, exactly, fact, fact_with_symptom, from, major as major_range, whole,
};
use super::rule::Rule;
use crate::constraint::{Constraint, Force};
use crate::machine::Platform;
use crate::matrix;
use crate::matrix::rows::libraries::{
    Floor, Layer, Library, SearchOrder, SecondCudnn, SuppliedLayer, Supply,
};
use crate::name::Name;
use crate::package::Package;
use crate::version::{DistVersion, Range, SourceId, SystemVersion, Version, dist_range};

/// A row with the versions that it speaks of.
struct Entry {
    row: &'static Library,
    versions: Range,
}

/// The rows of `name`, in the order of the file; empty for everything that is no wheel of an NVIDIA library.
fn rows_of(name: Name) -> &'static [Entry] {
    static INDEX: OnceLock<FxHashMap<Name, Vec<Entry>>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: FxHashMap<Name, Vec<Entry>> = FxHashMap::default();
        for row in &matrix::libraries().library {
            let versions = bounds(row.from.as_ref(), row.below.as_ref());
            index.entry(row.name).or_default().push(Entry { row, versions });
        }
        index
    });
    index.get(&name).map_or(&[], Vec::as_slice)
}

/// The builds from `from` up to, but not including, `below`.
fn bounds(from: Option<&Pep440>, below: Option<&Pep440>) -> Range {
    let point = |version: &Pep440| -> Version {
        DistVersion::new(version.clone().with_min(Some(0)), SourceId(0)).into()
    };
    let low = from.map_or_else(
        || Range::strictly_higher_than(DistVersion::absent()),
        |version| Range::higher_than(point(version)),
    );
    below.map_or(low.clone(), |end| low.intersection(&Range::strictly_lower_than(point(end))))
}

/// True when `name` is a wheel of an NVIDIA library that the matrices know.
#[must_use]
pub fn is_library(name: Name) -> bool {
    !rows_of(name).is_empty()
}

/// The same by the normalised name.
pub(super) fn is_library_name(name: &str) -> bool {
    Name::new(name).is_ok_and(is_library)
}

/// The layer whose version is that of the wheels of `name`: CUDA for the runtime, cuDNN for cuDNN.
#[must_use]
pub fn states(name: Name) -> Option<Package> {
    rows_of(name).iter().find_map(|entry| match entry.row.layer? {
        Layer::Toolkit => Some(Package::Cuda),
        Layer::Cudnn => Some(Package::Cudnn),
        Layer::Major => None,
    })
}

/// What one build of an NVIDIA library asks for: its CUDA and cuDNN, the GPUs that it has code for, and to be the only
/// one of those that install the same files. Empty for other distributions.
#[must_use]
pub fn library_constraints(name: Name, version: &DistVersion, gpus: u8) -> Vec<Constraint> {
    let Some(pep440) = version.version() else { return Vec::new() };
    let rows = rows_of(name);
    if rows.is_empty() {
        return Vec::new();
    }
    let pinned = VersionSpecifiers::from_iter([VersionSpecifier::equals_version(
        pep440.clone().without_local(),
    )]);
    let mut limits = layers(name, rows, &pinned);
    let build = Version::from(version.clone());
    for row in floors_of(name, &build) {
        let limit = floor_limit(name, row);
        limits.extend((0..gpus).map(|gpu| Limit { package: Package::Gpu(gpu), ..limit.clone() }));
    }
    limits.extend(shared_files(name));
    let subject = (Package::dist(name), build);
    limits.into_iter().map(|limit| limit.constraint(subject.clone(), Force::Requires)).collect()
}

/// What a requirement on an NVIDIA library says about CUDA and cuDNN: `nvidia-cuda-runtime-cu12==12.4.127` is CUDA 12.4,
/// `nvidia-cudnn-cu12==9.1.0.70` is cuDNN 9.1.0.70 and some CUDA 12. Empty for other distributions.
#[must_use]
pub fn layer_of_requirement(name: Name, specifiers: &VersionSpecifiers) -> Vec<Limit> {
    layers(name, rows_of(name), specifiers)
}

/// The CUDA and cuDNN of all builds that satisfy `specifiers`, by those rows that together speak of all of them.
fn layers(name: Name, rows: &'static [Entry], specifiers: &VersionSpecifiers) -> Vec<Limit> {
    let mut limits = Vec::new();
    if rows.is_empty() {
        return limits;
    }
    let wanted = dist_range(specifiers);
    let touching = || rows.iter().filter(|entry| !entry.versions.is_disjoint(&wanted));

    let by_name = touching().filter_map(|entry| Some((entry, entry.row.cuda?)));
    let mut covered = Range::empty();
    let mut cuda = Range::empty();
    let mut majors: Vec<String> = Vec::new();
    let mut sources: &[String] = &[];
    for (entry, major) in by_name {
        covered = covered.union(&entry.versions);
        cuda = cuda.union(&major_range(major));
        majors.push(major.to_string());
        sources = &entry.row.source;
    }
    if !majors.is_empty() && wanted.subset_of(&covered) {
        let text = format!("{name} belongs to CUDA {}", majors.join(" or CUDA "));
        let fact = fact(Rule::LibraryCuda, text, sources);
        limits.push(Limit { package: Package::Cuda, range: cuda, fact });
    }

    for entry in touching() {
        let Some(layer) = entry.row.layer else { continue };
        if !wanted.subset_of(&entry.versions) {
            continue;
        }
        let (package, rule, parts, meaning) = match layer {
            Layer::Toolkit => (Package::Cuda, Rule::LibraryCuda, 2, "CUDA version"),
            Layer::Major => (Package::Cuda, Rule::LibraryCuda, 1, "CUDA major version"),
            Layer::Cudnn => (Package::Cudnn, Rule::LibraryCudnn, 4, "cuDNN version"),
        };
        let range = layer_range(specifiers, parts);
        if range == Range::full() {
            continue;
        }
        let text = format!("the version of {name} is the {meaning}");
        let fact = fact(rule, text, &entry.row.source);
        // The exact CUDA version says more than the major version from the name.
        if let Some(limit) = limits.iter_mut().find(|limit| limit.package == package) {
            limit.range = limit.range.intersection(&range);
            limit.fact = fact;
        } else {
            limits.push(Limit { package, range, fact });
        }
    }
    limits
}

/// The versions of a layer that satisfy `specifiers` on a wheel, when the first `parts` numbers of the wheel's version
/// are the version of the layer.
fn layer_range(specifiers: &VersionSpecifiers, parts: usize) -> Range {
    specifiers.iter().fold(Range::full(), |range, specifier| {
        one_layer_range(specifier, parts).map_or(range.clone(), |one| range.intersection(&one))
    })
}

/// `None` when the specifier does not bound the layer.
fn one_layer_range(specifier: &VersionSpecifier, parts: usize) -> Option<Range> {
    let release = specifier.version().release();
    let layer = |numbers: &[u64]| -> Option<SystemVersion> {
        let numbers = numbers.get(..parts).unwrap_or(numbers);
        let text: Vec<String> = numbers.iter().map(u64::to_string).collect();
        text.join(".").parse().ok()
    };
    let low = layer(release)?;
    // A version with fewer numbers than the layer stands for one with zeros.
    let mut padded = release.to_vec();
    padded.resize(release.len().max(parts), 0);
    let whole = padded.get(..parts).unwrap_or(&padded);
    let next = layer(whole)?.next_sibling();
    let cut = release.get(parts..).is_some_and(|rest| rest.iter().any(|n| *n > 0));
    Some(match specifier.operator() {
        Operator::Equal | Operator::ExactEqual if release.len() <= parts && parts > 2 => {
            exactly(low)
        }
        Operator::Equal | Operator::ExactEqual => between(low, next),
        Operator::EqualStar if release.len() < parts => between(low.clone(), low.next_sibling()),
        Operator::EqualStar => between(low, next),
        Operator::TildeEqual => {
            let prefix = release.get(..release.len().saturating_sub(1).max(1))?;
            between(low, layer(prefix)?.next_sibling())
        }
        Operator::GreaterThanEqual | Operator::GreaterThan => from(low),
        Operator::LessThan if !cut => Range::strictly_lower_than(low),
        Operator::LessThan | Operator::LessThanEqual => Range::strictly_lower_than(next),
        Operator::NotEqualStar if release.len() <= parts => {
            between(low.clone(), low.next_sibling()).complement()
        }
        Operator::NotEqual | Operator::NotEqualStar => return None,
    })
}

/// The floors that speak of a build.
fn floors_of(name: Name, build: &Version) -> impl Iterator<Item = &'static Floor> {
    matrix::libraries().floor.iter().filter(move |row| {
        row.names.contains(&name) && bounds(row.from.as_ref(), row.below.as_ref()).contains(build)
    })
}

fn floor_limit(name: Name, row: &Floor) -> Limit {
    let mut range = Range::full();
    let mut needs = Vec::new();
    if let Some(low) = &row.capability {
        range = from(low.clone());
        needs.push(format!("of compute capability {low} or newer"));
    }
    if let Some(high) = &row.capability_below {
        range = range.intersection(&Range::strictly_lower_than(high.clone()));
        needs.push(format!("below compute capability {high}"));
    }
    if row.no_tegra {
        range = range.intersection(&without_tegra());
        needs.push(
            "outside Tegra systems (Jetson), for which JetPack has its own builds".to_owned(),
        );
    }
    let versions = match (&row.from, &row.below) {
        (Some(from), Some(below)) => format!(" {from} and later, below {below},"),
        (Some(from), None) => format!(" {from} and later"),
        (None, Some(below)) => format!(" below {below}"),
        (None, None) => String::new(),
    };
    let text = format!("{name}{versions} has code only for GPUs {}", needs.join(" and "));
    let symptom = "CUDA error: no kernel image is available for execution on the device";
    Limit {
        package: Package::Gpu(0),
        range,
        fact: fact_with_symptom(Rule::LibraryFloor, text, &row.source, symptom.to_owned()),
    }
}

/// Wheels that install the same files exclude each other: one of them owns the import package.
fn shared_files(name: Name) -> impl Iterator<Item = Limit> {
    let rows = matrix::libraries().shared.iter();
    rows.filter(move |row| row.names.contains(&name)).map(move |row| {
        let names: Vec<&str> = row.names.iter().map(|name| name.as_str()).collect();
        let text = format!(
            "{} install the same files ({}) with different contents; the last one installed wins",
            names.join(", "),
            row.files
        );
        Limit {
            package: Package::Provider(row.module),
            range: Range::singleton(Version::Owner(name)),
            fact: fact(Rule::SharedFiles, text, &row.source),
        }
    })
}

/// The fact that `name` holds an empty package, with the project to use in its place.
#[must_use]
pub fn placeholder(name: Name) -> Option<(Name, std::sync::Arc<crate::constraint::Fact>)> {
    let rows = &matrix::libraries().placeholder;
    let row = rows.iter().find(|row| row.names.contains(&name))?;
    let (real, _) = name.as_str().rsplit_once('-')?;
    let text = format!("{name} is an empty package: the library is published as {real}");
    Some((Name::new(real).ok()?, fact(Rule::Placeholder, text, &row.source)))
}

/// The layer whose library the wheels of a distribution supply: [`Package::Cuda`] for those of the CUDA runtime and of cuBLAS,
/// [`Package::Cudnn`] for those of cuDNN. Where one is installed, what an image or the system has of the layer does not count.
#[must_use]
pub fn brings(name: Name) -> Option<Package> {
    let supplies = |row: &Supply| {
        let starts = |file: &String| row.stems.iter().any(|stem| file.starts_with(stem.as_str()));
        rows_of(name).iter().flat_map(|entry| &entry.row.files).any(starts)
    };
    let row = matrix::libraries().supply.iter().find(|row| supplies(row))?;
    Some(match row.layer {
        SuppliedLayer::Cuda => Package::Cuda,
        SuppliedLayer::Cudnn => Package::Cudnn,
    })
}

/// Whether a distribution is one that nobody asks for by name: a file that lists it records what is installed.
#[must_use]
pub fn is_brought_along(name: Name) -> bool {
    let others = &matrix::libraries().brought_along.names;
    is_library(name) || others.iter().any(|other| other == name.as_str())
}

/// Which libraries a process finds first.
#[must_use]
pub fn search_order() -> &'static SearchOrder {
    &matrix::libraries().search_order
}

/// What is known of a second cuDNN on a platform where builds of torch carry theirs inside.
#[must_use]
pub fn second_cudnn(platform: Platform) -> Option<&'static SecondCudnn> {
    let row = &matrix::libraries().second_cudnn;
    row.platforms.iter().any(|other| other == platform.as_str()).then_some(row)
}

/// The projects whose wheels supply the shared library `file` (`libcudart.so.12`, `cudart64_12.dll`), in the order of
/// the matrix.
#[must_use]
pub fn suppliers(file: &str) -> Vec<Name> {
    let rows = matrix::libraries().library.iter();
    let rows = rows.filter(|row| row.files.iter().any(|other| other.eq_ignore_ascii_case(file)));
    let mut names: Vec<Name> = Vec::new();
    for name in rows.map(|row| row.name) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The wheel of a CUDA major version that supplies `file`, and its versions that do. One name of a library can be in wheels of
/// two CUDA versions (`libcusolver.so.11`).
#[must_use]
pub fn supplying(file: &str, cuda_major: Option<u64>) -> Option<(Name, Range)> {
    let of_cuda = |name: &Name| rows_of(*name).iter().find_map(|entry| entry.row.cuda);
    let names = suppliers(file);
    let name = names
        .iter()
        .find(|name| of_cuda(name) == cuda_major)
        .or_else(|| names.iter().find(|name| of_cuda(name).is_none()))?;
    let has = |entry: &&Entry| entry.row.files.iter().any(|other| other == file);
    let versions = rows_of(*name).iter().filter(has);
    Some((*name, versions.fold(Range::empty(), |all, entry| all.union(&entry.versions))))
}

/// Whether `file` is the library of a wheel that programs link, and none of the parts that this one opens.
#[must_use]
pub fn is_main_file(name: Name, file: &str) -> bool {
    rows_of(name).iter().any(|entry| entry.row.files.first().is_some_and(|first| first == file))
}

/// The shared libraries that a version of a wheel supplies.
#[must_use]
pub fn files(name: Name, version: &DistVersion) -> Vec<&'static str> {
    let build = Version::from(version.clone());
    let rows = rows_of(name).iter().filter(|entry| entry.versions.contains(&build));
    rows.flat_map(|entry| entry.row.files.iter().map(String::as_str)).collect()
}

/// The folder under site-packages in which a version of a wheel has its libraries (`lib` on Linux, `bin` on Windows).
#[must_use]
pub fn library_path(name: Name, version: &DistVersion) -> Option<&'static str> {
    let build = Version::from(version.clone());
    let mut rows = rows_of(name).iter().filter(|entry| entry.versions.contains(&build));
    rows.find_map(|entry| entry.row.path.as_deref())
}

/// Which cuDNN serves a program that was built with `built`: the same major version, and no older minor.
#[must_use]
pub fn cudnn_abi(built: &SystemVersion) -> Limit {
    let (minor, major) = (built.major_minor(), built.major());
    let text = format!("built with cuDNN {minor}, it runs with cuDNN {minor} and later {major}.x");
    Limit {
        package: Package::Cudnn,
        range: between(minor, whole(major + 1)),
        fact: fact(Rule::CudnnAbi, text, &matrix::libraries().cudnn_abi.source),
    }
}

/// The cuDNN versions that exist, ascending.
#[must_use]
pub fn known_cudnn() -> Vec<SystemVersion> {
    let rows = matrix::libraries().cudnn_release.iter();
    rows.flat_map(|row| &row.versions).cloned().collect()
}

#[cfg(test)]
mod tests;
