//! The server's yes (section 3.2), and what a client must check before it believes it.

use super::{CoreFeatures, ExtensionName, Hello, Kept, Kind, Version, ack_rules, typed};
use crate::finding::Findings;
use crate::json::{Json, Limits, Node};
use crate::read::{self, At, Extra};
use crate::wire::Wire;
use serde::Serialize;
use std::collections::BTreeMap;

/// `vcp-ack` (section 3.2): the version, the active extensions and what the server can do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "vcp-ack")]
pub struct Ack {
    /// The negotiated version.
    pub version: Version,
    /// The requested extensions that are now active; none below 3.1.
    pub supported: Vec<ExtensionName>,
    /// The others that were requested, as the client wrote them. A server may keep silent about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<Vec<String>>,
    /// What each active extension can do, in its own terms.
    pub capabilities: BTreeMap<ExtensionName, Json>,
    /// The server's core features; servers older than 3.1 may keep silent about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_features: Option<Kept<CoreFeatures>>,
    /// The server's software, for people who look for a fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// Ties later messages to this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Wire for Ack {
    const LIMITS: Limits = Limits::HANDSHAKE;

    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "NEG 3.2", out }.object()?;
        let kind = o.required("type", |at| typed(at, Kind::Ack));
        let version = o.required("version", Version::read);
        let supported = o.required("supported", ack_rules::supported);
        let unsupported = o.optional("unsupported", ack_rules::unsupported);
        let capabilities = o.required("capabilities", |at| ack_rules::capabilities(at, supported.as_deref()));
        let core_features = o.optional("core_features", |at| CoreFeatures::read(at, version));
        let server_id = o.optional("server_id", read::any_text);
        let session_id = o.optional("session_id", read::any_text);
        ack_rules::check_absences(&mut o, version);
        ack_rules::check_version(&mut o, version, supported.as_deref());
        ack_rules::check_partition(&mut o, supported.as_deref());
        ack_rules::check_dependencies(&mut o, supported.as_deref());
        kind?;
        Some(Ack {
            version: version?,
            supported: supported?,
            unsupported,
            capabilities: capabilities?,
            core_features,
            server_id,
            session_id,
            extra: o.extra(),
        })
    }
}

impl Ack {
    /// The core features that are confirmed; what is not named is off (section 5).
    pub fn features(&self) -> CoreFeatures {
        self.core_features.as_deref().copied().unwrap_or_default()
    }

    /// The extensions this grants: those supported, and none at a version that has no extensions
    /// (section 6.3).
    pub fn granted(&self) -> &[ExtensionName] {
        if self.version.has_extensions() { &self.supported } else { &[] }
    }

    /// The extensions that are active for the client that sent `hello`: requested and granted.
    pub fn active<'a>(&'a self, hello: &'a Hello) -> impl Iterator<Item = &'a ExtensionName> {
        hello.requested().iter().filter(|name| self.granted().contains(name))
    }

    /// The extensions that the client asked for and does not get, also when the server is silent about
    /// them (section 10).
    pub fn unsupported_of<'a>(&'a self, hello: &'a Hello) -> impl Iterator<Item = &'a ExtensionName> {
        hello.requested().iter().filter(|name| !self.granted().contains(name))
    }

    /// Whether this answers that hello: the version is one the client can speak, and the two lists are
    /// what it asked for.
    pub fn answers(&self, hello: &Hello) -> Result<(), Mismatch> {
        let (lowest, highest) = (hello.lowest(), hello.version);
        if self.version < lowest || self.version > highest {
            return Err(Mismatch::Version { version: self.version, lowest, highest });
        }
        if let (Some(extension), []) = (self.supported.first(), self.granted()) {
            return Err(Mismatch::NotNegotiable { extension: extension.clone(), version: self.version });
        }
        let requested = hello.requested();
        if let Some(name) = self.supported.iter().find(|name| !requested.contains(name)) {
            return Err(Mismatch::NotRequested(name.clone()));
        }
        let Some(unsupported) = &self.unsupported else { return Ok(()) };
        // Malformed names may come back or not: one rule has them ignored, another has all returned.
        let mut named = unsupported.iter().filter_map(|name| name.parse::<ExtensionName>().ok());
        if let Some(name) = named.find(|name| !requested.contains(name)) {
            return Err(Mismatch::NotRequested(name));
        }
        let mut inactive = self.unsupported_of(hello);
        match inactive.find(|name| !unsupported.iter().any(|other| other == name.as_str())) {
            Some(name) => Err(Mismatch::Unanswered(name.clone())),
            None => Ok(()),
        }
    }
}

