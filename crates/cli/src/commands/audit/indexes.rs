//! The indexes that files name, numbered for one fetcher.

use std::collections::BTreeSet;
use std::path::Path;

use cuda_lock_constraint::matrix::rows::indexes::{Format, Kind};
use cuda_lock_constraint::rules::index;
use cuda_lock_constraint::rules::torch::backend_cuda;
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
    only: Vec<String>,
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
            only: only.to_vec(),
        };
        indexes.add(url, "PyPI".to_owned(), SourceKind::PyPi, SourceFormat::Simple, false);
        Ok(indexes)
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
        if let Some(known) = self.configs.iter().find(|config| config.url == url) {
            return known.id;
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
                let kind = match known.row.kind {
                    Kind::Pytorch => {
                        SourceKind::PyTorch { backend: known.backend.clone().unwrap_or_default() }
                    }
                    Kind::Onnxruntime => SourceKind::OrtFeed { name: known.name.clone() },
                    Kind::Pypi => SourceKind::PyPi,
                    Kind::Nvidia => SourceKind::Other,
                };
                (known.name.clone(), kind, known.row.forbidden_means_absent)
            }
            // A nightly, test or mirrored index of PyTorch: its last part names the backend.
            (None, Some(backend)) => {
                (mask_credentials(url.as_str()).into_owned(), SourceKind::PyTorch { backend }, true)
            }
            (None, None) => (mask_credentials(url.as_str()).into_owned(), SourceKind::Other, true),
        };
        Some(self.add(url, name, kind, format, forbidden))
    }

    /// Numbers the indexes of a set of options.
    pub fn choose(&mut self, options: &IndexOptions) -> Chosen {
        let mut chosen = Chosen::default();
        let push = |chosen: &mut Chosen, id: Option<SourceId>, address: &str, extra: bool| match id
        {
            Some(id) => {
                if !chosen.all.contains(&id) {
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
