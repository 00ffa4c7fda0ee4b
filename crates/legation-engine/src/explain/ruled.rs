//! What the rules made of a message: what they found, why it was held, who lifted that.

use super::{Step, moved};
use crate::exchange::{Error, Exchange};
use legation_exchange::rules::cap::{Judged, Word};
use legation_exchange::rules::hold::{self, Lifter};
use legation_exchange::rules::translate::Translation;
use legation_exchange::rules::{Change, Finding};
use legation_exchange::{Accepted, Clearance, Effect, Entry, Released, Resent, Who};
use legation_protocol::Format;
use legation_store::index::{Finder, Order, Query};

/// How many entries about one message are told.
pub(super) const WORDS: usize = 100;

/// What the rules said when it came in.
pub(super) fn judged(entry: &Entry, message: &Accepted, clearance: Clearance) -> Vec<Step> {
    let step = |step, says| Step { step, position: entry.position, at: entry.at, says };
    let ruled = &message.ruled;
    let looked = match message.dialect {
        Format::Vcp => "Who may speak, escalation, constraints and constitutions",
        Format::Acl => "Who may speak, conversation and constraints",
        Format::Cap => "Who may speak, delegation, tools, oversight and constraints",
        Format::Vlp => "Who may speak, truth, session and constraints",
        Format::Hello | Format::Manifest => "Who may speak",
    };
    let level = ruled.level.map(|level| format!(" Its level is {level}.")).unwrap_or_default();
    let metrics = ruled.metrics.as_ref().and_then(|metrics| serde_json::to_value(metrics).ok());
    let figure = |name: &str| metrics.as_ref().and_then(|metrics| metrics.get(name)).map(ToString::to_string);
    let gate = figure("context_integrity").zip(figure("gate"));
    let gate = gate.map(|(integrity, gate)| format!(" Integrity {integrity}, gate {gate}.")).unwrap_or_default();
    let moved = moved::own(entry, message);
    let is_plain = ruled.findings.is_empty() && ruled.held.is_empty() && moved.is_empty();
    let said = if is_plain { " and had nothing to say" } else { "" };
    let mut steps = vec![step("judged", format!("{looked}: these rules looked at it{said}.{level}{gate}"))];
    steps.extend(moved);
    if let Some(because) = ruled.because {
        steps.push(step("because", format!("The exchange said this because of entry {because}.")));
    }
    let of = ruled.changes.iter().filter_map(Change::translation);
    steps.extend(of.map(|translation| step("translated", says_for(translation))));
    steps.extend(ruled.judged.as_ref().map(|judged| step("asked_judge", word_of(judged))));
    // What was erased is a code without words.
    let found = ruled.findings.iter().map(|Finding { rule, code, says, .. }| match says.as_str() {
        "" => format!("{rule} found {code}."),
        says => format!("{rule} found {code}: {says}"),
    });
    steps.extend(found.map(|says| step("found", says)));
    let held = ruled.held.iter().map(|reason| match &*reason.told(clearance) {
        "" => format!("It was held ({}). {}", reason.code, lifts(&reason.lifts)),
        says => format!("It was held ({}): {says} {}", reason.code, lifts(&reason.lifts)),
    });
    steps.extend(held.map(|says| step("held", says)));
    steps
}

/// What a judge said.
pub(super) fn word_of(Judged { by, word, reason }: &Judged) -> String {
    let says = match word {
        Word::Allow => format!("{by} judged that the rule for delegating is met"),
        Word::Veto => format!("{by} judged that the rule for delegating is not met"),
        Word::Unheard => format!("{by} was to judge whether the rule for delegating is met, and was not heard"),
    };
    match reason.as_deref() {
        Some(reason) => format!("{says}: {}.", reason.trim_end_matches('.')),
        None => format!("{says}."),
    }
}

/// What a message of the exchange says for another.
fn says_for(Translation { original, from, id, dialect, said_in, .. }: &Translation) -> String {
    format!("It says in {said_in} what {from:?} said in {dialect}: the message {id:?} in entry {original}.")
}

/// Where the exchange said it in another dialect.
fn said_as(Translation { to, said, said_in, .. }: &Translation, position: u64) -> String {
    format!("The exchange said it to {to:?} in {said_in}: the message {said:?} in entry {position}.")
}

