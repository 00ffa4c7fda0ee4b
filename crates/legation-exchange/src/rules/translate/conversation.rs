//! Between whom something is to be translated, and what was said between them before.

use super::links::{Link, Stage, Step};
use super::said::{Act, Said};
use super::table::About;
use crate::agent::Agent;
use crate::rules::voice::name_in;
use crate::rules::{Case, cap};
use crate::who::PRINCIPALS;
use legation_protocol::{Code, Format, Message, Recipients, Rejection};
use std::collections::BTreeMap;

/// Who is to hear it.
#[derive(Clone, Copy)]
pub(super) enum Hearer<'c> {
    Agent(&'c Agent),
    /// A principal of CAP, who has asked something.
    Principal(&'c str),
}

impl<'c> Hearer<'c> {
    pub(super) fn id(&self) -> &'c str {
        match self {
            Hearer::Agent(agent) => &agent.id,
            Hearer::Principal(name) => name,
        }
    }

    pub(super) fn name_in(&self, dialect: Format) -> &'c str {
        match self {
            Hearer::Agent(agent) => name_in(agent, dialect),
            Hearer::Principal(name) => name,
        }
    }

    fn speaks(&self, dialect: Format) -> bool {
        match self {
            Hearer::Agent(agent) => agent.dialects.is_empty() || agent.dialects.contains(&dialect),
            Hearer::Principal(_) => dialect == Format::Cap,
        }
    }

    /// Whether it is the one who was part of that, and no other under the same id.
    fn heard(&self, link: &Link) -> bool {
        match self {
            Hearer::Agent(agent) => agent.since < link.position,
            Hearer::Principal(_) => true,
        }
    }
}

/// Two who need the exchange to understand each other.
pub(super) struct Conversation<'c> {
    pub(super) hearer: Hearer<'c>,
    /// What the exchange said between them last.
    last: Option<&'c Link>,
    /// What that is about, if something was asked.
    pub(super) ask: Option<&'c Link>,
    speaker: &'c str,
    /// The held work that the speaker asks about.
    pub(super) inquiry: Option<cap::Inquiry<'c>>,
}

