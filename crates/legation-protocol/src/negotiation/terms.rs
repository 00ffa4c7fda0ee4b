//! What a session runs under once the handshake is over, or did not happen.

use super::{Ack, ExtensionName, Version};

/// The terms of one session (sections 6.3 and 8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The negotiated version.
    pub version: Version,
    /// The active extensions.
    pub active: Vec<ExtensionName>,
}

impl Terms {
    /// What a client without a hello gets: 1.0 and no extensions.
    pub fn legacy() -> Self {
        Terms { version: Version::V1_0, active: Vec::new() }
    }

    /// Whether data of this extension may be sent.
    pub fn allows(&self, extension: &ExtensionName) -> bool {
        self.active.contains(extension)
    }

    /// How personal state is written.
    pub fn personal_state(&self) -> PersonalState {
        PersonalState::at(self.version)
    }
}

/// The terms a server has just granted: no extensions below 3.1.
impl From<&Ack> for Terms {
    fn from(ack: &Ack) -> Self {
        Terms { version: ack.version, active: ack.granted().to_vec() }
    }
}

/// How a version writes personal state (section 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonalState {
    /// Not at all.
    None,
    /// As plain numbers.
    Float,
    /// As a category with an intensity from 1 to 5.
    Categorical,
}

impl PersonalState {
    /// The form a version has.
    pub fn at(version: Version) -> Self {
        if version >= Version::V3_1 {
            PersonalState::Categorical
        } else if version >= Version::V3_0 {
            PersonalState::Float
        } else {
            PersonalState::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ExtensionName, PersonalState, Terms, Version};

    #[test]
    fn a_silent_client_gets_version_1_0() {
        let terms = Terms::legacy();
        assert_eq!((terms.version, terms.personal_state()), (Version::V1_0, PersonalState::None));
        assert!(!terms.allows(&ExtensionName::CONSENSUS));
    }
}
