use std::collections::BTreeMap;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{
    Catalog, CatalogError, CoreMetadata, File, Metadata, OnMetadata, OnProject, Project,
    ReleaseFiles,
};
use cuda_lock_constraint::name::Name;
use cuda_lock_constraint::version::SourceId;
use proptest::prelude::*;

use super::{FORMAT, Header, ProblemFile, Recording, Replay, Upgrade, address};

/// Two releases of one project; every other project is unknown, and one cannot be read.
struct Small;

fn file(version: &str) -> File {
    File {
        filename: format!("demo-{version}-py3-none-any.whl"),
        url: format!("https://user:s3cret@index.example/demo-{version}-py3-none-any.whl?sig=abc#x"),
        sha256: Some([7; 32]),
        size: Some(100),
        requires_python: Some(">=3.9".into()),
        yanked: Some("broken".into()),
        upload_time: "2026-01-02T03:04:05Z".parse().ok(),
        core_metadata: CoreMetadata::Sha256([8; 32]),
    }
}

struct Demo;

impl ReleaseFiles for Demo {
    fn files(&self, index: usize) -> Vec<File> {
        ["1.0", "2.0"].get(index).map(|version| file(version)).into_iter().collect()
    }

    fn skipped(&self) -> Vec<(String, String)> {
        vec![("demo-x.zip".to_owned(), "no version".to_owned())]
    }
}

impl Catalog for Small {
    fn project(&self, _: SourceId, name: Name) -> Result<Option<Arc<Project>>, CatalogError> {
        match name.as_str() {
            "demo" => Ok(Some(Arc::new(Project {
                versions: vec!["1.0".parse().unwrap(), "2.0".parse().unwrap()].into(),
                files: Box::new(Demo),
            }))),
            "broken" => Err(CatalogError::Network("https://me:pw@host.example: 500".into())),
            _ => Ok(None),
        }
    }

    fn metadata(&self, _: SourceId, name: Name, _: &File) -> Result<Arc<Metadata>, CatalogError> {
        Ok(Arc::new(Metadata {
            name: name.to_string(),
            version: "2.0".to_owned(),
            requires_dist: vec!["other>=1".into()],
            requires_python: None,
            provides_extra: vec!["gpu".to_owned()],
            source: None,
        }))
    }

    fn expect_project(&self, _: SourceId, _: Name, _: OnProject) {}

    fn expect_metadata(&self, _: SourceId, _: Name, _: &File, _: OnMetadata) {}

    fn wants_hints(&self) -> bool {
        true
    }

