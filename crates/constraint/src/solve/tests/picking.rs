//! Which release is taken: pre-releases come last, and an extra is not lost by going back.

use super::*;

/// Releases by project and version, with what each requires; `"x"` stands for a release that has the extra `x`.
type Releases<'a> = &'a [(&'a str, &'a str, &'a [&'a str])];

fn index(releases: Releases<'_>) -> Memory {
    releases.iter().fold(Memory::default(), |index, (name, version, requires)| {
        index.with(name, version, requires)
    })
}

/// The answer under a policy, as `a 1, b 2`; `-` where there is none.
fn answer_with(mode: Prerelease, requirements: &[&str], releases: Releases<'_>) -> String {
    let mut asked = Problem::clone(&problem(requirements));
    asked.policy.prerelease = mode;
    match solve(Arc::new(asked), Arc::new(index(releases))) {
        Ok(solution) => pins(&solution).join(", "),
        Err(SolveError::Conflict(_)) => "-".to_owned(),
        Err(SolveError::Catalog(error)) => panic!("{error}"),
    }
}

/// The answers are those of uv 0.13.9 on the same releases: by default, with `explicit`, and with `allow`.
#[test]
fn a_prerelease_is_taken_where_nothing_else_fits() {
    type Case<'a> = (&'a [&'a str], Releases<'a>, [&'a str; 3]);
    let cases: &[Case<'_>] = &[
        // Named, while there is a stable release in the range.
        (
            &["a>=0.1.0a1"],
            &[("a", "0.1.0", &[]), ("a", "0.3.0", &[]), ("a", "1.0.0a1", &[])],
            ["a 0.3.0", "a 0.3.0", "a 1.0.0a1"],
        ),
        // Named by METADATA, and everything in the range is one.
        (
            &["b"],
            &[("a", "1.0", &[]), ("a", "2.0a1", &[]), ("b", "1.0", &["a>=2.0a1"])],
            ["a 2.0a1, b 1.0", "-", "a 2.0a1, b 1.0"],
        ),
        // Named by nobody, and nothing else is in the range.
        (&["a>1"], &[("a", "1.0", &[]), ("a", "2.0a1", &[])], ["a 2.0a1", "-", "a 2.0a1"]),
        // The stable release cannot be used.
        (&["a"], &[("a", "1.0", &["missing"]), ("a", "1.1a1", &[])], ["a 1.1a1", "-", "a 1.1a1"]),
        // An older stable release can.
        (
            &["a"],
            &[("a", "0.9", &[]), ("a", "1.0", &["missing"]), ("a", "1.1a1", &[])],
            ["a 0.9", "a 0.9", "a 1.1a1"],
        ),
        // Two requirements leave pre-releases together.
        (
            &["b", "d"],
            &[
                ("a", "1.0", &[]),
                ("a", "1.5", &[]),
                ("a", "2.0a1", &[]),
                ("b", "1.0", &["a>=1.2"]),
                ("d", "1.0", &["a!=1.5"]),
            ],
            ["a 2.0a1, b 1.0, d 1.0", "-", "a 2.0a1, b 1.0, d 1.0"],
        ),
        // Excluding one asks for none.
        (
            &["a!=2.0a1"],
            &[("a", "1.0", &[]), ("a", "2.0a1", &[]), ("a", "2.0a2", &[])],
            ["a 1.0", "a 1.0", "a 2.0a2"],
        ),
        (
            &["a>=2.0.dev1"],
            &[("a", "1.0", &[]), ("a", "2.0.dev1", &[]), ("a", "2.0.dev3", &[])],
            ["a 2.0.dev3", "a 2.0.dev3", "a 2.0.dev3"],
        ),
    ];
    for (requirements, releases, expected) in cases {
        let modes = [Prerelease::IfNecessaryOrExplicit, Prerelease::Explicit, Prerelease::Allow];
        let found = modes.map(|mode| answer_with(mode, requirements, releases));
        assert_eq!(&found, expected, "{requirements:?} {releases:?}");
        assert_eq!(answer_with(Prerelease::IfNecessary, requirements, releases), expected[0]);
        let never = answer_with(Prerelease::Disallow, requirements, releases);
        assert!(never == "-" || never == expected[1], "{requirements:?}: {never}");
    }
}

const X: &str = "only-x; extra == 'x'";

fn answer(requirements: &[&str], releases: Releases<'_>) -> String {
    let with_x = [releases, &[("only-x", "1", &["c<2"])], &[("c", "1", &[]), ("c", "2", &[])]];
    answer_with(Prerelease::default(), requirements, &with_x.concat())
}

#[test]
fn no_release_from_before_an_extra_is_the_answer() {
    // The newest has it and does not fit: going back must not end at 1, which lacks it.
    let releases: Releases<'_> = &[("a", "1", &[]), ("a", "2", &[X]), ("a", "3", &[X])];
    assert_eq!(answer(&["a[x]", "c>=2"], releases), "-");
    assert_eq!(answer(&["c>=2", "a[x]"], releases), "-");
    assert_eq!(answer(&["a[x]"], releases), "a 3, c 1, only-x 1");
    // Another project gives way instead.
    let releases: Releases<'_> =
        &[("a", "1", &[]), ("a", "2", &[X]), ("b", "1", &[]), ("b", "2", &["c>=2"])];
    assert_eq!(answer(&["b", "a[x]"], releases), "a 2, b 1, c 1, only-x 1");
    // The newest that has it is out of range; what is left lacks it.
    let releases: Releases<'_> = &[("a", "1", &[]), ("a", "2", &[X]), ("d", "1", &["a<2"])];
    assert_eq!(answer(&["a[x]", "d"], releases), "-");
    // An extra between other requirements.
    let releases: Releases<'_> =
        &[("a", "1", &[]), ("a", "2", &[X]), ("e", "1", &["a[x]"]), ("e", "0", &[])];
    assert_eq!(answer(&["e", "c>=2"], releases), "c 2, e 0");
}

#[test]
fn an_extra_that_was_given_up_is_warned_of() {
    // Nobody who asks for the newest release wants an old one for the sake of a name that does nothing any more.
    let releases: Releases<'_> = &[("a", "1", &[X]), ("a", "2", &[])];
    assert_eq!(answer(&["a[x]"], releases), "a 2");
    // A pin stands.
    let releases: Releases<'_> = &[("a", "1", &[]), ("a", "2", &[X])];
    assert_eq!(answer(&["a[x]==1"], releases), "a 1");
    // And so does an extra that never was.
    assert_eq!(answer(&["a[y]"], releases), "a 2");
}
