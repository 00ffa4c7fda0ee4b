//! Those who have no part in what is halted and have taken what goes on from it. They are told once for each halt, and
//! again when it is released: where that lies, and not in which session or by whom it was blocked.

use super::reach::Found;
use super::session::{Halt, MOST_PARTIES};
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::Ruling;
use crate::rules::voice::Notice;
use crate::state::State;
use crate::who::Who;
use legation_protocol::Format;
use std::collections::{BTreeMap, BTreeSet};

/// How many of them are told of one halt.
const MOST_TOLD: usize = MOST_PARTIES;
/// Of how many pairs of a message and who got it that is asked.
const MOST_ASKED: usize = 65_536;
/// How many messages each is told of.
const LISTED: usize = 8;

/// By the entries that registered them, each with what they have taken, oldest first.
pub(super) type Outsiders = BTreeMap<u64, Vec<u64>>;

/// Whoever has taken some of this. `is_told` says who learns of the halt in another way, `before` is what is halted already.
pub(super) fn look(state: &State, found: &Found, before: Option<&Halt>, is_told: impl Fn(&Agent) -> bool) -> Outsiders {
    let mut outsiders = Outsiders::new();
    if found.is_empty() {
        return outsiders;
    }
    let told = before.map(|halt| &halt.outsiders);
    let room = MOST_TOLD.saturating_sub(told.map_or(0, BTreeSet::len));
    let is_new = |since: u64| told.is_none_or(|told| !told.contains(&since));
    let unread = unread(state, found);
    let mut asked = 0;
    for message in found.keys().copied() {
        let has_it = |agent: &Agent| {
            state.rules.holds.went_to(message, &agent.id) && !unread.contains(&(message, agent.id.as_str()))
        };
        let heard = heard(state, message);
        asked += heard.len();
        if asked > MOST_ASKED {
            break;
        }
        let heard = heard.into_iter().filter_map(|since| state.registry.since(since));
        for agent in heard.filter(|agent| is_new(agent.since) && !is_told(agent) && has_it(agent)) {
            if outsiders.len() < room || outsiders.contains_key(&agent.since) {
                outsiders.entry(agent.since).or_default().push(message);
            }
        }
    }
    outsiders
}

/// Who got a message, or what the exchange said in this entry.
fn heard(state: &State, message: u64) -> BTreeSet<u64> {
    let said = state.rules.translations.get(message).and_then(|link| {
        let agent = state.registry.agent(&link.translation.to)?;
        (agent.since < link.position).then_some(agent.since)
    });
    state.rules.vlp.window.heard(message).iter().copied().chain(said).collect()
}

/// What of this waits for whom, or reached them never.
fn unread<'s>(state: &'s State, found: &Found) -> BTreeSet<(u64, &'s str)> {
    let waiting = state.mailboxes().flat_map(|(id, mailbox)| mailbox.after(None).map(move |item| (item.message, id)));
    let dead = state.dead_letters().after(None).map(|(_, id, letter)| (letter.message, id));
    waiting.chain(dead).filter(|(message, _)| found.contains_key(message)).collect()
}

/// They are told which halt it is by the message that began it.
pub(super) fn tell(state: &State, policy: &Policy, by: u64, outsiders: &Outsiders, ruling: &mut Ruling) {
    for (since, taken) in outsiders {
        let text = format!(
            "The halt that began with the message in entry {by} reaches what you have taken: {} on from what it stops. Act on nothing of that until a person lets it go on.",
            listed(taken)
        );
        notify(state, policy, *since, "halted", text, ruling);
    }
}

fn listed(taken: &[u64]) -> String {
    let shown: Vec<String> = taken.iter().take(LISTED).map(u64::to_string).collect();
    match (shown.as_slice(), taken.len().saturating_sub(LISTED)) {
        ([one], _) => format!("the message in entry {one} goes"),
        (shown, 0) => format!("the messages in entries {} go", shown.join(", ")),
        (shown, more) => format!("the messages in entries {} and {more} more go", shown.join(", ")),
    }
}

/// It goes on, and they are told, but for those who learn that as parties.
pub(super) fn tell_released(
    state: &State,
    policy: &Policy,
    halt: &Halt,
    who: &Who,
    is_told: impl Fn(&str) -> bool,
    ruling: &mut Ruling,
) {
    let text = format!("{who} lets go on what the halt stopped that began with the message in entry {}.", halt.by);
    for since in &halt.outsiders {
        if state.registry.since(*since).is_some_and(|agent| !is_told(&agent.id)) {
            notify(state, policy, *since, "released", text.clone(), ruling);
        }
    }
}

fn notify(state: &State, policy: &Policy, since: u64, code: &str, text: String, ruling: &mut Ruling) {
    let Some(agent) = state.registry.since(since) else { return };
    ruling.notify(policy, agent, Notice { code, text, rather: Format::Vlp, about: None, thread: None });
}
