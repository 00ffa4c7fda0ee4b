//! What a handshake is told by the operator: how long is waited for one, and which extensions it may offer.

use legation_exchange::BUILT;
use legation_protocol::negotiation::{CoreFeatures, ExtensionName, Registry, Server};
use std::time::Duration;

/// How handshakes go (VCP capability negotiation 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiation {
    /// Whether a WebSocket has to begin with a hello.
    pub hello: HelloRule,
    /// How long a WebSocket may say nothing before it is taken for one of version 1.0: from 2 to 5 seconds.
    pub wait: Duration,
    /// How long a session over plain HTTP lasts.
    pub session: Duration,
    /// The extensions there are. Only what is built can be offered.
    pub built: Vec<ExtensionName>,
    /// Those of them that are offered.
    pub enabled: Vec<ExtensionName>,
    /// Those that exclude each other.
    pub conflicts: Vec<(ExtensionName, ExtensionName)>,
}

/// Whether a WebSocket has to begin with a hello.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HelloRule {
    /// Whoever sends none is served as version 1.0.
    #[default]
    Optional,
    /// Whoever sends none is not served.
    Required,
}

impl Default for Negotiation {
    fn default() -> Self {
        Negotiation {
            hello: HelloRule::Optional,
            wait: Duration::from_secs(5),
            session: Duration::from_hours(1),
            built: BUILT.to_vec(),
            enabled: Negotiation::KNOWN.to_vec(),
            conflicts: Vec::new(),
        }
    }
}

impl Negotiation {
    /// The extensions of VCP 3.1.
    pub const KNOWN: [ExtensionName; 5] = [
        ExtensionName::PERSONAL,
        ExtensionName::RELATIONAL,
        ExtensionName::CONSENSUS,
        ExtensionName::TORCH,
        ExtensionName::INTENT,
    ];

    /// The server's side of a handshake, with these core features.
    pub(crate) fn server(&self, core_features: CoreFeatures) -> Server {
        let registry = Registry::v3_1().offering(&self.built).offering(&self.enabled);
        let registry = self.conflicts.iter().fold(registry, |registry, (one, other)| registry.excluding(one, other));
        let server_id = Some(concat!("legation/", env!("CARGO_PKG_VERSION")).to_owned());
        Server { registry, core_features, server_id, ..Server::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::Negotiation;
    use legation_protocol::negotiation::{CoreFeatures, ExtensionName};

    #[test]
    fn only_what_is_built_and_enabled_is_offered() {
        let names = |negotiation: &Negotiation| {
            let server = negotiation.server(CoreFeatures::ALL);
            server.registry.all_offered().map(|(name, _)| name.clone()).collect::<Vec<_>>()
        };
        let all = Negotiation { built: Negotiation::KNOWN.to_vec(), ..Negotiation::default() };
        assert_eq!(names(&all).len(), 5);
        let some = Negotiation { enabled: vec![ExtensionName::TORCH], ..all.clone() };
        assert_eq!(names(&some), [ExtensionName::TORCH]);
        assert!(names(&Negotiation { built: Vec::new(), ..all }).is_empty());
    }
}
