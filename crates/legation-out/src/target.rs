//! An address as it is written. One spelling is taken for each; what readers could understand differently is
//! refused.

use hyper::Uri;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Where a post goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) uri: Uri,
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

/// A machine, by number or by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Ip(IpAddr),
    Name(String),
}

impl Host {
    /// Addresses of IPv4 are four decimal numbers, those of IPv6 stand in brackets.
    pub(crate) fn parse(text: &str) -> Option<Host> {
        if let Some(inner) = text.strip_prefix('[') {
            let address: Ipv6Addr = inner.strip_suffix(']')?.parse().ok()?;
            return Some(Host::Ip(address.into()));
        }
        let name = text.to_ascii_lowercase();
        let is_label = |label: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            !label.is_empty() && label.len() <= 63 && label.bytes().all(plain)
        };
        if name.len() > 253 || !name.split('.').all(is_label) {
            return None;
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        // What ends in a number is an address to some readers, in whatever base they think.
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
        if is_number {
            name.parse::<Ipv4Addr>().ok().map(|address| Host::Ip(address.into()))
        } else {
            Some(Host::Name(name))
        }
    }

    /// Whether it is this machine, as far as its name tells.
    pub(crate) fn is_near(&self) -> bool {
        match self {
            Host::Ip(address) => address.is_loopback(),
            Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        }
    }
}

impl Target {
    /// Reads an address, or says what is wrong with it.
    pub(crate) fn parse(url: &str) -> Result<Target, &'static str> {
        if url.len() > 2048 {
            return Err("it is longer than 2048 bytes");
        }
        if url.contains('#') {
            return Err("it has a fragment");
        }
        let uri: Uri = url.parse().map_err(|_| "it is not a URL")?;
        Target::of(uri)
    }

    /// The same of what is a URI already.
    pub(crate) fn of(uri: Uri) -> Result<Target, &'static str> {
        let authority = uri.authority().ok_or("it names no host")?;
        if authority.as_str().contains('@') {
            return Err("it has a user name");
        }
        let host =
            Host::parse(authority.host()).ok_or("its host is neither a name nor an address in its plain spelling")?;
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if host.is_near() => false,
            Some("http") => return Err("plain http is for this machine alone: use https"),
            Some(_) | None => return Err("it does not begin with https://"),
        };
        let port = match authority.as_str().rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            None => {
                if is_tls {
                    443
                } else {
                    80
                }
            }
            Some((_, port)) => port.parse().ok().filter(|port| *port != 0).ok_or("its port is none")?,
        };
        Ok(Target { uri, host, port, is_tls })
    }

    /// How an operator would name it.
    pub(crate) fn place(&self) -> String {
        match &self.host {
            Host::Ip(IpAddr::V6(address)) => format!("[{address}]:{}", self.port),
            Host::Ip(IpAddr::V4(address)) => format!("{address}:{}", self.port),
            Host::Name(name) => format!("{name}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn one_spelling_is_taken_for_each_address() {
        for (url, place) in [
            ("https://agent.example/in", "agent.example:443"),
            ("https://Agent.Example:8443/in?x=1", "agent.example:8443"),
            ("https://8.8.8.8/", "8.8.8.8:443"),
            ("https://[2606:4700::1]:9/", "[2606:4700::1]:9"),
            ("http://127.0.0.1:9000/in", "127.0.0.1:9000"),
            ("http://[::1]/", "[::1]:80"),
            ("http://localhost:1/", "localhost:1"),
        ] {
            assert_eq!(Target::parse(url).map(|target| target.place()), Ok(place.to_owned()), "{url}");
        }
        for bad in [
            "",
            "agent.example",
            "/in",
            "gopher://agent.example/",
            "file:///etc/passwd",
            "ftp://agent.example/",
            "http://agent.example/",
            "http://10.0.0.1/",
            "https://user@agent.example/",
            "https://u:p@agent.example/",
            "https://agent.example/#part",
            "https://0x7f000001/",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://127.1/",
            "https://0177.0.0.1/",
            "https://127.0.0.01/",
            "https://127.0.0.1./",
            "https://agent.example./",
            "https://[::1%25eth0]/",
            "https://[::ffff:1.2.3.4.5]/",
            "https://%31%32%37.0.0.1/",
            "https://①.example/",
            "https://a..b/",
            "https://:443/",
            "https://agent.example:0/",
            "https://agent.example:99999/",
            "https://agent.example\\@127.0.0.1/",
            "https://agent example/",
            "https://agent.example:/",
            "//agent.example/",
            "https:agent.example",
            "https://foo.0x1/",
            "https://1.2.3/",
        ] {
            assert!(Target::parse(bad).is_err(), "{bad}: {:?}", Target::parse(bad));
        }
    }
}
