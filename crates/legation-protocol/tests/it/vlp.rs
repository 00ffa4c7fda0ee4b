//! VLP 1.1.

use crate::fixtures;
use legation_protocol::vlp;

#[test]
fn fixtures_hold() {
    fixtures::check_all::<vlp::Message>("vlp", "vlp-v1.1.schema.json");
}
