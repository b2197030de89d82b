//! Where each package is installed from, as the lock has it; and what the lock that is there says of repositories.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cuda_lock_constraint::catalog::Place;
use cuda_lock_constraint::digest::sha256_hex;
use cuda_lock_constraint::solve::{Chosen, is_url_source};
use cuda_lock_fetcher::KnownCommit;
use cuda_lock_formats::pylock::{
    LockedArchive, LockedDirectory, LockedFile, LockedVcs, Origin, Pylock, strip_credentials,
};
use url::Url;

use crate::kept::Kept;

/// Where a build is from. Paths are relative to `folder`, that of the lock.
#[must_use]
pub fn origin(chosen: &Chosen, folder: &Path) -> Origin {
    let mut file = LockedFile {
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
    match &chosen.place {
        Some(Place::Repository { url, requested, commit, subdirectory }) => {
            return Origin::Vcs(LockedVcs {
                kind: "git".to_owned(),
                url: Some(strip_credentials(url).into_owned()),
                path: None,
                requested_revision: requested.clone(),
                commit_id: commit.clone(),
                subdirectory: subdirectory.clone(),
            });
        }
        Some(Place::Folder { path }) => {
            return Origin::Directory(LockedDirectory {
                path: relative(Path::new(path), folder),
                editable: false,
                subdirectory: None,
            });
        }
        Some(Place::Archive { .. }) | None => {}
    }
    if is_url_source(chosen.version.source()) {
        let address = chosen.file.url.split('#').next().unwrap_or_default();
        // An archive is known by its place; a lock does not write its name.
        file.name = None;
        match Url::parse(address).ok().filter(|url| url.scheme() == "file") {
            Some(url) => {
                file.url = None;
                file.path = url.to_file_path().ok().map(|path| relative(&path, folder));
            }
            None => file.url = Some(address.to_owned()),
        }
        let subdirectory = match &chosen.place {
            Some(Place::Archive { subdirectory }) => subdirectory.clone(),
            _ => None,
        };
        return Origin::Archive(LockedArchive { file, subdirectory });
    }
    if chosen.file.filename.ends_with(".whl") {
        Origin::Index { sdist: None, wheels: vec![file] }
    } else {
        Origin::Index { sdist: Some(file), wheels: Vec::new() }
    }
}

/// A path from a folder, with `/` on every system.
fn relative(path: &Path, folder: &Path) -> String {
    let (Ok(path), Ok(folder)) = (plain(path), plain(folder)) else {
        return path.to_string_lossy().into_owned();
    };
    let shared = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return path.to_string_lossy().into_owned();
    }
    let up = folder.components().skip(shared).map(|_| "..".to_owned());
    let down = path.components().skip(shared);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// An absolute path without `.` and `..`.
fn plain(path: &Path) -> std::io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let mut found = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    Ok(found)
}

/// The commits that a lock has of packages that do not move. A lock that cannot be read has none.
pub fn commits(lock: &Path, kept: &Kept) -> Vec<KnownCommit> {
    let text = fs_err::read_to_string(lock).unwrap_or_default();
    let Ok(lock) = Pylock::parse(&text, &lock.display().to_string()) else { return Vec::new() };
    let known = |package: &cuda_lock_formats::pylock::LockedPackage| match &package.origin {
        Origin::Vcs(vcs) if !kept.moves(package.name) => Some(KnownCommit {
            url: vcs.url.clone()?,
            requested: vcs.requested_revision.clone(),
            commit: vcs.commit_id.clone(),
        }),
        _ => None,
    };
    lock.packages.iter().filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_lock() {
        for (path, folder, expected) in [
            ("/a/b/c", "/a/b", "c"),
            ("/a/x/c", "/a/b", "../x/c"),
            ("/a/b", "/a/b", "."),
            ("/a/b/../d", "/a", "d"),
        ] {
            assert_eq!(relative(Path::new(path), Path::new(folder)), expected, "{path}");
        }
    }
}
