//! A folder of installed packages as an audit sees it.

use cuda_lock_constraint::audit::{Damage, Folder, Object, Unresolved};
use cuda_lock_constraint::name::Name;
use cuda_lock_formats::input::{Entry, Input, Kind, Library, unresolved};

/// The shared libraries and the damaged files of an input, when it is such a folder.
pub fn folder(input: &Input) -> Option<Folder> {
    if input.kind != Kind::SitePackages {
        return None;
    }
    let missing = unresolved(&input.libraries);
    let objects = input.libraries.iter().map(|library| Object {
        path: library.path.clone(),
        owner: owner(input, library),
        needed: library.needed.clone(),
        unresolved: missing
            .iter()
            .filter(|found| std::ptr::eq(found.library, library))
            .map(|found| Unresolved {
                soname: found.soname.to_owned(),
                others: found.others.iter().map(|other| (*other).to_owned()).collect(),
            })
            .collect(),
    });
    let damaged = input.damaged.iter().filter_map(|found| {
        let entry = input.entries.get(found.entry)?;
        let rival = found.rival.and_then(|rival| input.entries.get(rival));
        Some(Damage {
            name: entry.name,
            title: title(entry),
            pin: format!("{}=={}", entry.raw_name, entry.locked.as_deref().unwrap_or_default()),
            path: found.path.clone(),
            gone: found.gone,
            rival: rival.map(|rival| (rival.name, title(rival))),
        })
    });
    Some(Folder { objects: objects.collect(), damaged: damaged.collect() })
}

/// The distribution that a library belongs to: by RECORD, else by the name of its folder.
fn owner(input: &Input, library: &Library) -> Option<Name> {
    if let Some(entry) = library.owner.and_then(|place| input.entries.get(place)) {
        return entry.name;
    }
    let folder = Name::new(library.path.split('/').next()?).ok()?;
    input.entries.iter().filter_map(|entry| entry.name).find(|name| *name == folder)
}

fn title(entry: &Entry) -> String {
    format!("{} {}", entry.raw_name, entry.locked.as_deref().unwrap_or_default())
}
