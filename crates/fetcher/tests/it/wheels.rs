//! METADATA from beside a wheel, out of a wheel, and from an sdist.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use cuda_lock_constraint::catalog::{Catalog, CatalogError, File, Metadata};
use cuda_lock_constraint::version::SourceId;
use cuda_lock_fetcher::{Fetcher, Mode, StaticMetadata};
use sha2::{Digest, Sha256};

use crate::support::{
    METADATA, Reply, Seen, Server, ask, config, error, fetcher, name, newest, page, ranged, run,
    source, wheel,
};

const WHEEL: &str = "foo-1.0-py3-none-any.whl";

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server with a page that lists `file` with these further keys; other paths are answered by `files`.
fn index(
    file: &'static str,
    keys: String,
    files: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
) -> Server {
    Server::start(move |seen| match seen.path.as_str() {
        "/simple/foo/" => page(file, &keys),
        _ => files(seen),
    })
}

fn first_metadata(fetcher: &Fetcher) -> Result<Arc<Metadata>, CatalogError> {
    let project = ask(fetcher, "foo").expect("an answer").expect("there");
    fetcher.metadata(SourceId(0), name("foo"), &newest(&project))
}

/// Asks for METADATA in a run of its own; what it says, and the paths and ranges of the requests for it.
fn metadata_of(server: &Server) -> (Result<Arc<Metadata>, CatalogError>, Vec<String>) {
    let cache = tempfile::tempdir().expect("a folder");
    let metadata = first_metadata(&run(server, cache.path(), Mode::Online));
    let asked = server.take().into_iter().skip(1).map(|seen| {
        let file = seen.path.rsplit('/').next().unwrap_or_default().to_owned();
        format!("{file} {}", seen.header("range")).trim_end().to_owned()
    });
    (metadata, asked.collect())
}

fn assert_is_foo(metadata: Result<Arc<Metadata>, CatalogError>) {
    let metadata = metadata.expect("an answer");
    assert_eq!(metadata.requires_dist[0].as_ref(), "bar>=2");
    assert_eq!(metadata.requires_python.as_deref(), Some(">=3.8"));
}

