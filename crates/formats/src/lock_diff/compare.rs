//! Finds what moved.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use cuda_lock_constraint::machine::Libraries;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SystemVersion;
use pep440_rs::Version;

use super::{Kind, Layer, LockDiff, Moved, Pair, Regression, is_stack};
use crate::pylock::{
    LockMetadata, LockedFile, LockedMachine, LockedPackage, Origin, Pylock, strip_credentials,
};

impl LockDiff {
    /// Compares two locks. A lock that another program wrote knows nothing of the system.
    #[must_use]
    pub fn new(old: &Pylock, new: &Pylock) -> Self {
        let tools = Pair { old: old.tool.as_ref(), new: new.tool.as_ref() };
        let (stack, packages) = packages(old, new);
        let cover = |tool: Option<&LockMetadata>| -> BTreeSet<SystemVersion> {
            tool.iter().flat_map(|tool| tool.capabilities.iter().cloned()).collect()
        };
        let (before, after) = (cover(tools.old), cover(tools.new));
        let only = |a: &BTreeSet<SystemVersion>, b: &BTreeSet<SystemVersion>| {
            a.difference(b).map(architecture).collect::<Vec<_>>()
        };
        let (lost, gained) = (only(&before, &after), only(&after, &before));
        let (no_longer_asked, asked) = apart(&tools, |tool| &tool.requirements);
        let (_, loading) = apart(&tools, |tool| &tool.loading);
        Self {
            layers: layers(&tools),
            regressions: regressions(&tools, &lost),
            gained,
            lost,
            stack,
            packages,
            machine: machine(&tools),
            asked,
            no_longer_asked,
            loading,
            download: Pair { old: download(old), new: download(new) },
            other_facts: matches!((tools.old, tools.new), (Some(a), Some(b)) if a.matrices != b.matrices),
        }
    }
}

type Tools<'a> = Pair<&'a LockMetadata>;

