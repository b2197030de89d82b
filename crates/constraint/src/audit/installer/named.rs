//! Wheels that lines name by URL or path: taken by their names.

use std::collections::BTreeSet;

use super::install::{Installed, Taken};
use super::pick::{Picked, Picker};
use crate::name::Name;
use crate::version::{DistVersion, SourceId};
use crate::wheel::{Compatibility, WheelName, Why};

/// A wheel that a line names and that does not fit the target.
pub(in crate::audit) struct Misfit {
    pub(in crate::audit) line: usize,
    pub(in crate::audit) name: Name,
    pub(in crate::audit) file: String,
    pub(in crate::audit) why: Why,
}

/// Takes the wheels that fit; gives those that do not.
pub(in crate::audit) fn wheels(picker: &Picker<'_>, installed: &mut Installed) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    for (line, asked) in picker.question.lines.iter().enumerate() {
        let Some(file) = &asked.wheel else { continue };
        let Ok(wheel) = WheelName::parse(file) else { continue };
        let tags = picker.tags().with_plain_linux(true);
        if let Compatibility::Incompatible(why) = tags.compatibility(&wheel) {
            misfits.push(Misfit { line, name: wheel.name, file: file.clone(), why });
            continue;
        }
        installed.taken.entry(wheel.name).or_insert_with(|| taken(&wheel, line));
    }
    misfits
}

fn taken(wheel: &WheelName, line: usize) -> Taken {
    Taken {
        build: Picked {
            version: DistVersion::new(wheel.version.clone(), SourceId::MAX),
            file: None,
            yanked: None,
            unfit: None,
        },
        metadata: None,
        extras: BTreeSet::new(),
        line: Some(line),
        direct: true,
        pinned: true,
        expands: true,
    }
}
