//! With which releases of torch a wheel loads, from symbols.
//!
//! A symbol that a release does not export proves that the wheel does not load with it. That none is missing proves that it
//! does only where the wheel keeps to torch's stable ABI; elsewhere a class may have changed its layout.

use std::collections::BTreeSet;

use pep440_rs::Version;

use crate::exports::{Exports, Missing};
use crate::torch_symbols::{belongs_to_torch, is_stable_abi, is_virtual_table};
use crate::wheel::Contents;

/// The verdict over all releases of torch that are known.
#[derive(Debug, PartialEq, Eq)]
pub struct Loads {
    /// PEP 440 specifiers: everything that is not proven to fail.
    pub torch: String,
    /// Whether the wheel takes the stable ABI alone.
    pub stable_abi: bool,
    /// What the nearest releases on both sides lack: `2.9.1 SYMBOL`.
    pub lacks: Vec<String>,
}

/// Judges a wheel; `None` when it takes no symbol of torch.
#[must_use]
pub fn judge(contents: &Contents, exports: &Exports) -> Option<Loads> {
    let own: BTreeSet<&str> = contents
        .objects
        .values()
        .flat_map(|object| object.defined.keys())
        .map(String::as_str)
        .collect();
    let named_for: Vec<Version> =
        contents.objects.keys().filter_map(|path| named_for(path, exports)).collect();
    // A wheel with one library for each torch works with those that it has one for; the others are not loaded there.
    let general =
        contents.objects.iter().filter(|(path, _)| self::named_for(path, exports).is_none());
    let undefined: BTreeSet<&str> = general
        .clone()
        .flat_map(|(_, object)| object.undefined.iter())
        .map(String::as_str)
        .filter(|symbol| belongs_to_torch(symbol) && !own.contains(symbol))
        .collect();
    let tables: Vec<(&str, u64)> = general
        .flat_map(|(_, object)| object.defined.iter())
        .filter(|(symbol, _)| is_virtual_table(symbol))
        .map(|(symbol, size)| (symbol.as_str(), *size))
        .collect();
    if undefined.is_empty() && named_for.is_empty() {
        return None;
    }
    let verdicts: Vec<(&Version, Missing)> = exports
        .releases()
        .enumerate()
        .map(|(at, version)| {
            let mut missing =
                exports.missing(at, undefined.iter().copied(), tables.iter().copied());
            if !named_for.is_empty() && !named_for.contains(version) {
                missing.symbols.push("no library of the wheel is for this release".to_owned());
            }
            (version, missing)
        })
        .collect();
    let stable_abi = named_for.is_empty() && undefined.iter().all(|symbol| is_stable_abi(symbol));
    Some(Loads { torch: specifiers(&verdicts), stable_abi, lacks: lacks(&verdicts) })
}

/// The release of torch that a library's name ends with: `libdgl_sparse_pytorch_2.2.1.so`.
fn named_for(path: &str, exports: &Exports) -> Option<Version> {
    let stem = path.rsplit('/').next()?.strip_suffix(".so")?;
    let (_, version) = stem.rsplit_once(['_', '-'])?;
    let version: Version =
        version.parse().ok().filter(|version: &Version| version.release().len() == 3)?;
    exports
        .releases()
        .any(|known| known.release().first() == version.release().first())
        .then_some(version)
}

fn minor(version: &Version) -> (u64, u64) {
    let release = version.release();
    (release.first().copied().unwrap_or(0), release.get(1).copied().unwrap_or(0))
}

/// The minors without a proof of failure, as one range with holes.
fn specifiers(verdicts: &[(&Version, Missing)]) -> String {
    let loads: Vec<bool> = verdicts.iter().map(|(_, missing)| missing.is_empty()).collect();
    let (Some(first), Some(last)) = (loads.iter().position(|l| *l), loads.iter().rposition(|l| *l))
    else {
        let oldest = verdicts.first().map_or((0, 0), |(version, _)| minor(version));
        return format!("<{}.{}", oldest.0, oldest.1);
    };
    let mut parts = Vec::new();
    if first > 0 {
        let (major, minor) = minor(verdicts[first].0);
        parts.push(format!(">={major}.{minor}"));
    }
    if let Some((version, _)) = verdicts.get(last + 1) {
        let (major, minor) = minor(version);
        parts.push(format!("<{major}.{minor}"));
    }
    for (n, (version, _)) in verdicts.iter().enumerate().take(last).skip(first) {
        if !loads[n] {
            let (major, minor) = minor(version);
            parts.push(format!("!={major}.{minor}.*"));
        }
    }
    parts.join(",")
}

