//! Which builds PyTorch's indexes are known to have, for when one of them is not asked or does not answer.

use std::str::FromStr;

use pep440_rs::{Version as Pep440, VersionSpecifiers};

use crate::machine::Platform;
use crate::matrix;
use crate::name::Name;
use crate::rules::companion::family;
use crate::rules::torch::{TORCH, backend_cuda};
use crate::version::{DistVersion, Range, SourceId, Version};

/// What the facts say about a release on the index of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum Standing {
    /// It is there.
    There,
    /// It never was.
    Never,
    /// Nothing is known.
    Unknown,
}

/// Whether torch `release` was built for `backend`.
pub(in crate::audit) fn torch(release: &Pep440, backend: &str, platform: Platform) -> Standing {
    if platform == Platform::LinuxAarch64 && !on_arm(release, backend) {
        return Standing::Never;
    }
    let rows = &matrix::torch().variant;
    let mut newest: Option<Pep440> = None;
    let mut oldest: Option<Pep440> = None;
    let mut of_backend = false;
    for row in rows {
        let (Ok(from), Ok(to)) = (Pep440::from_str(&row.from), Pep440::from_str(&row.to)) else {
            continue;
        };
        if row.backend == backend {
            of_backend = true;
            if from <= *release && *release <= to {
                return Standing::There;
            }
        }
        newest = newest.max(Some(to));
        oldest = Some(oldest.map_or(from.clone(), |known: Pep440| known.min(from)));
    }
    let within = newest.is_some_and(|n| *release <= n) && oldest.is_some_and(|o| *release >= o);
    if of_backend && within { Standing::Never } else { Standing::Unknown }
}

/// Whether there may be a build for Linux on 64-bit Arm: releases after the last known one are not ruled out.
fn on_arm(release: &Pep440, backend: &str) -> bool {
    let rows = &matrix::torch().arm;
    let parsed = |text: &str| Pep440::from_str(text).ok();
    let newest = rows.iter().filter_map(|row| parsed(&row.to)).max();
    newest.is_none_or(|newest| *release > newest)
        || rows.iter().filter(|row| row.backend == backend).any(|row| {
            parsed(&row.from).is_some_and(|from| from <= *release)
                && parsed(&row.to).is_some_and(|to| *release <= to)
        })
}

/// Whether `release` of a distribution with builds for each backend was built for `backend`.
pub(in crate::audit) fn standing(
    name: Name,
    version: &Pep440,
    backend: &str,
    platform: Platform,
) -> Standing {
    let Some(cuda) = backend_cuda(backend) else { return Standing::Unknown };
    if cuda.major() > 0 && platform.is_macos() {
        return Standing::Never;
    }
    if cuda.major() == 0 || version.any_prerelease() {
        return Standing::Unknown;
    }
    let release = version.only_release();
    if name.as_str() == TORCH {
        return torch(&release, backend, platform);
    }
    if !family(name).is_some_and(|row| row.labelled) {
        return Standing::Unknown;
    }
    torch_of(name, &release).map_or(Standing::Unknown, |of| torch(&of, backend, platform))
}

/// The torch that a release of a companion belongs to, as far as the matrices say.
fn torch_of(name: Name, release: &Pep440) -> Option<Pep440> {
    let row = matrix::companions().torch.iter().find(|row| {
        row.name == name.as_str() && row.version.parse().is_ok_and(|v: Pep440| v == *release)
    })?;
    let specifiers = VersionSpecifiers::from_str(&row.torch).ok()?;
    let first = specifiers.iter().next()?;
    (!first.operator().is_star()).then(|| first.version().clone())
}

/// Releases of torch in `range` that the facts name on the index of `backend`.
pub(in crate::audit) fn torch_releases(backend: &str, range: &Range) -> Vec<Pep440> {
    let rows = matrix::torch().variant.iter().filter(|row| row.backend == backend);
    let ends =
        rows.flat_map(|row| [&row.from, &row.to]).filter_map(|text| text.parse::<Pep440>().ok());
    let inside = |release: &Pep440| {
        range.contains(&Version::Dist(DistVersion::new(release.clone(), SourceId(0))))
    };
    ends.filter(inside).collect()
}

/// `release` with the local label of a backend.
pub(in crate::audit) fn labelled(release: &Pep440, backend: &str) -> Option<Pep440> {
    Pep440::from_str(&format!("{}+{backend}", release.clone().without_local())).ok()
}
