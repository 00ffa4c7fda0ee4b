//! How the core features stand, as whoever runs them finds: never from a setting.

use crate::exchange::Exchange;
use legation_protocol::negotiation::{Feature, Observed};

impl Exchange {
    /// Looks how the core features stand. It reads the key ring, the published key and the end of the record, so it
    /// may have to wait.
    ///
    /// A feature is `On` while it works, `Lost` once it has failed, and `Off` where the exchange was told to do
    /// without.
    pub fn core_features(&self) -> Observed {
        Observed {
            encryption: self.vault.observed(),
            injection_scanning: self.scanning().observed(),
            revocation: self.revocation(),
            audit_chain: if self.is_running() && self.last_reads_back() { Feature::On } else { Feature::Lost },
            context_opacity: self.opacity.observed(),
        }
    }

    /// Whether the last entry of the record is on the disk as it was written, and the chain leads there.
    fn last_reads_back(&self) -> bool {
        let is_whole = |last| matches!(self.entry(last), Ok(Some(_))) && matches!(self.reader.batch(last), Ok(Some(_)));
        self.head().size.checked_sub(1).is_none_or(is_whole)
    }
}
