//! The indexes of a run, in the order of their preference.

use std::collections::BTreeSet;
use std::path::Path;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::Requirement;
use cuda_lock_constraint::rules::index::{self, Known};
use cuda_lock_constraint::solve::{Source, SourceKind};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{SourceConfig, SourceFormat};
use cuda_lock_formats::diagnostic::{Diagnostic, Diagnostics, Severity};
use cuda_lock_formats::manifest::{Backends, Index, IndexFormat, IndexLocation, Manifest};
use url::Url;

use super::moved::Moved;

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
            // A page of files that a person names is trusted as a file is whose address they name.
            plain_linux: matches!(kind, SourceKind::PyTorch { .. })
                || config.format == SourceFormat::Flat,
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

/// See [`sources`](fn@super::sources).
pub(super) fn sources(manifest: &Manifest, manifest_path: &Path) -> Result<Sources, Diagnostics> {
    let mut sources = Sources { all: Vec::new() };
    let moved = Moved::read()?;
    let only = manifest.options.only_indexes.as_ref();
    let wanted =
        |name: &str| only.is_none_or(|only| only.iter().any(|wanted| wanted.get_ref() == name));
    // An [[index]] that has the name of a known one is that index at another address.
    let known_name =
        |index: &Index| index.name.as_ref().and_then(|name| index::by_name(name.get_ref()));
    let own = |default: bool| {
        manifest
            .indexes
            .iter()
            .enumerate()
            .filter(move |(_, index)| index.default == default && known_name(index).is_none())
    };
    for (place, index) in own(false) {
        add_own(&mut sources, manifest, manifest_path, (place, index))?;
    }
    if manifest.indexes.iter().any(|index| index.default) {
        for (place, index) in manifest.indexes.iter().enumerate().filter(|(_, index)| index.default)
        {
            add_own(&mut sources, manifest, manifest_path, (place, index))?;
        }
    } else if let Some(pypi) = index::pypi() {
        add_known(&mut sources, &pypi, address(manifest, manifest_path, &moved, &pypi)?);
    }
    for known in known_indexes(manifest) {
        let address = address(manifest, manifest_path, &moved, &known)?;
        add_known(&mut sources, &known, address);
    }
    sources.all.retain(|known| wanted(&known.source.name));
    for (id, known) in (0..).zip(&mut sources.all) {
        known.source.id = SourceId(id);
        known.config.id = SourceId(id);
    }
    Ok(sources)
}

/// The known indexes beside PyPI: PyTorch's for each backend that may be asked, and those of single distributions.
fn known_indexes(manifest: &Manifest) -> Vec<Known> {
    let mut backends: Vec<String> = match &manifest.pytorch.backends {
        Backends::None => Vec::new(),
        Backends::Only(names) => names.iter().map(|name| name.get_ref().clone()).collect(),
        Backends::Any => index::pytorch_backends().to_vec(),
    };
    if manifest.pytorch.backends == Backends::Any {
        // A backend that no row knows is asked when a requirement names it: torch==3.1.0+cu133.
        for label in labels(manifest) {
            if !backends.contains(&label) {
                backends.push(label);
            }
        }
    }
    index::beside_pypi(&backends).collect()
}

/// Every known index beside PyPI, at the address where this user reaches it.
///
/// # Errors
/// When the user's configuration cannot be used.
pub fn known() -> Result<Vec<(Known, Url)>, Diagnostics> {
    let moved = Moved::read()?;
    let all = index::beside_pypi(index::pytorch_backends());
    Ok(all
        .filter_map(|known| {
            let of_base = || below(moved.pytorch.as_ref()?, known.backend.as_ref()?);
            let url = moved.index(&known.name).cloned().or_else(of_base);
            let url = url.or_else(|| Url::parse(&known.url).ok())?;
            Some((known, url))
        })
        .collect())
}

/// The local labels that requirements of env.toml pin and that name a backend.
fn labels(manifest: &Manifest) -> Vec<String> {
    let targets = manifest.targets.values().flat_map(|target| &target.dependencies);
    manifest
        .environment
        .dependencies
        .iter()
        .chain(targets)
        .filter_map(|text| text.get_ref().parse::<Requirement>().ok()?.local_label())
        .filter(|label| index::pytorch(label).is_some())
        .collect()
}

/// Where a known index is: as env.toml says, else the user's environment or configuration, else the matrices.
fn address(
    manifest: &Manifest,
    manifest_path: &Path,
    moved: &Moved,
    known: &Known,
) -> Result<Option<Url>, Diagnostics> {
    let named =
        |index: &&Index| index.name.as_ref().is_some_and(|name| *name.get_ref() == known.name);
    if let Some(index) = manifest.indexes.iter().find(named) {
        return location(manifest, manifest_path, index).map(Some);
    }
    if let Some(url) = moved.index(&known.name) {
        return Ok(Some(url.clone()));
    }
    let base = manifest.pytorch.index.as_ref().map(|url| url.get_ref()).or(moved.pytorch.as_ref());
    let (Some(base), Some(backend)) = (base, &known.backend) else { return Ok(None) };
    Ok(below(base, backend))
}

/// The index of one backend below the address of all of them.
fn below(base: &Url, backend: &str) -> Option<Url> {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        let _ = segments.pop_if_empty().push(backend).push("");
    }
    Some(url)
}

fn location(manifest: &Manifest, manifest_path: &Path, index: &Index) -> Result<Url, Diagnostics> {
    let path = match index.location.get_ref() {
        IndexLocation::Url(url) => return Ok(url.clone()),
        IndexLocation::Path(path) => path,
    };
    let folder = manifest_path.parent().unwrap_or(Path::new("."));
    let path = std::path::absolute(folder.join(path));
    let url = path.ok().and_then(|path| {
        if path.is_dir() {
            Url::from_directory_path(path).ok()
        } else {
            Url::from_file_path(path).ok()
        }
    });
    url.ok_or_else(|| {
        let text = "this path cannot be used as an index";
        Diagnostics::new(vec![manifest.diagnostic(Severity::Error, index.location.span(), text)])
    })
}

fn add_own(
    sources: &mut Sources,
    manifest: &Manifest,
    manifest_path: &Path,
    (place, index): (usize, &Index),
) -> Result<(), Diagnostics> {
    let url = location(manifest, manifest_path, index)?;
    // A known index under another name keeps what is known of it.
    let known = index::by_url(url.as_str());
    let kind = match &known {
        Some(known) => known.into(),
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
        url: url.into(),
        format: match index.format {
            IndexFormat::Simple => SourceFormat::Simple,
            IndexFormat::Flat => SourceFormat::Flat,
        },
        forbidden_means_absent: known.is_some_and(|known| known.row.forbidden_means_absent),
    };
    sources.add(kind, config, None, index.explicit);
    Ok(())
}

/// Adds an index of the matrices, at `moved` when it is not where they say.
fn add_known(sources: &mut Sources, known: &Known, moved: Option<Url>) {
    let Some(url) = moved.or_else(|| Url::parse(&known.url).ok()) else { return };
    let config = SourceConfig {
        id: sources.next_id(),
        name: known.name.clone(),
        url: url.into(),
        format: known.row.format.into(),
        forbidden_means_absent: known.row.forbidden_means_absent,
    };
    let names = known.row.distributions.iter().copied();
    let only: BTreeSet<Name> = names.collect();
    sources.add(known.into(), config, (!only.is_empty()).then_some(only), false);
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
