//! What waits, what reached nobody, and what is done about it.

use super::Shape;
use crate::openapi::schema::{
    Member, as_a, closed, list, may, must, number, object, of, one_of, or_null, text, time, with,
};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Inbox", inbox()),
        ("DeadLetters", dead_letters()),
        ("Acknowledgement", acknowledgement()),
        ("Purge", closed("How much is emptied.", [may("position", number("All up to it; everything when left out."))])),
        ("Resend", closed("Which letters go out again.", [must("positions", positions("Their positions."))])),
        (
            "Done",
            object(
                "What was done is in the record.",
                [
                    must("status", one_of("How it went.", &["accepted"])),
                    must("position", number("Where in the record that lies.")),
                ],
            ),
        ),
    ]
}

fn positions(about: &str) -> Value {
    list(about, &json!({"type": "integer", "minimum": 0}))
}

fn acknowledgement() -> Value {
    let either = [
        may("position", number("All up to it.")),
        may("positions", positions("These alone.")),
        may("epoch", number("The epoch they were counted in. One of another than the record is in is refused.")),
        may("restore", text("What was drawn for the restore that began it.")),
    ];
    let shape = closed("What is done with: one of the two.", either);
    with(shape, "oneOf", json!([{"required": ["position"]}, {"required": ["positions"]}]))
}

fn inbox() -> Value {
    let item = object(
        "A message that waits.",
        [
            must("position", number("Where it was routed here: what is acknowledged.")),
            must("message", of("Message")),
            must("received_at", time("When it came.")),
            must("digest", as_a("Hash", "SHA-256 of its canonical form without its signature.")),
            must("receipt", of("Receipt")),
            must("level", or_null(text("How its safety is judged, where it is."))),
            must("findings", list("What rules found in it.", &of("Finding"))),
            may("metrics", of("Metrics")),
            may("traceparent", text("The trace it was sent in.")),
            may("review", item_review()),
        ]
        .into_iter()
        .chain(counted()),
    );
    object(
        "What waits for an agent.",
        [must("messages", list("Oldest first.", &item)), must("next", number("What to ask for next, as `after`."))]
            .into_iter()
            .chain(counted()),
    )
}

fn item_review() -> Value {
    object(
        "The decision by which the message was released, if it was held.",
        [
            must("decision", one_of("The decision.", &["approve"])),
            must("by", text("The person or the overseer who decided; a person's role where names are not shown.")),
            must("at", time("The time of the release.")),
            must("entry", number("The position of the `released` entry.")),
            may("receipt", of("Receipt")),
        ],
    )
}

fn counted() -> [Member; 2] {
    [
        must("epoch", number("The epoch positions are counted in now; the receipt has the one of then.")),
        may("restore", text("What was drawn for the restore that began it; not in the first.")),
    ]
}

fn dead_letters() -> Value {
    let letter = object(
        "A message that did not reach a recipient.",
        [
            must("position", number("Where it was routed: what is sent again.")),
            must("agent", text("Whom it was for.")),
            must("why", one_of("Why it did not reach them.", &["expired", "removed", "mailbox_full"])),
            must("at", time("When it was given up.")),
            must("message_position", number("Where in the record the message lies.")),
            must("message_id", text("Its id.")),
            must("sender", text("Who sent it.")),
            must("received_at", time("When it came.")),
            must("digest", as_a("Hash", "SHA-256 of its canonical form without its signature.")),
            must("message", or_null(of("Message"))),
        ],
    );
    object(
        "Letters that reached nobody.",
        [must("letters", list("Oldest first.", &letter)), must("next", text("What to ask for next, as `after`."))],
    )
}
