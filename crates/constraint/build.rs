//! Checks every matrix and turns it from TOML into a compact binary form, so that no run of the program parses TOML.

#[path = "src/matrix/rows/mod.rs"]
mod rows;

use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::Digest as _;

fn main() {
    let matrices = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../matrices");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", matrices.display());
    println!("cargo::rerun-if-changed=src/matrix/rows");
    revision(&matrices);
    compile::<rows::cuda::File>(&matrices, &out, "cuda");
    compile::<rows::driver::File>(&matrices, &out, "driver");
    compile::<rows::bound::File>(&matrices, &out, "bound");
    compile::<rows::broken::File>(&matrices, &out, "broken");
    compile::<rows::companions::File>(&matrices, &out, "companions");
    compile::<rows::conda::File>(&matrices, &out, "conda");
    compile::<rows::indexes::File>(&matrices, &out, "indexes");
    compile::<rows::numpy_abi::File>(&matrices, &out, "numpy_abi");
    compile::<rows::onnx::File>(&matrices, &out, "onnx");
    compile::<rows::onnxruntime::File>(&matrices, &out, "onnxruntime");
    compile::<rows::opens::File>(&matrices, &out, "opens");
    compile::<rows::owners::File>(&matrices, &out, "owners");
    compile::<rows::torch::File>(&matrices, &out, "torch");
    compile::<rows::gpus::File>(&matrices, &out, "gpus");
    compile::<rows::images::File>(&matrices, &out, "images");
    compile::<rows::libraries::File>(&matrices, &out, "libraries");
    compile::<rows::products::File>(&matrices, &out, "products");
    compile::<rows::python::File>(&matrices, &out, "python");
}

/// Tells the crate a digest of all matrices, by content: the same facts give the same digest on every machine.
fn revision(matrices: &Path) {
    let mut paths: Vec<PathBuf> = fs::read_dir(matrices)
        .expect("the folder of matrices can be read")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let mut digest = sha2::Sha256::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // A checkout with other line ends has the same facts.
        digest.update(text.replace('\r', "").as_bytes());
    }
    let hex: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=MATRICES_REVISION={hex}");
}

/// Reads `matrices/NAME.toml` as `T` and writes `OUT_DIR/NAME.bin`.
fn compile<T: serde::de::DeserializeOwned + serde::Serialize>(
    matrices: &Path,
    out: &Path,
    name: &str,
) {
    let path = matrices.join(name).with_extension("toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file: T = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let bytes = postcard::to_stdvec(&file).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    fs::write(out.join(name).with_extension("bin"), bytes)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
}
