//! Container images: what a tag of `nvidia/cuda` contains, and on which driver the image starts.

use super::driver::{first_branch_with, full_support_driver};
use super::limit::{Limit, between, branch_number, fact_with_symptom, from};
use super::rule::Rule;
use crate::machine::{Brand, Gpu, Platform};
use crate::matrix;
use crate::matrix::rows::images::{Image as Row, Requirement};
use crate::package::Package;
use crate::version::SystemVersion;

/// An `nvidia/cuda` image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The repository as messages name it; empty when the tag says it all.
    pub repository: String,
    /// The tag: `12.4.1-cudnn-runtime-ubuntu22.04`.
    pub tag: String,
    /// The CUDA version of its libraries.
    pub cuda: SystemVersion,
    /// Its cuDNN: `None` when the flavour has none, or when the matrices do not know the version.
    pub cudnn: Option<SystemVersion>,
    /// The flavour: `base`, `runtime`, `cudnn-devel`.
    pub flavour: String,
    /// The operating system as the tag writes it.
    pub os: String,
    /// The C library of that system, when it is known.
    pub glibc: Option<SystemVersion>,
    /// The Python that its package manager installs as `python3`. The image itself has none.
    pub python: Option<SystemVersion>,
    /// Whether it can still be pulled, as far as is known.
    pub standing: Standing,
}

/// Whether an image can be pulled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// NVIDIA supports the tag.
    Supported,
    /// NVIDIA does not support the tag any more, or not yet as far as is known. Unsupported tags are deleted after six
    /// months.
    Unsupported,
    /// Later lists of tags no longer have it.
    Gone {
        /// The day of the last list that had it.
        listed_until: String,
    },
}

/// Why a reference gives no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Another repository.
    #[error(
        "'{0}' is not an nvidia/cuda image: only their tags say which CUDA and cuDNN they contain; write cuda, cudnn and glibc in [machine] instead"
    )]
    OtherRepository(String),
    /// No tag: a bare name, or only a digest.
    #[error("'{0}' has no tag: write one such as nvidia/cuda:{1}")]
    NoTag(String, String),
    /// The tag has no operating system at its end.
    #[error(
        "'{tag}' does not end with an operating system, as tags of nvidia/cuda do{}",
        did_you_mean(nearest)
    )]
    NoSystem {
        /// The tag.
        tag: String,
        /// Tags that exist.
        nearest: Vec<String>,
    },
    /// The tag is not one that exists.
    #[error("nvidia/cuda has no tag '{tag}': {reason}{}", did_you_mean(nearest))]
    UnknownTag {
        /// The tag.
        tag: String,
        /// What is wrong with it.
        reason: String,
        /// Tags that exist.
        nearest: Vec<String>,
    },
}

impl Image {
    /// The reference without a registry.
    #[must_use]
    pub fn reference(&self) -> String {
        if self.repository.is_empty() {
            self.tag.clone()
        } else {
            format!("{}:{}", self.repository, self.tag)
        }
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!("; did you mean {}?", nearest.join(", "))
    }
}

/// Reads a reference such as `nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04`, with or without a registry in front and a
/// digest behind.
///
/// Tags of a CUDA version newer than every one in the matrix are taken as they are; their cuDNN is not known.
///
/// # Errors
/// When it is another repository, has no tag, or a tag that does not exist.
pub fn parse_image(reference: &str, platform: Platform) -> Result<Image, ImageError> {
    let reference = reference.trim();
    let named = reference.split_once('@').map_or(reference, |(name, _)| name);
    // A colon before the last slash belongs to a registry's port.
    let (repository, tag) = match named.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (named, None),
    };
    if repository != "nvidia/cuda" && !repository.ends_with("/nvidia/cuda") {
        return Err(ImageError::OtherRepository(reference.to_owned()));
    }
    let Some(tag) = tag.filter(|tag| !tag.is_empty()) else {
        let example = all_tags().pop().unwrap_or_default();
        return Err(ImageError::NoTag(reference.to_owned(), example));
    };
    parse_tag(tag, platform)
}

