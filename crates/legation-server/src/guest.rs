//! Who stands at the door before anybody has read what they bring: the connection, the source, whether
//! they say who they are, and the trace they belong to.

use crate::cookie;
use crate::gate::is_from_elsewhere;
use crate::header::Header;
use crate::sessions::SignedIn;
use crate::shared::Shared;
use crate::traces::Trace;
use crate::visits::Visit;
use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, FORWARDED};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use legation_exchange::Who;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

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
    /// Whether it came to a proxy of ours over https.
    pub(crate) secure: bool,
}

impl Guest {
    pub(crate) fn of(visit: Option<Arc<Visit>>, headers: &HeaderMap, proxies: &[IpAddr], trace: Trace) -> Guest {
        let peer = visit.as_ref().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |visit| visit.peer);
        let anonymous = Header::of(headers, &AUTHORIZATION) == Header::Absent;
        Guest {
            visit,
            source: Source::of(peer, headers, proxies),
            anonymous,
            session: None,
            trace,
            who: Arc::default(),
        }
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
    pub(crate) fn prove_as(&self, who: &Who) {
        // Whoever it was, it is the same for all of a request.
        let _ = self.who.set(who.clone());
        self.prove();
    }

    /// Whose token came along, as far as that is known.
    pub(crate) fn who(&self) -> Who {
        self.who.get().cloned().unwrap_or(Who::Nobody)
    }

    /// Somebody has proven to be somebody on this connection.
    pub(crate) fn prove(&self) {
        if let Some(visit) = &self.visit {
            visit.prove();
        }
    }
}

impl Guest {
    /// Ready when the connection is to make room, which only one can that has proven nothing.
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
        Ok(guest.unwrap_or_else(|| Guest::of(None, &parts.headers, &[], Trace::of(&parts.headers))))
    }
}

impl Source {
    /// A proxy is believed about who stands behind it, back to the first address that is no proxy's.
    fn of(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> Source {
        let passed_on = headers.contains_key(&FORWARDED_FOR) || headers.contains_key(&FORWARDED);
        if !proxies.contains(&peer) {
            return Source { address: peer, local: peer.is_loopback() && !passed_on, secure: false };
        }
        let named = headers.get_all(&FORWARDED_FOR).iter().rev().map(|value| value.to_str().unwrap_or_default());
        let hops = named.flat_map(|text| text.rsplit(',')).map_while(|hop| hop.trim().parse::<IpAddr>().ok());
        let mut address = peer;
        for hop in hops {
            address = hop.to_canonical();
            if !proxies.contains(&address) {
                break;
            }
        }
        let secure = Header::of(headers, &FORWARDED_PROTO) == Header::Once("https");
        Source { address, local: false, secure }
    }

    /// What limits and counts are kept by. Whoever has one address of IPv6 has all that share its first half.
    pub(crate) fn key(self) -> IpAddr {
        match self.address {
            IpAddr::V4(_) => self.address,
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        }
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
    use axum::http::{HeaderMap, HeaderValue};
    use std::net::IpAddr;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], proxies: &[&str], key: &str, local: bool) {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_str(line).unwrap());
        }
        let proxies: Vec<IpAddr> = proxies.iter().map(|text| text.parse().unwrap()).collect();
        let source = Source::of(peer.parse().unwrap(), &headers, &proxies);
        assert_eq!((source.key(), source.local), (key.parse().unwrap(), local));
    }

    #[test]
    fn without_a_proxy_the_peer_is_the_source() {
        check("127.0.0.1", &[], &[], "127.0.0.1", true);
        check("127.0.0.1", &["192.0.2.9"], &[], "127.0.0.1", false);
        check("192.0.2.1", &["127.0.0.1"], &["127.0.0.1"], "192.0.2.1", false);
        check("2001:db8:1:2:3:4:5:6", &[], &[], "2001:db8:1:2::", false);
    }

    #[test]
    fn a_proxy_is_believed_up_to_the_first_address_that_is_none() {
        let proxies = &["127.0.0.1", "10.0.0.2"];
        check("127.0.0.1", &["192.0.2.9"], proxies, "192.0.2.9", false);
        check("127.0.0.1", &["198.51.100.7, 192.0.2.9, 10.0.0.2"], proxies, "192.0.2.9", false);
        check("127.0.0.1", &["198.51.100.7", "192.0.2.9"], proxies, "192.0.2.9", false);
        check("127.0.0.1", &["::ffff:192.0.2.9"], proxies, "192.0.2.9", false);
        // What makes no sense ends the trail, and nothing passed on is local.
        check("127.0.0.1", &["198.51.100.7, nonsense"], proxies, "127.0.0.1", false);
        check("127.0.0.1", &["127.0.0.1"], proxies, "127.0.0.1", false);
        check("127.0.0.1", &[], proxies, "127.0.0.1", false);
    }
}
