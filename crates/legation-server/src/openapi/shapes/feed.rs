//! What the feed tells.

use super::Shape;
use crate::openapi::schema::{flag, list, may, must, number, object, of, one_of, text, texts, time};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Happening", happening()),
        (
            "FeedEntries",
            object(
                "What happened since the last time.",
                [
                    must("entries", list("Oldest first.", &of("Happening"))),
                    must("skipped", number("How many before them were left out.")),
                    must("next", number("Where to go on, as `after`.")),
                ],
            ),
        ),
        ("FeedAlerts", object("What people are to be told.", [must("alerts", list("Oldest first.", &of("Alert")))])),
        ("FeedCounts", counts()),
    ]
}

fn happening() -> Value {
    object(
        "An entry in short.",
        [
            must("position", number("Where in the record it lies.")),
            must("at", time("When it was decided.")),
            must("entry", text("What it is: `accepted` and `refused` are messages.")),
            may("verdict", one_of("What was decided of a message.", &["accepted", "held", "refused"])),
            may("dialect", of("Dialect")),
            may("kind", text("The message's kind within its dialect.")),
            may("message_id", text("The message's id.")),
            may("sender", text("Who sent it.")),
            may("to", texts("Whose mailboxes it went to; at most 16 are named.")),
            may("recipients", number("How many it went to.")),
            may("thread", text("The task or session it belongs to.")),
            may("alarm", flag("Whether it raises an alarm.")),
            may("code", of("Code")),
            may("says", text("Why it was refused, in words.")),
            may("about", text("Whom it is about, where it is no message.")),
            may("by", text("Who did it, where it is no message.")),
            may("count", number("How many messages it is about.")),
        ],
    )
}

fn counts() -> Value {
    let pair = json!({"type": "array", "items": number("A count."), "minItems": 2, "maxItems": 2});
    let latency = object(
        "From a message to its durable answer, since the start.",
        [
            must("count", number("How many messages.")),
            must("sum_micros", number("How long they took together, in microseconds.")),
            must("below", list("Bounds in microseconds, each with how many took no longer.", &pair)),
        ],
    );
    let dialects = json!({
        "type": "object",
        "description": "Messages decided since the start, by dialect; `unknown` where that was not found out.",
        "additionalProperties": number("How many."),
    });
    object(
        "How much there is of everything.",
        [
            must("at", time("When it was counted.")),
            must("size", number("Entries of the record.")),
            must("accepted", number("Messages accepted since the start.")),
            must("duplicate", number("Those that had been sent before.")),
            must("held", number("Those that were held.")),
            must("refused", number("Those that were refused.")),
            must("dialects", dialects),
            must("latency", latency),
            must("waiting", number("Messages in all mailboxes.")),
            must("queued", number("Inputs that are not decided yet.")),
            must("lag", number("Entries that cannot be found yet.")),
            must("agents", number("Agents.")),
            must("stopped", number("Agents that are paused or suspended, each with its instances.")),
            must("reviews", number("What waits for a person.")),
            must("escalations", number("Escalations that are open, up to 1,000.")),
            must("halted", number("Sessions that are halted until a person lets them go on.")),
            must("questions", number("What waits in the mailbox of `user`.")),
        ],
    )
}
