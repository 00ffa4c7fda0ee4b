//! A state as bytes and back: what a start begins from instead of the first entry.

use crate::agent::Agent;
use crate::dedup::Dedup;
use crate::mailbox::{Item, Mailbox};
use crate::moment::Moment;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// The form a state is kept in. A new form gets a new number.
#[derive(Serialize, Deserialize)]
struct WireState {
    form: u32,
    next: u64,
    now: Moment,
    agents: Vec<Agent>,
    mailboxes: Vec<(String, Vec<WireItem>)>,
    dedup: Dedup,
}

#[derive(Serialize, Deserialize)]
struct WireItem(u64, u64, Moment);

const FORM: u32 = 1;

impl State {
    /// The state as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let items = |mailbox: &Mailbox| {
            mailbox.after(None).map(|(position, item)| WireItem(position, item.message, item.expires)).collect()
        };
        let wire = WireState {
            form: FORM,
            next: self.next,
            now: self.now,
            agents: self.registry.agents().cloned().collect(),
            mailboxes: self.mailboxes.iter().map(|(agent, mailbox)| (agent.clone(), items(mailbox))).collect(),
            dedup: self.dedup.clone(),
        };
        // Plain data always has a JSON form; an empty snapshot would only be passed over.
        serde_json::to_vec(&wire).unwrap_or_default()
    }

    /// The state these bytes hold; nothing if they are of another form.
    pub fn from_bytes(bytes: &[u8]) -> Option<State> {
        let wire: WireState = serde_json::from_slice(bytes).ok().filter(|wire: &WireState| wire.form == FORM)?;
        let mut state = State { next: wire.next, now: wire.now, dedup: wire.dedup, ..State::default() };
        for agent in wire.agents {
            state.registry.put(agent);
        }
        for (agent, items) in wire.mailboxes {
            let mailbox = state.mailboxes.entry(agent).or_default();
            for WireItem(position, message, expires) in items {
                mailbox.put(position, Item { message, expires });
            }
        }
        Some(state)
    }
}
