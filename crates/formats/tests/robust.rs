//! No bytes make a reader panic, and the time it takes grows with the size of the file.

use std::time::{Duration, Instant};

use cuda_lock_formats::input::{Input, Kind, MemoryLoader, read, read_as};
use proptest::prelude::*;

const KINDS: [Kind; 16] = [
    Kind::Requirements,
    Kind::PipList,
    Kind::JsonList,
    Kind::CondaList,
    Kind::CondaExplicit,
    Kind::CondaEnvironment,
    Kind::Pyproject,
    Kind::Script,
    Kind::Pixi,
    Kind::UvLock,
    Kind::PoetryLock,
    Kind::PdmLock,
    Kind::Pylock,
    Kind::Dockerfile,
    Kind::Ci,
    Kind::Shell,
];

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/inputs");
    let mut all: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("the fixtures")
        .filter_map(|e| e.ok())
        .filter(|e| e.path().extension().is_some_and(|x| x == "txt"))
        .map(|e| {
            (e.file_name().to_string_lossy().into_owned(), std::fs::read(e.path()).expect("a file"))
        })
        .collect();
    all.sort();
    all
}

/// Every place lies in its file and on the edges of characters.
fn check(input: &Input) {
    let valid = |span: cuda_lock_formats::input::Span| {
        let text = &input.files[span.file].text;
        assert!(text.get(span.start..span.end).is_some(), "{span:?} of {:?}", text);
        assert!(input.position(span).line >= 1);
    };
    for entry in input.entries.iter().chain(&input.constraints).chain(&input.overrides) {
        valid(entry.span);
        valid(entry.name_span);
        entry.version_span.into_iter().chain(entry.specifier_span).for_each(valid);
        entry.hashes.iter().for_each(|h| valid(h.span));
        entry.wheels.iter().for_each(|w| valid(w.span));
        let _ = entry.pinned();
        assert!(
            entry.indexes < input.indexes.len() && entry.environment < input.environments.len()
        );
    }
    for problem in &input.problems {
        valid(problem.span);
    }
    assert!(
        !input.entries.is_empty() || !input.constraints.is_empty() || !input.problems.is_empty()
    );
}

fn read_all_ways(bytes: &[u8]) {
    check(&read(bytes, "x", &MemoryLoader::default()));
    for kind in KINDS {
        let input = read_as(kind, bytes, "x", &MemoryLoader::default());
        for problem in &input.problems {
            let text = &input.files[problem.span.file].text;
            assert!(
                text.get(problem.span.start..problem.span.end).is_some(),
                "{kind:?} {problem:?}"
            );
        }
        if !input.entries.is_empty() {
            check(&input);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all_ways(&bytes);
    }

    #[test]
    fn any_text_of_the_formats(text in "([-#=\\[\\]{}<>|&*!:;,.@$\\\\\"'` \n\t\r/a-cA-C0-9é＝]|torch|==|pip install |RUN |FROM |<<E|\\$\\{A\\}|- |: |--hash=|-r x|-e |; |extra|\\[\\[package\\]\\]\n|name = |version = ){0,60}") {
        read_all_ways(text.as_bytes());
    }

    #[test]
    fn changed_files(which in any::<prop::sample::Index>(), changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..8)) {
        let fixtures = fixtures();
        let (_, original) = which.get(&fixtures);
        let mut bytes = original.clone();
        for (at, byte, how) in changes {
            if bytes.is_empty() { break; }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        read_all_ways(&bytes);
    }
}

#[test]
fn time_grows_with_the_size() {
    let repeated = |unit: &str| unit.repeat(200_000 / unit.len());
    let texts = [
        repeated("torch==2.3.1 \\\n    --hash=sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"),
        repeated("a \\\n"),
        repeated("${A}"),
        repeated("(") + &repeated("[") + &repeated("{"),
        "a; ".to_owned() + &repeated("("),
        "a; ".to_owned() + &repeated("os_name == 'x' or "),
        "a==".to_owned() + &repeated("1."),
        "a[".to_owned() + &repeated("b,"),
        "-".to_owned() + &repeated("q"),
        "-e ".to_owned() + &repeated("x@"),
        "FROM x\nRUN pip install ".to_owned() + &repeated("a==1 "),
        "FROM x\n".to_owned() + &repeated("RUN A=1 pip install x\n"),
        repeated("FROM x AS y\n"),
        "FROM x\nENV A=".to_owned() + &repeated("$A"),
        "FROM x\n".to_owned() + &repeated("RUN <<E\n"),
        "FROM x\n".to_owned() + &repeated("ENV A=1 B=2\n"),
        "FROM x\n".to_owned() + &repeated("COPY a b\nRUN pip install -r b\n"),
        "pip install ".to_owned() + &repeated("\"a\\"),
        "pip install ".to_owned() + &repeated("<<x "),
        "dependencies:\n".to_owned() + &repeated("  - a=1\n"),
        "dependencies:\n".to_owned() + &repeated("  - "),
        "a:\n".to_owned() + &repeated(" - &x [*x, *x]\n"),
        "script:\n".to_owned() + &repeated(" - 'pip install a'\n"),
        "script: ".to_owned() + &repeated("${{ a }}"),
        repeated("\"a\": '"),
        "[project]\ndependencies = [".to_owned() + &repeated("\"a==1\", ") + "]",
        "version = 1\n".to_owned() + &repeated("[[package]]\nname = \"a\"\nversion = \"1\"\n"),
        "[".to_owned() + &repeated("{\"name\": \"a\", \"version\": \"1\"},") + "{}]",
    ];
    for text in &texts {
        let bytes = text.as_bytes();
        for kind in KINDS {
            let start = Instant::now();
            let _ = read_as(kind, bytes, "x", &MemoryLoader::default());
            let took = start.elapsed();
            // Generous for a debug build on a busy machine; quadratic work would take minutes.
            assert!(
                took < Duration::from_secs(20),
                "{kind:?} took {took:?} for {:?}…",
                text.get(..40)
            );
        }
    }
}
