//! The same problem with the accelerators that env.toml leaves out.

use std::sync::Arc;

use cuda_lock_constraint::fix::{Alternative, Change};
use cuda_lock_fetcher::{Fetcher, Silent};
use cuda_lock_formats::manifest::Backends;

use super::Plan;
use crate::run::Run;

/// The problem with every accelerator allowed, when `[pytorch] backends` narrows them and no `only-indexes` forbids asking
/// elsewhere. Empty otherwise.
#[must_use]
pub(crate) fn other_backends(run: &Run, plan: &Plan) -> Vec<Alternative> {
    let Run { manifest, request, answers, .. } = run;
    if manifest.pytorch.backends == Backends::Any || manifest.options.only_indexes.is_some() {
        return Vec::new();
    }
    let mut open = manifest.clone();
    open.pytorch.backends = Backends::Any;
    let Ok(sources) = super::sources(&open, &request.manifest) else { return Vec::new() };
    let Ok(planned) = super::plan(&open, plan.spec.name.as_deref(), &sources, None) else {
        return Vec::new();
    };
    let mut problem = planned.problem_for(&plan.problem.target.asked_python());
    problem.policy = plan.problem.policy.clone();
    let config = super::fetcher(&open, &sources, &request.network);
    let open = || Fetcher::new(config, Arc::new(Silent)).map(Arc::new);
    let Ok(catalog) = answers.catalog(&sources, open) else { return Vec::new() };
    let change = Change::Backend { name: None };
    vec![Alternative { change, problem, catalog }]
}
