//! What it rests on that somebody is connected: a token, a key, a sign-in. A connection may outlast all of
//! them, so each can be asked again.

use crate::exchange::Exchange;
use legation_exchange::{Moment, OPERATOR, State, TokenHash, Who};
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Received, Rejection};

/// What being connected rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A bearer token that was looked up.
    Token(TokenHash),
    /// A key of the agent's own, that has signed a challenge.
    Key(PublicKey),
    /// A person who is signed in.
    Person(Who),
    /// Being inside this process.
    InProcess,
}

impl Exchange {
    /// Lets those through who may still take from this mailbox.
    pub fn may_still_take(&self, agent: &str, standing: &Standing) -> Result<(), Rejection> {
        let state = self.state();
        let who = match standing {
            Standing::Token(token) if *token == self.operator => Some(Who::operator()),
            Standing::Token(token) => holder(&state, token),
            Standing::Person(who) => Some(who.clone()).filter(|who| is_still(&state, who)),
            Standing::Key(key) => return has_key((&state, self.latest(&state)), agent, key),
            Standing::InProcess => return Ok(()),
        };
        match who {
            Some(who) if who.is_operator() || who.is_or_speaks_as(agent) => Ok(()),
            Some(_) => Err(Rejection::because(
                Code::NotAllowed,
                "only its owner and operators take from a mailbox: list it without waiting",
            )),
            None => Err(Rejection::because(Code::Unauthenticated, "what proved who you are no longer counts")),
        }
    }
}

impl Exchange {
    /// The key in use of an agent's own under which these bytes are signed.
    pub fn signed_by(&self, agent: &str, bytes: &[u8], signature: &Signature) -> Option<PublicKey> {
        let keys: Vec<_> = {
            let state = self.state();
            state.registry().agent(agent)?.live_keys(self.latest(&state)).cloned().collect()
        };
        keys.into_iter().find(|key| key.verifies(bytes, signature))
    }

    /// Whether a message carries a signature by a key in use of the sender it names.
    pub fn is_signed(&self, received: &Received) -> bool {
        let Some(signature) = received.signature() else { return false };
        let keys: Vec<_> = {
            let state = self.state();
            let Some(sender) = state.registry().resolve(received.message().sender()) else { return false };
            sender.live_keys(self.latest(&state)).cloned().collect()
        };
        keys.into_iter().any(|key| key.verifies(received.signed_bytes(), signature))
    }
}

fn holder(state: &State, token: &TokenHash) -> Option<Who> {
    let agent = state.registry().holder(token).map(|agent| Who::Agent(agent.id.clone()));
    agent.or_else(|| Some(state.people().holder(token)?.who()))
}

/// Whether a person still is what they were when they signed in.
fn is_still(state: &State, who: &Who) -> bool {
    match who {
        Who::Person { name, .. } if name == OPERATOR => who.is_operator(),
        Who::Person { name, .. } => state.people().named(name).is_some_and(|person| person.who() == *who),
        Who::Agent(_) | Who::Nobody => false,
    }
}

fn has_key((state, now): (&State, Moment), agent: &str, key: &PublicKey) -> Result<(), Rejection> {
    match state.registry().agent(agent) {
        Some(agent) if agent.has_live_key(key, now) => Ok(()),
        Some(_) => Err(Rejection::because(Code::KeyRevoked, "the key you are connected by is no longer in use")),
        None => Err(Rejection::because(Code::UnknownAgent, "there is no such agent any more")),
    }
}
