//! The fetcher: what the solver asks, answered from memory, from the cache, or from the network.
//!
//! The solver asks on its own thread and may block. What the cache knows is read on that thread, at once: reading a file
//! takes less time than waking another thread to do it. Only what must be asked of the network goes to the runtime,
//! which is started by the first such question, so that a run that the cache answers starts no thread and reads no
//! certificate.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, File, Metadata, OnMetadata, OnProject, Reference,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::requirement::UrlRequirement;
use cuda_lock_constraint::version::SourceId;
use rustc_hash::FxHashMap;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use url::Url;

use crate::cache::{Cache, Entry, default_dir};
use crate::config::{FetcherConfig, KnownCommit, Mode, SourceFormat, StaticMetadata};
use crate::engine::Engine;
use crate::flat::FlatResult;
use crate::hosts::Hosts;
use crate::net::{Clients, Gates, Http, Keyring};
use crate::observer::{Counters, Event, Observer, Stats};
use crate::once::{Maker, OnceMap, Slot};
use crate::project::{ProjectResult, Step};
use crate::source::{Source, SourceError};

/// What METADATA questions are answered with.
pub(crate) type MetadataResult = Result<Arc<Metadata>, CatalogError>;

/// Indexes, cache and network as one [`Catalog`].
pub struct Fetcher {
    pub(crate) inner: Arc<Inner>,
    engine: Arc<Engine>,
    /// Pages that are expected and not in the cache, as long as nothing was needed that is not.
    waiting: Mutex<Vec<(SourceId, Name, OnProject)>>,
}

/// What tasks share. It must not own the runtime that runs them.
pub(crate) struct Inner {
    pub(crate) sources: FxHashMap<SourceId, Source>,
    pub(crate) mode: Mode,
    pub(crate) max_download: u64,
    pub(crate) cache: Option<Cache>,
    pub(crate) http: Http,
    pub(crate) hosts: Hosts,
    pub(crate) counters: Arc<Counters>,
    pub(crate) observer: Arc<dyn Observer>,
    overrides: FxHashMap<Name, Vec<(StaticMetadata, Arc<Metadata>)>>,
    pub(crate) commits: Vec<KnownCommit>,
    projects: OnceMap<(SourceId, Name), ProjectResult>,
    flats: OnceMap<SourceId, FlatResult>,
    metadata: OnceMap<Box<str>, MetadataResult>,
    /// Of the fetcher, which owns it.
    pub(crate) engine: Weak<Engine>,
    fault: OnceLock<CatalogError>,
    /// METADATA that is only expected leaves a quarter of the connections to what is needed now.
    hints: Semaphore,
}

impl Fetcher {
    /// Prepares a run. Reads and starts nothing.
    ///
    /// # Errors
    /// When a source has a URL that cannot be fetched.
    pub fn new(config: FetcherConfig, observer: Arc<dyn Observer>) -> Result<Self, SourceError> {
        let mut sources = FxHashMap::default();
        for source in &config.sources {
            sources.insert(source.id, Source::new(source)?);
        }
        let dir = if config.no_cache { None } else { config.cache_dir.or_else(default_dir) };
        if dir.is_none() && !config.no_cache {
            observer.event(Event::Warning(
                "there is no home folder to keep a cache in; CUDA_LOCK_CACHE_DIR names another",
            ));
        }
        let counters = Arc::new(Counters::default());
        let concurrency = config.concurrency.clamp(1, 1000);
        let http = Http {
            clients: Clients::new(config.ca_bundle, config.patience),
            keyring: Keyring::new(&config.sources, &config.credentials, config.netrc),
            patience: config.patience,
            counters: Arc::clone(&counters),
            observer: Arc::clone(&observer),
            gates: Gates::default(),
            slots: Semaphore::new(concurrency),
        };
        let mut overrides: FxHashMap<Name, Vec<_>> = FxHashMap::default();
        for stated in config.overrides {
            let metadata = Arc::new(stated.metadata.clone());
            overrides.entry(stated.name).or_default().push((stated, metadata));
        }
        let engine = Arc::new(Engine::default());
        let inner = Inner {
            engine: Arc::downgrade(&engine),
            fault: OnceLock::new(),
            sources,
            mode: config.mode,
            max_download: config.max_download,
            cache: dir.map(|dir| Cache::new(&dir, Arc::clone(&observer), Arc::clone(&counters))),
            http,
            hosts: Hosts::default(),
            counters,
            observer,
            overrides,
            commits: config.commits,
            projects: OnceMap::default(),
            flats: OnceMap::default(),
            metadata: OnceMap::default(),
            hints: Semaphore::new((concurrency * 3 / 4).max(1)),
        };
        Ok(Self { inner: Arc::new(inner), engine, waiting: Mutex::default() })
    }

