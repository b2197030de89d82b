//! Machines made of files and scripts.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use tempfile::TempDir;

use super::*;

struct Fake {
    folder: TempDir,
}

impl Fake {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder") }
    }

    fn file(self, path: &str, content: &[u8]) -> Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
        self
    }

    fn script(self, path: &str, body: &str) -> Self {
        let this = self.file(path, format!("#!/bin/sh\n{body}\n").as_bytes());
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(this.folder.path().join(path), mode).expect("made executable");
        this
    }

    fn host(&self) -> Host {
        Host {
            root: self.folder.path().to_owned(),
            path: vec![self.folder.path().join("bin")],
            environments: vec![self.folder.path().join("env")],
            patience: Duration::from_secs(5),
        }
    }

    fn seen(&self) -> Seen {
        detect(&self.host())
    }
}

const MODULE: &[u8] = b"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n";

fn gpus(seen: &Seen) -> Vec<(String, String)> {
    seen.gpus.iter().map(|gpu| (gpu.name.clone(), gpu.capability.to_string())).collect()
}

#[test]
fn nvidia_smi_says_driver_and_capabilities() {
    let fake = Fake::new().script(
        "bin/nvidia-smi",
        "echo '550.54.14, 8.6, NVIDIA GeForce RTX 3090'\necho '550.54.14, 12.7, NVIDIA Unheard Of 9'",
    );
    let seen = fake.seen();
    assert_eq!(seen.driver.as_ref().map(ToString::to_string).as_deref(), Some("550.54.14"));
    assert_eq!(gpus(&seen)[0].1, "8.6");
    assert_eq!(gpus(&seen)[1], ("NVIDIA Unheard Of 9".to_owned(), "12.7".to_owned()));
}

#[test]
fn an_old_nvidia_smi_is_asked_for_what_it_knows() {
    let fake = Fake::new().script(
        "bin/nvidia-smi",
        "case \"$1\" in *compute_cap*) echo 'Field \"compute_cap\" is not a valid field to query.'; exit 2;; esac\necho '470.86, Tesla T4'",
    );
    let seen = fake.seen();
    assert_eq!(seen.driver.map(|d| d.to_string()).as_deref(), Some("470.86"));
    assert_eq!(seen.gpus.len(), 1);
    assert_eq!(seen.gpus[0].capability.to_string(), "7.5");
}

#[test]
fn files_of_the_kernel_module_do_without_nvidia_smi() {
    let fake = Fake::new().file("proc/driver/nvidia/version", MODULE).file(
        "proc/driver/nvidia/gpus/0000:01:00.0/information",
        b"Model: \t\t NVIDIA GeForce RTX 3090\nIRQ: 1\n",
    );
    let seen = fake.seen();
    assert_eq!(seen.driver.as_ref().map(ToString::to_string).as_deref(), Some("535.104.05"));
    assert_eq!(gpus(&seen)[0].1, "8.6");
}

#[test]
fn a_driver_that_does_not_answer_is_said() {
    let fake = Fake::new().script(
        "bin/nvidia-smi",
        "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"\nexit 9",
    );
    let seen = fake.seen();
    assert!(seen.driver.is_none() && seen.gpus.is_empty());
    assert!(seen.remarks.iter().any(|r| r.contains("couldn't communicate")), "{:?}", seen.remarks);
    let nothing = Fake::new().seen();
    assert!(nothing.remarks.iter().any(|r| r.contains("no NVIDIA driver can be seen")));
}

#[test]
fn a_program_that_hangs_does_not_hang_us() {
    let fake = Fake::new().script("bin/nvidia-smi", "sleep 60");
    let host = Host { patience: Duration::from_millis(200), ..fake.host() };
    let start = Instant::now();
    let seen = detect(&host);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(seen.remarks.iter().any(|r| r.contains("did not answer")), "{:?}", seen.remarks);
}

#[test]
fn wsl_has_its_own_nvidia_smi() {
    let fake = Fake::new()
        .script("usr/lib/wsl/lib/nvidia-smi", "echo '551.61, 8.9, NVIDIA GeForce RTX 4090'");
    let seen = fake.seen();
    assert_eq!(seen.driver.map(|d| d.to_string()).as_deref(), Some("551.61"));
    assert!(seen.remarks.iter().any(|r| r.contains("WSL")));
}

#[test]
#[cfg(target_os = "linux")]
fn the_c_library_is_read_from_its_file_or_asked() {
    let processor = std::env::consts::ARCH;
    let glibc = Fake::new().file(
        &format!("lib/{processor}-linux-gnu/libc.so.6"),
        b"\x7fELF..\0GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.1) stable release version 2.35.\nCopyright",
    );
    assert!(matches!(glibc.seen().libc, Some(Libc::Glibc(version)) if version.as_str() == "2.35"));
    let musl = Fake::new().script(
        &format!("lib/ld-musl-{processor}.so.1"),
        "printf 'musl libc (x86_64)\\nVersion 1.2.4\\nDynamic Program Loader\\n' >&2\nexit 1",
    );
    let seen = musl.seen();
    assert!(
        matches!(&seen.libc, Some(Libc::Musl(version)) if version.as_str() == "1.2.4"),
        "{seen:?}"
    );
    let asked = Fake::new().script("bin/ldd", "echo 'ldd (GNU libc) 2.31'");
    assert!(matches!(asked.seen().libc, Some(Libc::Glibc(version)) if version.as_str() == "2.31"));
    assert!(Fake::new().seen().remarks.iter().any(|r| r.contains("libc.so.6")));
}

#[test]
fn python_is_that_of_the_active_environment() {
    let python = |fake: &Fake| fake.seen().python.map(|version| version.to_string());
    let venv = Fake::new().file("env/pyvenv.cfg", b"home = /usr/bin\nversion = 3.10.12\n");
    assert_eq!(python(&venv).as_deref(), Some("3.10.12"));
    let uv = Fake::new().file("env/pyvenv.cfg", b"uv = 0.9\nversion_info = 3.13.1.final.0\n");
    assert_eq!(python(&uv).as_deref(), Some("3.13.1"));
    let conda = Fake::new()
        .file("env/conda-meta/python-dateutil-2.9.0-py.json", b"{}")
        .file("env/conda-meta/python-3.9.18-h955ad1f_0.json", b"{}");
    assert_eq!(python(&conda).as_deref(), Some("3.9.18"));
    let on_path = Fake::new().script("bin/python3", "echo 3.12.4");
    assert_eq!(python(&on_path).as_deref(), Some("3.12.4"));
    let above =
        Fake::new().script("bin/python3", "exit 3").file("pyvenv.cfg", b"version = 3.8.1\n");
    assert_eq!(python(&above).as_deref(), Some("3.8.1"));
    assert!(Fake::new().seen().remarks.iter().any(|r| r.contains("none on PATH")));
}
