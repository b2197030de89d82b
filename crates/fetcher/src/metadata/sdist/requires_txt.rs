//! `requires.txt` of an egg-info: the requirements that setuptools wrote down when it made a source distribution.
//!
//! A section `[extra]`, `[:marker]` or `[extra:marker]` says when the lines below it hold; those before the first section
//! always do.

use std::sync::Arc;

/// Requirements as METADATA writes them, and the extras.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Requires {
    pub(super) requires_dist: Vec<Arc<str>>,
    pub(super) provides_extra: Vec<String>,
}

/// Reads a requires.txt. Lines that are no requirements are kept: whoever reads them says what is wrong.
pub(super) fn read(text: &str) -> Requires {
    let mut found = Requires::default();
    let mut condition: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            condition = section_condition(section, &mut found.provides_extra);
            continue;
        }
        let (requirement, own) = match line.split_once(';') {
            Some((requirement, marker)) => (requirement.trim(), Some(marker.trim())),
            None => (line, None),
        };
        let marker = match (own, &condition) {
            (Some(own), Some(condition)) => Some(format!("({own}) and {condition}")),
            (Some(own), None) => Some(own.to_owned()),
            (None, condition) => condition.clone(),
        };
        let text = match marker {
            Some(marker) => format!("{requirement} ; {marker}"),
            None => requirement.to_owned(),
        };
        found.requires_dist.push(text.into());
    }
    found
}

fn section_condition(section: &str, extras: &mut Vec<String>) -> Option<String> {
    let (extra, marker) = match section.split_once(':') {
        Some((extra, marker)) => (extra.trim(), marker.trim()),
        None => (section.trim(), ""),
    };
    if !extra.is_empty() && !extras.iter().any(|known| known == extra) {
        extras.push(extra.to_owned());
    }
    match (extra, marker) {
        ("", "") => None,
        ("", marker) => Some(format!("({marker})")),
        (extra, "") => Some(format!("extra == \"{extra}\"")),
        (extra, marker) => Some(format!("({marker}) and extra == \"{extra}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_become_markers() {
        let text = "a>=1\nb\n\n[:python_version < \"3\"]\nc\n\n[gpu]\nd ; os_name == 'nt'\n[gpu:sys_platform == 'linux']\ne\n";
        let found = read(text);
        let lines: Vec<&str> = found.requires_dist.iter().map(|line| &**line).collect();
        assert_eq!(
            lines,
            [
                "a>=1",
                "b",
                "c ; (python_version < \"3\")",
                "d ; (os_name == 'nt') and extra == \"gpu\"",
                "e ; (sys_platform == 'linux') and extra == \"gpu\"",
            ]
        );
        assert_eq!(found.provides_extra, ["gpu"]);
        assert_eq!(read(""), Requires::default());
    }
}
