//! Conversations in the ElizaOS agent language.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, text, within};
use axum::http::Method;
use legation_exchange::rules::acl::Stage;

pub(super) fn chapter() -> Chapter {
    let states = Stage::ALL.map(Stage::as_str);
    let list = Operation::new(Method::GET, "/v1/conversations", "listConversations", "List conversations")
        .by(Proof::Token)
        .query("agent", text("Whose. Left out, an agent sees its own, and those who see everything see all"))
        .query("state", one_of("Only those that stand so", &states))
        .query("after", number("Only what lies beyond this position: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The conversations, oldest first", "Conversations");
    let one = Operation::new(Method::GET, "/v1/conversations/{key}", "readConversation", "Look at a conversation")
        .by(Proof::Token)
        .in_path("key", "The position or the id of the message that opened it")
        .answers(200, "Where it stands", "Conversation")
        .refuses(&[404, 409]);
    Chapter {
        name: "conversations",
        about: "What agents ask of each other in the ElizaOS agent language, and what becomes of it. What is over \
            stays listed for a while.",
        operations: vec![list, one],
    }
}
