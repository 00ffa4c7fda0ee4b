//! Ids of agents and messages. Each grammar refuses what a person could mistake for another id.

use crate::names::as_text;
use serde::{Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use uuid::Uuid;

/// The longest id of an agent, in characters.
pub const MAX_ID: usize = 256;

/// An agent's id in the grammar of one dialect.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(Box<str>);

as_text!(AgentId);

/// Why a text is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    /// Empty or too long.
    #[error("an id has 1 to 256 characters")]
    Length,
    /// A character nobody can see.
    #[error("an id has no control, invisible or direction-changing characters")]
    Invisible,
    /// White space at an end, or anywhere for a VCP id.
    #[error("an id neither begins nor ends with white space, and in VCP has none at all")]
    Space,
    /// A broken `agent://` URI.
    #[error("an agent URI is written agent://host/id: a lower-case host, no port, no user, no percent, no `..`")]
    Uri,
    /// A broken URI of another scheme.
    #[error("a URI that serves as an id has letters, digits and . _ ~ : / - after its scheme, and no `.` or `..` part")]
    OtherUri,
    /// A character that would make an opaque VCP id look like an address.
    #[error("an opaque id has no `/`, `%`, `@` or `:`")]
    Opaque,
    /// Outside CAP's alphabet.
    #[error("a CAP id is made of letters, digits, `_` and `-`")]
    Cap,
}

impl AgentId {
    /// VCP (messaging 1.2, section 3.4): `agent://host/id`, another URI, or an opaque id.
    pub fn vcp(text: &str) -> Result<AgentId, BadId> {
        let id = AgentId::named(text)?;
        if id.is_uri() {
            return Ok(id);
        }
        if text.contains(char::is_whitespace) {
            return Err(BadId::Space);
        }
        match after_scheme(text) {
            Some(rest) if is_plain_path(rest) => Ok(id),
            Some(_) => Err(BadId::OtherUri),
            None if text.contains(['/', '%', '@', ':']) => Err(BadId::Opaque),
            None => Ok(id),
        }
    }

    /// ACL and VLP: a name such as `Jules` or `The Observer`. What begins like a URI has to be one.
    pub fn named(text: &str) -> Result<AgentId, BadId> {
        trimmed(text)?;
        if text.starts_with("agent:") && !is_agent_uri(text) {
            return Err(BadId::Uri);
        }
        Ok(AgentId(text.into()))
    }

    /// CAP (manifest schema): letters, digits, `_` and `-`.
    pub fn cap(text: &str) -> Result<AgentId, BadId> {
        if text.is_empty() || text.len() > MAX_ID {
            return Err(BadId::Length);
        }
        if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
            return Err(BadId::Cap);
        }
        Ok(AgentId(text.into()))
    }

    /// Whether this is an `agent://` URI.
    pub fn is_uri(&self) -> bool {
        self.0.starts_with("agent://")
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Ids no agent may send under. CAP lets `user` and `orchestrator` speak, nobody else does.
pub fn is_reserved(id: &str) -> bool {
    matches!(id, "broadcast" | "user" | "orchestrator" | "broker" | "system" | "exchange" | "*")
}

fn is_agent_uri(text: &str) -> bool {
    let Some((host, path)) = text.strip_prefix("agent://").and_then(|rest| rest.split_once('/')) else {
        return false;
    };
    let letters = |text: &str, also: &[u8]| text.bytes().all(|b| b.is_ascii_alphanumeric() || also.contains(&b));
    let edge = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
    let host_ok = edge(host.bytes().next())
        && edge(host.bytes().last())
        && letters(host, b".-")
        && !host.contains("..")
        && !host.bytes().any(|b| b.is_ascii_uppercase());
    host_ok && path.split('/').all(|part| !part.is_empty() && letters(part, b"._~-") && part != "." && part != "..")
}

/// What follows the scheme of `did:web:example.com` or `https://example.com/agents/1`.
fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once(':')?;
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+.-".contains(&b);
    let named = scheme.starts_with(|c: char| c.is_ascii_lowercase()) && scheme.bytes().all(allowed);
    named.then_some(rest)
}

