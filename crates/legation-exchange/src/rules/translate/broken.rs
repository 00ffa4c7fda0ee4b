//! Telling whoever asked that nothing will come of it, where it is the exchange that knows: it asked for them, in
//! another dialect, and hears of a deadline, a loss or a refusal in their place.

use super::links::{Link, Step};
use super::said::{Act, Said, Scene};
use super::speaks;
use super::table::About;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::cap::Task;
use crate::rules::voice::{Notice, name_in};
use crate::rules::{Change, Ruling, acl, cap};
use crate::state::State;
use legation_protocol::Format;
use legation_protocol::acl::Message;
use legation_protocol::cap::ErrorCode;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What is told: a code for programs, and words.
#[derive(Clone, Copy)]
pub(crate) struct Why<'w> {
    pub(crate) code: &'w str,
    pub(crate) text: &'w str,
    /// The code of CAP, where a task has failed by it.
    pub(crate) failed: Option<ErrorCode>,
}

/// Nothing comes of the work that this entry asked for. Whether anybody is to be told.
pub(crate) fn work_failed(
    state: &State,
    policy: &Policy,
    now: Moment,
    original: u64,
    why: Why<'_>,
    ruling: &mut Ruling,
) -> bool {
    let mut asks: Vec<_> = state.rules.translations.asks_for(original).collect();
    let Some(ask) = asks.pop() else { return false };
    tell(state, policy, now, ask, why, ruling);
    for older in asks {
        ruling.change(Change::BrokenOff { ask: older.position });
    }
    true
}

/// A held answer does not go on. One that only took the work on is as if it had never been given.
pub(crate) fn answer_refused(
    state: &State,
    policy: &Policy,
    now: Moment,
    answer: u64,
    why: Why<'_>,
    ruling: &mut Ruling,
) {
    let links = &state.rules.translations;
    let mut said = links.said_for(answer).filter_map(|said| links.get(said));
    let ends = said.find(|link| link.translation.step == Step::Ends);
    if let Some(ask) = ends.and_then(|link| links.get(link.translation.ask?)) {
        tell(state, policy, now, ask, why, ruling);
    }
}

/// A held answer does not go on, and what it answers is over whatever comes of it.
pub(crate) fn stays_over(state: &State, answer: u64, ruling: &mut Ruling) {
    let links = &state.rules.translations;
    let said = links.said_for(answer).filter_map(|said| links.get(said));
    let asks = said.filter(|link| matches!(link.translation.step, Step::Accepts | Step::Ends));
    let asks: BTreeSet<_> = asks.filter_map(|link| link.translation.ask).collect();
    for ask in asks {
        ruling.change(Change::BrokenOff { ask });
    }
}

/// Nobody answers any more what this entry asked: what the exchange said for it is over, and so is the task it became.
pub(crate) fn call_off(state: &State, policy: &Policy, original: u64, ruling: &mut Ruling) {
    let links = &state.rules.translations;
    let asked = links.said_for(original).filter_map(|said| links.get(said));
    // One whose answer is held too: that is refused with this, which gives back what it answered.
    for ask in asked.filter(|link| link.is_ask()) {
        ruling.change(Change::BrokenOff { ask: ask.position });
    }
    cap::calls_off(state, policy, original, super::cap::error(Act::Cancel), ruling);
}

/// Whoever asked takes it back: what the exchange said for it is over, and whoever heard that is told. Whether the
/// exchange has asked for it at all, or has told anybody.
pub(crate) fn take_back(state: &State, policy: &Policy, message: &Message, original: u64, ruling: &mut Ruling) -> bool {
    let about = About { takes_back: true, ..About::default() };
    let Some(said) = super::acl::read(message, &about) else { return false };
    let links = &state.rules.translations;
    let asked = links.said_for(original).filter_map(|said| links.get(said)).filter(|link| link.is_ask());
    let (asked, first): (Vec<_>, _) = (asked.collect(), ruling.heard.len());
    call_off(state, policy, original, ruling);
    // Whoever has a task of it was told so already.
    let task = state.rules.cap.task(original);
    let is_awaited = |ask: &&&Link| task.is_none_or(|task| task.assignee == ask.translation.to);
    if let Some(ask) = asked.iter().rfind(is_awaited).filter(|_| ruling.heard.len() == first) {
        not_awaited(state, ask, &said, ruling);
    }
    if let Some(session) = halted(state, original) {
        ruling.wait_from(first, session);
    }
    !asked.is_empty() || ruling.heard.len() > first
}

/// Tells whoever works on a task and does not speak CAP, in its own dialect, that nobody waits for it any more.
pub(crate) fn work_not_awaited(
    state: &State,
    policy: &Policy,
    (number, task): (u64, &Task),
    text: String,
    ruling: &mut Ruling,
) {
    let asks = state.rules.translations.asks_for(number).filter(|ask| ask.translation.to == task.assignee);
    match asks.last() {
        // VLP has a word for it.
        Some(ask) if ask.translation.said_in == Format::Vlp && speaks(state, &task.assignee, Format::Vlp) => {
            not_awaited(state, ask, &Said::new(Act::Cancel, text), ruling);
        }
        Some(_) | None => notify(state, policy, (number, task), ("task_cancelled", text), ruling),
    }
}

/// Tells whoever works on a task something of it, in a dialect it speaks: the one it was asked in, if it can be.
pub(crate) fn notify(
    state: &State,
    policy: &Policy,
    (number, task): (u64, &Task),
    (code, text): (&str, String),
    ruling: &mut Ruling,
) {
    let Some(worker) = state.registry.agent(&task.assignee) else { return };
    let asks = state.rules.translations.asks_for(number).filter(|ask| ask.translation.to == worker.id);
    let asked = asks.last().map(|ask| &ask.translation);
    let rather = asked.map_or(Format::Cap, |asked| asked.said_in);
    let (about, thread) = (asked.map(|asked| asked.said.as_str()), Some(task.id.as_str()));
    ruling.notify(policy, worker, Notice { code, text, rather, about, thread });
}

