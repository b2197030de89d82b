//! What hosts of files turned out to be able to do, so that each is asked in a way that works from then on.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use url::Url;

/// So many advertised METADATA files may be missing before a host that never had one is no longer asked for them.
const MISSES: u32 = 2;

/// The hosts of a run.
#[derive(Default)]
pub(crate) struct Hosts {
    known: Mutex<FxHashMap<String, Host>>,
}

#[derive(Clone, Copy, Default)]
struct Host {
    sidecars: u32,
    missing_sidecars: u32,
    ranges: Ranges,
}

/// How a host answers requests for a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Ranges {
    /// Not known yet, or as it should.
    #[default]
    Work,
    /// Not when asked for the last bytes, though it may when told which.
    NoSuffix,
    /// It sends the whole file.
    Ignored,
}

impl Hosts {
    /// Whether it is worth asking for a METADATA file that an index advertises.
    pub(crate) fn has_sidecars(&self, url: &Url) -> bool {
        let host = self.get(url);
        host.sidecars > 0 || host.missing_sidecars < MISSES
    }

    /// Notes whether an advertised METADATA file was there.
    pub(crate) fn note_sidecar(&self, url: &Url, found: bool) {
        self.update(url, |host| match found {
            true => host.sidecars += 1,
            false => host.missing_sidecars += 1,
        });
    }

    /// How to ask for parts.
    pub(crate) fn ranges(&self, url: &Url) -> Ranges {
        self.get(url).ranges
    }

    /// Notes how the host answers requests for parts.
    pub(crate) fn note_ranges(&self, url: &Url, ranges: Ranges) {
        self.update(url, |host| host.ranges = ranges);
    }

    fn get(&self, url: &Url) -> Host {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&url.origin().ascii_serialization()).copied().unwrap_or_default()
    }

    fn update(&self, url: &Url, change: impl FnOnce(&mut Host)) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        change(known.entry(url.origin().ascii_serialization()).or_default());
    }
}
