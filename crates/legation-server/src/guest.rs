//! Who stands at the door before anybody has read what they bring: the connection, the source, whether
//! they say who they are, and the trace they belong to.

use crate::cookie;
use crate::gate::is_from_elsewhere;
use crate::header::Header;
use crate::proxy::{Proxy, is_passed_on};
use crate::refusal::Refusal;
use crate::sessions::SignedIn;
use crate::settings::Limits;
use crate::shared::Shared;
use crate::traces::Trace;
use crate::visits::{Holder, Peer, Place, Via, Visit, network_of};
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use legation_exchange::Who;
use legation_protocol::Code;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

/// Who sends a request.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    /// The connection, if there is one.
    visit: Option<Arc<Visit>>,
    pub(crate) source: Source,
    /// Whether nothing says who asks. A message may still prove its sender.
    pub(crate) anonymous: bool,
    /// Who is signed in with the cookie, where nothing else says who asks.
    pub(crate) session: Option<SignedIn>,
    pub(crate) trace: Trace,
    /// Whose token came along, once it was looked up.
    who: Arc<OnceLock<Who>>,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    address: IpAddr,
    /// Whether it was sent on this machine, and not just passed on here.
    pub(crate) local: bool,
    /// Whether it came over https, to us or to a proxy of ours.
    pub(crate) secure: bool,
    /// Whether it was sent on this machine, over our socket in the file system.
    pub(crate) on_socket: bool,
}

impl Guest {
    pub(crate) fn of(visit: Option<Arc<Visit>>, headers: &HeaderMap, proxy: &Proxy, trace: Trace) -> Guest {
        let nowhere = Peer { address: IpAddr::V4(Ipv4Addr::UNSPECIFIED), via: Via::Tcp };
        let peer = visit.as_ref().map_or(nowhere, |visit| visit.peer);
        let anonymous = Header::of(headers, &AUTHORIZATION) == Header::Absent;
        let source = Source::of(peer, headers, proxy);
        if source.address != peer.address
            && let Some(visit) = &visit
        {
            visit.comes_from(source.holder());
        }
        Guest { visit, source, anonymous, session: None, trace, who: Arc::default() }
    }

    /// Looks whose the cookie is. What another page lets a browser send is nobody's.
    pub(crate) fn recognise(&mut self, headers: &HeaderMap, shared: &Shared) {
        if !self.anonymous || is_from_elsewhere(headers) {
            return;
        }
        let Some(secret) = cookie::read(self.source.secure, headers) else { return };
        self.session = shared.sessions.signed_in(&shared.exchange, secret, Instant::now());
        self.anonymous = self.session.is_none();
    }

    /// Somebody has proven, by a token, to be this one.
    pub(crate) fn prove_as(&self, who: &Who, shared: &Shared) {
        // Whoever it was, it is the same for all of a request.
        let _ = self.who.set(who.clone());
        if let Some(visit) = &self.visit {
            visit.prove_as(who, || shared.holder_of(who, self.source));
        }
    }

    /// Whose token came along, as far as that is known.
    pub(crate) fn who(&self) -> Who {
        self.who.get().cloned().unwrap_or(Who::Nobody)
    }

    /// Somebody has proven to be somebody on this connection.
    pub(crate) fn prove(&self) {
        if let Some(visit) = &self.visit {
            visit.prove(self.source.holder());
        }
    }

    /// The connection, if there is one.
    pub(crate) fn visit(&self) -> Option<&Arc<Visit>> {
        self.visit.as_ref()
    }
}

impl Guest {
    /// A place for a WebSocket; without a connection nobody needs one.
    pub(crate) fn stay(&self, limits: &Limits) -> Result<Option<Place>, Refusal> {
        let Some(visit) = &self.visit else { return Ok(None) };
        let full = || Refusal::because(Code::Busy, "as many WebSockets are open as there are places for");
        visit.stay(limits).ok_or_else(full).map(Some)
    }

