//! Writes to the cache, on a thread of its own, so that nobody waits for the disk.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use std::collections::BTreeMap;

use super::entry::{Entry, Header};
use super::pack::Pack;
use crate::observer::{Counters, Event, Observer};

/// METADATA is collected for as long as more comes within this time, so that a pack is written once, not once per file.
const IDLE: Duration = Duration::from_millis(250);

/// Something to write.
pub(super) enum Job {
    /// A page.
    Page { path: PathBuf, entry: Entry },
    /// A page that still holds.
    Confirm { path: PathBuf, header: Header, fresh_until: u64 },
    /// METADATA of one file.
    Metadata { path: PathBuf, key: [u8; 16], bytes: Vec<u8> },
}

/// The thread and the way to it.
pub(super) struct Writer {
    dir: PathBuf,
    observer: Arc<dyn Observer>,
    counters: Arc<Counters>,
    state: Mutex<State>,
}

enum State {
    Idle,
    Running(Sender<Job>, JoinHandle<()>),
    Finished,
}

impl Writer {
    /// Starts nothing yet: a warm run has nothing to write.
    pub(super) fn new(dir: PathBuf, observer: Arc<dyn Observer>, counters: Arc<Counters>) -> Self {
        Self { dir, observer, counters, state: Mutex::new(State::Idle) }
    }

    /// Hands over a job; after [`finish`](Self::finish) it is dropped.
    pub(super) fn send(&self, job: Job) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Idle) {
            let (sender, receiver) = channel();
            let work = Work {
                dir: self.dir.clone(),
                observer: Arc::clone(&self.observer),
                counters: Arc::clone(&self.counters),
                packs: BTreeMap::new(),
                broken: false,
            };
            let thread = std::thread::Builder::new().name("cache-writer".into());
            match thread.spawn(move || work.run(&receiver)) {
                Ok(handle) => *state = State::Running(sender, handle),
                // Without a thread nothing is kept, which is no reason to stop.
                Err(_) => *state = State::Finished,
            }
        }
        if let State::Running(sender, _) = &*state {
            let _ = sender.send(job);
        }
    }

    /// Waits until everything handed over is written.
    pub(super) fn finish(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Running(sender, handle) = std::mem::replace(&mut *state, State::Finished) {
            drop(sender);
            let _ = handle.join();
        }
    }
}

/// Entries that wait to be added to a pack.
type Additions = Vec<([u8; 16], Vec<u8>)>;

struct Work {
    dir: PathBuf,
    observer: Arc<dyn Observer>,
    counters: Arc<Counters>,
    packs: BTreeMap<PathBuf, Additions>,
    broken: bool,
}

impl Work {
    fn run(mut self, jobs: &Receiver<Job>) {
        loop {
            match jobs.recv_timeout(IDLE) {
                Ok(_) if self.broken => {}
                Ok(Job::Page { path, entry }) => {
                    self.attempt(|dir| write(dir, &path, |file| entry.write(file)));
                }
                Ok(Job::Confirm { path, header, fresh_until }) => {
                    self.attempt(|_| Entry::confirm(&path, &header, fresh_until));
                }
                Ok(Job::Metadata { path, key, bytes }) => {
                    self.packs.entry(path).or_default().push((key, bytes));
                }
                Err(RecvTimeoutError::Timeout) => self.write_packs(),
                Err(RecvTimeoutError::Disconnected) => return self.write_packs(),
            }
        }
    }

    fn write_packs(&mut self) {
        let counters = Arc::clone(&self.counters);
        for (path, added) in std::mem::take(&mut self.packs) {
            self.attempt(|dir| match Pack::read(&path, &counters)?.with(&added) {
                Some(bytes) => write(dir, &path, |file| file.write_all(&bytes)),
                None => Ok(()),
            });
        }
    }

    /// A folder that cannot be written to is told once, and then left alone.
    fn attempt(&mut self, work: impl FnOnce(&Path) -> io::Result<()>) {
        if self.broken {
            return;
        }
        if let Err(error) = work(&self.dir) {
            self.broken = true;
            let text = format!(
                "the cache in {} cannot be written, so the next run fetches everything again: {error}",
                self.dir.display()
            );
            self.observer.event(Event::Warning(&text));
        }
    }
}

/// Held for reading while a temporary file is there. Whoever ends the program from elsewhere, as for a signal, takes it
/// for writing first: then none is left behind.
pub static WRITING: RwLock<()> = RwLock::new(());

/// Writes a file that appears whole or not at all.
fn write(
    cache: &Path,
    path: &Path,
    fill: impl FnOnce(&mut std::fs::File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(cache);
    let _writing = WRITING.read().unwrap_or_else(PoisonError::into_inner);
    let temporary = || tempfile::Builder::new().prefix(".new-").tempfile_in(folder);
    let mut file = match temporary() {
        Ok(file) => file,
        Err(_) => {
            fs_err::create_dir_all(folder)?;
            mark_as_cache(cache);
            // Its own error names a file that never was.
            temporary().map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {}", folder.display(), error.kind()))
            })?
        }
    };
    fill(file.as_file_mut())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Lets backup programs know that the folder need not be saved (the Cache Directory Tagging Specification). A folder
/// without the tag works as well, so failure is no error.
fn mark_as_cache(cache: &Path) {
    let tag = cache.join("CACHEDIR.TAG");
    if let Ok(mut file) = std::fs::OpenOptions::new().write(true).create_new(true).open(tag) {
        let _ =
            file.write_all(b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by cuda-lock.\n");
    }
}
