//! The tools that send.

use super::{Changes, Words};
use crate::openapi::schema::{Member, closed, flag, may, must, object, one_of, text, texts, time};
use crate::openapi::whole;
use legation_protocol::vcp::Severity;
use serde_json::{Value, json};

fn sends(title: &'static str, about: &'static str, takes: Value, changes: Changes) -> Words {
    Words { title, about, takes, gives: whole("Taken"), changes }
}

fn from() -> Member {
    may("from", text("Who says it; you, when left out. A person may speak as `user` or `orchestrator`."))
}

fn to() -> Member {
    must("to", text("The id of the agent it is for."))
}

pub(super) fn send() -> Words {
    let message = json!({"type": "object", "description": "The whole message, in VCP, ElizaOS ACL, CAP or VLP."});
    sends(
        "Send a message",
        "Sends a message of any dialect exactly as given. A VCP message must carry its sender's signature. Sending the \
         same message again is answered as the first time.",
        closed("The message.", [must("message", message)]),
        Changes::Once,
    )
}

pub(super) fn claim() -> Words {
    let sure = json!({"type": "number", "minimum": 0, "maximum": 1, "description": "How sure you are. Above 0.95 name sources."});
    sends(
        "Claim something",
        "States something (VLP claim), with how sure you are and where you know it from.",
        closed(
            "The claim.",
            [
                must("content", text("What you claim.")),
                must("confidence", sure),
                may("to", text("Whom you tell; everybody in the session when left out.")),
                may("sources", texts("Where you know it from: names, URLs or hashes.")),
                may("keywords", texts("Words to find it by later.")),
                may("topic", text("What it is about.")),
                may("session", text("The session it belongs to.")),
                from(),
            ],
        ),
        Changes::Adds,
    )
}

pub(super) fn query() -> Words {
    sends(
        "Ask an agent",
        "Asks an agent (ElizaOS ACL): for a value by `reference`, or whether a `condition` holds. The answer comes to \
         your inbox.",
        closed(
            "The question.",
            [
                to(),
                may("reference", text("Names the value you want, such as latest_commit_hash.")),
                may("condition", object("What you want to know the truth of.", [])),
                may("ontology", text("The term it is asked in.")),
                from(),
            ],
        ),
        Changes::Adds,
    )
}

pub(super) fn request_task() -> Words {
    sends(
        "Ask for work",
        "Asks an agent to do something (ElizaOS ACL TASK_REQUEST). It accepts or rejects, and later tells the result, \
         to your inbox.",
        closed(
            "The work.",
            [
                to(),
                must("task_type", text("What kind of work, such as debug_code.")),
                must("description", text("What is to be done, for somebody to read.")),
                may("parameters", object("What it needs.", [])),
                may("priority", one_of("How urgent it is.", &["low", "medium", "high"])),
                may("ontology", text("The term it is asked in.")),
                from(),
            ],
        ),
        Changes::Adds,
    )
}

pub(super) fn delegate() -> Words {
    sends(
        "Hand a task on",
        "Hands a task to another agent (CAP delegation). A part of a task T1 is T1.1, T1.2 and so on; you must be \
         allowed to delegate to that agent.",
        closed(
            "The task.",
            [
                to(),
                must("task", text("The id of the task handed on.")),
                must("summary", text("What was done, and what remains.")),
                may("deadline", time("When it must be done.")),
                from(),
            ],
        ),
        Changes::Adds,
    )
}

pub(super) fn escalate() -> Words {
    let severities: Vec<_> = Severity::ALL.iter().map(|severity| severity.as_str()).collect();
    sends(
        "Raise an alarm",
        "Raises an alarm to your parent agent (VCP escalation). An emergency stops what is under way. Needs your key: \
         run the host through `legation mcp` with LEGATION_KEY.",
        closed(
            "The alarm.",
            [
                to(),
                must("severity", one_of("How grave it is.", &severities)),
                must("reason", text("What is wrong.")),
                must("context", text("The situation, as vcp_encode_context writes it.")),
                may("requires_ack", flag("Whether somebody must acknowledge it; grave ones always do.")),
                from(),
            ],
        ),
        Changes::Adds,
    )
}
