//! What the documents say of the tree is so.

use std::path::Path;

/// The top folder of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every path of the tree that stands between backticks in a document: it has a slash, and begins with a folder at the top.
fn paths(text: &str) -> Vec<&str> {
    const TOP: [&str; 7] =
        ["crates/", "matrices/", "tests/", "docs/", "examples/", "benches/", ".github/"];
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| TOP.iter().any(|top| word.starts_with(top))).collect()
}

/// Whether something has that name; one `*` stands for any part of the last name, and a word in capitals for a new file.
fn exists(path: &str) -> bool {
    let new = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    let (folder, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
    let folder = root().join(folder);
    if new(name) {
        return folder.is_dir();
    }
    let Some((start, end)) = name.split_once('*') else { return folder.join(name).exists() };
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.filter_map(Result::ok).any(|entry| {
            let found = entry.file_name();
            let found = found.to_string_lossy();
            found.starts_with(start) && found.ends_with(end)
        })
    })
}

#[test]
fn files_that_documents_name_are_there() {
    for document in ["CONTRIBUTING.md", "docs/architecture.md"] {
        let text = std::fs::read_to_string(root().join(document)).unwrap();
        let named = paths(&text);
        assert!(named.len() >= 3, "{document} names {} files", named.len());
        let missing: Vec<&str> = named.into_iter().filter(|path| !exists(path)).collect();
        assert!(missing.is_empty(), "{document} names what is not there: {missing:?}");
    }
}

#[test]
fn a_file_that_is_gone_is_noticed() {
    assert!(exists("crates/cli/src/main.rs") && exists("matrices/*.toml"));
    assert!(!exists("crates/cli/src/gone.rs") && !exists("matrices/*.gone"));
    assert_eq!(
        paths("see `crates/x.rs` and `cargo test`, `docs/y.md`"),
        ["crates/x.rs", "docs/y.md"]
    );
}
