//! What is written is read back, and is the same bytes; what other tools write is read too.

use std::collections::BTreeMap;

use cuda_lock_constraint::machine::{Libraries, Platform};
use cuda_lock_constraint::name::Name;
use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    Name::new(text).expect("name")
}

fn wheel(filename: &str) -> LockedFile {
    LockedFile {
        url: Some(format!("https://me:s3cret@files.example/{}", filename.replace('+', "%2B"))),
        upload_time: Some("2026-10-01T02:03:04.567Z".parse().expect("time")),
        size: Some(12345),
        hashes: BTreeMap::from([("sha256".to_owned(), "ab".repeat(32))]),
        ..LockedFile::default()
    }
}

/// A lock with one of everything that this program writes.
pub(crate) fn sample() -> Pylock {
    let mut torch = LockedPackage::new(name("torch"), "2.4.1+cu118".parse().expect("version"));
    torch.index = Some("https://me:s3cret@torch.example/whl/cu118".to_owned());
    torch.requires_python = Some(">=3.8".to_owned());
    torch.dependencies = vec![
        LockedDependency { name: name("triton"), version: None },
        LockedDependency { name: name("filelock"), version: None },
    ];
    torch.origin = Origin::Index {
        sdist: None,
        wheels: vec![wheel("torch-2.4.1+cu118-cp311-cp311-linux_x86_64.whl")],
    };
    let mut triton = LockedPackage::new(name("triton"), "3.0.0".parse().expect("version"));
    triton.marker = Some("sys_platform == \"linux\"".to_owned());
    triton.index = Some("https://index.example/simple".to_owned());
    triton.origin = Origin::Index {
        sdist: None,
        wheels: vec![wheel("triton-3.0.0-1-cp311-cp311-manylinux_2_17_x86_64.whl")],
    };
    triton.dependencies = vec![LockedDependency { name: name("filelock"), version: None }];
    let mut filelock = LockedPackage::new(name("filelock"), "3.16.1".parse().expect("version"));
    filelock.origin = Origin::Archive(LockedArchive {
        file: wheel("filelock-3.16.1-py3-none-any.whl"),
        subdirectory: None,
    });
    Pylock {
        requires_python: Some("==3.11.*".to_owned()),
        environments: vec!["sys_platform == 'linux' and platform_machine == 'x86_64'".to_owned()],
        packages: vec![triton, torch, filelock],
        tool: Some(tool()),
        ..Pylock::new()
    }
}

fn tool() -> LockMetadata {
    LockMetadata {
        manifest: "cd".repeat(32),
        matrices: "2026-11-20".to_owned(),
        target: Some("edge".to_owned()),
        python: "3.11".to_owned(),
        requirements: vec!["torch>=2.3".to_owned()],
        exclude_newer: Some("2026-11-02T00:00:00Z".parse().expect("time")),
        indexes: vec![
            LockedIndex {
                name: "pytorch-cu118".to_owned(),
                url: "https://me:s3cret@torch.example/whl/cu118".to_owned(),
                flat: false,
            },
            LockedIndex {
                name: "main".to_owned(),
                url: "https://index.example/simple/".to_owned(),
                flat: false,
            },
        ],
        machine: LockedMachine {
            platform: Platform::LinuxX86_64,
            glibc: "2.31".parse().ok(),
            musl: None,
            driver: "470.103.01".parse().ok(),
            gpus: Some(vec!["T4".to_owned()]),
            libraries: Libraries::Wheels,
            image: None,
        },
        cuda: "11.8".parse().ok(),
        cudnn: "9.1.0.70".parse().ok(),
        minimum_driver: "450.80.02".parse().ok(),
        capabilities: vec!["9.0".parse().expect("cc"), "7.5".parse().expect("cc")],
        loading: vec!["import torch before onnxruntime".to_owned()],
        built: Vec::new(),
        passed_over: Vec::new(),
        constraints: vec![LockedConstraint {
            subject: "torch 2.4.1+cu118".to_owned(),
            package: "driver".to_owned(),
            range: ">= 450.80.02".to_owned(),
            reason: "CUDA 11.x runs on it".to_owned(),
            sources: vec!["https://docs.example/compatibility".to_owned()],
        }],
    }
}

