//! Whom the exchange trusts to be who they say they are: the authorities this system trusts, and those an
//! operator names beside them.

use crate::courier::Error;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio_rustls::TlsConnector;

/// Opens TLS. The system's authorities are read when they are first needed.
pub(crate) struct Tls {
    own: Vec<CertificateDer<'static>>,
    connector: OnceLock<TlsConnector>,
}

impl Tls {
    /// Trusts the authorities of a PEM file too.
    pub(crate) fn new(own: Option<&Path>) -> Result<Tls, Error> {
        let own = match own {
            None => Vec::new(),
            Some(path) => {
                let certificates = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
                certificates
                    .ok()
                    .filter(|found| !found.is_empty())
                    .ok_or_else(|| Error::Authorities { path: path.to_owned() })?
            }
        };
        Ok(Tls { own, connector: OnceLock::new() })
    }

    pub(crate) fn connector(&self) -> Result<TlsConnector, rustls::Error> {
        if let Some(connector) = self.connector.get() {
            return Ok(connector.clone());
        }
        let connector = self.built()?;
        Ok(self.connector.get_or_init(|| connector).clone())
    }

    fn built(&self) -> Result<TlsConnector, rustls::Error> {
        let system = rustls_native_certs::load_native_certs();
        for error in &system.errors {
            tracing::warn!(%error, "some of the system's certificate authorities cannot be read");
        }
        let mut roots = RootCertStore::empty();
        let (_, unreadable) = roots.add_parsable_certificates(system.certs.into_iter().chain(self.own.iter().cloned()));
        if unreadable > 0 || roots.is_empty() {
            tracing::warn!(known = roots.len(), unreadable, "certificate authorities");
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("own", &self.own.len()).finish_non_exhaustive()
    }
}
