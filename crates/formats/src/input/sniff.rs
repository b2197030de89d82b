//! What kind of file it is, by its content.

use cuda_lock_constraint::requirement::{Mode, Parts};

use super::commands::is_command;
use super::decode::decode;
use super::script::is_script;

/// A kind of file that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// requirements.txt, constraints.txt, `pip freeze`.
    Requirements,
    /// `pip list`.
    PipList,
    /// `pip list --format=json`, `conda list --json`.
    JsonList,
    /// `conda list`, as a table or with `--export`.
    CondaList,
    /// `conda list --explicit`.
    CondaExplicit,
    /// environment.yml.
    CondaEnvironment,
    /// pyproject.toml.
    Pyproject,
    /// A Python script with a block of PEP 723.
    Script,
    /// pixi.toml.
    Pixi,
    /// uv.lock.
    UvLock,
    /// poetry.lock.
    PoetryLock,
    /// pdm.lock.
    PdmLock,
    /// pylock.toml (PEP 751).
    Pylock,
    /// Dockerfile, Containerfile.
    Dockerfile,
    /// GitLab CI, GitHub workflows and other YAML with images and commands.
    Ci,
    /// Commands of a shell.
    Shell,
    /// A folder of installed distributions.
    SitePackages,
}

/// So many lines are looked at.
const LOOKED_AT: usize = 400;

/// Tells the kind of a file by its content; its name decides only where the content fits several kinds.
#[must_use]
pub fn sniff(bytes: &[u8], name: &str) -> Kind {
    // Enough to see the first lines in any encoding.
    let head = bytes.get(..bytes.len().min(64 * 1024)).unwrap_or(bytes);
    let (text, _) = decode(head, None);
    let lines: Vec<&str> = text.lines().take(LOOKED_AT).collect();
    sniff_text(&text, &lines, &base_name(name))
}

/// The name of the file without its folders, in lower case.
pub(super) fn base_name(name: &str) -> String {
    name.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase()
}

fn sniff_text(text: &str, lines: &[&str], name: &str) -> Kind {
    // Before comments are left out: the block is one.
    if is_script(lines.iter().copied()) {
        return Kind::Script;
    }
    let significant: Vec<&str> =
        lines.iter().map(|l| l.trim()).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let Some(first) = significant.first() else {
        return if lines.iter().any(|l| is_conda_list_comment(l)) {
            Kind::CondaList
        } else {
            by_name(name)
        };
    };
    if significant.contains(&"@EXPLICIT") {
        return Kind::CondaExplicit;
    }
    if text.trim_start().starts_with('[')
        && text.contains("\"name\"")
        && text.contains("\"version\"")
        && serde_json_starts(text)
    {
        return Kind::JsonList;
    }
    if is_pip_list(&significant) {
        return Kind::PipList;
    }
    if lines.iter().any(|l| is_conda_list_comment(l)) || is_conda_export(&significant) {
        return Kind::CondaList;
    }
    if is_dockerfile(&significant)
        || (name.contains("dockerfile") || name.contains("containerfile"))
    {
        return Kind::Dockerfile;
    }
    if let Some(kind) = toml(&significant, name) {
        return kind;
    }
    if let Some(kind) = yaml(lines, name) {
        return kind;
    }
    let shebang = lines
        .first()
        .is_some_and(|l| l.starts_with("#!") && (l.contains("sh") || l.contains("bash")));
    if shebang || name.ends_with(".sh") || is_shell(first, &significant) {
        return Kind::Shell;
    }
    by_name(name)
}

fn by_name(name: &str) -> Kind {
    match name {
        "uv.lock" => Kind::UvLock,
        "poetry.lock" => Kind::PoetryLock,
        "pdm.lock" => Kind::PdmLock,
        "pyproject.toml" => Kind::Pyproject,
        "pixi.toml" => Kind::Pixi,
        "environment.yml" | "environment.yaml" => Kind::CondaEnvironment,
        _ if name.starts_with("pylock.") && name.ends_with(".toml") => Kind::Pylock,
        _ if name.ends_with(".yml") || name.ends_with(".yaml") => Kind::Ci,
        _ => Kind::Requirements,
    }
}

fn serde_json_starts(text: &str) -> bool {
    text.trim_start().trim_start_matches('[').trim_start().starts_with('{')
}

fn is_conda_list_comment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("# packages in environment at")
        || line.starts_with("# This file may be used to create an environment")
        || (line.starts_with("# Name") && line.contains("Version") && line.contains("Build"))
}

