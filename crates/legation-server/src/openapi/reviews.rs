//! What waits for a person.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, within};
use axum::http::Method;
use serde_json::json;

const REVIEW: &str = "The review's id";

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "reviews",
        about: "Messages that wait for a person. A decision counts for exactly what was shown, and once.",
        operations: vec![list(), get(), decide(), evidence(), decisions(), feed()],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/reviews", "listReviews", "List what waits for a person")
        .by(Proof::Token)
        .query("order", one_of("Which come first; `oldest` when left out", &["oldest", "newest", "urgent"]))
        .query("after", number("Only what comes behind: `next` of the answer before. Not with `urgent`"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "What waits, in the order asked for", "Reviews")
}

fn get() -> Operation {
    Operation::new(Method::GET, "/v1/reviews/{id}", "getReview", "One message that waits for a person")
        .by(Proof::Token)
        .in_path("id", REVIEW)
        .answers(200, "What waits, and why", "Review")
        .refuses(&[404])
}

fn decide() -> Operation {
    Operation::new(Method::POST, "/v1/reviews/{id}", "decideReview", "Decide what becomes of a held message")
        .about("For operators and reviewers. Whoever sent it is told of a refusal.")
        .by(Proof::Token)
        .in_path("id", REVIEW)
        .takes("ReviewDecision")
        .answers(200, "Decided, and in the record", "Done")
        .refuses(&[404, 409, 507])
}

fn evidence() -> Operation {
    Operation::new(Method::GET, "/v1/reviews/{id}/evidence", "getEvidence", "What a held message rests on")
        .about(
            "For operators, reviewers and auditors: the message, what it names and what names it, what was asked for in \
            its task, and what was said of holding it; also once it is decided. Who is not cleared for something \
            private gets flags in its place, as in a review.",
        )
        .by(Proof::Token)
        .in_path("id", REVIEW)
        .answers(200, "What it rests on", "Evidence")
        .refuses(&[404])
}

fn decisions() -> Operation {
    Operation::new(
        Method::GET,
        "/v1/decisions",
        "listDecisions",
        "List what was decided on messages that waited for a person",
    )
    .about("For operators, reviewers and auditors; with flags in place of what is private, as in a review.")
    .by(Proof::Token)
    .query("before", number("Only messages before this position: `next` of the answer before"))
    .query("limit", within("How many at most", 1, 200, 50))
    .answers(200, "The last decisions, the newest message first", "Decisions")
}

fn feed() -> Operation {
    let events = json!({
        "type": "string",
        "description": "Events `reviews` with `FeedReviews` as `data`, every second and when something changes; at the \
            end `refused` with why, or `ended`.",
    });
    Operation::new(Method::GET, "/v1/feed/reviews", "streamReviews", "Stream how much waits for a person")
        .about("For operators, reviewers and auditors.")
        .by(Proof::Token)
        .answers_any(
            200,
            "How much waits, until the client or the exchange ends it",
            json!({"text/event-stream": {"schema": events}}),
        )
}
