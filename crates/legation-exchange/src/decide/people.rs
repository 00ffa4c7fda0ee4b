//! Who gets a token of their own, and that a new token has taken over from the old.

use super::{Decided, Decision, Desk, Verdict};
use crate::effect::Effect;
use crate::person::Person;
use crate::registry::look;
use crate::token::{TokenHash, Tokens};
use crate::who::{OPERATOR, Role, Who};
use legation_protocol::id::{AgentId, is_reserved};
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    /// A name that is there gets another token, and the role said.
    pub(super) fn grant(&self, name: String, role: Role, who: &Who, token: TokenHash) -> Decided {
        must_be_operator(who)?;
        AgentId::named(&name).map_err(|error| Rejection::because(Code::SchemaInvalid, error.to_string()))?;
        let plain = name.to_lowercase();
        let is_role = Role::ALL.iter().any(|role| role.as_str() == plain);
        if is_role
            || is_reserved(&plain)
            || is_reserved(&look(&name))
            || matches!(plain.as_str(), "nobody" | "in process")
            || plain.starts_with("agent ")
        {
            return Err(Rejection::because(Code::ReservedId, "this name would be taken for somebody else's"));
        }
        if name == OPERATOR {
            return Err(Rejection::because(Code::ReservedId, "this is the name of the data directory's own token"));
        }
        let before = self.state.people.named(&name);
        let new = before.is_none();
        if new {
            self.admit_person(&name)?;
        }
        let tokens = before.map_or_else(|| Tokens::first(token), |before| before.tokens.rotated(token));
        let effect = Effect::Granted { person: Person { name: name.clone(), role, tokens }, by: who.to_string() };
        Ok(self.accepted(name, new, effect, None))
    }

    pub(super) fn withdraw(&self, name: String, who: &Who) -> Decided {
        must_be_operator(who)?;
        if self.state.people.named(&name).is_none() {
            return Err(Rejection::because(Code::NotFound, "nobody of this name has a token"));
        }
        let effect = Effect::Withdrawn { person: name.clone(), by: who.to_string() };
        Ok(self.accepted(name, false, effect, None))
    }

    /// Nothing where it is confirmed already, or gone.
    pub(super) fn confirm(&self, token: TokenHash) -> Decision {
        let agent = self.state.registry.holder(&token).filter(|agent| agent.tokens.next == Some(token));
        let person = self.state.people.holder(&token).filter(|person| person.tokens.next == Some(token));
        if agent.is_none() && person.is_none() {
            let verdict = Verdict::Accepted { position: self.state.next, id: String::new(), new: false, details: None };
            return Decision { verdict, entries: Vec::new() };
        }
        let (agent, person) = (agent.map(|agent| agent.id.clone()), person.map(|person| person.name.clone()));
        self.noted(Effect::Confirmed { agent, person })
    }
}

pub(super) fn must_be_operator(who: &Who) -> Result<(), Rejection> {
    match who {
        _ if who.is_operator() => Ok(()),
        Who::Nobody => Err(Rejection::because(Code::Unauthenticated, "this takes an operator's token")),
        Who::Agent(_) | Who::Person { .. } => {
            Err(Rejection::because(Code::NotAllowed, "this takes an operator's token"))
        }
    }
}
