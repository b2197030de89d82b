//! Checks every matrix and turns it from TOML into a compact binary form, so that no run of the program parses TOML.

// Vocabulary of the crate that rows are made of.
#[allow(dead_code, reason = "the script reads and writes, and uses no more")]
#[path = "src/name.rs"]
mod name;
#[allow(dead_code, reason = "the script reads and writes, and uses no more")]
#[path = "src/machine/platform.rs"]
mod platform;
#[allow(dead_code, reason = "the script reads and writes, and uses no more")]
#[path = "src/version/system.rs"]
mod system;

mod machine {
    pub(crate) use super::platform::Platform;
}

mod version {
    pub(crate) use super::system::SystemVersion;
}

#[allow(dead_code, reason = "the script reads and writes, and uses no more")]
#[macro_use]
#[path = "src/matrix/rows/mod.rs"]
mod rows;

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Digest as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

macro_rules! compile_all {
    ($($name:ident: $about:literal),* $(,)?) => {
        fn compile_all(matrices: &Path, out: &Path) -> Vec<&'static str> {
            $(compile::<rows::$name::File>(matrices, out, stringify!($name));)*
            vec![$(stringify!($name)),*]
        }
    };
}

matrices!(compile_all);

fn main() {
    let matrices = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"))
        .join("../../matrices");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed={}", matrices.display());
    for vocabulary in ["matrix/rows", "name.rs", "machine/platform.rs", "version/system.rs"] {
        println!("cargo::rerun-if-changed=src/{vocabulary}");
    }
    let compiled = compile_all(&matrices, &out);
    revision(&matrices, &compiled);
}

/// Tells the crate a digest of all matrices, by content: the same facts give the same digest on every machine.
fn revision(matrices: &Path, compiled: &[&str]) {
    let mut paths: Vec<PathBuf> = fs::read_dir(matrices)
        .expect("the folder of matrices can be read")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    let mut digest = sha2::Sha256::new();
    for path in paths {
        let listed = path.file_stem().is_some_and(|stem| compiled.iter().any(|name| stem == *name));
        assert!(listed, "{} is not listed in src/matrix/rows/mod.rs", path.display());
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // A checkout with other line ends has the same facts.
        digest.update(text.replace('\r', "").as_bytes());
    }
    let hex: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=MATRICES_REVISION={hex}");
}

/// Reads `matrices/NAME.toml` as `T` and writes `OUT_DIR/NAME.bin`.
fn compile<T: DeserializeOwned + Serialize>(matrices: &Path, out: &Path, name: &str) {
    let path = matrices.join(name).with_extension("toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file: T = read(&text).unwrap_or_else(|(line, message)| {
        // Not a panic: its message would drown in the frame around it.
        println!("cargo::error=matrices/{name}.toml:{line}: {message}");
        std::process::exit(1)
    });
    let bytes = postcard::to_stdvec(&file).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    fs::write(out.join(name).with_extension("bin"), bytes)
        .unwrap_or_else(|e| panic!("{name}: {e}"));
}

/// The file, or the line and the reason why it cannot be read.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, (usize, String)> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let told = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        (line(at), error.message().to_owned())
    };
    let mut table = DeTable::parse(text).map_err(told)?.into_inner();
    for (_, value) in table.iter_mut() {
        let at = value.span();
        match value.get_mut() {
            DeValue::Array(rows) => {
                for row in rows.iter_mut() {
                    let at = row.span();
                    if let DeValue::Table(keys) = row.get_mut() {
                        prepare(keys, at.clone(), line(at.start))?;
                    }
                }
            }
            DeValue::Table(keys) => prepare(keys, at.clone(), line(at.start))?,
            _ => {}
        }
    }
    let root = Spanned::new(0..text.len(), table);
    T::deserialize(toml::de::Deserializer::from(root)).map_err(told)
}

/// Checks that a row has a source, and puts what it says of releases in one place.
fn prepare(
    row: &mut DeTable<'_>,
    at: std::ops::Range<usize>,
    line: usize,
) -> Result<(), (usize, String)> {
    let blank = |source: &Spanned<DeValue<'_>>| {
        source.get_ref().as_str().is_none_or(|text| text.trim().is_empty())
    };
    let sources = row.get("source").and_then(|source| source.get_ref().as_array());
    if sources.is_none_or(|sources| sources.is_empty() || sources.iter().any(blank)) {
        return Err((line, "a row needs a source".to_owned()));
    }
    if !(row.contains_key("from") && row.contains_key("to")) {
        return Ok(());
    }
    let mut span = DeTable::new();
    for key in ["from", "to", "gap"] {
        if let Some((name, value)) = row.remove_entry(key) {
            span.insert(name, value);
        }
    }
    let number = DeValue::String(line.to_string().into());
    span.insert(Spanned::new(at.clone(), "line".into()), Spanned::new(at.clone(), number));
    row.insert(Spanned::new(at.clone(), "span".into()), Spanned::new(at, DeValue::Table(span)));
    Ok(())
}
