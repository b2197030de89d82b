//! JSON pages (PEP 691 and 700).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use cuda_lock_constraint::catalog::{CoreMetadata, File};
use cuda_lock_constraint::name::Name;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use url::Url;

use super::builder::{Builder, Slot};
use super::filename;
use super::link::Base;
use super::parsed::{MOST_FILES, PageError, ParsedPage, check_api_version};
use cuda_lock_constraint::digest::parse_sha256;

/// Reads a JSON page about `project`. `page_url` is where the body came from after redirects: links are relative to it.
///
/// # Errors
/// When the body is not JSON of this shape, ends too early, is about another project, or follows a later major version
/// of the API.
pub fn parse_json(body: &[u8], page_url: &Url, project: Name) -> Result<ParsedPage, PageError> {
    let page: Page = serde_json::from_slice(body).map_err(|error| explain(body, &error))?;
    if let Some(Text(version)) = page.meta.and_then(|meta| meta.api_version) {
        check_api_version(&version)?;
    }
    if let Some(Text(name)) = page.name
        && Name::new(&name) != Ok(project)
    {
        return Err(PageError::OtherProject { found: name.into_owned(), wanted: project });
    }
    let base = Base::new(page_url);
    let mut builder = Builder::new(project);
    if page.files.too_many {
        return Err(PageError::TooMany);
    }
    for file in page.files.read {
        match read(&file, &base, &mut builder) {
            Ok((slot, file)) => builder.add(slot, file),
            Err(reason) => builder.skip(file.filename.into_owned(), reason),
        }
    }
    Ok(builder.finish())
}

/// Reads one file, or says why it is skipped.
fn read(entry: &Entry<'_>, base: &Base, builder: &mut Builder) -> Result<(Slot, File), String> {
    let slot = builder.slot(filename::version_of(&entry.filename, builder.name())?)?;
    let link = base
        .resolve(&entry.url)
        .ok_or("its address is none from which this index may have files fetched")?;
    let text = |text: &Option<Text<'_>>| {
        text.as_ref().map(|Text(text)| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let core_metadata =
        [&entry.core_metadata, &entry.dist_info_metadata, &entry.data_dist_info_metadata]
            .into_iter()
            .find_map(|says| says.as_ref().map(|says| says.0))
            .unwrap_or_default();
    let file = File {
        filename: entry.filename.to_string(),
        url: link.url,
        sha256: entry.hashes.0.clone()?,
        size: entry.size,
        requires_python: text(&entry.requires_python).map(|text| builder.share(&text)),
        yanked: entry.yanked.0.as_deref().map(|reason| builder.share(reason)),
        upload_time: entry.upload_time.as_ref().and_then(|Text(text)| text.parse().ok()),
        core_metadata,
    };
    Ok((slot, file))
}

/// A page of a later API version may have another shape, and then that is what is wrong, not the shape.
fn explain(body: &[u8], error: &serde_json::Error) -> PageError {
    #[derive(serde::Deserialize)]
    struct OnlyMeta<'a> {
        #[serde(borrow)]
        meta: Meta<'a>,
    }
    if error.is_eof() {
        return PageError::Truncated("the JSON document");
    }
    let later = serde_json::from_slice::<OnlyMeta>(body)
        .ok()
        .and_then(|page| check_api_version(&page.meta.api_version?.0).err());
    later.unwrap_or_else(|| PageError::Json(error.to_string()))
}

#[derive(serde::Deserialize)]
struct Page<'a> {
    #[serde(borrow, default)]
    meta: Option<Meta<'a>>,
    #[serde(borrow, default)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    files: Entries<'a>,
}

/// The files, as far as they are not too many.
struct Entries<'a> {
    read: Vec<Entry<'a>>,
    too_many: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for EntriesVisitor<'a> {
            type Value = Entries<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Entries<'a>, A::Error> {
                let mut read = Vec::new();
                while read.len() < MOST_FILES {
                    match all.next_element()? {
                        Some(entry) => read.push(entry),
                        None => return Ok(Entries { read, too_many: false }),
                    }
                }
                let mut too_many = false;
                while all.next_element::<IgnoredAny>()?.is_some() {
                    too_many = true;
                }
                Ok(Entries { read, too_many })
            }
        }
        deserializer.deserialize_seq(EntriesVisitor(PhantomData))
    }
}

#[derive(serde::Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "api-version", default)]
    api_version: Option<Text<'a>>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Entry<'a> {
    #[serde(borrow)]
    filename: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(default)]
    hashes: Hashes,
    #[serde(borrow, default)]
    requires_python: Option<Text<'a>>,
    #[serde(default)]
    size: Option<u64>,
    #[serde(borrow, default)]
    upload_time: Option<Text<'a>>,
    #[serde(borrow, default)]
    yanked: Yanked<'a>,
    #[serde(default)]
    core_metadata: Option<Says>,
    #[serde(default)]
    dist_info_metadata: Option<Says>,
    #[serde(default)]
    data_dist_info_metadata: Option<Says>,
}