fn read(text: &str) -> Pylock {
    Pylock::parse(text, "pylock.toml").unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

#[test]
fn a_lock_is_written_in_one_form() {
    insta::assert_snapshot!(sample().to_toml(), @r#"
    lock-version = "1.0"
    environments = ["sys_platform == 'linux' and platform_machine == 'x86_64'"]
    requires-python = "==3.11.*"
    created-by = "cuda-lock"

    [[packages]]
    name = "filelock"
    version = "3.16.1"
    archive = { url = "https://files.example/filelock-3.16.1-py3-none-any.whl", size = 12345, upload-time = 2026-10-01T02:03:04.567Z, hashes = { sha256 = "abababababababababababababababababababababababababababababababab" } }

    [[packages]]
    name = "torch"
    version = "2.4.1+cu118"
    requires-python = ">=3.8"
    dependencies = [{ name = "filelock" }, { name = "triton" }]
    index = "https://torch.example/whl/cu118"
    wheels = [
        { name = "torch-2.4.1+cu118-cp311-cp311-linux_x86_64.whl", upload-time = 2026-10-01T02:03:04.567Z, url = "https://files.example/torch-2.4.1%2Bcu118-cp311-cp311-linux_x86_64.whl", size = 12345, hashes = { sha256 = "abababababababababababababababababababababababababababababababab" } },
    ]

    [[packages]]
    name = "triton"
    version = "3.0.0"
    marker = 'sys_platform == "linux"'
    dependencies = [{ name = "filelock" }]
    index = "https://index.example/simple"
    wheels = [
        { name = "triton-3.0.0-1-cp311-cp311-manylinux_2_17_x86_64.whl", upload-time = 2026-10-01T02:03:04.567Z, url = "https://files.example/triton-3.0.0-1-cp311-cp311-manylinux_2_17_x86_64.whl", size = 12345, hashes = { sha256 = "abababababababababababababababababababababababababababababababab" } },
    ]

    [tool.cuda-lock]
    manifest = "cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"
    matrices = "2026-11-20"
    target = "edge"
    python = "3.11"
    requirements = ["torch>=2.3"]
    exclude-newer = 2026-11-02T00:00:00Z
    cuda = "11.8"
    cudnn = "9.1.0.70"
    minimum-driver = "450.80.02"
    capabilities = ["7.5", "9.0"]
    loading = ["import torch before onnxruntime"]
    indexes = [
        { name = "pytorch-cu118", url = "https://torch.example/whl/cu118" },
        { name = "main", url = "https://index.example/simple/" },
    ]

    [tool.cuda-lock.machine]
    platform = "linux-x86_64"
    glibc = "2.31"
    driver = "470.103.01"
    gpus = ["T4"]
    libraries = "wheels"

    [[tool.cuda-lock.constraints]]
    subject = "torch 2.4.1+cu118"
    package = "driver"
    range = ">= 450.80.02"
    reason = "CUDA 11.x runs on it"
    sources = ["https://docs.example/compatibility"]
    "#);
}

#[test]
fn order_does_not_matter_and_reading_back_changes_nothing() {
    let text = sample().to_toml();
    let mut turned = sample();
    turned.packages.reverse();
    for package in &mut turned.packages {
        package.dependencies.reverse();
    }
    turned.tool.iter_mut().for_each(|tool| tool.capabilities.reverse());
    assert_eq!(turned.to_toml(), text);
    let back = read(&text);
    assert_eq!(back.to_toml(), text);
    let (tool, mut wanted) = (back.tool.expect("tool"), tool());
    wanted.capabilities.sort();
    wanted.indexes[0].url = "https://torch.example/whl/cu118".to_owned();
    assert_eq!(tool, wanted);
    assert_eq!(back.packages.len(), 3);
    assert_eq!(&text[back.packages[1].at.clone()], "\"torch\"");
}

#[test]
fn credentials_are_not_written() {
    assert!(!sample().to_toml().contains("s3cret"));
    assert_eq!(strip_credentials("https://a:b@h.example/x@y"), "https://h.example/x@y");
    assert_eq!(strip_credentials("https://h.example/x@y"), "https://h.example/x@y");
    assert_eq!(strip_credentials("./a@b"), "./a@b");
}

#[test]
fn locks_of_other_tools_are_read() {
    let lock = read(
        r#"
lock-version = "1.0"
environments = ["sys_platform == 'win32'"]
extras = ["gpu"]
created-by = "another tool"
surprise = 1

[[packages]]
name = "Foo_Bar"
version = "1.0"
marker = "'gpu' in extras"
sdist = { url = "https://files.example/foo_bar-1.0.tar.gz", upload-time = 2026-01-02T03:04:05, size = 1, hashes = { sha256 = "0000000000000000000000000000000000000000000000000000000000000000" } }
[[packages.wheels]]
name = "foo_bar-1.0-py3-none-any.whl"
path = "wheels/foo_bar-1.0-py3-none-any.whl"
hashes = { md5 = "00000000000000000000000000000000" }
[[packages.attestation-identities]]
kind = "GitHub"

[[packages]]
name = "repo"
vcs = { type = "git", url = "https://git.example/repo", requested-revision = "main", commit-id = "abc" }

[[packages]]
name = "local"
directory = { path = ".", editable = true }
"#,
    );
    assert_eq!(lock.packages[0].name.as_str(), "foo-bar");
    assert_eq!(lock.packages[0].wheels().len(), 1);
    assert!(matches!(&lock.packages[1].origin, Origin::Vcs(vcs) if vcs.commit_id == "abc"));
    assert!(matches!(&lock.packages[2].origin, Origin::Directory(d) if d.editable));
    assert!(lock.tool.is_none());
    assert_eq!(read(&lock.to_toml()).to_toml(), lock.to_toml());
}

#[test]
fn the_file_name_comes_from_the_address_when_it_is_not_written() {
    let file = wheel("torch-2.4.1+cu118-cp311-cp311-linux_x86_64.whl");
    assert_eq!(file.filename().as_deref(), Some("torch-2.4.1+cu118-cp311-cp311-linux_x86_64.whl"));
    let file =
        LockedFile { url: Some("https://h.example/a.whl?x=/y#z".into()), ..LockedFile::default() };
    assert_eq!(file.filename().as_deref(), Some("a.whl"));
    assert_eq!(LockedFile::default().filename(), None);
}

#[test]
fn what_is_wrong_is_said_with_its_position() {
    let text = r#"lock-version = "2.0"
requires-python = "3.11 or so"
[[packages]]
name = "a b"
version = "one"
marker = "python_versio > '3'"
wheels = [
  { name = "x.whl", url = "https://h.example/x.whl", size = -1, hashes = { sha256 = "12" } },
  { name = "y.whl", hashes = {} },
  { url = "https://h.example/z.whl" },
  3,
]
[[packages]]
version = 1
[[packages]]
name = "c"
vcs = { type = "git", commit-id = "x", url = "https://h.example" }
wheels = [{ url = "https://h.example/c.whl", hashes = {} }]
[tool.cuda-lock]
manifest = "x"
cuda = "twelve"
[tool.cuda-lock.machine]
platform = "amiga"
"#;
    insta::assert_snapshot!(Pylock::parse(text, "pylock.toml").expect_err("wrong").to_string(), @r#"
    pylock.toml:1:1: error: the file has no `created-by`
    pylock.toml:1:16: error: lock-version "2.0" is not known, expected "1.0"
    pylock.toml:2:19: error: invalid `requires-python` "3.11 or so": Failed to parse version: Unexpected end of version specifier, expected operator
    pylock.toml:4:8: error: 'a b' is not a valid name: use letters, digits, '-', '_' and '.', with a letter or digit at both ends
    pylock.toml:5:11: error: invalid version "one"
    pylock.toml:6:11: error: invalid marker "python_versio > '3'": 'python_versio' is not a marker variable (PEP 508)
    pylock.toml:8:61: error: `size` is not a number of bytes
    pylock.toml:8:85: error: this is not a sha256 digest in hexadecimal
    pylock.toml:9:3: error: a wheel has no `url`
    pylock.toml:10:3: error: a wheel has no `hashes`
    pylock.toml:11:3: error: `wheels` is of type integer, expected a list of tables
    pylock.toml:13:1: error: a package has no `name`
    pylock.toml:14:11: error: `version` is of type integer, expected a string
    pylock.toml:15:1: error: a package has both vcs and wheels or sdist
    pylock.toml:19:1: error: [tool.cuda-lock] has no `matrices`
    pylock.toml:19:1: error: [tool.cuda-lock] has no `python`
    pylock.toml:23:12: error: unknown platform "amiga"
    "#);
    insta::assert_snapshot!(Pylock::parse("", "pylock.toml").expect_err("empty").to_string(), @"
    pylock.toml:1:1: error: the file has no `lock-version`
    pylock.toml:1:1: error: the file has no `created-by`
    pylock.toml:1:1: error: the file has no `packages`
    ");
    insta::assert_snapshot!(Pylock::parse("a = [", "pylock.toml").expect_err("broken").to_string(), @"pylock.toml:1:6: error: invalid TOML: unclosed array, expected `]`");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,12}", "[ -~\\n\\r\\t\\x00\\x1b\\x7f\\\\\"']{0,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_survives_writing_and_reading(a in text(), b in text(), key in text()) {
        let mut lock = sample();
        lock.created_by = a.clone();
        lock.extras = vec![a.clone(), b.clone()];
        if let Some(tool) = &mut lock.tool {
            tool.loading = vec![b.clone()];
            tool.machine.image = Some(b.clone());
        }
        if let Origin::Index { wheels, .. } = &mut lock.packages[0].origin {
            wheels[0].name = Some(a.clone());
            wheels[0].hashes.insert(key.clone(), "00".to_owned());
        }
        let written = lock.to_toml();
        let known = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];
        prop_assume!(!known.contains(&key.as_str()));
        let back = Pylock::parse(&written, "pylock.toml");
        let back = back.map_err(|errors| TestCaseError::fail(format!("{errors}\n{written}")))?;
        prop_assert_eq!(&back.created_by, &a);
        prop_assert_eq!(&back.extras, &[a, b.clone()]);
        prop_assert_eq!(back.tool.as_ref().map(|tool| tool.loading.clone()), Some(vec![b]));
        prop_assert_eq!(back.to_toml(), written);
    }

    #[test]
    fn no_edit_makes_it_panic(cut in 0..4000_usize, length in 0..30_usize, new in text()) {
        let good = sample().to_toml();
        let start = good.floor_char_boundary(cut.min(good.len()));
        let end = good.floor_char_boundary((start + length).min(good.len()));
        let _ = Pylock::parse(&format!("{}{new}{}", &good[..start], &good[end..]), "pylock.toml");
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Pylock::parse_bytes(&bytes, "pylock.toml");
    }
}
