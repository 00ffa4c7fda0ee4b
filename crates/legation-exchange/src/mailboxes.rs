//! All mailboxes: how much waits in them together and of whom, and when the first item expires. Counted item by item as they
//! come and go, so that no decision walks through all mailboxes.

mod unread;

pub(crate) use unread::{FamilyKey, UnreadCounts};

use crate::by_name::ByName;
use crate::mailbox::{Item, Mailbox};
use crate::moment::Moment;
use crate::registry::Registry;
use std::collections::BTreeSet;

/// All mailboxes, by agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mailboxes {
    boxes: ByName<Mailbox>,
    unread: UnreadCounts,
    /// Mailboxes by the time before which none of their items expires.
    deadlines: BTreeSet<(Moment, String)>,
}

impl PartialEq for Mailboxes {
    /// The bound on expiry may lag behind what was taken out.
    fn eq(&self, other: &Self) -> bool {
        self.boxes == other.boxes && self.unread == other.unread
    }
}

impl Mailboxes {
    /// Returns the mailbox of an agent.
    pub(crate) fn get(&self, agent: &str) -> Option<&Mailbox> {
        self.boxes.get(agent)
    }

    /// Returns all of them, by agent.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Mailbox)> {
        self.boxes.iter()
    }

    /// Returns how much waits, and of whom.
    pub(crate) const fn unread(&self) -> &UnreadCounts {
        &self.unread
    }

    /// Returns those in which something may have expired, by agent.
    pub(crate) fn expiring(&self, now: Moment) -> impl Iterator<Item = (&str, &Mailbox)> {
        let agents: BTreeSet<&str> = self.until(now).collect();
        agents.into_iter().filter_map(|agent| Some((agent, self.boxes.get(agent)?)))
    }

    fn until(&self, now: Moment) -> impl Iterator<Item = &str> {
        self.deadlines.iter().take_while(move |(first, _)| *first <= now).map(|(_, agent)| agent.as_str())
    }

    /// Makes an empty mailbox where there is none.
    pub(crate) fn open(&mut self, agent: &str) {
        self.boxes.or_default(agent);
    }

    /// Puts an item into a mailbox.
    pub(crate) fn put(&mut self, agent: &str, item: Item, registry: &Registry) {
        self.unread.add(item.from, registry);
        if self.change(agent, |mailbox, _| mailbox.put(item)).is_none() {
            self.open(agent);
            self.change(agent, |mailbox, _| mailbox.put(item));
        }
    }

    /// Changes a mailbox; what is taken out is no longer counted.
    pub(crate) fn change<T>(
        &mut self,
        agent: &str,
        change: impl FnOnce(&mut Mailbox, &mut UnreadCounts) -> T,
    ) -> Option<T> {
        let mailbox = self.boxes.get_mut(agent)?;
        let before = mailbox.earliest();
        let changed = change(mailbox, &mut self.unread);
        let after = mailbox.earliest();
        self.note_deadline(agent, before, after);
        Some(changed)
    }

    /// Changes all of them, by agent.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&str, &mut Mailbox, &mut UnreadCounts)) {
        let Mailboxes { boxes, unread, .. } = self;
        for (agent, mailbox) in boxes.iter_mut() {
            change(agent, mailbox, unread);
        }
    }

    /// Removes a mailbox.
    pub(crate) fn remove(&mut self, agent: &str) -> Option<Mailbox> {
        let mailbox = self.boxes.remove(agent)?;
        mailbox.after(None).for_each(|item| self.unread.remove(&item));
        self.note_deadline(agent, mailbox.earliest(), None);
        Some(mailbox)
    }

    /// Finds out anew when the first item expires, where that time has come.
    pub(crate) fn look_ahead(&mut self, now: Moment) {
        let agents: Vec<_> = self.until(now).map(str::to_owned).collect();
        for agent in agents {
            self.change(&agent, |mailbox, _| mailbox.look_again());
        }
    }

    /// Adds a mailbox that was read from a snapshot. It is not counted yet.
    pub(crate) fn restore(&mut self, agent: String, mailbox: Mailbox) {
        self.note_deadline(&agent, None, mailbox.earliest());
        self.boxes.insert(agent, mailbox);
    }

    /// Counts everything anew, with the families of removed senders.
    pub(crate) fn count_anew(&mut self, registry: &Registry, removed: Vec<(u64, FamilyKey)>) {
        self.unread = UnreadCounts::with_removed(removed);
        for item in self.boxes.iter().flat_map(|(_, mailbox)| mailbox.after(None)) {
            self.unread.add(item.from, registry);
        }
    }

    /// Counts senders for another family, after agents of this one were moved or removed.
    pub(crate) fn move_family(&mut self, family: &FamilyKey, registry: &Registry) {
        self.unread.move_family(family, registry);
    }

    fn note_deadline(&mut self, agent: &str, before: Option<Moment>, after: Option<Moment>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.deadlines.remove(&(before, agent.to_owned()));
        }
        if let Some(after) = after {
            self.deadlines.insert((after, agent.to_owned()));
        }
    }
}
