//! Laying constraints on an agent, and lifting them (VCP 4.3.3): by its parent in a message, or by an operator.

use super::super::{Change, Place};
use super::laid::{Laid, setter};
use super::lineage;
use crate::agent::Agent;
use crate::erased::Unbound;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::quota::{Resource, check_growth, json_length};
use crate::rules::voice::{name_in, origin};
use crate::rules::{Case, Ruling, passes_quotas};
use crate::state::State;
use crate::who::Who;
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{self, Constraint, ConstraintPropagate, Effective, Envelope, Floor, Mode, Rule};
use legation_protocol::{Code, Format, Message, Rejection};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// Constraints were laid on an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Laying {
    /// On whom.
    pub agent: String,
    /// By whom; an operator without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setter: Option<String>,
    /// When that was said.
    pub made: Place,
    /// How they are taken in.
    pub mode: Mode,
    /// The constraints as they travel.
    pub constraints: Vec<Value>,
}

/// Constraints were lifted from an agent, by an operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lifting {
    /// From whom.
    pub agent: String,
    /// When.
    pub made: Place,
    /// All of these types.
    pub types: BTreeSet<String>,
}

/// What an operator wants.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// For whom.
    pub agent: String,
    /// To lay these.
    pub constraints: Vec<Constraint>,
    /// In this way.
    pub mode: Mode,
    /// After lifting all of these types.
    pub lift: BTreeSet<String>,
}

/// How many constraints may stand on one agent, and how many bytes they may have.
const MOST: usize = 256;
const MOST_BYTES: usize = 256 * 1024;

impl Laying {
    /// Without what lets an agent go on: that stands for nothing afterwards.
    fn new(agent: &Agent, by: Option<&str>, made: Place, how: Mode, constraints: &[Constraint]) -> Laying {
        let standing = constraints.iter().filter(|one| !matches!(one.rule, Rule::Resume(_)));
        let constraints = standing.filter_map(|one| serde_json::to_value(one).ok()).collect();
        Laying { agent: agent.id.clone(), setter: by.map(str::to_owned), made, mode: how, constraints }
    }

    /// The same without values that no rule of ours needs.
    #[must_use]
    pub(crate) fn redacted(&self) -> Laying {
        let blank = |one: &Value| match Constraint::parse(&one.to_string()).map(|known| known.rule) {
            Ok(Rule::Other(_)) => with_value(one, String::new().into()),
            Ok(_) | Err(_) => one.clone(),
        };
        Laying { constraints: self.constraints.iter().map(blank).collect(), ..self.clone() }
    }

    /// Those of which a value went.
    pub(crate) fn unbinds(&self) -> Vec<Unbound> {
        let gone = self.constraints.iter().zip(self.redacted().constraints).filter(|(one, left)| *one != left);
        let kind = |one: &Value| one.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        gone.map(|(one, _)| Unbound { agent: self.agent.clone(), kind: kind(one) }).collect()
    }

    pub(super) fn change(&self) -> Option<vcp::Change> {
        let constraints = self.constraints.iter().filter_map(|one| Constraint::parse(&one.to_string()).ok()).collect();
        Some(vcp::Change {
            setter: setter(self.setter.as_deref())?,
            order: self.made.order()?,
            mode: self.mode,
            constraints,
        })
    }
}

fn with_value(constraint: &Value, value: Value) -> Value {
    let mut constraint = constraint.clone();
    if let Some(own) = constraint.get_mut("value") {
        *own = value;
    }
    constraint
}

/// Takes in what a parent lays on its child.
pub(in crate::rules::vcp) fn look(
    case: &Case<'_>,
    envelope: &Envelope,
    laid: &ConstraintPropagate,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let parent = case.speaker.id();
    let child = case.to.first().and_then(|id| case.state.registry.agent(id));
    let Some(child) = child.filter(|child| case.state.registry.parent(child) == Some(parent)) else {
        let message = "constraints go from a parent to its child, and the recipient is no child of the sender";
        return Err(Rejection::because(Code::WrongDirection, message).at("/recipient").by("VCP 4.3"));
    };
    let made = Place::from(envelope.order());
    let laying = Laying::new(child, Some(parent), made, laid.propagation_mode, &laid.constraints);
    if !passes_quotas(case.received.message()) {
        has_family_room(case, child, &laying)?;
    }
    weigh(case.state, child, laying, ruling)
}

/// Checks the quota of the child's family. Operators, and parents that resume, are not asked.
fn has_family_room(case: &Case<'_>, child: &Agent, laying: &Laying) -> Result<(), Rejection> {
    let more: usize = laying.constraints.iter().map(json_length).sum();
    let family = case.state.registry.quota_family(&child.id);
    check_growth(case.state, case.policy, family, Resource::ConstraintBytes, more as u64)
}

