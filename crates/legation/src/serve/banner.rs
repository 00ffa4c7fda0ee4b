//! What is said when the exchange has started: where it is, and what to try next.

use super::listen::Place;
use legation_engine::Token;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// What there is to say.
pub(super) struct Banner<'b> {
    pub(super) realm: &'b str,
    pub(super) places: &'b [Place],
    /// The names it answers to besides those of this machine itself.
    pub(super) hosts: &'b [String],
    /// Whether anybody may register.
    pub(super) open_registration: bool,
    pub(super) data: &'b Path,
    pub(super) operator_token: &'b Path,
    pub(super) recovery: Option<&'b str>,
    pub(super) code: Option<&'b Token>,
}

impl Banner<'_> {
    pub(super) fn announce(&self) -> anyhow::Result<()> {
        if let Some(recovery) = self.recovery {
            writeln!(io::stderr(), "legation: {recovery}")?;
        }
        let mut out = io::stdout().lock();
        let Some((first, more)) = self.places.split_first() else { return Ok(()) };
        writeln!(out, "Legation listens at {first}\n")?;
        for place in more {
            writeln!(out, "  and at          {place}")?;
        }
        let token = self.operator_token.display();
        writeln!(out, "  realm           {}", self.realm.escape_debug())?;
        writeln!(out, "  data            {}", self.data.display())?;
        writeln!(out, "  operator token  {token}\n")?;
        if self.hosts.is_empty() && self.places.iter().any(is_far) {
            writeln!(
                out,
                "Only requests to localhost, 127.0.0.1 and [::1] are answered: name other hosts in `hosts`.\n"
            )?;
        }
        let (there, bearer) = (self.there(first), bearer(&token.to_string()));
        let proof = if self.open_registration { String::new() } else { format!(" {bearer}") };
        writeln!(out, "Try in another terminal:\n")?;
        writeln!(out, "  curl -X PUT {there}/v1/agents/ann{proof} -H 'Content-Type: application/json' -d '{{}}'")?;
        writeln!(out, "  curl {there}/v1/agents {bearer}\n")?;
        if let Some((url, code)) = self.places.iter().find_map(|place| self.url(place)).zip(self.code) {
            let code = code.reveal();
            writeln!(
                out,
                "Look in with a browser, once and within ten minutes; `legation signin` makes another link:\n"
            )?;
            writeln!(out, "  {url}/signin?code={code}\n")?;
        }
        writeln!(out, "Ctrl-C stops it.")?;
        Ok(out.flush()?)
    }

    /// What leads curl there.
    fn there(&self, place: &Place) -> String {
        match (place, self.url(place)) {
            (_, Some(url)) => url,
            (Place::Http(_) | Place::Https(_), None) => format!("-H 'Host: localhost' {place}"),
            (Place::Unix(path), None) => {
                format!("--unix-socket {} http://localhost", quoted(&path.display().to_string()))
            }
        }
    }

    /// Where somebody on this machine finds it, under a name it answers to and has a certificate for.
    fn url(&self, place: &Place) -> Option<String> {
        let (scheme, address, named) = match place {
            Place::Http(address) => ("http", address, None),
            Place::Https(address) => ("https", address, self.hosts.first().filter(|_| is_far(place))),
            Place::Unix(_) => return None,
        };
        let own = near(*address);
        if let Some(host) = named {
            return Some(format!("{scheme}://{host}:{}", own.port()));
        }
        let is_known = |host: &String| host.trim_matches(['[', ']']) == own.ip().to_string();
        (own.ip().is_loopback() || self.hosts.iter().any(is_known)).then(|| format!("{scheme}://{own}"))
    }
}

/// Whether others than this machine reach it.
fn is_far(place: &Place) -> bool {
    match place {
        Place::Http(address) | Place::Https(address) => !address.ip().is_loopback(),
        Place::Unix(_) => false,
    }
}

/// What proves to be the operator, to curl.
fn bearer(token: &str) -> String {
    format!("-H \"Authorization: Bearer $(cat {})\"", quoted(token))
}

/// An address by which this machine reaches itself.
fn near(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::{Banner, Place};
    use std::path::Path;

    /// What leads curl to a place of an exchange with these names.
    #[track_caller]
    fn check(place: &Place, hosts: &[&str], want: &str) {
        let hosts: Vec<_> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let (path, places) = (Path::new("x"), [place.clone()]);
        let banner = Banner {
            realm: "local",
            places: &places,
            hosts: &hosts,
            open_registration: true,
            data: path,
            operator_token: path,
            recovery: None,
            code: None,
        };
        assert_eq!(banner.there(place), want);
    }

    #[test]
    fn what_to_try_leads_to_a_name_that_is_answered() {
        let http = |address: &str| Place::Http(address.parse().unwrap());
        let https = |address: &str| Place::Https(address.parse().unwrap());
        check(&http("127.0.0.1:7400"), &[], "http://127.0.0.1:7400");
        check(&http("[::1]:7400"), &["exchange.example"], "http://[::1]:7400");
        check(&http("0.0.0.0:7400"), &["exchange.example"], "http://127.0.0.1:7400");
        check(&https("127.0.0.1:7400"), &["exchange.example"], "https://127.0.0.1:7400");
        check(&https("0.0.0.0:7400"), &[], "https://127.0.0.1:7400");
        check(&https("[::]:7400"), &[], "https://[::1]:7400");
        check(&https("0.0.0.0:7400"), &["exchange.example"], "https://exchange.example:7400");
        check(&https("192.0.2.1:7400"), &["exchange.example"], "https://exchange.example:7400");
        check(&https("192.0.2.1:7400"), &[], "-H 'Host: localhost' https://192.0.2.1:7400");
        check(&http("192.0.2.1:7400"), &["192.0.2.1"], "http://192.0.2.1:7400");
        check(&http("[2001:db8::1]:7400"), &["[2001:db8::1]"], "http://[2001:db8::1]:7400");
        check(&Place::Unix("/run/a b".into()), &[], "--unix-socket '/run/a b' http://localhost");
    }
}
