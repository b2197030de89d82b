//! What a wheel's shared objects say: which torch it loads with, which GPUs it has code for, which CUDA it needs.
//!
//! The rows are derived from the wheels (`matrices/wheels.toml`); whether a distribution does without a part that does not
//! load is a fact of its own (`matrices/compiled.toml`).

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use super::build::{Build, Origin, major_range};
use super::companion;
use super::span::{Fit, Found, find};
use super::torch::TORCH;
use crate::constraint::{Constraint, Fact, Force};
use crate::machine::Platform;
use crate::matrix;
use crate::matrix::rows::compiled::{Dependence, Distribution};
use crate::matrix::rows::wheels::Wheel;
use crate::name::Name;
use crate::package::Package;
use crate::rules::Rule;
use crate::version::{SystemVersion, dist_range, if_present};

/// The row that speaks of a build: of its platform, else of another one, since the same sources are compiled for all of them.
/// `None` for a build with a label, which is another one than the wheel that was read.
pub(super) fn row(build: &Build, platform: Option<Platform>) -> Option<Found<Wheel>> {
    let rows = matrix::wheels().wheel.of(build.name);
    if rows.is_empty() || build.label().is_some() || matches!(build.origin, Origin::OrtFeed { .. })
    {
        return None;
    }
    let release = build.version.version()?.clone().without_local();
    let of_platform = |row: &Wheel| platform.is_none_or(|here| row.platform == here);
    // Mostly one release of each minor version was read: it speaks for its neighbours before the releases around them do.
    let same_minor = |row: &Wheel| minor(&row.span.from) == minor(&release);
    let found = find(rows, &release, |row| of_platform(row) && same_minor(row));
    let found = found.or_else(|| find(rows, &release, of_platform));
    found.or_else(|| find(rows, &release, |_| true))
}

fn minor(version: &Pep440) -> (u64, u64) {
    let part = |n: usize| version.release().get(n).copied().unwrap_or(0);
    (part(0), part(1))
}

/// How much a distribution depends on its compiled parts, when somebody looked.
pub(super) fn dependence(name: Name) -> Option<&'static Distribution> {
    matrix::compiled().distribution.of(name).first()
}

/// Torch releases that lack a symbol, for an extension that does not load then; and the CUDA that it cannot do without.
#[must_use]
pub fn constraints(build: &Build, platform: Platform) -> Vec<Constraint> {
    let Some(found) = row(build, Some(platform)) else { return Vec::new() };
    let known = dependence(build.name);
    let torch = known.is_none_or(|known| known.torch != Dependence::Optional);
    let libraries = known.is_some_and(|known| known.libraries == Dependence::Needed);
    let torch = torch.then(|| torch_that_loads(build, found, Rule::CompanionMismatch)).flatten();
    let cuda = libraries.then(|| cuda_major(build, found)).flatten();
    torch.into_iter().chain(cuda).collect()
}

/// The same of an extension that is passed over without an error when it does not load.
#[must_use]
pub fn advice(build: &Build) -> Option<Constraint> {
    dependence(build.name).filter(|known| known.torch == Dependence::Optional)?;
    torch_that_loads(build, row(build, None)?, Rule::ExtensionSkipped)
}

fn torch_that_loads(build: &Build, found: Found<Wheel>, rule: Rule) -> Option<Constraint> {
    let specifiers = found.row.torch.clone()?;
    // Where METADATA names one torch, it was compiled for that one.
    if build.base_requirements(|name| name == TORCH).any(|line| line.is_exact()) {
        return None;
    }
    // What is known of this very release counts more than what a neighbour's wheel says.
    if found.fit != Fit::Known && companion::torch_row(build).is_some() {
        return None;
    }
    // A later release may have been compiled for a later torch: what is taken from an older one is where its range begins.
    let specifiers = match found.fit {
        Fit::Older(at)
            if !found.row.stable_abi && Some(minor(at)) != build.release().as_ref().map(minor) =>
        {
            lower_bounds(&specifiers)
        }
        _ => specifiers,
    };
    if specifiers.is_empty() {
        return None;
    }
    let lacks: Vec<String> = found.row.lacks.iter().filter_map(|line| lack(line)).collect();
    let because = if lacks.is_empty() { String::new() } else { format!(": {}", lacks.join(", ")) };
    let fact = Fact {
        rule,
        text: format!(
            "{} loads with torch {specifiers}{because}{}",
            build.title(),
            found.fit.assumption()
        ),
        sources: source(found.row).to_vec(),
        symptom: dependence(build.name)
            .and_then(|known| known.symptom.clone())
            .or_else(|| symptom(found.row)),
    };
    let range = if_present(&dist_range(&specifiers));
    Some(build.constraint(Package::dist(Name::new(TORCH).ok()?), range, Force::IfPresent, fact))
}

fn lower_bounds(specifiers: &VersionSpecifiers) -> VersionSpecifiers {
    let lower =
        specifiers.iter().filter(|s| matches!(s.operator(), pep440_rs::Operator::GreaterThanEqual));
    lower.cloned().collect()
}

