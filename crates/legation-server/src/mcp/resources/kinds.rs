//! The kinds of resources there are, and how their URIs are written.

use legation_protocol::negotiation::ExtensionName;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Capabilities,
    Bundle,
    Identity,
    Constitution,
    PersonalState,
    Relational,
    Consensus,
    Torch,
    Intent,
    Inbox,
    Task,
}

impl Kind {
    pub(super) const ALL: &'static [Kind] = &[
        Kind::Capabilities,
        Kind::Bundle,
        Kind::Identity,
        Kind::Constitution,
        Kind::PersonalState,
        Kind::Relational,
        Kind::Consensus,
        Kind::Torch,
        Kind::Intent,
        Kind::Inbox,
        Kind::Task,
    ];

    /// How it is called, what it begins with, and the name that follows there.
    const fn form(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Kind::Capabilities => ("capabilities", "vcp://capabilities", ""),
            Kind::Bundle => ("bundle", "vcp://bundle/", "session_id"),
            Kind::Identity => ("identity", "vcp://identity/", "token"),
            Kind::Constitution => ("constitution", "vcp://constitution/", "csm1_code"),
            Kind::PersonalState => ("personal-state", "vcp://personal-state/", "session_id"),
            Kind::Relational => ("relational", "vcp://relational/", "session_id"),
            Kind::Consensus => ("consensus", "vcp://consensus/", "deliberation_id"),
            Kind::Torch => ("torch", "vcp://torch/", "session_id"),
            Kind::Intent => ("intent", "vcp://intent/", "session_id"),
            Kind::Inbox => ("inbox", "legation://inbox/", "agent"),
            Kind::Task => ("task", "legation://tasks/", "task"),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        self.form().0
    }

    pub(super) fn uri(self, name: &str) -> String {
        format!("{}{name}", self.form().1)
    }

    /// The template of its URIs, where there is more than one.
    pub(super) fn template(self) -> Option<String> {
        let (_, start, name) = self.form();
        (!name.is_empty()).then(|| format!("{start}{{{name}}}"))
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Kind::Capabilities => "What the handshake came to",
            Kind::Bundle => "What binds you",
            Kind::Identity => "An identity token",
            Kind::Constitution => "A CSM-1 code",
            Kind::PersonalState => "Personal state",
            Kind::Relational => "Relationship",
            Kind::Consensus => "A deliberation",
            Kind::Torch => "Torch",
            Kind::Intent => "Intent",
            Kind::Inbox => "Inbox",
            Kind::Task => "A task",
        }
    }

    pub(super) const fn about(self) -> &'static str {
        match self {
            Kind::Capabilities => "The last acknowledgement of the handshake, or its error.",
            Kind::Bundle => "The constitution, the constraints and the context in force for you.",
            Kind::Identity => {
                "Whom a token names, until when, and whether it counts; by the token's hash (sha256:…), or by the token this session presented."
            }
            Kind::Constitution => "What a code means, and who announced a constitution of it.",
            Kind::PersonalState => "Personal signals of this session, with their decay.",
            Kind::Relational => "Trust, standing and norms of this session.",
            Kind::Consensus => "A deliberation, its phase and its result.",
            Kind::Torch => "What one session hands to the next.",
            Kind::Intent => "What the person seems to want, and why.",
            Kind::Inbox => "What waits for an agent. Can be subscribed to.",
            Kind::Task => "How a task stands. Can be subscribed to.",
        }
    }

    /// The extension it belongs to.
    pub(super) const fn extension(self) -> Option<ExtensionName> {
        match self {
            Kind::PersonalState => Some(ExtensionName::PERSONAL),
            Kind::Relational => Some(ExtensionName::RELATIONAL),
            Kind::Consensus => Some(ExtensionName::CONSENSUS),
            Kind::Torch => Some(ExtensionName::TORCH),
            Kind::Intent => Some(ExtensionName::INTENT),
            Kind::Capabilities | Kind::Bundle | Kind::Identity | Kind::Constitution | Kind::Inbox | Kind::Task => None,
        }
    }

    /// Whether it is there whatever a handshake came to.
    pub(super) const fn is_core(self) -> bool {
        matches!(self, Kind::Capabilities | Kind::Bundle | Kind::Identity | Kind::Constitution)
    }
}

/// A resource by its kind and name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: Kind,
    pub(super) name: String,
}

impl Named {
    pub(super) fn read(uri: &str) -> Option<Named> {
        let named = |kind: &Kind| {
            let rest = uri.strip_prefix(kind.form().1)?;
            let name = decoded(rest)?;
            (name.is_empty() == kind.template().is_none()).then_some(Named { kind: *kind, name })
        };
        Kind::ALL.iter().find_map(named)
    }
}

/// Whether a resource can be watched.
pub(crate) fn watched(uri: &str) -> bool {
    Named::read(uri).is_some_and(|named| matches!(named.kind, Kind::Inbox | Kind::Task))
}

/// A part of a URI, percent-decoded.
fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(if byte == b'%' { digit(rest.next())? << 4 | digit(rest.next())? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Named};

    #[test]
    fn a_uri_names_one_resource_or_none() {
        let check = |uri: &str, want: Option<(Kind, &str)>| {
            let want = want.map(|(kind, name)| Named { kind, name: name.to_owned() });
            assert_eq!(Named::read(uri), want, "{uri}");
        };
        check("vcp://capabilities", Some((Kind::Capabilities, "")));
        check("vcp://capabilities/x", None);
        check("vcp://bundle/ses_1", Some((Kind::Bundle, "ses_1")));
        check("vcp://bundle/", None);
        check("legation://inbox/agent%3A%2F%2Fh%2Fa", Some((Kind::Inbox, "agent://h/a")));
        check("vcp://constitution/N5:ELEM+E@1.2.0", Some((Kind::Constitution, "N5:ELEM+E@1.2.0")));
        for bad in ["legation://tasks/%zz", "legation://tasks/%f", "legation://tasks/%ff", "file:///etc/passwd", ""] {
            check(bad, None);
        }
    }
}
