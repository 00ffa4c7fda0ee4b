//! placeholder
/// Why a message is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("x")]
pub struct Doubt;
