//! What has a counterpart, and with which words. This is the only place that says so: what the exchange understands
//! and says is looked up here, and the table in `docs/guides/translation.md` is written from it.

mod guide;
mod word;

pub use guide::published;

pub(super) use word::{About, InCap, InVcp, InVlp, Word};

use super::said::Act;
use legation_protocol::acl::Performative;
use legation_protocol::cap::ErrorCode;
use legation_protocol::vcp::Severity;
use legation_protocol::vlp::Level;
use word::{When, both, heard, said};

/// What is said, with which words of each dialect.
pub(super) struct Row {
    act: Act,
    /// The same for people.
    says: &'static str,
    pub(super) acl: &'static [Word<Performative>],
    pub(super) cap: &'static [Word<InCap>],
    pub(super) vlp: &'static [Word<InVlp>],
    pub(super) vcp: &'static [Word<InVcp>],
    /// What no counterpart has, for people.
    lost: &'static str,
}

/// The words of one dialect.
type Column<W> = fn(&'static Row) -> &'static [Word<W>];

/// The act that a message does: that of the first row with a word that it is.
pub(super) fn understood<W: Copy>(column: Column<W>, about: &About<'_>, is_it: impl Fn(W) -> bool) -> Option<Act> {
    TABLE.iter().find(|row| has(column(row), about, &is_it)).map(|row| row.act)
}

/// Whether a message does this act. Rows below are not looked at.
pub(super) fn does<W: Copy>(act: Act, column: Column<W>, about: &About<'_>, is_it: impl Fn(W) -> bool) -> bool {
    let row = TABLE.iter().find(|row| row.act == act || has(column(row), about, &is_it));
    row.is_some_and(|row| row.act == act && has(column(row), about, &is_it))
}

fn has<W: Copy>(words: &[Word<W>], about: &About<'_>, is_it: &impl Fn(W) -> bool) -> bool {
    words.iter().any(|word| word.is_heard(about) && is_it(word.what))
}

/// The word with which an act is said: the first that fits.
pub(super) fn word_for<W: Copy>(column: Column<W>, about: &About<'_>, act: Act) -> Option<W> {
    let words = column(TABLE.iter().find(|row| row.act == act)?);
    words.iter().find(|word| word.is_said(about)).map(|word| word.what)
}

/// Everything the exchange says in another dialect. Each act stands in one row.
static TABLE: [Row; 17] = [
    Row {
        act: Act::Block,
        says: "blocks what follows",
        acl: &[],
        cap: &[said(InCap::Error(ErrorCode::Locked))],
        vlp: &[heard(InVlp::ANY.level(Level::Block))],
        vcp: &[said(InVcp::Notice("blocked"))],
        lost: "what kind of message it is; its sources come as data",
    },
    Row {
        act: Act::Inquire,
        says: "asks about work",
        acl: &[],
        cap: &[both(InCap::Inquiry)],
        vlp: &[heard(InVlp::QUERY).when(When::Overseeing), said(InVlp::QUERY)],
        vcp: &[],
        lost: "in VLP, that it is an overseer who asks",
    },
    Row {
        act: Act::Ask,
        says: "asks for work",
        acl: &[both(Performative::TaskRequest)],
        cap: &[both(InCap::Delegation)],
        vlp: &[both(InVlp::QUERY)],
        vcp: &[],
        lost: "priority, ontology and deadline bind nobody: they come as data",
    },
    Row {
        act: Act::Question,
        says: "asks a question",
        acl: &[heard(Performative::QueryIf), heard(Performative::QueryRef)],
        cap: &[said(InCap::Message)],
        vlp: &[said(InVlp::QUERY)],
        vcp: &[],
        lost: "the form of the question: it is put into words",
    },
    Row {
        act: Act::Accept,
        says: "takes it on",
        acl: &[both(Performative::TaskAccept)],
        cap: &[said(InCap::Message)],
        vlp: &[both(InVlp::NOTICE.topic("task_accepted"))],
        vcp: &[],
        lost: "the estimate binds nobody",
    },
    Row {
        act: Act::Reject,
        says: "refuses it",
        acl: &[both(Performative::TaskReject)],
        // What it asks of whoever handed the task on: to wait, to ask for a right, or to give it to somebody else.
        cap: &[
            said(InCap::Error(ErrorCode::Unavailable)).when(When::Because("busy")),
            said(InCap::Error(ErrorCode::Forbidden)).when(When::Because("unauthorized")),
            said(InCap::Error(ErrorCode::NotFound)),
        ],
        vlp: &[both(InVlp::NOTICE.topic("task_rejected"))],
        vcp: &[],
        lost: "in CAP, that it was never begun",
    },
    Row {
        act: Act::Failure,
        says: "tells a failure",
        acl: &[both(Performative::Failure)],
        cap: &[heard(InCap::AnyError), said(InCap::Error(ErrorCode::Internal))],
        vlp: &[both(InVlp::NOTICE.topic("task_failed"))],
        vcp: &[],
        lost: "codes of one dialect mean nothing in another: they come as data",
    },
    Row {
        act: Act::Puzzled,
        says: "did not understand",
        acl: &[both(Performative::NotUnderstood)],
        cap: &[said(InCap::Error(ErrorCode::BadRequest))],
        vlp: &[both(InVlp::NOTICE.topic("not_understood"))],
        vcp: &[],
        lost: "the reason code comes as data",
    },
    Row {
        act: Act::Cancel,
        says: "takes it back",
        acl: &[heard(Performative::Cancel).when(When::TakingBack)],
        cap: &[said(InCap::Message)],
        vlp: &[said(InVlp::NOTICE.topic("task_cancelled"))],
        vcp: &[],
        lost: "the reason: the exchange says it in words of its own",
    },
    Row {
        act: Act::Result,
        says: "tells the result",
        acl: &[both(Performative::InformResult)],
        // A question takes no final word: whatever is said to it is its answer, and finishes no task.
        cap: &[both(InCap::Message).when(When::Answering), both(InCap::Final)],
        vlp: &[both(InVlp::RESPONSE), heard(InVlp::NOTICE).when(When::Answering)],
        vcp: &[],
        lost: "to ACL always `success`; to VLP a confidence of 0.5, since nobody gave one; to others confidence and sources are data",
    },
    Row {
        act: Act::Talk,
        says: "says something",
        acl: &[],
        cap: &[both(InCap::Message)],
        vlp: &[both(InVlp::NOTICE)],
        vcp: &[],
        lost: "whether it asks, states or comments",
    },
    // Whoever raises a grave alarm is stopped by it. A critical one asks for a person, and waits for none.
    Row {
        act: Act::Alarm(Severity::Emergency),
        says: "raises an emergency",
        acl: &[],
        cap: &[said(InCap::Error(ErrorCode::Locked))],
        vlp: &[said(InVlp::NOTICE.topic("escalation").level(Level::Block))],
        vcp: &[heard(InVcp::Escalation(Severity::Emergency))],
        lost: "the acknowledgement: only VCP has one; `POST /v1/escalations/{id}/ack` is for all",
    },
    Row {
        act: Act::Alarm(Severity::Critical),
        says: "raises a critical alarm",
        acl: &[],
        cap: &[said(InCap::Error(ErrorCode::Locked))],
        vlp: &[said(InVlp::NOTICE.topic("escalation").level(Level::Review))],
        vcp: &[heard(InVcp::Escalation(Severity::Critical))],
        lost: "the acknowledgement, as above",
    },
    Row {
        act: Act::Alarm(Severity::Warning),
        says: "raises a warning",
        acl: &[],
        cap: &[said(InCap::Message)],
        vlp: &[said(InVlp::NOTICE.topic("escalation").level(Level::Safe))],
        vcp: &[heard(InVcp::Escalation(Severity::Warning))],
        lost: "the acknowledgement, as above",
    },
    Row {
        act: Act::Alarm(Severity::Info),
        says: "raises an alarm for information",
        acl: &[],
        cap: &[said(InCap::Message)],
        vlp: &[said(InVlp::NOTICE.topic("escalation").level(Level::Safe))],
        vcp: &[heard(InVcp::Escalation(Severity::Info))],
        lost: "the acknowledgement, as above",
    },
    Row {
        act: Act::Ack,
        says: "has heard an alarm",
        acl: &[],
        cap: &[],
        vlp: &[],
        vcp: &[heard(InVcp::Ack)],
        lost: "nothing: it goes as it is",
    },
    Row {
        act: Act::Rules,
        says: "lays down rules",
        acl: &[],
        cap: &[],
        vlp: &[said(InVlp::NOTICE.topic("constraints"))],
        vcp: &[heard(InVcp::Constraints)],
        lost: "the signature of whoever stands above; the exchange enforces the rules all the same",
    },
];

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn each_act_stands_in_one_row() {
        for (place, row) in TABLE.iter().enumerate() {
            assert_eq!(TABLE.iter().position(|other| other.act == row.act), Some(place), "{}", row.says);
        }
    }
}