/// Does what an operator wants, and tells the agent.
pub(in crate::rules::vcp) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    wish: &Wish,
    who: &Who,
) -> Result<Ruling, Rejection> {
    if !who.is_operator() {
        return Err(Rejection::because(Code::NotAllowed, "only an operator lays constraints beside messages"));
    }
    let Some(agent) = state.registry.agent(&wish.agent) else {
        return Err(Rejection::because(Code::UnknownAgent, "there is no such agent").at("/agent"));
    };
    if wish.constraints.is_empty() && wish.lift.is_empty() {
        return Err(Rejection::because(Code::SchemaInvalid, "name constraints to lay, or types to lift"));
    }
    if wish.constraints.iter().any(|one| matches!(one.rule, Rule::Resume(_))) {
        let message = "an operator lets an agent go on by resuming it, not by a constraint";
        return Err(Rejection::because(Code::BadConstraint, message).at("/constraints"));
    }
    let mut ruling = Ruling::default();
    let before = state.rules.vcp.constraints.on(&agent.id);
    let made = next_place(state, policy, now, before);
    if !wish.lift.is_empty() {
        let (made, types) = (made.clone(), wish.lift.clone());
        ruling.change(Change::ConstraintsLifted(Lifting { agent: agent.id.clone(), made, types }).into());
    }
    if !wish.constraints.is_empty() {
        // What is lifted and laid at once is laid after.
        let made = Place { nanos: made.nanos.saturating_add(1), ..made };
        weigh(state, agent, Laying::new(agent, None, made, wish.mode, &wish.constraints), &mut ruling)?;
    }
    tell(policy, agent, wish, &mut ruling);
    Ok(ruling)
}

/// An operator's word comes after everything that was laid before, whatever its sender's clock said.
fn next_place(state: &State, policy: &Policy, now: Moment, before: Option<&Laid>) -> Place {
    let id = origin(policy, now, state.next).map(|origin| origin.message_id.to_string()).unwrap_or_default();
    let nanos = i64::try_from(now.micros()).unwrap_or(i64::MAX).saturating_mul(1000);
    let last = before.and_then(Laid::last).map_or(0, |last| Place::from(last).nanos.saturating_add(1));
    Place { nanos: nanos.max(last), id }
}

/// The agent hears of it as it would from a parent, if it can.
fn tell(policy: &Policy, agent: &Agent, wish: &Wish, ruling: &mut Ruling) {
    let speaks = agent.dialects.is_empty() || agent.dialects.contains(&Format::Vcp);
    let name = AgentId::vcp(name_in(agent, Format::Vcp)).ok().filter(|_| speaks);
    if let Some(name) = name.filter(|_| !wish.constraints.is_empty()) {
        let payload = ConstraintPropagate { constraints: wish.constraints.clone(), propagation_mode: wish.mode };
        ruling.say(agent.id.clone(), move |origin| Some(Message::Vcp(Box::new(Envelope::to(name, origin, payload)))));
    } else if !wish.constraints.is_empty() {
        let names: BTreeSet<_> = wish.constraints.iter().map(|one| one.rule.name()).collect();
        let text =
            format!("An operator laid constraints on you: {}.", names.into_iter().collect::<Vec<_>>().join(", "));
        ruling.tell(policy, agent, "constraints_laid", text);
    }
    if !wish.lift.is_empty() {
        let names = wish.lift.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        ruling.tell(policy, agent, "constraints_lifted", format!("An operator lifted constraints from you: {names}."));
    }
}

/// Whether constraints may be laid, and what stands beside them.
fn weigh(state: &State, agent: &Agent, laying: Laying, ruling: &mut Ruling) -> Result<(), Rejection> {
    let Some(change) = laying.change().filter(|change| !change.constraints.is_empty()) else { return Ok(()) };
    let kept = &state.rules.vcp.constraints;
    let mut rules = kept.on(&agent.id).map(|laid| laid.rules().clone()).unwrap_or_default();
    rules.check(&change, &above(state, agent)).map_err(|weakening| {
        Rejection::because(Code::ConstraintWeakening, weakening.to_string()).at("/payload/constraints").by("VCP 4.3.3")
    })?;
    for name in rules.apply(&change) {
        let says = format!("a newer override of {name} is in force, and this one changes nothing");
        ruling.find("constraints", "override_late", says);
    }
    let size = |one: &Constraint| serde_json::to_vec(one).map_or(0, |text| text.len());
    let (count, bytes) = rules.standing().fold((0, 0), |(count, bytes), (_, one)| (count + 1, bytes + size(one)));
    if count > MOST || bytes > MOST_BYTES {
        let message = format!("at most {MOST} constraints of {MOST_BYTES} bytes stand on one agent: override some");
        return Err(Rejection::because(Code::OutOfRange, message).at("/payload/constraints"));
    }
    let unknown = change.constraints.iter().map(|one| &one.rule).filter(|rule| !is_enforced(rule));
    for name in unknown.map(Rule::name).collect::<BTreeSet<_>>() {
        let says = format!("{name} is delivered and shown, and the exchange does not enforce it");
        ruling.find("constraints", "not_enforced", says);
    }
    ruling.change(Change::ConstraintsLaid(laying).into());
    Ok(())
}

/// What binds an agent through everyone above it.
fn above(state: &State, agent: &Agent) -> Effective {
    let kept = &state.rules.vcp.constraints;
    let laid = lineage(&state.registry, agent).filter(|above| above.id != agent.id).filter_map(|one| kept.on(&one.id));
    laid.fold(Effective::default(), |sum, laid| sum.and(&laid.rules().effective()))
}

/// Whether the exchange holds messages against rules like this one.
pub(super) fn is_enforced(rule: &Rule) -> bool {
    match rule {
        Rule::TopicBlock(_)
        | Rule::TokenLimit(_)
        | Rule::AudienceRestrict(_)
        | Rule::Resume(_)
        | Rule::SafetyFloor(Floor::Level(_)) => true,
        // Numbers are on a scale that only the agents know.
        Rule::SafetyFloor(Floor::Number(_)) | Rule::Other(_) => false,
    }
}
