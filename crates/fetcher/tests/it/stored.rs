//! Pages in the cache: read in parts, and never believed when they are damaged.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_lock_constraint::catalog::{Catalog, File, Project};
use cuda_lock_fetcher::{Fetcher, Mode};

use crate::support::{Reply, Server, ask, error, run};

/// A server with one project that has so many releases of two wheels each.
fn index(releases: usize) -> Server {
    let mut files = String::new();
    for release in 0..releases {
        for platform in ["manylinux_2_28_x86_64", "win_amd64"] {
            let comma = if files.is_empty() { "" } else { "," };
            let file = format!("foo-{release}.0-cp311-cp311-{platform}.whl");
            let hex = format!("{release:064x}");
            let _ = write!(
                files,
                r#"{comma}{{"filename":"{file}","url":"https://files.example/{hex}/{file}","hashes":{{"sha256":"{hex}"}},"requires-python":">=3.8","yanked":false}}"#
            );
        }
    }
    let body = format!(r#"{{"meta":{{"api-version":"1.1"}},"name":"foo","files":[{files}]}}"#);
    Server::start(move |_| {
        Reply::new(200, body.clone())
            .with("content-type", "application/vnd.pypi.simple.v1+json")
            .with("cache-control", "max-age=600")
            .with("etag", "\"one\"")
    })
}

fn foo(fetcher: &Fetcher) -> Arc<Project> {
    ask(fetcher, "foo").expect("an answer").expect("there")
}

fn everything(project: &Project) -> Vec<Vec<File>> {
    (0..project.versions.len()).map(|index| project.files.files(index)).collect()
}

/// The one page in a cache.
fn stored(cache: &Path) -> PathBuf {
    let mut pages = std::fs::read_dir(cache.join("v3/pages")).expect("readable");
    pages.next().expect("a page").expect("readable").path()
}

#[test]
fn a_warm_run_reads_the_head_and_what_it_looks_at() {
    let server = index(5000);
    let cache = tempfile::tempdir().expect("a folder");
    let fetched = foo(&run(&server, cache.path(), Mode::Online));
    let size = std::fs::metadata(stored(cache.path())).expect("there").len();
    let warm = run(&server, cache.path(), Mode::Offline);
    let project = foo(&warm);
    let newest = project.versions.len() - 1;
    assert_eq!(project.versions.parsed(), 0);
    assert_eq!(project.versions.get(newest), fetched.versions.get(newest));
    assert_eq!(project.files.files(newest), fetched.files.files(newest));
    let read = warm.stats().cache_bytes;
    assert!(read < size / 4, "{read} bytes of {size}");
    assert_eq!(project.versions.parsed(), 1);
    // One release more costs its block.
    assert_eq!(project.files.files(7), fetched.files.files(7));
    assert!(warm.stats().cache_bytes < read + 500);
    assert_eq!(everything(&project), everything(&fetched));
}

#[test]
fn a_page_that_was_cut_off_is_fetched_again() {
    let server = index(2);
    let cache = tempfile::tempdir().expect("a folder");
    let expected = everything(&foo(&run(&server, cache.path(), Mode::Online)));
    let path = stored(cache.path());
    let whole = std::fs::read(&path).expect("readable");
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).expect("writable");
        server.take();
        assert_eq!(everything(&foo(&run(&server, cache.path(), Mode::Online))), expected);
        assert_eq!(server.take().len(), 1, "cut at {length}");
        assert_eq!(std::fs::read(&path).expect("readable").len(), whole.len());
    }
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let server = index(2);
    let cache = tempfile::tempdir().expect("a folder");
    let expected = everything(&foo(&run(&server, cache.path(), Mode::Online)));
    let path = stored(cache.path());
    let whole = std::fs::read(&path).expect("readable");
    // Bytes 8 to 15 say until when the page is fresh: any value is one.
    for at in (0..8).chain(16..whole.len()) {
        let mut changed = whole.clone();
        changed[at] ^= 0x20;
        std::fs::write(&path, &changed).expect("writable");
        server.take();
        assert_eq!(everything(&foo(&run(&server, cache.path(), Mode::Online))), expected);
        assert_eq!(server.take().len(), 1, "changed at {at}");
    }
}

#[test]
fn damage_that_shows_late_is_repaired_or_told() {
    let server = index(50);
    let cache = tempfile::tempdir().expect("a folder");
    let expected = everything(&foo(&run(&server, cache.path(), Mode::Online)));
    let path = stored(cache.path());
    let mut bytes = std::fs::read(&path).expect("readable");
    // The oldest release lies last.
    *bytes.last_mut().expect("not empty") ^= 1;
    std::fs::write(&path, &bytes).expect("writable");
    server.take();

    let offline = run(&server, cache.path(), Mode::Offline);
    let project = foo(&offline);
    assert_eq!(project.files.files(49), expected[49]);
    assert!(offline.fault().is_none());
    assert_eq!(project.files.files(0), []);
    insta::assert_snapshot!(error(Err::<(), _>(offline.fault().expect("told"))), @"the copy of http://127.0.0.1:PORT/simple/foo/ in the cache is damaged, and --offline allows no request: run once without --offline to replace it");

    let online = run(&server, cache.path(), Mode::Online);
    let project = foo(&online);
    assert_eq!(project.files.files(49), expected[49]);
    assert_eq!(server.take().len(), 0);
    assert_eq!(everything(&project), expected);
    assert_eq!(server.take().len(), 1, "once for all of the page");
    assert!(online.fault().is_none());
    drop((project, online));
    assert_eq!(everything(&foo(&run(&server, cache.path(), Mode::Offline))), expected);
}

#[test]
fn a_page_that_is_replaced_meanwhile_stays_what_it_was() {
    let server = index(5000);
    let cache = tempfile::tempdir().expect("a folder");
    let expected = everything(&foo(&run(&server, cache.path(), Mode::Online)));
    let reader = run(&server, cache.path(), Mode::Offline);
    let project = foo(&reader);
    let other = index(3);
    // The same address cannot be served twice, so the other page is moved to where the first one was.
    let elsewhere = tempfile::tempdir().expect("a folder");
    foo(&run(&other, elsewhere.path(), Mode::Online));
    std::fs::rename(stored(elsewhere.path()), stored(cache.path())).expect("renamed");
    assert_eq!(everything(&project), expected);
}

#[test]
fn a_bucket_of_another_version_is_left_alone() {
    let server = index(2);
    let cache = tempfile::tempdir().expect("a folder");
    let pages = cache.path().join("v1/pages");
    std::fs::create_dir_all(&pages).expect("made");
    foo(&run(&server, cache.path(), Mode::Online));
    let path = stored(cache.path());
    let name = path.file_name().expect("a name");
    std::fs::rename(&path, pages.join(name)).expect("renamed");
    server.take();
    foo(&run(&server, cache.path(), Mode::Online));
    assert_eq!(server.take().len(), 1);
    assert!(pages.join(name).exists());
}
