//! The cache on disk: what indexes said, in the form a later run reads fastest.
//!
//! One folder, with a bucket per format version in it. A bucket holds `pages/`, one file per page (policy of HTTP in
//! front, then the page in its compact form), and `metadata/`, one pack per project with the METADATA of all its files
//! that any run has asked for: METADATA never changes, so a pack only grows, and a warm run opens two files per project
//! and reads of each what it looks at.
//!
//! Several processes may share a folder without locks. Files appear whole, by rename; each carries its own key and a
//! checksum, and whatever does not fit is taken as not there. When two processes add to one pack at the same moment the
//! later rename wins, and the other's addition is fetched again some day.

mod body;
mod entry;
mod maintenance;
mod pack;
mod policy;
mod said;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cuda_lock_constraint::catalog::File;
use cuda_lock_constraint::name::Name;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use url::Url;

pub(crate) use body::Body;
pub(crate) use entry::{Content, Entry, Header, now};
pub use maintenance::{CacheFolder, Pruned};
use pack::Pack;
pub(crate) use policy::{Lifetime, lifetime};
pub(crate) use said::Said;
pub use writer::WRITING;
use writer::{Job, Writer};

use crate::observer::{Counters, Event, Observer};

/// The bucket that this version reads and writes. A change of any format in it takes the next number.
const BUCKET: &str = "v3";

/// Where the cache lies when nothing else is said: `cuda-lock` in the user's folder for caches (XDG, or what the
/// platform has). `None` when there is no home folder.
#[must_use]
pub fn default_dir() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("cuda-lock"))
}

/// The cache of a run.
pub(crate) struct Cache {
    pages: PathBuf,
    metadata: PathBuf,
    packs: Mutex<FxHashMap<Name, Arc<Pack>>>,
    writer: Writer,
    observer: Arc<dyn Observer>,
    counters: Arc<Counters>,
    unreadable: std::sync::Once,
}

impl Cache {
    /// The cache in a folder, which need not exist. Touches nothing yet.
    pub(crate) fn new(dir: &Path, observer: Arc<dyn Observer>, counters: Arc<Counters>) -> Self {
        let bucket = dir.join(BUCKET);
        Self {
            pages: bucket.join("pages"),
            metadata: bucket.join("metadata"),
            packs: Mutex::default(),
            writer: Writer::new(dir.to_owned(), Arc::clone(&observer), Arc::clone(&counters)),
            observer,
            counters,
            unreadable: std::sync::Once::new(),
        }
    }

    /// What is kept of a page, however old.
    pub(crate) fn page(&self, url: &Url, label: &str) -> Option<Entry> {
        match Entry::read(&self.page_path(url, label), url, &self.counters) {
            Ok(entry) => entry,
            Err(error) => {
                self.cannot_read(&error);
                None
            }
        }
    }

    /// Keeps a page.
    pub(crate) fn keep_page(&self, url: &Url, label: &str, entry: Entry) {
        self.writer.send(Job::Page { path: self.page_path(url, label), entry });
    }

    /// Notes that a page, of which `entry` was the copy at hand, still holds.
    pub(crate) fn confirm_page(&self, url: &Url, label: &str, header: Header, fresh_until: u64) {
        self.writer.send(Job::Confirm { path: self.page_path(url, label), header, fresh_until });
    }

    /// What a file is known to say of itself.
    pub(crate) fn metadata(&self, name: Name, file: &File) -> Option<Said> {
        let known = {
            let packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
            packs.get(&name).cloned()
        };
        let pack = match known {
            Some(pack) => pack,
            None => {
                let pack =
                    Pack::read(&self.pack_path(name), &self.counters).unwrap_or_else(|error| {
                        self.cannot_read(&error);
                        Pack::default()
                    });
                let pack = Arc::new(pack);
                let mut packs = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
                packs.insert(name, Arc::clone(&pack));
                pack
            }
        };
        said::decode(&pack.get(said::key(file))?, file)
    }

    /// Keeps what a file says of itself.
    pub(crate) fn keep_metadata(&self, name: Name, file: &File, said: &Said) {
        if let Some(bytes) = said::encode(said, file) {
            let path = self.pack_path(name);
            self.writer.send(Job::Metadata { path, key: said::key(file), bytes });
        }
    }

    /// Waits until everything is on disk.
    pub(crate) fn finish(&self) {
        self.writer.finish();
    }

    /// `label` is for people who look into the folder; the key is the URL, which also stands in the file.
    fn page_path(&self, url: &Url, label: &str) -> PathBuf {
        let digest = Sha256::digest(url.as_str().as_bytes());
        self.pages.join(format!("{}-{}", short(label), hex(&digest[..12])))
    }

    fn pack_path(&self, name: Name) -> PathBuf {
        let text = name.as_str();
        if text.len() <= LABEL {
            return self.metadata.join(text);
        }
        let digest = Sha256::digest(text.as_bytes());
        self.metadata.join(format!("{}-{}", short(text), hex(&digest[..12])))
    }

    fn cannot_read(&self, error: &io::Error) {
        self.unreadable.call_once(|| {
            let text = format!("the cache cannot be read, so everything is fetched anew: {error}");
            self.observer.event(Event::Warning(&text));
        });
    }
}

/// File names stay well below what any file system allows.
const LABEL: usize = 64;

fn short(label: &str) -> String {
    // Normalised names are ASCII; a label of another kind is cut between characters all the same.
    label.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(LABEL).collect()
}

/// Whether there is no such file. A file where a folder should be means that too; writing then tells of it.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The checksum of files in the cache: it finds accidents, which is all that may happen to one's own files.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
