//! What a good env.toml means, and what is said about a bad one.

use cuda_lock_constraint::machine::{Libc, Libraries, Platform};
use proptest::prelude::*;

use super::*;
use crate::diagnostic::Style;

mod bad;

fn parse(text: &str) -> Manifest {
    match Manifest::parse(text, "env.toml") {
        Ok(manifest) => manifest,
        Err(errors) => panic!("{}", errors.render(Style::Plain)),
    }
}

/// All that is said about a bad file, in the form that tools read.
fn errors(text: &str) -> String {
    match Manifest::parse(text, "env.toml") {
        Ok(_) => "no error".to_owned(),
        Err(errors) => {
            let mut text = String::new();
            for error in &errors {
                text.push_str(&error.one_line());
                text.push('\n');
                for help in error.helps() {
                    text.push_str(&format!("  help: {help}\n"));
                }
            }
            assert!(!errors.render(Style::Plain).contains("s3cret"));
            text
        }
    }
}

const FULL: &str = r#"
[environment]
name = "detector"
python = ">=3.10,<3.13"
dependencies = ["torch>=2.3", "transformers[torch]>=4.40", "numpy"]

[machine]
platform = "linux-x86_64"
glibc = "2.31"
driver = "535.104.05"
gpus = "RTX 3090"
cuda = ">=12"
libraries = "system"

[model]
opset = 17

[target.edge]
driver = "470.103.01"
gpus = ["T4", "8.9"]
dependencies = ["onnx"]
python = "3.11"

[target.desk]
platform = "windows-x86_64"

[target.box]
image = "nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04"

[[index]]
name = "corp"
url = "https://me:s3cret@index.example/simple"
explicit = true

[[index]]
url = "./wheels"
format = "flat"

[sources]
torch = { index = "corp" }

[options]
resolution = "lowest-direct"
prerelease = "allow"
exclude-newer = 2026-11-01
substitute = { onnxruntime = "onnxruntime-gpu" }
overrides = ["numpy<2"]
constraints = ["protobuf<5"]
only-indexes = ["corp"]
same = ["NumPy"]

[pytorch]
index = "https://mirror.example/whl"
backends = ["cu118", "cpu"]

[metadata.flash-attn]
version = "2.6.3"
requires-dist = ["torch", "einops"]
requires-python = ">=3.8"

[audit]
levels = { unpinned = "allow" }
ignore = [{ code = "driver-floor", package = "torch", reason = "updated next week" }]
"#;

#[test]
fn every_key_is_read() {
    let m = parse(FULL);
    assert_eq!(m.environment.python.get_ref().to_string(), ">=3.10, <3.13");
    assert_eq!(m.environment.dependencies.len(), 3);
    assert_eq!(m.machine.gpus.as_ref().map(Vec::len), Some(1));
    assert_eq!(m.model.as_ref().and_then(|m| m.opset.as_ref()).map(|n| *n.get_ref()), Some(17));
    assert_eq!(m.indexes[1].format, IndexFormat::Flat);
    assert_eq!(m.indexes[1].location.get_ref(), &IndexLocation::Path("./wheels".into()));
    assert_eq!(
        format!("{:?}", m.indexes[0].location.get_ref()),
        "https://*********@index.example/simple"
    );
    assert_eq!(m.sources.values().next().map(|s| s.get_ref().as_str()), Some("corp"));
    assert_eq!(m.options.resolution, Resolution::LowestDirect);
    assert_eq!(m.options.prerelease, Prerelease::Allow);
    let before = m.options.exclude_newer.as_ref().map(|e| e.get_ref().before.to_string());
    assert_eq!(before.as_deref(), Some("2026-11-02T00:00:00Z"));
    assert!(matches!(&m.pytorch.backends, Backends::Only(names) if names.len() == 2));
    assert_eq!(m.metadata[0].requires_dist.len(), 2);
    assert_eq!(m.audit.ignore[0].reason, "updated next week");
    assert_eq!(m.audit.levels["unpinned"].get_ref(), &AuditLevel::Allow);
    let driver = m.machine.driver.as_ref().expect("driver");
    assert_eq!(&m.source().text()[driver.span()], "\"535.104.05\"");
}

