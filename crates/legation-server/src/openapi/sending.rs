//! Sending messages, and looking them up.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{as_a, number, of, one_of, text, time, within};
use axum::http::Method;
use serde_json::{Value, json};

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "messages",
        about: "Sending messages, and looking them up. Whoever asks finds what they may see, and nothing of the rest.",
        operations: vec![vcp(), socket(), any(), search(), get(), raw(), explain(), truth()],
    }
}

/// Messages, or verdicts, a line each.
fn lines(about: &str, component: &str) -> Value {
    json!({"schema": {
        "type": "string",
        "contentMediaType": "application/x-ndjson",
        "description": about,
        "x-line-schema": of(component),
    }})
}

fn any() -> Operation {
    let many = || lines("Many messages, one JSON object a line. Each is decided on its own, in order.", "Message");
    let verdicts = lines("A verdict for each line, in order, while later lines still come in.", "LineVerdict");
    Operation::new(Method::POST, "/v1/messages", "sendMessages", "Send a message of any dialect, or many")
        .about("Answered once it is durable. A message that was sent before, with the same id by the same sender, gets the answer it had. Many messages get status 200, and a verdict each.")
        .by(Proof::Sender)
        .header("IdempotencyKey")
        .takes_any(json!({
            "application/json": {"schema": of("Message")},
            "application/x-ndjson": many(),
            "application/jsonl": many(),
        }))
        .answers(202, "On the record, where it waits for somebody's word", "Taken")
        .answers_any(200, "Taken", json!({
            "application/json": {"schema": of("Taken")},
            "application/x-ndjson": verdicts,
        }))
        .refuses(&[404, 409, 507])
}

fn vcp() -> Operation {
    Operation::new(
        Method::POST,
        "/.well-known/vcp/messages",
        "sendVcpMessage",
        "Send a VCP message by the binding of its spec",
    )
    .about("VCP messaging 1.2, section 8.2. The answer has exactly two members; position and receipt are in headers.")
    .by(Proof::Sender)
    .takes("VcpMessage")
    .answers(200, "Taken", "VcpTaken")
    .tells("Legation-Position")
    .tells("Legation-Receipt")
    .refuses(&[404, 409, 507])
}

fn search() -> Operation {
    Operation::new(Method::GET, "/v1/messages", "searchMessages", "Search for messages")
        .by(Proof::Token)
        .query("sender", text("Who sent it"))
        .query("recipient", text("Who got it"))
        .query("party", text("Who sent it or got it"))
        .query("dialect", as_a("Dialect", "The dialect it is of"))
        .query("kind", text("Its kind within the dialect"))
        .query("thread", text("The task or session it belongs to"))
        .query("id", text("Its id"))
        .query("digest", text("Its digest"))
        .query("text", text("Words that are all in it"))
        .query(
            "verdict",
            one_of(
                "What was decided; `accepted` when left out, and what is held is among that",
                &["accepted", "held", "refused", "any"],
            ),
        )
        .query("code", text("Why it was refused"))
        .query("since", time("Received then or later"))
        .query("until", time("Received before"))
        .query("after", number("Only what lies beyond this position"))
        .query("before", number("Only what lies before this position"))
        .query("order", one_of("Which comes first; `newest` when left out", &["newest", "oldest"]))
        .query("limit", within("How many at most", 1, 1000, 50))
        .query("at_least", number("Wait until the search knows of the entry at this position"))
        .query("include", one_of("The messages themselves too, or what each says in a few words", &["message", "gist"]))
        .answers(200, "What was found", "Found")
}

fn socket() -> Operation {
    Operation::new(Method::GET, "/vcp/ws", "openSocket", "Open a WebSocket: send, receive and acknowledge on it")
        .about(
            "The WebSocket binding of VCP. A client that asks for the subprotocol `legation.v1` gets verdicts, \
             refusals and items as JSON frames, and may be bound by signing a challenge; others see VCP envelopes \
             alone. Items are as streams give them. A page gives its token as a further subprotocol, `legation.token.` and \
             the token.",
        )
        .by(Proof::Token)
        .query("agent", text("As whom: for people, `user` or `orchestrator`"))
        .query("after", number("Deliver what lies beyond this position; what is not acknowledged, when left out"))
        .query("deliver", one_of("Whether to deliver at all; `on` when left out", &["on", "off"]))
        .query("receipts", one_of("Whether verdicts carry receipts; `on` when left out", &["on", "off"]))
        .switches("The socket is open")
        .answers(426, "This is no request for a WebSocket", "Refusal")
}

/// One message by its id or position.
fn of_one(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::GET, path, id, summary)
        .by(Proof::Token)
        .in_path("key", "The message's id, percent-encoded, its position or its digest")
        .query("sender", text("Who sent it, where more than one used the id"))
        .refuses(&[404, 409])
}

fn get() -> Operation {
    of_one("/v1/messages/{key}", "getMessage", "What is known of a message").answers(200, "The message", "MessageFacts")
}

fn raw() -> Operation {
    of_one("/v1/messages/{key}/raw", "getRawMessage", "A message's bytes as they were received")
        .answers(200, "The bytes, unchanged", "Message")
        .refuses(&[410])
}

fn explain() -> Operation {
    of_one("/v1/messages/{key}/explain", "explainMessage", "What the exchange did with a message, in order")
        .about("Also with one that it refused: for its sender, operators and auditors, the last refusal of it.")
        .answers(200, "What became of it", "Explanation")
}

fn truth() -> Operation {
    of_one("/v1/messages/{key}/truth", "getTruth", "What counts of a claim today, with its chain of evidence")
        .about("Begins at the message that a correction corrects. Corrections by others than the author or its overseer are disputes.")
        .answers(200, "The chain", "Truth")
}
