//! METADATA of one file, from wherever it can be had with the least effort.
//!
//! For a wheel that is the METADATA file beside it (PEP 658), when the index advertises one and it is there; else the
//! tail of the wheel, by range requests; else the whole wheel, up to a limit. Mirrors often lack the files beside
//! wheels, so the second way must be as good as the first. An sdist is downloaded, up to the limit, and says what it
//! needs when its PKG-INFO is static.

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
use crate::metadata::{
    SdistError, SdistKind, metadata_from_sdist, metadata_from_wheel, parse_metadata,
};
use crate::net::{Buffer, Request, shown};
use crate::observer::{Event, Kind, add};
use crate::project::{apart, unusable};
use crate::tail::Found;
use cuda_lock_constraint::digest::sha256_hex;

impl Inner {
    /// Answers without the network, if that can be done.
    pub(crate) fn metadata_at_hand(&self, name: Name, file: &File) -> Option<MetadataResult> {
        if file.url.starts_with("file:") {
            return Some(crate::local::metadata(name, file));
        }
        if let Some(why) = self.silent.why(name, file) {
            return Some(Err(unavailable(name, file, why)));
        }
        // An sdist is read as a whole or not at all: its length is known beforehand, with a network and without.
        let is_whole = !file.filename.ends_with(".whl") && file.core_metadata == CoreMetadata::No;
        if is_whole && file.size.is_some_and(|size| size > self.max_download) {
            return Some(Err(self.too_large(name, file, file.size)));
        }
        if let Some(said) = self.cache.as_ref().and_then(|cache| cache.metadata(name, file)) {
            add(&self.counters.cached_metadata, 1);
            return Some(self.said_of(name, file, said));
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
                Said::Nothing(why.to_string())
            }
            other => other?,
        };
        if let Some(cache) = &self.cache {
            cache.keep_metadata(name, file, &said);
        }
        self.said_of(name, file, said)
    }

    /// Whether a file that could not be used will not do next time either: it never changes, and its length was no reason.
    fn is_final(&self, file: &File) -> bool {
        file.sha256.is_some() && file.size.is_some_and(|size| size <= self.max_download)
    }

    fn said_of(&self, name: Name, file: &File, said: Said) -> MetadataResult {
        match said {
            Said::Metadata(metadata) => Ok(Arc::new(metadata)),
            Said::Nothing(why) => Err(CatalogError::Unavailable(why.into())),
            Said::Old(why) => {
                self.silent.note(name, file);
                Err(CatalogError::Unavailable(why.into()))
            }
        }
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
        let Some(kind) = SdistKind::of(&file.filename) else {
            return Err(unavailable(name, file, "it is neither a wheel nor an sdist"));
        };
        let sdist = self.whole_file(&url, name, file).await?;
        let named = file.clone();
        let size = usize::try_from(file.size.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        apart(size, move || match metadata_from_sdist(kind, sdist) {
            Ok(metadata) => about(name, &named, metadata).map(Said::Metadata),
            // That an sdist must be built first does not change either, and finding out took a download.
            Err(why @ SdistError::Old(_)) => Ok(Said::Old(silent(name, &named, &why.to_string()))),
            Err(
                why @ (SdistError::NotStatic(_) | SdistError::NoPkgInfo | SdistError::Metadata(_)),
            ) => Ok(Said::Nothing(silent(name, &named, &why.to_string()))),
            Err(why) => Err(unavailable(name, &named, &why.to_string())),
        })
        .await
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
fn about(name: Name, file: &File, metadata: Metadata) -> Result<Metadata, CatalogError> {
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
    CatalogError::Unavailable(silent(name, file, why).into())
}

fn silent(name: Name, file: &File, why: &str) -> String {
    let why = clean(why);
    format!(
        "{} does not say what it needs: {why}; state that in [metadata.{name}] of env.toml, or choose a release with a \
         wheel",
        file.filename
    )
}

/// The version in a file name, if it can be read.
pub(crate) fn version(filename: &str, name: Name) -> Option<Version> {
    if let Some(stem) = filename.strip_suffix(".whl") {
        return stem.split('-').nth(1)?.parse().ok();
    }
    let stem = filename.strip_suffix(".tar.gz").or_else(|| filename.strip_suffix(".zip"))?;
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