    /// What this run has asked and received so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.counters.read()
    }

    /// Downloads a file just to learn its SHA-256 digest and its length in bytes, for files of which the index states no
    /// digest. The file is not kept, its digest is, together with what lets the server confirm it. At most `limit` bytes
    /// are read; credentials are those of the configuration. Must not be called from within an async runtime.
    ///
    /// # Errors
    /// When it cannot be read, or is larger than `limit`.
    pub fn download_sha256(&self, url: &Url, limit: u64) -> Result<([u8; 32], u64), CatalogError> {
        if url.scheme() == "file" {
            return crate::local::sha256(url, limit);
        }
        match self.inner.digest_at_hand(url) {
            Step::Known(result) => result,
            Step::Ask(kept) => self.runtime()?.block_on(self.inner.ask_digest(url, limit, kept)),
        }
    }

    /// Waits until all that was fetched is in the cache. Dropping the fetcher does so too.
    pub fn finish(&self) {
        if let Some(cache) = &self.inner.cache {
            cache.finish();
        }
    }

    pub(crate) fn runtime(&self) -> Result<&Runtime, CatalogError> {
        self.engine.runtime()
    }

    /// Starts work on the network. What was expected before anything was needed is asked for then as well: the solver
    /// waits for the network anyway.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> Result<(), CatalogError> {
        let idle = !self.uses_network();
        self.runtime()?.spawn(work);
        if idle {
            let waiting = &mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = std::mem::take(waiting);
            for (source, name, then) in waiting {
                self.expect_project(source, name, then);
            }
        }
        Ok(())
    }

    /// False as long as the cache had every answer: then there is nothing to fetch ahead, and looking ahead would only
    /// do twice what the solver does once.
    fn uses_network(&self) -> bool {
        self.engine.runs()
    }

    pub(crate) fn source(&self, id: SourceId) -> Result<&Source, CatalogError> {
        self.inner.sources.get(&id).ok_or_else(|| {
            CatalogError::Invalid(format!("there is no index with the number {}", id.0).into())
        })
    }

    fn start_project(
        &self,
        id: SourceId,
        name: Name,
    ) -> Result<Arc<Slot<ProjectResult>>, CatalogError> {
        let (slot, maker) = self.inner.projects.slot((id, name), || Err(stopped()));
        let Some(maker) = maker else { return Ok(slot) };
        let source = self.source(id)?;
        match self.inner.project_at_hand(source, id, name) {
            Step::Known(result) => maker.finish(result),
            Step::Ask(kept) => self.ask_project(id, name, kept, maker)?,
        }
        Ok(slot)
    }

    fn ask_project(
        &self,
        id: SourceId,
        name: Name,
        kept: Option<Entry>,
        maker: Maker<ProjectResult>,
    ) -> Result<(), CatalogError> {
        let inner = Arc::clone(&self.inner);
        self.spawn(async move {
            let result = inner.ask_project(id, name, kept).await;
            maker.finish(result);
        })
    }

    fn start_flat(&self, id: SourceId) -> Result<Arc<Slot<FlatResult>>, CatalogError> {
        let (slot, maker) = self.inner.flats.slot(id, || Err(stopped()));
        let Some(maker) = maker else { return Ok(slot) };
        let source = self.source(id)?;
        match self.inner.flat_at_hand(source) {
            Step::Known(result) => maker.finish(result),
            Step::Ask(kept) => {
                let inner = Arc::clone(&self.inner);
                self.spawn(async move {
                    let result = inner.ask_flat(id, kept).await;
                    maker.finish(result);
                })?;
            }
        }
        Ok(slot)
    }

    fn start_metadata(
        &self,
        name: Name,
        file: &File,
    ) -> Result<Arc<Slot<MetadataResult>>, CatalogError> {
        let key = file.url.as_str().into();
        let (slot, maker) = self.inner.metadata.slot(key, || Err(stopped()));
        let Some(maker) = maker else { return Ok(slot) };
        if let Some(result) = self.inner.metadata_at_hand(name, file) {
            maker.finish(result);
            return Ok(slot);
        }
        let inner = Arc::clone(&self.inner);
        let file = file.clone();
        self.spawn(async move {
            // A hint waits for its turn; as soon as somebody needs the answer it goes ahead.
            let _turn = tokio::select! {
                biased;
                () = maker.awaited() => None,
                turn = inner.hints.acquire() => Some(turn),
            };
            let result = inner.ask_metadata(name, &file).await;
            maker.finish(result);
        })?;
        Ok(slot)
    }

    /// What the user states of a project, whatever its version.
    pub(crate) fn stated_for(&self, name: Name) -> Option<Arc<Metadata>> {
        self.inner.overrides.get(&name)?.first().map(|(_, metadata)| Arc::clone(metadata))
    }

    /// What the user states of a file.
    fn stated(&self, name: Name, file: &File) -> Option<&Arc<Metadata>> {
        let stated = self.inner.overrides.get(&name)?;
        let version = crate::wheel::version(&file.filename, name);
        stated
            .iter()
            .find(|(stated, _)| stated.version.is_none() || stated.version == version)
            .map(|(_, metadata)| metadata)
    }
}

