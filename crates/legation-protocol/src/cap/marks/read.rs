//! Reading the marks: each only on the kind of message where it means something. Anywhere else its
//! sender expects what nobody will do.

use super::{Decision, Grants, digest};
use crate::cap::member::{task, utc};
use crate::cap::message::Kind;
use crate::cap::task::TaskId;
use crate::code::Code;
use crate::json::Digest;
use crate::read::{At, Object, boolean};
use crate::stamp::Timestamp;

const LINEAGE: &str = "Legation task lineage";
const OVERSIGHT: &str = "Legation oversight marks";

/// The marks of one message.
pub(in crate::cap) struct Marks {
    pub(in crate::cap) parent_task_id: Option<TaskId>,
    pub(in crate::cap) deadline: Option<Timestamp>,
    pub(in crate::cap) grants: Option<Grants>,
    pub(in crate::cap) decision: Option<Decision>,
    pub(in crate::cap) digest: Option<Digest>,
    pub(in crate::cap) is_final: Option<bool>,
}

impl Marks {
    /// Reads them off a message of this kind. Where the kind is not known, all are at home.
    pub(in crate::cap) fn read(kind: Option<Kind>, o: &mut Object<'_, '_>) -> Marks {
        let root = o.node;
        let marks = Marks {
            parent_task_id: o.optional("parent_task_id", |at| of_delegation(kind, at, LINEAGE, task)),
            deadline: o.optional("deadline", |at| of_delegation(kind, at, "Legation deadlines", utc)),
            grants: o.optional("grants", |at| of_delegation(kind, at, "Legation grants", Grants::read)),
            decision: o.optional("decision", |at| of_talk(kind, at, |at| at.named(Code::SchemaInvalid))),
            digest: o.optional("digest", |at| match root.get("decision") {
                Some(_) => of_talk(kind, at, digest),
                None => of_talk(kind, at, lonely),
            }),
            is_final: o.optional("final", |at| of_talk(kind, at, boolean)),
        };
        if marks.decision.is_some() && marks.is_final == Some(true) {
            o.wrong(Code::SchemaInvalid, "final", OVERSIGHT, "nobody decides about a result in the result itself")
                .help("remove \"final\", or send the decision in a message of its own");
        }
        marks
    }
}

fn lonely(at: At<'_, '_>) -> Option<Digest> {
    at.fail_with(
        Code::SchemaInvalid,
        "a digest says which result a decision is about, and here is no decision",
        "add \"decision\", or remove it",
    )
}

/// A mark that only the handing on of a task can have.
fn of_delegation<'d, 'f, T>(
    kind: Option<Kind>,
    at: At<'d, 'f>,
    spec: &'static str,
    read: impl FnOnce(At<'d, 'f>) -> Option<T>,
) -> Option<T> {
    let help = "remove it, or put it on the \"delegation_notice\" of the task";
    at_home(kind, Kind::DelegationNotice, At { spec, ..at }, help, read)
}

/// A mark that only plain talk can have.
fn of_talk<'d, 'f, T>(kind: Option<Kind>, at: At<'d, 'f>, read: impl FnOnce(At<'d, 'f>) -> Option<T>) -> Option<T> {
    let help = "remove it, or send it in a \"message\"";
    at_home(kind, Kind::Message, At { spec: OVERSIGHT, ..at }, help, read)
}

fn at_home<'d, 'f, T>(
    kind: Option<Kind>,
    home: Kind,
    at: At<'d, 'f>,
    help: &'static str,
    read: impl FnOnce(At<'d, 'f>) -> Option<T>,
) -> Option<T> {
    match kind {
        Some(kind) if kind != home => {
            at.fail_with(Code::SchemaInvalid, format!("only a message of type {:?} has this", home.as_str()), help)
        }
        Some(_) | None => read(at),
    }
}
