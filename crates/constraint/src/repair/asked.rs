//! From the lines of a file to the problem that an env.toml with the same lines would be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::audit::{Code, Finding, Question, Verdict, audit};
use crate::catalog::Catalog;
use crate::constraint::{Force, Reason};
use crate::machine::Libraries;
use crate::matrix;
use crate::name::Name;
use crate::package::Package;
use crate::requirement::Requirement;
use crate::rules;
use crate::solve::{LayerBound, Policy, Prerelease, Problem, Source, SourceKind};
use crate::target::Target;
use crate::version::{SourceId, SystemVersion, system_range};

/// The target to solve for. Where the Python is not known, the first one that every pin can be installed into: a pin must
/// not move for the sake of a guess.
pub(super) fn target(
    question: &Question,
    verdict: &Verdict,
    catalog: &dyn Catalog,
) -> Option<Target> {
    if question.python_known {
        return Some(question.target.clone());
    }
    let guess = question.target.python.clone();
    let rows = matrix::python().minor.iter().rev();
    let others = rows.map(|row| row.version.clone());
    let before: BTreeSet<_> = verdict.findings.iter().flat_map(Finding::keys).collect();
    std::iter::once(guess).chain(others).find_map(|python| {
        let target = question.target.with_python(&python);
        let asked = Question { target, python_known: true, ..question.clone() };
        let refused = audit(&asked, catalog).findings.into_iter().any(|finding| {
            finding.code == Code::PythonUnsupported
                && finding.keys().any(|key| !before.contains(&key))
        });
        (!refused).then_some(asked.target)
    })
}

/// What stays the same in every try.
pub(super) fn base(
    question: &Question,
    verdict: &Verdict,
    sources: &[Source],
    target: Target,
) -> Problem {
    let mut machine = question.machine.clone();
    let has_torch =
        Name::new(rules::torch::TORCH).is_ok_and(|torch| verdict.checked.contains_key(&torch));
    let mut bounds = Vec::new();
    if let (Some(image), false) = (&question.image, has_torch) {
        machine.libraries = Libraries::System;
        let text = |package, version: &SystemVersion| {
            format!("the image nvidia/cuda:{} has {package} {version}", image.tag)
        };
        let layers = [(Package::Cuda, Some(&image.cuda)), (Package::Cudnn, image.cudnn.as_ref())];
        for (package, version) in layers {
            let Some(version) = version else { continue };
            if let Ok(range) = system_range(&format!("=={version}")) {
                let reason = Reason::Manifest { text: text(package, version).into() };
                bounds.push(LayerBound { package, range, force: Force::IfPresent, reason });
            }
        }
    }
    let preferences = verdict
        .checked
        .iter()
        .filter_map(|(name, build)| Some((*name, build.version()?.clone())))
        .collect();
    Problem {
        target,
        machine,
        requirements: Vec::new(),
        constraints: Vec::new(),
        overrides: Vec::new(),
        substitute: BTreeMap::new(),
        sources: sources.to_vec(),
        pinned_sources: pinned_sources(question, verdict, sources),
        backends: backends(question, verdict),
        model: question.model,
        bounds,
        policy: Policy {
            preferences,
            prerelease: if question.prereleases {
                Prerelease::Allow
            } else {
                Prerelease::default()
            },
            ..Policy::default()
        },
    }
}

/// What the file says, and private indexes: what is found there is taken from nowhere else.
fn pinned_sources(
    question: &Question,
    verdict: &Verdict,
    sources: &[Source],
) -> BTreeMap<Name, SourceId> {
    let private = |id: SourceId| {
        sources.get(usize::from(id.0)).is_some_and(|source| {
            source.kind == SourceKind::Other && !source.explicit && source.only.is_none()
        })
    };
    let found = verdict.checked.iter().map(|(name, build)| (*name, build.source()));
    let stated =
        question.lines.iter().filter_map(|line| Some((line.requirement.name, line.source?)));
    let remote =
        |source: &SourceId| !question.local.contains(source) && !question.unasked.contains(source);
    let all = found.filter(|(_, source)| private(*source)).chain(stated);
    all.filter(|(_, source)| remote(source)).collect()
}

/// Whoever adds the index of an accelerator wants its builds; with GPUs of which only the name is known, builds for the CPU
/// are no answer.
fn backends(question: &Question, verdict: &Verdict) -> Option<Vec<String>> {
    let confused = verdict.findings.iter().any(|finding| finding.code == Code::IndexConfusion);
    let added: Vec<String> = question
        .extra
        .iter()
        .filter_map(|id| match &question.sources.get(usize::from(id.0))?.kind {
            SourceKind::PyTorch { backend } => Some(backend.clone()),
            _ => None,
        })
        .collect();
    if confused && !added.is_empty() {
        return Some(added);
    }
    if question.unknown_gpus.is_empty() || question.machine.gpus.is_some() {
        return None;
    }
    let cuda = |backend: &&String| {
        rules::torch::backend_cuda(backend).is_some_and(|cuda| cuda.major() > 0)
    };
    Some(rules::index::pytorch_backends().iter().filter(cuda).cloned().collect())
}

/// The requirements of the lines and their bounds, as `write` words each line.
pub(super) fn with_lines(
    base: &Problem,
    question: &Question,
    skip: &BTreeSet<Name>,
    write: impl Fn(usize, &Arc<Requirement>) -> Option<Arc<Requirement>>,
) -> Problem {
    let mut problem = base.clone();
    for (place, line) in question.lines.iter().enumerate() {
        // A wheel that a line names by its URL stands for the release of the same version.
        if skip.contains(&line.requirement.name) {
            continue;
        }
        let Some(requirement) = write(place, &line.requirement) else { continue };
        if line.bound {
            problem.constraints.push(requirement);
        } else {
            problem.requirements.push(requirement);
        }
    }
    problem
}
