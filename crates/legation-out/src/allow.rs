//! Addresses an operator lets the exchange send to although they are not public: a host, an address or a
//! network, each with a port.

use crate::address::within;
use crate::target::Host;
use std::net::IpAddr;
use std::str::FromStr;

/// An address that may be sent to: `HOST:PORT`, `ADDRESS:PORT` or `NETWORK/BITS:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    what: What,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Name(String),
    Net(IpAddr, u32),
}

/// What is no such address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not of the form \"127.0.0.1:9000\", \"[fd00::/8]:443\", \"10.0.0.0/8:443\" or \"host.example:443\"")]
pub struct BadAllow(String);

impl Allow {
    /// Whether it names a host by its name: then it is all the same where that leads.
    pub(crate) fn names(&self, host: &Host, port: u16) -> bool {
        match (&self.what, host) {
            (What::Name(own), Host::Name(name)) => own == name && self.port == port,
            (What::Name(_), Host::Ip(_)) | (What::Net(..), _) => false,
        }
    }

    /// Whether it has this address.
    pub(crate) fn covers(&self, address: IpAddr, port: u16) -> bool {
        match self.what {
            What::Net(net, bits) => self.port == port && within(address, net, bits),
            What::Name(_) => false,
        }
    }
}

impl FromStr for Allow {
    type Err = BadAllow;

    fn from_str(text: &str) -> Result<Allow, BadAllow> {
        let bad = || BadAllow(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
        let port = port.parse().ok().filter(|port| *port != 0).ok_or_else(bad)?;
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let net = match bare {
            Some(inner) => Some(net(inner).filter(|(address, _)| address.is_ipv6()).ok_or_else(bad)?),
            None => net(host).filter(|(address, _)| address.is_ipv4()),
        };
        let what = match net {
            Some((address, bits)) => What::Net(address, bits),
            None => match Host::parse(host).ok_or_else(bad)? {
                Host::Name(name) => What::Name(name),
                Host::Ip(_) => return Err(bad()),
            },
        };
        Ok(Allow { what, port })
    }
}

/// `ADDRESS` or `ADDRESS/BITS`.
fn net(text: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.map_or(Some(most), |bits| bits.parse().ok())?;
    (bits <= most).then_some((address, bits))
}

#[cfg(test)]
mod tests {
    use super::Allow;
    use crate::target::Host;

    #[track_caller]
    fn covers(allow: &str, address: &str, port: u16) -> bool {
        allow.parse::<Allow>().unwrap().covers(address.parse().unwrap(), port)
    }

    #[test]
    fn an_entry_has_its_addresses_and_its_port() {
        assert!(covers("127.0.0.1:9000", "127.0.0.1", 9000));
        assert!(!covers("127.0.0.1:9000", "127.0.0.1", 9001));
        assert!(!covers("127.0.0.1:9000", "::ffff:127.0.0.1", 9000));
        assert!(covers("10.0.0.0/8:443", "10.200.3.4", 443) && !covers("10.0.0.0/8:443", "11.0.0.1", 443));
        assert!(covers("[::1]:80", "::1", 80) && covers("[fd00::/8]:80", "fd12::1", 80));
        let named: Allow = "intra.example:443".parse().unwrap();
        assert!(named.names(&Host::Name("intra.example".to_owned()), 443));
        assert!(!named.names(&Host::Name("intra.example".to_owned()), 80));
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        for bad in ["", "127.0.0.1", ":80", "127.1:80", "10.0.0.0/33:80", "::1:80", "[10.0.0.1]:80", "host:0", "a b:80"]
        {
            assert!(bad.parse::<Allow>().is_err(), "{bad}");
        }
    }
}
