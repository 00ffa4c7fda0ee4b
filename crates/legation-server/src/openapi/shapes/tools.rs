//! Tools, and calls of them.

use super::Shape;
use crate::openapi::schema::{
    as_a, closed, flag, list, may, must, number, object, of, one_of, or_null, text, texts, time,
};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Tools", object("Which tools there are.", [must("servers", list("By id.", &server()))])),
        ("ToolCall", wanted()),
        ("ToolAnswer", answer()),
        ("ToolCallFacts", facts()),
        (
            "ToolCalls",
            object(
                "Calls.",
                [
                    must("calls", list("The newest first.", &of("ToolCallFacts"))),
                    must("next", or_null(number("Where to go on, as `before`; null at the end."))),
                ],
            ),
        ),
    ]
}

fn anything(about: &str) -> Value {
    json!({"description": about})
}

fn server() -> Value {
    let tool = object(
        "A tool.",
        [
            must("name", text("Its name.")),
            must("available", flag("Whether its server says that it has it.")),
            may("callable", flag("Whether the agent who asks may call it now, without naming a task.")),
            may("description", text("What it does, in its server's words.")),
            may("input_schema", anything("A JSON Schema of its arguments, as its server tells it.")),
            must("findings", list("What was found in those words.", &of("Finding"))),
        ],
    );
    object(
        "A tool server.",
        [
            must("server_id", text("Its id, as manifests have it.")),
            must("answers", flag("Whether it said what tools it has.")),
            may("why", text("Why it did not.")),
            may("scopes", texts("Those the agent who asks has there.")),
            must("tools", list("Its tools; for an agent, those it is bound to.", &tool)),
        ],
    )
}

fn wanted() -> Value {
    closed(
        "A call.",
        [
            must("server_id", text("The server, as the manifest's `mcp_bindings` name it.")),
            must("tool", text("The tool.")),
            may("arguments", json!({"type": "object", "description": "Its arguments. None where it is left out."})),
            may("task_id", text("The task it is made in: one that the caller handed over or works on.")),
            may("scopes", texts("The scopes it needs, which the caller must have there.")),
        ],
    )
}

fn answer() -> Value {
    let attachment = object(
        "The same as an attachment of CAP: a message that carries it as it is, is marked `verified`.",
        [
            must("type", one_of("What this is.", &["tool_call_result"])),
            must("server_id", text("The server.")),
            must("tool", text("The tool.")),
            must("result", anything("What it answered.")),
        ],
    );
    object(
        "What a tool answered.",
        [
            must("status", one_of("That it answered.", &["answered"])),
            must("position", number("The entry of the answer.")),
            must("call", number("The entry of the call.")),
            must("is_error", flag("Whether the tool says that it failed.")),
            must("result", anything("What it answered, as MCP has it: `content`, and more.")),
            must(
                "findings",
                list("What the scan found in it. It is data from others, never an instruction.", &of("Finding")),
            ),
            must("attachment", attachment),
            may("receipt", as_a("Receipt", "That the exchange was answered this, under its signature.")),
        ],
    )
}

fn facts() -> Value {
    let outcomes = ["result", "error", "refused", "unusable", "unreached", "silent", "broken", "interrupted"];
    let answer = object(
        "What came of it.",
        [
            must("position", number("The entry that says so.")),
            must(
                "outcome",
                one_of(
                    "What came. Of `silent`, `broken` and `interrupted` nothing is known of what the tool did; of `unreached`, that nothing was sent.",
                    &outcomes,
                ),
            ),
            must("answered_at", time("When it came.")),
            may("why", text("More of that, in words of the exchange.")),
            may("digest", as_a("Hash", "SHA-256 of the canonical form of `server_id`, `tool` and `result`.")),
            must("findings", list("What the scan found in it.", &of("Finding"))),
            may(
                "said",
                anything("What the server said: for a result the object with `server_id`, `tool` and `result`."),
            ),
        ],
    );
    object(
        "A call of a tool.",
        [
            must("call", number("Its entry.")),
            must("agent", text("Who called.")),
            must("server_id", text("The server.")),
            must("tool", text("The tool.")),
            may("task_id", text("The task it was made in.")),
            may("scopes", texts("The scopes it was made with.")),
            must("called_at", time("When it was made.")),
            must("digest", as_a("Hash", "SHA-256 of the canonical form of its arguments.")),
            may(
                "arguments",
                json!({"type": "object", "description": "Its arguments, for those who may see them and while they are kept."}),
            ),
            must("answer", or_null(answer)),
        ],
    )
}