/// A string that is borrowed from the body unless it has escapes, also inside an `Option`.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The sha256 among the digests of a file, or the reason why it is unusable. A digest that cannot be checked must not
/// look like a file that has none.
#[derive(Clone)]
struct Hashes(Result<Option<[u8; 32]>, String>);

impl Default for Hashes {
    fn default() -> Self {
        Self(Ok(None))
    }
}

/// The reason of a yank, `None` when the file is not yanked.
#[derive(Default)]
struct Yanked<'a>(Option<Cow<'a, str>>);

/// What `core-metadata` says.
struct Says(CoreMetadata);

/// Reads the `sha256` of an object of digests.
fn read_sha256<'de, A: MapAccess<'de>>(mut map: A) -> Result<Option<Cow<'de, str>>, A::Error> {
    let mut sha256 = None;
    while let Some(Text(key)) = map.next_key()? {
        if key == "sha256" {
            sha256 = map.next_value::<Option<Text>>()?.map(|Text(hex)| hex);
        } else {
            map.next_value::<IgnoredAny>()?;
        }
    }
    Ok(sha256)
}

impl<'de> Deserialize<'de> for Hashes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HashesVisitor;
        impl<'de> Visitor<'de> for HashesVisitor {
            type Value = Hashes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of digests")
            }

            fn visit_unit<E>(self) -> Result<Hashes, E> {
                Ok(Hashes::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Hashes, A::Error> {
                Ok(Hashes(match read_sha256(map)? {
                    None => Ok(None),
                    Some(hex) => match parse_sha256(&hex) {
                        Some(digest) => Ok(Some(digest)),
                        None => Err(bad_sha256(&hex)),
                    },
                }))
            }
        }
        deserializer.deserialize_any(HashesVisitor)
    }
}

/// Why a file with a malformed digest is skipped.
pub(super) fn bad_sha256(hex: &str) -> String {
    format!("its sha256 '{hex}' is not 64 hexadecimal digits")
}

