//! The installer itself: what an old pip does not know, what a new one refuses, what it wants in the file.

use crate::audit::case::Case;
use crate::audit::code::Code;
use crate::audit::finding::{Doubt, FactText, Finding};
use crate::audit::sink::Sink;
use crate::package::Package;
use crate::requirement::{Mode, Parts};
use crate::rules::installer;

/// Wheels whose platform tag the pip at hand does not know.
pub(in crate::audit) fn old_pip(case: &Case<'_>, sink: &mut Sink<'_>) {
    let known = case.question.surroundings.pip.as_ref();
    let pip = known
        .map(|(version, brought_by)| installer::Pip {
            version: version.clone(),
            brought_by: brought_by.clone(),
        })
        .or_else(|| {
            installer::of_python(&case.question.target.python)
                .filter(|_| case.question.python_known)
        });
    let Some(pip) = pip else { return };
    // A pip that is known to be there refuses; one that a Python came with may have been updated since.
    let doubt = if known.is_some() { Doubt::None } else { Doubt::Elsewhere };
    for (name, taken) in &case.installed.taken {
        let of_line = || {
            let line = case.question.lines.get(taken.line?)?;
            line.wheel.as_deref().filter(|_| line.requirement.name == *name)
        };
        let index_file = taken.build.file.as_ref().map(|file| file.filename.as_str());
        let Some(file) = index_file.or_else(of_line) else { continue };
        let Some(fact) = installer::refuses(&pip, file) else { continue };
        let finding = Finding::of_fact(&fact, fact.text.clone()).about(*name).at(taken.line);
        let fix = "run `python -m pip install --upgrade pip` first";
        sink.push(finding.unless(doubt).advise(fix));
    }
}

/// Pinned releases that pip passes over, because a line of their METADATA is none that it accepts.
pub(in crate::audit) fn refused_metadata(case: &Case<'_>, sink: &mut Sink<'_>) {
    let row = installer::strict_metadata();
    for (name, taken) in &case.installed.taken {
        let Some(metadata) = taken.metadata.as_ref().filter(|_| taken.pinned && taken.direct)
        else {
            continue;
        };
        let mut lines = metadata.requires_dist.iter();
        let refused = lines.find_map(|line| Some((line, Parts::read(line, Mode::Strict).err()?)));
        let Some((line, error)) = refused else { continue };
        let why = error.fault();
        let title = case.title(Package::dist(*name));
        let message =
            format!("pip from {} on refuses {title}: it requires '{line}', and {why}", row.pip);
        let finding = Finding::new(Code::Syntax, message)
            .about(*name)
            .at(taken.line)
            .because(FactText::new(
                format!("{title} requires {line}"),
                format!("METADATA of {title}"),
            ))
            .because(FactText::row(&row.text, &row.source))
            .otherwise(format!(
                "WARNING: Ignoring version {} of {name} since it has invalid metadata",
                taken.build.version
            ))
            .advise(format!("take a newer release, or pip<{}", row.pip));
        sink.push(finding);
    }
}

/// Text that an older pip reads in the encoding of the system.
pub(in crate::audit) fn encoding(case: &Case<'_>, sink: &mut Sink<'_>) {
    let Some(place) = case.question.surroundings.undeclared_utf8 else { return };
    let Some(row) = installer::system_encoding(case.machine.platform) else { return };
    let message = format!(
        "the file is UTF-8 with characters beyond ASCII, and pip before {} reads it in the encoding of the system, which is another one on {}",
        row.pip, case.machine.platform
    );
    let finding = Finding::new(Code::Syntax, message)
        .at_place(place)
        .unless(Doubt::Elsewhere)
        .because(FactText::row(&row.text, &row.source))
        .advise("update pip, save the file with a byte order mark, or add '# -*- coding: utf-8 -*-' as its first line");
    sink.push(finding);
}

/// Lines without a hash in a file that requires them.
pub(in crate::audit) fn hashes(case: &Case<'_>, sink: &mut Sink<'_>) {
    for (place, line) in case.question.lines.iter().enumerate().filter(|(_, l)| l.lacks_hash) {
        let name = line.requirement.name;
        let message = format!("{name} has no --hash, and the file requires hashes");
        let finding = Finding::new(Code::HashMissing, message)
            .about(name)
            .at(Some(place))
            .because(FactText::new(
                "as soon as one line has a hash, pip requires them of all",
                "pip documentation, secure installs",
            ))
            .otherwise("ERROR: In --require-hashes mode, all requirements must have their versions pinned and hashed")
            .advise("add the hashes of this line, or remove all hashes");
        sink.push(finding);
    }
}
