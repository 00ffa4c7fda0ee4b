//! Whether messages may be taken out of a mailbox.

use super::{Decided, Decision, Desk, Verdict};
use crate::effect::{Acked, Effect};
use crate::rules::cap;
use crate::who::{PRINCIPALS, Who};
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn acknowledge(&self, agent: String, up_to: Option<u64>, positions: Vec<u64>, who: &Who) -> Decided {
        self.must_have_mailbox(&agent)?;
        may_empty(&agent, who)?;
        // Whoever has seen more than the record has, has seen another record.
        if let Some(ahead) = up_to.iter().chain(&positions).find(|position| **position >= self.state.next) {
            let message = format!("the record has not come to position {ahead}");
            return Err(Rejection::because(Code::AheadOfRecord, message));
        }
        // What is out already is out: nothing happened that the record had to tell.
        let mailbox = self.state.mailboxes.get(&agent);
        let waits = mailbox.is_some_and(|mailbox| mailbox.has_any(up_to, &positions));
        if !waits && !self.state.was_shown(&agent, up_to, &positions) {
            let position = self.state.next.saturating_sub(1);
            let verdict = Verdict::Accepted { position, id: agent, new: false, details: None };
            return Ok(Decision { verdict, entries: Vec::new() });
        }
        let effect = Effect::Acked(Acked { agent: agent.clone(), up_to, positions });
        Ok(self.accepted(agent, false, effect, None))
    }

    pub(super) fn purge(&self, agent: String, up_to: Option<u64>, who: &Who) -> Decided {
        if !who.is_operator() {
            return Err(Rejection::because(Code::NotAllowed, "only an operator empties a mailbox unread"));
        }
        self.must_have_mailbox(&agent)?;
        let last = self.state.next.saturating_sub(1);
        let up_to = up_to.map_or(last, |position| position.min(last));
        let items = self.state.mailbox(&agent).into_iter().flat_map(|mailbox| mailbox.after(None));
        let tasks = cap::undelivered_tasks(self.state, &agent, items.take_while(|item| item.position <= up_to));
        let effect = Effect::Purged { agent: agent.clone(), up_to, by: who.to_string(), tasks };
        Ok(self.accepted(agent, false, effect, None))
    }

    fn must_have_mailbox(&self, agent: &str) -> Result<(), Rejection> {
        if self.state.registry.agent(agent).is_some() || PRINCIPALS.contains(&agent) {
            return Ok(());
        }
        Err(Rejection::because(Code::UnknownAgent, "there is no such agent"))
    }
}

/// Taking messages out is for whoever they are for, and for operators.
pub(super) fn may_empty(agent: &str, who: &Who) -> Result<(), Rejection> {
    match who {
        _ if who.is_operator() || who.is_or_speaks_as(agent) => Ok(()),
        Who::Agent(_) | Who::Person { .. } => {
            Err(Rejection::because(Code::NotAllowed, "this is another agent's mailbox"))
        }
        Who::Nobody => Err(Rejection::because(Code::Unauthenticated, "a mailbox takes its agent's token")),
    }
}
