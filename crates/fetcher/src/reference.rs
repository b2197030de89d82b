//! What direct references lead to: a file at an address, a repository at a commit, or something of this machine.

use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, CoreMetadata, File, Metadata, Place, Reference, Silence, Undeclared,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::UrlRequirement;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_constraint::wheel::WheelName;
use pep440_rs::Version;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::build::Job;
use crate::cache::Said;
use crate::config::Mode;
use crate::fetcher::Fetcher;
use crate::git;
use crate::metadata::{SdistKind, SdistName, read_folder};
use crate::net::shown;

type Found = Result<Arc<Reference>, CatalogError>;

impl Fetcher {
    /// What `name @ url` leads to.
    pub(crate) fn find_reference(
        &self,
        name: Name,
        url: &UrlRequirement,
        build: Option<&Version>,
    ) -> Found {
        let bad = |why: &str| {
            CatalogError::Reference(format!("{name} @ {}: {why}", safe(&url.url)).into())
        };
        if let Some(repository) = url.url.strip_prefix("git+") {
            return self.repository((name, url), repository, build, &bad);
        }
        let address = Url::parse(&url.url).map_err(|error| bad(&error.to_string()))?;
        match address.scheme() {
            "http" | "https" => self.archive((name, url), &address, build, &bad),
            "file" => {
                let path =
                    address.to_file_path().map_err(|()| bad("it is no path of this machine"))?;
                if path.is_dir() {
                    return self.folder(name, &path, build, &bad);
                }
                if !path.is_file() {
                    return Err(bad("there is no such file or folder"));
                }
                self.archive((name, url), &address, build, &bad)
            }
            other => Err(bad(&format!(
                "a reference of the kind '{other}' is not followed: use http, https, file or git+https, git+ssh"
            ))),
        }
    }

    /// A wheel or a source distribution by its address.
    fn archive(
        &self,
        (name, url): (Name, &UrlRequirement),
        address: &Url,
        build: Option<&Version>,
        bad: &dyn Fn(&str) -> CatalogError,
    ) -> Found {
        let last = address.path().rsplit('/').next().unwrap_or_default();
        let filename = percent_decode_str(last).decode_utf8_lossy().into_owned();
        let file = File {
            filename: filename.clone(),
            url: match url.fragment_value("subdirectory") {
                Some(folder) => format!("{}#subdirectory={folder}", url.url),
                None => url.url.to_string(),
            },
            sha256: url.sha256(),
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: CoreMetadata::No,
        };
        let subdirectory = url.fragment_value("subdirectory").map(str::to_owned);
        if !filename.ends_with(".whl") && SdistKind::of(&filename).is_none() {
            return Err(bad("it is neither a wheel nor a source distribution that is read"));
        }
        let version = if filename.ends_with(".whl") {
            let wheel = WheelName::parse(&filename).map_err(|error| bad(&error.to_string()))?;
            if wheel.name != name {
                return Err(bad(&format!("it is a wheel of {}", wheel.name)));
            }
            Some(wheel.version)
        } else {
            crate::wheel::version(&filename, name)
        };
        let read = match Catalog::metadata(self, SourceId::MAX, name, &file) {
            Err(CatalogError::Undeclared(found)) => match build {
                Some(python) => self.build_metadata(SourceId::MAX, name, &file, python),
                None => Err(CatalogError::Undeclared(found)),
            },
            other => other,
        };
        let metadata = match read {
            Ok(metadata) => Ok(metadata),
            Err(CatalogError::Undeclared(found)) => Err(found),
            Err(CatalogError::Unavailable(why)) => return Err(bad(&why)),
            Err(error) => return Err(error),
        };
        let version = version.or_else(|| self.version_of(name, &metadata));
        let version = version.ok_or_else(|| bad(&unversioned(name)))?;
        Ok(Arc::new(Reference { version, file, metadata, place: Place::Archive { subdirectory } }))
    }

