//! Names of constitutions (`creed://` URIs) and the hashes of their manifests. Both are compared,
//! never fetched.

use serde::{Serialize, Serializer};
use std::fmt;

/// A constitution's name: `creed://<registry host>/<token path>[@version]` (section 4.1.1).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CreedUri(Box<str>);

/// The text is no `creed://` URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCreedUri {
    /// Another scheme, or none.
    #[error("a constitution is named by a creed:// URI")]
    Scheme,
    /// No host, or one with characters a registry cannot have.
    #[error("the registry host is made of a-z, 0-9, `.` and `-`, without port or empty labels")]
    Host,
    /// An empty or climbing path.
    #[error("the path has letters, digits and . _ @ - between its slashes, and no empty, `.` or `..` part")]
    Path,
    /// An `@` with nothing before or after it.
    #[error("an `@` stands between a path and its version")]
    Version,
}

impl CreedUri {
    /// Reads a URI.
    pub fn parse(text: &str) -> Result<CreedUri, BadCreedUri> {
        let rest = text.strip_prefix("creed://").ok_or(BadCreedUri::Scheme)?;
        let (host, path) = rest.split_once('/').ok_or(BadCreedUri::Path)?;
        if !is_host(host) {
            return Err(BadCreedUri::Host);
        }
        if !path.split('/').all(is_segment) {
            return Err(BadCreedUri::Path);
        }
        match split_version(path) {
            (name, _) if name.is_empty() || name.ends_with('/') => Err(BadCreedUri::Version),
            (_, Some("")) => Err(BadCreedUri::Version),
            _ => Ok(CreedUri(text.into())),
        }
    }

    /// The whole URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The registry.
    pub fn host(&self) -> &str {
        self.parts().0
    }

    /// The token path without its version.
    pub fn path(&self) -> &str {
        split_version(self.parts().1).0
    }

    /// What follows the last `@`.
    pub fn version(&self) -> Option<&str> {
        split_version(self.parts().1).1
    }

    fn parts(&self) -> (&str, &str) {
        self.0.strip_prefix("creed://").and_then(|rest| rest.split_once('/')).unwrap_or_default()
    }
}

/// The version follows the last `@`, unless a slash follows that.
fn split_version(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once('@') {
        Some((name, version)) if !version.contains('/') => (name, Some(version)),
        _ => (path, None),
    }
}

fn is_host(host: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
    edge(host.bytes().next())
        && edge(host.bytes().last())
        && host.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.' || b == b'-')
        && !host.contains("..")
}

fn is_segment(part: &str) -> bool {
    let climbs = matches!(part.split('@').next(), Some("." | ".."));
    !part.is_empty() && !climbs && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._@-".contains(&b))
}

impl fmt::Display for CreedUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CreedUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for CreedUri {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The SHA-256 of a constitution's manifest (section 4.2.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManifestHash(pub [u8; 32]);

/// The text is not `sha256:` and 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a manifest hash is `sha256:` and 64 hexadecimal digits in lower case")]
pub struct BadManifestHash;

impl ManifestHash {
    /// Reads the one spelling.
    pub fn parse(text: &str) -> Result<ManifestHash, BadManifestHash> {
        let digits = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64).ok_or(BadManifestHash)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = pair.iter().try_fold(0, |high, digit| Some(high << 4 | nibble(*digit)?)).ok_or(BadManifestHash)?;
        }
        Ok(ManifestHash(bytes))
    }
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for ManifestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ManifestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ManifestHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadCreedUri, CreedUri};

    #[track_caller]
    fn check(text: &str, want: Result<(&str, &str, Option<&str>), BadCreedUri>) {
        let got = CreedUri::parse(text);
        assert_eq!(got.as_ref().map(|uri| (uri.host(), uri.path(), uri.version())).map_err(|e| *e), want, "{text}");
    }

    #[test]
    fn a_uri_has_host_path_and_perhaps_a_version() {
        check("creed://creed.space/family.safe.guide@1.2.0", Ok(("creed.space", "family.safe.guide", Some("1.2.0"))));
        check("creed://h/a/B_c", Ok(("h", "a/B_c", None)));
        check("creed://h/@acme/guide", Ok(("h", "@acme/guide", None)));
        check("creed://h/@acme/guide@latest", Ok(("h", "@acme/guide", Some("latest"))));
        check("https://h/a", Err(BadCreedUri::Scheme));
        check("creed://h", Err(BadCreedUri::Path));
        check("creed:///a", Err(BadCreedUri::Host));
        check("creed://h/..@1", Err(BadCreedUri::Path));
        check("creed://h/@1", Err(BadCreedUri::Version));
        check("creed://h/a/@1", Err(BadCreedUri::Version));
        check("creed://h/a@", Err(BadCreedUri::Version));
    }
}
