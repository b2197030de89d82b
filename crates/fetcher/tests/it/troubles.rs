//! Servers and networks that fail.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_lock_fetcher::{Fetcher, Mode};

use crate::support::{Listener, Reply, Server, ask, config, error, fetcher, page, run, source};

const WHEEL: &str = "foo-1.0-py3-none-any.whl";

/// A server that answers the first `count` requests with `trouble`, later ones with a page.
fn at_first(count: usize, trouble: impl Fn() -> Reply + Send + Sync + 'static) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |_| {
        if asked.fetch_add(1, Ordering::SeqCst) < count { trouble() } else { page(WHEEL, "") }
    })
}

#[test]
fn troubles_that_pass_are_waited_for() {
    let large = || {
        let mut reply = page(WHEEL, "");
        reply.body.extend_from_slice(&[b' '; 100_000]);
        reply.cut = Some(70_000);
        reply
    };
    let slow = || Reply { delay: Duration::from_secs(2), ..Reply::new(200, "") };
    let servers = [
        at_first(2, || Reply::new(503, "busy")),
        at_first(1, || Reply::new(429, "").with("retry-after", "0")),
        at_first(1, || Reply::new(408, "")),
        at_first(2, large),
        at_first(1, slow),
    ];
    for (server, retries) in servers.iter().zip([2, 1, 1, 2, 1]) {
        let cache = tempfile::tempdir().expect("a folder");
        let listener = Arc::new(Listener::default());
        let config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
        let fetcher = Fetcher::new(config, Arc::clone(&listener) as _).expect("valid");
        assert!(ask(&fetcher, "foo").expect("an answer").is_some());
        assert_eq!(fetcher.stats().retries, retries);
        assert_eq!(listener.lines.lock().expect("no panic").len() as u64, retries);
        assert_eq!(server.take().len() as u64, retries + 1);
    }
}

#[test]
fn retry_after_is_obeyed_within_bounds() {
    let server = at_first(1, || Reply::new(503, "").with("retry-after", "1"));
    let cache = tempfile::tempdir().expect("a folder");
    let started = Instant::now();
    assert!(ask(&run(&server, cache.path(), Mode::Online), "foo").expect("an answer").is_some());
    assert!(started.elapsed() >= Duration::from_secs(1));
    let server = at_first(1, || Reply::new(429, "").with("retry-after", "3600"));
    let cache = tempfile::tempdir().expect("a folder");
    insta::assert_snapshot!(error(ask(&run(&server, cache.path(), Mode::Online), "foo")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server had too many requests (HTTP 429 Too Many Requests) and asks to wait 3600 s; try again later");
    assert_eq!(server.take().len(), 1);
}

#[test]
fn troubles_that_stay_are_named() {
    let said = |reply: Reply| {
        let server = Server::start(move |_| reply.clone());
        let cache = tempfile::tempdir().expect("a folder");
        error(ask(&run(&server, cache.path(), Mode::Online), "foo"))
    };
    insta::assert_snapshot!(said(Reply::new(500, "")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server failed (HTTP 500 Internal Server Error), tried 4 times; try again later");
    insta::assert_snapshot!(said(Reply::new(418, "")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server gave an answer that is not expected (HTTP 418 I'm a teapot)");
    insta::assert_snapshot!(said(Reply { cut: Some(3), ..Reply::new(200, "a page") }), @"cannot read http://127.0.0.1:PORT/simple/foo/: the body ended after 3 of 6 bytes, tried 4 times; try again");
    insta::assert_snapshot!(said(Reply { delay: Duration::from_secs(2), ..Reply::new(200, "") }), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server sent nothing for 0.5 s, tried 4 times; check the URL and the network; with a filled cache, --offline needs neither");
    insta::assert_snapshot!(said(Reply::new(302, "").with("location", "/simple/foo/")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server redirects in circles (20 times)");
    insta::assert_snapshot!(said(Reply::new(302, "").with("location", "javascript:0")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server redirects to something that is no web address");
    insta::assert_snapshot!(said(Reply::new(200, "x").with("content-encoding", "zstd")), @"cannot use http://127.0.0.1:PORT/simple/foo/: the body is compressed as 'zstd', which was not asked for");
    insta::assert_snapshot!(said(Reply::new(200, "x").with("content-encoding", "gzip")), @"cannot use http://127.0.0.1:PORT/simple/foo/: the compressed body was cut off; try again");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("bound").port()
    };
    let cache = tempfile::tempdir().expect("a folder");
    let said = |url: &str| {
        let url = url::Url::parse(url).expect("valid");
        let fetcher = fetcher(config(source(url), cache.path(), Mode::Online));
        error(ask(&fetcher, "foo"))
    };
    insta::assert_snapshot!(said(&format!("http://127.0.0.1:{port}/simple/")), @"cannot read http://127.0.0.1:PORT/simple/foo/: no connection to 127.0.0.1:PORT: nothing listens there, tried 4 times; check the URL and the network; with a filled cache, --offline needs neither");
    insta::assert_snapshot!(said("http://index.invalid/simple/"), @"cannot read http://index.invalid/simple/foo/: the host name 'index.invalid' has no address (DNS), tried 4 times; check the URL and the network; with a filled cache, --offline needs neither");
}

#[test]
fn a_certificate_that_is_not_trusted_is_named() {
    let cache = tempfile::tempdir().expect("a folder");
    let broken = cache.path().join("ca.pem");
    std::fs::write(&broken, "no certificate").expect("written");
    let said = |path: &std::path::Path| {
        let url = url::Url::parse("https://127.0.0.1:1/simple/").expect("valid");
        let mut config = config(source(url), cache.path(), Mode::Online);
        config.ca_bundle = Some(path.to_owned());
        let text = error(ask(&fetcher(config), "foo"));
        text.replace(&*cache.path().to_string_lossy(), "DIR")
    };
    insta::assert_snapshot!(said(&broken), @"cannot read https://127.0.0.1:PORT/simple/foo/: the CA bundle DIR/ca.pem holds no PEM certificate");
    insta::assert_snapshot!(said(&cache.path().join("absent.pem")), @"cannot read https://127.0.0.1:PORT/simple/foo/: the CA bundle cannot be read: failed to open file `DIR/absent.pem`: No such file or directory (os error 2)");
}