    /// Ready when the connection is to make room.
    pub(crate) async fn told_to_leave(&self) {
        match &self.visit {
            Some(visit) => visit.told_to_leave().await,
            None => std::future::pending().await,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Guest {
    type Rejection = Infallible;

    /// Every request has been given its guest on the way in; one that has not is a stranger's.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let guest = parts.extensions.get::<Guest>().cloned();
        Ok(guest.unwrap_or_else(|| Guest::of(None, &parts.headers, &Proxy::default(), Trace::of(&parts.headers))))
    }
}

impl Source {
    /// Where a proxy says it comes from, if one is there and this came from it. From a proxy's address nothing
    /// is local; from our own socket everything is that was not passed on.
    fn of(peer: Peer, headers: &HeaderMap, proxy: &Proxy) -> Source {
        let Peer { address, via } = peer;
        let (passed_on, on_socket, tls) = (is_passed_on(headers), via == Via::Unix, via == Via::Tls);
        if !proxy.is_trusted(address) || (on_socket && !passed_on) {
            let local = (on_socket || address.is_loopback()) && !passed_on;
            return Source { address, local, secure: tls, on_socket: on_socket && local };
        }
        let word = proxy.word(address, headers);
        Source { address: word.address, local: false, secure: tls || word.secure, on_socket: false }
    }

    /// What limits and counts are kept by. Whoever has one address of IPv6 has all that share its first half.
    pub(crate) fn key(self) -> IpAddr {
        network_of(self.address)
    }

    /// The holder of connections on which nobody has said more than where they come from.
    pub(crate) fn holder(self) -> Holder {
        Holder::source(self.address, self.on_socket)
    }
}

impl From<Source> for legation_engine::Source {
    fn from(source: Source) -> Self {
        legation_engine::Source::Address(source.key())
    }
}

#[cfg(test)]
mod tests {
    use super::Source;
    use crate::proxy::Proxy;
    use crate::visits::{Peer, Via};
    use axum::http::{HeaderMap, HeaderValue};

    #[track_caller]
    fn check(via: Via, peer: &str, forwarded: &[&str], proxies: &[&str], key: &str, local: bool) -> Source {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_str(line).unwrap());
        }
        let trusted = proxies.iter().map(|text| text.parse().unwrap()).collect();
        let peer = Peer { address: peer.parse().unwrap(), via };
        let source = Source::of(peer, &headers, &Proxy { trusted, ..Proxy::default() });
        assert_eq!((source.key(), source.local), (key.parse().unwrap(), local));
        source
    }

    #[test]
    fn without_a_proxy_the_peer_is_the_source() {
        check(Via::Tcp, "127.0.0.1", &[], &[], "127.0.0.1", true);
        check(Via::Tcp, "127.0.0.1", &["192.0.2.9"], &[], "127.0.0.1", false);
        check(Via::Tcp, "192.0.2.1", &["127.0.0.1"], &["127.0.0.1"], "192.0.2.1", false);
        check(Via::Tcp, "2001:db8:1:2:3:4:5:6", &[], &[], "2001:db8:1:2::", false);
        assert!(check(Via::Tls, "192.0.2.1", &[], &[], "192.0.2.1", false).secure);
    }

    #[test]
    fn nothing_a_proxy_passes_on_is_local() {
        let proxies = &["127.0.0.1", "10.0.0.2"];
        check(Via::Tcp, "127.0.0.1", &["192.0.2.9"], proxies, "192.0.2.9", false);
        check(Via::Tcp, "127.0.0.1", &["127.0.0.1"], proxies, "127.0.0.1", false);
        check(Via::Tcp, "127.0.0.1", &[], proxies, "127.0.0.1", false);
    }

    #[test]
    fn on_our_own_socket_everything_is_local_that_was_not_passed_on() {
        let proxies = &["127.0.0.1"];
        assert!(check(Via::Unix, "127.0.0.1", &[], &[], "127.0.0.1", true).on_socket);
        assert!(check(Via::Unix, "127.0.0.1", &[], proxies, "127.0.0.1", true).on_socket);
        assert!(!check(Via::Unix, "127.0.0.1", &["192.0.2.9"], &[], "127.0.0.1", false).on_socket);
        assert!(!check(Via::Unix, "127.0.0.1", &["192.0.2.9"], proxies, "192.0.2.9", false).on_socket);
    }
}
