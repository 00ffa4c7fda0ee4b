//! Mailboxes, and letters that reached nobody.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, text, within};
use axum::http::Method;

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
            changes("/v1/agents/{id}/ack", "acknowledge", "Take messages out of a mailbox").takes("Acknowledgement"),
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
        .answers(200, "What waits, oldest first", "Inbox")
        .refuses(&[404])
}

fn dead_letters() -> Operation {
    Operation::new(Method::GET, "/v1/dead-letters", "listDeadLetters", "List letters that reached nobody")
        .by(Proof::Token)
        .query("agent", text("Whose. Those who see everything see all when it is left out, others their own"))
        .query("after", text("Only what comes behind: a position, or `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The letters, oldest first", "DeadLetters")
}
