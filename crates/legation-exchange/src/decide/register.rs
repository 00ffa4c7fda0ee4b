//! Who may be registered, by whom.

use super::key_binding::KeyProof;
use super::{Decided, Desk};
use crate::agent::Agent;
use crate::effect::Effect;
use crate::key::{Custody, Key};
use crate::push::Pushing;
use crate::registration::Registration;
use crate::rules::vcp;
use crate::token::{TokenHash, Tokens};
use crate::who::Who;
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn register(&self, id: String, wanted: Registration, who: &Who, token: TokenHash) -> Decided {
        let old = self.state.registry.agent(&id);
        self.may_register(&id, old, &wanted, who)?;
        if wanted.only_new && old.is_some() {
            let message = "an agent has this id already, and nothing of it was changed";
            return Err(Rejection::because(Code::AgentExists, message));
        }
        match (old, who) {
            (None, Who::Agent(by)) => vcp::may_act(self.state, by)?,
            (Some(old), Who::Agent(_)) if wanted.is_more_than_keys() => vcp::may_be_heard(self.state, old)?,
            (None, Who::Person { .. } | Who::Nobody) => vcp::check_newcomer(self.state, who)?,
            (Some(_), _) => {}
        }
        let new = old.is_none();
        if new && !who.is_operator() && self.state.registry.len() >= self.policy.agents_limit {
            return Err(Rejection::because(Code::Busy, "there are as many agents as this exchange may have"));
        }
        let (rotate, pushes) = (wanted.rotate_token, matches!(wanted.push, Pushing::To(_)));
        let names_aliases = wanted.aliases.is_some();
        let blank = Agent {
            id: id.clone(),
            since: self.state.next,
            registered_from: Desk::registered_from(who, wanted.source.as_ref()),
            tokens: Tokens::first(token),
            ..Agent::default()
        };
        self.check_owners(&id, &wanted)?;
        let proofs = KeyProof::of(&wanted);
        let mut agent = wanted.onto(old.cloned().unwrap_or(blank))?;
        self.bind_keys(old, &mut agent, &proofs)?;
        if agent.manifest.as_ref() != old.and_then(|old| old.manifest.as_ref()) {
            agent.manifest_version += 1;
        }
        if rotate && !new {
            agent.tokens = agent.tokens.rotated(token);
        }
        if let (true, Who::Agent(by)) = (new, who) {
            self.limit_keys(&mut agent.keys);
            agent.parent.get_or_insert_with(|| by.clone());
        }
        agent.own_aliases = self.own_aliases(old, &agent, names_aliases, who);
        self.state.registry.check_names(&agent)?;
        self.admit_names(old, &agent, who)?;
        self.state.registry.check_place(&agent)?;
        self.check_registration_quotas(old, &agent, who)?;
        if let Some(name) = agent.names().find(|name| self.policy.looks_like_exchange(name)) {
            return Err(Rejection::because(
                Code::ReservedId,
                format!("{name:?} is, or looks like, the exchange's own name"),
            ));
        }
        let effect = Effect::Registered { agent: Box::new(agent), by: who.to_string() };
        match self.goes_again(&id).filter(|_| pushes) {
            Some(again) => Ok(self.all(id, vec![effect, again])),
            None => Ok(self.accepted(id, new, effect, None)),
        }
    }

    fn may_register(&self, id: &str, old: Option<&Agent>, wanted: &Registration, who: &Who) -> Result<(), Rejection> {
        let own = |by: &str| {
            wanted.parent.value().is_some_and(|parent| parent == by) || wanted.instance_of.as_deref() == Some(by)
        };
        let alone = wanted.parent.value().is_none() && wanted.instance_of.is_none();
        match (who, old) {
            _ if who.is_operator() => Ok(()),
            (Who::Person { .. }, _) => Err(Rejection::because(Code::NotAllowed, "this takes an operator's token")),
            (Who::Agent(by), Some(old)) if by == id => may_change_itself(old, wanted),
            (Who::Agent(by), None) if own(by) => self.may_spawn(by, wanted),
            (_, None) if self.policy.open_registration && alone => may_come_in(wanted),
            // Where not everybody registers, a stranger does not learn who has.
            (Who::Nobody, Some(_)) if self.policy.open_registration => {
                Err(Rejection::because(Code::AgentExists, "an agent has this id already"))
            }
            (Who::Nobody, _) => {
                Err(Rejection::because(Code::Unauthenticated, "registering here takes the operator's token"))
            }
            (Who::Agent(_), _) => {
                Err(Rejection::because(Code::NotAllowed, "an agent registers itself, its children and its instances"))
            }
        }
    }

    /// What an agent gives to one below it: its own groups at most, and no manifest.
    fn may_spawn(&self, by: &str, wanted: &Registration) -> Result<(), Rejection> {
        let refuse = |message: &'static str, at: &str| Err(Rejection::because(Code::NotAllowed, message).at(at));
        let mine = self.state.registry.agent(by);
        let within = |groups: &std::collections::BTreeSet<String>| mine.is_some_and(|m| groups.is_subset(&m.groups));
        if !wanted.groups.as_ref().is_none_or(within) {
            return refuse("an agent gives its own groups to those below it, and no others", "/groups");
        }
        if wanted.push != Pushing::Unsaid {
            return refuse("an agent says itself where its messages are brought to, or an operator does", "/push");
        }
        if wanted.instance_of.as_deref().is_some_and(|base| base != by) {
            return refuse("an agent makes instances of itself alone", "/instance_of");
        }
        if wanted.parent.is_said() && wanted.parent.value().is_none_or(|parent| parent != by) {
            return refuse("an agent's instance stands below it, or where an operator puts it", "/parent");
        }
        if wanted.manifest.is_some() && !self.policy.open_registration {
            return refuse("only an operator writes manifests", "/manifest");
        }
        Ok(())
    }

    /// A key that an agent gave does not count for ever.
    fn limit_keys(&self, keys: &mut [Key]) {
        let end = self.now.plus(self.policy.child_key_life);
        for key in keys {
            key.not_after = Some(key.not_after.map_or(end, |given| given.min(end)));
        }
    }
}

/// Groups are an operator's: who is in one hears what is said to it.
fn may_come_in(wanted: &Registration) -> Result<(), Rejection> {
    if wanted.groups.as_ref().is_some_and(|groups| !groups.is_empty()) {
        return Err(Rejection::because(Code::NotAllowed, "only an operator puts agents into groups").at("/groups"));
    }
    Ok(())
}

/// An agent may not change what others decide about it.
fn may_change_itself(old: &Agent, wanted: &Registration) -> Result<(), Rejection> {
    // A token alone does not bring a key in where there has been one.
    let entrusts = wanted.custody == Some(Custody::Exchange) && !old.keys.is_empty();
    let others = [
        ("/parent", wanted.parent.is_said()),
        ("/instance_of", wanted.instance_of.is_some()),
        ("/groups", wanted.groups.is_some()),
        ("/keys", wanted.keys.is_some()),
        ("/custody", entrusts),
        ("/manifest", wanted.manifest.is_some()),
    ];
    match others.iter().find(|(_, set)| *set) {
        None => Ok(()),
        Some((at, _)) => Err(Rejection::because(Code::NotAllowed, "only an operator changes this").at(*at)),
    }
}
