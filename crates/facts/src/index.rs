//! Releases and their wheels on the public index.

use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog as _, File, Project};
use cuda_lock_constraint::digest;
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::index;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Fetcher, FetcherConfig, Silent, SourceConfig, SourceFormat};
use pep440_rs::Version;
use reqwest::blocking::Client;
use url::Url;

use crate::error::Error;
use crate::remote::Remote;

const SOURCE: SourceId = SourceId(0);

/// The public index, and a client for ranges of its files.
pub struct Index {
    fetcher: Fetcher,
    client: Client,
}

/// The wheel of a release that rows are derived from.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// The release.
    pub version: Version,
    /// The file.
    pub file: File,
}

impl Wheel {
    /// The wheel as the source of a row: its name and its digest.
    #[must_use]
    pub fn source(&self) -> String {
        let digest = self.file.sha256.as_ref().map_or_else(String::new, digest::sha256_hex);
        format!("{} sha256:{digest}", self.file.filename)
    }
}

impl Index {
    /// The index at `url`, or PyPI.
    ///
    /// # Errors
    /// When the address is no URL, or the certificates of the system cannot be read.
    pub fn new(url: Option<&str>) -> Result<Self, Error> {
        let public = || index::pypi().map(|known| known.url);
        let url: Url = url.map(str::to_owned).or_else(public).ok_or(Error::NoIndex)?.parse()?;
        let source = SourceConfig {
            id: SOURCE,
            name: "index".to_owned(),
            url: url.into(),
            format: SourceFormat::Simple,
            forbidden_means_absent: false,
        };
        let config = FetcherConfig::new(vec![source]).with_environment();
        let client = Client::builder().timeout(None).build()?;
        Ok(Self { fetcher: Fetcher::new(config, Arc::new(Silent))?, client })
    }

    /// The releases of a project, oldest first, each with the wheel that is looked into: final releases that are not yanked
    /// and have a wheel for `platform`.
    ///
    /// # Errors
    /// When the index cannot be read, or does not have the project.
    pub fn wheels(&self, name: Name, platform: &Wanted) -> Result<Vec<Wheel>, Error> {
        let project: Option<Arc<Project>> = self.fetcher.project(SOURCE, name)?;
        let project = project.ok_or(Error::Absent(name))?;
        let wheel = |(n, version): (usize, &Version)| {
            if version.any_prerelease() {
                return None;
            }
            let file = platform.choose(project.files.files(n))?;
            Some(Wheel { version: version.clone(), file })
        };
        Ok(project.versions.iter().enumerate().filter_map(wheel).collect())
    }

    /// The wheel's bytes, read as they are asked for.
    ///
    /// # Errors
    /// When the index states no size, or no valid address.
    pub fn open(&self, wheel: &Wheel) -> Result<Remote, Error> {
        let size = wheel.file.size.ok_or_else(|| Error::NoSize(wheel.file.filename.clone()))?;
        Ok(Remote::new(self.client.clone(), wheel.file.url.parse()?, size))
    }
}

/// Which of a release's wheels is looked into.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// How its platform tag ends, and what must stand in it: `manylinux` and `x86_64`.
    pub system: &'static str,
    /// The processor's part of the tag.
    pub processor: &'static str,
    /// The CPython whose wheel is preferred, without a dot: `311`.
    pub python: u32,
}

impl Wanted {
    /// One of the files that runs there: the one for the wanted CPython, else an abi3 wheel that it can use, else one for any
    /// Python, else the newest other CPython's.
    fn choose(&self, files: Vec<File>) -> Option<File> {
        let fits = |file: &File| {
            let name = file.filename.as_str();
            file.yanked.is_none()
                && name.ends_with(".whl")
                && name.contains(self.system)
                && name.contains(self.processor)
        };
        let cpython = |name: &str| -> Option<u32> {
            name.split('-').find_map(|part| part.strip_prefix("cp")?.parse().ok())
        };
        let rank = |file: &File| {
            let name = file.filename.as_str();
            let python = cpython(name);
            let threads = name.contains(&format!("-cp{}t-", python.unwrap_or(0)));
            let abi3 =
                name.contains("-abi3-") && python.is_some_and(|python| python <= self.python);
            let class = match python {
                Some(python) if python == self.python && !threads => 0,
                _ if abi3 => 1,
                None => 2,
                Some(_) => 3,
            };
            (class, threads, std::cmp::Reverse(python))
        };
        files.into_iter().filter(fits).min_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_lock_constraint::catalog::CoreMetadata;

    fn chosen(names: &[&str]) -> Option<String> {
        let file = |name: &&str| File {
            filename: (*name).to_owned(),
            url: String::new(),
            sha256: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: CoreMetadata::No,
        };
        let wanted = Wanted { system: "manylinux", processor: "x86_64", python: 311 };
        wanted.choose(names.iter().map(file).collect()).map(|file| file.filename)
    }

    #[test]
    fn the_wheel_for_the_wanted_python_or_the_nearest_thing() {
        let x = |tags: &str| format!("a-1.0-{tags}-manylinux_2_28_x86_64.whl");
        let (own, abi3, any) = (x("cp311-cp311"), x("cp39-abi3"), x("py3-none"));
        let (older, newer, threads) = (x("cp310-cp310"), x("cp312-cp312"), x("cp313-cp313t"));
        let all = [&threads, &newer, &any, &abi3, &own, &older].map(String::as_str);
        assert_eq!(chosen(&all).as_deref(), Some(own.as_str()));
        assert_eq!(chosen(&[&threads, &any, &abi3]).as_deref(), Some(abi3.as_str()));
        assert_eq!(chosen(&[&older, &newer, &threads]).as_deref(), Some(newer.as_str()));
        assert_eq!(chosen(&["a-1.0-cp311-cp311-win_amd64.whl", "a-1.0.tar.gz"]), None);
    }
}
