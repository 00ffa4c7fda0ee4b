//! Who may knock at all. A page on another site must not reach an exchange through a browser on this
//! machine, neither by its own origin nor by a name it has pointed here; so both are checked before
//! anything of the request is read.

use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use legation_protocol::Code;
use std::sync::Arc;

/// What browsers say of requests that carry no origin, such as for a picture.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The names of this machine itself.
const OWN: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub(crate) async fn gate(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let refuse = |message: &'static str| Err(Refusal::because(Code::ForbiddenOrigin, message));
    let Header::Once(host) = Header::of(request.headers(), &HOST) else {
        return refuse("say which host you mean, once");
    };
    let settings = shared.settings();
    let hosts = &settings.hosts;
    let authority = request.uri().authority().map(Authority::as_str);
    // No browser opens our socket in the file system, so any name will do there.
    let known = |name: &str| guest.source.on_socket || is_known(name, hosts);
    if !known(host) || authority.is_some_and(|name| !known(name)) {
        return refuse("this exchange does not answer to that host name");
    }
    if is_foreign_fetch(request.headers()) {
        return refuse("pages of other sites may not speak to this exchange");
    }
    match Header::of(request.headers(), &ORIGIN) {
        Header::Absent => Ok(next.run(request).await),
        Header::Once(origin) if is_known_origin(origin, hosts) => Ok(next.run(request).await),
        Header::Once(_) | Header::Unclear => refuse("pages of that origin may not speak to this exchange"),
    }
}

/// Whether a browser sends this for a page that is none of ours, be it of another server on this machine.
pub(crate) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let ours = |found: &HeaderValue| found == "same-origin" || found == "none";
    !headers.get_all(FETCH_SITE).iter().all(ours)
}

/// Whether a browser fetched this for a page of another site, other than to go there.
fn is_foreign_fetch(headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, value: &str| headers.get(name).is_some_and(|found| found == value);
    is(&FETCH_SITE, "cross-site") && !is(&FETCH_MODE, "navigate")
}

fn is_known_origin(origin: &str, hosts: &[String]) -> bool {
    let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    host.is_some_and(|host| is_known(host, hosts))
}

/// Whether a host, with any port or none, is this machine or one of these.
fn is_known(host: &str, hosts: &[String]) -> bool {
    let known = |name: &str| OWN.contains(&name) || hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    name_of(host).is_some_and(|name| known(&name))
}

/// Whether browsers may be told to come to this host over https alone: not where the name is that of every
/// other server on the machine too.
pub(crate) fn is_own_name(host: &str) -> bool {
    name_of(host).is_some_and(|name| OWN.contains(&name.as_str()))
}

/// A host without its port, in lower case.
fn name_of(host: &str) -> Option<String> {
    let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.find(':') };
    let (name, port) = host.split_at_checked(end.unwrap_or(host.len()))?;
    let number = port.strip_prefix(':').unwrap_or(port);
    (port.is_empty() || number.parse::<u16>().is_ok()).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{is_known, is_known_origin};

    #[track_caller]
    fn check(host: &str, want: bool) {
        let hosts = ["Exchange.example"].map(str::to_owned);
        assert_eq!(is_known(host, &hosts), want, "{host}");
        assert_eq!(is_known_origin(&format!("http://{host}"), &hosts), want, "{host}");
    }

    #[test]
    fn a_host_is_known_with_any_port() {
        for host in ["localhost", "LOCALHOST:7400", "127.0.0.1:1", "[::1]", "[::1]:7400", "exchange.example"] {
            check(host, true);
        }
    }

    #[test]
    fn what_only_resembles_a_host_is_not_it() {
        for host in [
            "",
            "evil.test",
            "localhost.evil.test",
            "localhost.",
            "localhost:",
            "localhost:x",
            "localhost:70000",
            "user@localhost",
            "localhost:1:2",
            "[::1",
            "[::1]x",
            "::1",
            "127.0.0.1/",
            "127.1",
        ] {
            check(host, false);
        }
        assert!(!is_known_origin("null", &["localhost".to_owned()]));
        assert!(!is_known_origin("file://localhost", &["localhost".to_owned()]));
    }
}
