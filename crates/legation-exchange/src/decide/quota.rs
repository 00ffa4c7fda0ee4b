//! Quotas of registrations: of one agent, of its family, and of all that unauthenticated clients registered.

use super::Desk;
use crate::agent::Agent;
use crate::quota::{Resource, check_growth, exceeded, registration_bytes};
use crate::registry::QuotaFamily;
use crate::who::Who;
use legation_protocol::{Message, Rejection};

/// The source of unauthenticated registrations whose address is not known.
const UNKNOWN_SOURCE: &str = "an unknown address";

impl Desk<'_> {
    /// The source address that a new agent counts for: strangers' roots are counted by where they came from, and
    /// whoever proves who they are, by their own tree.
    pub(super) fn registered_from(who: &Who, source: Option<&String>) -> Option<String> {
        match who {
            Who::Nobody => Some(source.map_or(UNKNOWN_SOURCE, String::as_str).to_owned()),
            Who::Agent(_) | Who::Person { .. } => None,
        }
    }

    /// Checks the quotas that a registration counts for. Operators register as many agents as they like; what is
    /// already there may always stay as large as it is.
    pub(super) fn check_registration_quotas(
        &self,
        old: Option<&Agent>,
        agent: &Agent,
        who: &Who,
    ) -> Result<(), Rejection> {
        let family = self.registration_family(old, agent);
        if old.is_none() && !who.is_operator() {
            self.check_children(agent)?;
            check_growth(self.state, self.policy, family, Resource::Agents, 1)?;
            self.check_strangers(family, Resource::Agents, 1)?;
        }
        let (before, after) =
            (self.state.quotas.of_agent(&agent.id, Resource::RegistrationBytes), registration_bytes(agent));
        let Some(growth) = after.checked_sub(before).filter(|growth| *growth > 0) else { return Ok(()) };
        let most = self.policy.quotas.registration_bytes;
        if after > most {
            let whose = format!("the agent {:?}", agent.id);
            return Err(exceeded(whose, "bytes of registration", most, "registration_per_agent"));
        }
        check_growth(self.state, self.policy, family, Resource::RegistrationBytes, growth)?;
        self.check_strangers(family, Resource::RegistrationBytes, growth)
    }

    /// The family that a registration counts for: the one the agent is in, or will be.
    fn registration_family<'d>(&'d self, old: Option<&'d Agent>, agent: &'d Agent) -> QuotaFamily<'d> {
        let superior = agent.parent.as_deref().or(agent.instance_of.as_deref());
        match (old, superior, &agent.registered_from) {
            (Some(old), _, _) => self.state.registry.quota_family(&old.id),
            (None, Some(superior), _) => self.state.registry.quota_family(superior),
            (None, None, Some(source)) => QuotaFamily::Source(source),
            (None, None, None) => QuotaFamily::Root(&agent.id),
        }
    }

    fn check_children(&self, agent: &Agent) -> Result<(), Rejection> {
        let Some(superior) = agent.parent.as_deref().or(agent.instance_of.as_deref()) else { return Ok(()) };
        let most = self.policy.quotas.children;
        if self.state.quotas.children_of(superior) < most {
            return Ok(());
        }
        Err(exceeded(format!("the agent {superior:?}"), "children and instances", most, "children_per_agent"))
    }

    fn check_strangers(&self, family: QuotaFamily<'_>, resource: Resource, more: u64) -> Result<(), Rejection> {
        let quotas = &self.policy.quotas;
        let (most, things, key) = match (family, resource) {
            (QuotaFamily::Source(_), Resource::Agents) => (quotas.stranger_agents, "agents", "stranger_agents"),
            (QuotaFamily::Source(_), Resource::RegistrationBytes) => {
                (quotas.stranger_registration_bytes, "bytes of registrations", "stranger_registration")
            }
            (QuotaFamily::Source(_) | QuotaFamily::Root(_), _) => return Ok(()),
        };
        if self.state.quotas.of_strangers(resource).saturating_add(more) <= most {
            return Ok(());
        }
        Err(exceeded("everybody together who registers without a token", things, most, key))
    }

    /// Checks how many recipients a message has. Messages that pass every quota pass this one.
    pub(super) fn check_fan_out(&self, recipients: usize, message: &Message) -> Result<(), Rejection> {
        let most = self.policy.quotas.fan_out;
        if recipients <= most || crate::rules::passes_quotas(message) {
            return Ok(());
        }
        let text =
            format!("a message goes to {most} recipients at most, and this would go to more (`[limits] fan_out`)");
        Err(Rejection::because(legation_protocol::Code::TooManyRecipients, text))
    }
}
