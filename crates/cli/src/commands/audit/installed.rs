//! What is installed in a folder, as an index of its own: one release of each distribution, with the METADATA that is there.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, CoreMetadata, File, Metadata, OnMetadata, OnProject, Project,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_formats::input::{Entry, Input, Kind};
use pep440_rs::Version as Pep440;

use super::indexes::Indexes;

/// An installed distribution.
struct Installed {
    project: Arc<Project>,
    metadata: Arc<Metadata>,
}

/// The indexes of a run, and what is installed in folders.
pub struct WithInstalled {
    inner: Arc<dyn Catalog>,
    installed: BTreeMap<(SourceId, Name), Installed>,
}

/// What conda installs says nothing of the build: its METADATA has no local label.
pub fn is_of_conda(entry: &Entry) -> bool {
    entry.installer.as_deref() == Some("conda")
}

impl WithInstalled {
    /// The indexes alone.
    pub fn new(inner: Arc<dyn Catalog>) -> Self {
        Self { inner, installed: BTreeMap::new() }
    }

    /// Adds what an input says is installed, when it is such a folder.
    pub fn add(&mut self, input: &Input, indexes: &mut Indexes) {
        if input.kind != Kind::SitePackages {
            return;
        }
        let folder = input.files.first().map(|file| file.name.clone()).unwrap_or_default();
        for entry in &input.entries {
            let source = indexes.installed(Path::new(&folder), is_of_conda(entry));
            let version = entry.locked.as_deref().and_then(|text| Pep440::from_str(text).ok());
            if let (Some(source), Some(name), Some(version)) = (source, entry.name, version) {
                self.installed.insert((source, name), installed(entry, name, version));
            }
        }
    }

    fn is_local(&self, source: SourceId) -> bool {
        self.installed.keys().any(|(known, _)| *known == source)
    }
}

fn installed(entry: &Entry, name: Name, version: Pep440) -> Installed {
    let stem = name.as_str().replace('-', "_");
    let file = File {
        filename: format!("{stem}-{version}-{}.whl", tag(&entry.tags)),
        url: String::new(),
        sha256: None,
        size: None,
        requires_python: None,
        yanked: None,
        upload_time: None,
        core_metadata: CoreMetadata::No,
    };
    let metadata = Metadata {
        name: entry.raw_name.clone(),
        version: version.to_string(),
        requires_dist: entry.requires_dist.iter().map(|line| Arc::from(line.as_str())).collect(),
        requires_python: None,
        provides_extra: Vec::new(),
        source: None,
    };
    let project = Project { versions: vec![version].into(), files: Box::new(vec![vec![file]]) };
    Installed { project: Arc::new(project), metadata: Arc::new(metadata) }
}

/// The tags of WHEEL as a file name has them: each part once, with dots between. Without any, those that fit everywhere.
fn tag(tags: &[String]) -> String {
    let mut parts: [Vec<&str>; 3] = Default::default();
    for tag in tags {
        let split: Vec<&str> = tag.split('-').collect();
        let [python, abi, platform] = split.as_slice() else { continue };
        for (known, part) in parts.iter_mut().zip([python, abi, platform]) {
            if !known.contains(part) {
                known.push(part);
            }
        }
    }
    if parts.iter().any(Vec::is_empty) {
        return "py2.py3-none-any".to_owned();
    }
    parts.map(|part| part.join(".")).join("-")
}

impl Catalog for WithInstalled {
    fn project(&self, source: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        match self.installed.get(&(source, name)) {
            Some(found) => Ok(Some(Arc::clone(&found.project))),
            None if self.is_local(source) => Ok(None),
            None => self.inner.project(source, name),
        }
    }

    fn metadata(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
    ) -> Result<Arc<Metadata>, CatalogError> {
        match self.installed.get(&(source, name)) {
            Some(found) => Ok(Arc::clone(&found.metadata)),
            None => self.inner.metadata(source, name, file),
        }
    }

    fn expect_project(&self, source: SourceId, name: Name, then: OnProject) {
        if !self.is_local(source) {
            self.inner.expect_project(source, name, then);
        }
    }

    fn expect_metadata(&self, source: SourceId, name: Name, file: &File, then: OnMetadata) {
        if !self.installed.contains_key(&(source, name)) {
            self.inner.expect_metadata(source, name, file, then);
        }
    }

    fn wants_hints(&self) -> bool {
        self.inner.wants_hints()
    }

    fn fault(&self) -> Option<CatalogError> {
        self.inner.fault()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index whose copy in the cache is damaged.
    struct Damaged;

    impl Catalog for Damaged {
        fn project(&self, _: SourceId, _: Name) -> Result<Option<Arc<Project>>, CatalogError> {
            Ok(None)
        }

        fn metadata(&self, _: SourceId, _: Name, _: &File) -> Result<Arc<Metadata>, CatalogError> {
            Err(CatalogError::Unavailable("nothing here".into()))
        }

        fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

        fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

        fn wants_hints(&self) -> bool {
            false
        }

        fn fault(&self) -> Option<CatalogError> {
            Some(CatalogError::Offline("the copy is damaged".into()))
        }
    }

    #[test]
    fn what_the_indexes_say_of_themselves_is_passed_on() {
        let catalog = WithInstalled::new(Arc::new(Damaged));
        let fault = catalog.fault().map(|fault| fault.to_string());
        assert_eq!(fault.as_deref(), Some("the copy is damaged"));
        assert!(!catalog.wants_hints());
    }

    #[test]
    fn tags_of_a_wheel_become_one_name() {
        let tags = |texts: &[&str]| tag(&texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>());
        assert_eq!(tags(&["py2-none-any", "py3-none-any"]), "py2.py3-none-any");
        assert_eq!(
            tags(&["cp311-cp311-manylinux2014_x86_64", "cp311-cp311-manylinux_2_17_x86_64"]),
            "cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64"
        );
        assert_eq!(tags(&[]), "py2.py3-none-any");
        assert_eq!(tags(&["odd"]), "py2.py3-none-any");
    }
}
