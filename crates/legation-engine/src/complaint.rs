//! What a thread in the background cannot do for now: told once for each reason, until it is done.

use crate::alerts::Desk;
use crate::decider::now;
use legation_exchange::Alert;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// What is to be told, and what of it was.
#[derive(Debug)]
pub(crate) struct Complaint {
    what: &'static str,
    alerts: Arc<Desk>,
    told: BTreeSet<String>,
}

impl Complaint {
    pub(crate) fn new(what: &'static str, alerts: Arc<Desk>) -> Complaint {
        Complaint { what, alerts, told: BTreeSet::new() }
    }

    /// It failed for this reason.
    pub(crate) fn about(&mut self, error: &(dyn Error + 'static)) {
        let chain = std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string);
        let reason = chain.collect::<Vec<_>>().join(": ");
        if self.told.insert(reason.clone()) {
            tracing::warn!(error, "{}", self.what);
            self.alerts.raise(Alert::storage(now(), format!("{}: {reason}", self.what)));
        }
    }

    /// It is so of this file.
    pub(crate) fn of(&mut self, file: &Path) {
        let text = format!("{}: {}", self.what, file.display());
        if self.told.insert(text.clone()) {
            tracing::warn!("{text}");
            self.alerts.raise(Alert::storage(now(), text));
        }
    }

    /// It is done: what fails from now on is news.
    pub(crate) fn over(&mut self) {
        self.told.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::Complaint;
    use crate::alerts::{AlertSettings, Desk};
    use std::io::Error;
    use std::sync::Arc;

    #[test]
    fn each_reason_is_told_once_until_it_is_done() {
        let desk = Arc::new(Desk::new("local", &AlertSettings::default(), 0));
        let mut complaint = Complaint::new("it stays", Arc::clone(&desk));
        let tell = |complaint: &mut Complaint, reasons: &[&'static str]| {
            for reason in reasons {
                complaint.about(&Error::other(*reason));
            }
            complaint.told.len()
        };
        assert_eq!(tell(&mut complaint, &["no room", "no room", "damaged", "no room"]), 2);
        complaint.over();
        assert_eq!(tell(&mut complaint, &["no room"]), 1);
    }
}
