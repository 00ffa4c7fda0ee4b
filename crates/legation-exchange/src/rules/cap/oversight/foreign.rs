//! Overseers who do not speak CAP: they ask about held work, and decide on it, in a dialect of their own.

use super::SPEC;
use super::verdict::{Held, apply, is_only_one, waiting};
use crate::rules::cap::change::Change;
use crate::rules::cap::task::Review;
use crate::rules::{Case, Ruling, translate};
use legation_protocol::acl::{self, Content};
use legation_protocol::cap::Decision;
use legation_protocol::{Code, Message, Rejection};
use serde_json::Value;

/// Held work that its overseer asks about.
#[derive(Clone, Copy)]
pub(in crate::rules) struct Inquiry<'c> {
    /// Whose work it is.
    pub(in crate::rules) author: &'c str,
    /// The task it is done for.
    pub(in crate::rules) task: &'c str,
    number: u64,
}

impl Inquiry<'_> {
    /// It is part of what is said in the task.
    pub(in crate::rules) fn noted(&self) -> crate::rules::Change {
        Change::Said { task: self.number, user: None, by_assignee: false, held: false }.into()
    }
}

/// The work that a query in VLP is about: the one it refers to, as it was shown; or the only one of the agent it goes to that
/// waits for its sender's word.
pub(in crate::rules) fn asks_in_vlp<'c>(case: &Case<'c>) -> Result<Option<Inquiry<'c>>, Rejection> {
    let (Message::Vlp(query), Some(agent)) = (case.received.message(), case.speaker.agent()) else { return Ok(None) };
    if !translate::inquires(query) {
        return Ok(None);
    }
    let names_something = query.references().next().is_some();
    let (shown, to) = (shown(case), case.to.first());
    let is_it = |held: &Held<'_>| {
        let names_it = shown.contains(&held.message);
        to.map_or(names_it, |to| held.task.assignee == *to && (names_it || !names_something))
    };
    let mut meant = waiting(case, agent).map(|(held, _)| held).filter(is_it);
    match (meant.next(), meant.next()) {
        (None, _) => Ok(None),
        (Some(Held { number, task, .. }), None) => Ok(Some(Inquiry { author: &task.assignee, task: &task.id, number })),
        (Some(_), Some(_)) => {
            let text = "several of its works wait for your word: refer to the one you ask about";
            Err(Rejection::because(Code::AmbiguousReference, text).at("/refers_to").by(SPEC))
        }
    }
}

/// The entries of held work that messages showed which this one names.
pub(super) fn shown(case: &Case<'_>) -> Vec<u64> {
    let (names, me) = (case.received.message().refers_to(), case.policy.exchange_id());
    let meant = case.earlier.iter().filter(|one| one.accepted.sender == me && names.contains(&one.accepted.id));
    let shown = meant.filter_map(|one| one.accepted.ruled.because);
    shown.filter(|work| case.state.rules.cap.reviewed(*work).is_some()).collect()
}

/// What an overseer's word in the ElizaOS agent language decides, if it is one.
pub(super) fn decision_in_acl<'m>(
    case: &Case<'_>,
    message: &'m acl::Message,
) -> Option<(Decision, &'m acl::InformResult)> {
    let Content::InformResult(result) = &message.content else { return None };
    let details = result.result_details.to_value();
    let decision = match details.get("decision").and_then(Value::as_str)? {
        "approve" => Decision::Approve,
        "revise" => Decision::Revise,
        "reject" => Decision::Reject,
        _ => return None,
    };
    case.policy.is_exchange(&message.receiver.agent_id).then_some((decision, result))
}

/// Whether a decision on held work answers the request that showed it. Work that older versions showed has no such request.
fn answers_request(review: &Review, named: Option<&str>) -> bool {
    review.request.as_deref().is_none_or(|request| named == Some(request))
}

/// An overseer's word in the ElizaOS agent language: a result to the exchange whose details have a `decision`, and the
/// `digest` of the work, which may be left out where just one thing waits. Whether it is one.
pub(in crate::rules) fn decide_in_acl(
    case: &Case<'_>,
    message: &acl::Message,
    ruling: &mut Ruling,
) -> Result<bool, Rejection> {
    let (Some((decision, result)), Some(agent)) = (decision_in_acl(case, message), case.speaker.agent()) else {
        return Ok(false);
    };
    let details = result.result_details.to_value();
    let digest = details.get("digest").and_then(Value::as_str);
    let named = message.refers_to();
    let mut meant = waiting(case, agent)
        .filter(|(_, review)| digest.is_none_or(|digest| review.digest == digest))
        .filter(|(_, review)| answers_request(review, named.as_deref()));
    let refuse = |text| Err(Rejection::because(Code::OversightConflict, text).at("/payload/result_details").by(SPEC));
    match (meant.next(), meant.next().filter(|_| digest.is_none())) {
        (None, _) => refuse(
            "no such work waits for your decision: changed work has another digest, and a decision has the message_id of the \
             TASK_REQUEST that showed the work as its in_reply_to",
        ),
        (Some(_), Some(_)) => refuse("several messages wait for your decision: name the digest of one"),
        (Some((held, _)), None) => {
            if digest.is_none() {
                is_only_one(&held, agent).map_err(|rejection| rejection.at("/payload/result_details"))?;
            }
            apply(case, &held, decision, result.result_summary.clone(), ruling);
            Ok(true)
        }
    }
}
