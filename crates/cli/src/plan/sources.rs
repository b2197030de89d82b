//! The indexes of a run, in the order of their preference.

use std::collections::BTreeSet;
use std::path::Path;

use cuda_lock_constraint::matrix::rows::indexes::{Channel, Format, Kind};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::index::{self, Known};
use cuda_lock_constraint::solve::{Source, SourceKind};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{SourceConfig, SourceFormat};
use cuda_lock_formats::diagnostic::{Diagnostic, Diagnostics, Severity};
use cuda_lock_formats::manifest::{Backends, Index, IndexFormat, IndexLocation, Manifest};
use url::Url;

/// An index as the solver and as the fetcher see it.
pub struct KnownSource {
    /// For the solver.
    pub source: Source,
    /// For the fetcher.
    pub config: SourceConfig,
}

/// All of them.
pub struct Sources {
    /// By number.
    pub all: Vec<KnownSource>,
}

impl Sources {
    /// An index by the name that env.toml or the matrices give it.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&KnownSource> {
        self.all.iter().find(|known| known.source.name == name)
    }

    fn add(
        &mut self,
        kind: SourceKind,
        config: SourceConfig,
        only: Option<BTreeSet<Name>>,
        explicit: bool,
    ) {
        let source = Source {
            id: config.id,
            name: config.name.clone(),
            plain_linux: matches!(kind, SourceKind::PyTorch { .. }),
            kind,
            only,
            explicit,
        };
        self.all.push(KnownSource { source, config });
    }

    fn next_id(&self) -> SourceId {
        SourceId(u16::try_from(self.all.len()).unwrap_or(u16::MAX))
    }
}

/// See [`super::sources`].
pub(super) fn sources(manifest: &Manifest, manifest_path: &Path) -> Result<Sources, Diagnostics> {
    let mut sources = Sources { all: Vec::new() };
    let only = manifest.options.only_indexes.as_ref();
    let wanted =
        |name: &str| only.is_none_or(|only| only.iter().any(|wanted| wanted.get_ref() == name));
    let own = |default: bool| {
        manifest.indexes.iter().enumerate().filter(move |(_, index)| index.default == default)
    };
    for (place, index) in own(false) {
        add_own(&mut sources, manifest, manifest_path, (place, index))?;
    }
    if manifest.indexes.iter().any(|index| index.default) {
        for (place, index) in own(true) {
            add_own(&mut sources, manifest, manifest_path, (place, index))?;
        }
    } else if let Some(pypi) = index::pypi().filter(|pypi| wanted(&pypi.name)) {
        add_known(&mut sources, &pypi, None);
    }
    let own_names: BTreeSet<String> =
        sources.all.iter().map(|known| known.source.name.clone()).collect();
    sources.all.retain(|known| wanted(&known.source.name));
    for (id, known) in (0..).zip(&mut sources.all) {
        known.source.id = SourceId(id);
        known.config.id = SourceId(id);
    }
    if let Some(only) = only {
        for name in only {
            let text = name.get_ref();
            if !own_names.contains(text) && index::by_name(text).is_none() {
                let text = format!("there is no index called \"{text}\"");
                let problem = manifest
                    .diagnostic(Severity::Error, name.span(), text)
                    .help("name one of [[index]], or \"pypi\"");
                return Err(Diagnostics::new(vec![problem]));
            }
        }
    }
    if manifest.pytorch.backends != Backends::None {
        let named: Vec<String> = match &manifest.pytorch.backends {
            Backends::Only(names) => names.iter().map(|name| name.get_ref().clone()).collect(),
            _ => index::pytorch_backends().to_vec(),
        };
        for backend in named {
            if let Some(known) = index::pytorch(&backend).filter(|known| wanted(&known.name)) {
                add_known(
                    &mut sources,
                    &known,
                    manifest.pytorch.index.as_ref().map(|u| u.get_ref()),
                );
            }
        }
    }
    for row in index::rows() {
        if row.kind != Kind::Onnxruntime || row.channel != Channel::Release || !wanted(&row.name) {
            continue;
        }
        if let Some(known) = index::by_name(&row.name) {
            add_known(&mut sources, &known, None);
        }
    }
    Ok(sources)
}

fn add_own(
    sources: &mut Sources,
    manifest: &Manifest,
    manifest_path: &Path,
    (place, index): (usize, &Index),
) -> Result<(), Diagnostics> {
    let url = match index.location.get_ref() {
        IndexLocation::Url(url) => url.clone(),
        IndexLocation::Path(path) => {
            let folder = manifest_path.parent().unwrap_or(Path::new("."));
            let path = std::path::absolute(folder.join(path));
            let url = path.ok().and_then(|path| {
                if path.is_dir() {
                    Url::from_directory_path(path).ok()
                } else {
                    Url::from_file_path(path).ok()
                }
            });
            let Some(url) = url else {
                let text = "this path cannot be used as an index";
                let span = index.location.span();
                return Err(Diagnostics::new(vec![manifest.diagnostic(
                    Severity::Error,
                    span,
                    text,
                )]));
            };
            url
        }
    };
    // A known index under another name keeps what is known of it.
    let known = index::by_url(url.as_str());
    let kind = match &known {
        Some(known) => kind_of(known),
        None if index.default => SourceKind::PyPi,
        None => SourceKind::Other,
    };
    let name = match &index.name {
        Some(name) => name.get_ref().clone(),
        None => format!("index {}", place + 1),
    };
    let config = SourceConfig {
        id: sources.next_id(),
        name,
        url,
        format: match index.format {
            IndexFormat::Simple => SourceFormat::Simple,
            IndexFormat::Flat => SourceFormat::Flat,
        },
        forbidden_means_absent: known.is_some_and(|known| known.row.forbidden_means_absent),
    };
    sources.add(kind, config, None, index.explicit);
    Ok(())
}

fn kind_of(known: &Known) -> SourceKind {
    match known.row.kind {
        Kind::Pypi => SourceKind::PyPi,
        Kind::Pytorch => SourceKind::PyTorch { backend: known.backend.clone().unwrap_or_default() },
        Kind::Onnxruntime => SourceKind::OrtFeed { name: known.name.clone() },
        Kind::Nvidia => SourceKind::Other,
    }
}

/// Adds an index of the matrices. `base` is a mirror of PyTorch's indexes, one folder for each backend.
fn add_known(sources: &mut Sources, known: &Known, base: Option<&Url>) {
    let moved = base.and_then(|base| {
        let mut base = base.clone();
        let backend = known.backend.as_deref()?;
        base.path_segments_mut().ok()?.pop_if_empty().push(backend).push("");
        Some(base)
    });
    let Some(url) = moved.or_else(|| Url::parse(&known.url).ok()) else { return };
    let config = SourceConfig {
        id: sources.next_id(),
        name: known.name.clone(),
        url,
        format: match known.row.format {
            Format::Flat => SourceFormat::Flat,
            Format::Json | Format::Html => SourceFormat::Simple,
        },
        forbidden_means_absent: known.row.forbidden_means_absent,
    };
    let names = known.row.distributions.iter().filter_map(|name| Name::new(name).ok());
    let only: BTreeSet<Name> = names.collect();
    sources.add(kind_of(known), config, (!only.is_empty()).then_some(only), false);
}

/// Nothing to fetch from: every index was ruled out.
#[must_use]
pub fn none_left(manifest: &Manifest) -> Diagnostics {
    let text = "no index is left to take packages from";
    Diagnostics::new(vec![
        Diagnostic::error(manifest.source(), text)
            .help("list at least one index in only-indexes, such as \"pypi\""),
    ])
}
