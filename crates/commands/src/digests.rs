//! Digests of wheels whose index publishes none.
//!
//! A digest from the lock that is there is kept for the same address. Only when it is asked for is a wheel downloaded to
//! learn its digest: these files have gigabytes. Otherwise the lock pins by address, and says so.

use cuda_lock_constraint::catalog::CatalogError;
use cuda_lock_constraint::solve::Solution;
use cuda_lock_fetcher::Fetcher;
use cuda_lock_formats::pylock::{LockedFile, Origin, Pylock};
use url::Url;

/// The largest wheel that is downloaded for its digest: 8 GiB, above every wheel that is known.
const LARGEST: u64 = 8 << 30;

/// Fills in what is missing. `download` is `None` when nothing may be downloaded. Returns a line for each file that is
/// left without a digest.
///
/// # Errors
/// When a download fails.
pub fn complete(
    solution: &mut Solution,
    lock: Option<&Pylock>,
    download: Option<&Fetcher>,
) -> Result<Vec<String>, CatalogError> {
    let mut without = Vec::new();
    for (name, chosen) in &mut solution.builds {
        if chosen.file.sha256.is_some() {
            continue;
        }
        if let Some(known) = lock.and_then(|lock| locked(lock, &chosen.file.url)) {
            chosen.file.sha256 = Some(known);
            continue;
        }
        match (download, Url::parse(&chosen.file.url)) {
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

/// The digest that a lock has for an address.
fn locked(lock: &Pylock, url: &str) -> Option<[u8; 32]> {
    let files = lock.packages.iter().flat_map(|package| match &package.origin {
        Origin::Index { sdist, wheels } => sdist.iter().chain(wheels).collect::<Vec<&LockedFile>>(),
        Origin::Archive(archive) => vec![&archive.file],
        Origin::Vcs(_) | Origin::Directory(_) => Vec::new(),
    });
    files
        .filter(|file| file.url.as_deref() == Some(url))
        .find_map(|file| cuda_lock_constraint::digest::parse_sha256(file.hashes.get("sha256")?))
}
