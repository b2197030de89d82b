use pep440_rs::{LocalSegment, Prerelease, PrereleaseKind};
use proptest::prelude::*;

use super::*;

fn specifiers(text: &str) -> VersionSpecifiers {
    text.parse().expect("valid specifiers")
}

fn pep440(text: &str) -> Pep440 {
    text.parse().expect("a valid version")
}

fn contains(range: &Range, version: &Pep440) -> bool {
    range.contains(&DistVersion::new(version.clone(), SourceId(7)).into())
}

fn absent(range: &Range) -> bool {
    range.contains(&DistVersion::absent().into())
}

/// Small numbers, so that versions and specifiers often meet.
fn version() -> impl Strategy<Value = Pep440> {
    let kind = prop_oneof![
        Just(PrereleaseKind::Alpha),
        Just(PrereleaseKind::Beta),
        Just(PrereleaseKind::Rc)
    ];
    let pre = (kind, 0u64..3).prop_map(|(kind, number)| Prerelease { kind, number });
    let segment = prop_oneof![
        prop_oneof![Just("cpu"), Just("cu118"), Just("zz")]
            .prop_map(|text| LocalSegment::String(text.to_owned())),
        (0u64..3).prop_map(LocalSegment::Number),
    ];
    (
        prop_oneof![4 => Just(0u64), 1 => Just(1)],
        prop::collection::vec(0u64..3, 1..4),
        prop::option::weighted(0.3, pre),
        prop::option::weighted(0.3, 0u64..3),
        prop::option::weighted(0.3, 0u64..3),
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(segment, 1..3)],
    )
        .prop_map(|(epoch, release, pre, post, dev, local)| {
            Pep440::new(release)
                .with_epoch(epoch)
                .with_pre(pre)
                .with_post(post)
                .with_dev(dev)
                .with_local(local)
        })
}

fn specifier() -> impl Strategy<Value = VersionSpecifier> {
    let operator = prop::sample::select(vec![
        Operator::Equal,
        Operator::EqualStar,
        Operator::NotEqual,
        Operator::NotEqualStar,
        Operator::TildeEqual,
        Operator::LessThan,
        Operator::LessThanEqual,
        Operator::GreaterThan,
        Operator::GreaterThanEqual,
    ]);
    (operator, version()).prop_filter_map("not a specifier", |(operator, version)| {
        let version = match operator {
            Operator::EqualStar | Operator::NotEqualStar => {
                Pep440::new(version.release()).with_epoch(version.epoch())
            }
            Operator::Equal | Operator::NotEqual => version,
            _ => version.without_local(),
        };
        VersionSpecifier::from_version(operator, version).ok()
    })
}

/// Where `pep440_rs` differs from PyPA's `packaging`, which decides:
/// - `<1.0rc1` and `<1.0.post1` contain 1.0b1; `pep440_rs` leaves out every pre-release of the release that is named;
/// - `>1.0rc1` contains 1.0.post1; `pep440_rs` leaves out every post-release of it.
fn deviates(specifier: &VersionSpecifier, version: &Pep440) -> bool {
    let named = specifier.version();
    let same_release = Pep440::new(named.release()) == Pep440::new(version.release());
    match specifier.operator() {
        Operator::LessThan => same_release && version.any_prerelease(),
        Operator::GreaterThan => same_release && version.is_post() && !named.is_post(),
        _ => false,
    }
}

/// `pep440_rs` compares a prefix only as far as the version goes: `==1.1.*` would contain 1. With zeros written out it
/// cannot.
fn padded(version: &Pep440) -> Pep440 {
    let mut release = version.release().to_vec();
    release.resize(4, 0);
    version.clone().with_release(release)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn ranges_contain_what_specifiers_contain(
        specifiers in prop::collection::vec(specifier(), 1..4),
        versions in prop::collection::vec(version(), 8),
    ) {
        let all: VersionSpecifiers = specifiers.iter().cloned().collect();
        let range = dist_range(&all);
        for version in versions {
            if specifiers.iter().any(|specifier| deviates(specifier, &version)) {
                continue;
            }
            prop_assert_eq!(
                contains(&range, &version), all.contains(&padded(&version)),
                "{} in {}", version, all
            );
        }
        prop_assert!(!absent(&range));
    }

    /// One specifier at a time, against versions made from the one it names.
    #[test]
    fn ranges_are_right_next_to_their_ends(specifier in specifier(), near in version()) {
        let named = specifier.version().clone();
        let range = dist_range(&std::iter::once(specifier.clone()).collect());
        for version in [
            named.clone(),
            named.clone().without_local(),
            near.clone().with_release(named.release()).with_epoch(named.epoch()),
            named.clone().with_local(near.local().to_vec()),
            named.clone().with_post(near.post()).with_dev(near.dev()),
            near.with_release(named.release().iter().copied().chain([0]).collect::<Vec<_>>()),
        ] {
            if !deviates(&specifier, &version) {
                prop_assert_eq!(
                    contains(&range, &version), specifier.contains(&padded(&version)),
                    "{} in {}", version, specifier
                );
            }
        }
    }

    #[test]
    fn arbitrary_equality_is_one_version_with_its_label(named in version(), other in version()) {
        let specifier = VersionSpecifier::from_version(Operator::ExactEqual, named.clone());
        let range = dist_range(&specifier.into_iter().collect());
        prop_assert!(contains(&range, &named));
        prop_assert_eq!(contains(&range, &other), named == other);
    }
}

