use pep508_rs::VersionOrUrl;
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Requirement {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    match text.parse::<Requirement>() {
        Ok(requirement) => panic!("{text:?} is read as {requirement:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_requirement_has_all_its_parts() {
    let text = r#"Requests_X [Security, socks.v5] >=2.8.1, ==2.8.* ; python_version < "3.12""#;
    let requirement = read(text);
    assert_eq!(requirement.name.as_str(), "requests-x");
    let extras: Vec<_> = requirement.extras.iter().map(|extra| extra.as_str()).collect();
    assert_eq!(extras, ["security", "socks-v5"]);
    assert_eq!(requirement.specifiers, ">=2.8.1,==2.8.*".parse().expect("valid"));
    assert_eq!(requirement.range(), &dist_range(&requirement.specifiers));
    let marker = requirement.marker.as_ref().expect("a marker");
    assert_eq!(marker.as_str(), r#"python_version < "3.12""#);
    assert_eq!(&**requirement.text(), text);
}

/// What is published, against what it means to pip or uv.
#[test]
fn published_texts_are_read() {
    for (text, expected) in [
        ("foo", ""),
        ("foo>=1", ">=1"),
        ("foo (>=1.2)", ">=1.2"),
        ("foo(>=1.2,<2)", ">=1.2,<2"),
        ("foo ()", ""),
        ("foo[]>=1", ">=1"),
        ("foo[a,]>=1", ">=1"),
        ("foo>=1.0,", ">=1.0"),
        ("foo>=1,,<2", ">=1,<2"),
        ("foo >=1.0 <2.0", ">=1.0,<2.0"),
        ("foo>=1.0<2.0", ">=1.0,<2.0"),
        ("foo>=1.0!=1.5", ">=1.0,!=1.5"),
        ("foo>=1.0.*", ">=1.0"),
        ("foo<2.*,>1.*", "<2,>1"),
        ("foo!=3.0*", "!=3.0.*"),
        ("foo!=~5.0", "!=5.0.*"),
        ("foo>=9.0.0a1.0", ">=9.0.0a1"),
        ("foo>dev", ">0.0.0dev"),
        ("foo>='2.7'", ">=2.7"),
        (r#"foo>= "2.7""#, ">=2.7"),
        ("foo==1!2.0", "==1!2.0"),
        ("foo<1!2.0!=1!1.0", "<1!2.0,!=1!1.0"),
        ("foo==2.9.1+cu130", "==2.9.1+cu130"),
        ("foo===1.0", "===1.0"),
        ("foo ~= 1.4.5a4 ", "~=1.4.5a4"),
        ("  foo\t>=1\n", ">=1"),
        ("foo>=1;os_name=='a'", ">=1"),
    ] {
        let expected: VersionSpecifiers = expected.parse().expect("valid specifiers");
        assert_eq!(read(text).specifiers, expected, "{text:?}");
    }
}

#[test]
fn direct_references_are_read() {
    let digest = "ab".repeat(32);
    let requirement = read(&format!(
        "foo[x] @ https://index.example/foo-1-py3-none-any.whl#sha256={digest}&egg=foo ; os_name == 'nt'"
    ));
    let url = requirement.url.as_ref().expect("a URL");
    assert_eq!(&*url.url, "https://index.example/foo-1-py3-none-any.whl");
    assert_eq!(url.sha256(), Some([0xab; 32]));
    assert_eq!(url.fragment_value("egg"), Some("foo"));
    assert!(requirement.marker.is_some());

    let url = |text: &str| read(text).url.expect("a URL");
    assert_eq!(&*url("foo@https://index.example/a;b.zip").url, "https://index.example/a;b.zip");
    let attached = read("foo @ https://index.example/a.zip; os_name == 'nt'");
    assert!(attached.marker.is_some());
    assert_eq!(&*attached.url.expect("a URL").url, "https://index.example/a.zip");
    assert_eq!(url("foo @ git+https://index.example/a#sha256=12").sha256(), None);
    assert_eq!(url("foo @ https://index.example/a#").fragment.as_deref(), Some(""));
}

#[test]
fn other_texts_are_refused_with_the_place() {
    let messages: Vec<String> = [
        "",
        ">=1",
        "-foo",
        "föö>=1",
        "foo 1.0",
        "foo>=",
        "foo>=1.0+cpu",
        "foo~=1",
        "foo~=1.0.*",
        "foo==*",
        "foo==1.0a1.*",
        "foo===abc",
        "foo>==1",
        "foo==1.0 # x",
        "foo[a;b]",
        "foo[a",
        "foo (>=1",
        "foo @",
        "foo;",
        "foo; glibc > '2'",
        "foo=1",
    ]
    .iter()
    .map(|text| refused(text))
    .collect();
    insta::assert_snapshot!(messages.join("\n"), @r"
    cannot read '' at column 1: expected a package name at the start of the requirement
    cannot read '>=1' at column 1: expected a package name at the start of the requirement
    cannot read '-foo' at column 1: '-foo' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    cannot read 'föö>=1' at column 1: 'föö' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    cannot read 'foo 1.0' at column 5: expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end
    cannot read 'foo>=' at column 6: expected a version after '>='
    cannot read 'foo>=1.0+cpu' at column 4: '>=1.0+cpu' is not a version specifier: a local label (+...) goes with == and != only
    cannot read 'foo~=1' at column 4: '~=1' is not a version specifier: ~= needs at least two numbers, as in ~=1.0
    cannot read 'foo~=1.0.*' at column 4: '~=1.0.*' is not a version specifier: '.*' goes with == and != only, and follows plain numbers
    cannot read 'foo==*' at column 4: '==*' is not a version specifier: it has no version of PEP 440
    cannot read 'foo==1.0a1.*' at column 4: '==1.0a1.*' is not a version specifier: '.*' goes with == and != only, and follows plain numbers
    cannot read 'foo===abc' at column 4: '===abc' is not a version specifier: it has no version of PEP 440
    cannot read 'foo>==1' at column 6: expected a version after '>='
    cannot read 'foo==1.0 # x' at column 10: expected a comma (within the version specifier), a semicolon (after it) or the end
    cannot read 'foo[a;b]' at column 6: expected the name of an extra
    cannot read 'foo[a' at column 4: '[' is never closed
    cannot read 'foo (>=1' at column 5: '(' is never closed
    cannot read 'foo @' at column 6: expected a URL after '@'
    cannot read 'foo;' at column 5: expected a marker variable or a quoted text
    cannot read 'foo; glibc > '2'' at column 6: 'glibc' is not a marker variable (PEP 508)
    cannot read 'foo=1' at column 4: expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end
    ");
}

#[test]
fn specifiers_alone_are_read() {
    let read = parse_specifiers(">=3.8, <4.*").expect("valid");
    assert_eq!(read, ">=3.8,<4".parse().expect("valid"));
    assert!(parse_specifiers(">=3.8;").is_err());
    assert!(parse_specifiers("").expect("valid").is_empty());
}

fn text() -> impl Strategy<Value = String> {
    let version = prop::sample::select(vec![
        "1",
        "2.0",
        "1!1.4",
        "3.0rc1",
        "2024.1.post3",
        "0.1.dev0",
        "1.0.0",
    ]);
    let order = prop::sample::select(vec![">=", "<=", "<", ">", "==", "!=", "==="]);
    let space = prop::sample::select(vec!["", " ", "  "]);
    let clause = (order, space.clone(), version)
        .prop_map(|(order, space, version)| order.to_owned() + space + version);
    let name = prop::sample::select(vec!["a", "Foo.Bar", "foo__bar", "x-1", "A1"]);
    let extras = prop::sample::select(vec!["", "[x]", " [ X_y , z ]", "[a,b]"]);
    let marker =
        prop::sample::select(vec!["", ";os_name=='a'", " ; extra == 'x' and os_name != 'b'"]);
    (name, extras, space, prop::collection::vec(clause, 0..4), prop::bool::ANY, marker).prop_map(
        |(name, extras, space, clauses, parenthesised, marker)| {
            let joined = clauses.join(&format!("{space},"));
            let joined =
                if parenthesised && !clauses.is_empty() { format!("({joined})") } else { joined };
            format!("{name}{extras}{space}{joined}{marker}")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn valid_texts_are_read_as_pep508_rs_reads_them(text in text()) {
        let ours = read(&text);
        let oracle: pep508_rs::Requirement = text.parse().expect("a valid requirement");
        prop_assert_eq!(ours.name.as_str(), oracle.name.to_string());
        let extras: Vec<String> = ours.extras.iter().map(ToString::to_string).collect();
        let expected: Vec<String> = oracle.extras.iter().map(ToString::to_string).collect();
        prop_assert_eq!(extras, expected);
        let expected = match oracle.version_or_url {
            Some(VersionOrUrl::VersionSpecifier(specifiers)) => specifiers,
            _ => VersionSpecifiers::empty(),
        };
        prop_assert_eq!(ours.specifiers, expected);
        prop_assert_eq!(ours.marker.is_some(), !oracle.marker.is_true());
    }

    #[test]
    fn no_text_is_a_panic(text in r#"[a-z]{0,3}[\[\](),;@ ü'"=<>!~.*+0-9a-z#&%]{0,30}"#) {
        if let Ok(requirement) = text.parse::<Requirement>() {
            let _ = requirement.range();
            let _ = requirement.url.as_ref().and_then(UrlRequirement::sha256);
        }
    }
}