    /// A repository. What the lock that is there says of it stays, so that the same input gives the same lock.
    fn repository(
        &self,
        (name, url): (Name, &UrlRequirement),
        repository: &str,
        build: Option<&Version>,
        bad: &dyn Fn(&str) -> CatalogError,
    ) -> Found {
        let (address, requested) = split_reference(repository);
        let scheme = address.split("://").next().unwrap_or_default();
        if !matches!(scheme, "https" | "http" | "ssh" | "file" | "git") {
            return Err(bad(
                "a repository is given as git+https, git+ssh, git+http, git+git or git+file",
            ));
        }
        let subdirectory = url.fragment_value("subdirectory").map(str::to_owned);
        let kept =
            self.inner.commits.iter().find(|known| {
                known.url == safe(address) && known.requested.as_deref() == requested
            });
        let pinned = kept.map(|known| known.commit.as_str());
        let at = |commit: &str| File {
            filename: format!("{name} at {}", commit.get(..12).unwrap_or(commit)),
            url: format!(
                "git+{}@{commit}#{}",
                safe(address),
                subdirectory.as_deref().unwrap_or_default()
            ),
            sha256: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: CoreMetadata::No,
        };
        let full = |text: &str| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let known = pinned.or(requested.filter(|text| full(text)));
        let cache = self.inner.cache.as_ref();
        let built = |commit: &str| {
            let python = build.map(crate::build::minor)?;
            Some(File { url: format!("{}-built-{python}", at(commit).url), ..at(commit) })
        };
        let said = known.and_then(|commit| {
            let cache = cache?;
            let said = match cache.metadata(name, &at(commit))? {
                Said::Undeclared(_) if build.is_some() => cache.metadata(name, &built(commit)?)?,
                said => said,
            };
            Some((commit.to_owned(), said))
        });
        let (commit, said) = match said {
            Some(known) => known,
            None if self.inner.mode == Mode::Offline => {
                let text =
                    format!("{} must be fetched, and --offline allows no request", safe(&url.url));
                return Err(CatalogError::Offline(text.into()));
            }
            None => {
                let wanted = git::Wanted { url: address, reference: pinned.or(requested) };
                let checkout = git::checkout(&wanted).map_err(|why| bad(&why))?;
                let folder = git::subfolder(checkout.folder.path(), subdirectory.as_deref());
                let folder = folder.ok_or_else(|| bad("it has no such subdirectory"))?;
                let mut kept_as = at(&checkout.commit);
                let mut said = read(name, &folder, &kept_as);
                if let Some(cache) = cache {
                    cache.keep_metadata(name, &kept_as, &said);
                }
                if let (Said::Undeclared(found), Some(python)) = (&said, build) {
                    said = self.build_tree(name, &folder, (found, python));
                    kept_as = built(&checkout.commit).unwrap_or(kept_as);
                    if let (Some(cache), Said::Metadata(_)) = (cache, &said) {
                        cache.keep_metadata(name, &kept_as, &said);
                    }
                }
                (checkout.commit.clone(), said)
            }
        };
        let metadata = self.stated_or(name, said);
        let version = self.version_of(name, &metadata).ok_or_else(|| bad(&unversioned(name)))?;
        let place = Place::Repository {
            url: address.to_owned(),
            requested: requested.map(str::to_owned),
            commit: commit.clone(),
            subdirectory: subdirectory.clone(),
        };
        Ok(Arc::new(Reference { version, file: at(&commit), metadata, place }))
    }

    fn folder(
        &self,
        name: Name,
        path: &Path,
        build: Option<&Version>,
        bad: &dyn Fn(&str) -> CatalogError,
    ) -> Found {
        let file = File {
            filename: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            url: Url::from_directory_path(path).map(String::from).unwrap_or_default(),
            sha256: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: CoreMetadata::No,
        };
        let mut said = read(name, path, &file);
        if let (Said::Undeclared(found), Some(python)) = (&said, build) {
            said = self.build_tree(name, path, (found, python));
        }
        let metadata = self.stated_or(name, said);
        let version = self.version_of(name, &metadata).ok_or_else(|| bad(&unversioned(name)))?;
        let place = Place::Folder { path: path.to_string_lossy().into_owned() };
        Ok(Arc::new(Reference { version, file, metadata, place }))
    }