fn parse_tag(tag: &str, platform: Platform) -> Result<Image, ImageError> {
    let unknown = |reason: String| ImageError::UnknownTag {
        tag: tag.to_owned(),
        reason,
        nearest: nearest(tag),
    };
    let Some((written, rest)) = tag.split_once('-') else {
        return Err(match tag.parse::<SystemVersion>() {
            Ok(_) => ImageError::NoSystem { tag: tag.to_owned(), nearest: nearest(tag) },
            Err(_) => unknown("tags begin with the CUDA version".to_owned()),
        });
    };
    let Ok(cuda) = written.parse::<SystemVersion>() else {
        return Err(unknown("tags begin with the CUDA version".to_owned()));
    };
    let matrix = matrix::images();
    let system = |text: &str| matrix.os.iter().find(|row| row.name == text);
    let Some((flavour, os)) = rest.rsplit_once('-') else {
        return Err(ImageError::NoSystem { tag: tag.to_owned(), nearest: nearest(tag) });
    };
    let newest = matrix.image.iter().map(|row| row.cuda.clone()).max();
    let future = newest.is_some_and(|newest| cuda > newest);
    if system(os).is_none() && !(future && os.contains(|c: char| c.is_ascii_digit())) {
        return Err(ImageError::NoSystem { tag: tag.to_owned(), nearest: nearest(tag) });
    }
    let of_version: Vec<&Row> =
        matrix.image.iter().filter(|row| row.cuda.as_str() == written).collect();
    if of_version.is_empty() && !future {
        return Err(unknown(format!("there is no image of CUDA {written}")));
    }
    let of_system: Vec<&Row> =
        of_version.iter().copied().filter(|row| row.os.iter().any(|other| other == os)).collect();
    if of_system.is_empty() && !future {
        let mut systems: Vec<&str> =
            of_version.iter().flat_map(|row| &row.os).map(String::as_str).collect();
        systems.sort_unstable();
        systems.dedup();
        return Err(unknown(format!("CUDA {written} has images for {}", systems.join(", "))));
    }
    let row = of_system
        .iter()
        .find(|row| row.flavours.iter().any(|other| other == flavour))
        .or_else(|| of_system.iter().find(|row| row.flavours.is_empty()));
    if row.is_none() && !future {
        let flavours: Vec<&str> =
            of_system.iter().flat_map(|row| &row.flavours).map(String::as_str).collect();
        return Err(unknown(format!("CUDA {written} on {os} has {}", flavours.join(", "))));
    }
    let standing = match row {
        Some(row) if row.supported => Standing::Supported,
        Some(Row { listed_until: Some(day), .. }) => Standing::Gone { listed_until: day.clone() },
        _ => Standing::Unsupported,
    };
    Ok(Image {
        repository: "nvidia/cuda".to_owned(),
        tag: tag.to_owned(),
        cudnn: flavour
            .contains("cudnn")
            .then(|| cudnn_of(written, flavour, os, platform))
            .flatten(),
        cuda,
        flavour: flavour.to_owned(),
        os: os.to_owned(),
        glibc: system(os).map(|row| row.glibc.clone()),
        python: system(os).and_then(|row| row.python.clone()),
        standing,
    })
}

/// The processor as container registries name it.
fn arch(platform: Platform) -> &'static str {
    match platform {
        Platform::LinuxAarch64 | Platform::MacosArm64 => "arm64",
        Platform::LinuxX86_64 | Platform::WindowsX86_64 => "amd64",
    }
}

/// The cuDNN of a flavour. The row of the same system and processor wins over one of another system.
fn cudnn_of(cuda: &str, flavour: &str, os: &str, platform: Platform) -> Option<SystemVersion> {
    // `cudnn8-runtime` names the major version: old CUDA versions had images with two of them.
    let token = flavour.split('-').next().and_then(|word| word.strip_prefix("cudnn"));
    let major = token.and_then(|digits| digits.parse::<u64>().ok());
    let mut rows: Vec<_> = matrix::images()
        .cudnn
        .iter()
        .filter(|row| row.cuda.as_str() == cuda)
        .map(|row| (row, row.cudnn.clone()))
        .filter(|(_, cudnn)| major.is_none_or(|major| cudnn.major() == major))
        .collect();
    rows.sort_by_key(|(row, _)| {
        let same_os = row.os.iter().any(|other| other == os);
        let same_arch = row.arch.iter().any(|other| other == arch(platform));
        (!same_arch, !same_os)
    });
    rows.into_iter().next().map(|(_, cudnn)| cudnn)
}