fn layers(tools: &Tools<'_>) -> Vec<Layer> {
    type Get = fn(&LockMetadata) -> Option<String>;
    let known: [(&'static str, Get); 4] = [
        ("Python", |tool| Some(tool.python.clone())),
        ("CUDA", |tool| text(tool.cuda.as_ref())),
        ("cuDNN", |tool| text(tool.cudnn.as_ref())),
        ("minimum driver", |tool| text(tool.minimum_driver.as_ref())),
    ];
    let layers = known.into_iter().map(|(name, get)| layer(name, tools, get));
    layers.filter(|layer| layer.value.old.is_some() || layer.value.new.is_some()).collect()
}

fn machine(tools: &Tools<'_>) -> Vec<Layer> {
    type Get = fn(&LockedMachine) -> Option<String>;
    let keys: [(&'static str, Get); 8] = [
        ("platform", |machine| text(Some(&machine.platform))),
        ("glibc", |machine| text(machine.glibc.as_ref())),
        ("musl", |machine| text(machine.musl.as_ref())),
        ("macos", |machine| text(machine.macos.as_ref())),
        ("driver", |machine| text(machine.driver.as_ref())),
        ("gpus", |machine| {
            machine
                .gpus
                .as_ref()
                .map(|gpus| if gpus.is_empty() { "none".to_owned() } else { gpus.join(", ") })
        }),
        ("libraries", |machine| {
            Some(match machine.libraries {
                Libraries::Wheels => "wheels".to_owned(),
                Libraries::System => "system".to_owned(),
            })
        }),
        ("image", |machine| machine.image.clone()),
    ];
    // A machine that only one lock knows is no change of it.
    if tools.old.is_none() || tools.new.is_none() {
        return Vec::new();
    }
    let layers = keys.into_iter().map(|(name, get)| layer(name, tools, |tool| get(&tool.machine)));
    layers.filter(Layer::changed).collect()
}

fn layer(
    name: &'static str,
    tools: &Tools<'_>,
    get: impl Fn(&LockMetadata) -> Option<String>,
) -> Layer {
    Layer { name, value: Pair { old: tools.old.and_then(&get), new: tools.new.and_then(&get) } }
}

fn text(value: Option<&impl Display>) -> Option<String> {
    value.map(ToString::to_string)
}

/// `sm_86`, as NVIDIA names the machine code of a capability.
fn architecture(capability: &SystemVersion) -> String {
    format!("sm_{}{}", capability.major(), capability.minor())
}

/// What only the old and what only the new lock has of a list.
fn apart(
    tools: &Tools<'_>,
    list: impl Fn(&LockMetadata) -> &Vec<String>,
) -> (Vec<String>, Vec<String>) {
    let set = |tool: Option<&LockMetadata>| -> BTreeSet<String> {
        tool.iter().flat_map(|tool| list(tool).iter().cloned()).collect()
    };
    let (old, new) = (set(tools.old), set(tools.new));
    (old.difference(&new).cloned().collect(), new.difference(&old).cloned().collect())
}

fn regressions(tools: &Tools<'_>, lost: &[String]) -> Vec<Regression> {
    let (Some(old), Some(new)) = (tools.old, tools.new) else { return Vec::new() };
    let rose = match (&old.minimum_driver, &new.minimum_driver) {
        (Some(old), Some(new)) if new > old => {
            Some(format!("the minimum driver rose from {old} to {new}"))
        }
        (None, Some(new)) => Some(format!("no driver was needed, now {new} or newer is")),
        _ => None,
    };
    let driver = rose.map(|text| Regression { kind: "minimum-driver", text });
    let gpus = lost.iter().map(|architecture| Regression {
        kind: "gpu",
        text: format!("{architecture} was covered and is not any more"),
    });
    driver.into_iter().chain(gpus).collect()
}

/// The stack, and the rest.
fn packages(old: &Pylock, new: &Pylock) -> (Vec<Moved>, Vec<Moved>) {
    let (before, after) = (by_name(old), by_name(new));
    let names: BTreeSet<Name> = before.keys().chain(after.keys()).copied().collect();
    let mut all = (Vec::new(), Vec::new());
    for name in names {
        let old = before.get(&name).map(Vec::as_slice).unwrap_or_default();
        let new = after.get(&name).map(Vec::as_slice).unwrap_or_default();
        if let Some(change) = change(name, old, new) {
            if is_stack(name) { all.0.push(change) } else { all.1.push(change) }
        }
    }
    all
}

/// A lock of another program may have several versions of one project, told apart by markers.
fn by_name(lock: &Pylock) -> BTreeMap<Name, Vec<&LockedPackage>> {
    let mut map: BTreeMap<Name, Vec<&LockedPackage>> = BTreeMap::new();
    for package in &lock.packages {
        map.entry(package.name).or_default().push(package);
    }
    for packages in map.values_mut() {
        packages.sort_by(|a, b| (&a.version, &a.marker).cmp(&(&b.version, &b.marker)));
    }
    map
}

fn change(name: Name, old: &[&LockedPackage], new: &[&LockedPackage]) -> Option<Moved> {
    let version = Pair { old: versions(old), new: versions(new) };
    let kind = match (old.is_empty(), new.is_empty()) {
        (true, _) => Kind::Added,
        (_, true) => Kind::Removed,
        (false, false) => {
            let same = version.old == version.new;
            if same && same_files(old, new) {
                return None;
            }
            match newest(new).cmp(&newest(old)) {
                _ if same => Kind::Rebuilt,
                Ordering::Greater => Kind::Up,
                Ordering::Less => Kind::Down,
                Ordering::Equal => Kind::Rebuilt,
            }
        }
    };
    let note = if version.old == version.new { Some(rebuilt(old, new)) } else { None };
    Some(Moved { name: name.to_string(), kind, version, note })
}

fn versions(packages: &[&LockedPackage]) -> Option<String> {
    let mut texts: Vec<String> = packages
        .iter()
        .map(|package| {
            package.version.as_ref().map_or("unversioned".to_owned(), ToString::to_string)
        })
        .collect();
    texts.dedup();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// The newest public version: `2.4.1+cu124` is no newer than `2.4.1+cu121`.
fn newest(packages: &[&LockedPackage]) -> Option<Version> {
    packages.iter().filter_map(|package| package.version.clone()).map(Version::without_local).max()
}

fn same_files(old: &[&LockedPackage], new: &[&LockedPackage]) -> bool {
    let digests = |packages: &[&LockedPackage]| -> BTreeSet<String> {
        packages.iter().flat_map(|package| files(package)).map(identity).collect()
    };
    digests(old) == digests(new)
}

fn files(package: &LockedPackage) -> Vec<&LockedFile> {
    match &package.origin {
        Origin::Index { sdist, wheels } => sdist.iter().chain(wheels).collect(),
        Origin::Archive(archive) => vec![&archive.file],
        Origin::Vcs(_) | Origin::Directory(_) => Vec::new(),
    }
}

/// The digest of a file, or its place where none is known.
fn identity(file: &LockedFile) -> String {
    let digest =
        file.hashes.iter().map(|(algorithm, digest)| format!("{algorithm}:{digest}")).next();
    let place =
        || file.url.as_deref().map(strip_credentials).or(file.path.as_deref().map(Into::into));
    digest.unwrap_or_else(|| place().unwrap_or_default().into_owned())
}

/// What is different about builds of one version.
fn rebuilt(old: &[&LockedPackage], new: &[&LockedPackage]) -> String {
    let indexes = |packages: &[&LockedPackage]| -> BTreeSet<String> {
        let addresses = packages.iter().filter_map(|package| package.index.as_deref());
        addresses.map(|index| strip_credentials(index).into_owned()).collect()
    };
    let (before, after) = (indexes(old), indexes(new));
    let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
    if before != after && !after.is_empty() {
        return format!("now from {}", list(&after));
    }
    let names = |packages: &[&LockedPackage]| -> BTreeSet<String> {
        let files = packages.iter().flat_map(|package| files(package));
        files.filter_map(|file| file.filename().map(|name| name.into_owned())).collect()
    };
    let (before, after) = (names(old), names(new));
    if before == after {
        "the same file name with another digest".to_owned()
    } else {
        format!("another file: {}", list(&after))
    }
}

/// The bytes of the first file of each package: all that an installer takes.
fn download(lock: &Pylock) -> Option<u64> {
    let size = |package: &LockedPackage| match &package.origin {
        Origin::Index { sdist, wheels } => {
            wheels.first().or(sdist.as_ref()).and_then(|file| file.size)
        }
        Origin::Archive(archive) => archive.file.size,
        Origin::Vcs(_) | Origin::Directory(_) => None,
    };
    let sizes = lock.packages.iter().map(size);
    sizes.sum::<Option<u64>>().filter(|_| !lock.packages.is_empty() && lock.tool.is_some())
}
