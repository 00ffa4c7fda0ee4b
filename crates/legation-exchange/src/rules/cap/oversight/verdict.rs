//! An overseer's word on held work: approve, revise or reject, of the work with this digest.

use super::{SPEC, foreign};
use crate::agent::Agent;
use crate::rules::cap::change::Change;
use crate::rules::cap::place::{Place, is_or_instance, oversees};
use crate::rules::cap::task::{Review, Task};
use crate::rules::cap::{Oversight, failure, words};
use crate::rules::hold::{self, Lifter, Reason};
use crate::rules::{Case, Ruling, scan, translate};
use legation_protocol::cap::{Body, Decision, ErrorCode, Message};
use legation_protocol::json::Json;
use legation_protocol::{Code, Rejection, vlp};
use serde_json::Value;

/// Work that waits for the word of the one who speaks.
pub(super) struct Held<'c> {
    pub(super) message: u64,
    pub(super) number: u64,
    pub(super) task: &'c Task,
    overseer: &'c str,
}

pub(super) fn decide(
    case: &Case<'_>,
    message: &Message,
    decision: Decision,
    place: &Place<'_>,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let Some(agent) = case.speaker.agent() else { return Err(not_overseer()) };
    let held = match message.digest {
        Some(digest) => by_digest(case, agent, &digest.to_string()),
        None => by_task(case, agent, message)?,
    };
    let held = held.ok_or_else(|| nothing_held(case, agent, message, place))?;
    let why = match &message.body {
        Body::Message { content } => content.clone(),
        Body::DelegationNotice { .. } | Body::ErrorResponse { .. } | Body::OversightInquiry { .. } => String::new(),
    };
    apply(case, &held, decision, why, ruling);
    Ok(())
}

pub(super) fn apply(case: &Case<'_>, held: &Held<'_>, decision: Decision, why: String, ruling: &mut Ruling) {
    match decision {
        Decision::Approve => approve(case, held, Some(why), ruling),
        Decision::Revise => turn_back(case, held, "to be revised", &why, ruling),
        Decision::Reject => {
            turn_back(case, held, "rejected", &why, ruling);
            reject(case, held, ruling);
        }
    }
}

/// The topics of notices by which an overseer decides who speaks VLP.
const TOPICS: [(&str, Decision); 3] =
    [("work_approved", Decision::Approve), ("work_to_revise", Decision::Revise), ("work_rejected", Decision::Reject)];

/// The same in VLP: a notice to the exchange with one of [`TOPICS`], and the work's digest in its payload. The digest
/// may be left out where just one thing waits.
pub(in crate::rules) fn decide_in_vlp(
    case: &Case<'_>,
    message: &vlp::Message,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let to_us = message.receiver.as_deref().is_some_and(|to| case.policy.is_exchange(to));
    let refuse = |text, at| Err(Rejection::because(Code::OversightConflict, text).at(at).by(SPEC));
    if to_us && message.kind == vlp::Kind::Response && !foreign::shown(case).is_empty() {
        let text = "a response decides nothing: decide by a notice with the topic work_approved, work_to_revise or work_rejected, and ask by a query";
        return refuse(text, "/type");
    }
    let Some(decision) = decision_in_vlp(case, message) else { return Ok(()) };
    let refuse = |text| refuse(text, "/payload/digest");
    let Some(agent) = case.speaker.agent() else { return Err(not_overseer().at("/sender")) };
    let payload = message.payload.as_ref().map(Json::to_value).unwrap_or_default();
    let digest = payload.get("digest").and_then(Value::as_str);
    let mut meant = waiting(case, agent).filter(|(_, review)| digest.is_none_or(|digest| review.digest == digest));
    let (first, second) = (meant.next(), meant.next());
    match (first, second.filter(|_| digest.is_none())) {
        (None, _) => refuse("no such work waits for your decision: changed work has another digest"),
        (Some(_), Some(_)) => refuse("several messages wait for your decision: name the digest of one"),
        (Some((held, _)), None) => {
            if digest.is_none() {
                is_only_one(&held, agent).map_err(|rejection| rejection.at("/payload/digest"))?;
            }
            let why = match &message.content {
                vlp::Content::Text(text) => text.clone(),
                vlp::Content::Object(object) => object.as_str().to_owned(),
            };
            apply(case, &held, decision, why, ruling);
            Ok(())
        }
    }
}

