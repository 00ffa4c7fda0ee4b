//! Quota families, for limits that are counted outside the decision.

use crate::exchange::Exchange;
use legation_exchange::QuotaFamily;

impl Exchange {
    /// The quota family of an agent, as one name. A source address is told from an agent by the space before it.
    pub fn quota_family_name(&self, agent: &str) -> String {
        match self.state().registry().quota_family(agent) {
            QuotaFamily::Root(root) => root.to_owned(),
            QuotaFamily::Source(address) => format!(" {address}"),
        }
    }
}
