//! Quotas per agent and per quota family: the limits, the resources they count, and the rejection of more.

mod changes;
mod usage;

pub(crate) use changes::{Uncounted, UsageChanges};
pub(crate) use usage::{Departures, QuotaUsage};

use crate::agent::Agent;
use crate::policy::Policy;
use crate::registry::QuotaFamily;
use crate::state::State;
use legation_protocol::{Code, Rejection};
use serde::Serialize;
use std::fmt;

/// Limits that no family gets around by spawning children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotas {
    /// Agents directly below one agent, its instances among them.
    pub children: u64,
    /// Bytes of one agent's registration.
    pub registration_bytes: u64,
    /// Limits of one family.
    pub family: FamilyQuotas,
    /// Agents in all families whose roots were registered by unauthenticated clients.
    pub stranger_agents: u64,
    /// Bytes of their registrations.
    pub stranger_registration_bytes: u64,
    /// Recipients of one message.
    pub fan_out: usize,
}

/// Limits of one quota family: a root and everything below it, or all agents that unauthenticated clients at one
/// source address registered, with everything below those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyQuotas {
    /// Agents, and so mailboxes.
    pub agents: u64,
    /// Bytes of their registrations.
    pub registration_bytes: u64,
    /// Messages that wait for a person or an overseer.
    pub held: u64,
    /// Open tasks they handed over.
    pub tasks: u64,
    /// Open conversations they opened.
    pub conversations: u64,
    /// Sessions they own that are neither closed nor halted.
    pub sessions: u64,
    /// Sessions they halted.
    pub halts: u64,
    /// Deliberations they proposed that are not decided.
    pub deliberations: u64,
    /// Identity tokens they asked for that have not expired.
    pub identity_tokens: u64,
    /// Bytes of constraints attached to them.
    pub constraint_bytes: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Quotas {
            children: 1000,
            registration_bytes: 512 << 10,
            family: FamilyQuotas::default(),
            stranger_agents: 50_000,
            stranger_registration_bytes: 128 << 20,
            fan_out: 10_000,
        }
    }
}

impl Default for FamilyQuotas {
    fn default() -> Self {
        FamilyQuotas {
            agents: 10_000,
            registration_bytes: 32 << 20,
            held: 5000,
            tasks: 10_000,
            conversations: 50_000,
            sessions: 20_000,
            halts: 512,
            deliberations: 200,
            identity_tokens: 8192,
            constraint_bytes: 16 << 20,
        }
    }
}

impl Quotas {
    /// No limit: for measurements.
    pub const UNLIMITED: Quotas = Quotas {
        children: u64::MAX,
        registration_bytes: u64::MAX,
        family: FamilyQuotas {
            agents: u64::MAX,
            registration_bytes: u64::MAX,
            held: u64::MAX,
            tasks: u64::MAX,
            conversations: u64::MAX,
            sessions: u64::MAX,
            halts: u64::MAX,
            deliberations: u64::MAX,
            identity_tokens: u64::MAX,
            constraint_bytes: u64::MAX,
        },
        stranger_agents: u64::MAX,
        stranger_registration_bytes: u64::MAX,
        fan_out: usize::MAX,
    };
}

impl FamilyQuotas {
    /// The limit of a resource.
    pub const fn of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Agents => self.agents,
            Resource::RegistrationBytes => self.registration_bytes,
            Resource::HeldMessages => self.held,
            Resource::Tasks => self.tasks,
            Resource::Conversations => self.conversations,
            Resource::Sessions => self.sessions,
            Resource::Halts => self.halts,
            Resource::Deliberations => self.deliberations,
            Resource::IdentityTokens => self.identity_tokens,
            Resource::ConstraintBytes => self.constraint_bytes,
        }
    }
}

/// A resource that is counted per agent and per family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Registered agents, each with a mailbox.
    Agents,
    /// Bytes of registrations.
    RegistrationBytes,
    /// Messages that wait for a person or an overseer.
    HeldMessages,
    /// Open tasks, counted for whoever handed them over.
    Tasks,
    /// Open conversations, counted for whoever opened them.
    Conversations,
    /// Sessions that are neither closed nor halted, counted for their owner.
    Sessions,
    /// Halted sessions, counted for whoever halted them.
    Halts,
    /// Deliberations that are not decided, counted for whoever proposed them.
    Deliberations,
    /// Identity tokens that have not expired, counted for the agent that asked for them.
    IdentityTokens,
    /// Bytes of constraints, counted for the agent they are attached to.
    ConstraintBytes,
}