fn decision_in_vlp(case: &Case<'_>, message: &vlp::Message) -> Option<Decision> {
    let to_us = message.receiver.as_deref().is_some_and(|to| case.policy.is_exchange(to));
    let topic = message.topic.as_deref().filter(|_| to_us && message.kind == vlp::Kind::Notice);
    TOPICS.into_iter().find(|(name, _)| Some(*name) == topic).map(|(_, decision)| decision)
}

/// Refuses a decision that is to wait for a person: it would decide nothing, and the work go on waiting.
pub(in crate::rules) fn must_not_wait(case: &Case<'_>) -> Result<(), Rejection> {
    let at = match case.received.message() {
        legation_protocol::Message::Cap(message) if message.decision.is_some() && message.is_final != Some(true) => {
            "/decision"
        }
        legation_protocol::Message::Vlp(message) if decision_in_vlp(case, message).is_some() => "/topic",
        // A result to whoever asked in another dialect may have such a detail too, and decides nothing.
        legation_protocol::Message::Acl(message)
            if foreign::decision_in_acl(case, message).is_some() && !translate::goes_on(case) =>
        {
            "/payload/result_details"
        }
        legation_protocol::Message::Vcp(_)
        | legation_protocol::Message::Acl(_)
        | legation_protocol::Message::Cap(_)
        | legation_protocol::Message::Vlp(_) => return Ok(()),
    };
    let text = "a decision that waits for a person decides nothing: give it in words that need no second look";
    Err(Rejection::because(Code::OversightConflict, text).at(at).by(SPEC))
}

/// Everything that waits for an agent's decision, or for that of the agent it is an instance of, and was put into the
/// overseer's mailbox.
pub(super) fn waiting<'c>(case: &Case<'c>, agent: &'c Agent) -> impl Iterator<Item = (Held<'c>, &'c Review)> {
    let (kept, holds) = (&case.state.rules.cap, &case.state.rules.holds);
    let overseers = [Some(agent.id.as_str()), agent.instance_of.as_deref()];
    overseers.into_iter().flatten().flat_map(move |overseer| {
        kept.overseen(overseer).filter_map(move |message| {
            let (number, task) = kept.reviewed(message)?;
            let is_lifter = |reason: &Reason| matches!(&reason.lifts, Lifter::Overseer(id) if id == overseer);
            let waits = holds.get(message)?.reasons.iter().any(is_lifter);
            let was_shown = task.shown.get(&message).is_some_and(|to| to == overseer) && !kept.is_stranded(message);
            let review = task.reviews.get(&message).filter(|_| waits && was_shown && task.is_open())?;
            Some((Held { message, number, task, overseer }, review))
        })
    })
}

fn by_digest<'c>(case: &Case<'c>, agent: &'c Agent, digest: &str) -> Option<Held<'c>> {
    waiting(case, agent).find(|(_, review)| review.digest == digest).map(|(held, _)| held)
}

/// The one thing that waits in the task, or else in the nearest above it.
fn by_task<'c>(case: &Case<'c>, agent: &'c Agent, message: &Message) -> Result<Option<Held<'c>>, Rejection> {
    let kept = &case.state.rules.cap;
    let id = message.task_id.as_str();
    let mut found: Vec<_> = waiting(case, agent).map(|(held, _)| held).collect();
    let far = |held: &Held<'_>| {
        if held.task.id == id {
            return Some(0);
        }
        // The overseer may speak in a part of the task that was handed to it.
        let seats = kept.seats(&agent.id, id).map(|(number, _)| number);
        seats.filter_map(|seat| kept.line(seat).position(|(above, _)| above == held.number)).min()
    };
    let nearest = found.iter().filter_map(far).min();
    found.retain(|held| nearest.is_some() && far(held) == nearest);
    if found.len() > 1 {
        let text = format!("{} messages wait for a decision in {id}: name the digest of one", found.len());
        return Err(Rejection::because(Code::OversightConflict, text).at("/digest").by(SPEC));
    }
    if let Some(held) = found.first() {
        is_only_one(held, agent).map_err(|rejection| rejection.at("/digest"))?;
    }
    Ok(found.pop())
}