/// How an ack fails to answer a hello.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// A version the client cannot speak.
    #[error("the server chose version {version}, outside the offered {lowest} to {highest}")]
    Version {
        /// What the server chose.
        version: Version,
        /// The lowest the client offered.
        lowest: Version,
        /// The highest the client offered.
        highest: Version,
    },
    /// An extension at a version that has none.
    #[error("the server activated {extension}, and version {version} has no extensions")]
    NotNegotiable {
        /// What the server activated.
        extension: ExtensionName,
        /// The version it chose.
        version: Version,
    },
    /// An extension the client did not ask for.
    #[error("the server answered about {0}, which was not requested")]
    NotRequested(ExtensionName),
    /// An extension the client asked for, in neither list.
    #[error("the server did not answer about {0}")]
    Unanswered(ExtensionName),
}

#[cfg(test)]
mod tests {
    use super::{Ack, CoreFeatures, ExtensionName, Hello, Mismatch, Version};
    use crate::negotiation::Terms;
    use crate::wire::{build, parse};

    fn hello() -> Hello {
        let names = [ExtensionName::CONSENSUS, ExtensionName::PERSONAL];
        Hello { min_version: Some(Version::V3_0), ..Hello::asking_for(Version::V3_1, names) }
    }

    #[track_caller]
    fn ack(version: &str, lists: &str) -> Ack {
        let features = serde_json::to_string(&CoreFeatures::ALL).unwrap();
        let text = format!(
            r#"{{"type":"vcp-ack","version":"{version}",{lists},"capabilities":{{}},"core_features":{features}}}"#
        );
        parse(text.as_bytes()).unwrap().value
    }

    #[track_caller]
    fn check(version: &str, lists: &str, want: Option<&Mismatch>) {
        assert_eq!(ack(version, lists).answers(&hello()).err().as_ref(), want, "{version} {lists}");
    }

    #[test]
    fn an_ack_must_answer_its_hello() {
        let good = r#""supported":["VCP-X-Consensus"],"unsupported":["VCP-X-Personal"]"#;
        check("3.1", good, None);
        check("3.0", r#""supported":[],"unsupported":["VCP-X-Personal","VCP-X-Consensus"]"#, None);
        check("3.1", r#""supported":["VCP-X-Personal","VCP-X-Consensus"],"unsupported":["junk"]"#, None);
        let nothing = r#""supported":[],"unsupported":["VCP-X-Consensus","VCP-X-Personal"]"#;
        for (version, lists) in [("2.0", nothing), ("3.2", good)] {
            let found = version.parse().unwrap();
            let want = Mismatch::Version { version: found, lowest: Version::V3_0, highest: Version::V3_1 };
            check(version, lists, Some(&want));
        }
        let relational = ExtensionName::RELATIONAL;
        check("3.1", r#""supported":["VCP-X-Relational"]"#, Some(&Mismatch::NotRequested(relational.clone())));
        check("3.1", r#""supported":[],"unsupported":["VCP-X-Relational"]"#, Some(&Mismatch::NotRequested(relational)));
        let lists = r#""supported":["VCP-X-Consensus"],"unsupported":[]"#;
        check("3.1", lists, Some(&Mismatch::Unanswered(ExtensionName::PERSONAL)));
    }

    #[test]
    fn a_missing_unsupported_list_is_inferred() {
        let ack = ack("3.1", r#""supported":["VCP-X-Consensus"]"#);
        assert_eq!(ack.answers(&hello()), Ok(()));
        assert!(ack.unsupported_of(&hello()).eq([&ExtensionName::PERSONAL]));
    }

    #[test]
    fn only_what_both_sides_named_is_active() {
        let ack = ack("3.1", r#""supported":["VCP-X-Relational","VCP-X-Consensus"]"#);
        assert!(ack.active(&hello()).eq([&ExtensionName::CONSENSUS]));
    }

    #[test]
    fn below_3_1_nothing_is_granted() {
        let ack = ack("3.1", r#""supported":["VCP-X-Consensus"],"unsupported":["VCP-X-Personal"]"#);
        let ack = Ack { version: Version::V3_0, ..ack };
        let hello = hello();
        assert_eq!(ack.active(&hello).count(), 0);
        assert!(ack.unsupported_of(&hello).eq(hello.requested()));
        assert_eq!(Terms::from(&ack), Terms { version: Version::V3_0, active: vec![] });
        let extension = ExtensionName::CONSENSUS;
        assert_eq!(ack.answers(&hello), Err(Mismatch::NotNegotiable { extension, version: Version::V3_0 }));
        assert!(build(&ack).is_err());
    }

    #[test]
    fn unconfirmed_core_features_are_off() {
        let read = |text: &str| parse::<Ack>(text.as_bytes()).unwrap().value.features();
        let start = r#"{"type":"vcp-ack","version":"2.0","supported":[],"unsupported":[],"capabilities":{}"#;
        assert_eq!(read(&format!("{start}}}")), CoreFeatures::default());
        let two = read(&format!(r#"{start},"core_features":{{"encryption":true}}}}"#));
        assert_eq!(two, CoreFeatures { encryption: true, ..CoreFeatures::default() });
    }
}
