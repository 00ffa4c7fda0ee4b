//! The shapes of conversations.

use super::Shape;
use crate::openapi::schema::{list, may, must, number, object, of, one_of, or_null, text, texts, time};
use legation_exchange::rules::acl::{Act, Stage};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    let all = object(
        "Conversations.",
        [
            must("conversations", list("Oldest first.", &of("Conversation"))),
            must("next", number("What to ask for next, as `after`.")),
        ],
    );
    vec![("Conversation", conversation()), ("Conversations", all)]
}

fn conversation() -> Value {
    let acts = [Act::Task, Act::QueryIf, Act::QueryRef, Act::QueryCapabilities].map(Act::as_str);
    let states = Stage::ALL.map(Stage::as_str);
    let entries = list("The entries that opened and moved it.", &json!({"type": "integer", "minimum": 0}));
    object(
        "What one agent asked of another, or of a group, and what became of it.",
        [
            must("position", number("Where in the record the message lies that opened it.")),
            must("message_id", text("That message's id.")),
            must("act", one_of("What was asked.", &acts)),
            must("state", one_of("Where it stands.", &states)),
            must("requester", text("Who asked.")),
            must("with", texts("Who may still answer, or did.")),
            must("assignee", or_null(text("Who took the task on."))),
            must("group", or_null(text("The group that was asked."))),
            must("reply_with", or_null(text("What an answer may name instead of the id."))),
            may("priority", one_of("How urgent it is.", &["low", "medium", "high"])),
            must("outcome", or_null(text("What came of it: the status of a result, the code of a failure."))),
            must("opened_at", time("When it was opened.")),
            must("moved_at", time("When it last moved.")),
            must("estimated_at", or_null(time("When its assignee meant to be done."))),
            must("entries", entries),
        ],
    )
}
