//! Tasks.

use super::Shape;
use crate::openapi::schema::{
    Member, closed, flag, list, must, number, object, of, one_of, or_null, text, texts, time,
};
use crate::tasks::STATES;
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Task", object("A task.", members())),
        ("WholeTask", object("A task with all that belongs to it.", members().into_iter().chain(more()))),
        (
            "Tasks",
            object(
                "Tasks.",
                [
                    must("tasks", list("Oldest first.", &of("Task"))),
                    must("next", or_null(number("What to ask for next, as `after`."))),
                ],
            ),
        ),
        ("Reassignment", closed("Who is to do it.", [must("to", text("An agent, by any of its names."))])),
    ]
}

fn state() -> Value {
    one_of("How it stands. What waits for a review or for the user is open too.", &STATES)
}

fn remedy() -> Value {
    json!({
        "type": ["string", "null"],
        "enum": ["retry", "reassign", "escalate", "mend", null],
        "description": "What its delegator can do about what went wrong. Nothing of it happens by itself.",
    })
}

fn members() -> Vec<Member> {
    vec![
        must("task_id", text("Its id. Another opener may use the same.")),
        must("opener", text("Who opened its tree.")),
        must("state", state()),
        must("delegator", text("Who handed it over.")),
        must("assignee", text("Who works on it.")),
        must("overseer", or_null(text("Who reviews the work in it."))),
        must("parent", or_null(text("The task it is a part of."))),
        must("opened_at", time("When it was opened.")),
        must("deadline", time("When it must be done.")),
        must("ended_at", or_null(time("When it ended."))),
        must("tries", number("How often it was handed over.")),
        must("remedy", remedy()),
        must("position", number("The entry that opened it.")),
    ]
}

fn more() -> Vec<Member> {
    let part = object(
        "A part of it.",
        [must("task_id", text("Its id.")), must("assignee", text("Who works on it.")), must("state", state())],
    );
    let grants = json!({"type": ["object", "null"], "description": "What the delegation passed on, if it said."});
    let tool = object(
        "What may be used of one server.",
        [must("server_id", text("The server.")), must("tools", texts("Tools.")), must("scopes", texts("Scopes."))],
    );
    vec![
        must("lineage", texts("The ids from the root of its tree to itself.")),
        must("former", texts("Who worked on it before.")),
        must("parts", list("Its parts.", &part)),
        must("grants", grants),
        must("tools", list("What its assignee may use in it, all told.", &tool)),
        must("delegation", number("The entry with the delegation.")),
        must("result", or_null(number("The entry with the result, once it is done."))),
        must("reviews", list("What waits for a review.", &review())),
        must("errors", list("What went wrong last, oldest first.", &error())),
        must("waits_for_user", or_null(number("The entry with a question to the user that is not answered yet."))),
        must("escalated_to", or_null(text("Whom it was taken to: an agent, a principal, or `operator`."))),
        must("messages", list("The last 256 messages of its parties.", &message())),
        must("message_count", number("How many there were.")),
    ]
}

fn review() -> Value {
    object(
        "Work that waits for a review.",
        [
            must("position", number("The entry with the work.")),
            must("digest", of("Hash")),
            must("overseer", or_null(text("Who decides; a person, where it is null."))),
            must("final", flag("Whether it is the result.")),
        ],
    )
}

fn error() -> Value {
    object(
        "Something that went wrong.",
        [
            must("position", number("The entry that tells.")),
            must("code", json!({"type": "integer", "description": "The code of the error response."})),
            must("by", text("Who reported it.")),
            must("meaning", or_null(text("What the code means."))),
            must("remedy", remedy()),
        ],
    )
}

fn message() -> Value {
    object(
        "A message of one of its parties, without what it says.",
        [
            must("position", number("Where it lies.")),
            must("type", text("Its kind.")),
            must("sender", text("Who sent it.")),
            must("message_id", text("Its id.")),
            must("held", flag("Whether it was held when it came.")),
            must("findings", texts("The codes of what stands beside it.")),
            must("attachments", list("What it carries, by kind and name.", &json!({"type": "object"}))),
        ],
    )
}
