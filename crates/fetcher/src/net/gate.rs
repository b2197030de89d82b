//! Keeps the first requests to a host from each opening a connection of its own.
//!
//! Whether a server speaks HTTP/2, over which one connection serves all, is known only when a first connection stands.
//! Until the first answer came, only a few requests are let through; a hundred at once would mean a hundred handshakes.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tokio::sync::{Semaphore, SemaphorePermit};
use url::Url;

/// So many requests go to a host that has not answered yet.
const FIRST: usize = 4;

/// The gates of a run, one per origin.
#[derive(Default)]
pub(crate) struct Gates {
    gates: Mutex<FxHashMap<String, Arc<Gate>>>,
}

/// The gate before one origin.
pub(crate) struct Gate {
    first: Semaphore,
    open: std::sync::Once,
}

impl Gates {
    /// The gate before a URL; `None` without TLS, where connections are cheap and HTTP/2 is not spoken.
    pub(crate) fn gate(&self, url: &Url) -> Option<Arc<Gate>> {
        if url.scheme() != "https" {
            return None;
        }
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = gates.entry(url.origin().ascii_serialization()).or_insert_with(|| {
            Arc::new(Gate { first: Semaphore::new(FIRST), open: std::sync::Once::new() })
        });
        Some(Arc::clone(gate))
    }
}

impl Gate {
    /// Waits for a turn, which lasts until the permit is dropped.
    pub(crate) async fn pass(&self) -> Option<SemaphorePermit<'_>> {
        if self.open.is_completed() {
            return None;
        }
        self.first.acquire().await.ok()
    }

    /// Notes an answer: from now on all pass.
    pub(crate) fn answered(&self) {
        self.open.call_once(|| self.first.add_permits(Semaphore::MAX_PERMITS - FIRST));
    }
}
