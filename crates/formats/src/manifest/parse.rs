//! The file as a whole: its tables, and the checks that look at more than one of them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cuda_lock_constraint::name::Name;
use serde_spanned::Spanned;
use toml::de::DeTable;

use super::{
    AuditSettings, DirectSource, Environment, Index, MachineTable, Model, Options, Pytorch,
    StaticMetadata, Target, audit, environment, index, machine, metadata, model, options, pytorch,
    target,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Source};
use crate::document::{self, Report};
use crate::schema::{Key, Kind, check};

/// The tables of env.toml.
pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "environment",
        Kind::Table(environment::KEYS),
        "",
        "What should run: Python and its packages.",
    )
    .required(),
    Key::new("machine", Kind::Table(machine::KEYS), "", "Where it should run."),
    Key::new(
        "model",
        Kind::Table(model::KEYS),
        "",
        "A model that goes from an exporter to a runtime.",
    ),
    Key::new(
        "target",
        Kind::NamedTables(target::KEYS),
        "",
        "More machines, each with a lock of its own; their keys override [machine].",
    ),
    Key::new(
        "index",
        Kind::Tables(index::KEYS),
        "[[index]]",
        "Package indexes, asked in this order.",
    ),
    Key::new(
        "sources",
        Kind::NamedTables(index::SOURCE_KEYS),
        "",
        "Which index, repository, address or folder a package is taken from.",
    ),
    Key::new("options", Kind::Table(options::KEYS), "", "How versions are chosen."),
    Key::new("pytorch", Kind::Table(pytorch::KEYS), "", "Where the PyTorch builds come from."),
    Key::new(
        "metadata",
        Kind::NamedTables(metadata::KEYS),
        "",
        "Dependencies of packages that have only source releases.",
    ),
    Key::new("audit", Kind::Table(audit::KEYS), "", "Which findings of an audit count."),
];

/// Where a key that stands in the wrong table belongs.
pub(crate) fn homes_of(name: &str) -> Vec<String> {
    KEYS.iter()
        .filter_map(|key| match key.kind {
            Kind::Table(keys) if keys.iter().any(|key| key.name == name) => {
                Some(format!("[{}]", key.name))
            }
            Kind::Tables(keys) if keys.iter().any(|key| key.name == name) => {
                Some(format!("[[{}]]", key.name))
            }
            _ => None,
        })
        .collect()
}

/// A checked env.toml. Values that messages may want to point at keep their position.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// `[environment]`.
    pub environment: Environment,
    /// `[machine]`.
    pub machine: MachineTable,
    /// `[model]`.
    pub model: Option<Model>,
    /// `[target.NAME]`, by name.
    pub targets: BTreeMap<String, Target>,
    /// `[[index]]`, in the order of the file, which is the order they are asked in.
    pub indexes: Vec<Index>,
    /// `[sources]`: the index that a package is taken from.
    pub sources: BTreeMap<Name, Spanned<String>>,
    /// `[sources]`: the file, repository or folder that a package is taken from.
    pub direct: BTreeMap<Name, Spanned<DirectSource>>,
    /// `[options]`.
    pub options: Options,
    /// `[pytorch]`.
    pub pytorch: Pytorch,
    /// `[metadata.NAME]`, by name.
    pub metadata: Vec<StaticMetadata>,
    /// `[audit]`.
    pub audit: AuditSettings,
    source: Arc<Source>,
}

impl Manifest {
    /// Reads and checks the text of a file that messages call `file_name`.
    ///
    /// # Errors
    /// Everything that is wrong with it: when it is not TOML, only that.
    pub fn parse(text: &str, file_name: &str) -> Result<Self, Diagnostics> {
        Self::read(&Source::new(file_name, text))
    }

    /// [`Manifest::parse`] for the bytes of a file.
    ///
    /// # Errors
    /// Also when the bytes are not UTF-8.
    pub fn parse_bytes(bytes: &[u8], file_name: &str) -> Result<Self, Diagnostics> {
        Self::read(&Source::decode(file_name, bytes)?)
    }

    /// The text that was read.
    #[must_use]
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// A message that points at a value of this file.
    #[must_use]
    pub fn diagnostic(
        &self,
        severity: Severity,
        span: Range<usize>,
        message: impl AsRef<str>,
    ) -> Diagnostic {
        Diagnostic::new(severity, &self.source, message).at(span)
    }

    fn read(source: &Arc<Source>) -> Result<Self, Diagnostics> {
        if source.text().trim().is_empty() {
            return Err(Diagnostic::error(source, "the file is empty")
                .help("`cuda-lock init` writes one to start from")
                .into());
        }
        let mut report = Report::new(source);
        let mut root = document::parse(source, &mut report);
        if report.len() > 0 {
            return report.finish(None);
        }
        let start = 0..source.text().find(char::is_whitespace).unwrap_or(0);
        check(&mut root, KEYS, "", start, &mut report);
        let manifest = Self::tables(&root, &mut report);
        if let Some(manifest) = &manifest {
            index::check_references(manifest, &mut report);
            target::check_targets(manifest, table_span(&root, "machine"), &mut report);
        }
        report.finish(manifest)
    }

    fn tables(root: &DeTable<'_>, report: &mut Report) -> Option<Self> {
        let none = DeTable::default();
        let at = |key| document::table(root, key).unwrap_or(&none);
        let environment = Environment::read(at("environment"), report);
        let machine = MachineTable::read(at("machine"), report);
        let model = document::table(root, "model").map(|table| Model::read(table, report));
        let targets = target::read_all(at("target"), report);
        let indexes = index::read_all(root, report);
        let sources = index::read_sources(at("sources"), report);
        let direct = index::read_direct(at("sources"), report);
        let options = Options::read(at("options"), report);
        let pytorch = Pytorch::read(at("pytorch"), report);
        let metadata = metadata::read_all(at("metadata"), report);
        let audit = AuditSettings::read(at("audit"), report);
        Some(Self {
            environment: environment?,
            machine,
            model,
            targets,
            indexes,
            sources,
            direct,
            options,
            pytorch,
            metadata,
            audit,
            source: Arc::clone(report.source()),
        })
    }
}

/// Where a table starts.
fn table_span(root: &DeTable<'_>, key: &str) -> Option<Range<usize>> {
    root.get(key).map(Spanned::span)
}
