//! Edits of every layout, made and read again.

use super::*;
use crate::input::{MemoryLoader, read};

fn entry<'a>(input: &'a Input, name: &str) -> &'a Entry {
    let all = input.entries.iter().chain(&input.constraints);
    let mut named = all.filter(|e| e.raw_name == name);
    named.next().unwrap_or_else(|| panic!("no {name}"))
}

fn edited(file: &str, text: &str, name: &str, amendment: Amendment<'_>, hashes: &[&str]) -> String {
    let input = read(text.as_bytes(), file, &MemoryLoader::default());
    let hashes: Vec<String> = hashes.iter().map(|hash| (*hash).to_owned()).collect();
    let edits = Rewriter::new(&input)
        .edits(entry(&input, name), amendment, &hashes)
        .expect("it can be written");
    let texts = apply(&input, &edits).expect("no overlap");
    texts.into_values().next().expect("a text")
}

fn pinned(file: &str, text: &str, name: &str, now: &str) -> String {
    edited(file, text, name, Amendment::Versions { now }, &[])
}

#[test]
fn only_the_version_changes() {
    let cases = [
        ("torch==2.3.1  # why\nx\n", "==2.4.0", "torch==2.4.0  # why\nx\n"),
        (
            "torch == 2.3.1 ; python_version<'4'\r\n",
            "==2.4.0",
            "torch == 2.4.0 ; python_version<'4'\r\n",
        ),
        ("torch[x] \\\n  ==2.3.1\n", "==2.4.0+cu118", "torch[x] \\\n  ==2.4.0+cu118\n"),
        ("torch>=2.1,<3\n", ">=2.1,<2.3", "torch>=2.1,<2.3\n"),
        ("torch [x] # any", "<2", "torch [x]<2 # any"),
        ("torch", "==2", "torch==2"),
        ("torch (>=1)", ">=2", "torch (>=2)"),
        ("torch==2.1.*", "==2.2.0", "torch==2.2.0"),
    ];
    for (text, now, wanted) in cases {
        assert_eq!(pinned("requirements.txt", text, "torch", now), wanted);
    }
}

#[test]
fn extras_are_added_or_replaced() {
    let cases = [
        ("ort==1 # x\n", "ort[a,b]==1 # x\n"),
        ("ort [c] ; python_version > '3'", "ort[a,b] ; python_version > '3'"),
        ("ort", "ort[a,b]"),
    ];
    for (text, wanted) in cases {
        let now = Amendment::Extras { now: "a,b" };
        assert_eq!(edited("requirements.txt", text, "ort", now, &[]), wanted);
    }
    let docker = "FROM python:3.10\nRUN pip install ort==1 x\n";
    let now = Amendment::Extras { now: "a" };
    assert_eq!(
        edited("Dockerfile", docker, "ort", now, &[]),
        docker.replace("ort==1", "'ort[a]==1'")
    );
}

#[test]
fn words_of_commands_are_quoted_when_they_must_be() {
    let docker =
        "FROM python:3.10\nRUN pip install torch==2.3.1 \\\n    numpy 'scipy==1.0' && ls\n";
    assert_eq!(
        pinned("Dockerfile", docker, "numpy", "<2"),
        docker.replace(" numpy ", " 'numpy<2' ")
    );
    assert_eq!(pinned("Dockerfile", docker, "torch", "==2.4"), docker.replace("2.3.1", "2.4"));
    assert_eq!(pinned("Dockerfile", docker, "scipy", "<2"), docker.replace("==1.0", "<2"));
    let added = edited("Dockerfile", docker, "scipy", Amendment::Add { text: "onnx<2" }, &[]);
    assert_eq!(added, docker.replace("'scipy==1.0'", "'scipy==1.0' 'onnx<2'"));
    let removed = edited("Dockerfile", docker, "scipy", Amendment::Remove, &[]);
    assert_eq!(removed, docker.replace(" 'scipy==1.0'", ""));
    let index = Amendment::Index { url: "https://index.example/whl" };
    let asked = edited("Dockerfile", docker, "torch", index, &[]);
    assert_eq!(
        asked,
        docker.replace("torch==2.3.1", "torch==2.3.1 --extra-index-url https://index.example/whl")
    );
}

