//! METADATA of one file, from wherever it can be had with the least effort.
//!
//! For a wheel that is the METADATA file beside it (PEP 658), when the index advertises one and it is there; else the
//! tail of the wheel, by range requests; else the whole wheel, up to a limit. Mirrors often lack the files beside
//! wheels, so the second way must be as good as the first. What a source distribution says is read by [`crate::sdist`].

use std::sync::Arc;

use cuda_lock_constraint::catalog::{CatalogError, CoreMetadata, File, Metadata};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::text::clean;
use pep440_rs::Version;
use sha2::{Digest, Sha256};
use url::Url;

use crate::body::{METADATA_LIMIT, unpack};
use crate::cache::Said;
use crate::config::Mode;
use crate::fetcher::{Inner, MetadataResult};
use crate::metadata::{metadata_from_wheel, parse_metadata};
use crate::net::{Buffer, Request, shown};
use crate::observer::{Event, Kind, add};
use crate::project::unusable;
use crate::tail::Found;
use cuda_lock_constraint::digest::sha256_hex;

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn metadata_at_hand(&self, name: Name, file: &File) -> Option<MetadataResult> {
        if file.url.starts_with("file:") {
            return Some(crate::local::metadata(name, file));
        }
        if let Some(said) = self.cache.as_ref().and_then(|cache| cache.metadata(name, file)) {
            add(&self.counters.cached_metadata, 1);
            return Some(said_of(said));
        }
        (self.mode == Mode::Offline).then(|| {
            let text = format!(
                "the METADATA of {} is not in the cache, and --offline allows no request: run once without --offline to \
                 fill the cache",
                file.filename
            );
            Err(CatalogError::Offline(text.into()))
        })
    }

    /// Asks the network.
    pub(crate) async fn ask_metadata(&self, name: Name, file: &File) -> MetadataResult {
        self.observer.event(Event::Started { kind: Kind::Metadata, name: &file.filename });
        let result = self.fetch_metadata(name, file).await;
        self.observer.event(Event::Finished { kind: Kind::Metadata, name: &file.filename });
        let said = match result {
            Err(CatalogError::Unavailable(why)) if self.is_final(file) => {
                Said::Unusable(why.to_string())
            }
            other => other?,
        };
        if let Some(cache) = &self.cache {
            cache.keep_metadata(name, file, &said);
        }
        said_of(said)
    }

    /// Whether a file that could not be used will not do next time either: it never changes, and its length was no reason.
    fn is_final(&self, file: &File) -> bool {
        file.sha256.is_some() && file.size.is_some_and(|size| size <= self.max_download)
    }

    async fn fetch_metadata(&self, name: Name, file: &File) -> Result<Said, CatalogError> {
        let url = Url::parse(&file.url).map_err(|error| {
            let text =
                format!("the index gives {} an address that is none: {error}", file.filename);
            CatalogError::Invalid(text.into())
        })?;
        if file.core_metadata != CoreMetadata::No
            && self.hosts.has_sidecars(&url)
            && let Some(bytes) = self.sidecar(&url).await?
        {
            return read(name, file, &bytes).map(Said::Metadata);
        }
        if file.filename.ends_with(".whl") {
            let bytes = match self.wheel_tail(&url, name, file).await? {
                Found::Metadata(bytes) => bytes,
                Found::Whole(wheel) => metadata_from_wheel(wheel, name)
                    .map_err(|why| unavailable(name, file, &why.to_string()))?,
            };
            return read(name, file, &bytes).map(Said::Metadata);
        }
        self.sdist(&url, name, file).await
    }

    /// The METADATA file beside a wheel; `None` when it is not there, whatever the index says.
    async fn sidecar(&self, url: &Url) -> Result<Option<Vec<u8>>, CatalogError> {
        let mut beside = url.clone();
        beside.set_path(&format!("{}.metadata", url.path()));
        let mut buffer = Buffer::new(METADATA_LIMIT);
        let request = Request { gzip: true, ..Request::new(&beside) };
        let network =
            |error: crate::net::NetworkError| CatalogError::Network(error.to_string().into());
        let head = self.http.fetch(&request, &mut buffer).await.map_err(network)?;
        match head.status.as_u16() {
            200 => {
                self.hosts.note_sidecar(url, true);
                let bytes = unpack(&head, buffer.bytes, METADATA_LIMIT);
                bytes.map(Some).map_err(|why| unusable(&beside, &why))
            }
            // Object stores say 403 of what they do not have; if the wheel too is forbidden, asking for that will tell.
            403 | 404 | 410 => {
                self.hosts.note_sidecar(url, false);
                Ok(None)
            }
            _ => Err(network(head.unexpected())),
        }
    }
}

