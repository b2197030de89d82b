//! The rows of the matrices, typed, and no logic.
//!
//! The build script reads the TOML files through these same types, so a row that cannot be read stops the build with its
//! file and line. Nothing here may depend on more of the crate than the build script has: names, platforms and versions.

/// Calls a macro with every matrix: its name, and what it is about. Each is `matrices/NAME.toml`, with its rows in `NAME.rs`.
macro_rules! matrices {
    ($with:ident) => {
        $with! {
            bound: "Distributions that use one CUDA major version.",
            broken: "Releases that cannot work.",
            companions: "Distributions that belong to one torch.",
            compiled: "How much distributions depend on their compiled parts.",
            conda: "Conda packages of the CUDA stack.",
            cuda: "CUDA toolkits and the PTX they write.",
            driver: "Driver branches, driver floors and forward compatibility.",
            gpus: "Compute capabilities.",
            images: "Tags of the `nvidia/cuda` image.",
            indexes: "Public indexes.",
            libraries: "Wheels of NVIDIA libraries.",
            numpy_abi: "Builds against the C API of NumPy 1.",
            onnx: "What ONNX runtimes read and exporters write.",
            onnxruntime: "Builds of onnxruntime-gpu.",
            opens: "Libraries that builds open by name.",
            owners: "Import packages with one owner.",
            products: "GPU product names and cloud instances.",
            python: "Minor versions of CPython.",
            sdists: "How source distributions are built.",
            torch: "Builds of torch.",
            wheels: "What wheels say of themselves.",
        }
    };
}

/// Rows without `from` and `to`.
macro_rules! rows {
    ($($row:ident),+ $(,)?) => {
        $(impl super::table::Row for $row {})+
    };
}

/// Rows with `from` and `to`, and the fields that make two of them speak of the same thing.
macro_rules! spans {
    ($row:ident $(, $field:ident)*) => {
        impl super::table::Row for $row {
            fn span(&self) -> Option<&super::table::Span> {
                Some(&self.span)
            }

            fn subjects(&self) -> Vec<String> {
                let fields: &[String] = &[$(format!("{} {:?}", stringify!($field), self.$field)),*];
                vec![fields.join(", ")]
            }
        }
    };
}

/// Rows about the distribution in a field.
macro_rules! named {
    ($($row:ident),+ $(,)?) => {
        $(impl super::table::OfName for $row {
            fn name(&self) -> Name {
                self.name
            }
        })+
    };
}

pub mod bound;
pub mod broken;
pub mod companions;
pub mod compiled;
pub mod conda;
pub mod cuda;
pub mod driver;
pub mod gpus;
pub mod images;
pub mod indexes;
pub mod libraries;
pub mod numpy_abi;
pub mod onnx;
pub mod onnxruntime;
pub mod opens;
pub mod owners;
pub mod products;
pub mod python;
pub mod sdists;
pub mod table;
pub mod torch;
pub mod wheels;
