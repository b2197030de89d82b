//! Archives made in memory: what is read of them, and what they cannot make the reader do.

use std::io::{Cursor, Write};

use cuda_lock_constraint::catalog::Grade;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;

fn tar_gz(files: &[(&str, &str)]) -> Cursor<Vec<u8>> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, contents) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, contents.as_bytes()).expect("in memory");
    }
    Cursor::new(builder.into_inner().expect("in memory").finish().expect("in memory"))
}

fn zip(files: &[(&str, &str)]) -> Cursor<Vec<u8>> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, contents) in files {
        writer.start_file(*path, zip::write::SimpleFileOptions::default()).expect("in memory");
        writer.write_all(contents.as_bytes()).expect("in memory");
    }
    let bytes = writer.finish().expect("in memory");
    Cursor::new(bytes.into_inner())
}

fn named() -> SdistName {
    SdistName {
        project: Name::new("foo").expect("valid"),
        version: "1.0".to_owned(),
        filename: "foo-1.0.tar.gz".to_owned(),
        subdirectory: None,
    }
}

/// `promised a b`, `recorded a`, or the reason with what is recorded.
fn said(files: &[(&str, &str)]) -> String {
    let files: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (format!("foo-1.0/{path}"), *text)).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let by_tar = read_sdist(&named(), SdistKind::TarGz, tar_gz(&files));
    assert_eq!(
        by_tar,
        read_sdist(&named(), SdistKind::Zip, zip(&files)),
        "both kinds say the same"
    );
    let list = |metadata: &Metadata| metadata.requires_dist.join(", ");
    match by_tar {
        Ok(metadata) => {
            let source = metadata.source.as_ref().expect("of an sdist");
            let grade = match source.grade {
                Grade::Promised => "promised",
                Grade::Recorded => "recorded",
                _ => "other",
            };
            let open = if source.extras_open { " but extras" } else { "" };
            format!("{grade}{open}: {}", list(&metadata))
        }
        Err(found) => match &found.recorded {
            Some(recorded) => format!("{:?}: {}", found.why, list(recorded)),
            None => format!("{:?}", found.why),
        },
    }
}

const NEW: &str = "Metadata-Version: 2.2\nName: foo\nVersion: 1.0\nRequires-Dist: bar\n";
const OLD: &str = "Metadata-Version: 1.1\nName: foo\nVersion: 1.0\n";
const SETUP: &str = "from setuptools import setup\nsetup(name='foo', install_requires=['bar'])\n";

#[test]
fn what_is_promised() {
    assert_eq!(said(&[("PKG-INFO", NEW)]), "promised: bar");
    let extras = format!("{NEW}Dynamic: provides-extra\n");
    assert_eq!(said(&[("PKG-INFO", &extras)]), "promised but extras: bar");
    let python = format!("{NEW}Dynamic: Requires-Python\n");
    assert_eq!(said(&[("PKG-INFO", &python)]), "promised: bar");
    let table = "[project]\nname = 'Foo'\ndynamic = ['version']\ndependencies = ['bar>=1']\noptional-dependencies = { x = ['baz; os_name == \"nt\"'] }\n";
    assert_eq!(
        said(&[("PKG-INFO", OLD), ("pyproject.toml", table)]),
        "promised: bar>=1, baz ; (os_name == \"nt\") and extra == \"x\""
    );
    let dynamic = table.replace("'version'", "'version', 'dependencies'");
    assert_eq!(said(&[("PKG-INFO", OLD), ("pyproject.toml", &dynamic)]), "NothingRecorded");
    let other = table.replace("'Foo'", "'other'");
    assert_eq!(said(&[("PKG-INFO", OLD), ("pyproject.toml", &other)]), "NothingRecorded");
}

#[test]
fn what_is_recorded() {
    let requires = "bar\n[x]\nbaz\n";
    let deep = [
        ("PKG-INFO", OLD),
        ("setup.py", SETUP),
        ("vendor/other.egg-info/requires.txt", "no"),
        ("src/foo.egg-info/requires.txt", requires),
    ];
    assert_eq!(said(&deep), "recorded: bar, baz ; extra == \"x\"");
    assert_eq!(
        said(&[("PKG-INFO", OLD), ("setup.py", "setup()"), ("foo.egg-info/top_level.txt", "foo")]),
        "recorded: "
    );
    let old = NEW.replace("2.2", "2.1");
    assert_eq!(said(&[("PKG-INFO", &old), ("setup.py", SETUP)]), "recorded: bar");
}