    fn fault(&self) -> Option<CatalogError> {
        None
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn header() -> Header {
    Header {
        format: FORMAT,
        program: "0.0.0".to_owned(),
        manifest: "[[index]]\nurl = \"https://me:pw@corp.example/simple/\"\n".to_owned(),
        target: None,
        exclude_newer: None,
        upgrade: Upgrade::default(),
        model: None,
        locks: BTreeMap::from([(
            String::new(),
            "url = \"https://me:pw@corp.example/x\"".to_owned(),
        )]),
    }
}

/// A problem in which `demo` was asked for, release 2.0 looked at, and its METADATA read.
fn recorded() -> ProblemFile {
    let recording = Arc::new(Recording::default());
    let catalog = recording.of(Arc::new(Small), vec!["corp".to_owned()]);
    for project in ["demo", "broken", "absent"] {
        let _ = catalog.project(SourceId(0), name(project));
    }
    let demo = catalog.project(SourceId(0), name("demo")).unwrap().unwrap();
    let files = demo.files.files(1);
    let _ = catalog.metadata(SourceId(0), name("demo"), &files[0]).unwrap();
    ProblemFile::new(header(), &recording)
}

#[test]
fn what_was_asked_is_answered_again() {
    for compressed in [false, true] {
        let bytes = recorded().to_bytes(compressed).unwrap();
        let file = ProblemFile::parse(&bytes, "p.json").unwrap();
        let catalog = Replay::new(&file).of(vec!["corp".to_owned()]);
        let demo = catalog.project(SourceId(0), name("demo")).unwrap().unwrap();
        assert_eq!(
            demo.versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["1.0", "2.0"]
        );
        assert_eq!(demo.files.skipped().len(), 1);
        // Of a release that was looked at, all but the secrets of the address is there; of the other what decides.
        let [looked_at] = demo.files.files(1).try_into().unwrap();
        let expected = File {
            url: "https://index.example/demo-2.0-py3-none-any.whl".to_owned(),
            ..self::file("2.0")
        };
        assert_eq!(looked_at, expected);
        let [other] = demo.files.files(0).try_into().unwrap();
        assert_eq!(other.requires_python.as_deref(), Some(">=3.9"));
        assert_eq!((other.sha256, other.core_metadata), (None, CoreMetadata::Yes));
        let metadata = catalog.metadata(SourceId(0), name("demo"), &looked_at).unwrap();
        assert_eq!(metadata.requires_dist, ["other>=1".into()]);
        let unknown = catalog.metadata(SourceId(0), name("demo"), &other).unwrap_err();
        assert!(unknown.to_string().contains("not in the problem file"), "{unknown}");
        assert!(catalog.project(SourceId(0), name("absent")).unwrap().is_none());
        let broken = catalog.project(SourceId(0), name("broken")).err().unwrap();
        assert_eq!(broken.to_string(), "https://*****@host.example: 500");
        assert!(catalog.project(SourceId(0), name("never-asked")).is_err());
    }
}

#[test]
fn nothing_secret_is_written_and_the_same_gives_the_same() {
    let text = recorded().to_text().unwrap();
    for secret in ["s3cret", "me:pw", "sig=abc"] {
        assert!(!text.contains(secret), "{secret} is in:\n{text}");
    }
    assert_eq!(text, recorded().to_text().unwrap());
    let again = ProblemFile::parse(text.as_bytes(), "p.json").unwrap();
    assert_eq!(again.to_text().unwrap(), text);
}

#[test]
fn a_file_that_cannot_be_used_is_named_with_its_place() {
    let said = |bytes: &[u8]| {
        let errors = ProblemFile::parse(bytes, "p.json").err().unwrap();
        errors.iter().next().unwrap().one_line()
    };
    insta::assert_snapshot!(said(b""), @"p.json:1:1: error: the file is empty");
    insta::assert_snapshot!(said(b"[machine]\n"), @"p.json:1:2: error: this is no problem file: expected value");
    insta::assert_snapshot!(said(br#"{"cuda-lock-problem": 9, "program": "7.0", "manifest": ""}"#), @"p.json:1:1: error: the file is of format 9, written by cuda-lock 7.0; this version reads format 1");
    insta::assert_snapshot!(said(b"{\"cuda-lock-problem\": 1, \"program\": \"0\", \"manifest\": \"\"}\n{\"project\": 5}\n"), @"p.json:2:13: error: this line is no answer of an index: invalid type: integer `5`, expected struct SavedProject");
    insta::assert_snapshot!(said(&[0x1f, 0x8b, 0x08, 0, 0]), @"p.json: error: it cannot be unpacked: unexpected end of file");
}

#[test]
fn addresses_lose_what_can_be_secret() {
    for (url, plain) in [
        ("https://a.example/b.whl", "https://a.example/b.whl"),
        ("https://u:p@a.example/b@1.whl#sha256=1", "https://a.example/b@1.whl"),
        ("https://a.example?token=1", "https://a.example"),
        ("file:///x/y.whl", "file:///x/y.whl"),
        ("y.whl", "y.whl"),
    ] {
        assert_eq!(address(url), plain);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = ProblemFile::parse(&bytes, "p.json");
    }

    #[test]
    fn damaged_files_are_read_or_refused(at in 0usize..2000, byte: u8) {
        let mut bytes = recorded().to_bytes(false).unwrap();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        let _ = ProblemFile::parse(&bytes, "p.json");
    }
}
