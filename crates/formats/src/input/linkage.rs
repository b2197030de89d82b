//! Which shared libraries an installed one asks for and will not get from the same folder.

use std::collections::{BTreeMap, BTreeSet};

use super::model::Library;

/// A name that a library asks for, and that no installed library has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved<'a> {
    /// The library that asks.
    pub library: &'a Library,
    /// The name it asks for: `libcublasLt.so.12`.
    pub soname: &'a str,
    /// Libraries of the same name with another version that are installed: `libcublasLt.so.11`.
    pub others: Vec<&'a str>,
}

/// Every name that is asked for and is neither the file name nor the soname of an installed library, in the order of the
/// libraries.
///
/// Folders are not looked at: what is installed anywhere may be loaded beforehand, as torch does with the wheels of
/// NVIDIA. What the system has is not known here either; whoever calls this knows which names the system supplies.
#[must_use]
pub fn unresolved(libraries: &[Library]) -> Vec<Unresolved<'_>> {
    let mut there: BTreeSet<&str> = BTreeSet::new();
    let mut stems: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for library in libraries {
        for name in
            [Some(file_name(&library.path)), library.soname.as_deref()].into_iter().flatten()
        {
            there.insert(name);
            stems.entry(stem(name)).or_default().insert(name);
        }
    }
    let missing = libraries
        .iter()
        .flat_map(|library| library.needed.iter().map(move |soname| (library, soname.as_str())));
    missing
        .filter(|(_, soname)| !there.contains(soname))
        .map(|(library, soname)| {
            let others = stems.get(stem(soname)).into_iter().flatten().copied();
            Unresolved { library, soname, others: others.filter(|o| o.contains(".so.")).collect() }
        })
        .collect()
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name without its version: `libcublasLt.so`.
fn stem(name: &str) -> &str {
    name.split_once(".so").map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(path: &str, needed: &[&str]) -> Library {
        Library {
            path: path.to_owned(),
            soname: None,
            needed: needed.iter().map(|name| (*name).to_owned()).collect(),
            search: Vec::new(),
            owner: None,
        }
    }

    #[test]
    fn what_no_file_has_is_found_with_its_other_versions() {
        let libraries = [
            library("nvidia/cudnn/lib/libcudnn.so.8", &[]),
            library("onnxruntime/capi/libp.so", &["libcudnn.so.9", "libq.so", "libc.so.6"]),
            library("onnxruntime/capi/libq.so", &[]),
        ];
        let found: Vec<(&str, Vec<&str>)> =
            unresolved(&libraries).into_iter().map(|u| (u.soname, u.others)).collect();
        assert_eq!(found, [("libcudnn.so.9", vec!["libcudnn.so.8"]), ("libc.so.6", vec![])]);
    }
}
