//! The rules of VCP (messaging 1.2).

use super::{At, Case, Ruling};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::Rejection;
use legation_protocol::vcp::Envelope;
use serde::{Deserialize, Serialize};

/// What these rules keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {}

/// What changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {}

/// What can be ordered by people and agents beside messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {}

impl Kept {
    #[expect(clippy::needless_pass_by_ref_mut, clippy::unused_self, reason = "filled by the rules")]
    pub(crate) fn apply(&mut self, _: At, change: &Change) {
        match *change {}
    }

    #[expect(clippy::unused_self, reason = "filled by the rules")]
    pub(crate) fn earliest(&self) -> Option<Moment> {
        None
    }
}

pub(crate) fn look(_: &Case<'_>, _: &Envelope, _: &mut Ruling) -> Result<(), Rejection> {
    Ok(())
}

pub(crate) fn order(_: &State, _: &Policy, _: Moment, order: &Order, _: &Who) -> Result<Ruling, Rejection> {
    match *order {}
}

pub(crate) fn due(_: &State, _: &Policy, _: Moment) -> Option<Ruling> {
    None
}

/// Whether the sender may speak at all now.
pub(crate) fn may_speak(_: &Case<'_>) -> Result<(), Rejection> {
    Ok(())
}

/// Holds a message against the constraints its sender is under, whatever its dialect.
pub(crate) fn constrain(_: &Case<'_>, _: &mut Ruling) -> Result<(), Rejection> {
    Ok(())
}
