//! The shapes of what binds an agent, and of how it is.

use super::Shape;
use crate::openapi::schema::{
    as_a, closed, flag, list, may, must, number, object, of, one_of, or_flag, or_null, text, texts, time,
};
use serde_json::{Value, json};

const CONSTITUTION: &str = "The constitution, a `creed://` URI.";

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Clearance", one_of("How much one is told: everything, or flags.", &["full", "flags"])),
        ("Constraint", constraint()),
        ("Constraints", constraints()),
        ("ConstraintsWanted", wanted()),
        ("Constitution", constitution()),
        ("Situation", situation()),
    ]
}

fn value() -> Value {
    json!({"description": "What it demands; its form follows from the type."})
}

fn constraint() -> Value {
    object(
        "A constraint an agent is under.",
        [
            must("type", text("`topic_block`, `token_limit`, `audience_restrict`, `safety_floor`, or another.")),
            must("value", value()),
            must("source_constitution_ref", text(CONSTITUTION)),
            must("setter", text("Who laid it: an agent, or `operator`.")),
            must("position", number("The entry that laid it.")),
            must("laid_at", time("When.")),
            must("inherited_from", or_null(text("The agent above it that it was laid on."))),
            must("enforced", flag("Whether messages are held against it here.")),
        ],
    )
}

fn constraints() -> Value {
    let floor = one_of("The least level of VLP messages.", &["safe", "review", "block"]);
    let effective = object(
        "What they add up to.",
        [
            must("token_limit", or_flag(&or_null(number("Most tokens of a message, of four bytes each.")))),
            must("topic_block", or_flag(&texts("Topics not to speak of."))),
            must("audience_restrict", or_flag(&or_null(texts("The only ones to address.")))),
            must("safety_floor", or_flag(&or_null(floor))),
        ],
    );
    object(
        "The constraints an agent is under.",
        [
            must("agent", text("Whose.")),
            must("clearance", of("Clearance")),
            must("constraints", or_flag(&list("Its own first.", &of("Constraint")))),
            must("effective", effective),
        ],
    )
}

fn wanted() -> Value {
    let laid = closed(
        "A constraint to lay.",
        [
            must("type", text("Its type.")),
            must("value", value()),
            may("source_constitution_ref", text("Where it comes from; this exchange when left out.")),
        ],
    );
    closed(
        "What is to be laid on an agent, and what lifted before.",
        [
            must("agent", text("On whom.")),
            may("constraints", list("What to lay.", &laid)),
            may(
                "mode",
                one_of(
                    "Beside what is there, or in place of that type; `merge` when left out.",
                    &["merge", "override"],
                ),
            ),
            may("lift", texts("Types of which all constraints laid on this agent are lifted.")),
        ],
    )
}

fn constitution() -> Value {
    let scope = object(
        "Where it applies. A list that is absent or empty does not limit.",
        [
            may("model_families", texts("Patterns of model names.")),
            may("purposes", texts("What it is for.")),
            may("environments", texts("Where.")),
        ],
    );
    object(
        "The constitution an agent announced last.",
        [
            must("constitution_ref", text(CONSTITUTION)),
            must("manifest_hash", as_a("Hash", "The hash of its manifest.")),
            must("scope", or_null(scope)),
            must("position", number("The entry that has the announcement.")),
            must("announced_at", time("When that was taken.")),
            must("clashes_with", texts("Agents whose constitutions it clashes with.")),
        ],
    )
}

fn situation() -> Value {
    object(
        "The situation an agent said it is in.",
        [
            must("context", text("Its context, in canonical form.")),
            must("constitution_ref", text(CONSTITUTION)),
            must("transition", one_of("How much changed with it.", &["none", "minor", "major", "emergency"])),
            must("position", number("The entry that has the message.")),
            must("shared_at", time("When that was taken.")),
        ],
    )
}
