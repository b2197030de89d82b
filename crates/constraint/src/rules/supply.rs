//! Who supplies a CUDA and a cuDNN: a version of them is there because something brings it, not because something asks for it.

use super::build::Build;
use super::{library, torch};
use crate::machine::Platform;
use crate::package::Package;

/// Whether a build brings `layer` into the process, in a version that it tells: a wheel of the CUDA runtime or of cuDNN, or a
/// torch with its libraries inside.
#[must_use]
pub fn brings(build: &Build, layer: Package, platform: Platform) -> bool {
    if library::states(build.name) == Some(layer) {
        return true;
    }
    if build.name.as_str() != torch::TORCH || !matches!(layer, Package::Cuda | Package::Cudnn) {
        return false;
    }
    let for_cuda =
        || torch::accelerator(build, platform).is_some_and(|accelerator| !accelerator.is_cpu());
    let asks_for_wheels = || build.base_requirements(library::is_library_name).next().is_some();
    for_cuda() && (torch::carries_libraries(build, platform) || !asks_for_wheels())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, linux};

    #[test]
    fn wheels_of_the_runtime_and_torch_with_libraries_inside_bring_cuda() {
        let brings = |pin: &Pin, layer| brings(&pin.build(), layer, linux());
        let runtime = Pin::pypi("nvidia-cuda-runtime-cu12", "12.9.79");
        assert!(brings(&runtime, Package::Cuda) && !brings(&runtime, Package::Cudnn));
        let cudnn = Pin::pypi("nvidia-cudnn-cu12", "9.1.0.70");
        assert!(brings(&cudnn, Package::Cudnn) && !brings(&cudnn, Package::Cuda));
        // Which CUDA 12 a wheel of cuBLAS is of, nothing tells.
        assert!(!brings(&Pin::pypi("nvidia-cublas-cu12", "12.9.1.4"), Package::Cuda));
        assert!(!brings(&Pin::pypi("ctranslate2", "4.8.5"), Package::Cuda));
        let inside = Pin::pypi("torch", "2.3.1+cu118").requiring(&["filelock"]);
        assert!(brings(&inside, Package::Cuda) && brings(&inside, Package::Cudnn));
        let outside = Pin::pypi("torch", "2.6.0").requiring(&["nvidia-cudnn-cu12==9.1.0.70"]);
        assert!(!brings(&outside, Package::Cudnn));
        assert!(!brings(&Pin::pypi("torch", "2.6.0+cpu").requiring(&[]), Package::Cuda));
    }
}
