//! What a container image asks of the machine under it.

use cuda_lock_constraint::constraint::{Force, Reason};
use cuda_lock_constraint::machine::{Brand, Gpu, Machine};
use cuda_lock_constraint::rules::image::{image_driver, parse_image};
use cuda_lock_constraint::solve::LayerBound;
use cuda_lock_constraint::version::SystemVersion;
use cuda_lock_formats::diagnostic::{Diagnostics, Severity};
use cuda_lock_formats::manifest::{Manifest, TargetSpec};

/// The drivers on which the target's image starts, one bound for each GPU: whether an older branch will do depends on the
/// product line. A machine whose GPUs are not named is bound by what every product line is allowed.
///
/// # Errors
/// When the driver that env.toml gives is none of them.
pub(super) fn bounds(
    manifest: &Manifest,
    spec: &TargetSpec,
    machine: &Machine,
) -> Result<Vec<LayerBound>, Diagnostics> {
    let Some(reference) = &spec.machine.image else { return Ok(Vec::new()) };
    let Ok(image) = parse_image(reference.get_ref(), machine.platform) else {
        return Ok(Vec::new());
    };
    let unnamed = [Gpu {
        name: "a GPU".to_owned(),
        capability: SystemVersion::new(0, 0),
        brand: Brand::Unknown,
    }];
    let gpus = machine.gpus.as_deref().unwrap_or(&unnamed);
    let mut bounds = Vec::new();
    for gpu in gpus {
        let Some(limit) = image_driver(&image, gpu, machine.platform) else { continue };
        if let Some(driver) = machine.driver.as_ref().filter(|driver| !limit.allows(driver)) {
            let text = format!("driver {driver} does not start this image with {}", gpu.name);
            let mut problem = manifest
                .diagnostic(Severity::Error, reference.span(), text)
                .help(&limit.fact.text)
                .help("take an image of an older CUDA, or a newer driver");
            if let Some(symptom) = &limit.fact.symptom {
                problem = problem.help(format!("it would fail with: {symptom}"));
            }
            return Err(Diagnostics::new(vec![problem]));
        }
        bounds.push(LayerBound {
            package: limit.package,
            range: limit.range,
            force: Force::Requires,
            reason: Reason::Matrix(limit.fact),
        });
    }
    Ok(bounds)
}
