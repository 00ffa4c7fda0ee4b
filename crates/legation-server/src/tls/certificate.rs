//! A certificate with its key, ready to be shown: TLS 1.2 and 1.3, and HTTP/1.1 spoken inside.

use super::{TlsError, TlsFiles};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{Error, ServerConfig, crypto};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use x509_cert::der::Decode as _;

/// What nobody but the owner may do with a key, but for its group reading it.
#[cfg(unix)]
const NOT_FOR_OTHERS: u32 = 0o037;

#[derive(Debug)]
pub(super) struct Certificate {
    pub(super) config: Arc<ServerConfig>,
    /// From when to when it is valid, since 1970.
    pub(super) from: Duration,
    pub(super) until: Duration,
}

impl Certificate {
    pub(super) fn read(files: &TlsFiles) -> Result<Certificate, TlsError> {
        let chain = chain(&files.cert)?;
        let key = key(&files.key)?;
        let unusable = |why: String| TlsError::Unusable { path: files.cert.clone(), why };
        let (from, until) = validity(&chain).map_err(unusable)?;
        let provider = Arc::new(crypto::ring::default_provider());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let versions = versions.map_err(|error| unusable(error.to_string()))?;
        let mut config = versions.with_no_client_auth().with_single_cert(chain, key).map_err(|error| match error {
            Error::InconsistentKeys(_) => TlsError::Mismatch(files.clone()),
            other => unusable(other.to_string()),
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Certificate { config: Arc::new(config), from, until })
    }
}

fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok).collect();
    if chain.is_empty() { Err(TlsError::NoCertificate(path.to_owned())) } else { Ok(chain) }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let failed = |source: io::Error| TlsError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    must_be_private(path, &file)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| TlsError::NoKey(path.to_owned()))
}

/// The file that is open is looked at, so that it is the one that is read.
#[cfg(unix)]
fn must_be_private(path: &Path, file: &File) -> Result<(), TlsError> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = file.metadata().map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    let mode = about.permissions().mode() & 0o777;
    if mode & NOT_FOR_OTHERS == 0 { Ok(()) } else { Err(TlsError::Exposed { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn must_be_private(_: &Path, _: &File) -> Result<(), TlsError> {
    Ok(())
}

/// From when to when the first certificate of a chain is valid.
fn validity(chain: &[CertificateDer<'_>]) -> Result<(Duration, Duration), String> {
    let leaf = chain.first().map(|leaf| x509_cert::Certificate::from_der(leaf)).transpose();
    let leaf = leaf.map_err(|error| error.to_string())?.ok_or("it is empty")?;
    let validity = leaf.tbs_certificate().validity();
    Ok((validity.not_before.to_unix_duration(), validity.not_after.to_unix_duration()))
}
