//! Proxies in front: whose word is taken for where a request came from, and in which header it stands. One
//! header alone is read: the other is passed on by most proxies as the client wrote it.

use axum::http::header::FORWARDED;
use axum::http::{HeaderMap, HeaderName};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The proxies in front, and how they say whom they speak for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxy {
    /// Where they are. Nobody else is believed.
    pub trusted: Vec<Network>,
    /// The header they write.
    pub header: ProxyHeader,
}

/// The header a proxy writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProxyHeader {
    /// `X-Forwarded-For`, and `X-Forwarded-Proto` beside it.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// An address, or all that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// What a proxy says of a request it passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) address: IpAddr,
    /// Whether it came over https.
    pub(crate) secure: bool,
}

impl Proxy {
    /// Whether this is the address of a proxy.
    pub(crate) fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }

    /// What the proxy at this address says: back to the first address that is no proxy's.
    pub(crate) fn word(&self, peer: IpAddr, headers: &HeaderMap) -> Word {
        let hops = match self.header {
            ProxyHeader::XForwardedFor => x_forwarded(headers),
            ProxyHeader::Forwarded => forwarded(headers),
        };
        let mut word = Word { address: peer, secure: false };
        for Hop { address, secure } in hops {
            word.secure = secure;
            let Some(address) = address else { break };
            word.address = address;
            if !self.is_trusted(address) {
                break;
            }
        }
        word
    }
}

/// Whether somebody passed this on, or says so.
pub(crate) fn is_passed_on(headers: &HeaderMap) -> bool {
    headers.contains_key(&FORWARDED_FOR) || headers.contains_key(&FORWARDED)
}

/// One station on the way, the last first. What makes no sense has no address.
struct Hop {
    address: Option<IpAddr>,
    secure: bool,
}

fn x_forwarded(headers: &HeaderMap) -> Vec<Hop> {
    let secure = {
        let mut said = headers.get_all(&FORWARDED_PROTO).iter();
        said.next().is_some_and(|proto| proto == "https") && said.next().is_none()
    };
    let hop = |text: &str| Hop { address: text.trim().parse().ok().map(|ip: IpAddr| ip.to_canonical()), secure };
    let mut hops: Vec<_> = backwards(headers, &FORWARDED_FOR).map(hop).collect();
    if hops.is_empty() {
        hops.push(Hop { address: None, secure });
    }
    hops
}

fn forwarded(headers: &HeaderMap) -> Vec<Hop> {
    backwards(headers, &FORWARDED).map(element).collect()
}

/// The parts of a header between its commas, last first.
fn backwards<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    lines.into_iter().rev().flat_map(|line| line.to_str().unwrap_or_default().rsplit(','))
}

/// `for=192.0.2.1;proto=https`, in any order, quoted or not.
fn element(text: &str) -> Hop {
    let pairs = text.split(';').filter_map(|pair| pair.trim().split_once('='));
    let mut hop = Hop { address: None, secure: false };
    for (name, value) in pairs {
        let value = value.trim_matches('"');
        if name.eq_ignore_ascii_case("for") {
            hop.address = node(value);
        } else if name.eq_ignore_ascii_case("proto") {
            hop.secure = value.eq_ignore_ascii_case("https");
        }
    }
    hop
}

/// An address with a port or without, IPv6 in brackets.
fn node(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))?;
    Some(IpAddr::to_canonical(&address))
}

impl Network {
    /// The addresses of this machine itself.
    pub const LOOPBACK: [Network; 2] = [
        Network { address: IpAddr::V4(Ipv4Addr::LOCALHOST), bits: 8 },
        Network { address: IpAddr::V6(Ipv6Addr::LOCALHOST), bits: 128 },
    ];

    fn contains(self, address: IpAddr) -> bool {
        let shift = |width: u32| width - u32::from(self.bits).min(width);
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(32)).is_none_or(|rest| rest == 0)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(128)).is_none_or(|rest| rest == 0)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Network { address, bits: if address.is_ipv4() { 32 } else { 128 } }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let wrong = || format!("{text:?} is no IP address such as 10.0.0.2, and no network such as 10.0.0.0/24");
        let Some((address, bits)) = text.split_once('/') else {
            return text.parse::<IpAddr>().map(Network::from).map_err(|_| wrong());
        };
        let (address, bits) = (address.parse::<IpAddr>().map_err(|_| wrong())?, bits.parse().map_err(|_| wrong())?);
        let most = Network::from(address).bits;
        if bits > most { Err(wrong()) } else { Ok(Network { address, bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Network { address, bits } = self;
        if *bits == Network::from(*address).bits { write!(f, "{address}") } else { write!(f, "{address}/{bits}") }
    }
}

#[cfg(test)]
mod tests;
