//! Freshness: when the server is asked again, and when not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::Mode;

use crate::support::{
    METADATA, Reply, Server, ask, config, contents, error, fetcher, name, newest, page, run,
    source, versions,
};

const WHEEL: &str = "foo-1.0-py3-none-any.whl";

/// A server with one project, whose page has an ETag and this Cache-Control.
fn index(cache_control: &'static str) -> Server {
    Server::start(move |seen| match seen.path.as_str() {
        "/simple/foo/" if seen.header("if-none-match") == "\"one\"" => {
            Reply::new(304, "").with("etag", "\"one\"").with("cache-control", "max-age=600")
        }
        "/simple/foo/" => page(WHEEL, r#","core-metadata":true"#)
            .with("etag", "\"one\"")
            .with("cache-control", cache_control),
        "/files/foo-1.0-py3-none-any.whl.metadata" => Reply::new(200, METADATA),
        _ => Reply::new(404, ""),
    })
}

#[test]
fn a_fresh_entry_asks_for_nothing() {
    let server = index("max-age=600");
    let cache = tempfile::tempdir().expect("a folder");
    for (mode, requests) in [(Mode::Online, 3), (Mode::Online, 0), (Mode::Offline, 0)] {
        let fetcher = run(&server, cache.path(), mode);
        let project = ask(&fetcher, "foo").expect("an answer").expect("there");
        assert_eq!(versions(&project), ["1.0"]);
        assert!(ask(&fetcher, "absent").expect("an answer").is_none());
        let metadata =
            fetcher.metadata(SourceId(0), name("foo"), &newest(&project)).expect("an answer");
        assert_eq!(metadata.requires_dist[0].as_ref(), "bar>=2");
        assert_eq!(server.take().len(), requests);
        assert_eq!(fetcher.stats().requests, requests as u64);
        if requests == 0 {
            assert_eq!((fetcher.stats().cached_pages, fetcher.stats().cached_metadata), (2, 1));
        }
    }
}

#[test]
fn a_stale_entry_is_confirmed_and_then_fresh() {
    let server = index("max-age=0");
    let cache = tempfile::tempdir().expect("a folder");
    for (run_number, requests) in [(1, 1), (2, 1), (3, 0)] {
        let fetcher = run(&server, cache.path(), Mode::Online);
        let project = ask(&fetcher, "foo").expect("an answer").expect("there");
        assert_eq!(versions(&project), ["1.0"]);
        assert_eq!(server.take().len(), requests, "run {run_number}");
        assert_eq!(fetcher.stats().not_modified, u64::from(run_number == 2));
    }
}

#[test]
fn refresh_confirms_each_page_once() {
    let server = index("max-age=600");
    let cache = tempfile::tempdir().expect("a folder");
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    server.take();
    let fetcher = run(&server, cache.path(), Mode::Refresh);
    for _ in 0..3 {
        fetcher.expect_project(SourceId(0), name("foo"), Box::new(|_| {}));
        assert!(ask(&fetcher, "foo").expect("an answer").is_some());
    }
    let seen = server.take();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].header("if-none-match"), "\"one\"");
}

#[test]
fn a_changed_page_replaces_the_old_one() {
    let server = Server::start(|seen| {
        let changed = !seen.header("if-none-match").is_empty();
        page(if changed { "foo-2.0.zip" } else { "foo-1.0.zip" }, "").with("etag", "\"v\"")
    });
    let cache = tempfile::tempdir().expect("a folder");
    for (mode, expected) in [(Mode::Online, "1.0"), (Mode::Online, "2.0"), (Mode::Offline, "2.0")] {
        let project =
            ask(&run(&server, cache.path(), mode), "foo").expect("an answer").expect("there");
        assert_eq!(versions(&project), [expected]);
    }
}

#[test]
fn offline_uses_what_is_old_and_names_what_is_missing() {
    let server = index("max-age=0");
    let cache = tempfile::tempdir().expect("a folder");
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    server.take();
    let fetcher = run(&server, cache.path(), Mode::Offline);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    insta::assert_snapshot!(error(fetcher.metadata(SourceId(0), name("foo"), &newest(&project))), @"the METADATA of foo-1.0-py3-none-any.whl is not in the cache, and --offline allows no request: run once without --offline to fill the cache");
    insta::assert_snapshot!(error(ask(&fetcher, "other")), @"http://127.0.0.1:PORT/simple/other/ (index 'test') is not in the cache, and --offline allows no request: run once without --offline to fill the cache");
    assert_eq!(server.take().len(), 0);
}

#[test]
fn what_must_not_be_kept_is_not() {
    let server = index("no-store");
    let cache = tempfile::tempdir().expect("a folder");
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    assert_eq!(contents(cache.path()).len(), 0);
}

#[test]
fn without_cache_nothing_is_read_or_written() {
    let server = index("max-age=600");
    let cache = tempfile::tempdir().expect("a folder");
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    let before = contents(cache.path()).len();
    let mut config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
    config.no_cache = true;
    let fetcher = fetcher(config);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    fetcher.metadata(SourceId(0), name("foo"), &newest(&project)).expect("an answer");
    drop(fetcher);
    assert_eq!(server.take().len(), 3);
    assert_eq!(contents(cache.path()).len(), before);
}

#[test]
fn a_failure_names_the_copy_at_hand_and_leaves_it() {
    let broken = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&broken);
    let server = Server::start(move |_| {
        if state.load(Ordering::SeqCst) { Reply::new(502, "") } else { page(WHEEL, "") }
    });
    let cache = tempfile::tempdir().expect("a folder");
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    broken.store(true, Ordering::SeqCst);
    insta::assert_snapshot!(error(ask(&run(&server, cache.path(), Mode::Online), "foo")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server failed (HTTP 502 Bad Gateway), tried 4 times; try again later. A copy from 0 minutes ago is in the cache; --offline uses it");
    assert!(ask(&run(&server, cache.path(), Mode::Offline), "foo").expect("an answer").is_some());
}
