//! What the server says on the wire, asked with bare sockets.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers included")]

use std::io::{Read, Write};
use std::net::TcpStream;

use cuda_lock_testing::{Dist, Fault, Index, Server, sha256};

const JSON: &str = "Accept: application/vnd.pypi.simple.v1+json";

/// The head and body of the answer to one request on a connection of its own.
fn ask(server: &Server, method: &str, path: &str, headers: &[&str]) -> (String, Vec<u8>) {
    let url = server.at("");
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let head = headers.iter().map(|line| format!("{line}\r\n")).collect::<String>();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: test\r\n{head}\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return (String::from_utf8(bytes).unwrap(), Vec::new());
    };
    (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end + 4..].to_vec())
}

fn page(server: &Server, headers: &[&str]) -> serde_json::Value {
    serde_json::from_slice(&ask(server, "GET", "/simple/a/", headers).1).unwrap()
}

fn index() -> Index {
    Index::new()
        .release(
            "a",
            "1.0",
            Dist::wheel().requires("b>1").yanked("a \"bad\" one").requires_python(">=3.8"),
        )
        .release("a", "2.0", Dist::wheel_for("cp311-cp311-win_amd64").size(1 << 30))
        .release("a", "2.0", Dist::sdist().uploaded("2024-01-01T00:00:00Z"))
}

#[test]
fn json_pages_state_what_is_served() {
    let server = index().serve();
    let page = page(&server, &[JSON]);
    let files = page["files"].as_array().unwrap();
    assert_eq!(files.len(), 3);
    assert_eq!(page["versions"], serde_json::json!(["1.0", "2.0"]));
    assert_eq!(files[0]["yanked"], "a \"bad\" one");
    assert_eq!(files[2]["upload-time"], "2024-01-01T00:00:00Z");
    for file in [&files[0], &files[2]] {
        let path = file["url"].as_str().unwrap().trim_start_matches("../..");
        let (_, body) = ask(&server, "GET", path, &[]);
        assert_eq!(file["size"], body.len());
        assert_eq!(file["hashes"]["sha256"], sha256(&body));
    }
    let (_, metadata) = ask(&server, "GET", "/files/a/a-1.0-py3-none-any.whl.metadata", &[]);
    assert_eq!(files[0]["core-metadata"]["sha256"], sha256(&metadata));
    assert!(String::from_utf8(metadata).unwrap().contains("Requires-Dist: b>1"));
}

#[test]
fn html_is_the_answer_where_json_is_not_asked_for_or_not_had() {
    let asked_for_nothing = index().serve();
    let without_json = index().with(|features| features.json = false).serve();
    for (server, headers) in [(&asked_for_nothing, &[][..]), (&without_json, &[JSON][..])] {
        let (head, body) = ask(server, "GET", "/simple/a/", headers);
        assert!(head.contains("Content-Type: text/html"), "{head}");
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("data-yanked=\"a &quot;bad&quot; one\""), "{body}");
        assert!(body.contains("data-requires-python=\"&gt;=3.8\""), "{body}");
        assert!(body.contains("data-core-metadata=\"sha256="), "{body}");
    }
}

#[test]
fn validators_and_compression() {
    let server = index().with(|features| features.gzip = true).serve();
    let (head, _) = ask(&server, "GET", "/simple/a/", &[JSON]);
    assert!(head.contains("Cache-Control: max-age=600"), "{head}");
    let etag = head.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap();
    let (head, body) =
        ask(&server, "GET", "/simple/a/", &[JSON, &format!("If-None-Match: {etag}")]);
    assert!(head.starts_with("HTTP/1.1 304") && body.is_empty(), "{head}");
    let (head, body) = ask(&server, "GET", "/simple/a/", &[JSON, "Accept-Encoding: gzip"]);
    assert!(head.contains("Content-Encoding: gzip") && body.starts_with(&[0x1f, 0x8b]), "{head}");
    assert_eq!(server.count(|request| request.header("if-none-match").is_some()), 1);
    server.forget();
    assert!(server.log().is_empty());
}

#[test]
fn a_large_wheel_answers_head_and_ranges() {
    let server = index().serve();
    let path = "/files/a/a-2.0-cp311-cp311-win_amd64.whl";
    let (head, body) = ask(&server, "HEAD", path, &[]);
    assert!(head.contains(&format!("Content-Length: {}", 1 << 30)) && body.is_empty(), "{head}");
    let (head, body) = ask(&server, "GET", path, &["Range: bytes=-22"]);
    assert!(head.starts_with("HTTP/1.1 206"), "{head}");
    assert!(body.starts_with(b"PK\x05\x06"));
    let (head, body) = ask(&server, "GET", path, &["Range: bytes=0-3"]);
    assert!(head.contains("Content-Range: bytes 0-3/1073741824"), "{head}");
    assert_eq!(body, [0; 4]);
    let (head, _) = ask(&server, "GET", path, &["Range: bytes=2000000000-"]);
    assert!(head.starts_with("HTTP/1.1 416"), "{head}");
}

#[test]
fn without_sidecars_nothing_announces_them() {
    let server = index().with(|features| features.sidecars = false).serve();
    assert!(page(&server, &[JSON])["files"][0].get("core-metadata").is_none());
    let (head, _) = ask(&server, "GET", "/files/a/a-1.0-py3-none-any.whl.metadata", &[]);
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
}

#[test]
fn faults_spoil_one_path_as_often_as_asked() {
    let server = index().serve();
    let status =
        |path: &str| ask(&server, "GET", path, &[JSON]).0.lines().next().unwrap().to_owned();
    server.fault("/simple/a/", Fault::status(503).times(2));
    assert!(status("/simple/a/").contains("503"));
    assert!(status("/simple/a/").contains("503"));
    assert!(status("/simple/a/").contains("200"));
    server.fault("/simple/a/", Fault::redirect("http://other.example/a/"));
    assert!(ask(&server, "GET", "/simple/a/", &[]).0.contains("Location: http://other.example/a/"));
    server.fault("/simple/a/", Fault::truncate(10));
    let (head, body) = ask(&server, "GET", "/simple/a/", &[JSON]);
    assert_eq!(body.len(), 10);
    assert!(!head.contains("Content-Length: 10\r"), "{head}");
    server.fault("/simple/a/", Fault::drop_connection());
    assert_eq!(ask(&server, "GET", "/simple/a/", &[]).0, "");
    server.mend();
    assert!(status("/simple/a/").contains("200"));
    assert!(status("/simple/b/").contains("404"));
    assert!(status("/simple/A/").contains("404"), "only normalized names have a page");
}

#[test]
fn versions_with_a_local_label_keep_their_address() {
    let server = Index::new().release("a", "1.0+cu121", Dist::wheel()).serve();
    let page = page(&server, &[JSON]);
    assert_eq!(page["files"][0]["url"], "../../files/a/a-1.0%2Bcu121-py3-none-any.whl");
    let (head, _) = ask(&server, "GET", "/files/a/a-1.0%2Bcu121-py3-none-any.whl", &[]);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
}

#[test]
fn yanked_without_a_reason_is_true() {
    let server = Index::new().release("a", "1.0", Dist::wheel().yanked("")).serve();
    assert_eq!(page(&server, &[JSON])["files"][0]["yanked"], true);
    let (_, html) = ask(&server, "GET", "/simple/a/", &[]);
    assert!(String::from_utf8(html).unwrap().contains("data-yanked=\"\""));
}
