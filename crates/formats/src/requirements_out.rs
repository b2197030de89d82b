//! The lock as a requirements.txt that pip installs with `--require-hashes`.
//!
//! Every wheel of the lock is one pin with its digest, so pip can take no other file: an sdist or another wheel of the
//! same version has another digest. That is also why there is no `--only-binary` line, which would hold for every other
//! file that is given to the same pip command.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cuda_lock_constraint::name::Name;

use crate::pylock::{LockedBuild, LockedFile, LockedPackage, Origin, Pylock, strip_credentials};

/// What the lock does not know.
#[derive(Clone, Copy, Debug)]
pub struct RequirementsStyle<'a> {
    /// The command that writes the file anew, for its first lines: `cuda-lock resolve`.
    pub command: &'a str,
    /// The index that pip asks when it is told nothing. Packages from there need no index line.
    pub pip_default: &'a str,
    /// What env.toml is called in comments, for packages that it names itself.
    pub manifest: &'a str,
}

/// A package that a requirements.txt cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequirementsError {
    /// It has neither an address nor a version.
    #[error("{0} has neither a version nor an address, so requirements.txt cannot pin it")]
    NotPinned(Name),
}

/// Writes `lock` as requirements.txt: packages by name, LF, one final newline. Equal locks give equal text.
///
/// When an index publishes no digest for one of the wheels, no package gets a digest, since pip wants all or none; the
/// first lines say so.
///
/// # Errors
/// When a package has neither version nor address.
pub fn requirements_txt(
    lock: &Pylock,
    style: RequirementsStyle<'_>,
) -> Result<String, RequirementsError> {
    let mut packages: Vec<&LockedPackage> = lock.packages.iter().collect();
    packages.sort_by(|a, b| (a.name, &a.version, &a.marker).cmp(&(b.name, &b.version, &b.marker)));
    let unhashed: BTreeSet<Name> =
        packages.iter().filter(|p| digests(p).is_empty()).map(|p| p.name).collect();
    let via = reasons(lock, style.manifest);

    let mut out = String::new();
    let _ = writeln!(out, "# This file was written by cuda-lock. To write it anew, run:");
    let _ = writeln!(out, "#     {}", style.command);
    if !unhashed.is_empty() {
        let names: Vec<&str> = unhashed.iter().map(|name| name.as_str()).collect();
        let _ = writeln!(out, "# Without digests, which these have none of: {}", names.join(", "));
    }
    let built = lock.tool.as_ref().map(|tool| tool.built.as_slice()).unwrap_or_default();
    build_lines(&mut out, built);
    index_lines(&mut out, lock, &packages, style.pip_default);
    for package in packages {
        out.push_str(&pin(package)?);
        if let Some(marker) = &package.marker {
            let _ = write!(out, " ; {marker}");
        }
        if unhashed.is_empty() {
            for digest in digests(package) {
                let _ = write!(out, " \\\n    --hash={digest}");
            }
        }
        out.push('\n');
        match via.get(&package.name).map(|set| set.iter().collect::<Vec<_>>()).as_deref() {
            None | Some([]) => {}
            Some([one]) => {
                let _ = writeln!(out, "    # via {one}");
            }
            Some(several) => {
                out.push_str("    # via\n");
                for one in several {
                    let _ = writeln!(out, "    #   {one}");
                }
            }
        }
    }
    Ok(out)
}

/// What is built, what that needs, and in which order it is installed then.
fn build_lines(out: &mut String, built: &[LockedBuild]) {
    for package in built {
        let needs = if package.needs.is_empty() {
            String::new()
        } else {
            format!(": that needs {}", package.needs.join(", "))
        };
        let _ = writeln!(out, "# {} is built when it is installed{needs}", package.name);
    }
    let within: Vec<&str> = built
        .iter()
        .filter(|package| package.in_environment)
        .map(|package| package.name.as_str())
        .collect();
    if !within.is_empty() {
        let names = within.join(", ");
        let _ = writeln!(
            out,
            "# Install everything but {names} first, with setuptools and wheel; then this file with"
        );
        let _ = writeln!(
            out,
            "# --no-build-isolation: the build must find what is pinned here, not something newer"
        );
    }
}

