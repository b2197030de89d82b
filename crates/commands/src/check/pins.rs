//! What a new solve, with the pins preferred, does with each pin.

use std::collections::BTreeMap;

use cuda_lock_constraint::catalog::{CatalogError, File};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::solve::range_text;
use cuda_lock_constraint::version::{DistVersion, SourceId, Version};
use cuda_lock_formats::pylock::{
    LockMetadata, LockedFile, LockedPackage, Origin, Pylock, strip_credentials,
};
use pep440_rs::Version as Pep440;

use super::reason::Reason;
use crate::failure::Failure;
use crate::lock::Answer;
use crate::run::Run;

/// Every pin that is not chosen again as it is, with the reason where one can be found.
pub fn moved(
    run: &Run,
    old: &Pylock,
    new: &Pylock,
    answer: &Answer<'_>,
    other_facts: bool,
) -> Result<Vec<Reason>, Failure> {
    let chosen: BTreeMap<Name, &LockedPackage> =
        new.packages.iter().map(|package| (package.name, package)).collect();
    let locked: BTreeMap<Name, &LockedPackage> =
        old.packages.iter().map(|package| (package.name, package)).collect();
    let mut reasons = Vec::new();
    for (name, was) in &locked {
        let version = was.version.as_ref();
        let pin = pin(was);
        match chosen.get(name) {
            Some(is) if is.version == was.version => {
                reasons.extend(other_file(&pin, was, is).map(Reason::Pin));
            }
            is => {
                let why = match version {
                    Some(version) => cause(run, was, version, answer)?,
                    None => None,
                };
                let what = match is.and_then(|is| is.version.as_ref()) {
                    Some(now) => format!("{pin} does not hold any more ({now} does)"),
                    None => format!("{pin} is not needed any more"),
                };
                reasons.push(match why {
                    Some(why) => Reason::Pin(format!("{what}: {why}")),
                    None if other_facts => Reason::Facts(what),
                    None => Reason::Pin(what),
                });
            }
        }
    }
    let added = chosen.iter().filter(|(name, _)| !locked.contains_key(*name));
    reasons
        .extend(added.map(|(_, is)| Reason::Pin(format!("{} is needed and not locked", pin(is)))));
    Ok(reasons)
}

