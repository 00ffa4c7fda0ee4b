//! The Model Context Protocol.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{object, text};
use axum::http::Method;
use serde_json::json;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "mcp",
        about: "The Model Context Protocol, streamable HTTP, in both its generations. What a session is asked is \
            described by itself: `tools/list`, `resources/list`, `prompts/list`.",
        operations: vec![ask(), listen(), end()],
    }
}

fn ask() -> Operation {
    let message = object("A message of JSON-RPC 2.0.", []);
    Operation::new(Method::POST, "/mcp", "askMcp", "Send a request or a notification")
        .about("Answered with JSON, or with events where something is told on the way. Every request brings its token; a session belongs to the token that opened it. Protocol versions to 2025-11-25 begin with `initialize`, 2026-07-28 asks `server/discover`.")
        .by(Proof::Token)
        .takes_any(json!({"application/json": {"schema": message}}))
        .answers_any(200, "The answer", json!({
            "application/json": {"schema": message},
            "text/event-stream": {"schema": text("Messages of JSON-RPC, as events.")},
        }))
        .answers_nothing(202, "A notification was taken")
        .refuses(&[404])
}

fn listen() -> Operation {
    Operation::new(Method::GET, "/mcp", "listenMcp", "Hear what a session is told unasked")
        .by(Proof::Token)
        .answers_any(
            200,
            "As it comes",
            json!({"text/event-stream": {"schema": text("Messages of JSON-RPC, as events.")}}),
        )
        .refuses(&[404])
}

fn end() -> Operation {
    Operation::new(Method::DELETE, "/mcp", "endMcp", "End a session")
        .by(Proof::Token)
        .answers_nothing(204, "It has ended")
        .refuses(&[404])
}
