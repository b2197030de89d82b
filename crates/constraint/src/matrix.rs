//! The facts that no index publishes: `matrices/*.toml`, embedded in the binary and decoded when first asked for.

#[macro_use]
pub mod rows;

use std::sync::OnceLock;

/// Declares a function for each matrix, which decodes the embedded file on its first call. The rows of a table are decoded
/// later, when one of them is asked for.
macro_rules! declare {
    ($($name:ident: $about:literal),* $(,)?) => {$(
        #[doc = $about]
        #[doc = ""]
        #[doc = concat!("The file is `matrices/", stringify!($name), ".toml`.")]
        pub fn $name() -> &'static rows::$name::File {
            static FILE: OnceLock<rows::$name::File> = OnceLock::new();
            FILE.get_or_init(|| {
                decode(include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".bin")))
            })
        }
    )*};
}

matrices!(declare);

/// The digest of all matrices: changes when any fact does, and so tells whether a lock was made from other facts.
pub const REVISION: &str = env!("MATRICES_REVISION");

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("build.rs wrote it from the same type")
}

#[cfg(test)]
mod tests;
