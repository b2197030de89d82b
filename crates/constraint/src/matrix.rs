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

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("build.rs wrote it from the same type")
}

#[cfg(test)]
mod tests;
