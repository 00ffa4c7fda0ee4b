//! Answering in a conversation (sections 4.2 to 4.9): what is answered, by whom, and whether it is time.

use super::machine::{Act, Stage, Step};
use super::talk::{Change, Due, Moved, Talk, What};
use super::words;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{Case, Ruling};
use crate::state::State;
use legation_protocol::acl::{Content, Message, Performative, TaskStatus};
use legation_protocol::{Code, Rejection};
use std::collections::BTreeSet;

pub(super) fn answer(case: &Case<'_>, message: &Message, step: Step, ruling: &mut Ruling) -> Result<(), Rejection> {
    let Some((position, talk)) = answered(case, message)? else {
        return match step {
            Step::NotUnderstood => may_puzzle(case, message),
            Step::Accept
            | Step::Reject
            | Step::Result
            | Step::Failure
            | Step::Capabilities
            | Step::RunLate
            | Step::AnswerFor
            | Step::GiveUp
            | Step::Cancel => Err(out_of_order(message, "it answers nothing that was asked of its sender")),
        };
    };
    let by = case.speaker.id();
    if case.state.rules.holds.never_went(position) {
        return Err(no_party("this was not asked of the sender"));
    }
    may_answer(talk, by, step, message)?;
    is_no_task(case, position)?;
    let Some(to) = talk.stage.after(talk.opening.act, step) else {
        let text = format!("{} does not fit: the conversation is {}", message.kind_name(), talk.stage.as_str());
        return Err(out_of_order(message, text));
    };
    has_value(talk.opening.act, message)?;
    if talk.opening.group.is_some() && matches!(to, Stage::Rejected | Stage::NotUnderstood) {
        decline(case, (position, talk), ruling);
        return Ok(());
    }
    if to == Stage::Accepted {
        tell_others(case, talk, ruling);
        bind(case, talk, ruling);
    }
    ruling.change(Change::Moved(Box::new(moved(case, message, position, to))).into());
    Ok(())
}

/// The conversation a message belongs to: by the request's id first, then by what its sender wanted to read
/// in an answer. What is over only counts where nothing else is meant.
fn answered<'c>(case: &Case<'c>, message: &Message) -> Result<Option<(u64, &'c Talk)>, Rejection> {
    let requester = case.to.first().map_or("", String::as_str);
    let is_own = |talk: &Talk| talk.opening.offered.contains(case.speaker.id());
    named(case, message, requester, is_own, "this request is not the receiver's")
}

/// The same among those that one has asked. `is_own` are those in which the two who speak have a part.
pub(super) fn named<'c>(
    case: &Case<'c>,
    message: &Message,
    requester: &str,
    is_own: impl Fn(&Talk) -> bool,
    not_theirs: &'static str,
) -> Result<Option<(u64, &'c Talk)>, Rejection> {
    let (kept, me) = (&case.state.rules.acl, case.speaker.id());
    // What is held and was asked by another is as unknown as what nobody has sent.
    let is_known =
        |(position, talk): &(u64, &Talk)| talk.opening.requester == me || !case.state.is_hidden_from(*position, me);
    let (Some(named), Some(id)) = (&message.in_reply_to, message.refers_to()) else { return Ok(None) };
    if let Some(found) = kept.opened_by(requester, &id).filter(is_known) {
        return Ok(Some(found));
    }
    let own = || kept.awaiting(requester, named).filter(is_known).filter(|(_, talk)| is_own(talk));
    let mut open = own().filter(|(_, talk)| talk.stage.is_open());
    match (open.next(), open.next()) {
        (Some(found), None) => Ok(Some(found)),
        (Some(_), Some(_)) => {
            let text = "in_reply_to fits more than one conversation: name the message_id";
            Err(Rejection::because(Code::AmbiguousReference, text).at("/in_reply_to").by("ACL 3"))
        }
        (None, _) => match own().last() {
            Some(found) => Ok(Some(found)),
            None if kept.with_id(&id).any(|found| is_known(&found)) => Err(no_party(not_theirs)),
            None => Ok(None),
        },
    }
}