/// `torch 2.9.1 does not export SYMBOL`, of a row's `2.9.1 SYMBOL`.
fn lack(line: &str) -> Option<String> {
    let (version, symbol) = line.split_once(' ')?;
    // A few rows have words instead: a library named after the release is not there.
    let words = symbol.contains(' ');
    Some(if words {
        format!("torch {version}: {symbol}")
    } else {
        format!("torch {version} does not export {symbol}")
    })
}

/// One wheel of the row: the others say the same, and a message has room for one.
pub(super) fn source(row: &Wheel) -> &[String] {
    row.source.get(..1).unwrap_or_default()
}

/// What the loader prints: the name of a symbol that is missing.
fn symptom(row: &Wheel) -> Option<String> {
    let mut symbols =
        row.lacks.iter().filter_map(|line| line.split_once(' ')).map(|(_, symbol)| symbol);
    symbols
        .next_back()
        .filter(|symbol| !symbol.contains(' '))
        .map(|symbol| format!("undefined symbol: {symbol}"))
}

/// The CUDA major version of the libraries that it opens by name.
fn cuda_major(build: &Build, found: Found<Wheel>) -> Option<Constraint> {
    let (library, major) = found.row.needs.iter().find_map(|file| Some((file, major_of(file)?)))?;
    let fact = Fact {
        rule: Rule::CudaMajorMismatch,
        text: format!(
            "{} needs {library} of CUDA {major}{}",
            build.title(),
            found.fit.assumption()
        ),
        sources: source(found.row).to_vec(),
        symptom: Some(format!(
            "{library}: cannot open shared object file: No such file or directory"
        )),
    };
    Some(build.constraint(Package::Cuda, major_range(major), Force::Requires, fact))
}

/// The CUDA major version whose wheels bring a file, when all of them agree.
fn major_of(file: &str) -> Option<u64> {
    let rows = matrix::libraries().library.iter();
    let mut majors =
        rows.filter(|row| row.files.iter().any(|own| own == file)).filter_map(|row| row.cuda);
    let first = majors.next()?;
    majors.all(|major| major == first).then_some(first)
}

/// The oldest toolkit that writes a version of the PTX ISA.
pub(super) fn toolkit_of(isa: &SystemVersion) -> Option<SystemVersion> {
    let row = matrix::cuda().toolkit.iter().find(|row| row.ptx_isa.as_ref() == Some(isa))?;
    Some(row.cuda.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};
    use crate::version::{DistVersion, SourceId, Version};

    fn allows(constraint: &Constraint, torch: &str) -> bool {
        let version = DistVersion::new(torch.parse().expect("valid"), SourceId(0));
        constraint.range.contains(&Version::Dist(version))
    }

    fn torch_of(pin: &Pin) -> Constraint {
        let found = constraints(&pin.build(), linux());
        found.into_iter().find(|c| c.package.to_string() == TORCH).expect("it is bound to torch")
    }

    /// The table of torchcodec's own documentation, and what its libraries lack.
    #[test]
    fn torchcodec_belongs_to_the_torch_that_exports_its_symbols() {
        for (version, loads, lacks) in [
            ("0.7.0", "2.8.0", "2.10.0"),
            ("0.8.1", "2.9.1", "2.7.1"),
            ("0.10.0", "2.10.0", "2.11.0"),
            ("0.10.0", "2.10.0", "2.9.1"),
            ("0.12.0", "2.11.0+cu128", "2.10.0"),
            ("0.17.0", "2.15.0", "2.8.0"),
        ] {
            let bound = torch_of(&Pin::pypi("torchcodec", version));
            assert!(allows(&bound, loads), "{version} with {loads}");
            assert!(!allows(&bound, lacks), "{version} with {lacks}");
            assert!(bound.range.contains(&Version::Dist(DistVersion::absent())), "without torch");
        }
    }

    #[test]
    fn a_release_that_was_not_read_is_like_one_of_its_own_minor_version() {
        // Between 0.10.0 and 0.11.1, which were read.
        let patch = torch_of(&Pin::pypi("torchcodec", "0.11.0"));
        assert!(allows(&patch, "2.11.0") && !allows(&patch, "2.10.0"));
        let later = torch_of(&Pin::pypi("torchcodec", "0.10.9"));
        assert!(allows(&later, "2.10.0") && !allows(&later, "2.11.0"));
    }

    #[test]
    fn a_later_release_than_was_read_is_only_held_from_below() {
        let stable = torch_of(&Pin::pypi("torchcodec", "0.99.0"));
        assert!(allows(&stable, "2.99.0") && !allows(&stable, "2.10.0"));
        let text = format!("{:?}", stable.reason);
        assert!(text.contains("taken from 0.17.0"), "{text}");
    }

    #[test]
    fn what_loads_its_libraries_in_a_try_block_is_advised_and_not_refused() {
        let pin = Pin::pypi("torchao", "0.13.0");
        assert!(constraints(&pin.build(), linux()).is_empty());
        let advice = advice(&pin.build()).expect("advice");
        assert!(allows(&advice, "2.8.0") && !allows(&advice, "2.11.0"));
    }

    #[test]
    fn a_build_with_a_label_is_not_the_wheel_that_was_read() {
        assert!(constraints(&Pin::pypi("torchcodec", "0.7.0+cu126").build(), linux()).is_empty());
    }
}
