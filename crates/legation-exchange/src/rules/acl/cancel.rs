//! Taking back what was asked (section 8 plans it): by whoever asked, while somebody is awaited. The conversation is
//! over then, and whoever was awaited is told by the message itself, or by the exchange in another dialect.

use super::answer::{moved, named, no_party, out_of_order};
use super::machine::Step;
use super::talk::{Change, Talk};
use crate::agent::Agent;
use crate::rules::voice::Notice;
use crate::rules::{Case, Ruling, hold, translate};
use legation_protocol::acl::{Message, Performative};
use legation_protocol::{Code, Format, Rejection};

/// Whether a message takes back what its sender has asked.
pub(crate) fn takes_back(message: &Message) -> bool {
    message.performative() == Performative::Cancel
}

/// Whether a message takes back what is held itself. It reaches nobody, so that nobody has to look at it first.
pub(crate) fn withdraws(case: &Case<'_>) -> bool {
    let legation_protocol::Message::Acl(message) = case.received.message() else { return false };
    let asked = if takes_back(message) { meant(case, message) } else { Ok(None) };
    matches!(asked, Ok(Some((position, _))) if case.state.rules.holds.never_went(position))
}

pub(super) fn cancel(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    if let Some(unknown) = case.received.beyond_language().filter(|_| !case.policy.extended_acl) {
        return Err(unknown);
    }
    if message.in_reply_to.is_none() {
        let text = "CANCEL has to say what it takes back";
        return Err(Rejection::because(Code::InReplyToMissing, text).at("/in_reply_to").by("ACL 8"));
    }
    let Some((position, talk)) = meant(case, message)? else {
        return Err(out_of_order(message, "it names nothing that its sender has asked"));
    };
    if !is_for(case, talk) {
        return Err(no_party("this was not asked of the receiver"));
    }
    let Some(to) = talk.stage.after(talk.opening.act, Step::Cancel) else {
        return Err(out_of_order(message, format!("the conversation is over: it is {}", talk.stage.as_str())));
    };
    tell(case, message, position, talk, ruling);
    ruling.change(Change::Moved(Box::new(moved(case, message, position, to))).into());
    Ok(())
}

/// What its sender has asked, of the receiver where several are named alike.
fn meant<'c>(case: &Case<'c>, message: &Message) -> Result<Option<(u64, &'c Talk)>, Rejection> {
    let requester = case.speaker.id();
    named(case, message, requester, |talk| is_for(case, talk), "only whoever asked takes it back")
}

/// Whether the receiver was asked. What was asked of a group is taken back from the group, or from one of it; what the
/// exchange asked of somebody else since, from whoever was asked first; and what it asked at all, from itself.
fn is_for(case: &Case<'_>, talk: &Talk) -> bool {
    match (case.group(), case.to) {
        (Some(group), _) => talk.opening.group.as_deref() == Some(group),
        (None, [to]) => talk.opening.offered.contains(to) || has_passed_from(case, talk, to),
        (None, []) => talk.entries.first().is_some_and(|opened| translate::has_asked(case.state, *opened)),
        (None, _) => false,
    }
}

/// Whether somebody had the task that it became before it went to another. Whoever asked need not know of that.
fn has_passed_from(case: &Case<'_>, talk: &Talk, to: &String) -> bool {
    let work = talk.entries.first().and_then(|opened| case.state.rules.cap.task(*opened));
    work.is_some_and(|work| work.former.contains(to))
}

/// Whoever is awaited hears it. What was held has never been asked: it goes to nobody, and never will.
fn tell(case: &Case<'_>, message: &Message, position: u64, talk: &Talk, ruling: &mut Ruling) {
    let holds = &case.state.rules.holds;
    if holds.never_went(position) {
        if holds.get(position).is_some() {
            let (by, why) = (format!("agent {}", case.speaker.id()), "its sender took it back".to_owned());
            ruling.change(hold::Change::Refused { message: position, by, why }.into());
        }
        ruling.instead = Some(Vec::new());
    } else if translate::take_back(case.state, case.policy, message, position, ruling) {
        ruling.instead = Some(Vec::new());
    } else if talk.opening.group.is_some() {
        ruling.instead = Some(talk.awaited().map(str::to_owned).collect());
    } else if let Some(agent) = other_speaker(case) {
        // What was said for it is forgotten, or was said in a language that this one has left.
        let text = format!("Nobody waits any more for what {} asked in {}.", case.speaker.id(), talk.opening.id);
        let notice = Notice { code: "task_cancelled", text, rather: Format::Acl, about: None, thread: None };
        ruling.notify(case.policy, agent, notice);
        ruling.instead = Some(Vec::new());
    }
}

/// The receiver, if it does not speak the language.
fn other_speaker<'c>(case: &Case<'c>) -> Option<&'c Agent> {
    let [to] = case.to else { return None };
    let speaks = translate::speaks(case.state, to, Format::Acl);
    case.state.registry.agent(to).filter(|_| !speaks)
}