fn lifts(lifter: &Lifter) -> String {
    match lifter {
        Lifter::Person => "A reviewer or an operator can lift that.".to_owned(),
        Lifter::Overseer(agent) => format!("The overseer {agent:?} can lift that."),
        Lifter::Resume(agent) => format!("It goes on when {agent:?} may."),
        Lifter::Session(session) => format!("It goes on when the session {session:?} may."),
        Lifter::Original(original) => format!("It goes on when the message in entry {original} does."),
        Lifter::Cleared(work) => format!("It goes on when a person has approved the message in entry {work}."),
    }
}

impl Exchange {
    /// Where it was routed later than it was taken, and to whom.
    pub(super) fn ways(&self, finder: &Finder, position: u64) -> Result<Vec<(u64, String)>, Error> {
        let mut ways = Vec::new();
        for entry in self.about(finder, position)? {
            if let Effect::Released(Released { message, to, .. }) = &entry.effect
                && *message == position
            {
                ways.extend(to.iter().map(|agent| (entry.position, agent.clone())));
            }
            if let Effect::Resent(Resent { message, agent, .. }) = &entry.effect
                && *message == position
            {
                ways.push((entry.position, agent.clone()));
            }
        }
        Ok(ways)
    }

    /// What was said about holding it.
    pub(super) fn words_on(&self, finder: &Finder, position: u64, who: &Who) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        let policy = self.policies.borrow().clone();
        let named = |by: &str| {
            let by = if who.sees_all() { by } else { hold::reviewer_name(&policy, by) };
            by.to_owned()
        };
        for entry in self.about(finder, position)? {
            if let Effect::Released(Released { message, to, .. }) = &entry.effect
                && *message == position
            {
                let to = to.iter().map(|agent| format!("{agent:?}")).collect::<Vec<_>>().join(", ");
                let says = format!("Nothing held it any more: it went to {to}.");
                steps.push(Step { step: "released", position: entry.position, at: entry.at, says });
            }
            let changes = entry.effect.made();
            let own = changes.iter().filter(|change| change.concerns() == Some(position));
            let told = own.filter_map(|change| match change {
                Change::Hold(change) => word(change, named),
                Change::Translated(translation) => Some(("translated", said_as(translation, entry.position))),
                Change::Vcp(_)
                | Change::Cap(_)
                | Change::Acl(_)
                | Change::Vlp(_)
                | Change::BrokenOff { .. }
                | Change::Extension(_)
                | Change::Identity(_) => None,
            });
            steps.extend(told.map(|(step, says)| Step { step, position: entry.position, at: entry.at, says }));
        }
        Ok(steps)
    }

    /// Why it is held now.
    pub(super) fn holds(&self, entry: &Entry, clearance: Clearance) -> Option<Step> {
        let state = self.state();
        let hold = state.rules().holds.get(entry.position)?;
        let why: Vec<_> =
            hold.reasons.iter().map(|reason| format!("{} {}", reason.told(clearance), lifts(&reason.lifts))).collect();
        let says = format!("It is held now. {}", why.join(" "));
        Some(Step { step: "waits_for_a_word", position: entry.position, at: hold.since, says })
    }

    /// The entries that say something about a message.
    pub(crate) fn about(&self, finder: &Finder, position: u64) -> Result<Vec<Entry>, Error> {
        let query = Query { taken: Some(position), order: Order::Oldest, limit: WORDS, ..Query::default() };
        let found = finder.find(&query).map_err(Error::Index)?;
        let entries = found.into_iter().map(|position| self.entry(position));
        entries.filter_map(Result::transpose).collect()
    }
}

fn word(change: &hold::Change, named: impl Fn(&str) -> String) -> Option<(&'static str, String)> {
    match change {
        hold::Change::Lifted { by, why, .. } => {
            let why = because(why.as_deref().unwrap_or_default());
            Some(("lifted", format!("{} lifted a reason{why}.", named(by))))
        }
        hold::Change::Refused { by, why, .. } => {
            Some(("refused", format!("{} refused it{}.", named(by), because(why))))
        }
        hold::Change::Claimed { by, until, .. } => {
            Some(("claimed", format!("{} looked at it until {until}.", named(by))))
        }
        hold::Change::Frozen { .. } | hold::Change::Thawed { .. } => None,
    }
}

/// What somebody gave as their reason, if that is here.
pub(super) fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {}", why.trim_end_matches('.')) }
}
