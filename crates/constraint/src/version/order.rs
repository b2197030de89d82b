//! What every comparison of versions owes to those who sort by it: a total order that agrees with equality and hashes.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use pep440_rs::Version as Pep440;
use proptest::prelude::*;

use super::{DistVersion, SourceId, SystemVersion, Version};
use crate::name::Name;

/// PEP 440 versions that lie close together, with all their parts.
fn pep440() -> impl Strategy<Value = Pep440> {
    let release = prop_oneof!["[0-2](\\.[0-2]){0,2}", "[12]!1\\.0"];
    let suffix = prop_oneof![Just(""), Just("a1"), Just("rc1"), Just(".post1"), Just(".dev0")];
    let local = prop_oneof![Just(""), Just("+cpu"), Just("+cu118"), Just("+1"), Just("+cu.1")];
    (release, suffix, local)
        .prop_map(|(release, suffix, local)| format!("{release}{suffix}{local}").parse().unwrap())
}

fn dist() -> impl Strategy<Value = DistVersion> {
    let source = prop_oneof![Just(SourceId(0)), Just(SourceId(3)), Just(SourceId::MAX)];
    prop_oneof![
        1 => Just(DistVersion::absent()),
        6 => (pep440(), source).prop_map(|(version, source)| DistVersion::new(version, source)),
        3 => pep440().prop_map(DistVersion::after_locals),
    ]
}

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![
        4 => dist().prop_map(Version::Dist),
        2 => "[0-2](\\.[0-2]){0,3}".prop_map(|t| Version::System(t.parse::<SystemVersion>().unwrap())),
        1 => "[a-c]{1,2}".prop_map(|text| Version::Owner(Name::new(&text).unwrap())),
    ]
}

fn hash(version: &Version) -> u64 {
    let mut hasher = DefaultHasher::new();
    version.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #[test]
    fn versions_are_totally_ordered(a in version(), b in version(), c in version()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        prop_assert!(a != b || hash(&a) == hash(&b), "{a:?} = {b:?} by another hash");
        if a <= b && b <= c {
            prop_assert!(a <= c, "{a:?} <= {b:?} <= {c:?}");
        }
    }
}