impl Catalog for Fetcher {
    fn project(&self, source: SourceId, name: Name) -> ProjectResult {
        if self.source(source)?.format == SourceFormat::Flat {
            let projects = self.start_flat(source)?.wait()?;
            return Ok(projects.get(&name).cloned());
        }
        self.start_project(source, name)?.wait()
    }

    fn metadata(&self, _source: SourceId, name: Name, file: &File) -> MetadataResult {
        match self.stated(name, file) {
            Some(metadata) => Ok(Arc::clone(metadata)),
            None => self.start_metadata(name, file)?.wait(),
        }
    }

    fn build(
        &self,
        source: SourceId,
        name: Name,
        file: &File,
        python: &pep440_rs::Version,
    ) -> MetadataResult {
        self.build_metadata(source, name, file, python)
    }

    fn reference(
        &self,
        name: Name,
        url: &UrlRequirement,
        build: Option<&pep440_rs::Version>,
    ) -> Result<Arc<Reference>, CatalogError> {
        self.find_reference(name, url, build)
    }

    fn expect_project(&self, source: SourceId, name: Name, then: OnProject) {
        // An error is told to whoever then asks.
        if self.inner.sources.get(&source).is_some_and(|s| s.format == SourceFormat::Flat) {
            let _ = self.start_flat(source);
        } else if self.uses_network() {
            if let Ok(slot) = self.start_project(source, name) {
                slot.then(move |result| {
                    if let Ok(Some(project)) = result {
                        then(Arc::clone(project));
                    }
                });
            }
        } else if self.inner.mode != Mode::Offline {
            // What the solver will need it will ask for. If all of that is in the cache, this run needs no network, though
            // not everything that could be looked at is there.
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push((source, name, then));
        }
    }

    fn expect_metadata(&self, _source: SourceId, name: Name, file: &File, then: OnMetadata) {
        if self.uses_network()
            && self.stated(name, file).is_none()
            && let Ok(slot) = self.start_metadata(name, file)
        {
            slot.then(move |result| {
                if let Ok(metadata) = result {
                    then(Arc::clone(metadata));
                }
            });
        }
    }

    fn wants_hints(&self) -> bool {
        self.uses_network()
    }

    fn fault(&self) -> Option<CatalogError> {
        self.inner.fault.get().cloned()
    }
}

impl Inner {
    /// Keeps the first error that no answer could carry.
    pub(crate) fn note_fault(&self, error: CatalogError) {
        let _ = self.fault.set(error);
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        // What is still under way was expected, but is not needed: nobody waits for it.
        std::mem::take(&mut self.engine).stop();
        self.finish();
    }
}

/// What a question gets whose answer was given up.
fn stopped() -> CatalogError {
    CatalogError::Network("the request was given up before its answer came".into())
}
