//! Project pages in the two forms of the simple repository API.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::index::{Features, File};
use crate::sha256;

/// The media type of a JSON page (PEP 691).
pub(crate) const JSON: &str = "application/vnd.pypi.simple.v1+json";
/// The media type of an HTML page for a client that does not name version 1.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The page of `project` in JSON (PEP 691, PEP 700).
pub(crate) fn json(project: &str, files: &[File], features: &Features) -> String {
    let rows: Vec<Value> = files.iter().map(|file| json_row(project, file, features)).collect();
    let mut page = json!({
        "meta": { "api-version": if features.sizes { "1.1" } else { "1.0" } },
        "name": project,
        "files": rows,
    });
    if features.sizes {
        page["versions"] = versions(files).into();
    }
    page.to_string()
}

fn json_row(project: &str, file: &File, features: &Features) -> Value {
    let mut row = Map::new();
    row.insert("filename".into(), file.filename.clone().into());
    row.insert("url".into(), url(project, file).into());
    let hashes = file.sha256.iter().map(|digest| ("sha256".to_owned(), digest.clone().into()));
    row.insert("hashes".into(), Value::Object(hashes.collect()));
    row.insert("requires-python".into(), file.requires_python.clone().into());
    // PEP 691: a reason is not empty; without one the value is `true`.
    row.insert(
        "yanked".into(),
        match &file.yanked {
            None => false.into(),
            Some(reason) if reason.is_empty() => true.into(),
            Some(reason) => reason.clone().into(),
        },
    );
    if features.sizes {
        row.insert("size".into(), file.size.into());
        if let Some(time) = &file.uploaded {
            row.insert("upload-time".into(), time.clone().into());
        }
    }
    if let (true, Some(metadata)) = (features.sidecars, &file.metadata) {
        row.insert("core-metadata".into(), json!({ "sha256": sha256(metadata.as_bytes()) }));
    }
    Value::Object(row)
}

/// The page of `project` in HTML (PEP 503, PEP 592, PEP 714).
pub(crate) fn html(project: &str, files: &[File], features: &Features) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html>\n<head><meta name=\"pypi:repository-version\" content=\"1.0\"></head>\n<body>\n",
    );
    for file in files {
        let hash = file.sha256.as_ref().map(|h| format!("#sha256={h}")).unwrap_or_default();
        let mut attributes = format!("href=\"{}{hash}\"", escape(&url(project, file)));
        if let Some(specifiers) = &file.requires_python {
            let _ = write!(attributes, " data-requires-python=\"{}\"", escape(specifiers));
        }
        if let Some(reason) = &file.yanked {
            let _ = write!(attributes, " data-yanked=\"{}\"", escape(reason));
        }
        if let (true, Some(metadata)) = (features.sidecars, &file.metadata) {
            let digest = sha256(metadata.as_bytes());
            let _ = write!(attributes, " data-core-metadata=\"sha256={digest}\"");
        }
        let _ = writeln!(page, "<a {attributes}>{}</a><br>", escape(&file.filename));
    }
    page + "</body>\n</html>\n"
}

/// Relative to the page, as mirrors write it; `+` stays escaped, as indexes write local versions.
fn url(project: &str, file: &File) -> String {
    format!("../../files/{project}/{}", file.filename.replace('+', "%2B"))
}

fn versions(files: &[File]) -> Vec<String> {
    let mut versions: Vec<String> = files
        .iter()
        .filter_map(|file| match file.filename.strip_suffix(".whl") {
            Some(stem) => stem.split('-').nth(1),
            None => file.filename.strip_suffix(".tar.gz").and_then(|s| s.rsplit('-').next()),
        })
        .map(str::to_owned)
        .collect();
    versions.dedup();
    versions
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
