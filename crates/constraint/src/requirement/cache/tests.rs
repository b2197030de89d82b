use super::*;
use crate::machine::Platform;
use crate::target::Target;

fn cache() -> RequirementCache {
    let python = "3.11.4".parse().expect("valid");
    RequirementCache::new(Target::new(Platform::LinuxX86_64, &python).marker_environment())
}

fn applies(cache: &RequirementCache, text: &str, extra: Option<&str>) -> bool {
    let requirement = cache.get(&text.into()).expect("valid");
    cache.applies(&requirement, extra.map(|extra| Name::new(extra).expect("valid")))
}

#[test]
fn a_text_is_read_once() {
    let cache = cache();
    let first = cache.get(&"foo>=1; extra == 'x'".into()).expect("valid");
    assert!(Arc::ptr_eq(&first, &cache.get(&"foo>=1; extra == 'x'".into()).expect("valid")));
    let other = cache.get(&"bar; extra == 'x'".into()).expect("valid");
    let marker = |requirement: &Requirement| requirement.marker.clone().expect("a marker");
    assert!(Arc::ptr_eq(&marker(&first), &marker(&other)));
}

#[test]
fn errors_keep_the_whole_text_and_its_column() {
    let cache = cache();
    for _ in 0..2 {
        let error = cache.get(&"foo>=1; glibc > '2'".into()).expect_err("unknown variable");
        assert_eq!(error.text(), "foo>=1; glibc > '2'");
        assert_eq!(error.column(), 9);
    }
}

#[test]
fn requirements_apply_to_the_distribution_or_to_an_extra() {
    let cache = cache();
    for (text, base, x) in [
        ("foo", true, true),
        ("foo; extra == 'x'", false, true),
        ("foo; extra == 'X'", false, true),
        ("foo; extra != 'x'", true, false),
        ("foo; python_version < '3'", false, false),
        ("foo; python_version > '3'", true, true),
        ("foo; python_version > '3' and extra == 'x'", false, true),
        ("foo; python_version < '3' and extra == 'x'", false, false),
        ("foo; python_version > '3' or extra == 'x'", true, true),
        ("foo; (extra == 'x' or extra == 'y') and sys_platform == 'linux'", false, true),
        ("foo; 'x' in extra", false, true),
    ] {
        assert_eq!(applies(&cache, text, None), base, "{text}");
        assert_eq!(applies(&cache, text, Some("x")), x, "{text}");
    }
}

#[test]
fn a_requirement_from_elsewhere_is_evaluated_too() {
    let requirement: Requirement = "foo; extra == 'x'".parse().expect("valid");
    assert!(!cache().applies(&requirement, None));
    assert!(cache().applies(&requirement, Some(Name::new("x").expect("valid"))));
}
