//! What is asked for, and what comes of it.

use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Mode, SourceFormat};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{
    Reply, Server, ask, config, error, fetcher, name, newest, page, run, source, versions,
};

#[test]
fn json_is_asked_for_and_html_is_understood() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/simple/foo/" => page("foo-1.0-py3-none-any.whl", ""),
        "/simple/bar/" => Reply::new(200, r#"<a href="/files/bar-2.0-py3-none-any.whl">bar</a>"#)
            .with("content-type", "text/html"),
        _ => Reply::new(404, ""),
    });
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    assert_eq!(versions(&project), ["1.0"]);
    let bar = ask(&fetcher, "bar").expect("an answer").expect("there");
    assert_eq!(versions(&bar), ["2.0"]);
    assert!(ask(&fetcher, "absent").expect("an answer").is_none());
    let seen = server.take();
    assert_eq!(
        seen[0].header("accept"),
        "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
    );
    assert_eq!(seen[0].header("accept-encoding"), "gzip");
    assert!(seen[0].header("user-agent").starts_with("cuda-lock/"));
}

#[test]
fn compressed_pages_are_unpacked_and_bytes_counted_as_sent() {
    let server = Server::start(|_| {
        use std::io::Write;
        let page = page("foo-1.0-py3-none-any.whl", &" ".repeat(50_000));
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&page.body).expect("memory");
        Reply::new(200, packed.finish().expect("memory")).with("content-encoding", "gzip")
    });
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    assert!(ask(&fetcher, "foo").expect("an answer").is_some());
    assert!(fetcher.stats().bytes < 2_000, "{:?}", fetcher.stats());
}

#[test]
fn each_page_is_fetched_once_however_many_ask() {
    let server = Server::start(|_| page("foo-1.0-py3-none-any.whl", ""));
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                fetcher.expect_project(SourceId(0), name("foo"), Box::new(|_| {}));
                assert!(ask(&fetcher, "foo").expect("an answer").is_some());
            });
        }
    });
    assert_eq!(server.paths(), ["/simple/foo/"]);
}

#[test]
fn links_are_relative_to_where_a_redirect_led() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/simple/foo/" => Reply::new(301, "moved").with("location", "/mirror/a/foo/"),
        "/mirror/a/foo/" => Reply::new(200, r#"<a href="../f/foo-1.0.zip">foo</a>"#),
        _ => Reply::new(500, ""),
    });
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    assert_eq!(newest(&project).url, server.url("/mirror/a/f/foo-1.0.zip").as_str());
}

#[test]
fn forbidden_means_absent_only_where_said() {
    let server = Server::start(|_| Reply::new(403, "no"));
    let cache = tempfile::tempdir().expect("a folder");
    let strict = run(&server, cache.path(), Mode::Online);
    insta::assert_snapshot!(error(ask(&strict, "foo")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server forbids this (HTTP 403 Forbidden); 127.0.0.1 may want credentials, in the URL of the index or in the netrc file");
    let mut lenient = source(server.url("/simple"));
    lenient.forbidden_means_absent = true;
    let lenient = fetcher(config(lenient, cache.path(), Mode::Online));
    assert!(ask(&lenient, "foo").expect("an answer").is_none());
    assert_eq!(server.paths(), ["/simple/foo/", "/simple/foo/"]);
}

#[test]
fn a_flat_page_is_fetched_once_for_all_projects() {
    let server = Server::start(|_| {
        Reply::new(200, r#"<a href="foo-1.0.zip">a</a> <a href="bar-2.0-py3-none-any.whl">b</a>"#)
            .with("cache-control", "max-age=600")
    });
    let cache = tempfile::tempdir().expect("a folder");
    let run = |mode| {
        let mut flat = source(server.url("/wheels/list.html"));
        flat.format = SourceFormat::Flat;
        fetcher(config(flat, cache.path(), mode))
    };
    for mode in [Mode::Online, Mode::Online, Mode::Offline] {
        let fetcher = run(mode);
        fetcher.expect_project(SourceId(0), name("foo"), Box::new(|_| {}));
        let project = ask(&fetcher, "foo").expect("an answer").expect("there");
        assert_eq!(newest(&project).url, server.url("/wheels/foo-1.0.zip").as_str());
        assert!(ask(&fetcher, "bar").expect("an answer").is_some());
        assert!(ask(&fetcher, "baz").expect("an answer").is_none());
    }
    assert_eq!(server.paths(), ["/wheels/list.html"]);
}

#[test]
fn what_is_no_page_is_said_to_be_none() {
    let server = Server::start(|_| Reply::new(200, "<html><form>Please sign in</form></html>"));
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    insta::assert_snapshot!(error(ask(&fetcher, "foo")), @"cannot use http://127.0.0.1:PORT/simple/foo/: the body is not an index page, but an HTML page with a form, perhaps to sign in");
}

#[test]
fn an_unusable_source_is_refused_at_once() {
    let refused = |url: &str| {
        let cache = tempfile::tempdir().expect("a folder");
        let source = source(url::Url::parse(url).expect("a URL"));
        let observer = Arc::new(cuda_lock_fetcher::Silent);
        let config = config(source, cache.path(), Mode::Online);
        cuda_lock_fetcher::Fetcher::new(config, observer).err().map(|error| error.to_string())
    };
    insta::assert_snapshot!(refused("ftp://me:pw@index.example/simple/").unwrap_or_default(), @"the index 'test' has the URL ftp://index.example/simple/: use https://, http:// or file://");
    assert_eq!(refused("https://index.example/simple"), None);
}

#[test]
fn what_arrives_is_told_to_whoever_expected_it() {
    let server = Server::start(|_| page("foo-1.0-py3-none-any.whl", ""));
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    let (sender, arrived) = std::sync::mpsc::channel();
    for _ in 0..2 {
        let sender = sender.clone();
        let then = move |project| drop(sender.send(project));
        fetcher.expect_project(SourceId(0), name("foo"), Box::new(then));
    }
    // A run that finds all it needs in the cache asks for nothing that it only might need.
    assert!(arrived.recv_timeout(std::time::Duration::from_millis(100)).is_err());
    assert_eq!(server.take().len(), 0);
    assert!(ask(&fetcher, "other").is_err());
    for _ in 0..2 {
        let project = arrived.recv_timeout(std::time::Duration::from_secs(10));
        assert_eq!(versions(&project.expect("told")), ["1.0"]);
    }
    assert_eq!(server.take().len(), 2, "what was needed, and once what was expected");
}
