//! `GET /vcp/ws`: the WebSocket binding (messaging 1.2, section 8.3). The door decides who comes in, as far
//! as that is known by then; a session does the rest.

mod answer;
mod answers;
mod bind;
mod close;
mod frames;
mod greeting;
mod metered;
mod offer;
mod pulse;
mod session;
mod sockets;
mod wire;

pub(crate) use offer::offered_token;
pub(crate) use sockets::{Presence, Sockets};

use crate::guest::Guest;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::visits::Place;
use axum::extract::{Request, State};
use axum::response::Response;
use bind::Bound;
use close::Close;
use frames::Told;
use greeting::Greeting;
use hyper::upgrade::OnUpgrade;
use legation_engine::Feed;
use legation_protocol::Code;
use offer::Offer;
use serde::Deserialize;
use session::{Parts, Session, Speech};
use sockets::Seat;
use std::sync::Arc;
use wire::Wire;

/// The most bytes of a message, and of what a frame puts around one.
const MESSAGE: usize = 256 << 10;
const AROUND: usize = 1 << 10;

/// What stands behind the question mark.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
    after: Option<u64>,
    deliver: Switch,
    receipts: Switch,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Switch {
    #[default]
    On,
    Off,
}

/// A socket in the making.
struct Opening {
    shared: Arc<Shared>,
    guest: Guest,
    wanted: Wanted,
    speech: Speech,
    /// Whose it is, if a token said so, and what comes for it.
    bound: Option<(Bound, Seat, Option<Feed>)>,
    /// Its place among the connections, for as long as it lasts.
    _place: Option<Place>,
}

/// `GET /vcp/ws`
pub(crate) async fn open(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    mut request: Request,
) -> Result<Response, Refusal> {
    let wanted: Wanted = query(request.uri())?;
    let offer = Offer::of(request.headers())?;
    let bound = match offer.token {
        Some(token) => Some(Bound::by_token(&shared, &guest, token, wanted.agent.as_deref())?),
        None if offer.speech == Speech::Framed => None,
        None => {
            let message =
                "bind the socket by `Authorization: Bearer …`, or ask for `legation.v1` and sign the challenge";
            return Err(Refusal::because(Code::Unauthenticated, message));
        }
    };
    // What cannot become a socket takes nobody's turn.
    let (response, speech) = (offer.accepted(request.version())?, offer.speech);
    let place = guest.stay(&shared.settings().limits)?;
    let bound = bound.map(|bound| wanted.seated(&shared, bound)).transpose()?;
    let upgrade = hyper::upgrade::on(&mut request);
    let opening = Opening { speech, guest, wanted, bound, shared: Arc::clone(&shared), _place: place };
    shared.connections.spawn(opening.serve(upgrade));
    Ok(response)
}

impl Opening {
    async fn serve(self, upgrade: OnUpgrade) {
        let Ok(upgraded) = upgrade.await else { return };
        let Opening { shared, guest, wanted, speech, bound, _place } = self;
        let mut wire = Wire::new(upgraded, MESSAGE + AROUND, bound.is_none(), Arc::clone(&shared.sockets)).await;
        let mut greeting = Greeting::new(&shared);
        let bound = match bound {
            Some(bound) => Ok(bound),
            None => Box::pin(challenged(&shared, &guest, &wanted, &mut wire, &mut greeting)).await,
        };
        match bound {
            Ok((bound, seat, feed)) => {
                let parts = Parts { wire, bound, speech, receipts: wanted.receipts, seat, feed, greeting };
                Session::new(shared, guest, parts).run().await;
            }
            Err(close) => {
                shared.sockets.closed(close);
                wire.finish(close).await;
            }
        }
    }
}

impl Wanted {
    /// Its turn comes before the answer, so that of two sockets the one opened last has it.
    fn seated(&self, shared: &Shared, bound: Bound) -> Result<(Bound, Seat, Option<Feed>), Refusal> {
        shared.exchange.must_have(self.after)?;
        let seat = shared.sockets.seat(&bound.agent)?;
        let feed = self.feed(shared, &bound);
        Ok((bound, seat, feed))
    }

    fn feed(&self, shared: &Shared, bound: &Bound) -> Option<Feed> {
        let Bound { agent, standing, .. } = bound;
        let wanted = self.deliver == Switch::On;
        wanted.then(|| shared.exchange.consume(agent, self.after, standing.clone()))
    }
}

/// A socket that is nobody's until a challenge is signed.
async fn challenged(
    shared: &Shared,
    guest: &Guest,
    wanted: &Wanted,
    wire: &mut Wire,
    greeting: &mut Greeting,
) -> Result<(Bound, Seat, Option<Feed>), Close> {
    let bound = Bound::by_challenge(shared, guest, wire, greeting).await?;
    wire.open();
    if wanted.agent.as_ref().is_some_and(|named| *named != bound.agent) {
        return Err(Close::Policy(Code::NotAllowed));
    }
    shared.exchange.must_have(wanted.after).map_err(|rejection| Close::Policy(rejection.code()))?;
    let seat = shared.sockets.seat(&bound.agent).map_err(|refusal| Close::Policy(refusal.code()))?;
    wire.put_json(&Told::Bound { agent: &bound.agent, cursor: wanted.after.unwrap_or_default() })?;
    let feed = wanted.feed(shared, &bound);
    Ok((bound, seat, feed))
}
