//! The server's side of the handshake (sections 6, 7, 10 and 11) as one pure function.

use super::{Ack, CoreFeatures, ExtensionName, Hello, Refusal, Registry, Version};
use crate::json::Json;
use crate::read::Extra;
use crate::vcp::Environment;
use std::collections::{BTreeMap, BTreeSet};

/// What a server brings to a handshake.
#[derive(Clone, Debug)]
pub struct Server {
    /// The versions it speaks.
    pub versions: BTreeSet<Version>,
    /// The extensions it knows.
    pub registry: Registry,
    /// The core features it has switched on.
    pub core_features: CoreFeatures,
    /// Where it runs.
    pub environment: Environment,
    /// Its software, for people who look for a fault.
    pub server_id: Option<String>,
}

/// A server with everything this crate knows switched on.
impl Default for Server {
    fn default() -> Self {
        Server {
            versions: BTreeSet::from([Version::V1_0, Version::V2_0, Version::V3_0, Version::V3_1]),
            registry: Registry::v3_1(),
            core_features: CoreFeatures::ALL,
            environment: Environment::Production,
            server_id: None,
        }
    }
}

/// Whether a server there may not run without encryption (section 5).
const fn needs_encryption(environment: Environment) -> bool {
    match environment {
        Environment::Production | Environment::Staging => true,
        Environment::Development | Environment::Testing => false,
    }
}

/// Answers a hello. `verify` says whether an identity token is genuine, current and not revoked; it is
/// asked at most once, and only about the token in the hello.
///
/// The ack has no `session_id`: whoever has randomness adds it.
///
/// ```
/// use legation_protocol::negotiation::{ExtensionName, Hello, Server, Version, negotiate};
/// let hello = Hello::asking_for(Version::V3_1, [ExtensionName::CONSENSUS]);
/// let ack = negotiate(&hello, &Server::default(), |_token| false).unwrap();
/// assert_eq!((ack.version, ack.supported), (Version::V3_1, vec![ExtensionName::CONSENSUS]));
/// ```
pub fn negotiate(hello: &Hello, server: &Server, verify: impl FnOnce(&str) -> bool) -> Result<Ack, Refusal> {
    server.is_fit()?;
    let version = server.version_for(hello)?;
    let is_known = is_identified(hello, verify)?;
    let (supported, unsupported) = server.partition(hello, version);
    if !is_known {
        server.needs_no_identity(&supported)?;
    }
    server.has_no_conflict(&supported)?;
    Ok(Ack {
        version,
        capabilities: server.capabilities(&supported),
        supported,
        unsupported: Some(unsupported),
        core_features: Some(server.core_features.advertised_at(version).into()),
        server_id: server.server_id.clone(),
        session_id: None,
        extra: Extra::new(),
    })
}

fn is_identified(hello: &Hello, verify: impl FnOnce(&str) -> bool) -> Result<bool, Refusal> {
    match &hello.identity {
        None => Ok(false),
        Some(token) if verify(token.as_str()) => Ok(true),
        Some(_) => Err(Refusal::identity_invalid()),
    }
}

impl Server {
    /// Whether it may answer a handshake at all; what else is wrong with one matters less.
    pub(super) fn is_fit(&self) -> Result<(), Refusal> {
        if needs_encryption(self.environment) && !self.core_features.encryption {
            return Err(Refusal::internal_error("encryption is not available"));
        }
        if self.versions.is_empty() {
            return Err(Refusal::internal_error("no protocol version is configured"));
        }
        Ok(())
    }

    fn version_for(&self, hello: &Hello) -> Result<Version, Refusal> {
        let (lowest, highest) = (hello.lowest(), hello.version);
        let candidates = self.versions.iter().rev().copied();
        let mut fitting = candidates.filter(|version| (lowest..=highest).contains(version));
        fitting.next().ok_or_else(|| Refusal::version_unsupported(self, lowest, highest))
    }

    fn partition(&self, hello: &Hello, version: Version) -> (Vec<ExtensionName>, Vec<String>) {
        let is_active = |name: &ExtensionName| version.has_extensions() && self.registry.offered(name).is_some();
        let (supported, rest): (Vec<_>, Vec<_>) = hello.requested().iter().cloned().partition(is_active);
        (supported, rest.iter().map(ToString::to_string).collect())
    }

    fn needs_no_identity(&self, active: &[ExtensionName]) -> Result<(), Refusal> {
        let bears_state = |name: &&ExtensionName| self.registry.offered(name).is_some_and(|e| e.bears_state);
        match active.iter().find(bears_state) {
            Some(name) => Err(Refusal::identity_required(name)),
            None => Ok(()),
        }
    }

    fn has_no_conflict(&self, active: &[ExtensionName]) -> Result<(), Refusal> {
        for (place, one) in active.iter().enumerate() {
            let mut later = active.iter().skip(place + 1);
            if let Some(other) = later.find(|other| self.registry.exclude(one, other)) {
                return Err(Refusal::extension_conflict(one, other));
            }
        }
        Ok(())
    }

    /// A dependency that was not requested is as missing as one that is not offered.
    fn capabilities(&self, active: &[ExtensionName]) -> BTreeMap<ExtensionName, Json> {
        let offered = active.iter().filter_map(|name| Some((name, self.registry.offered(name)?)));
        let built = offered.map(|(name, extension)| {
            let missing: Vec<_> = extension.requires.iter().filter(|name| !active.contains(name)).collect();
            (name.clone(), (extension.capabilities)(&missing))
        });
        built.collect()
    }
}

#[cfg(test)]
mod tests;
