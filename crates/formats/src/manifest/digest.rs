//! A digest of what env.toml says, for the lock to remember.
//!
//! It is taken over the meaning: comments, the order of keys and tables, the order of requirements, and how names and
//! URLs are spelt do not change it. The order of `[[index]]` does, since indexes are asked in it. What no lock depends on
//! (`name`, `[audit]`) is left out.

use std::fmt::Write as _;

use cuda_lock_constraint::digest::sha256_hex;
use cuda_lock_constraint::machine::Libc;
use cuda_lock_constraint::requirement::Requirement;
use serde_spanned::Spanned;
use sha2::{Digest, Sha256};

use super::{Backends, IndexFormat, MachineTable, Manifest, Prerelease, Resolution, TargetSpec};

/// Raised when the canonical form changes, so that old locks are seen as stale rather than as equal by chance.
const FORM: &str = "1";

impl Manifest {
    /// The digest of everything that any lock of this file depends on: 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut form = Canonical::default();
        self.common(&mut form);
        for name in self.target_names() {
            if let Ok(spec) = self.target(name) {
                spec.canonical(&mut form);
            }
        }
        form.finish()
    }

    /// The digest of what the lock of one target depends on. Other targets count only where `same` or `[model]` ties the
    /// targets together.
    #[must_use]
    pub fn target_digest(&self, spec: &TargetSpec) -> String {
        let mut form = Canonical::default();
        self.common(&mut form);
        spec.canonical(&mut form);
        if !self.options.same.is_empty() || self.model.is_some() {
            form.put("with", [self.digest()]);
        }
        form.finish()
    }

    fn common(&self, form: &mut Canonical) {
        form.put("form", [FORM]);
        if let Some(model) = &self.model {
            form.put("model.opset", model.opset.iter().map(|n| n.get_ref().to_string()));
            form.put("model.ir-version", model.ir_version.iter().map(|n| n.get_ref().to_string()));
            form.put("model.onnx", model.onnx.iter().map(|path| path.get_ref()));
        }
        form.put(
            "index",
            self.indexes.iter().map(|index| {
                let name = index.name.as_ref().map_or("", |name| name.get_ref());
                let format = match index.format {
                    IndexFormat::Simple => "simple",
                    IndexFormat::Flat => "flat",
                };
                let place = without_credentials(index.location.get_ref().full());
                format!("{name} {place} {} {} {format}", index.explicit, index.default)
            }),
        );
        form.put("sources", self.sources.iter().map(|(name, index)| format!("{name} {index}")));
        if !self.direct.is_empty() {
            form.put(
                "direct",
                self.direct.iter().map(|(name, from)| format!("{name} {}", from.get_ref())),
            );
        }
        self.options(form);
        if let Some(index) = &self.pytorch.index {
            form.put("pytorch.index", [without_credentials(index.get_ref().as_str())]);
        }
        match &self.pytorch.backends {
            Backends::Any => {}
            Backends::None => form.put("pytorch.backends", ["false"]),
            Backends::Only(names) => form.put("pytorch.backends", sorted(names.iter().map(plain))),
        }
        for entry in &self.metadata {
            let at = |key: &str| format!("metadata.{}.{key}", entry.name.get_ref());
            form.put(at("version"), entry.version.iter().map(|v| v.get_ref().to_string()));
            form.put(at("requires-dist"), requirements(&entry.requires_dist));
            form.put(at("requires-python"), entry.requires_python.iter().map(plain));
            form.put(at("provides-extra"), sorted(entry.provides_extra.iter().map(plain)));
        }
    }

    fn options(&self, form: &mut Canonical) {
        let options = &self.options;
        form.put(
            "resolution",
            [match options.resolution {
                Resolution::Highest => "highest",
                Resolution::Lowest => "lowest",
                Resolution::LowestDirect => "lowest-direct",
            }],
        );
        form.put(
            "prerelease",
            [match options.prerelease {
                Prerelease::Disallow => "disallow",
                Prerelease::Allow => "allow",
                Prerelease::IfNecessary => "if-necessary",
                Prerelease::Explicit => "explicit",
                Prerelease::IfNecessaryOrExplicit => "if-necessary-or-explicit",
            }],
        );
        form.put(
            "exclude-newer",
            options.exclude_newer.iter().map(|moment| moment.get_ref().before.to_string()),
        );
        form.put("substitute", options.substitute.iter().map(|(from, to)| format!("{from} {to}")));
        form.put("overrides", requirements(&options.overrides));
        form.put("constraints", requirements(&options.constraints));
        if let Some(names) = &options.only_indexes {
            form.put("only-indexes", sorted(names.iter().map(plain)));
        }
        for (key, names) in [
            ("trust-recorded", sorted(options.trust_recorded.iter().map(plain))),
            ("build", sorted(options.build.iter().map(plain))),
        ] {
            if !names.is_empty() {
                form.put(key, names);
            }
        }
        form.put("same", sorted(options.same.iter().map(plain)));
    }
}

