//! Whose a socket is: the holder of a token, or whoever signs the challenge. Never who a message says.

use super::close::Close;
use super::frames::Told;
use super::greeting::Greeting;
use super::wire::{Heard, Wire};
use crate::guest::Guest;
use crate::handshake::is_handshake;
use crate::refusal::Refusal;
use crate::shared::{Shared, since_1970};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use legation_engine::{Standing, Token, members};
use legation_exchange::{Moment, Who};
use legation_protocol::json::{Doc, canonical};
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Rejection};
use serde::Deserialize;
use serde_json::json;

/// The first word of what is signed, so that it cannot be taken for anything else.
const KIND: &str = "legation-bind-1";

/// Whose a socket is, and what that rests on.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) agent: String,
    pub(crate) who: Who,
    pub(crate) standing: Standing,
}

impl Bound {
    /// By a token. A person says as whom they are here.
    pub(crate) fn by_token(shared: &Shared, guest: &Guest, token: &str, named: Option<&str>) -> Result<Bound, Refusal> {
        let who = shared.exchange.who(token)?;
        guest.prove_as(&who, shared);
        let agent = match (&who, named) {
            (Who::Agent(id), None) => id.clone(),
            (_, Some(named)) if who.is_or_speaks_as(named) => named.to_owned(),
            (_, Some(_)) => return Err(Refusal::because(Code::NotAllowed, "this token does not speak for that one")),
            (_, None) => {
                return Err(Refusal::because(Code::NotAllowed, "say as whom: `?agent=user` or `orchestrator`"));
            }
        };
        Ok(Bound { agent, who, standing: Standing::Token(Token::hash_of(token)) })
    }

    /// By signing a nonce that counts on this socket alone, once.
    /// A hello may come before the answer.
    pub(crate) async fn by_challenge(
        shared: &Shared,
        guest: &Guest,
        wire: &mut Wire,
        greeting: &mut Greeting,
    ) -> Result<Bound, Close> {
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce).map_err(|_| Close::Ours)?;
        let (nonce, realm) = (URL_SAFE_NO_PAD.encode(nonce), shared.exchange.realm());
        let now = u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX);
        let at = Moment::from_micros(now).to_string();
        wire.put_json(&Told::Challenge { nonce: &nonce, realm, at })?;
        let text = tokio::select! {
            answer = tokio::time::timeout(shared.settings().limits.socket_bind, first_text(shared, guest, wire, greeting)) => match answer {
                Ok(text) => text?,
                Err(_) => return Err(refused(shared, guest, &late()).await),
            },
            () = guest.told_to_leave() => return Err(Close::NoRoom),
            () = shared.stopping.cancelled() => return Err(Close::Stopping),
        };
        let bound = Signed::read(&text).and_then(|signed| signed.check(shared, &nonce));
        let bound = match bound {
            Ok(bound) => bound,
            Err(refusal) => return Err(refused(shared, guest, &refusal).await),
        };
        guest.prove_as(&bound.who, shared);
        Ok(bound)
    }
}

fn late() -> Refusal {
    Refusal::because(Code::Unauthenticated, "the challenge was not answered in time")
}

/// Counted and told like any other failure to prove who asks.
async fn refused(shared: &Shared, guest: &Guest, refusal: &Refusal) -> Close {
    shared.sources.failed(guest);
    if let Some(unrecorded) = refusal.unrecorded() {
        shared.note(guest, unrecorded).await;
    }
    Close::Policy(refusal.code())
}

/// The first text that is no hello.
async fn first_text(shared: &Shared, guest: &Guest, wire: &mut Wire, greeting: &mut Greeting) -> Result<String, Close> {
    let mut others = 0;
    loop {
        match wire.next(true).await? {
            Heard::Text(text) if is_handshake(&text) => {
                greeting.hear(shared, guest, &Who::Nobody, wire, &text).await?;
            }
            Heard::Text(text) => return Ok(text.to_string()),
            Heard::Binary => return Err(Close::Binary),
            Heard::Ping | Heard::Pong(_) if others < super::pulse::MOST => others += 1,
            Heard::Ping | Heard::Pong(_) => return Err(Close::Policy(Code::RateLimited)),
            Heard::Flushed => {}
        }
    }
}

/// The answer to a challenge.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    r#type: String,
    agent: String,
    key: Option<String>,
    signature: String,
}

impl Signed {
    fn read(text: &str) -> Result<Signed, Refusal> {
        Doc::parse(text.as_bytes())?;
        let bad = |message: String| Refusal::because(Code::Unauthenticated, message);
        let signed: Signed = members::read(text).map_err(|rejection| {
            let first = rejection.first();
            bad(first.message.to_string()).at(first.at.as_deref().unwrap_or_default())
        })?;
        match signed.r#type.as_str() {
            "bind" => Ok(signed),
            _ => Err(bad("the first frame answers the challenge".to_owned())),
        }
    }

    /// Whether an agent is there that has such a key, or not, is not told to strangers.
    fn check(self, shared: &Shared, nonce: &str) -> Result<Bound, Refusal> {
        let signature = Signature::parse(&self.signature)
            .map_err(|bad| Rejection::because(Code::SignatureFormat, bad.to_string()).at("/signature"))?;
        let named = self.key.as_deref().map(PublicKey::parse).transpose();
        let named = named.map_err(|bad| Rejection::because(bad.code(), bad.to_string()).at("/key"))?;
        let statement = json!({"agent": self.agent, "kind": KIND, "nonce": nonce, "realm": shared.exchange.realm()});
        let statement = statement.to_string();
        let statement = canonical(Doc::parse(statement.as_bytes())?.root());
        let by = shared.exchange.signed_by(&self.agent, &statement, &signature);
        match by.filter(|key| named.as_ref().is_none_or(|named| named == key)) {
            Some(key) => {
                Ok(Bound { who: Who::Agent(self.agent.clone()), agent: self.agent, standing: Standing::Key(key) })
            }
            None => Err(Rejection::because(Code::SignatureInvalid, "this is not signed by a key of the agent").into()),
        }
    }
}
