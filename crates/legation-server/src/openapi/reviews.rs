//! What waits for a person.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, within};
use axum::http::Method;

const REVIEW: &str = "The review's id";

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "reviews",
        about: "Messages that wait for a person. A decision counts for exactly what was shown, and once.",
        operations: vec![list(), get(), decide()],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/reviews", "listReviews", "List what waits for a person")
        .by(Proof::Token)
        .query("after", number("Only what comes behind: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "What waits, oldest first", "Reviews")
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
