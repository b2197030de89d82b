//! HTML pages of one project (PEP 503, 592, 629, 658, 714, and what the PyTorch indexes add).

use cuda_lock_constraint::catalog::{CoreMetadata, File};
use cuda_lock_constraint::name::Name;
use url::Url;

use super::builder::{Builder, Slot};
use super::document::{Anchor, Document};
use super::json::bad_sha256;
use super::link::{Base, Link};
use super::parsed::{PageError, ParsedPage};
use super::{filename, link};
use cuda_lock_constraint::digest::parse_sha256;

/// Reads an HTML page about `project`. `page_url` is where the body came from after redirects: links are relative to it.
///
/// The file name is taken from the link, not from its text. Links that lead to nothing an index lists (the parent
/// directory, another page) are passed over in silence.
///
/// # Errors
/// When the body is cut off, follows a later major version of the API, or is some other HTML page: one with a form, or
/// with links of which none leads to a file.
pub fn parse_html(body: &[u8], page_url: &Url, project: Name) -> Result<ParsedPage, PageError> {
    let document = Document::read(body)?;
    let base = base_of(&document, page_url);
    let mut builder = Builder::new(project);
    let mut any = false;
    for anchor in &document.anchors {
        let Some((filename, link)) = file_link(anchor, &base) else { continue };
        any = true;
        let place =
            filename::version_of(&filename, project).and_then(|version| builder.slot(version));
        add(&mut builder, place, anchor, (filename, link));
    }
    match document.oddity() {
        Some(found) if !any => Err(PageError::NotAPage(found)),
        _ => Ok(builder.finish()),
    }
}

/// What the links of a document are relative to.
pub(super) fn base_of(document: &Document, page_url: &Url) -> Base {
    let mut base = Base::new(page_url);
    if let Some(href) = &document.base {
        base.rebase(href);
    }
    base
}

/// The file name and the resolved link of an anchor, `None` when it does not lead to a file.
pub(super) fn file_link<'a>(anchor: &'a Anchor, base: &Base) -> Option<(String, Link<'a>)> {
    let href = anchor.href.trim_ascii();
    let filename = link::filename(href).filter(|name| filename::is_distribution(name))?;
    Some((filename, base.resolve(href)?))
}