fn may_answer(talk: &Talk, by: &str, step: Step, message: &Message) -> Result<(), Rejection> {
    let is_offered = talk.opening.offered.contains(by);
    match &talk.assignee {
        Some(assignee) if assignee == by => Ok(()),
        Some(assignee) if is_offered && matches!(step, Step::Accept | Step::Reject) => {
            Err(out_of_order(message, format!("{assignee} has taken it on already")))
        }
        None if talk.declined.contains(by) => Err(out_of_order(message, "its sender has declined, or lost, this task")),
        None if is_offered => Ok(()),
        Some(_) | None => Err(no_party("this was not asked of the sender")),
    }
}

/// Work that became a task is answered in that, to the exchange that asked for it: nothing goes round whoever oversees it,
/// and whoever asked hears one answer.
fn is_no_task(case: &Case<'_>, position: u64) -> Result<(), Rejection> {
    let Some(task) = case.state.rules.cap.task(position) else { return Ok(()) };
    let text = format!("this is the task {}: answer the exchange, by the message in which it asked for it", task.id);
    Err(Rejection::because(Code::TaskState, text).at("/receiver/agent_id").by("CAP Oversight"))
}

/// A query is answered by a value, unless none was found (section 4.4).
fn has_value(act: Act, message: &Message) -> Result<(), Rejection> {
    let Content::InformResult(result) = &message.content else { return Ok(()) };
    if act == Act::Task || result.task_status == TaskStatus::Failure || result.value().is_some() {
        return Ok(());
    }
    let text = "a query is answered by result_details.value";
    Err(Rejection::because(Code::SchemaInvalid, text).at("/payload/result_details/value").by("ACL 4.4"))
}

/// What nobody keeps as a conversation may be misunderstood too, but no misunderstanding is.
fn may_puzzle(case: &Case<'_>, message: &Message) -> Result<(), Rejection> {
    let (named, by) = (message.refers_to().unwrap_or_default(), case.speaker.id());
    let from = case.to.first().map_or("", String::as_str);
    let found = case.earlier.iter().find(|earlier| earlier.accepted.sender == from && earlier.accepted.id == named);
    match found.map(|earlier| &earlier.accepted) {
        None => Err(out_of_order(message, "there is no such message of the receiver, or it is too long ago")),
        Some(puzzling) if !puzzling.to.iter().any(|to| to == by) => {
            Err(no_party("that message was not for the sender"))
        }
        Some(puzzling) if puzzling.kind == Performative::NotUnderstood.as_str() => {
            Err(out_of_order(message, "a NOT_UNDERSTOOD is never answered with another"))
        }
        Some(_) => Ok(()),
    }
}

pub(super) fn moved(case: &Case<'_>, message: &Message, talk: u64, to: Stage) -> Moved {
    let talks = &case.policy.talks;
    let estimate = estimate(case, message);
    let due = match estimate {
        Some(at) => Due { at, what: What::Overdue },
        None => Due { at: case.now.plus(talks.idle), what: What::Idle },
    };
    Moved {
        talk,
        to,
        by: Some(case.speaker.id().to_owned()),
        answer: Some(case.id.to_owned()),
        outcome: outcome(&message.content),
        estimate,
        due: to.is_open().then_some(due),
        until: (!to.is_open()).then(|| case.now.plus(talks.remembered)),
    }
}

/// When its assignee means to be done (section 4.2). Months and years are too vague to hold anybody to.
fn estimate(case: &Case<'_>, message: &Message) -> Option<Moment> {
    let Content::TaskAccept(accept) = &message.content else { return None };
    accept.estimated_completion_time.as_ref()?.length().map(|length| case.now.plus(length))
}

