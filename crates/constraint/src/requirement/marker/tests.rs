use pep508_rs::{MarkerEnvironment as Pep508Environment, MarkerEnvironmentBuilder, MarkerTree};
use proptest::prelude::*;

use super::*;
use crate::machine::Platform;
use crate::target::Target;

fn environment(platform: Platform, python: &str) -> MarkerEnvironment {
    Target::new(platform, &python.parse().expect("valid")).marker_environment()
}

fn linux() -> MarkerEnvironment {
    environment(Platform::LinuxX86_64, "3.11.4")
}

fn holds(text: &str) -> bool {
    text.parse::<Marker>().expect(text).evaluate(&linux(), None)
}

fn name(text: &str) -> Name {
    Name::new(text).expect("valid")
}

/// The answers of `packaging` 26.4 on the same environment.
#[test]
fn markers_hold_as_packaging_has_them() {
    for (text, expected) in [
        (r#""3.8" <= python_version"#, true),
        (r#"python_version ~= "3.8""#, true),
        (r#"python_version == "3.11.0""#, true),
        (r#"python_version > "3.11""#, false),
        (r#"python_version < "3.11.1""#, true),
        (r#"python_full_version < "3.12.0a1""#, true),
        (r#"python_full_version >= "3.11.4""#, true),
        (r#"python_version == "3.*""#, true),
        (r#""3.11.*" == python_version"#, false),
        (r#"python_version === "3.11""#, true),
        (r#"python_version === "3.11.0""#, false),
        (r#"python_version in "3.1 3.11""#, true),
        (r#"python_version not in "2.7, 3.1""#, true),
        (r#"python_version   not   in "3.11""#, false),
        (r#"python_version == "3.x""#, false),
        (r#"python_version >= "3.8,<4""#, false),
        (r#""abc" != python_version"#, false),
        (r#"platform_release >= "20""#, false),
        (r#"platform_release != "20""#, false),
        (r#"platform_version >= "1.0""#, false),
        (r#"sys_platform > "a""#, false),
        (r#"sys_platform >= "linux""#, true),
        (r#""linux" in sys_platform"#, true),
        (r#"sys_platform in "linux2""#, true),
        (r#"sys_platform not in "win32 cygwin""#, true),
        (r#"os_name == sys_platform"#, false),
        (r#"os.name == 'posix' and python_implementation == "CPython""#, true),
        (r#"sys_platform == "win32" or os_name == "posix" and python_version < "3""#, false),
        (r#"(sys_platform == "win32" or os_name == "posix") and python_version > "3""#, true),
        (r#"((os_name == 'posix'))and(python_version>'3')"#, true),
        (r#"extra == """#, true),
        (r#"extra != "test""#, true),
        (r#"extra in "a b""#, true),
    ] {
        assert_eq!(holds(text), expected, "{text}");
    }
}

#[test]
fn an_order_with_a_star_means_the_release() {
    assert!(holds(r#"python_version >= "3.6.*""#));
    assert!(!holds(r#"python_version < "3.6.*""#));
}

#[test]
fn variables_of_lock_files_and_variants_are_empty() {
    assert!(!holds(r#""dev" in extras or "test" in dependency_groups"#));
    assert!(!holds(r#""nvidia :: cuda :: 12" in variant_properties"#));
    assert!(holds(r#""nvidia" not in variant_namespaces"#));
}

#[test]
fn extras_compare_by_normalised_name() {
    let marker: Marker = r#"extra == "Foo_Bar" and python_version > "3""#.parse().expect("valid");
    assert!(marker.evaluate(&linux(), Some(name("foo-bar"))));
    assert!(!marker.evaluate(&linux(), None) && marker.needs_extra() == Some(0..18));
    let either: Marker = r#"extra == "a" or "b" == extra"#.parse().expect("valid");
    assert!(either.evaluate(&linux(), Some(name("b"))));
    assert!(!either.evaluate(&linux(), Some(name("c"))));
    let not: Marker = r#"extra != "a b""#.parse().expect("valid");
    assert!(not.evaluate(&linux(), Some(name("a"))));
}

#[test]
fn markers_have_one_spelling() {
    let marker = |text: &str| text.parse::<Marker>().expect(text);
    for (text, canonical) in [
        (
            "python_version<'3.14'and platform_system==\"Linux\"",
            "python_version < \"3.14\" and platform_system == \"Linux\"",
        ),
        (
            "( os.name=='nt' or 'x'  not   in sys_platform)",
            "(os_name == \"nt\" or \"x\" not in sys_platform)",
        ),
        ("python_implementation==='a\"b'", "platform_python_implementation === 'a\"b'"),
        ("'dev' in dependency_groups", "\"dev\" in dependency_groups"),
    ] {
        assert_eq!(marker(text).canonical(), canonical);
        assert_eq!(marker(canonical).canonical(), canonical);
    }
    assert_eq!(marker("os_name == 'nt' and 'a' == extra").needs_extra(), Some(20..32));
    assert_eq!(marker("extra == 'a' or os_name == 'nt'").needs_extra(), None);
}

#[test]
fn pip_knows_no_variables_of_variants() {
    let text = "'nvidia' in variant_namespaces";
    assert!(Marker::read(text, Mode::Repair).is_ok());
    let error = Marker::read(text, Mode::Strict).expect_err("no variable of PEP 508");
    assert_eq!(error.range(), 12..30);
    assert!(Marker::read("'a' in extras and os_name in 'nt'", Mode::Strict).is_ok());
    // A line feed is no blank between tokens.
    assert!(Marker::read("os_name\n== 'nt'", Mode::Strict).is_err());
}

#[test]
fn other_texts_are_refused() {
    let error = |text: &str| {
        let error = text.parse::<Marker>().expect_err(text);
        format!("{} at {}", error.fault(), error.column())
    };
    for (text, expected) in [
        ("", "expected a marker variable or a quoted text at 1"),
        ("os_name", "expected a marker operator (==, !=, <, <=, >, >=, ~=, ===, in, not in) at 8"),
        (
            "os_name is 'a'",
            "expected a marker operator (==, !=, <, <=, >, >=, ~=, ===, in, not in) at 9",
        ),
        ("os_name not 'a'", "expected 'in' after 'not' at 13"),
        ("os_name == 'a')", "expected 'and', 'or' or the end of the marker at 15"),
        ("os_name ==", "expected a marker variable or a quoted text at 11"),
        ("os_name == 'a", "the quoted text is never closed at 12"),
        ("glibc > '2'", "'glibc' is not a marker variable (PEP 508) at 1"),
        ("os_name == 'ü' x", "expected 'and', 'or' or the end of the marker at 16"),
        ("(os_name == 'a'", "'(' is never closed at 1"),
        ("os_name == 'a' andos_name == 'b'", "expected 'and', 'or' or the end of the marker at 16"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let deep = format!("{}os_name == 'a'{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(error(&deep), "the parentheses are nested too deeply at 65");
}

fn oracle_environment(environment: &MarkerEnvironment) -> Pep508Environment {
    MarkerEnvironmentBuilder {
        implementation_name: &environment.implementation_name,
        implementation_version: &environment.implementation_version,
        os_name: &environment.os_name,
        platform_machine: &environment.platform_machine,
        platform_python_implementation: &environment.platform_python_implementation,
        platform_release: &environment.platform_release,
        platform_system: &environment.platform_system,
        platform_version: &environment.platform_version,
        python_full_version: &environment.python_full_version,
        python_version: &environment.python_version,
        sys_platform: &environment.sys_platform,
    }
    .try_into()
    .expect("a valid environment")
}

/// Comparisons that `pep508_rs` answers as `packaging` does. Left out: an order of texts (`pep508_rs` compares letters),
/// `in` with versions (it compares each version), `~=` and `===` with texts.
fn comparison() -> impl Strategy<Value = String> {
    let order = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">=", "~="]);
    let version = prop::sample::select(vec!["python_version", "python_full_version"]);
    let number = prop::sample::select(vec!["3.8", "3.10", "3.11", "3.11.4", "3.12", "4.0"]);
    let equality = prop::sample::select(vec!["==", "!="]);
    let text = prop::sample::select(vec!["os_name", "sys_platform", "platform_machine"]);
    let value = prop::sample::select(vec!["posix", "nt", "linux", "win32", "x86_64", "arm64"]);
    let extra = prop::sample::select(vec!["a", "B", "c_d"]);
    prop_oneof![
        (version, order, number).prop_map(|(v, o, n)| format!("{v} {o} '{n}'")),
        (text.clone(), equality.clone(), value.clone())
            .prop_map(|(v, o, t)| format!("{v}{o}\"{t}\"")),
        (value.clone(), equality.clone(), text.clone())
            .prop_map(|(t, o, v)| format!("'{t}' {o} {v}")),
        (value, text).prop_map(|(t, v)| format!("'{t}' in {v}")),
        (equality, extra).prop_map(|(o, e)| format!("extra {o} '{e}'")),
    ]
}

fn marker() -> impl Strategy<Value = String> {
    comparison().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.join(" and ")),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.join(" or ")),
            inner.prop_map(|part| format!("({part})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn markers_hold_as_pep508_rs_has_them(text in marker()) {
        let marker: Marker = text.parse().expect("a valid marker");
        let tree: MarkerTree = text.parse().expect("a valid marker");
        for environment in [linux(), environment(Platform::WindowsX86_64, "3.8.1"), environment(Platform::MacosArm64, "3.12.0")] {
            let oracle = oracle_environment(&environment);
            let reduced = marker.reduce(&environment);
            for extra in [None, Some("a"), Some("b"), Some("c-d")] {
                let extras: Vec<_> = extra.iter().map(|extra| extra.parse().expect("valid")).collect();
                let expected = tree.evaluate(&oracle, &extras);
                let extra = extra.map(name);
                prop_assert_eq!(marker.evaluate(&environment, extra), expected, "{:?} {:?}", text, extra);
                prop_assert_eq!(reduced.holds(None, extra), expected, "reduced {:?} {:?}", text, extra);
            }
        }
    }

    #[test]
    fn no_text_is_a_panic(text in r#"[a-z_ ()'"=<>!~.0-9ü]{0,40}"#) {
        if let Ok(marker) = text.parse::<Marker>() {
            let _ = marker.evaluate(&linux(), None);
        }
    }
}
