//! The packages of the graph: what PubGrub decides a version for.

use std::fmt;

use crate::name::Name;

/// A package of the graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Package {
    /// What env.toml asks for.
    Root,
    /// The interpreter.
    Python,
    /// The C library of the machine.
    Glibc,
    /// The macOS of the machine.
    Macos,
    /// The kernel driver.
    Driver,
    /// One GPU of the machine; its version is the compute capability.
    Gpu(u8),
    /// The CUDA runtime that is loaded in the process.
    Cuda,
    /// The cuDNN that is loaded in the process.
    Cudnn,
    /// The accelerator that the whole torch family is built for; its version is the CUDA toolkit, `0.0` for the CPU.
    Backend,
    /// The one distribution that may own an import package.
    Provider(Name),
    /// The operator set of the model that goes from exporter to runtime.
    Opset,
    /// The IR version of that model.
    OnnxIr,
    /// A Python distribution, or one extra of it (which always has the version of the distribution itself).
    Dist {
        /// The project.
        name: Name,
        /// The extra, when this stands for `name[extra]`.
        extra: Option<Name>,
    },
}

impl Package {
    /// The distribution `name` itself.
    #[must_use]
    pub fn dist(name: Name) -> Self {
        Self::Dist { name, extra: None }
    }

    /// The name of the distribution, when this is one.
    #[must_use]
    pub fn dist_name(&self) -> Option<Name> {
        match self {
            Self::Dist { name, .. } => Some(*name),
            _ => None,
        }
    }
}

impl fmt::Display for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("env.toml"),
            Self::Python => f.write_str("Python"),
            Self::Glibc => f.write_str("glibc"),
            Self::Macos => f.write_str("macOS"),
            Self::Driver => f.write_str("driver"),
            Self::Gpu(0) => f.write_str("GPU"),
            Self::Gpu(n) => write!(f, "GPU {}", n + 1),
            Self::Cuda => f.write_str("CUDA"),
            Self::Cudnn => f.write_str("cuDNN"),
            Self::Backend => f.write_str("torch backend"),
            Self::Provider(module) => write!(f, "import package {module}"),
            Self::Opset => f.write_str("opset"),
            Self::OnnxIr => f.write_str("ONNX IR"),
            Self::Dist { name, extra: None } => name.fmt(f),
            Self::Dist { name, extra: Some(extra) } => write!(f, "{name}[{extra}]"),
        }
    }
}

impl fmt::Debug for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
