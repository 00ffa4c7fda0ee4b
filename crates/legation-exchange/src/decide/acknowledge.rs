//! Whether messages may be taken out of a mailbox.

use super::{Decided, Desk};
use crate::effect::{Acked, Effect};
use crate::who::Who;
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn acknowledge(&self, agent: String, up_to: Option<u64>, positions: Vec<u64>, who: &Who) -> Decided {
        if self.state.registry.agent(&agent).is_none() {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
        }
        match who {
            _ if who.is_operator() || who.is_or_speaks_as(&agent) => {}
            Who::Agent(_) | Who::Person { .. } => {
                return Err(Rejection::because(Code::NotAllowed, "this is another agent's mailbox"));
            }
            Who::Nobody => return Err(Rejection::because(Code::Unauthenticated, "a mailbox takes its agent's token")),
        }
        // What lies ahead of the record is nobody's to acknowledge.
        let last = self.state.next.saturating_sub(1);
        let up_to = up_to.map(|position| position.min(last));
        let effect = Effect::Acked(Acked { agent: agent.clone(), up_to, positions });
        Ok(self.accepted(agent, false, effect, None))
    }
}
