//! One environment, judged by all checks.

use super::case::Case;
use super::checks::{
    absent, conda, folder, images, indexes, installers, layers, libraries, machine, releases,
    requirements, sources,
};
use super::code::Code;
use super::finding::{Finding, Verdict};
use super::installer::Picker;
use super::question::{Question, TextFault};
use super::sink::Sink;
use crate::catalog::Catalog;
use crate::package::Package;
use crate::requirement::RequirementCache;
use crate::rules::unjudged;

/// A check: looks at what is installed, and hands what does not hold to the sink.
type Check = fn(&Case<'_>, &mut Sink<'_>);

/// All checks. A new one is a function, a line here and, where its code is new, a row of the codes with its page.
const CHECKS: &[Check] = &[
    absent::missing,
    absent::misnamed_wheels,
    absent::bad_locations,
    releases::unusable,
    releases::yanked,
    releases::unpinned,
    requirements::violated,
    requirements::not_installed,
    layers::shared,
    machine::drivers,
    machine::gpus,
    libraries::unsupplied,
    libraries::opened,
    libraries::alone,
    libraries::of_the_system,
    libraries::of_the_image,
    libraries::second_cudnn,
    libraries::search_path,
    folder::objects,
    folder::damaged,
    indexes::confused,
    indexes::lost_wheels,
    indexes::pages_of_links,
    indexes::one_version_for_all,
    indexes::undefined,
    indexes::unreachable,
    images::unreadable,
    images::without_python,
    images::pip_of_another_python,
    images::on_driver,
    images::of_vendors,
    images::unused_cuda,
    images::host_drivers,
    installers::old_pip,
    installers::refused_metadata,
    installers::encoding,
    installers::hashes,
    conda::packages,
    sources::compiled_here,
    sources::compiled_against_another,
    sources::overwrites,
];

/// Judges one environment of a file on its machine.
///
/// Blocks on the catalog, as [`crate::solve::solve`] does. What the catalog cannot tell is said in
/// [`Verdict::unchecked`].
#[must_use]
pub fn audit(question: &Question, catalog: &dyn Catalog) -> Verdict {
    let picker = Picker::new(question, catalog);
    let requirements = RequirementCache::new(question.target.marker_environment());
    let case = Case::new(&picker, &requirements);
    let mut sink = Sink::new(question);
    for check in CHECKS {
        check(&case, &mut sink);
    }
    let taken = &case.installed.taken;
    let findings = sink.finish(&case.brings);
    // Libraries that are not there cannot be found by any step.
    let lacking = findings.iter().any(|finding| finding.code == Code::LibraryMissing);
    let mut unchecked = picker.unchecked();
    for (name, taken) in taken {
        if unjudged::is_gpu_code_unknown(&case.build(*name, taken), &case.machine) {
            let title = case.title(Package::dist(*name));
            unchecked.insert(format!("GPU code of {title}: no fact about it"));
        }
    }
    Verdict {
        findings,
        checked: taken.iter().map(|(name, taken)| (*name, taken.build.version.clone())).collect(),
        opaque: taken
            .iter()
            .filter(|(_, taken)| taken.metadata.is_none())
            .map(|(name, _)| *name)
            .collect(),
        unchecked,
        steps: if lacking { Vec::new() } else { case.steps() },
    }
}

/// Findings of what readers did not understand.
#[must_use]
pub fn of_text(faults: &[TextFault]) -> Vec<Finding> {
    faults.iter().map(super::checks::text::not_understood).collect()
}
