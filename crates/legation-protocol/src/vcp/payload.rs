//! The payloads that any agent may send to any other (sections 4.1 and 4.2), and the four as one.

use super::constraint::ConstraintPropagate;
use super::creed::{CreedUri, ManifestHash};
use super::envelope::Kind;
use super::escalation::Escalation;
use super::personal::PersonalState;
use super::scope::Scope;
use super::{Context, context, creed_uri, spelled};
use crate::code::Code;
use crate::read::At;
use serde::Serialize;

/// What a message carries (section 4). Written as the members `type` and `payload`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
pub enum Payload {
    /// Section 4.1.
    ContextShare(ContextShare),
    /// Section 4.2.
    ConstitutionAnnounce(ConstitutionAnnounce),
    /// Section 4.3.
    ConstraintPropagate(ConstraintPropagate),
    /// Section 4.4.
    Escalation(Escalation),
}

impl Payload {
    pub(super) fn read(kind: Kind, at: At<'_, '_>) -> Option<Payload> {
        match kind {
            Kind::ContextShare => ContextShare::read(at).map(Payload::ContextShare),
            Kind::ConstitutionAnnounce => ConstitutionAnnounce::read(at).map(Payload::ConstitutionAnnounce),
            Kind::ConstraintPropagate => ConstraintPropagate::read(at).map(Payload::ConstraintPropagate),
            Kind::Escalation => Escalation::read(at).map(Payload::Escalation),
        }
    }

    /// The type that goes with it.
    pub const fn kind(&self) -> Kind {
        match self {
            Payload::ContextShare(_) => Kind::ContextShare,
            Payload::ConstitutionAnnounce(_) => Kind::ConstitutionAnnounce,
            Payload::ConstraintPropagate(_) => Kind::ConstraintPropagate,
            Payload::Escalation(_) => Kind::Escalation,
        }
    }
}

/// The sender's situation and the constitution it acts under (section 4.1.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextShare {
    /// The situation.
    pub context: Context,
    /// The constitution.
    pub constitution_ref: CreedUri,
    /// The state behind the 🧠 dimension. Private.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub personal_state: Option<PersonalState>,
}

impl ContextShare {
    fn read(at: At<'_, '_>) -> Option<ContextShare> {
        let mut o = At { spec: "VCP 4.1.1", ..at }.object()?;
        let situation = o.required("context", context);
        let constitution_ref = o.required("constitution_ref", creed_uri);
        let personal_state = o.optional("personal_state", PersonalState::read);
        o.closed();
        Some(ContextShare { context: situation?, constitution_ref: constitution_ref?, personal_state })
    }
}

/// Which constitution the sender acts under, and the hash of its text (section 4.2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConstitutionAnnounce {
    /// The constitution.
    pub constitution_ref: CreedUri,
    /// The hash of its manifest.
    pub manifest_hash: ManifestHash,
    /// Where it applies; everywhere when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
}

impl ConstitutionAnnounce {
    fn read(at: At<'_, '_>) -> Option<ConstitutionAnnounce> {
        let mut o = At { spec: "VCP 4.2.1", ..at }.object()?;
        let constitution_ref = o.required("constitution_ref", creed_uri);
        let manifest_hash = o.required("manifest_hash", |at| {
            let help = "write \"sha256:\" and the hash as 64 lower-case hexadecimal digits";
            spelled(at, Code::BadManifestHash, help, ManifestHash::parse)
        });
        let scope = o.optional("scope", Scope::read);
        o.closed();
        Some(ConstitutionAnnounce { constitution_ref: constitution_ref?, manifest_hash: manifest_hash?, scope })
    }
}
