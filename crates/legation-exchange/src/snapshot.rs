//! A state as bytes and back: what a start begins from instead of the first entry. What was taken
//! lies apart, in parts that are written once and only added to, since it is large and changes at
//! its end only.

use crate::agent::Agent;
use crate::before::Before;
use crate::clock_history::{ClockHistory, DedupEnd};
use crate::dead::DeadLetter;
use crate::dedup::Dedup;
use crate::epoch::Epochs;
use crate::erased::{Dropped, Erasures};
use crate::former_names::NameHash;
use crate::lately::Lately;
use crate::mailbox::{Item, Mailbox};
use crate::mailboxes::FamilyKey;
use crate::moment::Moment;
use crate::person::Person;
use crate::push::Standing;
use crate::quota::{Departures, QuotaUsage};
use crate::rules::Kept;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// The form a state is kept in. A new form gets a new number.
#[derive(Serialize, Deserialize)]
struct WireState {
    form: u32,
    next: u64,
    now: Moment,
    agents: Vec<Agent>,
    gone: Vec<NameHash>,
    /// Public keys that are bound to an agent which lists them no longer, oldest first.
    #[serde(default)]
    former_keys: Vec<([u8; 32], String)>,
    people: Vec<Person>,
    dead: Vec<(u64, String, DeadLetter)>,
    /// Whose mailboxes follow, and how many items each has.
    mailboxes: Vec<(String, usize)>,
    #[serde(default)]
    epochs: Epochs,
    #[serde(default)]
    erasures: Erasures,
    #[serde(default)]
    dropped: Dropped,
    /// How those of them stand that could not be pushed.
    #[serde(default)]
    unpushed: Vec<(String, Vec<(u64, Standing)>)>,
    /// Where those of them lay that were taken back once.
    #[serde(default)]
    before: Vec<(String, Before)>,
    /// The families of removed senders of what is unread.
    #[serde(default)]
    unread_of_removed: Vec<(u64, FamilyKey)>,
    /// What the rules keep.
    rules: Kept,
    /// Which of the last entries are how old.
    lately: Lately,
    /// The times of both clocks.
    clocks: ClockHistory,
    /// Removed agents of which something is left that counts for their families.
    #[serde(default, skip_serializing_if = "Departures::is_empty")]
    departures: Departures,
}

const FORM: u32 = 16;
/// Bytes of one item.
const ITEM: usize = 40;

impl State {
    /// The state as bytes, without what was taken.
    pub fn to_bytes(&self) -> Vec<u8> {
        let wire = WireState {
            form: FORM,
            next: self.next,
            now: self.now,
            agents: self.registry.agents().cloned().collect(),
            gone: self.registry.former_names().hashes().collect(),
            former_keys: self.registry.former_keys().map(|(key, agent)| (key, agent.to_owned())).collect(),
            people: self.people.iter().cloned().collect(),
            dead: self.dead.after(None).map(|(position, agent, dead)| (position, agent.to_owned(), dead)).collect(),
            unpushed: self.unpushed(),
            before: self.before(),
            unread_of_removed: self.mailboxes.unread().removed(&self.registry),
            mailboxes: self.mailboxes.iter().map(|(agent, mailbox)| (agent.to_owned(), mailbox.len())).collect(),
            epochs: self.epochs.clone(),
            erasures: self.erasures.clone(),
            dropped: self.dropped.clone(),
            rules: self.rules.clone(),
            lately: self.lately.clone(),
            clocks: self.clocks.clone(),
            departures: self.quotas.departures().clone(),
        };
        // Plain data always has a JSON form; an empty snapshot would only be passed over.
        let json = serde_json::to_vec(&wire).unwrap_or_default();
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json);
        for item in self.mailboxes.iter().flat_map(|(_, mailbox)| mailbox.after(None)) {
            let numbers = [item.position, item.message, item.expires.micros(), item.from, item.session];
            bytes.extend(numbers.into_iter().flat_map(u64::to_le_bytes));
        }
        bytes
    }

    /// The state these bytes hold, which knows of nothing that was taken; nothing if they are of
    /// another form.
    pub fn from_bytes(bytes: &[u8]) -> Option<State> {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (json, items) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let wire: WireState = serde_json::from_slice(json).ok().filter(|wire: &WireState| wire.form == FORM)?;
        let mut state = State { next: wire.next, now: wire.now, dedup: Some(Dedup::default()), ..State::default() };
        (state.epochs, state.erasures, state.dropped) = (wire.epochs, wire.erasures, wire.dropped);
        (state.rules, state.lately, state.clocks) = (wire.rules, wire.lately, wire.clocks);
        wire.agents.into_iter().for_each(|agent| state.registry.put(agent));
        wire.gone.into_iter().for_each(|hash| state.registry.restore_former_name(hash));
        wire.former_keys.into_iter().for_each(|(key, agent)| state.registry.put_former_key(key, agent));
        wire.people.into_iter().for_each(|person| state.people.put(person));
        wire.dead.into_iter().for_each(|(position, agent, letter)| state.dead.put(position, &agent, letter));
        let mut items = items.chunks_exact(ITEM).map(item);
        for (agent, count) in wire.mailboxes {
            let mut mailbox = Mailbox::default();
            items.by_ref().take(count).for_each(|item| mailbox.put(item));
            state.mailboxes.restore(agent, mailbox);
        }
        for (agent, unpushed) in wire.unpushed {
            state.mailboxes.change(&agent, |mailbox, _| {
                for (position, standing) in unpushed {
                    mailbox.stand(position, standing);
                }
            });
        }
        for (agent, before) in wire.before {
            state.mailboxes.change(&agent, |mailbox, _| mailbox.lay_before(before));
        }
        // Reading noted changes that the count below has in it.
        state.discard_usage_changes();
        state.quotas = QuotaUsage::count(&state.registry, &state.rules, wire.departures);
        state.mailboxes.count_anew(&state.registry, wire.unread_of_removed);
        Some(state)
    }

    fn before(&self) -> Vec<(String, Before)> {
        let some = self.mailboxes.iter().filter(|(_, mailbox)| !mailbox.before().is_empty());
        some.map(|(agent, mailbox)| (agent.to_owned(), mailbox.before().clone())).collect()
    }

    fn unpushed(&self) -> Vec<(String, Vec<(u64, Standing)>)> {
        let all =
            self.mailboxes.iter().map(|(agent, mailbox)| (agent.to_owned(), mailbox.unpushed().collect::<Vec<_>>()));
        all.filter(|(_, unpushed)| !unpushed.is_empty()).collect()
    }

    /// What was taken since the state was empty or read from bytes, and until when that is of use.
    pub fn taken(&self) -> (Vec<u8>, DedupEnd) {
        self.dedup.as_ref().map(Dedup::to_part).unwrap_or_default()
    }

    /// Whether all that was taken is forgotten whose ends are no later than this.
    pub fn has_forgotten(&self, end: DedupEnd) -> bool {
        self.clocks.is_past(end)
    }

    /// Adds what [`taken`](State::taken) gave.
    pub fn add_taken(&mut self, part: &[u8]) {
        self.dedup.get_or_insert_default().take_part(part);
        self.settle();
    }
}

fn item(bytes: &[u8]) -> Item {
    let number = |at: usize| {
        let eight = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        eight.map(u64::from_le_bytes).unwrap_or_default()
    };
    Item {
        position: number(0),
        message: number(8),
        expires: Moment::from_micros(number(16)),
        from: number(24),
        session: number(32),
    }
}
