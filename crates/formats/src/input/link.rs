//! URLs, repositories and paths that stand where a requirement could stand.

use std::ops::Range;

use super::model::Location;

/// What the text of a URL or path tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub location: Location,
    /// Name and version from the file name of a wheel.
    pub wheel: Option<(String, String)>,
    /// The name in `#egg=`.
    pub egg: Option<String>,
    /// The extras in `#egg=name[extra]`, or after a path.
    pub extras: Vec<String>,
    /// `sha256:…` from the fragment.
    pub hash: Option<String>,
    /// The version within the text, where the file name has it literally.
    pub version_at: Option<Range<usize>>,
}

const ARCHIVES: [&str; 15] = [
    ".whl",
    ".zip",
    ".tar.gz",
    ".tgz",
    ".tar",
    ".tar.bz2",
    ".tbz",
    ".tar.xz",
    ".txz",
    ".tlz",
    ".tar.lz",
    ".tar.lzma",
    ".conda",
    ".egg",
    ".tar.zst",
];

const VCS: [&str; 4] = ["git", "hg", "svn", "bzr"];

/// Whether pip takes `text` for a URL: a known scheme before the first colon.
pub(super) fn is_url(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        ["http", "https", "file", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
            || is_vcs(text)
    })
}

/// Whether `text` starts with a scheme such as `git+https:`.
pub(super) fn is_vcs(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.split_once('+').is_some_and(|(vcs, transport)| {
            VCS.iter().any(|known| vcs.eq_ignore_ascii_case(known))
                && !transport.is_empty()
                && transport.bytes().all(|b| b.is_ascii_alphanumeric())
        })
    })
}

/// Whether the file name is that of an archive that pip can install.
pub(super) fn is_archive(text: &str) -> bool {
    let name = text.split(['#', '?']).next().unwrap_or_default();
    ARCHIVES.iter().any(|extension| {
        name.len() > extension.len()
            && name
                .as_bytes()
                .get(name.len() - extension.len()..)
                .is_some_and(|end| end.eq_ignore_ascii_case(extension.as_bytes()))
    })
}

/// Whether the text can only be a path: it starts as one.
pub(super) fn is_path(text: &str) -> bool {
    let drive = text.get(1..3).is_some_and(|t| t == ":\\" || t == ":/");
    text == "."
        || text == ".."
        || drive
        || text.starts_with(['/', '~', '\\'])
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with(".\\")
        || text.starts_with("..\\")
        || text.starts_with(".[")
}

/// Reads a URL, repository or path.
pub(super) fn read(text: &str) -> Link {
    let (body, fragment) = match text.split_once('#') {
        Some((body, fragment)) if is_url(text) => (body, fragment),
        _ => (text, ""),
    };
    let mut link = Link {
        location: Location::Path(String::new()),
        wheel: None,
        egg: None,
        extras: Vec::new(),
        hash: None,
        version_at: None,
    };
    let mut subdirectory = None;
    for part in fragment.split('&') {
        match part.split_once('=') {
            Some(("egg", egg)) => {
                let (name, extras) = split_extras(egg);
                link.egg = Some(name.to_owned());
                link.extras = extras;
            }
            Some(("subdirectory", folder)) => subdirectory = Some(folder.to_owned()),
            Some((
                algorithm @ ("sha256" | "sha384" | "sha512" | "md5" | "sha1" | "sha224"),
                digest,
            )) => {
                link.hash = Some(format!("{algorithm}:{digest}"));
            }
            _ => {}
        }
    }
    link.location = if is_vcs(text) {
        // An '@' before the last '/' is that of a user, as in git+ssh://git@host.
        let path_at = body.rfind('/').unwrap_or(0);
        let (url, reference) = match body.rfind('@') {
            Some(at) if at > path_at || body.get(..at).is_some_and(|b| b.contains(".git")) => {
                (body.get(..at).unwrap_or(body), body.get(at + 1..).map(str::to_owned))
            }
            _ => (body, None),
        };
        Location::Vcs {
            url: url.to_owned(),
            reference: reference.filter(|r| !r.is_empty()),
            subdirectory,
        }
    } else if is_url(text) {
        Location::Url(body.to_owned())
    } else {
        let (path, extras) = split_extras(body);
        link.extras = extras;
        Location::Path(path.to_owned())
    };
    let path = body.split('?').next().unwrap_or_default();
    let start = path.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let encoded = path.get(start..).unwrap_or_default();
    let file_name = percent_decode(encoded);
    if let Some((name, version)) = wheel_parts(&file_name) {
        link.version_at =
            encoded_version(encoded).map(|range| range.start + start..range.end + start);
        link.wheel = Some((name.to_owned(), version.to_owned()));
    }
    link
}

