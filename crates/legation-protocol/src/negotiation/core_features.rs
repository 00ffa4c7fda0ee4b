//! The five core features of a server (section 5). What is not named is off.

use super::{Kept, Version};
use crate::code::Code;
use crate::json::Node;
use crate::read::{self, At, Object};
use serde::Serialize;

/// Which security features are on (section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "five independent switches, as on the wire")]
pub struct CoreFeatures {
    /// Stored context is encrypted.
    pub encryption: bool,
    /// Text is searched for prompt injection.
    pub injection_scanning: bool,
    /// Keys and identity tokens can be revoked.
    pub revocation: bool,
    /// What happens is kept in a hash chain.
    pub audit_chain: bool,
    /// Readers without clearance do not learn why constraints apply.
    pub context_opacity: bool,
}

/// How a core feature stands with a server that runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Feature {
    /// The server has none, or was told to do without.
    #[default]
    Off,
    /// It works.
    On,
    /// It was on and no longer works. Sessions that began with it end, and none begins.
    Lost,
}

/// How the core features stand, each told by whoever runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Of the encryption of what is stored.
    pub encryption: Feature,
    /// Of the search for prompt injection.
    pub injection_scanning: Feature,
    /// Of the revocation of keys and identity tokens.
    pub revocation: Feature,
    /// Of the hash chain.
    pub audit_chain: Feature,
    /// Of what readers without clearance are not told.
    pub context_opacity: Feature,
}

impl Observed {
    /// The names of those that were on and no longer work.
    pub fn lost(&self) -> impl Iterator<Item = &'static str> {
        let Observed { encryption, injection_scanning, revocation, audit_chain, context_opacity } = *self;
        let all = [encryption, injection_scanning, revocation, audit_chain, context_opacity];
        NAMES.into_iter().zip(all).filter(|(_, feature)| *feature == Feature::Lost).map(|(name, _)| name)
    }
}

const SPEC: &str = "NEG 5";
const NAMES: [&str; 5] = ["encryption", "injection_scanning", "revocation", "audit_chain", "context_opacity"];

impl CoreFeatures {
    /// Everything on.
    pub const ALL: CoreFeatures = CoreFeatures {
        encryption: true,
        injection_scanning: true,
        revocation: true,
        audit_chain: true,
        context_opacity: true,
    };

    /// What of these is advertised at a version (section 6.3). It changes nothing in what is enforced.
    #[must_use]
    pub fn advertised_at(self, version: Version) -> CoreFeatures {
        if version >= Version::V3_0 {
            return self;
        }
        let has_two = version >= Version::V2_0;
        CoreFeatures {
            encryption: self.encryption && has_two,
            injection_scanning: self.injection_scanning && has_two,
            ..CoreFeatures::default()
        }
    }

    /// The names of the features that were on and no longer are: what a client tells its user.
    pub fn lost_since(self, earlier: CoreFeatures) -> impl Iterator<Item = &'static str> {
        let pairs = NAMES.into_iter().zip(earlier.in_order().into_iter().zip(self.in_order()));
        pairs.filter(|(_, (before, now))| *before && !now).map(|(name, _)| name)
    }

    /// What is advertised of what runs: a feature is on only while it works.
    pub fn observe(observed: &Observed) -> CoreFeatures {
        let is_on = |feature| feature == Feature::On;
        CoreFeatures {
            encryption: is_on(observed.encryption),
            injection_scanning: is_on(observed.injection_scanning),
            revocation: is_on(observed.revocation),
            audit_chain: is_on(observed.audit_chain),
            context_opacity: is_on(observed.context_opacity),
        }
    }

    fn in_order(self) -> [bool; 5] {
        [self.encryption, self.injection_scanning, self.revocation, self.audit_chain, self.context_opacity]
    }

    /// Reads the object. From version 3.0 on every feature is named.
    pub(super) fn read(at: At<'_, '_>, version: Option<Version>) -> Option<Kept<CoreFeatures>> {
        let mut o = At { spec: SPEC, ..at }.object()?;
        let must_name = version.is_some_and(|version| version >= Version::V3_0);
        if must_name {
            warn_of_what_is_off(&mut o);
        }
        let mut is_on = |name| feature(&mut o, name, must_name);
        let features = CoreFeatures {
            encryption: is_on("encryption"),
            injection_scanning: is_on("injection_scanning"),
            revocation: is_on("revocation"),
            audit_chain: is_on("audit_chain"),
            context_opacity: is_on("context_opacity"),
        };
        Some(Kept::read(features, o.node))
    }

    /// Enters that the whole object is missing, which only servers older than 3.1 may do.
    pub(super) fn missing(o: &mut Object<'_, '_>, version: Version) {
        let name = "core_features";
        if version >= Version::V3_1 {
            o.wrong(Code::SchemaInvalid, name, SPEC, "the member `core_features` is missing")
                .help("add \"core_features\" with its five booleans");
        } else {
            o.wrong(Code::CoreFeaturesMissing, name, SPEC, "without `core_features` a client takes all of them as off")
                .help("add \"core_features\" with its five booleans")
                .warning();
        }
    }
}

impl From<CoreFeatures> for Kept<CoreFeatures> {
    fn from(features: CoreFeatures) -> Self {
        Kept::written(features, &features)
    }
}

/// The two features a server should not go without, and what their absence means.
const EXPECTED: [(&str, &str, &str); 2] = [
    (
        "encryption",
        "this server stores context unencrypted",
        "switch encryption on, which production and staging must; a client should warn its user",
    ),
    (
        "injection_scanning",
        "this server does not scan for prompt injection",
        "switch injection scanning on, as every environment should",
    ),
];

fn warn_of_what_is_off(o: &mut Object<'_, '_>) {
    for (name, message, help) in EXPECTED {
        if o.node.get(name).and_then(Node::boolean) == Some(false) {
            o.wrong(Code::CoreFeatureOff, name, SPEC, message).help(help).warning();
        }
    }
}

fn feature(o: &mut Object<'_, '_>, name: &'static str, must_name: bool) -> bool {
    let value = if must_name { o.required(name, read::boolean) } else { o.optional(name, read::boolean) };
    value.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{CoreFeatures, Feature, NAMES, Observed};

    #[test]
    fn only_what_works_is_told_to_be_on() {
        let all = Observed {
            encryption: Feature::On,
            injection_scanning: Feature::On,
            revocation: Feature::On,
            audit_chain: Feature::On,
            context_opacity: Feature::On,
        };
        assert_eq!((CoreFeatures::observe(&all), all.lost().count()), (CoreFeatures::ALL, 0));
        assert_eq!(CoreFeatures::observe(&Observed::default()), CoreFeatures::default());
        let worse = Observed { encryption: Feature::Lost, revocation: Feature::Off, ..all };
        let told = CoreFeatures { encryption: false, revocation: false, ..CoreFeatures::ALL };
        assert_eq!(CoreFeatures::observe(&worse), told);
        assert!(worse.lost().eq(["encryption"]));
    }

    #[test]
    fn what_was_lost_is_named() {
        let weaker = CoreFeatures { encryption: false, audit_chain: false, ..CoreFeatures::ALL };
        assert!(weaker.lost_since(CoreFeatures::ALL).eq(["encryption", "audit_chain"]));
        assert_eq!(CoreFeatures::ALL.lost_since(weaker).count(), 0);
        assert!(CoreFeatures::default().lost_since(CoreFeatures::ALL).eq(NAMES));
    }
}
