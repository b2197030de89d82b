//! What the fetcher tells while it works, and what it counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// Told what happens, from several threads at once. Whoever draws a progress bar or prints warnings implements this.
pub trait Observer: Send + Sync {
    /// Something happened. Must return quickly.
    fn event(&self, event: Event<'_>);
}

/// An observer that nobody listens to.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: Event<'_>) {}
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Something is fetched from the network.
    Started {
        /// The kind of thing.
        kind: Kind,
        /// The project or file name.
        name: &'a str,
    },
    /// That is over, with or without success.
    Finished {
        /// The kind of thing.
        kind: Kind,
        /// The project or file name.
        name: &'a str,
    },
    /// A request failed for a reason that may pass, and is repeated after a pause.
    Retrying {
        /// The URL, without credentials, and what happened.
        reason: &'a str,
        /// How many attempts have failed.
        attempt: u32,
        /// How long the pause is.
        pause: std::time::Duration,
    },
    /// Something the user should know, though the run goes on.
    Warning(&'a str),
}

/// What is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page of an index.
    Page,
    /// METADATA of one file.
    Metadata,
    /// A whole file, for its digest.
    File,
}

/// Counts of one run, read with [`Fetcher::stats`](crate::Fetcher::stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// HTTP requests sent, redirects and repetitions included.
    pub requests: u64,
    /// Requests that were repetitions.
    pub retries: u64,
    /// Answers that said "not modified".
    pub not_modified: u64,
    /// Bytes of bodies received, as they came over the network.
    pub bytes: u64,
    /// Pages taken from the cache without asking the network.
    pub cached_pages: u64,
    /// METADATA taken from the cache.
    pub cached_metadata: u64,
    /// Bytes read from the cache.
    pub cache_bytes: u64,
}

/// The same, while it is counted.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) requests: AtomicU64,
    pub(crate) retries: AtomicU64,
    pub(crate) not_modified: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) cached_pages: AtomicU64,
    pub(crate) cached_metadata: AtomicU64,
    pub(crate) cache_bytes: AtomicU64,
}

/// Adds `n`; the counts are statistics, so no order between them is promised.
pub(crate) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn read(&self) -> Stats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            requests: get(&self.requests),
            retries: get(&self.retries),
            not_modified: get(&self.not_modified),
            bytes: get(&self.bytes),
            cached_pages: get(&self.cached_pages),
            cached_metadata: get(&self.cached_metadata),
            cache_bytes: get(&self.cache_bytes),
        }
    }
}
