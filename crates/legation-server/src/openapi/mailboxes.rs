//! Mailboxes, and letters that reached nobody.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, text, within};
use axum::http::Method;
use serde_json::json;

const AGENT: &str = "The agent's id, percent-encoded; or `user` or `orchestrator`, for those who speak as it";

pub(super) fn chapter() -> Chapter {
    let changes = |path, id, summary| {
        Operation::new(Method::POST, path, id, summary)
            .by(Proof::Token)
            .in_path("id", AGENT)
            .answers(200, "Done, and in the record", "Done")
            .refuses(&[404, 507])
    };
    Chapter {
        name: "mailboxes",
        about: "What waits for an agent stays listed until it is acknowledged. What reached nobody is not lost.",
        operations: vec![
            inbox(),
            stream(),
            changes("/v1/agents/{id}/ack", "acknowledge", "Take messages out of a mailbox")
                .takes("Acknowledgement")
                .refuses(&[409]),
            changes("/v1/agents/{id}/purge", "purge", "Empty a mailbox unread").takes("Purge"),
            changes("/v1/agents/{id}/resend", "resend", "Send letters that reached nobody again").takes("Resend"),
            dead_letters(),
        ],
    }
}

fn inbox() -> Operation {
    Operation::new(Method::GET, "/v1/agents/{id}/inbox", "readInbox", "List what waits for an agent")
        .by(Proof::Token)
        .in_path("id", AGENT)
        .query("after", number("Only what lies beyond this position: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .query("wait", within("Seconds to wait for something where there is nothing", 0, 60, 0))
        .query("order", one_of("By position, or the most urgent first: not with `after`", &["position", "priority"]))
        .answers(200, "What waits, oldest first", "Inbox")
        .about(
            "Whoever waits takes from the mailbox: who waited before is answered with 409 `fenced`. \
            Whoever names a position that the record has not come to, with 409 `ahead_of_record`.",
        )
        .refuses(&[404, 409])
}

fn stream() -> Operation {
    let lines = json!({"type": "string", "description": "An item a line; lines with nothing show that it is alive."});
    let about = "Acknowledges nothing. Whoever took from the mailbox before is fenced. An item is as the inbox lists it; one whose \
        receipt is larger than 6 KiB has `receipt_at` in its place, the path that tells the receipt to the agent.";
    let events = json!({
        "type": "string",
        "description": "Events `message` with the position as `id` and an item as `data`; at the end `fenced` or \
            `refused` with why, or `ended`.",
    });
    let content = json!({"text/event-stream": {"schema": events}, "application/x-ndjson": {"schema": lines}});
    Operation::new(Method::GET, "/v1/agents/{id}/stream", "streamInbox", "Stream what waits and comes for an agent")
        .about(about)
        .by(Proof::Token)
        .in_path("id", AGENT)
        .query("after", number("Only what lies beyond this position"))
        .header("LastEventId")
        .answers_any(200, "Items as they come, until the client or the exchange ends it", content)
        .refuses(&[404, 409])
}

fn dead_letters() -> Operation {
    Operation::new(Method::GET, "/v1/dead-letters", "listDeadLetters", "List letters that reached nobody")
        .by(Proof::Token)
        .query("agent", text("Whose. Those who see everything see all when it is left out, others their own"))
        .query("after", text("Only what comes behind: a position, or `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The letters, oldest first", "DeadLetters")
}
