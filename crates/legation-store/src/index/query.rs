//! What can be asked of the index.

use super::facet::Facet;
use super::fit::{self, Fit};
use super::keyword::Keyword;
use super::terms::Terms;
use super::words::words_in;
use legation_exchange::Effect;
use legation_protocol::Format;
use legation_protocol::vlp::normalise;
use std::fmt;

/// The most words a text may have that is searched for.
pub const MOST_WORDS: usize = 64;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A message that was taken.
    Accepted,
    /// Something that was refused.
    Refused,
    /// An agent that was registered or changed.
    Registered,
    /// An agent that was removed.
    Removed,
    /// An acknowledgement.
    Acked,
    /// Messages that were brought to an agent, or could not be.
    Pushed,
    /// Messages that reached nobody.
    Died,
    /// A message that was sent again.
    Resent,
    /// A mailbox that was emptied.
    Purged,
    /// Keys that changed.
    Keyed,
    /// A person who got a token.
    Granted,
    /// A person whose token was withdrawn.
    Withdrawn,
    /// A new token that was used.
    Confirmed,
    /// Refusals to strangers, counted.
    Tallied,
    /// The record went on from a copy.
    Restored,
    /// Messages that were erased.
    Erased,
    /// What was erased is gone from the disk.
    Cleared,
    /// Bodies that were kept long enough.
    Dropped,
    /// A held message that goes on.
    Released,
    /// Something the rules keep.
    Changed,
    /// A new key of the record.
    Rotated,
    /// A call of a tool.
    Called,
    /// What came of one.
    Answered,
    /// A copy of the record was taken.
    Copied,
}

impl What {
    /// What an effect makes of its entry.
    pub const fn of(effect: &Effect) -> What {
        match effect {
            Effect::Accepted(_) => What::Accepted,
            Effect::Refused(_) => What::Refused,
            Effect::Registered { .. } => What::Registered,
            Effect::Removed { .. } => What::Removed,
            Effect::Acked(_) => What::Acked,
            Effect::Pushed(_) => What::Pushed,
            Effect::Died { .. } => What::Died,
            Effect::Resent(_) => What::Resent,
            Effect::Purged { .. } => What::Purged,
            Effect::Keyed { .. } => What::Keyed,
            Effect::Granted { .. } => What::Granted,
            Effect::Withdrawn { .. } => What::Withdrawn,
            Effect::Confirmed { .. } => What::Confirmed,
            Effect::Tallied { .. } => What::Tallied,
            Effect::Restored(_) => What::Restored,
            Effect::Erased(_) => What::Erased,
            Effect::Cleared { .. } => What::Cleared,
            Effect::Dropped { .. } => What::Dropped,
            Effect::Released(_) => What::Released,
            Effect::Changed { .. } => What::Changed,
            Effect::Rotated { .. } => What::Rotated,
            Effect::Called(_) => What::Called,
            Effect::Answered(_) => What::Answered,
            Effect::Copied { .. } => What::Copied,
        }
    }

    /// Its name, as entries have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            What::Accepted => "accepted",
            What::Refused => "refused",
            What::Registered => "registered",
            What::Removed => "removed",
            What::Acked => "acked",
            What::Pushed => "pushed",
            What::Died => "died",
            What::Resent => "resent",
            What::Purged => "purged",
            What::Keyed => "keyed",
            What::Granted => "granted",
            What::Withdrawn => "withdrawn",
            What::Confirmed => "confirmed",
            What::Tallied => "tallied",
            What::Restored => "restored",
            What::Erased => "erased",
            What::Cleared => "cleared",
            What::Dropped => "dropped",
            What::Released => "released",
            What::Changed => "changed",
            What::Rotated => "rotated",
            What::Called => "called",
            What::Answered => "answered",
            What::Copied => "copied",
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was decided of a message, where one kind of entry is not enough to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decided {
    /// Anything: it was taken or refused.
    Any,
    /// It waits for somebody's word, or did.
    Held,
}

impl Decided {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Decided::Any => "any",
            Decided::Held => "held",
        }
    }
}

/// Which entries come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The last ones.
    #[default]
    Newest,
    /// The first ones.
    Oldest,
}

