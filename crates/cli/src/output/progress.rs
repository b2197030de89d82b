//! A progress line on a terminal, and nothing anywhere else.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cuda_lock_fetcher::{Event, Kind, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{message, shown};

/// Draws how much was read, and passes warnings on.
pub struct Progress {
    bar: Mutex<Option<ProgressBar>>,
    visible: bool,
    quiet: bool,
    pages: AtomicU64,
    metadata: AtomicU64,
}

impl Progress {
    /// Nothing is drawn until something is fetched.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        Self {
            bar: Mutex::new(None),
            visible: !quiet && std::io::stderr().is_terminal(),
            quiet,
            pages: AtomicU64::new(0),
            metadata: AtomicU64::new(0),
        }
    }

    /// Removes the line.
    pub fn clear(&self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }

    fn draw(&self, name: &str) {
        let Ok(mut bar) = self.bar.lock() else { return };
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let pages = self.pages.load(Ordering::Relaxed);
        let metadata = self.metadata.load(Ordering::Relaxed);
        bar.set_message(shown(&format!(
            "reading indexes: {pages} projects, {metadata} releases ({name})"
        )));
    }
}

impl Observer for Progress {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Warning(text) if !self.quiet => message::warning(text),
            Event::Finished { kind, name } if self.visible => {
                match kind {
                    Kind::Page => &self.pages,
                    Kind::Metadata | Kind::File => &self.metadata,
                }
                .fetch_add(1, Ordering::Relaxed);
                self.draw(name);
            }
            Event::Retrying { reason, .. } if self.visible => self.draw(reason),
            _ => {}
        }
    }
}
