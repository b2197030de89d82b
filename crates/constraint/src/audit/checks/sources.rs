//! Source archives that are compiled during the install, and distributions that install others when they run.

use std::collections::BTreeSet;

use pep440_rs::Version as Pep440;

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding};
use crate::audit::installer::{Pick, Taken, Wish};
use crate::audit::sink::Sink;
use crate::package::Package;
use crate::rules::{owner, prebuilt};

fn is_sdist(taken: &Taken) -> bool {
    taken.build.file.as_ref().is_some_and(|file| !file.filename.ends_with(".whl"))
}

/// Extensions that are compiled during the install, because the index has no wheel of them.
pub(in crate::audit) fn compiled_here(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (name, taken) in case.installed.taken.iter().filter(|(_, taken)| is_sdist(taken)) {
        let Some(fact) = prebuilt::elsewhere(&case.build(*name, taken)) else { continue };
        let finding = Finding::of_fact(&fact, fact.text.clone()).about(*name).at(taken.line);
        sink.push(finding.unless(Doubt::Elsewhere));
    }
}

/// Extensions that are compiled against the torch that is there, where the file leaves torch open and something else then
/// takes another one.
pub(in crate::audit) fn compiled_against_another(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some((torch, taken)) = case.torch().filter(|(_, taken)| taken.direct && !taken.pinned)
    else {
        return;
    };
    let own = case
        .question
        .lines
        .iter()
        .find(|line| line.requirement.name == torch && !line.bound && line.channels.is_none());
    let Some(own) = own else { return };
    let none = BTreeSet::new();
    let wish = Wish {
        name: torch,
        range: own.requirement.range(),
        exact: false,
        prerelease: false,
        source: own.source,
        not: &none,
    };
    let Pick::Build(newest) = case.picker.pick(&wish) else { return };
    let minor = |version: Option<&Pep440>| {
        version.map(|v| v.release().iter().take(2).copied().collect::<Vec<_>>())
    };
    if minor(newest.version.version()) == minor(taken.build.version.version()) {
        return;
    }
    for (name, other) in &case.installed.taken {
        if !other.direct || !is_sdist(other) || !prebuilt::is_compiled_against_torch(*name) {
            continue;
        }
        let title = case.title(Package::dist(*name));
        let message = format!(
            "{title} is compiled against the torch that is there: the line of torch gives {}, and in the end it is {}",
            newest.version, taken.build.version
        );
        let finding = Finding::new(Code::CompanionMismatch, message)
            .about(*name)
            .at(other.line)
            .opposing([torch])
            .because(FactText::new(format!("{title} is only there as source"), "the index"))
            .because(FactText::new(
                format!("something else requires torch {}", taken.build.version),
                "METADATA",
            ))
            .otherwise("ImportError: undefined symbol")
            .advise(format!("pin torch=={}, and install it first", taken.build.version));
        sink.push(finding);
    }
}

/// Distributions that install a rival when they run.
pub(in crate::audit) fn overwrites(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (name, taken) in &case.installed.taken {
        let Some((fact, installs, fix)) = owner::installs(*name) else { continue };
        let rival = owner::rivals(installs)
            .into_iter()
            .find(|rival| *rival != installs && case.installed.taken.contains_key(rival));
        let Some(rival) = rival else { continue };
        let title = case.title(Package::dist(*name));
        let message = format!("{title} may overwrite {rival}: {}", fact.text);
        let finding = Finding::of_fact(&fact, message).about(rival).at(taken.line);
        sink.push(finding.opposing([*name]).unless(Doubt::Elsewhere).advise(fix));
    }
}
