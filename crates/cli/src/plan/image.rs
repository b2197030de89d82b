//! What a container image asks of the machine under it.

use cuda_lock_constraint::constraint::{Force, Reason};
use cuda_lock_constraint::machine::{Brand, Gpu, Machine};
use cuda_lock_constraint::rules::image::{image_driver, parse_image};
use cuda_lock_constraint::solve::LayerBound;
use cuda_lock_constraint::version::SystemVersion;
use cuda_lock_formats::manifest::TargetSpec;

/// The drivers on which the target's image starts, one bound for each GPU: whether an older branch will do depends on the
/// product line. A machine whose GPUs are not named is bound by what every product line is allowed.
pub(super) fn bounds(spec: &TargetSpec, machine: &Machine) -> Vec<LayerBound> {
    let reference = spec.machine.image.as_ref();
    let Some(image) = reference.and_then(|text| parse_image(text.get_ref(), machine.platform).ok())
    else {
        return Vec::new();
    };
    let unnamed = [Gpu {
        name: "a GPU".to_owned(),
        capability: SystemVersion::new(0, 0),
        brand: Brand::Unknown,
    }];
    let gpus = machine.gpus.as_deref().unwrap_or(&unnamed);
    gpus.iter()
        .filter_map(|gpu| image_driver(&image, gpu, machine.platform))
        .map(|limit| LayerBound {
            package: limit.package,
            range: limit.range,
            force: Force::Requires,
            reason: Reason::Matrix(limit.fact),
        })
        .collect()
}
