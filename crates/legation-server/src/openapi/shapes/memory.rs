//! What is remembered.

use super::Shape;
use super::messages::gone;
use crate::openapi::schema::{list, may, must, number, object, of, or_null, text, texts, time, with};
use serde_json::{Value, json};

const SCORE: &str = "How well it fits, where the best come first: 2 where it is about all that was asked for, 1 where it is \
    about some of it, 0 where it only mentions it.";

pub(super) fn shapes() -> Vec<Shape> {
    let memories = object(
        "What was found.",
        [
            must("memories", list("In the order asked for.", &of("Memory"))),
            must("next", or_null(text("What to ask for next, as `cursor`; null at the end."))),
        ],
    );
    vec![("Memory", memory()), ("Memories", memories)]
}

fn memory() -> Value {
    let any = |about: &str| json!({"description": about});
    object(
        "A VLP message of an earlier session. Its own members are as they were sent, and absent once it is gone.",
        [
            must("position", number("Where in the record it lies.")),
            must("message_id", text("Its id.")),
            must("session_id", or_null(text("The session it belongs to."))),
            must("sender", text("Who sent it.")),
            must("to", texts("Whose mailboxes it went to.")),
            must("type", text("Its type.")),
            must("received_at", time("When it came.")),
            must("level", or_null(text("How its safety is judged."))),
            may("score", with(number(SCORE), "maximum", 2)),
            may("topic", or_null(text("Its topic."))),
            may("keywords", or_null(texts("Its keywords."))),
            may("content", any("What it says: a text or an object.")),
            may("confidence", any("How sure its sender was, from 0 to 1.")),
            may("refers_to", any("The messages it is about.")),
            may("payload", any("Further data.")),
            gone(),
        ],
    )
}