impl Resource {
    /// All of them, in the order of their declaration.
    pub const ALL: [Resource; 10] = [
        Resource::Agents,
        Resource::RegistrationBytes,
        Resource::HeldMessages,
        Resource::Tasks,
        Resource::Conversations,
        Resource::Sessions,
        Resource::Halts,
        Resource::Deliberations,
        Resource::IdentityTokens,
        Resource::ConstraintBytes,
    ];

    /// The resource in words, and the key of `[limits]` that bounds it.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Resource::Agents => ("agents", "agents_per_family"),
            Resource::RegistrationBytes => ("bytes of registrations", "registration_per_family"),
            Resource::HeldMessages => ("held messages", "held_messages_per_family"),
            Resource::Tasks => ("open tasks", "tasks_per_family"),
            Resource::Conversations => ("open conversations", "conversations_per_family"),
            Resource::Sessions => ("open sessions", "sessions_per_family"),
            Resource::Halts => ("halted sessions", "halted_sessions_per_family"),
            Resource::Deliberations => ("open deliberations", "deliberations_per_family"),
            Resource::IdentityTokens => ("identity tokens", "identity_tokens_per_family"),
            Resource::ConstraintBytes => ("bytes of constraints", "constraints_per_family"),
        }
    }
}

impl fmt::Display for QuotaFamily<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuotaFamily::Root(root) => write!(f, "the family of {root:?}"),
            QuotaFamily::Source(source) => write!(f, "the family of agents registered without a token from {source}"),
        }
    }
}

/// A rejection of more than a quota: names whose quota it is, how much of what there is, and the key that sets it.
pub(crate) fn exceeded(whose: impl fmt::Display, things: &str, most: u64, key: &str) -> Rejection {
    let message = format!("{whose} has {most} {things} at most, and this would be more (`[limits] {key}`)");
    Rejection::because(Code::QuotaExceeded, message)
}

/// Checks that an agent's family may have one more of a resource.
pub(crate) fn check_family(state: &State, policy: &Policy, agent: &str, resource: Resource) -> Result<(), Rejection> {
    let Some(family) = state.quotas.family_of(&state.registry, agent) else { return Ok(()) };
    check_growth(state, policy, family, resource, 1)
}

/// Checks that the family of an agent that shows its token may have one more of a resource. The agent may have been
/// removed since the token was looked up: nothing would be counted then.
pub(crate) fn check_known_family(
    state: &State,
    policy: &Policy,
    agent: &str,
    resource: Resource,
) -> Result<(), Rejection> {
    if state.registry.agent(agent).is_none() {
        return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
    }
    check_family(state, policy, agent, resource)
}

/// Whether two agents share their quotas.
pub(crate) fn same_family(state: &State, one: &str, other: &str) -> bool {
    let family = |id| state.quotas.family_of(&state.registry, id);
    family(one).is_some_and(|family_of_one| family(other) == Some(family_of_one))
}

/// Checks that a family may have so much more of a resource.
pub(crate) fn check_growth(
    state: &State,
    policy: &Policy,
    family: QuotaFamily<'_>,
    resource: Resource,
    more: u64,
) -> Result<(), Rejection> {
    let most = policy.quotas.family.of(resource);
    if state.quotas.of_family(family, resource).saturating_add(more) <= most {
        return Ok(());
    }
    let (things, key) = resource.words();
    Err(exceeded(family, things, most, key))
}

/// The size of a registration: everything in it that its author chooses the length of, as JSON. Keys and tokens have
/// bounds of their own and do not count.
pub(crate) fn registration_bytes(agent: &Agent) -> u64 {
    let texts = [&agent.groups, &agent.ontologies, &agent.languages, &agent.purposes].into_iter().flatten();
    let texts = texts.chain(&agent.model).chain(&agent.environment).chain(agent.aliases.values());
    let texts: usize = texts.map(String::len).sum();
    let push = agent.push.as_ref().map_or(0, json_length);
    let values = agent.capabilities.iter().chain(&agent.manifest).map(json_length).sum::<usize>();
    (agent.id.len() + texts + push + values + json_length(&agent.scanned)) as u64
}

/// The length of a value as JSON.
pub(crate) fn json_length(value: &(impl Serialize + ?Sized)) -> usize {
    // Plain data always has a JSON form.
    serde_json::to_vec(value).map_or(0, |json| json.len())
}
