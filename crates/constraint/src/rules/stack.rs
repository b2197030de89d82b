//! Every rule of the Python side of a CUDA stack, run on one build.

use super::build::Build;
use super::onnx_model::{self, Model};
use super::{
    companion, compiled, cuda_bound, label, numpy_abi, onnxruntime, opens, owner, prebuilt,
    shipped_model, torch,
};
use crate::constraint::Constraint;
use crate::machine::Machine;

/// What a build needs beyond its METADATA, in a fixed order. Whether it can be used at all, and its machine code, are
/// told by [`broken::unusable`](super::broken::unusable) and [`build_code`](super::build_code::machine_code).
#[must_use]
pub fn constraints(build: &Build, machine: &Machine, model: Option<&Model>) -> Vec<Constraint> {
    let mut constraints = torch::constraints(build, machine.platform);
    constraints.extend(companion::constraints(build, machine.platform));
    constraints.extend(compiled::constraints(build, machine.platform));
    constraints.extend(onnxruntime::constraints(build, machine));
    constraints.extend(label::constraints(build));
    constraints.extend(prebuilt::constraints(build));
    constraints.extend(cuda_bound::constraints(build, machine));
    constraints.extend(cuda_bound::cpu_only(build, machine));
    constraints.extend(opens::constraints(build, machine));
    constraints.extend(owner::constraints(build));
    constraints.extend(numpy_abi::constraints(build, machine.platform));
    constraints.extend(shipped_model::constraints(build));
    if let Some(model) = model {
        constraints.extend(onnx_model::constraints(build, model));
    }
    constraints
}

#[cfg(test)]
mod facts;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
