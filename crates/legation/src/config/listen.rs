//! Where to listen: addresses of this machine, or beyond it with TLS or behind a proxy that does it, and
//! sockets in the file system.

use anyhow::{Context as _, bail, ensure};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

/// One place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Listen {
    /// An address.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// What keeps others on the network from reading along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shield {
    None,
    /// TLS, by us or by a proxy in front.
    Tls,
}

/// The places these texts name.
pub(super) fn places(texts: &[String], shield: Shield) -> anyhow::Result<Vec<Listen>> {
    ensure!(!texts.is_empty(), "listen names no place to listen at");
    texts.iter().map(|text| place(text, shield)).collect()
}

fn place(text: &str, shield: Shield) -> anyhow::Result<Listen> {
    if let Some(path) = text.strip_prefix("unix:") {
        ensure!(!path.is_empty(), "unix: names no path, such as unix:/run/legation/socket");
        return Ok(Listen::Unix(PathBuf::from(path)));
    }
    let no_address = || format!("{text:?} is no address such as 127.0.0.1:7400, and no unix:PATH");
    let addresses: Vec<_> = text.to_socket_addrs().with_context(no_address)?.collect();
    let reached = addresses.iter().find(|address| !address.ip().is_loopback());
    if let (Some(address), Shield::None) = (reached, shield) {
        bail!(
            "{address} can be reached from other machines: do TLS with --tls-cert and --tls-key, name the proxy that \
             does it with --behind-proxy=ADDRESS, or listen at 127.0.0.1 or [::1]"
        );
    }
    addresses.first().copied().map(Listen::Tcp).with_context(|| format!("{text:?} leads to no address"))
}

#[cfg(test)]
mod tests {
    use super::{Listen, Shield, place, places};

    #[test]
    fn beyond_this_machine_something_must_shield_what_is_said() {
        for near in ["127.0.0.1:0", "[::1]:7400", "127.9.9.9:1", "unix:/run/legation/socket", "unix:here"] {
            assert!(place(near, Shield::None).is_ok(), "{near}");
        }
        for far in ["0.0.0.0:7400", "[::]:7400", "192.0.2.1:1"] {
            let told = place(far, Shield::None).unwrap_err().to_string();
            assert!(told.contains("can be reached from other machines") && !told.contains('\n'), "{told}");
            assert!(matches!(place(far, Shield::Tls), Ok(Listen::Tcp(_))), "{far}");
        }
    }

    #[test]
    fn what_is_no_place_is_told() {
        for wrong in ["", "7400", "localhost", "unix:", "127.0.0.1:70000"] {
            assert!(place(wrong, Shield::Tls).is_err(), "{wrong}");
        }
        assert!(places(&[], Shield::Tls).is_err());
    }
}
