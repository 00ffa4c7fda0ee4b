//! Names of constitutions (`creed://` URIs) and the hashes of their manifests. Both are compared,
//! never fetched.

use crate::names::as_text;
use crate::token::ValueToken;
use serde::{Serialize, Serializer};
use std::fmt;

/// A constitution's name: `creed://<registry host>/<token path>[@version]` (section 4.1.1). The path may
/// also be a VCP/I value token, with a range of versions and a namespace.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CreedUri(Box<str>);

as_text!(CreedUri);

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
    #[error(
        "the path has letters, digits and . _ @ - between its slashes, and no empty, `.` or `..` part; \
         or it is a value token, like family.safe.guide@^1.2.0:ELEM"
    )]
    Path,
    /// An `@` with nothing after it, or at the end with nothing before it.
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
        // A token can have signs that no other path has: `^`, `~` and `:`.
        check_path(path).or_else(|bad| if path.parse::<ValueToken>().is_ok() { Ok(()) } else { Err(bad) })?;
        Ok(CreedUri(text.into()))
    }

    /// The whole URI.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The registry.
    pub fn host(&self) -> &str {
        self.parts().0
    }

    /// The token path without version and namespace.
    pub fn path(&self) -> &str {
        split_version(self.parts().1).0
    }

    /// What follows the last `@`.
    pub fn version(&self) -> Option<&str> {
        split_version(self.parts().1).1
    }

    /// What follows the colon of a value token.
    pub fn namespace(&self) -> Option<&str> {
        self.parts().2
    }

    /// Host, path with version, and namespace.
    fn parts(&self) -> (&str, &str, Option<&str>) {
        let (host, path) = self.0.strip_prefix("creed://").and_then(|rest| rest.split_once('/')).unwrap_or_default();
        match path.split_once(':') {
            Some((path, namespace)) => (host, path, Some(namespace)),
            None => (host, path, None),
        }
    }
}

/// The version follows the last `@`, unless a slash follows that.
fn split_version(path: &str) -> (&str, Option<&str>) {
    match path.rsplit_once('@') {
        Some((name, version)) if !version.contains('/') => (name, Some(version)),
        _ => (path, None),
    }
}

/// A path of the general form: parts between slashes, an `@` before names and versions only.
fn check_path(path: &str) -> Result<(), BadCreedUri> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._@-".contains(&b);
    let climbs = |part: &str| part.split('@').any(|name| matches!(name, "." | ".."));
    if !path.split('/').all(|part| !part.is_empty() && part.bytes().all(allowed) && !climbs(part)) {
        return Err(BadCreedUri::Path);
    }
    let dangling = path.split('/').any(|part| part.split('@').skip(1).any(str::is_empty));
    let (name, _) = split_version(path);
    if dangling || name.is_empty() || name.ends_with('/') { Err(BadCreedUri::Version) } else { Ok(()) }
}

fn is_host(host: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
    edge(host.bytes().next())
        && edge(host.bytes().last())
        && host.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.' || b == b'-')
        && !host.contains("..")
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
    use super::{BadCreedUri, CreedUri, ValueToken};

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
        for dangling in ["creed://h/a@", "creed://a/@/c", "creed://a/b@/c", "creed://a/b@@1"] {
            check(dangling, Err(BadCreedUri::Version));
        }
        for climbing in ["creed://a/b@..", "creed://a/b@.", "creed://a/@../c", "creed://a/b@../c", "creed://a/b@..@1"] {
            check(climbing, Err(BadCreedUri::Path));
        }
    }

    #[test]
    fn every_value_token_has_a_uri() {
        let tokens = [
            ("family.safe.guide", None, None),
            ("family.safe.guide@1.2.0", Some("1.2.0"), None),
            ("family.safe.guide@1.2.0-rc.1", Some("1.2.0-rc.1"), None),
            ("family.safe.guide@^1.2.0", Some("^1.2.0"), None),
            ("family.safe.guide@~1.2.0", Some("~1.2.0"), None),
            ("family.safe.guide@latest:ELEM", Some("latest"), Some("ELEM")),
            ("family.safe.guide@^1.2.0:ELEM", Some("^1.2.0"), Some("ELEM")),
            ("family.safe.guide:ELEM", None, Some("ELEM")),
        ];
        for (text, version, namespace) in tokens {
            let token: ValueToken = text.parse().unwrap();
            let uri = CreedUri::parse(&token.uri()).unwrap();
            assert_eq!((uri.host(), uri.path()), ("creed.space", "family.safe.guide"), "{text}");
            assert_eq!((uri.version(), uri.namespace()), (version, namespace), "{text}");
        }
        for broken in
            ["safe.guide:ELEM", "family.safe.guide:elem", "family.safe.guide@^1.2", "Family.safe.guide@~1.2.0"]
        {
            check(&format!("creed://creed.space/{broken}"), Err(BadCreedUri::Path));
        }
        check("creed://creed.space/x/family.safe.guide:ELEM", Err(BadCreedUri::Path));
    }
}
