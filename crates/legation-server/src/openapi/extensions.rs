//! The extensions and their operations.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, text};
use axum::http::Method;
use serde_json::{Value, json};

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "extensions",
        about: "The five extensions of VCP 3.1: how somebody is, how a relation stands, deciding together, handing a \
                session over, and what somebody is after. What is kept is kept for whoever the session is for.",
        operations: vec![list(), look(), call()],
    }
}

fn any() -> Value {
    json!({"application/json": {"schema": {"type": "object"}}})
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/extensions", "listExtensions", "List the extensions and their operations")
        .about("With what each operation takes, as JSON Schema, and whether the extension is active in the session.")
        .by(Proof::Optional)
        .header("Session")
        .answers(200, "The extensions", "Extensions")
}

fn named(operation: Operation) -> Operation {
    operation
        .by(Proof::Optional)
        .header("Session")
        .in_path("name", "The extension: `VCP-X-Consensus`, or `consensus`")
        .in_path("operation", "The operation, as the list of extensions names it")
}

fn look() -> Operation {
    let path = "/v1/extensions/{name}/{operation}";
    named(Operation::new(Method::GET, path, "lookExtension", "Look at what an extension keeps"))
        .about("For operations that change nothing. What an operation takes, the list of extensions says.")
        .query("deliberation_id", text("Which deliberation"))
        .query("session_id", text("Which session"))
        .query("of", text("Whose relation, if not your own"))
        .query("limit", number("How many at most"))
        .answers_any(200, "What is there", any())
        .refuses(&[404, 428])
}

fn call() -> Operation {
    let path = "/v1/extensions/{name}/{operation}";
    named(Operation::new(Method::POST, path, "callExtension", "Ask an extension something"))
        .about("What changes something is on the record when it is answered, with how things stand then.")
        .takes("ExtensionCall")
        .answers_any(200, "How things stand", any())
        .refuses(&[404, 409, 423, 428, 507])
}
