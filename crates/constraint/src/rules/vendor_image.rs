//! Container images other than `nvidia/cuda`: what their reference says of CUDA and of the torch inside.

use pep440_rs::Version as Pep440;

use super::image::{Image, Standing};
use super::rule::Rule;
use super::torch::backend_cuda;
use crate::constraint::Fact;
use crate::matrix;
use crate::version::SystemVersion;

/// What the reference of an image tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorImage {
    /// As written.
    pub reference: String,
    /// The CUDA in it.
    pub cuda: Option<SystemVersion>,
    /// The torch that is installed in it, with the label of its CUDA.
    pub torch: Option<Pep440>,
    /// Set when it holds a build of torch that is no release: wheels that are made for a release do not fit it.
    pub own_torch: Option<Fact>,
}

/// Reads a reference; `None` when it tells nothing.
#[must_use]
pub fn parse_vendor_image(reference: &str) -> Option<VendorImage> {
    let reference = reference.trim();
    let named = reference.split_once('@').map_or(reference, |(name, _)| name);
    let (repository, tag) = named.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'))?;
    let row = matrix::images().vendor.iter().find(|row| {
        repository == row.repository || repository.ends_with(&format!("/{}", row.repository))
    });
    let cuda = cuda_of(tag);
    let torch = row.filter(|row| row.torch_tag).and_then(|_| torch_of(tag, cuda.as_ref()));
    let own_torch = row.filter(|row| row.own_torch).map(|row| Fact {
        rule: Rule::OwnTorch,
        text: row.text.clone(),
        sources: row.source.clone(),
        symptom: Some("ImportError: undefined symbol".to_owned()),
    });
    let tells = cuda.is_some() || torch.is_some() || own_torch.is_some();
    tells.then(|| VendorImage { reference: reference.to_owned(), cuda, torch, own_torch })
}

impl VendorImage {
    /// As an image of the same CUDA, for what its entry point asks of the driver: such images start from `nvidia/cuda`.
    #[must_use]
    pub fn as_cuda_image(&self) -> Option<Image> {
        Some(Image {
            repository: String::new(),
            tag: self.reference.clone(),
            cuda: self.cuda.clone()?,
            cudnn: None,
            flavour: String::new(),
            os: String::new(),
            glibc: None,
            python: None,
            standing: Standing::Supported,
        })
    }
}

/// `cuda12.4`, `cuda-12.4.1`, `cu124` in a tag.
fn cuda_of(tag: &str) -> Option<SystemVersion> {
    let lower = tag.to_ascii_lowercase();
    let after = |word: &str| -> Option<SystemVersion> {
        lower.match_indices(word).find_map(|(at, _)| {
            let rest = lower.get(at + word.len()..)?.trim_start_matches(['-', '_', ':']);
            let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
            let number = rest.get(..end)?.trim_end_matches('.');
            number.contains('.').then(|| number.parse().ok())?
        })
    };
    let label = || {
        lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter_map(backend_cuda)
            .find(|cuda| cuda.major() > 0)
    };
    after("cuda").or_else(label)
}

/// `2.1.0-cuda12.1-cudnn8-runtime`.
fn torch_of(tag: &str, cuda: Option<&SystemVersion>) -> Option<Pep440> {
    let release = tag.split('-').next()?;
    let release: Pep440 = release.parse().ok()?;
    let label =
        cuda.map_or_else(String::new, |cuda| format!("+{}", super::torch::backend_name(cuda)));
    format!("{release}{label}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reference: &str) -> (Option<String>, Option<String>, bool) {
        parse_vendor_image(reference).map_or((None, None, false), |image| {
            (
                image.cuda.map(|cuda| cuda.to_string()),
                image.torch.map(|torch| torch.to_string()),
                image.own_torch.is_some(),
            )
        })
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn references_tell_cuda_and_torch() {
        let of_pytorch = "docker.io/pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime";
        assert_eq!(read(of_pytorch), (some("12.1"), some("2.1.0+cu121"), false));
        assert_eq!(read("vendor/gpustack:cuda12.4"), (some("12.4"), None, false));
        assert_eq!(read("registry.example/app:v1-cu118"), (some("11.8"), None, false));
        assert_eq!(read("nvcr.io/nvidia/pytorch:23.12-py3"), (None, None, true));
    }

    #[test]
    fn most_references_tell_nothing() {
        for reference in ["python:3.10-slim", "ubuntu:22.04", "app", "registry.example:5000/app"] {
            assert!(parse_vendor_image(reference).is_none(), "{reference}");
        }
    }
}