#[test]
fn what_is_doubted_or_unknown() {
    assert_eq!(said(&[("PKG-INFO", OLD), ("setup.py", SETUP)]), "NothingRecorded");
    assert_eq!(said(&[("a.py", "")]), "NothingRecorded");
    let dynamic = format!("{NEW}Dynamic: requires-dist\n");
    assert_eq!(said(&[("PKG-INFO", &dynamic), ("setup.py", SETUP)]), "Dynamic: bar");
    let old = NEW.replace("2.2", "2.1");
    let computed = "setup(install_requires=['bar'] if sys.version_info[0] == 3 else [])";
    assert_eq!(said(&[("PKG-INFO", &old), ("setup.py", computed)]), "Computed: bar");
    for name in ["transformer-engine-cu13==1", "cupy_cuda12x"] {
        let recorded = old.replace("Requires-Dist: bar", &format!("Requires-Dist: {name}"));
        assert!(said(&[("PKG-INFO", &recorded)]).starts_with("CudaOfMaker"), "{name}");
    }
    let stub = "[build-system]\nrequires = ['wheel-stub']\nbuild-backend = 'wheel_stub.buildapi'\n";
    assert_eq!(said(&[("PKG-INFO", NEW), ("pyproject.toml", stub)]), "Stub");
    let placeholder = "import sys\nif len(sys.argv) != 4:\n    raise RuntimeError('x')\n";
    let files = [("PKG-INFO", OLD), ("foo.egg-info/PKG-INFO", OLD), ("setup.py", placeholder)];
    assert_eq!(said(&files), "Placeholder");
}

#[test]
fn what_a_build_needs_is_seen() {
    let setup = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\nsetup(ext_modules=[CUDAExtension('a', ['a.cu'])])\n";
    let archive = tar_gz(&[("foo-1.0/PKG-INFO", NEW), ("foo-1.0/setup.py", setup)]);
    let metadata = read_sdist(&named(), SdistKind::TarGz, archive).expect("promised");
    let needs: Vec<_> = metadata.source.expect("of an sdist").needs.into_iter().collect();
    insta::assert_snapshot!(format!("{needs:?}"), @"[Compiler, Nvcc, Torch]");
}

#[test]
fn odd_archives_are_said_and_do_no_harm() {
    let said = |archive: Vec<u8>| {
        read_sdist(&named(), SdistKind::TarGz, Cursor::new(archive)).expect_err("odd").to_string()
    };
    insta::assert_snapshot!(said(b"no archive".to_vec()), @"foo-1.0.tar.gz does not say what it needs: its archive cannot be read (it is not a valid .tar.gz archive: invalid gzip header)");
    let mut header = tar::Header::new_gnu();
    header.set_path("foo-1.0/PKG-INFO").expect("short");
    header.set_size(1 << 40);
    header.set_cksum();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(header.as_bytes()).expect("in memory");
    insta::assert_snapshot!(said(encoder.finish().expect("in memory")), @"foo-1.0.tar.gz does not say what it needs: its archive cannot be read (a file in it is 1099511627776 bytes large, more than the 16777216 bytes that are read)");
}

#[test]
fn links_and_paths_that_lead_out_are_no_files_of_it() {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    builder.append_link(&mut link, "foo-1.0/PKG-INFO", "/etc/passwd").expect("in memory");
    let mut header = tar::Header::new_gnu();
    let text = NEW.as_bytes();
    header.set_size(text.len() as u64);
    // The builder refuses such a path; an archive that was made by hand has it.
    let path = b"../../foo-1.0/PKG-INFO";
    header.as_gnu_mut().expect("gnu").name[..path.len()].copy_from_slice(path);
    header.set_cksum();
    builder.append(&header, text).expect("in memory");
    let archive = builder.into_inner().expect("in memory").finish().expect("in memory");
    let found = read_sdist(&named(), SdistKind::TarGz, Cursor::new(archive)).expect_err("nothing");
    assert_eq!(found.why, Silence::NothingRecorded);
}

proptest! {
    #[test]
    fn any_bytes_do_no_harm(
        at: proptest::sample::Index, noise in proptest::collection::vec(any::<u8>(), 0..60), zipped: bool,
    ) {
        let files = [("foo-1.0/a", "xyz"), ("foo-1.0/PKG-INFO", NEW), ("foo-1.0/setup.py", SETUP)];
        let (kind, archive) = if zipped { (SdistKind::Zip, zip(&files)) } else { (SdistKind::TarGz, tar_gz(&files)) };
        let mut bytes = archive.into_inner();
        let at = at.index(bytes.len());
        let end = (at + noise.len()).min(bytes.len());
        bytes.splice(at..end, noise.clone());
        let _ = read_sdist(&named(), kind, Cursor::new(bytes));
        let _ = read_sdist(&named(), kind, Cursor::new(noise));
    }
}
