//! Every reader on damaged copies of real files: it ends, and says what is wrong instead of panicking.
//!
//! The copies are made from the cases of `tests/fixtures`, the recorded locks and the examples. `PROPTEST_CASES` says how
//! many there are in a run; the scheduled workflow makes far more of them than an ordinary test run.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;

use crate::input::{MemoryLoader, read};
use crate::manifest::Manifest;
use crate::problem::ProblemFile;
use crate::pylock::Pylock;

/// Files by name.
static CORPUS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut corpus = Vec::new();
    for list in ["cases.jsonl", "more_cases.jsonl"] {
        let text = std::fs::read_to_string(top.join("tests/fixtures").join(list)).expect("a list");
        for line in text.lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case");
            if let (Some(name), Some(input)) = (case["file"].as_str(), case["input"].as_str()) {
                corpus.push((name.to_owned(), input.as_bytes().to_vec()));
            }
        }
    }
    for folder in ["examples", "tests"] {
        gather(&top.join(folder), &mut corpus);
    }
    assert!(corpus.len() > 50, "the corpus is there");
    corpus
});

/// The files below `folder` that a reader takes, without the long recordings.
fn gather(folder: &Path, corpus: &mut Vec<(String, Vec<u8>)>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let known = path.extension().is_some_and(|end| {
            ["txt", "toml", "yml", "yaml", "lock"].iter().any(|known| end == *known)
        });
        if path.is_dir() {
            gather(&path, corpus);
        } else if known && path.metadata().is_ok_and(|found| found.len() < 20_000) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            corpus.push((name, std::fs::read(&path).expect("a file")));
        }
    }
}

/// What is put into files: ends and beginnings of what readers look for, and what they do not expect.
const PIECES: [&[u8]; 28] = [
    b"==",
    b"\n",
    b"\r",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b"\"",
    b"'''",
    b"\\\n",
    b"#",
    b";",
    b"${A}",
    b"$A$A",
    b"<<EOF",
    b"-r x",
    b"--hash=sha256:",
    b"99999999999999999999",
    b"\xe2\x80\xae",
    b"&a *a",
    b"[[package]]",
    b"inf",
    b"((((((((((((((((",
    b"!=1,!=1,!=1,!=1",
];

#[derive(Clone, Debug)]
enum Change {
    Insert(usize, usize),
    Delete(usize, usize),
    Repeat(usize, usize, usize),
    Flip(usize, u8),
    Cut(usize),
    Splice(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>();
    prop_oneof![
        (at, 0..PIECES.len()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (at, 1..30usize).prop_map(|(at, length)| Change::Delete(at, length)),
        (at, 1..60usize, 2..30usize)
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        (at, 0..8u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        at.prop_map(Change::Cut),
        (at, at, at).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let within = |at: usize, bytes: &[u8]| at % (bytes.len() + 1);
    match *change {
        Change::Insert(at, piece) => {
            let at = within(at, bytes);
            bytes.splice(at..at, PIECES[piece].iter().copied());
        }
        Change::Delete(at, length) => {
            let at = within(at, bytes);
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Change::Repeat(at, length, times) => {
            let at = within(at, bytes);
            let piece = bytes[at..(at + length).min(bytes.len())].repeat(times);
            bytes.splice(at..at, piece);
        }
        Change::Flip(at, bit) => {
            let at = within(at, bytes);
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        Change::Cut(at) => bytes.truncate(within(at, bytes)),
        Change::Splice(at, other, from) => {
            let other = &CORPUS[other % CORPUS.len()].1;
            bytes.truncate(within(at, bytes));
            bytes.extend_from_slice(&other[within(from, other)..]);
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_are_read_to_their_end(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..8),
    ) {
        let (name, original) = &CORPUS[file.index(CORPUS.len())];
        let mut bytes = original.clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        let mut loader = MemoryLoader::default();
        loader.files.insert("x".to_owned(), original.clone());
        loader.variables.insert("A".to_owned(), "torch".to_owned());
        let input = read(&bytes, name, &loader);
        // What is said points into the files.
        for problem in &input.problems {
            let file = input.files.get(problem.span.file).expect("a file");
            prop_assert!(problem.span.start <= problem.span.end);
            prop_assert!(problem.span.end <= file.text.len(), "{problem:?}");
        }
        let render = |error: crate::diagnostic::Diagnostics| error.to_string();
        let _ = Manifest::parse_bytes(&bytes, name).map_err(render);
        let _ = ProblemFile::parse(&bytes, name).map_err(render);
        // What is read as a lock is written, and read again as the same.
        if let Ok(lock) = Pylock::parse_bytes(&bytes, name) {
            let written = lock.to_toml();
            let again = Pylock::parse(&written, name).map_err(render);
            prop_assert_eq!(again.map(|lock| lock.to_toml()), Ok(written));
        }
    }
}
