//! The shapes of what keeps the record.

use super::Shape;
use crate::openapi::schema::{closed, flag, may};

pub(super) fn shapes() -> Vec<Shape> {
    let keys = flag("Whether the secret keys are in it: the exchange's own, and those the record is sealed with.");
    vec![("BackupWanted", closed("What the copy is to hold.", [may("keys", keys)]))]
}
