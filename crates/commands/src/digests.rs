//! Digests of wheels whose index publishes none.
//!
//! A digest from the lock that is there is kept for the same address. Only when it is asked for is a wheel downloaded to
//! learn its digest: these files have gigabytes. Otherwise the lock pins by address, and says so.

use cuda_lock_constraint::catalog::{CatalogError, Place};
use cuda_lock_constraint::solve::{Solution, is_url_source};
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::pylock::{LockedFile, Origin, Pylock};
use url::Url;

/// The largest wheel that is downloaded for its digest: 8 GiB, above every wheel that is known.
const LARGEST: u64 = 8 << 30;

/// Fills in what is missing. `download` is `None` when nothing of an index may be downloaded,
/// `references` when nothing may be that a direct reference names. Returns a line for each file that is
/// left without a digest.
///
/// # Errors
/// When a download fails.
pub fn complete(
    solution: &mut Solution,
    lock: Option<&Pylock>,
    download: Option<&Fetcher>,
    references: Option<&Fetcher>,
) -> Result<Vec<String>, CatalogError> {
    let mut without = Vec::new();
    for (name, chosen) in &mut solution.builds {
        let is_tree = matches!(chosen.place, Some(Place::Repository { .. } | Place::Folder { .. }));
        if chosen.file.sha256.is_some() || is_tree {
            continue;
        }
        // What a person names by its address is downloaded once to learn its digest.
        let is_reference = is_url_source(chosen.version.source());
        let download = if is_reference { references } else { download };
        let address = chosen.file.url.split('#').next().unwrap_or_default();
        if let Some(known) = lock.and_then(|lock| locked(lock, address)) {
            let (digest, size) = known;
            chosen.file.sha256 = Some(digest);
            chosen.file.size = chosen.file.size.or(size);
            continue;
        }
        match (download, Url::parse(address)) {
            (Some(fetcher), Ok(url)) => {
                let (digest, size) = fetcher.download_sha256(&url, LARGEST)?;
                chosen.file.sha256 = Some(digest);
                chosen.file.size = Some(size);
            }
            _ => without.push(format!(
                "the index publishes no digest for {}, so {name} is pinned by its address alone; --hash-missing downloads \
                 it once to learn the digest",
                chosen.file.filename
            )),
        }
    }
    Ok(without)
}

/// The digest and the length that a lock has for an address.
fn locked(lock: &Pylock, url: &str) -> Option<([u8; 32], Option<u64>)> {
    let files = lock.packages.iter().flat_map(|package| match &package.origin {
        Origin::Index { sdist, wheels } => sdist.iter().chain(wheels).collect::<Vec<&LockedFile>>(),
        Origin::Archive(archive) => vec![&archive.file],
        Origin::Vcs(_) | Origin::Directory(_) => Vec::new(),
    });
    files.filter(|file| file.url.as_deref() == Some(url)).find_map(|file| {
        let digest = cuda_lock_constraint::digest::parse_sha256(file.hashes.get("sha256")?)?;
        Some((digest, file.size))
    })
}
