//! Messages, what a sender is told of them, and what is known of them later.

use super::Shape;
use super::parties::custody;
use crate::openapi::dialects::MESSAGES;
use crate::openapi::refusals::refusal_members;
use crate::openapi::schema::{
    Member, any_of, as_a, flag, list, may, must, number, object, of, one_of, or_null, text, texts, time,
};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    let message = MESSAGES.map(of);
    let line = || must("line", number("The number of the line, from 1."));
    let told = |about, members: Vec<Member>| object(about, std::iter::once(line()).chain(members));
    vec![
        ("Message", json!({"description": "A message of one of the dialects, as it was sent.", "anyOf": message})),
        ("Taken", object("A message that was taken.", taken().into_iter().chain(placed()))),
        ("VcpTaken", object("A message that was taken, as the VCP binding says it.", taken())),
        ("LineTaken", told("A line that was taken.", taken().into_iter().chain(placed()).collect())),
        ("LineRefused", told("A line that was refused.", refusal_members().into())),
        (
            "LineVerdict",
            json!({"description": "What became of a line.", "anyOf": [of("LineTaken"), of("LineRefused")]}),
        ),
        (
            "MessageFacts",
            object(
                "What is known of a message.",
                facts().into_iter().chain([gist(), bytes(), may("receipt", of("Receipt")), gone()]),
            ),
        ),
        ("RefusalFacts", object("What is known of a message that was refused.", refusal_facts())),
        ("Found", found()),
        (
            "ExplainedMessage",
            object("What is known of a message, and what became of it.", facts().into_iter().chain([steps()])),
        ),
        ("ExplainedRefusal", object("What was refused, and why.", refusal_facts().into_iter().chain([steps()]))),
        (
            "Explanation",
            json!({"description": "What the exchange did with a message.", "anyOf": [of("ExplainedMessage"), of("ExplainedRefusal")]}),
        ),
    ]
}

fn taken() -> [Member; 2] {
    [
        must("status", one_of("`duplicate` where it had been taken before.", &["accepted", "duplicate", "held"])),
        must("message_id", text("Its id; one of the exchange's where it brought none.")),
    ]
}

fn placed() -> [Member; 8] {
    [
        must("position", number("Where in the record it lies.")),
        may(
            "findings",
            list(
                "SHOULDs that the message breaks, findings of the rules and the scan, and changes the exchange made to its terms.",
                &answer_finding(),
            ),
        ),
        may(
            "record_only",
            flag(
                "Present and true where the message names no recipient and reached nobody: it is on the record alone.",
            ),
        ),
        may("reasons", list("Reasons for the hold; only where the status is `held`.", &answer_reason())),
        may(
            "review",
            text("The review's id, which is the position of the held entry; only where the status is `held`."),
        ),
        may(
            "decide_by",
            or_null(time("The time at which an undecided hold is rejected; only where the status is `held`.")),
        ),
        may("decided_by_roles", roles_that_decide()),
        may("receipt", of("Receipt")),
    ]
}

fn answer_finding() -> Value {
    object(
        "A finding about the message.",
        [
            must("code", text("The finding's code, for programs.")),
            must("message", text("The finding in words.")),
            must("at", or_null(text("JSON pointer to the member it is about."))),
        ],
    )
}

fn answer_reason() -> Value {
    object(
        "A reason for the hold.",
        [must("code", text("The reason's code, for programs.")), must("message", text("The reason in words."))],
    )
}

fn roles_that_decide() -> Value {
    let role = json!({"type": "string", "enum": ["operator", "overseer", "parent", "reviewer"]});
    list("Roles that can lift a reason; only where the status is `held`.", &role)
}

pub(super) fn facts() -> [Member; 14] {
    [
        must("position", number("Where in the record it lies.")),
        must("verdict", one_of("What was decided; what was `held` may have gone on since.", &["accepted", "held"])),
        must("message_id", text("Its id.")),
        must("dialect", of("Dialect")),
        must("kind", text("Its kind within the dialect.")),
        must("sender", text("Who sent it.")),
        must("to", texts("Whose mailboxes it went to.")),
        must("thread", or_null(text("The task or session it belongs to."))),
        must("received_at", time("When it came.")),
        must("digest", as_a("Hash", "SHA-256 of its canonical form without its signature.")),
        may("custody", custody("Who keeps the key it is signed with, where it is not the sender.")),
        must("findings", list("What rules and the scan found.", &of("Finding"))),
        may(
            "level",
            text("How its safety is judged, where it is: the stricter of what it declares and what was computed."),
        ),
        may("metrics", of("Metrics")),
    ]
}

fn gist() -> Member {
    may("gist", text("What it says, in a few words, where that was asked for and is still here."))
}

pub(super) fn bytes() -> Member {
    may("message", as_a("Message", "The message as it was sent, where it was asked for and is still here."))
}

/// As people are shown it who decide, and may not be cleared for all of it.
pub(super) fn bytes_told() -> Member {
    let flags = object("The same, with flags in place of what whoever asks is not cleared for.", []);
    may("message", any_of(&as_a("Message", "The message as it was sent, where it is still here."), &flags))
}

pub(super) fn gone() -> Member {
    let gone = object(
        "Why the message is not here any more.",
        [
            must("why", one_of("Whether somebody erased it, or it was kept long enough.", &["erased", "body_dropped"])),
            may("at", time("When it was erased.")),
            may("by", text("Who erased it.")),
            may("reason", text("Why, as they said.")),
            may("position", number("The entry that says so.")),
        ],
    );
    may("gone", gone)
}

fn refusal_facts() -> [Member; 10] {
    [
        must("position", number("Where in the record that lies.")),
        must("verdict", one_of("What was decided.", &["refused"])),
        must("by", text("Who had sent it.")),
        must("code", of("Code")),
        must("received_at", time("When it came.")),
        must("digest", or_null(as_a("Hash", "SHA-256 of its canonical form, where it had one."))),
        may("message_id", text("Its id, where it had one.")),
        may("says", text("Why, in words.")),
        may("at", text("The member to blame, as a JSON pointer.")),
        may("spec", text("The section that has the rule.")),
    ]
}

fn found() -> Value {
    let one = json!({"anyOf": [of("MessageFacts"), of("RefusalFacts")]});
    object(
        "What a search found.",
        [
            must("messages", list("The messages, or refusals.", &one)),
            must("next", or_null(number("Where to go on, as `before` or `after`; null at the end."))),
        ],
    )
}

fn steps() -> Member {
    let step = object(
        "One thing that happened to it.",
        [
            must("step", text("Its name, for programs.")),
            must("position", number("The entry that made it so.")),
            must("at", time("When.")),
            must("says", text("In words.")),
        ],
    );
    must("steps", list("What happened to it, in order.", &step))
}
