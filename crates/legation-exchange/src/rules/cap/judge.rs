//! Whether a delegation meets the condition its delegator's manifest has for it (Delegation). The condition is in
//! plain words, so that only somebody outside can tell: a judge, whose answer comes with the message. Whoever is
//! asked may veto, and widens nothing.

use super::delegate::{above_of, rule_to};
use crate::rules::vcp::Standing;
use crate::rules::{Case, Ruling};
use crate::state::State;
use legation_protocol::cap::Body;
use legation_protocol::{Code, Format, Message, Received, Recipients, Rejection, acl, vlp};
use serde::{Deserialize, Serialize};

/// What it means that a judge says nothing in time, or nothing that makes sense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Silence {
    /// The delegation goes on.
    Allows,
    /// It does not.
    #[default]
    Denies,
}

/// What a judge is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Question {
    /// Who delegates.
    pub delegator: String,
    /// To whom.
    pub delegate: String,
    /// The task, by the id it is to have; none if the exchange will give it one.
    pub task_id: Option<String>,
    /// When the delegator may, in its manifest's words.
    pub rule: String,
    /// What is to be done, in the delegator's words.
    pub summary: String,
}

/// What came of a question, for whoever decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// To whom the delegation was to go.
    pub delegate: String,
    /// The rule that was asked about.
    pub rule: String,
    /// The answer.
    pub judged: Judged,
}

/// What a judge said, as the record keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Who judged.
    pub by: String,
    /// What they said.
    pub word: Word,
    /// Why; why nothing was heard, if nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A judge's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The rule's condition is met.
    Allow,
    /// It is not.
    Veto,
    /// Nothing was heard in time, or nothing that makes sense.
    Unheard,
}

/// What a judge has to be asked before this message is decided. Asked once more than needed it does no harm: whoever
/// decides looks again.
pub fn question(state: &State, received: &Received) -> Option<Question> {
    let message = received.message();
    let (sender, Recipients::One(name)) = (state.registry.resolve(message.sender())?, message.recipients()) else {
        return None;
    };
    let to = state.registry.resolve(name)?;
    let (task_id, above, summary) = match message {
        Message::Cap(message) => {
            let Body::DelegationNotice { context_summary } = &message.body else { return None };
            let above = above_of(&state.rules.cap, &sender.id, message).ok()?;
            (Some(message.task_id.to_string()), above, context_summary.clone())
        }
        // What the exchange hands on in CAP for somebody who speaks otherwise.
        Message::Acl(_) | Message::Vlp(_) | Message::Vcp(_) => {
            let translated = to.dialects.contains(&Format::Cap) && !to.dialects.contains(&message.dialect());
            (None, None, wanted(message).filter(|_| translated)?)
        }
    };
    let rule = rule_to(state, &sender.id, above, &to.id).filter(|rule| !rule.trim().is_empty())?;
    let may_speak = state.rules.vcp.standing.of(sender) == Standing::Running;
    may_speak.then(|| Question { delegator: sender.id.clone(), delegate: to.id.clone(), task_id, rule, summary })
}

/// The work a message asks for, if it asks for any.
fn wanted(message: &Message) -> Option<String> {
    match message {
        Message::Acl(message) => {
            let acl::Content::TaskRequest(task) = &message.content else { return None };
            Some(task.task_description.clone())
        }
        Message::Vlp(message) if message.kind == vlp::Kind::Query => Some(match &message.content {
            vlp::Content::Text(text) => text.clone(),
            vlp::Content::Object(object) => object.as_str().to_owned(),
        }),
        Message::Vlp(_) | Message::Vcp(_) | Message::Cap(_) => None,
    }
}

/// Lets a delegation through that a judge has nothing against, and keeps what they said.
pub(crate) fn heed(case: &Case<'_>, delegate: &str, rule: &str, ruling: &mut Ruling) -> Result<(), Rejection> {
    ruling.judged = may_pass(case.policy.judge, case.opinion, delegate, rule)?;
    Ok(())
}

/// What a judge said of this delegation, if there is one and they have nothing against it. An answer about
/// another rule, or another delegate, is none.
pub(super) fn may_pass(
    judge: Option<Silence>,
    opinion: Option<&Opinion>,
    delegate: &str,
    rule: &str,
) -> Result<Option<Judged>, Rejection> {
    let fits = |opinion: &&Opinion| opinion.delegate == delegate && opinion.rule == rule;
    let judged = opinion.filter(fits).map(|opinion| opinion.judged.clone());
    // A judge that was dismissed since has said no all the same.
    let is_veto = judged.as_ref().is_some_and(|judged| judged.word == Word::Veto);
    let silence = judge.or(is_veto.then_some(Silence::Denies)).filter(|_| !rule.trim().is_empty());
    let Some(silence) = silence else { return Ok(None) };
    let judged = judged.unwrap_or_else(Judged::of_another);
    let refuse = |text: String| {
        let text = judged.reason.as_ref().map_or_else(|| text.clone(), |reason| format!("{text}: {reason}"));
        Err(Rejection::because(Code::DelegationDenied, text).by("CAP Delegation"))
    };
    match (judged.word, silence) {
        (Word::Allow, _) | (Word::Unheard, Silence::Allows) => Ok(Some(judged)),
        (Word::Veto, _) => refuse(format!("{} says that the rule for {delegate:?} is not met", judged.by)),
        (Word::Unheard, Silence::Denies) => refuse(format!("nothing was heard of {}, who is to judge it", judged.by)),
    }
}

impl Judged {
    fn of_another() -> Judged {
        let reason = "the rule changed while it was being judged".to_owned();
        Judged { by: "the judge".to_owned(), word: Word::Unheard, reason: Some(reason) }
    }
}
