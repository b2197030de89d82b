//! Indexes in folders.

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Fetcher, Mode, SourceFormat};
use url::Url;

use crate::support::{
    ask, config, error, fetcher, name, newest, source, versions, wheel, wheel_of,
};

fn folder(path: &std::path::Path, format: SourceFormat) -> Fetcher {
    let mut source = source(Url::from_directory_path(path).expect("an absolute path"));
    source.format = format;
    fetcher(config(source, path, Mode::Offline))
}

#[test]
fn a_folder_of_files_is_an_index() {
    let dir = tempfile::tempdir().expect("a folder");
    for file in ["foo-1.0+local.1-py3-none-any.whl", "bar-1.0.tar.gz", "notes.txt"] {
        std::fs::write(dir.path().join(file), wheel_of("1.0+local.1", 2)).expect("written");
    }
    let fetcher = folder(dir.path(), SourceFormat::Flat);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    assert_eq!(versions(&project), ["1.0+local.1"]);
    let file = newest(&project);
    assert_eq!(file.filename, "foo-1.0+local.1-py3-none-any.whl");
    let metadata = fetcher.metadata(SourceId(0), name("foo"), &file).expect("an answer");
    assert_eq!(metadata.requires_dist[0].as_ref(), "bar>=2");
    let url = Url::parse(&file.url).expect("valid");
    let (_, length) = fetcher.download_sha256(&url, 1 << 20).expect("an answer");
    assert_eq!(length, wheel_of("1.0+local.1", 2).len() as u64);
    assert!(fetcher.download_sha256(&url, 10).is_err());
    assert!(ask(&fetcher, "other").expect("an answer").is_none());
}

#[test]
fn a_folder_of_pages_is_an_index() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("foo")).expect("made");
    std::fs::write(
        dir.path().join("foo/index.html"),
        r#"<a href="foo-1.0-py3-none-any.whl">x</a>"#,
    )
    .expect("written");
    std::fs::write(dir.path().join("foo/foo-1.0-py3-none-any.whl"), wheel(2)).expect("written");
    let fetcher = folder(dir.path(), SourceFormat::Simple);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    fetcher.metadata(SourceId(0), name("foo"), &newest(&project)).expect("an answer");
    assert!(ask(&fetcher, "other").expect("an answer").is_none());
}

#[test]
fn an_empty_folder_has_nothing_and_a_missing_one_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    assert!(ask(&folder(dir.path(), SourceFormat::Flat), "foo").expect("an answer").is_none());
    for format in [SourceFormat::Flat, SourceFormat::Simple] {
        let missing = dir.path().join("missing");
        let text = error(ask(&folder(&missing, format), "foo"));
        assert!(text.contains("missing"), "{text}");
    }
}
