//! The indexes that files name, numbered for one fetcher.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cuda_lock_constraint::matrix::rows::indexes::{Format, Kind};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::rules::index::{self, Known};
use cuda_lock_constraint::rules::torch::backend_cuda;
use cuda_lock_constraint::secret::SecretUrl;
use cuda_lock_constraint::solve::{Source, SourceKind};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{SourceConfig, SourceFormat};
use cuda_lock_formats::diagnostic::mask_credentials;
use cuda_lock_formats::input::IndexOptions;
use url::Url;

/// All indexes of a run. PyPI, or what stands for it, is the first.
pub struct Indexes {
    /// For the audit.
    pub sources: Vec<Source>,
    /// For the fetcher.
    pub configs: Vec<SourceConfig>,
    /// Those that are not to be asked.
    pub unasked: BTreeSet<SourceId>,
    /// Those that stand for what is installed in a folder.
    pub local: BTreeSet<SourceId>,
    /// By address, without a secret.
    places: BTreeMap<String, SourceId>,
    only: Vec<String>,
    /// Known indexes that this user reaches at another address, by name.
    moved: Vec<(Known, Url)>,
}

/// The indexes of one set of options.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Where anything is looked for, in the order of the file.
    pub all: Vec<SourceId>,
    /// Those that are added beside the first.
    pub extra: BTreeSet<SourceId>,
    /// Addresses that cannot be read as one.
    pub unreadable: Vec<String>,
    /// The same as [`all`](Self::all), to be found faster.
    known: BTreeSet<SourceId>,
}

impl Indexes {
    /// PyPI alone. `default` is its mirror.
    ///
    /// # Errors
    /// When `default` is no address.
    pub fn new(default: Option<&str>, only: &[String]) -> Result<Self, String> {
        let known = index::pypi();
        let address =
            default.map(str::to_owned).or_else(|| known.map(|pypi| pypi.url)).unwrap_or_default();
        let url =
            Url::parse(&address).map_err(|why| format!("--default-index: '{address}': {why}"))?;
        let mut indexes = Self {
            sources: Vec::new(),
            configs: Vec::new(),
            unasked: BTreeSet::new(),
            local: BTreeSet::new(),
            places: BTreeMap::new(),
            only: only.to_vec(),
            moved: Vec::new(),
        };
        indexes.add(url, "PyPI".to_owned(), SourceKind::PyPi, SourceFormat::Simple, false);
        Ok(indexes)
    }

    /// Lets the known indexes be read where this user reaches them.
    pub fn reach(&mut self, known: Vec<(Known, Url)>) {
        self.moved = known;
    }

    /// Adds every known index that no file named, so that a fix can be looked for there.
    pub fn add_known(&mut self) {
        for (known, url) in self.moved.clone() {
            let kind = SourceKind::from(&known);
            // A mirror that a file names takes the place of the index itself.
            let mirrored = self
                .sources
                .iter()
                .any(|source| matches!(kind, SourceKind::PyTorch { .. }) && source.kind == kind);
            if !mirrored {
                let format = known.row.format.into();
                let absent = known.row.forbidden_means_absent;
                self.add(url, known.name.clone(), kind, format, absent);
            }
        }
    }

    /// The source that stands for what is installed in a folder, by pip or by conda.
    pub fn installed(&mut self, folder: &Path, conda: bool) -> Option<SourceId> {
        let path = std::path::absolute(folder).ok()?;
        let path = if conda { path.join("conda-meta") } else { path };
        let url = Url::from_directory_path(&path).ok()?;
        let kind = if conda { SourceKind::Other } else { SourceKind::PyPi };
        let id = self.add(url, folder.display().to_string(), kind, SourceFormat::Simple, true);
        if let Some(source) = self.sources.get_mut(usize::from(id.0)) {
            source.plain_linux = true;
        }
        // It is read whatever --only-index says.
        self.unasked.remove(&id);
        self.local.insert(id);
        Some(id)
    }

    /// The sources as a solve may use them: those that `asked` names and, of the known ones, those that an installer can
    /// be pointed at.
    pub fn for_solving(&self, asked: &[SourceId]) -> Vec<Source> {
        let all = self.sources.iter().map(|source| {
            let mut source = source.clone();
            let row = match &source.kind {
                SourceKind::PyPi => None,
                SourceKind::PyTorch { backend } => index::pytorch(backend),
                SourceKind::OrtFeed { name } => index::by_name(name),
                SourceKind::Other => index::by_name(&source.name),
            };
            let names = row.iter().flat_map(|known| &known.row.distributions);
            let only: BTreeSet<Name> = names.copied().collect();
            source.only = (!only.is_empty()).then_some(only);
            // The feeds have other builds of the same versions as PyPI, which an installer cannot tell apart.
            let feed = matches!(source.kind, SourceKind::OrtFeed { .. });
            let known = source.only.is_some() || source.kind == SourceKind::PyPi;
            source.explicit =
                self.unasked.contains(&source.id) || feed || !(known || asked.contains(&source.id));
            source
        });
        all.collect()
    }

