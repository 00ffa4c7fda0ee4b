//! The extensions of VCP 3.1 that this exchange has. The negotiation knows all five by name; what is built is
//! said here, and a handshake offers nothing else.

use legation_protocol::negotiation::ExtensionName;

/// The extensions that are built. Whoever builds one adds its name, and sessions that ask for it get it:
/// its doors and frames then take a session in which it is active.
pub const BUILT: &[ExtensionName] = &[
    ExtensionName::PERSONAL,
    ExtensionName::RELATIONAL,
    ExtensionName::CONSENSUS,
    ExtensionName::TORCH,
    ExtensionName::INTENT,
];
