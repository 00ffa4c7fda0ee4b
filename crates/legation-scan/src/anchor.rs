//! The rarest part of a phrase. Where it does not stand the phrase does not either, so only there is looked closer.

use crate::lexicon::Lexicon;
use crate::slots::Slots;

/// Words of phrases that stand in almost every text, or in what messages are made of.
const EVERYWHERE: &str = "the to for of is this on with from that as if by not are will when you no all any at new \
    your has have do only message request task key token session exchange legation was should before what here been me";
/// Words of phrases that stand in many texts.
const OFTEN: &str = "now please api text agent example given user run must these know tell log rule because system content \
    give send full show users note first call env context without words parent identity above follow report were don \
    real keep order required following print output mode longer updated over zero access including never every policy \
    rules review operator ask model models language cannot avoid debug private apply base actual post share step \
    exactly hold everything anything safety email out off turn original initial existing previously previous word \
    enable removed parsing master invalid released disable skip";

/// The rarest part of a phrase.
pub(crate) struct Anchor {
    pub(crate) slot: Slots,
    /// The slots before it and after it, if there are any.
    pub(crate) beside: (Option<Slots>, Option<Slots>),
    pub(crate) reach: Reach,
}

/// How many words before the rarest and after it the others stand at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Those beside it.
    pub(crate) close: (u32, u32),
    /// All of them.
    pub(crate) far: (u32, u32),
}

impl Reach {
    /// The farther of both.
    pub(crate) fn or(self, other: Reach) -> Reach {
        let farther = |one: (u32, u32), other: (u32, u32)| (one.0.max(other.0), one.1.max(other.1));
        Reach { close: farther(self.close, other.close), far: farther(self.far, other.far) }
    }
}

impl Anchor {
    /// That of a phrase of these slots, each with how many other words may stand before it.
    pub(crate) fn of(slots: &[(u32, Slots)], lexicon: &mut Lexicon) -> Anchor {
        let rarest = rarest(slots, lexicon);
        let span = |slots: Option<&[(u32, Slots)]>| slots.into_iter().flatten().map(|(gap, _)| gap + 1).sum::<u32>();
        let slot = |number: Option<usize>| number.and_then(|number| slots.get(number)).map(|(_, slot)| *slot);
        let before = rarest.checked_sub(1);
        Anchor {
            slot: slot(Some(rarest)).unwrap_or_default(),
            beside: (slot(before), slot(Some(rarest + 1))),
            reach: Reach {
                close: (span(before.and(slots.get(rarest..=rarest))), span(slots.get(rarest + 1..rarest + 2))),
                far: (span(slots.get(1..=rarest)), span(slots.get(rarest + 1..))),
            },
        }
    }
}

/// Which of these slots is filled by the rarest words.
fn rarest(slots: &[(u32, Slots)], lexicon: &mut Lexicon) -> usize {
    let has = |list: &str, word: &[u8]| list.split_whitespace().any(|known| known.as_bytes() == word);
    let weight = |word: &[u8]| match word {
        word if has(EVERYWHERE, word) => 100,
        word if has(OFTEN, word) => 10,
        _ => 1,
    };
    let mut weigh = |slot| lexicon.filling(slot).map(|word| weight(&word.text)).sum::<u32>();
    let weighed = slots.iter().enumerate().map(|(number, (_, slot))| (weigh(*slot), number));
    weighed.min().map_or(0, |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::Reach;
    use crate::patterns::LISTS;
    use crate::phrase::Phrases;

    #[track_caller]
    fn check(phrase: &'static str, anchor: &str, close: (u32, u32), far: (u32, u32)) {
        let mut phrases = Phrases::default();
        assert!(phrases.add(0, phrase, LISTS));
        phrases.index();
        assert_eq!(phrases.lexicon.anchors().collect::<Vec<_>>(), [anchor.as_bytes()], "{phrase}");
        let word = phrases.lexicon.find(anchor.as_bytes(), 0, anchor.len());
        assert_eq!(word.map(|word| word.reach), Some(Reach { close, far }), "{phrase}");
    }

    #[test]
    fn a_phrase_is_looked_for_around_its_rarest_word() {
        check("you are now", "now", (1, 0), (2, 0));
        check("do anything now", "anything", (1, 1), (1, 1));
        check("the ..2 all jailbreak ..3 to", "jailbreak", (1, 4), (4, 4));
        check("the ..1 jailbreak to all", "jailbreak", (2, 1), (2, 2));
        check("jailbreak", "jailbreak", (0, 0), (0, 0));
    }
}
