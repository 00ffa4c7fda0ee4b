//! What waits for a person, and what stands beside messages.

use super::Shape;
use crate::openapi::schema::{
    Member, any_of, as_a, closed, list, may, must, number, object, of, one_of, or_null, text, texts, time,
};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Review", review()),
        (
            "Reviews",
            object(
                "What waits for a person.",
                [
                    must("reviews", list("In the order asked for.", &of("Review"))),
                    must("next", or_null(text("What to ask for next, as `after`."))),
                    must("waiting", number("How much waits in all.")),
                ],
            ),
        ),
        (
            "ReviewDecision",
            closed(
                "What becomes of a held message.",
                [
                    must(
                        "decision",
                        one_of(
                            "The decision. `refuse` is the older spelling of `reject`.",
                            &["approve", "reject", "refuse", "claim"],
                        ),
                    ),
                    must("digest", as_a("Hash", "The digest that was shown.")),
                    may("reason", text("Why. A rejection needs it: the sender is told.")),
                ],
            ),
        ),
        ("Finding", finding()),
        ("Spot", object("A place in a message's text; never the text.", spot())),
        (
            "ScanFinding",
            object(
                "Something the scan found in what an agent was registered with.",
                [must("pattern", text("The name of the pattern."))].into_iter().chain(spot()),
            ),
        ),
        ("Metrics", metrics()),
    ]
}

fn finding() -> Value {
    object(
        "Something a rule found.",
        [
            must("rule", text("Which rule.")),
            must("code", text("What, for programs.")),
            must("says", text("What, in words.")),
            may("spot", as_a("Spot", "The text it is about, where it is of the scan.")),
            may("about", list("The members it is about, where it is about some of several.", &about())),
        ],
    )
}

fn about() -> Value {
    object(
        "A member of the message.",
        [
            must("at", text("Which, as a JSON pointer.")),
            may("entry", number("The entry of the record that bears it out.")),
        ],
    )
}

fn spot() -> [Member; 5] {
    [
        must("severity", one_of("How much it means.", &["low", "medium", "high"])),
        must("at", text("The member, as a JSON pointer.")),
        must("offset", number("The first byte, of the member's text as UTF-8.")),
        must("length", number("How many bytes.")),
        must("how", one_of("How it was found.", &["plain", "normalised", "base64"])),
    ]
}

fn metrics() -> Value {
    let number = |about: &str| serde_json::json!({"type": "number", "description": about});
    object(
        "How much of what the message rests on was verified (VLP VII).",
        [
            must("context_depth", number("Layers verified, of six.")),
            must("context_integrity", number("Checked references that hold, of all that could be checked.")),
            must("context_debt", number("One less that.")),
            must("gate", one_of("What that lets it do.", &["pass", "review", "fail"])),
        ],
    )
}

fn review() -> Value {
    let reason = object(
        "A reason to hold it.",
        [
            must("code", text("What, for programs.")),
            must("says", text("What, in words.")),
            must("lifts", one_of("Who can lift it.", &["person", "overseer", "resume", "session", "original"])),
        ],
    );
    object(
        "A message that waits for a person.",
        [
            must("id", text("Its id.")),
            must("digest", or_null(as_a("Hash", "What a decision has to name."))),
            must("message", or_null(any_of(&of("Message"), &object("With flags in place of what is private.", [])))),
            may("opaque", texts("JSON pointers to members of the message that are shown as flags; whole without it.")),
            must("reasons", list("Why it waits. All must be lifted.", &reason)),
            must("dialect", of("Dialect")),
            must("kind", text("Its kind within the dialect.")),
            must("message_id", text("Its id, as its sender gave it.")),
            must("sender", text("Who sent it.")),
            must("to", texts("Where it goes once released.")),
            must("thread", or_null(text("The task or session it belongs to."))),
            must("received_at", time("When it came.")),
            must("decide_until", or_null(time("When it is refused if nobody decides."))),
            must("claimed_by", or_null(text("Who is looking at it."))),
            must("claimed_until", or_null(time("Until when that keeps other reviewers from deciding."))),
            must("level", or_null(text("How its safety is judged."))),
            must("findings", list("What rules found.", &of("Finding"))),
            must("metrics", or_null(of("Metrics"))),
        ],
    )
}