impl TargetSpec {
    fn canonical(&self, form: &mut Canonical) {
        let at = |key: &str| format!("target.{}.{key}", self.name.as_deref().unwrap_or_default());
        form.put(at("python"), [self.python.get_ref().to_string()]);
        form.put(at("dependencies"), requirements(&self.dependencies));
        let MachineTable { platform, libc, driver, gpus, cuda, cudnn, libraries, image } =
            &self.machine;
        form.put(at("platform"), platform.iter().map(plain));
        form.put(
            at("libc"),
            libc.iter().map(|libc| match libc.get_ref() {
                Libc::Glibc(version) => format!("glibc {version}"),
                Libc::Musl(version) => format!("musl {version}"),
            }),
        );
        form.put(at("driver"), driver.iter().map(plain));
        if let Some(gpus) = gpus {
            form.put(at("gpus"), sorted(gpus.iter().map(plain)));
        }
        form.put(at("cuda"), cuda.iter().map(|wish| &wish.get_ref().text));
        form.put(at("cudnn"), cudnn.iter().map(|wish| &wish.get_ref().text));
        form.put(at("libraries"), libraries.iter().map(|from| format!("{:?}", from.get_ref())));
        form.put(at("image"), image.iter().map(plain));
    }
}

/// Keys with lists of values, as text that no two different contents share: every part is preceded by its length.
#[derive(Default)]
struct Canonical(String);

impl Canonical {
    fn put(&mut self, key: impl AsRef<str>, values: impl IntoIterator<Item = impl AsRef<str>>) {
        self.part(key.as_ref());
        for value in values {
            self.part(value.as_ref());
        }
        self.0.push('\n');
    }

    fn part(&mut self, text: &str) {
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{}:{text} ", text.len());
    }

    fn finish(self) -> String {
        sha256_hex(&Sha256::digest(self.0.as_bytes()).into())
    }
}

fn plain<T: std::fmt::Display>(value: &Spanned<T>) -> String {
    value.get_ref().to_string()
}

fn sorted(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Requirements in one spelling.
fn requirements(list: &[Spanned<String>]) -> Vec<String> {
    sorted(list.iter().map(|text| {
        let text = text.get_ref();
        text.parse().map_or_else(|_| text.clone(), |read| canonical(&read))
    }))
}

/// One spelling for all requirements that mean the same.
fn canonical(requirement: &Requirement) -> String {
    let mut text = requirement.name.to_string();
    let mut extras: Vec<&str> = requirement.extras.iter().map(|extra| extra.as_str()).collect();
    extras.sort_unstable();
    let mut versions: Vec<String> =
        requirement.specifiers.iter().map(ToString::to_string).collect();
    versions.sort_unstable();
    text.push_str(&format!("[{}] {}", extras.join(","), versions.join(",")));
    if let Some(url) = &requirement.url {
        text.push_str(&format!(" @ {}#{}", url.url, url.fragment.as_deref().unwrap_or_default()));
    }
    if let Some(marker) = &requirement.marker {
        text.push_str(&format!(" ; {marker}"));
    }
    text
}

/// A new password is no new index.
fn without_credentials(text: &str) -> String {
    crate::pylock::strip_credentials(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_all_that_mean_the_same() {
        let one = |text: &str| canonical(&text.parse().expect(text));
        assert_eq!(one("Torch[b,a]>=2.3,<3"), one("torch [a, b] <3 , >=2.3"));
        assert_ne!(one("torch>=2.3"), one("torch>2.3"));
        assert_ne!(one("torch"), one("torch ; os_name == 'nt'"));
    }
}
