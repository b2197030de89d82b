//! A folder of installed packages: what its shared libraries ask for, and what of its files is damaged.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding, Target};
use crate::audit::question::{Damage, Object, Unresolved};
use crate::audit::sink::Sink;
use crate::name::Name;
use crate::package::Package;
use crate::rules::library;

/// What the source of a fact is called.
const SECTION: &str = "dynamic section of the file";

/// A shared library, and a name that it asks for.
type Asks<'a> = (&'a Object, &'a Unresolved);

/// What the shared libraries of a folder ask for.
#[derive(Default)]
pub(super) struct Objects<'a> {
    /// CUDA libraries that are asked for and not there, with the library that asks.
    missing: Vec<Asks<'a>>,
    /// The distributions that ask for CUDA libraries and find all of them.
    pub(super) served: BTreeSet<Name>,
}

impl<'a> Objects<'a> {
    /// Nothing, where no folder was read; the libraries of an image are not in the folder.
    pub(super) fn of(case: &Case<'a>) -> Self {
        let folder = case.question.folder.as_ref().filter(|_| case.question.image.is_none());
        let Some(folder) = folder else { return Self::default() };
        let mut missing = Vec::new();
        for object in &folder.objects {
            let of_cuda = object.unresolved.iter().filter(|u| is_of_cuda(&u.soname));
            missing.extend(of_cuda.map(|unresolved| (object, unresolved)));
        }
        let lacking: BTreeSet<Name> =
            missing.iter().filter_map(|(object, _)| object.owner).collect();
        let asking = folder
            .objects
            .iter()
            .filter(|object| object.needed.iter().any(|name| is_of_cuda(name)));
        let served = asking.filter_map(|o| o.owner).filter(|name| !lacking.contains(name));
        Self { missing, served: served.collect() }
    }
}

/// Libraries that are asked for and not there.
pub(in crate::audit) fn objects(case: &Case<'_>, sink: &mut Sink<'_>) {
    let mut groups: BTreeMap<(Option<Name>, Code), Vec<Asks<'_>>> = BTreeMap::new();
    for (object, unresolved) in Objects::of(case).missing {
        groups.entry((object.owner, code(unresolved))).or_default().push((object, unresolved));
    }
    for ((package, code), found) in groups {
        sink.push(lacks(case, package, code, &found));
    }
}

/// Whether a name is one of NVIDIA's libraries that come with wheels or the toolkit; those of the driver do not.
fn is_of_cuda(soname: &str) -> bool {
    !library::suppliers(soname).is_empty() || stem_is_supplied(soname)
}

/// Whether another version of the library is supplied by a wheel: `libcublas.so.11` is known by `libcublas.so.12`.
fn stem_is_supplied(soname: &str) -> bool {
    let Some((stem, version)) = soname.split_once(".so.") else { return false };
    let major: Option<u32> = version.split('.').next().and_then(|text| text.parse().ok());
    let Some(major) = major else { return false };
    // Neighbours in both directions: majors of CUDA, of cuDNN and of the single libraries.
    let near = major.saturating_sub(3)..=major.saturating_add(3);
    near.into_iter().any(|major| {
        let names = [format!("{stem}.so.{major}"), format!("{stem}.so.{major}.0")];
        names.iter().any(|name| !library::suppliers(name).is_empty())
    })
}

/// Whether a name is a library of cuDNN, in whichever version.
fn is_cudnn(found: &Unresolved) -> bool {
    let names = std::iter::once(&found.soname).chain(&found.others);
    names
        .flat_map(|name| library::suppliers(name))
        .any(|name| library::brings(name) == Some(Package::Cudnn))
}

fn code(found: &Unresolved) -> Code {
    match found.others.first() {
        None => Code::LibraryMissing,
        Some(_) if is_cudnn(found) => Code::CudnnMismatch,
        Some(_) => Code::CudaMajorMismatch,
    }
}

fn facts(found: &[Asks<'_>]) -> Vec<FactText> {
    let mut by_library: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (object, unresolved) in found {
        by_library.entry(&object.path).or_default().push(&unresolved.soname);
    }
    by_library
        .into_iter()
        .map(|(path, names)| {
            FactText::new(format!("{path} asks for {}", names.join(", ")), SECTION)
        })
        .collect()
}

/// Names of TensorRT: only its own provider asks for them.
fn is_optional(soname: &str) -> bool {
    soname.starts_with("libnvinfer") || soname.starts_with("libnvonnxparser")
}

fn lacks(case: &Case<'_>, package: Option<Name>, code: Code, found: &[Asks<'_>]) -> Finding {
    let names: BTreeSet<&str> = found.iter().map(|(_, one)| one.soname.as_str()).collect();
    let others: BTreeSet<&str> =
        found.iter().flat_map(|(_, one)| one.others.iter().map(String::as_str)).collect();
    let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let subject = match package {
        Some(name) => case.title(Package::dist(name)),
        None => found.first().map(|(object, _)| object.path.clone()).unwrap_or_default(),
    };
    let message = if others.is_empty() {
        format!("{subject} asks for libraries that are not installed: {}", list(&names))
    } else {
        format!("{subject} asks for {}, and {} is installed", list(&names), list(&others))
    };
    let suppliers: BTreeSet<Name> =
        names.iter().filter_map(|name| library::suppliers(name).into_iter().next()).collect();
    let optional = names.iter().all(|name| is_optional(name));
    let first = names.iter().next().copied().unwrap_or_default();
    let mut finding = Finding::new(code, message)
        .at(package.and_then(|name| case.question.line_naming(name)))
        .on(if others.is_empty() { Target::Libraries } else { Target::Requirements })
        .opposing(names.iter().flat_map(|name| library::suppliers(name)))
        .unless(if optional { Doubt::Optional } else { Doubt::None })
        .otherwise(format!("{first}: cannot open shared object file: No such file or directory"));
    finding.package = package;
    finding.facts = facts(found);
    finding.facts.extend(
        others.iter().map(|name| FactText::new(format!("{name} is installed"), "the folder")),
    );
    if !suppliers.is_empty() {
        let suppliers: BTreeSet<&str> = suppliers.iter().map(|name| name.as_str()).collect();
        finding.fix = Some(format!("install {}", list(&suppliers)));
    }
    finding
}

/// Files that are gone, or that another distribution wrote over.
pub(in crate::audit) fn damaged(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some(folder) = &case.question.folder else { return };
    let mut groups: BTreeMap<(&str, bool), Vec<&Damage>> = BTreeMap::new();
    for found in &folder.damaged {
        // A file of another size that nobody else lists was changed on purpose: stripped, or patched.
        if found.gone || found.rival.is_some() {
            groups.entry((found.title.as_str(), found.gone)).or_default().push(found);
        }
    }
    for ((title, gone), files) in groups {
        let Some(first) = files.first() else { continue };
        let rival = files.iter().find_map(|file| file.rival.as_ref());
        let more =
            if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
        let path = &first.path;
        let (code, text) = match (gone, rival) {
            (false, Some((_, rival))) => {
                (Code::ModuleClash, format!("{rival} wrote over {path}{more} of {title}"))
            }
            _ => (Code::LibraryMissing, format!("{title} installed {path}{more}, which is gone")),
        };
        let mut finding = Finding::new(code, text.clone())
            .at(first.name.and_then(|name| case.question.line_naming(name)))
            .because(FactText::new(text, "RECORD"))
            .opposing(rival.and_then(|(name, _)| *name))
            .on(Target::Overwritten)
            .advise(format!("pip install --force-reinstall --no-deps {}", first.pin));
        finding.package = first.name;
        sink.push(finding);
    }
}