/// `--index-url`, `--extra-index-url` and `--find-links`, as few as will do.
fn index_lines(out: &mut String, lock: &Pylock, packages: &[&LockedPackage], pip_default: &str) {
    let same = |a: &str, b: &str| a.trim_end_matches('/') == b.trim_end_matches('/');
    let known = lock.tool.as_ref().map(|tool| tool.indexes.as_slice()).unwrap_or_default();
    let mut used: Vec<String> = Vec::new();
    for index in packages.iter().filter_map(|package| package.index.as_deref()) {
        let index = strip_credentials(index);
        if !used.iter().any(|other| same(other, &index)) {
            used.push(index.into_owned());
        }
    }
    // In the order they were asked; those that the lock does not list come last, by address.
    used.sort_by_key(|url| {
        let place = known.iter().position(|index| same(&strip_credentials(&index.url), url));
        (place.unwrap_or(usize::MAX), url.clone())
    });
    let is_flat = |url: &str| {
        known.iter().any(|index| index.flat && same(&strip_credentials(&index.url), url))
    };
    let (flat, simple): (Vec<String>, Vec<String>) = used.into_iter().partition(|url| is_flat(url));
    let needs_default = simple.is_empty() || simple.iter().any(|url| same(url, pip_default));
    let mut option = if needs_default { "--extra-index-url" } else { "--index-url" };
    for url in simple.iter().filter(|url| !same(url, pip_default)) {
        let _ = writeln!(out, "{option} {url}");
        option = "--extra-index-url";
    }
    for url in flat {
        let _ = writeln!(out, "--find-links {url}");
    }
}

/// `name==version`, or `name @ address`.
fn pin(package: &LockedPackage) -> Result<String, RequirementsError> {
    let name = package.name;
    let address = match &package.origin {
        Origin::Index { .. } => {
            let version = package.version.as_ref();
            return version
                .map(|version| format!("{name}=={version}"))
                .ok_or(RequirementsError::NotPinned(name));
        }
        Origin::Archive(archive) => {
            let place = archive.file.url.as_deref().map(strip_credentials);
            let place = place.or_else(|| archive.file.path.as_deref().map(Into::into));
            place.map(|place| with_subdirectory(&place, archive.subdirectory.as_deref()))
        }
        Origin::Vcs(vcs) => vcs.url.as_deref().or(vcs.path.as_deref()).map(|place| {
            let place = strip_credentials(place);
            let place = format!("{}+{place}@{}", vcs.kind, vcs.commit_id);
            with_subdirectory(&place, vcs.subdirectory.as_deref())
        }),
        Origin::Directory(directory) => {
            Some(with_subdirectory(&directory.path, directory.subdirectory.as_deref()))
        }
    };
    let address = address.ok_or(RequirementsError::NotPinned(name))?;
    // PEP 508 knows addresses only; pip takes a path as a line of its own.
    if !address.contains("://") {
        let is_path = address.starts_with(['.', '/']) || address.contains(':');
        return Ok(if is_path { address } else { format!("./{address}") });
    }
    // A marker after an address needs the space that the caller writes before its `;`.
    Ok(format!("{name} @ {address}"))
}

fn with_subdirectory(place: &str, subdirectory: Option<&str>) -> String {
    match subdirectory {
        Some(folder) => format!("{place}#subdirectory={folder}"),
        None => place.to_owned(),
    }
}

/// The sha256 digests of a package's files as `sha256:...`, in order.
fn digests(package: &LockedPackage) -> BTreeSet<String> {
    let files: Vec<&LockedFile> = match &package.origin {
        Origin::Index { sdist, wheels } if wheels.is_empty() => sdist.iter().collect(),
        Origin::Index { wheels, .. } => wheels.iter().collect(),
        Origin::Archive(archive) => vec![&archive.file],
        Origin::Vcs(_) | Origin::Directory(_) => Vec::new(),
    };
    let digest = |file: &LockedFile| file.hashes.get("sha256").map(|hex| format!("sha256:{hex}"));
    files.into_iter().filter_map(digest).collect()
}

/// Who asks for each package.
fn reasons(lock: &Pylock, manifest: &str) -> BTreeMap<Name, BTreeSet<String>> {
    let mut via: BTreeMap<Name, BTreeSet<String>> = BTreeMap::new();
    for package in &lock.packages {
        for dependency in &package.dependencies {
            via.entry(dependency.name).or_default().insert(package.name.to_string());
        }
    }
    for requirement in lock.tool.iter().flat_map(|tool| &tool.requirements) {
        let end = requirement
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .unwrap_or(requirement.len());
        if let Some(Ok(name)) = requirement.get(..end).map(Name::new) {
            via.entry(name).or_default().insert(manifest.to_owned());
        }
    }
    via
}

#[cfg(test)]
mod tests;