/// On which drivers the image starts with a GPU of the given product line: those whose own CUDA version is that of the
/// image, and the older branches that its `NVIDIA_REQUIRE_CUDA` lists for the product line. Starting is no proof that
/// the programs in it run: [`super::driver::driver_floor`] still holds.
///
/// Setting `NVIDIA_DISABLE_REQUIRE=1` switches the check off.
#[must_use]
pub fn image_driver(image: &Image, gpu: &Gpu, platform: Platform) -> Option<Limit> {
    let full = full_support_driver(&image.cuda, platform);
    let branch = first_branch_with(&image.cuda);
    let newest = matrix::driver().branch.last()?;
    let lowest = full.unwrap_or_else(|| branch_number(newest.branch + 1));
    let row = requirement(image, platform);
    let listed: Vec<u64> = row.map_or_else(Vec::new, |row| listed_branches(row, gpu.brand));
    let range = listed.iter().fold(from(lowest.clone()), |range, branch| {
        range.union(&between(branch_number(*branch), branch_number(branch + 1)))
    });
    let cuda = image.cuda.major_minor();
    let mut text = format!("{} starts on drivers >= {lowest}", image.reference());
    if listed.is_empty() {
        if row.is_some() {
            text.push_str("; the older branches that it allows are not for this product line");
        }
    } else {
        let names: Vec<String> = listed.iter().map(|branch| format!("R{branch}")).collect();
        text.push_str(", and on ");
        text.push_str(&names.join(", "));
    }
    let sources =
        row.map_or_else(|| branch.unwrap_or(newest).source.clone(), |row| row.source.clone());
    let symptom = format!(
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>={cuda}, please update your driver to a newer version, or use an earlier cuda container"
    );
    Some(Limit {
        package: Package::Driver,
        range,
        fact: fact_with_symptom(Rule::ImageDriver, text, &sources, symptom),
    })
}

/// The row that speaks of an image, or else of an image of the same CUDA for another distribution, or of another patch
/// release: they are built from one template.
fn requirement(image: &Image, platform: Platform) -> Option<&'static Requirement> {
    let rows = || {
        let rows = matrix::images().requirement.iter();
        rows.filter(|row| row.arch.iter().any(|other| other == arch(platform)))
    };
    let version =
        |row: &Requirement| row.cuda.iter().any(|cuda| cuda.as_str() == image.cuda.as_str());
    let system = |row: &Requirement| row.os.is_empty() || row.os.contains(&image.os);
    let minor = |row: &Requirement| {
        row.cuda.iter().any(|cuda| cuda.major_minor() == image.cuda.major_minor())
    };
    rows()
        .find(|row| version(row) && system(row))
        .or_else(|| rows().find(|row| version(row)))
        .or_else(|| rows().find(|row| minor(row) && system(row)))
        .or_else(|| rows().find(|row| minor(row)))
}

/// The branches that a row lists for a product line. Nothing is assumed of a GPU of unknown line: only branches that are
/// listed for every line count.
fn listed_branches(row: &Requirement, brand: Brand) -> Vec<u64> {
    let mut branches = row.any_brand.clone();
    if matches!(brand, Brand::DataCenter | Brand::Professional) {
        branches.extend(&row.no_geforce);
    }
    if brand == Brand::DataCenter {
        branches.extend(&row.data_center);
    }
    branches.sort_unstable();
    branches
}

/// Every tag whose flavour is known, in the order of the matrix.
fn all_tags() -> Vec<String> {
    let rows = matrix::images().image.iter();
    rows.flat_map(|row| {
        row.flavours.iter().flat_map(move |flavour| {
            row.os.iter().map(move |os| format!("{}-{flavour}-{os}", row.cuda))
        })
    })
    .collect()
}

/// The three tags most like `tag`, newer CUDA versions first among equals.
fn nearest(tag: &str) -> Vec<String> {
    let mut scored: Vec<(f64, String)> = all_tags()
        .into_iter()
        .rev()
        .map(|other| (strsim::jaro_winkler(tag, &other), other))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, tag)| tag).collect()
}

#[cfg(test)]
mod tests;
