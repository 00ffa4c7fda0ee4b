//! What stands in a cell of the table: words of a dialect, which way they go, and when.

use legation_protocol::cap::ErrorCode;
use legation_protocol::vcp::Severity;
use legation_protocol::vlp::{Kind, Level};

/// A word of a dialect.
#[derive(Clone, Copy)]
pub(in crate::rules::translate) struct Word<W> {
    pub(super) what: W,
    pub(super) way: Way,
    pub(super) when: When,
}

/// Whether the exchange says a word, understands it, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Both,
    Said,
    Heard,
}

/// When a word has this meaning.
#[derive(Clone, Copy)]
pub(super) enum When {
    Always,
    /// It answers a question.
    Answering,
    /// It comes from an overseer, about work that waits for its word.
    Overseeing,
    /// It takes back what the exchange has asked for its sender.
    TakingBack,
    /// The reason has this code.
    Because(&'static str),
}

/// What the meaning of a word depends on.
#[derive(Clone, Copy, Default)]
pub(in crate::rules::translate) struct About<'a> {
    pub(in crate::rules::translate) answers: bool,
    pub(in crate::rules::translate) oversees: bool,
    pub(in crate::rules::translate) takes_back: bool,
    pub(in crate::rules::translate) code: Option<&'a str>,
}

impl When {
    fn holds(self, about: &About<'_>) -> bool {
        match self {
            When::Always => true,
            When::Answering => about.answers,
            When::Overseeing => about.oversees,
            When::TakingBack => about.takes_back,
            When::Because(code) => about.code == Some(code),
        }
    }
}

impl<W: Copy> Word<W> {
    pub(super) const fn when(self, when: When) -> Word<W> {
        Word { when, ..self }
    }

    pub(super) fn is_said(&self, about: &About<'_>) -> bool {
        self.way != Way::Heard && self.when.holds(about)
    }

    pub(super) fn is_heard(&self, about: &About<'_>) -> bool {
        self.way != Way::Said && self.when.holds(about)
    }
}

/// A word that is said and understood.
pub(super) const fn both<W: Copy>(what: W) -> Word<W> {
    Word { what, way: Way::Both, when: When::Always }
}

/// A word that is only said.
pub(super) const fn said<W: Copy>(what: W) -> Word<W> {
    Word { what, way: Way::Said, when: When::Always }
}

/// A word that is only understood.
pub(super) const fn heard<W: Copy>(what: W) -> Word<W> {
    Word { what, way: Way::Heard, when: When::Always }
}

/// A word of CAP.
#[derive(Clone, Copy)]
pub(in crate::rules::translate) enum InCap {
    Delegation,
    Inquiry,
    Message,
    /// A message with `final`.
    Final,
    Error(ErrorCode),
    /// An error, whatever its code. It cannot be said.
    AnyError,
}

/// A word of VLP: what is left out may be anything where it is understood.
#[derive(Clone, Copy)]
pub(in crate::rules::translate) struct InVlp {
    /// Without one it cannot be said.
    pub(in crate::rules::translate) kind: Option<Kind>,
    pub(in crate::rules::translate) topic: Option<&'static str>,
    pub(in crate::rules::translate) level: Option<Level>,
}

impl InVlp {
    pub(super) const ANY: InVlp = InVlp { kind: None, topic: None, level: None };
    pub(super) const QUERY: InVlp = InVlp { kind: Some(Kind::Query), ..InVlp::ANY };
    pub(super) const RESPONSE: InVlp = InVlp { kind: Some(Kind::Response), ..InVlp::ANY };
    pub(super) const NOTICE: InVlp = InVlp { kind: Some(Kind::Notice), ..InVlp::ANY };

    pub(super) const fn topic(self, topic: &'static str) -> InVlp {
        InVlp { topic: Some(topic), ..self }
    }

    pub(super) const fn level(self, level: Level) -> InVlp {
        InVlp { level: Some(level), ..self }
    }
}

/// A word of VCP.
#[derive(Clone, Copy)]
pub(in crate::rules::translate) enum InVcp {
    Escalation(Severity),
    /// The acknowledgement of an escalation.
    Ack,
    Constraints,
    /// A constraint that asks for nothing, with this code.
    Notice(&'static str),
}
