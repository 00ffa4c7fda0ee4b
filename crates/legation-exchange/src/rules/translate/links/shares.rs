//! How many links each speaker has. Nobody's push out another's: who has the most loses its oldest. What binds somebody
//! stays, for whoever forgot it would have more rights than it was given.

use super::Link;
use crate::by_name::ByName;
use std::collections::BTreeSet;

/// How many are known in all.
const MOST: usize = 100_000;
/// How many of one speaker.
const SHARE: usize = 10_000;

/// The links of everybody, by who spoke.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shares {
    own: ByName<Own>,
    /// Those of all that may be forgotten.
    loose: BTreeSet<u64>,
    bound: usize,
}

/// The links of one speaker.
#[derive(Clone, Debug, Default, PartialEq)]
struct Own {
    /// Those that may be forgotten.
    loose: BTreeSet<u64>,
    /// How many may not.
    bound: usize,
}

impl Own {
    fn len(&self) -> usize {
        self.loose.len() + self.bound
    }
}

impl Shares {
    pub(super) fn put(&mut self, link: &Link) {
        let own = self.own.or_default(&link.translation.from);
        if link.binds() {
            own.bound += 1;
            self.bound += 1;
        } else {
            own.loose.insert(link.position);
            self.loose.insert(link.position);
        }
    }

    pub(super) fn take(&mut self, link: &Link) {
        let from = &link.translation.from;
        let Some(own) = self.own.get_mut(from) else { return };
        if link.binds() {
            own.bound = own.bound.saturating_sub(1);
            self.bound = self.bound.saturating_sub(1);
        } else {
            own.loose.remove(&link.position);
            self.loose.remove(&link.position);
        }
        if own.len() == 0 {
            self.own.remove(from);
        }
    }

    /// Whether a speaker may ask one thing more: not if all it has binds somebody.
    pub(super) fn has_room(&self, speaker: &str) -> bool {
        self.bound < MOST && self.own.get(speaker).is_none_or(|own| own.bound < SHARE)
    }

    /// The oldest that may be forgotten.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.loose.first().copied()
    }

    /// What is to be forgotten for the last that a speaker said, which stays.
    pub(super) fn too_much(&self, speaker: &str, last: u64) -> Option<u64> {
        let own = self.own.get(speaker)?;
        if own.len() > SHARE {
            return own.loose.first().copied().filter(|first| *first != last);
        }
        if self.loose.len() + self.bound <= MOST {
            return None;
        }
        let most = self.own.iter().filter(|(_, own)| own.loose.first().is_some_and(|first| *first != last));
        most.max_by_key(|(_, own)| own.len()).and_then(|(_, own)| own.loose.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, SHARE};
    use crate::moment::Moment;
    use crate::rules::At;
    use crate::rules::translate::{Links, Step, Translation};
    use legation_protocol::Format;
    use std::time::Duration;

    fn says(links: &mut Links, from: &str, position: u64, step: Step, ask: Option<u64>) {
        let translation = Translation {
            original: position,
            from: from.to_owned(),
            to: if step == Step::Asks { "worker" } else { "asker" }.to_owned(),
            id: format!("id-{position}"),
            dialect: Format::Vlp,
            thread: None,
            said: format!("said-{position}"),
            said_in: Format::Acl,
            said_thread: None,
            ask,
            step,
            reply_with: None,
            ontology: None,
            below: (step == Step::Asks).then_some(1),
            task: None,
            waits: false,
            is_alarm: false,
        };
        links.apply(At { position, at: Moment::from_micros(position) }, &translation);
    }

    #[test]
    fn a_flood_pushes_out_its_own_and_nobody_elses() {
        let mut links = Links::default();
        says(&mut links, "quiet", 0, Step::Asks, None);
        let many = SHARE as u64 + 50;
        (1..=many).for_each(|position| says(&mut links, "loud", position, Step::Asks, None));
        assert!(links.get(0).is_some());
        assert!(links.get(50).is_none() && links.get(51).is_some(), "its oldest go first");
        assert_eq!(links.len(), SHARE + 1);
    }

    #[test]
    fn many_who_are_loud_push_out_the_loudest() {
        let mut links = Links::default();
        says(&mut links, "quiet", 0, Step::Asks, None);
        for position in 1..=(MOST as u64 + 5000) {
            says(&mut links, &format!("loud-{}", position % 11), position, Step::Asks, None);
        }
        assert!(links.get(0).is_some());
        assert_eq!(links.len(), MOST);
    }

    #[test]
    fn what_binds_somebody_is_not_forgotten_until_it_is_ended() {
        let mut links = Links::default();
        says(&mut links, "asker", 0, Step::Asks, None);
        says(&mut links, "worker", 1, Step::Accepts, Some(0));
        let many = SHARE as u64 + 50;
        (2..=many).for_each(|position| says(&mut links, "asker", position, Step::Asks, None));
        assert_eq!(links.asked_below("worker").collect::<Vec<_>>(), [(0, 1)]);
        let week = Moment::default().plus(Duration::from_hours(169)).micros();
        says(&mut links, "asker", week, Step::Asks, None);
        assert_eq!(links.asked_below("worker").collect::<Vec<_>>(), [(0, 1)], "however old it is");
        says(&mut links, "worker", week + 1, Step::Ends, Some(0));
        assert_eq!(links.asked_below("worker").count(), 0);
        assert!(links.get(0).is_none());
    }

    #[test]
    fn a_name_stays_with_an_older_ask_when_a_newer_word_is_forgotten() {
        let mut links = Links::default();
        let word = |position: u64, step: Step| {
            let both = ["asker", "worker"].map(str::to_owned);
            let [from, to] = if step == Step::Asks { both } else { [both[1].clone(), both[0].clone()] };
            let (id, said) = (format!("id-{position}"), format!("said-{position}"));
            let thread = Some("t".to_owned()).filter(|_| position < 2);
            let (dialect, said_in) =
                if step == Step::Asks { (Format::Vlp, Format::Cap) } else { (Format::Cap, Format::Vlp) };
            let (own, said_thread) = if step == Step::Asks { (None, thread) } else { (thread, None) };
            Translation {
                original: position,
                from,
                to,
                id,
                dialect,
                thread: own,
                said,
                said_in,
                said_thread,
                ask: None,
                step,
                reply_with: None,
                ontology: None,
                below: None,
                task: None,
                waits: false,
                is_alarm: false,
            }
        };
        let mut say = |position: u64, step: Step| {
            links.apply(At { position, at: Moment::from_micros(position) }, &word(position, step));
        };
        say(0, Step::Asks);
        (1..=SHARE as u64 + 1).for_each(|position| say(position, Step::Says));
        assert!(links.get(1).is_none() && links.get(0).is_some());
        let known: Vec<_> = links.named("worker", "t", |_| false).map(|(other, link)| (other, link.position)).collect();
        assert_eq!(known, [("asker", 0)]);
        assert_eq!(Links::from(Vec::from(links.clone())), links, "a snapshot knows the same");
    }

    #[test]
    fn nobody_asks_for_more_that_binds_than_its_share() {
        let mut links = Links::default();
        for ask in (0..SHARE as u64).map(|number| number * 2) {
            assert!(links.has_room("asker"));
            says(&mut links, "asker", ask, Step::Asks, None);
            says(&mut links, "worker", ask + 1, Step::Accepts, Some(ask));
        }
        assert!(!links.has_room("asker") && links.has_room("worker"));
        assert_eq!(links.asked_below("worker").count(), SHARE);
        says(&mut links, "worker", 3 * SHARE as u64, Step::Ends, Some(0));
        assert!(links.has_room("asker"));
    }
}
