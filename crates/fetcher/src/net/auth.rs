//! Whose password goes where. Credentials go only to the host they were given for, whatever redirects say.

use std::path::PathBuf;
use std::sync::OnceLock;

use url::{Origin, Url};

use super::netrc::Netrc;
use crate::config::{Credentials, SourceConfig};

/// All credentials of a run.
pub(crate) struct Keyring {
    entries: Vec<Credentials>,
    source_hosts: Vec<String>,
    /// Scheme, host and port of the sources that are asked without TLS.
    plain_sources: Vec<Origin>,
    /// Queries that carry a secret, with the sources they belong to.
    queries: Vec<(Url, String)>,
    netrc_path: Option<PathBuf>,
    netrc: OnceLock<Netrc>,
}

/// A user and a password, and where they are from.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    pub(crate) username: &'a str,
    pub(crate) password: Option<&'a str>,
    pub(crate) origin: KeyOrigin,
}

/// Where credentials are from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyOrigin {
    /// The URL of a source, or the configuration.
    Given,
    /// The netrc file.
    Netrc,
}

impl Keyring {
    /// Credentials of the URLs of `sources`, then `given`, then those of the netrc file, which is read when first needed.
    pub(crate) fn new(
        sources: &[SourceConfig],
        given: &[Credentials],
        netrc_path: Option<PathBuf>,
    ) -> Self {
        let decode = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        let of_urls = sources
            .iter()
            .map(|source| source.url.secret())
            .filter(|url| !url.username().is_empty() || url.password().is_some())
            .map(|url| Credentials {
                url: url.clone(),
                username: decode(url.username()),
                password: url.password().map(decode),
            });
        let entries = given.iter().cloned().chain(of_urls).collect();
        let source_hosts = sources
            .iter()
            .filter_map(|source| source.url.secret().host_str())
            .map(str::to_owned)
            .collect();
        let plain_sources = sources
            .iter()
            .map(|source| source.url.secret())
            .filter(|url| url.scheme() == "http")
            .map(Url::origin)
            .collect();
        let queries = sources
            .iter()
            .filter_map(|s| Some((s.url.public(), s.url.secret_query()?.to_owned())))
            .collect();
        let netrc = OnceLock::new();
        Self { entries, source_hosts, plain_sources, queries, netrc_path, netrc }
    }

    /// What to send to `url`: the entry of the same scheme, host and port with the longest path above it, else any of
    /// that origin (files often lie beside the index, not below), else the netrc file's.
    pub(crate) fn key(&self, url: &Url) -> Option<Key<'_>> {
        let entry = self
            .entries
            .iter()
            .filter(|entry| entry.url.origin() == url.origin())
            .enumerate()
            .max_by_key(|(at, entry)| {
                let above = url.path().starts_with(entry.url.path().trim_end_matches('/'));
                (if above { entry.url.path().len() } else { 0 }, std::cmp::Reverse(*at))
            })
            .map(|(_, entry)| entry);
        if let Some(entry) = entry {
            return Some(Key {
                username: &entry.username,
                password: entry.password.as_deref(),
                origin: KeyOrigin::Given,
            });
        }
        // A netrc file names no scheme. Without TLS its passwords go only where the user said so: neither a redirect nor
        // a link leads them from https to http.
        if url.scheme() == "http" && !self.plain_sources.contains(&url.origin()) {
            return None;
        }
        let host = url.host_str()?;
        // `default` is meant for hosts that the user named, not for wherever a link leads.
        let or_default = self.source_hosts.iter().any(|known| known == host);
        let (username, password) = self.netrc().get(host, or_default)?;
        Some(Key { username, password: Some(password), origin: KeyOrigin::Netrc })
    }

    /// `url` as it is sent: with the secret query of the source that it lies below.
    pub(crate) fn with_query(&self, url: &Url) -> Url {
        let mut url = url.clone();
        let of = |source: &Url| {
            source.origin() == url.origin()
                && url.path().starts_with(source.path().trim_end_matches('/'))
        };
        if url.query().is_none()
            && let Some((_, query)) = self.queries.iter().find(|(source, _)| of(source))
        {
            url.set_query(Some(query));
        }
        url
    }

    fn netrc(&self) -> &Netrc {
        self.netrc.get_or_init(|| {
            // A netrc that cannot be read shows as a 401, whose message names netrc.
            self.netrc_path.as_deref().and_then(|path| Netrc::read(path).ok()).unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use cuda_lock_constraint::version::SourceId;

    use super::*;
    use crate::config::SourceFormat;

    fn source(url: &str) -> SourceConfig {
        SourceConfig {
            id: SourceId(0),
            name: "test".into(),
            url: Url::parse(url).expect("valid").into(),
            format: SourceFormat::Simple,
            forbidden_means_absent: false,
        }
    }

    #[test]
    fn the_longest_path_on_the_same_origin_wins() {
        let sources = [
            source("https://a:1@index.example/one/simple/"),
            source("https://b:p%40ss@index.example/two/simple/"),
            source("https://c:3@other.example/simple/"),
        ];
        let keyring = Keyring::new(&sources, &[], None);
        let key = |url: &str| {
            let key = keyring.key(&Url::parse(url).expect("valid"))?;
            Some((key.username.to_owned(), key.password.map(str::to_owned)))
        };
        let some = |user: &str, password: &str| Some((user.to_owned(), Some(password.to_owned())));
        assert_eq!(key("https://index.example/two/simple/torch/"), some("b", "p@ss"));
        assert_eq!(key("https://index.example/files/torch.whl"), some("a", "1"));
        assert_eq!(key("https://other.example:8443/simple/"), None);
        assert_eq!(key("http://other.example/simple/"), None);
        assert_eq!(key("https://files.example/simple/"), None);
    }

    #[test]
    fn a_secret_query_is_sent_below_its_source_alone() {
        let sources = [source("https://a.example/simple/?token=x"), source("https://b.example/")];
        let keyring = Keyring::new(&sources, &[], None);
        let sent = |url: &str| keyring.with_query(&Url::parse(url).expect("valid")).to_string();
        assert_eq!(sent("https://a.example/simple/foo/"), "https://a.example/simple/foo/?token=x");
        for other in [
            "https://a.example/files/f",
            "https://b.example/simple/",
            "https://a.example/simple/?p=2",
        ] {
            assert_eq!(sent(other), other);
        }
    }

    #[test]
    fn netrc_goes_without_tls_only_where_a_source_does() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(&file, "machine a.example login n password p\n").expect("written");
        let sends = |sources: &[&str], url: &str| {
            let sources: Vec<SourceConfig> = sources.iter().map(|url| source(url)).collect();
            let keyring = Keyring::new(&sources, &[], Some(file.path().to_owned()));
            keyring.key(&Url::parse(url).expect("valid")).is_some()
        };
        assert!(sends(&["https://a.example/"], "https://a.example/x"));
        assert!(!sends(&["https://a.example/"], "http://a.example/x"));
        assert!(sends(&["http://a.example/"], "http://a.example/x"));
        assert!(!sends(&["http://a.example/"], "http://a.example:8080/x"));
    }
}
