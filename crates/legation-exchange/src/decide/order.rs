//! What people decide, and agents beside messages; and what follows from a ruling.

use super::{Decided, Decision, Desk, Directive, Ruling, Verdict};
use crate::effect::{Effect, Entry, Released, Resent, ReviewOutcome};
use crate::extensions;
use crate::rules::hold::{Hold, Lifter};
use crate::rules::{Again, Change, acl, cap, hold, identity, look_at_released, utter, vcp, vlp};
use crate::who::Who;
use std::time::Duration;

impl Desk<'_> {
    pub(super) fn order(&self, order: &Directive, who: &Who) -> Decided {
        let (state, policy, now) = (self.state, self.policy, self.now);
        if let Who::Agent(agent) = who {
            vcp::may_order(state, agent, begins(order))?;
        }
        let ruling = match order {
            Directive::Vcp(order) => return self.follow_all(vcp::order(state, policy, now, order, who)?, who),
            Directive::Review(review) => hold::review(state, policy, now, review, who),
            Directive::Cap(order) => cap::order(state, policy, now, (order, self.earlier), who),
            Directive::Acl(order) => acl::order(state, policy, now, order, who),
            Directive::Vlp(order) => vlp::order(state, policy, now, order, who),
            Directive::Extension(order) => extensions::order(state, policy, now, order, who),
            Directive::Identity(order) => identity::order(state, self.policy, self.clocks().latest(), order, who),
            Directive::Copy { size, keys } => return self.copied(*size, *keys, who),
        }?;
        let verdict = Verdict::Accepted { position: state.next, id: String::new(), new: false, details: None };
        Ok(Decision { verdict, entries: self.follow(ruling, &who.to_string()) })
    }

    /// The entries a ruling without a message makes.
    pub(super) fn follow(&self, ruling: Ruling, by: &str) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.follow_onto(ruling, by, &mut entries);
        entries
    }

    /// Rulings that are one decision, one behind the other.
    fn follow_all(&self, rulings: Vec<Ruling>, who: &Who) -> Decided {
        let (by, mut entries) = (who.to_string(), Vec::new());
        rulings.into_iter().for_each(|ruling| self.follow_onto(ruling, &by, &mut entries));
        let verdict = Verdict::Accepted { position: self.state.next, id: String::new(), new: false, details: None };
        Ok(Decision { verdict, entries })
    }

    /// The entries a ruling without a message makes, behind those that the decision has made so far.
    pub(super) fn follow_onto(&self, mut ruling: Ruling, by: &str, entries: &mut Vec<Entry>) {
        look_at_released(self.state, self.policy, self.now, &mut ruling);
        let Ruling { changes, released, heard, again, .. } = ruling;
        let first = self.state.next + entries.len() as u64;
        if !changes.is_empty() {
            let effect = Effect::Changed { changes, by: by.to_owned() };
            entries.push(Entry { position: first, at: self.now, effect, body: None });
        }
        for Again { message, to: agent, from } in again {
            let expires = self.now.plus(self.policy.time_to_live);
            let effect = Effect::Resent(Resent { agent, routed: message, message, expires, by: by.to_owned(), from });
            let position = self.state.next + entries.len() as u64;
            entries.push(Entry { position, at: self.now, effect, body: None });
        }
        self.consequences(first, released, heard, entries);
    }

    /// What follows an entry: held messages that go on, and what the exchange says.
    pub(super) fn consequences(
        &self,
        because: u64,
        released: Vec<u64>,
        heard: Vec<crate::rules::Heard>,
        entries: &mut Vec<Entry>,
    ) {
        let next = |entries: &Vec<Entry>| self.state.next + entries.len() as u64;
        for message in released {
            let Some(hold) = self.state.rules.holds.get(message) else { continue };
            let (to, from) = (hold.to.iter().cloned().collect(), hold.from);
            let expires = self.now.plus(Duration::from_micros(hold.left));
            let review = self.review_outcome(message, hold, entries);
            let effect = Effect::Released(Released { message, to, from, expires, review });
            entries.push(Entry { position: next(entries), at: self.now, effect, body: None });
        }
        for heard in heard {
            entries.extend(utter(self.policy, (next(entries), self.now), because, heard));
        }
    }
}

impl Desk<'_> {
    /// The decision by which a held message goes on: one in these entries, which are not applied yet, or one before.
    fn review_outcome(&self, message: u64, hold: &Hold, entries: &[Entry]) -> Option<ReviewOutcome> {
        let approval = |change: &Change| match change {
            Change::Hold(hold::Change::Lifted {
                message: lifted,
                lifts: Lifter::Person | Lifter::Overseer(_),
                by,
                ..
            }) if *lifted == message => Some(by.clone()),
            _ => None,
        };
        let now = entries.iter().flat_map(|entry| entry.effect.made()).filter_map(approval).last();
        let by = now.or_else(|| hold.approved_by.clone())?;
        let by = hold::reviewer_name(self.policy, &by).to_owned();
        Some(ReviewOutcome { decision: "approve".to_owned(), by, digest: hold.digest.clone()? })
    }
}

/// Whether an order begins something, which a paused agent may not.
fn begins(order: &Directive) -> bool {
    match order {
        Directive::Cap(order) => match order.step {
            cap::Step::Retry | cap::Step::Reassign(_) => true,
            cap::Step::Escalate => false,
        },
        Directive::Review(_)
        | Directive::Vcp(_)
        | Directive::Acl(_)
        | Directive::Vlp(_)
        | Directive::Extension(_)
        | Directive::Identity(_)
        | Directive::Copy { .. } => false,
    }
}
