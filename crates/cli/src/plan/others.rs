//! The same problem with the accelerators that env.toml leaves out.

use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::fix::{Alternative, Change};
use cuda_lock_fetcher::{Fetcher, Silent};
use cuda_lock_formats::manifest::{Backends, Manifest};

use super::Plan;
use crate::args::Network;

/// The problem with every accelerator allowed, when `[pytorch] backends` narrows them and no `only-indexes` forbids asking
/// elsewhere. Empty otherwise.
#[must_use]
pub fn other_backends(
    manifest: &Manifest,
    path: &Path,
    plan: &Plan,
    network: &Network,
) -> Vec<Alternative> {
    if manifest.pytorch.backends == Backends::Any || manifest.options.only_indexes.is_some() {
        return Vec::new();
    }
    let mut open = manifest.clone();
    open.pytorch.backends = Backends::Any;
    let Ok(sources) = super::sources(&open, path) else { return Vec::new() };
    let Ok(planned) = super::plan(&open, plan.spec.name.as_deref(), &sources, None) else {
        return Vec::new();
    };
    let mut problem = planned.problem_for(&plan.problem.target.python);
    problem.policy = plan.problem.policy.clone();
    let config = super::fetcher(&open, &sources, network);
    let Ok(fetcher) = Fetcher::new(config, Arc::new(Silent)) else { return Vec::new() };
    let change = Change::Backend { name: None };
    vec![Alternative { change, problem, catalog: Arc::new(fetcher) }]
}
