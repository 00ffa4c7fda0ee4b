//! Memory.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, text, time, within};
use axum::http::Method;
use legation_protocol::vlp::Kind;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "memory",
        about: "What was said in earlier sessions, in VLP. Whoever asks finds what they may see, and nothing of the rest.",
        operations: vec![recall()],
    }
}

fn recall() -> Operation {
    let types: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    Operation::new(Method::GET, "/v1/memory", "recall", "Find what was said in earlier sessions")
        .about(
            "An agent finds what it sent or got, and all of a session that it has a part in and names. Everything that is asked for must fit; what is left empty is not asked \
             for. The best first means: those that are about all of it (each word of `text` stands in their keywords or \
             topic, each of `keywords` is one of theirs, whole), then those that are about some of it, then those that \
             only mention it; of each the newest first.",
        )
        .by(Proof::Token)
        .query(
            "keywords",
            text("Keywords with commas between them, all of them; `pending:` and `okla*` find what begins so"),
        )
        .query("text", text("Words that are all in it"))
        .query("sender", text("Who said it, by any name"))
        .query("topic", text("Its topic"))
        .query("session", text("The session it belongs to"))
        .query("type", one_of("Its type", &types))
        .query("since", time("Received then or later"))
        .query("until", time("Received before"))
        .query("after", number("Only what lies beyond this position"))
        .query("before", number("Only what lies before this position"))
        .query("order", one_of("Which comes first; `newest` when left out", &["newest", "best"]))
        .query("limit", within("How many at most", 1, 1000, 50))
        .query("cursor", text("Only what comes behind: `next` of the answer before, to the same question"))
        .answers(200, "What was found", "Memories")
}
