//! `cuda-lock audit --site-packages` and `--machine auto`: what is installed, on the machine that this is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_testing::{Index, Manifest, Project, Run, Server};
use serde_json::Value;

use crate::BINARY;

/// The smallest 64-bit library that asks for `needed`.
fn elf(soname: &str, needed: &[&str]) -> Vec<u8> {
    let mut strings = vec![0_u8];
    let mut add = |text: &str| {
        let at = strings.len() as u64;
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
        at
    };
    let mut entries: Vec<[u64; 2]> = needed.iter().map(|name| [1, add(name)]).collect();
    entries.push([14, add(soname)]);
    let table = 64 + 2 * 56;
    let strings_at = table + (entries.len() as u64 + 3) * 16;
    entries.extend([[5, 0x1000 + strings_at], [10, strings.len() as u64], [0, 0]]);
    let total = strings_at + strings.len() as u64;
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([3_u16, 62].iter().flat_map(|value| value.to_le_bytes()));
    out.extend(1_u32.to_le_bytes());
    out.extend([0_u64, 64, 0].iter().flat_map(|value| value.to_le_bytes()));
    out.extend(0_u32.to_le_bytes());
    out.extend([64_u16, 56, 2, 0, 0, 0].iter().flat_map(|value| value.to_le_bytes()));
    for (kind, at, size) in [(1_u32, 0, total), (2, table, strings_at - table)] {
        out.extend([kind, 4].iter().flat_map(|value| value.to_le_bytes()));
        let header = [at, 0x1000 + at, 0x1000 + at, size, size, 8];
        out.extend(header.iter().flat_map(|value| value.to_le_bytes()));
    }
    out.extend(entries.iter().flatten().flat_map(|value| value.to_le_bytes()));
    out.extend(&strings);
    out
}

struct Environment {
    project: Project,
    server: Server,
}

impl Environment {
    fn new() -> Self {
        let recording = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/recordings/index-2026-11-30.json.gz");
        let server = Server::start(Arc::new(Index::from_recording(&recording)));
        let project = Project::new(BINARY, Manifest::new(&server));
        Self { project, server }
    }

    fn folder(&self) -> PathBuf {
        self.project.path().join("venv/lib/python3.11/site-packages")
    }

