//! Holding messages of every dialect against the constraints their sender is under. Escalations, their
//! acknowledgements and resumes are never stopped.

use super::content::{Content, Words};
use super::laid::{Laid, Standing};
use super::lineage;
use super::topics::{self, plain};
use crate::agent::Agent;
use crate::rules::hold::{Lifter, Reason};
use crate::rules::{Case, Ruling, translate};
use crate::state::State;
use legation_protocol::vcp::{Floor, Mode, Payload, Rule, Setter};
use legation_protocol::vlp::Level;
use legation_protocol::{Code, Message, Rejection};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Refuses a message that breaks a constraint; raises one to the least level it may have.
pub(in crate::rules::vcp) fn enforce(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    let kept = &case.state.rules.vcp.constraints;
    let Some(sender) = case.speaker.agent().filter(|_| !kept.on.is_empty()) else { return Ok(()) };
    let message = case.received.message();
    if is_free(message) {
        return Ok(());
    }
    let content = Content::of(case.received);
    let to = ruling.instead.as_deref().unwrap_or(case.to);
    // What the exchange is told for somebody is told to them.
    let hearer = if to.is_empty() { translate::hearer(case) } else { None };
    let hearer = hearer.map(str::to_owned);
    let to = hearer.as_ref().map_or(to, std::slice::from_ref);
    // Whom it may address takes no parent the means to bind its child.
    let to = if binds_child(message) { &[] } else { to };
    keeps_to(case.state, sender, &content, to)?;
    match message {
        Message::Vlp(_) => hold_to_floor(case, ruling),
        Message::Vcp(_) | Message::Acl(_) | Message::Cap(_) => Ok(()),
    }
}

/// Refuses what an agent tells others otherwise than by a message, if it breaks a constraint.
pub(crate) fn may_tell(state: &State, agent: &str, words: &Words<'_>) -> Result<(), Rejection> {
    let agent = state.registry.agent(agent).filter(|_| !words.to.is_empty());
    agent.map_or(Ok(()), |agent| keeps_to(state, agent, &Content::told(words), &words.to))
}

/// Refuses arguments of a tool that an agent hands over, if they break a constraint. They count as content does that no
/// spec defines. A tool is nobody's audience: which of them an agent may use, its bindings and grants say.
pub(crate) fn may_hand(state: &State, agent: &Agent, arguments: &[u8]) -> Result<(), Rejection> {
    if state.rules.vcp.constraints.on.is_empty() {
        return Ok(());
    }
    let arguments: Map<String, Value> = serde_json::from_slice(arguments).unwrap_or_default();
    let said = |(name, value): (&String, &Value)| match value {
        Value::String(text) => [name.clone(), text.clone()],
        other => [name.clone(), other.to_string()],
    };
    let texts: Vec<_> = arguments.iter().flat_map(said).collect();
    let topics = topics::within(&arguments);
    let (texts, topics) = (texts.iter().map(String::as_str), topics.iter().map(String::as_str));
    let words = Words { to: Vec::new(), texts: texts.collect(), topics: topics.collect() };
    keeps_to(state, agent, &Content::told(&words), &words.to)
}

/// Refuses what breaks a constraint that an agent is under.
fn keeps_to(state: &State, agent: &Agent, content: &Content<'_>, to: &[String]) -> Result<(), Rejection> {
    let kept = &state.rules.vcp.constraints;
    for above in lineage(&state.registry, agent) {
        let Some(laid) = kept.on(&above.id) else { continue };
        check(state, content, to, laid).map_or(Ok(()), |broken| Err(broken.rejection(above, agent)))?;
    }
    Ok(())
}

/// Raises what its sender says in VLP, or has said in VLP, to the least level it may have.
pub(in crate::rules) fn hold_to_floor(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    let Some(sender) = case.speaker.agent() else { return Ok(()) };
    let kept = &case.state.rules.vcp.constraints;
    let floors = lineage(&case.state.registry, sender).filter_map(|above| {
        let laid = kept.on(&above.id)?;
        Some((laid.bound.floor?, above, laid))
    });
    // The first of the highest: the nearest.
    let highest = floors.reduce(|highest, floor| if highest.0 < floor.0 { floor } else { highest });
    let Some((level, above, laid)) = highest else { return Ok(()) };
    let rule = find(laid, |rule| *rule == Rule::SafetyFloor(Floor::Level(level)));
    let broken = Broken { what: format!("safety_floor {level}"), rule };
    raise(ruling, ruling.level, level, &broken.says(above, sender))
}

/// Refuses what is said for an agent in VLP without a person's look, if it may say nothing there without.
pub(crate) fn may_go_unseen(state: &State, agent: &str) -> Result<(), Rejection> {
    let Some(agent) = state.registry.agent(agent) else { return Ok(()) };
    let kept = &state.rules.vcp.constraints;
    let mut floors = lineage(&state.registry, agent).filter_map(|above| kept.on(&above.id)?.bound.floor);
    if floors.any(|floor| floor > Level::Safe) {
        let text =
            format!("a person looks at whatever {:?} says in VLP: this goes to nobody who speaks that alone", agent.id);
        return Err(Rejection::because(Code::ConstraintViolated, text).by("VCP 4.3"));
    }
    Ok(())
}

