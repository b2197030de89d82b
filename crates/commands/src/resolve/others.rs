//! The same problem with the accelerators that env.toml leaves out.

use std::sync::Arc;

use cuda_lock_constraint::fix::{Alternative, Change};
use cuda_lock_fetcher::{Fetcher, Silent};
use cuda_lock_formats::manifest::Backends;

use crate::plan::{self, Plan};
use crate::run::Run;

/// The problem with every accelerator allowed, when `[pytorch] backends` narrows them and no `only-indexes` forbids asking
/// elsewhere. Empty otherwise.
#[must_use]
pub(super) fn other_backends(run: &Run, target: &Plan) -> Vec<Alternative> {
    let Run { manifest, request, answers, .. } = run;
    if manifest.pytorch.backends == Backends::Any || manifest.options.only_indexes.is_some() {
        return Vec::new();
    }
    let mut open = manifest.clone();
    open.pytorch.backends = Backends::Any;
    let Ok(sources) = plan::sources(&open, &request.manifest) else { return Vec::new() };
    let Ok(planned) = plan::plan(&open, target.spec.name.as_deref(), &sources, None) else {
        return Vec::new();
    };
    let mut problem = planned.problem_for(&target.problem.target.python);
    problem.policy = target.problem.policy.clone();
    let config = plan::fetcher(&open, &sources, &request.network);
    let open = || Fetcher::new(config, Arc::new(Silent)).map(Arc::new);
    let Ok(catalog) = answers.catalog(&sources, open) else { return Vec::new() };
    let change = Change::Backend { name: None };
    vec![Alternative { change, problem, catalog }]
}