    /// What a build of a tree of sources finds.
    fn build_tree(
        &self,
        name: Name,
        folder: &Path,
        (found, python): (&Undeclared, &Version),
    ) -> Said {
        let index = self.any_index();
        let job =
            Job { source: folder, python: crate::build::minor(python), index: index.as_ref() };
        let needs = found.recorded.as_ref().and_then(|recorded| recorded.source.clone());
        let failed = |detail: String| {
            Said::Undeclared(Undeclared {
                why: Silence::Unbuilt,
                detail: Some(detail),
                recorded: None,
                ..found.clone()
            })
        };
        match crate::build::metadata(&job) {
            Ok(built) if Name::new(&built.name) == Ok(name) => {
                Said::Metadata(crate::build::graded(built, needs.as_deref()))
            }
            Ok(built) => failed(format!("it is {}, not {name}", built.name)),
            Err(why) => failed(why),
        }
    }

    /// What env.toml states goes before what was read.
    fn stated_or(&self, name: Name, said: Said) -> Result<Arc<Metadata>, Arc<Undeclared>> {
        match (self.stated_for(name), said) {
            (Some(stated), _) => Ok(stated),
            (None, Said::Metadata(metadata)) => Ok(Arc::new(metadata)),
            (None, Said::Undeclared(found)) => Err(Arc::new(found)),
            (None, Said::Unusable(why)) => Err(Arc::new(Undeclared {
                filename: name.to_string(),
                why: Silence::Unreadable,
                detail: Some(why),
                recorded: None,
            })),
        }
    }

    fn version_of(
        &self,
        name: Name,
        metadata: &Result<Arc<Metadata>, Arc<Undeclared>>,
    ) -> Option<Version> {
        let stated = self.stated_for(name).and_then(|stated| stated.version.parse().ok());
        let read = match metadata {
            Ok(metadata) => Some(metadata),
            Err(found) => found.recorded.as_ref(),
        };
        stated.or_else(|| read?.version.parse().ok())
    }
}

/// What a tree of sources says.
fn read(name: Name, folder: &Path, file: &File) -> Said {
    let of = SdistName {
        project: name,
        version: String::new(),
        filename: file.filename.clone(),
        subdirectory: None,
    };
    match read_folder(&of, folder) {
        Ok(metadata) => Said::Metadata(metadata),
        Err(found) => Said::Undeclared(found),
    }
}

fn unversioned(name: Name) -> String {
    format!(
        "its version is known only after building it; state it in [metadata.{name}] of env.toml (version, requires-dist)"
    )
}

/// Address and reference of `https://host/repository@reference`. An `@` before the path is that of a user.
fn split_reference(text: &str) -> (&str, Option<&str>) {
    let path = text.find("://").map_or(0, |at| at + 3);
    let path = text.get(path..).and_then(|rest| rest.find('/')).map_or(text.len(), |at| path + at);
    match text.get(path..).and_then(|rest| rest.rfind('@')) {
        Some(at) => (
            text.get(..path + at).unwrap_or(text),
            text.get(path + at + 1..).filter(|reference| !reference.is_empty()),
        ),
        None => (text, None),
    }
}

/// An address without user and password.
fn safe(text: &str) -> String {
    let (kind, rest) = match text.strip_prefix("git+") {
        Some(rest) => ("git+", rest),
        None => ("", text),
    };
    match Url::parse(rest) {
        // The user of a key is no secret, and without it the key does not fit.
        Ok(url) if url.scheme() == "ssh" && url.password().is_none() => text.to_owned(),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            format!("{kind}{}", shown(&url))
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_what_follows_the_path() {
        for (text, expected) in [
            ("https://h/a/b.git@v1", ("https://h/a/b.git", Some("v1"))),
            ("https://h/a/b", ("https://h/a/b", None)),
            ("ssh://git@h/a/b@f/g", ("ssh://git@h/a/b", Some("f/g"))),
            ("https://user:p@h/a", ("https://user:p@h/a", None)),
            ("https://h/a@", ("https://h/a", None)),
        ] {
            assert_eq!(split_reference(text), expected, "{text}");
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        assert_eq!(safe("git+https://user:token@h.example/a@v1"), "git+https://h.example/a@v1");
        assert_eq!(safe("git+ssh://git@h.example/a"), "git+ssh://git@h.example/a");
    }
}
