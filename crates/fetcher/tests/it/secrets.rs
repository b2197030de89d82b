//! Credentials: sent to their own host, and found nowhere else.

use std::sync::Arc;

use cuda_lock_constraint::catalog::Catalog;
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Credentials, Fetcher, FetcherConfig, Mode};

use crate::support::{
    Listener, METADATA, Reply, Server, ask, config, contents, error, fetcher, name, newest, page,
    source,
};

const SECRET: &str = "s3cr3t";
const WHEEL: &str = "foo-1.0-py3-none-any.whl";

/// A server that wants `me` and the secret.
fn guarded(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |seen| {
        // "me:s3cr3t" in base64
        if seen.header("authorization") == "Basic bWU6czNjcjN0" {
            answer(&seen.path)
        } else {
            Reply::new(401, "").with("www-authenticate", "Basic")
        }
    })
}

fn with_key(server: &Server, password: &str) -> url::Url {
    let mut url = server.url("/simple/");
    url.set_username("me").expect("a host");
    url.set_password(Some(password)).expect("a host");
    url
}

#[test]
fn missing_and_wrong_credentials_are_told_apart() {
    let server = guarded(|_| page(WHEEL, ""));
    let cache = tempfile::tempdir().expect("a folder");
    let said = |url| error(ask(&fetcher(config(source(url), cache.path(), Mode::Online)), "foo"));
    insta::assert_snapshot!(said(server.url("/simple/")), @"cannot read http://127.0.0.1:PORT/simple/foo/: the server asks for credentials (HTTP 401 Unauthorized); give them in the URL of the index (https://USER:PASSWORD@127.0.0.1/…), or in the netrc file (machine 127.0.0.1 login USER password PASSWORD)");
    let wrong = said(with_key(&server, "wr0ng"));
    assert!(!wrong.contains("wr0ng"));
    insta::assert_snapshot!(wrong, @"cannot read http://127.0.0.1:PORT/simple/foo/: the server does not accept the credentials given for it (HTTP 401 Unauthorized); check the user and password for 127.0.0.1");
}

#[test]
fn credentials_come_from_url_configuration_or_netrc() {
    let server = guarded(|_| page(WHEEL, ""));
    let netrc = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(netrc.path(), format!("machine 127.0.0.1 login me password {SECRET}\n"))
        .expect("written");
    let ways: [&dyn Fn(&mut FetcherConfig); 3] = [
        &|config| config.sources[0].url = with_key(&server, SECRET).into(),
        &|config| {
            config.credentials.push(Credentials {
                url: server.url("/"),
                username: "me".into(),
                password: Some(SECRET.into()),
            });
        },
        &|config| config.netrc = Some(netrc.path().to_owned()),
    ];
    for way in ways {
        let cache = tempfile::tempdir().expect("a folder");
        let mut config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
        way(&mut config);
        assert!(!format!("{:?}", config.credentials).contains(SECRET));
        assert!(ask(&fetcher(config), "foo").expect("an answer").is_some());
    }
}

#[test]
fn no_other_host_gets_them() {
    let other = Server::start(|seen| match seen.path.as_str() {
        "/elsewhere/" => Reply::new(200, format!(r#"<a href="{WHEEL}">x</a>"#)),
        _ => Reply::new(200, METADATA),
    });
    let port = other.port;
    let server = guarded(move |_| {
        Reply::new(302, "").with("location", format!("http://127.0.0.1:{port}/elsewhere/"))
    });
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = fetcher(config(source(with_key(&server, SECRET)), cache.path(), Mode::Online));
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    // The wheel lies on the other host too; whatever it answers, it must not have been given the credentials.
    let _ = fetcher.metadata(SourceId(0), name("foo"), &newest(&project));
    assert_eq!(server.take().len(), 1);
    let seen = other.take();
    assert!(seen.len() >= 2);
    assert!(seen.iter().all(|seen| seen.header("authorization").is_empty()));
}

#[test]
fn nothing_that_is_kept_or_said_holds_them() {
    let server = guarded(|path| match path {
        "/simple/foo/" => page(WHEEL, r#","core-metadata":true"#),
        "/simple/broken/" => Reply::new(200, "not a page"),
        "/simple/failing/" => Reply::new(503, ""),
        "/simple/gone/" => Reply::new(404, ""),
        _ => Reply::new(200, METADATA),
    });
    let cache = tempfile::tempdir().expect("a folder");
    let listener = Arc::new(Listener::default());
    let run = |mode| {
        let config = config(source(with_key(&server, SECRET)), cache.path(), mode);
        Fetcher::new(config, Arc::clone(&listener) as _).expect("valid")
    };
    let online = run(Mode::Online);
    let project = ask(&online, "foo").expect("an answer").expect("there");
    let file = newest(&project);
    assert!(!file.url.contains("me"), "{}", file.url);
    online.metadata(SourceId(0), name("foo"), &file).expect("an answer");
    assert!(ask(&online, "gone").expect("an answer").is_none());
    let mut texts = vec![error(ask(&online, "broken")), error(ask(&online, "failing"))];
    drop(online);
    texts.push(error(ask(&run(Mode::Offline), "bar")));
    texts.extend(listener.lines.lock().expect("no panic").iter().cloned());
    let kept = contents(cache.path());
    // Two pages, one pack, the tag.
    assert_eq!(kept.len(), 4);
    for bytes in kept.into_iter().chain(texts.into_iter().map(String::into_bytes)) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET) && !text.contains("me:") && !text.contains("me@"), "{text}");
    }
}
