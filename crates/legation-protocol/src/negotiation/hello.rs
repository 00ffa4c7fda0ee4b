//! The client's opening message (section 3.1).

use super::{BadExtensionName, ExtensionName, Kept, Kind, Version, typed};
use crate::code::Code;
use crate::finding::Findings;
use crate::json::{Limits, Node};
use crate::read::{self, At, Extra, Object};
use crate::token::IdentityToken;
use crate::wire::Wire;
use serde::Serialize;
use std::fmt;

/// How many extension names of a hello are looked at.
pub const MAX_EXTENSIONS: usize = 256;
/// How many characters a client's name has at most.
pub const MAX_CLIENT_ID: usize = 256;

/// `vcp-hello` (section 3.1): what the client can speak and would like to use.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "vcp-hello")]
pub struct Hello {
    /// The highest version the client can speak.
    pub version: Version,
    /// The lowest version it can work with; 1.0 when left out or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_version: Option<Version>,
    /// The extensions it would like: the well-formed names, each once. None when left out or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Kept<Vec<ExtensionName>>>,
    /// Who it is; anonymous when left out or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Its software, for people who look for a fault. Free text that grants nothing, of [`MAX_CLIENT_ID`] characters at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Hello {
    /// A hello that asks for no extensions.
    pub fn new(version: Version) -> Self {
        Hello { version, min_version: None, extensions: None, identity: None, client_id: None, extra: Extra::new() }
    }

    /// A hello that asks for these extensions. All are written, but second mentions and what lies past
    /// the [`MAX_EXTENSIONS`]th are not asked for, as in any hello.
    pub fn asking_for(version: Version, extensions: impl IntoIterator<Item = ExtensionName>) -> Self {
        let extensions: Vec<_> = extensions.into_iter().collect();
        Hello { extensions: Some(extensions.into()), ..Hello::new(version) }
    }

    /// The lowest version the client can work with.
    pub fn lowest(&self) -> Version {
        self.min_version.unwrap_or(Version::V1_0)
    }

    /// The extensions asked for, in the client's order, each once and [`MAX_EXTENSIONS`] at most.
    pub fn requested(&self) -> &[ExtensionName] {
        self.extensions.as_ref().map_or(&[], |kept| kept)
    }
}

/// Understands a list just as it is understood when it is read from a message.
impl From<Vec<ExtensionName>> for Kept<Vec<ExtensionName>> {
    fn from(said: Vec<ExtensionName>) -> Self {
        let mut names = Vec::new();
        for name in said.iter().take(MAX_EXTENSIONS) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        Kept::written(names, &said)
    }
}

/// The identity token a client sent, unverified. Never shown: it is a secret.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Identity(String);

impl Identity {
    /// The token, for verifying it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Identity {
    fn from(token: String) -> Self {
        Identity(token)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity(…)")
    }
}

impl Wire for Hello {
    const LIMITS: Limits = Limits::HANDSHAKE;

    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "NEG 3.1", out }.object()?;
        let kind = o.required("type", |at| typed(at, Kind::Hello));
        let version = o.required("version", Version::read);
        // Clients write null for what they leave out.
        let min_version = o.nullable("min_version", Version::read);
        let extensions = o.nullable("extensions", requested);
        let identity = o.nullable("identity", identity);
        let client_id = o.nullable("client_id", client_id);
        check_range(&mut o, version, min_version);
        kind?;
        Some(Hello { version: version?, min_version, extensions, identity, client_id, extra: o.extra() })
    }
}

fn client_id(at: At<'_, '_>) -> Option<String> {
    let At { node, spec, out } = at;
    let text = read::any_text(At { node, spec, out: &mut *out })?;
    let length = text.chars().count();
    if length > MAX_CLIENT_ID {
        let message = format!("a client_id has at most {MAX_CLIENT_ID} characters, and this has {length}");
        return At { node, spec, out }.fail_with(Code::OutOfRange, message, "shorten it");
    }
    Some(text)
}

fn check_range(o: &mut Object<'_, '_>, version: Option<Version>, min_version: Option<Version>) {
    let Some(highest) = version else { return };
    match min_version {
        Some(lowest) if lowest > highest => {
            let message = format!("the lowest version is {lowest}, which is above the highest, {highest}");
            o.wrong(Code::VersionRange, "min_version", "NEG 3.1", message)
                .help(format!("lower min_version to {highest} or less, or raise version"));
        }
        None if o.node.get("min_version").is_none_or(Node::is_null) && highest < Version::V1_0 => {
            let message = format!("the lowest version is 1.0 when it is left out, and {highest} is below that");
            o.wrong(Code::VersionRange, "version", "NEG 3.1", message)
                .help(format!("raise version, or add \"min_version\": \"{highest}\""));
        }
        Some(_) | None => {}
    }
}

fn identity(at: At<'_, '_>) -> Option<Identity> {
    let At { node, spec, out } = at;
    let token = read::any_text(At { node, spec, out: &mut *out })?;
    if token.parse::<IdentityToken>().is_err() {
        out.at(Code::IdentityForm, node, spec, "this has not the form of a VCP/I identity token")
            .help(
                "the form is vcp:i:<issuer>:<subject>:<expiry>:<signature>, and the signature is 64 bytes: \
                 86 characters of base64url without padding; for anonymous access use null",
            )
            .warning();
    }
    Some(Identity(token))
}

