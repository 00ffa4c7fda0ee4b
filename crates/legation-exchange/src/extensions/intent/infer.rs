//! The conclusion: points are added up, the best category stands, and what spoke for it is told.

use super::Category;
use super::rules::{Cue, RULES, Rule};
use crate::extensions::personal::{Lifecycle, Signal};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most alternatives.
const ALTERNATIVES: usize = 3;
/// Doubt, in points: the fewer speak for something the less sure it is.
const DOUBT: u32 = 20;
/// How sure it is when nothing speaks for anything, in thousandths.
const GUESS: u32 = 150;
/// A text of so few words is short.
const SHORT: usize = 4;

/// What was said.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'h> {
    /// In words.
    pub text: &'h str,
    /// On what, where that was said.
    pub topic: Option<&'h str>,
    /// In which ontology.
    pub ontology: Option<&'h str>,
}

/// What was concluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inference {
    /// The best.
    pub best: Guess,
    /// The next best, at most three.
    pub alternatives: Vec<Guess>,
    /// The rules that spoke, in their order.
    pub fired: Vec<Fired>,
    /// Whether it could take into account how they are.
    pub personal_signals: bool,
}

/// Something it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guess {
    /// What.
    pub category: Category,
    /// How sure that is, in thousandths.
    pub thousandths: u32,
}

/// A rule that spoke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fired {
    /// Which.
    pub rule: String,
    /// For what.
    pub category: Category,
    /// How much.
    pub points: u32,
    /// What it found.
    pub found: String,
}

/// Concludes what somebody is after. Without their signals it is less sure.
pub fn infer(heard: Heard<'_>, signals: Option<Vec<&Signal>>, now: Moment) -> Inference {
    let personal_signals = signals.is_some();
    let scene = Scene::of(heard, signals.unwrap_or_default(), now);
    let fired: Vec<_> = RULES.iter().filter_map(|rule| scene.fires(rule)).collect();
    let mut points = BTreeMap::new();
    for one in &fired {
        *points.entry(one.category).or_insert(0) += one.points;
    }
    let total: u32 = points.values().sum::<u32>() + DOUBT;
    let sure = |part: u32| weakened(part * 1000 / total, personal_signals);
    let mut guesses: Vec<_> =
        points.iter().map(|(category, points)| Guess { category: *category, thousandths: sure(*points) }).collect();
    // The surest first; of equals the one that stands first in the spec.
    guesses.sort_by_key(|guess| (std::cmp::Reverse(guess.thousandths), guess.category));
    let mut guesses = guesses.into_iter();
    let nothing = || Guess { category: Category::CasualConversation, thousandths: weakened(GUESS, personal_signals) };
    let best = guesses.next().unwrap_or_else(nothing);
    Inference { best, alternatives: guesses.take(ALTERNATIVES).collect(), fired, personal_signals }
}

/// Without personal signals a fifth of the confidence is gone.
const fn weakened(thousandths: u32, personal_signals: bool) -> u32 {
    if personal_signals { thousandths } else { thousandths * 4 / 5 }
}

/// What rules look at.
struct Scene<'s> {
    /// The words of the text with single spaces around them.
    words: String,
    count: usize,
    about: String,
    asks: bool,
    signals: Vec<&'s Signal>,
    now: Moment,
}

impl<'s> Scene<'s> {
    fn of(heard: Heard<'_>, signals: Vec<&'s Signal>, now: Moment) -> Scene<'s> {
        let (words, count) = plain(heard.text);
        let about = plain(&format!("{} {}", heard.topic.unwrap_or_default(), heard.ontology.unwrap_or_default())).0;
        Scene { words, count, about, asks: heard.text.contains('?'), signals, now }
    }

    fn fires(&self, rule: &Rule) -> Option<Fired> {
        let (points, found) = match &rule.cue {
            Cue::Says(words) => (rule.points, (*first(words, &self.words)?).to_owned()),
            Cue::About(words) => (rule.points, (*first(words, &self.about)?).to_owned()),
            Cue::Signal(dimension, categories) => {
                let fits = |signal: &&&Signal| {
                    signal.dimension == *dimension
                        && categories.contains(&signal.category.as_str())
                        && signal.lifecycle(self.now) != Lifecycle::Expired
                };
                let signal = self.signals.iter().find(fits)?;
                let left = u32::from(signal.effective(self.now));
                (rule.points * left / 5, format!("{} {} at {left}", dimension.as_str(), signal.category))
            }
            Cue::Asks => (self.asks.then_some(rule.points)?, "?".to_owned()),
            Cue::IsShort => {
                let is_short = (1..=SHORT).contains(&self.count);
                (is_short.then_some(rule.points)?, format!("{} words", self.count))
            }
        };
        Some(Fired { rule: rule.id.to_owned(), category: rule.category, points, found })
    }
}

