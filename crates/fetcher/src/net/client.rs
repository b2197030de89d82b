//! The HTTP clients, made when they are first needed: reading the system's certificates takes longer than a warm solve.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use reqwest::{Certificate, Client, ClientBuilder};
use url::Url;

use crate::config::Patience;
use crate::regular::{self, SETTINGS_LIMIT};

/// Where Linux distributions keep all trusted certificates in one file. Reading that is ten times as fast as opening the
/// hundreds of files beside it, which hold the same certificates.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The clients of a run.
pub(crate) struct Clients {
    ca_bundle: Option<PathBuf>,
    patience: Patience,
    plain: OnceLock<Result<Client, Arc<str>>>,
    tls: OnceLock<Result<Client, Arc<str>>>,
}

impl Clients {
    /// Makes nothing yet.
    pub(crate) fn new(ca_bundle: Option<PathBuf>, patience: Patience) -> Self {
        Self { ca_bundle, patience, plain: OnceLock::new(), tls: OnceLock::new() }
    }

    /// The client for a URL: one without certificates where no TLS is spoken.
    ///
    /// # Errors
    /// When the certificates cannot be read.
    pub(crate) fn get(&self, url: &Url) -> Result<&Client, Arc<str>> {
        let made = if url.scheme() == "http" {
            // A proxy that speaks TLS itself needs certificates even so.
            self.plain.get_or_init(|| match std::env::var("http_proxy") {
                Ok(proxy) if proxy.starts_with("https:") => self.with_certificates(),
                _ => build(self.builder().tls_certs_only([])),
            })
        } else {
            self.tls.get_or_init(|| self.with_certificates())
        };
        made.as_ref().map_err(Arc::clone)
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder()
            .user_agent(concat!("cuda-lock/", env!("CARGO_PKG_VERSION")))
            // Redirects are followed in `fetch`, which decides anew for each host what credentials it gets.
            .redirect(reqwest::redirect::Policy::none())
            // Repetitions are counted there too.
            .retry(reqwest::retry::never())
            .connect_timeout(self.patience.connect)
            .read_timeout(self.patience.read)
            // Pages have megabytes and share a connection: the default windows of 64 KiB would cost round trips.
            .http2_initial_stream_window_size(4 << 20)
            .http2_initial_connection_window_size(32 << 20)
    }

    fn with_certificates(&self) -> Result<Client, Arc<str>> {
        if let Some(path) = &self.ca_bundle {
            let shown = path.display();
            let pem = regular::read(path, SETTINGS_LIMIT)
                .map_err(|error| format!("the CA bundle cannot be read: {error}"))?;
            let certificates = Certificate::from_pem_bundle(&pem).map_err(|_| {
                format!("the CA bundle {shown} holds something that is no PEM certificate")
            })?;
            if certificates.is_empty() {
                return Err(format!("the CA bundle {shown} holds no PEM certificate").into());
            }
            return build(self.builder().tls_certs_only(certificates));
        }
        // SSL_CERT_DIR is left to the platform's own reader, and so is a system without any of the known files.
        if cfg!(target_os = "linux") && std::env::var_os("SSL_CERT_DIR").is_none() {
            let system = BUNDLES
                .iter()
                .filter_map(|path| regular::read(path.as_ref(), SETTINGS_LIMIT).ok())
                .filter_map(|pem| Certificate::from_pem_bundle(&pem).ok())
                .find(|certificates| !certificates.is_empty());
            if let Some(certificates) = system
                && let Ok(client) = self.builder().tls_certs_only(certificates).build()
            {
                return Ok(client);
            }
        }
        build(self.builder())
    }
}

fn build(builder: ClientBuilder) -> Result<Client, Arc<str>> {
    builder.build().map_err(|error| {
        let mut text = format!("the TLS client cannot be set up: {error}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text.into()
    })
}
