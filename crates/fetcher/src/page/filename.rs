//! Project and version in the names of distribution files (PEP 427, 625).
//!
//! Names are only split here: a page holds thousands of files, and the tags of most are never looked at.

use std::ops::ControlFlow;

use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::text::is_obeyed;

/// What the end of a file name says.
enum Form<'a> {
    /// A wheel, with its name less `.whl`.
    Wheel(&'a str),
    /// An sdist, with its name less the suffix.
    Sdist(&'a str),
    /// A file that indexes are known to list, and that is not read here.
    Other(&'static str),
    /// Nothing that a package index lists.
    Unknown,
}

/// Suffixes of files that are not read, with what they are. Longer suffixes come before those they end in.
const OTHER: &[(&str, &str)] = &[
    (".metadata", "the METADATA of another file"),
    (".asc", "a signature"),
    (".sig", "a signature"),
    (".sigstore", "a signature"),
    (".sigstore.json", "a signature"),
    (".attestation", "a signature"),
    (".sha256", "a checksum file"),
    (".egg", "an egg, a format that wheels have replaced"),
    (".exe", "a Windows installer"),
    (".msi", "a Windows installer"),
    (".rpm", "an RPM package"),
    (".deb", "a Debian package"),
    (".dmg", "a macOS disk image"),
    (".tgz", "a source archive that is neither .tar.gz nor .zip"),
    (".tar", "a source archive that is neither .tar.gz nor .zip"),
    (".tbz", "a source archive that is neither .tar.gz nor .zip"),
    (".tar.bz2", "a source archive that is neither .tar.gz nor .zip"),
    (".tar.xz", "a source archive that is neither .tar.gz nor .zip"),
    (".tar.lzma", "a source archive that is neither .tar.gz nor .zip"),
    (".tar.zst", "a source archive that is neither .tar.gz nor .zip"),
    (".tar.Z", "a source archive that is neither .tar.gz nor .zip"),
];

fn form(filename: &str) -> Form<'_> {
    if let Some(stem) = filename.strip_suffix(".whl") {
        return Form::Wheel(stem);
    }
    if let Some(stem) = filename.strip_suffix(".tar.gz").or_else(|| filename.strip_suffix(".zip")) {
        return Form::Sdist(stem);
    }
    match OTHER.iter().find(|(suffix, _)| filename.ends_with(suffix)) {
        Some((_, what)) => Form::Other(what),
        None => Form::Unknown,
    }
}

/// True for names that an index page links to as files, also those that are not read: tells a page of files from a page
/// of anything else.
pub(super) fn is_distribution(filename: &str) -> bool {
    !matches!(form(filename), Form::Unknown)
}

/// The version part of a file of `project`.
///
/// # Errors
/// The reason why the file belongs to no release of the project.
pub(super) fn version_of(filename: &str, project: Name) -> Result<&str, String> {
    check_plain(filename)?;
    match form(filename) {
        Form::Wheel(stem) => {
            let (name, version) = split_wheel(stem)?;
            match prefix_len(name, project.as_str()) {
                Some(len) if len == name.len() => Ok(version),
                _ => Err(format!("a wheel of '{name}', not of '{project}'")),
            }
        }
        Form::Sdist(stem) => prefix_len(stem, project.as_str())
            .and_then(|len| stem.get(len..)?.strip_prefix('-'))
            .ok_or_else(|| format!("its name does not begin with '{project}-'")),
        Form::Other(what) => Err(what.to_owned()),
        Form::Unknown => Err("neither a wheel nor an sdist".to_owned()),
    }
}

/// Project and version of a file whose project is not known beforehand.
///
/// # Errors
/// The reason why the name does not say so.
pub(super) fn split(filename: &str) -> Result<(Name, &str), String> {
    check_plain(filename)?;
    let (name, version) = match form(filename) {
        Form::Wheel(stem) => split_wheel(stem)?,
        Form::Sdist(stem) => split_sdist(stem).ok_or("no '-' before a version in its name")?,
        Form::Other(what) => return Err(what.to_owned()),
        Form::Unknown => return Err("neither a wheel nor an sdist".to_owned()),
    };
    Ok((Name::new(name).map_err(|error| error.to_string())?, version))
}

/// File names end up in paths of the cache and in lock files, so nothing that is more than a name passes.
fn check_plain(filename: &str) -> Result<(), String> {
    if filename.bytes().any(|b| matches!(b, b'/' | b'\\')) || filename.chars().any(is_obeyed) {
        return Err("not a plain file name".to_owned());
    }
    Ok(())
}

/// `name-version(-build)?-python-abi-platform`, perhaps with the label of a variant after that (PEP 825): whether such a
/// wheel can be taken is for the solver to say.
fn split_wheel(stem: &str) -> Result<(&str, &str), String> {
    let mut parts = stem.split('-');
    let (Some(name), Some(version)) = (parts.next(), parts.next()) else {
        return Err("not a wheel name: it has no version".to_owned());
    };
    let rest = parts.clone().count();
    // A build tag begins with a digit, a Python tag never does.
    let build = parts.next().is_some_and(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    match rest - usize::from(build && rest > 0) {
        3 | 4 if !name.is_empty() && !version.is_empty() => Ok((name, version)),
        _ => Err("not a wheel name: those are name-version-python-abi-platform.whl".to_owned()),
    }
}

/// Splits at the last `-` that leaves something like a version behind it.
fn split_sdist(stem: &str) -> Option<(&str, &str)> {
    let found = stem.rmatch_indices('-').try_for_each(|(at, _)| {
        let (name, version) = (&stem[..at], &stem[at + 1..]);
        // In `foo-1.0-1` the version is `1.0-1` (a post-release), unless what lies before is part of the name.
        let before = name.rsplit('-').next().unwrap_or_default();
        let continues = version.bytes().all(|b| b.is_ascii_digit())
            && before.starts_with(|c: char| c.is_ascii_digit());
        if continues { ControlFlow::Continue(()) } else { ControlFlow::Break((name, version)) }
    });
    found.break_value()
}

/// How many bytes of `text` normalise to the whole of `name` (PEP 503), without building the normalised text.
fn prefix_len(text: &str, name: &str) -> Option<usize> {
    let text = text.as_bytes();
    let mut at = 0;
    for want in name.bytes() {
        if want == b'-' {
            let run =
                text.get(at..)?.iter().take_while(|b| matches!(b, b'-' | b'_' | b'.')).count();
            if run == 0 {
                return None;
            }
            at += run;
        } else {
            if !text.get(at)?.eq_ignore_ascii_case(&want) {
                return None;
            }
            at += 1;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(filename: &str, project: &str) -> Result<String, String> {
        version_of(filename, Name::new(project).expect("valid")).map(str::to_owned)
    }

    #[test]
    fn wheels_and_sdists_give_their_version() {
        for (filename, project, expected) in [
            ("torch-2.10.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl", "torch", "2.10.0+cu130"),
            ("torch-1.0-2-cp36-cp36m-linux_x86_64.whl", "torch", "1.0"),
            ("Foo_Bar.baz-1!2.0-py3-none-any.whl", "foo-bar-baz", "1!2.0"),
            ("zope.interface-5.0.tar.gz", "zope-interface", "5.0"),
            ("foo__bar-1.0.zip", "foo-bar", "1.0"),
            ("foo-1.0-1.tar.gz", "foo", "1.0-1"),
        ] {
            assert_eq!(version(filename, project).as_deref(), Ok(expected), "{filename}");
        }
    }

    #[test]
    fn other_files_give_their_reason() {
        for (filename, reason) in [
            ("foo-1.0-py3-none.whl", "not a wheel name"),
            ("foo.whl", "not a wheel name"),
            ("foo-1.whl", "not a wheel name"),
            ("-1.0-py3-none-any.whl", "not a wheel name"),
            ("bar-1.0-py3-none-any.whl", "a wheel of 'bar'"),
            ("foobar-1.0.tar.gz", "does not begin with 'foo-'"),
            ("foo_1.0.tar.gz", "does not begin with 'foo-'"),
            ("foo-1.0.win32-py2.7.exe", "a Windows installer"),
            ("foo-1.0-py2.7.egg", "an egg"),
            ("foo-1.0-1.noarch.rpm", "an RPM"),
            ("foo-1.0.tar.gz.asc", "a signature"),
            ("foo-1.0.tar.bz2", "neither .tar.gz nor .zip"),
            ("foo-1.0-py3-none-any.whl.metadata", "METADATA of another file"),
            ("../foo-1.0.tar.gz", "not a plain file name"),
            ("readme.txt", "neither a wheel nor an sdist"),
        ] {
            let found = version(filename, "foo").expect_err(filename);
            assert!(found.contains(reason), "{filename}: {found}");
        }
    }

    #[test]
    fn names_are_found_when_the_project_is_not_known() {
        for (filename, project, expected) in [
            ("torch-1.0.0%2B-cp36-cp36m-linux_x86_64.whl", "torch", "1.0.0%2B"),
            ("a-b-c-1.0.tar.gz", "a-b-c", "1.0"),
            ("a-1.0-1.tar.gz", "a", "1.0-1"),
            ("a-b-1.tar.gz", "a-b", "1"),
        ] {
            let (name, found) = split(filename).expect(filename);
            assert_eq!((name.as_str(), found), (project, expected));
        }
        assert!(split("nothing.zip").is_err());
    }
}
