//! Ids of messages and sessions, and the forms they usually have (section VIII).
//!
//! Any visible text names a message or a session. The forms are advice: the spec's own examples
//! depart from them, so a departure is a warning.

use crate::id::{AgentId, MAX_ID, has_invisible};
use crate::stamp::Timestamp;
use serde::Serialize;
use std::fmt;
use std::ops::Deref;

/// Fewest characters of a message id (section III).
const LEAST: usize = 3;

/// Names one message (section III).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MessageId(Box<str>);

/// Names a session (section VIII).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SessionId(Box<str>);

/// Why a text names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadIdentifier {
    /// Fewer than three characters.
    #[error("a message id has at least 3 characters")]
    Short,
    /// No characters, or too many.
    #[error("an id has 1 to 256 characters")]
    Length,
    /// A character nobody can see.
    #[error("an id has no control, invisible or direction-changing characters")]
    Invisible,
    /// White space at an end.
    #[error("an id neither begins nor ends with white space")]
    Space,
}

/// A prefix that is not two or more capital letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the prefix of a message id is 2 to 16 letters from A to Z")]
pub struct BadPrefix;

impl MessageId {
    /// Reads any id of three characters or more.
    pub fn parse(text: &str) -> Result<MessageId, BadIdentifier> {
        visible(text)?;
        if text.chars().nth(LEAST - 1).is_none() {
            return Err(BadIdentifier::Short);
        }
        Ok(MessageId(text.into()))
    }

    /// `{PREFIX}-{session_suffix}-{seq:04}`, the form for a message in a session (section VIII).
    ///
    /// ```
    /// use legation_protocol::vlp::{Kind, MessageId, SessionId};
    /// let session = SessionId::parse("S-2025-01-04-observer-abc123")?;
    /// let id = MessageId::in_session(Kind::Claim.prefix(), &session, 1)?;
    /// assert_eq!(id.as_str(), "CLM-abc123-0001");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_session(prefix: &str, session: &SessionId, seq: u32) -> Result<MessageId, BadPrefix> {
        check_prefix(prefix)?;
        Ok(MessageId(format!("{prefix}-{}-{seq:04}", session.suffix()).into()))
    }

    /// `{PREFIX}` and eight hexadecimal digits, as section XII makes ids. The caller brings the randomness.
    pub fn generated(prefix: &str, random: u32) -> Result<MessageId, BadPrefix> {
        check_prefix(prefix)?;
        Ok(MessageId(format!("{prefix}{random:08x}").into()))
    }

    /// Whether it has a form the spec uses: two or more capitals, then letters and digits, either
    /// attached (`MSG001`, `MSGab12cd34`) or in parts after hyphens (`CLM-abc123-0001`, `MSG-001`).
    pub fn has_usual_form(&self) -> bool {
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let prefix = self.0.len() - rest.len();
        let tail = rest.strip_prefix('-').map_or_else(|| is_word(rest), |parts| parts.split('-').all(is_word));
        prefix >= 2 && tail
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    /// Reads any session id.
    pub fn parse(text: &str) -> Result<SessionId, BadIdentifier> {
        visible(text)?;
        Ok(SessionId(text.into()))
    }

    /// `S-{YYYY-MM-DD}-{agent_slug}-{short_uuid}` (section VIII). The caller brings the randomness.
    ///
    /// ```
    /// use legation_protocol::{Timestamp, id::AgentId, vlp::SessionId};
    /// let start = Timestamp::utc("2025-01-04T10:30:00Z")?;
    /// let session = SessionId::begun(&start, &AgentId::named("The Observer")?, 0x00ab_c123);
    /// assert_eq!(session.as_str(), "S-2025-01-04-the-observer-00abc123");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begun(at: &Timestamp, agent: &AgentId, random: u32) -> SessionId {
        // Times on the wire are in UTC, so the date is the text's beginning.
        let date = at.as_str().get(..10).unwrap_or_default();
        SessionId(format!("S-{date}-{}-{random:08x}", slug(agent)).into())
    }

    /// Whether it has the form of section VIII, with a day of the calendar.
    pub fn has_usual_form(&self) -> bool {
        let dated = self.0.strip_prefix("S-").and_then(|rest| rest.split_at_checked(10));
        let Some((date, rest)) = dated else { return false };
        let named = rest.strip_prefix('-').and_then(|rest| rest.rsplit_once('-'));
        is_date(date) && named.is_some_and(|(slug, short)| slug.split('-').all(is_lower_word) && is_lower_word(short))
    }

    /// What a message id takes over from its session: letters and digits of the last part.
    fn suffix(&self) -> String {
        let last = self.0.rsplit('-').next().unwrap_or_default();
        let kept: String = last.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        if kept.is_empty() { "0".to_owned() } else { kept }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What every id is: 1 to 256 characters that can be seen, with no white space at the ends.
pub(super) fn visible(text: &str) -> Result<(), BadIdentifier> {
    // Nearly every id is short ASCII: one look is enough for those.
    if (1..=MAX_ID).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic()) {
        return Ok(());
    }
    if text.is_empty() || text.chars().nth(MAX_ID).is_some() {
        return Err(BadIdentifier::Length);
    }
    if has_invisible(text) {
        return Err(BadIdentifier::Invisible);
    }
    if text.trim() != text {
        return Err(BadIdentifier::Space);
    }
    Ok(())
}

