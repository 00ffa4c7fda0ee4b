//! Speaking to a running exchange.

use crate::Outcome;
use crate::cli::RemoteArgs;
use crate::places;
use crate::validate::shown;
use anyhow::{Context as _, bail};
use serde_json::Value;
use std::fs;
use std::io::{self, Write as _};
use std::net::IpAddr;
use ureq::http::{Request, Response, Uri};
use zeroize::Zeroizing;

/// The largest answer that is read.
const LARGEST: u64 = 256 << 20;

/// No exchange answers there.
#[derive(Debug)]
pub(crate) struct Unreachable {
    url: String,
    why: ureq::Error,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot reach an exchange at {} ({}); is `legation serve` running?", self.url, self.why)
    }
}

impl std::error::Error for Unreachable {}

/// An exchange, and what to show it.
pub(crate) struct Remote {
    url: String,
    token: Option<Zeroizing<String>>,
    pub(crate) json: bool,
    client: ureq::Agent,
}

/// What an exchange answered.
pub(crate) struct Reply {
    accepted: bool,
    /// Its clock.
    pub(crate) date: Option<String>,
    pub(crate) text: String,
}

/// What is sent along.
#[derive(Default)]
pub(crate) struct Parcel<'a> {
    pub(crate) media: Option<&'static str>,
    pub(crate) signature: Option<String>,
    pub(crate) body: &'a [u8],
}

impl<'a> Parcel<'a> {
    pub(crate) fn json(body: &'a [u8]) -> Parcel<'a> {
        Parcel { media: Some("application/json"), signature: None, body }
    }
}

impl Remote {
    pub(crate) fn new(args: &RemoteArgs) -> anyhow::Result<Remote> {
        let url = args.url.trim_end_matches('/').to_owned();
        must_be_near(&url)?;
        let token = args.token.clone().map(Zeroizing::new).or_else(operator_token);
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).proxy(None);
        Ok(Remote { url, token, json: args.json, client: config.build().new_agent() })
    }

    pub(crate) fn ask(&self, method: &str, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<Reply> {
        let mut response = self.send(method, path, parcel)?;
        let lost = |why| Unreachable { url: self.url.clone(), why };
        let text = response.body_mut().with_config().limit(LARGEST).read_to_string().map_err(lost)?;
        let date = response.headers().get("date").and_then(|date| date.to_str().ok()).map(str::to_owned);
        Ok(Reply { accepted: response.status().is_success(), date, text })
    }

    /// Asks for something large: about how many bytes it has, and the bytes.
    pub(crate) fn download(&self, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<(u64, impl io::Read + use<>)> {
        let mut response = self.send("POST", path, parcel)?;
        if !response.status().is_success() {
            let text = response.body_mut().with_config().limit(LARGEST).read_to_string()?;
            bail!("{}", refused(&serde_json::from_str(&text).context("the answer is not an exchange's")?));
        }
        let length = response.headers().get("legation-backup-bytes").and_then(|length| length.to_str().ok());
        let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
        Ok((length, response.into_body().into_with_config().limit(u64::MAX).reader()))
    }

    fn send(&self, method: &str, path: &str, parcel: &Parcel<'_>) -> anyhow::Result<Response<ureq::Body>> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {}", token.trim()));
        }
        if let Some(media) = parcel.media {
            request = request.header("content-type", media);
        }
        if let Some(signature) = &parcel.signature {
            request = request.header("legation-signature", signature);
        }
        let request = request.body(parcel.body).context("this cannot be sent over HTTP")?;
        Ok(self.client.run(request).map_err(|why| Unreachable { url: self.url.clone(), why })?)
    }

    /// Prints an answer: as it is for programs, otherwise as `tell` says it. A refusal is told here.
    pub(crate) fn report(
        &self,
        reply: &Reply,
        tell: impl FnOnce(&Value, &mut dyn io::Write) -> io::Result<()>,
    ) -> anyhow::Result<Outcome> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", reply.text.trim_end())?;
        } else if reply.accepted {
            tell(&reply.value()?, &mut out)?;
        } else {
            let refusal = reply.value()?;
            writeln!(io::stderr(), "{}", refused(&refusal))?;
        }
        Ok(if reply.accepted { Outcome::Fine } else { Outcome::Refused })
    }
}

impl Reply {
    pub(crate) fn value(&self) -> anyhow::Result<Value> {
        serde_json::from_str(&self.text).context("the answer is not an exchange's")
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.accepted
    }
}

/// The text of a member, fit for a terminal.
pub(crate) fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => shown(text),
        Some(other) => shown(&other.to_string()),
    }
}

/// A refusal in one line.
pub(crate) fn refused(body: &Value) -> String {
    let place = text(body, "at");
    let place = if place.is_empty() { place } else { format!(" (at {place})") };
    format!("refused[{}]: {}{place}", text(body, "error"), text(body, "message"))
}

/// A text as one part of a path.
pub(crate) fn encoded(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encode = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    part.bytes().map(encode).collect::<Vec<_>>().concat()
}

/// Tokens and messages do not cross a network in the clear.
fn must_be_near(url: &str) -> anyhow::Result<()> {
    let uri: Uri = url.parse().with_context(|| format!("{url:?} is no URL"))?;
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let near = host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match uri.scheme_str() {
        Some("http") if near => Ok(()),
        Some("http") => bail!("{url} is another machine, and plain http would show it and others your token"),
        Some(_) | None => bail!("{url:?} does not begin with http://, which is all this version speaks"),
    }
}

/// The operator's token of the exchange that keeps its data where it does by default.
fn operator_token() -> Option<Zeroizing<String>> {
    fs::read_to_string(places::data().join(places::OPERATOR_TOKEN)).ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::{encoded, must_be_near};

    #[test]
    fn only_this_machine_is_near() {
        for near in ["http://127.0.0.1:7400", "http://localhost", "http://[::1]:1", "http://127.9.9.9"] {
            assert!(must_be_near(near).is_ok(), "{near}");
        }
        for far in
            ["http://10.0.0.1", "http://localhost.evil.test", "https://localhost", "localhost:7400", "", "http://"]
        {
            assert!(must_be_near(far).is_err(), "{far}");
        }
    }

    #[test]
    fn an_id_is_one_part_of_a_path() {
        assert_eq!(encoded("agent://h/é"), "agent%3A%2F%2Fh%2F%C3%A9");
    }
}
