//! Whether letters that reached nobody go out again.

use super::acknowledge::may_empty;
use super::{Decided, Desk};
use crate::effect::{Effect, Resent};
use crate::rules::vcp;
use crate::who::{PRINCIPALS, Who};
use legation_protocol::{Code, Rejection};

/// How many letters go out again at once.
const MOST: usize = 1000;

impl Desk<'_> {
    pub(super) fn resend(&self, agent: String, positions: &[u64], who: &Who) -> Decided {
        may_empty(&agent, who)?;
        if positions.is_empty() || positions.len() > MOST {
            return Err(Rejection::because(Code::OutOfRange, format!("name 1 to {MOST} positions")).at("/positions"));
        }
        if self.state.registry.agent(&agent).is_none() && !PRINCIPALS.contains(&agent.as_str()) {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent: register it again first"));
        }
        let waiting = self.state.mailbox(&agent).map_or(0, crate::Mailbox::len);
        if waiting + positions.len() > self.policy.mailbox_limit {
            return Err(Rejection::because(Code::MailboxFull, "the mailbox has no room for them"));
        }
        // What is sent again is nobody's new message: only the limit itself counts.
        if self.state.mailboxes.unread().total() + positions.len() as u64 > self.policy.unread_limit {
            return Err(Rejection::because(Code::MailboxFull, "the mailboxes together have no room for them"));
        }
        let mut wanted = positions.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let expires = self.now.plus(self.policy.time_to_live);
        // What was sent to an earlier bearer of the name is not for the one who has it now.
        let since = self.state.registry.agent(&agent).map_or(0, |agent| agent.since);
        let is_for = |message: u64| who.is_operator() || message >= since;
        let again = |routed: u64| {
            let letter =
                self.state.dead.find(routed, &agent).filter(|letter| is_for(letter.message)).ok_or_else(|| {
                    let message = format!("no letter of this agent at position {routed} is in the list");
                    Rejection::because(Code::NotFound, message).at("/positions")
                })?;
            let sender = self.state.registry.since(letter.from);
            sender.map_or(Ok(()), |sender| vcp::may_be_heard(self.state, sender))?;
            if self.state.rules.vlp.sessions.halts(letter.session, letter.message).is_some() {
                let text = format!("the letter at position {routed} is halted, by itself or with what it goes on from");
                return Err(Rejection::because(Code::Halted, text).at("/positions").by("VLP VI.4"));
            }
            let (agent, by) = (agent.clone(), who.to_string());
            Ok(Effect::Resent(Resent { agent, routed, message: letter.message, expires, by, from: letter.from }))
        };
        let effects = wanted.into_iter().map(again).collect::<Result<Vec<_>, Rejection>>()?;
        Ok(self.all(agent, effects))
    }
}