/// Adds the file of an anchor to its release, or to what is skipped.
pub(super) fn add(
    builder: &mut Builder,
    place: Result<Slot, String>,
    anchor: &Anchor,
    (filename, link): (String, Link<'_>),
) {
    match place.and_then(|slot| Ok((slot, sha256_in(link.fragment)?))) {
        Ok((slot, sha256)) => {
            let requires_python = anchor.requires_python.as_deref().map(str::trim);
            let file = File {
                filename,
                url: link.url,
                sha256,
                size: None,
                requires_python: requires_python
                    .filter(|text| !text.is_empty())
                    .map(|text| builder.share(text)),
                yanked: anchor.yanked.as_deref().map(|reason| builder.share(reason.trim())),
                upload_time: anchor
                    .upload_time
                    .as_deref()
                    .and_then(|text| text.trim().parse().ok()),
                core_metadata: anchor
                    .core_metadata
                    .as_deref()
                    .map(core_metadata)
                    .unwrap_or_default(),
            };
            builder.add(slot, file);
        }
        Err(reason) => builder.skip(filename, reason),
    }
}

/// The sha256 of a fragment `sha256=HEX`, possibly among others (`egg=`, `md5=`).
fn sha256_in(fragment: &str) -> Result<Option<[u8; 32]>, String> {
    match fragment.split('&').find_map(|pair| pair.strip_prefix("sha256=")) {
        None => Ok(None),
        Some(hex) => parse_sha256(hex).map(Some).ok_or_else(|| bad_sha256(hex)),
    }
}

/// `true`, or `sha256=HEX`. A digest of another kind still says that the METADATA is there.
fn core_metadata(value: &str) -> CoreMetadata {
    let value = value.trim();
    if value.eq_ignore_ascii_case("false") {
        return CoreMetadata::No;
    }
    let digest = value.strip_prefix("sha256=").and_then(parse_sha256);
    digest.map_or(CoreMetadata::Yes, CoreMetadata::Sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn parse(body: &str) -> Result<ParsedPage, PageError> {
        let url = Url::parse("https://index.example/whl/cu130/torch/").expect("valid");
        parse_html(body.as_bytes(), &url, Name::new("torch").expect("valid"))
    }

    fn one_file(anchor: &str) -> File {
        let mut page =
            parse(&format!("<!DOCTYPE html><html><body>{anchor}</body></html>")).expect("valid");
        assert_eq!(page.skipped, []);
        page.releases.remove(0).files.remove(0)
    }

    #[test]
    fn a_page_as_the_pytorch_index_writes_it() {
        let hex2 = HEX.replace('0', "f");
        let body = format!(
            r#"<!DOCTYPE html>
<html>
  <body>
    <h1>Links for torch</h1>
    <a href="/whl/cu130/torch-2.10.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl#sha256={HEX}" data-dist-info-metadata="sha256={hex2}" data-core-metadata="sha256={hex2}" data-upload-time="2026-01-21T16:22:03Z">torch-2.10.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl</a><br/>
    <a href="https://r2.index.example/whl/cu130/torch-2.9.1%2Bcu130-cp312-cp312-win_amd64.whl">torch-2.9.1+cu130-cp312-cp312-win_amd64.whl</a><br/>
    <a href="/whl/torch-1.0.0-cp36-cp36m-linux_x86_64.whl">torch-1.0.0-cp36-cp36m-linux_x86_64.whl</a><br/>
    <a href="/whl/variant/torch-2.8.0-cp312-cp312-manylinux_2_28_x86_64-cu128.whl">variant</a><br/>
  </body>
</html>
<!--TIMESTAMP 1751116657-->"#
        );
        let page = parse(&body).expect("valid");
        let versions: Vec<_> = page.releases.iter().map(|r| r.version.to_string()).collect();
        assert_eq!(versions, ["1.0.0", "2.8.0", "2.9.1+cu130", "2.10.0+cu130"]);
        let file = &page.releases[3].files[0];
        assert_eq!(file.filename, "torch-2.10.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl");
        assert_eq!(
            file.url,
            "https://index.example/whl/cu130/torch-2.10.0%2Bcu130-cp312-cp312-manylinux_2_28_x86_64.whl"
        );
        assert_eq!(file.sha256, parse_sha256(HEX));
        assert_eq!(file.core_metadata, CoreMetadata::Sha256(parse_sha256(&hex2).expect("valid")));
        assert_eq!(file.upload_time.map(|t| t.as_second()), Some(1_769_012_523));
        assert_eq!(page.releases[2].files[0].core_metadata, CoreMetadata::No);
        assert!(page.skipped.is_empty(), "{:?}", page.skipped);
    }

    #[test]
    fn entities_are_decoded_and_empty_attributes_count() {
        let file = one_file(
            r#"<a HREF=' torch-1.0.tar.gz#md5=0&amp;egg=x ' data-requires-python="&gt;=3.8,&lt;4" data-yanked>x</a>"#,
        );
        assert_eq!(file.requires_python.as_deref(), Some(">=3.8,<4"));
        assert_eq!(file.yanked.as_deref(), Some(""));
        assert_eq!((file.sha256, file.core_metadata), (None, CoreMetadata::No));
        let file = one_file(
            r#"<a data-yanked="a &amp; b" href="torch-1.0.zip" data-dist-info-metadata="true">x</a>"#,
        );
        assert_eq!(file.yanked.as_deref(), Some("a & b"));
        assert_eq!(file.core_metadata, CoreMetadata::Yes);
    }

    #[test]
    fn a_base_element_moves_relative_links() {
        let file = one_file(
            r#"<base href="../../files/"><base href="/no/"><a href="torch-1.0.zip">x</a>"#,
        );
        assert_eq!(file.url, "https://index.example/whl/files/torch-1.0.zip");
    }

    #[test]
    fn links_that_are_no_files_are_passed_over() {
        let page = parse(
            r##"<a href="../">up</a><a href="?C=N;O=D">sort</a><a>x</a><a href="#top">x</a>
                <script>let a = '<a href="torch-9.zip">';</script>
                <a href="torch-1.0.zip">x</a><a href="other-1.0.zip">x</a>"##,
        )
        .expect("valid");
        assert_eq!(page.releases.len(), 1);
        assert_eq!(page.skipped.len(), 1);
        assert_eq!(page.skipped[0].0, "other-1.0.zip");
    }

    #[test]
    fn a_project_without_files_is_a_page() {
        let page = parse("<!DOCTYPE html><html><body><h1>Links for torch</h1></body></html>");
        assert_eq!(page.expect("valid").releases, []);
    }

    #[test]
    fn other_pages_are_errors_that_say_what_was_found() {
        let error = |body| parse(body).expect_err(body).to_string();
        insta::assert_snapshot!(error("<html><title> Sign in </title><a href='/help'>?</a><form action=x><input></form></html>"), @"the body is not an index page, but an HTML page titled 'Sign in' with a form, perhaps to sign in");
        insta::assert_snapshot!(error("<html><a href='torch/'>torch</a></html>"), @"the body is not an index page, but an HTML page with 1 links, none of them to a wheel or an sdist");
        insta::assert_snapshot!(error("<html><script src=app.js></script></html>"), @"the body is not an index page, but an HTML page that only a browser can show");
        insta::assert_snapshot!(error("<Error><Code>AccessDenied</Code></Error>"), @"the body is not an index page, but markup of some other kind than an HTML page");
        insta::assert_snapshot!(error("<html><a href=\"torch-1.0.zip\">x</a><a href=\"torch-1"), @"the body ends in the middle of a tag: the download was cut off, try again");
        insta::assert_snapshot!(error("<html><a href=\"torch-1.0.zip\">torch-1.0"), @"the body ends in the middle of a link: the download was cut off, try again");
        insta::assert_snapshot!(error("<html><meta name='pypi:repository-version' content='2.0'></html>"), @"the page follows version 2.0 of the simple repository API, of which only version 1 is known here: use a newer release of this program, or an index that offers version 1");
        assert!(parse("<html><meta name='pypi:repository-version' content='1.4'></html>").is_ok());
    }

    #[test]
    fn a_malformed_digest_is_not_the_absence_of_one() {
        let page = parse("<a href='torch-1.0.zip#sha256=beef'>x</a>").expect("valid");
        assert!(page.releases.is_empty() && page.skipped[0].1.contains("'beef'"), "{page:?}");
    }
}
