//! Signing what the exchange hands back because it lacks its sender's signature.

use legation_protocol::json::Doc;
use legation_protocol::sign::SecretKey;
use serde_json::{Value, json};

/// The call that sends what an answer says was prepared, signed; nothing if it was none of that.
pub(super) fn signed_again(call: &Value, answer: &Value, key: &SecretKey) -> Option<Value> {
    let refusal = answer.pointer("/result/structuredContent")?;
    if refusal.get("error")?.as_str()? != "signature_required" {
        return None;
    }
    let prepared = refusal.get("prepared")?.to_string();
    let signed = key.sign_in_place(&Doc::parse(prepared.as_bytes()).ok()?).ok()?;
    let message: Value = serde_json::from_str(&signed).ok()?;
    let mut call = call.clone();
    let params = call.get_mut("params")?.as_object_mut()?;
    params.insert("name".to_owned(), json!("send_message"));
    params.insert("arguments".to_owned(), json!({"message": message}));
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::signed_again;
    use legation_protocol::sign::SecretKey;
    use serde_json::json;

    #[test]
    fn what_lacks_a_signature_is_sent_again_with_one() {
        let key = SecretKey::from_seed(&[7; 32]);
        let call = json!({"id": 1, "method": "tools/call", "params": {"name": "escalate", "arguments": {}}});
        let lacking = json!({"error": "signature_required", "prepared": {"vcp_message": "1.2"}});
        let again = signed_again(&call, &json!({"result": {"structuredContent": lacking}}), &key).unwrap();
        assert_eq!((&again["id"], &again["params"]["name"]), (&json!(1), &json!("send_message")));
        let signature = again["params"]["arguments"]["message"]["signature"].as_str().unwrap();
        assert!(signature.starts_with("base64:"));
        let other = json!({"result": {"structuredContent": {"error": "signature_invalid"}}});
        assert!(signed_again(&call, &other, &key).is_none());
        assert!(signed_again(&call, &json!({"result": {}}), &key).is_none());
    }
}