fn check_prefix(prefix: &str) -> Result<(), BadPrefix> {
    let fits = (2..=16).contains(&prefix.len()) && prefix.bytes().all(|b| b.is_ascii_uppercase());
    if fits { Ok(()) } else { Err(BadPrefix) }
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric())
}

fn is_lower_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    let digit = |n: u16, b: &u8| b.is_ascii_digit().then(|| n * 10 + u16::from(b - b'0'));
    let number = |digits: &[u8]| digits.iter().try_fold(0, digit);
    let small = |digits: &[u8]| number(digits).and_then(|n| u8::try_from(n).ok());
    let month = small(&[m1, m2]).and_then(|month| time::Month::try_from(month).ok());
    match (number(&[y1, y2, y3, y4]), month, small(&[d1, d2])) {
        (Some(year), Some(month), Some(day)) => time::Date::from_calendar_date(year.into(), month, day).is_ok(),
        _ => false,
    }
}

/// An agent's name in lower-case letters, digits and single hyphens.
fn slug(agent: &str) -> String {
    let lower = agent.to_ascii_lowercase();
    let words: Vec<_> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let joined: String = words.join("-").chars().take(64).collect();
    if joined.is_empty() { "agent".to_owned() } else { joined.trim_end_matches('-').to_owned() }
}

macro_rules! as_text {
    ($type:ident) => {
        impl Deref for $type {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

as_text!(MessageId);
as_text!(SessionId);

#[cfg(test)]
mod tests {
    use super::{AgentId, BadIdentifier, BadPrefix, MessageId, SessionId, Timestamp};

    #[track_caller]
    fn check(text: &str, usual: Result<bool, BadIdentifier>) {
        assert_eq!(MessageId::parse(text).map(|id| id.has_usual_form()), usual, "{text:?}");
    }

    #[test]
    fn a_message_id_is_any_visible_text_and_has_usual_forms() {
        for usual in ["MSG001", "MSGab12cd34", "MSG-001", "MSG-query-001", "CLM-abc123-0001", "AB1", "MSG0A"] {
            check(usual, Ok(true));
        }
        for odd in ["MSG", "M-001", "msg-001", "MSG-", "MSG--001", "MSG-001-", "MSG 001", "MSG_001", "001", "MSGé"] {
            check(odd, Ok(false));
        }
        check("", Err(BadIdentifier::Length));
        check("M1", Err(BadIdentifier::Short));
        check("é1", Err(BadIdentifier::Short));
        check("é12", Ok(false));
        check(&"M".repeat(256), Ok(false));
        check(&"M".repeat(257), Err(BadIdentifier::Length));
        check("MSG\u{200d}001", Err(BadIdentifier::Invisible));
        check("MSG001\n", Err(BadIdentifier::Invisible));
        check("MSG001\u{2003}", Err(BadIdentifier::Space));
    }

    #[track_caller]
    fn check_session(text: &str, usual: bool) {
        assert_eq!(SessionId::parse(text).map(|id| id.has_usual_form()), Ok(usual), "{text:?}");
    }

    #[test]
    fn a_session_id_has_a_day_an_agent_and_a_short_id() {
        check_session("S-2025-01-04-observer-abc123", true);
        check_session("S-2024-02-29-night-keeper_2-9f", true);
        check_session("S-2025-02-29-observer-abc123", false);
        check_session("S-2025-13-04-observer-abc123", false);
        check_session("S-2025-1-004-observer-abc123", false);
        check_session("S-+025-01-04-observer-abc123", false);
        check_session("S-2025-01-04-observer", false);
        check_session("S-2025-01-04-observer-", false);
        check_session("S-2025-01-04--abc123", false);
        check_session("S-2025-01-04-Observer-abc123", false);
        check_session("s-2025-01-04-observer-abc123", false);
        check_session("S-2025-01-0é-observer-abc123", false);
        check_session("S-", false);
    }

    #[test]
    fn message_id_constructor_makes_the_form() {
        let session = SessionId::parse("S-2025-01-04-observer-abc123").unwrap();
        let id = |prefix| MessageId::in_session(prefix, &session, 12).map(|id| id.to_string());
        assert_eq!(id("AUD").as_deref(), Ok("AUD-abc123-0012"));
        assert_eq!(id("A"), Err(BadPrefix));
        assert_eq!(id("Aud"), Err(BadPrefix));
        assert_eq!(MessageId::generated("MSG", 0xab12).unwrap().as_str(), "MSG0000ab12");
        for odd in ["x", "-", "run 7", "é-", "a-b c"] {
            let session = SessionId::parse(odd).unwrap();
            let id = MessageId::in_session("MSG", &session, u32::MAX).unwrap();
            assert!(id.has_usual_form(), "{id}");
        }
    }

    #[test]
    fn session_id_constructor_makes_the_form() {
        let start = Timestamp::utc("2025-01-04T23:59:59+00:00").unwrap();
        for (agent, want) in [
            ("The Observer", "S-2025-01-04-the-observer-00000007"),
            ("  x".trim(), "S-2025-01-04-x-00000007"),
            ("Архивариус", "S-2025-01-04-agent-00000007"),
            ("(a) b--c!", "S-2025-01-04-a-b-c-00000007"),
        ] {
            let session = SessionId::begun(&start, &AgentId::named(agent).unwrap(), 7);
            assert_eq!((session.as_str(), session.has_usual_form()), (want, true));
        }
    }
}
