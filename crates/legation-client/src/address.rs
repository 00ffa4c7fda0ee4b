//! Where an exchange is. What would show tokens and messages to a network is refused here, before
//! anything is sent.

use crate::error::Error;
use http::Uri;
use std::net::IpAddr;
use std::path::PathBuf;

/// Where an exchange is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// What requests name as the exchange: scheme, host, port, and a path in front of all paths.
    pub(crate) base: String,
    pub(crate) place: Place,
}

/// What is dialled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp { host: String, port: u16 },
    Tls { host: String, port: u16 },
    Unix(PathBuf),
}

impl Address {
    /// Reads `http://…`, `https://…` or `unix:PATH`.
    pub(crate) fn parse(url: &str, plain_anywhere: bool) -> Result<Address, Error> {
        if let Some(path) = url.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            return if path.as_os_str().is_empty() { Err(bad(url)) } else { Ok(Address::unix(path)) };
        }
        let uri: Uri = url.trim_end_matches('/').parse().map_err(|_| bad(url))?;
        let named = uri.host().filter(|host| !host.is_empty() && uri.query().is_none()).ok_or_else(|| bad(url))?;
        let host = named.trim_start_matches('[').trim_end_matches(']').to_owned();
        let place = match uri.scheme_str() {
            Some("http") if plain_anywhere || is_near(&host) => Place::Tcp { host, port: uri.port_u16().unwrap_or(80) },
            Some("http") => return Err(Error::PlainHttp { url: url.to_owned() }),
            Some("https") => Place::Tls { host, port: uri.port_u16().unwrap_or(443) },
            Some(_) | None => return Err(bad(url)),
        };
        // A name and a password in a URL end up in logs: a token has a place of its own.
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(bad(url));
        }
        Ok(Address { base: uri.to_string().trim_end_matches('/').to_owned(), place })
    }

    fn unix(path: PathBuf) -> Address {
        Address { base: "http://localhost".to_owned(), place: Place::Unix(path) }
    }
}

/// Whether a host is this machine.
fn is_near(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn bad(url: &str) -> Error {
    // What stands before an @ is a secret.
    let shown = url.rsplit_once('@').map_or(url, |(_, rest)| rest);
    Error::Url { url: shown.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Address, Place};
    use crate::error::Error;

    #[track_caller]
    fn place(url: &str) -> Place {
        Address::parse(url, false).unwrap().place
    }

    #[test]
    fn plain_http_stays_on_this_machine() {
        for near in ["http://127.0.0.1:7400", "http://localhost", "http://[::1]:1", "http://127.9.9.9/"] {
            assert!(matches!(place(near), Place::Tcp { .. }), "{near}");
        }
        for far in ["http://10.0.0.1", "http://localhost.evil.test", "http://example.com:7400"] {
            assert!(matches!(Address::parse(far, false), Err(Error::PlainHttp { .. })), "{far}");
            assert!(matches!(Address::parse(far, true).unwrap().place, Place::Tcp { .. }), "{far}");
        }
    }

    #[test]
    fn what_is_no_url_of_an_exchange_is_refused() {
        for bad in
            ["", "http://", "localhost:7400", "ftp://localhost", "ws://localhost", "unix:", "http://localhost?a=b"]
        {
            assert!(matches!(Address::parse(bad, true), Err(Error::Url { .. })), "{bad}");
        }
        let secret = Address::parse("https://me:secret@example.com", false).unwrap_err();
        assert!(!format!("{secret} {secret:?}").contains("secret"));
    }

    #[test]
    fn the_other_places_are_known_too() {
        assert_eq!(place("https://example.com/x/"), Place::Tls { host: "example.com".to_owned(), port: 443 });
        assert_eq!(place("unix:/run/legation.sock"), Place::Unix("/run/legation.sock".into()));
        assert_eq!(Address::parse("https://example.com/x/", false).unwrap().base, "https://example.com/x");
    }
}
