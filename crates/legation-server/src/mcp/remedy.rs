//! What can be done about a refusal, in words for whoever reads them: mostly a model.

use legation_protocol::Code;
use serde_json::Value;

/// The error body in words, with what to do.
pub(super) fn in_words(body: &Value) -> String {
    let text = |name| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let (code, message, at) = (text("error"), text("message"), text("at"));
    let place = if at.is_empty() { String::new() } else { format!(" (at {at})") };
    let advice = Code::named(code).map_or("Look at the exchange's log.", advice);
    format!("Refused, {code}: {message}{place}. {advice} More is at docs/errors/{code}.md.")
}

fn advice(code: Code) -> &'static str {
    let own = ADVICE.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, advice)| *advice);
    own.unwrap_or(if code.is_retryable() { "Try again in a while." } else { "Correct it and call again." })
}

const ADVICE: &[(&[Code], &str)] = &[
    (
        &[Code::SignatureRequired],
        "VCP messages carry their sender's signature, and this exchange keeps no key for you. Run the host through \
         `legation mcp` with LEGATION_KEY set to the agent's key file, which signs; or sign `prepared` with `legation \
         sign` and send it with send_message; or have an operator register you with `custody: exchange`, and the \
         exchange signs for you.",
    ),
    (&[Code::UnknownRecipient, Code::UnknownAgent], "Look for it with find_agents; ids are exact."),
    (&[Code::SenderMismatch], "Name yourself as the sender: vcp_status says who you are."),
    (&[Code::NotAllowed], "This takes another token than yours: ask the operator."),
    (&[Code::Unauthenticated], "The token this host was given is not known here: ask the operator for another."),
    (&[Code::AgentSuspended, Code::AgentPaused], "Stop here and tell your person: an operator has to let you go on."),
    (&[Code::Halted], "It was halted: wait until a person releases it."),
    (&[Code::DelegationDenied], "Delegate only to those your manifest allows."),
    (&[Code::ToolNotBound, Code::UnknownTool], "list_bound_tools tells which tools you have, and where."),
    (
        &[Code::ToolTimeout],
        "The tool may have done what you asked: find out before you call it again, and say so if you cannot.",
    ),
    (&[Code::ConstraintViolated], "You are under a constraint that forbids this; your bundle says which."),
    (&[Code::MessageIdConflict], "Send it with an id of its own."),
    (&[Code::Stale, Code::Future], "Send it with the time as of now."),
    (&[Code::Untranslatable], "Send it in a dialect the recipient speaks: find_agents tells which."),
    (&[Code::ReviewConflict], "List the reviews again: it was decided, changed or claimed meanwhile."),
    (&[Code::Fenced], "Another program reads this mailbox now; ask again only if it should be you."),
];

#[cfg(test)]
mod tests {
    use super::in_words;
    use serde_json::json;

    #[test]
    fn a_refusal_says_what_where_and_what_to_do() {
        let body = json!({"error": "unknown_recipient", "message": "there is no bob", "at": "/to"});
        let words = in_words(&body);
        assert!(words.starts_with("Refused, unknown_recipient: there is no bob (at /to). Look for it"), "{words}");
        assert!(in_words(&json!({"error": "busy", "message": "x", "at": null})).contains("Try again"));
    }
}