/// Whether the rest of a URI is spelled so that it means one thing: no escapes, users, queries or
/// fragments, and nothing that climbs.
fn is_plain_path(rest: &str) -> bool {
    !rest.is_empty()
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"._~:/-".contains(&b))
        && rest.split('/').all(|part| part != "." && part != "..")
}

/// What every id keeps to, whatever its grammar: 1 to 256 characters, all of them to be seen.
pub(crate) fn legible(text: &str) -> Result<(), BadId> {
    // Only a text of more bytes can have more characters.
    if text.is_empty() || (text.len() > MAX_ID && text.chars().nth(MAX_ID).is_some()) {
        return Err(BadId::Length);
    }
    if has_invisible(text) { Err(BadId::Invisible) } else { Ok(()) }
}

/// The same without white space at its ends.
pub(crate) fn trimmed(text: &str) -> Result<(), BadId> {
    legible(text)?;
    if text.trim() == text { Ok(()) } else { Err(BadId::Space) }
}

/// Whether a text holds anything nobody can see. Plain ASCII, as most ids are, needs one look a byte.
pub(crate) fn has_invisible(text: &str) -> bool {
    !text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.chars().any(is_invisible)
}

/// Control characters, format characters, line separators, the blank Braille pattern and all that
/// Unicode lets a display ignore (`Default_Ignorable_Code_Point`).
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

impl Deref for AgentId {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// A `UUIDv7` in its one spelling: hyphens, lower case (messaging 1.2, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid7(Uuid);

/// Why a text is no `UUIDv7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUuid {
    /// Not 36 characters of lower-case hex and hyphens.
    #[error("a message id is a UUID in lower case with hyphens, like 019502a4-7e5c-7000-8000-000000000001")]
    Form,
    /// Another version or variant.
    #[error("a message id is a UUID of version 7; this one has another version or variant")]
    Version,
}

impl Uuid7 {
    /// Reads the one spelling.
    pub fn parse(text: &str) -> Result<Uuid7, BadUuid> {
        let id = parse_hyphenated(text).filter(|_| !text.bytes().any(|b| b.is_ascii_uppercase()));
        Uuid7::try_from(id.ok_or(BadUuid::Form)?)
    }

    /// The id itself.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

/// A UUID of any version with hyphens, in either case.
pub fn parse_hyphenated(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::try_parse(text).ok() } else { None }
}

impl TryFrom<Uuid> for Uuid7 {
    type Error = BadUuid;
    fn try_from(id: Uuid) -> Result<Self, BadUuid> {
        let seven = id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122;
        if seven { Ok(Uuid7(id)) } else { Err(BadUuid::Version) }
    }
}

