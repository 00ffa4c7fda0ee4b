//! Whom TLS trusts: the system's certificates and those the caller adds. There is no way to trust
//! everybody.

use crate::error::Error;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// Certificates in a PEM text.
pub(crate) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bad = || Error::Setting { what: "the certificate" };
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().map_err(|_| bad())?;
    if found.is_empty() { Err(bad()) } else { Ok(found) }
}

/// TLS 1.2 or later, as the system trusts and these certificates say.
pub(crate) fn config(extra: Vec<CertificateDer<'static>>) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    // One that cannot be read is no reason not to trust the others.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in extra {
        roots.add(certificate).map_err(|error| Error::Tls(error.into()))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Tls(error.into()))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