impl<'c> Conversation<'c> {
    /// Nothing if the message needs no translation.
    pub(super) fn of(case: &Case<'c>) -> Result<Option<Conversation<'c>>, Rejection> {
        let message = case.received.message();
        let Recipients::One(name) = message.recipients() else { return Ok(None) };
        if let Some(inquiry) = Conversation::about_work(case)? {
            return Ok(Some(inquiry));
        }
        match case.to {
            [to] => {
                let hearer = case.state.registry.agent(to).map(Hearer::Agent);
                let hearer = hearer.filter(|hearer| !hearer.speaks(message.dialect()));
                Ok(hearer.map(|hearer| {
                    let last = named(case, message).remove(hearer.id()).or_else(|| within(case, message, hearer.id()));
                    Conversation::with(case, hearer, last.filter(|last| hearer.heard(last)))
                }))
            }
            [] if case.policy.is_exchange(name) => answered(case, message),
            _ => Ok(None),
        }
    }

    /// An overseer asks in VLP, and the author hears it in CAP, in which its work is overseen.
    fn about_work(case: &Case<'c>) -> Result<Option<Conversation<'c>>, Rejection> {
        let Some(inquiry) = cap::asks_in_vlp(case)? else { return Ok(None) };
        let author = case.state.registry.agent(inquiry.author).map(Hearer::Agent);
        let needs = |author: &Hearer<'_>| case.to.is_empty() || !author.speaks(Format::Vlp);
        let author = author.filter(|author| author.speaks(Format::Cap) && needs(author));
        let talk = author.map(|hearer| Conversation::with(case, hearer, None));
        Ok(talk.map(|talk| Conversation { inquiry: Some(inquiry), ..talk }))
    }

    fn with(case: &Case<'c>, hearer: Hearer<'c>, last: Option<&'c Link>) -> Conversation<'c> {
        let ask = last.and_then(|last| ask_of(case, last));
        Conversation { hearer, last, ask, speaker: case.speaker.id(), inquiry: None }
    }

    /// Whether the sender was asked.
    pub(super) fn is_asked(&self) -> bool {
        self.ask.is_some_and(|ask| ask.translation.to == self.speaker && ask.translation.from == self.hearer.id())
    }

    /// What the meaning of the sender's words depends on. Where a question was answered, an overseer is just talked to.
    pub(super) fn about(&self) -> About<'static> {
        let is_open =
            |ask: &Link| ask.is_question() && (ask.stage != Stage::Ended || ask.translation.dialect == Format::Acl);
        let answers = self.ask.is_some_and(is_open) && self.is_asked();
        About { answers, oversees: self.inquiry.is_some(), ..About::default() }
    }

    /// Whether this takes on what nobody has taken on.
    pub(super) fn takes_on(&self, act: Act) -> bool {
        let is_new = self.ask.is_some_and(|ask| ask.stage == Stage::Asked && !ask.is_question());
        is_new && matches!(act, Act::Result | Act::Failure)
    }

    /// The entry in which the exchange asked what this act is about.
    pub(super) fn asked_at(&self, act: Act) -> Option<u64> {
        match act {
            Act::Ask | Act::Question | Act::Inquire => None,
            Act::Accept
            | Act::Reject
            | Act::Result
            | Act::Failure
            | Act::Puzzled
            | Act::Cancel
            | Act::Talk
            | Act::Alarm(_)
            | Act::Ack
            | Act::Rules
            | Act::Block => self.ask.map(|ask| ask.position),
        }
    }

    /// Whether the hearer is spoken to in this dialect: the one it spoke here itself, or else any of its own.
    pub(super) fn hears(&self, dialect: Format) -> bool {
        let own = self
            .last
            .map(|last| &last.translation)
            .map(|last| if last.from == self.hearer.id() { last.dialect } else { last.said_in });
        own.filter(|own| self.hearer.speaks(*own)).map_or_else(|| self.hearer.speaks(dialect), |own| own == dialect)
    }

    /// The message and the thread that this act goes on from, as the hearer knows them.
    pub(super) fn names_for(&self, act: Act) -> (Option<&'c str>, Option<&'c str>) {
        let about = if act.answers() { self.ask } else { self.last };
        let Some(about) = about.map(|about| &about.translation) else { return (None, None) };
        if about.from != self.hearer.id() {
            return (Some(&about.said), about.said_thread.as_deref());
        }
        // Where the spec leaves the choice, an answer names what it was asked to.
        let wanted = about.reply_with.as_deref().filter(|_| matches!(act, Act::Result | Act::Failure));
        (wanted.or(Some(&about.id)), about.thread.as_deref())
    }

    /// Nobody goes on from what is halted, in any dialect.
    pub(super) fn may_go_on(&self, case: &Case<'_>) -> Result<(), Rejection> {
        match self.ask.into_iter().chain(self.last).find_map(|link| link.halted_with(case.state)) {
            Some(_) => {
                // Whoever answers may have no part in the session that is halted.
                let text = "what this goes on from is halted";
                Err(Rejection::because(Code::Halted, text).at(place(case)).by("VLP VI.4"))
            }
            None => Ok(()),
        }
    }

    /// An answer comes once, from whom it was asked of.
    pub(super) fn fits(&self, case: &Case<'_>, said: &Said) -> Result<(), Rejection> {
        if !said.act.answers() {
            return Ok(());
        }
        let refuse = |code, text: &'static str| Err(Rejection::because(code, text).at(place(case)));
        let Some(ask) = self.ask else {
            return refuse(Code::Untranslatable, "it answers nothing that the exchange has translated for its sender");
        };
        let is_new = ask.stage == Stage::Asked && !ask.is_question();
        // Only the ElizaOS agent language has a word for that: in others an answer says it too.
        let takes_on = matches!(case.received.message(), Message::Acl(_));
        match said.act {
            _ if !self.is_asked() || case.state.rules.holds.never_went(ask.position) => {
                refuse(Code::NotAParty, "this was not asked of the sender")
            }
            _ if ask.stage == Stage::Ended && is_asked_again(case, ask) => {
                refuse(Code::TaskState, "this was asked of the sender again: the newest request is answered")
            }
            _ if ask.stage == Stage::Ended => refuse(Code::TaskState, "this was answered already"),
            Act::Accept | Act::Reject if !is_new => {
                refuse(Code::TaskState, "a task is taken on or refused once, and first")
            }
            Act::Puzzled if ask.stage == Stage::Accepted => {
                refuse(Code::TaskState, "a task that was taken on was understood")
            }
            Act::Result | Act::Failure if is_new && takes_on => {
                refuse(Code::TaskState, "a task is taken on before it has a result or fails")
            }
            _ => Ok(()),
        }
    }
}

/// What something that was said is about, if something was asked.
fn ask_of<'c>(case: &Case<'c>, link: &Link) -> Option<&'c Link> {
    let ask = link.translation.ask.or(link.is_ask().then_some(link.position));
    case.state.rules.translations.get(ask?)
}