/// The facts about the system that came out differently.
pub fn changed_facts(
    old: &LockMetadata,
    new: Option<&LockMetadata>,
) -> impl Iterator<Item = String> {
    let mut changes = Vec::new();
    if let Some(new) = new {
        let mut layer = |label: &str, old: String, new: String| {
            if old != new {
                changes.push(format!("{label} {old} → {new}"));
            }
        };
        let text =
            |version: &Option<_>| version.as_ref().map_or("none".to_owned(), ToString::to_string);
        layer("CUDA", text(&old.cuda), text(&new.cuda));
        layer("cuDNN", text(&old.cudnn), text(&new.cudnn));
        layer("minimum driver", text(&old.minimum_driver), text(&new.minimum_driver));
        let list = |tool: &LockMetadata| {
            tool.capabilities.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        layer("compute capabilities", list(old), list(new));
        if old.loading.len() != new.loading.len() {
            changes.push("what a program must do to find its libraries".to_owned());
        }
    }
    changes.into_iter()
}

/// Gives `new` the revision of the old facts, and their words where it explains itself: other words for the same answer are
/// no reason to write a lock anew.
pub fn take_words(new: &mut LockMetadata, old: &LockMetadata) {
    new.matrices.clone_from(&old.matrices);
    new.constraints.clone_from(&old.constraints);
    new.loading.clone_from(&old.loading);
}

fn pin(package: &LockedPackage) -> String {
    match &package.version {
        Some(version) => format!("{} {version}", package.name),
        None => package.name.to_string(),
    }
}

/// The same version with another file, or from another place.
fn other_file(pin: &str, was: &LockedPackage, is: &LockedPackage) -> Option<String> {
    if was.index != is.index {
        let index =
            |package: &LockedPackage| package.index.clone().unwrap_or_else(|| "a URL".to_owned());
        return Some(format!("{pin} comes from {}, the lock has {}", index(is), index(was)));
    }
    let (old, new) = (file(was)?, file(is)?);
    if old == new {
        return None;
    }
    let name =
        |file: &LockedFile| file.filename().map(|name| name.into_owned()).unwrap_or_default();
    if name(old) != name(new) {
        return Some(format!(
            "{pin}: the file to install is {}, the lock has {}",
            name(new),
            name(old)
        ));
    }
    if old.hashes != new.hashes {
        let digest = |file: &LockedFile| {
            file.hashes
                .get("sha256")
                .map_or("none".to_owned(), |digest| digest.chars().take(12).collect())
        };
        let text = format!(
            "{pin}: the index states sha256 {}… for {}, the lock has {}…",
            digest(new),
            name(new),
            digest(old)
        );
        return Some(text);
    }
    let text = "what the index says of";
    Some(format!(
        "{pin}: {text} {} is not what the lock has (address, size or upload time)",
        name(new)
    ))
}

fn file(package: &LockedPackage) -> Option<&LockedFile> {
    match &package.origin {
        Origin::Index { sdist, wheels } => wheels.first().or(sdist.as_ref()),
        Origin::Archive(archive) => Some(&archive.file),
        Origin::Vcs(_) | Origin::Directory(_) => None,
    }
}

/// Why a pin was not taken again: what its index says of it now, or what stands against it.
fn cause(
    run: &Run,
    was: &LockedPackage,
    version: &Pep440,
    answer: &Answer<'_>,
) -> Result<Option<String>, CatalogError> {
    let Some(index) = &was.index else { return Ok(None) };
    let same =
        |url: &str| strip_credentials(url).trim_end_matches('/') == index.trim_end_matches('/');
    let Some(known) = run.sources.all.iter().find(|known| same(known.config.url.public().as_str()))
    else {
        return Ok(Some(format!("its index {index} is not asked any more")));
    };
    let source = known.source.id;
    let place = &known.source.name;
    let Some(project) = run.catalog.project(source, was.name)? else {
        return Ok(Some(format!("{place} has no {} any more", was.name)));
    };
    let Ok(row) = project.versions.binary_search(version) else {
        return Ok(Some(format!("{place} does not list it any more")));
    };
    let files = project.files.files(row);
    Ok(withdrawn(was, &files)
        .or_else(|| too_new(&files, answer))
        .or_else(|| excluded(was.name, version, source, answer)))
}

/// The locked file is yanked or gone.
fn withdrawn(was: &LockedPackage, files: &[File]) -> Option<String> {
    let name = file(was)?.filename()?;
    match files.iter().find(|file| file.filename == *name) {
        None => Some(format!("{name} is gone from its index")),
        Some(file) => {
            let reason = file.yanked.as_deref()?;
            let reason = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            Some(format!("its author withdrew it{reason}"))
        }
    }
}

fn too_new(files: &[File], answer: &Answer<'_>) -> Option<String> {
    let cutoff = answer.problem.policy.exclude_newer?;
    let newer = |file: &File| file.upload_time.is_none_or(|time| time >= cutoff);
    files.iter().all(newer).then(|| format!("it was uploaded after exclude-newer, {cutoff}"))
}

/// What the answer needs that the old pin does not give.
fn excluded(name: Name, version: &Pep440, source: SourceId, answer: &Answer<'_>) -> Option<String> {
    let old = Version::Dist(DistVersion::new(version.clone(), source));
    let against = answer.solution.constraints.iter().find(|constraint| {
        constraint.package.dist_name() == Some(name) && !constraint.range.contains(&old)
    })?;
    let (subject, at) = &against.subject;
    let subject = match subject.dist_name() {
        Some(subject) => format!("{subject} {at}"),
        None => "env.toml".to_owned(),
    };
    Some(format!("{subject} needs {name} {}", range_text(&against.range, &[])))
}