#[test]
fn a_target_overrides_the_machine_and_adds_dependencies() {
    let m = parse(FULL);
    assert_eq!(m.target_names(), [Some("box"), Some("desk"), Some("edge")]);
    let edge = m.target(Some("edge")).expect("edge");
    assert_eq!(
        edge.machine.driver.as_ref().map(ToString::to_string).as_deref(),
        Some("470.103.01")
    );
    assert_eq!(edge.machine.gpus.as_ref().map(Vec::len), Some(2));
    assert!(matches!(edge.machine.libc.as_ref().map(|l| l.get_ref()), Some(Libc::Glibc(_))));
    assert_eq!(edge.machine.libraries.as_ref().map(|l| *l.get_ref()), Some(Libraries::System));
    assert_eq!(edge.python.get_ref().to_string(), "3.11");
    let names: Vec<&str> = edge.dependencies.iter().map(|d| d.get_ref().as_str()).collect();
    assert_eq!(names, ["torch>=2.3", "transformers[torch]>=4.40", "numpy", "onnx"]);

    // Another operating system has another driver and no glibc.
    let desk = m.target(Some("desk")).expect("desk");
    assert_eq!(*desk.platform.get_ref(), Platform::WindowsX86_64);
    assert!(desk.machine.libc.is_none() && desk.machine.driver.is_none());
    assert!(desk.machine.gpus.is_some());

    // An image brings its own libraries, and runs on the host's driver.
    let image = m.target(Some("box")).expect("box");
    assert!(image.machine.libc.is_none() && image.machine.cuda.is_none());
    assert!(image.machine.driver.is_some());

    let error = m.target(Some("egde")).expect_err("unknown");
    assert_eq!(error.to_string(), "env.toml has no target 'egde'; its targets: box, desk, edge");
}

const SMALL: &str = "[environment]\npython = \"3.11\"\ndependencies = [\"torch>=2.3\", \"numpy\"]\n\
    [machine]\nplatform = \"linux-x86_64\"\n";

#[test]
fn python_is_a_version_a_build_or_a_range() {
    let python = |text: &str| parse(&SMALL.replace("3.11", text)).environment.python.into_inner();
    assert!(matches!(python("3.11.9"), PythonRequest::Version(_)));
    assert!(matches!(python("3.15.0rc1"), PythonRequest::Version(_)));
    assert_eq!(python("3.14t").to_string(), "3.14t");
    assert!(matches!(python("==3.12.*"), PythonRequest::Range(_)));
}

#[test]
fn the_digest_is_of_the_content() {
    let digest = |text: &str| parse(text).digest();
    let small = digest(SMALL);
    assert_eq!(small.len(), 64);
    for same in [
        "[machine]\nplatform='linux-x86_64' # here\n\n[environment]\nname = \"x\"\n\
         dependencies = [ \"NumPy\", \"torch >= 2.3\" ]\npython = \"3.11\"\n",
        &format!("\u{feff}{}", SMALL.replace('\n', "\r\n")),
        &format!("{SMALL}[audit]\nlevels = {{ x = \"warn\" }}\n"),
        &format!("{SMALL}[options]\nresolution = \"highest\"\n"),
    ] {
        assert_eq!(digest(same), small, "{same}");
    }
    for other in [
        SMALL.replace("3.11", "3.12"),
        SMALL.replace("2.3", "2.4"),
        SMALL.replace("linux-x86_64", "linux-aarch64"),
        format!("{SMALL}gpus = []\n"),
        format!("{SMALL}driver = \"535.104.05\"\n"),
        format!("{SMALL}[options]\nexclude-newer = \"2026-11-01\"\n"),
        format!("{SMALL}[pytorch]\nbackends = false\n"),
        format!("{SMALL}[[index]]\nurl = \"https://index.example/simple\"\n"),
        format!("{SMALL}[model]\nopset = 17\n"),
    ] {
        assert_ne!(digest(&other), small, "{other}");
    }
    let index =
        |user: &str| format!("{SMALL}[[index]]\nurl = \"https://{user}index.example/simple\"\n");
    assert_eq!(digest(&index("me:old@")), digest(&index("me:new@")), "a password is no content");
}

