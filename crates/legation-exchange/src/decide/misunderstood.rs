//! What is told to an agent whose message of the ElizaOS agent language could not be read (section 4.7). It
//! is refused like any other, and a `NOT_UNDERSTOOD` goes to its mailbox.

use super::{Decision, Desk, Ruling, Verdict};
use crate::effect::{Effect, Refused};
use legation_protocol::Rejection;
use legation_protocol::acl::NotUnderstood;

/// A message that could not be read, of an agent that proved to be its sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Misunderstood {
    /// The agent.
    pub agent: String,
    /// What the message calls itself.
    pub id: String,
    /// SHA-256 of its bytes.
    pub digest: String,
    /// What is wrong with it.
    pub rejection: Rejection,
}

impl Desk<'_> {
    pub(super) fn misunderstood(&self, misunderstood: Misunderstood) -> Decision {
        let Misunderstood { agent, id, digest, rejection } = misunderstood;
        let refused = Refused::of(format!("agent {agent}"), &rejection);
        let refused = Effect::Refused(Refused { digest: Some(digest.clone()), id: Some(id.clone()), ..refused });
        let mut entries = vec![self.entry(refused, None)];
        let has_room = |mailbox: &crate::Mailbox| mailbox.len() < self.policy.mailbox_limit;
        let is_told = self.state.mailboxes.unread().total() < self.policy.unread_limit
            && self.state.mailbox(&agent).is_none_or(has_room);
        let sender = self.state.registry.agent(&agent).filter(|_| is_told);
        if let Some(sender) = sender {
            let mut ruling = Ruling::default();
            ruling.reply(sender, &id, NotUnderstood::from(&rejection));
            self.consequences(self.state.next, Vec::new(), ruling.heard, &mut entries);
        }
        Decision { verdict: Verdict::Refused(rejection.about(digest)), entries }
    }
}
