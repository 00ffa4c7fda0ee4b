//! The certificate: read from its files, checked as a whole, and replaced while connections go on. What
//! cannot be used never takes the place of what can.

mod certificate;
mod stamp;

use crate::shared::since_1970;
use certificate::Certificate;
use rustls::ServerConfig;
use stamp::Stamp;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Before its end a certificate is called old for so long.
const SOON: Duration = Duration::from_hours(14 * 24);

/// Where a certificate lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that lead to a root, in PEM form.
    pub cert: PathBuf,
    /// Its private key, in PEM form, for its owner and their group alone.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others may read the key.
    #[error("others may use the key in {0} ({mode:03o}): chmod 600 {0}, and replace it if they are not trusted", path.display())]
    Exposed {
        /// Where.
        path: PathBuf,
        /// What it may be used for by whom.
        mode: u32,
    },
    /// There is no certificate.
    #[error("{} holds no certificate in PEM form", .0.display())]
    NoCertificate(PathBuf),
    /// There is no key.
    #[error("{} holds no private key in PEM form without a passphrase", .0.display())]
    NoKey(PathBuf),
    /// They do not belong together.
    #[error("the key in {} is not that of the certificate in {}", .0.key.display(), .0.cert.display())]
    Mismatch(TlsFiles),
    /// There is one that nobody can use.
    #[error("the certificate in {} cannot be used: {why}", path.display())]
    Unusable {
        /// Where.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// The certificate in use, and where the next one will come from.
#[derive(Debug)]
pub struct Tls {
    held: Mutex<Held>,
    /// Whether what lies in the files could not be used when it was last read.
    stale: AtomicBool,
    failed: AtomicU64,
}

#[derive(Debug)]
struct Held {
    files: TlsFiles,
    /// How the files looked when they were last read.
    seen: [Option<Stamp>; 2],
    certificate: Certificate,
}

impl Tls {
    /// Reads a certificate. One that is too old is used all the same, and warned of.
    pub fn load(files: TlsFiles) -> Result<Tls, TlsError> {
        let seen = files.stamps();
        let certificate = Certificate::read(&files)?;
        warn_of_age(&certificate);
        let held = Mutex::new(Held { files, seen, certificate });
        Ok(Tls { held, stale: AtomicBool::new(false), failed: AtomicU64::new(0) })
    }

    /// Reads the files again, or others from now on. What cannot be used changes nothing but where is looked.
    pub fn reload(&self, files: Option<TlsFiles>) -> Result<(), TlsError> {
        let files = files.unwrap_or_else(|| self.held().files.clone());
        // Before they are read: what changes meanwhile is read again.
        let seen = files.stamps();
        let read = Certificate::read(&files);
        let mut held = self.held();
        (held.files, held.seen) = (files, seen);
        self.stale.store(read.is_err(), Ordering::Relaxed);
        let certificate = read?;
        warn_of_age(&certificate);
        tracing::info!(expires_at = certificate.until.as_secs(), "a certificate was read, and is in use from now on");
        held.certificate = certificate;
        Ok(())
    }

    /// Reads the files again if they have changed.
    pub(crate) fn look(&self) {
        let (files, seen) = {
            let held = self.held();
            (held.files.clone(), held.seen.clone())
        };
        if files.stamps() == seen {
            return;
        }
        if let Err(error) = self.reload(None) {
            let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(%error, why, "the certificate in use is kept");
        }
    }

    /// When the certificate in use ends, since 1970.
    pub fn expires(&self) -> Duration {
        self.held().certificate.until
    }

    /// Whether what lies in the files could not be used when it was last read.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale.load(Ordering::Relaxed)
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.held().certificate.config)
    }

    /// Somebody came and could not agree with us on how to speak.
    pub(crate) fn count_failure(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TlsFiles {
    fn stamps(&self) -> [Option<Stamp>; 2] {
        [&self.cert, &self.key].map(|path| Stamp::of(path))
    }
}

/// Says so if a certificate is not valid now, or not for long.
fn warn_of_age(certificate: &Certificate) {
    let now = since_1970();
    let expires_at = certificate.until.as_secs();
    if certificate.until <= now {
        tracing::warn!(expires_at, "the certificate has expired: clients will refuse it");
    } else if certificate.until <= now + SOON {
        tracing::warn!(expires_at, "the certificate expires soon");
    } else if now < certificate.from {
        tracing::warn!(valid_from = certificate.from.as_secs(), "the certificate is not valid yet");
    }
}
