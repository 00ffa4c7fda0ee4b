//! Asking once more for work that somebody asked for, where its task is handed over again: of the same agent or of
//! another, in a dialect it speaks, in words of the original. What comes back finds its way to whoever asked; where it
//! could not, the order is refused.

use super::links::{Step, Translation};
use super::said::{Act, Said, Scene};
use super::{About, Spoken, acl, halted, notify, read_as, write};
use crate::decide::Earlier;
use crate::erased::covers;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::cap::Task;
use crate::rules::vcp::constraints::{self, Words};
use crate::rules::voice::{can_say, name_in, origin};
use crate::rules::{Change, Ruling, acl as talks, scan, vcp, vlp};
use crate::state::State;
use legation_protocol::{Code, Format, Message, Received, Rejection};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The dialects a task is handed over in, as they are tried: it is one of CAP.
const INTO: [Format; 3] = [Format::Cap, Format::Acl, Format::Vlp];

/// A task that is handed over again.
pub(crate) struct Handover<'h> {
    pub(crate) number: u64,
    pub(crate) task: &'h Task,
    /// To whom.
    pub(crate) to: &'h str,
    /// The message that asked for it.
    pub(crate) words: Option<&'h Earlier>,
    /// Until when it must be done now.
    pub(crate) deadline: Moment,
    /// Who decided so, in words.
    pub(crate) says: String,
}

/// Asks whoever has a task now for it, for whoever wanted it done.
pub(crate) fn ask_again(
    state: &State,
    policy: &Policy,
    now: Moment,
    handover: &Handover<'_>,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let Handover { number, task, to, .. } = *handover;
    let asker = asker(state, number, task)?;
    if halted(state, number).is_some() {
        return Err(stopped());
    }
    let (earlier, original) = words(state, handover)?;
    if original.dialect() == Format::Acl {
        talks::may_pass_on(state, number)?;
    }
    has_room(state, policy, asker, to)?;
    let said = said(handover, &original).ok_or_else(|| no_words(to))?;
    let words = Words { to: vec![to.to_owned()], texts: vec![&said.text], topics: Vec::new() };
    constraints::may_tell(state, asker, &words)?;
    let position = state.next + 1 + (ruling.again.len() + ruling.heard.len()) as u64;
    let origin = origin(policy, now, position).ok_or_else(|| no_words(to))?;
    let spoken = INTO.into_iter().filter(|dialect| speaks(state, to, *dialect));
    let spoken = spoken.filter_map(|dialect| {
        let (words, scene) = (said.clone(), scene(state, handover, (asker, earlier), dialect));
        let message = write(dialect, &words, &scene, &origin).filter(can_say)?;
        let translation = pair(handover, (asker, earlier), &original, &message);
        Some(Spoken { translation, words: Box::new(move |origin| write(dialect, &words, &scene, &origin)) })
    });
    let spoken = spoken.into_iter().next().ok_or_else(|| no_words(to))?;
    if spoken.translation.said_in == Format::Vlp {
        constraints::may_go_unseen(state, asker)?;
    }
    if original.dialect() == Format::Acl && to != task.assignee {
        ruling.change(talks::Change::Passed { talk: number, to: to.to_owned() }.into());
    }
    ruling.heard.push(spoken.heard(to, scan::of(&earlier.accepted.ruled.findings)));
    Ok(())
}

/// Whether somebody is spoken to in this dialect. Principals speak CAP alone.
pub(crate) fn speaks(state: &State, to: &str, dialect: Format) -> bool {
    let agent = state.registry.agent(to);
    agent.map_or(dialect == Format::Cap, |agent| agent.dialects.is_empty() || agent.dialects.contains(&dialect))
}

/// What the exchange asked of whoever had a task before is over, and they are told in their dialect.
pub(crate) fn pass_on(state: &State, policy: &Policy, (number, task): (u64, &Task), text: String, ruling: &mut Ruling) {
    break_off(state, number, ruling);
    notify(state, policy, (number, task), ("reassigned", text), ruling);
}

/// What the exchange asked for a task before is over, since it is asked for again: the newest is answered, and alone can be
/// lost.
pub(crate) fn break_off(state: &State, number: u64, ruling: &mut Ruling) {
    for ask in state.rules.translations.asks_for(number) {
        ruling.change(Change::BrokenOff { ask: ask.position });
    }
}

/// An answer to what a task asks for that waits for somebody's word.
pub(crate) fn waits_for_word(state: &State, number: u64) -> bool {
    let links = &state.rules.translations;
    let asks: BTreeSet<_> = links.asks_for(number).map(|ask| ask.position).collect();
    let is_held = |original: u64| state.rules.holds.get(original).is_some_and(|hold| hold.digest.is_some());
    links.answers_to(&asks).any(|answer| is_held(answer.translation.original))
}

