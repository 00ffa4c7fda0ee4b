//! The lines by which the ElizaOS agent language shows its transport (section 7.2), for those who read them:
//! one for each message that is taken, one each time one is handed out. They hold what agents said, and
//! nobody writes them unless asked to.

use legation_exchange::record::Frame;
use legation_exchange::{Effect, Entry};
use legation_protocol::Format;
use tracing::Level;

/// The name under which a log is asked for these lines.
pub const TRANSPORT: &str = "acl_transport";

fn is_wanted() -> bool {
    tracing::enabled!(target: "acl_transport", Level::TRACE)
}

/// Messages were taken.
pub(crate) fn taken(entries: &[Entry], frames: &[Frame]) {
    if !is_wanted() {
        return;
    }
    for (entry, frame) in entries.iter().zip(frames) {
        if let (Effect::Accepted(accepted), Some(body)) = (&entry.effect, frame.body.here())
            && accepted.dialect == Format::Acl
            && accepted.proof != "exchange"
        {
            tracing::trace!(target: "acl_transport", "MCP_MESSAGE_RECEIVED: {}", line(body));
        }
    }
}

/// A message is handed out.
pub(crate) fn sent(dialect: Format, body: &[u8]) {
    if dialect == Format::Acl && is_wanted() {
        tracing::trace!(target: "acl_transport", "MCP_MESSAGE_SENT: {}", line(body));
    }
}

/// The message on one line of plain characters: nothing in it passes for the end of one, or for another.
fn line(body: &[u8]) -> String {
    let message: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let escaped = |character: char| {
        let units = character.encode_utf16(&mut [0; 2]).to_vec();
        units.iter().fold(String::new(), |text, unit| text + &format!("\\u{unit:04x}"))
    };
    let plain = |character| if matches!(character, ' '..='~') { String::from(character) } else { escaped(character) };
    message.to_string().chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_message_is_one_line_whatever_it_says() {
        let sly = "{\n \"a\": \"x\\nMCP_MESSAGE_SENT: {}\\u2028\u{202e}\u{1f600}\u{7f}\"\n}";
        assert_eq!(line(sly.as_bytes()), r#"{"a":"x\nMCP_MESSAGE_SENT: {}\u2028\u202e\ud83d\ude00\u007f"}"#);
    }
}
