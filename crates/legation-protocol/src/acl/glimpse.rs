//! What can be made out of a message that cannot be read: enough to tell its sender so (section 4.7).

use crate::id::legible;
use serde_json::Value;

/// The little that is known of a message that made no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    /// What it calls itself.
    pub id: String,
    /// Who it says it is from.
    pub sender: String,
    /// What it says it does.
    pub performative: Option<String>,
}

impl Glimpse {
    /// Looks at bytes that are no message. Nothing if they do not look like this language, or leave open
    /// which message they are or whose. What stands twice in them counts as it stands last.
    ///
    /// ```
    /// use legation_protocol::acl::Glimpse;
    /// let cancel = br#"{"mcp_version":"0.1.0","performative":"CANCEL","message_id":"A-1","sender":{"agent_id":"Eddy"}}"#;
    /// assert_eq!(Glimpse::of(cancel).unwrap().id, "a-1");
    /// assert_eq!(Glimpse::of(b"{\"performative\":"), None);
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Glimpse> {
        let seen = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().next()?.ok()?;
        let message = seen.get("message").filter(|message| message.is_object()).unwrap_or(&seen);
        if !["mcp_version", "performative"].iter().any(|mark| message.get(mark).is_some()) {
            return None;
        }
        let text = |at: &str| message.pointer(at).and_then(Value::as_str).filter(|text| legible(text).is_ok());
        Some(Glimpse {
            id: text("/message_id")?.to_ascii_lowercase(),
            sender: text("/sender/agent_id")?.to_owned(),
            performative: text("/performative").map(str::to_owned),
        })
    }
}
