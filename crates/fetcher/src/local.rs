//! Indexes in folders of this machine. Nothing of them is cached: they are as fast as the cache.

use std::fmt::Write;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use cuda_lock_constraint::catalog::{CatalogError, File};
use cuda_lock_constraint::name::Name;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use url::Url;

use crate::body::PAGE_LIMIT;
use crate::fetcher::MetadataResult;
use crate::flat::FlatResult;
use crate::metadata::{SdistKind, metadata_from_wheel, read_sdist};
use crate::page::{parse_flat, parse_page};
use crate::project::{ProjectResult, unusable};
use crate::regular;
use crate::sdist::sdist_name;
use crate::wheel::{about, read, unavailable};

/// A project of a simple index that lies in a folder: `NAME/index.json` or `NAME/index.html`.
pub(crate) fn project(folder: &Path, name: Name) -> ProjectResult {
    for page in ["index.json", "index.html"] {
        let path = folder.join(name.as_str()).join(page);
        let bytes = match regular::read(&path, PAGE_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(unreadable(&error)),
        };
        let url = Url::from_file_path(&path).map_err(|()| {
            CatalogError::Invalid(format!("{} is no absolute path", path.display()).into())
        })?;
        let page =
            parse_page(None, &bytes, &url, name).map_err(|why| unusable(&url, &why.to_string()))?;
        return Ok(Some(Arc::new(page.into_project())));
    }
    if folder.is_dir() {
        return Ok(None);
    }
    Err(CatalogError::Invalid(format!("the index folder {} is not there", folder.display()).into()))
}

/// All projects of a folder with files in it, or of a flat page in a file.
pub(crate) fn flat(path: &Path, url: &Url) -> FlatResult {
    let (page, base) = if path.is_file() {
        (regular::read(path, PAGE_LIMIT).map_err(|error| unreadable(&error))?, url.clone())
    } else {
        let base = Url::from_directory_path(path).map_err(|()| {
            CatalogError::Invalid(format!("{} is no absolute path", path.display()).into())
        })?;
        (listing(path).map_err(|error| unreadable(&error))?.into_bytes(), base)
    };
    let pages = parse_flat(&page, &base).map_err(|why| unusable(&base, &why.to_string()))?;
    let projects = pages.into_iter().map(|page| (page.name, Arc::new(page.into_project())));
    Ok(Arc::new(projects.collect::<FxHashMap<_, _>>()))
}

/// The folder as the page that a server would make of it, so that names are read in one place. Only what can be a
/// distribution is listed: other files are no sign of anything.
fn listing(folder: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        names.extend(entry?.file_name().into_string());
    }
    names.retain(|name| [".whl", ".tar.gz", ".zip"].iter().any(|end| name.ends_with(end)));
    names.sort_unstable();
    let mut page = "<html>".to_owned();
    for name in &names {
        let _ = write!(page, "<a href=\"{}\">.</a>", utf8_percent_encode(name, NON_ALPHANUMERIC));
    }
    Ok(page)
}

/// METADATA of a file of this machine.
pub(crate) fn metadata(name: Name, file: &File) -> MetadataResult {
    let url = Url::parse(&file.url).ok().and_then(|url| url.to_file_path().ok());
    let path = url.ok_or_else(|| {
        CatalogError::Invalid(format!("{} is no path on this machine", file.url).into())
    })?;
    let opened = regular::open(&path).map_err(|error| unreadable(&error))?;
    if file.filename.ends_with(".whl") {
        let bytes = metadata_from_wheel(opened, name)
            .map_err(|why| unavailable(name, file, &why.to_string()))?;
        return read(name, file, &bytes).map(Arc::new);
    }
    let Some(kind) = SdistKind::of(&file.filename) else {
        return Err(unavailable(
            name,
            file,
            "it is neither a wheel nor a source distribution that is read",
        ));
    };
    let metadata = read_sdist(&sdist_name(name, file), kind, opened)
        .map_err(|found| CatalogError::Undeclared(Arc::new(found)))?;
    about(name, file, metadata).map(Arc::new)
}

/// Digest and length of a file of this machine.
pub(crate) fn sha256(url: &Url, limit: u64) -> Result<([u8; 32], u64), CatalogError> {
    let path = url
        .to_file_path()
        .map_err(|()| CatalogError::Invalid(format!("{url} is no path on this machine").into()))?;
    let mut file =
        regular::open(&path).map_err(|error| unreadable(&error))?.take(limit.saturating_add(1));
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut length = 0;
    loop {
        let count = file.read(&mut buffer).map_err(|error| unreadable(&error))?;
        if count == 0 {
            break;
        }
        length += count as u64;
        hash.update(buffer.get(..count).unwrap_or_default());
    }
    if length > limit {
        let text = format!("{} has more than {limit} bytes", path.display());
        return Err(CatalogError::Invalid(text.into()));
    }
    Ok((hash.finalize().into(), length))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The words of `fs_err` name the path.
fn unreadable(error: &io::Error) -> CatalogError {
    CatalogError::Invalid(error.to_string().into())
}
