//! What a page says, in memory.

use cuda_lock_constraint::catalog::{File, Project, ReleaseFiles};
use cuda_lock_constraint::name::Name;
use pep440_rs::Version;

/// One project, as one page of an index describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedPage {
    /// The project.
    pub name: Name,
    /// Its releases, ascending by PEP 440, each version once.
    pub releases: Vec<Release>,
    /// File names that belong to no release that can be read, in page order, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// The files of one version.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// The version in the spelling of its first file on the page.
    pub version: Version,
    /// Its files in page order. Spellings that PEP 440 holds equal (1.0 and 1.0.0) are one release.
    pub files: Vec<File>,
}

impl ParsedPage {
    /// The page as the solver sees it.
    #[must_use]
    pub fn into_project(self) -> Project {
        let (versions, files): (Vec<_>, Vec<_>) =
            self.releases.into_iter().map(|release| (release.version, release.files)).unzip();
        Project {
            versions: versions.into(),
            files: Box::new(InMemory { files, skipped: self.skipped }),
        }
    }
}

struct InMemory {
    files: Vec<Vec<File>>,
    skipped: Vec<(String, String)>,
}

impl ReleaseFiles for InMemory {
    fn files(&self, index: usize) -> Vec<File> {
        self.files.files(index)
    }

    fn skipped(&self) -> Vec<(String, String)> {
        self.skipped.clone()
    }
}

/// The most links of a page that are read. Each takes a few hundred bytes of memory; the largest projects have some ten
/// thousand files.
pub(super) const MOST_FILES: usize = 250_000;

/// Why a body is not a page that can be used. The caller knows the URL and names it before these words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// JSON that does not follow PEP 691; the text says where and how.
    #[error("the body is JSON, but not a project page of the simple repository API: {0}")]
    Json(String),
    /// A newer major version of the simple repository API, which PEP 629 tells clients to refuse.
    #[error(
        "the page follows version {0} of the simple repository API, of which only version 1 is known here: use a newer \
         release of this program, or an index that offers version 1"
    )]
    ApiVersion(String),
    /// A page about something else, for example after a redirect.
    #[error("the page is about the project '{found}', not about '{wanted}'")]
    OtherProject {
        /// The name on the page.
        found: String,
        /// The name that was asked for.
        wanted: Name,
    },
    /// Something that is no index page at all; the text says what was found.
    #[error("the body is not an index page, but {0}")]
    NotAPage(String),
    /// More files than any project has.
    #[error("the page has more than {most} links", most = MOST_FILES)]
    TooMany,
    /// The body ends too early.
    #[error("the body ends in the middle of {0}: the download was cut off, try again")]
    Truncated(&'static str),
}

/// Refuses major versions of the simple repository API above 1 (PEP 629). What cannot be read as a version is let
/// through: the page itself then shows whether it can be read.
pub(super) fn check_api_version(version: &str) -> Result<(), PageError> {
    let major = version.trim().split('.').next().unwrap_or_default();
    let known = major.parse::<u64>().map_or(true, |major| major <= 1);
    if known { Ok(()) } else { Err(PageError::ApiVersion(version.trim().to_owned())) }
}