/// `name=version=build` on most lines.
fn is_conda_export(lines: &[&str]) -> bool {
    let fits = |line: &&&str| {
        let parts: Vec<&str> = line.split('=').collect();
        parts.len() == 3
            && parts
                .iter()
                .all(|p| !p.is_empty() && !p.contains([' ', '<', '>', '!', '~', '"', ':', '/']))
    };
    lines.iter().filter(fits).count() * 2 > lines.len()
}

fn is_pip_list(lines: &[&str]) -> bool {
    let header = lines.iter().take(20).position(|l| {
        let mut words = l.split_whitespace();
        words.next() == Some("Package") && words.next() == Some("Version")
    });
    if header.is_some_and(|at| lines.get(at + 1).is_none_or(|l| l.starts_with("--"))) {
        return true;
    }
    // The form of before 2018: `name (1.0)`.
    let old = |l: &&&str| {
        l.split_once(" (").is_some_and(|(name, rest)| {
            !name.contains(' ')
                && rest.ends_with(')')
                && rest.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    lines.iter().filter(old).count() == lines.len()
}

fn is_dockerfile(lines: &[&str]) -> bool {
    let keyword = |line: &str| line.split_whitespace().next().map(str::to_ascii_uppercase);
    let second = |line: &str| line.split_whitespace().nth(1).map(str::to_owned).unwrap_or_default();
    let first = lines.iter().find(|l| keyword(l).as_deref() != Some("ARG"));
    first.is_some_and(|line| {
        keyword(line).as_deref() == Some("FROM")
            && !second(line).is_empty()
            && !second(line).starts_with(['=', '<', '>', '~', '!', ';', '@'])
    })
}

fn toml(lines: &[&str], name: &str) -> Option<Kind> {
    let header = |wanted: &str| {
        lines.iter().any(|l| l.split('#').next().unwrap_or_default().trim() == wanted)
    };
    let starts = |wanted: &str| lines.iter().any(|l| l.starts_with(wanted));
    let key = |wanted: &str| {
        lines.iter().any(|l| {
            l.strip_prefix(wanted).is_some_and(|rest| {
                rest.trim_start().starts_with('=') && !rest.trim_start().starts_with("==")
            })
        })
    };
    if header("[[packages]]") || (key("lock-version") && key("created-by")) {
        return Some(Kind::Pylock);
    }
    if header("[[package]]") {
        let by_name = match name {
            "poetry.lock" => Some(Kind::PoetryLock),
            "pdm.lock" => Some(Kind::PdmLock),
            "uv.lock" => Some(Kind::UvLock),
            _ => None,
        };
        if starts("source = {")
            || starts("resolution-markers")
            || (key("version") && key("revision"))
        {
            return Some(Kind::UvLock);
        }
        if key("lock_version")
            || key("content_hash")
            || key("inherit_metadata")
            || key("strategy")
            || starts("# This file is @generated by PDM")
        {
            return Some(Kind::PdmLock);
        }
        if key("python-versions")
            || key("content-hash")
            || key("optional")
            || header("[package.dependencies]")
        {
            return Some(Kind::PoetryLock);
        }
        return by_name.or(Some(Kind::UvLock));
    }
    let tables =
        ["[project]", "[build-system]", "[dependency-groups]", "[[tool.", "[tool.", "[project."];
    if tables.iter().any(|t| starts(t)) {
        let is_pixi = name != "pyproject.toml"
            && (starts("[dependencies]") || starts("[pypi-dependencies]"))
            && starts("channels");
        return Some(if is_pixi { Kind::Pixi } else { Kind::Pyproject });
    }
    let pixi = ["[workspace]", "[pypi-dependencies]", "[feature.", "[dependencies]"];
    if pixi.iter().any(|t| starts(t)) {
        return Some(Kind::Pixi);
    }
    (name.ends_with(".toml") || name.ends_with(".lock")).then(|| match by_name(name) {
        Kind::Requirements => Kind::Pyproject,
        kind => kind,
    })
}

fn yaml(lines: &[&str], name: &str) -> Option<Kind> {
    // Keys of the top level: `name: …` without indentation.
    let keys: Vec<&str> = lines
        .iter()
        .filter(|l| !l.starts_with([' ', '\t', '#', '-']))
        .filter_map(|l| l.split_once(':'))
        .filter(|(key, rest)| {
            !key.is_empty()
                && !key.contains([' ', '=', '<', '>', '/', '[', '@'])
                && (rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
        })
        .map(|(key, _)| key)
        .collect();
    let has = |wanted: &[&str]| keys.iter().any(|k| wanted.contains(k));
    let inner = |wanted: &[&str]| {
        lines.iter().any(|l| {
            let line = l.trim().trim_start_matches("- ");
            wanted.iter().any(|w| line.strip_prefix(w).is_some_and(|rest| rest.starts_with(':')))
        })
    };
    let is_list = lines.iter().any(|l| l.trim_start().starts_with("- "));
    if has(&["dependencies", "channels"]) && (is_list || has(&["dependencies"])) {
        return Some(Kind::CondaEnvironment);
    }
    let top = [
        "jobs",
        "stages",
        "image",
        "script",
        "before_script",
        "services",
        "steps",
        "pipelines",
        "default",
        "runs",
    ];
    if has(&top) || (!keys.is_empty() && inner(&["script", "run", "steps", "runs-on", "image"])) {
        return Some(Kind::Ci);
    }
    // A few steps of a workflow.
    if keys.is_empty() && is_list && inner(&["run", "script", "uses"]) {
        return Some(Kind::Ci);
    }
    ((name.ends_with(".yml") || name.ends_with(".yaml")) && !keys.is_empty()).then_some(Kind::Ci)
}

/// Commands first, and no requirement that is none of them.
fn is_shell(first: &str, lines: &[&str]) -> bool {
    if !is_command(first) {
        return false;
    }
    let pins = lines
        .iter()
        .filter(|l| !is_command(l) && Parts::read(l, Mode::Strict).is_ok() && l.contains("=="))
        .count();
    let commands = lines.iter().filter(|l| is_command(l)).count();
    commands > pins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides() {
        for (text, name, kind) in [
            ("torch==2.3.1\n", "x.txt", Kind::Requirements),
            ("", "requirements.txt", Kind::Requirements),
            (
                "numpy==1.26.4\npip install torch==2.3.1\nonnxruntime-gpu==1.18.0\n",
                "requirements.txt",
                Kind::Requirements,
            ),
            ("conda install cudatoolkit=11.5\npip install torch==2.0.1+cu117", "-", Kind::Shell),
            ("$ pip install torch\n", "-", Kind::Shell),
            ("Package Version\n------- -------\ntorch   2.0\n", "-", Kind::PipList),
            ("torch (1.0.0)\nnumpy (1.16.2)\n", "-", Kind::PipList),
            ("[{\"name\": \"torch\", \"version\": \"2.0\"}]", "-", Kind::JsonList),
            (
                "# packages in environment at /opt/conda:\n#\n# Name  Version  Build  Channel\n",
                "-",
                Kind::CondaList,
            ),
            ("a=1=b\nc=2=d\n", "-", Kind::CondaList),
            ("# platform: linux-64\n@EXPLICIT\n", "-", Kind::CondaExplicit),
            ("name: x\ndependencies:\n  - python=3.10\n", "-", Kind::CondaEnvironment),
            ("ARG X=1\nFROM nvidia/cuda:$X\n", "-", Kind::Dockerfile),
            ("from\n", "requirements.txt", Kind::Requirements),
            ("[project]\nname = \"x\"\n", "-", Kind::Pyproject),
            ("[tool.pixi.pypi-dependencies]\ntorch = \"*\"\n", "-", Kind::Pyproject),
            (
                "[workspace]\nchannels = [\"conda-forge\"]\n[dependencies]\npython = \"*\"\n",
                "-",
                Kind::Pixi,
            ),
            ("version = 1\nrevision = 3\n[[package]]\nname = \"x\"\n", "-", Kind::UvLock),
            (
                "[[package]]\nname = \"x\"\noptional = false\npython-versions = \">=3.8\"\n",
                "-",
                Kind::PoetryLock,
            ),
            ("[metadata]\nlock_version = \"4.5\"\n[[package]]\nname = \"x\"\n", "-", Kind::PdmLock),
            ("lock-version = \"1.0\"\ncreated-by = \"x\"\n[[packages]]\n", "-", Kind::Pylock),
            ("image: nvidia/cuda:12\ntest:\n  script:\n    - pip install torch\n", "-", Kind::Ci),
            ("on: push\njobs:\n  a:\n    steps:\n      - run: pip install torch\n", "-", Kind::Ci),
        ] {
            assert_eq!(sniff(text.as_bytes(), name), kind, "{text}");
        }
    }
}