/// What came of it in a word.
fn outcome(content: &Content) -> Option<String> {
    match content {
        Content::InformResult(result) => Some(result.task_status.as_str().to_owned()),
        Content::Failure(failure) => failure.error_code.clone(),
        Content::TaskReject(reject) => reject.reason_code.clone(),
        Content::NotUnderstood(puzzled) => Some(puzzled.reason_code.as_str().to_owned()),
        Content::TaskAccept(_)
        | Content::InformCapabilities(_)
        | Content::TaskRequest(_)
        | Content::QueryIf(_)
        | Content::QueryRef(_)
        | Content::QueryCapabilities(_)
        | Content::Cancel(_) => None,
    }
}

/// One of a group says no: that is its own business while others may say yes. When all have, the exchange
/// says so for the group.
fn decline(case: &Case<'_>, (position, talk): (u64, &Talk), ruling: &mut Ruling) {
    let by = case.speaker.id();
    ruling.instead = Some(Vec::new());
    ruling.find("acl_group", "declined", "one of a group declined; the requester hears from the group");
    ruling.change(Change::Declined { talk: position, by: by.to_owned() }.into());
    all_declined(case.state, case.policy, case.now, (position, talk), &BTreeSet::from([by]), ruling);
}

/// Those of a group whose word was held have declined now. If they were the last, the group has.
pub(crate) fn has_declined(
    state: &State,
    policy: &Policy,
    now: Moment,
    talk: u64,
    by: &BTreeSet<&str>,
    ruling: &mut Ruling,
) {
    if let Some(known) = state.rules.acl.get(talk).filter(|known| known.stage == Stage::Requested) {
        all_declined(state, policy, now, (talk, known), by, ruling);
    }
}

/// The exchange says it for the group, if nobody else is awaited.
fn all_declined(
    state: &State,
    policy: &Policy,
    now: Moment,
    (position, talk): (u64, &Talk),
    by: &BTreeSet<&str>,
    ruling: &mut Ruling,
) {
    if talk.awaited().any(|awaited| !by.contains(awaited)) {
        return;
    }
    let outcome = "all_declined";
    if let Some(requester) = state.registry.agent(&talk.opening.requester) {
        ruling.reply(
            requester,
            &talk.opening.id,
            words::reject(outcome, "everybody in this group who could do it declined"),
        );
    }
    let until = Some(now.plus(policy.talks.remembered));
    let moved = Moved {
        talk: position,
        to: Stage::Rejected,
        by: None,
        answer: None,
        outcome: Some(outcome.to_owned()),
        estimate: None,
        due: None,
        until,
    };
    ruling.change(Change::Moved(Box::new(moved)).into());
}

/// Whoever takes on what is asked for in a task is bound by the grants of that, until it is over (CAP Delegation).
fn bind(case: &Case<'_>, talk: &Talk, ruling: &mut Ruling) {
    let Some(below) = talk.opening.below.and_then(|task| case.state.rules.cap.task(task)) else { return };
    let says = format!("its sender is bound by the grants of {}, in which it was asked, until this is over", below.id);
    ruling.find("cap.delegation", "bound_below", says);
}

/// The others of a group need not look at it any more.
fn tell_others(case: &Case<'_>, talk: &Talk, ruling: &mut Ruling) {
    let by = case.speaker.id();
    let others = talk.awaited().filter(|other| *other != by).filter_map(|other| case.state.registry.agent(other));
    for other in others {
        ruling.reply(other, &talk.opening.id, words::failure("taken", format!("{by} has taken it on")));
    }
}

pub(super) fn out_of_order(message: &Message, text: impl Into<std::borrow::Cow<'static, str>>) -> Rejection {
    Rejection::because(Code::TaskState, text).at("/in_reply_to").by(message.performative().section())
}

pub(super) fn no_party(text: &'static str) -> Rejection {
    Rejection::because(Code::NotAParty, text).at("/in_reply_to")
}
