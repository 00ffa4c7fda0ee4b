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
        let (curl, token) = (curl(first), quoted(&token.to_string()));
        writeln!(out, "Try in another terminal:\n")?;
        writeln!(out, "  {curl}/v1/agents/ann -X PUT -H 'Content-Type: application/json' -d '{{}}'")?;
        writeln!(out, "  {curl}/v1/agents -H \"Authorization: Bearer $(cat {token})\"\n")?;
        if let Some((url, code)) = self.places.iter().find_map(page).zip(self.code) {
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
}

/// How to ask for something there.
fn curl(place: &Place) -> String {
    match place {
        Place::Http(_) | Place::Https(_) => format!("curl {place}"),
        Place::Unix(path) => format!("curl --unix-socket {} http://localhost", quoted(&path.display().to_string())),
    }
}

/// Where a browser on this machine finds the page.
fn page(place: &Place) -> Option<String> {
    match place {
        Place::Http(address) => Some(format!("http://{}", near(*address))),
        Place::Https(address) => Some(format!("https://{}", near(*address))),
        Place::Unix(_) => None,
    }
}

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
