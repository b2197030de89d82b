//! The rules by name.

/// Names rules: the variant, and the identifier that matrices and tests write.
macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident = $name:literal,)+) => {
        /// A rule. What a violation of it is called is told by [`Code::of`](crate::audit::Code::of), which knows all of them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])+ $rule,)+
        }

        impl Rule {
            /// Every rule, by name.
            pub const ALL: &[Self] = &[$(Self::$rule,)+];

            /// The identifier, in kebab-case.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)+
                }
            }
        }
    };
}

rules! {
    /// One process has one accelerator for the whole torch family.
    BackendMismatch = "backend-mismatch",
    /// A release cannot work on a platform.
    BrokenRelease = "broken-release",
    /// A distribution belongs to another torch.
    CompanionMismatch = "companion-mismatch",
    /// There is no wheel for this torch: it is compiled during the install.
    CompiledHere = "compiled-here",
    /// A build for the CPU does not use the GPUs of the machine.
    CpuBuild = "cpu-build",
    /// A build needs another CUDA.
    CudaMajorMismatch = "cuda-major-mismatch",
    /// A program needs at least the cuDNN that it was built with.
    CudnnAbi = "cudnn-abi",
    /// A build needs another cuDNN.
    CudnnMismatch = "cudnn-mismatch",
    /// A release was deleted from its index.
    DeletedRelease = "deleted-release",
    /// A driver branch does not support a GPU.
    DriverBranch = "driver-branch",
    /// A CUDA needs a newer driver.
    DriverFloor = "driver-floor",
    /// A compiled part that a distribution does without does not load with this torch.
    ExtensionSkipped = "extension-skipped",
    /// A build is for an accelerator of another vendor.
    ForeignAccelerator = "foreign-accelerator",
    /// A forward-compatibility package needs another driver.
    ForwardCompat = "forward-compat",
    /// A package of the system hides the driver of the host.
    HostDriver = "host-driver",
    /// An image does not start on a driver.
    ImageDriver = "image-driver",
    /// A model has an IR version that the runtime does not read.
    IrTooNew = "ir-too-new",
    /// A wheel of a library belongs to one CUDA.
    LibraryCuda = "library-cuda",
    /// A wheel of cuDNN is one cuDNN.
    LibraryCudnn = "library-cudnn",
    /// A wheel of a library has no code for a GPU.
    LibraryFloor = "library-floor",
    /// An index has lost a wheel that torch pins.
    LostWheel = "lost-wheel",
    /// A build opens a library that its METADATA does not bring.
    MissingLibrary = "missing-library",
    /// Two distributions own one import package.
    ModuleClash = "module-clash",
    /// A build has no code for a GPU.
    NoKernelImage = "no-kernel-image",
    /// A build was compiled against NumPy 1.
    NumpyAbi = "numpy-abi",
    /// A pip does not know the platform tag of a wheel.
    OldPip = "old-pip",
    /// The runtime does not read what onnx writes unless told otherwise.
    OnnxDefaultModel = "onnx-default-model",
    /// The exporter does not write an opset.
    OpsetNotWritten = "opset-not-written",
    /// The runtime does not read an opset.
    OpsetTooNew = "opset-too-new",
    /// An image holds a torch that is no release.
    OwnTorch = "own-torch",
    /// A distribution is an empty package.
    Placeholder = "placeholder",
    /// A driver does not compile the PTX of a toolkit.
    PtxIsa = "ptx-isa",
    /// Wheels of libraries install the same files.
    SharedFiles = "shared-files",
    /// A wheel lies on the index of another build.
    StrayWheel = "stray-wheel",
    /// The TensorRT provider needs another TensorRT.
    TensorrtMismatch = "tensorrt-mismatch",
    /// A CUDA has no code for a GPU.
    ToolkitWindow = "toolkit-window",
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use crate::matrix;

    #[test]
    fn rules_are_sorted_and_matrices_name_those_that_are_there() {
        assert!(Rule::ALL.windows(2).all(|pair| pair[0].as_str() < pair[1].as_str()));
        let symptoms = matrix::onnxruntime().symptom.iter().map(|row| row.rule.as_str());
        for name in symptoms.chain(matrix::onnx().symptom.iter().map(|row| row.rule.as_str())) {
            assert!(Rule::ALL.iter().any(|rule| rule.as_str() == name), "{name} is no rule");
        }
    }
}
