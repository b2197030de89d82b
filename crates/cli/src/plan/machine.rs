//! The machine that a target describes.

use cuda_lock_constraint::machine::{Gpu, Libc, Libraries, Machine};
use cuda_lock_constraint::rules::image::parse_image;
use cuda_lock_constraint::rules::products::find_gpu;
use cuda_lock_constraint::version::{Range, Version};
use cuda_lock_formats::diagnostic::{Diagnostics, Severity};
use cuda_lock_formats::manifest::{Manifest, SystemWish, TargetSpec};
use serde_spanned::Spanned;

/// Reads the machine of a target: products become compute capabilities, an image becomes CUDA, cuDNN and glibc.
///
/// # Errors
/// Everything that is not known, with its place.
pub(super) fn machine(manifest: &Manifest, spec: &TargetSpec) -> Result<Machine, Diagnostics> {
    let table = &spec.machine;
    let platform = *spec.platform.get_ref();
    let mut problems = Vec::new();
    let gpus: Option<Vec<Gpu>> = table.gpus.as_ref().map(|names| {
        let found = names.iter().filter_map(|name| match find_gpu(name.get_ref()) {
            Ok(gpu) => Some(gpu),
            Err(error) => {
                problems.push(manifest.diagnostic(
                    Severity::Error,
                    name.span(),
                    error.to_string(),
                ));
                None
            }
        });
        found.collect()
    });
    let image = table.image.as_ref().and_then(|text| match parse_image(text.get_ref(), platform) {
        Ok(image) => Some(image),
        Err(error) => {
            problems.push(manifest.diagnostic(Severity::Error, text.span(), error.to_string()));
            None
        }
    });
    if !problems.is_empty() {
        return Err(Diagnostics::new(problems));
    }
    let wish = |wish: &Option<Spanned<SystemWish>>| {
        wish.as_ref().map(|wish| (wish.get_ref().text.clone(), wish.get_ref().range.clone()))
    };
    let exactly = |version: &cuda_lock_constraint::version::SystemVersion, what: &str| {
        let range = Range::singleton(Version::System(version.clone()));
        (format!("{version} of the image's {what}"), range)
    };
    let (image_cuda, image_cudnn, image_glibc) = match &image {
        Some(image) => (
            Some(exactly(&image.cuda, "CUDA")),
            image.cudnn.as_ref().map(|cudnn| exactly(cudnn, "cuDNN")),
            image.glibc.clone().map(Libc::Glibc),
        ),
        None => (None, None, None),
    };
    let libraries = table.libraries.as_ref().map(|libraries| *libraries.get_ref());
    // Wheels bring their own CUDA, whatever the image has: it binds only a stack that uses the system's libraries.
    let system = libraries == Some(Libraries::System);
    Ok(Machine {
        platform,
        libc: table.libc.as_ref().map(|libc| libc.get_ref().clone()).or(image_glibc),
        driver: table.driver.as_ref().map(|driver| driver.get_ref().clone()),
        gpus,
        cuda: wish(&table.cuda).or(image_cuda.filter(|_| system)),
        cudnn: wish(&table.cudnn).or(image_cudnn.filter(|_| system)),
        libraries: libraries.unwrap_or_default(),
    })
}