#[test]
fn the_file_beside_a_wheel_is_enough() {
    let keys = format!(r#","core-metadata":{{"sha256":"{}"}}"#, hex(METADATA.as_bytes()));
    let server = index(WHEEL, keys, |_| Reply::new(200, METADATA));
    let (metadata, asked) = metadata_of(&server);
    assert_is_foo(metadata);
    assert_eq!(asked, [format!("{WHEEL}.metadata")]);
}

#[test]
fn metadata_with_another_digest_is_refused() {
    let keys = format!(r#","core-metadata":{{"sha256":"{}"}}"#, hex(b"something else"));
    let server = index(WHEEL, keys, |_| Reply::new(200, METADATA));
    let (metadata, _) = metadata_of(&server);
    assert!(matches!(metadata, Err(CatalogError::Invalid(_))));
    insta::assert_snapshot!(error(metadata), @"the METADATA of foo-1.0-py3-none-any.whl (http://127.0.0.1:PORT/files/foo-1.0-py3-none-any.whl) has the SHA-256 digest 3d90ea2e26ea2b73ce303eb566dc119f42569b654d0f2ce7e40fae8cc1a885ab, but the index states f41f3fa625ff120ddca7ef456bf66371ecea23c129f4e4c32367101edb516cf8: it was damaged on the way, or replaced after the index was written; try again, and if that does not help, tell those who run the index");
}

#[test]
fn metadata_of_another_project_is_refused() {
    let server = index(WHEEL, r#","core-metadata":true"#.into(), |_| {
        Reply::new(200, METADATA.replace("Name: foo", "Name: other"))
    });
    insta::assert_snapshot!(error(metadata_of(&server).0), @"foo-1.0-py3-none-any.whl cannot be used: its METADATA is of 'other', not of 'foo'");
}

#[test]
fn one_range_request_does_for_a_usual_wheel() {
    for (size, expected) in [(true, "bytes=0-"), (false, "bytes=-65536")] {
        let bytes = wheel(20);
        let keys = if size { format!(r#","size":{}"#, bytes.len()) } else { String::new() };
        let last = bytes.len() - 1;
        let server = index(WHEEL, keys, move |seen| ranged(seen, &bytes));
        let (metadata, asked) = metadata_of(&server);
        assert_is_foo(metadata);
        let range = if size { format!("{expected}{last}") } else { expected.to_owned() };
        assert_eq!(asked, [format!("{WHEEL} {range}")]);
    }
}

#[test]
fn a_large_wheel_takes_few_requests() {
    let bytes = wheel(6000);
    let (size, keys) = (bytes.len(), format!(r#","size":{}"#, bytes.len()));
    let server = index(WHEEL, keys, move |seen| ranged(seen, &bytes));
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    assert_is_foo(first_metadata(&fetcher));
    assert!(server.take().len() <= 1 + 4);
    assert!(fetcher.stats().bytes < size as u64 / 3, "{:?} of {size}", fetcher.stats());
}

#[test]
fn an_advertised_file_that_is_missing_is_made_up_for() {
    let bytes = wheel(20);
    let server = index(WHEEL, r#","core-metadata":true"#.into(), move |seen| {
        if seen.path.ends_with(".metadata") { Reply::new(404, "") } else { ranged(seen, &bytes) }
    });
    let (metadata, asked) = metadata_of(&server);
    assert_is_foo(metadata);
    assert_eq!(asked, [format!("{WHEEL}.metadata"), format!("{WHEEL} bytes=-65536")]);
}

/// A page with five wheels whose METADATA files are advertised.
fn five_wheels() -> Reply {
    let file = |n| {
        format!(
            r#"{{"filename":"foo-1.{n}-py3-none-any.whl","url":"/f/foo-1.{n}-py3-none-any.whl","hashes":{{}},"core-metadata":true}}"#
        )
    };
    let files: Vec<_> = (0..5).map(file).collect();
    Reply::new(200, format!(r#"{{"name":"foo","files":[{}]}}"#, files.join(",")))
}

#[test]
fn a_host_that_never_has_such_files_is_not_asked_for_more() {
    let bytes = wheel(20);
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/simple/foo/" => five_wheels(),
        path if path.ends_with(".metadata") => Reply::new(404, ""),
        _ => ranged(seen, &bytes),
    });
    let cache = tempfile::tempdir().expect("a folder");
    let fetcher = run(&server, cache.path(), Mode::Online);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    for version in 0..5 {
        let file = project.files.files(version).remove(0);
        assert_is_foo(fetcher.metadata(SourceId(0), name("foo"), &file));
    }
    let missing = server.paths().into_iter().filter(|path| path.ends_with(".metadata")).count();
    assert_eq!(missing, 2);
}

#[test]
fn what_is_needed_goes_before_what_is_expected() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/simple/foo/" => five_wheels(),
        _ => Reply { delay: Duration::from_millis(100), ..Reply::new(200, METADATA) },
    });
    let cache = tempfile::tempdir().expect("a folder");
    let mut config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
    config.concurrency = 1;
    let fetcher = fetcher(config);
    let project = ask(&fetcher, "foo").expect("an answer").expect("there");
    let files: Vec<_> = (0..5).map(|version| project.files.files(version).remove(0)).collect();
    for file in &files {
        fetcher.expect_metadata(SourceId(0), name("foo"), file, Box::new(|_| {}));
    }
    assert_is_foo(fetcher.metadata(SourceId(0), name("foo"), &files[4]));
    let asked = server.paths();
    // The page, at most one hint that was on its way, and the one that is needed; perhaps the next hint already.
    let needed = asked.iter().position(|path| path.contains("foo-1.4-"));
    assert!(needed.is_some_and(|at| at <= 2), "{asked:?}");
}

#[test]
fn servers_that_know_no_ranges_send_the_whole_wheel() {
    type Answer = fn(&Seen, &[u8]) -> Reply;
    let servers: [(&str, Answer, usize); 5] = [
        ("ignores Range", |_, bytes| Reply::new(200, bytes), 1),
        (
            "no suffix ranges",
            |seen, bytes| {
                if seen.header("range").starts_with("bytes=-") {
                    Reply::new(416, "")
                } else {
                    ranged(seen, bytes)
                }
            },
            4,
        ),
        (
            "refuses Range",
            |seen, bytes| match seen.header("range") {
                "" => Reply::new(200, bytes),
                _ => Reply::new(501, ""),
            },
            3,
        ),
        (
            "wrong Content-Range",
            |seen, bytes| match seen.header("range") {
                "" => Reply::new(200, bytes),
                _ => ranged(seen, bytes).with("content-range", "bytes 5-9/100"),
            },
            3,
        ),
        (
            "206 with everything",
            |seen, bytes| match seen.header("range") {
                "" => Reply::new(200, bytes),
                _ => Reply::new(206, bytes).with("content-range", "bytes 0-1/2"),
            },
            3,
        ),
    ];
    for (what, answer, requests) in servers {
        let bytes = wheel(300);
        let server = index(WHEEL, String::new(), move |seen| {
            let mut reply = answer(seen, &bytes);
            if what == "wrong Content-Range" && reply.status == 206 {
                reply.headers.remove(0);
            }
            reply
        });
        let (metadata, asked) = metadata_of(&server);
        assert_is_foo(metadata);
        assert_eq!(asked.len(), requests, "{what}: {asked:?}");
    }
}

#[test]
fn the_size_of_the_index_may_be_wrong() {
    for size in [100, 1_000_000] {
        let bytes = wheel(20);
        let keys = format!(r#","size":{size}"#);
        let server = index(WHEEL, keys, move |seen| ranged(seen, &bytes));
        let (metadata, asked) = metadata_of(&server);
        assert_is_foo(metadata);
        assert_eq!(asked.len(), 2, "{asked:?}");
    }
}

#[test]
fn what_is_too_large_to_download_is_said() {
    let said = |size: &str| {
        let server = index(WHEEL, size.to_owned(), |_| Reply::new(200, vec![0; 3 << 20]));
        let cache = tempfile::tempdir().expect("a folder");
        let mut config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
        config.max_download = 1 << 20;
        let metadata = first_metadata(&fetcher(config));
        assert!(matches!(metadata, Err(CatalogError::Unavailable(_))));
        error(metadata)
    };
    insta::assert_snapshot!(said(""), @"foo-1.0-py3-none-any.whl does not say what it needs: http://127.0.0.1:PORT/files/foo-1.0-py3-none-any.whl is not to be had in parts, and its 3 MiB are more than the 1 MiB that are downloaded just for that; state that in [metadata.foo] of env.toml, or choose another release");
    assert_eq!(said(r#","size":3145728"#), said(""));
}

#[test]
fn what_an_sdist_was_passed_over_for_is_known_offline() {
    let broken = b"no archive".to_vec();
    for (size, limit) in [(3 << 20, 1 << 20), (broken.len(), 1 << 20)] {
        let (bytes, digest) = (broken.clone(), hex(&broken));
        let server = Server::start(move |seen| match seen.path.as_str() {
            "/simple/foo/" => {
                let page = format!(
                    r#"{{"meta":{{"api-version":"1.1"}},"name":"foo","files":[{{"filename":"foo-1.0.tar.gz","url":"/files/foo-1.0.tar.gz","hashes":{{"sha256":"{digest}"}},"size":{size}}}]}}"#
                );
                Reply::new(200, page).with("content-type", "application/vnd.pypi.simple.v1+json")
            }
            _ => Reply::new(200, bytes.clone()),
        });
        let cache = tempfile::tempdir().expect("a folder");
        let said = |mode| {
            let mut config = config(source(server.url("/simple/")), cache.path(), mode);
            config.max_download = limit;
            let metadata = first_metadata(&fetcher(config));
            assert!(matches!(metadata, Err(CatalogError::Unavailable(_))), "{metadata:?}");
            error(metadata)
        };
        assert_eq!(said(Mode::Online), said(Mode::Offline));
    }
}

#[test]
fn a_downloaded_wheel_must_have_the_digest_of_the_page() {
    let bytes = wheel(3);
    for (digest, good) in [(hex(&bytes), true), (hex(b"another"), false)] {
        let bytes = bytes.clone();
        let server = Server::start(move |seen| match seen.path.as_str() {
            "/simple/foo/" => {
                Reply::new(200, format!(r#"<a href="/files/{WHEEL}#sha256={digest}">x</a>"#))
            }
            _ => Reply::new(200, bytes.clone()),
        });
        let (metadata, _) = metadata_of(&server);
        if good {
            assert_is_foo(metadata);
        } else {
            assert!(error(metadata).contains("but the index states"));
        }
    }
}

fn sdist(pkg_info: &str) -> Vec<u8> {
    let packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(packed);
    let mut header = tar::Header::new_gnu();
    header.set_size(pkg_info.len() as u64);
    header.set_mode(0o644);
    archive.append_data(&mut header, "foo-1.0/PKG-INFO", pkg_info.as_bytes()).expect("memory");
    let mut packed = archive.into_inner().expect("memory");
    packed.flush().expect("memory");
    packed.finish().expect("memory")
}

#[test]
fn an_sdist_says_what_it_needs_or_that_it_does_not() {
    let modern = METADATA.replace("Version: 2.1", "Version: 2.2");
    let server = index("foo-1.0.tar.gz", String::new(), move |_| Reply::new(200, sdist(&modern)));
    assert_is_foo(metadata_of(&server).0);
    let server = index("foo-1.0.tar.gz", String::new(), |_| Reply::new(200, sdist(METADATA)));
    let (metadata, _) = metadata_of(&server);
    assert_is_foo(metadata);
    let silent = METADATA.lines().filter(|line| !line.starts_with("Requires-Dist"));
    let silent = silent.collect::<Vec<_>>().join("\n");
    let server = index("foo-1.0.tar.gz", String::new(), move |_| Reply::new(200, sdist(&silent)));
    let (metadata, _) = metadata_of(&server);
    assert!(matches!(metadata, Err(CatalogError::Undeclared(_))));
    insta::assert_snapshot!(error(metadata), @"foo-1.0.tar.gz does not say what it needs: nothing in it says what it needs");
}

#[test]
fn an_sdist_that_says_nothing_is_downloaded_once() {
    let silent = "Metadata-Version: 1.1\nName: foo\nVersion: 1.0\n";
    let server = index("foo-1.0.tar.gz", String::new(), |_| Reply::new(200, sdist(silent)));
    let cache = tempfile::tempdir().expect("a folder");
    for (mode, requests) in [(Mode::Online, 2), (Mode::Refresh, 1), (Mode::Offline, 0)] {
        let fetcher = run(&server, cache.path(), mode);
        let project = ask(&fetcher, "foo").expect("an answer").expect("there");
        let metadata = fetcher.metadata(SourceId(0), name("foo"), &newest(&project));
        assert!(error(metadata).starts_with("foo-1.0.tar.gz does not say what it needs"));
        assert_eq!(server.take().len(), requests, "{mode:?}");
    }
}

#[test]
fn stated_metadata_goes_before_any_file() {
    let server = index(WHEEL, String::new(), |_| Reply::new(500, ""));
    let cache = tempfile::tempdir().expect("a folder");
    let mut config = config(source(server.url("/simple/")), cache.path(), Mode::Online);
    let state = |version: Option<&str>, needs: &str| StaticMetadata {
        name: name("foo"),
        version: version.map(|version| version.parse().expect("a version")),
        metadata: Metadata { requires_dist: vec![needs.into()], ..Metadata::default() },
    };
    config.overrides =
        vec![state(Some("2.0"), "two"), state(Some("1.0.0"), "one"), state(None, "any")];
    let fetcher = fetcher(config);
    let stated = |version: &str| {
        let file = File {
            filename: format!("foo-{version}-py3-none-any.whl"),
            url: server.url("/x").into(),
            sha256: None,
            size: None,
            requires_python: None,
            yanked: None,
            upload_time: None,
            core_metadata: cuda_lock_constraint::catalog::CoreMetadata::No,
        };
        fetcher.expect_metadata(SourceId(0), name("foo"), &file, Box::new(|_| {}));
        let metadata = fetcher.metadata(SourceId(0), name("foo"), &file).expect("stated");
        metadata.requires_dist[0].to_string()
    };
    assert_eq!([stated("1.0"), stated("2.0"), stated("3.0")], ["one", "two", "any"]);
    assert_eq!(server.take().len(), 0);
}

#[test]
fn a_digest_is_learned_by_one_download() {
    let server = Server::start(|seen| match seen.header("if-none-match") {
        "\"a\"" => Reply::new(304, "").with("cache-control", "max-age=600"),
        _ => Reply::new(200, vec![7; 100_000])
            .with("etag", "\"a\"")
            .with("cache-control", "max-age=600"),
    });
    let cache = tempfile::tempdir().expect("a folder");
    let url = server.url("/files/a.whl");
    let learn = |mode, limit| run(&server, cache.path(), mode).download_sha256(&url, limit);
    insta::assert_snapshot!(error(learn(Mode::Offline, 1000)), @"the digest of http://127.0.0.1:PORT/files/a.whl is not known, and --offline allows no download");
    insta::assert_snapshot!(error(learn(Mode::Online, 1000)), @"cannot read http://127.0.0.1:PORT/files/a.whl: the file has 100000 bytes, the limit is 1000 bytes");
    let expected = (Sha256::digest([7; 100_000]).into(), 100_000);
    for mode in [Mode::Online, Mode::Online, Mode::Online, Mode::Refresh, Mode::Offline] {
        assert_eq!(learn(mode, 1 << 20).expect("an answer"), expected);
    }
    let conditions: Vec<_> =
        server.take().iter().map(|seen| seen.header("if-none-match").to_owned()).collect();
    assert_eq!(conditions, ["", "", "\"a\"", "\"a\"", "\"a\""]);
}
