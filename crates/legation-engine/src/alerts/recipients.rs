//! Who is told alerts, by names that stay the same from one configuration to the next, and how far each was told.

use super::AlertSettings;
use super::notes::{Note, Notes};
use super::queue::Queue;
use legation_exchange::{Alert, Alerts, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// The name of the program that is told.
const COMMAND: &str = "command";

impl AlertSettings {
    /// Who is told, by name, and which kinds: the webhooks, then the command.
    pub(super) fn recipients(&self) -> Vec<(String, BTreeSet<Kind>)> {
        let mut same: BTreeMap<&str, usize> = BTreeMap::new();
        let webhooks = self.webhooks.iter().map(|webhook| {
            let number = same.entry(&webhook.url).or_default();
            *number += 1;
            (format!("webhook {number} {}", webhook.url), webhook.kinds.clone())
        });
        let command = (!self.command.is_empty()).then(|| (COMMAND.to_owned(), Kind::ALL.into()));
        webhooks.chain(command).collect()
    }
}

/// All who are told.
#[derive(Debug, Default)]
pub(super) struct Recipients {
    all: BTreeMap<String, Recipient>,
    /// How often it was settled who is told.
    turn: u64,
}

/// One of them, for as long as it is not settled anew who is told.
#[derive(Clone, Debug)]
pub(super) struct Whom {
    name: String,
    turn: u64,
}

/// One who is told.
#[derive(Debug)]
pub(super) struct Recipient {
    kinds: BTreeSet<Kind>,
    /// Up to which number alerts were taken in.
    taken: Option<u64>,
    /// How many were taken in from elsewhere. Those are numbered by it, below all others: the others' numbers are times.
    early: u64,
    pub(super) queue: Queue,
    /// Until it has caught up.
    behind: Option<Behind>,
}

/// What one is told of the time before a start.
#[derive(Debug)]
struct Behind {
    /// How far it was told.
    note: Note,
    /// What was raised again for it. However much that is, it gathers as if it came at once.
    again: Alerts,
}

impl Recipients {
    /// Lets these be told, and no others. Those who are new are told what is open, and what comes after this number.
    pub(super) fn appoint(&mut self, wanted: Vec<(String, BTreeSet<Kind>)>, after: Option<u64>, open: &[Alert]) {
        let now = Instant::now();
        let mut before = std::mem::take(&mut self.all);
        self.turn += 1;
        for (name, kinds) in wanted {
            let recipient = match before.remove(&name) {
                Some(same) => Recipient { kinds, ..same },
                None => Recipient::new(kinds, after, open),
            };
            self.all.entry(name).or_insert(recipient).queue.reset(now);
        }
    }

    /// Lets all go on after a start from where they were. Who is new, or was further back than `since`, is told what is
    /// open; of what is open before that, others are told the rest.
    pub(super) fn go_on(&mut self, notes: &Notes, open: &[Alert], since: u64, after: Option<u64>) {
        for (name, recipient) in &mut self.all {
            let kinds = recipient.kinds.clone();
            *recipient = match notes.note(name).filter(|note| note.next >= since) {
                None => Recipient::new(kinds, after, open),
                Some(note) => {
                    let is_untold = |alert: &&Alert| {
                        alert.position.is_some_and(|position| (note.from(alert.kind)..since).contains(&position))
                    };
                    let rest = open.iter().filter(is_untold).map(|alert| Alert { again: true, ..alert.clone() });
                    let behind = Some(Behind { note: note.clone(), again: Alerts::default() });
                    Recipient { behind, ..Recipient::new(kinds, after, &rest.collect::<Vec<_>>()) }
                }
            };
        }
    }

    /// The first entry that raised what somebody noted was not told.
    pub(super) fn first(&self, notes: &Notes) -> Option<u64> {
        self.all.keys().filter_map(|name| notes.note(name)).map(|note| note.first()).min()
    }

    /// Takes in what was raised before the start, for those who were not told.
    pub(super) fn raise_again(&mut self, alert: &Alert) {
        self.all.values_mut().for_each(|recipient| recipient.raise_again(alert));
    }

    /// There is nothing more from before the start.
    pub(super) fn catch_up(&mut self) {
        self.all.values_mut().for_each(Recipient::catch_up);
    }

    /// One by its name.
    pub(super) fn whom(&self, name: String) -> Whom {
        Whom { name, turn: self.turn }
    }

    /// Nothing for those who told somebody before it was settled anew.
    pub(super) fn of(&mut self, whom: &Whom) -> Option<&mut Recipient> {
        let is_now = whom.turn == self.turn;
        self.all.get_mut(&whom.name).filter(|_| is_now)
    }

    /// How far all were told, when so many entries were looked at.
    pub(super) fn notes(&self, alerts: &Alerts, seen: u64) -> Notes {
        Notes::of(self.all.iter().map(|(name, recipient)| (name.clone(), recipient.note(alerts, seen))))
    }
}

impl Recipient {
    fn new(kinds: BTreeSet<Kind>, taken: Option<u64>, open: &[Alert]) -> Recipient {
        let mut recipient = Recipient { kinds, taken, early: 0, queue: Queue::default(), behind: None };
        // However much is open, it gathers as if it came at once.
        let mut alerts = Alerts::default();
        for alert in open {
            alerts.raise(alert.clone(), Duration::ZERO);
        }
        let first = alerts.after(None).map(|(_, first)| first);
        first.chain(alerts.gathered()).for_each(|alert| recipient.put_early(alert.clone()));
        recipient
    }

    /// Takes in what is new.
    pub(super) fn take_in(&mut self, alerts: &Alerts) {
        for (number, alert) in alerts.after(self.taken) {
            self.taken = Some(number);
            self.put(number, alert.clone());
        }
    }

    fn put_early(&mut self, alert: Alert) {
        self.early += 1;
        self.put(self.early, alert);
    }

    fn put(&mut self, number: u64, alert: Alert) {
        if !self.kinds.contains(&alert.kind) {
            return;
        }
        if let Some(gone) = self.queue.put(number, alert, Instant::now()) {
            tracing::error!(alert = gone.id, "too many alerts wait: one could not be told");
        }
    }

    fn raise_again(&mut self, alert: &Alert) {
        let Some(Behind { note, again }) = &mut self.behind else { return };
        if alert.position < Some(note.from(alert.kind)) {
            return;
        }
        let before = again.last();
        again.raise(alert.clone(), Duration::ZERO);
        // The first of a kind is there at once, and the others gather.
        let first = again.after(before).next().map(|(_, first)| first.clone());
        if let Some(first) = first {
            self.put_early(first);
        }
    }

    fn catch_up(&mut self) {
        if let Some(Behind { again, .. }) = self.behind.take() {
            again.gathered().for_each(|gathered| self.put_early(gathered.clone()));
        }
    }

    fn note(&self, alerts: &Alerts, seen: u64) -> Note {
        if let Some(behind) = &self.behind {
            return behind.note.clone();
        }
        let coming = alerts.after(self.taken).map(|(_, alert)| alert).chain(alerts.gathered());
        let coming = coming.filter(|alert| self.kinds.contains(&alert.kind));
        let mut untold = BTreeMap::new();
        for alert in coming.chain(self.queue.open()) {
            if let Some(position) = alert.position {
                let first = untold.entry(alert.kind).or_insert(position);
                *first = position.min(*first);
            }
        }
        Note { next: seen, untold }
    }
}

#[cfg(test)]
mod tests {
    use super::{Behind, Recipient};
    use crate::alerts::notes::Note;
    use legation_exchange::{Alert, Alerts, Kind, Moment};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn however_much_was_missed_the_first_of_a_kind_is_told_and_one_for_the_rest() {
        let behind = Behind { note: Note { next: 10, ..Note::default() }, again: Alerts::default() };
        let new = Recipient::new(Kind::ALL.into(), None, &[]);
        let mut recipient = Recipient { behind: Some(behind), ..new };
        let alert = Alert { kind: Kind::Conflict, ..Alert::storage(Moment::from_micros(1), "x") };
        for position in 0..100_000 {
            recipient.raise_again(&Alert { position: Some(position), ..alert.clone() });
        }
        assert_eq!(recipient.queue.open().count(), 1, "it is told before all is read");
        // Until then it is not noted: a stop would forget the rest.
        assert_eq!(recipient.note(&Alerts::default(), 200_000), Note { next: 10, ..Note::default() });
        recipient.catch_up();
        let (_, first) = recipient.queue.next(Instant::now()).unwrap();
        assert_eq!((first.position, first.count), (Some(10), 1));
        let rest: Vec<_> = recipient.queue.open().map(|alert| (alert.position, alert.count)).collect();
        assert_eq!(rest, [(Some(10), 1), (Some(11), 99_989)]);
        let note = recipient.note(&Alerts::default(), 200_000);
        assert_eq!(
            (note.next, note.first(), note.from(Kind::Conflict), note.from(Kind::Flood)),
            (200_000, 10, 10, 200_000)
        );
    }
}