/// What a file said, as an answer.
fn said_of(said: Said) -> MetadataResult {
    match said {
        Said::Metadata(metadata) => Ok(Arc::new(metadata)),
        Said::Undeclared(found) => Err(CatalogError::Undeclared(Arc::new(found))),
        Said::Unusable(why) => Err(CatalogError::Unavailable(why.into())),
    }
}

/// Checks METADATA against the digest that the index states, and reads it.
pub(crate) fn read(name: Name, file: &File, bytes: &[u8]) -> Result<Metadata, CatalogError> {
    if let CoreMetadata::Sha256(expected) = file.core_metadata {
        let actual: [u8; 32] = Sha256::digest(bytes).into();
        if actual != expected {
            return Err(wrong_digest("the METADATA of ", file, (&expected, &actual)));
        }
    }
    let metadata = parse_metadata(bytes).map_err(|why| {
        // Only this release is lost by it; another one may do.
        CatalogError::Unavailable(format!("{} cannot be used: {why}", file.filename).into())
    })?;
    about(name, file, metadata)
}

/// Refuses METADATA of another project or version, as pip does when it comes to installing the file.
pub(crate) fn about(name: Name, file: &File, metadata: Metadata) -> Result<Metadata, CatalogError> {
    let wrong = |of: &str, not: &str| {
        let text = format!(
            "{} cannot be used: its METADATA is of '{}', not of '{not}'",
            file.filename,
            clean(of)
        );
        Err(CatalogError::Unavailable(text.into()))
    };
    if Name::new(&metadata.name) != Ok(name) {
        return wrong(&metadata.name, name.as_str());
    }
    // PEP 440 compares, so 1.0 is 1.0.0.
    match version(&file.filename, name) {
        Some(named) if metadata.version.parse::<Version>() != Ok(named.clone()) => {
            wrong(&metadata.version, &named.to_string())
        }
        _ => Ok(metadata),
    }
}

/// The error for a digest that is not the one the index states.
pub(crate) fn wrong_digest(
    what: &str,
    file: &File,
    (expected, actual): (&[u8; 32], &[u8; 32]),
) -> CatalogError {
    let url = Url::parse(&file.url).map_or_else(|_| file.url.clone(), |url| shown(&url));
    let text = format!(
        "{what}{} ({url}) has the SHA-256 digest {}, but the index states {}: it was damaged on the way, or replaced \
         after the index was written; try again, and if that does not help, tell those who run the index",
        file.filename,
        sha256_hex(actual),
        sha256_hex(expected)
    );
    CatalogError::Invalid(text.into())
}

/// The error for a file that does not say what it needs.
pub(crate) fn unavailable(name: Name, file: &File, why: &str) -> CatalogError {
    let why = clean(why);
    let text = format!(
        "{} does not say what it needs: {why}; state that in [metadata.{name}] of env.toml, or choose another release",
        file.filename
    );
    CatalogError::Unavailable(text.into())
}

/// The version in a file name, if it can be read.
pub(crate) fn version(filename: &str, name: Name) -> Option<Version> {
    if let Some(stem) = filename.strip_suffix(".whl") {
        return stem.split('-').nth(1)?.parse().ok();
    }
    let stem = [".tar.gz", ".tgz", ".zip"].iter().find_map(|end| filename.strip_suffix(end))?;
    // A name may hold `-` itself, a version too: the place to cut is where the name fits.
    stem.match_indices('-')
        .filter_map(|(at, _)| Some((stem.get(..at)?, stem.get(at + 1..)?)))
        .find(|(project, _)| Name::new(project).is_ok_and(|project| project == name))
        .and_then(|(_, version)| version.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_file_names() {
        let of = |filename: &str, name: &str| {
            version(filename, Name::new(name).expect("valid")).map(|version| version.to_string())
        };
        assert_eq!(
            of("torch-2.4.0+cu121-cp311-cp311-linux_x86_64.whl", "torch").as_deref(),
            Some("2.4.0+cu121")
        );
        assert_eq!(of("foo-bar-1.0.tar.gz", "foo-bar").as_deref(), Some("1.0"));
        assert_eq!(of("foo_bar-1.0-2.zip", "foo-bar").as_deref(), Some("1.0.post2"));
        assert_eq!(of("foo-1.0.exe", "foo"), None);
        assert_eq!(of("other-1.0.zip", "foo"), None);
    }
}