#[test]
fn a_target_has_a_digest_of_its_own() {
    let text = format!(
        "{SMALL}[target.a]\ndriver = \"535.104.05\"\n[target.b]\ndriver = \"470.103.01\"\n"
    );
    let digest = |text: &str| {
        let m = parse(text);
        m.target_digest(&m.target(Some("a")).expect("target"))
    };
    let moved = text.replace("470.103.01", "550.54.14");
    assert_eq!(digest(&text), digest(&moved), "another target does not matter");
    let tied = "[options]\nsame = [\"numpy\"]\n";
    assert_ne!(digest(&format!("{text}{tied}")), digest(&format!("{moved}{tied}")));
}

#[test]
fn marks_and_line_ends_do_not_move_positions() {
    let text = format!("\u{feff}{}", SMALL.replace('\n', "\r\n")).replace("linux-x86_64", "linux");
    let errors = Manifest::parse(&text, "env.toml").expect_err("platform");
    insta::assert_snapshot!(errors.to_string(), @r#"env.toml:5:12: error: unknown value "linux" for `platform`: use "linux-x86_64", "linux-aarch64", "windows-x86_64" or "macos-arm64""#);
}

#[test]
fn a_file_without_final_newline_is_fine() {
    parse(SMALL.trim_end());
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let utf16: Vec<u8> = SMALL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let errors = Manifest::parse_bytes(&utf16, "env.toml").expect_err("UTF-16");
    assert_eq!(errors.to_string(), "env.toml: error: the file is UTF-16, expected UTF-8");
    assert!(Manifest::parse_bytes(b"a = \"\xff\"", "env.toml").is_err());
}

/// A piece of a file that is nearly right, to get past the first checks.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("\"".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("=".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("3.1é".to_owned()),
        Just("@ https://u:p@h.example/é.whl ; python_version".to_owned()),
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Err(errors) = Manifest::parse_bytes(&bytes, "env.toml") {
            prop_assert!(!errors.is_empty());
            let _ = errors.render(Style::Plain);
        }
    }

    #[test]
    fn no_edit_makes_it_panic(cut in 0..FULL.len(), length in 0..40_usize, new in piece()) {
        let start = FULL.floor_char_boundary(cut);
        let end = FULL.floor_char_boundary((start + length).min(FULL.len()));
        let text = format!("{}{new}{}", &FULL[..start], &FULL[end..]);
        if let Err(errors) = Manifest::parse(&text, "env.toml") {
            prop_assert!(!errors.is_empty());
            prop_assert!(!errors.render(Style::Plain).contains("s3cret"));
        }
    }

    #[test]
    fn no_value_makes_it_panic(value in "\\PC{0,24}") {
        let value = toml::Value::String(value);
        let text = format!(
            "[environment]\npython = {value}\ndependencies = [{value}]\n[machine]\nplatform = \"linux-x86_64\"\n\
             driver = {value}\nglibc = {value}\ncuda = {value}\ngpus = {value}\n[[index]]\nname = {value}\nurl = {value}\n\
             [options]\nexclude-newer = {value}\nsame = [{value}]\n[pytorch]\nbackends = [{value}]\nindex = {value}\n",
        );
        if let Err(errors) = Manifest::parse(&text, "env.toml") {
            prop_assert!(!errors.is_empty());
            let _ = errors.render(Style::Plain);
        }
    }
}
