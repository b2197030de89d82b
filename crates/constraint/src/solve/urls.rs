//! Requirements that name a file, a repository or a folder (`name @ https://...`): each is a source of its own, with one
//! build.

use std::sync::Arc;

use crate::catalog::{Catalog, CatalogError, CoreMetadata, File, Project, Reference};
use crate::name::Name;
use crate::requirement::UrlRequirement;
use crate::version::{DistVersion, Range, SourceId, Version};
use crate::wheel::WheelName;

/// Sources from here on are URLs; below are indexes.
const FIRST: u16 = 0x8000;

/// The URLs that requirements named so far.
#[derive(Default)]
pub(super) struct Urls {
    known: Vec<Known>,
}

struct Known {
    name: Name,
    url: UrlRequirement,
    version: pep440_rs::Version,
    /// What the catalog knows of it; a wheel says enough by its name.
    reference: Option<Arc<Reference>>,
}

/// True for a source that is a single URL.
#[must_use]
pub fn is_url_source(source: SourceId) -> bool {
    (FIRST..u16::MAX).contains(&source.0)
}

impl Urls {
    /// Registers a URL. Returns its range, and whether it is new.
    ///
    /// # Errors
    /// When what it names cannot be had.
    pub(super) fn register(
        &mut self,
        name: Name,
        url: &UrlRequirement,
        (catalog, build): (&dyn Catalog, Option<&pep440_rs::Version>),
    ) -> Result<(Range, bool), CatalogError> {
        let place = self.known.iter().position(|known| known.name == name && known.url == *url);
        let index = place.unwrap_or(self.known.len());
        let source = SourceId(FIRST.saturating_add(u16::try_from(index).unwrap_or(u16::MAX)));
        if place.is_none() {
            let (version, reference) = match wheel_version(name, url) {
                Some(version) => (version, None),
                None => {
                    let reference = catalog.reference(name, url, build)?;
                    (reference.version.clone(), Some(reference))
                }
            };
            self.known.push(Known { name, url: url.clone(), version, reference });
        }
        let version = self.known.get(index).map(|known| known.version.clone());
        let build = version.map_or_else(DistVersion::absent, |v| DistVersion::new(v, source));
        Ok((Range::singleton(Version::Dist(build)), place.is_none()))
    }

    /// What the catalog knows of a source that is a URL.
    pub(super) fn reference(&self, source: SourceId) -> Option<&Arc<Reference>> {
        self.known.get(usize::from(source.0.checked_sub(FIRST)?))?.reference.as_ref()
    }

    /// The one-build projects of a name.
    pub(super) fn projects(&self, name: Name) -> Vec<(SourceId, Arc<Project>)> {
        (FIRST..u16::MAX)
            .zip(&self.known)
            .filter(|(_, known)| known.name == name)
            .map(|(source, known)| {
                let file = match &known.reference {
                    Some(reference) => built(known, reference),
                    None => wheel(&known.url),
                };
                let project = Project {
                    versions: vec![known.version.clone()].into(),
                    files: Box::new(vec![vec![file]]),
                };
                (SourceId(source), Arc::new(project))
            })
            .collect()
    }
}

/// What a reference leads to, called like the source distribution that it is built as.
fn built(known: &Known, reference: &Reference) -> File {
    let mut file = reference.file.clone();
    if !file.filename.ends_with(".whl") {
        file.filename = format!("{}-{}.tar.gz", known.name, known.version);
    }
    file
}

fn wheel(url: &UrlRequirement) -> File {
    File {
        filename: filename(&url.url),
        url: url.url.to_string(),
        sha256: url.sha256(),
        size: None,
        requires_python: None,
        yanked: None,
        upload_time: None,
        core_metadata: CoreMetadata::No,
    }
}

/// The last segment of the URL's path, `%2B` and the like decoded.
fn filename(url: &str) -> String {
    let path = url.split(['#', '?']).next().unwrap_or(url);
    let last = path.rsplit('/').next().unwrap_or(path);
    last.replace("%2B", "+").replace("%2b", "+")
}

/// The version of a wheel of the project; `None` for everything else.
fn wheel_version(name: Name, url: &UrlRequirement) -> Option<pep440_rs::Version> {
    let is_file = ["http://", "https://", "file:"].iter().any(|kind| url.url.starts_with(kind));
    let wheel = WheelName::parse(&filename(&url.url)).ok().filter(|_| is_file)?;
    (wheel.name == name).then_some(wheel.version)
}
