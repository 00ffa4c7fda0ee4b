//! What an entry can be found by.

use super::keyword;
use super::query::{Decided, What};
use super::terms::Terms;
use super::words::words;
use legation_exchange::record::Frame;
use legation_exchange::rules::Change;
use legation_exchange::rules::hold::Lifter;
use legation_exchange::tool::{Answered, Called};
use legation_exchange::{Accepted, Acked, Effect, Person};
use legation_protocol::Format;
use legation_protocol::json::Doc;

/// One thing an entry can be found by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Facet<'a> {
    What(What),
    Sender(&'a str),
    Recipient(&'a str),
    /// Sender or recipient.
    Party(&'a str),
    /// The agent an entry that is no message speaks of, or whose it is that an extension keeps.
    About(&'a str),
    /// Who asked for it.
    By(&'a str),
    Dialect(&'a str),
    Kind(&'a str),
    Thread(&'a str),
    Id(&'a str),
    Digest(&'a str),
    Code(&'a str),
    /// A position that was taken out of a mailbox by name.
    Taken(u64),
    /// A position that somebody tried to bring to its agent.
    Tried(u64),
    Word(&'a str),
    /// The position of a message that this one names, or of a proposal that it amends.
    Names(u64),
    /// A keyword of a VLP message.
    Keyword(&'a str),
    /// What one of its keywords begins with.
    Beginning(&'a str),
    /// Its topic.
    Topic(&'a str),
    /// A word of its keywords or its topic.
    Subject(&'a str),
    /// What was decided of a message.
    Decided(Decided),
    /// The entry that began what this one moves, or what it takes back.
    Moves(u64),
    /// What it lets go on.
    Frees(&'a str),
}

/// What a facet is about.
pub(crate) enum Value<'a> {
    Text(&'a str),
    Number(u64),
}

impl<'a> Facet<'a> {
    /// Keeps a sender from being taken for a word.
    pub(crate) const fn tag(self) -> u8 {
        match self {
            Facet::What(_) => 0,
            Facet::Sender(_) => 1,
            Facet::Recipient(_) => 2,
            Facet::Party(_) => 3,
            Facet::About(_) => 4,
            Facet::By(_) => 5,
            Facet::Dialect(_) => 6,
            Facet::Kind(_) => 7,
            Facet::Thread(_) => 8,
            Facet::Id(_) => 9,
            Facet::Digest(_) => 10,
            Facet::Code(_) => 11,
            Facet::Taken(_) => 12,
            Facet::Word(_) => 13,
            Facet::Tried(_) => 14,
            Facet::Names(_) => 15,
            Facet::Keyword(_) => 16,
            Facet::Beginning(_) => 17,
            Facet::Topic(_) => 18,
            Facet::Subject(_) => 19,
            Facet::Decided(_) => 20,
            Facet::Moves(_) => 21,
            Facet::Frees(_) => 22,
        }
    }

    pub(crate) const fn value(self) -> Value<'a> {
        match self {
            Facet::What(what) => Value::Text(what.as_str()),
            Facet::Decided(decided) => Value::Text(decided.as_str()),
            Facet::Taken(position) | Facet::Tried(position) | Facet::Names(position) | Facet::Moves(position) => {
                Value::Number(position)
            }
            Facet::Sender(text)
            | Facet::Recipient(text)
            | Facet::Party(text)
            | Facet::About(text)
            | Facet::By(text)
            | Facet::Dialect(text)
            | Facet::Kind(text)
            | Facet::Thread(text)
            | Facet::Id(text)
            | Facet::Digest(text)
            | Facet::Code(text)
            | Facet::Word(text)
            | Facet::Keyword(text)
            | Facet::Beginning(text)
            | Facet::Topic(text)
            | Facet::Subject(text)
            | Facet::Frees(text) => Value::Text(text),
        }
    }
}

/// The terms of an entry, as a text.
pub(crate) fn terms_of(frame: &Frame, effect: &Effect, terms: &Terms) -> String {
    let mut out = String::new();
    let mut push = |facet: Facet<'_>| terms.push(facet, &mut out);
    push(Facet::What(What::of(effect)));
    moved(effect.made(), &mut push);
    match effect {
        Effect::Accepted(accepted) => {
            message(accepted, &mut push);
            if let Some(doc) = frame.body.here().and_then(|body| Doc::parse(body).ok()) {
                words(doc.root()).each(|word| push(Facet::Word(word)));
                if accepted.dialect == Format::Vlp {
                    keyword::facets(doc.root(), &mut push);
                }
            }
        }
        Effect::Refused(refused) => {
            push(Facet::Decided(Decided::Any));
            push(Facet::By(&refused.by));
            if let Some(agent) = refused.agent() {
                push(Facet::Sender(agent));
                push(Facet::Party(agent));
            }
            push(Facet::Code(&refused.code));
            if let Some(digest) = &refused.digest {
                push(Facet::Digest(digest));
            }
            if let Some(id) = &refused.id {
                push(Facet::Id(id));
            }
        }
        Effect::Registered { agent, by } => {
            push(Facet::About(&agent.id));
            push(Facet::By(by));
        }
        Effect::Removed { agent, by, .. } | Effect::Keyed { agent, by, .. } | Effect::Purged { agent, by, .. } => {
            push(Facet::About(agent));
            push(Facet::By(by));
        }
        Effect::Granted { person: Person { name, .. }, by } | Effect::Withdrawn { person: name, by } => {
            push(Facet::About(name));
            push(Facet::By(by));
        }
        Effect::Confirmed { agent, person } => {
            for name in agent.iter().chain(person) {
                push(Facet::About(name));
            }
        }
        Effect::Acked(Acked { agent, positions, .. }) | Effect::Died { agent, positions, .. } => {
            push(Facet::About(agent));
            for position in positions {
                push(Facet::Taken(*position));
            }
        }
        Effect::Pushed(pushed) => {
            push(Facet::About(&pushed.agent));
            for position in pushed.tries().map(|(_, tried)| tried.position).chain(pushed.again.iter().copied()) {
                push(Facet::Tried(position));
            }
            for tried in &pushed.delivered {
                push(Facet::Taken(tried.position));
            }
        }
        Effect::Resent(resent) => {
            push(Facet::About(&resent.agent));
            push(Facet::By(&resent.by));
            push(Facet::Taken(resent.message));
        }
        Effect::Restored(restored) => push(Facet::By(&restored.by)),
        Effect::Erased(erased) => {
            push(Facet::By(&erased.by));
            if let Some(subject) = &erased.subject {
                push(Facet::About(subject));
            }
        }
        Effect::Cleared { .. } | Effect::Dropped { .. } => {}
        Effect::Released(released) => {
            released.to.iter().for_each(|agent| push(Facet::About(agent)));
            push(Facet::Taken(released.message));
        }
        Effect::Changed { by, changes } => {
            push(Facet::By(by));
            changes.iter().filter_map(Change::concerns).for_each(|message| push(Facet::Taken(message)));
            for change in changes.iter().filter_map(Change::extension) {
                push(Facet::About(change.subject.as_str()));
                change.amends().into_iter().for_each(|proposal| push(Facet::Names(proposal)));
            }
        }
        Effect::Called(called) => call(called, &mut push),
        Effect::Answered(answered) => came(answered, &mut push),
        Effect::Rotated { by, .. } | Effect::Copied { by, .. } => push(Facet::By(by)),
        Effect::Tallied { refusals, .. } => {
            for tally in refusals {
                push(Facet::Code(&tally.code));
                tally.by.iter().for_each(|by| push(Facet::By(by)));
            }
        }
    }
    out
}

/// A call of a tool is found by who made it, and in which task; what came of it by the call too.
fn call(Called { agent, thread, digest, .. }: &Called, push: &mut impl FnMut(Facet<'_>)) {
    push(Facet::Sender(agent));
    push(Facet::About(agent));
    push(Facet::Digest(digest));
    if let Some(thread) = thread {
        push(Facet::Thread(thread));
    }
}

fn came(Answered { agent, thread, digest, call, .. }: &Answered, push: &mut impl FnMut(Facet<'_>)) {
    push(Facet::Sender(agent));
    push(Facet::About(agent));
    push(Facet::Taken(*call));
    if let Some(thread) = thread {
        push(Facet::Thread(thread));
    }
    if let Some(digest) = digest {
        push(Facet::Digest(digest));
    }
}

/// What an entry moved, took back or let go on.
fn moved(changes: &[Change], push: &mut impl FnMut(Facet<'_>)) {
    changes.iter().flat_map(Change::moves).for_each(|began| push(Facet::Moves(*began)));
    let freed = changes.iter().filter_map(Change::frees).filter_map(Lifter::key);
    freed.for_each(|key| push(Facet::Frees(&key)));
}

fn message(accepted: &Accepted, push: &mut impl FnMut(Facet<'_>)) {
    let Accepted { dialect, kind, id, sender, to, thread, digest, .. } = accepted;
    push(Facet::Decided(Decided::Any));
    if !accepted.ruled.held.is_empty() {
        push(Facet::Decided(Decided::Held));
    }
    push(Facet::Dialect(dialect.as_str()));
    push(Facet::Kind(kind));
    push(Facet::Id(id));
    push(Facet::Digest(digest));
    push(Facet::Sender(sender));
    push(Facet::Party(sender));
    for recipient in to {
        push(Facet::Recipient(recipient));
        push(Facet::Party(recipient));
    }
    if let Some(thread) = thread {
        push(Facet::Thread(thread));
    }
    accepted.ruled.changes.iter().filter_map(Change::concerns).for_each(|message| push(Facet::Taken(message)));
    accepted.named().for_each(|position| push(Facet::Names(position)));
}
