//! Calls of tools through the exchange's own gateway, as the record has them: what was asked, before anything was sent,
//! and what came of it, before anybody was told.

use crate::rules::Finding;
use legation_protocol::json::{Doc, canonical};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A call that was made. Its arguments are the entry's body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Called {
    /// Who calls.
    pub agent: String,
    /// The server, by the id that manifests have.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The task it is made in, by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// The id of that task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The scopes it was made with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// SHA-256 of the arguments' canonical form.
    pub digest: String,
}

/// What came of a call. What the server said is the entry's body: for a result, [`told`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The entry of the call.
    pub call: u64,
    /// Who called.
    pub agent: String,
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The id of the task it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// What came of it.
    pub outcome: Outcome,
    /// More of that, in words of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// SHA-256 of [`told`], where there is a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What was found in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool answered.
    Result,
    /// The tool answered that it failed, and with what.
    Error,
    /// The server answered that it would not call the tool.
    Refused,
    /// The server answered with what is no result.
    Unusable,
    /// The server was not reached: nothing was sent.
    Unreached,
    /// The server did not answer in time. Nothing is known of what the tool did.
    Silent,
    /// The connection, or the server's process, ended before an answer. Nothing is known of what the tool did.
    Broken,
    /// The exchange itself ended before an answer. Nothing is known of what the tool did.
    Interrupted,
}

impl Outcome {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Result => "result",
            Outcome::Error => "error",
            Outcome::Refused => "refused",
            Outcome::Unusable => "unusable",
            Outcome::Unreached => "unreached",
            Outcome::Silent => "silent",
            Outcome::Broken => "broken",
            Outcome::Interrupted => "interrupted",
        }
    }

    /// Whether the tool answered.
    pub const fn is_answer(self) -> bool {
        match self {
            Outcome::Result | Outcome::Error => true,
            Outcome::Refused
            | Outcome::Unusable
            | Outcome::Unreached
            | Outcome::Silent
            | Outcome::Broken
            | Outcome::Interrupted => false,
        }
    }
}

/// What a tool answered, and which: the canonical form of `{"result","server_id","tool"}`, whose SHA-256 is what a result
/// that somebody shows is held against. Nothing if the result is not JSON that a message could carry.
pub fn told(server: &str, tool: &str, result: &str) -> Option<Vec<u8>> {
    let text = format!(r#"{{"server_id":{},"tool":{},"result":{result}}}"#, json!(server), json!(tool));
    let doc = Doc::parse(text.as_bytes()).ok()?;
    // What is no value by itself must not become members of ours.
    let is_whole = doc.root().get("result").is_some_and(|node| node.raw() == result.trim());
    (is_whole && doc.root().members().count() == 3).then(|| canonical(doc.root()))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_a_tool_told_is_the_same_however_it_is_spelled() {
        let one = told("S", "t", r#"{ "b": 1.0, "a": "\u0041" }"#);
        assert_eq!(one, told("S", "t", r#"{"a":"A","b":1}"#));
        assert_eq!(one.as_deref(), Some(&br#"{"result":{"a":"A","b":1},"server_id":"S","tool":"t"}"#[..]));
        assert_ne!(one, told("S", "t", r#"{"a":"A","b":2}"#));
        assert_eq!(told("S", "t", "1}, {"), None);
        for more in [r#"1,"tool":"u""#, r#"1,"more":2"#] {
            assert_eq!(told("S", "t", more), None, "no member slips in: {more}");
        }
    }
}