fn requested(at: At<'_, '_>) -> Option<Kept<Vec<ExtensionName>>> {
    let At { node, spec, out } = at;
    let mut place = 0_usize;
    let mut names = Vec::new();
    At { node, spec, out: &mut *out }.list(|item| {
        place += 1;
        if place <= MAX_EXTENSIONS {
            take_name(item.node, spec, item.out, &mut names);
        }
        Some(())
    })?;
    if place > MAX_EXTENSIONS {
        out.at(Code::TooManyExtensions, node, spec, format!("{place} extensions; those past the 256th are ignored"))
            .help("ask for no more than 256")
            .warning();
    }
    Some(Kept::read(names, node))
}

/// Takes one wanted extension. A name nobody could know spoils nothing but itself.
fn take_name(node: Node<'_>, spec: &'static str, out: &mut Findings, names: &mut Vec<ExtensionName>) {
    let text = node.text();
    match text.as_deref().map(str::parse::<ExtensionName>) {
        Some(Ok(name)) if names.contains(&name) => {
            out.at(Code::DuplicateExtension, node, spec, "this extension is already in the list")
                .help("remove it")
                .warning();
        }
        Some(Ok(name)) => names.push(name),
        Some(Err(BadExtensionName::TooLong(length))) => {
            let message = format!("a name of {length} characters is too long for an extension; a server ignores it");
            out.at(Code::ExtensionName, node, spec, message)
                .help("shorten it to the limit of 128 characters, VCP-X- included")
                .warning();
        }
        Some(Err(BadExtensionName::Form)) | None => {
            out.at(Code::ExtensionName, node, spec, "no extension can have this name; a server ignores it")
                .help("write VCP-X- and a letter, then letters, digits and hyphens, such as \"VCP-X-Personal\"")
                .warning();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, ExtensionName, Hello, Identity, Version};
    use crate::finding::Rejection;
    use crate::wire::{build, parse};

    #[test]
    fn what_the_constructors_make_can_be_sent() {
        let plain = Hello::new(Version::V3_1);
        let asking = Hello {
            min_version: Some(Version::V3_0),
            client_id: Some("test/1".into()),
            ..Hello::asking_for(Version::V3_1, [ExtensionName::TORCH, ExtensionName::RELATIONAL])
        };
        for hello in [plain, asking] {
            let built = build(&hello).unwrap();
            assert_eq!((built.value(), built.warnings().len()), (&hello, 0));
        }
    }

    #[test]
    fn a_range_upside_down_cannot_be_sent() {
        let hello = Hello { min_version: Some(Version::V3_1), ..Hello::new(Version::V3_0) };
        assert!(build(&hello).is_err());
    }

    #[test]
    fn ignored_names_are_not_requested_but_are_written_again() {
        let text = r#"{"type":"vcp-hello","version":"3.1","extensions":["VCP-X-Torch",7,"torch","VCP-X-Torch"]}"#;
        let hello = parse::<Hello>(text.as_bytes()).unwrap().value;
        assert_eq!(hello.requested(), [ExtensionName::TORCH]);
        assert_eq!(serde_json::to_string(&hello).unwrap(), text);
    }

    #[test]
    fn a_built_request_is_understood_as_a_read_one() {
        let many = (0..300).map(|number| format!("VCP-X-N{}", number % 250).parse().unwrap());
        let hello = Hello::asking_for(Version::V3_1, many);
        assert_eq!(hello.requested().len(), 250);
        let built = build(&hello).unwrap();
        assert_eq!(built.value(), &hello);
        let warned = |code| built.warnings().iter().filter(|warning| warning.code == code).count();
        assert_eq!((warned(Code::DuplicateExtension), warned(Code::TooManyExtensions)), (6, 1));
    }

    #[track_caller]
    fn check_help(member: &str, code: Code, want: &str) {
        let text = format!(r#"{{"type":"vcp-hello","version":"3.1",{member}}}"#);
        let found = parse::<Hello>(text.as_bytes()).map_or_else(Rejection::into_vec, |parsed| parsed.warnings);
        let help = found.first().and_then(|first| first.help.as_deref()).unwrap();
        assert_eq!((found.len(), found[0].code), (1, code), "{member}");
        assert!(help.contains(want), "{help}");
    }

    #[test]
    fn help_says_what_to_write() {
        let printed = r#""identity":"vcp:i:creedspace:user_42:1709136000:abc123def456""#;
        check_help(printed, Code::IdentityForm, "64 bytes: 86 characters of base64url without padding");
        let long = format!(r#""extensions":["VCP-X-{}"]"#, "a".repeat(123));
        check_help(&long, Code::ExtensionName, "128 characters");
        check_help(r#""extensions":["torch"]"#, Code::ExtensionName, "VCP-X- and a letter");
        check_help(r#""min_version":3.1"#, Code::SchemaInvalid, "in quotes");
    }

    #[test]
    fn an_identity_is_never_shown() {
        let hello = Hello { identity: Some(Identity::from("s3cret".to_owned())), ..Hello::new(Version::V3_1) };
        assert!(!format!("{hello:?}").contains("s3cret"));
    }
}
