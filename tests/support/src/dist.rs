//! One distribution file as a test declares it.

use std::collections::BTreeMap;

/// A wheel or an sdist of a release: what its METADATA says and what the index says of it.
#[derive(Clone, Debug)]
pub struct Dist {
    pub(crate) tags: Option<String>,
    pub(crate) build: Option<String>,
    pub(crate) requires: Vec<String>,
    pub(crate) extras: BTreeMap<String, Vec<String>>,
    pub(crate) requires_python: Option<String>,
    pub(crate) metadata_version: String,
    pub(crate) dynamic: Vec<String>,
    pub(crate) raw_metadata: Option<String>,
    pub(crate) files: Vec<(String, String)>,
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) yanked: Option<String>,
    pub(crate) uploaded: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) sha256: Option<String>,
}

impl Dist {
    fn new(tags: Option<&str>, metadata_version: &str) -> Self {
        Self {
            tags: tags.map(str::to_owned),
            build: None,
            requires: Vec::new(),
            extras: BTreeMap::new(),
            requires_python: None,
            metadata_version: metadata_version.to_owned(),
            dynamic: Vec::new(),
            raw_metadata: None,
            files: Vec::new(),
            bytes: None,
            yanked: None,
            uploaded: None,
            size: None,
            sha256: None,
        }
    }

    /// A wheel for every Python 3 and every platform.
    #[must_use]
    pub fn wheel() -> Self {
        Self::wheel_for("py3-none-any")
    }

    /// A wheel with these tags, such as `cp311-cp311-win_amd64`.
    #[must_use]
    pub fn wheel_for(tags: &str) -> Self {
        Self::new(Some(tags), "2.1")
    }

    /// An sdist whose PKG-INFO is static, as metadata 2.2 (PEP 643) allows.
    #[must_use]
    pub fn sdist() -> Self {
        Self::new(None, "2.2")
    }

    /// Makes an sdist of exactly these bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: Vec<u8>) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Adds a file to an sdist, below its top folder.
    #[must_use]
    pub fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Adds a `Requires-Dist`.
    #[must_use]
    pub fn requires(mut self, requirement: &str) -> Self {
        self.requires.push(requirement.to_owned());
        self
    }

    /// Adds an extra with its requirements (written without the `extra == …` marker).
    #[must_use]
    pub fn extra(mut self, name: &str, requirements: &[&str]) -> Self {
        let list = self.extras.entry(name.to_owned()).or_default();
        list.extend(requirements.iter().map(|&r| r.to_owned()));
        self
    }

    /// Sets `Requires-Python`, in METADATA and on the page.
    #[must_use]
    pub fn requires_python(mut self, specifiers: &str) -> Self {
        self.requires_python = Some(specifiers.to_owned());
        self
    }

    /// Marks the file as yanked, with a reason.
    #[must_use]
    pub fn yanked(mut self, reason: &str) -> Self {
        self.yanked = Some(reason.to_owned());
        self
    }

    /// When it was uploaded, as PEP 700 writes it: `2024-01-01T00:00:00Z`.
    #[must_use]
    pub fn uploaded(mut self, time: &str) -> Self {
        self.uploaded = Some(time.to_owned());
        self
    }

    /// The wheel's build tag, such as `1`.
    #[must_use]
    pub fn build(mut self, tag: &str) -> Self {
        self.build = Some(tag.to_owned());
        self
    }

    /// Makes the wheel this many bytes long: zeros, then the real end of a zip archive.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// The sha256 that the page states, right or wrong.
    #[must_use]
    pub fn sha256(mut self, digest: &str) -> Self {
        self.sha256 = Some(digest.to_owned());
        self
    }

    /// The page states no sha256, as PyTorch's index does for files without a stored checksum.
    #[must_use]
    pub fn without_digest(mut self) -> Self {
        self.sha256 = Some(String::new());
        self
    }

    /// The whole text of METADATA, instead of one made from the other facts.
    #[must_use]
    pub fn metadata(mut self, text: &str) -> Self {
        self.raw_metadata = Some(text.to_owned());
        self
    }

    /// `Metadata-Version`. An sdist below 2.2 says nothing that can be relied on.
    #[must_use]
    pub fn metadata_version(mut self, version: &str) -> Self {
        self.metadata_version = version.to_owned();
        self
    }

    /// Names a field as `Dynamic`.
    #[must_use]
    pub fn dynamic(mut self, field: &str) -> Self {
        self.dynamic.push(field.to_owned());
        self
    }

    /// The file name of this distribution of `name` `version`.
    pub(crate) fn filename(&self, name: &str, version: &str) -> String {
        let stem = format!("{}-{version}", name.replace(['-', '.'], "_"));
        match (&self.tags, &self.build) {
            (Some(tags), Some(build)) => format!("{stem}-{build}-{tags}.whl"),
            (Some(tags), None) => format!("{stem}-{tags}.whl"),
            (None, _) => format!("{stem}.tar.gz"),
        }
    }

    /// METADATA or PKG-INFO of this distribution of `name` `version`.
    pub(crate) fn metadata_text(&self, name: &str, version: &str) -> String {
        if let Some(text) = &self.raw_metadata {
            return text.clone();
        }
        let mut lines = vec![
            format!("Metadata-Version: {}", self.metadata_version),
            format!("Name: {name}"),
            format!("Version: {version}"),
        ];
        lines.extend(self.requires_python.iter().map(|s| format!("Requires-Python: {s}")));
        lines.extend(self.dynamic.iter().map(|field| format!("Dynamic: {field}")));
        lines.extend(self.requires.iter().map(|r| format!("Requires-Dist: {r}")));
        for (extra, requirements) in &self.extras {
            lines.push(format!("Provides-Extra: {extra}"));
            lines.extend(requirements.iter().map(|requirement| with_extra(requirement, extra)));
        }
        lines.join("\n") + "\n"
    }
}

/// `Requires-Dist` of a requirement that belongs to an extra.
fn with_extra(requirement: &str, extra: &str) -> String {
    match requirement.split_once(';') {
        Some((name, marker)) => {
            format!("Requires-Dist: {} ; ({}) and extra == '{extra}'", name.trim(), marker.trim())
        }
        None => format!("Requires-Dist: {requirement} ; extra == '{extra}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_metadata_follow_the_standards() {
        let wheel = Dist::wheel_for("cp311-cp311-win_amd64").build("1").requires("b>1");
        assert_eq!(wheel.filename("a.b-c", "1.0"), "a_b_c-1.0-1-cp311-cp311-win_amd64.whl");
        assert_eq!(
            wheel.metadata_text("a", "1.0"),
            "Metadata-Version: 2.1\nName: a\nVersion: 1.0\nRequires-Dist: b>1\n"
        );
        let sdist = Dist::sdist().extra("x", &["c; os_name != 'nt'"]);
        assert_eq!(sdist.filename("a", "1.0"), "a-1.0.tar.gz");
        assert!(sdist.metadata_text("a", "1.0").ends_with(
            "Provides-Extra: x\nRequires-Dist: c ; (os_name != 'nt') and extra == 'x'\n"
        ));
    }
}