#[test]
fn hashes_are_replaced_in_their_layout() {
    let text = "numpy==1.0 \\\r\n    --hash=sha256:aa \\\r\n    --hash=sha256:bb\r\n    # via torch\r\ntorch==2 --hash=sha256:cc\r\n";
    let now = Amendment::Versions { now: "==1.1" };
    let two =
        edited("requirements.txt", text, "numpy", now, &["sha256:11", "sha256:22", "sha256:33"]);
    assert_eq!(
        two,
        "numpy==1.1 \\\r\n    --hash=sha256:11 \\\r\n    --hash=sha256:22 \\\r\n    --hash=sha256:33\r\n    # via torch\r\ntorch==2 --hash=sha256:cc\r\n"
    );
    let one = edited("requirements.txt", text, "torch", now, &["sha256:11", "sha256:22"]);
    assert!(one.ends_with("torch==1.1 --hash=sha256:11 --hash=sha256:22\r\n"), "{one}");
    let added = Amendment::Add { text: "mpmath==1" };
    let added = edited("requirements.txt", text, "numpy", added, &["sha256:99"]);
    assert!(
        added.contains("# via torch\r\nmpmath==1 \\\r\n    --hash=sha256:99\r\ntorch==2"),
        "{added}"
    );
    let input = read(text.as_bytes(), "requirements.txt", &MemoryLoader::default());
    let refused = Rewriter::new(&input).edits(entry(&input, "numpy"), now, &[]);
    assert!(refused.is_err(), "no pin without hashes in a file that has them");
}

#[test]
fn lists_of_toml_and_yaml_keep_their_form() {
    let toml =
        "[project]\nname = \"x\"\ndependencies = [\n    \"torch==2.3.1\", # why\n    'numpy',\n]\n";
    assert_eq!(pinned("pyproject.toml", toml, "numpy", "<2"), toml.replace("'numpy'", "'numpy<2'"));
    let add = Amendment::Add { text: "onnx<2" };
    assert_eq!(
        edited("pyproject.toml", toml, "torch", add, &[]),
        toml.replace("\"torch==2.3.1\"", "\"torch==2.3.1\",\n    \"onnx<2\"")
    );
    assert_eq!(
        edited("pyproject.toml", toml, "torch", Amendment::Remove, &[]),
        toml.replace("    \"torch==2.3.1\", # why\n", "")
    );
    let inline = "[project]\nname = \"x\"\ndependencies = [\"torch==2.3.1\", \"numpy\"]\n";
    assert_eq!(
        edited("pyproject.toml", inline, "torch", Amendment::Remove, &[]),
        inline.replace("\"torch==2.3.1\", ", "")
    );
    assert_eq!(
        edited("pyproject.toml", inline, "numpy", add, &[]),
        inline.replace("\"numpy\"]", "\"numpy\", \"onnx<2\"]")
    );
    let yaml = "dependencies:\n  - python=3.10\n  - pip:\n    - \"torch==2.3.1\"\n    - numpy\n";
    assert_eq!(pinned("environment.yml", yaml, "torch", "==2.4"), yaml.replace("2.3.1", "2.4"));
    assert_eq!(
        edited("environment.yml", yaml, "torch", add, &[]),
        yaml.replace("    - numpy", "    - onnx<2\n    - numpy")
    );
    let index = Amendment::Index { url: "https://index.example/whl" };
    assert_eq!(
        edited("environment.yml", yaml, "torch", index, &[]),
        yaml.replace(
            "    - \"torch",
            "    - --extra-index-url https://index.example/whl\n    - \"torch"
        )
    );
}

#[test]
fn poetry_keys_are_rewritten_and_added() {
    let toml = "[tool.poetry.dependencies]\npython = \"^3.10\"\ntorch = \"2.3.1\" # why\n";
    assert_eq!(pinned("pyproject.toml", toml, "torch", "==2.4"), toml.replace("2.3.1", "==2.4"));
    let add = Amendment::Add { text: "numpy<2" };
    assert_eq!(
        edited("pyproject.toml", toml, "torch", add, &[]),
        format!("{toml}numpy = \"<2\"\n")
    );
}

#[test]
fn an_index_follows_those_that_are_there() {
    let index = Amendment::Index { url: "https://index.example/whl" };
    let line = "--extra-index-url https://index.example/whl\n";
    let text = "# pins\n--index-url https://a.example/simple\n\nnumpy\ntorch==2\n";
    assert_eq!(
        edited("requirements.txt", text, "torch", index, &[]),
        text.replace("simple\n", &format!("simple\n{line}"))
    );
    let text = "# pins\nnumpy\ntorch==2";
    assert_eq!(
        edited("requirements.txt", text, "torch", index, &[]),
        text.replace("numpy", &format!("{line}numpy"))
    );
    let add = Amendment::Add { text: "onnx" };
    assert_eq!(edited("requirements.txt", text, "torch", add, &[]), format!("{text}\nonnx"));
}

#[test]
fn overlapping_edits_are_refused_and_equal_ones_made_once() {
    let input = read(b"torch==2\n", "requirements.txt", &MemoryLoader::default());
    let edit = |start, end| TextEdit { span: Span { file: 0, start, end }, new: "x".to_owned() };
    assert!(apply(&input, &[edit(0, 4), edit(3, 5)]).is_err());
    let texts = apply(&input, &[edit(0, 5), edit(0, 5)]).expect("the same edit twice");
    assert_eq!(texts.get(&0).map(String::as_str), Some("x==2\n"));
}
