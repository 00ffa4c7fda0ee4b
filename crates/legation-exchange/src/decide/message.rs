//! Whether a message is taken, and for whom. The order of the questions is the product: is it a copy,
//! is it fresh, may its sender speak, whom does it reach.

use super::{Decided, Decision, Desk, Proof, Verdict, Verified};
use crate::agent::Agent;
use crate::effect::{Accepted, Effect};
use crate::moment::Moment;
use crate::who::Who;
use legation_protocol::{Code, Format, Message, Received, Recipients, Rejection};

impl Desk<'_> {
    pub(super) fn message(&self, verified: Verified) -> Decided {
        let Verified { received, proof, spare_id, trace } = verified;
        let message = received.message();
        let sender = self.proven_sender(message, &proof)?;
        let own_id = message.id();
        if let Some(copy) = self.copy_of(sender, own_id.as_deref(), &received)? {
            return Ok(copy);
        }
        let remembered = self.freshness(message)?;
        let to = self.routes(sender, message)?;
        let effect = Effect::Accepted(Accepted {
            dialect: message.dialect(),
            kind: message.kind().to_owned(),
            id: own_id.clone().unwrap_or_else(|| spare_id.clone()),
            sender: sender.id.clone(),
            to,
            thread: message.thread().map(str::to_owned),
            digest: received.digest().to_string(),
            proof: name_of(&proof).to_owned(),
            expires: self.now.plus(self.policy.time_to_live),
            remembered: own_id.as_ref().map(|_| remembered),
            trace,
        });
        let id = own_id.unwrap_or(spare_id);
        Ok(self.accepted(id, true, effect, Some(received.bytes().into())))
    }

    /// The registered agent that the message names as its sender, if that is the one proven.
    fn proven_sender(&self, message: &Message, proof: &Proof) -> Result<&Agent, Rejection> {
        let Some(sender) = self.state.registry.resolve(message.sender()) else {
            return Err(Rejection::because(Code::UnknownSender, "the sender is not registered here").at("/sender"));
        };
        match proof {
            Proof::Signature(key) if sender.has_live_key(key) => Ok(sender),
            Proof::Signature(_) => {
                Err(Rejection::because(Code::KeyRevoked, "this key is not one of the sender's keys in use"))
            }
            Proof::Bearer(_) | Proof::InProcess if self.needs_signature(message, proof) => {
                Err(Rejection::because(Code::SignatureRequired, "a VCP message is signed by its sender")
                    .at("/signature")
                    .by("VCP 7.1"))
            }
            Proof::Bearer(Who::Agent(id)) if *id == sender.id => Ok(sender),
            Proof::Bearer(Who::Nobody) => {
                Err(Rejection::because(Code::Unauthenticated, "say who sends: a token or a signature is missing"))
            }
            Proof::Bearer(Who::Agent(_) | Who::Person { .. }) => {
                Err(Rejection::because(Code::SenderMismatch, "the sender named is not the one who is connected"))
            }
            Proof::InProcess => Ok(sender),
        }
    }

    fn needs_signature(&self, message: &Message, proof: &Proof) -> bool {
        self.policy.signed_vcp && message.dialect() == Format::Vcp && *proof != Proof::InProcess
    }

    /// The verdict on a message that was taken before.
    fn copy_of(&self, sender: &Agent, id: Option<&str>, received: &Received) -> Result<Option<Decision>, Rejection> {
        let Some(id) = id else { return Ok(None) };
        let Some(taken) = self.state.dedup.find(&sender.id, id) else { return Ok(None) };
        if !taken.is(received.digest()) {
            let message = "this sender has used the id for another message";
            return Err(Rejection::because(Code::MessageIdConflict, message).at("/message_id"));
        }
        let verdict = Verdict::Duplicate { position: taken.position, id: id.to_owned() };
        Ok(Some(Decision { verdict, entries: Vec::new() }))
    }

    /// How long the message's id is to be remembered, if the message is fresh.
    fn freshness(&self, message: &Message) -> Result<Moment, Rejection> {
        let (Message::Vcp(_), Some(time)) = (message, message.time()) else {
            return Ok(self.now.plus(self.policy.dedup_window));
        };
        let made = Moment::of(time);
        let refuse = |code, how: &str| {
            let message = format!("the message was made at {time}, too far in the {how}: it is {} here", self.now);
            Err(Rejection::because(code, message).at("/timestamp").by("VCP 7.4"))
        };
        if made.plus(self.policy.past) < self.now {
            return refuse(Code::Stale, "past");
        }
        if made > self.now.plus(self.policy.future) {
            return refuse(Code::Future, "future");
        }
        Ok(made.plus(self.policy.past).plus(self.policy.dedup_margin))
    }

    /// The mailboxes the message goes to.
    fn routes(&self, sender: &Agent, message: &Message) -> Result<Vec<String>, Rejection> {
        let to: Vec<String> = match message.recipients() {
            Recipients::One(name) => {
                let Some(agent) = self.state.registry.resolve(name) else {
                    return Err(Rejection::because(Code::UnknownRecipient, "the recipient is not registered here"));
                };
                vec![agent.id.clone()]
            }
            Recipients::Peers => self.state.registry.peers(sender).map(|agent| agent.id.clone()).collect(),
            Recipients::Thread => Vec::new(),
        };
        let full = |agent: &&String| {
            self.state.mailbox(agent).is_some_and(|mailbox| mailbox.len() >= self.policy.mailbox_limit)
        };
        if let (Some(agent), Recipients::One(_)) = (to.iter().find(full), message.recipients()) {
            let message = format!("{} messages wait for {agent:?} already", self.policy.mailbox_limit);
            return Err(Rejection::because(Code::MailboxFull, message));
        }
        Ok(to.into_iter().filter(|agent| !full(&agent)).collect())
    }
}

const fn name_of(proof: &Proof) -> &'static str {
    match proof {
        Proof::Signature(_) => "signature",
        Proof::Bearer(_) => "token",
        Proof::InProcess => "in process",
    }
}
