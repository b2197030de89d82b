//! Every `env.toml` of `examples/`, resolved on the recorded index.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cuda_lock_testing::{Index, Project, Server};
use toml::{Table, Value};

use crate::BINARY;
use crate::promise::audit_of_lock;

static INDEX: LazyLock<Arc<Index>> = LazyLock::new(|| {
    Arc::new(Index::from_recording(&root().join("tests/recordings/index-2026-11-30.json.gz")))
});

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The examples by name, in order.
fn examples() -> Vec<(String, String)> {
    let folder = root().join("examples");
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<(String, String)> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path.join("env.toml")).unwrap())
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{} has no examples", folder.display());
    found
}

/// The same manifest with the recording as its only index.
fn on_recording(text: &str, server: &Server) -> String {
    let mut manifest: Table = text.parse().unwrap();
    let index = Table::from_iter([
        ("name".to_owned(), Value::from("recording")),
        ("url".to_owned(), Value::from(server.url())),
        ("default".to_owned(), Value::from(true)),
    ]);
    manifest.insert("index".into(), Value::Array(vec![Value::Table(index)]));
    let options = manifest.entry("options").or_insert_with(|| Value::Table(Table::new()));
    let options = options.as_table_mut().expect("[options] is a table");
    options.insert("only-indexes".into(), Value::Array(vec!["recording".into()]));
    manifest.to_string()
}

/// The lock files of a project's folder with their contents, in order.
fn locks(project: &Project) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(project.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("pylock.") || name.starts_with("requirements"))
        .map(|name| (name.clone(), project.read(&name).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn the_three_that_people_start_from_are_there() {
    let names: Vec<String> = examples().into_iter().map(|(name, _)| name).collect();
    for name in ["deploy-only", "llm", "train-and-export"] {
        assert!(names.iter().any(|found| found == name), "{name} is not among {names:?}");
    }
}

#[test]
fn each_resolves_to_a_complete_lock_twice_the_same() {
    for (name, text) in examples() {
        let server = Server::start(Arc::clone(&INDEX));
        let project = Project::new(BINARY, on_recording(&text, &server));
        let run = project.resolve(&[]);
        assert_eq!(run.code, 0, "{name}\n{}", run.stderr);
        let first = locks(&project);
        assert!(
            first.iter().any(|(file, _)| file.starts_with("pylock.")),
            "{name} wrote {first:?}"
        );
        for (file, lock) in first.iter().filter(|(file, _)| file.starts_with("pylock.")) {
            check_lock(&name, file, &lock.parse().unwrap(), &text.parse().unwrap());
            let target = file.strip_prefix("pylock.").and_then(|rest| rest.strip_suffix(".toml"));
            let machine = target.map_or("env.toml".to_owned(), |t| format!("env.toml:{t}"));
            let audit = audit_of_lock(&project, &server, file, &machine);
            assert_eq!(audit.code, 0, "{name} {file}\n{}\n{}", audit.stdout, audit.stderr);
        }
        let _ = project.resolve(&[]).expect(0);
        assert!(first == locks(&project), "{name}: a second run wrote something else");
    }
}

/// Every dependency is locked, and every file of the lock has an address, a size and a sha256 of the recording's form.
fn check_lock(example: &str, file: &str, lock: &Table, manifest: &Table) {
    assert_eq!(lock["lock-version"].as_str(), Some("1.0"), "{example} {file}");
    let packages = lock["packages"].as_array().unwrap();
    let name = |package: &Value| package["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = packages.iter().map(name).collect();
    for requirement in manifest["environment"]["dependencies"].as_array().unwrap() {
        let requirement = requirement.as_str().unwrap();
        let wanted: String = requirement
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
            .collect();
        assert!(
            names.contains(&wanted.to_lowercase().replace(['_', '.'], "-")),
            "{example}: no {wanted}"
        );
    }
    for package in packages {
        let wheels = package.get("wheels").and_then(Value::as_array).unwrap_or_else(|| {
            panic!("{example} {file}: {} has no wheels", package["name"]);
        });
        assert!(!wheels.is_empty());
        for wheel in wheels {
            let digest = wheel["hashes"]["sha256"].as_str().unwrap();
            assert!(
                digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{wheel}"
            );
            assert!(wheel["size"].as_integer().unwrap() > 0, "{wheel}");
            assert!(wheel["url"].as_str().unwrap().ends_with(".whl"), "{wheel}");
        }
    }
    let cudnns = names.iter().filter(|name| name.starts_with("nvidia-cudnn-cu")).count();
    assert!(cudnns <= 1, "{example} {file}: {cudnns} cuDNN distributions write the same files");
}
