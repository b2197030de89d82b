//! The threads that wait for the network.

use std::sync::{Arc, OnceLock};

use cuda_lock_constraint::catalog::CatalogError;
use tokio::runtime::Runtime;

/// The runtime, started by the first question that the cache does not answer.
#[derive(Default)]
pub(crate) struct Engine(OnceLock<Result<Runtime, CatalogError>>);

impl Engine {
    /// The runtime.
    ///
    /// # Errors
    /// When its threads cannot be started.
    pub(crate) fn runtime(&self) -> Result<&Runtime, CatalogError> {
        let runtime = self.0.get_or_init(|| {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            tokio::runtime::Builder::new_multi_thread()
                .worker_threads(cores.min(4))
                // Pages are parsed on these; those beyond the cores are for DNS, which waits more than it works.
                .max_blocking_threads(cores + 4)
                // Looking ahead goes down the graph as far as the cache has answers.
                .thread_stack_size(8 << 20)
                .thread_name("fetch")
                .enable_all()
                .build()
                .map_err(|error| {
                    let text = format!("the threads for the network cannot be started: {error}");
                    CatalogError::Network(text.into())
                })
        });
        runtime.as_ref().map_err(Clone::clone)
    }

    /// False as long as nothing was asked of the network.
    pub(crate) fn runs(&self) -> bool {
        self.0.get().is_some()
    }

    /// Gives up what is under way, and waits for nothing.
    pub(crate) fn stop(self: Arc<Self>) {
        if let Some(Ok(runtime)) = Arc::into_inner(self).and_then(|engine| engine.0.into_inner()) {
            runtime.shutdown_background();
        }
    }
}
