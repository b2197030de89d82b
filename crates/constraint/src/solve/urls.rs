//! Requirements that name a file by URL (`name @ https://...`): each URL is a source of its own, with one build.

use std::sync::Arc;

use crate::catalog::{CoreMetadata, File, Project};
use crate::name::Name;
use crate::requirement::UrlRequirement;
use crate::version::{DistVersion, Range, SourceId, Version};
use crate::wheel::WheelName;

/// Sources from here on are URLs; below are indexes.
const FIRST: u16 = 0x8000;

/// The URLs that requirements named so far.
#[derive(Default)]
pub(super) struct Urls {
    known: Vec<(Name, UrlRequirement)>,
}

/// True for a source that is a single URL.
#[must_use]
pub fn is_url_source(source: SourceId) -> bool {
    (FIRST..u16::MAX).contains(&source.0)
}

impl Urls {
    /// Registers a URL. Returns its range, which is empty when the URL names no wheel of the project, and whether it is
    /// new.
    pub(super) fn register(&mut self, name: Name, url: &UrlRequirement) -> (Range, bool) {
        let Some(version) = version_of(name, url) else { return (Range::empty(), false) };
        let place = self.known.iter().position(|(n, u)| *n == name && u == url);
        let index = place.unwrap_or(self.known.len());
        if place.is_none() {
            self.known.push((name, url.clone()));
        }
        let source = SourceId(FIRST.saturating_add(u16::try_from(index).unwrap_or(u16::MAX)));
        (Range::singleton(Version::Dist(DistVersion::new(version, source))), place.is_none())
    }

    /// The one-build projects of a name.
    pub(super) fn projects(&self, name: Name) -> Vec<(SourceId, Arc<Project>)> {
        (FIRST..u16::MAX)
            .zip(&self.known)
            .filter(|(_, (n, _))| *n == name)
            .filter_map(|(source, (_, url))| {
                let version = version_of(name, url)?;
                let file = File {
                    filename: filename(&url.url),
                    url: url.url.to_string(),
                    sha256: url.sha256(),
                    size: None,
                    requires_python: None,
                    yanked: None,
                    upload_time: None,
                    core_metadata: CoreMetadata::No,
                };
                let project =
                    Project { versions: vec![version].into(), files: Box::new(vec![vec![file]]) };
                Some((SourceId(source), Arc::new(project)))
            })
            .collect()
    }
}

/// The last segment of the URL's path, `%2B` and the like decoded.
fn filename(url: &str) -> String {
    let path = url.split(['#', '?']).next().unwrap_or(url);
    let last = path.rsplit('/').next().unwrap_or(path);
    last.replace("%2B", "+").replace("%2b", "+")
}

fn version_of(name: Name, url: &UrlRequirement) -> Option<pep440_rs::Version> {
    let wheel = WheelName::parse(&filename(&url.url)).ok()?;
    (wheel.name == name).then_some(wheel.version)
}
