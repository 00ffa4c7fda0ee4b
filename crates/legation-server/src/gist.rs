//! What a message says, in a few words, for those who go through many. It is taken from the message as whoever asks is
//! shown it: who may not see a text gets nothing of it.

use legation_protocol::Format;
use serde_json::Value;

/// The most characters of it in a list.
pub(crate) const FEW: usize = 160;

/// The first words of what a message says; none where it says nothing in words.
pub(crate) fn gist(dialect: Format, message: &Value, most: usize) -> Option<String> {
    let said = places(dialect).iter().filter_map(|place| message.pointer(place)).find_map(words)?;
    let said = match message.pointer("/payload/severity").and_then(Value::as_str) {
        Some(severity) if dialect == Format::Vcp => format!("{severity}: {said}"),
        _ => said,
    };
    // In one line: how it is broken into several is for whoever reads all of it.
    let mut line = String::new();
    for word in said.split_whitespace() {
        line.extend((!line.is_empty()).then_some(' '));
        line.push_str(word);
        // No character has more than four bytes.
        if line.len() > 4 * most {
            break;
        }
    }
    let few: String = line.chars().take(most).collect();
    Some(if few.len() < line.len() { few + "…" } else { few }).filter(|few| !few.is_empty())
}

/// Where a dialect says things, the most telling first.
const fn places(dialect: Format) -> &'static [&'static str] {
    match dialect {
        Format::Vcp => &["/payload/reason", "/payload/context", "/payload/constitution_ref", "/payload/constraints"],
        Format::Acl => &[
            "/payload/task_description",
            "/payload/result_summary",
            "/payload/error_text",
            "/payload/reason_text",
            "/payload/comments",
            "/payload/reason_code",
            "/payload/reference",
            "/payload/condition",
            "/payload/query_type",
            "/payload/status",
        ],
        Format::Cap => &["/content", "/context_summary", "/inquiry", "/error_message"],
        Format::Vlp => &["/content"],
        Format::Hello | Format::Manifest => &[],
    }
}

fn words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) if !items.is_empty() && items.iter().all(|item| item["type"].is_string()) => {
            let each = |item: &Value| Some(format!("{}: {}", item["type"].as_str()?, words(&item["value"])?));
            Some(items.iter().filter_map(each).collect::<Vec<_>>().join(", "))
        }
        // What the exchange itself tells in VCP.
        Value::Object(members) if members.get("message").is_some_and(Value::is_string) => words(&value["message"]),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::gist;
    use legation_protocol::Format;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(dialect: Format, message: &Value, want: Option<&str>) {
        assert_eq!(gist(dialect, message, 24).as_deref(), want);
    }

    #[test]
    fn each_dialect_has_its_own_words() {
        check(Format::Vlp, &json!({"content": " Two\nlines\t here "}), Some("Two lines here"));
        check(Format::Vlp, &json!({"content": {"rows": 3}}), Some(r#"{"rows":3}"#));
        check(Format::Cap, &json!({"context_summary": "Write it.", "content": null}), Some("Write it."));
        check(Format::Vcp, &json!({"payload": {"severity": "critical", "reason": "Smoke."}}), Some("critical: Smoke."));
        check(Format::Vcp, &json!({"payload": {"context": "⏰🌅", "personal_state": {"energy": 2}}}), Some("⏰🌅"));
        let rules = json!([{"type": "topic_block", "value": ["x"]}, {"type": "token_limit", "value": 9}]);
        check(Format::Vcp, &json!({"payload": {"constraints": rules}}), Some(r#"topic_block: ["x"], toke…"#));
        let notice = json!([{"type": "notice", "value": {"code": "paused", "message": "It waits."}}]);
        check(Format::Vcp, &json!({"payload": {"constraints": notice}}), Some("notice: It waits."));
        check(Format::Acl, &json!({"payload": {"task_description": "Mend it."}}), Some("Mend it."));
        check(Format::Acl, &json!({"payload": {"status": "accepted"}}), Some("accepted"));
    }

    #[test]
    fn it_is_cut_between_characters_and_says_so() {
        check(Format::Vlp, &json!({"content": "ä".repeat(25)}), Some(&format!("{}…", "ä".repeat(24))));
        check(Format::Vlp, &json!({"content": "ä".repeat(24)}), Some(&"ä".repeat(24)));
    }

    #[test]
    fn what_says_nothing_has_none() {
        for content in [json!(null), json!(""), json!("  \n")] {
            check(Format::Vlp, &json!({"content": content}), None);
        }
        check(Format::Vcp, &json!({"payload": {"escalation_id": "0"}}), None);
        check(Format::Cap, &json!([]), None);
    }
}