/// Refuses a decision without a digest on work of a task of which its overseer was shown several versions, and by an
/// instance whose own mailbox never had it.
pub(super) fn is_only_one(held: &Held<'_>, agent: &Agent) -> Result<(), Rejection> {
    let Held { task, overseer, .. } = held;
    if *overseer != agent.id {
        let text = format!("the work in {} was put into the mailbox of {overseer:?}: name its digest", task.id);
        return Err(Rejection::because(Code::OversightConflict, text).by(SPEC));
    }
    let shown = task.shown_to(overseer);
    if shown <= 1 {
        return Ok(());
    }
    let text =
        format!("{shown} versions of the work in {} were shown to you: name the digest of the one you mean", task.id);
    Err(Rejection::because(Code::OversightConflict, text).by(SPEC))
}

fn not_overseer() -> Rejection {
    Rejection::because(Code::NotOverseer, "only the overseer of its author decides on work").at("/decision").by(SPEC)
}

fn nothing_held(case: &Case<'_>, agent: &Agent, message: &Message, place: &Place<'_>) -> Rejection {
    let (kept, registry) = (&case.state.rules.cap, &case.state.registry);
    let line = place.task().into_iter().flat_map(|(number, _)| kept.line(number));
    let mut tasks = line.chain(kept.named(&message.task_id).take(64));
    if !tasks.any(|(_, task)| oversees(kept, registry, agent, task)) {
        return not_overseer();
    }
    let text = match message.digest {
        Some(_) => "no work with this digest waits for your decision: changed work has another",
        None => "nothing waits for your decision in this task",
    };
    Rejection::because(Code::OversightConflict, text).at("/digest").by(SPEC)
}

/// It goes on, unless something else holds it; the task is done once it has.
fn approve(case: &Case<'_>, held: &Held<'_>, why: Option<String>, ruling: &mut Ruling) {
    let lifts = Lifter::Overseer(held.overseer.to_owned());
    let by = format!("agent {}", case.speaker.id());
    ruling.lift(case.state, held.message, lifts, by, why.filter(|why| !why.is_empty()));
}

/// It does not go on, and its author is told.
fn turn_back(case: &Case<'_>, held: &Held<'_>, what: &str, why: &str, ruling: &mut Ruling) {
    let Held { message, number, task, .. } = *held;
    let by = format!("agent {}", case.speaker.id());
    let text = format!("Your work in entry {message} is {what} and does not go on. {}: {why}", case.speaker.id());
    let first = ruling.heard.len();
    words::of_work(case.state, case.policy, (number, task), message, text, ruling);
    ruling.mark_from(first, &scan::quoted(case.scanned));
    ruling.change(hold::Change::Refused { message, by, why: why.to_owned() }.into());
}

/// The task has failed, and whoever waits for it is told.
fn reject(case: &Case<'_>, held: &Held<'_>, ruling: &mut Ruling) {
    let Held { number, task, .. } = *held;
    let (code, by) = (ErrorCode::Forbidden, case.speaker.id().to_owned());
    ruling.change(Change::Erred { task: number, code: code.number(), by, fails: true, rejected: true }.into());
    let text = format!("The overseer rejected the result of {}.", task.id);
    failure::tell(case.state, case.policy, case.now, (number, task), (code, text), ruling);
}

/// An overseer's plain word to the delegator, where that counts: as in the spec's own story, in the task or in
/// a part of it that was handed to the overseer.
pub(super) fn implied(case: &Case<'_>, message: &Message, ruling: &mut Ruling) {
    if case.policy.oversight != Oversight::Implied {
        return;
    }
    let (kept, registry) = (&case.state.rules.cap, &case.state.registry);
    let (Some(agent), Some(to)) = (case.speaker.agent(), case.to.first()) else { return };
    let seats = kept.seats(&agent.id, &message.task_id).chain(kept.seats(to, &message.task_id));
    let line = seats.flat_map(|(number, _)| kept.line(number));
    let mut meant = line.filter(|(_, task)| {
        task.is_open()
            && task.delegator == *to
            && !is_or_instance(agent, &task.assignee)
            && oversees(kept, registry, agent, task)
    });
    let Some((number, task)) = meant.next() else { return };
    let mut held = waiting(case, agent).map(|(held, _)| held).filter(|held| held.number == number);
    match (held.next(), held.next()) {
        (Some(one), None) if is_only_one(&one, agent).is_ok() => approve(case, &one, None, ruling),
        (None, _) if task.reviews.is_empty() => ruling.change(Change::Finished { task: number }.into()),
        (None | Some(_), _) => {}
    }
}
