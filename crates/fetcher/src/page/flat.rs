//! Flat pages: one HTML page with the files of many projects (`--find-links`, a directory listing).

use std::collections::BTreeMap;

use cuda_lock_constraint::name::Name;
use url::Url;

use super::builder::Builder;
use super::document::Document;
use super::filename;
use super::html::{add, base_of, file_link};
use super::parsed::{PageError, ParsedPage};

/// Reads a flat page: one [`ParsedPage`] per project, sorted by name. Files whose name gives no project (eggs,
/// installers) belong to none and are left out.
///
/// A flat page may list one file name in several folders (`cpu/`, `cu92/`); all are kept, in page order.
///
/// # Errors
/// As for [`parse_html`](super::parse_html).
pub fn parse_flat(body: &[u8], page_url: &Url) -> Result<Vec<ParsedPage>, PageError> {
    let document = Document::read(body)?;
    let base = base_of(&document, page_url);
    let mut projects: BTreeMap<Name, Builder> = BTreeMap::new();
    let mut any = false;
    for anchor in &document.anchors {
        let Some((file, link)) = file_link(anchor, &base) else { continue };
        any = true;
        let Some((name, version)) =
            filename::split(&file).ok().map(|(name, version)| (name, version.to_owned()))
        else {
            continue;
        };
        let builder = projects.entry(name).or_insert_with(|| Builder::new(name));
        let place = builder.slot(&version);
        add(builder, place, anchor, (file, link));
    }
    match document.oddity() {
        Some(found) if !any => Err(PageError::NotAPage(found)),
        _ => Ok(projects.into_values().map(Builder::finish).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<Vec<ParsedPage>, PageError> {
        let url = Url::parse("https://index.example/whl/torch_stable.html").expect("valid");
        parse_flat(body.as_bytes(), &url)
    }

    #[test]
    fn files_are_grouped_by_project() {
        let pages = parse(
            r#"<a href="cu102/torchvision-0.9.0-cp39-cp39-linux_x86_64.whl">x</a><br>
               <a href="cpu/torch-1.8.0%2Bcpu-cp39-cp39-linux_x86_64.whl">cpu/torch</a><br>
               <a href="cpu/torch-1.8.0-cp39-cp39-win_amd64.whl">x</a><br>
               <a href="cu111/torch-1.8.0-cp39-cp39-win_amd64.whl">x</a><br>
               <a href="Torch_Geometric-1.7.0.tar.gz">x</a> <a href="torch-nightly.zip">x</a> <a href="old.egg">x</a>"#,
        )
        .expect("valid");
        let names: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, ["torch", "torch-geometric", "torchvision"]);
        let torch = &pages[0];
        assert_eq!(torch.releases.len(), 2);
        let urls: Vec<_> = torch.releases[0].files.iter().map(|file| file.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "https://index.example/whl/cpu/torch-1.8.0-cp39-cp39-win_amd64.whl",
                "https://index.example/whl/cu111/torch-1.8.0-cp39-cp39-win_amd64.whl",
            ]
        );
        assert_eq!(torch.skipped[0].0, "torch-nightly.zip");
    }

    #[test]
    fn a_page_that_lists_no_file_is_an_error() {
        let error = parse("<html><a href='about/'>About us</a></html>").expect_err("no files");
        insta::assert_snapshot!(error, @"the body is not an index page, but an HTML page with 1 links, none of them to a wheel or an sdist");
    }
}
