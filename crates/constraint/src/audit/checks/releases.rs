//! Releases themselves: unusable, withdrawn, open.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{FactText, Finding};
use crate::audit::sink::Sink;
use crate::package::Package;

/// Builds that cannot be used whatever else is installed.
pub(in crate::audit) fn unusable(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (name, fact) in &case.unusable {
        let package = Package::dist(*name);
        let message = format!("{} cannot be used: {}", case.title(package), fact.text);
        sink.push(Finding::of_fact(fact, message).about(*name).at(case.line_of(package)));
    }
}

/// Releases that their authors withdrew.
pub(in crate::audit) fn yanked(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (name, taken) in &case.installed.taken {
        let Some(reason) = &taken.build.yanked else { continue };
        let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let title = case.title(Package::dist(*name));
        let message = format!("{title} was withdrawn by its author{because}");
        let fact = FactText::new(format!("{title} is yanked{because}"), "the index page");
        sink.push(Finding::new(Code::Yanked, message).about(*name).at(taken.line).because(fact));
    }
}

/// Lines that allow any version.
pub(in crate::audit) fn unpinned(case: &Case<'_>, sink: &mut Sink<'_>) {
    if case.question.closed {
        return;
    }
    for (name, taken) in &case.installed.taken {
        if !taken.direct || taken.pinned {
            continue;
        }
        let version = &taken.build.version;
        let message = format!("{name} is not pinned; today it is {version}");
        let fact = FactText::new(format!("{version} is the version that fits today"), "the index");
        let finding = Finding::new(Code::Unpinned, message).about(*name).at(taken.line);
        sink.push(finding.because(fact).advise(format!("{name}=={version}")));
    }
}