/// One symbol that each nearest release on both sides lacks.
fn lacks(verdicts: &[(&Version, Missing)]) -> Vec<String> {
    let loads = |n: &usize| verdicts.get(*n).is_some_and(|(_, missing)| missing.is_empty());
    let all = 0..verdicts.len();
    let first = all.clone().find(loads);
    let last = all.clone().rfind(loads);
    let beside = match (first, last) {
        (Some(first), Some(last)) => [first.checked_sub(1), Some(last + 1)],
        _ => [None, Some(0)],
    };
    let line = |n: usize| {
        let (version, missing) = verdicts.get(n)?;
        let symbol = missing.symbols.first().or_else(|| missing.tables.first())?;
        Some(format!("{version} {symbol}"))
    };
    beside.into_iter().flatten().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::SharedObject;
    use std::collections::BTreeMap;

    const OLD: &str = "_ZN3c104oldEv";
    const NEW: &str = "_ZN3c104newEv";
    const STABLE: &str = "torch_library_impl";

    fn exports() -> Exports {
        let mut exports = Exports::default();
        let releases: [(&str, &[&str]); 4] = [
            ("2.4.1", &[OLD]),
            ("2.5.1", &[OLD, NEW]),
            ("2.6.0", &[OLD, NEW, STABLE]),
            ("2.7.1", &[NEW, STABLE]),
        ];
        for (version, symbols) in releases {
            let symbols: BTreeMap<String, u64> =
                symbols.iter().map(|&s| (s.to_owned(), 0)).collect();
            exports.add(&version.parse().expect("valid"), String::new(), &symbols).expect("room");
        }
        exports
    }

    fn contents(objects: &[(&str, &[&str])]) -> Contents {
        let object = |symbols: &[&str]| SharedObject {
            undefined: symbols.iter().map(|&s| s.to_owned()).collect(),
            ..SharedObject::default()
        };
        let objects =
            objects.iter().map(|(path, symbols)| ((*path).to_owned(), object(symbols))).collect();
        Contents { objects, ..Contents::default() }
    }

    fn judged(objects: &[(&str, &[&str])]) -> Loads {
        judge(&contents(objects), &exports()).expect("it takes symbols of torch")
    }

    #[test]
    fn a_range_with_what_lies_beside_it() {
        let loads = judged(&[("a/_C.so", &[OLD, NEW, "cudaMalloc"])]);
        assert_eq!(loads.torch, ">=2.5,<2.7");
        assert_eq!(loads.lacks, [format!("2.4.1 {NEW}"), format!("2.7.1 {OLD}")]);
        assert!(!loads.stable_abi);
    }

    #[test]
    fn the_stable_abi_has_no_upper_end() {
        let loads = judged(&[("a/_C.abi3.so", &[STABLE])]);
        assert_eq!((loads.torch.as_str(), loads.stable_abi), (">=2.6", true));
    }

    #[test]
    fn symbols_of_a_sibling_are_not_torchs() {
        let mut contents = contents(&[("a/_C.so", &[NEW, "_ZN2at5own_kEv"]), ("a/lib.so", &[])]);
        let sibling = contents.objects.get_mut("a/lib.so").expect("there");
        sibling.defined.insert("_ZN2at5own_kEv".to_owned(), 0);
        assert_eq!(judge(&contents, &exports()).expect("takes some").torch, ">=2.5");
    }

    #[test]
    fn one_library_for_each_torch() {
        let loads =
            judged(&[("dgl/x_pytorch_2.4.1.so", &[OLD]), ("dgl/x_pytorch_2.5.1.so", &[OLD])]);
        assert_eq!(loads.torch, "<2.6");
    }

    #[test]
    fn built_for_a_torch_before_all_that_are_known() {
        let loads = judged(&[("a/_C.so", &["_ZN3c105goneEv"])]);
        assert_eq!(loads.torch, "<2.4");
        assert!(judge(&contents(&[("a/_C.so", &["cudaMalloc"])]), &exports()).is_none());
    }
}
