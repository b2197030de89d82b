//! The fetcher of a command, with progress on the terminal.

use std::sync::Arc;

use cuda_lock_fetcher::{Fetcher, FetcherConfig, Observer};

use crate::exit::Exit;
use crate::output::message;
use crate::output::progress::Progress;

/// A fetcher that reports to `progress`.
///
/// # Errors
/// When an index has an address that cannot be fetched; the reason has been printed.
pub fn open(config: FetcherConfig, progress: &Arc<Progress>) -> Result<Arc<Fetcher>, Exit> {
    let observer: Arc<dyn Observer> = Arc::<Progress>::clone(progress);
    Fetcher::new(config, observer).map(Arc::new).map_err(|error| {
        message::error(error);
        Exit::BadInput
    })
}