    /// The address of an index, without a secret.
    pub fn address(&self, id: SourceId) -> Option<String> {
        let config = self.configs.get(usize::from(id.0))?;
        Some(config.url.public().as_str().trim_end_matches('/').to_owned())
    }

    /// PyPI's number.
    pub const PYPI: SourceId = SourceId(0);

    fn add(
        &mut self,
        url: Url,
        name: String,
        kind: SourceKind,
        format: SourceFormat,
        forbidden_means_absent: bool,
    ) -> SourceId {
        let url = SecretUrl::from(url);
        let place = url.public().as_str().trim_end_matches('/').to_owned();
        if let Some(known) = self.places.get(&place) {
            return *known;
        }
        let id = SourceId(u16::try_from(self.sources.len()).unwrap_or(u16::MAX));
        let wanted =
            self.only.is_empty() || self.only.iter().any(|only| only.eq_ignore_ascii_case(&name));
        if !wanted {
            self.unasked.insert(id);
        }
        self.sources.push(Source {
            id,
            name: name.clone(),
            plain_linux: matches!(kind, SourceKind::PyTorch { .. }),
            kind,
            only: None,
            explicit: false,
        });
        self.places.insert(place, id);
        self.configs.push(SourceConfig { id, name, url, format, forbidden_means_absent });
        id
    }

    /// The index at an address, or `None` when it is no address.
    pub fn at(&mut self, address: &str, flat: bool) -> Option<SourceId> {
        let url = Url::parse(address).ok().or_else(|| {
            let path = std::path::absolute(Path::new(address)).ok().filter(|path| path.exists())?;
            if path.is_dir() {
                Url::from_directory_path(path).ok()
            } else {
                Url::from_file_path(path).ok()
            }
        })?;
        let known = index::by_url(url.as_str());
        if known.as_ref().is_some_and(|known| known.row.kind == Kind::Pypi) {
            return Some(Self::PYPI);
        }
        let flat = flat
            || url.path().ends_with(".html")
            || known.as_ref().is_some_and(|k| k.row.format == Format::Flat);
        let format = if flat { SourceFormat::Flat } else { SourceFormat::Simple };
        let backend = last_segment(&url).filter(|segment| backend_cuda(segment).is_some());
        let (name, kind, forbidden) = match (&known, backend) {
            (Some(known), _) => {
                (known.name.clone(), known.into(), known.row.forbidden_means_absent)
            }
            // A nightly, test or mirrored index of PyTorch: its last part names the backend.
            (None, Some(backend)) => {
                (mask_credentials(url.as_str()).into_owned(), SourceKind::PyTorch { backend }, true)
            }
            (None, None) => (mask_credentials(url.as_str()).into_owned(), SourceKind::Other, true),
        };
        let moved = self.moved.iter().find(|(known, _)| known.name == name);
        let url = moved.map_or(url, |(_, url)| url.clone());
        Some(self.add(url, name, kind, format, forbidden))
    }

    /// Numbers the indexes of a set of options.
    pub fn choose(&mut self, options: &IndexOptions) -> Chosen {
        let mut chosen = Chosen::default();
        let push = |chosen: &mut Chosen, id: Option<SourceId>, address: &str, extra: bool| match id
        {
            Some(id) => {
                if chosen.known.insert(id) {
                    chosen.all.push(id);
                }
                if extra {
                    chosen.extra.insert(id);
                }
            }
            None => chosen.unreadable.push(address.to_owned()),
        };
        for named in options.named.iter().filter(|named| !named.explicit && !named.url.is_empty()) {
            let id = self.at(&named.url, named.flat);
            push(&mut chosen, id, &named.url, !named.default);
        }
        let replaced = options.named.iter().any(|named| named.default);
        if !options.no_index && !replaced {
            let id = match &options.index_url {
                Some(address) => self.at(address, false),
                None => Some(Self::PYPI),
            };
            push(&mut chosen, id, options.index_url.as_deref().unwrap_or_default(), false);
        }
        if !options.no_index {
            for address in &options.extra_index_urls {
                let id = self.at(address, false);
                push(&mut chosen, id, address, true);
            }
        }
        for address in &options.find_links {
            let id = self.at(address, true);
            push(&mut chosen, id, address, false);
        }
        if let Some(known) = options.torch_backend.as_deref().and_then(index::pytorch) {
            let id = self.at(&known.url, false);
            push(&mut chosen, id, &known.url, false);
        }
        chosen
    }
}

fn last_segment(url: &Url) -> Option<String> {
    url.path_segments()?.rfind(|segment| !segment.is_empty()).map(str::to_owned)
}
