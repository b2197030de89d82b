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
    /// Driver floors, driver branches and forward compatibility (`matrices/driver.toml`).
    driver
);

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("build.rs wrote it from the same type")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_row_has_a_source() {
        for row in &super::driver().floor {
            assert!(!row.source.is_empty(), "{row:?}");
        }
    }
}