impl fmt::Display for Uuid7 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl Serialize for Uuid7 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentId, BadId, BadUuid, Uuid7};

    #[track_caller]
    fn check_vcp(text: &str, want: Result<(), BadId>) {
        assert_eq!(AgentId::vcp(text).map(|_| ()), want, "{text}");
    }

    #[test]
    fn an_agent_has_one_spelling() {
        check_vcp("agent://orchestrator.local/parent-001", Ok(()));
        check_vcp("agent://h/a/b.c~d_e", Ok(()));
        check_vcp("parent-001", Ok(()));
        for uri in [
            "agent://",
            "agent://h",
            "agent://h/",
            "agent:///x",
            "agent://H/x",
            "agent://h:80/x",
            "agent://u@h/x",
            "agent://h/../x",
            "agent://h/./x",
            "agent://h//x",
            "agent://h/%2e%2e",
            "agent://h/x?y",
            "agent://-h/x",
            "agent://h..i/x",
            "agent://h./x",
            "agent:x",
            "agent://h/é",
        ] {
            check_vcp(uri, Err(BadId::Uri));
        }
        check_vcp("", Err(BadId::Length));
        check_vcp(&"x".repeat(256), Ok(()));
        check_vcp(&"x".repeat(257), Err(BadId::Length));
        check_vcp("a b", Err(BadId::Space));
        check_vcp("a/b", Err(BadId::Opaque));
        check_vcp("A:b", Err(BadId::Opaque));
        check_vcp("AGENT://h/x", Err(BadId::Opaque));
        check_vcp("a\u{200b}b", Err(BadId::Invisible));
        check_vcp("a\u{202e}b", Err(BadId::Invisible));
        check_vcp("a\0b", Err(BadId::Invisible));
        assert!(AgentId::named("The Observer").is_ok());
        assert_eq!(AgentId::named("The Observer "), Err(BadId::Space));
        assert_eq!(AgentId::named("The\nObserver"), Err(BadId::Invisible));
        assert!(AgentId::named("agent://h/x").is_ok());
        assert_eq!(AgentId::named("agent:x"), Err(BadId::Uri));
        assert!(AgentId::cap("pm-1").is_ok());
        assert_eq!(AgentId::cap("pm 1"), Err(BadId::Cap));
        assert_eq!(AgentId::cap("pm‑1"), Err(BadId::Cap));
    }

    #[test]
    fn other_uris_are_ids_when_they_mean_one_thing() {
        for uri in [
            "did:web:example.com",
            "https://example.com/agents/1",
            "urn:uuid:019502a4-7e5c-7000-8000-000000000001",
            "x-y.z+1:A_~",
            "a:.b/c../...",
            "agents:x",
        ] {
            check_vcp(uri, Ok(()));
            assert!(!AgentId::vcp(uri).unwrap().is_uri(), "{uri}");
        }
        for uri in
            ["did:", "a:.", "a:..", "a:b/../c", "a:b/.", "a:./b", "a:b%20", "a:u@h", "a:b?c", "a:b#c", "a:é", "a:b*"]
        {
            check_vcp(uri, Err(BadId::OtherUri));
        }
        check_vcp("a: b", Err(BadId::Space));
        check_vcp(":b", Err(BadId::Opaque));
        check_vcp("1a:b", Err(BadId::Opaque));
    }

    #[test]
    fn nothing_unseen_is_in_an_id() {
        for hidden in [
            '\u{0}',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{34f}',
            '\u{600}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180f}',
            '\u{200b}',
            '\u{200d}',
            '\u{2028}',
            '\u{202e}',
            '\u{2065}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{fffb}',
            '\u{110bd}',
            '\u{1343f}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0000}',
            '\u{e0fff}',
        ] {
            assert_eq!(AgentId::named(&format!("a{hidden}b")), Err(BadId::Invisible), "{hidden:?}");
        }
        for seen in ['é', 'ᅡ', '字', '⠓', '￡', '🔥'] {
            assert!(AgentId::named(&format!("a{seen}b")).is_ok(), "{seen:?}");
        }
    }

    #[track_caller]
    fn check_id(text: &str, want: Result<(), BadUuid>) {
        assert_eq!(Uuid7::parse(text).map(|_| ()), want, "{text}");
    }

    #[test]
    fn a_message_id_is_a_lower_case_uuid_of_version_7() {
        check_id("019502a4-7e5c-7000-8000-000000000001", Ok(()));
        check_id("019502a4-7e5c-7000-b000-0000000000ff", Ok(()));
        check_id("019502A4-7e5c-7000-8000-000000000001", Err(BadUuid::Form));
        check_id("019502a47e5c70008000000000000001", Err(BadUuid::Form));
        check_id("{019502a4-7e5c-7000-8000-0000000001}", Err(BadUuid::Form));
        check_id("019502a4-7e5c-7000-8000-00000000001", Err(BadUuid::Form));
        check_id("550e8400-e29b-41d4-a716-446655440000", Err(BadUuid::Version));
        check_id("019502a4-7e5c-7000-c000-000000000001", Err(BadUuid::Version));
        check_id("019502a4-7e5c-7000-0000-000000000001", Err(BadUuid::Version));
        check_id("00000000-0000-0000-0000-000000000000", Err(BadUuid::Version));
    }
}