    fn file(&self, path: &str, content: &[u8]) {
        let path = self.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// A distribution with these `Requires-Dist` and these shared libraries.
    fn install(&self, name: &str, version: &str, requires: &[&str], libraries: &[(&str, Vec<u8>)]) {
        let stem = format!("{}-{version}.dist-info", name.replace('-', "_"));
        let requires: String =
            requires.iter().map(|line| format!("Requires-Dist: {line}\n")).collect();
        let metadata = format!(
            "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\nA text.\n"
        );
        self.file(&format!("{stem}/METADATA"), metadata.as_bytes());
        let mut record = format!("{stem}/METADATA,,\n");
        for (path, bytes) in libraries {
            record.push_str(&format!("{path},sha256=x,{}\n", bytes.len()));
            self.file(path, bytes);
        }
        self.file(&format!("{stem}/RECORD"), record.as_bytes());
    }

    fn onnxruntime(&self) {
        self.install("numpy", "1.26.4", &[], &[]);
        self.install(
            "onnxruntime-gpu",
            "1.23.2",
            &["numpy>=1.21.6"],
            &[(
                "onnxruntime/capi/libonnxruntime_providers_cuda.so",
                elf(
                    "libonnxruntime_providers_cuda.so",
                    &[
                        "libcublasLt.so.12",
                        "libcudnn.so.9",
                        "libcudart.so.12",
                        "libcurand.so.10",
                        "libcufft.so.11",
                        "libc.so.6",
                        "libcuda.so.1",
                    ],
                ),
            )],
        );
    }

    /// The wheels of NVIDIA's that onnxruntime-gpu needs, with cuDNN of this version.
    fn libraries(&self, cudnn: &str, soname: &str) {
        for (name, version, folder, file) in [
            ("nvidia-cublas-cu12", "12.9.1.4", "cublas", "libcublasLt.so.12"),
            ("nvidia-cuda-runtime-cu12", "12.9.79", "cuda_runtime", "libcudart.so.12"),
            ("nvidia-curand-cu12", "10.3.10.19", "curand", "libcurand.so.10"),
            ("nvidia-cufft-cu12", "11.4.1.4", "cufft", "libcufft.so.11"),
            ("nvidia-cudnn-cu12", cudnn, "cudnn", soname),
        ] {
            let library = (&*format!("nvidia/{folder}/lib/{file}"), elf(file, &[]));
            self.install(name, version, &[], &[library]);
        }
    }

    fn audit(&self, arguments: &[&str]) -> Run {
        let cache = self.project.path().join("cache");
        let cache = cache.to_string_lossy();
        let url = self.server.url();
        let fixed =
            ["audit", "--cache-dir", &cache, "--default-index", &url, "--only-index", "PyPI"];
        self.project.run(&[&fixed, arguments].concat())
    }

    fn found(&self, arguments: &[&str]) -> (Run, Vec<(String, String)>) {
        let common = ["--site-packages", "venv", "--format", "json", "--platform", "linux-x86_64"];
        let run = self.audit(&[&common, arguments].concat());
        let report: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", run.stdout, run.stderr));
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
        let findings = report["findings"].as_array().unwrap().iter();
        let serious = findings.filter(|finding| finding["severity"] == "error");
        let found = serious.map(|f| (text(f, "code"), text(f, "message"))).collect();
        (run, found)
    }

    fn codes(&self, arguments: &[&str]) -> Vec<String> {
        self.found(arguments).1.into_iter().map(|(code, _)| code).collect()
    }
}

#[test]
fn a_complete_environment_is_clean() {
    let environment = Environment::new();
    environment.onnxruntime();
    environment.libraries("9.10.2.21", "libcudnn.so.9");
    assert_eq!(environment.found(&[]).1, []);
    // Nothing of it is asked from an index.
    assert_eq!(environment.server.count(|_| true), 0);
}

#[test]
fn libraries_that_are_not_there_are_missed() {
    let environment = Environment::new();
    environment.onnxruntime();
    let (run, found) = environment.found(&[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "library-missing");
    for name in ["libcublasLt.so.12", "libcufft.so.11", "dynamic section"] {
        assert!(run.stdout.contains(name), "{}", run.stdout);
    }
    for system in ["libc.so.6", "libcuda.so.1"] {
        assert!(!run.stdout.contains(system), "{system} is the system's");
    }
}

#[test]
fn another_cudnn_is_told_from_none() {
    let environment = Environment::new();
    environment.onnxruntime();
    environment.libraries("8.9.7.29", "libcudnn.so.8");
    let (run, found) = environment.found(&[]);
    assert!(found.iter().any(|(code, _)| code == "cudnn-mismatch"), "{found:?}");
    assert!(
        found.iter().any(|(_, text)| text.contains("libcudnn.so.9")
            && text.contains("libcudnn.so.8 is installed")),
        "{found:?}"
    );
    let _ = run.expect(1);
    let text = environment.audit(&["--site-packages", "venv", "--platform", "linux-x86_64"]);
    assert!(text.stdout.contains("run: pip install 'nvidia-cudnn-cu12=="), "{}", text.stdout);
}

#[test]
fn two_owners_of_a_module_and_what_is_left_of_one() {
    let environment = Environment::new();
    environment.onnxruntime();
    environment.libraries("9.10.2.21", "libcudnn.so.9");
    let shared = "onnxruntime/capi/libonnxruntime_providers_cuda.so";
    environment.install("onnxruntime", "1.23.2", &[], &[(shared, b"\x7fELFother".to_vec())]);
    let (run, found) = environment.found(&[]);
    assert!(found.iter().any(|(code, _)| code == "module-clash"), "{found:?}");
    assert!(run.stdout.contains("wrote over"), "{}", run.stdout);
    assert!(run.stdout.contains("--force-reinstall --no-deps 'onnxruntime-gpu==1.23.2'"));
    // Uninstalling the second took the files of the first along.
    std::fs::remove_dir_all(environment.folder().join("onnxruntime-1.23.2.dist-info")).unwrap();
    std::fs::remove_file(environment.folder().join(shared)).unwrap();
    let (_, found) = environment.found(&[]);
    assert!(
        found
            .iter()
            .any(|(code, text)| code == "library-missing" && text.contains("which is gone")),
        "{found:?}"
    );
}

#[test]
fn requirements_of_what_is_installed_are_judged() {
    let environment = Environment::new();
    environment.install("torch", "2.2.2+cu121", &["filelock", "numpy ; extra == 'x'"], &[]);
    environment.install("numpy", "2.0.0", &[], &[]);
    let codes = environment.codes(&["--driver", "470.86", "--gpu", "8.6"]);
    for code in ["driver-too-old", "missing-dependency", "numpy-abi"] {
        assert!(codes.iter().any(|found| found == code), "{code} is not in {codes:?}");
    }
}

#[test]
fn wheels_for_another_python_or_platform_do_not_run() {
    let environment = Environment::new();
    environment.install("fast-thing", "1.0", &[], &[]);
    let wheel = b"Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_34_x86_64\n";
    environment.file("fast_thing-1.0.dist-info/WHEEL", wheel);
    assert_eq!(environment.codes(&[]), Vec::<String>::new());
    assert_eq!(environment.codes(&["--glibc", "2.31"]), ["glibc-too-old"]);
    assert_eq!(environment.codes(&["--python", "3.12"]), ["python-unsupported"]);
}

#[test]
fn odd_folders_are_said_and_do_not_stop_the_rest() {
    let environment = Environment::new();
    environment.install("numpy", "1.26.4", &[], &[]);
    environment.file("half-1.0.dist-info/RECORD", b"");
    environment.file("~umpy-1.0.dist-info/METADATA", b"Name: numpy\nVersion: 1.0\n");
    environment.file("old.egg-info", b"Metadata-Version: 1.0\nName: old\nVersion: 0.1\n");
    environment
        .file("demo-1.dist-info/METADATA", b"Name: demo\nVersion: 1\nRequires-Dist: absent\n");
    environment.file(
        "demo-1.dist-info/direct_url.json",
        br#"{"url": "file:///srv/demo", "dir_info": {"editable": true}}"#,
    );
    environment.file("numpy-2.0.0.dist-info/METADATA", b"Name: numpy\nVersion: 2.0.0\n");
    let (run, found) = environment.found(&[]);
    assert!(found.iter().any(|(_, text)| text.contains("installed twice")), "{found:?}");
    assert!(
        found.iter().any(|(code, text)| code == "missing-dependency" && text.contains("absent"))
    );
    for text in ["left over from an uninstall", "a distribution without METADATA"] {
        assert!(run.stdout.contains(text), "{text}\n{}", run.stdout);
    }
    let none = environment.audit(&["--site-packages", "nowhere"]).expect(2);
    assert!(none.stderr.contains("nowhere"), "{}", none.stderr);
    let folder = environment.audit(&["venv"]).expect(2);
    assert!(folder.stderr.contains("--site-packages"), "{}", folder.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn this_machine_is_seen_as_far_as_it_shows() {
    use std::os::unix::fs::PermissionsExt as _;
    let environment = Environment::new();
    let bin = environment.project.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = bin.join("nvidia-smi");
    std::fs::write(&script, "#!/bin/sh\necho '470.86, 8.6, NVIDIA GeForce RTX 3050 Laptop GPU'\n")
        .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let venv = environment.project.path().join("env");
    std::fs::create_dir_all(&venv).unwrap();
    std::fs::write(venv.join("pyvenv.cfg"), "version = 3.10.12\n").unwrap();
    environment.project.write("requirements.txt", "torch==2.1.0\n");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let variables = [("PATH", path.as_str()), ("VIRTUAL_ENV", venv.to_str().unwrap())];
    let cache = environment.project.path().join("cache");
    let url = environment.server.url();
    let arguments = [
        "audit",
        "requirements.txt",
        "--machine",
        "auto",
        "--format",
        "json",
        "--only-index",
        "PyPI",
        "--default-index",
        &url,
        "--cache-dir",
        cache.to_str().unwrap(),
    ];
    let run = environment.project.run_with(&arguments, &variables).expect(1);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let machine = &report["machine"];
    assert_eq!(machine["python"], "3.10.12");
    if !Path::new("/proc/driver/nvidia/version").exists() {
        assert_eq!(machine["driver"], "470.86");
        assert!(run.stdout.contains("driver-too-old"), "{}", run.stdout);
    }
    assert!(machine["gpus"].as_str().unwrap().contains("RTX 3050"), "{machine}");
    let table = environment.project.run_with(&["probe"], &variables).expect(0);
    assert!(table.stdout.starts_with("[machine]\nplatform = \"linux-"), "{}", table.stdout);
}
