//! Tools of others, called through the exchange.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, text, within};
use axum::http::Method;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "tools",
        about: "Tools of the servers an operator has set up, called for agents that are bound to them. What a tool \
            answered is on the record before its caller has it, and is `verified` in a message that carries it.",
        operations: vec![list(), call(), calls(), one()],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/tools", "listTools", "List tools")
        .about("For an agent those it is bound to, as their servers tell them; for operators and auditors all that are set up, and whether their servers answer.")
        .by(Proof::Token)
        .answers(200, "The servers, with their tools", "Tools")
}

fn call() -> Operation {
    Operation::new(Method::POST, "/v1/tools/call", "callTool", "Call a tool")
        .about("Once. The call is on the record before anything is sent, and what came of it before this answers; a client that hangs up loses neither.")
        .by(Proof::Token)
        .takes("ToolCall")
        .answers(200, "What the tool answered, also that it failed", "ToolAnswer")
        .refuses(&[404, 409, 423, 502, 504, 507])
}

fn calls() -> Operation {
    Operation::new(Method::GET, "/v1/tools/calls", "listToolCalls", "List calls")
        .about("An agent's own, or with `task_id` those of a task it has a part in; for operators and auditors all.")
        .by(Proof::Token)
        .query("agent", text("Made by this agent"))
        .query("task_id", text("Made in this task"))
        .query("before", number("Only what lies before this position: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The calls, newest first, without arguments and results", "ToolCalls")
}

fn one() -> Operation {
    Operation::new(Method::GET, "/v1/tools/calls/{position}", "getToolCall", "One call, and what came of it")
        .about("Whoever called sees all of it, as do operators and auditors; those with a part in its task neither arguments nor result.")
        .by(Proof::Token)
        .in_path("position", "The entry of the call, or of its answer")
        .answers(200, "The call", "ToolCallFacts")
        .refuses(&[404])
}
