//! Files that are known for what they are and not read: their lines are no requirements, and to report each of them as a
//! faulty one would help nobody.

use cuda_lock_constraint::requirement::{Mode, Parts};

use super::decode::decode;
use super::sniff::{Kind, base_name, sniff};

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRead {
    /// What it is, to follow "it is".
    pub what: &'static str,
    /// What to do, when something is known.
    pub help: Option<&'static str>,
}

/// The kinds of files that have a name of their own, by the whole name or by what it ends with.
const NAMED: &[(&str, &str, Option<&str>)] = &[
    ("pipfile", "a Pipfile", Some("`pipenv requirements > requirements.txt` writes its pins")),
    (
        "pipfile.lock",
        "a lock of pipenv",
        Some("`pipenv requirements > requirements.txt` writes its pins"),
    ),
    ("jenkinsfile", "a Jenkinsfile", Some("name the requirements file that its steps install")),
    ("setup.cfg", "a setup.cfg", Some(PROJECT)),
    ("setup.py", "a setup.py", Some(PROJECT)),
    ("tox.ini", "a tox.ini", Some("name the requirements file that it installs")),
    ("makefile", "a Makefile", Some("name the requirements file that its rules install")),
    (".ipynb", "a notebook", Some("copy its install commands into a file")),
    (".py", "a Python script without a block of PEP 723", None),
    (".whl", "a wheel", Some("write `NAME @ file:///PATH` into a requirements file")),
    (".ini", "an INI file", None),
    (".cfg", "an INI file", None),
    (".json", "JSON of no kind that is known", None),
    (".groovy", "a Jenkinsfile", Some("name the requirements file that its steps install")),
];

const PROJECT: &str = "write its requirements into `[project] dependencies` of a pyproject.toml, or judge what it installs: `pip freeze`";

/// So many significant lines are needed before their content speaks against the file.
const ENOUGH: usize = 3;

/// Whether a file is of a kind that is not read. What can be read, if only in part, is.
#[must_use]
pub fn not_read(bytes: &[u8], name: &str) -> Option<NotRead> {
    if sniff(bytes, name) != Kind::Requirements {
        // Some of them are TOML, YAML or commands as well.
        return by_name(name)
            .filter(|_| !matches!(sniff(bytes, "-"), Kind::Script | Kind::JsonList));
    }
    let head = bytes.get(..bytes.len().min(64 * 1024)).unwrap_or(bytes);
    let (text, _) = decode(head, None);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let named = by_name(name);
    if lines.is_empty() {
        return named;
    }
    let read = lines.iter().filter(|line| is_requirement(line)).count();
    if named.is_some() && read < lines.len() {
        return named;
    }
    let starts_otherwise = lines.first().is_some_and(|first| first.starts_with(['[', '{', '<']));
    let mostly_otherwise = read * 2 < lines.len() && lines.len() >= ENOUGH;
    by_content(&lines).filter(|_| starts_otherwise || mostly_otherwise)
}

fn by_name(name: &str) -> Option<NotRead> {
    let name = base_name(name);
    let fits = |pattern: &str| {
        if pattern.starts_with('.') { name.ends_with(pattern) } else { name == *pattern }
    };
    let (_, what, help) = NAMED.iter().find(|(pattern, ..)| fits(pattern))?;
    Some(NotRead { what, help: *help })
}

/// What a text without a telling name is.
fn by_content(lines: &[&str]) -> Option<NotRead> {
    let first = lines.first()?;
    let starts = |word: &str| lines.iter().any(|line| line.starts_with(word));
    let what = if first.starts_with('{') {
        "JSON of no kind that is known"
    } else if first.starts_with('<') {
        "a page of HTML or XML"
    } else if first.starts_with('[') && first.ends_with(']') {
        "an INI file"
    } else if starts("pipeline {") || starts("node {") || starts("node(") {
        "a Jenkinsfile"
    } else if starts("import ") || starts("def ") || starts("class ") {
        "a Python script without a block of PEP 723"
    } else {
        "text in which most lines are no requirements"
    };
    Some(NotRead { what, help: None })
}