impl<'de: 'a, 'a> Deserialize<'de> for Yanked<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct YankedVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for YankedVisitor<'a> {
            type Value = Yanked<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a reason")
            }

            fn visit_unit<E>(self) -> Result<Yanked<'a>, E> {
                Ok(Yanked(None))
            }

            fn visit_bool<E>(self, yanked: bool) -> Result<Yanked<'a>, E> {
                Ok(Yanked(yanked.then_some(Cow::Borrowed(""))))
            }

            // PEP 691 asks for a reason that is not empty; an empty one says no more than `false`, as pip reads it.
            fn visit_borrowed_str<E>(self, reason: &'de str) -> Result<Yanked<'a>, E> {
                Ok(Yanked((!reason.is_empty()).then_some(Cow::Borrowed(reason))))
            }

            fn visit_str<E>(self, reason: &str) -> Result<Yanked<'a>, E> {
                Ok(Yanked((!reason.is_empty()).then(|| Cow::Owned(reason.to_owned()))))
            }
        }
        deserializer.deserialize_any(YankedVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Says {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SaysVisitor;
        impl<'de> Visitor<'de> for SaysVisitor {
            type Value = Says;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or an object of digests")
            }

            fn visit_bool<E>(self, exists: bool) -> Result<Says, E> {
                Ok(Says(if exists { CoreMetadata::Yes } else { CoreMetadata::No }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Says, A::Error> {
                let digest = read_sha256(map)?.and_then(|hex| parse_sha256(&hex));
                Ok(Says(digest.map_or(CoreMetadata::Yes, CoreMetadata::Sha256)))
            }
        }
        deserializer.deserialize_any(SaysVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn page(body: &str) -> Result<ParsedPage, PageError> {
        let url = Url::parse("https://index.example/simple/foo/").expect("valid");
        parse_json(body.as_bytes(), &url, Name::new("foo").expect("valid"))
    }

    fn one_file(members: &str) -> File {
        let body = format!(
            r#"{{"meta":{{"api-version":"1.1"}},"name":"Foo","files":[
                {{"filename":"foo-1.0.tar.gz","url":"foo-1.0.tar.gz","hashes":{{}}{members}}}]}}"#
        );
        let mut parsed = page(&body).expect("valid");
        assert_eq!(parsed.skipped, []);
        parsed.releases.remove(0).files.remove(0)
    }

    #[test]
    fn a_file_has_all_that_pep_700_says() {
        let file = one_file(&format!(
            r#","hashes-x":1,"requires-python":" >=3.8 ","size":7,"upload-time":"2019-02-20T19:49:43.982181Z",
               "yanked":"bro\"ken","core-metadata":{{"md5":"x","sha256":"{HEX}"}},"dist-info-metadata":false"#
        ));
        assert_eq!(file.url, "https://index.example/simple/foo/foo-1.0.tar.gz");
        assert_eq!(file.requires_python.as_deref(), Some(">=3.8"));
        assert_eq!(file.size, Some(7));
        assert_eq!(
            file.upload_time.map(|t| t.to_string()).as_deref(),
            Some("2019-02-20T19:49:43.982181Z")
        );
        assert_eq!(file.yanked.as_deref(), Some("bro\"ken"));
        assert_eq!(file.core_metadata, CoreMetadata::Sha256(parse_sha256(HEX).expect("valid")));
        assert_eq!(file.sha256, None);
    }

    #[test]
    fn null_and_absent_members_say_nothing() {
        let nulls = r#","requires-python":null,"size":null,"upload-time":null,"yanked":null,"core-metadata":null"#;
        for members in ["", nulls, r#","yanked":false,"core-metadata":false,"requires-python":"""#]
        {
            let file = one_file(members);
            assert_eq!((&file.yanked, &file.requires_python, file.size), (&None, &None, None));
            assert_eq!(file.core_metadata, CoreMetadata::No, "{members}");
        }
    }

    #[test]
    fn the_older_names_of_core_metadata_are_read() {
        assert_eq!(one_file(r#","dist-info-metadata":true"#).core_metadata, CoreMetadata::Yes);
        assert_eq!(one_file(r#","data-dist-info-metadata":{}"#).core_metadata, CoreMetadata::Yes);
        let newer_wins = r#","core-metadata":false,"dist-info-metadata":true"#;
        assert_eq!(one_file(newer_wins).core_metadata, CoreMetadata::No);
    }

    #[test]
    fn yanked_without_a_reason_is_yanked() {
        assert_eq!(one_file(r#","yanked":true"#).yanked.as_deref(), Some(""));
        assert_eq!(one_file(r#","yanked":"""#).yanked, None);
    }

    #[test]
    fn releases_ascend_and_equal_versions_are_one() {
        let file = |name: &str| {
            format!(r#"{{"filename":"{name}","url":"{name}","hashes":{{"sha256":"{HEX}"}}}}"#)
        };
        let files = [
            "foo-1.10.tar.gz",
            "foo-1.0.0.tar.gz",
            "foo-1.9-py3-none-any.whl",
            "foo-1.0-py3-none-any.whl",
            "foo-1.0rc1.zip",
            "foo-2004d.tar.gz",
        ];
        let parsed =
            page(&format!(r#"{{"files":[{}]}}"#, files.map(file).join(","))).expect("valid");
        let versions: Vec<_> = parsed.releases.iter().map(|r| r.version.to_string()).collect();
        assert_eq!(versions, ["1.0rc1", "1.0.0", "1.9", "1.10"]);
        let names: Vec<_> = parsed.releases[1].files.iter().map(|f| f.filename.as_str()).collect();
        assert_eq!(names, ["foo-1.0.0.tar.gz", "foo-1.0-py3-none-any.whl"]);
        assert_eq!(parsed.releases[0].files[0].sha256, parse_sha256(HEX));
        let legacy = (
            "foo-2004d.tar.gz".to_owned(),
            "its version '2004d' is not valid by PEP 440".to_owned(),
        );
        assert_eq!(parsed.skipped, [legacy]);
    }

    #[test]
    fn a_malformed_digest_is_not_the_absence_of_one() {
        let body = r#"{"files":[{"filename":"foo-1.0.zip","url":"a","hashes":{"sha256":"beef"}}]}"#;
        let parsed = page(body).expect("valid");
        assert!(parsed.releases.is_empty());
        insta::assert_snapshot!(parsed.skipped[0].1, @"its sha256 'beef' is not 64 hexadecimal digits");
    }

    #[test]
    fn errors_say_what_was_found() {
        let error = |body| page(body).expect_err(body).to_string();
        insta::assert_snapshot!(error(r#"{"meta":{"api-version":"2.0"},"blobs":[]}"#), @"the page follows version 2.0 of the simple repository API, of which only version 1 is known here: use a newer release of this program, or an index that offers version 1");
        insta::assert_snapshot!(error(r#"{"name":"bar","files":[]}"#), @"the page is about the project 'bar', not about 'foo'");
        insta::assert_snapshot!(error(r#"{"message":"not found"}"#), @"the body is JSON, but not a project page of the simple repository API: missing field `files` at line 1 column 23");
        insta::assert_snapshot!(error(r#"{"files":[{"filename":"#), @"the body ends in the middle of the JSON document: the download was cut off, try again");
        assert!(page(r#"{"meta":{"api-version":"1.99"},"files":[]}"#).is_ok());
    }
}
