//! The facts that no index publishes: `matrices/*.toml`, embedded in the binary and decoded when first asked for.

pub mod rows;

use std::sync::OnceLock;

/// Declares a matrix: a function that decodes the embedded file on its first call.
macro_rules! matrix {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub fn $name() -> &'static rows::$name::File {
            static FILE: OnceLock<rows::$name::File> = OnceLock::new();
            FILE.get_or_init(|| {
                decode(include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".bin")))
            })
        }
    };
}

matrix!(
    /// Driver branches, driver floors and forward compatibility (`matrices/driver.toml`).
    driver
);

matrix!(
    /// Distributions that use one CUDA major version (`matrices/bound.toml`).
    bound
);

matrix!(
    /// Releases that cannot work (`matrices/broken.toml`).
    broken
);

matrix!(
    /// Distributions that belong to one torch (`matrices/companions.toml`).
    companions
);

matrix!(
    /// Conda packages of the CUDA stack (`matrices/conda.toml`).
    conda
);

matrix!(
    /// Public indexes (`matrices/indexes.toml`).
    indexes
);

matrix!(
    /// Builds against the C API of NumPy 1 (`matrices/numpy_abi.toml`).
    numpy_abi
);

matrix!(
    /// What ONNX runtimes read and exporters write (`matrices/onnx.toml`).
    onnx
);

matrix!(
    /// Builds of onnxruntime-gpu (`matrices/onnxruntime.toml`).
    onnxruntime
);

matrix!(
    /// Libraries that builds open by name (`matrices/opens.toml`).
    opens
);

matrix!(
    /// Import packages with one owner (`matrices/owners.toml`).
    owners
);

matrix!(
    /// Builds of torch (`matrices/torch.toml`).
    torch
);

matrix!(
    /// CUDA toolkits and the PTX they write (`matrices/cuda.toml`).
    cuda
);

matrix!(
    /// Compute capabilities (`matrices/gpus.toml`).
    gpus
);

matrix!(
    /// GPU product names and cloud instances (`matrices/products.toml`).
    products
);

matrix!(
    /// Wheels of NVIDIA libraries (`matrices/libraries.toml`).
    libraries
);

matrix!(
    /// Tags of the `nvidia/cuda` image (`matrices/images.toml`).
    images
);

matrix!(
    /// Minor versions of CPython (`matrices/python.toml`).
    python
);

/// The digest of all matrices: changes when any fact does, and so tells whether a lock was made from other facts.
pub const REVISION: &str = env!("MATRICES_REVISION");

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("build.rs wrote it from the same type")
}

#[cfg(test)]
mod tests;