/// Answers of `packaging` 26.4 where `pep440_rs` has others, and where a slip would be dear.
#[test]
fn packaging_decides() {
    for (text, inside, outside) in [
        ("<1.0rc1", &["1.0b1", "1.0.dev0", "0.9"][..], &["1.0rc1", "1.0"][..]),
        ("<1.0.post1", &["1.0", "1.0rc1", "1.0+x", "1.0.post0"], &["1.0.post1.dev0", "1.0.post1"]),
        ("<1.0", &["0.9.post1", "0.9+x"], &["1.0.dev0", "1.0a1", "1.0"]),
        (
            ">1.0rc1",
            &["1.0", "1.0.post1", "1.0rc2.dev0", "1.0+x"],
            &["1.0rc1", "1.0rc1.post1", "1.0rc1+x"],
        ),
        (">1.0", &["1.0.1.dev0", "1.0.1"], &["1.0", "1.0.post1", "1.0+x", "1.0.post1+x"]),
        (">1.0.post1", &["1.0.post2.dev0", "1.0.1"], &["1.0.post1+x", "1.0.post1"]),
        (">1.0.dev1", &["1.0.dev2", "1.0"], &["1.0.dev1", "1.0.dev1+x"]),
        ("<=2.9.1", &["2.9.1+cu130", "2.9.1"], &["2.9.1.post1.dev0", "2.9.2"]),
        ("==2.9.1", &["2.9.1+cu130", "2.9.1", "2.9.1.0"], &["2.9.1.post1", "2.9.1.dev0"]),
        ("==2.9.1+cu130", &["2.9.1+cu130"], &["2.9.1", "2.9.1+cu130.1", "2.9.1+cu12"]),
        ("!=2.9.1", &["2.9.1.post1", "2.9.1rc1"], &["2.9.1+cu130", "2.9.1"]),
        ("!=2.9.1+cu130", &["2.9.1", "2.9.1+cpu"], &["2.9.1+cu130"]),
        ("==1.1.*", &["1.1.dev0", "1.1.9+x"], &["1", "1.2.dev0"]),
        ("~=1.4.5", &["1.4.5", "1.4.9", "1.4.5.post1"], &["1.4.5rc1", "1.5.dev0"]),
        ("~=1.4.5a4", &["1.4.5a4", "1.4.5"], &["1.4.5a3", "1.5.0"]),
        ("===1.0", &["1.0", "1.0.0"], &["1.0+x", "1.0.post0"]),
        ("<1!1.0", &["5.0", "1.0", "1!0.9"], &["1!1.0", "1!1.0.dev0"]),
    ] {
        let range = dist_range(&specifiers(text));
        for version in inside {
            assert!(contains(&range, &pep440(version)), "{version} should be in {text}");
        }
        for version in outside {
            assert!(!contains(&range, &pep440(version)), "{version} should not be in {text}");
        }
    }
}

#[test]
fn absence_is_in_a_range_only_when_asked_for() {
    for text in ["", ">=1", "<1", "!=1", "!=1.*", "<=1", "==1.*", "<0.dev0"] {
        let range = dist_range(&specifiers(text));
        assert!(!absent(&range), "{text}");
        let lenient = if_present(&range);
        assert!(absent(&lenient), "{text}");
        assert_eq!(lenient.intersection(&any_build()), range, "{text}");
    }
}

#[test]
fn every_source_has_the_build() {
    let range = dist_range(&specifiers("==1.18.1"));
    for source in [SourceId(0), SourceId(9), SourceId::MAX] {
        assert!(range.contains(&DistVersion::new(pep440("1.18.1"), source).into()));
    }
}

#[test]
fn a_minor_python_is_all_of_its_patches() {
    let range = python_minor_range(3, 11);
    for inside in ["3.11.0a1", "3.11.0", "3.11.14"] {
        assert!(contains(&range, &pep440(inside)), "{inside}");
    }
    assert!(!contains(&range, &pep440("3.12.0a1")) && !contains(&range, &pep440("3.10.9")));
}

#[test]
fn pre_releases_are_opted_in_to_by_name() {
    for (text, expected) in [
        (">=2.0rc1", true),
        ("<2.0.dev0", true),
        ("==2.0a1", true),
        ("!=2.0rc1", false),
        ("!=2.0rc1,>=1", false),
        (">=1,<2", false),
        ("==2.*", false),
        ("", false),
    ] {
        assert_eq!(specifiers_mention_prerelease(&specifiers(text)), expected, "{text}");
    }
}

#[test]
fn numbers_at_their_limit_are_no_panic() {
    let text = format!("=={}.*", u64::MAX);
    if let Ok(specifiers) = text.parse() {
        assert!(!absent(&dist_range(&specifiers)));
    }
}
