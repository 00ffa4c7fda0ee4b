//! Sessions, and what is halted.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{one_of, text, within};
use axum::http::Method;

const SESSION: &str = "The session's id, percent-encoded";

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "sessions",
        about: "Sessions of VLP. Their parties see them, and so do operators, auditors and reviewers. A message with the level `block` halts its session until a person lets it go on.",
        operations: vec![list(), get(), evidence(), release()],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/sessions", "listSessions", "List sessions")
        .by(Proof::Token)
        .query("party", text("Only those this agent has a part in"))
        .query("state", one_of("Only those that are halted", &["halted"]))
        .query("after", text("Only what comes behind this id: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The sessions, by id", "Sessions")
}

fn get() -> Operation {
    Operation::new(Method::GET, "/v1/sessions/{id}", "readSession", "What is known of a session")
        .by(Proof::Token)
        .in_path("id", SESSION)
        .answers(200, "The session", "VlpSession")
        .refuses(&[404])
}

fn evidence() -> Operation {
    Operation::new(Method::GET, "/v1/sessions/{id}/evidence", "getHaltEvidence", "What a halted session rests on")
        .about(
            "For operators, reviewers and auditors, as long as it is halted: the message that halted it, what that names \
            and what names it, and what else was said in the session or is stopped with it, with what was found in each. \
            Who is not cleared for something private gets flags in its place, as in a review.",
        )
        .by(Proof::Token)
        .in_path("id", SESSION)
        .answers(200, "What it rests on", "HaltEvidence")
        .refuses(&[404, 409])
}

fn release() -> Operation {
    Operation::new(Method::POST, "/v1/sessions/{id}/release", "releaseSession", "Let a halted session go on")
        .about(
            "For operators and reviewers. What was on its way in it goes on too, unless it waits for something else.",
        )
        .by(Proof::Token)
        .in_path("id", SESSION)
        .takes("SessionRelease")
        .answers(200, "Done, and in the record", "Done")
        .refuses(&[404, 409, 507])
}