/// Which entries are wanted: those that fit everything that is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// What they are.
    pub what: Option<What>,
    /// What was decided.
    pub decided: Option<Decided>,
    /// Who sent them.
    pub sender: Option<String>,
    /// Whose mailbox they went to.
    pub recipient: Option<String>,
    /// All of these sent or got them.
    pub parties: Vec<String>,
    /// The agent they speak of, where they are no messages; or, as a subject, whose it is that an extension keeps.
    pub about: Option<String>,
    /// Who asked for them, where they are no messages.
    pub by: Option<String>,
    /// Their dialect.
    pub dialect: Option<Format>,
    /// Their kind within the dialect.
    pub kind: Option<String>,
    /// The task or session they belong to.
    pub thread: Option<String>,
    /// The id of the message.
    pub id: Option<String>,
    /// The digest of the message.
    pub digest: Option<String>,
    /// Why they were refused.
    pub code: Option<String>,
    /// The position they took out of a mailbox by name.
    pub taken: Option<u64>,
    /// The position they tried to bring to its agent.
    pub tried: Option<u64>,
    /// The position of a message that they name, or of a proposal that they amend.
    pub names: Option<u64>,
    /// The entry that began what they move, or what they take back.
    pub moves: Option<u64>,
    /// What they let go on, as [`Lifter::key`](legation_exchange::rules::hold::Lifter::key) has it.
    pub frees: Option<String>,
    /// A text all of whose words are in the message, in any order. One without words is in none.
    pub text: Option<String>,
    /// Keywords that they all have.
    pub keywords: Vec<Keyword>,
    /// Their topic, in whatever case.
    pub topic: Option<String>,
    /// How closely they fit the keywords and the text.
    pub fit: Option<Fit>,
    /// Decided then or later, in microseconds since 1970.
    pub since: Option<u64>,
    /// Decided before.
    pub until: Option<u64>,
    /// Beyond this position.
    pub after: Option<u64>,
    /// Before this position.
    pub before: Option<u64>,
    /// Which come first.
    pub order: Order,
    /// How many at most.
    pub limit: usize,
}

impl Query {
    /// Whether it asks for something that only a message's body has.
    pub fn is_about_bodies(&self) -> bool {
        self.text.is_some() || !self.keywords.is_empty() || self.topic.is_some()
    }

    /// What must be there, as the database asks for it: each term in quotes, so that none is ever read as
    /// anything but a term. Nothing if no entry can fit.
    pub(super) fn matching(&self, terms: &Terms) -> Option<String> {
        let words = self.text.as_deref().map(words_in);
        if words.as_ref().is_some_and(|words| words.is_empty() || words.len() > MOST_WORDS) {
            return None;
        }
        let topic = self.topic.as_deref().map(normalise);
        let words = words.unwrap_or_default();
        let said = words.iter().map(|word| Facet::Word(word)).chain(topic.as_deref().map(Facet::Topic));
        let all: Vec<_> = self.facets().chain(said).map(|facet| terms.quoted(facet)).collect();
        let all = all.join(" AND ");
        match self.fit {
            None => Some(all),
            Some(fit) => fit::matching(&all, fit, &self.keywords, &words, terms),
        }
    }

    fn facets(&self) -> impl Iterator<Item = Facet<'_>> {
        let named = [
            self.sender.as_deref().map(Facet::Sender),
            self.recipient.as_deref().map(Facet::Recipient),
            self.about.as_deref().map(Facet::About),
            self.by.as_deref().map(Facet::By),
            self.kind.as_deref().map(Facet::Kind),
            self.thread.as_deref().map(Facet::Thread),
            self.id.as_deref().map(Facet::Id),
            self.digest.as_deref().map(Facet::Digest),
            self.code.as_deref().map(Facet::Code),
            self.what.map(Facet::What),
            self.decided.map(Facet::Decided),
            self.taken.map(Facet::Taken),
            self.tried.map(Facet::Tried),
            self.names.map(Facet::Names),
            self.moves.map(Facet::Moves),
            self.frees.as_deref().map(Facet::Frees),
        ];
        let dialect = self.dialect.map(|dialect| Facet::Dialect(dialect.as_str()));
        let parties = self.parties.iter().map(|party| Facet::Party(party));
        let keywords = self.keywords.iter().map(Keyword::facet);
        named.into_iter().flatten().chain(dialect).chain(parties).chain(keywords)
    }
}
