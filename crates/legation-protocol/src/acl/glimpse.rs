//! What can be made out of a message that cannot be read: enough to tell its sender so (section 4.7).

mod begun;

use crate::id::legible;
use serde_json::Value;

/// The little that is known of a message that made no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    /// What it calls itself.
    pub id: String,
    /// Who it says it is from, if it got that far.
    pub sender: Option<String>,
    /// What it says it does.
    pub performative: Option<String>,
}

impl Glimpse {
    /// Looks at bytes that are no message. Nothing if they do not look like this language, or leave open
    /// which message they are or whose. What stands twice in them counts as it stands last.
    ///
    /// Of bytes that are no JSON, what stands whole before the fault counts, if it stands there once and says what the
    /// message does: without that it could be a `NOT_UNDERSTOOD`, which is never answered.
    ///
    /// ```
    /// use legation_protocol::acl::Glimpse;
    /// let cancel = br#"{"mcp_version":"0.1.0","performative":"CANCEL","message_id":"A-1","sender":{"agent_id":"Eddy"}}"#;
    /// assert_eq!(Glimpse::of(cancel).unwrap().id, "a-1");
    /// assert_eq!(Glimpse::of(&cancel[..cancel.len() - 2]).unwrap().sender, None);
    /// assert_eq!(Glimpse::of(b"{\"performative\":"), None);
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Glimpse> {
        match serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().next()? {
            Ok(seen) => {
                let glimpse = Glimpse::at(seen.get("message").filter(|message| message.is_object()).unwrap_or(&seen))?;
                Some(glimpse).filter(|glimpse| glimpse.sender.is_some())
            }
            Err(_) => Glimpse::at(&begun::begun(bytes)).filter(|glimpse| glimpse.performative.is_some()),
        }
    }

    fn at(message: &Value) -> Option<Glimpse> {
        if !["mcp_version", "performative"].iter().any(|mark| message.get(mark).is_some()) {
            return None;
        }
        let text = |at: &str| message.pointer(at).and_then(Value::as_str).filter(|text| legible(text).is_ok());
        Some(Glimpse {
            id: text("/message_id")?.to_ascii_lowercase(),
            sender: text("/sender/agent_id").map(str::to_owned),
            performative: text("/performative").map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Glimpse;

    const WHOLE: &str = r#"{"mcp_version":"0.1.0","message_id":"A-1","sender":{"agent_id":"Eddy"},"performative":"CANCEL","payload":{}}"#;

    #[track_caller]
    fn check(text: &str, want: Option<(Option<&str>, &str)>) {
        let seen = Glimpse::of(text.as_bytes());
        let want = want.map(|(sender, act)| Glimpse {
            id: "a-1".to_owned(),
            sender: sender.map(str::to_owned),
            performative: Some(act.to_owned()),
        });
        assert_eq!(seen, want, "{text}");
    }

    #[test]
    fn of_what_is_no_json_that_counts_which_stands_whole_before_the_fault() {
        let eddy = Some((Some("Eddy"), "CANCEL"));
        check(WHOLE, eddy);
        check(&WHOLE.replace("{}}", "{},}"), eddy);
        check(&WHOLE.replace("{}}", "{}, // a comment\n}"), eddy);
        check(&WHOLE.replace("{}}", "{'x': 1}}"), eddy);
        check(&WHOLE.replace("{}}", "{} \"x\": 1}"), eddy);
        check(&WHOLE.replace("{}}", "{"), eddy);
        check(&WHOLE.replace("{}}", "NaN}"), eddy);
        check(&WHOLE.replace(r#","payload":{}}"#, ""), eddy);
        check(&format!(r#"{{"message":{WHOLE},"signature":"x"#), eddy);
        check(&format!(r#"{{"message":{}"#, WHOLE.replace("{}}", "{},}")), eddy);
        // Who it is from may come after.
        check(&WHOLE.replace(r#""sender":{"agent_id":"Eddy"},"#, "").replace("{}}", "{}, x"), Some((None, "CANCEL")));
    }

    #[test]
    fn nothing_is_guessed() {
        for text in [
            // It may be a NOT_UNDERSTOOD, or another message.
            WHOLE.replace(r#""performative":"CANCEL","#, "").replace("{}}", "{"),
            WHOLE.replace(r#","performative":"CANCEL","payload":{}}"#, r#","performative":"CANC"#),
            WHOLE.replace(r#""message_id":"A-1","#, "").replace("{}}", "{"),
            WHOLE.replace(r#""A-1""#, r#""A-1","message_id":"A-2""#).replace("{}}", "{"),
            WHOLE.replace(r#""CANCEL""#, r#""CANCEL","performative":"NOT_UNDERSTOOD""#).replace("{}}", "{"),
            WHOLE.replace(r#""A-1""#, "7").replace("{}}", "{"),
            WHOLE.replace(r#"{"mcp_version""#, r#"{/* */"mcp_version""#),
            WHOLE.replace('"', "'"),
            format!("\u{feff}{WHOLE}"),
            format!("[{WHOLE}"),
            String::new(),
        ] {
            check(&text, None);
        }
    }
}
