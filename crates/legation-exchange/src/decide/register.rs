//! Who may be registered, by whom.

use super::{Decided, Desk};
use crate::agent::{Agent, Registration, TokenHash};
use crate::effect::Effect;
use crate::who::Who;
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn register(&self, id: String, wanted: Registration, who: &Who, token: TokenHash) -> Decided {
        let old = self.state.registry.agent(&id);
        self.may_register(&id, old, &wanted, who)?;
        let new = old.is_none();
        let blank = Agent { id: id.clone(), token: Some(token), ..Agent::default() };
        let agent = wanted.onto(old.cloned().unwrap_or(blank))?;
        self.state.registry.check(&agent)?;
        let effect = Effect::Registered { agent: Box::new(agent), by: who.to_string() };
        Ok(self.accepted(id, new, effect, None))
    }

    fn may_register(&self, id: &str, old: Option<&Agent>, wanted: &Registration, who: &Who) -> Result<(), Rejection> {
        let own_child = |by: &str| wanted.parent.as_deref() == Some(by);
        match (who, old) {
            _ if who.is_operator() => Ok(()),
            (Who::Agent(by), Some(_)) if by == id => self.may_change_itself(wanted),
            (Who::Agent(by), None) if own_child(by) => Ok(()),
            (_, None) if self.policy.open_registration && wanted.parent.is_none() => Ok(()),
            (Who::Nobody, None) => {
                Err(Rejection::because(Code::Unauthenticated, "registering here takes the operator's token"))
            }
            (Who::Nobody, Some(_)) => Err(Rejection::because(Code::AgentExists, "an agent has this id already")),
            (Who::Agent(_), _) => {
                Err(Rejection::because(Code::NotAllowed, "an agent registers itself and its children"))
            }
            (Who::Person { .. }, _) => Err(Rejection::because(Code::NotAllowed, "this takes an operator's token")),
        }
    }

    /// An agent may not change what others decide about it.
    #[expect(clippy::unused_self, reason = "a question to the desk like the others")]
    fn may_change_itself(&self, wanted: &Registration) -> Result<(), Rejection> {
        let others = [
            ("/parent", wanted.parent.is_some()),
            ("/groups", wanted.groups.is_some()),
            ("/keys", wanted.keys.is_some()),
            ("/manifest", wanted.manifest.is_some()),
        ];
        match others.iter().find(|(_, set)| *set) {
            None => Ok(()),
            Some((at, _)) => Err(Rejection::because(Code::NotAllowed, "only an operator changes this").at(*at)),
        }
    }

    pub(super) fn remove(&self, id: String, who: &Who) -> Decided {
        if !who.is_operator() {
            return Err(Rejection::because(Code::NotAllowed, "only an operator removes agents"));
        }
        if self.state.registry.agent(&id).is_none() {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
        }
        let effect = Effect::Removed { agent: id.clone(), by: who.to_string() };
        Ok(self.accepted(id, false, effect, None))
    }
}
