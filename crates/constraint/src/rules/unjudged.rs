//! Builds that have code for GPUs, or open the libraries of CUDA, while no fact tells for which GPUs.

use super::build::Build;
use super::{build_code, cuda_bound, label, library, opens, torch};
use crate::machine::Machine;

/// Whether nobody knows on which GPUs of a machine a build runs, although it shows that it uses them: by what its METADATA
/// asks for, by its label, or by a row that says which CUDA it uses.
#[must_use]
pub fn is_gpu_code_unknown(build: &Build, machine: &Machine) -> bool {
    if machine.gpus.as_ref().is_some_and(Vec::is_empty) || library::is_library(build.name) {
        return false;
    }
    if build_code::machine_code(build, machine.platform).is_some() {
        return false;
    }
    // A companion is built for the GPUs of its torch; torch without a row has none of its own.
    let of_torch = super::companion::family(build.name).is_some();
    let labelled = || {
        let label = build.label();
        label.is_some_and(|l| torch::backend_cuda(&l).is_some_and(|cuda| cuda.major() > 0))
            || !label::constraints(build).is_empty()
    };
    if of_torch {
        return build.name.as_str() == torch::TORCH
            && torch::accelerator(build, machine.platform).is_some_and(|a| !a.is_cpu());
    }
    build.base_requirements(library::is_library_name).next().is_some()
        || labelled()
        || cuda_bound::uses_cuda(build, machine.platform)
        || opens::cuda_major(build, machine).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::stack::testing::{Pin, machine};

    fn unknown(pin: &Pin) -> bool {
        is_gpu_code_unknown(&pin.build(), &machine())
    }

    #[test]
    fn what_shows_that_it_uses_a_gpu_is_not_passed_over() {
        assert!(unknown(&Pin::pypi("ctranslate2", "4.8.5")));
        assert!(unknown(&Pin::pypi("cupy-cuda12x", "14.2.0")));
        assert!(unknown(&Pin::pypi("xyz", "1.0").requiring(&["nvidia-cublas-cu12>=12.1"])));
        assert!(unknown(&Pin::pypi("xyz", "1.0+cu121").requiring(&[])));
    }

    #[test]
    fn what_is_known_or_has_none_is_not_named() {
        assert!(!unknown(
            &Pin::pypi("torch", "2.6.0").requiring(&["nvidia-cublas-cu12==12.4.5.8"])
        ));
        assert!(!unknown(&Pin::pypi("torchvision", "0.21.0+cu124").requiring(&["torch==2.6.0"])));
        assert!(!unknown(&Pin::pypi("onnxruntime-gpu", "1.22.0")));
        assert!(!unknown(&Pin::pypi("nvidia-cudnn-cu12", "9.1.0.70")));
        assert!(!unknown(&Pin::pypi("numpy", "2.0.0").requiring(&[])));
        assert!(!unknown(
            &Pin::pypi("xyz", "1.0").requiring(&["nvidia-cublas-cu12; extra == 'gpu'"])
        ));
        assert!(!unknown(&Pin::pypi("xyz", "1.0+cpu").requiring(&[])));
        let without = Machine { gpus: Some(Vec::new()), ..machine() };
        assert!(!is_gpu_code_unknown(&Pin::pypi("ctranslate2", "4.8.5").build(), &without));
    }
}
