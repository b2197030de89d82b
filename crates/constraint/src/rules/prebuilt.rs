//! Extensions whose source archive fetches a wheel that was compiled for one torch: METADATA names no torch version.

use pep440_rs::VersionSpecifiers;

use super::build::Build;
use super::rule::Rule;
use super::span::find;
use super::torch::TORCH;
use crate::constraint::{Constraint, Fact, Force};
use crate::matrix::{self, rows};
use crate::name::Name;
use crate::package::Package;
use crate::version::{dist_range, if_present};

/// A minor version of torch, and whether a final release of it was compiled against.
type Minor = ((u64, u64), bool);

fn minors(row: &rows::companions::Prebuilt) -> Vec<Minor> {
    let mut minors: Vec<Minor> = Vec::new();
    for version in &row.torch {
        let [major, minor, ..] = *version.release() else { continue };
        match minors.iter_mut().find(|(known, _)| *known == (major, minor)) {
            Some((_, is_final)) => *is_final |= !version.any_prerelease(),
            None => minors.push(((major, minor), !version.any_prerelease())),
        }
    }
    minors.sort_unstable();
    minors
}

fn row_of(build: &Build) -> Option<&'static rows::companions::Prebuilt> {
    // A label says it all; such a build comes from elsewhere.
    if build.label().is_some() {
        return None;
    }
    let rows = matrix::companions().prebuilt.of(build.name);
    if rows.is_empty() {
        return None;
    }
    Some(find(rows, &build.release()?, |_| true)?.row)
}

/// Torch versions for which the wheel that is fetched was compiled against a pre-release: it is taken, and does not load.
#[must_use]
pub fn constraints(build: &Build) -> Vec<Constraint> {
    let Some(row) = row_of(build) else { return Vec::new() };
    let broken: Vec<(u64, u64)> =
        minors(row).into_iter().filter(|(_, is_final)| !is_final).map(|(minor, _)| minor).collect();
    if broken.is_empty() {
        return Vec::new();
    }
    let list: Vec<String> = broken.iter().map(|(a, b)| format!("!={a}.{b}.*")).collect();
    let named: Vec<String> = broken.iter().map(|(a, b)| format!("{a}.{b}")).collect();
    let text = format!(
        "the wheel of {} for torch {} was compiled against a pre-release of it",
        build.title(),
        named.join(" and ")
    );
    constraint(build, row, &list.join(","), Rule::CompanionMismatch, text).into_iter().collect()
}

/// Torch versions that have no wheel: the extension is compiled on the machine, which needs the toolkit and takes long.
#[must_use]
pub fn advice(build: &Build) -> Option<Constraint> {
    let row = row_of(build)?;
    let minors = minors(row);
    let (first, _) = minors.first()?;
    let (last, _) = minors.last()?;
    let text = format!(
        "{} has wheels for torch {}.{} to {}.{}; for another torch it is compiled during the install, which needs nvcc of the same CUDA",
        build.title(),
        first.0,
        first.1,
        last.0,
        last.1
    );
    let specifiers = format!(">={}.{},<{}.{}", first.0, first.1, last.0, last.1 + 1);
    constraint(build, row, &specifiers, Rule::CompiledHere, text)
}

/// What is missing on the index for a build whose wheels are on a page of the project.
#[must_use]
pub fn elsewhere(build: &Build) -> Option<Fact> {
    let row = matrix::companions().elsewhere.of(build.name).first()?;
    Some(Fact {
        rule: Rule::CompiledHere,
        text: format!(
            "{} is only there as source: {} have to be compiled against the torch that is installed; its wheels are at {}",
            build.title(),
            row.text,
            row.place
        ),
        sources: row.source.clone(),
        symptom: Some(row.symptom.clone()),
    })
}

/// Whether wheels of a distribution are compiled against one torch.
#[must_use]
pub fn is_compiled_against_torch(name: Name) -> bool {
    let all = matrix::companions();
    let tied = |row: &rows::companions::Family| row.tied != rows::companions::Tied::None;
    !all.prebuilt.of(name).is_empty()
        || !all.elsewhere.of(name).is_empty()
        || (name.as_str() != TORCH && all.family.of(name).iter().any(tied))
}

fn constraint(
    build: &Build,
    row: &rows::companions::Prebuilt,
    specifiers: &str,
    rule: Rule,
    text: String,
) -> Option<Constraint> {
    let specifiers = specifiers.parse::<VersionSpecifiers>().ok()?;
    let fact = Fact { rule, text, sources: row.source.clone(), symptom: row.symptom.clone() };
    let torch = Package::dist(Name::new(TORCH).ok()?);
    let range = if_present(&dist_range(&specifiers));
    Some(build.constraint(torch, range, Force::IfPresent, fact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::Pin;
    use crate::version::{DistVersion, SourceId, Version};

    fn allows(constraint: &Constraint, torch: &str) -> bool {
        let version = DistVersion::new(torch.parse().expect("valid"), SourceId(0));
        constraint.range.contains(&Version::Dist(version))
    }

    #[test]
    fn a_wheel_for_a_pre_release_does_not_load() {
        let found = constraints(&Pin::pypi("flash-attn", "2.5.7").build());
        assert_eq!(found.len(), 1);
        assert!(!allows(&found[0], "2.3.0") && !allows(&found[0], "2.3.1+cu121"));
        assert!(allows(&found[0], "2.2.2") && allows(&found[0], "2.4.0"));
        assert!(constraints(&Pin::pypi("flash-attn", "2.5.8").build()).is_empty());
    }

    #[test]
    fn what_has_no_wheel_is_compiled() {
        let found = advice(&Pin::pypi("flash-attn", "2.8.3").build()).expect("a row");
        assert!(allows(&found, "2.8.0") && !allows(&found, "2.9.1") && !allows(&found, "2.3.1"));
    }
}