/// Name and version of the file name of a wheel.
pub(super) fn wheel_parts(file_name: &str) -> Option<(&str, &str)> {
    let stem = file_name.strip_suffix(".whl")?;
    let parts: Vec<&str> = stem.split('-').collect();
    if !(5..=6).contains(&parts.len()) || parts.iter().any(|p| p.is_empty()) {
        return None;
    }
    Some((parts.first()?, parts.get(1)?))
}

/// The file name at the end of a URL, decoded.
pub(super) fn file_name(url: &str) -> String {
    let path = url.split(['#', '?']).next().unwrap_or_default();
    percent_decode(path.rsplit('/').next().unwrap_or_default())
}

fn encoded_version(file_name: &str) -> Option<Range<usize>> {
    let start = file_name.find('-')? + 1;
    let end = start + file_name.get(start..)?.find('-')?;
    Some(start..end)
}

/// `path[a,b]` as path and extras.
fn split_extras(text: &str) -> (&str, Vec<String>) {
    let Some(inner) = text.strip_suffix(']') else { return (text, Vec::new()) };
    match inner.rfind('[') {
        Some(at) if at > 0 => (
            text.get(..at).unwrap_or(text),
            inner
                .get(at + 1..)
                .unwrap_or_default()
                .split(',')
                .map(|e| e.trim().to_owned())
                .filter(|e| !e.is_empty())
                .collect(),
        ),
        _ => (text, Vec::new()),
    }
}

/// Replaces `%XX`; bytes that are not UTF-8 become U+FFFD.
pub(super) fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        let code = text
            .get(at + 1..at + 3)
            .filter(|_| *b == b'%')
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(*b);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_give_name_and_version() {
        let text = "https://host.example/whl/cu113/torch-1.11.0%2Bcu113-cp37-cp37m-linux_x86_64.whl#sha256=ee";
        let link = read(text);
        assert_eq!(link.wheel, Some(("torch".to_owned(), "1.11.0+cu113".to_owned())));
        assert_eq!(link.hash.as_deref(), Some("sha256:ee"));
        assert_eq!(&text[link.version_at.expect("a version")], "1.11.0%2Bcu113");
        assert!(is_archive("onnxruntime_gpu-1.7.0-cp36-cp36m-manylinux2014_x86_64.whl"));
        assert_eq!(read("a-1.whl").wheel, None);
    }

    #[test]
    fn repositories_give_reference_and_folder() {
        let link =
            read("git+ssh://git@host.example/a/trainer.git@0c1d#egg=trainer[x,y]&subdirectory=py");
        assert_eq!(link.egg.as_deref(), Some("trainer"));
        assert_eq!(link.extras, ["x", "y"]);
        assert_eq!(
            link.location,
            Location::Vcs {
                url: "git+ssh://git@host.example/a/trainer.git".to_owned(),
                reference: Some("0c1d".to_owned()),
                subdirectory: Some("py".to_owned()),
            }
        );
        let plain = read("git+ssh://git@host.example/a/trainer");
        assert!(matches!(plain.location, Location::Vcs { reference: None, .. }));
        assert_eq!(read("./pkg[gpu]").extras, ["gpu"]);
        assert!(!is_url("torch") && is_url("HTTPS://x") && !is_url("c:\\x"));
    }
}
