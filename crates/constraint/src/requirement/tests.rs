//! Both modes of the grammar against what others make of the same texts.

use pep508_rs::VersionOrUrl;
use serde::Deserialize;

use super::*;
use crate::name::Name;

/// What `packaging` 26.4 makes of a text put together at random; the text is refused when `error` is set.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Verdict {
    text: String,
    error: bool,
    name: String,
    extras: Vec<String>,
    specifiers: Vec<String>,
    url: String,
    marker: String,
}

/// Some 900 texts that are requirements, and 900 that are none. Left out are those with two commas in a row after `===`,
/// which `packaging` takes for one version.
fn verdicts() -> Vec<Verdict> {
    let lines = include_str!("tests/packaging.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).expect("valid JSON")).collect()
}

/// The parts in the form of a [`Verdict`].
fn read(text: &str, mode: Mode) -> Result<Verdict, RequirementError> {
    let parts = Parts::read(text, mode)?;
    let part = |at: &std::ops::Range<usize>| text[at.clone()].to_owned();
    let name = |(name, _): &(Name, _)| name.to_string();
    let mut extras: Vec<String> = parts.extras.iter().map(name).collect();
    extras.sort();
    extras.dedup();
    let mut specifiers: Vec<String> =
        parts.clauses.iter().map(|c| part(&c.operator) + &part(&c.version)).collect();
    specifiers.sort();
    let marker = parts.marker.map(|at| text[at].trim().parse::<Marker>().expect("read before"));
    Ok(Verdict {
        name: name(&parts.name),
        extras,
        specifiers,
        url: parts.url.as_ref().map(part).unwrap_or_default(),
        marker: marker.map(|marker| marker.canonical()).unwrap_or_default(),
        ..Verdict::default()
    })
}

fn normalised(names: &[String]) -> Vec<String> {
    let mut names: Vec<String> =
        names.iter().map(|name| Name::new(name).expect("a name").to_string()).collect();
    names.sort();
    names.dedup();
    names
}

/// `packaging` leaves out parentheses around a whole marker.
fn without_parentheses(marker: &str) -> String {
    marker.replace(['(', ')'], "")
}

#[track_caller]
fn assert_same(found: &Verdict, verdict: &Verdict) {
    let text = &verdict.text;
    assert_eq!(found.name, normalised(std::slice::from_ref(&verdict.name))[0], "{text:?}");
    assert_eq!(found.extras, normalised(&verdict.extras), "{text:?}");
    assert_eq!(found.specifiers, verdict.specifiers, "{text:?}");
    assert_eq!(found.url, verdict.url, "{text:?}");
    assert_eq!(
        without_parentheses(&found.marker),
        without_parentheses(&verdict.marker),
        "{text:?}"
    );
}

#[test]
fn what_pip_reads_strictly_is_what_packaging_reads() {
    let mut wrong = Vec::new();
    for verdict in verdicts() {
        match read(&verdict.text, Mode::Strict) {
            Ok(found) if !verdict.error => assert_same(&found, &verdict),
            Ok(_) => wrong.push(format!("taken: {:?}", verdict.text)),
            Err(error) if !verdict.error => wrong.push(format!("{:?}: {error}", verdict.text)),
            Err(error) => {
                let at = error.range();
                assert!(verdict.text.get(at.clone()).is_some(), "{:?} {at:?}", verdict.text);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Repairs make sense of more texts, and change none that needs no repair. Two things are taken by pip alone: `===` with a
/// text that is no version, which no index can have, and a URL that ends with a semicolon.
#[test]
fn what_packaging_reads_is_read_alike_with_repairs() {
    let mut wrong = Vec::new();
    for verdict in verdicts().iter().filter(|verdict| !verdict.error) {
        let strict = Parts::read(&verdict.text, Mode::Strict).expect("read above");
        let arbitrary = strict.clauses.iter().any(|clause| clause.specifier.is_none());
        if arbitrary || verdict.url.ends_with(';') {
            continue;
        }
        match read(&verdict.text, Mode::Repair) {
            Ok(found) => assert_same(&found, verdict),
            Err(error) => wrong.push(format!("{:?}: {error}", verdict.text)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn specifiers_mean_what_pep508_rs_says_in_both_modes() {
    let mut count = 0;
    for verdict in verdicts().iter().filter(|verdict| !verdict.error) {
        let Ok(oracle) = verdict.text.parse::<pep508_rs::Requirement>() else { continue };
        let Some(VersionOrUrl::VersionSpecifier(expected)) = oracle.version_or_url else {
            continue;
        };
        for mode in [Mode::Strict, Mode::Repair] {
            let parts = Parts::read(&verdict.text, mode).expect("read above");
            let found = parts.clauses.into_iter().filter_map(|clause| clause.specifier).collect();
            assert_eq!(expected, found, "{:?} {mode:?}", verdict.text);
            count += 1;
        }
    }
    assert!(count > 800, "{count}");
}

#[test]
fn every_part_has_its_place() {
    let text = "onnxruntime-gpu [ cuda , cudnn ] >= 1.22 , < 1.27 ; python_version >= \"3.10\"";
    for mode in [Mode::Strict, Mode::Repair] {
        let parts = Parts::read(text, mode).expect("valid");
        assert_eq!(&text[parts.name.1], "onnxruntime-gpu");
        let extras: Vec<&str> = parts.extras.iter().map(|(_, at)| &text[at.clone()]).collect();
        assert_eq!(extras, ["cuda", "cudnn"]);
        let clauses: Vec<(&str, &str)> = parts
            .clauses
            .iter()
            .map(|c| (&text[c.operator.clone()], &text[c.version.clone()]))
            .collect();
        assert_eq!(clauses, [(">=", "1.22"), ("<", "1.27")]);
        assert_eq!(&text[parts.marker.expect("a marker")], " python_version >= \"3.10\"");
    }
}

/// What is wrong, where, and what to write instead, for pip and with repairs; one line when both say the same.
fn messages(texts: &[&str]) -> String {
    let mut lines = Vec::new();
    for text in texts {
        let said = |mode| match Parts::read(text, mode) {
            Ok(_) => "read".to_owned(),
            Err(error) => {
                let (at, help) = (error.range(), error.help());
                let help = help.map(|help| format!(" [{help}]")).unwrap_or_default();
                format!("{}..{} {}{help}", at.start, at.end, error.fault())
            }
        };
        let (strict, repaired) = (said(Mode::Strict), said(Mode::Repair));
        lines.push(if strict == repaired {
            format!("{text:?}: {strict}")
        } else {
            format!("{text:?}: {strict}\n  with repairs: {repaired}")
        });
    }
    lines.join("\n")
}

#[test]
fn errors_point_at_what_is_wrong() {
    insta::assert_snapshot!(messages(&[
        "torch>=2.1.0+cu118",
        "torch>=1.9.*",
        "torch (>=2.0+cpu)",
        "pytz>dev; extra == 'a'",
        "torch==2.3.1 torchvision==0.18.1",
        "torch=2.3.1",
        "torch = two three",
        "torch\u{ff1d}2",
        "torch\u{a0}>2",
        "torch>=2\u{2013}3",
        "a~=2",
        "a>=",
        "a>=two",
        "a==1.0rc1.*",
        "_x==1",
        "fööx==1",
        "a[b c]",
        "a[b,]",
        "a[b",
        "a (>=1",
        "a (>=1; os_name == 'x'",
        "a @",
        "a @ b c",
        "a==1#c",
        "a; os_name = 'x'",
        "a; os_name == \u{201c}x\u{201d}",
        "a==1\n",
    ]), @r#"
    "torch>=2.1.0+cu118": 5..18 '>=2.1.0+cu118' is not a version specifier: a local label (+...) goes with == and != only [write '==2.1.0+cu118' to pin the build, or '>=2.1.0' and name the index that has it]
    "torch>=1.9.*": 5..12 '>=1.9.*' is not a version specifier: '.*' goes with == and != only, and follows plain numbers [write '>=1.9']
      with repairs: read
    "torch (>=2.0+cpu)": 7..16 '>=2.0+cpu' is not a version specifier: a local label (+...) goes with == and != only [write '==2.0+cpu' to pin the build, or '>=2.0' and name the index that has it]
    "pytz>dev; extra == 'a'": 4..8 '>dev' is not a version specifier: it has no version of PEP 440
      with repairs: read
    "torch==2.3.1 torchvision==0.18.1": 13..14 expected a comma (within the version specifier), a semicolon (after it) or the end [write one requirement per line]
    "torch=2.3.1": 5..6 expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end [an exact version is written with two equal signs: "torch==2.3.1"]
    "torch = two three": 6..7 expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end ['=' is the syntax of conda; pip wants '==']
    "torch＝2": 5..8 expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end [U+FF1D is a full-width character; type it with an English keyboard layout]
    "torch\u{a0}>2": 5..7 expected a version operator (==, >=, <=, ~=, !=, <, >), '@', ';' or the end [U+00A0 is white space that pip does not accept here; replace it by a blank]
    "torch>=2–3": 5..12 '>=2–3' is not a version specifier: it has no version of PEP 440 [this is a dash, not the character '-']
    "a~=2": 1..4 '~=2' is not a version specifier: ~= needs at least two numbers, as in ~=1.0
    "a>=": 3..3 expected a version after '>='
    "a>=two": 1..6 '>=two' is not a version specifier: it has no version of PEP 440
    "a==1.0rc1.*": 1..11 '==1.0rc1.*' is not a version specifier: '.*' goes with == and != only, and follows plain numbers
    "_x==1": 0..2 '_x' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    "fööx==1": 0..6 'fööx' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    "a[b c]": 4..5 expected a comma or ']' after the name of an extra
      with repairs: read
    "a[b,]": 4..5 expected the name of an extra
      with repairs: read
    "a[b": 1..3 '[' is never closed
    "a (>=1": 2..6 '(' is never closed
    "a (>=1; os_name == 'x'": 2..6 '(' is never closed
    "a @": 3..3 expected a URL after '@'
    "a @ b c": 6..7 expected a semicolon (after the URL and white space) or the end [write one requirement per line]
    "a==1#c": 1..6 '==1#c' is not a version specifier: it has no version of PEP 440 [a comment starts with ' #': put white space before '#']
    "a; os_name = 'x'": 11..12 expected a marker operator (==, !=, <, <=, >, >=, ~=, ===, in, not in) ['=' is the syntax of conda; pip wants '==']
    "a; os_name == “x”": 14..17 expected a marker variable or a quoted text [these are typographic quotes; type " or ']
    "a==1\n": 4..5 expected a comma (within the version specifier), a semicolon (after it) or the end
      with repairs: read
    "#);
}
