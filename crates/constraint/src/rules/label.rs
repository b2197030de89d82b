//! Local labels that name a torch: `2.5.8+cu122torch2.3cxx11abiFALSE`, `2.1.2+pt21cu118`, `0.17.3+torch250cu121`.
//!
//! Projects that compile against torch publish one wheel per torch and CUDA, and tell them apart by the label. Some name
//! the torch in the address of their page instead: `.../cu111/torch1.8.0/index.html`, `.../torch-2.1.0+cu118.html`.

use std::str::FromStr;

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use super::build::{Build, major_range};
use super::companion;
use super::rule::Rule;
use super::torch::{TORCH, backend_cuda};
use crate::constraint::{Constraint, Fact, Force};
use crate::name::Name;
use crate::package::Package;
use crate::version::{dist_range, if_present};

/// What a label or an address says of the torch that a build is compiled against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The release, as far as it is named: `2.3`, `1.8.0`.
    pub torch: Pep440,
    /// The backend beside it: `cu118`, `cu12`.
    pub backend: Option<String>,
}

impl Named {
    /// The torch as a specifier: every patch release of the same minor version, or the one that is named.
    #[must_use]
    pub fn specifier(&self) -> String {
        let release = self.torch.release();
        match release {
            [major, minor, ..] => format!("=={major}.{minor}.*"),
            _ => format!("=={}.*", self.torch),
        }
    }

    /// The CUDA major version of the backend.
    #[must_use]
    pub fn cuda_major(&self) -> Option<u64> {
        let backend = self.backend.as_deref()?;
        let digits = backend.strip_prefix("cu")?;
        match digits.len() {
            2 => digits.parse().ok(),
            _ => backend_cuda(backend).map(|cuda| cuda.major()).filter(|major| *major > 0),
        }
    }
}

/// Reads a label, or a part of an address.
#[must_use]
pub fn named_torch(text: &str) -> Option<Named> {
    let text = text.to_ascii_lowercase();
    let torch = ["torch", "pt"].into_iter().find_map(|word| {
        text.match_indices(word).find_map(|(at, _)| {
            let before = text.get(..at)?.chars().next_back();
            // `pytorch` and `script` are words of their own.
            if before.is_some_and(|c| c.is_ascii_alphabetic()) {
                return None;
            }
            let rest = text.get(at + word.len()..)?;
            let rest = rest.strip_prefix(['-', '_']).unwrap_or(rest);
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            release_of(rest.get(..end)?.trim_end_matches('.'))
        })
    })?;
    Some(Named { torch, backend: backend_of(&text) })
}

/// `2.3`, `1.8.0`, or digits without dots: `21` is 2.1, `113` is 1.13, `250` is 2.5.0.
fn release_of(digits: &str) -> Option<Pep440> {
    if digits.contains('.') {
        // A number after the dot may belong to the next segment: `torch2.7.cu126`.
        return Pep440::from_str(digits).ok();
    }
    let mut numbers = digits.chars().map(|c| c.to_digit(10).map(u64::from));
    let major = numbers.next()??;
    let rest: Vec<u64> = numbers.collect::<Option<_>>()?;
    let release = match (major, rest.as_slice()) {
        (_, [minor]) => vec![major, *minor],
        // Minor versions from 10 on have two digits; torch 1 ended with 1.13, and what `210` means cannot be told.
        (1, [1, ones]) => vec![1, 10 + ones],
        (1, [1, ones, patch]) => vec![1, 10 + ones, *patch],
        (_, [1, _]) => return None,
        (_, [minor, patch]) => vec![major, *minor, *patch],
        (_, [1, ones, patch]) => vec![major, 10 + ones, *patch],
        _ => return None,
    };
    Some(Pep440::new(release))
}

fn backend_of(text: &str) -> Option<String> {
    text.match_indices("cu").find_map(|(at, _)| {
        let before = text.get(..at)?.chars().next_back();
        let rest = text.get(at + 2..)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let alone = before.is_none_or(|c| !c.is_ascii_alphabetic());
        (alone && (2..=4).contains(&end))
            .then(|| format!("cu{}", rest.get(..end).unwrap_or_default()))
    })
}

/// The torch, and the CUDA major version, that the label of a build names.
#[must_use]
pub fn constraints(build: &Build) -> Vec<Constraint> {
    let is_family = companion::family(build.name).is_some_and(|family| family.labelled);
    let Some(label) = build.label().filter(|_| !is_family) else { return Vec::new() };
    let Some(named) = named_torch(&label) else { return Vec::new() };
    constraints_of(build, &named, &format!("the label of {}", build.title()))
}

/// The same for a torch that an address names, which `whence` describes.
#[must_use]
pub fn constraints_of(build: &Build, named: &Named, whence: &str) -> Vec<Constraint> {
    let (Ok(specifiers), Ok(torch)) =
        (VersionSpecifiers::from_str(&named.specifier()), Name::new(TORCH))
    else {
        return Vec::new();
    };
    let fact = |text: String| Fact {
        rule: Rule::CompanionMismatch,
        text,
        sources: vec![whence.to_owned()],
        symptom: Some("ImportError: undefined symbol".to_owned()),
    };
    let with = format!("{} is compiled against torch {}", build.title(), named.torch);
    let range = if_present(&dist_range(&specifiers));
    let mut constraints =
        vec![build.constraint(Package::dist(torch), range, Force::IfPresent, fact(with))];
    if let Some(major) = named.cuda_major() {
        let text = format!("{} is compiled for CUDA {major}", build.title());
        constraints.push(build.constraint(
            Package::Backend,
            major_range(major),
            Force::IfPresent,
            fact(text),
        ));
    }
    constraints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Option<String>)> {
        named_torch(text).map(|named| (named.torch.to_string(), named.backend))
    }

    fn some(torch: &str, backend: Option<&str>) -> Option<(String, Option<String>)> {
        Some((torch.to_owned(), backend.map(str::to_owned)))
    }

    #[test]
    fn labels_of_many_projects_are_read() {
        assert_eq!(read("cu126torch2.7"), some("2.7", Some("cu126")));
        assert_eq!(read("cu122torch2.3cxx11abifalse"), some("2.3", Some("cu122")));
        assert_eq!(read("cu12torch2.8cxx11abiTRUE"), some("2.8", Some("cu12")));
        assert_eq!(read("pt21cu118"), some("2.1", Some("cu118")));
        assert_eq!(read("pt113cpu"), some("1.13", None));
        assert_eq!(read("pt2.3.0cu121"), some("2.3.0", Some("cu121")));
        assert_eq!(read("torch250cu121"), some("2.5.0", Some("cu121")));
        assert_eq!(read("torch1131cu117"), some("1.13.1", Some("cu117")));
        assert_eq!(read("torch2.5.0.cu124"), some("2.5.0", Some("cu124")));
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!(read("dist/cu111/torch1.8.0/index.html"), some("1.8.0", Some("cu111")));
        assert_eq!(read("whl/torch-2.1.0+cu118.html"), some("2.1.0", Some("cu118")));
        assert_eq!(read("wheels/cu121/torch2.4/"), some("2.4", Some("cu121")));
    }

    #[test]
    fn other_labels_say_nothing() {
        for label in
            ["cu118", "cpu", "pytorch", "ubuntu.1", "script", "g1234abc", "torch", "pt210cu121"]
        {
            assert_eq!(read(label), None, "{label}");
        }
    }
}