/// Whether a line could stand in a requirements file, right or almost right.
fn is_requirement(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or(line).trim_end_matches('\\').trim();
    let is_word = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.[],".contains(c)) && !text.is_empty()
    };
    line.starts_with('-')
        || Parts::read(line, Mode::Strict).is_ok()
        || super::commands::is_command(line)
        || line.contains("://")
        || line.starts_with(['.', '/'])
        // A name with any comparison after it, however it is written.
        || line.split(['=', '<', '>', '~', '!', '@', ';', ' ']).next().is_some_and(is_word)
            && line.contains(['=', '<', '>'])
            && !line.contains(['(', '{', '"', '\''])
            && !line.contains(" = ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str, name: &str) -> Option<&'static str> {
        not_read(text.as_bytes(), name).map(|found| found.what)
    }

    #[test]
    fn files_with_a_name_of_their_own_are_known_by_it() {
        let pipfile = "[[source]]\nurl = \"https://pypi.example/simple\"\nverify_ssl = true\nname = \"pypi\"\n\n\
            [packages]\ntorch = \"==2.3.1\"\n\n[requires]\npython_version = \"3.11\"\n";
        assert_eq!(what(pipfile, "Pipfile"), Some("a Pipfile"));
        assert_eq!(what(pipfile, "x.txt"), Some("an INI file"));
        assert_eq!(
            what("{\"_meta\": {}, \"default\": {}}", "Pipfile.lock"),
            Some("a lock of pipenv")
        );
        let setup =
            "[metadata]\nname = x\n[options]\ninstall_requires =\n    torch>=2\n    numpy\n";
        assert_eq!(what(setup, "setup.cfg"), Some("a setup.cfg"));
        assert_eq!(what(setup, "-"), Some("an INI file"));
        let jenkins = "pipeline {\n  agent any\n  stages {\n    stage('x') {\n      steps { sh 'pip install torch' }\n    }\n  }\n}\n";
        assert_eq!(what(jenkins, "Jenkinsfile"), Some("a Jenkinsfile"));
        assert_eq!(what(jenkins, "-"), Some("a Jenkinsfile"));
        let notebook = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"source\": [\"!pip install torch\"]\n  }\n ],\n \"nbformat\": 4\n}\n";
        assert_eq!(what(notebook, "train.ipynb"), Some("a notebook"));
        assert_eq!(what(notebook, "-"), Some("JSON of no kind that is known"));
        let setup = "from setuptools import setup\nsetup(\n    name='x',\n    install_requires=['torch'],\n)\n";
        assert_eq!(what(setup, "setup.py"), Some("a setup.py"));
        assert!(
            what("import torch\n\nprint(torch.cuda.is_available())\nx = 1\n", "a.py").is_some()
        );
    }

    #[test]
    fn what_can_be_read_is_read_with_its_faults() {
        for (text, name) in [
            ("", "requirements.txt"),
            ("torch==2.3.1\n", "requirements.txt"),
            ("from\n", "requirements.txt"),
            ("torch = 2.3.1\nnumpy==1.26\nonnx\n", "requirements.txt"),
            ("torch=>2.3\nnumpy=1.26.4\n-e .\nhttps://x.example/a.whl\n./local\n", "r.txt"),
            ("pip install torch\nnumpy==1.26.4\npip install onnx\n", "requirements.txt"),
            ("[project]\nname = \"x\"\n", "pyproject.toml"),
            (
                "torch==2.3.1 \\\n    --hash=sha256:00\nnumpy==1.26.4 \\\n    --hash=sha256:11\n",
                "r.txt",
            ),
            ("[{\"name\": \"torch\", \"version\": \"2.0\"}]", "list.json"),
            ("# /// script\n# dependencies = []\n# ///\nimport x\n", "a.py"),
            ("# /// script\n# dependencies = []\n# ///\n", "a.py"),
            ("FROM python:3.11\nRUN pip install torch\n", "Dockerfile"),
        ] {
            assert_eq!(what(text, name), None, "{name}: {text}");
        }
    }
}
