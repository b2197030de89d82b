//! What a signal does: the run ends at once, and leaves no temporary file behind.

/// From now on, SIGINT, SIGTERM and SIGHUP end the run with the exit code that shells expect, 128 and the number of the
/// signal. Elsewhere than on Unix the system's own way of ending a program stays.
pub fn heed() {
    #[cfg(unix)]
    unix::heed();
}

#[cfg(unix)]
mod unix {
    use std::sync::{PoisonError, RwLock};

    use cuda_lock_fetcher::cache;
    use cuda_lock_formats::atomic;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub(super) fn heed() {
        // Without a handler or a thread the run can still be ended, only less tidily.
        let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
        let wait = move || {
            let mut first = signals.forever();
            let Some(signal) = first.next() else { return };
            // Whoever has a temporary file holds these; nobody can begin a new one from here on. A second signal does
            // not wait.
            let tidy = std::thread::Builder::new().name("signal".into()).spawn(move || {
                let write = |lock: &'static RwLock<()>| {
                    lock.write().unwrap_or_else(PoisonError::into_inner)
                };
                let _held = (write(&atomic::WRITING), write(&cache::WRITING));
                std::process::exit(128 + signal);
            });
            if tidy.is_err() || first.next().is_some() {
                std::process::exit(128 + signal);
            }
        };
        let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
    }
}