pub(in crate::rules::vcp) fn is_free(message: &Message) -> bool {
    let Message::Vcp(envelope) = message else { return false };
    match &envelope.payload {
        Payload::Escalation(_) => true,
        Payload::ConstraintPropagate(laid) => laid.constraints.iter().all(|one| matches!(one.rule, Rule::Resume(_))),
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => false,
    }
}

/// Whether a message attaches constraints to a child of its sender and replaces none.
fn binds_child(message: &Message) -> bool {
    let Message::Vcp(envelope) = message else { return false };
    match &envelope.payload {
        Payload::ConstraintPropagate(attached) => attached.propagation_mode == Mode::Merge,
        Payload::Escalation(_) | Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => false,
    }
}

/// Whether a message lays constraints beside those that are there: a merge takes none away.
pub(in crate::rules::vcp) fn only_binds(message: &Message) -> bool {
    let Message::Vcp(envelope) = message else { return false };
    match &envelope.payload {
        Payload::ConstraintPropagate(laid) => {
            let resumes = laid.constraints.iter().any(|one| matches!(one.rule, Rule::Resume(_)));
            laid.propagation_mode == Mode::Merge && !resumes
        }
        Payload::Escalation(_) | Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => false,
    }
}

/// A constraint that a message breaks.
struct Broken<'l> {
    what: String,
    rule: Option<Standing<'l>>,
}

/// The first constraint laid on one agent that the message breaks.
fn check<'l>(state: &State, content: &Content<'_>, to: &[String], laid: &'l Laid) -> Option<Broken<'l>> {
    let bound = &laid.bound;
    if let Some((limit, tokens)) = bound.tokens.and_then(|limit| Some((limit, content.more_than(limit)?))) {
        let what = format!("token_limit {limit}: the message has about {tokens} tokens");
        return Some(Broken { what, rule: find(laid, |rule| *rule == Rule::TokenLimit(limit)) });
    }
    if !bound.audiences.is_empty() {
        let all = |name: &String| bound.audiences.iter().all(|list| admits(state, list, name));
        if let Some(name) = to.iter().find(|name| !all(name)) {
            let is_it = |rule: &Rule| match rule {
                Rule::AudienceRestrict(list) => !admits(state, &list.iter().cloned().collect(), name),
                _ => false,
            };
            let what = format!("audience_restrict: {name:?} is not among those it may address");
            return Some(Broken { what, rule: find(laid, is_it) });
        }
    }
    if !bound.topics.is_empty() {
        let topic = content.topics().iter().find(|topic| bound.topics.contains(*topic))?;
        let is_it = |rule: &Rule| matches!(rule, Rule::TopicBlock(list) if list.iter().any(|one| plain(one) == *topic));
        let what = format!("topic_block: the message declares a topic that is blocked, {topic:?}");
        return Some(Broken { what, rule: find(laid, is_it) });
    }
    None
}

/// Whether a list names a recipient: by one of its names that references mean, the agent it is a copy of, or a group.
pub(super) fn admits(state: &State, list: &BTreeSet<String>, name: &str) -> bool {
    let agent = state.registry.resolve(name);
    let by_name = |agent: &Agent| {
        let mut names = state.registry.referable_names(agent).chain(agent.instance_of.as_deref());
        names.any(|name| list.contains(name))
    };
    list.contains(name) || agent.is_some_and(|agent| by_name(agent) || !agent.groups.is_disjoint(list))
}

fn find(laid: &Laid, is_it: impl Fn(&Rule) -> bool) -> Option<Standing<'_>> {
    laid.standing().find(|standing| is_it(&standing.constraint.rule))
}

impl Broken<'_> {
    fn says(&self, on: &Agent, sender: &Agent) -> String {
        let Broken { what, rule: Some(Standing { setter, constraint, position, .. }) } = self else {
            return self.what.clone();
        };
        let source = &constraint.source_constitution_ref;
        let on = if on.id == sender.id { "it".to_owned() } else { format!("{:?} above it", on.id) };
        let by = match setter {
            Setter::Agent(id) => format!("{:?}", id.as_str()),
            Setter::Operator => "an operator".to_owned(),
        };
        format!("the sender is under {what}. Laid on {on} by {by} in entry {position}, from {source}")
    }

    fn rejection(&self, on: &Agent, sender: &Agent) -> Rejection {
        Rejection::because(Code::ConstraintViolated, self.says(on, sender)).by("VCP 4.3")
    }
}

/// A message below the floor waits for a person; one that could only be blocked is refused. What stops
/// others is not stopped itself.
fn raise(ruling: &mut Ruling, own: Option<Level>, floor: Level, says: &str) -> Result<(), Rejection> {
    match floor {
        Level::Block if own < Some(Level::Block) => {
            Err(Rejection::because(Code::ConstraintViolated, says.to_owned()).by("VCP 4.3"))
        }
        Level::Review if own < Some(Level::Block) => {
            ruling.raise(Level::Review);
            if !ruling.reasons.iter().any(|reason| reason.lifts == Lifter::Person) {
                // Recipients hold the entry by its receipt: whose constraint it is, and from where, stays out of it.
                let (code, says) = (Reason::SAFETY_FLOOR.to_owned(), Reason::UNDER_A_FLOOR.to_owned());
                ruling.reasons.push(Reason { code, says, lifts: Lifter::Person });
            }
            Ok(())
        }
        Level::Safe | Level::Review | Level::Block => Ok(()),
    }
}