/// Whether the exchange has asked somebody, in another dialect, for what this entry asked.
pub(crate) fn has_asked(state: &State, original: u64) -> bool {
    let links = &state.rules.translations;
    links.said_for(original).filter_map(|said| links.get(said)).any(Link::is_ask)
}

/// The messages in which the exchange asked an agent for the work that this entry asked for.
pub(crate) fn asks_of<'s>(state: &'s State, original: u64, agent: &'s str) -> impl Iterator<Item = u64> + 's {
    let asks = state.rules.translations.asks_for(original);
    asks.filter(move |ask| ask.translation.to == agent).map(|ask| ask.position)
}

/// Tells whoever was asked, in its dialect, that nobody waits for an answer.
fn not_awaited(state: &State, ask: &Link, said: &Said, ruling: &mut Ruling) {
    let asked = &ask.translation;
    let Some(party) = state.registry.agent(&asked.to) else { return };
    let (dialect, said) = (asked.said_in, said.clone());
    let scene = Scene {
        to: name_in(party, dialect).to_owned(),
        refers_to: Some(asked.said.clone()),
        thread: asked.said_thread.clone(),
        entry: asked.original,
        ontology: None,
        is_question: ask.is_question(),
        id: asked.id.clone(),
        digest: None,
        from: json!({ "message_id": asked.id, "dialect": asked.dialect.to_string(), "position": asked.original }),
    };
    ruling.say(party.id.clone(), move |origin| super::write(dialect, &said, &scene, &origin));
}

/// What was asked and came to nobody is told, where no conversation or task of its own does.
pub(crate) fn due(state: &State, policy: &Policy, now: Moment) -> Option<Ruling> {
    let (ask, loss) = state.rules.translations.first_lost()?;
    let mut ruling = Ruling::default();
    tell(state, policy, now, ask, Why { code: loss.as_str(), text: loss.says(), failed: None }, &mut ruling);
    Some(ruling)
}

fn tell(state: &State, policy: &Policy, now: Moment, ask: &Link, why: Why<'_>, ruling: &mut Ruling) {
    let (original, first) = (ask.translation.original, ruling.heard.len());
    match ask.translation.dialect {
        Format::Acl => acl::breaks_off(state, policy, now, original, why.code, why.text, ruling),
        Format::Cap => {
            if let Some(code) = super::cap::error(Act::Failure) {
                let task = ask.task().unwrap_or(original);
                cap::breaks_off(state, task, (why.failed, code), why.text, ruling);
            }
        }
        Format::Vlp => in_vlp(state, ask, why, ruling),
        Format::Vcp | Format::Hello | Format::Manifest => {}
    }
    ruling.change(Change::BrokenOff { ask: ask.position });
    // Nothing of a halted session goes on, bad news neither: they wait with the rest of it.
    if let Some(session) = ask.halted_with(state) {
        ruling.wait_from(first, session);
    }
}

/// What the exchange said in this entry for somebody who answered never comes: whoever asked is told. Whether the exchange
/// said it for anybody.
pub(crate) fn answer_lost(state: &State, said: u64, ruling: &mut Ruling) -> bool {
    let links = &state.rules.translations;
    let Some(link) = links.get(said) else { return false };
    let ask = link.translation.ask.filter(|_| link.translation.step == Step::Ends).and_then(|ask| links.get(ask));
    let Some(ask) = ask else { return true };
    let (asked, first) = (&ask.translation, ruling.heard.len());
    let task = ask.task().or(Some(asked.original)).and_then(|task| state.rules.cap.task(task));
    match asked.dialect {
        Format::Acl => acl::was_unheard(state, asked.original, ruling),
        Format::Cap => cap::was_unheard(state, ask.task().unwrap_or(asked.original), ruling),
        // A task that goes on tells of its loss.
        Format::Vlp if task.is_some_and(cap::Task::is_open) => {}
        Format::Vlp => {
            let code = acl::Loss::Removed.as_str();
            in_vlp(state, ask, Why { code, text: acl::Loss::UNHEARD, failed: None }, ruling);
        }
        Format::Vcp | Format::Hello | Format::Manifest => {}
    }
    if let Some(session) = ask.halted_with(state) {
        ruling.wait_from(first, session);
    }
    true
}

/// The halted session that what the exchange said for this message belongs to.
pub(crate) fn halted(state: &State, original: u64) -> Option<&str> {
    let links = &state.rules.translations;
    links.said_for(original).filter_map(|said| links.get(said)).find_map(|link| link.halted_with(state))
}

fn in_vlp(state: &State, ask: &Link, why: Why<'_>, ruling: &mut Ruling) {
    let asked = &ask.translation;
    let Some(party) = state.registry.agent(&asked.from) else { return };
    let said = Said::new(Act::Failure, why.text).with("code", Some(Value::from(why.code)));
    let scene = Scene {
        to: name_in(party, Format::Vlp).to_owned(),
        refers_to: Some(asked.id.clone()),
        thread: asked.thread.clone(),
        entry: asked.original,
        ontology: None,
        is_question: ask.is_question(),
        id: asked.said.clone(),
        digest: None,
        from: json!({ "message_id": asked.said, "dialect": asked.said_in.to_string(), "position": ask.position }),
    };
    ruling.say(party.id.clone(), move |origin| super::write(Format::Vlp, &said, &scene, &origin));
}