/// Whether the exchange has asked the same agent once more since, for the same task.
fn is_asked_again(case: &Case<'_>, ask: &Link) -> bool {
    let asks = case.state.rules.translations.asks_for(ask.task().unwrap_or(ask.translation.original));
    asks.last().is_some_and(|newest| newest.position > ask.position && newest.translation.to == ask.translation.to)
}

/// Where a message names what it answers.
pub(super) fn place(case: &Case<'_>) -> &'static str {
    match case.received.message() {
        Message::Acl(_) => "/in_reply_to",
        Message::Cap(_) => "/task_id",
        Message::Vcp(_) | Message::Vlp(_) => "/refers_to",
    }
}

/// What the message names of what the exchange said to, or for, its sender, by who else is part of it.
fn named<'c>(case: &Case<'c>, message: &Message) -> BTreeMap<&'c str, &'c Link> {
    let names = match message {
        Message::Cap(message) => vec![message.task_id.to_string()],
        Message::Vcp(_) | Message::Acl(_) | Message::Vlp(_) => message.refers_to(),
    };
    let (links, me) = (&case.state.rules.translations, case.speaker.id());
    let since = case.speaker.agent().map_or(0, |agent| agent.since);
    let is_hidden = |link: u64| case.state.is_hidden_from(link, me);
    names.iter().flat_map(|name| links.named(me, name, is_hidden)).filter(|(_, link)| link.position >= since).collect()
}

/// The last thing the exchange said to somebody for a session. Whoever blocks one need not name what it stops there.
fn within<'c>(case: &Case<'c>, message: &Message, hearer: &str) -> Option<&'c Link> {
    let Message::Vlp(blocking) = message else { return None };
    if !super::vlp::does(blocking, Act::Block, &About::default()) {
        return None;
    }
    let (links, session) = (&case.state.rules.translations, case.state.rules.vlp.sessions.get(blocking.thread()?)?);
    let said = session.said.iter().rev().flat_map(|original| links.said_for(*original));
    said.filter_map(|said| links.get(said)).find(|link| link.translation.to == hearer)
}

/// Of what a task is about, what a message in it means: a result or an error is for whoever asked for work, anything else
/// answers a question first.
fn meant<'c>(case: &Case<'c>, mut found: BTreeMap<&'c str, &'c Link>) -> BTreeMap<&'c str, &'c Link> {
    let Message::Cap(message) = case.received.message() else { return found };
    if found.len() > 1 {
        found.retain(|other, link| !has_passed(case, other, link));
    }
    let asked =
        |link: &Link| ask_of(case, link).filter(|ask| ask.is_question() && ask.translation.to == case.speaker.id());
    let is_open = |link: &Link| asked(link).is_some_and(|ask| ask.stage != Stage::Ended);
    let ends = super::cap::act(message, &About::default()).is_some_and(|act| act.step() == Step::Ends);
    if found.len() > 1 && !ends && found.values().any(|link| is_open(link)) {
        found.retain(|_, link| is_open(link));
    } else if found.len() > 1 && found.values().any(|link| asked(link).is_none()) {
        found.retain(|_, link| asked(link).is_none());
    }
    found
}

/// Whether what a link is about has gone from whom it was asked of to another.
fn has_passed(case: &Case<'_>, other: &str, link: &Link) -> bool {
    let asked = ask_of(case, link).filter(|ask| ask.translation.to == other);
    let task = asked.and_then(Link::task).and_then(|task| case.state.rules.cap.task(task));
    task.is_some_and(|task| task.assignee != other)
}

/// Who hears what is said to the exchange in answer to what it said.
fn answered<'c>(case: &Case<'c>, message: &Message) -> Result<Option<Conversation<'c>>, Rejection> {
    let mut found = meant(case, named(case, message)).into_iter();
    let Some((other, last)) = found.next() else { return Ok(None) };
    if found.next().is_some() {
        let text = "this names what the exchange said for several: address the one who is meant";
        return Err(Rejection::because(Code::AmbiguousReference, text).at(place(case)));
    }
    let agent = case.state.registry.agent(other).map(Hearer::Agent).filter(|hearer| hearer.heard(last));
    let principal = || PRINCIPALS.into_iter().find(|name| *name == other).map(Hearer::Principal);
    let Some(hearer) = agent.or_else(principal) else {
        let text = format!("{other:?}, for whom the exchange spoke, is not registered any more");
        return Err(Rejection::because(Code::UnknownRecipient, text));
    };
    Ok(Some(Conversation::with(case, hearer, Some(last))))
}