/// Whoever wanted it done: they are here, and may be heard.
fn asker<'t>(state: &State, number: u64, task: &'t Task) -> Result<&'t str, Rejection> {
    let asker = task.counts_for();
    match state.registry.agent(asker) {
        // Another may have the name since.
        Some(agent) if agent.since < number => vcp::may_be_heard(state, agent).map(|()| asker),
        None if crate::who::PRINCIPALS.contains(&asker) => Ok(asker),
        Some(_) | None => {
            let text = format!("{asker:?}, who wanted {} done, is not registered any more", task.id);
            Err(Rejection::because(Code::TaskState, text))
        }
    }
}

fn stopped() -> Rejection {
    Rejection::because(Code::Halted, "what was asked for is halted").by("VLP VI.4")
}

/// The original's own words, while they are kept and nothing stops them.
fn words<'h>(state: &State, handover: &Handover<'h>) -> Result<(&'h Earlier, Message), Rejection> {
    let (notice, dropped) = (handover.task.notice, &state.dropped);
    let is_kept = notice >= dropped.before || covers(&dropped.kept, notice);
    let may_go = is_kept && state.rules.holds.went_on(notice) && state.erasures.of(notice).is_none();
    let earlier = handover.words.filter(|earlier| may_go && earlier.position == notice);
    let received = earlier.and_then(|earlier| Some((earlier, Received::read(earlier.body.as_deref()?).ok()?)));
    let Some((earlier, received)) = received else {
        let text = format!("the words in entry {notice} that {:?} needs are not kept any more", handover.to);
        return Err(Rejection::because(Code::TaskState, text));
    };
    let session = earlier.accepted.thread.as_deref().filter(|_| earlier.accepted.dialect == Format::Vlp);
    match vlp::halted_with(state, [notice, notice], session) {
        Some(_) => Err(stopped()),
        None => Ok((earlier, received.message().clone())),
    }
}

fn has_room(state: &State, policy: &Policy, asker: &str, to: &str) -> Result<(), Rejection> {
    let waiting = state.mailbox(to).map_or(0, crate::mailbox::Mailbox::len);
    if waiting >= policy.mailbox_limit {
        let text = format!("{} messages wait for {to:?} already", policy.mailbox_limit);
        return Err(Rejection::because(Code::MailboxFull, text));
    }
    if state.rules.translations.has_room(asker) {
        return Ok(());
    }
    let text = format!("so much that {asker:?} has asked for in other dialects is not done that no more is taken");
    Err(Rejection::because(Code::RateLimited, text))
}

/// What is asked for, as it was said; and that it is handed over, until when.
fn said(handover: &Handover<'_>, original: &Message) -> Option<Said> {
    let said = read_as(original, &About::default()).filter(|said| said.act == Act::Ask)?;
    let deadline = Value::from(handover.deadline.to_string());
    Some(said.with("deadline", Some(deadline)).with("handed_over", Some(Value::from(handover.says.as_str()))))
}

fn no_words(to: &str) -> Rejection {
    let text = format!("what was asked for has no counterpart in a dialect that {to:?} speaks");
    Rejection::because(Code::Untranslatable, text)
}

fn scene(state: &State, handover: &Handover<'_>, (asker, earlier): (&str, &Earlier), dialect: Format) -> Scene {
    let Handover { task, to, .. } = *handover;
    let accepted = &earlier.accepted;
    Scene {
        to: state.registry.agent(to).map_or(to, |agent| name_in(agent, dialect)).to_owned(),
        refers_to: None,
        thread: (dialect == Format::Cap).then(|| task.id.clone()),
        entry: earlier.position,
        ontology: None,
        is_question: false,
        id: accepted.id.clone(),
        digest: Some(accepted.digest.clone()),
        from: json!({
            "message_id": accepted.id,
            "digest": accepted.digest,
            "dialect": accepted.dialect.to_string(),
            "kind": accepted.kind,
            "sender": asker,
            "position": earlier.position,
        }),
    }
}

/// The original and what is said for it now.
fn pair(
    handover: &Handover<'_>,
    (asker, earlier): (&str, &Earlier),
    original: &Message,
    message: &Message,
) -> Translation {
    let (reply_with, ontology) = acl::marks(original);
    Translation {
        original: earlier.position,
        from: asker.to_owned(),
        to: handover.to.to_owned(),
        id: earlier.accepted.id.clone(),
        dialect: earlier.accepted.dialect,
        thread: earlier.accepted.thread.clone(),
        said: message.id().unwrap_or_default(),
        said_in: message.dialect(),
        said_thread: message.thread().map(str::to_owned),
        ask: None,
        step: Step::Asks,
        reply_with,
        ontology,
        below: None,
        task: Some(handover.number),
        waits: false,
        is_alarm: false,
    }
}
