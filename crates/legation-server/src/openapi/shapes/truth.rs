//! The shapes of sessions, and of what counts of a claim.

use super::Shape;
use crate::openapi::schema::{Member, closed, flag, list, may, must, number, object, of, one_of, or_null, text, time};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    let sessions = [
        must("sessions", list("The sessions, by id.", &of("VlpSession"))),
        must("next", or_null(text("Where to go on, as `after`; null at the end."))),
    ];
    vec![
        ("VlpSession", session()),
        ("Sessions", object("Sessions.", sessions)),
        ("SessionRelease", closed("Why it may go on.", [may("reason", text("It stays on the record."))])),
        ("Metrics", metrics()),
        ("Truth", truth()),
        ("TruthLink", link("A message of a chain.", super::messages::bytes())),
    ]
}

fn session() -> Value {
    let party = [
        must("id", text("Who.")),
        must("last_seq", or_null(number("The last sequence number it used, where it used any."))),
    ];
    object(
        "A session.",
        [
            must("id", text("Its id.")),
            must("state", one_of("Whether it can be spoken in.", &["open", "closed", "halted"])),
            must("owner", text("Who spoke first in it.")),
            must("parties", list("Who has a part in it.", &object("A party.", party))),
            must("messages", number("How many messages it has.")),
            must("since", time("When it began.")),
            must("spoke_at", time("When somebody last spoke in it.")),
            must("first", number("The entry with its first message.")),
            must("last", number("The entry with its last message.")),
            must("highest_seq", or_null(number("The highest sequence number in it."))),
            may("closed_by", number("The entry that closed it.")),
            may("halted_by", number("The message that blocked it.")),
            may("halted_at", time("Since when it is halted.")),
            may("halted_who", text("Who blocked it.")),
            may(
                "halted_says",
                text("What the message that blocked it says, for those who decide and those who look on."),
            ),
        ],
    )
}

fn metrics() -> Value {
    let share = |about: &str| json!({"type": "number", "minimum": 0, "maximum": 1, "description": about});
    object(
        "How much of what a message rests on was verified (VLP VII).",
        [
            must("context_depth", number("How many of six layers.")),
            must("context_integrity", share("Which share of what could be checked holds.")),
            must("context_debt", share("The rest.")),
            must("gate", one_of("What follows.", &["pass", "review", "fail"])),
        ],
    )
}

pub(super) fn link(about: &str, bytes: Member) -> Value {
    let roles = ["original", "ground", "correction", "dispute", "evidence", "mention"];
    let part = super::messages::facts().into_iter().chain([bytes]).chain(judged([
        must("role", one_of("What it is to the original.", &roles)),
        must(
            "in_force",
            flag("Whether it counts: it was never held, or was released, and no correction took its place."),
        ),
        must("corrected", flag("Whether a correction took its place, also one that is not for whoever asks.")),
        may("corrected_by", number("The last of those that whoever asks may see.")),
        must("names", list("The messages it names.", &number("A position."))),
    ]));
    object(about, part)
}

fn truth() -> Value {
    object(
        "What counts of a claim.",
        [
            must("original", number("The message that everything else is about.")),
            must(
                "authoritative",
                number(
                    "The one that counts: the original, or the last correction by its author or overseer. Where that is not for whoever asks, the last version that is; it is `corrected` then, and not in force.",
                ),
            ),
            must("chain", list("All of them, in the order of the record.", &of("TruthLink"))),
            must("more", flag("Whether there is more than was followed.")),
        ],
    )
}

fn judged<const N: usize>(first: [Member; N]) -> impl Iterator<Item = Member> {
    let level = or_null(one_of("How far it may go by itself.", &["safe", "review", "block"]));
    let level = match level {
        Value::Object(mut members) => {
            members.insert("enum".to_owned(), json!(["safe", "review", "block", null]));
            Value::Object(members)
        }
        other => other,
    };
    let rest = [must("level", level), must("metrics", or_null(of("Metrics")))];
    first.into_iter().chain(rest)
}
