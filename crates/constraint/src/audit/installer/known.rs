//! Which builds PyTorch's indexes are known to have, for when one of them is not asked or does not answer.

use std::str::FromStr;

use pep440_rs::Version as Pep440;

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
    let mut of_backend = rows.iter().filter(|row| row.backend == backend).peekable();
    let known = of_backend.peek().is_some();
    if of_backend.any(|row| row.span.contains(release)) {
        return Standing::There;
    }
    let newest = rows.iter().map(|row| &row.span.to).max();
    let oldest = rows.iter().map(|row| &row.span.from).min();
    let within = newest.is_some_and(|n| release <= n) && oldest.is_some_and(|o| release >= o);
    if known && within { Standing::Never } else { Standing::Unknown }
}

/// Whether there may be a build for Linux on 64-bit Arm: releases after the last known one are not ruled out.
fn on_arm(release: &Pep440, backend: &str) -> bool {
    let rows = &matrix::torch().arm;
    let newest = rows.iter().map(|row| &row.span.to).max();
    let mut of_backend = rows.iter().filter(|row| row.backend == backend);
    newest.is_none_or(|newest| release > newest) || of_backend.any(|row| row.span.contains(release))
}

/// Whether `release` of a distribution with builds for each backend was built for `backend`.
pub(in crate::audit) fn standing(
    name: Name,
    version: &Pep440,
    backend: &str,
    platform: Platform,
) -> Standing {
    let Some(cuda) = backend_cuda(backend) else { return Standing::Unknown };
    if cuda.major() > 0 && platform == Platform::MacosArm64 {
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
    let row = matrix::companions().torch.of(name).iter().find(|row| row.version == *release)?;
    let first = row.torch.iter().next()?;
    (!first.operator().is_star()).then(|| first.version().clone())
}

/// Releases of torch in `range` that the facts name on the index of `backend`.
pub(in crate::audit) fn torch_releases(backend: &str, range: &Range) -> Vec<Pep440> {
    let rows = matrix::torch().variant.iter().filter(|row| row.backend == backend);
    let ends = rows.flat_map(|row| [&row.span.from, &row.span.to]);
    let inside = |release: &Pep440| {
        range.contains(&Version::Dist(DistVersion::new(release.clone(), SourceId(0))))
    };
    ends.filter(|release| inside(release)).cloned().collect()
}

/// `release` with the local label of a backend.
pub(in crate::audit) fn labelled(release: &Pep440, backend: &str) -> Option<Pep440> {
    Pep440::from_str(&format!("{}+{backend}", release.clone().without_local())).ok()
}
