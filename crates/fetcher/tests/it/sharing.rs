//! Several runs on one cache, and caches that are damaged or cannot be written.

use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::cache::CacheFolder;
use cuda_lock_fetcher::{Fetcher, Mode};

use crate::support::{
    Listener, METADATA, Reply, Server, ask, config, error, name, newest, page, run, source,
};

/// A server with any project, one wheel each.
fn index() -> Server {
    Server::start(|seen| match seen.path.strip_prefix("/simple/") {
        Some(project) => {
            let project = project.trim_end_matches('/');
            let reply =
                page(&format!("{project}-1.0-py3-none-any.whl"), r#","core-metadata":true"#);
            let body =
                String::from_utf8_lossy(&reply.body).replace("\"foo\"", &format!("{project:?}"));
            Reply::new(200, body).with("cache-control", "max-age=600").with("etag", "\"x\"")
        }
        None => {
            let file = seen.path.rsplit('/').next().unwrap_or_default();
            let project = file.split('-').next().unwrap_or_default();
            Reply::new(200, METADATA.replace("Name: foo", &format!("Name: {project}")))
        }
    })
}

fn all(fetcher: &Fetcher) {
    for n in 0..20 {
        let project = name(&format!("p{n}"));
        let page = fetcher.project(SourceId(0), project).expect("an answer").expect("there");
        fetcher.metadata(SourceId(0), project, &newest(&page)).expect("an answer");
    }
}

#[test]
fn runs_at_the_same_time_share_a_cache() {
    let server = index();
    let cache = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for mode in [Mode::Online, Mode::Refresh] {
                    all(&run(&server, cache.path(), mode));
                }
            });
        }
    });
    server.take();
    all(&run(&server, cache.path(), Mode::Offline));
    assert_eq!(server.take().len(), 0);
    let left = std::fs::read_dir(cache.path().join("v3/pages")).expect("readable");
    assert_eq!(left.count(), 20, "no temporary file stays behind");
}

fn damage(dir: &Path, change: fn(&mut Vec<u8>)) {
    for entry in std::fs::read_dir(dir).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            damage(&path, change);
        } else {
            let mut bytes = std::fs::read(&path).expect("readable");
            change(&mut bytes);
            std::fs::write(&path, bytes).expect("writable");
        }
    }
}

/// Whether the fetcher says that it cannot say what there is of one project: at once, or once its files are asked for.
fn lacks_p0(fetcher: &Fetcher) -> bool {
    let Ok(page) = ask(fetcher, "p0") else { return true };
    page.expect("there").files.files(0).is_empty() && fetcher.fault().is_some()
}

#[test]
fn a_damaged_cache_is_an_empty_one() {
    let server = index();
    type Change = fn(&mut Vec<u8>);
    let changes: [Change; 5] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| {
            let last = bytes.len() - 1;
            bytes[last] ^= 0xff;
        },
        |bytes| bytes[30] ^= 1,
        |bytes| *bytes = b"something else, of some length, that is no entry of any cache".to_vec(),
    ];
    for change in changes {
        let cache = tempfile::tempdir().expect("a folder");
        all(&run(&server, cache.path(), Mode::Online));
        damage(&cache.path().join("v3"), change);
        server.take();
        assert!(lacks_p0(&run(&server, cache.path(), Mode::Offline)));
        all(&run(&server, cache.path(), Mode::Online));
        assert_eq!(server.take().len(), 40, "all is fetched again");
        all(&run(&server, cache.path(), Mode::Offline));
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_told_once() {
    let server = index();
    let folder = tempfile::tempdir().expect("a folder");
    // Permissions do not stop root; a file in the way of a folder stops everybody.
    std::fs::write(folder.path().join("file"), "").expect("written");
    let listener = Arc::new(Listener::default());
    let dir = folder.path().join("file").join("cache");
    let config = config(source(server.url("/simple/")), &dir, Mode::Online);
    let fetcher = Fetcher::new(config, Arc::clone(&listener) as _).expect("valid");
    all(&fetcher);
    drop(fetcher);
    let lines = listener.lines.lock().expect("no panic");
    let lines: Vec<_> =
        lines.iter().map(|line| line.replace(&*folder.path().to_string_lossy(), "DIR")).collect();
    insta::assert_snapshot!(lines.join("\n"), @"warning: the cache in DIR/file/cache cannot be written, so the next run fetches everything again: failed to create directory `DIR/file/cache/v3/pages`: Not a directory (os error 20)");
}

#[test]
fn a_cache_moves_to_a_machine_without_a_network() {
    let server = index();
    let (here, there) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    all(&run(&server, here.path(), Mode::Online));
    let mut archive = Vec::new();
    CacheFolder::new(here.path().to_owned()).export(&mut archive).expect("written");
    let copy = CacheFolder::new(there.path().to_owned());
    assert_eq!(copy.import(&archive[..]).expect("read"), 40);
    assert!(copy.size().expect("read") > 0);
    all(&run(&server, there.path(), Mode::Offline));
    insta::assert_snapshot!(error(copy.import(&b"no archive"[..]).map_err(|error| {
        cuda_lock_constraint::catalog::CatalogError::Invalid(error.to_string().into())
    })), @"the archive cannot be read: failed to read entire block");
}