fn first<'w>(words: &'w [&'static str], text: &str) -> Option<&'w &'static str> {
    words.iter().find(|word| text.contains(&format!(" {word} ")))
}

/// Words in lower case with one space around each, and how many.
fn plain(text: &str) -> (String, usize) {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold((" ".to_owned(), 0), |(all, count), word| (all + word + " ", count + 1))
}

#[cfg(test)]
mod tests {
    use super::{Category, Heard, Inference, infer};
    use crate::extensions::personal::{Dimension, Signal, Source};
    use crate::moment::Moment;
    use proptest::prelude::*;

    fn said(text: &str) -> Heard<'_> {
        Heard { text, topic: None, ontology: None }
    }

    fn signal(dimension: Dimension, category: &str, intensity: u8) -> Signal {
        let (category, since) = (category.to_owned(), Moment::default());
        Signal { dimension, category, intensity, confidence: 1.0, source: Source::Declared, pinned: true, since }
    }

    fn plain(text: &str) -> Inference {
        infer(said(text), Some(Vec::new()), Moment::default())
    }

    #[test]
    fn every_category_is_found_by_words_for_it() {
        let table = [
            ("Which contract does the client want in the quarterly report?", Category::ProfessionalInquiry),
            ("The server is down, fix it immediately!", Category::UrgentTask),
            ("I wonder about my values and who am I", Category::PersonalExploration),
            ("I feel so lonely since the move", Category::EmotionalProcessing),
            ("I have a headache and a fever", Category::HealthCheck),
            ("Hello, how are you?", Category::CasualConversation),
            ("I want to die", Category::CrisisSupport),
            ("Write a poem on the sea", Category::CreativeWork),
            ("Explain how does a heat pump work", Category::Learning),
            ("Daily status, all good?", Category::RoutineCheck),
        ];
        for (text, want) in table {
            let told = plain(text);
            assert_eq!(told.best.category, want, "{text}: {told:?}");
            assert!(told.fired.iter().any(|fired| fired.category == want && !fired.found.is_empty()));
        }
    }

    #[test]
    fn need_comes_before_everything_else() {
        let told = plain("Urgent: explain the contract to the client, then I want to end my life");
        assert_eq!(told.best.category, Category::CrisisSupport);
        assert_eq!(told.alternatives.len(), 3);
    }

    #[test]
    fn nothing_said_is_talk_and_hardly_sure() {
        let told = plain("...");
        assert_eq!((told.best.category, told.best.thousandths), (Category::CasualConversation, 150));
        assert!(told.fired.is_empty() && told.alternatives.is_empty());
    }

    #[test]
    fn signals_speak_as_much_as_is_left_of_them() {
        let check = |intensity: u8, points: u32| {
            let pain = signal(Dimension::BodySignals, "pain", intensity);
            let told = infer(said("x"), Some(vec![&pain]), Moment::default());
            let fired: Vec<_> = told.fired.iter().map(|fired| (&*fired.rule, fired.points)).collect();
            assert_eq!(fired, [("health-signal", points), ("talk-short", 5)]);
        };
        check(5, 25);
        check(3, 15);
        check(1, 5);
    }

    #[test]
    fn a_signal_that_is_gone_says_nothing() {
        let pain = Signal { pinned: false, ..signal(Dimension::BodySignals, "pain", 5) };
        let speaks = |hours: u64| {
            let now = Moment::default().plus(std::time::Duration::from_hours(hours));
            infer(said("x"), Some(vec![&pain]), now).fired.iter().any(|fired| fired.rule == "health-signal")
        };
        assert!(speaks(4) && !speaks(9));
    }

    #[test]
    fn topics_speak_too() {
        let heard = Heard { text: "the third one", topic: Some("Medical advice"), ontology: None };
        assert_eq!(infer(heard, Some(Vec::new()), Moment::default()).best.category, Category::HealthCheck);
        let heard = Heard { text: "the third one", topic: None, ontology: Some("school:study") };
        assert_eq!(infer(heard, Some(Vec::new()), Moment::default()).best.category, Category::Learning);
    }

    proptest! {
        #[test]
        fn it_is_less_sure_without_signals_and_always_the_same(text in "(hello|urgent|poem|status|pain|\\?| |x){0,12}") {
            let (with, without) = (plain(&text), infer(said(&text), None, Moment::default()));
            prop_assert_eq!(&with, &plain(&text));
            prop_assert_eq!(with.best.category, without.best.category);
            prop_assert!(without.best.thousandths < with.best.thousandths);
            prop_assert!(!without.personal_signals && with.alternatives.len() <= 3);
            prop_assert!(with.alternatives.iter().all(|other| other.thousandths <= with.best.thousandths));
            prop_assert!(with.best.thousandths < 1000);
        }
    }
}
