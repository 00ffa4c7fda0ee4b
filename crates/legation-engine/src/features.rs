//! How the core features stand, as whoever runs them finds: never from a setting.

use crate::exchange::Exchange;
use legation_protocol::negotiation::{Feature, Observed};

impl Exchange {
    /// Looks how the core features stand. It reads files, so it may have to wait.
    ///
    /// A feature that is built later is told of here: `On` while it works, `Lost` once it has failed, and
    /// `Off`, as left out, as long as there is none.
    pub fn core_features(&self) -> Observed {
        Observed {
            encryption: self.vault.observed(),
            injection_scanning: self.scanning().observed(),
            revocation: self.revocation(),
            audit_chain: if self.is_running() { Feature::On } else { Feature::Lost },
            ..Observed::default()
        }
    }
}
