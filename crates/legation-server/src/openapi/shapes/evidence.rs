//! What people go by who decide on held messages, and what they decided.

use super::Shape;
use crate::openapi::schema::{Member, flag, list, must, number, object, of, one_of, or_null, text, time};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    let decisions = [
        must("decisions", list("The newest message first.", &of("Decision"))),
        must("next", or_null(number("What to ask for next, as `before`."))),
    ];
    vec![
        ("Evidence", evidence()),
        ("HaltEvidence", halt()),
        (
            "EvidenceLink",
            super::truth::link("A message of a chain, as whoever asks is shown it.", super::messages::bytes_told()),
        ),
        ("Decision", decision()),
        ("Decisions", object("What was decided.", decisions)),
        ("HeldMessage", object("A message, as whoever asks is shown it.", message())),
        (
            "FeedReviews",
            object(
                "How much waits for a person.",
                [
                    must("at", time("When it was counted.")),
                    must("waiting", number("How much.")),
                    must("halted", number("Sessions that are halted until a person lets them go on.")),
                    must("questions", number("What waits in the mailbox of `user`.")),
                    must("changed", flag("Whether it is another than what was told before.")),
                ],
            ),
        ),
    ]
}

fn message() -> impl Iterator<Item = Member> {
    super::messages::facts().into_iter().chain([super::messages::bytes_told()])
}

fn evidence() -> Value {
    let word = object(
        "What somebody said of holding it.",
        [
            must("said", one_of("What.", &["approved", "lifted", "refused", "claimed"])),
            must("by", text("Who.")),
            must("at", time("When.")),
            must("reason", or_null(text("Why."))),
            must("position", number("The entry that says so.")),
        ],
    );
    object(
        "What a held message rests on.",
        [
            must("waits", flag("Whether it still waits for a person.")),
            must("chain", list("The message, what it names and what names it, in order.", &of("EvidenceLink"))),
            must("more", flag("Whether there is more than was followed.")),
            must("authoritative", number("The one of them that counts, by its position.")),
            must("asked", or_null(of("HeldMessage"))),
            must("words", list("What was said of holding it, in order.", &word)),
        ],
    )
}

fn halt() -> Value {
    object(
        "What a halted session rests on.",
        [
            must("session", text("Which.")),
            must("halted_by", number("The message that halted it.")),
            must("chain", list("That message, what it names and what names it, in order.", &of("EvidenceLink"))),
            must("authoritative", number("The one of them that counts, by its position.")),
            must(
                "messages",
                list("What else was said in it, or is stopped with it, oldest first.", &of("HeldMessage")),
            ),
            must("more", flag("Whether there is more than is told.")),
        ],
    )
}

fn decision() -> Value {
    object(
        "A message that waited for a person, and what became of it.",
        [
            must("id", text("The review's id.")),
            must("decision", one_of("What.", &["approved", "refused"])),
            must("by", or_null(text("Who decided; the exchange where nobody did in time."))),
            must("at", or_null(time("When."))),
            must("reason", or_null(text("Why."))),
            must("message", of("HeldMessage")),
        ],
    )
}
