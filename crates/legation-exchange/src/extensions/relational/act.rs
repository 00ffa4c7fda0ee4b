//! What may be asked of a relation.

use super::{Field, Norm, Privacy, ReportSelf, Standing};
use serde::Deserialize;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// To count a session.
    BeginSession(BeginSession),
    /// To say how much an AI has to say.
    SetStanding(SetStanding),
    /// To report on the self.
    ReportSelf(ReportSelf),
    /// To agree on something, or otherwise than before.
    PutNorm(PutNorm),
    /// To drop a norm.
    RemoveNorm(RemoveNorm),
    /// To say who is told of a field.
    SetPrivacy(SetPrivacy),
}

/// To count a session; one of the last 32 that were counted is not counted again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BeginSession {
    /// Which.
    pub session_id: String,
}

/// To say how much an AI has to say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetStanding {
    /// So much.
    pub standing: Standing,
}

/// To agree on something.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct PutNorm {
    /// On what.
    pub norm: Norm,
}

/// To drop a norm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveNorm {
    /// Which.
    pub id: String,
}

/// To say who is told of a field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPrivacy {
    /// Of which.
    pub field: Field,
    /// Who.
    pub privacy: Privacy,
}
